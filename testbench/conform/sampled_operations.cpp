#include "testbench/conform/sampled_operations.h"

#include <algorithm>
#include <cmath>

namespace tlmssd {

namespace {
constexpr double k_most_reads = 1e7;
constexpr double k_most_days = 3650;
constexpr double k_most_deviation = 3.7;
}  // namespace

SampledOperations::SampledOperations(const NandPart& part, std::uint64_t seed)
    : part_(part), shape_(part), step_(part.pages_per_step()), random_(seed, "conformance") {}

double SampledOperations::between(double low, double high) {
  const std::uint64_t kind = random_.below(8);
  return kind == 0 ? low : kind == 1 ? high : low + random_.uniform() * (high - low);
}

void SampledOperations::change_history(ArrayOperation& op) {
  op.plane = PlaneId{static_cast<std::uint32_t>(random_.below(part_.planes))};
  op.block = BlockId{static_cast<std::uint32_t>(random_.below(part_.blocks_per_plane))};
  op.temperature = between(-40, 125);
  op.reads = std::floor(between(0, k_most_reads));
  op.reads_per_page = op.reads / part_.pages_per_block;
  op.die_deviate = between(-k_most_deviation, k_most_deviation);
  op.block_deviate = between(-k_most_deviation, k_most_deviation);
  op.layer_deviate = between(-k_most_deviation, k_most_deviation);
  if (op.command == ArrayCommand::sense) op.age_days = between(0, k_most_days);
}

ArrayOperation SampledOperations::next(ArrayCommand command, bool slc) {
  ArrayOperation op;
  op.command = command;
  op.mode = slc ? BlockMode::slc : BlockMode::native;
  op.die = DieId{static_cast<std::uint32_t>(random_.below(64))};
  op.planes = 1 + static_cast<std::uint32_t>(random_.below(part_.planes));
  const double most_cycles = part_.endurance == 0 ? 100'000.0 : 2.0 * part_.endurance;
  op.cycles = std::floor(between(0, most_cycles));
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
    op.pass_voltage = random_.below(2) == 0 ? 1 : between(0.9, 1);
  }
  shape_.place(op, PageId{page});
  return op;
}

ArrayOperation SampledOperations::next() {
  const auto command = static_cast<ArrayCommand>(random_.below(3));
  return next(command, part_.has_slc_mode() && random_.below(4) == 0);
}

}  // namespace tlmssd
