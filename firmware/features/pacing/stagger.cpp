#include "firmware/features/pacing/stagger.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace tlmssd::firmware {

// Consecutive ones in the order of allocation are on different channels, so that no channel gets
// all that take much.
Stagger::Stagger(const Core& core) : core_(core), share_(core.layout.pus), written_(core.layout.pus) {
  constexpr double k_least = 0.25;
  const std::vector<std::uint32_t>& sequence = core.layout.sequence();
  const auto count = static_cast<double>(sequence.size());
  for (std::size_t n = 0; n < sequence.size(); ++n)
    share_[sequence[n]] = k_least + 2 * (1 - k_least) * (static_cast<double>(n) + 0.5) / count;
}

// Their open blocks, as angles of how far each is written, point in much the same direction.
bool Stagger::in_step() const {
  std::complex<double> sum;
  std::uint32_t open = 0;
  for (std::uint32_t pu = 0; pu < core_.layout.pus; ++pu) {
    core_.pool.for_each_target(pu, [&](WriteTarget target, const BlockPool::Frontier& front) {
      if (target != WriteTarget::host) return;
      const double part =
          static_cast<double>(front.next) * core_.layout.program_units / core_.layout.block_units;
      sum += std::polar(1.0, 2 * std::numbers::pi * part);
      ++open;
    });
  }
  return open > 1 && std::abs(sum) > 0.5 * open;
}

void Stagger::begin_if_in_step() {
  if (on_ || !in_step()) return;
  on_ = true;
  programs_ = 0;
  std::fill(written_.begin(), written_.end(), 0);
}

void Stagger::on_program(std::uint32_t pu) {
  if (!on_) return;
  ++written_[pu];
  ++programs_;
  const std::uint64_t blocks = programs_ * core_.layout.program_units / core_.layout.block_units;
  if (blocks >= core_.layout.pus) on_ = false;
}

void Stagger::archive(Archive& a) {
  a(written_);
  a(programs_);
  a(on_);
}

}  // namespace tlmssd::firmware
