#include "testbench/precondition.h"

#include <algorithm>
#include <fmt/format.h>

#include "models/common/input_error.h"

namespace tlmssd {

using namespace literals;

const ParameterTable<PreconditionStep>& PreconditionStep::parameters() {
  static const auto table =
      ParameterTable<PreconditionStep>{}
          .share("fill", &PreconditionStep::fill, {0, 1},
                 "share of the user capacity to write once, from its start")
          .share("overwrite", &PreconditionStep::overwrite, {0, 1000},
                 "how much to write over the region, as a multiple of its size (2x: every block twice on "
                 "average)")
          .share("trim", &PreconditionStep::trim, {0, 1},
                 "share of the region's blocks to trim, chosen at random")
          .share("region", &PreconditionStep::region, {0, 1},
                 "share of the user capacity, from its start, that overwrite and trim touch")
          .choice("order", &PreconditionStep::order, {"sequential", "random"}, "order of the writes")
          .bytes("bs", &PreconditionStep::bs, {0, 1_GiB},
                 "size of one write; 0: 128 KiB in sequential order, the mapping unit in random order")
          .text("random_distribution", &PreconditionStep::random_distribution,
                "which blocks random overwrites prefer, in fio's words (random, zipf:1.1, pareto:0.2, "
                "zoned:50/10:50/90)")
          .flag("idle", &PreconditionStep::idle,
                "then the drive is left alone until its firmware has nothing more to do in idle time: "
                "collecting up to "
                "gc.idle_target, folding up to pslc.idle_target (needs gc.idle_after)");
  return table;
}

namespace {

/// Bytes of `share` of `whole`, rounded down to whole `step`s.
Bytes portion(double share, Bytes whole, Bytes step) {
  const auto bytes = static_cast<Bytes>(share * static_cast<double>(whole));
  return std::min(whole, bytes) / step * step;
}

}  // namespace

std::vector<Load> make_precondition_loads(const PreconditionStep& step, std::size_t number,
                                          const DriveSize& drive, Bytes mapping_unit, std::uint64_t seed) {
  std::vector<Load> loads;
  const bool sequential = step.order == "sequential";
  const Bytes unit = std::max<Bytes>(mapping_unit, drive.lba_bytes);
  const Bytes bs = step.bs != 0 ? step.bs : (sequential ? std::max<Bytes>(unit, 128_KiB) : unit);
  const auto add = [&](const char* what, const std::string& rw, Bytes region, Bytes block, Bytes amount,
                       bool repeat) {
    if (region < block) block = region / drive.lba_bytes * drive.lba_bytes;
    if (block == 0) return;
    LoadConfig config;
    config.kind.name = fmt::format("precondition {} {}", number, what);
    config.generator.rw = rw;
    config.generator.bs = std::to_string(block);
    config.generator.size = std::to_string(region);
    if (amount != 0) config.generator.io_size = std::to_string(std::max(amount / block, Bytes{1}) * block);
    config.generator.norandommap = repeat;
    config.generator.random_distribution = repeat ? step.random_distribution : "random";
    try {
      for (Load& load : make_loads(config, drive, seed + 1000003 * (number + 1)))
        loads.push_back(std::move(load));
    } catch (const InputError& error) {
      Complaint complaint = error.complaint();
      if (complaint.key == "bs" && complaint.proposal)
        complaint.proposal->value += " B";  // a load's has no unit
      throw InputError(complaint);
    }
  };
  const double share = step.fill > 0 ? step.fill : step.region;
  const Bytes region = portion(share, drive.bytes, drive.lba_bytes);
  if (step.fill > 0) add("fill", sequential ? "write" : "randwrite", region, bs, 0, false);
  if (step.overwrite > 0) {
    const auto amount = static_cast<Bytes>(step.overwrite * static_cast<double>(region));
    add("overwrite", sequential ? "write" : "randwrite", region, bs, amount, true);
  }
  if (step.trim > 0) add("trim", "randtrim", region, bs, portion(step.trim, region, drive.lba_bytes), false);
  if (loads.empty() && !step.idle)
    throw InputError(
        fmt::format("precondition.{}: nothing to do: give fill, overwrite, trim or idle", number));
  return loads;
}

}  // namespace tlmssd
