// `tlmssd conform` of every model and policy of the program, whole drives included.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "testbench/tests/program/program.h"

namespace tlmssd::program_tests {
namespace {

/// The names among which `key` of a section chooses, as `tlmssd list` prints them.
std::vector<std::string> choices_of(const std::string& section, const std::string& key) {
  const Folder folder;
  std::istringstream text(run(folder, {"list", section}).out);
  std::vector<std::string> names;
  bool here = false;  // within the section, behind the key
  bool in_section = false;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line[0] != ' ') in_section = line.rfind(section + ":", 0) == 0;
    if (line.rfind("  ", 0) == 0 && line.size() > 2 && line[2] != ' ')
      here = in_section && line.compare(2, key.size() + 1, key + " ") == 0;
    if (here && line.rfind("    - ", 0) == 0) names.push_back(line.substr(6, line.find(':') - 6));
  }
  names.erase(std::remove(names.begin(), names.end(), "none"), names.end());
  return names;
}

void conforms(const std::string& family, const std::string& name,
              const std::vector<std::string>& settings = {}) {
  const Folder folder;
  std::vector<std::string> arguments = {"conform", family, name};
  arguments.insert(arguments.end(), settings.begin(), settings.end());
  const Outcome outcome = run(folder, arguments);
  INFO(family << " " << name << "\n" << outcome.out << outcome.err);
  CHECK(outcome.code == 0);
}

void all_conform(const std::string& family, const std::string& section, const std::string& key,
                 std::size_t at_least) {
  const std::vector<std::string> names = choices_of(section, key);
  CHECK(names.size() >= at_least);
  for (const std::string& name : names) conforms(family, name);
}

}  // namespace

TEST_CASE("conform timing says what the part does not have", "[program]") {
  const Folder folder;
  const auto says = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"conform", "timing", "table", "--quick"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(folder, arguments).out;
  };
  CHECK_THAT(says({}),
             Catch::Contains("but for what the part does not have: SLC mode, programs of several pages"));
  CHECK_THAT(says({"--part", "parts/nand/tlc-176l-hynix.yaml"}), !Catch::Contains("does not have: SLC mode"));
}

TEST_CASE("every timing and reliability model conforms, whole drives included", "[program][slow]") {
  conforms("timing", "table");
  conforms("timing", "formula",
           {"--set", "ssd.flash.part.read=base * (1 + 0.001*age_days)", "--set",
            "ssd.flash.part.program=base * (1 - 0.1*layer/100)"});
  all_conform("reliability", "ssd.flash.reliability", "model", 4);
}

TEST_CASE("every policy of collection and wear levelling conforms, whole drives included",
          "[program][slow]") {
  all_conform("victim", "firmware.gc", "policy", 6);
  all_conform("wear", "firmware.wear", "policy", 2);
}

TEST_CASE("every cache policy and scheduling policy conforms, whole drives included", "[program][slow]") {
  all_conform("cache", "firmware.cache", "policy", 6);
  all_conform("scheduling", "ssd.flash.scheduling", "policy", 3);
}

TEST_CASE("every mapping scheme conforms, whole drives included", "[program][slow]") {
  all_conform("mapping", "firmware.mapping", "scheme", 6);
}

TEST_CASE("every code and policy of error correction conforms, whole drives included", "[program][slow]") {
  all_conform("ecc", "firmware.ecc", "policy", 4);
  for (const char* const code : {"bch", "hard-ldpc", "soft-ldpc", "quick-ldpc", "ep-ldpc"})
    conforms("ecc-code", code);
  all_conform("error-prediction", "ssd.flash.ecc", "prediction", 1);
}

TEST_CASE("every data path of a pSLC conforms, whole drives included", "[program][slow]") {
  all_conform("pslc", "firmware.pslc", "policy", 6);
}

TEST_CASE("every feature conforms, whole drives included", "[program][slow]") {
  for (const char* const feature : {"promotion", "replicas", "partition", "pacing", "streams", "parity"})
    conforms("feature", feature);
}

TEST_CASE("every policy of refresh and of the pass voltage conforms, whole drives included",
          "[program][slow]") {
  all_conform("refresh", "firmware.refresh", "policy", 1);
  all_conform("pass-voltage", "firmware.pass_voltage", "policy", 1);
}

TEST_CASE("what cannot be tried is refused, not passed over", "[program]") {
  const Folder folder;
  const auto refused = [&](const std::vector<std::string>& words) {
    const Outcome outcome = run(folder, words);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    return outcome.err;
  };
  for (const char* const family : {"refresh", "pass-voltage", "pslc", "cache"}) {
    CHECK_THAT(refused({"conform", family, "acme"}),
               Catch::Contains(".policy: 'acme' is not known; there is none"));
  }
  CHECK_THAT(refused({"conform", "cache", "lru", "--quick"}),
             Catch::StartsWith("tlmssd: conform cache 'lru': all checks of this family are of whole drives"));
  CHECK_THAT(refused({"conform", "feature", "parity", "--quick"}), Catch::Contains("leave out --quick"));
}

}  // namespace tlmssd::program_tests
