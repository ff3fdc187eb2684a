# cmake -DBUILD=... -DWORK=... -DCOMPILER=... -P projects_test.cmake
#
# From the installed package alone, in WORK, which is emptied first: the projects that `tlmssd new` writes are built and pass their
# own tests.
file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
set(program ${prefix}/bin/tlmssd)

include(${CMAKE_CURRENT_LIST_DIR}/functions.cmake)

expect(0 "" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
foreach(kind memory timing-model reliability-model scheduling-policy victim-policy wear-policy cache-policy data-path ecc-policy
    ecc-code mapping-scheme feature load trace-format report-writer)
  set(project ${WORK}/${kind})
  expect(0 "README.md" ${program} new ${kind} my-${kind} --folder ${project})
  expect(2 "already" ${program} new ${kind} my-${kind} --folder ${project})
  build(${project} ${project}/build)
  expect(0 "100% tests passed" ${CMAKE_CTEST_COMMAND} --test-dir ${project}/build --output-on-failure)
endforeach()
expect(2 "did you mean" ${program} new timing-modle x --folder ${WORK}/x)
expect(2 "is the name of a target of CMake's own; take another, such as my-test" ${program} new timing-model test --folder ${WORK}/x)
expect(2 "there is a timing-model 'table' already; take another name, such as my-table" ${program} new timing-model table --folder ${WORK}/x)
expect(2 "is no name" ${program} new timing-model X --folder ${WORK}/x)
