#include "testbench/conform/whole_run.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>

#include "models/base/input_error.h"

extern char** environ;

namespace tlmssd {

namespace {

/// A drive small enough that garbage collection and wear do not wait long.
constexpr const char* k_conform_drive = R"(title: conformance
ssd:
  host: {lba_size: 4 KiB}
  dram: {capacity: 16 MiB}
  flash:
    channels: 2
    ways: 1
    over_provisioning: 30 %
    suspend: both
    part: {planes: 2, blocks_per_plane: 64, pages_per_block: 64, page_size: 8 KiB}
firmware:
  mapping: {unit: 4 KiB}
  buffer: {capacity: 1 MiB}
precondition: [{fill: 100 %}]
load: {rw: randrw, rwmixread: 40, bs: 4k, iodepth: 16, number_ios: 20000, norandommap: true}
)";

}  // namespace

std::string conform_drive(bool foreign) {
  std::string drive = k_conform_drive;
  if (!foreign) return drive;
  const auto replace = [&](std::string_view from, std::string_view to) {
    drive.replace(drive.find(from), from.size(), to);
  };
  replace("  buffer: {capacity: 1 MiB}\n", "");
  replace("dram: {capacity: 16 MiB}", "dram: {capacity: 64 MiB}");
  return drive;
}

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The first figure that is another in `b`: ": wear_moves is 12, then 15".
std::string first_difference(const nlohmann::json& a, const nlohmann::json& b) {
  const auto here = a.flatten();
  const auto there = b.flatten();
  for (const auto& [place, value] : here.items()) {
    const auto then = there.find(place);
    if (then != there.end() && *then == value) continue;
    std::string name = place.substr(1);
    if (name.ends_with("/value")) name.resize(name.size() - 6);
    return fmt::format(": {} is {}, then {}", name, value.dump(),
                       then == there.end() ? "absent" : then->dump());
  }
  return {};
}

/// A folder that disappears.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "tlmssd-conform-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw InputError("cannot make a folder in " + fs::temp_directory_path().string());
    path_ = name;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class Runs {
 public:
  explicit Runs(const WholeRunOptions& options) : options_(options) {
    std::ofstream(folder_.path() / "drive.yaml") << conform_drive(!options_.foreign.empty());
  }

  /// Runs the drive; what went wrong, in one line, else nothing. The report is in folder `name`.
  std::string run(const std::string& name, const std::vector<std::string>& more) const {
    std::vector<std::string> words = {options_.program};
    for (const std::string& plugin : options_.plugins) words.insert(words.end(), {"--plugin", plugin});
    const fs::path out = folder_.path() / name;
    words.insert(words.end(), {"run", (folder_.path() / "drive.yaml").string(), "-q", "--out", out.string()});
    for (const std::string& setting : options_.settings) words.insert(words.end(), {"--set", setting});
    words.insert(words.end(), more.begin(), more.end());
    const fs::path errors = folder_.path() / "errors";
    const int status = start(words, errors.string());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    std::string said = text_of(errors);
    said = said.substr(0, said.find('\n'));
    return WIFSIGNALED(status) ? fmt::format("ended by signal {}: {}", WTERMSIG(status), said)
                               : fmt::format("exit code {}: {}", WEXITSTATUS(status), said);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  /// What is wrong: `differs`, or that there is no report to compare.
  [[nodiscard]] std::string compare_reports(const std::string& a, const std::string& b,
                                            const char* differs) const {
    return compare(a, b, [&](const std::string& first, const std::string& second) {
      return first == second ? "" : differs;
    });
  }
  /// The same of what was measured, with the first figure that differs. Reads that were checked
  /// before the measurement count in the rest of a report.
  [[nodiscard]] std::string compare_figures(const std::string& a, const std::string& b,
                                            const char* differs) const {
    return compare(a, b, [&](const std::string& text, const std::string& other) -> std::string {
      const auto first = nlohmann::json::parse(text);
      const auto second = nlohmann::json::parse(other);
      // What says most of a policy comes first.
      for (const char* const section : {"/statistics/firmware", "/statistics", "/results"}) {
        const nlohmann::json::json_pointer place(section);
        if (first.at(place) != second.at(place))
          return differs + first_difference(first.at(place), second.at(place));
      }
      return {};
    });
  }
  /// Whether commands failed, as all writes to a drive do that is read-only.
  [[nodiscard]] bool refused_writes(const std::string& name) const {
    return nlohmann::json::parse(report(name)).at("statistics").at("host").at("failed").at("value") > 0;
  }

 private:
  /// What `how` says of both reports, or that one of them is not there.
  template <class How>
  [[nodiscard]] std::string compare(const std::string& a, const std::string& b, const How& how) const {
    const std::string first = report(a);
    const std::string second = report(b);
    if (first.empty() || second.empty())
      return fmt::format("run \"{}\" ended well, but left no report.json", first.empty() ? a : b);
    return how(first, second);
  }
  [[nodiscard]] std::string report(const std::string& name) const {
    return text_of(folder_.path() / name / "report.json");
  }
  static int start(const std::vector<std::string>& words, const std::string& errors) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files{};
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t process = 0;
    const int failure = posix_spawn(&process, arguments[0], &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failure != 0)
      throw InputError(fmt::format("cannot start {}: {}", words.front(), std::strerror(failure)));
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  const WholeRunOptions& options_;
  Folder folder_;
};

}  // namespace

namespace {

/// What a whole FTL can get wrong, and a policy of ours cannot.
void check_firmware(const Runs& runs, Conformance& found) {
  found.check("data of every place in the array, written in order and read at random", [&] {
    return runs.run("order",
                    {"--set", "load.rw=write", "--set", "load.bs=64k", "--set", "load.number_ios=4000"});
  });
  found.check("parts of mapping pages", [&] {
    return runs.run("parts", {"--set", "ssd.host.lba_size=512 B", "--set", "load.bsrange=512-24k", "--set",
                              "load.blockalign=512", "--set", "load.number_ios=8000"});
  });
  found.check("what is trimmed reads as zeros", [&] {
    return runs.run("trims", {"--set", "precondition=[{fill: 100 %, trim: 40 %}]", "--set",
                              "load.rw=randtrimwrite", "--set", "load.number_ios=10000"});
  });
  found.check("what was trimmed and then read", [&] {
    return runs.run("trimmed", {"--set", "precondition=[{fill: 100 %}, {trim: 60 %}, {overwrite: 50 %}]",
                                "--set", "load.rw=randread"});
  });
  found.check("word lines that are programmed at once", [&] {
    return runs.run("word lines", {"--set", "ssd.flash.part.program_unit=word-line", "--set",
                                   "ssd.flash.part.pages_per_block=66", "--set", "load.number_ios=8000"});
  });
  found.check("stages that take no time", [&] {
    return runs.run(
        "free",
        {"--set", "ssd.cpu.cycles={command: 0, translate: 0, buffer: 0, flash: 0, complete: 0, gc: 0}",
         "--set", "load.number_ios=8000"});
  });
}

/// Of a drive that has been read and overwritten, so that there is state to forget, and goes on for
/// long enough to miss it: firmware of one's own has a larger drive, without a write buffer.
std::string snapshot_of_used_drive(const Runs& runs, int seed, bool foreign) {
  const std::string snapshot = runs.file(fmt::format("snapshot{}", seed));
  const std::string saving = fmt::format("saving{}", seed);
  const std::string restored = fmt::format("restored{}", seed);
  const int requests = foreign ? 100'000 : 30'000;
  const auto words = [&](std::vector<std::string> how) {
    for (const std::string& setting :
         {fmt::format("seed={}", seed), fmt::format("load.number_ios={}", requests),
          fmt::format("load.io_size={}k", 4 * requests)})
      how.insert(how.end(), {"--set", setting});
    return how;
  };
  if (std::string wrong = runs.run(saving, words({"--save-snapshot", snapshot, "--use-first"}));
      !wrong.empty())
    return wrong;
  if (std::string wrong = runs.run(restored, words({"--from-snapshot", snapshot})); !wrong.empty())
    return wrong;
  return runs.compare_figures(saving, restored,
                              "the drive goes on otherwise from it, so archive() lacks something");
}

/// Three seeds: a counter that is forgotten may have just begun anew.
void check_snapshots(const Runs& runs, const WholeRunOptions& options, Conformance& found) {
  bool takes_snapshots = true;
  found.check("a snapshot in the middle changes nothing", [&]() -> std::string {
    for (const int seed : {1, 2, 3}) {
      const std::string wrong = snapshot_of_used_drive(runs, seed, !options.foreign.empty());
      if (wrong.empty()) continue;
      // Refused in one line is allowed.
      takes_snapshots = options.foreign.empty() || wrong.find("takes no snapshots") == std::string::npos;
      return takes_snapshots ? wrong : "";
    }
    return {};
  });
  if (!takes_snapshots) found.note("left out: it takes no snapshots");
}

}  // namespace

Conformance conform_whole_runs(const WholeRunOptions& options) {
  const Runs runs(options);
  Conformance found;
  found.check("a drive runs, and every read is right", [&] { return runs.run("first", {}); });
  if (!found.passed()) return found;
  found.check("the same seed gives the same report to the byte", [&]() -> std::string {
    if (std::string wrong = runs.run("again", {}); !wrong.empty()) return wrong;
    return runs.compare_reports("first", "again", "the second report differs");
  });
  check_snapshots(runs, options, found);
  found.check("a drive runs untimed", [&] { return runs.run("untimed", {"--set", "run.timed=false"}); });
  found.check("a TLM-2.0 protocol checker on every socket finds nothing",
              [&] { return runs.run("protocol", {"--check-protocol"}); });
  for (const int seed : {2, 3}) {
    found.check(fmt::format("a drive written in small pieces, deallocated and flushed, seed {}", seed), [&] {
      return runs.run(fmt::format("pieces{}", seed),
                      {"--set", fmt::format("seed={}", seed), "--set", "load.rw=randwrite", "--set",
                       "load.bssplit=4k/60:8k/20:64k/20", "--set", "load.fsync=50"});
    });
  }
  if (!options.foreign.empty()) check_firmware(runs, found);
  found.check("a drive whose blocks go bad and wear out ends read-only, not wrong", [&]() -> std::string {
    // More than every block can be written in its life, whatever the write amplification.
    if (std::string wrong = runs.run(
            "worn", {"--set", "ssd.flash.part.endurance=8", "--set", "ssd.flash.part.endurance_spread=5 %",
                     "--set", "ssd.flash.part.grown_bad_blocks=20 %", "--set", "load.number_ios=600000",
                     "--set", "load.io_size=3g", "--set", "run.timed=false", "--set", "run.errors=accept"});
        !wrong.empty())
      return wrong;
    return runs.refused_writes("worn") ? "" : "it takes writes after every block has been worn out";
  });
  return found;
}

}  // namespace tlmssd
