#include "firmware/gc/worker.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tlmssd::firmware {

GcWorker::GcWorker(Core& core) : event_queue_(core.hw.event_queue) {
  const GcConfig& config = core.config.gc;
  const Layout& layout = core.layout;
  // Free blocks that a parallel unit has when it holds its share of the logical capacity, neatly
  // packed.
  const std::uint64_t share = (layout.kept_units() + layout.pus - 1) / layout.pus;
  const auto packed = static_cast<std::uint32_t>((share + layout.block_units - 1) / layout.block_units);
  const std::uint32_t native = core.pool.pu(0).good;
  const std::uint32_t spare = native > packed ? native - packed : 0;
  const std::uint32_t reserve = core.pool.reserve();
  // More than about half of the spare cannot be kept free at a bearable price.
  const std::uint32_t most = std::max(reserve, spare / 2);
  const auto blocks = [&](double part) { return static_cast<std::uint32_t>(std::ceil(part * spare)); };
  GcThresholds& t = thresholds_;
  if (config.background_start > 0 && most >= reserve + 2) {
    t.background_start = std::clamp(blocks(config.background_start), reserve + 1, most - 1);
    t.background_stop = std::clamp(blocks(config.background_stop), t.background_start + 1, most);
  }
  // What is open, and a block's worth of invalid units, without which a victim is no use, cannot be
  // free.
  const std::uint32_t open = core.pool.overhead() - reserve + core.pool.streams();
  const std::uint32_t possible = spare > open ? spare - open : 0;
  t.good = native;
  t.may_fail = possible > t.background_stop ? possible - t.background_stop : 0;
  t.idle_target = std::clamp(blocks(config.idle_target), reserve, most);
  if (core.pslc) core.pslc->leave_free(std::max(t.background_stop, reserve + 1));
  for (std::uint32_t pu = 0; pu < layout.pus; ++pu)
    workers_.push_back(std::make_unique<PuWorker>(core, pu, thresholds_, running_));
}

void GcWorker::set_idle(bool idle) {
  thresholds_.idle = idle;
  if (idle) kick_all();
}

void GcWorker::go_on(bool timed) {
  if (!std::exchange(thresholds_.put_off, false)) return;
  if (timed) {
    event_queue_.soon([](void* self) { static_cast<GcWorker*>(self)->go_on_all(); }, this);
  } else {
    go_on_all();
  }
}

void GcWorker::go_on_all() {
  for (const auto& worker : workers_) worker->go_on();
}

void GcWorker::kick_all() {
  for (const auto& worker : workers_) worker->kick();
}

}  // namespace tlmssd::firmware
