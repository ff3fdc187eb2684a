#include "testbench/conform/sampled_operations.h"

#include <algorithm>
#include <cmath>

#include "models/nand/reliability/retention_clock.h"
#include "models/nand/timing/arguments.h"

namespace tlmssd {

SampledOperations::SampledOperations(const NandPart& part, std::uint64_t seed)
    : part_(part), shape_(part), step_(part.pages_per_step()), random_(seed, "conformance") {}

double SampledOperations::between(double low, double high) {
  const std::uint64_t kind = random_.below(8);
  return kind == 0 ? low : kind == 1 ? high : low + random_.uniform() * (high - low);
}

double SampledOperations::among(std::string_view argument, const ArrayOperation& op) {
  const Range range = find_timing_argument(argument)->occurring(part_, op.command, op.mode);
  return between(range.minimum, range.maximum);
}

double SampledOperations::later(double age_days) {
  constexpr double k_most_growth = 5;
  const double later = (age_days + 1) * std::exp(between(0, std::log(k_most_growth))) - 1;
  return std::min(std::max(later, age_days), RetentionClock::k_most_days);
}

void SampledOperations::change_history(ArrayOperation& op) {
  op.plane = PlaneId{static_cast<std::uint32_t>(random_.below(part_.planes))};
  op.block = BlockId{static_cast<std::uint32_t>(random_.below(part_.blocks_per_plane))};
  op.temperature = among("temperature", op);
  op.reads = std::floor(among("reads", op));
  op.reads_per_page = op.reads / part_.pages_per_block;
  op.die_deviate = among("die_z", op);
  op.block_deviate = among("block_z", op);
  op.layer_deviate = among("layer_z", op);
  op.age_days = among("age_days", op);
}

ArrayOperation SampledOperations::next(ArrayCommand command, bool slc) {
  ArrayOperation op;
  op.command = command;
  op.mode = slc ? BlockMode::slc : BlockMode::native;
  op.die = DieId{static_cast<std::uint32_t>(random_.below(64))};
  op.planes = 1 + static_cast<std::uint32_t>(random_.below(part_.planes));
  op.cycles = std::floor(among("cycles", op));
  change_history(op);
  if (command == ArrayCommand::erase) {
    op.resumed = random_.below(4) == 0;
    return op;
  }
  const std::uint32_t pages = slc ? part_.slc_pages_per_block() : part_.pages_per_block;
  auto page = static_cast<std::uint32_t>(between(0, pages - 1));
  if (command == ArrayCommand::program) {
    const std::uint32_t step = slc ? 1 : step_;
    page = page / step * step;
    op.pages = std::min(step, pages - page);
    op.resumed = random_.below(4) == 0;
  } else {
    op.retry_level = random_.below(2) == 0 ? 0 : static_cast<std::uint32_t>(random_.below(41));
    op.pass_voltage = random_.below(2) == 0 ? 1 : among("pass_voltage", op);
  }
  shape_.place(op, PageId{page});
  return op;
}

ArrayOperation SampledOperations::next() {
  const auto command = static_cast<ArrayCommand>(random_.below(3));
  return next(command, part_.has_slc_mode() && random_.below(4) == 0);
}

}  // namespace tlmssd
