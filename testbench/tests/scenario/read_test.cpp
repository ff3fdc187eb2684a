// Reading valid scenarios: values, defaults, parts, overrides, what was read, and the resolved
// scenario.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "test_catalogue.h"

using namespace tlmssd;
using test::k_example;
using test::read;

namespace {

const std::string k_short = "ssd: {flash: {part: {name: x}}}\nload: {rw: read}\n";

std::int64_t whole(const Scenario& scenario, const std::string& path, const std::string& key) {
  return std::get<std::int64_t>(*scenario.values(path).find(key));
}
std::string text(const Scenario& scenario, const std::string& path, const std::string& key) {
  return std::get<std::string>(*scenario.values(path).find(key));
}
double real(const Scenario& scenario, const std::string& path, const std::string& key) {
  return std::get<double>(*scenario.values(path).find(key));
}
/// By keys that only the one or the other has.
bool is_trace(const Scenario& scenario, const std::string& load) {
  return scenario.has_parameter(load + ".format");
}
bool is_generator(const Scenario& scenario, const std::string& load) {
  return scenario.has_parameter(load + ".rw");
}

}  // namespace

TEST_CASE("the architecture's example is read") {
  const Scenario scenario = read(k_example);
  CHECK(scenario.title() == "hybrid SSD under a write-heavy server load");
  CHECK(scenario.seed() == 7);
  CHECK(whole(scenario, "ssd.dram", "bandwidth") == 3'200'000'000);
  CHECK(whole(scenario, "ssd.dram", "latency") == 50'000);
  CHECK(scenario.values("ssd.dram").find("ecc") == nullptr);  // default
  CHECK(std::get<std::vector<std::int64_t>>(*scenario.values("ssd.host").find("weights")) ==
        std::vector<std::int64_t>{1, 2, 3});
  CHECK(real(scenario, "ssd.scm", "capacity") == 0.1);
  CHECK(real(scenario, "ssd.flash", "over_provisioning") == 0.25);
  CHECK(text(scenario, "ssd.flash.part", "name") == "3d-tlc");
  CHECK(whole(scenario, "ssd.flash.part", "sense") == 60'000'000);
  CHECK(real(scenario, "ssd.flash.part.wear", "shape") == 3);
  CHECK(scenario.policy("firmware.gc") == "d-choices");
  CHECK(scenario.policy("firmware.gc", "policy") == "d-choices");
  CHECK(whole(scenario, "firmware.gc", "d") == 10);
  CHECK(scenario.count("precondition") == 2);
  CHECK(real(scenario, "precondition.1", "fill") == 0.5);
  CHECK(scenario.count("load") == 1);
  CHECK(is_trace(scenario, "load.0"));
  CHECK(scenario.policy("load.0") == "open-loop");
  CHECK(scenario.has("ssd.scm"));
  CHECK_FALSE(scenario.has("ssd.scm.endurance"));
  CHECK(scenario.has("ssd.dram.ecc"));
  CHECK_FALSE(scenario.has("load.0.columns"));
}

TEST_CASE("a scenario needs little, everything else is by default") {
  const Scenario scenario = read(k_short);
  CHECK(scenario.seed() == 1);
  CHECK_FALSE(scenario.has("ssd.scm"));
  CHECK_FALSE(scenario.has("precondition"));
  CHECK(scenario.count("precondition") == 0);
  CHECK(scenario.policy("firmware.gc") == "greedy");
  CHECK(is_generator(scenario, "load.0"));
  CHECK(scenario.values("ssd.scm").find("capacity") == nullptr);
  CHECK_THROWS_AS(scenario.values("ssd.skm"), std::logic_error);
  CHECK_THROWS_AS(scenario.has("ssd.dram.latenzy"), std::logic_error);
  CHECK_THROWS_AS(scenario.policy("ssd.dram"), std::logic_error);
}

TEST_CASE("what was set but not read is known, with its place") {
  const Scenario scenario =
      read("ssd:\n  dram: {latency: 1 ns}\n  flash: {part: {name: x}}\nload: {rw: read}\n");
  static_cast<void>(scenario.values("ssd.dram").find("capacity"));
  static_cast<void>(scenario.values("load.0").find("rw"));
  auto unread = scenario.unread();
  REQUIRE(unread.size() == 2);
  CHECK(unread[0].path == "ssd.dram.latency");
  CHECK(unread[0].file == "s.yaml");
  CHECK(unread[0].line == 2);
  CHECK(unread[1].path == "ssd.flash.part.name");
  static_cast<void>(scenario.values("ssd.dram").find("latency"));
  static_cast<void>(scenario.values("ssd.flash.part").find("name"));
  CHECK(scenario.unread().empty());
}

TEST_CASE("a part is a map, a file, or a file with keys over it") {
  const std::string load = "load: {rw: read}\n";
  const auto part = [&](const std::string& written) {
    return read("ssd: {flash: {part: " + written + "}}\n" + load);
  };
  CHECK(text(part("{file: parts/nand/tlc.yaml, blocks: 64}"), "ssd.flash.part", "name") == "3d-tlc");
  CHECK(whole(part("{file: parts/nand/tlc.yaml, blocks: 64}"), "ssd.flash.part", "blocks") == 64);
  CHECK(real(part("{file: parts/nand/tlc.yaml, wear: {shape: 5}}"), "ssd.flash.part.wear", "shape") == 5);
  CHECK(text(part("parts/slc.yaml"), "ssd.flash.part", "name") == "slc");    // in the scenarios folder
  CHECK(whole(part("parts/small.yaml"), "ssd.flash.part", "blocks") == 16);  // a part file that names another
  CHECK(text(part("parts/small.yaml"), "ssd.flash.part", "name") == "3d-tlc");
}

TEST_CASE("a setting (--set) overrides, creates sections and list entries") {
  const auto set = [](std::vector<std::string> overrides) { return read(k_short, overrides); };
  CHECK(whole(set({"ssd.dram.latency=1.5 us"}), "ssd.dram", "latency") == 1'500'000);
  CHECK(set({"seed=5", "seed=6"}).seed() == 6);
  CHECK(set({"title=a: b # c"}).title() == "a: b # c");
  CHECK(set({"title="}).title().empty());
  CHECK(set({"ssd.scm.capacity=1 GiB"}).has("ssd.scm"));
  CHECK(set({"precondition.0.fill=50 %", "precondition.1={fill: 1x}"}).count("precondition") == 2);
  CHECK(real(set({"precondition.fill=50 %"}), "precondition.0", "fill") == 0.5);
  CHECK(set({"precondition=[{fill: 10 %}, {fill: 20 %}]"}).count("precondition") == 2);
  CHECK(text(set({"load.rw=randwrite"}), "load.0", "rw") == "randwrite");
  CHECK(text(set({"load.0.rw=randwrite", "load.1={fio: x.fio}"}), "load.1", "fio") == "x.fio");
  CHECK(is_trace(set({"load={trace: a.csv}"}), "load.0"));
  CHECK(whole(set({"load={trace: a.csv, format: csv}", "load.columns.offset=3"}), "load.0.columns",
              "offset") == 3);
  CHECK(std::get<std::vector<std::int64_t>>(
            *set({"ssd.host.weights=[5, 6]"}).values("ssd.host").find("weights")) ==
        std::vector<std::int64_t>{5, 6});
  CHECK(text(set({"ssd.flash.part=parts/nand/tlc.yaml"}), "ssd.flash.part", "name") == "3d-tlc");
  const Scenario part =
      read(k_example, {"ssd.flash.part.blocks=99"});  // beside the file that the scenario names
  CHECK(whole(part, "ssd.flash.part", "blocks") == 99);
  CHECK(text(part, "ssd.flash.part", "name") == "3d-tlc");
}

TEST_CASE("a --set of another policy puts the old one's parameters aside, and says so") {
  const Scenario scenario = read(k_example, {"firmware.gc.policy=greedy"});
  CHECK(scenario.policy("firmware.gc") == "greedy");
  const auto unread = scenario.unread();
  REQUIRE_FALSE(unread.empty());
  CHECK(unread.back().path == "firmware.gc.d");
  CHECK(unread.back().line == 10);
  CHECK(scenario.resolved_yaml().find("  d: ") == std::string::npos);
}

TEST_CASE("a --set of another variant puts the old one's keys aside") {
  const Scenario scenario = read(k_example, {"load.fio=job.fio"});
  CHECK_FALSE(is_trace(scenario, "load.0"));
  CHECK_FALSE(is_generator(scenario, "load.0"));
  CHECK(text(scenario, "load.0", "fio") == "job.fio");
  CHECK(is_trace(read(k_short, {"load.trace=a.csv"}), "load.0"));
  std::vector<std::string> aside;
  for (const Unread& unread : scenario.unread()) {
    if (unread.line == 12 && unread.path.starts_with("load")) aside.push_back(unread.path);
  }
  CHECK(std::find(aside.begin(), aside.end(), "load.0.trace") != aside.end());
  CHECK(std::find(aside.begin(), aside.end(), "load.0.time_scale") != aside.end());
  CHECK(scenario.resolved_yaml().find("trace") == std::string::npos);
}

TEST_CASE("long times are real numbers of seconds, temperatures of degrees Celsius") {
  const auto wear = [](const std::string& key, const std::string& written) {
    const Scenario scenario = read(k_short, {"ssd.flash.part.wear." + key + "=" + written});
    REQUIRE(read(scenario.resolved_yaml()).resolved_yaml() == scenario.resolved_yaml());
    return real(scenario, "ssd.flash.part.wear", key);
  };
  CHECK(wear("retention", "3 y") == 94'608'000);
  CHECK(wear("retention", "6 d") == 518'400);
  CHECK(wear("retention", "1.001 d") == 86'486.4);
  CHECK(wear("retention", "1e-12 s") == 1e-12);
  CHECK(wear("temperature", "-10 C") == -10);
  CHECK(wear("temperature", "298.15 K") == 25);
}

TEST_CASE("aliases stand for what they name") {
  const Scenario scenario =
      read("precondition: [&step {fill: 10 %}, *step]\nssd: {flash: {part: {name: x}}}\nload: {rw: read}\n");
  CHECK(real(scenario, "precondition.1", "fill") == 0.1);
}

TEST_CASE("the resolved scenario is complete and reads back to itself") {
  const std::vector<std::string> scenarios = {
      k_example, k_short, k_short + "precondition: [{}, {fill: 5 %}]\nssd2: 1\n",
      "ssd: {flash: {part: {name: x, wear: {retention: 0.1 min, temperature: 313.25 K}}}}\nload: {rw: "
      "read}\n",
      "title: \"odd \\\"text\\\" \\\\ # with: all, [of] {it}\\nand \\t more\"\nssd: {flash: {part: {name: "
      "'null'}}}\n"
      "load: [{trace: '100', columns: {offset: 2}}, {fio: ' - x'}, {rw: write, bs: 18592 B}]\n"};
  for (const std::string& text : {scenarios[0], scenarios[1], scenarios[3], scenarios[4]}) {
    const Scenario first = read(text);
    const std::string yaml = first.resolved_yaml();
    INFO(yaml);
    const Scenario second = read(yaml);
    CHECK(second.resolved_yaml() == yaml);
    CHECK(second.title() == first.title());
    const std::string json = first.resolved_json();
    CHECK(read(json).resolved_json() == json);  // JSON is YAML
    CHECK(read(json).resolved_yaml() == yaml);
    CHECK(read(yaml).resolved_json() == json);
  }
  CHECK_THROWS_AS(read(scenarios[2]), InputError);
}

TEST_CASE("the resolved scenario explains itself") {
  CHECK(read(k_short).resolved_yaml() ==
        R"(title: ""  # what the scenario is, in a few words; empty: it has no title
)"
        "seed: 1  # of every random stream; the same scenario and seed give the same results "
        "to the byte; 0 to 9223372036854775807\n"
        R"(ssd:  # the drive
  host:  # host interface
    protocol: nvme  # what the host speaks; nvme or sata
    queues: 4  # submission queues; 1 to 65535
    queue_depth: 64  # entries per queue; 1 to 65536
    weights: [1, 1]  # of weighted arbitration; 1 to 255
  cpu:  # controller cores
    cores: 2  # number of cores; 1 to 64
    clock: 500 MHz  # of every core; 1 MHz to 10 GHz
  dram:  # memory beside the controller
    capacity: 64 MiB  # size of the memory; 1 KiB to 1 TiB
    bandwidth: 3.2 GB/s  # of its port; 1 MB/s to 1000 GB/s
    latency: 50 ns  # from request to first byte; 0 s to 1 ms
    ecc: false  # whether it corrects errors
  flash:  # the flash array
    channels: 4  # number of channels; 1 to 256
    dies_per_channel: 2  # dies that share a channel; 1 to 64
    bus: 400 MB/s  # of one channel; 1 MB/s to 100 GB/s
    over_provisioning: 25 %  # physical over logical capacity, less one; 0 % to 4x
    part:  # data sheet of the dies
      name: x  # of the part
      page: 16 KiB  # size of a page; 512 B to 1 MiB
      blocks: 1024  # per plane; 4 to 1000000
      sense: 50 us  # array to register; 1 ps to 1 s
      program: [500 us]  # per page type; 1 ps to 1 s
      wear:  # how it wears
        shape: 2.5  # of the Weibull distribution; 0.1 to 100
        retention: 1 y  # how long data lie unread; 0 s to 10 y
        temperature: 40 C  # while they lie; -40 C to 125 C
firmware:
  gc:  # garbage collection
    start_below: 2 %  # share of free blocks that starts it; 0 % to 100 %
    policy: greedy  # how a victim is chosen; fewest valid units
precondition: []  # before the load
load:  # what the host asks
  - queue_depth: 32  # requests kept outstanding; 1 to 65536
    rw: read  # pattern; read, write, randread or randwrite
    bs: 4 KiB  # request size; 512 B to 1 GiB
    size: 0 B  # of the region; 0 B to 1000000 GiB
# plugins: not set  # shared libraries with models and policies of one's own, loaded before the rest is read
)");
}

TEST_CASE("complaints of others get the place in the file") {
  const Scenario scenario = read(k_example);
  CHECK(std::string(scenario.error("ssd.dram.latency", "is odd").what()) ==
        "s.yaml:6: ssd.dram.latency: is odd");
  CHECK(std::string(scenario.error("ssd.dram.ecc", "is odd").what()) == "s.yaml:6: ssd.dram.ecc: is odd");
  CHECK(std::string(scenario.error("ssd.flash.part.sense", "is odd").what()) ==
        "parts/nand/tlc.yaml:3: ssd.flash.part.sense: is odd");
  CHECK(std::string(scenario.error("ssd.flash.part.wear", "is odd").what()) ==
        "parts/nand/tlc.yaml:5: ssd.flash.part.wear: is odd");
  CHECK(std::string(scenario.error("", "is odd").what()) == "s.yaml:1: is odd");
}

TEST_CASE("scenarios and parts are read from disk") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "tlmssd scenario test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "parts");
  std::ofstream(folder / "s.yaml") << "ssd: {flash: {part: parts/a.yaml}}\nload: {rw: read}\n";
  std::ofstream(folder / "t.yaml") << "ssd: {flash: {part: parts/b.yaml}}\nload: {rw: read}\n";
  std::ofstream(folder / "parts" / "a.yaml") << "name: a\n";
  const std::string base = folder.string() + "/";
  const auto problem = [&](const std::string& file) {
    try {
      static_cast<void>(read_scenario(base + file, test::test_catalogue()));
      return std::string("read");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  const Scenario scenario = read_scenario(base + "s.yaml", test::test_catalogue());
  CHECK(scenario.folder() == folder.string());
  CHECK(text(scenario, "ssd.flash.part", "name") == "a");
  CHECK(problem("none.yaml") == base + "none.yaml: no such file");
  CHECK(problem("parts") == base + "parts: is a folder, expected a file");
  CHECK(problem("t.yaml") ==
        base + "t.yaml:1: ssd.flash.part: no file 'parts/b.yaml'; did you mean 'parts/a.yaml'?");
  std::filesystem::remove_all(folder);
}
