// Synthetic jobs in fio's words.
#include "testbench/loads/generator/generator.h"

#include <catch2/catch.hpp>
#include <map>

#include "drive_size.h"
#include "files.h"

using namespace tlmssd;
using namespace tlmssd::test;
using namespace tlmssd::literals;

namespace {

std::vector<Request> run(const GeneratorConfig& config, std::size_t most = 1'000'000,
                         DriveSize drive = k_drive) {
  Generator generator(plan_generator(config, drive, FioUnits::scenario, 0), 1);
  std::vector<Request> requests;
  Request request;
  while (requests.size() < most && generator.next(request)) requests.push_back(request);
  return requests;
}

std::string refused(const GeneratorConfig& config) {
  return message_of([&] { plan_generator(config, k_drive, FioUnits::scenario, 0); });
}

}  // namespace

TEST_CASE("sequential jobs go through their region once") {
  GeneratorConfig config;
  config.rw = "write";
  config.bs = "128k";
  config.offset = "1m";
  config.size = "1m";
  const auto requests = run(config);
  REQUIRE(requests.size() == 8);
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(requests[i] == Request{HostOpcode::write, false, 0, 1_MiB + i * 128_KiB, 128_KiB, 0});
  config.loops = 2;
  CHECK(run(config).size() == 16);
  CHECK(run(config)[8].offset == 1_MiB);
}

// Counted by fio 3.33 on a file of 2 MiB, which holds 170 such requests and a third of one.
TEST_CASE("a rest of the region that holds no request is left out as fio does") {
  GeneratorConfig config;
  config.bs = "12k";
  config.size = "2m";
  const auto count = [&](const char* rw, bool repeats) {
    config.rw = rw;
    config.norandommap = repeats;
    return run(config).size();
  };
  for (const bool repeats : {false, true}) {
    CHECK(count("read", repeats) == 170);
    CHECK(count("write", repeats) == 170);
    CHECK(count("rw", repeats) == 171);
    CHECK(count("randread", repeats) == (repeats ? 171 : 170));
    CHECK(count("randrw", repeats) == (repeats ? 171 : 170));
  }
  config.loops = 2;
  CHECK(count("read", true) == 340);
  CHECK(count("randread", true) == 342);
  CHECK(run(config)[170].offset % 12_KiB == 0);
  config.loops = 1;
  config.io_size = "3m";
  CHECK(count("read", true) == 256);
  config.io_size = "1m";
  CHECK(count("read", true) == 86);
  config.io_size.clear();
  config.bs.clear();
  config.bsrange = "4k-12k";
  Bytes sum = 0;
  config.rw = "read";
  for (const Request& request : run(config)) sum += request.bytes;
  CHECK(sum == 2_MiB);
}

TEST_CASE("sequential writes can be skipped, others are not said to be such") {
  GeneratorConfig config;
  config.rw = "write";
  config.bs = "128k";
  config.offset = "1m";
  config.size = "1000k";  // seven and a part
  config.loops = 2;
  Generator generator(plan_generator(config, k_drive, FioUnits::scenario, 0), 1);
  const SequentialRun all = generator.sequential_writes();
  CHECK(all.offset == 1_MiB);
  CHECK(all.bytes == 128_KiB);
  CHECK(all.requests == 7);
  generator.skip(5);
  CHECK(generator.sequential_writes().offset == 1_MiB + 5 * 128_KiB);
  CHECK(generator.sequential_writes().requests == 2);
  const auto requests = run(config);
  Request request;
  for (std::size_t n = 5; n < requests.size(); ++n) {
    REQUIRE(generator.next(request));
    CHECK(request == requests[n]);
  }
  CHECK_FALSE(generator.next(request));
  const auto none = [&](auto change) {
    GeneratorConfig other = config;
    change(other);
    CHECK(Generator(plan_generator(other, k_drive, FioUnits::scenario, 0), 1).sequential_writes().requests ==
          0);
  };
  none([](GeneratorConfig& c) { c.rw = "read"; });
  none([](GeneratorConfig& c) { c.rw = "randwrite"; });
  none([](GeneratorConfig& c) { c.rw = "rw"; });
  none([](GeneratorConfig& c) { c.fsync = 8; });
  none([](GeneratorConfig& c) { c.rate_iops = "1000"; });
  none([](GeneratorConfig& c) { c.bssplit = "4k/50:8k/50"; });
}

TEST_CASE("random without repeats writes every block once") {
  GeneratorConfig config;
  config.rw = "randwrite";
  config.norandommap = false;
  std::vector<int> seen(64_MiB / 4096);
  for (const Request& request : run(config)) {
    CHECK(request.offset % 4096 == 0);
    ++seen.at(request.offset / 4096);
  }
  CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
  config.rw = "randrw";  // one map for reads and writes, as in fio
  std::fill(seen.begin(), seen.end(), 0);
  for (const Request& request : run(config)) ++seen.at(request.offset / 4096);
  CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
}

TEST_CASE("rwmixread is the share of reads") {
  GeneratorConfig config;
  config.rw = "randrw";
  config.rwmixread = 70;
  config.io_size = "1g";
  config.number_ios = 200000;
  double reads = 0;
  for (const Request& request : run(config)) reads += request.opcode == HostOpcode::read ? 1 : 0;
  CHECK(std::abs(reads - 140000) < 3.3 * std::sqrt(200000 * 0.7 * 0.3));
  config.rwmixwrite = 100;
  CHECK(run(config, 100).front().opcode == HostOpcode::write);
}

TEST_CASE("bssplit shares, per direction") {
  GeneratorConfig config;
  config.rw = "randrw";
  config.bssplit = "4k/60:64k/30:128k/,8k/100";
  config.blockalign = "4k";
  config.number_ios = 200000;
  config.time_based = true;
  std::map<Bytes, double> reads;
  double total = 0;
  for (const Request& request : run(config)) {
    CHECK(request.offset + request.bytes <= 64_MiB);
    if (request.opcode == HostOpcode::write) {
      CHECK(request.bytes == 8_KiB);
      continue;
    }
    reads[request.bytes] += 1;
    total += 1;
  }
  double chi = 0;
  for (const auto& [bytes, share] :
       {std::pair{4_KiB, 0.6}, std::pair{64_KiB, 0.3}, std::pair{128_KiB, 0.1}}) {
    chi += std::pow(reads[bytes] - total * share, 2) / (total * share);
  }
  CHECK(chi < 13.8);  // 2 degrees of freedom, 0.1 %
}

TEST_CASE("bsrange draws multiples of its lower bound") {
  GeneratorConfig config;
  config.bsrange = "4k-16k";
  config.number_ios = 40000;
  config.time_based = true;
  std::map<Bytes, int> seen;
  for (const Request& request : run(config)) ++seen[request.bytes];
  CHECK(seen.size() == 4);
  for (const auto& [bytes, times] : seen) CHECK(times == Approx(10000).epsilon(0.05));
}

TEST_CASE("rates are exact to the picosecond and do not drift") {
  GeneratorConfig config;
  config.rate_iops = "3000";
  config.number_ios = 100000;
  config.time_based = true;
  const auto requests = run(config);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    REQUIRE(requests[i].time ==
            static_cast<Picoseconds>(static_cast<unsigned __int128>(i) * 1'000'000'000'000U / 3000));
  }
  config.rate_iops = "3k";  // k is fio's
  CHECK(run(config)[3072].time == 1_s);
  config.bs = "4096";
  CHECK(plan_generator(config, k_drive, FioUnits::job_1000, 0).rate_iops[0] == 3000);
  config.rate_iops = "3q";
  CHECK(refused(config) == "rate_iops: \"3q\" is not understood, expected requests per second (1000, 10k)");
  config.rate_iops.clear();
  config.rate = "1m";
  CHECK(run(config)[256].time == 1_s);
  config.rate_process = "poisson";
  CHECK(static_cast<double>(run(config).back().time) == Approx(1e5 / 256 * 1e12).epsilon(0.015));
}

TEST_CASE("rates by direction decide the mix") {
  GeneratorConfig config;
  config.rw = "randrw";
  config.rate_iops = "900,100";
  config.number_ios = 10000;
  config.time_based = true;
  int reads = 0;
  Picoseconds last = 0;
  for (const Request& request : run(config)) {
    reads += request.opcode == HostOpcode::read ? 1 : 0;
    CHECK(request.time >= last);
    last = request.time;
  }
  CHECK(std::abs(reads - 9000) <= 1);
}

TEST_CASE("a mix of nothing but reads, or writes, is no mix, whatever rates there are, as in fio") {
  GeneratorConfig config;
  config.rw = GENERATE(as<std::string>(), "rw", "randrw");
  config.rate_iops = "1000,1000";
  config.size = "1m";
  for (const int reads : {100, 0}) {
    INFO(config.rw << " " << reads);
    config.rwmixread = reads;
    const auto requests = run(config);
    REQUIRE(requests.size() == 256);  // fio 3.33: 256 reads and no write, in 256 ms
    for (const Request& request : requests)
      CHECK(request.opcode == (reads == 100 ? HostOpcode::read : HostOpcode::write));
    CHECK(requests.back().time == 255_ms);
  }
  config.rwmixwrite = 0;
  config.rate_iops = "1000,0";  // what is not done needs no rate
  CHECK(run(config).size() == 256);
}

TEST_CASE("trimwrite trims and then writes the same block") {
  for (const char* pattern : {"trimwrite", "randtrimwrite"}) {
    GeneratorConfig config;
    config.rw = pattern;
    const auto requests = run(config, 1000);
    for (std::size_t i = 0; i + 1 < requests.size(); i += 2) {
      CHECK(requests[i].opcode == HostOpcode::trim);
      CHECK(requests[i + 1].opcode == HostOpcode::write);
      CHECK(requests[i].offset == requests[i + 1].offset);
    }
  }
}

// Counted by fio 3.33 on a file of 64 MiB, as the ones below.
TEST_CASE("trimwrite trims as much as it is asked for and writes as much") {
  using Counts = std::pair<std::size_t, std::size_t>;
  const auto count = [](const GeneratorConfig& config) {
    Counts counts;
    for (const Request& request : run(config))
      ++(request.opcode == HostOpcode::trim ? counts.first : counts.second);
    const GeneratorPlan plan = plan_generator(config, k_drive, FioUnits::scenario, 0);
    CHECK(Generator(plan, 1).expected() == counts.first + counts.second);
    return counts;
  };
  for (const char* pattern : {"trimwrite", "randtrimwrite"}) {
    INFO(pattern);
    GeneratorConfig config;
    config.rw = pattern;
    config.size = "8m";
    CHECK(count(config) == Counts(2048, 2048));
    config.number_ios = 100;
    CHECK(count(config) == Counts(100, 100));
    CHECK(plan_generator(config, k_drive, FioUnits::scenario, 0).most_requests() == 200);
    config.number_ios = 101;
    CHECK(count(config) == Counts(101, 101));
    config.number_ios = 0;
    config.io_size = "64k";
    CHECK(count(config) == Counts(16, 16));
    config.io_size = "60k";
    config.bs = "16k";
    CHECK(count(config) == Counts(4, 4));
    config.io_size.clear();
    config.size = "1000k";
    config.bs = "64k";
    config.norandommap = false;
    CHECK(run(config).size() == 30);
  }
}

TEST_CASE("loops of a job file are counted as fio counts them") {
  const auto count = [](const char* rw, const char* io_size, std::uint64_t loops,
                        std::uint64_t number_ios = 0, bool norandommap = false) {
    GeneratorConfig config;
    config.rw = rw;
    config.size = "1m";
    config.io_size = io_size;
    config.loops = loops;
    config.number_ios = number_ios;
    config.norandommap = norandommap;
    Generator generator(plan_generator(config, k_drive, FioUnits::job_1024, 0), 1);
    std::size_t requests = 0;
    for (Request request; generator.next(request);) ++requests;
    return requests;
  };
  for (const char* rw : {"read", "write", "randread", "randwrite", "randtrim"}) {
    INFO(rw);
    CHECK(count(rw, "", 2) == 512);
    CHECK(count(rw, "2m", 1) == 512);
    CHECK(count(rw, "2m", 2) == 512);
    CHECK(count(rw, "2m", 3) == 768);
    CHECK(count(rw, "3m", 2) == 768);
    CHECK(count(rw, "2560k", 2) == 768);
    CHECK(count(rw, "1500k", 1) == 375);
    CHECK(count(rw, "1500k", 2) == 512);
    CHECK(count(rw, "768k", 2) == 384);
    CHECK(count(rw, "512k", 3) == 384);
    CHECK(count(rw, "", 3, 400) == 768);
    CHECK(count(rw, "", 2, 400) == 512);
    CHECK(count(rw, "", 3, 100) == 300);
    CHECK(count(rw, "4m", 1, 400) == 400);
    CHECK(count(rw, "200k", 2, 100) == 100);
  }
  CHECK(count("randwrite", "2m", 2, 0, true) == 1024);
  CHECK(count("randwrite", "1500k", 3, 0, true) == 1125);
  CHECK(count("randrw", "2m", 2) == 512);
  // Of trims and writes, each half.
  for (const char* rw : {"trimwrite", "randtrimwrite"}) {
    INFO(rw);
    CHECK(count(rw, "2m", 1) == 512);
    CHECK(count(rw, "2560k", 1) == 1024);
    CHECK(count(rw, "3m", 1) == 1024);
    CHECK(count(rw, "5m", 1) == 1536);
    CHECK(count(rw, "2m", 4) == 2048);
    CHECK(count(rw, "512k", 2) == 512);
  }
}

TEST_CASE("a scenario's loops do all of io_size so often, and number_ios is all in all") {
  GeneratorConfig config;
  config.rw = "write";
  config.size = "1m";
  config.io_size = "2m";
  config.loops = 2;
  CHECK(run(config).size() == 1024);
  config.number_ios = 400;
  CHECK(run(config).size() == 400);
}

TEST_CASE("io_size is a share of size as in fio") {
  const auto count = [](const char* size, const char* io_size, const char* offset) {
    GeneratorConfig config;
    config.rw = "read";
    config.size = size;
    config.io_size = io_size;
    config.offset = offset;
    return run(config).size();
  };
  CHECK(count("1m", "100%", "0") == 256);
  CHECK(count("1m", "50 %", "0") == 128);
  CHECK(count("1000k", "33%", "0") == 83);
  CHECK(count("10%", "5%", "0") == 82);
  CHECK(count("10%", "50%", "0") == 819);
  CHECK(count("100%", "50%", "0") == 8192);
  CHECK(count("100%", "50%", "50%") == 4096);
  GeneratorConfig config;
  config.io_size = "101%";
  CHECK(refused(config) ==
        "io_size: \"101%\" is not understood, expected a share of size between 0% and 100%");
}

TEST_CASE("fsync and fdatasync both count, and flush once where they meet") {
  GeneratorConfig config;
  config.rw = "write";
  config.size = "1m";
  const auto flushes = [&](std::uint64_t fsync, std::uint64_t fdatasync) {
    config.fsync = fsync;
    config.fdatasync = fdatasync;
    std::size_t writes = 0;
    std::size_t found = 0;
    for (const Request& request : run(config)) {
      if (request.opcode == HostOpcode::write) {
        ++writes;
      } else {
        ++found;
        CHECK(((fsync != 0 && writes % fsync == 0) || (fdatasync != 0 && writes % fdatasync == 0)));
      }
    }
    CHECK(writes == 256);
    const GeneratorPlan plan = plan_generator(config, k_drive, FioUnits::job_1024, 0);
    CHECK(Generator(plan, 1).expected() == writes + found);
    return found;
  };
  CHECK(flushes(7, 0) == 36);
  CHECK(flushes(0, 3) == 85);
  CHECK(flushes(7, 3) == 36 + 73);
  CHECK(flushes(6, 4) == 42 + 64 - 21);
  config.fsync = 0;
  const GeneratorPlan plan = plan_generator(config, k_drive, FioUnits::job_1024, 0);
  CHECK(Generator(plan, 1).sequential_writes().requests == 0);
}

TEST_CASE("percentage_random, fsync, offset_increment") {
  GeneratorConfig config;
  config.rw = "randread";
  config.percentage_random = "20";
  config.time_based = true;
  config.number_ios = 50000;
  double sequential = 0;
  Bytes end = 0;
  for (const Request& request : run(config)) {
    sequential += request.offset == end ? 1 : 0;
    end = request.offset + request.bytes;
  }
  CHECK(sequential / 50000 == Approx(0.8).epsilon(0.02));
  config = {};
  config.rw = "write";
  config.fsync = 3;
  const auto requests = run(config, 8);
  CHECK(requests[3].opcode == HostOpcode::flush);
  CHECK(requests[7].opcode == HostOpcode::flush);
  config.offset_increment = "25%";
  config.size = "25%";
  CHECK(plan_generator(config, k_drive, FioUnits::scenario, 3).offset == 48_MiB);
}

TEST_CASE("how many requests are to be expected is what comes, within the draw") {
  const auto check = [](const char* rw, const char* bs, const char* bssplit, std::uint64_t fsync) {
    INFO(rw << " " << bs << " " << bssplit << " " << fsync);
    GeneratorConfig config;
    config.rw = rw;
    config.bs = bs;
    config.bssplit = bssplit;
    config.fsync = fsync;
    config.rwmixread = 70;
    config.io_size = "100m";
    Generator generator(plan_generator(config, k_drive, FioUnits::scenario, 0), 1);
    const std::uint64_t expected = generator.expected();
    Request request;
    std::uint64_t seen = 0;
    while (generator.next(request)) ++seen;
    CHECK(static_cast<double>(expected) == Approx(static_cast<double>(seen)).epsilon(0.05));
  };
  check("randread", "4k", "", 0);
  check("randwrite", "4k", "", 3);
  check("randrw", "4k,64k", "", 0);
  check("randrw", "64k,4k", "", 2);
  check("randwrite", "4k", "512/33:1k/33:2k/34", 0);
  check("randtrimwrite", "4k", "", 5);
}

TEST_CASE("same seed, same requests") {
  GeneratorConfig config;
  config.rw = "randrw";
  config.random_distribution = "zipf:1.2";
  CHECK(run(config, 1000) == run(config, 1000));
}
