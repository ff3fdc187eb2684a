#include "models/flash/flash_array.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

namespace tlmssd {

FlashArray::FlashArray(EventQueue& event_queue, const NandPart& part, const FlashConfig& config,
                       std::unique_ptr<Scheduler> scheduler, std::unique_ptr<TimingModel> timing,
                       Bytes unit_bytes, std::uint32_t stamps_per_unit, std::uint64_t seed,
                       const Between& between, FlashErrors errors)
    : event_queue_(event_queue),
      part_(part),
      config_(config),
      geometry_(part.geometry(config.channels, config.ways, config.dies_per_way)),
      bus_(part_, config.bus_rate(), unit_bytes),
      ecc_(errors.ecc),
      bit_errors_(std::move(errors.bits)),
      clock_(errors.retention),
      timing_(std::move(timing)),
      variation_(seed),
      scheduler_(std::move(scheduler)) {
  part_.check();
  config_.check();
  const FlashSetup flash{part_,       geometry_,      config_, bus_,
                         *scheduler_, unit_bytes,     ecc_,    bit_errors_ != nullptr,
                         seed,        stamps_per_unit};
  if (config_.budgets_power()) budget_.emplace(config_.budget_dies, config_.slow_read);
  const NandSetup nand{
      part_,
      geometry_,
      bus_,
      *timing_,
      unit_bytes,
      stamps_per_unit,
      seed,
      std::make_shared<ContentStore>(
          geometry_, static_cast<std::uint32_t>(geometry_.page_bytes / std::max<Bytes>(unit_bytes, 1)), 0,
          geometry_.dies()),
      {bit_errors_.get(), &clock_, static_cast<std::uint32_t>(std::max<Bytes>(unit_bytes / ecc_.frame, 1)),
       bit_errors_ && bit_errors_->looks_at_variation() ? &variation_ : nullptr},
      &variation_,
      budget_ ? &*budget_ : nullptr};
  const auto bind = [&between](tlm::tlm_initiator_socket<>& from, tlm::tlm_target_socket<>& to) {
    if (between) {
      between(from, to);
    } else {
      from.bind(to);
    }
  };
  controller_ = std::make_unique<FlashController>("flash_controller", event_queue, flash);
  for (std::uint32_t c = 0; c < geometry_.channels; ++c) {
    channels_.push_back(std::make_unique<FlashChannel>(("flash_channel_" + std::to_string(c)).c_str(),
                                                       event_queue, flash, ChannelId{c}));
    bind(controller_->channel_isock[c], channels_[c]->controller_tsock);
    for (std::uint32_t w = 0; w < geometry_.dies_per_channel(); ++w) {
      const DieId id{c * geometry_.dies_per_channel() + w};
      dies_.push_back(
          std::make_unique<NandDie>(("die_" + std::to_string(index(id))).c_str(), event_queue, nand, id));
      bind(channels_[c]->die_isock[w], dies_.back()->channel_tsock);
    }
  }
  build_gangs();
}

void FlashArray::build_gangs() {
  if (!config_.has_gangs() || config_.gang == 1) return;
  const auto shares = config_.shares_buses() ? BusGang::Shares::bus : BusGang::Shares::control;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    if (c % config_.gang == 0) gangs_.push_back(std::make_unique<BusGang>(event_queue_, shares));
    gangs_.back()->add(*channels_[c]);
  }
}

void FlashArray::set_observer(FlashObserver* observer) {
  for (auto& channel : channels_) channel->set_observer(observer);
  for (auto& die : dies_) die->set_observer(observer);
}

void FlashArray::age(std::uint32_t cycles, double seconds, double celsius) {
  for (auto& die : dies_) die->state().age(cycles);
  clock_.age(seconds, celsius);
}

void FlashArray::disturb(std::uint32_t reads) {
  for (auto& die : dies_) die->state().disturb(reads);
}

void FlashArray::archive(Archive& a) {
  clock_.archive(a, event_queue_.now());
  controller_->ecc().archive(a);
  for (auto& die : dies_) die->archive(a);
}

void FlashArray::tell_busy(BusySink& sink) const {
  controller_->tell_busy(sink);
  if (!gangs_.empty()) {
    Picoseconds held = 0;
    for (const auto& gang : gangs_) held += gang->held();
    sink.busy("gangs", held, gangs_.size());
  }
  Picoseconds buses = 0;
  std::array<Picoseconds, k_busy_causes> dies{};
  for (const auto& channel : channels_) {
    buses += channel->bus_held();
    for (std::uint32_t way = 0; way < geometry_.dies_per_channel(); ++way) {
      const auto times = channel->busy(way);
      for (std::size_t c = 0; c < k_busy_causes; ++c) dies[c] += times[c];
    }
  }
  Picoseconds arrays = 0;
  for (const auto& die : dies_) arrays += die->array_busy();
  sink.busy("channels", buses, channels_.size());
  sink.busy("dies", std::accumulate(dies.begin(), dies.end(), Picoseconds{0}), dies_.size());
  static const std::vector<std::string> k_works = [] {
    std::vector<std::string> labels;
    for (std::size_t c = 0; c < k_busy_causes; ++c) labels.push_back("dies: " + std::string(name_of_busy(c)));
    return labels;
  }();
  for (std::size_t c = 0; c < k_busy_causes; ++c) sink.busy(k_works[c], dies[c], dies_.size());
  sink.busy("die arrays", arrays, dies_.size());
}

void FlashArray::report(StatisticsSink& sink) const {
  FlashCounts total;
  BusyTimes busy{};
  for (const auto& channel : channels_) {
    total.add(channel->counts());
    for (std::uint32_t w = 0; w < geometry_.dies_per_channel(); ++w) {
      const auto die = channel->busy(w);
      for (std::size_t c = 0; c < k_busy_causes; ++c) busy[c] += static_cast<double>(die[c]);
    }
  }
  const auto span = static_cast<double>(event_queue_.now() - measured_from_);
  total.report(sink, span * config_.buses(), config_.multi_plane_reads, config_.suspends());
  sink.open("dies", "all dies together");
  report_busy(sink, busy, span * geometry_.dies());
  sink.close();
  sink.open("controller", "flash controller");
  controller_->report(sink);
  sink.close();
  for (std::size_t g = 0; g < gangs_.size(); ++g) {
    sink.open("gang_" + std::to_string(g), "neighbouring channels that share lines");
    gangs_[g]->report(sink);
    sink.close();
  }
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    sink.open("channel_" + std::to_string(c), "one channel and its dies");
    channels_[c]->report(sink);
    sink.close();
  }
  for (std::size_t d = 0; d < dies_.size(); ++d) {
    sink.open("nand_die_" + std::to_string(d), "one die's array");
    dies_[d]->report(sink);
    sink.close();
  }
}

void FlashArray::reset_statistics() {
  measured_from_ = event_queue_.now();
  controller_->reset_statistics();
  for (auto& channel : channels_) channel->reset_statistics();
  for (auto& gang : gangs_) gang->reset_statistics();
  for (auto& die : dies_) die->reset_statistics();
}

}  // namespace tlmssd
