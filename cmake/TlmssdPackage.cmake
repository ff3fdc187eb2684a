# Installation and the exported package tlmssd::tlmssd.
#
# All modules go into one static library. Nothing gets lost in it: every policy is named in its family's table, so the linker
# follows it. A user of the package gets C++20, the SystemC override and all libraries from outside, but none of our warnings.
include(CMakePackageConfigHelpers)

get_property(modules GLOBAL PROPERTY TLMSSD_MODULES)
set(objects)
foreach(module IN LISTS modules)
  list(APPEND objects $<TARGET_OBJECTS:${module}>)
endforeach()
add_library(tlmssd_library STATIC ${objects})
add_library(tlmssd::tlmssd ALIAS tlmssd_library)
set_target_properties(tlmssd_library PROPERTIES OUTPUT_NAME tlmssd EXPORT_NAME tlmssd LINKER_LANGUAGE CXX)
target_link_libraries(tlmssd_library PUBLIC
  PkgConfig::SYSTEMC PkgConfig::MUPARSER yaml-cpp fmt::fmt nlohmann_json::nlohmann_json Boost::iostreams)

# What plug-ins are built with: the headers alone, because the program that loads them holds the library.
add_library(tlmssd_headers INTERFACE)
add_library(tlmssd::headers ALIAS tlmssd_headers)
set_target_properties(tlmssd_headers PROPERTIES EXPORT_NAME headers)
target_compile_features(tlmssd_headers INTERFACE cxx_std_20)
target_compile_definitions(tlmssd_headers INTERFACE SC_CPLUSPLUS=201703L)
target_include_directories(tlmssd_headers INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${TLMSSD_GENERATED}>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/firmware/foreign>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tlmssd>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tlmssd/firmware/foreign>)  # tlmssd_firmware.h
target_link_libraries(tlmssd_library PUBLIC tlmssd_headers)
# libsystemc asks for sc_main; a program that has none gets the library's (platform/plugins/sc_main.h).
target_link_options(tlmssd_library INTERFACE LINKER:-u,sc_main)
# A program of one's own loads plug-ins, too, which find in it what they use of the library.
target_link_options(tlmssd_library INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:LINKER:--export-dynamic>)
include(TlmssdPlugin)

set_target_properties(tlmssd PROPERTIES EXPORT_NAME program)
add_executable(tlmssd::program ALIAS tlmssd)
install(TARGETS tlmssd_library tlmssd_headers tlmssd EXPORT tlmssdTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${TLMSSD_GENERATED}/platform/plugins/interface.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tlmssd/platform/plugins)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/platform/plugins/templates DESTINATION ${CMAKE_INSTALL_DATADIR}/tlmssd)
foreach(folder models firmware platform testbench)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tlmssd
    FILES_MATCHING PATTERN "*.h" PATTERN "testbench/tests" EXCLUDE PATTERN "testbench/bench" EXCLUDE
    PATTERN "testbench/fuzz" EXCLUDE PATTERN "platform/plugins/templates" EXCLUDE)
endforeach()
# The C header also where `#include <tlmssd_firmware.h>` finds it.
install(FILES ${PROJECT_SOURCE_DIR}/firmware/foreign/tlmssd_firmware.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/tlmssd)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The Python package, for `pip install <prefix>/share/tlmssd/python`: the program says so where it finds none.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scripts/tlmssd DESTINATION ${CMAKE_INSTALL_DATADIR}/tlmssd/python PATTERN __pycache__ EXCLUDE)
install(CODE "
  set(source \"${PROJECT_SOURCE_DIR}\")
  set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/tlmssd\")
  set(docs \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")
  set(scenarios \"\${share}/scenarios\")
  set(python \"\${share}/python\")
  execute_process(COMMAND \"$<TARGET_FILE:tlmssd>\" --version OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH \"[^ \\n]+\\n*\$\" version \"\${version}\")
  string(STRIP \"\${version}\" version)
  include(\"${PROJECT_SOURCE_DIR}/cmake/TlmssdInstalledDocs.cmake\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/TlmssdInstalledPython.cmake\")")

# The program writes its manual page and completions itself.
function(tlmssd_install_output path)
  list(JOIN ARGN "\" \"" words)
  install(CODE "
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${path}\")
    message(STATUS \"Installing: \${file}\")
    cmake_path(GET file PARENT_PATH folder)
    file(MAKE_DIRECTORY \${folder})
    execute_process(COMMAND \"$<TARGET_FILE:tlmssd>\" \"${words}\" OUTPUT_FILE \${file} COMMAND_ERROR_IS_FATAL ANY)")
endfunction()
tlmssd_install_output(share/man/man1/tlmssd.1 man)
tlmssd_install_output(share/bash-completion/completions/tlmssd completion bash)
tlmssd_install_output(share/zsh/vendor-completions/_tlmssd completion zsh)
tlmssd_install_output(share/fish/vendor_completions.d/tlmssd.fish completion fish)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tlmssd)
install(EXPORT tlmssdTargets NAMESPACE tlmssd:: DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tlmssdConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tlmssdConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tlmssdConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tlmssdConfig.cmake ${PROJECT_BINARY_DIR}/tlmssdConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/TlmssdPlugin.cmake
  DESTINATION ${package_folder})

# A Debian package: scripts/package.
set(CPACK_GENERATOR DEB)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/TlmssdDebian.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/TlmssdDebian.cmake)
set(CPACK_TLMSSD_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_PACKAGE_CONTACT "The tlmssd maintainers <noreply@tlmssd.invalid>" CACHE STRING "maintainer of the Debian package; no mail is read at this one")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, libboost-iostreams-dev, libfmt-dev, libmuparser-dev, libsystemc-dev, libyaml-cpp-dev, nlohmann-json3-dev, pkg-config")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "A scenario describes a drive and a load; models of the hardware
run real firmware against it in simulated time: mapping, write buffer,
garbage collection, wear levelling, error correction. Out come IOPS,
latencies and write amplification, and for every command where its time
went. With headers and a CMake package for platforms of one's own, which
need the packages that are suggested.")
include(CPack)
