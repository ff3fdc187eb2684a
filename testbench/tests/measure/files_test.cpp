// What is written to disk: snapshots, run directories, command logs, and how damaged
// ones are refused.
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "models/base/input_error.h"
#include "testbench/process/interrupt.h"
#include "testbench/report/files/command_log.h"
#include "testbench/report/files/output_file.h"
#include "testbench/report/files/run_directory.h"
#include "testbench/report/files/snapshot.h"
#include "testbench/report/progress.h"
#include "testbench/tests/measure/support.h"

namespace tlmssd {
namespace {

using namespace test;
namespace fs = std::filesystem;
namespace io = boost::iostreams;

const Identity k_identity = {{"tlmssd", "0.1.0"}, {"ssd.flash.channels", "8"}, {"ssd.flash.part", "tlc"}};

/// Some state: small values and a large array of little entropy.
struct State {
  std::uint64_t number = 0;
  std::string name;
  std::vector<std::uint32_t> map;
  void archive(Archive& a) {
    a(number);
    a(name);
    a(map);
  }
  bool operator==(const State&) const = default;
};

State example_state() {
  State state{7, "drive", std::vector<std::uint32_t>(800'000)};
  RandomStream random(5, "state");
  for (auto& entry : state.map) entry = static_cast<std::uint32_t>(random.below(1U << 20U));
  return state;
}

/// The message of the InputError that loading throws; "" when it loads.
std::string load_error(const std::string& path, const Identity& identity = k_identity) {
  State state;
  try {
    load_snapshot(path, identity, [&](Archive& a) { state.archive(a); });
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// `text` after a filter.
template <class Filter>
std::string through(const std::string& text) {
  std::istringstream from(text);
  io::filtering_istream stream;
  stream.push(Filter());
  stream.push(from);
  std::ostringstream to;
  to << stream.rdbuf();
  return to.str();
}

}  // namespace

TEST_CASE("a full disk is told apart from other reasons for not writing") {
  const auto blame_of = [](const std::string& path) {
    try {
      OutputFile file(path);
      file.write("more than nothing");
      file.close();
    } catch (const InputError& error) {
      CHECK(error.what() ==
            path + ": cannot be written" +
                (path == "/dev/full" ? " in full: No space left on device" : ": No such file or directory"));
      return error.complaint().blame;
    }
    return Blame::memory;  // nothing was wrong
  };
  CHECK(blame_of("/dev/full") == Blame::disk);
  CHECK(blame_of("/dev/none/there") == Blame::input);
  CHECK(not_written("out", "cannot be written", EDQUOT).complaint().blame == Blame::disk);
}

TEST_CASE("a snapshot comes back as it was") {
  const Scratch scratch;
  const std::string path = scratch / "drive.snapshot";
  State state = example_state();
  save_snapshot(path, k_identity, [&](Archive& a) { state.archive(a); });
  CHECK(fs::file_size(path) < 3'200'000);
  State other;
  load_snapshot(path, k_identity, [&](Archive& a) { other.archive(a); });
  CHECK(other == state);
  // Nothing else is left, and saving again gives the same bytes.
  CHECK(std::distance(fs::directory_iterator(scratch.path()), {}) == 1);
  save_snapshot(scratch / "again", k_identity, [&](Archive& a) { state.archive(a); });
  CHECK(content_of(scratch / "again") == content_of(path));
}

TEST_CASE("a snapshot of another drive is refused with every difference") {
  const Scratch scratch;
  const std::string path = scratch / "drive.snapshot";
  State state = example_state();
  save_snapshot(path, k_identity, [&](Archive& a) { state.archive(a); });
  const Identity other = {{"tlmssd", "0.1.0"}, {"ssd.flash.channels", "4"}, {"ssd.scm.capacity", "1 GiB"}};
  CHECK(load_error(path, other) ==
        "snapshot " + path +
            " does not fit: ssd.flash.channels is 8 there, 4 here; ssd.flash.part is tlc there, absent "
            "here; ssd.scm.capacity is absent there, 1 GiB here");
  std::size_t which = 0;
  CHECK_THROWS_AS(FileArchive::load(path, {other}, which), SnapshotMismatch);
}

TEST_CASE("damaged, truncated and foreign snapshots are refused in one line") {
  const Scratch scratch;
  const std::string path = scratch / "drive.snapshot";
  State state = example_state();
  save_snapshot(path, k_identity, [&](Archive& a) { state.archive(a); });
  const std::string whole = content_of(path);
  const std::string bad = scratch / "bad.snapshot";
  const auto refused = [&](const std::string& content, const std::string& why) {
    put_content(bad, content);
    const std::string message = load_error(bad);
    INFO(message);
    CHECK_THAT(message, Catch::Contains(why));
    CHECK_THAT(message, Catch::StartsWith(bad + ": "));
    CHECK(message.find('\n') == std::string::npos);
  };
  for (const std::size_t length : {std::size_t{0}, std::size_t{3}})
    refused(whole.substr(0, length), "is not a tlmssd snapshot");
  for (const std::size_t length : {std::size_t{8}, std::size_t{15}, std::size_t{20}, std::size_t{25},
                                   whole.size() / 2, whole.size() - 1}) {
    refused(whole.substr(0, length), "damaged or cut short");
  }
  refused("PK\x03\x04 something else altogether", "is not a tlmssd snapshot");
  std::string newer = whole;
  newer[8] = 11;
  refused(newer, "is of snapshot format 11; this program reads format 10");
  std::string foreign = whole;
  std::swap(foreign[12], foreign[15]);
  refused(foreign, "machine of another type");
  RandomStream random(1, "damage");
  for (int i = 0; i < 40; ++i) {
    std::string damaged = whole;
    const std::size_t at = 20 + random.below(whole.size() - 20);
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.below(8)));
    put_content(bad, damaged);
    const std::string message = load_error(bad);
    INFO("byte " << at << ": " << message);
    // A bit that zstd does not use may change; then the content must still be right, which the
    // checksums have confirmed.
    CHECK((message.empty() || message.find("damaged") != std::string::npos));
  }
  // Changed and compressed anew, so that nothing but the snapshot's own checksum can tell.
  const std::size_t head = whole.find("\x28\xB5\x2F\xFD");
  REQUIRE(head != std::string::npos);
  const auto compress = [&](const std::string& content) {
    std::string text = whole.substr(0, head) + through<io::zstd_compressor>(content);
    const std::uint64_t length = text.size();
    std::memcpy(text.data() + head - sizeof length, &length, sizeof length);
    return text;
  };
  std::string content = through<io::zstd_decompressor>(whole.substr(head));
  put_content(bad, compress(content));
  CHECK(load_error(bad).empty());
  content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
  refused(compress(content), "is damaged");
  CHECK_THAT(load_error(scratch / "absent"), Catch::Contains("cannot be read"));
  CHECK_THROWS_AS(save_snapshot(scratch / "no/such/folder", k_identity, [](Archive&) {}), InputError);
}

TEST_CASE(
    "a snapshot that does not match what the models read is refused, and a failed save leaves nothing") {
  const Scratch scratch;
  const std::string path = scratch / "drive.snapshot";
  State state = example_state();
  save_snapshot(path, k_identity, [&](Archive& a) { state.archive(a); });
  std::uint64_t number = 0;
  CHECK_THROWS_WITH(load_snapshot(path, k_identity, [&](Archive& a) { a(number); }),
                    Catch::Contains("holds more"));
  CHECK_THROWS_WITH(load_snapshot(path, k_identity,
                                  [&](Archive& a) {
                                    state.archive(a);
                                    a(number);
                                  }),
                    Catch::Contains("damaged or cut short"));
  CHECK_THROWS_WITH(
      load_snapshot(path, k_identity, [](Archive&) { throw ArchiveError("index beyond the array"); }),
      path + ": index beyond the array");
  CHECK_THROWS(
      save_snapshot(scratch / "failed", k_identity, [](Archive&) { throw std::runtime_error("no"); }));
  CHECK(std::distance(fs::directory_iterator(scratch.path()), {}) == 1);
}

TEST_CASE("a snapshot whose writing is interrupted leaves nothing") {
  const Scratch scratch;
  const std::string path = scratch / "drive.snapshot";
  State state = example_state();
  save_snapshot(path, k_identity, [&](Archive& a) { state.archive(a); });
  const std::string whole = content_of(path);
  const InterruptGuard guard;
  CHECK_THROWS_AS(save_snapshot(path, k_identity,
                                [&](Archive& a) {
                                  state.archive(a);
                                  std::raise(SIGTERM);
                                  state.archive(a);
                                }),
                  Interrupted);
  CHECK(content_of(path) == whole);
  CHECK(std::distance(fs::directory_iterator(scratch.path()), {}) == 1);
}

TEST_CASE("a run directory appears whole or not at all") {
  const Scratch scratch;
  const std::string target = scratch / "out";
  {
    RunDirectory failed(target);
    failed.write("report.json", "{}");
  }
  CHECK(fs::is_empty(scratch.path()));
  {
    RunDirectory run(target + "/");
    run.write("report.json", "first");
    CHECK_FALSE(fs::exists(target));
    run.commit();
  }
  CHECK(content_of(target + "/report.json") == "first");
  {
    RunDirectory run(target);
    run.write("fio.json", "second");
    run.commit();
  }
  CHECK_FALSE(fs::exists(target + "/report.json"));
  CHECK(content_of(target + "/fio.json") == "second");
  CHECK_THROWS_AS(RunDirectory(scratch / "other").write("thesis.tex", ""), std::logic_error);
  CHECK(std::distance(fs::directory_iterator(scratch.path()), {}) == 1);
}

TEST_CASE("a run directory replaces nothing that tlmssd did not write") {
  const Scratch scratch;
  fs::create_directories(scratch / "mine");
  put_content(scratch / "mine/thesis.tex", "years of work");
  CHECK_THROWS_WITH(RunDirectory(scratch / "mine"), Catch::Contains("was not written by tlmssd"));
  CHECK(content_of(scratch / "mine/thesis.tex") == "years of work");
  CHECK_THROWS_WITH(RunDirectory(scratch / "mine/thesis.tex"),
                    Catch::Contains("is a file, expected a folder"));
  CHECK_THROWS_AS(RunDirectory(""), InputError);
  CHECK_THROWS_AS(RunDirectory("/"), InputError);
  fs::create_directories(scratch / "empty");
  RunDirectory run(scratch / "empty");
  run.commit();
  CHECK(fs::exists(scratch / "empty/.tlmssd-run"));
  CHECK(std::distance(fs::directory_iterator(scratch.path()), {}) == 2);
}

TEST_CASE("the command log has a line for each command, also compressed") {
  const Scratch scratch;
  std::string plain;
  for (const char* name : {"log.csv", "log.csv.gz", "log.csv.zst"}) {
    CommandLog log(scratch / name);
    for (int i = 0; i < 5000; ++i) {
      Ledger ledger(100 * i);
      ledger.charge(Cause::sense, 100 * i + 70);
      log.record({HostOpcode::write, HostStatus::success, 0, 1, static_cast<std::uint64_t>(i), 4096, 100 * i,
                  100 * i + 70, &ledger});
    }
    log.close();
    std::stringstream text;
    std::ifstream file(scratch / name, std::ios::binary);
    boost::iostreams::filtering_istream in;
    if (std::string(name).ends_with(".gz")) in.push(boost::iostreams::gzip_decompressor());
    if (std::string(name).ends_with(".zst")) in.push(boost::iostreams::zstd_decompressor());
    in.push(file);
    text << in.rdbuf();
    if (plain.empty()) plain = text.str();
    CHECK(text.str() == plain);
  }
  CHECK(std::count(plain.begin(), plain.end(), '\n') == 5001);
  std::istringstream lines(plain);
  std::string header;
  std::string first;
  std::getline(lines, header);
  std::getline(lines, first);
  CHECK_THAT(header, Catch::StartsWith("load,queue,operation,lba,bytes,status,submitted_ps,completed_ps,"
                                       "latency_ps,load_limit_ps,submission_ps"));
  CHECK_THAT(first, Catch::StartsWith("0,1,write,0,4096,success,0,70,70,0"));
  CHECK(std::count(header.begin(), header.end(), ',') == std::count(first.begin(), first.end(), ','));
  CHECK_THROWS_AS(CommandLog(scratch / "no/such/folder.csv"), InputError);
}

TEST_CASE("the progress line tells share, rate, simulated time and time left") {
  const Progress progress("run", 1000, Progress::Shows::nothing);
  CHECK(progress.line(250, 5'000'000'000, 30) ==
        "run [######..................]  25 % of 1.00 k, 8.33/s, simulated 5.00 ms, 1:30 left");
  CHECK(progress.line(0, 0, 0) == "run [........................]   0 % of 1.00 k, ? left");
  CHECK(progress.line(1, 0, 30) == "run [........................]   0 % of 1.00 k, 0.03/s, 8:19:30 left");
  const Progress open("run", 0, Progress::Shows::nothing);
  CHECK(open.line(12'345, 0, 3) == "run 12.3 k, 4.12 k/s, 3 s");
}

TEST_CASE("a phase of more than a minute is announced") {
  const Progress progress("run", 1'000'000, Progress::Shows::nothing);
  CHECK(progress.estimate(10'000, 2) == "run: 1.00 M requests, about 3:20 in all");
  CHECK(progress.estimate(100'000, 2).empty());
  CHECK(progress.estimate(0, 2).empty());
  CHECK(Progress("run", 0, Progress::Shows::nothing).estimate(10'000, 2).empty());
}

}  // namespace tlmssd
