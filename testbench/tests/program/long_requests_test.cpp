// Requests that are longer than the drive takes, and commands that fail.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "testbench/host/transfer_limit.h"
#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

const std::string k_short_transfers =
    replaced(k_small, "lba_size: 4 KiB", "lba_size: 4 KiB, max_transfer: 64 KiB");

std::string with_load(const std::string& load, const std::string& more = {}) {
  return replaced(k_short_transfers, "load: {rw: randrw, number_ios: 500}", more + "load: " + load);
}

/// A line of the command log.
struct Line {
  double submitted = 0;
  double completed = 0;
  double load_limit = 0;
};

std::vector<Line> log_of(const Folder& folder, const std::string& name) {
  std::istringstream file(read_file(folder.path() / name / "commands.csv"));
  std::string line;
  std::vector<std::string> head;
  std::vector<Line> lines;
  while (std::getline(file, line)) {
    std::vector<std::string> fields;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) fields.push_back(cell);
    if (head.empty()) {
      head = fields;
      continue;
    }
    const auto at = [&](const char* column) {
      return std::stod(
          fields[static_cast<std::size_t>(std::find(head.begin(), head.end(), column) - head.begin())]);
    };
    lines.push_back({at("submitted_ps"), at("completed_ps"), at("load_limit_ps")});
  }
  return lines;
}

}  // namespace

TEST_CASE("pieces end on the drive's physical blocks", "[program]") {
  const TransferLimit limit{16, 4, 1000};
  const auto first = [&](std::uint64_t lba, std::uint32_t blocks, HostOpcode opcode = HostOpcode::read) {
    PlacedRequest request;
    request.opcode = opcode;
    request.lba = lba;
    request.blocks = blocks;
    return limit.first_piece(request);
  };
  CHECK(first(0, 16) == 16);
  CHECK(first(0, 17) == 16);
  CHECK(first(3, 17) == 13);
  CHECK(first(3, 16) == 16);
  CHECK(first(0, 100, HostOpcode::trim) == 100);
  CHECK(first(0, 100, HostOpcode::write_zeroes) == 100);
  CHECK(first(1000, 100) == 100);  // beyond the drive: a file of the network
  CHECK(TransferLimit{}.first_piece({HostOpcode::write, false, 0, 1U << 30U, 0}) == 1U << 30U);
  CHECK(TransferLimit{3, 4, 1000}.first_piece({HostOpcode::write, false, 5, 10, 0}) == 3);
}

TEST_CASE("what a load holds back itself is charged to it exactly", "[program]") {
  const Folder folder;
  const auto run_rated = [&](const std::string& load, const std::string& name, const char* depth = "64") {
    const std::string text =
        with_load("{rw: randrw, rate_iops: 200000, " + load + "}", "precondition: [{fill: 100 %}]\n") +
        "report: {command_log: csv}\n";
    return report_of(folder,
                     folder.write("s.yaml", replaced(text, "blocks_per_plane: 32", "blocks_per_plane: 1024")),
                     name, {"--set", std::string("ssd.host.queue_depth=") + depth});
  };
  const auto by_time = [&](const std::string& name) {
    std::vector<Line> log = log_of(folder, name);
    std::stable_sort(log.begin(), log.end(),
                     [](const Line& a, const Line& b) { return a.submitted < b.submitted; });
    return log;
  };
  // One at a time: each waits for the one before it, and for the pause behind that.
  for (const double pause : {0.0, 1e9}) {
    run_rated("bs: 4k, iodepth: 1, number_ios: 300" + std::string(pause > 0 ? ", thinktime: 1 ms" : ""),
              "one");
    const std::vector<Line> log = by_time("one");
    REQUIRE(log.size() == 300);
    CHECK(log[0].load_limit == 0);
    for (std::size_t i = 1; i < log.size(); ++i)
      CHECK(log[i].load_limit == std::max(log[i - 1].completed + pause - log[i].submitted, 0.0));
  }
  // Room in the queue is not the load's.
  const Json full = run_rated("bs: 4k, iodepth: 256, number_ios: 200", "full", "2");
  for (const Json& operation : full["results"]["total"]["operations"]) {
    CHECK_FALSE(operation["ledger"].contains("load limit"));
    CHECK(operation["ledger"]["submission"]["share"].get<double>() > 0.5);
  }
  // In pieces: five of each request.
  const Json pieces = run_rated("bs: 300k, blockalign: 4k, iodepth: 1, number_ios: 100", "pieces");
  const std::vector<Line> log = log_of(folder, "pieces");
  REQUIRE(log.size() == 500);
  double waited = 0;
  double before = 0;
  for (auto request = log.begin(); request != log.end(); request += 5) {
    double due = request->submitted;
    double end = 0;
    for (auto piece = request; piece != request + 5; ++piece) {
      due = std::min(due, piece->submitted);
      end = std::max(end, piece->completed);
    }
    waited += std::max(before - due, 0.0);
    before = end;
  }
  double told = 0;
  for (const Json& operation : pieces["results"]["total"]["operations"]) {
    double explained = 0;
    for (const Json& part : operation["ledger"]) explained += part["mean_ns"].get<double>();
    CHECK(explained == Approx(operation["latency"]["mean"].get<double>()));
    told += operation["ledger"]["load limit"]["mean_ns"].get<double>() * operation["commands"].get<double>();
  }
  CHECK(told * 1e3 == Approx(waited));
}

TEST_CASE("a long request takes from its submission to the end of its last piece", "[program]") {
  const Folder folder;
  // At a queue depth of 1, pieces of one request follow each other in the log; each request is of 5
  // pieces.
  const std::string text = with_load("{rw: randrw, bs: 300k, blockalign: 4k, number_ios: 200}",
                                     "precondition: [{fill: 100 %}]\n") +
                           "report: {command_log: csv}\n";
  const std::string scenario =
      folder.write("s.yaml", replaced(text, "blocks_per_plane: 32", "blocks_per_plane: 1024"));
  for (const char* depth : {"64", "2"}) {
    INFO("entries in the host's queue: " << depth);
    const Json report =
        report_of(folder, scenario, "out", {"--set", std::string("ssd.host.queue_depth=") + depth});
    const Json& total = report["results"]["total"];
    CHECK(total["commands"] == 200);
    CHECK(total["bytes"] == 200 * 300 * 1024);
    double reads_and_writes = 0;
    double pieces = 0;
    for (const auto& [name, operation] : total["operations"].items()) {
      const Json& device = operation["device"];
      CHECK(device["split_requests"] == operation["commands"]);
      CHECK(device["split_commands"] == device["commands"]);
      pieces += device["commands"].get<double>();
      reads_and_writes += operation["commands"].get<double>() * operation["latency"]["mean"].get<double>();
      double explained = 0;
      for (const auto& [cause, part] : operation["ledger"].items())
        explained += part["mean_ns"].get<double>();
      CHECK(explained == Approx(operation["latency"]["mean"].get<double>()));
    }
    CHECK(pieces == 1000);
    const std::vector<Line> log = log_of(folder, "out");
    REQUIRE(log.size() == 1000);
    double by_log = 0;
    for (std::size_t request = 0; request < 200; ++request) {
      const auto begin = log.begin() + static_cast<std::ptrdiff_t>(5 * request);
      const auto submitted = [](const Line& a, const Line& b) { return a.submitted < b.submitted; };
      const auto completed = [](const Line& a, const Line& b) { return a.completed < b.completed; };
      by_log += std::max_element(begin, begin + 5, completed)->completed -
                std::min_element(begin, begin + 5, submitted)->submitted;
    }
    CHECK(reads_and_writes * 1e3 == Approx(by_log));
  }
}

TEST_CASE("traces with requests far longer than the drive takes replay without a failure", "[program]") {
  const Folder folder;
  folder.write("long.csv",
               "128166372003061629,hm,0,Write,0,42000000,100\n128166372003061630,hm,0,Read,0,42000000,100\n"
               "128166372003061631,hm,0,Read,4096,4096,100\n");
  for (const std::string pacing : {"closed-loop", "open-loop"}) {
    const std::string load = "{trace: long.csv, pacing: " + pacing + "}";
    const std::string large = replaced(with_load(load), "blocks_per_plane: 32", "blocks_per_plane: 1024");
    const Json report = report_of(folder, folder.write("s.yaml", large), "out");
    const Json& read = report["results"]["total"]["operations"]["read"];
    CHECK(read["commands"] == 2);
    CHECK(read["device"]["split_commands"] == 641);
    CHECK(report["warnings"].empty());
    // No time passes, but nothing fails either.
    CHECK(run(folder, {"run", folder / "s.yaml", "-q", "--set", "run.timed=false"}).code == 0);
  }
}

TEST_CASE("a split request of which pieces fail is one that failed", "[program]") {
  const Folder folder;
  // It wears out; from then on every piece of a write is refused.
  const std::string scenario = folder.write("s.yaml", R"(title: worn out
ssd:
  host: {lba_size: 4 KiB, max_transfer: 64 KiB}
  flash: {channels: 1, ways: 1, part: {planes: 1, page_size: 4 KiB, pages_per_block: 16, blocks_per_plane: 40, endurance: 2}}
firmware: {buffer: {capacity: 64 KiB}}
run: {errors: accept}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: write, bs: 256k, number_ios: 100, loops: 1000}
)");
  for (const char* timed : {"true", "false"}) {
    INFO("timed " << timed);
    const Json report = report_of(folder, scenario, timed, {"--set", std::string("run.timed=") + timed});
    const auto failed =
        std::find_if(report["warnings"].begin(), report["warnings"].end(), [](const Json& line) {
          return line.get<std::string>().find(" commands failed, the first: ") != std::string::npos;
        });
    REQUIRE(failed != report["warnings"].end());
    const int number = std::stoi(failed->get<std::string>());
    CHECK(number > 0);
    CHECK(number <= 100);
    if (std::string(timed) == "false") continue;
    const Json& errors = report["results"]["total"]["operations"]["write"]["errors"];
    CHECK(errors["write protected"].get<int>() == number);
    CHECK(report["statistics"]["host"]["failed"]["value"].get<int>() > number);
  }
}

TEST_CASE("a run with failed commands says so with its exit code", "[program]") {
  const Folder folder;
  const std::string load = with_load("{rw: randread, bs: 128k, number_ios: 5}");
  const std::string refused = folder.write("s.yaml", load + "run: {long_requests: refuse}\n");
  const Outcome failed = run(folder, {"run", refused, "-o", folder / "out"});
  INFO(failed.out << failed.err);
  CHECK(failed.code == 5);
  CHECK(failed.out.find("! 5 commands failed, the first: read") != std::string::npos);
  CHECK(fs::exists(folder / "out/report.json"));
  const Outcome quiet = run(folder, {"run", refused, "-q"});
  CHECK(quiet.code == 5);
  CHECK(quiet.out.empty());
  CHECK(quiet.err.starts_with("tlmssd: 5 commands failed, the first: read"));
  CHECK(std::count(quiet.err.begin(), quiet.err.end(), '\n') == 1);
  const Outcome accepted = run(folder, {"run", refused, "-q", "--set", "run.errors=accept"});
  CHECK(accepted.code == 0);
  CHECK(accepted.err.empty());
  CHECK(run(folder, {"run", refused, "-q", "--set", "run.long_requests=split"}).code == 0);
}

TEST_CASE("a drive is preconditioned alike whether the run splits long requests or not", "[program]") {
  const Folder folder;
  const std::string scenario =
      folder.write("s.yaml", "precondition: [{fill: 100 %, bs: 128 KiB}]\n" +
                                 with_load("{rw: randread, bs: 4k, number_ios: 200}"));
  const Json split = report_of(folder, scenario, "split", {"--set", "run.long_requests=split"});
  const Json refused = report_of(folder, scenario, "refused", {"--set", "run.long_requests=refuse"});
  CHECK(split["statistics"] == refused["statistics"]);
  CHECK(split["statistics"]["firmware"]["unmapped_reads"]["value"] == 0);
}

}  // namespace tlmssd::program_tests
