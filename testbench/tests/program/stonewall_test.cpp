// Loads one after another: stonewall, idle time in between, job files with phases of their own.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "testbench/tests/program/program.h"

namespace tlmssd::program_tests {
namespace {

/// First submission and last completion of every load, in order of their names in the log.
struct Span {
  std::int64_t first = -1;
  std::int64_t last = 0;
  std::uint64_t commands = 0;
};

/// The loads of a run, which are called by letters, by their names.
std::map<char, Span> spans(const Folder& folder, const std::string& names, const std::string& loads) {
  const std::string scenario = folder.write(
      "s.yaml",
      "ssd: {flash: {part: {blocks_per_plane: 16, pages_per_block: 16}, over_provisioning: 40 %}}\nload:\n" +
          loads);
  const Outcome outcome =
      run(folder, {"run", scenario, "--quiet", "-o", folder / "out", "--set", "report.command_log=csv"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  std::istringstream log(read_file(folder.path() / "out" / "commands.csv"));
  std::string line;
  std::getline(log, line);
  std::vector<std::string> head;
  std::istringstream words(line);
  for (std::string word; std::getline(words, word, ',');) head.push_back(word);
  std::map<char, Span> result;
  while (std::getline(log, line)) {
    std::istringstream cells(line);
    std::map<std::string, std::string> row;
    std::size_t at = 0;
    for (std::string cell; std::getline(cells, cell, ',');) row[head.at(at++)] = cell;
    Span& span = result[names.at(std::stoul(row.at("load")))];
    const std::int64_t submitted = std::stoll(row.at("submitted_ps"));
    span.first = span.first < 0 ? submitted : std::min(span.first, submitted);
    span.last = std::max<std::int64_t>(span.last, std::stoll(row.at("completed_ps")));
    ++span.commands;
  }
  return result;
}

}  // namespace

TEST_CASE("a stonewall waits for all loads before it, and those after it begin with it", "[program]") {
  const Folder folder;
  const auto at = spans(folder, "abcd",
                        "  - {name: a, rw: randwrite, number_ios: 100}\n"
                        "  - {name: b, rw: randwrite, number_ios: 300}\n"
                        "  - {name: c, rw: randread, number_ios: 50, stonewall: true, startdelay: 3 ms}\n"
                        "  - {name: d, rw: randread, number_ios: 50}\n");
  REQUIRE(at.size() == 4);
  CHECK(at.at('a').first == at.at('b').first);
  CHECK(at.at('c').first == at.at('b').last + 3'000'000'000);
  CHECK(at.at('d').first == at.at('b').last);
}

TEST_CASE("a load that waits is not taken for one that has ended, also when it shares a queue", "[program]") {
  const Folder folder;
  std::string loads;
  for (const char* const name : {"a", "b", "c", "d"})
    loads +=
        std::string("  - {name: ") + name + ", rw: randwrite, number_ios: 50, stonewall: true, queue: 0}\n";
  const auto at = spans(folder, "abcd", loads);
  REQUIRE(at.size() == 4);
  for (const auto& [name, span] : at) {
    INFO(name);
    CHECK(span.commands == 50);
  }
  CHECK(at.at('d').first == at.at('c').last);
}

TEST_CASE("a first stonewall waits for nothing", "[program]") {
  const Folder folder;
  const auto at = spans(folder, "a", "  - {name: a, rw: randwrite, number_ios: 10, stonewall: true}\n");
  CHECK(at.at('a').commands == 10);
}

TEST_CASE("a job file has phases of its own behind a stonewall", "[program]") {
  const Folder folder;
  static_cast<void>(folder.write(
      "jobs.fio", "[x]\nrw=randwrite\nnumber_ios=40\n[y]\nstonewall\nrw=randread\nnumber_ios=40\n"));
  const auto at = spans(folder, "axyz",
                        "  - {name: a, rw: randwrite, number_ios: 30}\n"
                        "  - {fio: jobs.fio, stonewall: true}\n"
                        "  - {name: z, rw: randread, number_ios: 20, stonewall: true}\n");
  REQUIRE(at.size() == 4);
  CHECK(at.at('x').first == at.at('a').last);
  CHECK(at.at('y').first == at.at('x').last);
  CHECK(at.at('z').first == at.at('y').last);
}

TEST_CASE("startdelay of a job file counts from its beginning, also behind its stonewalls, as in fio",
          "[program]") {
  const Folder folder;
  static_cast<void>(folder.write("jobs.fio",
                                 "[global]\nrw=randread\nrate_iops=1000\n[x]\nnumber_ios=4\n"
                                 "[y]\nstonewall\nstartdelay=2ms\nnumber_ios=4\n"
                                 "[z]\nstonewall\nstartdelay=50ms\nnumber_ios=4\n"));
  const auto at = spans(folder, "axyz",
                        "  - {name: a, rw: randwrite, number_ios: 30}\n"
                        "  - {fio: jobs.fio, stonewall: true}\n");
  REQUIRE(at.size() == 4);
  CHECK(at.at('y').first == at.at('x').last);  // which is later than 2 ms
  CHECK(at.at('z').first == at.at('x').first + 50'000'000'000);
}

}  // namespace tlmssd::program_tests
