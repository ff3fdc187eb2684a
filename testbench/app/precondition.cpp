#include "testbench/app/precondition.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "models/base/input_error.h"
#include "models/nand/reliability/retention_clock.h"

namespace tlmssd {

using namespace literals;

PreconditionStep PreconditionStep::read(const ParameterValues& values) {
  PreconditionStep step = parameters().read(values);
  step.steady = SteadyConfig::read(values);
  if (step.steady.wanted()) step.iodepth = steady_parameters().read(values).iodepth;
  return step;
}

const ParameterTable<PreconditionStep>& PreconditionStep::steady_parameters() {
  static const auto table = ParameterTable<PreconditionStep>{}.integer(
      "iodepth", &PreconditionStep::iodepth, {1, 65536},
      "writes outstanding with until: steady, which takes simulated time");
  return table;
}

const ParameterTable<PreconditionStep>& PreconditionStep::parameters() {
  static const auto table =
      ParameterTable<PreconditionStep>{}
          .choice(
              "state", &PreconditionStep::state, {"as-is", "steady"},
              "steady: the drive is full and in the state in which random overwriting of all of it by the "
              "mapping page leaves it in the end, mostly without being written")
          .share(
              "fill", &PreconditionStep::fill, {0, 1},
              "share of the user capacity, from its start, to write once, in random order or as order says")
          .share("overwrite", &PreconditionStep::overwrite, {0, 1000},
                 "how much to write over the region, as a multiple of its size (2x: every block twice on "
                 "average)")
          .share("trim", &PreconditionStep::trim, {0, 1},
                 "share of the region's blocks to trim, chosen at random")
          .share("region", &PreconditionStep::region, {0, 1},
                 "share of the user capacity, from its start, that overwrite and trim touch")
          .choice("order", &PreconditionStep::order, {"sequential", "random"}, "order of the writes")
          .bytes("bs", &PreconditionStep::bs, {0, 1_GiB},
                 "size of one write; 0: 128 KiB in sequential order, the mapping page in random order")
          .text("random_distribution", &PreconditionStep::random_distribution,
                "which blocks random overwrites prefer, in fio's words (random, zipf:1.1, pareto:0.2, "
                "zoned:50/10:50/90)")
          .filled()
          .integer("hot_set", &PreconditionStep::hot_set, {0, 1000000000},
                   "as load.hot_set: the places that a load of the same number, size and block size prefers; "
                   "0: others")
          .flag("sustained", &PreconditionStep::sustained,
                "the host never pauses: nothing is collected in the background, and the load goes on from "
                "there as part of the same writing; false: the drive comes to rest, with "
                "gc.background_stop free")
          .flag("idle", &PreconditionStep::idle,
                "then the drive is left alone until its firmware has nothing more to do in idle time: "
                "collecting up to "
                "gc.idle_target, folding up to pslc.idle_target (needs gc.idle_after)")
          .duration("rest", &PreconditionStep::rest, {0, AgeConfig::k_longest},
                    "time that passes at the end of the step, in which data age; the next step goes on from "
                    "there")
          .temperature("temperature", &PreconditionStep::temperature,
                       {RetentionClock::k_coldest, RetentionClock::k_hottest},
                       "temperature at which it rests")
          .flag("powered", &PreconditionStep::powered,
                "the firmware looks after the data while it rests (firmware.refresh)")
          .integer("reads", &PreconditionStep::reads, {0, AgeConfig::k_most_reads},
                   "reads of every page that holds data, after the rest");
  return table;
}

namespace {

/// Bytes of `share` of `whole`, rounded down to whole `step`s; one of them at least, but for no
/// share.
Bytes portion(double share, Bytes whole, Bytes step) {
  const auto bytes = static_cast<Bytes>(share * static_cast<double>(whole));
  return share > 0 ? std::max(bytes / step, Bytes{1}) * step : 0;
}

/// Makes the loads of a step.
class StepLoads {
 public:
  StepLoads(const PreconditionStep& step, std::size_t number, const DriveSize& drive, Bytes mapping_page,
            std::uint64_t seed)
      : step_(step),
        number_(number),
        drive_(drive),
        seed_(seed),
        region_(portion(step.touched(), drive.bytes, drive.lba_bytes)) {
    const Bytes unit = std::max<Bytes>(mapping_page, drive.lba_bytes);
    block_ = step.bs != 0 ? step.bs : (step_.is_sequential() ? std::max<Bytes>(unit, 128_KiB) : unit);
    if (region_ < block_) block_ = region_ / drive.lba_bytes * drive.lba_bytes;
  }

  /// The region once over: whole blocks, then what is left of it behind the last of them.
  void fill() {
    if (block_ == 0) return;
    const Bytes rest = region_ % block_;
    LoadConfig blocks = config("fill", false);
    blocks.generator.size = std::to_string(region_ - rest);
    add(blocks);
    if (rest == 0) return;
    LoadConfig last = config("fill's end", false);
    last.generator.bs = last.generator.size = std::to_string(rest);
    last.generator.offset = std::to_string(region_ - rest);
    add(last);
  }
  void overwrite() {
    LoadConfig again = config("overwrite", true);
    limit(again, step_.overwrite);
    add(again);
  }
  void trim() {
    LoadConfig trims = config("trim", false);
    trims.generator.rw = "randtrim";
    limit(trims, step_.trim);
    add(trims);
  }
  void write_on() {
    LoadConfig writes = config("until steady", true);
    writes.generator.loops = k_endless_loops;
    writes.generator.iodepth = step_.iodepth;
    add(writes);
  }
  [[nodiscard]] std::vector<Load> take() { return std::move(loads_); }

 private:
  [[nodiscard]] LoadConfig config(const char* what, bool repeat) const {
    LoadConfig config;
    config.kind.name = fmt::format("precondition {} {}", number_, what);
    config.generator.rw = step_.is_sequential() ? "write" : "randwrite";
    config.generator.bs = std::to_string(block_);
    config.generator.size = std::to_string(region_);
    config.generator.norandommap = repeat;
    config.generator.random_distribution = repeat ? step_.random_distribution : "random";
    config.generator.hot_set = step_.hot_set;
    return config;
  }
  /// Only so much of the region, in whole blocks.
  void limit(LoadConfig& config, double share) const {
    if (block_ != 0) config.generator.io_size = std::to_string(portion(share, region_, block_));
  }
  void add(const LoadConfig& config) {
    if (block_ == 0) return;
    try {
      for (Load& load : make_loads(config, drive_, seed_ + 1000003 * (number_ + 1)))
        loads_.push_back(std::move(load));
    } catch (const InputError& error) {
      Complaint complaint = error.complaint();
      if (complaint.key == "bs" && complaint.proposal)
        complaint.proposal->value += " B";  // a load's has no unit
      throw InputError(complaint);
    }
  }

  const PreconditionStep& step_;
  std::size_t number_;
  DriveSize drive_;
  std::uint64_t seed_;
  Bytes region_;
  Bytes block_ = 0;
  std::vector<Load> loads_;
};

/// Steady state is that of the whole drive, under one load.
void check_alone(const PreconditionStep& step, std::size_t number) {
  const auto refuse = [&](const char* key, const char* text, const char* valid) {
    throw refusal(fmt::format("precondition.{}.{}", number, key),
                  fmt::format("{} in the step that has state: steady", text), valid);
  };
  if (number > 0) {
    throw refusal_of_state(step, number,
                           "steady is that of a drive as it was made, and steps before this one write it");
  }
  if (step.fill > 0) refuse("fill", "nothing can be filled", "0");
  if (step.overwrite > 0) refuse("overwrite", "nothing can be overwritten", "0");
  if (step.trim > 0) refuse("trim", "nothing can be trimmed", "0");
  if (step.region < 1)
    refuse("region", "the state is that of the whole drive, so that no region can be chosen", "1");
  if (step.steady.wanted()) refuse("until", "nothing is written in rounds", "end");
  // The state is that of one kind of overwriting, whatever the step would write.
  if (step.order != "random") refuse("order", "all was overwritten at random", "random");
  if (step.bs != 0) refuse("bs", "all was overwritten by the mapping page", "0 B");
  if (step.random_distribution != "random")
    refuse("random_distribution", "each page was overwritten as often", "random");
}

}  // namespace

bool PreconditionStep::is_sequential() const {
  return order == "sequential";
}

PreconditionStep::Written PreconditionStep::written(bool fill_known) const {
  if (to_steady_state()) return {1, std::numeric_limits<double>::infinity()};  // all of the flash
  if (steady.wanted()) return {touched(), touched()};
  Written all;
  all.touched = all.programmed = fill_known ? 0 : fill;
  if (!is_sequential() && random_distribution != "random")
    return all;  // mostly to few places, and in the buffer
  const double places = is_sequential() ? std::min(overwrite, 1.0) : -std::expm1(-overwrite);
  all.touched = std::max(all.touched, places * touched());
  all.programmed += overwrite * touched();
  return all;
}

InputError refusal_of_state(PreconditionStep step, std::size_t number, const std::string& what) {
  const std::string entry = fmt::format("precondition.{}", number);
  step.state = "as-is";
  if (step.does_something()) return refusal(entry + ".state", what, step.state);
  return refusal(entry + ".state", what, Proposal{entry, "{overwrite: 2x}"});
}

std::vector<Load> make_settling_loads(double overwrite, std::size_t number, const DriveSize& drive,
                                      Bytes mapping_page, std::uint64_t seed) {
  PreconditionStep fill;
  fill.fill = 1;
  fill.order = "sequential";
  PreconditionStep again;
  again.overwrite = overwrite;
  std::vector<Load> loads = make_precondition_loads(fill, number, drive, mapping_page, seed);
  for (Load& load : make_precondition_loads(again, number, drive, mapping_page, seed))
    loads.push_back(std::move(load));
  return loads;
}

std::vector<Load> make_precondition_loads(const PreconditionStep& step, std::size_t number,
                                          const DriveSize& drive, Bytes mapping_page, std::uint64_t seed) {
  if (step.to_steady_state()) {
    check_alone(step, number);
    return {};
  }
  StepLoads made(step, number, drive, mapping_page, seed);
  if (step.fill > 0) made.fill();
  if (step.overwrite > 0) made.overwrite();
  if (step.trim > 0) made.trim();
  std::vector<Load> loads = made.take();
  if (loads.empty() && !step.idle && !step.steady.wanted() && !step.ages())
    throw InputError(fmt::format(
        "precondition.{}: nothing to do: give fill, overwrite, trim, state, until, idle, rest or reads",
        number));
  return loads;
}

std::vector<Load> make_steady_load(const PreconditionStep& step, std::size_t number, const DriveSize& drive,
                                   Bytes mapping_page, std::uint64_t seed) {
  StepLoads made(step, number, drive, mapping_page, seed);
  made.write_on();
  return made.take();
}

}  // namespace tlmssd
