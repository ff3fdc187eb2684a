// explore, calibrate and the like are handed over to the Python package. Stand-ins for python3 say
// how they were called.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "testbench/tests/program/program.h"

namespace tlmssd::program_tests {
namespace {

/// A copy of the program as it lies in a checkout (build/release) and PATH as the test wants it.
class Place {
 public:
  Place() {
    fs::create_directories(folder.path() / "build" / "release");
    fs::copy_file(TLMSSD_PROGRAM, program());
    set_path("nothing");
  }
  ~Place() { setenv("PATH", old_path_.c_str(), 1); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  [[nodiscard]] fs::path program() const { return folder.path() / "build" / "release" / "tlmssd"; }
  void set_path(const std::string& name) const { setenv("PATH", (folder / name).c_str(), 1); }

  /// A python3 in `where`; `has_package` is what it says when asked.
  void add_python(const std::string& where, bool has_package) const {
    fs::create_directories(folder.path() / where);
    const std::string file = folder.write(
        where + "/python3", "#!/bin/sh\n[ \"$2\" != -c ] || exit " + std::string(has_package ? "0" : "1") +
                                "\necho " + where + " \"$TLMSSD_PROGRAM\" \"$#\" \"$@\"\nexit 7\n");
    fs::permissions(file, fs::perms::owner_all);
  }

  [[nodiscard]] Outcome start(const std::vector<std::string>& arguments) const {
    return run_program(folder, program(), arguments);
  }

  Folder folder;

 private:
  std::string old_path_ = getenv("PATH");
};

}  // namespace

TEST_CASE("without the Python package one line says how to get it", "[program]") {
  const Place place;
  place.add_python("bin", false);
  place.set_path("bin");
  for (const std::string command :
       {"explore", "compare", "calibrate", "probe", "validate", "whatif", "meet"}) {
    const Outcome outcome = place.start({command, "--help"});
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(outcome.err.starts_with("tlmssd: " + command + " needs the Python package"));
    CHECK(outcome.err.find("scripts/explore") != std::string::npos);
  }
  place.set_path("empty");  // no Python at all
  CHECK(place.start({"explore"}).code == 2);
}

TEST_CASE("explore, calibrate and the like become the Python package's", "[program]") {
  const Place place;
  place.add_python("bin", true);
  place.set_path("bin");
  const std::string program = fs::canonical(place.program()).string();
  const Outcome outcome = place.start({"compare", "run", "--out", "a b", "*", "--help"});
  CHECK(outcome.err.empty());
  CHECK(outcome.code == 7);  // Python's exit code is the program's
  CHECK(outcome.out == "bin " + program + " 9 -P -m tlmssd compare run --out a b * --help\n");

  // The package that belongs to the program comes before the one of PATH.
  place.add_python("build/explore/bin", true);
  CHECK(place.start({"explore"}).out == "build/explore/bin " + program + " 4 -P -m tlmssd explore\n");
  place.add_python("build/release", true);
  CHECK(place.start({"explore"}).out == "build/release " + program + " 4 -P -m tlmssd explore\n");
  place.add_python("build/release", false);
  CHECK(place.start({"explore"}).out == "build/explore/bin " + program + " 4 -P -m tlmssd explore\n");
}

TEST_CASE("the program names the commands of the Python package", "[program]") {
  const Folder folder;
  const Outcome help = run(folder, {"--help"});
  for (const std::string command : {"explore", "compare", "calibrate", "probe", "validate", "whatif", "meet"})
    CHECK(help.out.find("\n  " + command + " ") != std::string::npos);
}

}  // namespace tlmssd::program_tests
