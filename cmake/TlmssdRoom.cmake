# tlmssd_room(<name> [SYSTEMC] [SOURCES ...] [USES ...]): one room of the house as an OBJECT library.
#
# OBJECT libraries keep every policy table in the program; a static library would let the linker drop them. The rooms that
# have sources are remembered, in order, in the global property TLMSSD_ROOMS: the installed library is made of them.
function(tlmssd_room name)
  cmake_parse_arguments(ROOM "SYSTEMC" "" "SOURCES;USES" ${ARGN})
  if(NOT ROOM_SOURCES)
    add_library(${name} INTERFACE)
    return()
  endif()
  add_library(${name} OBJECT ${ROOM_SOURCES})
  target_link_libraries(${name} PUBLIC tlmssd_flags ${ROOM_USES})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O3>)  # a tenth faster than -O2; the tests need no such care
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -Wno-restrict)  # GCC 12 warns of its own std::string at -O3 (bug 105651)
  endif()
  if(ROOM_SYSTEMC)
    target_link_libraries(${name} PUBLIC tlmssd_systemc)
    target_precompile_headers(${name} PRIVATE <systemc> <tlm>)
  endif()
  set_property(GLOBAL APPEND PROPERTY TLMSSD_ROOMS ${name})
endfunction()
