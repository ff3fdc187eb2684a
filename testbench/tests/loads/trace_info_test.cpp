// Figures of traces: tiny ones worked out by hand, and the real ones against what is known of them.
#include "testbench/loads/traces/trace_info.h"

#include <catch2/catch.hpp>

#include "files.h"
#include "testbench/loads/traces/footprint.h"

using namespace tlmssd;
using namespace tlmssd::test;
using namespace tlmssd::literals;

namespace {

TraceInfo info_of(const std::string& text) {
  TraceReader reader({}, "t", text);
  return inspect_trace(reader);
}

struct Known {
  const char* file;
  std::uint64_t transfers;
  std::uint64_t trims;
  double write_percent;  // to one digit
  double footprint_mib;  // in 4 KiB pages, within the rounding of the known figure
  double tolerance_mib;
  double written_gib;  // 0: not known
};

}  // namespace

TEST_CASE("figures of a tiny trace") {
  const TraceInfo info = info_of(
      "0,h,0,Write,0,4096,0\n"
      "10,h,0,Write,4096,4096,0\n"          // sequential
      "20,h,0,Write,0,512,0\n"              // overwrites, not 4 KiB aligned
      "30,h,0,Read,1048576,8192,0\n"        //
      "25,h,1,Read,100,100,0\n"             // another volume, out of order, not even sectors
      "10000000,h,0,Discard,0,1048576,0\n"  // 1 s
  );
  CHECK(info.requests() == 6);
  CHECK(info.transfers() == 5);
  CHECK(info.of(HostOpcode::write).requests == 3);
  CHECK(info.of(HostOpcode::write).bytes == 8704);
  CHECK(info.of(HostOpcode::write).aligned_4k == 2);
  CHECK(info.of(HostOpcode::read).aligned_512 == 1);
  CHECK(info.of(HostOpcode::trim).bytes == 1048576);
  CHECK(info.span == 1_s);
  CHECK(info.requests_per_second() == Approx(6));
  CHECK(info.out_of_order == 1);
  CHECK(info.largest_disorder == 500_ns);
  CHECK(info.sequential == 1);
  CHECK(info.footprint == 8192 + 8192 + 512);
  CHECK(info.footprint_4k == 2 + 2 + 1);
  CHECK(info.written_footprint == 8192);
  CHECK(info.overwrite_rate() == Approx(8704.0 / 8192));
  CHECK(info.size_min == 100);
  CHECK(info.size_max == 8192);
  CHECK(info.size_p50 == 4096);
  CHECK(info.size_p99 == 8192);
  CHECK(info.sizes.front().bytes == 4096);
  REQUIRE(info.volumes.size() == 2);
  CHECK(info.volumes[0].name == "h.0");
  CHECK(info.volumes[0].end == 1048576 + 8192);
  CHECK(info.volumes[1].end == 200);
  CHECK_THAT(to_text(info),
             Catch::Contains("60.0 % of reads and writes are writes") && Catch::Contains("msr (recognised)"));
  CHECK_THAT(to_json(info), Catch::Contains("\"footprint_bytes\": 16896"));
}

TEST_CASE("the polarity of MQSim's format is spelled out") {
  const TraceInfo info = info_of("0 0 0 8 1\n0 0 8 8 1\n0 0 16 8 0\n");
  CHECK_THAT(info.polarity, Catch::Contains("1 is a read, 0 is a write") && Catch::Contains("33.3 %"));
}

TEST_CASE("a footprint of many pieces") {
  Footprint footprint;
  for (std::uint64_t i = 0; i < 20000; ++i)
    footprint.add(0, i * 1'000'000'007ULL % 20011 * 65536, 65536, i % 2 == 0);
  CHECK(footprint.touched_bytes() == 20000ULL * 65536);
  CHECK(footprint.written_bytes() == 10000ULL * 65536);
  CHECK(footprint.touched_4k() == 20000ULL * 16);
  footprint.add(1, 511, 2, true);
  CHECK(footprint.touched_bytes() == 20000ULL * 65536 + 1024);
}

TEST_CASE("the real traces have their known figures") {
  const Known known[] = {
      // the known figure says 1.05 GiB; an independent count of the pages gives 1051.6 MiB
      {"cloudphysics/cloudphysics.csv.xz", 113872, 0, 58.7, 1051.6, 0.06, 2.24},
      {"msr_cambridge/rsrch_1.csv", 13780, 0, 99.7, 112, 0.6, 0.16},
      {"msr_cambridge/wdev_1.csv", 1055, 0, 100, 1.4, 0.06, 0},
      {"msr_cambridge/wdev_3.csv", 682, 0, 98.4, 1.2, 0.06, 0},
      {"msr_cambridge/hm_0.part-7016req.csv", 7016, 0, 17, 53, 0.6, 0},
      {"ycsb_rocksdb/ycsb_a_nvme.csv.xz", 64189, 231, 100, 1.7 * 1024, 60, 7.8},
      {"hplajw/hplajw_1week.csv.xz", 44519, 0, 70.7, 29, 0.6, 0.19},
      {"umass_spc/financial1_first10k.csv.xz", 10000, 0, 59.2, 29, 0.6, 0},
      {"umass_spc/financial1_first10k.ssdsim.ascii.xz", 10000, 0, 59.2, 29, 0.6, 0},
      {"sqlite_wal/sqlitewal-reqscale-240000-inserts.csv.xz", 19094, 905, 99.7, 65, 0.6, 0.17},
      {"mqsim/tpcc-small.trace.xz", 6999, 0, 37, 0, 0, 0},
      {"mqsim/wsrch-small.trace.xz", 24783, 0, 0, 0, 0, 0},
  };
  for (const Known& trace : known) {
    const std::string path = real_trace(trace.file);
    if (path.empty()) {
      WARN("skipped: the traces folder has no " << trace.file);
      continue;
    }
    INFO(trace.file);
    const TraceInfo info = inspect_trace({path, {}, {}, {}});
    const auto& writes = info.of(HostOpcode::write);
    CHECK(info.transfers() == trace.transfers);
    CHECK(info.of(HostOpcode::trim).requests == trace.trims);
    CHECK(100.0 * static_cast<double>(writes.requests) / static_cast<double>(info.transfers()) ==
          Approx(trace.write_percent)
              .margin(trace.write_percent == std::floor(trace.write_percent) ? 0.51 : 0.051));
    if (trace.footprint_mib > 0) {
      CHECK(static_cast<double>(info.footprint_4k) / 256 ==
            Approx(trace.footprint_mib).margin(trace.tolerance_mib));
    }
    if (trace.written_gib > 0) {
      CHECK(static_cast<double>(writes.bytes) / 0x1p30 ==
            Approx(trace.written_gib).margin(trace.written_gib > 5 ? 0.051 : 0.0051));
    }
  }
}

TEST_CASE("financial1 gives the same requests in both formats") {
  const std::string csv = real_trace("umass_spc/financial1_first10k.csv.xz");
  const std::string ascii = real_trace("umass_spc/financial1_first10k.ssdsim.ascii.xz");
  if (csv.empty() || ascii.empty()) {
    WARN("skipped: the traces folder has no financial1");
    return;
  }
  TraceReader a({csv, {}, {}, {}});
  TraceReader b({ascii, {}, {}, {}});
  Request from_csv;
  Request from_ascii;
  while (a.next(from_csv)) {
    REQUIRE(b.next(from_ascii));
    // The CSV keeps ticks of 100 ns, the other nanoseconds: times agree to a tick, all else
    // exactly.
    REQUIRE(std::abs(from_csv.time - from_ascii.time) < 100_ns);
    from_ascii.time = from_csv.time;
    REQUIRE(from_csv == from_ascii);
  }
  CHECK_FALSE(b.next(from_ascii));
}
