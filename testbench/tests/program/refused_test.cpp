// Scenarios that are refused (testbench/fuzz/corpus/refused, each with a mistake or a few): every
// proposal is put in and must be accepted, or refused for another key; and every refusal in the
// sources that proposes something is among them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "testbench/tests/program/program.h"

namespace tlmssd::program_tests {
namespace {

using Json = nlohmann::json;

const fs::path k_source = TLMSSD_SOURCE_DIR;
constexpr int k_most_rounds = 2;
constexpr std::size_t k_parts = 4;  ///< the corpus is fed back in so many test cases

std::vector<fs::path> corpus(const std::string& name) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(k_source / "testbench/fuzz/corpus" / name))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string setting(const Json& error) {
  const Json& proposal = error.at("proposal");
  return proposal.at("key").get<std::string>() + "=" + proposal.at("value").get<std::string>();
}

/// The errors that `tlmssd check` finds with these settings; none: it is accepted.
std::vector<Json> errors(const Folder& folder, const fs::path& scenario,
                         const std::vector<std::string>& settings) {
  const Outcome outcome = run(folder, joined({"check", "--json", scenario.string()}, set_options(settings)));
  INFO(outcome.err);
  REQUIRE((outcome.code == 0 || outcome.code == 2));
  const Json answer = Json::parse(outcome.out);
  REQUIRE(answer.at("valid").get<bool>() == (outcome.code == 0));
  if (outcome.code == 0) return {};
  REQUIRE_FALSE(answer.at("errors").empty());
  return answer.at("errors").get<std::vector<Json>>();
}

bool is_about(const std::vector<Json>& errors, const std::string& key) {
  return std::any_of(errors.begin(), errors.end(), [&](const Json& error) { return error.at("key") == key; });
}

/// Each proposal on its own must not leave its key refused.
void try_each(const Folder& folder, const fs::path& scenario, const std::vector<Json>& found) {
  for (const Json& error : found) {
    if (!error.contains("proposal")) continue;
    INFO(error.dump());
    const std::string key = error.at("key");
    CHECK_FALSE(is_about(errors(folder, scenario, {setting(error)}), key));
  }
}

/// All proposals of a round together, round by round; the rounds until it is accepted, or until
/// nothing is proposed any more.
int try_all(const Folder& folder, const fs::path& scenario, std::vector<Json> found) {
  std::vector<std::string> settings;
  std::set<std::string> done;
  for (int rounds = 0;; ++rounds) {
    const std::size_t before = settings.size();
    for (const Json& error : found) {
      if (!error.contains("proposal")) continue;
      INFO(error.dump());
      CHECK(done.insert(error.at("key").get<std::string>()).second);
      settings.push_back(setting(error));
    }
    if (settings.size() == before || rounds > k_most_rounds) return rounds;
    found = errors(folder, scenario, settings);
  }
}

void feed_back(const std::vector<fs::path>& files, std::size_t part) {
  const Folder folder;
  for (std::size_t i = part; i < files.size(); i += k_parts) {
    INFO(files[i].filename().string());
    const std::vector<Json> found = errors(folder, files[i], {});
    if (found.size() > 1) try_each(folder, files[i], found);
    CHECK(try_all(folder, files[i], found) <= k_most_rounds);
  }
}

/// The literal text of every refusal in the sources: its longest piece between the values that are
/// put into it.
std::map<std::string, std::string> refusals_of_sources() {
  static const std::regex k_call(R"re(\brefus(?:al|e)\()re");
  // A file may wrap it: const auto refuse = [...](...) { throw refusal(...
  static const std::regex k_wrapper(R"re(auto refuse = \[[^;]*refusal\()re");
  static const std::regex k_literal(R"re("((?:[^"\\]|\\.)*)")re");
  static const std::regex k_hole(R"re(\{[^}]*\}|\\")re");
  std::map<std::string, std::string> found;  // to where it stands
  for (const char* room : {"models", "firmware", "platform", "testbench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(k_source / room)) {
      const std::string path = entry.path().string();
      if (!path.ends_with(".cpp") && !path.ends_with(".h")) continue;
      if (path.find("/tests/") != std::string::npos || path.find("input_error") != std::string::npos)
        continue;
      const std::string text = read_file(entry.path());
      for (std::sregex_iterator call(text.begin(), text.end(), k_call), end; call != end; ++call) {
        if (call->str() == "refuse(" && !std::regex_search(text, k_wrapper)) continue;
        const auto from = static_cast<std::size_t>(call->position());
        std::string body = text.substr(from, text.find(";\n", from) - from);
        // Neighbouring literals are one.
        body = std::regex_replace(body, std::regex(R"re("\s*\n\s*")re"), "");
        std::string longest;
        for (std::sregex_iterator literal(body.begin(), body.end(), k_literal); literal != end; ++literal) {
          const std::string whole = (*literal)[1];
          std::sregex_token_iterator piece(whole.begin(), whole.end(), k_hole, -1);
          for (; piece != std::sregex_token_iterator(); ++piece) {
            const std::string words = *piece;
            const bool prose = std::count(words.begin(), words.end(), ' ') >= 3;
            if (prose && words.size() > longest.size()) longest = words;
          }
        }
        if (!longest.empty()) found.emplace(longest, entry.path().filename().string());
      }
    }
  }
  return found;
}

/// Refusals that no scenario reaches, because reading it refuses first (they are for those who
/// embed the drive), whose scenario needs gigabytes of memory once it is accepted, or which need a
/// trace or a plug-in beside the scenario.
const std::set<std::string> k_without_scenario = {
    "' is neither write-back nor write-through",
    "' is neither separate nor shared",
    "' is neither ",
    "0 leaves garbage collection no room",
    "' is not a permutation of the letters C, W, D and P",
    "' is neither none nor made of the letters C, W and D, each at most once",
    " B is not a logical block size",
    " pages is not made of whole program units of ",
    " B is more than ",
    " is more than model ",
    " B are more than 4 billion grains of ",
    " B make more than 2^32 grains of this drive",
    " placement handles (firmware.streams.handles)",
    "files can only be read, and a source may write",
    " leaves none of the ",  // skip, of a trace
    " repetitions take more than ",
    " makes the trace take more than ",
    "open-loop needs time stamps, which ",
    "files of apps (file_cache.apps) are read by their lives, not by a trace",
    "nothing is left for loads",  // a drive of less than a hundred mapping pages
};

}  // namespace

TEST_CASE("every proposal holds: refused scenarios, first part", "[program][starts]") {
  feed_back(corpus("refused"), 0);
}
TEST_CASE("every proposal holds: refused scenarios, second part", "[program][starts]") {
  feed_back(corpus("refused"), 1);
}
TEST_CASE("every proposal holds: refused scenarios, third part", "[program][starts]") {
  feed_back(corpus("refused"), 2);
}
TEST_CASE("every proposal holds: refused scenarios, fourth part", "[program][starts]") {
  feed_back(corpus("refused"), 3);
}

TEST_CASE("every proposal holds: seeds of the fuzzer", "[program]") {
  for (std::size_t part = 0; part < k_parts; ++part) feed_back(corpus("scenario"), part);
}

TEST_CASE("every refusal that proposes something is in the corpus", "[program][starts]") {
  const Folder folder;
  const std::vector<fs::path> files = corpus("refused");
  CHECK(files.size() >= 150);
  std::string said;
  std::set<std::string> distinct;
  for (const fs::path& file : files) {
    const std::vector<Json> found = errors(folder, file, {});
    INFO(file.filename().string() << " must be refused");
    REQUIRE_FALSE(found.empty());
    for (const Json& error : found) {
      said += error.at("message").get<std::string>() + "\n";
      distinct.insert(error.at("key").get<std::string>() + ": " + error.at("message").get<std::string>());
    }
  }
  CHECK(distinct.size() >= 150);
  const auto refusals = refusals_of_sources();
  CHECK(refusals.size() > 60);
  for (const auto& [words, file] : refusals) {
    INFO(file << ": \"" << words << "\"");
    CHECK((said.find(words) != std::string::npos || k_without_scenario.contains(words)));
  }
}

TEST_CASE("a step that is refused for all that it says is refused once, with a step that is accepted",
          "[program]") {
  const Folder folder;
  const auto proposed = [&](const std::string& name) {
    const fs::path file = k_source / "testbench/fuzz/corpus/refused" / name;
    const std::vector<Json> found = errors(folder, file, {});
    REQUIRE(found.size() == 1);  // not that there is nothing to do, too
    INFO(found.front().dump());
    CHECK(errors(folder, file, {setting(found.front())}).empty());
    return setting(found.front());
  };
  CHECK(proposed("steady-state-only-later.yaml") == "precondition.1={overwrite: 2x}");
  CHECK(proposed("steady-state-only-of-files.yaml") == "precondition.0={overwrite: 2x}");
  CHECK(proposed("idle-only.yaml") == "firmware.gc.idle_after=100 ms");
  CHECK(proposed("steady-state-later.yaml") == "precondition.1.state=as-is");  // it trims, too
  CHECK(proposed("idle.yaml") == "precondition.0.idle=false");
  CHECK(proposed("idle-and-sustained.yaml") == "precondition.0.sustained=false");
}

TEST_CASE("what is proposed is near, does by itself, and brings up no complaint of a right line",
          "[program]") {
  const Folder folder;
  const auto proposed = [&](const std::string& name) {
    std::vector<std::string> settings;
    for (const Json& error : errors(folder, k_source / "testbench/fuzz/corpus/refused" / name, {}))
      settings.push_back(setting(error));
    return settings;
  };
  using Sets = std::vector<std::string>;
  CHECK(proposed("adjacent.yaml") == Sets{"firmware.mapping.adjacent=18"});
  CHECK(proposed("file-size-of-loads.yaml") == Sets{"file_cache.file_size=64 KiB"});
  const fs::path two = k_source / "testbench/fuzz/corpus/refused/two-that-hide-each-other.yaml";
  for (const std::string& one : proposed(two.filename()))
    CHECK_FALSE(is_about(errors(folder, two, {one}), one.substr(0, one.find('='))));
}

TEST_CASE("all errors of a scenario come at once, in the order of the file", "[program]") {
  const Folder folder;
  const auto refused = [&](const std::string& text) {
    const std::string scenario = folder.write("s.yaml", text);
    const Outcome outcome = run(folder, {"run", scenario, "--out", folder / "results"});
    CHECK(outcome.code == 2);
    CHECK_FALSE(fs::exists(folder / "results"));
    CHECK(run(folder, {"check", scenario}).err == outcome.err);
    return replaced_all(outcome.err, scenario, "@");
  };
  CHECK(refused("titel: x\nssd:\n  host: {lba_sise: 4 KiB, queues: 0}\n  dram: {capacity: 64}\nload: {rw: "
                "red}\n") ==
        "tlmssd: @:1: key 'titel' is not known at the top level; did you mean 'title'?\n"
        "tlmssd: @:3: key 'lba_sise' is not known in ssd.host; did you mean 'lba_size'?\n"
        "tlmssd: @:3: ssd.host.queues: 0 is out of range: must be 1 to 1024\n"
        "tlmssd: @:4: ssd.dram.capacity: '64' has no unit; write for instance '64 KiB'\n"
        "tlmssd: @:5: load.0.rw: 'red' is not one of read, write, trim, randread, randwrite, randtrim, rw, "
        "readwrite, "
        "randrw, trimwrite or randtrimwrite; did you mean 'read'?\n");
  const std::string contradictions = refused(replaced(
      replaced(replaced(k_small, "lba_size: 4 KiB", "lba_size: 4 KiB, link: sata6"), "256 KiB", "4 KiB"),
      "number_ios: 500", "bs: 3000"));
  CHECK(
      contradictions ==
      "tlmssd: @:3: ssd.host.link: with sata6, ssd.host.protocol: nvme does not run over ssd.host.link "
      "sata6: nvme needs pcie..., sata needs sata1.5, sata3 or sata6; nearest valid: pcie3x4\n"
      "tlmssd: @:11: firmware.buffer.capacity: 4096 B cannot hold two program units of 4096 B each (1 planes "
      "x 1 pages); nearest valid: 8192 B\n"
      "tlmssd: @:12: load.0.bs: 3000 B is not a multiple of the drive's logical block of 4096 B; nearest "
      "valid: 4096\n");
}

TEST_CASE("what only a proposal would make wrong is not told", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const Outcome outcome = run(folder, {"check", scenario, "--set", "firmware.placement.policy=little-worn",
                                       "--set", "firmware.placement.reads_per_cycle=5"});
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, Catch::EndsWith("nearest valid: none\n"));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
}

TEST_CASE("a plug-in that cannot be loaded is told in JSON, too", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", "plugins: [nowhere.so]\nload: {}\n");
  const std::vector<Json> found = errors(folder, scenario, {});
  REQUIRE(found.size() == 1);
  CHECK(found[0].at("line") == 1);
  CHECK_THAT(found[0].at("message").get<std::string>(),
             Catch::Contains("plug-in 'nowhere.so': there is no such file"));
}

TEST_CASE("check refuses what run refuses", "[program]") {
  const Folder folder;
  const auto same = [&](const std::string& text) {
    const std::string scenario = folder.write("s.yaml", text);
    const Outcome checked = run(folder, {"check", scenario});
    CHECK(checked.code == 2);
    CHECK(checked.out.empty());
    CHECK(checked.err == run(folder, {"run", scenario}).err);
  };
  same(replaced(k_small, "{lba_size", "{link: \"pcie3\\nx4\", lba_size"));
  same(replaced(k_small, "{rw: randrw, number_ios: 500}", "{trace: nowhere.csv}"));
  same(replaced(k_small, "256 KiB", "4 KiB"));
  same(replaced(k_small, "number_ios: 500", "bs: 3000"));
  same(replaced(k_small, "load:", "precondition:\n  - {order: random}\nload:"));
}

}  // namespace tlmssd::program_tests
