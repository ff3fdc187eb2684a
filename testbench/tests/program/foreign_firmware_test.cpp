// Firmware of one's own, as `tlmssd new firmware` writes it in C, where scenarios and snapshots are
// written and read again.
#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

/// A folder with the plug-in of the template, libmy_ftl.so, and its scenario, drive.yaml.
class Project {
 public:
  Project() {
    const Outcome made =
        run_shell(folder, "cd " + folder.path().string() +
                              " && $tlmssd new firmware my-ftl --language c --folder project >/dev/null &&"
                              " cc -std=c99 -O1 -shared -fPIC -I" TLMSSD_SOURCE_DIR
                              "/firmware/foreign"
                              " project/my_ftl_ftl.c -o libmy_ftl.so");
    INFO(made.err);
    REQUIRE(made.code == 0);
    folder.write("drive.yaml", replaced(k_small, "firmware:\n  buffer: {capacity: 256 KiB}",
                                        "plugins: [libmy_ftl.so]\nfirmware: {model: my-ftl, gc_stop: 9 %}"));
  }
  [[nodiscard]] Outcome run(std::vector<std::string> arguments) const {
    return program_tests::run(folder, arguments);
  }
  [[nodiscard]] std::string good(const std::vector<std::string>& arguments) const {
    const Outcome outcome = run(arguments);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return outcome.out;
  }

  Folder folder;
};

}  // namespace

TEST_CASE("the resolved scenario of a drive with other firmware is one of such a drive", "[program]") {
  const Project project;
  const Folder& folder = project.folder;
  static_cast<void>(project.good({"run", folder / "drive.yaml", "-q", "--out", folder / "first"}));
  const std::string written = read_file(folder.path() / "first/scenario.yaml");
  static_cast<void>(project.good({"run", folder / "first/scenario.yaml", "-q", "--out", folder / "again"}));
  CHECK(read_file(folder.path() / "again/scenario.yaml") == written);
  const auto results = [&](const char* name) {
    return Json::parse(read_file(folder.path() / name / "report.json")).at("results");
  };
  CHECK(results("again") == results("first"));
  // What `check` and `resolve` print is accepted, too, and has no section of our own firmware but
  // the unit of mapping.
  const std::string checked = project.good({"check", folder / "drive.yaml"});
  CHECK(checked.find("gc_stop: 9 %") != std::string::npos);
  CHECK(checked.find("unit: ") != std::string::npos);
  for (const char* const section :
       {"\n  gc:", "\n  cache:", "\n  buffer:", "\n  pslc:", "\n  promotion:", "scheme:"}) {
    INFO(section << " in " << checked);
    CHECK(checked.find(section) == std::string::npos);
  }
  CHECK(project.good({"check", folder.write("checked.yaml", checked)}) == checked);
  const Json json = Json::parse(project.good({"check", folder / "drive.yaml", "--json"})).at("scenario");
  CHECK(json["firmware"]["mapping"].size() == 1);
  CHECK_FALSE(json["firmware"].contains("gc"));
  static_cast<void>(project.good({"check", folder.write("checked.json", json.dump())}));
  // What is of our own firmware is refused as before.
  CHECK(project.run({"check", folder / "drive.yaml", "--set", "firmware.pslc.promotion.policy=none"}).code ==
        2);
}

TEST_CASE("a snapshot of a drive with other firmware is shown", "[program]") {
  const Project project;
  const Folder& folder = project.folder;
  static_cast<void>(project.good(
      {"run", folder / "drive.yaml", "-q", "--prepare-only", "--save-snapshot", folder / "drive.snap"}));
  CHECK_FALSE(project.good({"--plugin", folder / "libmy_ftl.so", "inspect", folder / "drive.snap"}).empty());
}

}  // namespace tlmssd::program_tests
