// Binary blktrace (struct blk_io_trace), and text of perf script and biosnoop: hand-made from their
// documented layouts.
#include <boost/iostreams/filter/gzip.hpp>
#include <catch2/catch.hpp>
#include <cstring>

#include "testbench/tests/loads/compressed.h"
#include "testbench/tests/loads/files.h"

namespace tlmssd::test {
namespace {

constexpr std::uint32_t k_read = 1U << 16U;
constexpr std::uint32_t k_write = 1U << 17U;
constexpr std::uint32_t k_flush = 1U << 18U;
constexpr std::uint32_t k_notice = 1U << 26U;
constexpr std::uint32_t k_discard = 1U << 29U;
constexpr std::uint32_t k_forced = 1U << 31U;
constexpr std::uint32_t k_queued = 1;
constexpr std::uint32_t k_issued = 7;
constexpr std::uint32_t k_completed = 8;

/// One record; `swapped`: recorded on a machine of the other byte order.
std::string record(std::uint64_t time, std::uint64_t sector, std::uint32_t bytes, std::uint32_t action,
                   const std::string& pdu = {}, bool swapped = false) {
  std::string text;
  const auto put = [&](auto value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    if (swapped) std::reverse(raw, raw + sizeof value);
    text.append(raw, sizeof value);
  };
  put(std::uint32_t{0x65617407});
  put(std::uint32_t{1});
  put(time);
  put(sector);
  put(bytes);
  put(action);
  put(std::uint32_t{77});
  put(std::uint32_t{(8U << 20U) | 16U});
  put(std::uint32_t{0});
  put(std::uint16_t{0});
  put(static_cast<std::uint16_t>(pdu.size()));
  REQUIRE(text.size() == 48);
  return text + pdu;
}

std::vector<Request> all_of(TraceReader& reader) {
  std::vector<Request> requests;
  Request request;
  while (reader.next(request)) requests.push_back(request);
  return requests;
}

TraceFile file_of(const std::string& path) {
  TraceFile file;
  file.path = path;
  return file;
}

}  // namespace

TEST_CASE("binary blktrace: operations, actions and notices") {
  for (const bool swapped : {false, true}) {
    const std::string bytes = record(0, 0, 0, k_notice | 1, "fio\0\0", swapped) +
                              record(1000, 8, 4096, k_read | k_queued, {}, swapped) +
                              record(2000, 8, 4096, k_read | k_issued, {}, swapped) +
                              record(3000, 800, 8192, k_write | k_forced | k_issued, "some text", swapped) +
                              record(4000, 8, 4096, k_read | k_completed, {}, swapped) +
                              record(5000, 0, 0, k_write | k_flush | k_issued, {}, swapped) +
                              record(6000, 1600, 65536, k_write | k_discard | k_issued, {}, swapped);
    const std::vector<Request> requests = read_text(bytes);
    REQUIRE(requests.size() == 4);
    CHECK(requests[0].opcode == HostOpcode::read);
    CHECK(requests[0].offset == 4096);
    CHECK(requests[0].bytes == 4096);
    CHECK(requests[1].opcode == HostOpcode::write);
    CHECK(requests[1].force_unit_access);
    CHECK(requests[1].bytes == 8192);
    CHECK(requests[1].time == 1'000'000);
    CHECK(requests[2].opcode == HostOpcode::flush);
    CHECK(requests[3].opcode == HostOpcode::trim);
    CHECK(requests[3].time == 4'000'000);
    TraceFile queued;
    queued.blkparse.action = "Q";
    CHECK(read_text(bytes, "blkparse", queued).size() == 1);
  }
}

TEST_CASE("binary blktrace: the files of all processors in order of time") {
  const Folder folder;
  const std::string first = folder.write(
      "sda.blktrace.0", record(1000, 8, 512, k_read | k_issued) + record(5000, 40, 512, k_read | k_issued));
  static_cast<void>(folder.write("sda.blktrace.1", record(2000, 16, 512, k_write | k_issued)));
  static_cast<void>(folder.write("sda.blktrace.2", ""));
  static_cast<void>(folder.write("sda.blktrace.10", record(3000, 24, 512, k_read | k_issued)));
  static_cast<void>(folder.write("sdb.blktrace.0", record(1, 9999, 512, k_read | k_issued)));
  TraceReader reader(file_of(first));
  const std::vector<Request> requests = all_of(reader);
  REQUIRE(requests.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) CHECK(requests[i].offset == (i + 1) * 8 * 512);
  CHECK(requests[3].offset == 40U * 512);
  CHECK(reader.description().find("binary blktrace") != std::string::npos);
  // Compressed ones are a series of their own.
  const std::string packed =
      folder.write("sda.blktrace.0.gz",
                   compressed<boost::iostreams::gzip_compressor>(record(1000, 8, 512, k_read | k_issued)));
  static_cast<void>(folder.write("sda.blktrace.1.gz", compressed<boost::iostreams::gzip_compressor>(
                                                          record(500, 16, 512, k_write | k_issued))));
  TraceReader unpacked(file_of(packed));
  const std::vector<Request> both = all_of(unpacked);
  REQUIRE(both.size() == 2);
  CHECK(both[0].opcode == HostOpcode::write);
  CHECK(both[1].offset == 8U * 512);
  CHECK(unpacked.description().find("binary blktrace") != std::string::npos);
  // A file by another name stands for itself.
  TraceReader alone(file_of(folder.write("alone", record(1000, 8, 512, k_read | k_issued))));
  CHECK(all_of(alone).size() == 1);
}

TEST_CASE("binary blktrace that is damaged is refused") {
  const std::string whole = record(1000, 8, 512, k_read | k_issued, "12345678");
  const auto message = [](const std::string& bytes) { return message_of([&] { read_text(bytes); }); };
  CHECK(message(whole + whole.substr(0, 20)).find("cut off") != std::string::npos);
  CHECK(message(whole.substr(0, 52)).find("cut off") != std::string::npos);
  CHECK(message(whole + std::string(48, 'x')).find("magic") != std::string::npos);
  std::string other = whole;
  other[0] = 6;
  CHECK(message(other).find("version 6") != std::string::npos);
}

TEST_CASE("perf script text: the event of the first request") {
  const std::string text =
      "# comment\n"
      "     kworker/u8:1-ev   123 [001]    93.004721: block:block_rq_issue: 259,0 WS 4096 () 81920 + 8 "
      "[fio]\n"
      "     fio   812 [000]    93.004800: block:block_rq_complete: 259,0 WS () 81920 + 8 [0]\n"
      "     my fio   812 [000]    93.004900: block:block_rq_issue: 259,0 R 512 () 7 + 1 none,0,0 [my fio]\n"
      "     fio   812 [000]    93.004950: sched:sched_switch: prev_comm=fio ==> next_comm=x\n"
      "     fio   812 [000]    93.005000: block:block_rq_issue: 259,0 FF 0 () 0 + 0 [fio]\n"
      "     fio   812 [000]    93.005100: block:block_rq_issue: 259,0 WFS 1024 () 9 + 2 [fio]\n";
  const std::vector<Request> requests = read_text(text);
  REQUIRE(requests.size() == 4);
  CHECK(requests[0].opcode == HostOpcode::write);
  CHECK(requests[0].offset == 81920U * 512);
  CHECK(requests[0].bytes == 4096);
  CHECK(requests[1].opcode == HostOpcode::read);
  CHECK(requests[1].time == 179'000'000);
  CHECK(requests[1].bytes == 512);
  CHECK(requests[2].opcode == HostOpcode::flush);
  CHECK(requests[3].force_unit_access);
  // ftrace's own text, and the block layer's older event.
  const std::string ftrace = "  fio-812  [000] d..1.  93.5: block_bio_queue: 8,16 RA 2048 + 16 [fio]\n";
  CHECK(read_text(ftrace).at(0).bytes == 8192);
  CHECK(message_of([&] { read_text(ftrace + "garbage\n", "perf-script"); }).find("t:2: field event") == 0);
}

TEST_CASE("biosnoop text: times are those of the submission") {
  const std::string text =
      "TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  LAT(ms)\n"
      "0.002000    supervise      1950   xvda1     W 13092560   4096      2.00\n"
      "0.002500    two words      1951   xvda1     R 8          512       0.50\n";
  const std::vector<Request> requests = read_text(text);
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].opcode == HostOpcode::write);
  CHECK(requests[0].offset == 13092560ULL * 512);
  CHECK(requests[1].time == 2'000'000'000);
  CHECK(requests[1].bytes == 512);
  const std::string queued =
      "TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  QUE(ms) LAT(ms)\n"
      "0.010000    a              1950   sda       W 16         4096   1.00 2.00\n"
      "0.010000    a              1950   sda       W 16         4096   0.00 1.00\n";
  CHECK(read_text(queued).at(1).time == 2'000'000'000);
  CHECK(message_of([&] { read_text("0.1 a 1 sda W 16 4096\n", "biosnoop"); }).find("t:1: field") == 0);
}

TEST_CASE("biosnoop text: requests come in order of their start, not of their completion") {
  const std::string text =
      "0.001 a 1 sda R 8 512 0.10\n"
      "0.003 a 1 sdb R 16 512 0.20\n"
      "0.004 a 1 sda W 24 512 4.00\n"
      "0.005 a 1 sda R 32 512 2.20\n";
  TraceReader reader({}, "t", text);
  const std::vector<Request> requests = all_of(reader);
  REQUIRE(requests.size() == 4);
  CHECK(requests[0] == Request{HostOpcode::write, false, 0, 24 * 512, 512, 0});
  CHECK(requests[1] == Request{HostOpcode::read, false, 0, 8 * 512, 512, 900'000'000});
  // Of equal times the first line.
  CHECK(requests[2] == Request{HostOpcode::read, false, 1, 16 * 512, 512, 2'800'000'000});
  CHECK(requests[3] == Request{HostOpcode::read, false, 0, 32 * 512, 512, 2'800'000'000});
  CHECK(reader.out_of_order() == 0);
  CHECK(reader.where() == "t:4");
  CHECK(reader.volumes() == std::vector<std::string>{"sda", "sdb"});
  CHECK(reader.description() == "biosnoop (recognised), times less latencies, put in order of their times");
  TraceReader first({}, "t", text);
  Request request;
  REQUIRE(first.next(request));
  CHECK(first.where() == "t:3");
  // A line is out of the reach of max_disorder, or of what may wait.
  TraceFile strict;
  strict.config.max_disorder = 2'000'000'000;
  CHECK(message_of([&] {
          read_text(text, "biosnoop", strict);
        }).find("t:3: field time: lies 0.0028 s before") == 0);
  for (const std::size_t before : {TraceReader::k_most_waiting - 1, TraceReader::k_most_waiting}) {
    std::string many;
    for (std::size_t i = 1; i <= before; ++i)
      many += std::to_string(static_cast<double>(i) * 1e-3) + " a 1 sda R 8 512 0.1\n";
    const std::string end = std::to_string(before + 1);  // milliseconds
    many += std::to_string(static_cast<double>(before + 1) * 1e-3) + " a 1 sda W 8 512 " + end + "\n";
    TraceFile wide;
    wide.config.max_disorder = 1'000'000'000'000'000;
    wide.config.format = "biosnoop";
    TraceReader many_lines(wide, "t", many);
    REQUIRE(all_of(many_lines).size() == before + 1);
    CHECK(many_lines.out_of_order() == (before == TraceReader::k_most_waiting ? 1 : 0));
  }
}

}  // namespace tlmssd::test
