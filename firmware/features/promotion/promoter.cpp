#include "firmware/features/promotion/promoter.h"

#include <fmt/format.h>

#include "models/base/input_error.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

const ParameterTable<PromotionConfig>& PromotionConfig::parameters() {
  static const auto table =
      ParameterTable<PromotionConfig>{}.share("keep_free", &PromotionConfig::keep_free, {0, 1},
                                              "blocks of a parallel unit's pSLC that must be free, as a "
                                              "share of it, for data to be copied into it; at least "
                                              "pslc.fold_until");
  return table;
}

Promoter::Promoter(const FeatureContext& context)
    : core_(context.core),
      flusher_(context.flusher),
      policy_name_(context.choice.policy),
      config_(context.choice.read<PromotionConfig>()) {
  if (!core_.pslc) {
    throw refusal(
        "firmware.pslc.promotion.policy",
        "there is nothing to promote data to without blocks in SLC mode (firmware.pslc.policy is none)",
        "none");
  }
  const double fold_until = core_.config.pslc.fold_until;
  if (config_.keep_free < fold_until) {
    throw refusal("firmware.pslc.promotion.keep_free",
                  fmt::format("at {:g} % promotion would go on while data are folded in the background "
                              "(firmware.pslc.fold_until is {:g} %)",
                              100 * config_.keep_free, 100 * fold_until),
                  fmt::format("{:g} %", 100 * fold_until));
  }
  policy_ = make_policy(promotion_family(), "firmware.pslc.promotion.policy", policy_name_,
                        context.choice.values, ReadHotContext{core_.layout.unit_bytes});
}

void Promoter::on_host_read(Lpn unit, Ppn where, const Stamp* stamps) {
  if (!policy_->read(unit) || core_.read_only) return;
  if (core_.pool.mode(core_.layout.block_of(where)) == BlockMode::slc || !flusher_.current(unit, where))
    return;
  ++counters_.due;
  if (!slc_has_room()) {
    ++counters_.without_slc;
    return;
  }
  if (!flusher_.space().room() || !flusher_.space().half_empty()) {
    ++counters_.without_buffer;
    return;
  }
  WriteBuffer& buffer = flusher_.buffer();
  const WriteBuffer::Index i = buffer.add(unit, WriteBuffer::k_none);
  buffer.merge(i, core_.layout.all_sectors() & ~core_.partial_trims.of(unit), stamps);
  buffer.entry(i).relocated = true;
  core_.hw.memory.access(MemoryKind::dram, flusher_.buffer().address_of(i), core_.layout.unit_bytes, true,
                         posted_);
}

// All parallel units are looked at once for every multi-plane page of units, because the next
// promoted units may go to any of them.
bool Promoter::slc_has_room() {
  if (left_ > 0) {
    --left_;
    return open_;
  }
  left_ = core_.layout.mp_page_units - 1;
  open_ = true;
  for (std::uint32_t pu = 0; open_ && pu < core_.layout.pus; ++pu)
    open_ = core_.pslc->free_share(pu, 0) >= config_.keep_free;
  return open_;
}

void Promoter::report(StatisticsSink& sink) const {
  sink.open("promotion", "read-hot data brought from native blocks into SLC mode");
  sink.text("policy", policy_name_, k_choice_doc);
  sink.value("units due", counters_.due, "units", "hot units that were read from native blocks");
  sink.value("units promoted", core_.stats.units_relocated, "units", "of these, programmed anew");
  sink.value("refused for slc", counters_.without_slc, "units",
             "of these, left where they were because too little of the pSLC was free");
  sink.value("refused for buffer", counters_.without_buffer, "units",
             "of these, left where they were because too little of the write buffer was free");
  sink.close();
}

void Promoter::archive(Archive& a) {
  policy_->archive(a);
  a(open_);
  a(left_);
  a(counters_);
}

}  // namespace tlmssd::firmware
