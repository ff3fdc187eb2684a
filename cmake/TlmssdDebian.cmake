# What cpack reads besides its configuration: the version at the time of packing, and, once everything is laid out, what
# Debian wants otherwise than a plain installation: a copyright file, a changelog of its own form, the manual page
# compressed, the library without what only debuggers read.
if(CPACK_TEMPORARY_INSTALL_DIRECTORY)
  set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
  set(doc ${share}/doc/tlmssd)
  find_program(gzip gzip REQUIRED)
  find_program(strip strip REQUIRED)
  file(READ ${CPACK_TLMSSD_SOURCE}/scripts/tlmssd/pictures/assets/vega.LICENSE vega)
  file(WRITE ${doc}/copyright "Copyright: the tlmssd maintainers

Licensed under the Apache License, Version 2.0. On Debian systems its text is in /usr/share/common-licenses/Apache-2.0.

The program carries the code with which its reports draw their figures:

${vega}")
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${doc}/changelog "tlmssd (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * CHANGELOG.md has what users notice.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
  file(REMOVE ${doc}/LICENSE)
  file(GLOB_RECURSE library ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/lib/*libtlmssd.a)
  execute_process(COMMAND ${strip} --strip-debug --enable-deterministic-archives ${library} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${gzip} -9nf ${doc}/changelog ${share}/man/man1/tlmssd.1 COMMAND_ERROR_IS_FATAL ANY)
else()
  include(${CPACK_TLMSSD_SOURCE}/cmake/TlmssdVersion.cmake)
  tlmssd_version(CPACK_PACKAGE_VERSION ${CPACK_TLMSSD_SOURCE})
endif()
