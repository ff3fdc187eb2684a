# cmake -DBUILD=... -DSOURCES=... -DDOCS=... -DWORK=... -DCOMPILER=... -DPYTHON=... -P plugins_test.cmake
#
# From the installed package alone, in WORK, which is emptied first: the classes that the documentation shows are built and at
# work; one timing model is written as table, as formula and in C++ (loaded and linked) with the same report; plug-ins that
# misbehave end in one line and exit code 2.
file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
set(program ${prefix}/bin/tlmssd)

include(${CMAKE_CURRENT_LIST_DIR}/functions.cmake)

expect(0 "" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
# The classes that the documentation shows, word for word: each block of code behind a line `<!-- file: NAME -->`.
set(examples ${WORK}/examples)
expect(0 "" ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/extract.py ${examples} ${DOCS}/adding-a-nand-part.md ${DOCS}/adding-a-policy.md
  ${DOCS}/own-models.md)
build(${examples} ${examples}/build)
set(plugin ${examples}/build/libexamples.so)
expect(0 "" ${program} run ${examples}/drive.yaml -q --out ${examples}/results)
file(READ ${examples}/results/summary.csv summary)
file(READ ${examples}/results/report.json report)
file(READ ${examples}/results/scenario.yaml resolved)
foreach(found "ring-log,write,20000" "vendor.log,trim,1" "load,read,20000")
  if(NOT summary MATCHES "${found}")
    message(FATAL_ERROR "summary.csv lacks ${found}:\n${summary}")
  endif()
endforeach()
foreach(found "examples 1.0" "chunks_made" "rewritten_soon" "polar_utilisation" "\"wear_moves\": {[^}]*\"value\": [1-9]"
    "\"wrong_bits_per_frame\": {[^}]*\"value\": [1-9]")
  if(NOT report MATCHES "${found}")
    message(FATAL_ERROR "report.json lacks ${found}")
  endif()
endforeach()
if(NOT resolved MATCHES "plugins: .*libexamples.so" OR NOT resolved MATCHES "lifetime:")
  message(FATAL_ERROR "the resolved scenario knows nothing of the plug-in:\n${resolved}")
endif()
foreach(family "mapping;chunked" "feature;lifetime" "victim;second-chance" "cache;fifo" "ecc;by-age" "ecc-code;polar" "wear;rotation"
    "scheduling;weighted-wait" "pslc;by-length" "reliability;linear")
  expect(0 "0 of" ${program} --plugin ${plugin} conform ${family})
endforeach()
# The same with state that no snapshot holds.
set(forgetful ${WORK}/forgetful)
file(COPY ${examples}/ DESTINATION ${forgetful} PATTERN build EXCLUDE PATTERN results EXCLUDE)
function(plant file from to)
  file(READ ${forgetful}/${file} source)
  string(REPLACE "${from}" "${to}" faulty "${source}")
  if(faulty STREQUAL source)
    message(FATAL_ERROR "${file} has no \"${from}\"")
  endif()
  file(WRITE ${forgetful}/${file} "${faulty}")
endfunction()
plant(rotation.h "      a(unit.line);\n      a(unit.since);\n      a(unit.tidied);\n" "      (void)a, (void)unit;\n")
plant(fifo.h "{ return config_.reads; }\n  [[nodiscard]] bool copies_reads() const override { return config_.reads; }"
  "{ return ++asked_ % 3 == 0; }\n  std::uint64_t asked_ = 0;")
plant(weighted_wait.h "    if (overdue(normal_since, now)) return DieQueue::normal;" "    if (++asked_ % 3 == 0) return DieQueue::normal;")
plant(weighted_wait.h "  Config config_;" "  Config config_;\n  mutable int asked_ = 0;")
build(${forgetful} ${forgetful}/build)
foreach(family "wear;rotation" "cache;fifo")
  expect(1 "the drive goes on otherwise from it, so archive() lacks something: " ${program}
    --plugin ${forgetful}/build/libexamples.so conform ${family})
endforeach()
expect(1 "WRONG the same question has the same answer" ${program} --plugin ${forgetful}/build/libexamples.so conform scheduling
  weighted-wait --quick)
foreach(page list schema reference)
  foreach(name chunked lifetime polar ring-log csv-summary rotation weighted-wait by-length linear)
    expect(0 "${name}" ${program} --plugin ${plugin} ${page})
  endforeach()
endforeach()
expect(0 "plug-in examples 1.0" ${program} --plugin ${plugin} list lifetime)
expect(0 "vendor-log (recognised)" ${program} --plugin ${plugin} trace-info ${examples}/vendor.log)
expect(2 "is not known" ${program} check ${examples}/drive.yaml --set report.csv-sumary={})

set(others ${WORK}/others)
file(READ ${prefix}/include/tlmssd/platform/plugins/interface.h interface)
string(REGEX REPLACE "headers [0-9a-f]+" "headers 0123456789ab" other_interface "${interface}")
file(WRITE ${others}/platform/plugins/interface.h "${other_interface}")
build(${SOURCES} ${WORK}/vendor -DOTHER_HEADERS=${others})
set(layered ${WORK}/vendor/liblayered.so)
foreach(way table formula plugin)
  expect(0 "" ${program} --plugin ${layered} run ${SOURCES}/drive.yaml -q --set ssd.flash.part=layered-${way}.yaml
    --out ${WORK}/${way})
endforeach()
expect(0 "" ${WORK}/vendor/linked run ${SOURCES}/drive.yaml -q --set ssd.flash.part=layered-plugin.yaml --out ${WORK}/linked)
expect(0 "" ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/same.py ${WORK}/table ${WORK}/formula ${WORK}/plugin ${WORK}/linked)
# The comparison finds a difference of a thousandth in one coefficient, and the plain data sheet.
expect(0 "" ${program} run ${SOURCES}/drive.yaml -q --set ssd.flash.part=layered-planted.yaml --out ${WORK}/planted)
expect(1 "" ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/same.py ${WORK}/table ${WORK}/planted)
expect(0 "" ${program} --plugin ${layered} run ${SOURCES}/drive.yaml -q --set ssd.flash.part=layered-part.yaml
  --out ${WORK}/plain)
expect(1 "" ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/same.py ${WORK}/table ${WORK}/plain)

expect(0 "plug-in layered 1.0" ${program} --plugin ${layered} list layered)
expect(0 "plug-in layered 1.0" ${program} --plugin ${layered} schema)
expect(0 "plug-in layered 1.0" ${program} --plugin ${layered} reference)
expect(0 "plug-in layered 1.0" ${CMAKE_COMMAND} -E env TLMSSD_PLUGINS=${layered} ${program} list layered)
expect(0 "plug-in layered 1.0" ${WORK}/vendor/linked list layered)
expect(2 "is not known" ${program} check ${SOURCES}/drive.yaml --set ssd.flash.part=layered-plugin.yaml)

# A scenario of its own that names the library.
file(READ ${SOURCES}/drive.yaml scenario)
file(COPY ${SOURCES}/ DESTINATION ${WORK}/named FILES_MATCHING PATTERN "*.yaml" PATTERN "*.csv")
file(WRITE ${WORK}/named/drive.yaml "plugins: [../vendor/liblayered.so]\n${scenario}")
expect(0 "" ${program} run ${WORK}/named/drive.yaml -q --set ssd.flash.part=layered-plugin.yaml --out ${WORK}/named/out)
expect(0 "" ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/same.py ${WORK}/table ${WORK}/named/out)
# What a run leaves behind can be run again from anywhere, with the same report.
foreach(results plugin named/out)
  file(COPY ${WORK}/${results}/scenario.yaml DESTINATION ${WORK}/again/${results})
  expect(0 "" ${program} run ${WORK}/again/${results}/scenario.yaml -q --out ${WORK}/again/${results}/out)
  expect(0 "" ${CMAKE_COMMAND} -E compare_files ${WORK}/${results}/report.json ${WORK}/again/${results}/out/report.json)
endforeach()
file(WRITE ${WORK}/named/drive.yaml "plugins: [../vendor/libnone.so]\n${scenario}")
expect(2 "drive.yaml:1: plug-in" ${program} check ${WORK}/named/drive.yaml)

# Plug-ins are told apart by the names of their files: the same file again is no matter, another is.
file(MAKE_DIRECTORY ${WORK}/link)
file(CREATE_LINK ${layered} ${WORK}/link/liblayered.so SYMBOLIC)
file(COPY ${layered} DESTINATION ${WORK}/copy)
expect(0 "plug-in layered 1.0" ${program} --plugin ${layered} --plugin ${WORK}/vendor/../link/liblayered.so list layered)
set(namesake "${WORK}/copy/liblayered.so has the file name of ${layered}, which is loaded; rename one")
expect(2 "${namesake}" ${program} --plugin ${layered} --plugin ${WORK}/copy/liblayered.so list layered)
file(WRITE ${WORK}/named/drive.yaml "plugins: [../copy/liblayered.so]\n${scenario}")
expect(2 "drive.yaml:1: plug-in '../copy/liblayered.so': ${namesake}" ${program} --plugin ${layered} check ${WORK}/named/drive.yaml)

# A snapshot remembers what made it.
set(prepared --set ssd.flash.part=layered-plugin.yaml -q)
expect(0 "" ${program} --plugin ${layered} run ${SOURCES}/drive.yaml ${prepared} --save-snapshot ${WORK}/snapshot --prepare-only)
expect(0 "" ${program} --plugin ${layered} run ${SOURCES}/drive.yaml ${prepared} --from-snapshot ${WORK}/snapshot)
expect(2 "plug-in layered is 1.0 there, absent here" ${program} run ${SOURCES}/drive.yaml -q --from-snapshot ${WORK}/snapshot)

set(throwing ${WORK}/vendor/libthrowing.so)
expect(2 "plug-in throwing 0.3: no idea how long this takes" ${program} --plugin ${throwing} run ${SOURCES}/drive.yaml -q
  --set ssd.flash.part=layered-part.yaml --set ssd.flash.part.timing=throwing)
# What it refuses is not put down to the place in the scenario that was being worked on, unless it names a key.
set(refusing --plugin ${throwing} run ${SOURCES}/drive.yaml -q --set ssd.flash.part=layered-part.yaml
  --set ssd.flash.part.timing=refusing)
expect(2 "tlmssd: plug-in throwing 0.3: title of the licence has run out" ${program} ${refusing})
expect(2 "tlmssd: plug-in throwing 0.3: seed of doubt" ${program} ${refusing} --set ssd.flash.part.when=asked)
expect(2 "made_for_a_key: ssd.flash.part.when: is no time for it" ${program} ${refusing} --set ssd.flash.part.when=made_for_a_key)
# No end in silence, and nothing half-written beside the results that were there.
foreach(file report.json scenario.yaml)
  file(WRITE ${WORK}/left/${file} "of before")
endforeach()
expect(2 "plug-in throwing 0.3: called exit(0) before the program was done; no results were written" ${program} --plugin ${throwing}
  run ${SOURCES}/drive.yaml --force --out ${WORK}/left --set ssd.flash.part=layered-part.yaml --set ssd.flash.part.timing=leaving)
expect(143 "tlmssd: interrupted by SIGTERM, but plug-in throwing 0.3 is stuck; given up after 5 s" timeout --preserve-status -k 60 3 ${program}
  --plugin ${throwing} run ${SOURCES}/drive.yaml --force --out ${WORK}/left --set ssd.flash.part=layered-part.yaml --set ssd.flash.part.timing=stuck)
expect(2 "tlmssd: plug-in throwing 0.3: crashed (SEGV)" ${program} --plugin ${throwing} run ${SOURCES}/drive.yaml --force --out ${WORK}/left
  --set ssd.flash.part=layered-part.yaml --set ssd.flash.part.timing=stuck --set ssd.flash.part.crashes=true)
file(GLOB left LIST_DIRECTORIES true ${WORK}/left/* ${WORK}/left/.* ${WORK}/.tlmssd*)
list(LENGTH left count)
file(READ ${WORK}/left/report.json kept)
if(NOT count EQUAL 2 OR NOT kept STREQUAL "of before")
  message(FATAL_ERROR "a run that ended early leaves behind ${left}: ${kept}")
endif()
expect(1 "WRONG answers every operation" ${program} --plugin ${throwing} conform timing throwing)
expect(2 "is built for tlmssd 0.0.1" ${program} --plugin ${WORK}/vendor/libforeign.so list)
expect(2 ", _GLIBCXX_DEBUG), but this is tlmssd " ${program} --plugin ${WORK}/vendor/libdebug_mode.so list)
expect(2 "has classes of other sizes than the program's" ${program} --plugin ${WORK}/vendor/libpacked.so list)
expect(2 "(headers 0123456789ab, " ${program} --plugin ${WORK}/vendor/libdated.so list)
# Each plug-in has its own classes, whatever others and the program call theirs.
set(twins --plugin ${WORK}/vendor/libtwin_a.so --plugin ${WORK}/vendor/libtwin_b.so)
expect(0 "" ${program} ${twins} check ${SOURCES}/drive.yaml --set ssd.flash.part=layered-part.yaml
  --set ssd.flash.part.timing=twin-b --set "ssd.flash.part.sense_b=50 us")
expect(2 "'sense_a'" ${program} ${twins} check ${SOURCES}/drive.yaml --set ssd.flash.part=layered-part.yaml
  --set ssd.flash.part.timing=twin-b --set "ssd.flash.part.sense_a=50 us")
expect(2 "plug-in namesake 1.0: this is the namesake" ${program} --plugin ${WORK}/vendor/libnamesake.so run ${SOURCES}/drive.yaml -q
  --set ssd.flash.part=layered-part.yaml --set firmware.gc.policy=namesake)
# By hand, with the line that the documentation has; without the flag that hides them they would be mixed up.
file(STRINGS ${DOCS}/own-models.md line REGEX "^c\\+\\+ .*-fvisibility=hidden")
string(REPLACE "/its/prefix" ${prefix} line "${line}")
string(REPLACE "acme_nand" ${SOURCES}/layered line "${line}")
string(REGEX REPLACE "^c\\+\\+ (.*) -o .*" "\\1" line "${line}")
separate_arguments(by_hand UNIX_COMMAND "${line}")
expect(0 "" ${COMPILER} ${by_hand} -o ${WORK}/libby_hand.so)
expect(0 "plug-in layered 1.0" ${program} --plugin ${WORK}/libby_hand.so list layered)
list(REMOVE_ITEM by_hand -fvisibility=hidden)
expect(0 "" ${COMPILER} ${by_hand} -o ${WORK}/libexporting.so)
expect(2 "build it with -fvisibility=hidden" ${program} --plugin ${WORK}/libexporting.so list)
expect(2 "tlmssd: plug-in twice 1.0: there is a table already" ${program} --plugin ${WORK}/vendor/libtwice.so list)
set(clashing ${WORK}/vendor/libclashing.so)
set(taken "tlmssd: plug-in clashing 1.2: parameter 'cycle_time' of 'clashing' (ssd.flash.part.timing) is a key of ssd.flash.part too")
expect(2 "${taken}" ${program} --plugin ${clashing} check ${SOURCES}/drive.yaml)
expect(2 "${taken}" ${program} --plugin ${clashing} list)
set(narrow ${WORK}/vendor/libnarrow.so)
set(contradicts "tlmssd: plug-in narrow 1.0: parameter 'steps' of 'narrow' (ssd.flash.part.timing) has the range 0 to 300, but what it is read into holds 0 to 255")
expect(2 "${contradicts}" ${program} --plugin ${narrow} check ${SOURCES}/drive.yaml)
expect(2 "${contradicts}" ${program} --plugin ${narrow} list)
# What a plug-in prints while it is loaded is no part of what a command prints.
set(chatty ${WORK}/vendor/libchatty.so)
execute_process(COMMAND ${program} schema OUTPUT_VARIABLE schema COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${program} --plugin ${chatty} schema OUTPUT_VARIABLE output ERROR_VARIABLE errors COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL schema OR NOT errors MATCHES "chatty says good morning" OR NOT errors MATCHES "chatty is enrolled as chatty 2.0")
  message(FATAL_ERROR "a plug-in that prints while it is loaded: the schema is\n${output}\nand standard error has\n${errors}")
endif()
# A program that links the library loads plug-ins, too.
expect(2 "plug-in throwing 0.3: no idea how long this takes" ${WORK}/vendor/linked --plugin ${throwing} run ${SOURCES}/drive.yaml -q
  --set ssd.flash.part=layered-part.yaml --set ssd.flash.part.timing=throwing)
# Whatever fails, nothing is being loaded afterwards.
set(unready ${WORK}/vendor/libunready.so)
expect(2 "': cannot be loaded: no licence for this machine" ${program} --plugin ${unready} list)
file(WRITE ${WORK}/text.so "no library")
foreach(failing unready foreign)
  expect(0 "; loading: \n" ${WORK}/vendor/loading ${WORK}/vendor/lib${failing}.so)
endforeach()
expect(0 "cannot be loaded: ${WORK}/text.so: file too short; loading: \n" ${WORK}/vendor/loading ${WORK}/text.so)
# The beginning of a library (symbols at its end may be missing: they are not loaded), and what is no file.
expect(0 "" ${CMAKE_COMMAND} -E copy ${layered} ${WORK}/libcut.so)
expect(0 "" truncate --size 8192 ${WORK}/libcut.so)
expect(2 "': cannot be loaded: the file is cut off" ${program} --plugin ${WORK}/libcut.so list)
expect(2 "${WORK} is a folder, no library" ${program} --plugin ${WORK} list)
expect(2 "/dev/null is a pipe or device, no library" ${program} --plugin /dev/null list)
expect(2 "there is no such file" ${program} --plugin ${WORK}/vendor/libnothing.so list)
