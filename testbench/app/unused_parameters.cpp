#include "testbench/app/unused_parameters.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>

#include "firmware/base/config.h"
#include "firmware/ecc/ecc_policy.h"
#include "models/base/input_error.h"
#include "models/flash/ecc/ecc_config.h"
#include "models/flash/flash_config.h"
#include "models/host/host_config.h"
#include "models/nand/reliability/bit_errors.h"
#include "models/nand/reliability/retention_clock.h"
#include "platform/plugins/loader.h"
#include "testbench/app/age.h"
#include "testbench/app/precondition.h"
#include "testbench/app/scenario_catalogue.h"
#include "testbench/app/scenario_loads.h"
#include "testbench/loads/config/load_config.h"
#include "testbench/loads/requests/distribution.h"
#include "testbench/loads/traces/trace_reader.h"
#include "testbench/scoreboard/contents.h"

namespace tlmssd {

namespace {

/// What the conditions of the tables ask: the section that the key stands in, and others.
class Around {
 public:
  Around(const Scenario& scenario, std::string section) : scenario_(scenario), section_(std::move(section)) {}

  template <class Config>
  [[nodiscard]] Config here() const {
    return Config::parameters().read(scenario_.glance(section_));
  }
  template <class Config>
  [[nodiscard]] Config in(std::string_view section) const {
    return Config::parameters().read(scenario_.glance(section));
  }
  [[nodiscard]] PreconditionStep step() const { return PreconditionStep::read(scenario_.glance(section_)); }
  /// The name that a section's policy is chosen by.
  [[nodiscard]] std::string policy(std::string_view section) const { return scenario_.policy(section); }
  /// A section's values, as what is made of them reads them.
  [[nodiscard]] Glance values(std::string_view section) const { return scenario_.glance(section); }
  /// Another value than the default: of a policy, one is chosen.
  [[nodiscard]] bool changes(std::string_view path) const { return scenario_.changes(path); }
  /// Features from outside may be there, which may do what our own do.
  [[nodiscard]] bool extended() const { return !loaded_plugins().empty(); }
  [[nodiscard]] bool timed() const { return in<RunSection>("run").timed; }
  /// The format of the load's trace: as it says, or as it is recognised; empty: it cannot be read.
  [[nodiscard]] std::string trace_format() const {
    const auto trace = here<TraceConfig>();
    if (trace.format != "auto") return trace.format;
    try {
      const std::string file = found_file(scenario_.folder(), here<LoadKindConfig>().trace, "trace");
      return std::string(TraceReader({file, trace, here<BlkparseConfig>(), {}}).format().name);
    } catch (const InputError&) {
      return {};
    }
  }
  /// Other loads run beside those of this entry.
  [[nodiscard]] bool beside_others() const { return scenario_.count("load") > 1; }
  /// The firmware may meet idle time, and does something in it.
  [[nodiscard]] bool idle_work() const {
    return in<firmware::GcConfig>("firmware.gc").idle_after > 0 && idle_time();
  }
  [[nodiscard]] bool idle_time() const {
    bool idle = timed();
    for (std::size_t i = 0; i < scenario_.count("precondition") && !idle; ++i) {
      const auto step = PreconditionStep::read(scenario_.glance(fmt::format("precondition.{}", i)));
      idle = step.idle || step.steady.wanted();
    }
    return idle;
  }

 private:
  const Scenario& scenario_;
  std::string section_;
};

/// Keys of a section, and whether they play a part. Of a key that stands in several rows, all must
/// say so.
struct Row {
  std::string_view section;
  std::vector<std::string_view> keys;
  bool (*play_a_part)(const Around& around);
};

bool draws_from_all_alike(const GeneratorConfig& load) {
  return load.is_random() &&
         parse_distribution(load.random_distribution).kind == DistributionSpec::Kind::random;
}

/// Something is drawn: places, directions, sizes or gaps.
bool draws(const GeneratorConfig& load) {
  const bool gaps = load.is_poisson() && (!load.rate.empty() || !load.rate_iops.empty());
  return load.is_random() || load.mixes_reads_and_writes() || !load.bssplit.empty() ||
         !load.bsrange.empty() || gaps;
}

/// Something knows how long data have lain, or how often they were read.
bool tells_age(const Around& around) {
  static constexpr std::string_view k_may_know[] = {
      "ssd.flash.reliability.model", "ssd.flash.part.timing", "firmware.refresh.policy",
      "firmware.gc.policy",          "firmware.wear.policy",  "firmware.ecc.policy",
      "firmware.pslc.policy",        "firmware.cache.policy", "firmware.model"};
  return around.extended() || std::any_of(std::begin(k_may_know), std::end(k_may_know),
                                          [&](std::string_view path) { return around.changes(path); });
}

/// Something knows how warm it was while data lay.
bool tells_warmth(const Around& around) {
  if (around.in<RetentionConfig>("ssd.flash.reliability").activation_energy == 0) return false;
  return around.changes("ssd.flash.reliability.model") || around.changes("ssd.flash.part.timing");
}

/// Firmware may look after data while they lie.
bool may_look_after(const Around& around) {
  return around.changes("firmware.refresh.policy") || around.changes("firmware.model") || around.extended();
}

/// Something knows how often data were read, or is worn by it.
bool tells_reads(const Around& around) {
  static constexpr std::string_view k_may_know[] = {"ssd.flash.part.timing", "firmware.refresh.policy",
                                                    "firmware.placement.policy",
                                                    "firmware.pass_voltage.policy", "firmware.model"};
  if (around.extended() || std::any_of(std::begin(k_may_know), std::end(k_may_know),
                                       [&](std::string_view path) { return around.changes(path); }))
    return true;
  constexpr std::string_view k_errors = "ssd.flash.reliability";
  if (!around.changes("ssd.flash.reliability.model")) return false;
  const auto model = reliability_models().make(around.policy(k_errors), around.values(k_errors), NandPart{});
  constexpr double k_worn = 1000;
  constexpr double k_many = 1e6;
  return model == nullptr || model->rber({.cycles = k_worn, .age_days = 1, .reads_per_page = k_many}) !=
                                 model->rber({.cycles = k_worn, .age_days = 1});
}

/// Blocks may be in SLC mode.
bool has_slc_mode(const Around& around) {
  return around.extended() || around.changes("firmware.model") || around.changes("firmware.pslc.policy") ||
         around.changes("firmware.pslc.promotion.policy");
}

/// The ECC policy that is chosen, of a drive with one block; null: there is none, or another
/// firmware.
std::unique_ptr<firmware::EccPolicy> ecc_policy(const Around& around) {
  if (around.extended() || around.changes("firmware.model")) return nullptr;
  constexpr std::string_view k_section = "firmware.ecc";
  return firmware::ecc_family().make(around.policy(k_section), around.values(k_section),
                                     firmware::EccContext{.blocks = 1});
}

/// A code may be asked for of which the error prediction says what it corrects.
bool may_predict(const Around& around) {
  const auto policy = ecc_policy(around);
  if (policy == nullptr) return true;
  const auto codes = EccConfig::default_codes();
  for (std::size_t i = 1; i < codes.size(); ++i)
    if (codes[i].side != SideInformation::none && policy->codes().has(static_cast<EccCode>(i))) return true;
  return false;
}

/// The policy that is chosen may ask for the code; hard-ldpc is what an error prediction goes by.
bool may_ask_for(const Around& around, std::string_view code) {
  const bool predicts = around.changes("ssd.flash.ecc.prediction") && may_predict(around);
  if (code == ecc_code_name(EccCode::hard_ldpc) && predicts) return true;
  const auto policy = ecc_policy(around);
  return policy == nullptr || policy->codes().has(ecc_code_called(code));
}

/// Pages may be read at other steps of the read-retry levels than the default one.
bool may_shift_voltages(const Around& around) {
  const auto policy = ecc_policy(around);
  if (policy == nullptr) return true;
  const firmware::PageFacts page{.block = firmware::BlockNumber{0}};
  firmware::ReadAttempt last = policy->first(page);
  for (std::uint32_t tried = 1; last.retry_level == 0; ++tried) {
    const auto next = policy->next(page, last, tried);
    if (!next || tried >= firmware::k_most_attempts) return false;
    last = *next;
  }
  return true;
}

/// The best read voltages matter: to read-retry levels, or to the default step, far from them.
bool shifts_matter(const Around& around) {
  return may_shift_voltages(around) || around.here<ErrorConfig>().retry_step_errors > 0;
}

using Rows = std::vector<Row>;

const Rows& rows_of_hardware() {
  static const std::vector<std::string_view> k_of_code = {"correctable", "waterfall",  "extra_senses",
                                                          "word_line",   "throughput", "latency"};
  static const Rows rows = {
      {"ssd.host",
       {"queues", "max_payload", "max_read_request", "tlp_overhead", "dllp_overhead"},
       [](const Around& a) { return !a.here<HostConfig>().is_sata(); }},
      {"ssd.host",
       {"tlp_overhead", "dllp_overhead"},
       [](const Around& a) { return parse_link(a.here<HostConfig>().link).generation < 6; }},
      {"ssd.host",
       {"burst"},
       [](const Around& a) {
         const auto host = a.here<HostConfig>();
         return !host.is_weighted() && host.effective_queues() > 1;
       }},
      {"ssd.host",
       {"coalesce_time"},
       [](const Around& a) { return a.here<HostConfig>().coalesce_count > 1; }},
      {"ssd.host",
       {"memory_buffer", "memory_latency"},
       [](const Around& a) {
         const bool cached = a.changes("firmware.mapping.scheme") && a.changes("firmware.mapping.cache_in");
         return a.here<HostConfig>().memory_buffer > 0 &&
                (cached || a.changes("firmware.model") || a.extended());
       }},
      {"ssd.flash.part",
       {"suspend_point", "program_pulse", "program_suspend_latency"},
       [](const Around& a) { return a.in<FlashConfig>("ssd.flash").suspends_programs(); }},
      {"ssd.flash.part",
       {"erase_suspend_latency"},
       [](const Around& a) { return a.in<FlashConfig>("ssd.flash").suspends_erases(); }},
      {"ssd.flash.part",
       {"resume_overhead", "max_suspends", "min_resume_time"},
       [](const Around& a) {
         const auto flash = a.in<FlashConfig>("ssd.flash");
         return flash.suspends_programs() || flash.suspends_erases();
       }},
      {"ssd.flash.part",
       {"cache_read", "cache_program", "t_rcbsy", "t_cbsy"},
       [](const Around& a) { return a.in<FlashConfig>("ssd.flash").cache_operations; }},
      {"ssd.flash.part",
       {"endurance_spread", "grown_bad_blocks"},
       [](const Around& a) { return a.here<NandPart>().endurance > 0; }},
      {"ssd.flash.reliability", {"slc_error_share"}, has_slc_mode},
      {"ssd.flash.reliability",
       {"dispersion"},
       [](const Around& a) { return !a.here<ErrorConfig>().is_binomial(); }},
      {"ssd.flash.reliability",
       {"retry_floor"},
       [](const Around& a) { return a.here<ErrorConfig>().retry_step_errors == 0 && may_shift_voltages(a); }},
      {"ssd.flash.reliability", {"retry_shift", "retry_cycle_exponent"}, shifts_matter},
      {"ssd.flash.reliability",
       {"temperature"},
       [](const Around& a) {
         const bool ages = a.timed() && a.here<RetentionConfig>().activation_energy > 0;
         return ages || a.changes("ssd.flash.part.timing") || a.extended();
       }},
      {"ssd.flash.reliability",
       {"reference_temperature"},
       [](const Around& a) { return a.here<RetentionConfig>().activation_energy > 0 || a.extended(); }},
      {"ssd.flash.ecc", {"prediction", "coupling", "charge_loss"}, may_predict},
      {"ssd.flash.ecc.bch", k_of_code, [](const Around& a) { return may_ask_for(a, "bch"); }},
      {"ssd.flash.ecc.hard-ldpc", k_of_code, [](const Around& a) { return may_ask_for(a, "hard-ldpc"); }},
      {"ssd.flash.ecc.soft-ldpc", k_of_code, [](const Around& a) { return may_ask_for(a, "soft-ldpc"); }},
      {"ssd.flash.ecc.quick-ldpc", k_of_code, [](const Around& a) { return may_ask_for(a, "quick-ldpc"); }},
      {"ssd.flash.ecc.ep-ldpc", k_of_code, [](const Around& a) { return may_ask_for(a, "ep-ldpc"); }},
      {"ssd.flash.reliability",
       {"pass_decay", "pass_margin", "pass_errors"},
       [](const Around& a) {
         return a.changes("firmware.pass_voltage.policy") || a.changes("firmware.model") || a.extended();
       }},
      {"ssd.scm",
       {"read_latency", "program_latency", "banks", "bandwidth", "wear_region"},
       [](const Around& a) {
         const bool cached = a.changes("firmware.cache.policy") &&
                             a.in<firmware::CacheConfig>("firmware.cache").lies_in_scm();
         return cached || a.changes("firmware.model") || a.extended();
       }},
  };
  return rows;
}

const Rows& rows_of_firmware() {
  static const Rows rows = {
      {"firmware.buffer",
       {"flush_at"},
       [](const Around& a) {
         // Some of what goes through the buffer is waited for by no one.
         return !a.here<firmware::BufferConfig>().is_write_through() || a.changes("firmware.cache.policy") ||
                a.changes("firmware.mapping.scheme") || a.changes("firmware.pslc.promotion.policy") ||
                a.extended();
       }},
      {"firmware.gc",
       {"background_stop"},
       [](const Around& a) { return a.here<firmware::GcConfig>().background_start > 0; }},
      {"firmware.gc", {"idle_after"}, [](const Around& a) { return a.idle_time(); }},
      {"firmware.gc", {"idle_target"}, [](const Around& a) { return a.idle_work(); }},
      {"firmware.pslc", {"idle_target"}, [](const Around& a) { return a.idle_work(); }},
  };
  return rows;
}

/// Of what comes before the load.
const Rows& rows_of_preparation() {
  static const Rows rows = {
      {"contents",
       {"pool", "theta"},
       [](const Around& a) { return a.here<ContentsConfig>().duplicates > 0; }},
      {"precondition", {"order", "bs"}, [](const Around& a) { return a.step().makes_requests(); }},
      {"precondition",
       {"region"},
       [](const Around& a) {
         const PreconditionStep step = a.step();
         return step.makes_requests() && step.fill == 0;
       }},
      {"precondition",
       {"random_distribution", "hot_set"},
       [](const Around& a) {
         const PreconditionStep step = a.step();
         return !step.is_sequential() && (step.overwrite > 0 || step.steady.wanted());
       }},
      {"precondition",
       {"hot_set"},
       [](const Around& a) { return parse_distribution(a.step().random_distribution).prefers_places(); }},
      {"precondition", {"rest"}, tells_age},
      {"precondition", {"reads"}, tells_reads},
      {"precondition", {"temperature"}, [](const Around& a) { return a.step().rest > 0 && tells_warmth(a); }},
      {"precondition", {"powered"}, [](const Around& a) { return a.step().rest > 0 && may_look_after(a); }},
      {"age", {"retention"}, tells_age},
      {"age", {"reads"}, tells_reads},
      {"age",
       {"temperature"},
       [](const Around& a) { return a.here<AgeConfig>().retention > 0 && tells_warmth(a); }},
      {"age",
       {"powered"},
       [](const Around& a) { return a.here<AgeConfig>().retention > 0 && may_look_after(a); }},
  };
  return rows;
}

const Rows& rows_of_loads() {
  static const Rows rows = {
      {"load",
       {"rwmixread", "rwmixwrite"},
       [](const Around& a) { return a.here<GeneratorConfig>().asks_for_mix(); }},
      {"load", {"rwmixread"}, [](const Around& a) { return a.here<GeneratorConfig>().rwmixwrite < 0; }},
      {"load",
       {"bs"},
       [](const Around& a) {
         const auto load = a.here<GeneratorConfig>();
         // Of several splits, one that is empty is this.
         return load.bssplit.empty() ? load.bsrange.empty() : load.bssplit.find(',') != std::string::npos;
       }},
      {"load", {"bsrange"}, [](const Around& a) { return a.here<GeneratorConfig>().bssplit.empty(); }},
      {"load", {"io_size", "loops"}, [](const Around& a) { return !a.here<GeneratorConfig>().time_based; }},
      {"load", {"randseed"}, [](const Around& a) { return draws(a.here<GeneratorConfig>()); }},
      {"load", {"fsync", "end_fsync"}, [](const Around& a) { return a.here<GeneratorConfig>().writes(); }},
      {"load", {"offset_increment"}, [](const Around& a) { return a.here<GeneratorConfig>().numjobs > 1; }},
      {"load",
       {"random_distribution", "percentage_random", "hot_set"},
       [](const Around& a) { return a.here<GeneratorConfig>().is_random(); }},
      {"load",
       {"hot_set"},
       [](const Around& a) {
         return parse_distribution(a.here<GeneratorConfig>().random_distribution).prefers_places();
       }},
      {"load", {"blockalign"}, [](const Around& a) { return a.here<GeneratorConfig>().is_random(); }},
      {"load",
       {"action"},
       [](const Around& a) {
         const std::string format = a.trace_format();
         return format.empty() || format == "blkparse";
       }},
      {"load",
       {"norandommap"},
       [](const Around& a) { return draws_from_all_alike(a.here<GeneratorConfig>()); }},
      {"load",
       {"rate_process"},
       [](const Around& a) {
         const auto load = a.here<GeneratorConfig>();
         return !load.rate.empty() || !load.rate_iops.empty();
       }},
      {"load", {"thinktime_blocks"}, [](const Around& a) { return a.here<GeneratorConfig>().thinktime > 0; }},
      // What a load says of time, where none passes. Rates also decide in which order reads and
      // writes of a mix come, and, as delays, whose requests come first.
      {"load", {"thinktime", "thinktime_blocks", "ramp_time"}, [](const Around& a) { return a.timed(); }},
      {"load",
       {"startdelay", "time_scale", "longest_gap"},
       [](const Around& a) { return a.timed() || a.beside_others(); }},
      {"load",
       {"rate", "rate_iops", "rate_process"},
       [](const Around& a) {
         return a.timed() || a.beside_others() || a.here<GeneratorConfig>().mixes_reads_and_writes();
       }},
      {"load",
       {"runtime"},
       [](const Around& a) { return a.timed() || a.here<GeneratorConfig>().time_based; }},
  };
  return rows;
}

/// Of an untimed run, files of what happens when are not written.
const Rows& rows_of_reports() {
  static const Rows rows = {
      {"report", {"command_log", "timeline"}, [](const Around& a) { return a.timed(); }},
      {"report.window", {"from", "length", "slowest", "margin"}, [](const Around& a) { return a.timed(); }},
  };
  return rows;
}

constexpr const Rows& (*k_tables[])() = {&rows_of_hardware, &rows_of_firmware, &rows_of_preparation,
                                         &rows_of_loads, &rows_of_reports};

/// A path without its list positions, as the catalogue has it.
std::string generic(std::string_view path) {
  std::string result;
  for (const std::string& word : split_path(path))
    if (!is_position(word)) result = join_path(result, word);
  return result;
}

/// A data sheet says what it says whatever the run makes of it: values of its file, or of a section
/// that gives all that such a file can, as a resolved scenario does.
bool is_of_data_sheet(const Scenario& scenario, const SectionValues& section,
                      const SectionValues::Setting& setting) {
  if (setting.origin.set) return false;
  if (*setting.origin.file != scenario.file()) return true;
  return section.section->is_from_file() &&
         std::all_of(section.settings.begin(), section.settings.end(), [](const SectionValues::Setting& one) {
           return one.given.has_value() || one.spec->optional;
         });
}

}  // namespace

std::vector<Unread> unused_parameters(const Scenario& scenario) {
  return scenario.unread([&](const SectionValues& section, const SectionValues::Setting& setting) {
    if (is_of_data_sheet(scenario, section, setting)) return false;
    const Around around(scenario, section.path);
    const std::string path = generic(section.path);
    const auto leaves_it_out = [&](const Row& row) {
      return row.section == path &&
             std::find(row.keys.begin(), row.keys.end(), setting.spec->name) != row.keys.end() &&
             !row.play_a_part(around);
    };
    return std::any_of(std::begin(k_tables), std::end(k_tables), [&](const auto table) {
      return std::any_of(table().begin(), table().end(), leaves_it_out);
    });
  });
}

}  // namespace tlmssd
