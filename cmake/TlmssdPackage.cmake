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
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tlmssd>)
target_link_libraries(tlmssd_library PUBLIC tlmssd_headers)
# libsystemc asks for sc_main; a program that has none gets the library's (platform/plugins/sc_main.h).
target_link_options(tlmssd_library INTERFACE LINKER:-u,sc_main)
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
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/tlmssd)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tlmssd)
install(EXPORT tlmssdTargets NAMESPACE tlmssd:: DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tlmssdConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tlmssdConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tlmssdConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tlmssdConfig.cmake ${PROJECT_BINARY_DIR}/tlmssdConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/TlmssdPlugin.cmake
  DESTINATION ${package_folder})
