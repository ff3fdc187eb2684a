// Random commands of every kind against a reference, over many shapes and configurations.
#include "testbench/tests/firmware/model_case.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

void run_model(const Case& c, bool timed, std::uint32_t commands, std::uint32_t depth, std::uint64_t seed) {
  run_random(c, timed, commands, depth, seed, [&](const CaseRig& rig) {
    const FtlStatistics& s = rig.ftl.statistics();
    REQUIRE(static_cast<double>(s.slc_units) >=
            c.slc_share * static_cast<double>(s.units_programmed[static_cast<std::size_t>(Purpose::host)]));
    REQUIRE((s.feature_moves() > 0) == (c.refresh >= 0 && has_feature("firmware.refresh")));
    REQUIRE((s.retries > 0) == (c.failures > 0 && c.ecc != "fixed"));
    // The 41 read-retry levels all fail once in 10^28 reads, or in 75.
    REQUIRE((rig.host.media_errors > 0) == (c.failures > (c.ecc == "retry-only" ? 0.5 : 0)));
    REQUIRE((s.uncorrectable_units > 0) == (rig.host.media_errors > 0));
    const auto map_writes = s.units_programmed[static_cast<std::size_t>(Purpose::map)];
    if (c.map_lines == 0) REQUIRE(map_writes == 0);
    if (c.map_lines > 0 && c.map_lines * c.line() < 50) REQUIRE(map_writes > 0);
  });
}

const std::vector<std::string> k_policies = {"greedy", "cost-benefit", "fifo",
                                             "random", "d-choices",    "windowed-greedy"};

}  // namespace

TEST_CASE("every command on every shape gives back what was written") {
  std::vector<Case> cases;
  cases.push_back({geometry(1, 1, 1, 1, 16, 8, 4096)});
  cases.push_back({geometry(2, 1, 1, 2, 12, 8, 16384)});
  cases.push_back({geometry(3, 1, 2, 3, 11, 5, 8192)});
  cases.push_back({geometry(1, 3, 1, 1, 9, 7, 12288), 1, 512, 4096});
  cases.push_back({geometry(2, 1, 1, 2, 12, 12, 16384), 3, 512, 4096, true});
  cases.push_back({geometry(2, 1, 1, 3, 10, 9, 16384), 3, 512, 4096, true});
  cases.push_back({geometry(1, 1, 1, 2, 16, 6, 16384), 6, 512, 4096, true});  // whole block
  cases.push_back({geometry(2, 1, 1, 1, 16, 8, 16384), 8, 512, 16384});       // whole block
  cases.push_back({geometry(2, 2, 1, 1, 10, 8, 16384), 1, 512, 512});
  cases.push_back({geometry(2, 1, 1, 1, 10, 8, 16384), 1, 512, 16384});
  cases.push_back({geometry(1, 1, 1, 1, 14, 8, 16384), 1, 4096, 8192});
  cases.push_back({geometry(1, 2, 1, 1, 14, 8, 4096), 1, 4096, 4096});
  cases.push_back({geometry(1, 1, 1, 1, 14, 8, 6144), 1, 512, 1536});
  std::uint64_t seed = 1;
  for (Case c : cases) {
    for (const bool timed : {false, true}) {
      run_model(c, timed, 3000, timed ? 12 : 1, ++seed);
      c.mode = "write-through";
      run_model(c, timed, 800, timed ? 12 : 1, ++seed);
      c.mode = "write-back";
    }
  }
}

TEST_CASE("blocks over several dies give back what was written") {
  std::uint64_t seed = 600;
  for (const char* stripe : {"C", "W", "D", "CW", "WC", "DWC", "WD"}) {
    for (const std::uint32_t program_unit : {1U, 3U}) {
      Case c{geometry(3, 2, 2, 2, 12, 6, 8192), program_unit};
      c.stripe = stripe;
      c.multi_plane = seed % 4 < 2;
      c.wear = seed % 3 == 0 ? "static" : "dynamic";
      c.fill = seed % 5 == 0 ? 1.0 : 0.9;
      c.order = seed % 2 == 0 ? "PWDC" : "CWDP";
      run_model(c, true, 2000, 16, ++seed);
      run_model(c, false, 2000, 1, ++seed);
    }
  }
}

TEST_CASE("block-mapped regions of any size give back what was written") {
  std::uint64_t seed = 700;
  struct Shape {
    const char* stripe;
    std::uint32_t program_unit;
    std::uint32_t lanes;
  };
  for (const Shape& s :
       {Shape{"none", 1, 1}, Shape{"C", 1, 3}, Shape{"CW", 1, 6}, Shape{"WD", 3, 4}, Shape{"none", 6, 1}}) {
    const Bytes program = Bytes{8192} * s.program_unit;
    const std::uint32_t programs = 6 / s.program_unit * s.lanes;
    for (std::uint32_t n = 1; n <= programs; ++n) {
      if (programs % n != 0) continue;
      Case c{geometry(3, 2, 2, 1, 12, 6, 8192), s.program_unit};
      c.scheme = "block-mapped";
      c.block = n * program;
      c.copyback = seed % 2 == 0;
      c.stripe = s.stripe;
      c.wear = seed % 3 == 0 ? "static" : "dynamic";
      c.fill = seed % 5 == 0 ? 1.0 : 0.8;
      c.mode = seed % 4 == 0 ? "write-through" : "write-back";
      c.unit = seed % 2 == 0 ? 4096 : 8192;
      c.gc = k_policies[seed % k_policies.size()];
      run_model(c, true, 1200, 16, ++seed);
      run_model(c, false, 1200, 1, ++seed);
    }
  }
  Case failing{geometry(2, 1, 1, 2, 14, 8, 8192)};
  failing.scheme = "block-mapped";
  failing.block = 32768;
  failing.ecc = "fixed";
  failing.failures = 0.05;
  failing.refresh = 40;
  run_model(failing, true, 3000, 16, ++seed);
  run_model(failing, false, 3000, 1, ++seed);
  Case log{geometry(2, 2, 1, 1, 14, 8, 8192)};
  log.scheme = "block-mapped";
  log.stripe = "C";
  log.placement = "log";
  run_model(log, true, 3000, 16, ++seed);
}

namespace {

/// Shapes, odd ones among them, on which log blocks are tried.
std::vector<Case> logged_shapes(const std::string& scheme) {
  std::vector<Case> cases;
  cases.push_back({geometry(1, 1, 1, 1, 16, 8, 4096)});
  cases.push_back({geometry(3, 1, 2, 3, 13, 5, 8192)});
  cases.push_back({geometry(2, 1, 1, 2, 14, 12, 16384), 3, 512, 4096, true});
  cases.push_back({geometry(1, 1, 1, 2, 16, 6, 16384), 6, 512, 4096, true});  // whole block
  cases.push_back({geometry(2, 2, 1, 1, 12, 8, 16384), 1, 512, 512});
  cases.push_back({geometry(1, 1, 1, 1, 14, 8, 6144), 1, 512, 1536});
  cases.push_back({geometry(3, 2, 1, 1, 13, 7, 8192)});
  cases.back().stripe = "C";
  cases.push_back({geometry(3, 2, 2, 1, 14, 4, 8192)});
  cases.back().stripe = "CW";
  cases.push_back({geometry(2, 3, 1, 1, 20, 6, 4096), 3});
  cases.back().stripe = "WC";
  for (Case& c : cases) c.scheme = scheme;
  return cases;
}

}  // namespace

TEST_CASE("log blocks give back what was written") {
  std::uint64_t seed = 800;
  for (const char* scheme : {"bast", "fast", "superblock"}) {
    for (Case c : logged_shapes(scheme)) {
      for (const std::int64_t logs : {1, 4}) {
        c.logs = logs;
        c.adjacent = std::string(scheme) == "superblock" ? 1 + static_cast<std::int64_t>(seed % 3) : 1;
        c.copyback = logs == 4;
        c.fill = seed % 3 == 0 ? 1.0 : 0.9;
        c.mode = seed % 4 == 0 ? "write-through" : "write-back";
        c.wear = seed % 3 == 0 ? "static" : seed % 3 == 1 ? "dynamic" : "none";
        c.idle_after = seed % 5 == 0 ? 100'000'000 : 0;
        c.flush_at = seed % 7 == 0 ? 0.75 : 0;
        const std::uint32_t depth = seed % 2 == 0 ? 32 : 8;
        run_model(c, true, 1000, depth, ++seed);
        run_model(c, false, 1000, 1, ++seed);
        ++seed;
      }
    }
  }
}

TEST_CASE("log blocks under decoding failures and refresh keep the data that are not lost") {
  std::uint64_t seed = 900;
  for (const char* scheme : {"bast", "fast", "superblock"}) {
    for (const double failures : {0.0, 0.1}) {
      for (const std::int64_t refresh : {0, 3, 40}) {
        Case c{geometry(2, 1, 1, 2, 14, 8, 8192)};
        c.scheme = scheme;
        c.adjacent = 2;
        c.ecc = seed % 2 == 0 ? "retry-only" : "fixed";
        c.failures = failures;
        c.refresh = refresh;
        c.multi_plane = seed % 2 == 0;
        c.wear = seed % 4 == 0 ? "static" : "dynamic";
        run_model(c, true, 1500, 16, ++seed);
        run_model(c, false, 1500, 1, ++seed);
      }
    }
  }
}

TEST_CASE("every victim policy keeps the data") {
  std::uint64_t seed = 100;
  for (const std::string& policy : k_policies) {
    for (const char* streams : {"separate", "shared"}) {
      Case c{geometry(2, 1, 1, 2, 14, 8, 8192)};
      c.gc = policy;
      c.streams = streams;
      c.multi_plane = seed % 2 == 0;
      run_model(c, true, 4000, 16, ++seed);
      run_model(c, false, 4000, 1, ++seed);
    }
  }
}

namespace {

/// Full drives of every victim policy, after `alter(case, seed)`.
template <class Alter>
void run_full_drives(std::uint64_t seed, Alter alter) {
  for (const std::string& policy : k_policies) {
    for (const char* streams : {"separate", "shared"}) {
      for (const std::uint32_t program_unit : {1U, 8U}) {
        Case c{geometry(2, 1, 1, 1, 12, 8, 8192), program_unit};
        c.gc = policy;
        c.streams = streams;
        c.fill = 1.0;
        c.background_start = seed % 3 == 0 ? 0.0 : 0.1;
        c.low_water = 1 + static_cast<std::uint32_t>(seed % 2);
        alter(c, seed);
        run_model(c, true, 1500, 16, ++seed);
        run_model(c, false, 1500, 1, ++seed);
      }
    }
  }
}

}  // namespace

TEST_CASE("a drive filled to the last unit it can keep goes on working") {
  run_full_drives(200, [](Case&, std::uint64_t) {});
}

TEST_CASE("a map in flash keeps the data, however little of it is cached") {
  std::vector<Case> cases;
  cases.push_back({geometry(1, 1, 1, 1, 16, 8, 4096)});
  cases.push_back({geometry(3, 1, 2, 3, 11, 5, 8192)});
  cases.push_back({geometry(2, 1, 1, 2, 12, 12, 16384), 3, 512, 4096, true});
  cases.push_back({geometry(2, 1, 1, 1, 16, 8, 16384), 8, 512, 16384});  // whole block
  cases.push_back({geometry(2, 2, 1, 1, 10, 8, 16384), 1, 512, 512});
  cases.push_back({geometry(1, 2, 1, 1, 14, 8, 4096), 1, 4096, 4096});
  cases.push_back({geometry(1, 1, 1, 1, 14, 8, 6144), 1, 512, 1536});
  std::uint64_t seed = 500;
  for (Case c : cases) {
    for (const auto& [lines, line] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 0}, {5, 8}, {100, 1}}) {
      c.map_lines = lines;
      c.map_line = line;
      c.fill = seed % 2 == 0 ? 1.0 : 0.85;
      c.gc = k_policies[seed % k_policies.size()];
      c.wear = seed % 3 == 0 ? "static" : "dynamic";
      c.streams = seed % 4 == 0 ? "shared" : "separate";
      c.mode = seed % 5 == 0 ? "write-through" : "write-back";
      c.idle_after = seed % 7 == 0 ? 100'000'000 : 0;
      const std::uint32_t depth = seed % 2 == 0 ? 64 : 8;
      run_model(c, true, 1500, depth, ++seed);
      run_model(c, false, 1500, 1, ++seed);
      ++seed;
    }
  }
  Case failing{geometry(2, 1, 1, 2, 14, 8, 8192)};
  failing.map_lines = 3;
  failing.ecc = "fixed";
  failing.failures = 0.1;
  failing.refresh = 40;
  run_model(failing, true, 3000, 16, ++seed);
}

TEST_CASE("wear levelling, idle cleaning and late flushing keep the data") {
  std::uint64_t seed = 300;
  for (const char* wear : {"none", "dynamic", "static"}) {
    for (const Picoseconds idle : {Picoseconds{0}, Picoseconds{100'000'000}}) {
      Case c{geometry(2, 1, 1, 1, 14, 8, 8192)};
      c.wear = wear;
      c.idle_after = idle;
      c.flush_at = 0.75;
      run_model(c, true, 4000, 8, ++seed);
      run_model(c, false, 4000, 1, ++seed);
    }
  }
}

TEST_CASE("decoding failures and refresh keep the data that are not lost") {
  std::uint64_t seed = 400;
  for (const char* ecc : {"retry-only", "conventional", "fixed"}) {
    for (const double failures : {0.0, 0.1, 0.9}) {
      for (const std::int64_t refresh : {-1, 0, 3, 40}) {
        if (refresh < 0 && failures == 0) continue;
        Case c{geometry(2, 1, 1, 2, 14, 8, 8192)};
        c.ecc = ecc;
        c.failures = failures;
        c.refresh = refresh;
        c.multi_plane = seed % 2 == 0;
        c.streams = seed % 3 == 0 ? "shared" : "separate";
        c.wear = seed % 4 == 0 ? "static" : "dynamic";
        c.gc = k_policies[seed % k_policies.size()];
        run_model(c, true, 1500, 16, ++seed);
        run_model(c, false, 1500, 1, ++seed);
      }
    }
  }
}

TEST_CASE("a drive filled to the last unit it can keep goes on working under refresh without end") {
  run_full_drives(500, [](Case& c, std::uint64_t seed) {
    c.ecc = "retry-only";
    c.failures = 0.2;
    c.refresh = 1 + static_cast<std::int64_t>(seed % 5);
  });
}
