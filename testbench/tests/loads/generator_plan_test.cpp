// What a job's words come to before its first request: sizes, regions, passes, and what is refused.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "drive_size.h"
#include "files.h"
#include "testbench/loads/generator/generator.h"

using namespace tlmssd;
using namespace tlmssd::test;
using namespace tlmssd::literals;

namespace {

std::string plan_refused(const GeneratorConfig& config) {
  return message_of([&] { plan_generator(config, k_drive, FioUnits::scenario, 0); });
}

}  // namespace

TEST_CASE("sizes without a share have equal parts of what is left, all of it") {
  const auto shares = [](const char* text) {
    GeneratorConfig config;
    config.bssplit = text;
    std::vector<std::uint32_t> percents;
    const GeneratorPlan plan = plan_generator(config, k_drive, FioUnits::scenario, 0);
    for (const auto& share : plan.sizes[0]) percents.push_back(share.percent);
    return percents;
  };
  using Percents = std::vector<std::uint32_t>;
  CHECK(shares("4k/:8k/:16k/") == Percents{33, 33, 34});
  CHECK(shares("4k/50:8k/:16k/:32k/") == Percents{50, 16, 17, 17});
  CHECK(shares("4k/100:8k/") == Percents{100, 0});
}

TEST_CASE("a mean request, the largest write and a pass are what the sizes and their order make them") {
  GeneratorConfig config;
  config.rw = "randwrite";
  config.bsrange = "4k-64k";
  CHECK(plan_generator(config, k_drive, FioUnits::scenario, 0).request_bytes(1) == (4096 + 65536) / 2);
  CHECK(plan_generator(config, k_drive, FioUnits::scenario, 0).writes()->largest == 65536);
  config.bsrange.clear();
  config.bssplit = "4k/75:8k/25:1m/0";
  CHECK(plan_generator(config, k_drive, FioUnits::scenario, 0).request_bytes(1) == 4096 * 0.75 + 8192 * 0.25);
  CHECK(plan_generator(config, k_drive, FioUnits::scenario, 0).writes()->largest == 8192);
  // The rest of a region that holds no request is left out where it goes in order or by the map
  // alone.
  config = {};
  config.rw = "randwrite";
  config.bs = "4k";
  config.size = "10k";
  const auto pass = [&config] { return plan_generator(config, k_drive, FioUnits::scenario, 0).io_bytes; };
  config.norandommap = false;
  CHECK(pass() == 8192);
  config.percentage_random = "50";
  CHECK(pass() == 10240);
  config.percentage_random = "100";
  config.norandommap = true;
  CHECK(pass() == 10240);
}

TEST_CASE("shares of the drive come out in whole smallest requests, as in fio") {
  GeneratorConfig config;
  const auto plan = [&](std::uint32_t job = 0) {
    return plan_generator(config, k_drive, FioUnits::scenario, job);
  };
  config.offset = "30%";  // 4915.2 times 4 KiB
  CHECK(plan().offset == 4916 * 4_KiB);
  CHECK(plan().size == 64_MiB - 4916 * 4_KiB);
  config.bs = "128k,4k";
  CHECK(plan().offset == 4916 * 4_KiB);
  config.bs = "128k";
  CHECK(plan().offset == 154 * 128_KiB);
  config.offset = "0";
  config.size = "30%";
  CHECK(plan().size == 153 * 128_KiB);
  config.numjobs = 4;
  config.offset_increment = "20%";
  config.size = "10m";
  CHECK(plan(1).offset == 103 * 128_KiB);
  CHECK(plan(1).size == 10_MiB);  // no request less than the other jobs have
  config = {};
  config.offset = "80%";
  config.size = "20%";
  CHECK(plan().offset == 13108 * 4_KiB);
  CHECK(plan().size == 3276 * 4_KiB);
  config.size = "13421772";  // ends on the drive, where it was not for rounding
  CHECK(plan().size == 3276 * 4_KiB);
  config.offset = "99.999999%";
  CHECK(message_of([&] { plan(); }) == "offset: job 0 begins beyond the drive's 67108864 B");
  config.offset = "40%";
  config.offset_increment = "30%";
  config.size = "4k";
  CHECK(message_of([&] { plan(2); }) == "offset_increment: job 2 begins beyond the drive's 67108864 B");
  config.offset_increment = "0";
  config.offset = "512";  // bytes are taken at their word
  config.size = "1m";
  CHECK(plan().offset == 512);
}

TEST_CASE("a size that a range names and never draws is told") {
  GeneratorConfig config;
  const auto notice = [&](const std::string& range) {
    config.bsrange = range;
    return plan_generator(config, k_drive, FioUnits::scenario, 0).range_notice();
  };
  CHECK(notice("4k-6k") == "bsrange: 6144 B is never drawn: sizes are multiples of 4096 B, up to 4096 B");
  CHECK(notice("4k-15k") == "bsrange: 15360 B is never drawn: sizes are multiples of 4096 B, up to 12288 B");
  CHECK(notice("4k-16k").empty());
  config.rw = "write";
  CHECK(notice("4k-6k,4k-8k").empty());  // it does not read
}

TEST_CASE("jobs that cannot be") {
  GeneratorConfig config;
  config.rw = "randwrit";
  CHECK_THAT(plan_refused(config), Catch::StartsWith("rw: \"randwrit\" is no pattern") &&
                                       Catch::Contains("did you mean 'randwrite'"));
  config.rw = "randread:8";
  CHECK(plan_refused(config) ==
        "rw: the modifier \":8\" of \"randread:8\" is not supported, expected randread alone");
  config = {};
  config.rate_iops = "5000000000000";
  CHECK(plan_refused(config) ==
        "rate_iops: 5000000000000 is too large, expected at most 1000000000000 requests per second");
  config = {};
  config.rate = "5000000000000";
  CHECK(plan_refused(config) ==
        "rate: 5000000000000 is too large, expected at most 1000000000000 bytes per second");
  config = {};
  config.percentage_random = "101";
  CHECK(plan_refused(config) == "percentage_random: 101 is too large, expected 0 to 100 per cent");
  config = {};
  config.bs = "512m";
  CHECK(plan_refused(config) ==
        fmt::format("bs: 536870912 B are more than the {0} B that the load works on, expected at "
                    "most {0} B",
                    k_drive.bytes));
  config.size = "50%";
  CHECK(plan_refused(config) == fmt::format("size: {} B holds no request of 536870912 B", k_drive.bytes / 2));
  config = {};
  config.bs = "1000";
  CHECK(plan_refused(config) ==
        "bs: 1000 B is not a multiple of the drive's logical block of 512 B; nearest valid: 1024");
  config.rw = "write";
  config.bs = "4k,1000,8k";
  CHECK_THAT(plan_refused(config), Catch::EndsWith("valid: 4k,1024,8k"));
  config = {};
  config.bssplit = "1000/20:4k/80";
  CHECK(plan_refused(config) ==
        "bssplit: 1000 B is not a multiple of the drive's logical block of 512 B; nearest valid: "
        "1024/20:4k/80");
  config = {};
  config.bsrange = "700-4k";
  CHECK_THAT(plan_refused(config),
             Catch::StartsWith("bsrange: 700 B is") && Catch::EndsWith("valid: 512-4k"));
  config = {};
  config.bs = "4q";
  CHECK(plan_refused(config) == "bs: \"4q\" is not understood, expected a size (4k, 128k, 1m)");
  config = {};
  config.bssplit = "4k/60:8k/50";
  CHECK(plan_refused(config) == "bssplit: the shares in \"4k/60:8k/50\" add up to 110 %, expected 100 %");
  config = {};
  config.size = "1t";
  CHECK(plan_refused(config) == "size: 1099511627776 B at offset 0 B ends beyond the drive's 67108864 B");
  config = {};
  config.offset = "64m";
  CHECK(plan_refused(config) == "offset: job 0 begins beyond the drive's 67108864 B");
  config = {};
  config.rw = "rw";
  config.rate_iops = "100,0";
  CHECK(plan_refused(config) ==
        "rate_iops: \"100,0\" leaves a direction that the job uses without a rate, expected one for each");
  config = {};
  config.random_distribution = "zipf:-1";
  CHECK_THAT(plan_refused(config),
             Catch::StartsWith("random_distribution: zipf: \"-1\" is not a number above 0"));
}

TEST_CASE("sizes and times as fio writes them") {
  CHECK(fio_size("4k", FioUnits::job_1024) == 4096U);
  CHECK(fio_size("1.5M", FioUnits::job_1024) == 1572864U);
  CHECK(fio_size("4KiB", FioUnits::job_1024) == 4000U);
  CHECK(fio_size("4KiB", FioUnits::job_1000) == 4096U);
  CHECK(fio_size("4k", FioUnits::job_1000) == 4000U);
  CHECK(fio_size("4Ki", FioUnits::job_1024) == 4096U);  // as fio 3.33 does: only a whole KiB is special
  CHECK(fio_size("4Ki", FioUnits::job_1000) == 4000U);
  CHECK(fio_size("4Ki", FioUnits::scenario) == 4096U);
  CHECK(fio_size("4 KiB", FioUnits::scenario) == 4096U);
  CHECK(fio_size("4 kB", FioUnits::scenario) == 4000U);
  CHECK(fio_size("0x1000", FioUnits::scenario) == 4096U);
  CHECK_FALSE(fio_size("k", FioUnits::scenario));
  CHECK_FALSE(fio_size("-4k", FioUnits::scenario));
  CHECK_FALSE(fio_size("99999999999p", FioUnits::scenario));
  CHECK(fio_time("30", 1_s) == 30_s);
  CHECK(fio_time("500ms", 1_s) == 500_ms);
  CHECK(fio_time("2m", 1_s) == 120_s);
  CHECK_FALSE(fio_time("2x", 1_s));
}
