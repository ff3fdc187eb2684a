// Each trace format on a few hand-made lines.
#include <catch2/catch.hpp>

#include "files.h"

using namespace tlmssd;
using namespace tlmssd::test;
using namespace tlmssd::literals;

namespace {

std::string understood(const std::string& text) {
  TraceReader reader({}, "t", text);
  Request request;
  while (reader.next(request)) {
  }
  return reader.description();
}

}  // namespace

TEST_CASE("MSR files with Windows file time count from the first request") {
  const std::string text =
      "128166372003061629,src1,0,Read,1024,4096,413\n"
      "128166372003061630,src1,1,Write,0,512,72\n"
      "128166372013061629,src1,0,Write,8192,8192,72\n";
  const auto requests = read_text(text);
  REQUIRE(requests.size() == 3);
  CHECK(requests[0] == Request{HostOpcode::read, false, 0, 1024, 4096, 0});
  CHECK(requests[1] == Request{HostOpcode::write, false, 1, 0, 512, 100_ns});
  CHECK(requests[2] == Request{HostOpcode::write, false, 0, 8192, 8192, 1_s});
  CHECK(understood(text) == "msr (recognised), times are Windows file time");
}

TEST_CASE("MSR files with ticks from 0, discards and a header row") {
  const std::string text =
      "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\r\n"
      "0,nvme0n1,0,Discard,196608,121036800,0\r\n"
      "\r\n"
      "10,nvme0n1,0,Write,0,4096,0";
  const auto requests = read_text(text);
  REQUIRE(requests.size() == 2);
  CHECK(requests[0] == Request{HostOpcode::trim, false, 0, 196608, 121036800, 0});
  CHECK(requests[1] == Request{HostOpcode::write, false, 0, 0, 4096, 1_us});
  CHECK(understood(text) == "msr (recognised), times are ticks of 100 ns, header row");
}

TEST_CASE("MQSim: operation 1 is a read") {
  const auto requests = read_text("938513000 4 264719034 16 0\n938513007 5 8 2 1\n");
  REQUIRE(requests.size() == 2);
  CHECK(requests[0] == Request{HostOpcode::write, false, 0, 264719034ULL * 512, 8192, 0});
  CHECK(requests[1] == Request{HostOpcode::read, false, 1, 4096, 1024, 7_ns});
}

TEST_CASE("SPC: seconds with fractions, 512 B addresses, byte sizes") {
  const auto requests = read_text("0,20941264,8192,W,0.551706\n1,10,512,r,0.554041,more\n");
  REQUIRE(requests.size() == 2);
  CHECK(requests[0] == Request{HostOpcode::write, false, 0, 20941264ULL * 512, 8192, 0});
  CHECK(requests[1] == Request{HostOpcode::read, false, 1, 5120, 512, 2335_us});
}

TEST_CASE("Alibaba and Tencent") {
  const auto alibaba = read_text("419,W,8792731648,16384,1577808144360767\n725,R,0,4096,1577808144360768\n");
  REQUIRE(alibaba.size() == 2);
  CHECK(alibaba[0] == Request{HostOpcode::write, false, 0, 8792731648, 16384, 0});
  CHECK(alibaba[1] == Request{HostOpcode::read, false, 1, 0, 4096, 1_us});
  const auto tencent = read_text("1538323200,12910952,128,0,1063\n1538323202,8,8,1,1064\n");
  REQUIRE(tencent.size() == 2);
  CHECK(tencent[0] == Request{HostOpcode::read, false, 0, 12910952ULL * 512, 65536, 0});
  CHECK(tencent[1] == Request{HostOpcode::write, false, 1, 4096, 4096, 2_s});
}

TEST_CASE("fio I/O log version 3 has times in microseconds") {
  const auto requests = read_text(
      "fio version 3 iolog\n0 /dev/sdb add\n1 /dev/sdb open\n7 /dev/sdb write 4096 8192\n9 /dev/sdb trim 0 "
      "4096\n"
      "12 /dev/sdb datasync 0 0\n15 /dev/sdb read 0 512\n15 /dev/sdb close\n");
  REQUIRE(requests.size() == 4);
  CHECK(requests[0] == Request{HostOpcode::write, false, 0, 4096, 8192, 0});
  CHECK(requests[1] == Request{HostOpcode::trim, false, 0, 0, 4096, 2_us});
  CHECK(requests[2] == Request{HostOpcode::flush, false, 0, 0, 0, 5_us});
  CHECK(requests[3] == Request{HostOpcode::read, false, 0, 0, 512, 8_us});
}

TEST_CASE("fio I/O log version 2 has no times but its waits") {
  TraceReader without({}, "t",
                      "fio version 2 iolog\n/dev/sdb add\n/dev/sdb read 0 512\n/dev/sdb read 0 512\n");
  Request request;
  while (without.next(request)) CHECK(request.time == 0);
  CHECK_FALSE(without.has_times());
  const auto waits = read_text(
      "fio version 2 iolog\n/d read 0 512\n/d wait 250 0\n/d read 0 512\n/d wait 50 0\n/d read 0 512\n");
  REQUIRE(waits.size() == 3);
  CHECK(waits[1].time == 250_us);
  CHECK(waits[2].time == 300_us);
}

TEST_CASE("blkparse text: one action, flushes, discards, forced unit access, summary") {
  const std::string text =
      "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n"
      "  8,0    3        2     0.000001829   697  Q  WS 223490 + 8 [kjournald]\n"
      "  8,0    3        3     0.000005197   697  D  WS 223490 + 8 [kjournald]\n"
      "  8,0    3        4     0.000006197   697  D FWFS 8 + 8 [kjournald]\n"
      "  8,0    3        5     0.000007000     0  D  DS 16 + 1024 [fstrim]\n"
      "  8,0    3        6     0.000008000     0  D  FN [kworker]\n"
      "  8,0    3        7     0.000008500     0  D   N 0 (12 00 00 00 ..) [smartd]\n"
      "  8,0    3        8     0.000009197   697  C  WS 223490 + 8 [0]\n"
      "  8,0    3        9     0.000010197   697  D   R 0 + 1 [cat]\n"
      "  8,0    3        0     0.000011197     0  m   N cfq697 slice expired\n"
      "CPU0 (8,0):\n Reads Queued:           1,        1KiB\n\nTotal (8,0):\nThroughput (R/W): "
      "1KiB/s\nSkips: 0\n";
  const auto issued = read_text(text);
  REQUIRE(issued.size() == 5);
  CHECK(issued[0] == Request{HostOpcode::write, false, 0, 223490ULL * 512, 4096, 0});
  CHECK(issued[1] == Request{HostOpcode::write, true, 0, 4096, 4096, 1_us});
  CHECK(issued[2] == Request{HostOpcode::trim, false, 0, 8192, 524288, 1803_ns});
  CHECK(issued[3] == Request{HostOpcode::flush, false, 0, 0, 0, 2803_ns});
  CHECK(issued[4] == Request{HostOpcode::read, false, 0, 0, 512, 5_us});
  TraceFile queued;
  queued.blkparse.action = "Q";
  CHECK(read_text(text, "blkparse", queued).size() == 1);
}

TEST_CASE("blkparse text: a write without data that flushes first is a flush") {
  const std::string text =
      "  8,0    3        1     0.000000000   697  Q FWS [jbd2/sda1-8]\n"
      "  8,0    3        2     0.000001000   697  Q FWFS 16 + 8 [jbd2/sda1-8]\n"
      "  8,0    3        3     0.000002000     0  C FWS 0 [0]\n"
      "  8,0    3        4     0.000003000     0  C FWFS 16 + 8 [0]\n"
      "  8,0    3        5     0.000004000   697  Q FWS 0 + 0 [jbd2/sda1-8]\n"
      "  8,0    3        6     0.000005000   697  Q FWS\n";
  const Request flush{HostOpcode::flush, false, 0, 0, 0, 0};
  const auto at = [](Request request, Picoseconds time) {
    request.time = time;
    return request;
  };
  TraceFile file;
  file.blkparse.action = "Q";
  CHECK(read_text(text, "blkparse", file) ==
        std::vector{flush, Request{HostOpcode::write, true, 0, 8192, 4096, 1_us}, at(flush, 4_us),
                    at(flush, 5_us)});
  file.blkparse.action = "C";
  CHECK(read_text(text, "blkparse", file) ==
        std::vector{flush, Request{HostOpcode::write, true, 0, 8192, 4096, 1_us}});
  file.blkparse.action = "Q";
  CHECK_THROWS_WITH(read_text("  8,0 3 1 0.0 697 Q WS [kworker]\n", "blkparse", file),
                    Catch::Contains("field sector"));
}

TEST_CASE("csv with a column map") {
  TraceFile file;
  file.columns = ColumnsConfig{};
  file.columns->time = 1;
  file.columns->op = 4;
  file.columns->offset = 5;
  file.columns->size = 6;
  file.columns->device = 2;
  file.columns->time_unit = "us";
  file.columns->offset_unit = 512;
  file.columns->size_unit = 4096;
  file.columns->read = "0";
  file.columns->write = "1,2";
  file.columns->separator = "semicolon";
  const auto requests = read_text("when;disk;x;op;lba;n\n5.5;a;;0;1;1\n6;b; ;2 ;2;3\n", "csv", file);
  REQUIRE(requests.size() == 2);
  CHECK(requests[0] == Request{HostOpcode::read, false, 0, 512, 4096, 0});
  CHECK(requests[1] == Request{HostOpcode::write, false, 1, 1024, 12288, 500_ns});
  file.columns->header_lines = 2;
  file.columns->separator = "blank";
  CHECK(read_text("1 2 3\n junk\n1 a - 0 1 1\n", "csv", file).size() == 1);
  // Titles among them are one of them, and titles behind them are passed over, too.
  file.columns->header_lines = 1;
  CHECK(read_text("when disk x op lba n\n1 a - 0 1 1\n2 a - 0 1 1\n", "csv", file).size() == 2);
  CHECK(read_text("from 1 host\nwhen disk x op lba n\n1 a - 0 1 1\n2 a - 0 1 1\n", "csv", file).size() == 2);
}

TEST_CASE("fields of a table may be in quotes") {
  TraceFile file;
  file.columns = ColumnsConfig{};
  file.columns->op = 1;
  file.columns->device = 2;
  file.columns->offset = 3;
  file.columns->size = 4;
  file.columns->read = "R";
  file.columns->write = "W";
  const std::vector<Request> rows = {{HostOpcode::read, false, 0, 0, 512, 0},
                                     {HostOpcode::write, false, 1, 512, 512, 0}};
  CHECK(read_text("\"R\",\"a,\"\"1\"\"\",0,\"512\"\n \"W\" ,b,\" 512 \",512\n", "csv", file) == rows);
  CHECK_THROWS(read_text("\"R,a,0,512\n", "csv", file));
  CHECK_THROWS(read_text("\"R\"x,a,0,512\n", "csv", file));
  file.columns->separator = "blank";
  CHECK(read_text("\"R\" \"a 1\" 0 \"512\"\n\"W\"  b 512 512\n", "csv", file) == rows);
  file.columns->separator = "tab";
  CHECK(read_text("\"R\"\t\"a\t1\"\t0\t\"512\"\n\"W\"\tb\t512\t512\n", "csv", file) == rows);
}

TEST_CASE("small disorder is put right and counted") {
  TraceReader reader({}, "t",
                     "100,a,0,Read,0,512,0\n300,a,0,Read,0,512,0\n200,a,0,Read,0,512,0\n50,a,0,Read,0,512,"
                     "0\n250,a,0,Read,0,512,0\n400,a,0,Read,0,512,0\n");
  std::vector<Picoseconds> times;
  Request request;
  while (reader.next(request)) times.push_back(request.time);
  CHECK(times == std::vector<Picoseconds>{0, 20_us, 20_us, 20_us, 20_us, 30_us});
  CHECK(reader.out_of_order() == 3);
  CHECK(reader.largest_disorder() == 25_us);
}

TEST_CASE("rows of a table are put in order of their times") {
  TraceFile file;
  file.columns.emplace();
  file.columns->time = 4;
  const auto requests = read_text("R,0,512,3\nW,512,512,1\nR,1024,512,3\nR,1536,512,2\n", "csv", file);
  REQUIRE(requests.size() == 4);
  CHECK(requests[0] == Request{HostOpcode::write, false, 0, 512, 512, 0});
  CHECK(requests[1] == Request{HostOpcode::read, false, 0, 1536, 512, 1_s});
  CHECK(requests[2] == Request{HostOpcode::read, false, 0, 0, 512, 2_s});
  CHECK(requests[3] == Request{HostOpcode::read, false, 0, 1024, 512, 2_s});
}

TEST_CASE("every format has a name, a summary and is made by its name") {
  BlkparseConfig blkparse;
  const ColumnsConfig columns;
  std::vector<std::string> names;
  for (const TraceFormatInfo& info : trace_formats()) {
    CHECK_FALSE(info.summary.empty());
    CHECK(info.make(blkparse, &columns) != nullptr);
    names.emplace_back(info.name);
  }
  CHECK(names == std::vector<std::string>{"fio-iolog", "blkparse", "perf-script", "biosnoop", "msr", "spc",
                                          "alibaba", "tencent", "mqsim", "csv"});
}

TEST_CASE("comments and blank lines in tables are passed over, and tell no format") {
  const std::string lines = "10,h,0,Read,0,512,0\n\n# one more\n20,h,0,Write,512,512,0\n";
  for (const char* const format : {"auto", "msr"}) {
    const auto requests = read_text("# recorded on a Monday\n#\n" + lines, format);
    REQUIRE(requests.size() == 2);
    CHECK(requests[1].time == 10 * 100'000);
  }
  std::string text;
  for (int i = 0; i < 100; ++i) text += "# " + std::to_string(i) + "\n";
  TraceReader reader(TraceFile{}, "t", text + lines);
  CHECK(reader.format().name == "msr");
  CHECK(message_of([&] {
          read_text("# a\nwhat,is,this\n");
        }).find("the format is not recognised from the line \"what,is,this\"") != std::string::npos);
}
