// From a scenario's words to loads: traces, generators, warm-up.
#include <catch2/catch.hpp>
#include <set>

#include "drain.h"
#include "drive_size.h"
#include "files.h"
#include "testbench/loads/load.h"
#include "testbench/loads/traces/trace_info.h"

using namespace tlmssd;
using namespace tlmssd::test;
using namespace tlmssd::literals;

namespace {

/// Values by name that also says what was asked for.
class GivenValues final : public ParameterValues {
 public:
  explicit GivenValues(std::vector<std::pair<std::string, Value>> values) : values_(std::move(values)) {}
  const Value* find(std::string_view name) const override {
    asked_.insert(std::string(name));
    for (const auto& [given, value] : values_) {
      if (given == name) return &value;
    }
    return nullptr;
  }
  [[nodiscard]] bool asked(const std::string& name) const { return asked_.count(name) != 0; }

 private:
  std::vector<std::pair<std::string, Value>> values_;
  mutable std::set<std::string> asked_;
};

}  // namespace

TEST_CASE("what does not apply is never asked for") {
  const GivenValues open({{"trace", std::string("t.csv")},
                          {"pacing", std::string("open-loop")},
                          {"queue_depth", std::int64_t{4}}});
  const LoadConfig config = LoadConfig::read(open, nullptr);
  CHECK(config.pacing.pacing == "open-loop");
  CHECK(open.asked("time_scale"));
  CHECK_FALSE(open.asked("queue_depth"));
  CHECK_FALSE(open.asked("rw"));
  const GivenValues generator({{"rw", std::string("randwrite")}});
  CHECK(LoadConfig::read(generator, nullptr).generator.rw == "randwrite");
  CHECK_FALSE(generator.asked("addresses"));
  CHECK_FALSE(generator.asked("job"));
  const GivenValues file({{"fio", std::string("x.fio")}, {"runtime", std::int64_t{1}}});
  LoadConfig::read(file, nullptr);
  CHECK(file.asked("job"));
  CHECK_FALSE(file.asked("runtime"));
  const GivenValues both({{"fio", std::string("x.fio")}, {"trace", std::string("y")}});
  CHECK(message_of([&] { LoadConfig::read(both, nullptr); }) ==
        "fio: cannot be given together with trace, expected two loads");
  const GivenValues profile({{"profile", std::string("hm_0")}, {"queue_depth", std::int64_t{4}}});
  CHECK(LoadConfig::read(profile, nullptr).closed.queue_depth == 4);
  CHECK(profile.asked("traces_folder"));
  CHECK(profile.asked("runtime"));
  CHECK_FALSE(profile.asked("skip"));
  CHECK_FALSE(profile.asked("rw"));
  const GivenValues two({{"profile", std::string("hm_0")}, {"trace", std::string("y")}});
  CHECK(message_of([&] { LoadConfig::read(two, nullptr); }) ==
        "profile: cannot be given together with trace, expected two loads");
  const GivenValues csv({{"trace", std::string("y")}, {"format", std::string("csv")}});
  CHECK_THAT(message_of([&] { LoadConfig::read(csv, nullptr); }),
             Catch::StartsWith("format: csv needs the section columns"));
}

TEST_CASE("words that go together mean one thing, and defaults lie in their ranges") {
  std::set<std::string> trace;
  std::set<std::string> profile;
  std::set<std::string> generator;
  for (const LoadKeys& keys : load_keys()) {
    const auto goes_with = [&keys](const std::string& kind) {
      return keys.only_with.empty() ||
             std::find(keys.only_with.begin(), keys.only_with.end(), kind) != keys.only_with.end();
    };
    for (const ParameterSpec& spec : keys.parameters) {
      INFO(spec.name);
      CHECK_FALSE(spec.doc.empty());
      if (goes_with("trace")) CHECK(trace.insert(spec.name).second);
      if (goes_with("profile")) CHECK(profile.insert(spec.name).second);
      if (goes_with("")) CHECK(generator.insert(spec.name).second);
      if (const auto* number = std::get_if<std::int64_t>(&spec.fallback)) {
        CHECK(static_cast<double>(*number) >= spec.minimum);
        CHECK(static_cast<double>(*number) <= spec.maximum);
      }
      if (!spec.choices.empty() && !spec.optional) {
        CHECK(std::count(spec.choices.begin(), spec.choices.end(), std::get<std::string>(spec.fallback)) ==
              1);
      }
    }
  }
}

TEST_CASE("a trace with skip, requests, repeat and time scale") {
  const Folder folder;
  const std::string file = folder.write("t.csv",
                                        "0,h,0,Read,0,512,0\n10,h,0,Write,512,512,0\n20,h,0,Write,1024,512,"
                                        "0\n40,h,0,Read,1536,512,0\n50,h,1,Read,0,512,0\n");
  LoadConfig config;
  config.kind.trace = "t.csv";
  config.pacing.pacing = "open-loop";
  config.open.time_scale = 0.5;
  config.open.max_outstanding = 9;
  config.limits.skip = 1;
  config.limits.requests = 3;
  config.limits.repeat = 2;
  auto loads = make_loads(config, k_drive, 1, folder.path());
  CHECK(file == folder.path() + "/t.csv");
  REQUIRE(loads.size() == 1);
  CHECK(loads[0].name == "t.csv");
  CHECK(loads[0].pacing == Pacing::open_loop);
  CHECK(loads[0].queue_depth == 9);
  CHECK(loads[0].source->expected() == 6);
  const auto requests = drain(loads[0]);
  REQUIRE(requests.size() == 6);
  CHECK(requests[0].lba == 1);
  CHECK(requests[2].time == 1500_ns);
  CHECK(requests[3].lba == 1);
  CHECK(requests[3].time == 2250_ns);  // span 3 us and one mean gap of 1.5 us, halved
}

TEST_CASE("skip and requests count those of the volume that is replayed") {
  const Folder folder;
  std::string trace;
  for (int i = 0; i < 12; ++i)
    trace += std::to_string(1000 + i * 10) + ",h," + std::to_string(i % 3) + ",Read," +
             std::to_string(i * 4096) + ",4096,0\n";
  LoadConfig config;
  config.kind.trace = folder.write("t.csv", trace);
  config.placement.volume = "h.1";
  config.limits.skip = 1;
  config.limits.requests = 2;
  config.limits.repeat = 2;
  config.pacing.pacing = "open-loop";
  const auto loads = make_loads(config, k_drive, 1);
  CHECK(loads.front().source->expected() == 4);
  std::vector<std::uint64_t> places;
  std::vector<Picoseconds> times;
  PlacedRequest request;
  while (loads.front().source->next(request)) {
    places.push_back(request.lba);
    times.push_back(request.time);
  }
  CHECK(places == std::vector<std::uint64_t>{32, 56, 32, 56});  // the second and third of h.1
  CHECK(times.front() == 0);
  CHECK(times[1] == 30 * 100'000);
  config.limits.skip = 4;
  CHECK_THAT(message_of([&] { make_loads(config, k_drive, 1); }),
             Catch::StartsWith("skip: 4 leaves none of the 4 requests of volume 'h.1' of "));
  config.placement.volume = "h.7";
  CHECK_THAT(message_of([&] { make_loads(config, k_drive, 1); }),
             Catch::StartsWith("volume: 'h.7' has no request in ") && Catch::Contains("h.0"));
}

TEST_CASE("a trace longer than 53 days is replayed where its times do not matter, or fit when scaled") {
  const Folder folder;
  LoadConfig config;  // 300 days apart, in units of 100 ns, and one that lies before the first
  config.kind.trace = folder.write(
      "t.csv", "5,h,0,Read,0,512,0\n259200000000005,h,0,Read,512,512,0\n1,h,0,Read,1024,512,0\n");
  CHECK(drain(make_loads(config, k_drive, 1).front()).size() == 3);
  config.limits.requests = 2;
  config.pacing.pacing = "open-loop";
  CHECK_THAT(message_of([&] { make_loads(config, k_drive, 1); }),
             Catch::StartsWith("time_scale: 1 makes the trace take more than 53 days"));
  config.run.runtime = 1_s;  // ends it long before
  CHECK(drain(make_loads(config, k_drive, 1).front()).size() == 2);
  config.run.runtime = 0;
  config.open.time_scale = 0.1;
  const auto requests = drain(make_loads(config, k_drive, 1).front());
  REQUIRE(requests.size() == 2);
  CHECK(requests[1].time == 30 * Picoseconds{86400} * 1'000'000'000'000);
  config.limits.requests = 3;
  CHECK_THAT(message_of([&] { make_loads(config, k_drive, 1); }),
             Catch::Contains(":3: field time: lies 2.592e+07 s before the request above"));
  TraceFile file;
  file.path = config.kind.trace;
  CHECK(inspect_trace(file, 2).seconds() == Approx(300 * 86400.0));
}

TEST_CASE("pauses of a trace are cut to the longest gap, after scaling") {
  const Folder folder;
  LoadConfig config;  // at 0, 1, 11, 12 s and 100 days
  config.kind.trace = folder.write("t.csv",
                                   "0,h,0,Read,0,512,0\n10000000,h,0,Read,512,512,0\n"
                                   "110000000,h,0,Read,1024,512,0\n120000000,h,0,Read,1024,512,0\n"
                                   "86400000000000,h,0,Read,1024,512,0\n");
  config.pacing.pacing = "open-loop";
  config.open.time_scale = 0.5;
  config.open.longest_gap = 2_s;
  config.limits.repeat = 2;
  auto loads = make_loads(config, k_drive, 1);
  std::vector<Picoseconds> times;
  for (const PlacedRequest& request : drain(loads.front())) times.push_back(request.time);
  // Repetitions follow each other at the mean distance.
  CHECK(times ==
        std::vector<Picoseconds>{0, 500_ms, 2500_ms, 3_s, 5_s, 6250_ms, 6750_ms, 8750_ms, 9250_ms, 11250_ms});
  CHECK_THAT(loads.front().description, Catch::Contains(" of pauses left out (longest_gap)"));
  config.open.longest_gap = 0;
  CHECK_THAT(message_of([&] { make_loads(config, k_drive, 1); }), Catch::StartsWith("repeat: 2 repetitions"));
}

TEST_CASE("a trace far longer than 53 days when repeated, as long as it is not when scaled") {
  const Folder folder;
  constexpr double k_day = 86400e12;
  LoadConfig config;
  // Ten days apart, in units of 100 ns.
  config.kind.trace = folder.write("t.csv", "0,h,0,Read,0,512,0\n8640000000000,h,0,Read,512,512,0\n");
  config.pacing.pacing = "open-loop";
  config.open.time_scale = 0.00001;
  config.limits.repeat = 10;
  const auto last_time = [&] {
    auto loads = make_loads(config, k_drive, 1);
    Picoseconds last = 0;
    for (const PlacedRequest& request : drain(loads.front())) {
      CHECK(request.time >= last);
      last = request.time;
    }
    return last;
  };
  // Each repetition takes ten days and one gap of ten days, but the last.
  CHECK(static_cast<double>(last_time()) == Approx(190 * k_day * 1e-5));

  config.open.time_scale = 1;
  CHECK(message_of([&] { make_loads(config, k_drive, 1); }) ==
        "repeat: 10 repetitions take more than 53 days of simulated time; nearest valid: 3");
  config.limits.repeat = 3;
  CHECK(static_cast<double>(last_time()) == Approx(50 * k_day));
  config.limits.repeat = 1'000'000;
  config.open.time_scale = 0.0001;
  CHECK(message_of([&] { make_loads(config, k_drive, 1); }) ==
        "repeat: 1000000 repetitions take more than 53 days of simulated time; nearest valid: 26688");
  config.limits.repeat = 26688;
  CHECK(static_cast<double>(last_time()) == Approx(0x1p62).epsilon(1e-4));

  config.limits.repeat = 1;
  config.open.time_scale = 10;
  CHECK(message_of([&] { make_loads(config, k_drive, 1); }) ==
        "time_scale: 10 makes the trace take more than 53 days of simulated time; nearest valid: 5.33755");
  config.open.time_scale = 5.33755;
  CHECK(static_cast<double>(last_time()) == Approx(0x1p62).epsilon(1e-4));

  // Where nothing waits for a trace's times they limit nothing.
  config.pacing.pacing = "closed-loop";
  config.limits.repeat = 8;
  CHECK(drain(make_loads(config, k_drive, 1).front()).size() == 16);
}

TEST_CASE("one volume of a trace, by name") {
  const Folder folder;
  const std::string file = folder.write("t.csv", "0,h,0,Read,0,512,0\n50,h,1,Read,512,1024,0\n");
  LoadConfig config;
  config.kind.trace = file;
  config.placement.volume = "h.1";
  auto loads = make_loads(config, k_drive, 1);
  CHECK(loads[0].source->expected() == 1);
  const auto requests = drain(loads[0]);
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].blocks == 2);
  config.placement.volume = "h.2";
  CHECK(message_of([&] { make_loads(config, k_drive, 1); }) ==
        "volume: 'h.2' has no request in " + file +
            ", expected all, h.0 or h.1; did you mean 'h.0' or 'h.1'?");
}

TEST_CASE("the placement handle of a load's writes: a number, the trace's volume, or by address") {
  const Folder folder;
  const std::string trace = folder.write("v.csv",
                                         "1,a,0,Write,0,4096,1\n2,a,1,Write,8192,4096,1\n"
                                         "3,a,0,Read,0,4096,1\n4,b,0,Write,0,512,1\n");
  DriveSize drive = k_drive;
  drive.handles = 4;
  const auto handles = [&](const std::string& stream, Bytes region_offset = 0) {
    LoadConfig config;
    config.kind.trace = trace;
    config.kind.stream = stream;
    config.placement.region_offset = region_offset;
    std::vector<Load> loads = make_loads(config, drive, 1);
    std::vector<std::uint16_t> found;
    for (const PlacedRequest& request : drain(loads.front())) found.push_back(request.placement_handle);
    return found;
  };
  CHECK(handles("0") == std::vector<std::uint16_t>{0, 0, 0, 0});
  CHECK(handles("3") == std::vector<std::uint16_t>{3, 3, 3, 3});
  CHECK(handles("volume") == std::vector<std::uint16_t>{0, 1, 0, 2});
  // The second volume lies from 1 MiB on, the third from 2 MiB.
  CHECK(handles("1m-2m:1, 2 MiB-100%:3") == std::vector<std::uint16_t>{0, 1, 0, 3});
  // Ranges are of the drive, wherever on it the trace begins.
  CHECK(handles("1m-2m:1, 2 MiB-100%:3", 1_MiB) == std::vector<std::uint16_t>{1, 3, 1, 3});
  const auto refused = [&](const std::string& stream) { return message_of([&] { handles(stream); }); };
  CHECK_THAT(refused("4"), Catch::Contains("stream: there is no placement handle 4, the drive has 4") &&
                               Catch::Contains("nearest valid: 3"));
  CHECK_THAT(refused("hot"), Catch::Contains("stream: \"hot\" is not understood"));
  CHECK_THAT(refused("0-1m"), Catch::Contains("is not understood"));
  CHECK_THAT(refused("0-2m:1,1m-3m:2"), Catch::Contains("overlaps a range before it"));
  CHECK_THAT(refused("1m-1m:1"), Catch::Contains("is no part of the drive"));
  drive.handles = 2;
  CHECK_THAT(refused("volume"), Catch::Contains("the trace has 3 volumes, the drive 2 placement handles"));
  LoadConfig made;
  made.kind.stream = "volume";
  CHECK_THAT(message_of([&] { make_loads(made, drive, 1); }), Catch::Contains("only a trace has volumes"));
  // Without handles on the drive nothing comes of it, which is said.
  made.kind.stream = "7";
  CHECK_THAT(make_loads(made, k_drive, 1).front().warnings.at(0), Catch::Contains("stream has no effect"));
}

TEST_CASE("a trace that is refused is refused before anything runs, with its line") {
  const Folder folder;
  const std::string big = folder.write("big.csv", "0,h,0,Read,0,512,0\n1,h,0,Read,1073741824,512,0\n");
  LoadConfig config;
  config.kind.trace = big;
  CHECK(message_of([&] { make_loads(config, k_drive, 1); }) ==
        big +
            ":2: field offset: the request of 512 B at 1073741824 B ends beyond the 67108864 B of the drive "
            "that the load may "
            "use, expected a larger drive or addresses: wrap or scale");
  config.placement.addresses = "wrap";
  CHECK(drain(make_loads(config, k_drive, 1)[0]).size() == 2);
  config.kind.trace = folder.write("bad.csv", "0,h,0,Read,0,512,0\n1,h,0,Read,0,x,0\n");
  CHECK_THAT(message_of([&] { make_loads(config, k_drive, 1); }),
             Catch::Contains("bad.csv:2: field size: \"x\""));
  config.kind.trace = folder.write("v2.log", "fio version 2 iolog\n/d read 0 512\n");
  config.pacing.pacing = "open-loop";
  CHECK_THAT(message_of([&] { make_loads(config, k_drive, 1); }),
             Catch::Contains("open-loop needs time stamps"));
  config.limits.skip = 5;
  CHECK_THAT(message_of([&] { make_loads(config, k_drive, 1); }),
             Catch::Contains("skip: 5 leaves none of the 1 requests of "));
}

TEST_CASE("numjobs makes loads with streams of their own") {
  LoadConfig config;
  config.generator.numjobs = 3;
  config.generator.iodepth = 7;
  config.generator.number_ios = 100;
  config.run.runtime = 5_s;
  config.run.ramp_time = 1_s;
  auto loads = make_loads(config, k_drive, 1);
  REQUIRE(loads.size() == 3);
  CHECK(loads[1].name == "load.1");
  CHECK(loads[1].queue_depth == 7);
  CHECK(loads[1].runtime == 5_s);
  CHECK(loads[1].ramp_time == 1_s);
  CHECK(loads[1].pacing == Pacing::closed_loop);
  const auto first = drain(loads[0]);
  const auto second = drain(loads[1]);
  REQUIRE(first.size() == 100);
  CHECK((first[0].lba != second[0].lba || first[1].lba != second[1].lba));
  CHECK(drain(make_loads(config, k_drive, 1)[0])[9].lba == first[9].lba);
  CHECK(drain(make_loads(config, k_drive, 2)[0])[9].lba != first[9].lba);
}

TEST_CASE("warnings about a trace name the file where the load has another name") {
  const Folder folder;
  LoadConfig config;
  config.kind.trace = folder.write("t.csv", "9,h,0,Read,0,4096,0\n5,h,0,Read,0,4096,0\n");
  const std::string raised = "1 time stamps out of order, raised to the one above";
  CHECK(make_loads(config, k_drive, 1)[0].warnings == std::vector<std::string>{raised});
  config.kind.name = "mail";
  CHECK(make_loads(config, k_drive, 1)[0].warnings == std::vector<std::string>{"t.csv: " + raised});
}

TEST_CASE("the real traces are laid onto a small drive whole") {
  for (const char* name :
       {"cloudphysics/cloudphysics.csv.xz", "msr_cambridge/rsrch_1.csv", "ycsb_rocksdb/ycsb_a_nvme.csv.xz",
        "hplajw/hplajw_1week.csv.xz", "sqlite_wal/sqlitewal-reqscale-240000-inserts.csv.xz"}) {
    LoadConfig config;
    config.kind.trace = real_trace(name);
    if (config.kind.trace.empty()) {
      WARN("skipped: the traces folder has no " << name);
      continue;
    }
    INFO(name);
    for (const char* how : {"wrap", "scale"}) {
      config.placement.addresses = how;
      const DriveSize drive{192_MiB, 4096};
      auto loads = make_loads(config, drive, 1);
      PlacedRequest request;
      while (loads[0].source->next(request)) {
        REQUIRE(request.blocks > 0);
        REQUIRE(request.lba + request.blocks <= drive.bytes / drive.lba_bytes);
      }
      CHECK(loads[0].source->counts().requests == loads[0].source->expected());
    }
  }
}

TEST_CASE("warm-up as a number of requests and as a share of them") {
  CHECK(parse_warm_up("0").requests == 0);
  CHECK(parse_warm_up("20000").requests == 20000);
  CHECK(parse_warm_up(" 12.5 % ").share == Approx(0.125));
  CHECK(parse_warm_up("12.5 %").requests == 0);
  for (const char* wrong :
       {"", "x", "-1", "1.5", "100 %", "-1 %", "1e99 %", "nan %", "%", "5 %%", "99999999999999999999"})
    CHECK_THAT(message_of([&] { parse_warm_up(wrong); }),
               Catch::StartsWith("warm_up: '" + std::string(wrong) + "' is not"));

  LoadConfig config;
  config.generator.number_ios = 1000;
  config.kind.warm_up = "30 %";
  CHECK(make_loads(config, k_drive, 1)[0].warm_up == 300);
  config.kind.warm_up = "999";
  CHECK(make_loads(config, k_drive, 1)[0].warm_up == 999);
  config.generator.numjobs = 2;  // of each job
  CHECK(make_loads(config, k_drive, 1)[1].warm_up == 999);
  config.kind.warm_up = "1000";
  CHECK(message_of([&] { make_loads(config, k_drive, 1); }) ==
        "warm_up: 1000 leaves none of the load's 1000 requests to measure");
  config.generator.number_ios = 0;
  config.generator.time_based = true;
  config.run.runtime = 1_s;
  config.kind.warm_up = "30 %";
  CHECK_THAT(message_of([&] { make_loads(config, k_drive, 1); }),
             Catch::StartsWith("warm_up: a share of an unknown number of requests"));
}

TEST_CASE("warm-up of a trace and of a job file") {
  const Folder folder;
  static_cast<void>(folder.write(
      "t.csv",
      "0,h,0,Read,0,512,0\n10,h,0,Write,512,512,0\n20,h,0,Write,1024,512,0\n40,h,0,Read,1536,512,0\n"));
  LoadConfig config;
  config.kind.trace = "t.csv";
  config.kind.warm_up = "50 %";
  CHECK(make_loads(config, k_drive, 1, folder.path())[0].warm_up == 2);
  config.kind.warm_up = "4";
  CHECK(message_of([&] { make_loads(config, k_drive, 1, folder.path()); }) ==
        "warm_up: 4 leaves none of the load's 4 requests to measure");
  config.limits.repeat = 2;
  CHECK(make_loads(config, k_drive, 1, folder.path())[0].warm_up == 4);

  static_cast<void>(folder.write("j.fio", "[a]\nrw=randread\nsize=1m\n[b]\nrw=randwrite\nsize=1m\n"));
  LoadConfig jobs;
  jobs.kind.fio = "j.fio";
  jobs.kind.warm_up = "10";
  const auto loads = make_loads(jobs, k_drive, 1, folder.path());
  REQUIRE(loads.size() == 2);
  CHECK(loads[0].warm_up == 10);
  CHECK(loads[1].warm_up == 10);
}
