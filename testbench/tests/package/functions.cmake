# What the tests of the package share; `prefix`: where it is installed.

# expect(<exit code> <text in the output or ""> <command>...)
function(expect code text)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  string(FIND "${output}${errors}" "${text}" found)
  if(NOT result EQUAL code OR (NOT text STREQUAL "" AND found EQUAL -1))
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${result}, expected ${code} and \"${text}\"\n${output}${errors}")
  endif()
endfunction()
# build(<source> <folder> [arguments of cmake...])
function(build source folder)
  expect(0 "" ${CMAKE_COMMAND} -S ${source} -B ${folder} -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_PREFIX_PATH=${prefix} ${ARGN})
  expect(0 "" ${CMAKE_COMMAND} --build ${folder} -j2)
endfunction()
