// Broken scenarios, one after another through the program and its real catalogue: exit code 2, one
// line that names the place and what would be right, and nothing left behind.
#include <nlohmann/json.hpp>

#include "testbench/tests/program/broken.h"

namespace tlmssd::program_tests {

TEST_CASE("scenarios with unknown keys", "[program]") {
  refuse_all({
      {"title:", "titel:", "@:1: key 'titel' is not known at the top level; did you mean 'title'?"},
      {"firmware:", "firmwear:",
       "@:10: key 'firmwear' is not known at the top level; did you mean 'firmware'?"},
      {"  dram:", "  dramm:", "@:4: key 'dramm' is not known in ssd; did you mean 'dram'?"},
      {"lba_size", "lba_sise", "@:3: key 'lba_sise' is not known in ssd.host; did you mean 'lba_size'?"},
      {"    channels", "    chanels",
       "@:6: key 'chanels' is not known in ssd.flash; did you mean 'channels'?"},
      {"page_size", "pagesize",
       "@:9: key 'pagesize' is not known in ssd.flash.part; did you mean 'page_size'?"},
      {"  buffer:", "  bufer:", "@:11: key 'bufer' is not known in firmware; did you mean 'buffer'?"},
      {"{capacity: 256", "{capacty: 256",
       "@:11: key 'capacty' is not known in firmware.buffer; did you mean 'capacity'?"},
      {"number_ios", "number_io", "@:12: key 'number_io' is not known in load.0; did you mean 'number_ios'?"},
      {"  dram:", "  cpu: {cycles: {comand: 5}}\n  dram:",
       "@:4: key 'comand' is not known in ssd.cpu.cycles; did you mean 'command'?"},
      {"load:", "precondition:\n  - {fil: 10 %}\nload:",
       "@:13: key 'fil' is not known in precondition.0; did you mean 'fill'?"},
      {"load:", "run: {quantm: 1 ms}\nload:",
       "@:12: key 'quantm' is not known in run; did you mean 'quantum'?"},
      {"load:", "report: {window: {frm: 1 ms}}\nload:",
       "@:12: key 'frm' is not known in report.window; did you mean 'from'?"},
      {k_small_load, "\n  trace: x.csv\n  format: csv\n  columns: {tme: 1}",
       "@:15: key 'tme' is not known in load.0.columns; did you mean 'time'?"},
      {"number_ios: 500", "queue_depth: 5",
       "@:12: key 'queue_depth' in load.0 goes only with 'trace' or 'profile'"},
      {k_small_load, "{trace: x.csv, iodepth: 3}", "@:12: key 'iodepth' in load.0 does not go with 'trace'"},
      {k_small_load, "{profile: hm_0, iodepth: 3}",
       "@:12: key 'iodepth' in load.0 does not go with 'profile'"},
      {k_small_load, "{profile: hm_0, volume: x}", "@:12: key 'volume' in load.0 does not go with 'profile'"},
      {k_small_load, "{profile: hm_0, scal: 1}",
       "@:12: key 'scal' is not known in load.0; did you mean 'scale'?"},
      {"number_ios: 500", "requests: 5",
       "@:12: key 'requests' in load.0 goes only with 'trace' or 'profile'"},
      {"number_ios: 500", "scale: 0.5", "@:12: key 'scale' in load.0 goes only with 'profile'"},
      {"number_ios: 500", "warmup: 5", "@:12: key 'warmup' is not known in load.0; did you mean 'warm_up'?"},
      {"title: small", "title: small\ntitle: large", "@:2: key 'title' is given twice (first in line 1)"},
  });
}

TEST_CASE("scenarios with wrong values", "[program]") {
  refuse_all({
      {"64 MiB", "64", "@:4: ssd.dram.capacity: '64' has no unit; write for instance '64 KiB'"},
      {"64 MiB", "64 MHz",
       "@:4: ssd.dram.capacity: '64 MHz': 'MHz' is not a unit of size; use B, KiB, MiB, GiB, TiB, kB, MB, GB "
       "or "
       "TB"},
      {"40 %", "40",
       "@:8: ssd.flash.over_provisioning: '40' has no unit; write for instance '40 %' or '40x'"},
      {"dram: {", "dram: {latency: 50, ",
       "@:4: ssd.dram.latency: '50' has no unit; write for instance '50 ns'"},
      {"dram: {", "dram: {latency: 0.5 ps, ", "@:4: ssd.dram.latency: '0.5 ps' is finer than 1 ps"},
      {"channels: 2", "channels: two", "@:6: ssd.flash.channels: 'two' is not a whole number"},
      {"channels: 2", "channels: -2", "@:6: ssd.flash.channels: -2 is out of range: must be 1 to 1024"},
      {"channels: 2", "channels: 2.5", "@:6: ssd.flash.channels: '2.5' is not a whole number"},
      {"channels: 2", "channels: 99999999999999999999",
       "@:6: ssd.flash.channels: '99999999999999999999' is too large"},
      {"64 MiB", "99999999999 TiB", "@:4: ssd.dram.capacity: '99999999999 TiB' is too large"},
      {"40 %", "1e400 %", "@:8: ssd.flash.over_provisioning: '1e400 %' is too large or too small"},
      {"channels: 2", "channels: [2]",
       "@:6: ssd.flash.channels: is a list; expected one value: whole number"},
      {"channels: 2", "channels: {a: 2}",
       "@:6: ssd.flash.channels: is a section; expected one value: whole number"},
      {"\n  buffer: {capacity: 256 KiB}", " fast",
       "@:10: firmware must be a section (key: value ...), not 'fast'"},
      {"  dram:", "  cpu: {assignment: {flash: 0}}\n  dram:",
       "@:4: ssd.cpu.assignment.flash: '0' is a single value; write a list: [0]"},
      {"  buffer:", "  allocation: {multi_plane: yess}\n  buffer:",
       "@:11: firmware.allocation.multi_plane: 'yess' is not true or false"},
      {"number_ios: 500", "queue: 64",
       "@:12: load.0.queue: 64 is not a queue of the drive, which has 4, numbered from 0; nearest valid: 3"},
      {"rw: randrw", "rw: randwr", "@:12: load.0.rw: 'randwr' is not one of ..."},
      {"rw: randrw", "rw: randrw, bs: 3000",
       "@:12: load.0.bs: 3000 B is not a multiple of the drive's logical block of 4096 B"},
      {"number_ios: 500", "bs: 9223372036854775807",
       "@:12: load.0.bs: 9223372036854775807 B is too large, expected at most 1 GiB"},
      {"number_ios: 500", "bs: 18446744073709551615",
       "@:12: load.0.bs: 18446744073709551615 B is too large, expected at most 1 GiB"},
      {"rw: randrw", "rw: randrw, bs: large",
       "@:12: load.0.bs: \"large\" is not understood, expected a size (4k, 128k, 1m)"},
      {"rw: randrw", "rw: randrw, size: 10t",
       "@:12: load.0.size: 10995116277760 B at offset 0 B ends beyond ..."},
      {"rw: randrw", "rw: randrw, bssplit: 4k/60:8k/60",
       "@:12: load.0.bssplit: the shares in \"4k/60:8k/60\" add up to 120 %, expected 100 %"},
      {"rw: randrw", "rw: randrw, rwmixread: 200",
       "@:12: load.0.rwmixread: 200 is out of range: must be 0 to 100"},
      {"rw: randrw", "rw: randrw, random_distribution: zipff:1",
       "@:12: load.0.random_distribution: \"zipff\" is unknown, expected random, zipf:theta, pareto:h, "
       "normal:deviation, zoned:... or lives"},
      {"rw: randrw", "rw: randrw, time_based: true", "@:12: load.0.time_based: needs runtime as well"},
      {"load:", "precondition:\n  - {order: random}\nload:",
       "@:13: precondition.0: nothing to do: give fill, overwrite, trim, state, until, idle, rest or reads"},
      {"load:", "precondition:\n  - {fill: 120 %}\nload:", "@:13: precondition.0.fill: ..."},
      {"load:", "precondition:\n  - {state: steady, bs: 8 KiB}\nload:",
       "@:13: precondition.0.bs: all was overwritten by the mapping page in the step that has state: steady; "
       "nearest valid: 0 B"},
      {"load:", "precondition:\n  - {state: steady, order: sequential}\nload:",
       "@:13: precondition.0.order: all was overwritten at random in the step that has state: steady; "
       "nearest valid: random"},
      {"load:", "precondition:\n  - {state: steady, random_distribution: \"zipf:1.1\"}\nload:",
       "@:13: precondition.0.random_distribution: each page was overwritten as often in the step that has "
       "state: steady; nearest valid: random"},
      {"load:", "precondition:\n  - {fill: 100 %, bs: 3000 B}\nload:",
       "@:13: precondition.0.bs: 3000 B is not a multiple of the drive's logical block of 4096 B"},
  });
}

TEST_CASE("what is proposed fits all of the scenario, and the user's own key is named", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", replaced(k_small, "{lba_size: 4 KiB}", "{}"));
  const auto told = [&](const std::vector<std::string>& settings) {
    const Outcome outcome = run(folder, joined({"check", scenario}, set_options(settings)));
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  using Catch::EndsWith;
  CHECK_THAT(told({"ssd.flash.part.page_size=16 kB"}),
             EndsWith("not a multiple of the logical block of 512 B; nearest valid: 16 KiB\n"));
  CHECK_THAT(told({"ssd.flash.part.page_size=6 KiB"}),
             EndsWith(": ssd.flash.part.page_size: with 6 KiB, firmware.mapping.unit: 4096 B does not divide "
                      "the page of 6144 B into whole logical blocks of 512 B; nearest valid: "
                      "firmware.mapping.unit: 3072 B\n"));
  const std::vector<std::string> log = {"ssd.flash.part.blocks_per_plane=512",
                                        "log_structured.policy=log-structured"};
  CHECK_THAT(told({log[0], log[1], "log_structured.grain=3 MiB"}),
             EndsWith("exceed the 2097152 B of ssd.host.max_transfer; nearest valid: 1048576 B\n"));
  CHECK_THAT(told({log[0], log[1], "log_structured.grain=600 KiB", "log_structured.segment=600 KiB",
                   "ssd.host.max_transfer=512 KiB"}),
             EndsWith("exceed the 524288 B of ssd.host.max_transfer; nearest valid: 307200 B\n"));
  CHECK_THAT(
      told({"ssd.dram.capacity=512 KiB"}),
      EndsWith(": ssd.dram.capacity: 512 KiB do not hold the mapping table and write buffer (1 MiB) and "
               "one transfer (2 MiB); nearest valid: 3 MiB\n"));
  // Of two mistakes the one that hides the other is not blamed on a choice that has nothing to do
  // with it.
  const std::string both = told({"ssd.host.protocol=sata", "ssd.host.link=sata3",
                                 "ssd.host.arbitration=weighted", "ssd.flash.over_provisioning=2 %"});
  CHECK(both.find("ssd.host.weights: has 0 numbers, but there are 1 queues") != std::string::npos);
  CHECK(both.find("ssd.flash.over_provisioning: ") != std::string::npos);
  CHECK(both.find("sata3") == std::string::npos);
}

TEST_CASE("a proposal that brings up another refusal comes with that one", "[program]") {
  const Folder folder;
  const std::string corpus = TLMSSD_SOURCE_DIR "/testbench/fuzz/corpus/refused/";
  const Outcome outcome = run(folder, {"check", corpus + "files-profile.yaml"});
  INFO(outcome.err);
  CHECK(outcome.err.find(": load.0.target: files can only be read, and a profile writes; nearest valid: ") !=
        std::string::npos);
  CHECK(outcome.err.find("nearest valid: load.0.addresses: wrap\n") != std::string::npos);
}

TEST_CASE("scenarios whose values contradict each other", "[program]") {
  refuse_all({
      {"40 %", "40 %\n    spare_factor: 20 %",
       "@:9: ssd.flash.spare_factor: spare_factor and over_provisioning are two definitions of the same "
       "thing: "
       "give one of them"},
      {"over_provisioning: 40 %", "spare_factor: 0 %",
       "@:8: ssd.flash.spare_factor: 0 % is out of range: must be 0.1 % to 99 %"},
      {"  buffer:", "  mapping: {unit: 3 KiB}\n  buffer:",
       "@:11: firmware.mapping.unit: 3072 B does not divide the page of 4096 B into whole logical blocks of "
       "4096 B; "
       "nearest valid: 4096 B"},
      {"  buffer:", "  mapping: {unit: 512 B}\n  buffer:",
       "@:11: firmware.mapping.unit: 512 B does not divide ..."},
      {"lba_size: 4 KiB", "lba_size: 1 KiB",
       "@:3: ssd.host.lba_size: must be 512 B or 4 KiB; nearest valid: 512 B"},
      {"64 MiB", "1 MiB",
       "@:4: ssd.dram.capacity: 1 MiB do not hold the mapping table and write buffer (1 MiB) and one "
       "transfer (2 MiB)"},
      {"256 KiB", "4 KiB",
       "@:11: firmware.buffer.capacity: 4096 B cannot hold two program units of 4096 B each (1 planes x 1 "
       "pages); "
       "nearest valid: 8192 B"},
      {"256 KiB", "128 MiB", "@:4: ssd.dram.capacity: 64 MiB do not hold ..."},
      {"40 %", "2 %",
       "@:8: ssd.flash.over_provisioning: 1003 logical blocks need 1003 mapping pages, but ..."},
      {"lba_size", "arbitration: weighted, weights: [1, 2], lba_size",
       "@:3: ssd.host.weights: has 2 numbers, but there are 4 queues"},
      {"lba_size", "weights: [1, 2, 3, 4], lba_size",
       "@:3: ssd.host.weights: are given, but ssd.host.arbitration is round-robin, not weighted"},
      {"  dram:", "  cpu: {cores: 2, assignment: {flash: [0, 2]}}\n  dram:",
       "@:4: ssd.cpu.assignment.flash: there is no core 2 (ssd.cpu.cores is 2, counted from 0)"},
      {"lba_size", "link: pcie3x3, lba_size",
       "@:3: ssd.host.link: 'pcie3x3' is none of pcie<generation 1 to 6>x<lanes 1, 2, 4, 8 or 16> (such as "
       "pcie3x4), sata1.5, sata3, sata6"},
      {"lba_size", "protocol: sata, lba_size",
       "@:3: ssd.host.protocol: sata does not run over ssd.host.link pcie3x4: nvme needs pcie..., sata needs "
       "sata1.5, sata3 "
       "or sata6"},
      {"lba_size", "link: sata6, lba_size",
       "@:3: ssd.host.protocol: nvme does not run over ssd.host.link sata6..."},
      {"lba_size", "max_payload: 200, lba_size", "@:3: ssd.host.max_payload: must be 128, 256 or 512"},
      {"lba_size", "max_read_request: 700, lba_size",
       "@:3: ssd.host.max_read_request: must be a power of two from 128 to 4096"},
      {"lba_size", "max_transfer: 6 KiB, lba_size",
       "@:3: ssd.host.max_transfer: must be a multiple of ssd.host.lba_size"},
      {"planes: 1", "planes: 1, cell: tlc, program_unit: word-line",
       "@:9: ssd.flash.part.pages_per_block: NAND part generic-mlc: 16 is not a whole number of word lines "
       "of 3 "
       "pages"},
      {"planes: 1", "planes: 1, cell: tlc, read_latency: [50 us, 60 us]",
       "@:9: ssd.flash.part.read_latency: NAND part generic-mlc has 2 values; give one, or one for each of "
       "the 3 "
       "page types of tlc"},
      {"blocks_per_plane: 32", "blocks_per_plane: 1",
       "@:9: ssd.flash.part.blocks_per_plane: 1 are too few..."},
      {"  buffer:", "  gc: {low_water: 100}\n  buffer:",
       "@:9: ssd.flash.part.blocks_per_plane: 32 are too few, 101 of them are set aside for garbage "
       "collection and "
       "open blocks"},
      {"    ways: 1", "    ways: 1\n    user_capacity: 64 TiB",
       "@:8: ssd.flash.user_capacity: needs 751619277 blocks per plane, more than 16000000; there may be "
       "more "
       "channels, ways or larger blocks"},
      {"  buffer:", "  gc: {background_start: 50 %, background_stop: 10 %}\n  buffer:",
       "@:11: firmware.gc.background_stop: background cleaning would stop before it has started "
       "(background_start is 50 %); nearest valid: ..."},
      {"    ways: 1", "    ways: 1\n    suspend: both\n    scheduling: {policy: in-order}",
       "@:8: ssd.flash.suspend: both needs a flash scheduling that lets reads overtake (read-first, "
       "write-drain)"},
      {"channels: 2", "organisation: shared-bus-gang\n    gang: 4\n    channels: 2",
       "@:7: ssd.flash.gang: 4 does not divide the 2 channels; nearest valid: 2"},
  });
}

TEST_CASE("scenarios with wrong profiles and warm-ups", "[program]") {
  refuse_all({
      {k_small_load, "{profile: hm_00, scale: 0.001}",
       "@:12: load.0.profile: 'hm_00' is not one of prxy_0, proj_0, hm_0, web_1, prxy_1, proj_3 or src2_1; "
       "did "
       "you mean 'hm_0'?"},
      {k_small_load, "{profile: hm_0, scale: 2}", "@:12: load.0.scale: 2 is out of range: must be ..."},
      {k_small_load, "{profile: hm_0, scale: 0}", "@:12: load.0.scale: 0 is out of range: must be ..."},
      {k_small_load, "{profile: hm_0, scale: 10 %}", "@:12: load.0.scale: '10 %' ..."},
      {k_small_load, "{profile: web_1, scale: 0.000001}",
       "@:12: load.0.scale: 1e-06 leaves nothing of web_1"},
      {k_small_load, "{profile: hm_0}", "@:12: load.0.scale: 1 of hm_0 covers 5.24 GiB, more than ..."},
      {k_small_load, "{profile: hm_0, trace: x.csv}", "@:12: ..."},
      {k_small_load, "{profile: hm_0, scale: 0.0001, region_offset: 1 TiB}",
       "@:12: load.0.region_offset: 1099511627776 B lies beyond the drive's ..."},
      {k_small_load, "{profile: hm_0, scale: 0.0001, traces_folder: nowhere}",
       "@:12: load.0.traces_folder: there is no file {folder}/nowhere..."},
      {k_small_load, "{profile: hm_0, scale: 0.0001, traces_folder: .}",
       "@:12: load.0.traces_folder: {folder}/. holds no hm_0.csv, .csv.gz, .csv.zst or .csv.xz; without "
       "traces_folder the requests are made up"},
      {"number_ios: 500", "number_ios: 500, warm_up: many",
       "@:12: load.0.warm_up: 'many' is not understood, expected a number of requests (20000) or a share "
       "below "
       "100 % (30 %)"},
      {"number_ios: 500", "number_ios: 500, warm_up: 100 %",
       "@:12: load.0.warm_up: '100 %' is not understood, expected ..."},
      {"number_ios: 500", "number_ios: 500, warm_up: 500",
       "@:12: load.0.warm_up: 500 leaves none of the load's 500 requests to measure"},
      {"number_ios: 500", "time_based: true, runtime: 1 ms, warm_up: 5 %",
       "@:12: load.0.warm_up: a share of an unknown number of requests; expected a number of requests "
       "(20000)"},
      {k_small_load, "{profile: hm_0, scale: 0.0001, warm_up: 399}",
       "@:12: load.0.warm_up: 399 leaves none of the load's 399 requests to measure"},
      {"number_ios: 500", "io_size: 1m, bs: 4k, warm_up: 400",
       "@:12: load.0.warm_up: 400 leaves none of the load's 256 requests to measure"},
  });
}

TEST_CASE("scenarios with wrong ramps", "[program]") {
  refuse_all({
      {"number_ios: 500", "number_ios: 500, ramp_requests: 10 %",
       "@:12: load.0.ramp_requests: '10 %' is not a whole number"},
      {"number_ios: 500", "number_ios: 500, ramp_requests: -1",
       "@:12: load.0.ramp_requests: -1 is out of range: must be 0 to 1125899906842624"},
      {"number_ios: 500", "number_ios: 500, ramp_request: 1",
       "@:12: key 'ramp_request' is not known in load.0; did you mean 'ramp_requests'?"},
  });
}

TEST_CASE("files that are no scenarios", "[program]") {
  refuse_all({
      {"", "", "@:1: is empty; a scenario begins with title: ..."},
      {"", "# nothing\n", "@:1: is empty; a scenario begins with title: ..."},
      {"load: {rw: randrw, number_ios: 500}\n", "", "@:1: load needs at least 1 entry ..."},
      {k_small_load, "[]", "@:12: load needs at least 1 entry ..."},
      {" page_size: 4 KiB}", "", "@:11: not valid YAML: end of map flow not found"},
      {"  host", "\thost", "@:3: a tab in the indentation; YAML wants spaces"},
      {"",
       "\x01\x02\x7f"
       "ELF",
       "@:1: is not a text file (control character '\\x01')"},
      {"", "- a\n- b\n", "@:1: the scenario must be a section (key: value ...), not a list"},
      {"title: small", "title: &a [*a]", "@:1: an alias that contains itself"},
  });
  const Folder folder;
  const std::string missing = folder / "missing.yaml";
  refuse(folder, missing, missing + ": no such file");
}

TEST_CASE("parts that are missing or wrong", "[program]") {
  const Folder folder;
  folder.write("broken.yaml", "name: x\nplanes: 1\nread_latency: 50\n");
  folder.write("junk.yaml", "name: [x\n");
  folder.write("odd.yaml",
               "name: odd\ncell: tlc\nprogram_unit: word-line\npages_per_block: 16\npage_size: 4 KiB\n");
  const auto with = [&](const char* part) {
    return folder.write("s.yaml", replaced(k_small, k_small_part, part));
  };
  refuse(folder, with("parts/nand/nothere.yaml"), "@:9: ssd.flash.part: no file 'parts/nand/nothere.yaml'");
  refuse(
      folder, with("broken.yaml"),
      "{folder}/broken.yaml:3: ssd.flash.part.read_latency: '50' is a single value; write a list: [50 us]");
  refuse(folder, with("junk.yaml"), "{folder}/junk.yaml:2: not valid YAML: end of sequence flow not found");
  refuse(folder, with("odd.yaml"),
         "{folder}/odd.yaml:4: ssd.flash.part.pages_per_block: NAND part odd: 16 is not a whole number of "
         "word lines of 3 "
         "pages");
}

TEST_CASE("a mistake beside a data sheet is not blamed on the data sheet", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", R"(
ssd:
  dram: {capacity: 256 MiB}
  flash:
    over_provisioning: 30 %
    part:
      file: parts/nand/tlc-176l-hynix.yaml
      blocks_per_plane: 16
      timing: formula
      read: base*(1-layer/100)
load: {rw: randrw, number_ios: 100}
)");
  refuse(folder, scenario,
         "@:10: ssd.flash.part.read: position 1, at \"base*(1-layer/100)\": makes it 0 us, which is no "
         "latency where layer = 100, base = 42.857 us");
}

TEST_CASE("a timing model that is given nothing is no silent data sheet", "[program]") {
  const Folder folder;
  const auto refused = [&](const std::string& keys, const std::string& line) {
    refuse(folder,
           folder.write("s.yaml", replaced(k_small, "page_size: 4 KiB}", "page_size: 4 KiB, " + keys + "}")),
           line);
  };
  refused("timing: formula",
          "@:9: ssd.flash.part.timing: formula has no expression: give read, program or erase one");
  refused("program_table: []",
          "@:9: ssd.flash.part.program_table: is an empty list; give it entries, or leave the key out");
  refused("program_table: ' '",
          "@:9: ssd.flash.part.program_table: is empty; give it a value, or leave the key out");
}

TEST_CASE("a table in a file: empty, and with a byte order mark", "[program]") {
  const Folder folder;
  folder.write("read.csv", "");
  const std::string scenario = folder.write(
      "s.yaml",
      replaced(k_small, "page_size: 4 KiB}", "page_size: 4 KiB, timing: table, read_table: read.csv}"));
  refuse(folder, scenario, "@:9: ssd.flash.part.read_table: {folder}/read.csv is empty");
  folder.write("read.csv", "\xEF\xBB\xBF");
  refuse(folder, scenario, "@:9: ssd.flash.part.read_table: {folder}/read.csv is empty");
  folder.write("read.csv",
               "\xEF\xBB\xBF"
               "cycles, time\r\n0, 10 us\r\n");
  CHECK(run(folder, {"check", scenario}).code == 0);
}

TEST_CASE("what is wrong with a table from a file is said of that file", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml",
      replaced(k_small, "page_size: 4 KiB}", "page_size: 4 KiB, timing: table, read_table: read.csv}"));
  folder.write("read.csv", "# of ours\ncycles, time\n0, 10 us\n5, 0 us\n");
  refuse(folder, scenario,
         "{folder}/read.csv:4: ssd.flash.part.read_table: time: '0 us' is not above 0 and at most 1 s");
  folder.write("read.csv", "cycles, temperature, time\n0, 0, 10 us\n5, 5, 10 us\n");
  refuse(folder, scenario,
         "{folder}/read.csv: ssd.flash.part.read_table: is not a whole grid: there is no line with cycles 0, "
         "temperature 5");
  folder.write("read.csv", "die, time\n0, 10 us\n2, 10 us\n");
  refuse(folder, scenario, "{folder}/read.csv: ssd.flash.part.read_table: has no line with die 1");
  // Lines in the scenario are the scenario's.
  const std::string lines =
      replaced(k_small, "page_size: 4 KiB}",
               "page_size: 4 KiB, timing: table, read_table: ['cycles, time', '0, 0 us']}");
  refuse(folder, folder.write("lines.yaml", lines),
         "@:9: ssd.flash.part.read_table: line 2: time: '0 us' is not above 0 and at most 1 s");
}

TEST_CASE("flags of loads in fio's words may be 1 and 0, as in fio, and no other flags", "[program]") {
  const Folder folder;
  const std::vector<std::string> flags = {"norandommap", "end_fsync", "time_based", "stonewall"};
  const auto schema = nlohmann::json::parse(run(folder, {"schema"}).out);
  const auto& keys = schema["properties"]["load"]["anyOf"][1]["properties"];
  for (const std::string& flag : flags) {
    CHECK(keys[flag]["type"] == nlohmann::json({"boolean", "integer"}));
    CHECK(keys[flag]["minimum"] == 0);
    CHECK(keys[flag]["maximum"] == 1);
    for (const auto& [written, read] : {std::pair{"1", "true"}, {"0", "false"}, {"true", "true"}}) {
      const Outcome outcome = run(folder, {"check", folder.write("s.yaml", k_small), "--set",
                                           "load.0." + flag + "=" + written, "--set", "load.0.runtime=1 ms"});
      INFO(outcome.err);
      CHECK(outcome.code == 0);
      CHECK(outcome.out.find(flag + ": " + read) != std::string::npos);
    }
  }
  const std::string scenario = folder.write("s.yaml", k_small);
  refuse(folder, scenario, "--set load.0.end_fsync=2: load.0.end_fsync: '2' is not true or false, 1 or 0",
         {"--set", "load.0.end_fsync=2"});
  refuse(folder, scenario, "--set run.timed=0: run.timed: '0' is not true or false",
         {"--set", "run.timed=0"});
}

}  // namespace tlmssd::program_tests
