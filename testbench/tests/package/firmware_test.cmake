# cmake -DBUILD=... -DDOCS=... -DWORK=... -DCOMPILER=... -DC_COMPILER=... -DPYTHON=... -P firmware_test.cmake
#
# Firmware of one's own, from the installed package alone, in WORK, which is emptied first: the projects that `tlmssd new firmware`
# writes in C and C++ are built and pass the conformance kit; the one in C is as good as the program's own, and of its faulty variants
# each is found and named.
file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
set(program ${prefix}/bin/tlmssd)

include(${CMAKE_CURRENT_LIST_DIR}/functions.cmake)

expect(0 "" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
foreach(language c c++)
  set(project ${WORK}/project-${language})
  expect(0 "README.md" ${program} new firmware my-ftl --language ${language} --folder ${project})
  expect(0 "" ${CMAKE_COMMAND} -S ${project} -B ${project}/build -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_PREFIX_PATH=${prefix})
  expect(0 "" ${CMAKE_COMMAND} --build ${project}/build)
  expect(0 "100% tests passed" ${CMAKE_CTEST_COMMAND} --test-dir ${project}/build --output-on-failure)
  set(plugin ${project}/build/libmy_ftl.so)
  expect(0 "plug-in my-ftl 1.0" ${program} --plugin ${plugin} list my-ftl)
  expect(2 "firmware.gc.policy: is of the program's own firmware, but firmware.model is my-ftl" ${program} --plugin ${plugin}
    check ${project}/drive.yaml --set firmware.gc.policy=greedy)
  expect(2 "asks for no code that corrects them" ${program} --plugin ${plugin} check ${project}/drive.yaml
    --set ssd.flash.reliability=parts/reliability/tlc-72l.yaml)
  expect(2 ": ssd.flash.over_provisioning: leaves less than 5 spare blocks in a plane" ${program} --plugin ${plugin} check ${project}/drive.yaml --set ssd.flash.over_provisioning=2%)
  # What is written of a drive with it can be run and checked as it is.
  expect(0 "" ${program} --plugin ${plugin} run ${project}/drive.yaml -q --out ${WORK}/written-${language})
  expect(0 "" ${program} --plugin ${plugin} run ${WORK}/written-${language}/scenario.yaml -q --out ${WORK}/again-${language})
  expect(0 "" ${program} --plugin ${plugin} check ${WORK}/written-${language}/scenario.yaml)
endforeach()
# It writes through: no flush and no force unit access is to blame for that, and few spare blocks mean nothing to it.
expect(0 "" ${program} --plugin ${WORK}/project-c++/build/libmy_ftl.so run ${WORK}/project-c++/drive.yaml -q --out ${WORK}/through
  --set "load={rw: randwrite, bs: 4k, iodepth: 4, number_ios: 3000}")
file(READ ${WORK}/through/report.json report)
string(JSON findings GET "${report}" findings)
string(JSON advice GET "${report}" advice)
if(NOT findings MATCHES "holds no data: writes go to flash before others" OR findings MATCHES "force unit access" OR
    advice MATCHES "always open or in reserve")
  message(FATAL_ERROR "${findings}${advice}")
endif()
expect(0 "left out: it takes no snapshots" ${program} --plugin ${WORK}/project-c++/build/libmy_ftl.so conform firmware my-ftl)
expect(2 "takes no snapshots" ${program} --plugin ${WORK}/project-c++/build/libmy_ftl.so run ${WORK}/project-c++/drive.yaml -q
  --prepare-only --save-snapshot ${WORK}/snapshot)
expect(2 "4 KiB: firmware.buffer_size: holds less than a program unit" ${program} --plugin ${WORK}/project-c/build/libmy_ftl.so check
  ${WORK}/project-c/drive.yaml --set "firmware.buffer_size=4 KiB")
set(plugin ${WORK}/project-c/build/libmy_ftl.so)
# Of a snapshot it says what may be the matter.
set(run --plugin ${plugin} run ${WORK}/project-c/drive.yaml -q)
expect(0 "" ${program} ${run} --prepare-only --save-snapshot ${WORK}/snapshot)
expect(2 "or one with other parameters: firmware.buffer_size is 8 MiB there, 16 MiB here" ${program} ${run}
  --from-snapshot ${WORK}/snapshot --set "firmware.buffer_size=16 MiB")

# Its decisions in the log, and what the drive shows of it at a break.
expect(0 "" ${program} --plugin ${plugin} run ${WORK}/project-c/drive.yaml -q --set "report.decisions=[own]" --out ${WORK}/decisions)
expect(0 "\"what\":\"victim\",\"why\":\"of PU" ${CMAKE_COMMAND} -E cat ${WORK}/decisions/decisions.jsonl)
expect(0 "stopped at decision=own" ${program} --plugin ${plugin} run ${WORK}/project-c/drive.yaml -q --break decision=own)
expect(2 "cannot be shown" ${program} --plugin ${plugin} inspect ${WORK}/project-c/drive.yaml --map 0-9)

# Of a table of costs it takes the lines for any policy alone.
expect(0 "" ${program} --plugin ${plugin} run ${WORK}/project-c/drive.yaml -q --out ${WORK}/costs
  --set "ssd.cpu.costs=['stage, policy, cycles', 'translate, page, 1000', 'translate, any, 7']")
file(READ ${WORK}/costs/report.json report)
string(JSON cycles GET "${report}" statistics cpu stage_translate mean_cycles value)
if(NOT cycles EQUAL 7)
  message(FATAL_ERROR "a look-up takes ${cycles} cycles, 7 for any policy")
endif()

# Findings and advice say nothing of what only the program's own has.
expect(0 "" ${program} --plugin ${plugin} run ${WORK}/project-c/drive.yaml -q --out ${WORK}/findings)
file(READ ${WORK}/findings/report.json report)
string(JSON findings GET "${report}" findings)
string(JSON advice GET "${report}" advice)
if(NOT findings MATCHES "ssd.flash.spare_factor, ssd.flash.suspend\"" OR "${findings}${advice}" MATCHES "firmware\\.")
  message(FATAL_ERROR "${findings}${advice}")
endif()

# As good as the program's own.
file(WRITE ${WORK}/drive.yaml "title: comparison
ssd:
  host: {lba_size: 4 KiB}
  dram: {capacity: 64 MiB}
  flash:
    channels: 2
    over_provisioning: 25 %
    multi_plane_reads: false
    part: {planes: 1, blocks_per_plane: 128, pages_per_block: 64, page_size: 4 KiB, multi_plane: false}
precondition: [{fill: 100 %}, {overwrite: 3x, order: random}]
load: {rw: randwrite, bs: 4k, iodepth: 16, number_ios: 120000, norandommap: true}
")
set(settings_ftl --set "firmware.buffer.capacity=256 KiB" --set firmware.gc.background_start=0%)
set(settings_my-ftl --set "firmware.buffer_size=256 KiB" --set firmware.gc_start=0% --set firmware.gc_stop=0%)
set(loads_write)
set(loads_random --set "precondition=[{fill: 100 %}]" --set load.rw=randread --set load.iodepth=1 --set load.number_ios=5000)
set(loads_sequential --set "precondition=[{fill: 100 %}]" --set load.rw=read --set load.bs=64k --set load.iodepth=4 --set load.number_ios=5000)
set(loads_fill --set "precondition=[]" --set load.rw=write --set load.bs=64k --set load.iodepth=4 --set load.number_ios=3000)
set(loads_light --set "precondition=[{fill: 100 %}]" --set load.iodepth=1 --set load.rate_iops=500 --set load.number_ios=2000)
foreach(model ftl my-ftl)
  foreach(load write random sequential fill light)
    expect(0 "" ${program} --plugin ${plugin} run ${WORK}/drive.yaml -q --set firmware.model=${model} ${settings_${model}}
      ${loads_${load}} --out ${WORK}/${model}-${load})
  endforeach()
endforeach()
file(WRITE ${WORK}/compare.py "import json, math, sys
work, wrong = sys.argv[1], []
def report(model, load):
    return json.load(open(f'{work}/{model}-{load}/report.json'))
def amplification(model):
    return report(model, 'write')['statistics']['firmware']['write_amplification']['total']['value']
def latency(model, load):
    kind = 'read' if load in ('random', 'sequential') else 'write'
    part = report(model, load)['results']['total']['operations'][kind]['latency']
    return part['mean']
def near(what, a, b, share):
    print(f'{what}: {a:.6g} and {b:.6g}, {100 * (a / b - 1):+.2f} %')
    if abs(a / b - 1) > share: wrong.append(what)
near('write amplification', amplification('my-ftl'), amplification('ftl'), 0.02)
for load in ('random', 'sequential', 'fill', 'light'):
    near(f'latency, {load}', latency('my-ftl', load), latency('ftl', load), 0.02)
sys.exit(', '.join(wrong) or 0)
")
expect(0 "" ${PYTHON} ${WORK}/compare.py ${WORK})

# Faults, each planted alone: fault(<name> <code of the run> <what is said> <this in the source> <becomes this>)
file(READ ${WORK}/project-c/my_ftl_ftl.c source)
function(fault name text from to)
  string(FIND "${source}" "${from}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "fault ${name}: the source has no \"${from}\"")
  endif()
  string(REPLACE "${from}" "${to}" faulty "${source}")
  file(WRITE ${WORK}/${name}.c "${faulty}")
  expect(0 "" ${C_COMPILER} -std=c99 -O2 -shared -fPIC -fvisibility=hidden -I${prefix}/include ${WORK}/${name}.c -o ${WORK}/lib${name}.so)
  expect(1 "${text}" ${program} --plugin ${WORK}/lib${name}.so conform firmware my-ftl)
endfunction()
fault(stale_after_collection "is wrong at LBA" "if (ok && f->map[p->id[i]] == p->from[i]) remap" "if (ok) remap")
fault(not_moved "tlmssd: firmware my-ftl: " "if (ok && f->map[p->id[i]] == p->from[i]) remap" "if (i > 0) remap")
fault(lost_trim "wrong data: firmware my-ftl" "    deallocate(f, lpn);\n    return 1;" "    return 1;")
fault(lost_overwrite "wrong data: firmware my-ftl" "tlmssd_take(f->host, job->c, (uint32_t)lpn, (uint32_t)old);" "(void)job;")
fault(completed_twice "completed twice" "tlmssd_complete(f->host, job->c, job->status);"
  "tlmssd_complete(f->host, job->c, job->status); if (f->s.seq == 500) tlmssd_complete(f->host, job->c, job->status);")
fault(forgotten_command "did not complete a command" "  tlmssd_complete(f->host, job->c, job->status);"
  "  if (f->s.seq != 500) tlmssd_complete(f->host, job->c, job->status);")
fault(out_of_order "tlmssd: firmware my-ftl: " "place(f, p->base, &op);" "place(f, p->base, &op); op.page ^= 1;")
fault(outside "outside the array" "place(f, p->base, &op);" "place(f, p->base, &op); op.die += f->shape.dies;")
fault(no_such_buffer "names buffer" "op.buffers = buffers;\n  op.purpose = p->stream" "buffers[0] += 1u << 20; op.buffers = buffers;\n  op.purpose = p->stream")
fault(no_data "without data for block" "tlmssd_deliver(f->host, job->c, (uint32_t)lpn, TLMSSD_NO_BUFFER);" "(void)job;")
fault(crash "firmware my-ftl: crashed (SEGV)" "  struct job* job = calloc(1, sizeof *job);"
  "  struct job* job = calloc(1, sizeof *job); if (f->s.seq == 500) *(volatile int*)0 = 1;")
fault(worn_block_used "tlmssd: firmware my-ftl: " "block->state = result->status == TLMSSD_OK ? FREE : BAD;" "block->state = FREE;")
fault(forgotten_map "wrong data: firmware my-ftl" "  tlmssd_save(f->host, a, f->map, (size_t)f->logical * sizeof *f->map);" "")
fault(forgotten_erases "the drive goes on otherwise from it, so archive() lacks something: "
  "  tlmssd_save(f->host, a, f->entry, " "  if (!tlmssd_saving(f->host, a))
    for (size_t b = 0; b < blocks; ++b) f->block[b].erases = 0;
  tlmssd_save(f->host, a, f->entry, ")
fault(completed_early "firmware my-ftl: completes a read before what is charged to it has ended" "issue_parts, job);" "issue_parts, job);\n  if (job->f->s.seq > 500) tlmssd_complete(job->f->host, job->c, TLMSSD_MEDIA_ERROR);")
fault(leaves "plug-in my-ftl 1.0: called exit(0) before the program was done" "  struct job* job = calloc(1, sizeof *job);"
  "  struct job* job = calloc(1, sizeof *job); if (f->s.seq == 500) exit(0);")
fault(void_flush "before LBA" "run(job, TLMSSD_STAGE_COMMAND, 0, flush);" "finish(job);")
fault(void_access "write with force unit access before LBA"
  "if (job->c->force_unit_access && job->status == TLMSSD_SUCCESS) flush(job); else finish(job);" "finish(job);")
fault(restores_less "firmware my-ftl: restores" "  tlmssd_save(f->host, a, f->map, (size_t)f->logical * sizeof *f->map);"
  "  if (tlmssd_saving(f->host, a)) tlmssd_save(f->host, a, f->map, (size_t)f->logical * sizeof *f->map);")
# Two changes: a drain writes out no part of a program unit, and does not wait for one.
set(sound "${source}")
string(REPLACE "f->s.waiting >= f->pu_units || f->draining ||" "f->s.waiting >= f->pu_units ||" source "${source}")
if(source STREQUAL sound)
  message(FATAL_ERROR "fault drained_before: the source is another")
endif()
fault(drained_before "says that it is drained before LBA" "(f->s.used == 0 || f->s.read_only)" "1")
set(source "${sound}")
fault(fails_in_report "firmware my-ftl: no figures" "static void report(void* self, struct tlmssd_report* r) {"
  "static void report(void* self, struct tlmssd_report* r) {\n  tlmssd_fail(((struct ftl*)self)->host, \"no figures\");")
fault(code_not_named "asks for code bch, but its codes are none" "    op.command = job->c;" "    op.command = job->c; op.code = TLMSSD_CODE_BCH;")
fault(no_such_unit "programs unit 2147483647 of" "op.buffers = buffers;\n  op.purpose = p->stream" "lpns[0] = 0x7fffffff; op.buffers = buffers;\n  op.purpose = p->stream")
# One that crashes while it is loaded, and one that fails when all is over.
function(planted name from to)
  string(REPLACE "${from}" "${to}" faulty "${source}")
  if(faulty STREQUAL source)
    message(FATAL_ERROR "fault ${name}: the source has no \"${from}\"")
  endif()
  file(WRITE ${WORK}/${name}.c "${faulty}")
  expect(0 "" ${C_COMPILER} -std=c99 -O2 -shared -fPIC -fvisibility=hidden -I${prefix}/include ${WORK}/${name}.c -o ${WORK}/lib${name}.so)
  set(run_planted ${program} --plugin ${WORK}/lib${name}.so run ${WORK}/project-c/drive.yaml -q --short PARENT_SCOPE)
endfunction()
planted(entry "tlmssd_firmware_plugin(void) { return" "tlmssd_firmware_plugin(void) { *(volatile int*)0 = 1; return")
expect(2 "': crashed (SEGV)" ${run_planted})
planted(destroyed "static void destroy(void* self) {" "static void destroy(void* self) {\n  tlmssd_fail(((struct ftl*)self)->host, \"not now\");")
expect(2 "tlmssd: firmware my-ftl: not now" ${run_planted})
# One that does not come back ends all the same when it is asked to.
file(READ ${WORK}/project-c/my_ftl_ftl.c source)
string(REPLACE "  struct job* job = calloc(1, sizeof *job);" "  while (f->s.seq == 500) {}\n  struct job* job = calloc(1, sizeof *job);" faulty "${source}")
if(faulty STREQUAL source)
  message(FATAL_ERROR "the endless loop was not planted")
endif()
file(WRITE ${WORK}/stuck.c "${faulty}")
expect(0 "" ${C_COMPILER} -std=c99 -O2 -shared -fPIC -fvisibility=hidden -I${prefix}/include ${WORK}/stuck.c -o ${WORK}/libstuck.so)
expect(143 "tlmssd: interrupted by SIGTERM, but plug-in my-ftl 1.0 is stuck; given up after 5 s" timeout --preserve-status -k 60 3
  ${program} --plugin ${WORK}/libstuck.so run ${WORK}/drive.yaml -q --set firmware.model=my-ftl --out ${WORK}/stuck)
file(GLOB left ${WORK}/stuck ${WORK}/.tlmssd*)
if(left)
  message(FATAL_ERROR "a run that was stuck left ${left}")
endif()
