# What a Python wheel carries besides the package: the program, the scenarios, and the libraries that the program was
# linked with, which a user of the wheel need not have. scikit-build-core sets the folders (scripts/pyproject.toml).
#
# Left to the machine: the C library and the loader. The wheel runs where these are as new as where it was built.
set_target_properties(tlmssd PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/tlmssd")
# DT_RPATH, which also holds for what the libraries themselves need; DT_RUNPATH would not.
target_link_options(tlmssd PRIVATE LINKER:--disable-new-dtags)

install(TARGETS tlmssd RUNTIME_DEPENDENCY_SET libraries_of_program
  RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT wheel)
install(RUNTIME_DEPENDENCY_SET libraries_of_program
  PRE_EXCLUDE_REGEXES "^ld-linux" "^linux-vdso" "^lib(c|m|dl|rt|pthread)\\.so"
  LIBRARY DESTINATION ${SKBUILD_DATA_DIR}/lib/tlmssd COMPONENT wheel)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenarios DESTINATION ${SKBUILD_DATA_DIR}/share/tlmssd COMPONENT wheel)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${SKBUILD_DATA_DIR}/share/doc/tlmssd COMPONENT wheel)
# The licences of what is carried along, as Debian keeps them.
foreach(package libsystemc libmuparser2v5 libyaml-cpp0.7 libfmt9 libboost-iostreams1.74.0 zlib1g libbz2-1.0 liblzma5 libzstd1 gcc-12-base)
  set(licence /usr/share/doc/${package}/copyright)
  if(EXISTS ${licence})
    install(FILES ${licence} DESTINATION ${SKBUILD_DATA_DIR}/share/doc/tlmssd RENAME LICENSE.${package} COMPONENT wheel)
  endif()
endforeach()
