#include "firmware/pslc/promoter.h"

#include <fmt/format.h>

#include "firmware/make_policy.h"
#include "models/common/input_error.h"

namespace tlmssd::firmware {

Promoter::Promoter(Core& core, Destager& destager, const FirmwareConfig& config)
    : core_(core), destager_(destager), config_(config.promotion) {
  if (!core.pslc) {
    throw refusal(
        "firmware.pslc.promotion.policy",
        "there is nothing to promote data to without blocks in SLC mode (firmware.pslc.policy is none)",
        "none");
  }
  if (config_.keep_free < config.pslc.fold_until) {
    throw refusal("firmware.pslc.promotion.keep_free",
                  fmt::format("at {:g} % promotion would go on while data are folded beside the host "
                              "(firmware.pslc.fold_until is {:g} %)",
                              100 * config_.keep_free, 100 * config.pslc.fold_until),
                  fmt::format("{:g} %", 100 * config.pslc.fold_until));
  }
  const ReadHotContext context{core.layout.unit_bytes};
  policy_ = make_policy(promotion_family(), "firmware.pslc.promotion.policy", config_.policy,
                        config.promotion_policy, context);
}

void Promoter::read(LogicalUnit unit, PhysicalUnit where, const Stamp* stamps) {
  if (!policy_->read(unit) || core_.read_only) return;
  if (core_.pool.mode(core_.layout.block_of(where)) == BlockMode::slc || !destager_.current(unit, where))
    return;
  FtlStatistics& stats = core_.stats;
  ++stats.promotions_due;
  if (!slc_has_room()) {
    ++stats.promotions_without_slc;
    return;
  }
  if (!destager_.room() || !destager_.half_empty()) {
    ++stats.promotions_without_buffer;
    return;
  }
  WriteBuffer& buffer = destager_.buffer();
  const WriteBuffer::Index i = buffer.add(unit, WriteBuffer::k_none);
  buffer.merge(i, 0, core_.layout.sectors, stamps);
  buffer.entry(i).promoted = true;
  core_.hw.memory.access(MemoryKind::dram, destager_.address_of(i), core_.layout.unit_bytes, true, posted_);
}

// All groups are looked at once for every row of units, because the next promoted units may go to any of them.
bool Promoter::slc_has_room() {
  if (left_ > 0) {
    --left_;
    return open_;
  }
  left_ = core_.layout.row_units - 1;
  open_ = true;
  for (std::uint32_t group = 0; open_ && group < core_.layout.groups; ++group)
    open_ = core_.pslc->free_share(group, 0) >= config_.keep_free;
  return open_;
}

void Promoter::report(StatisticsSink& sink) const {
  const FtlStatistics& s = core_.stats;
  sink.open("promotion", "read-hot data brought from native blocks into SLC mode");
  sink.text("policy", config_.policy, "which data are hot");
  sink.value("units due", s.promotions_due, "units", "hot units that were read from native blocks");
  sink.value("units promoted", s.units_promoted, "units", "of these, programmed anew");
  sink.value("refused for slc", s.promotions_without_slc, "units",
             "of these, left where they were because too little of the pSLC was free");
  sink.value("refused for buffer", s.promotions_without_buffer, "units",
             "of these, left where they were because too little of the write buffer was free");
  sink.close();
}

void Promoter::archive(Archive& a) {
  policy_->archive(a);
  a(open_);
  a(left_);
}

}  // namespace tlmssd::firmware
