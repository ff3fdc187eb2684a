// Broken sections of reliability, error correction, refresh and age.
#include "testbench/tests/program/broken.h"

namespace tlmssd::program_tests {
namespace {

constexpr const char* k_part_line = "    part:";  // line 9
constexpr const char* k_load_line = "load:";      // line 12

/// The scenario with lines put before the one that begins with `key`.
std::string with(const std::string& scenario, const std::string& lines, const std::string& key) {
  return replaced(scenario, key, lines + "\n" + key);
}

/// Lines put before `before`, each in a scenario of its own; `decoding` goes into the firmware's
/// section.
void refuse_lines(const char* before, const std::string& decoding,
                  const std::vector<std::pair<std::string, std::string>>& table) {
  const Folder folder;
  for (const auto& [line, expected] : table) {
    std::string text = with(k_small, line, before);
    if (!decoding.empty()) text = with(text, decoding, k_buffer);
    refuse(folder, folder.write("s.yaml", text), expected);
  }
}

const std::string k_decoding = "  ecc: {policy: fixed}";

}  // namespace

TEST_CASE("wrong bits need someone to correct them") {
  refuse_lines(k_part_line, "",
               {{"    reliability: {model: power-law}",
                 "@:9: ssd.flash.reliability.model: power-law gives wrong bits, but firmware.ecc.policy is "
                 "none and would "
                 "pass them on; nearest valid: firmware.ecc.policy: fixed"}});
}

TEST_CASE("broken reliability sections") {
  const std::string at = "@:9: ssd.flash.reliability";
  refuse_lines(
      k_part_line, k_decoding,
      {{"    reliability: {model: power-lore}",
        at + ".model: 'power-lore' is not known; did you mean 'power-law'?"},
       {"    reliability: {model: power-law, bace: 0.1}",
        "@:9: key 'bace' is not known in ssd.flash.reliability; did you mean 'base'?"},
       {"    reliability: {model: power-law, base: 0.6}",
        at + ".base: 0.6 is out of range: must be 0 to 0.5"},
       {"    reliability: {base: 0.1}",
        "@:9: key 'base' in ssd.flash.reliability belongs to model 'power-law', but model is 'none'"},
       {"    reliability: {model: power-law, distribution: binominal}",
        at + ".distribution: 'binominal' is not one of beta-binomial or binomial; did you mean 'binomial'?"},
       {"    reliability: {model: power-law, temperature: 40}",
        at + ".temperature: '40' has no unit; write for instance '40 C'"},
       {"    reliability: {model: power-law, least_retention: 3}",
        at + ".least_retention: '3' has no unit; write for instance '3 d'"},
       {"    reliability: {model: power-law, page_types: [1, 2, 3]}",
        at + ".page_types: has 3 values; give none, or one for each of the 2 page types of mlc; nearest "
             "valid: []"},
       {"    reliability: nowhere.yaml", at + ": no file 'nowhere.yaml'"}});
}

TEST_CASE("tables of error rates that do not fit together") {
  const std::string at = "@:9: ssd.flash.reliability.";
  const std::string table = "    reliability: {model: table, ";
  refuse_lines(
      k_part_line, k_decoding,
      {{table + "cycles: [0, 1000], days: [0], rber: [0.1]}",
        at + "rber: has 1 values; give one for each of 2 cycles x 1 days = 2"},
       {table + "cycles: [1000, 0], days: [0], rber: [0.1, 0.2]}",
        at + "cycles: must ascend: 0 follows 1000"},
       {table + "cycles: [0], days: [3, 3], rber: [0.1, 0.2]}", at + "days: must ascend: 3 follows 3"},
       {table + "cycles: [], days: [0], rber: []}", at + "cycles: is empty; give at least one value"},
       {table + "cycles: [0], days: [0], rber: [0]}",
        "@:9: ssd.flash.reliability.rber: 0 is out of range: must be 1e-15 to 0.5"}});
}

TEST_CASE("broken decoders") {
  const std::string at = "@:9: ssd.flash.ecc.";
  const auto frame = [&](const std::string& written, const std::string& bytes, const std::string& nearest) {
    return std::pair("    ecc: {frame: " + written + "}",
                     at + "frame: " + bytes +
                         " B do not divide the mapping page of 4096 B; nearest valid: " + nearest + " B");
  };
  refuse_lines(
      k_part_line, k_decoding,
      {frame("3 KiB", "3072", "2048"),
       frame("8 KiB", "8192", "4096"),
       frame("1000 B", "1000", "512"),
       frame("300 B", "300", "256"),
       {"    ecc: {frame: 1024}", at + "frame: '1024' has no unit; write for instance '1024 B'"},
       {"    ecc: {engines: 0}", at + "engines: 0 is out of range: must be 1 to 1024"},
       {"    ecc: {bhc: {correctable: 40}}",
        "@:9: key 'bhc' is not known in ssd.flash.ecc; did you mean 'bch'?"},
       {"    ecc: {bch: {corectable: 10}}",
        "@:9: key 'corectable' is not known in ssd.flash.ecc.bch; did you mean 'correctable'?"},
       {"    ecc: {bch: {correctable: 0}}", at + "bch.correctable: 0 is out of range: must be 1 to 65535"},
       {"    ecc: {bch: {waterfall: 60 %}}", at + "bch.waterfall: 60 % is out of range: must be 0 % to 50 %"},
       {"    ecc: {bch: {throughput: 800}}",
        at + "bch.throughput: '800' has no unit; write for instance '800 MB/s'"},
       {"    ecc: {soft-ldpc: {extra_senses: 64}}",
        at + "soft-ldpc.extra_senses: 64 is out of range: must be 0 to 63"}});
}

TEST_CASE("a frame that does not divide the unit matters only to who decodes") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", with(k_small, "    ecc: {frame: 3 KiB}", k_part_line));
  CHECK(run(folder, {"run", scenario, "--out", folder / "results"}).code == 0);
}

TEST_CASE("broken ECC and refresh policies") {
  const std::string at = "@:11: firmware.";
  refuse_lines(
      k_buffer, "",
      {{"  ecc: {policy: fixt}",
        at + "ecc.policy: 'fixt' is not known; there is none, fixed, conventional, aoa-ecc or retry-only; "
             "one of your own needs its plug-in (plugins:, --plugin or TLMSSD_PLUGINS)"},
       {"  ecc: {policy: fixed, code: bhc}", at + "ecc.code: 'bhc' is not one of bch, hard-ldpc, soft-ldpc, "
                                                  "quick-ldpc or ep-ldpc; did you mean 'bch'?"},
       {"  ecc: {policy: fixed, code: none}",
        at + "ecc.code: 'none' is not one of bch, hard-ldpc, soft-ldpc, quick-ldpc or ep-ldpc"},
       {"  ecc: {policy: fixed, steps: 4}",
        "@:11: key 'steps' in firmware.ecc belongs to policy 'retry-only', but policy is 'fixed'"},
       {"  ecc: {code: bch}",
        "@:11: key 'code' in firmware.ecc belongs to policy 'fixed', 'conventional' or 'retry-only', but "
        "policy is "
        "'none'"},
       {"  ecc: {policy: retry-only, steps: 255}", at + "ecc.steps: 255 is out of range: must be 1 to 254"},
       {"  ecc: {policy: conventional, switch_back: 2}",
        at + "ecc.switch_back: '2' has no unit; write for instance '2 %'"},
       {"  ecc: {policy: aoa-ecc, hot_retention: 1}",
        at + "ecc.hot_retention: '1' has no unit; write for instance '1 d'"},
       {"  refresh: {policy: limit}", at + "refresh.policy: 'limit' is not known; did you mean 'limits'?"},
       {"  refresh: {policy: limits, retention: 30}",
        at + "refresh.retention: '30' has no unit; write for instance '30 d'"},
       {"  refresh: {policy: limits, retention: 30 days}",
        at + "refresh.retention: '30 days': 'days' is not a unit of duration; use s, min, h, d or y"},
       {"  refresh: {policy: limits, read: 30}",
        "@:11: key 'read' is not known in firmware.refresh; did you mean 'reads'?"},
       {"  refresh: {reads: 30}",
        "@:11: key 'reads' in firmware.refresh belongs to policy 'limits' or 'read-regions', but policy is "
        "'none'"},
       {"  refresh: {policy: read-regions, regions: 0}",
        at + "refresh.regions: 0 is out of range: must be 1 to 65536"},
       {"  placement: {policy: littleworn}",
        at + "placement.policy: 'littleworn' is not known; did you mean 'little-worn'?"},
       {"  pass_voltage: {policy: tuned, lowest: 0.94}",
        at + "pass_voltage.lowest: '0.94' has no unit; write for instance '94 %' or '0.94x'"}});
}

TEST_CASE("broken ages") {
  const std::string at = "@:12: age.";
  refuse_lines(
      k_load_line, "",
      {{"age: {cycles: -1}", at + "cycles: -1 is out of range: must be 0 to 1000000"},
       {"age: {cycles: 1.5}", at + "cycles: '1.5' is not a whole number"},
       {"age: {retention: 30}", at + "retention: '30' has no unit; write for instance '30 d'"},
       {"age: {retention: 101 y}", at + "retention: 101 y is out of range: must be 0 s to 100 y"},
       {"age: {retention: 1 m}",
        at + "retention: '1 m': 'm' is not a unit of duration; use s, min, h, d or y"},
       {"age: {temperature: 40}", at + "temperature: '40' has no unit; write for instance '40 C'"},
       {"age: {temperature: 40 K}", at + "temperature: -233.15 C is out of range: must be -55 C to 150 C"},
       {"age: {powerd: true}", "@:12: key 'powerd' is not known in age; did you mean 'powered'?"},
       {"age: {powered: 1}", at + "powered: '1' is not true or false"},
       {"age: 3 y", "@:12: age must be a section (key: value ...), not '3 y'"},
       {"ageing: {cycles: 3}", "@:12: key 'ageing' is not known at the top level; there is ..."}});
}

TEST_CASE("an aged drive with all of it runs") {
  const Folder folder;
  std::string text = with(k_small,
                          "    reliability: {model: power-law, base: 0.0005}\n    ecc: {engines: 1, parity: "
                          "126 B, bch: {correctable: 70}}",
                          k_part_line);
  text =
      with(text, "  ecc: {policy: retry-only, remember: true}\n  refresh: {policy: limits, retention: 30 d}",
           k_buffer);
  text = with(text,
              "precondition: [{fill: 100 %}]\nage: {cycles: 1000, retention: 1 y, powered: true, reads: 100}",
              k_load_line);
  const Outcome outcome = run(folder, {"run", folder.write("s.yaml", text), "--out", folder / "results"});
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  const std::string report = read_file(fs::path(folder / "results") / "report.json");
  CHECK(report.find("\"refreshes\"") != std::string::npos);
  CHECK(report.find("\"bch\"") != std::string::npos);
}

}  // namespace tlmssd::program_tests
