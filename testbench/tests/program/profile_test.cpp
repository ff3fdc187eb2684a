// Loads made from the profiles of volumes, and the command that compares them with what is
// published, through the program.
#include <algorithm>

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {

TEST_CASE("a load from a profile says what it is", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml", replaced(k_small, "{rw: randrw, number_ios: 500}", "{profile: proj_3, scale: 0.0001}"));
  const Outcome outcome = run_ok(folder, {"run", scenario, "-o", folder / "out"});
  CHECK(outcome.out.find("proj_3: synthetic, from the published statistics of MSR Cambridge proj_3") !=
        std::string::npos);
  const Json report = Json::parse(read_file(folder.path() / "out" / "report.json"));
  CHECK(report["results"]["loads"][0]["description"].get<std::string>().starts_with("synthetic, from"));
  CHECK(report["results"]["total"]["commands"] == 224);
  CHECK(report["unread_parameters"].empty());
}

TEST_CASE("tlmssd profile lists volumes and compares one", "[program]") {
  const Folder folder;
  const Outcome list = run_ok(folder, {"profile"});
  CHECK(std::count(list.out.begin(), list.out.end(), '\n') == 7);
  CHECK(list.out.starts_with("prxy_0"));
  const Outcome one = run_ok(folder, {"profile", "prxy_0", "--scale", "0.001", "--seed", "9", "--json"});
  const Json json = Json::parse(one.out);
  CHECK(json["seed"] == 9);
  const Json& writes = json["figures"]["write_share"];
  CHECK(writes["target"] == 0.969);
  CHECK(writes["mark"] == "V");
  CHECK(writes["generated"].get<double>() == Approx(0.969).margin(0.005));
  CHECK(json["figures"]["overwrite_rate"]["target"].is_null());
  CHECK(run_ok(folder, {"profile", "prxy_0", "--scale", "0.001", "--seed", "9", "--json"}).out == one.out);
  const Outcome unknown = run(folder, {"profile", "hm0"});
  CHECK(unknown.code == 2);
  CHECK(unknown.err ==
        "tlmssd: profile: 'hm0' is not known, expected prxy_0, proj_0, hm_0, web_1, prxy_1, proj_3 or "
        "src2_1; did "
        "you mean 'hm_0'?\n");
  CHECK(run(folder, {"profile", "hm_0", "--scale", "2"}).code == 2);
  CHECK(run(folder, {"profile", "hm_0", "--scale", "nan"}).code == 2);
  CHECK(run(folder, {"profile", "hm_0", "--requests", "-1"}).code == 2);
}

}  // namespace tlmssd::program_tests
