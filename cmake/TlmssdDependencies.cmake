# Libraries from outside, and the flags that every target shares.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc tlm)
pkg_check_modules(MUPARSER REQUIRED IMPORTED_TARGET muparser)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_path(PROTOZERO_INCLUDE protozero/pbf_writer.hpp REQUIRED)  # headers only; Debian: libprotozero-dev
find_package(Boost 1.74 REQUIRED COMPONENTS iostreams)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT TLMSSD_PROFILE)  # ccache does not look into a profile
  # Without this sloppiness ccache passes over everything that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  endif()
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")  # assertions of the models stay on in Release: they are part of the fidelity
# Coroutines hand over by tail calls: without them a long chain of requests is a deep stack, in Debug too.
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g -foptimize-sibling-calls")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -foptimize-sibling-calls")
add_library(tlmssd_flags INTERFACE)
target_compile_options(tlmssd_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wcast-align -Wunused $<$<BOOL:${TLMSSD_WERROR}>:-Werror>)
if(TLMSSD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TLMSSD_FUZZ needs Clang: configure with -DCMAKE_CXX_COMPILER=clang++-15 (or --preset fuzz)")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(TLMSSD_SANITIZE OR TLMSSD_FUZZ)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)  # false alarms inside the standard library when it is instrumented
    # A third less to compile: a null pointer that is followed ends the process all the same, and the fuzz targets check for these.
    add_compile_options(-fno-sanitize=null,alignment,object-size)
  endif()
endif()

# Debian's libsystemc exports the C++17 interface symbol; the header's own override makes C++20 code link against it.
add_library(tlmssd_systemc INTERFACE)
target_link_libraries(tlmssd_systemc INTERFACE PkgConfig::SYSTEMC)
target_compile_definitions(tlmssd_systemc INTERFACE SC_CPLUSPLUS=201703L)
