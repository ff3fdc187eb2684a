# cmake -DBUILD=... -DSOURCES=... -DDOCS=... -DWORK=... -DCOMPILER=... -DPYTHON=... -P memories_test.cmake
#
# From the installed package alone, in WORK, which is emptied first: a third party's memories in the place of the drive's DRAM and
# SCM. Their closed forms through whole drives, conformance, snapshots, quantum, and what ends in one line.
file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
set(program ${prefix}/bin/tlmssd)
include(${CMAKE_CURRENT_LIST_DIR}/functions.cmake)

expect(0 "" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

file(COPY ${SOURCES}/ DESTINATION ${WORK}/source)
expect(0 "" ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/extract.py ${WORK}/source ${DOCS}/own-hardware.md)
build(${WORK}/source ${WORK}/build)
set(banked ${WORK}/build/libbanked.so)
set(clocked ${WORK}/build/libclocked.so)
set(drive ${SOURCES}/drive.yaml)

expect(0 "saturated DRAM, refresh true" ${PYTHON} ${SOURCES}/closed_forms.py ${program} ${banked} ${clocked} ${drive} ${WORK}/runs)
expect(0 "0 of" ${program} --plugin ${banked} conform memory banked)
expect(0 "0 of" ${program} --plugin ${clocked} conform memory clocked)
foreach(page list schema reference)
  expect(0 "plug-in vendor-dram 2.1" ${program} --plugin ${banked} ${page})
endforeach()
expect(2 "there is dram, scm or banked" ${program} --plugin ${banked} conform memory bankd)
expect(2 "did you mean 'banked'" ${program} --plugin ${banked} check ${drive} --set ssd.dram.model=bankd)

# The quantum is 0 whatever the scenario says, and the summary says so.
set(run ${program} --plugin ${banked} run ${drive} --set ssd.dram.model=banked --force)
expect(0 "Memory  dram by banked [plug-in vendor-dram 2.1], in step" ${run} --out ${WORK}/long --set "run.quantum=1 ms")
expect(0 "" ${run} -q --out ${WORK}/zero --set "run.quantum=0 s")
expect(0 "" ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/same.py ${WORK}/long ${WORK}/zero)

# As SCM, under a cache.
set(scm --set "ssd.scm={capacity: 8 MiB, model: clocked, period: 100 ns}" --set firmware.cache.policy=nv-wb)
expect(0 "Memory  scm by clocked" ${program} --plugin ${clocked} run ${drive} --check-protocol ${scm})

# Snapshots: one memory archives itself, the other does not.
set(run ${program} --plugin ${clocked} run ${drive} -q --set ssd.dram.model=clocked --set "ssd.dram.period=100 ns")
expect(0 "" ${run} --save-snapshot ${WORK}/snapshot --prepare-only)
expect(0 "" ${run} --from-snapshot ${WORK}/snapshot)
expect(2 "ssd.dram.model is clocked there" ${program} --plugin ${clocked} run ${drive} -q --from-snapshot ${WORK}/snapshot)
expect(2 "ssd.dram.model: banked does not archive itself" ${program} --plugin ${banked} run ${drive} -q
  --set ssd.dram.model=banked --save-snapshot ${WORK}/other --prepare-only)

# What a memory does wrong, in one line.
set(run ${program} --plugin ${WORK}/build/libfaulty.so run ${drive} -q --set ssd.dram.model=faulty)
expect(2 "ssd.dram.model: faulty answered TLM_ADDRESS_ERROR_RESPONSE to a" ${run} --set ssd.dram.fault=small)
expect(2 "ssd.dram.model: faulty has not answered for 100 ms" ${run} --set ssd.dram.fault=silent)
expect(2 "plug-in faulty 0.1: row not found" ${run} --set ssd.dram.fault=throws)
expect(2 "--set ssd.dram.model=faulty: ssd.dram.model: faulty moved" ${run} --set ssd.dram.fault=half)
expect(2 "plug-in faulty 0.1: Fatal: refresh: row lost" ${run} --set ssd.dram.fault=fatal --out ${WORK}/left)
expect(2 "ssd.dram.model: faulty: Fatal: refresh: row lost" ${run} --set ssd.dram.fault=fatal_aside --out ${WORK}/left)
expect(2 "ssd.dram.model: faulty has ended the simulation (sc_stop())" ${run} --set ssd.dram.fault=stops --out ${WORK}/left)
expect(2 "ssd.dram.model: faulty has paused the simulation (sc_pause())" ${run} --set ssd.dram.fault=pauses --out ${WORK}/left)
expect(2 "plug-in faulty 0.1: threw an exception without a text" ${run} --set ssd.dram.fault=throws_nothing --out ${WORK}/left)
expect(2 "ssd.dram.model: faulty says that its first byte has the address 18446744073709551610" ${run} --set ssd.dram.fault=beyond --out ${WORK}/left)
expect(2 "ssd.dram.model: faulty breaks the TLM-2.0 base protocol: " ${run} --set ssd.dram.fault=narrows --check-protocol --out ${WORK}/left)
file(GLOB left ${WORK}/left ${WORK}/.tlmssd*)
if(left)
  message(FATAL_ERROR "runs that failed left ${left}")
endif()
expect(2 "ssd.dram.model: faulty made a " ${run} --set ssd.dram.fault=shortens)
# What a memory reports goes beside results, not between them.
execute_process(COMMAND ${run} --set ssd.dram.fault=warns --json - OUTPUT_VARIABLE output ERROR_VARIABLE errors COMMAND_ERROR_IS_FATAL ANY)
string(JSON title ERROR_VARIABLE wrong GET "${output}" title)
if(wrong OR NOT errors MATCHES "Warning: refresh: row late")
  message(FATAL_ERROR "a memory that warns: ${wrong}; standard error has\n${errors}")
endif()
expect(2 "ssd.dram.model: faulty holds 1 MiB, too little for this drive: " ${run} --set ssd.dram.fault=tiny)
# The kit goes on where the simulation does not.
set(conform ${program} --plugin ${WORK}/build/libfaulty.so conform memory faulty)
expect(1 "  it has ended the simulation (sc_stop()) (loosely timed)" ${conform} --set ssd.dram.fault=stops)
expect(1 "  an access takes more than 400 ms (loosely timed)" ${conform} --set ssd.dram.fault=waits)
