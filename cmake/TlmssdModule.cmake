# tlmssd_module(<name> FOLDERS <folder>... [SYSTEMC] [DATA_PATH] [SOURCES ...] [USES ...]): one module as an OBJECT library.
#
# OBJECT libraries keep every policy table in the program; a static library would let the linker drop them. The modules that
# have sources are remembered, in order, in the global property TLMSSD_MODULES: the installed library is made of them.
#
# FOLDERS (from the project's root) are what others may include from once they name the module in USES, and nothing else can
# be found by the compiler: every module has an include folder of its own, build/include/<name>, with links to its folders.
# Firmware that includes a device's header does not compile.
#
# DATA_PATH is for modules that every command goes through. A command meets some hundred small functions, each once, and GCC's
# limits keep most of them calls; with these limits it takes a tenth fewer instructions (docs/performance.md). A profile knows better.
set(tlmssd_inlining --param=max-inline-insns-auto=60 --param=max-inline-insns-single=400 --param=early-inlining-insns=40
  --param=inline-min-speedup=5 --param=inline-unit-growth=100 --param=large-function-growth=400)
function(tlmssd_module name)
  cmake_parse_arguments(MODULE "SYSTEMC;DATA_PATH" "" "FOLDERS;SOURCES;USES" ${ARGN})
  set(includes ${PROJECT_BINARY_DIR}/include/${name})
  foreach(folder IN LISTS MODULE_FOLDERS)
    get_filename_component(parent ${includes}/${folder} DIRECTORY)
    file(MAKE_DIRECTORY ${parent})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${includes}/${folder} SYMBOLIC)
  endforeach()
  add_library(${name} OBJECT ${MODULE_SOURCES})
  target_include_directories(${name} PUBLIC ${includes})
  target_link_libraries(${name} PUBLIC tlmssd_flags ${MODULE_USES})
  if(MODULE_DATA_PATH)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O3>)  # a tenth faster than -O2
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -Wno-restrict)  # GCC 12 warns of its own std::string at -O3 (bug 105651)
    if(MODULE_DATA_PATH AND NOT TLMSSD_PROFILE)
      target_compile_options(${name} PRIVATE "$<$<CONFIG:Release>:${tlmssd_inlining};-Wno-free-nonheap-object>")  # and of its variant
    endif()
  endif()
  if(MODULE_SYSTEMC)
    target_link_libraries(${name} PUBLIC tlmssd_systemc)
    target_precompile_headers(${name} PRIVATE <systemc> <tlm>)
  endif()
  set_property(GLOBAL APPEND PROPERTY TLMSSD_MODULES ${name})
endfunction()
