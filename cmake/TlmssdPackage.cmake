# Installation and the exported package tlmssd::tlmssd.
#
# All rooms go into one static library. Nothing gets lost in it: every policy is named in its family's table, so the linker
# follows it. A user of the package gets C++20, the SystemC override and all libraries from outside, but none of our warnings.
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY TLMSSD_ROOMS)
set(objects)
foreach(room IN LISTS rooms)
  list(APPEND objects $<TARGET_OBJECTS:${room}>)
endforeach()
add_library(tlmssd_library STATIC ${objects})
add_library(tlmssd::tlmssd ALIAS tlmssd_library)
set_target_properties(tlmssd_library PROPERTIES OUTPUT_NAME tlmssd EXPORT_NAME tlmssd LINKER_LANGUAGE CXX)
target_compile_features(tlmssd_library PUBLIC cxx_std_20)
target_compile_definitions(tlmssd_library PUBLIC SC_CPLUSPLUS=201703L)
target_include_directories(tlmssd_library PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tlmssd>)
target_link_libraries(tlmssd_library PUBLIC
  PkgConfig::SYSTEMC yaml-cpp fmt::fmt nlohmann_json::nlohmann_json Boost::iostreams)

install(TARGETS tlmssd_library EXPORT tlmssdTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tlmssd)
  install(TARGETS tlmssd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(room models firmware platform testbench)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tlmssd
    FILES_MATCHING PATTERN "*.h" PATTERN "testbench/tests" EXCLUDE PATTERN "testbench/bench" EXCLUDE
    PATTERN "testbench/fuzz" EXCLUDE)
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
  DESTINATION ${package_folder})
