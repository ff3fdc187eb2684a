// Broken scenarios, each with the one line that is expected for it.
#include <catch2/catch.hpp>

#include "test_catalogue.h"

using namespace tlmssd;

namespace {

constexpr std::size_t k_large = 64 << 20;

struct Broken {
  std::string what;
  std::string text;
  std::string message;
  std::vector<std::string> overrides;
};

/// A scenario that is whole but for these lines under ssd.dram.
std::string dram(const std::string& keys) {
  return "ssd:\n  dram:\n    " + keys + "\n  flash: {part: {name: x}}\nload: {rw: read}\n";
}
std::string flash(const std::string& keys) {
  return "ssd:\n  flash:\n    part: {name: x}\n    " + keys + "\nload: {rw: read}\n";
}
std::string part(const std::string& written) {
  return "ssd:\n  flash:\n    part: " + written + "\nload: {rw: read}\n";
}
std::string load(const std::string& written) {
  return "ssd: {flash: {part: {name: x}}}\nload: " + written + "\n";
}
std::string smallest(const std::string& more = {}) {
  return "ssd: {flash: {part: {name: x}}}\nload: {rw: read}\n" + more;
}

void check(const Broken& broken) {
  INFO(broken.what);
  std::vector<std::string> messages;  // what is missing beside it is said too
  try {
    static_cast<void>(test::read(broken.text, broken.overrides));
  } catch (const InputError& error) {
    for (const InputError& one : errors_of(error)) messages.emplace_back(one.what());
  }
  CHECK_THAT(messages, Catch::VectorContains(broken.message));
  for (const std::string& message : messages) CHECK(message.find('\n') == std::string::npos);
}

void check_all(const std::vector<Broken>& table) {
  for (const Broken& broken : table) check(broken);
}

}  // namespace

TEST_CASE("broken: keys and sections") {
  check_all({
      {"unknown key",
       flash("chanels: 4"),
       "s.yaml:4: key 'chanels' is not known in ssd.flash; did you mean 'channels'?",
       {}},
      {"letter case",
       flash("Channels: 4"),
       "s.yaml:4: key 'Channels' is not known in ssd.flash; did you mean 'channels'?",
       {}},
      {"key of another section",
       flash("latency: 4 ns"),
       "s.yaml:4: key 'latency' is not known in ssd.flash; it belongs in ssd.dram",
       {}},
      {"section in the wrong place",
       smallest("gc: {policy: greedy}\n"),
       "s.yaml:3: key 'gc' is not known at the top level; it belongs in firmware",
       {}},
      {"unknown key, nothing near",
       dram("zzzzzz: 4"),
       "s.yaml:3: key 'zzzzzz' is not known in ssd.dram; there is capacity, bandwidth, latency or ecc",
       {}},
      {"unknown section",
       smallest("prcondition: []\n"),
       "s.yaml:3: key 'prcondition' is not known at the top level; did you mean 'precondition'?",
       {}},
      {"key twice",
       dram("latency: 1 ns\n    latency: 2 ns"),
       "s.yaml:4: key 'latency' is given twice (first in line 3)",
       {}},
      {"section twice", smallest("ssd: {}\n"), "s.yaml:3: key 'ssd' is given twice (first in line 1)", {}},
      {"required section missing",
       "ssd: {}\nload: {rw: read}\n",
       "s.yaml:1: ssd.flash.part is missing (data sheet of the dies)",
       {}},
      {"required key missing",
       part("{blocks: 5}"),
       "s.yaml:3: ssd.flash.part.name is missing (of the part)",
       {}},
      {"load missing",
       "ssd: {flash: {part: {name: x}}}\n",
       "s.yaml:1: load needs at least 1 entry (what the host asks)",
       {}},
      {"load empty", load("[]"), "s.yaml:2: load needs at least 1 entry (what the host asks)", {}},
      {"entry empty",
       load("[{rw: read}, ]\nprecondition:\n  -\n  - {fill: 5 %}"),
       "s.yaml:4: precondition has an empty entry: precondition.0",
       {}},
      {"section is a value",
       "ssd: {dram: 64 MiB}\n",
       "s.yaml:1: ssd.dram must be a section (key: value ...), not '64 MiB'",
       {}},
      {"section is a list",
       "ssd: [1, 2]\n",
       "s.yaml:1: ssd must be a section (key: value ...), not a list",
       {}},
      {"list section is a value",
       smallest("precondition: full\n"),
       "s.yaml:3: precondition must be a list of sections (- key: value ...), not 'full'",
       {}},
      {"list entry is a value",
       smallest("precondition: [full]\n"),
       "s.yaml:3: precondition.0 must be a section (key: value ...), not 'full'",
       {}},
      {"unknown key in an entry",
       smallest("precondition:\n  - {fill: 5 %}\n  - {fil: 5 %}\n"),
       "s.yaml:5: key 'fil' is not known in precondition.1; did you mean 'fill'?",
       {}},
  });
}

TEST_CASE("broken: values") {
  const std::string at = "s.yaml:3: ssd.dram.";
  check_all({
      {"no unit", dram("latency: 50"), at + "latency: '50' has no unit; write for instance '50 ns'", {}},
      {"wrong unit",
       dram("latency: 50 MB"),
       at + "latency: '50 MB': 'MB' is not a unit of time; use ps, ns, us, ms, s, min, h or d",
       {}},
      {"bits",
       dram("bandwidth: 6 Gb/s"),
       at + "bandwidth: '6 Gb/s': 'Gb/s' is not a unit of bandwidth; use B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s "
            "or GiB/s",
       {}},
      {"too fine", dram("latency: 0.5 ps"), at + "latency: '0.5 ps' is finer than 1 ps", {}},
      {"out of range", dram("latency: 2 ms"), at + "latency: 2 ms is out of range: must be 0 s to 1 ms", {}},
      {"negative", dram("latency: -2 ns"), at + "latency: -2 ns is out of range: must be 0 s to 1 ms", {}},
      {"too small", dram("capacity: 1 B"), at + "capacity: 1 B is out of range: must be 1 KiB to 1 TiB", {}},
      {"overflow",
       dram("capacity: 99999999999999999 TiB"),
       at + "capacity: '99999999999999999 TiB' is too large",
       {}},
      {"not a quantity",
       dram("capacity: big"),
       at + "capacity: 'big' is not a size; write for instance '50 KiB'",
       {}},
      {"not a flag", dram("ecc: yes"), at + "ecc: 'yes' is not true or false", {}},
      {"no value", dram("ecc:"), at + "ecc: has no value; expected: true or false", {}},
      {"a map for a value",
       dram("latency: {ns: 50}"),
       at + "latency: is a section; expected one value: time (ps, ns, us, ms, s, min, h or d)",
       {}},
      {"a list for a value",
       dram("latency: [50 ns]"),
       at + "latency: is a list; expected one value: time (ps, ns, us, ms, s, min, h or d)",
       {}},
      {"not whole", flash("channels: 4.5"), "s.yaml:4: ssd.flash.channels: '4.5' is not a whole number", {}},
      {"integer overflow",
       flash("channels: 99999999999999999999"),
       "s.yaml:4: ssd.flash.channels: '99999999999999999999' is too large",
       {}},
      {"zero channels",
       flash("channels: 0"),
       "s.yaml:4: ssd.flash.channels: 0 is out of range: must be 1 to 256",
       {}},
      {"bare share",
       flash("over_provisioning: 0.25"),
       "s.yaml:4: ssd.flash.over_provisioning: '0.25' has no unit; write for instance '25 %' or '0.25x'",
       {}},
      {"bare duration",
       part("{name: x, wear: {retention: 6}}"),
       "s.yaml:3: ssd.flash.part.wear.retention: '6' has no unit; write for instance '6 d'",
       {}},
      {"unit of duration",
       part("{name: x, wear: {retention: 3 months}}"),
       "s.yaml:3: ssd.flash.part.wear.retention: '3 months': 'months' is not a unit of duration; use s, min, "
       "h, d or y",
       {}},
      {"too long a duration",
       part("{name: x, wear: {retention: 11 y}}"),
       "s.yaml:3: ssd.flash.part.wear.retention: 11 y is out of range: must be 0 s to 10 y",
       {}},
      {"bare temperature",
       part("{name: x, wear: {temperature: 40}}"),
       "s.yaml:3: ssd.flash.part.wear.temperature: '40' has no unit; write for instance '40 C'",
       {}},
      {"unit of temperature",
       part("{name: x, wear: {temperature: 104 F}}"),
       "s.yaml:3: ssd.flash.part.wear.temperature: '104 F': 'F' is not a unit of temperature; use C or K",
       {}},
      {"below absolute zero",
       part("{name: x, wear: {temperature: -300 C}}"),
       "s.yaml:3: ssd.flash.part.wear.temperature: '-300 C' is below absolute zero, -273.15 C",
       {}},
      {"too hot",
       part("{name: x, wear: {temperature: 400 K}}"),
       "s.yaml:3: ssd.flash.part.wear.temperature: 126.85 C is out of range: must be -40 C to 125 C",
       {}},
      {"choice",
       "ssd:\n  host: {protocol: nvm}\n",
       "s.yaml:2: ssd.host.protocol: 'nvm' is not one of nvme or sata; did you mean 'nvme'?",
       {}},
      {"value for a list",
       "ssd:\n  host: {weights: 4}\n",
       "s.yaml:2: ssd.host.weights: '4' is a single value; write a list: [4]",
       {}},
      {"value without unit for a list",
       "ssd:\n  flash:\n    part: {name: x, program: 2000}\n",
       "s.yaml:3: ssd.flash.part.program: '2000' is a single value; write a list: [2000 us]",
       {}},
      {"values for a list",
       "ssd:\n  host: {weights: '4, 500'}\n",
       "s.yaml:2: ssd.host.weights: '4, 500' is a single value; write a list: [4, 1]",
       {}},
      {"list element",
       "ssd:\n  host:\n    weights: [4, x]\n",
       "s.yaml:3: ssd.host.weights: 'x' is not a whole number",
       {}},
      {"list element range",
       "ssd:\n  host: {weights: [4, 256]}\n",
       "s.yaml:2: ssd.host.weights: 256 is out of range: must be 1 to 255",
       {}},
      {"list in a list",
       "ssd:\n  host: {weights: [[4]]}\n",
       "s.yaml:2: ssd.host.weights: an entry of the list is not a single value",
       {}},
      {"size or share",
       "ssd:\n  scm: {capacity: 10}\n",
       "s.yaml:2: ssd.scm.capacity: '10' has no unit; write for instance '10 KiB' or '10 %'",
       {}},
      {"not a number",
       part("{name: x, wear: {shape: nan}}"),
       "s.yaml:3: ssd.flash.part.wear.shape: 'nan' is not a number",
       {}},
      {"negative seed",
       smallest("seed: -1\n"),
       "s.yaml:3: seed: -1 is out of range: must be 0 to 9223372036854775807",
       {}},
  });
}

TEST_CASE("broken: policies and variants") {
  const auto gc = [](const std::string& keys) { return smallest("firmware:\n  gc: {" + keys + "}\n"); };
  check_all({
      {"unknown policy",
       gc("policy: gredy"),
       "s.yaml:4: firmware.gc.policy: 'gredy' is not known; did you mean 'greedy'?",
       {}},
      {"unknown policy, nothing near",
       gc("policy: oracle"),
       "s.yaml:4: firmware.gc.policy: 'oracle' is not known; there is greedy, d-choices or windowed; one of "
       "your "
       "own needs its plug-in (plugins:, --plugin or TLMSSD_PLUGINS)",
       {}},
      {"policy is a list",
       gc("policy: [greedy]"),
       "s.yaml:4: firmware.gc.policy: is a list; expected one value: one of greedy, d-choices or windowed",
       {}},
      {"parameter of another policy",
       gc("policy: greedy, d: 4"),
       "s.yaml:4: key 'd' in firmware.gc belongs to policy 'd-choices', but policy is 'greedy'",
       {}},
      {"parameter of another policy, by default",
       gc("window: 4"),
       "s.yaml:4: key 'window' in firmware.gc belongs to policy 'windowed', but policy is 'greedy'",
       {}},
      {"range of a policy's parameter",
       gc("policy: d-choices, d: 0"),
       "s.yaml:4: firmware.gc.d: 0 is out of range: must be 1 to 1024",
       {}},
      {"two variants",
       load("\n  trace: a.csv\n  fio: b.fio"),
       "s.yaml:4: load.0 has both 'trace' and 'fio'; give one",
       {}},
      {"key of another variant",
       load("{trace: a.csv, bs: 4 KiB}"),
       "s.yaml:2: key 'bs' in load.0 does not go with 'trace'",
       {}},
      {"key of another variant, none chosen",
       load("{rw: read, format: msr}"),
       "s.yaml:2: key 'format' in load.0 goes only with 'trace'",
       {}},
      {"family of another variant",
       load("{rw: read, time_scale: 2}"),
       "s.yaml:2: key 'time_scale' in load.0 goes only with 'trace'",
       {}},
      {"variant's required key", load("{bs: 4 KiB}"), "s.yaml:2: load.0.rw is missing (pattern)", {}},
      {"policy of a variant",
       load("{trace: a.csv, time_scale: 2}"),
       "s.yaml:2: key 'time_scale' in load.0 belongs to pacing 'open-loop', but pacing is 'closed-loop'",
       {}},
  });
}

TEST_CASE("broken: part files") {
  const auto at = [](const std::string& rest) { return "s.yaml:3: ssd.flash.part: " + rest; };
  check_all({
      {"no such file", part("parts/none.yaml"), at("no file 'parts/none.yaml'"), {}},
      {"a value in the part",
       part("parts/unit.yaml"),
       "parts/unit.yaml:3: ssd.flash.part.sense: '60' has no unit; write for instance '60 us'",
       {}},
      {"a key in the part",
       part("parts/key.yaml"),
       "parts/key.yaml:3: key 'sence' is not known in ssd.flash.part; did you mean 'sense'?",
       {}},
      {"a missing key in the part",
       part("parts/nameless.yaml"),
       "parts/nameless.yaml:1: ssd.flash.part.name is missing (of the part)",
       {}},
      {"empty part",
       part("parts/empty.yaml"),
       "parts/empty.yaml:1: ssd.flash.part: the file is empty; expected a map (key: value ...)",
       {}},
      {"part is a list",
       part("parts/list.yaml"),
       "parts/list.yaml:1: ssd.flash.part: must be a map (key: value ...)",
       {}},
      {"syntax of the part",
       part("parts/syntax.yaml"),
       "parts/syntax.yaml:2: not valid YAML: end of sequence flow not found",
       {}},
      {"circle",
       part("parts/loop.yaml"),
       "parts/loop.yaml:1: ssd.flash.part: files that name each other in a circle",
       {}},
      {"override beside the file",
       part("{file: parts/nand/tlc.yaml, blocks: 1}"),
       "s.yaml:3: ssd.flash.part.blocks: 1 is out of range: must be 4 to 1000000",
       {}},
      {"file is a list",
       part("{file: [a]}"),
       "s.yaml:3: ssd.flash.part.file must be the path of a YAML file",
       {}},
      {"part is a list here",
       part("[1]"),
       "s.yaml:3: ssd.flash.part must be a section (key: value ...), not a list",
       {}},
  });
}

TEST_CASE("broken: not YAML, not text, too much of it") {
  std::string deep(3000, '[');
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 1; j < 10; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  std::string many = "title: [";
  for (int i = 0; i < 1'000'000; ++i) many += "1, ";
  check_all({
      {"empty", "", "s.yaml:1: is empty; a scenario begins with title: ...", {}},
      {"only comments", "# nothing\n\n", "s.yaml:1: is empty; a scenario begins with title: ...", {}},
      {"a text", "hello\n", "s.yaml:1: the scenario must be a section (key: value ...), not 'hello'", {}},
      {"a list", "- a\n", "s.yaml:1: the scenario must be a section (key: value ...), not a list", {}},
      {"unclosed",
       "ssd: {dram: {latency: 5 ns}\n",
       "s.yaml:2: not valid YAML: end of map flow not found",
       {}},
      {"bad indentation",
       "ssd:\n  dram:\n    latency: 5 ns\n   ecc: true\n",
       "s.yaml:4: not valid YAML: end of map not found",
       {}},
      {"quote not closed", "title: \"abc\n", "s.yaml:1: a quoted text without end", {}},
      {"single quote not closed", smallest("title: &a 'it''s\n"), "s.yaml:3: a quoted text without end", {}},
      {"tab", "ssd:\n\tdram: {}\n", "s.yaml:2: a tab in the indentation; YAML wants spaces", {}},
      {"binary",
       std::string("\x7F"
                   "ELF\x02\x01\x00\x00",
                   8),
       "s.yaml:1: is not a text file (control character '\\x7f')",
       {}},
      {"zero bytes",
       std::string("title: a\n\0\0", 11),
       "s.yaml:2: is not a text file (control character '\\x00')",
       {}},
      {"Latin-1", "title: a\nssd: caf\xE9\n", "s.yaml:2: is not valid UTF-8", {}},
      {"UTF-16", std::string("\xFF\xFEs\0s\0d\0", 8), "s.yaml:1: is not valid UTF-8", {}},
      {"surrogates", "title: \xED\xA0\x80\n", "s.yaml:1: is not valid UTF-8", {}},
      {"escaped control character", "title: \"a\\x01\"\n", "s.yaml:1: a control character in 'a\\x01'", {}},
      {"escaped control character in what is taken for a second document",
       "      - 0\n  segment: \"\\u0000\"\n",
       "s.yaml:2: a control character in '\\x00'",
       {}},
      {"nested too deep",
       "title: " + deep + std::string(3000, ']'),
       "s.yaml:1: nested more than 32 deep",
       {}},
      {"nested too deep, not closed",
       "title: " + deep,
       "s.yaml:1: a key must be a plain word (or a bracket is not closed)",
       {}},
      {"alias bomb", bomb, "s.yaml:6: aliases for more than 200000 values", {}},
      {"too many values", many + "]", "s.yaml:1: more than 1000000 values", {}},
      {"unknown alias", "title: *x\n", "s.yaml:1: not valid YAML: the referenced anchor is not defined", {}},
      {"alias of itself", "title: &x [*x]\n", "s.yaml:1: an alias that contains itself", {}},
      {"long value",
       "title: " + std::string(5000, 'a'),
       "s.yaml:1: title: a value of 5000 characters; at most 4096 are taken",
       {}},
      {"long value in a list",
       "load:\n  - {rw: read}\n  - bs: " + std::string(5000, '4') + "\n",
       "s.yaml:3: load.1.bs: a value of 5000 characters; at most 4096 are taken",
       {}},
      {"large file", "title: a\n" + std::string(k_large, '#'), "s.yaml: is larger than 64 MiB", {}},
      {"tag",
       "title: !!binary abc\n",
       "s.yaml:1: YAML tags ('tag:yaml.org,2002:binary') are not supported",
       {}},
      {"merge key", "a: &a {b: 1}\nssd: {<<: *a}\n", "s.yaml:2: merge keys ('<<') are not supported", {}},
      {"two documents", smallest("---\ntitle: b\n"), "s.yaml:3: more than one YAML document ('---')", {}},
      {"map as key", "{a: b}: c\n", "s.yaml:1: a key must be a plain word (or a bracket is not closed)", {}},
      {"no key", "ssd: {: 5}\n", "s.yaml:1: a key is missing before ':'", {}},
  });
}

TEST_CASE("broken: --set") {
  const auto broken = [](const std::string& setting, const std::string& message) {
    check({setting, smallest(), "--set " + setting + ": " + message, {setting}});
  };
  broken("ssd.dram.latency", "write --set path=value, for instance --set ssd.dram.latency='50 ns'");
  broken("=5", "write --set path=value, for instance --set ssd.dram.latency='50 ns'");
  broken("ssd..latency=5 ns", "an empty word in the path");
  broken("ssd.dram.latency=50", "ssd.dram.latency: '50' has no unit; write for instance '50 ns'");
  broken("ssd.dram.latency=",
         "ssd.dram.latency: has no value; expected: time (ps, ns, us, ms, s, min, h or d)");
  broken("ssd.dram.latenzy=5 ns", "key 'latenzy' is not known in ssd.dram; did you mean 'latency'?");
  broken("ssd.dramm.latency=5 ns", "key 'dramm' is not known in ssd; did you mean 'dram'?");
  broken("ssd.dram=",
         "ssd.dram has no value; set a key in it, or take the defaults of all of it by ssd.dram={}");
  broken("load.columns=",
         "load.columns has no value; set a key in it, or take the defaults of all of it by load.columns={}; "
         "to have none, remove it from the file");
  broken("ssd.scm=", "ssd.scm has no value; set a key in it");      // its capacity must be given
  broken("ssd.flash=", "ssd.flash has no value; set a key in it");  // its part must be given
  broken("ssd.flash.part=", "ssd.flash.part has no value; set a key in it");
  broken("load=", "load has no value; set a key in it");
  broken("precondition=",
         "precondition has no value; set a key in it, or leave all of it out by precondition=[]");
  broken("ssd.dram=5", "ssd.dram must be a section (key: value ...), not '5'");
  broken("ssd.flash.part.name.x=5", "ssd.flash.part.name is a value, it has no 'x'");
  broken("ssd.host.weights.0=5", "ssd.host.weights: is a section; expected list, each a whole number");
  broken("ssd.host.weights=[5", "a key must be a plain word (or a bracket is not closed)");
  broken("firmware.gc.policy=gredy", "firmware.gc.policy: 'gredy' is not known; did you mean 'greedy'?");
  broken("firmware.gc.d=4", "key 'd' in firmware.gc belongs to policy 'd-choices', but policy is 'greedy'");
  broken("precondition.2.fill=5 %", "precondition has 0 entries; the next one is 0");
  broken("load.5.rw=read", "load has 1 entry; add one as a whole: load.1={...}");
  broken("load.1.rw=read", "load has 1 entry; add one as a whole: load.1={...}");
  broken("load.2={rw: read}", "load has 1 entry; the next one is 1");
  check({"two variants set",
         smallest(),
         "--set load.fio=b: load.0 has both 'trace' and 'fio'; give one",
         {"load.trace=a", "load.fio=b"}});
  broken("ssd.flash.part=parts/none.yaml", "ssd.flash.part: no file 'parts/none.yaml'");
  check({"not text",
         smallest(),
         "--set title=\\xff: is not text (UTF-8 without control characters)",
         {"title=\xFF"}});
  check({"many entries",
         load("[{rw: read}, {rw: write}]"),
         "--set load.bs=4 KiB: load has 2 entries; say which: load.0, load.1, ...",
         {"load.bs=4 KiB"}});
  check({"line break",
         smallest(),
         "--set a\\nb=5: key 'a\\nb' is not known at the top level; there is title, seed, plugins, ssd, "
         "firmware, "
         "precondition or load",
         {"a\nb=5"}});
}
