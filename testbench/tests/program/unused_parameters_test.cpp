// Parameters that play no part given the others are named, and nothing else is: each is tried by
// comparing the reports of two runs, with it and without.
#include <set>

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

/// Small, overwritten, collecting; `load` and `precondition` have one entry.
const std::string k_drive = replaced(k_small, "load: {rw: randrw, number_ios: 500}",
                                     "precondition:\n  - {fill: 100 %}\n"
                                     "load: {rw: randrw, iodepth: 4, number_ios: 600}") +
                            "report: {silence: \"few-blocks,short-for-amplification,buffer-holds-load\"}\n";

using Sets = std::vector<std::string>;

struct Case {
  Sets given;     ///< what decides
  Sets settings;  ///< of whose keys is asked
};

class Trial {
 public:
  explicit Trial(const Case& tried) {
    const std::string scenario = folder_.write("s.yaml", k_drive);
    with_ = report_of(folder_, scenario, "with", set_options(joined(tried.given, tried.settings)));
    without_ = report_of(folder_, scenario, "without", set_options(tried.given));
  }
  /// As `--set` has it.
  [[nodiscard]] bool names(const std::string& setting) const {
    const std::string how = " (--set " + setting + ")";
    for (const std::string name : with_["unread_parameters"])
      if (name.ends_with(how)) return true;
    return false;
  }
  /// Whether the settings changed nothing but what the report repeats of the scenario.
  [[nodiscard]] bool same() const {
    return stripped(with_) == stripped(without_) && files("with") == files("without");
  }

 private:
  static Json stripped(Json report) {
    for (const char* repeated : {"scenario", "unread_parameters", "age"}) report.erase(repeated);
    for (Json& load : report["results"]["loads"]) load.erase("description");
    // A memory that nothing uses is there all the same, and has counted nothing.
    Json& statistics = report["statistics"];
    if (statistics.contains("host_memory") && statistics["host_memory"]["reads"]["value"] == 0)
      statistics.erase("host_memory");
    for (const char* way : {"to_device", "to_host"}) {
      Json& link = statistics["host"]["link"][way];
      if (link.contains("host_memory_bytes") && link["host_memory_bytes"]["value"] == 0)
        link.erase("host_memory_bytes");
    }
    return report;
  }
  [[nodiscard]] std::set<std::string> files(const char* run) const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path() / run))
      names.insert(entry.path().filename().string());
    return names;
  }

  Folder folder_;
  Json with_;
  Json without_;
};

std::string text(const Case& tried) {
  std::string result;
  for (const Sets* sets : {&tried.given, &tried.settings}) {
    for (const std::string& set : *sets) result += " " + set;
    result += " |";
  }
  return result;
}

const Sets k_sata = {"ssd.host.protocol=sata", "ssd.host.link=sata6"};
const Sets k_errors = {"ssd.flash.reliability=parts/reliability/tlc-72l.yaml", "ssd.flash.part.cell=tlc",
                       "firmware.ecc.policy=retry-only", "run.errors=accept"};
const Sets k_fixed = {"ssd.flash.reliability=parts/reliability/tlc-72l.yaml", "ssd.flash.part.cell=tlc",
                      "firmware.ecc.policy=fixed", "run.errors=accept"};
const Sets k_untimed = {"run.timed=false"};
const Sets k_untimed_writes = {"run.timed=false", "load.rw=randwrite"};
const Sets k_two_untimed = {"run.timed=false", "load.0.rw=randwrite", "load.0.ramp_requests=100",
                            "load.1={rw: randwrite, rate_iops: 5000, number_ios: 300}"};
/// Blocks enough for thresholds of collection to differ.
constexpr const char* k_blocks = "ssd.flash.part.blocks_per_plane=128";
const Sets k_collecting = {k_blocks, "load.rw=randwrite", "load.number_ios=3000"};
const Sets k_pslc = {k_blocks,
                     "ssd.flash.part.slc_read_latency=20 us",
                     "ssd.flash.part.slc_program_latency=200 us",
                     "ssd.flash.part.slc_erase_latency=3 ms",
                     "firmware.pslc.policy=all",
                     "firmware.pslc.static=2 %",
                     "load.rw=randwrite",
                     "load.number_ios=3000",
                     "load.thinktime=200 ms",
                     "load.thinktime_blocks=50"};

/// A load with pauses in which the drive is idle.
const Sets k_pausing = joined(k_collecting, {"load.thinktime=200 ms", "load.thinktime_blocks=50"});

}  // namespace

TEST_CASE("a parameter that others leave without a part is named, and the report is the same without it",
          "[program][starts]") {
  const Case cases[] = {
      {k_sata,
       {"ssd.host.queues=2", "ssd.host.max_payload=512", "ssd.host.max_read_request=128",
        "ssd.host.tlp_overhead=20", "ssd.host.dllp_overhead=20", "ssd.host.burst=3"}},
      {{"ssd.host.link=pcie6x4"}, {"ssd.host.tlp_overhead=20", "ssd.host.dllp_overhead=20"}},
      {{"ssd.host.arbitration=weighted", "ssd.host.weights=[3, 1, 1, 1]"}, {"ssd.host.burst=3"}},
      {{"ssd.host.queues=1"}, {"ssd.host.burst=3"}},
      {{}, {"ssd.host.memory_buffer=64 KiB", "ssd.host.memory_latency=7 us"}},
      {{"firmware.mapping.scheme=dftl", "firmware.mapping.cache=64 KiB"}, {"ssd.host.memory_buffer=64 KiB"}},
      {{},
       {"ssd.host.coalesce_time=7 us", "ssd.host.memory_latency=7 us", "ssd.flash.part.suspend_point=next"}},
      {{"ssd.flash.suspend=erase"}, {"ssd.flash.part.suspend_point=last"}},
      {{"ssd.flash.part.endurance=0"}, {"ssd.flash.part.endurance_spread=10 %"}},
      {k_errors,
       {"ssd.flash.reliability.slc_error_share=5 %", "ssd.flash.ecc.soft-ldpc.correctable=150",
        "ssd.flash.ecc.hard-ldpc.latency=5 us", "ssd.flash.ecc.ep-ldpc.waterfall=5 %"}},
      {joined(k_errors, {"ssd.flash.reliability.retry_step_errors=0.001"}),
       {"ssd.flash.reliability.retry_floor=0.3"}},
      {joined(k_errors, {"ssd.flash.reliability.distribution=binomial"}),
       {"ssd.flash.reliability.dispersion=0.01"}},
      {joined(k_fixed, {"age.cycles=2000", "age.retention=30 d"}),
       {"ssd.flash.reliability.retry_shift=0.02", "ssd.flash.reliability.retry_floor=0.9",
        "ssd.flash.reliability.retry_cycle_exponent=1"}},
      {k_fixed, {"ssd.flash.ecc.prediction=cell-interference", "ssd.flash.ecc.coupling=0.02"}},
      {joined(k_errors,
              {"ssd.flash.reliability.activation_energy=0", "age.cycles=2000", "age.retention=30 d"}),
       {"ssd.flash.reliability.temperature=70 C", "ssd.flash.reliability.reference_temperature=50 C",
        "age.temperature=80 C"}},
      {joined(k_errors, {"ssd.flash.reliability.disturb=0", "age.cycles=100"}), {"age.reads=100"}},
      {joined(k_errors, k_untimed), {"ssd.flash.reliability.temperature=70 C"}},
      {{},
       {"ssd.flash.part.program_pulse=100 us", "ssd.flash.part.program_suspend_latency=90 us",
        "ssd.flash.part.erase_suspend_latency=90 us", "ssd.flash.part.resume_overhead=90 us",
        "ssd.flash.part.max_suspends=1", "ssd.flash.part.min_resume_time=90 us",
        "ssd.flash.part.cache_read=false", "ssd.flash.part.cache_program=false",
        "ssd.flash.part.t_rcbsy=90 us", "ssd.flash.part.t_cbsy=90 us"}},
      {{"ssd.flash.suspend=erase"}, {"ssd.flash.part.program_suspend_latency=90 us"}},
      {{"ssd.flash.suspend=program"}, {"ssd.flash.part.erase_suspend_latency=90 us"}},
      {k_errors,
       {"ssd.flash.reliability.pass_decay=30", "ssd.flash.reliability.pass_margin=3 %",
        "ssd.flash.reliability.pass_errors=2"}},
      {{"ssd.scm.capacity=1 MiB"},
       {"ssd.scm.read_latency=90 us", "ssd.scm.program_latency=90 us", "ssd.scm.banks=2",
        "ssd.scm.bandwidth=10 MB/s", "ssd.scm.wear_region=64 KiB"}},
      {{}, {"age.retention=1 y", "age.reads=1000"}},
      {{"load.bssplit=4k/50:8k/50"}, {"load.bs=16k", "load.bsrange=4k-16k"}},
      {{"load.bsrange=4k-16k"}, {"load.bs=16k"}},
      {{"load.time_based=true", "load.number_ios=0", "load.runtime=1 ms"},
       {"load.io_size=64k", "load.loops=3"}},
      {{"load.rw=write"}, {"load.randseed=5"}},
      {{"load.rw=read", "load.bs=8k,4k", "load.rate_iops=9000"}, {"load.randseed=5"}},
      {{"firmware.buffer.mode=write-through", "load.bs=32k"}, {"firmware.buffer.flush_at=50 %"}},
      {{"firmware.gc.background_start=0 %"}, {"firmware.gc.background_stop=30 %"}},
      {k_pausing, {"firmware.gc.idle_target=90 %", "firmware.pslc.idle_target=50 %"}},
      {k_pslc, {"firmware.pslc.idle_target=50 %"}},
      {{"contents.duplicates=0 %"}, {"contents.pool=5", "contents.theta=2"}},
      {{}, {"precondition.0.region=50 %", "precondition.0.random_distribution=zipf:1.1"}},
      {{"precondition.0.overwrite=1x"}, {"precondition.0.region=50 %"}},
      {{"precondition.0.overwrite=1x", "precondition.0.order=sequential"},
       {"precondition.0.random_distribution=zipf:1.1"}},
      {{"precondition.0.trim=20 %"}, {"precondition.0.random_distribution=zipf:1.1"}},
      {{"firmware.gc.idle_after=1 ms", "precondition.1={idle: true}"},
       {"precondition.1.region=50 %", "precondition.1.order=sequential", "precondition.1.bs=8 KiB",
        "precondition.1.random_distribution=zipf:1.1"}},
      {{}, {"age.temperature=80 C", "age.powered=true"}},
      {{"age.retention=1 y"}, {"age.temperature=80 C", "age.powered=true"}},
      {joined(k_errors, {"age.reads=1000"}), {"age.temperature=80 C", "age.powered=true"}},
      {{"load.rw=randread"}, {"load.rwmixread=30", "load.fsync=3"}},
      {{"load.rwmixread=100"}, {"load.fsync=3", "load.end_fsync=true"}},
      {{"load.rw=randtrimwrite"}, {"load.rwmixwrite=30"}},
      {{"load.rwmixwrite=30"}, {"load.rwmixread=30"}},
      {{"load.rw=write"},
       {"load.random_distribution=zipf:1.1", "load.percentage_random=20", "load.norandommap=false"}},
      {{"load.random_distribution=zipf:1.1"}, {"load.norandommap=false"}},
      {{}, {"load.hot_set=5"}},
      {{"load.random_distribution=zoned:60/10:40/90"}, {"load.hot_set=5"}},
      {{"precondition.0.overwrite=1x"}, {"precondition.0.hot_set=5"}},
      {{}, {"load.offset_increment=10%", "load.rate_process=poisson", "load.thinktime_blocks=9"}},
      {{"load.offset=10%"}, {"load.offset_increment=10%"}},
      {k_untimed,
       {"firmware.gc.idle_after=1 ms", "firmware.gc.idle_target=90 %", "load.thinktime=1 ms",
        "load.thinktime_blocks=9", "load.startdelay=1 ms", "load.ramp_time=1 ms", "load.runtime=1 ms"}},
      {k_untimed_writes, {"load.rate_iops=1000", "load.rate_process=poisson"}},
      {k_untimed_writes, {"load.rate=1m"}},
      {k_untimed, {"report.timeline=true", "report.window.from=1 ms", "report.command_log=csv"}},
  };
  for (const Case& tried : cases) {
    INFO(text(tried));
    const Trial trial(tried);
    for (const std::string& setting : tried.settings) {
      INFO(setting);
      CHECK(trial.names(setting));
    }
    CHECK(trial.same());
  }
}

TEST_CASE("a parameter that plays a part is not named, and the report is another without it",
          "[program][starts]") {
  const Case cases[] = {
      {{}, {"ssd.host.max_payload=512"}},
      {{}, {"ssd.host.max_read_request=128"}},
      {{}, {"ssd.host.tlp_overhead=20"}},
      {{}, {"ssd.host.dllp_overhead=20"}},
      {{"ssd.host.link=pcie6x4"}, {"ssd.host.max_payload=512"}},
      {{"load.numjobs=4", "load.iodepth=16"}, {"ssd.host.queues=1"}},
      {{"load.numjobs=4", "load.iodepth=64", "ssd.host.outstanding_limit=8"}, {"ssd.host.burst=5"}},
      {{"ssd.host.coalesce_count=4"}, {"ssd.host.coalesce_time=7 us"}},
      {{"ssd.host.memory_buffer=64 KiB", "firmware.mapping.scheme=dftl", "firmware.mapping.cache=64 KiB",
        "firmware.mapping.cache_in=host"},
       {"ssd.host.memory_latency=7 us"}},
      {{"ssd.flash.suspend=program"}, {"ssd.flash.part.suspend_point=next"}},
      {{"ssd.flash.suspend=both"}, {"ssd.flash.part.suspend_point=last"}},
      {{"ssd.flash.suspend=program"}, {"ssd.flash.part.program_suspend_latency=90 us"}},
      {{k_blocks, "ssd.flash.suspend=erase", "load.iodepth=16", "load.number_ios=3000"},
       {"ssd.flash.part.erase_suspend_latency=90 us"}},
      {{"ssd.flash.suspend=program"}, {"ssd.flash.part.resume_overhead=90 us"}},
      {{"ssd.flash.suspend=both"}, {"ssd.flash.part.max_suspends=0"}},
      {{"ssd.flash.suspend=both"}, {"ssd.flash.part.min_resume_time=2 ms"}},
      {{"ssd.flash.cache_operations=true"}, {"ssd.flash.part.t_cbsy=90 us"}},
      {{"ssd.flash.cache_operations=true", "load.bs=32k"}, {"ssd.flash.part.cache_program=false"}},
      {{"ssd.flash.cache_operations=true", "load.rw=randread", "load.iodepth=32"},
       {"ssd.flash.part.t_rcbsy=90 us"}},
      {{"ssd.flash.cache_operations=true", "load.rw=randread", "load.iodepth=32"},
       {"ssd.flash.part.cache_read=false"}},
      {{"ssd.scm.capacity=1 MiB", "firmware.cache.policy=read-write", "firmware.cache.capacity=512 KiB"},
       {"ssd.scm.read_latency=90 us"}},
      {joined(k_errors, {"age.cycles=2000", "age.retention=30 d"}),
       {"ssd.flash.reliability.dispersion=0.01"}},
      {joined(k_errors, {"age.cycles=2000", "age.retention=30 d"}),
       {"ssd.flash.reliability.retry_shift=0.02"}},
      // The step by default is that much further from the best voltages.
      {joined(k_fixed,
              {"ssd.flash.reliability.retry_step_errors=0.001", "age.cycles=2000", "age.retention=30 d"}),
       {"ssd.flash.reliability.retry_shift=0.02"}},
      {joined(k_fixed, {"firmware.ecc.code=ep-ldpc", "age.cycles=2000", "age.retention=30 d"}),
       {"ssd.flash.ecc.prediction=cell-interference", "ssd.flash.ecc.coupling=0.04"}},
      {joined(k_errors, {"age.cycles=2000"}), {"age.retention=30 d"}},
      {joined(k_errors, {"age.cycles=2000"}), {"age.reads=100000"}},
      {{"load.bssplit=4k/50:8k/50,"}, {"load.bs=16k"}},
      {{}, {"load.bsrange=4k-16k"}},
      {{"load.number_ios=0", "load.runtime=5 ms"}, {"load.io_size=64k"}},
      {{"load.number_ios=0", "load.io_size=64k"}, {"load.loops=2"}},
      {{}, {"load.randseed=5"}},
      {{"load.random_distribution=zipf:1.1"}, {"load.hot_set=5"}},
      {{"precondition.0.overwrite=1x", "precondition.0.random_distribution=pareto:0.2"},
       {"precondition.0.hot_set=5"}},
      {{"load.rw=write", "load.bssplit=4k/50:8k/50"}, {"load.randseed=5"}},
      {{"load.rw=write", "load.rate_iops=9000", "load.rate_process=poisson"}, {"load.randseed=5"}},
      {{}, {"firmware.buffer.flush_at=50 %"}},
      // Pages of the map are waited for by no command.
      {{"firmware.buffer.mode=write-through", "firmware.mapping.scheme=dftl", "firmware.mapping.cache=4 KiB"},
       {"firmware.buffer.flush_at=50 %"}},
      {joined(k_pausing, {"firmware.gc.background_start=20 %", "firmware.gc.background_stop=25 %"}),
       {"firmware.gc.background_stop=60 %"}},
      {k_pausing, {"firmware.gc.idle_after=1 ms"}},
      {joined(k_pausing, {"firmware.gc.idle_after=1 ms"}), {"firmware.gc.idle_target=20 %"}},
      {{k_blocks, "run.timed=false", "firmware.gc.idle_after=1 ms", "precondition.1={overwrite: 1x}",
        "precondition.1.idle=true"},
       {"firmware.gc.idle_target=20 %"}},
      {joined(k_pslc, {"firmware.gc.idle_after=1 ms"}), {"firmware.pslc.idle_target=10 %"}},
      {{"precondition.1={overwrite: 1x}"}, {"precondition.1.region=50 %"}},
      {{"precondition.1={trim: 20 %}"}, {"precondition.1.region=50 %"}},
      {{"precondition.1={overwrite: 1x}"}, {"precondition.1.random_distribution=zipf:1.1"}},
      {{"precondition.1={until: steady}", "precondition.1.most_rounds=5"},
       {"precondition.1.random_distribution=zipf:1.1"}},
      {{"precondition.1={overwrite: 1x}"}, {"precondition.1.order=sequential"}},
      {{"precondition.1={overwrite: 1x}"}, {"precondition.1.bs=16 KiB"}},
      {{"precondition.1={trim: 20 %}"}, {"precondition.1.order=sequential"}},
      {joined(k_errors, {"age.retention=30 d", "age.cycles=2000"}), {"age.temperature=80 C"}},
      {joined(k_errors,
              {"age.retention=30 d", "firmware.refresh.policy=limits", "firmware.refresh.retention=10 d"}),
       {"age.powered=true"}},
      {{}, {"load.rwmixread=30"}},
      {{}, {"load.rwmixwrite=30"}},
      {{}, {"load.fsync=3", "load.end_fsync=true"}},
      {{"load.rw=randtrimwrite"}, {"load.fsync=3", "load.end_fsync=true"}},
      {{"load.rwmixread=0"}, {"load.fsync=3", "load.end_fsync=true"}},
      {{"load.numjobs=2", "load.size=50%"}, {"load.offset_increment=50%"}},
      {{}, {"load.random_distribution=zipf:1.1"}},
      {{}, {"load.percentage_random=20"}},
      {{}, {"load.norandommap=false"}},
      {{"load.rate_iops=1000"}, {"load.rate_process=poisson"}},
      {{"load.rate=1m"}, {"load.rate_process=poisson"}},
      {{"load.thinktime=1 ms"}, {"load.thinktime_blocks=9"}},
      {{"run.timed=false"}, {"load.rate_iops=1000,3000"}},
      {{"run.timed=false", "load.rate_iops=1000,3000"}, {"load.rate_process=poisson"}},
      {{}, {"load.runtime=1 ms"}},
      {{}, {"load.ramp_time=1 ms"}},
      {{}, {"load.ramp_requests=100"}},
      {{"run.timed=false"}, {"load.ramp_requests=100"}},
      {{}, {"load.startdelay=1 ms"}},
      {k_two_untimed, {"load.0.rate_iops=1000"}},
      {joined(k_two_untimed, {"load.0.rate_iops=1000"}), {"load.0.startdelay=10 ms"}},
      {{}, {"report.command_log=csv"}},
      {{}, {"report.timeline=true"}},
  };
  for (const Case& tried : cases) {
    INFO(text(tried));
    const Trial trial(tried);
    for (const std::string& setting : tried.settings) CHECK_FALSE(trial.names(setting));
    CHECK_FALSE(trial.same());
  }
}

TEST_CASE("what is said of further jobs does not excuse the offset of a single one", "[program]") {
  const Folder folder;
  const Outcome outcome = run(folder, {"run", folder.write("s.yaml", k_drive), "--set", "load.offset=1000",
                                       "--set", "load.offset_increment=10%"});
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, Catch::Contains("offset: 1000 B is not a multiple"));
}

TEST_CASE("of several loads, each is told of its own parameters", "[program]") {
  const Folder folder;
  const std::string scenario =
      folder.write("s.yaml", replaced(k_drive, "load: {rw: randrw, iodepth: 4, number_ios: 600}",
                                      "load:\n"
                                      "  - {rw: randread, fsync: 4, thinktime_blocks: 9, number_ios: 100}\n"
                                      "  - {rw: randwrite, fsync: 4, norandommap: true, number_ios: 100}\n"
                                      "  - {rw: write, fsync: 4, norandommap: false, number_ios: 100}"));
  const std::string at = " (" + scenario + ":";
  CHECK(report_of(folder, scenario, "a")["unread_parameters"] ==
        Json({"load.0.thinktime_blocks" + at + "15)", "load.0.fsync" + at + "15)",
              "load.2.norandommap" + at + "17)"}));
}

TEST_CASE("what a data sheet or a job file says is not named", "[program]") {
  const Folder folder;
  folder.write(
      "sheet.yaml",
      "{planes: 1, blocks_per_plane: 32, pages_per_block: 16, page_size: 4 KiB, suspend_point: next}\n");
  folder.write("jobs.fio",
               "[a]\nrw=write\nnorandommap=1\nrwmixread=70\nthinktime_blocks=4\nfsync=9\nio_size=1m\n");
  const std::string part = "part: {planes: 1, blocks_per_plane: 32, pages_per_block: 16, page_size: 4 KiB}";
  std::string text = replaced(k_drive, part, "part: sheet.yaml");
  text = replaced(text, "{rw: randrw, iodepth: 4, number_ios: 600}", "{fio: jobs.fio}");
  CHECK(report_of(folder, folder.write("s.yaml", text), "a")["unread_parameters"].empty());
}

TEST_CASE("a resolved scenario names what the scenario named, but for its part", "[program]") {
  const Folder folder;
  folder.write("sheet.yaml",
               "{planes: 1, blocks_per_plane: 32, pages_per_block: 16, page_size: 4 KiB, cache_read: false, "
               "cache_program: false, suspend_point: next}\n");
  const std::string part = "part: {planes: 1, blocks_per_plane: 32, pages_per_block: 16, page_size: 4 KiB}";
  std::string text = replaced(k_drive, part, "part: sheet.yaml");
  text = replaced(text, "{rw: randrw, iodepth: 4, number_ios: 600}",
                  "{rw: randread, fsync: 4, iodepth: 4, number_ios: 600}");
  const auto named = [&](const std::string& scenario, const std::string& name,
                         const std::vector<std::string>& more = {}) {
    std::vector<std::string> paths;
    const Json report = report_of(folder, scenario, name, more);
    for (const std::string line : report["unread_parameters"])
      paths.push_back(line.substr(0, line.find(' ')));
    return paths;
  };
  using Paths = std::vector<std::string>;
  CHECK(named(folder.write("s.yaml", text), "a") == Paths{"load.0.fsync"});
  const std::string resolved = folder / "a/scenario.yaml";
  CHECK(named(resolved, "b") == Paths{"load.0.fsync"});
  CHECK(named(resolved, "c", {"--set", "ssd.flash.part.cache_read=false"}) ==
        Paths{"ssd.flash.part.cache_read", "load.0.fsync"});
}

TEST_CASE("options of traces and of places that nothing asks for are named", "[program]") {
  const Folder folder;
  folder.write("t.csv", "10,h,0,Read,0,4096,0\n20,h,0,Write,4096,4096,0\n");
  folder.write("q.txt", "  8,0 1 1 0.000000001 1 C R 0 + 8 [fio]\n  8,0 1 2 0.000000002 1 C R 8 + 8 [fio]\n");
  const auto named = [&](const std::string& load, const Sets& sets, const std::string& key) {
    const std::string scenario =
        folder.write("s.yaml", replaced(k_small, "load: {rw: randrw, number_ios: 500}", "load: " + load));
    const Json report = report_of(folder, scenario, "out", joined({"--force"}, set_options(sets)));
    for (const std::string name : report["unread_parameters"])
      if (name.find(key) != std::string::npos) return true;
    return false;
  };
  CHECK(named("{rw: write, bs: 4k, number_ios: 10, blockalign: 16k}", {}, "blockalign"));
  CHECK_FALSE(named("{rw: randwrite, bs: 4k, number_ios: 10, blockalign: 16k}", {}, "blockalign"));
  CHECK(named("{trace: t.csv, action: C}", {}, "action"));
  CHECK_FALSE(named("{trace: q.txt, action: C}", {}, "action"));
  const std::string open = "{trace: t.csv, pacing: open-loop, time_scale: 0.5}";
  CHECK(named(open, {"run.timed=false"}, "time_scale"));
  CHECK_FALSE(named(open, {}, "time_scale"));
}

}  // namespace tlmssd::program_tests
