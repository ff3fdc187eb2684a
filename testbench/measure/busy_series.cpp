#include "testbench/measure/busy_series.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

namespace tlmssd {

namespace {

/// Calls use(label, time, parts) for everything that it is told.
template <class Use>
class Listener final : public BusySink {
 public:
  explicit Listener(Use use) : use_(std::move(use)) {}
  void busy(std::string_view label, Picoseconds time, std::size_t parts) override {
    use_(label, time, parts);
  }

 private:
  Use use_;
};

}  // namespace

void BusySeries::set_source(const std::function<void(BusySink&)>& tell) {
  kinds_.clear();
  Listener names([&](std::string_view label, Picoseconds /*time*/, std::size_t parts) {
    kinds_.push_back({std::string(label), parts});
  });
  tell(names);
  start_ = 0;
  begins_.clear();
  ends_.clear();
  all_.clear();
  series_.set_source([tell, kinds = kinds_.size()](Picoseconds now) {
    Sample sample;
    sample.when = now;
    sample.busy.reserve(kinds);
    Listener times([&](std::string_view /*label*/, Picoseconds time, std::size_t /*parts*/) {
      sample.busy.push_back(time);
    });
    tell(times);
    return sample;
  });
}

BusySeries::Sample* BusySeries::place_of(std::size_t load, std::vector<Sample>& notes) const {
  if (kinds_.empty() || load >= k_most_loads) return nullptr;
  if (notes.size() <= load) notes.resize(load + 1);
  return &notes[load];
}

void BusySeries::load_begins(std::size_t load, Picoseconds now) {
  Sample* const begin = place_of(load, begins_);
  if (begin != nullptr && begin->busy.empty()) *begin = series_.sample(now);
}

void BusySeries::load_rests(std::size_t load, Picoseconds now) {
  Sample* const end = place_of(load, ends_);
  if (end != nullptr && (end->busy.empty() || now - end->when >= series_.step() / 4))
    *end = series_.sample(now);
}

void BusySeries::finish(Picoseconds now, bool with_loads) {
  series_.finish(now);
  all_ = series_.samples();
  if (!with_loads) return;
  for (const auto* const notes : {&begins_, &ends_}) {
    std::copy_if(notes->begin(), notes->end(), std::back_inserter(all_),
                 [](const Sample& sample) { return !sample.busy.empty(); });
  }
  std::stable_sort(all_.begin(), all_.end(),
                   [](const Sample& a, const Sample& b) { return a.when < b.when; });
  all_.erase(std::unique(all_.begin(), all_.end(),
                         [](const Sample& a, const Sample& b) { return a.when == b.when; }),
             all_.end());
}

std::vector<Picoseconds> BusySeries::ends() const {
  std::vector<Picoseconds> ends;
  for (const Sample& sample : all_)
    if (sample.when > start_) ends.push_back(sample.when - start_);
  return ends;
}

double BusySeries::busy_until(std::size_t kind, Picoseconds when) const {
  const auto after = std::lower_bound(
      all_.begin(), all_.end(), when,
      [this](const Sample& sample, Picoseconds time) { return sample.when - start_ < time; });
  if (after == all_.end()) return static_cast<double>(all_.back().busy[kind]);
  Picoseconds time = 0;  // nothing was at work yet when measurement began
  Picoseconds busy = 0;
  if (after != all_.begin()) {
    time = std::prev(after)->when - start_;
    busy = std::prev(after)->busy[kind];
  }
  const Picoseconds interval = after->when - start_ - time;
  if (interval == 0) return static_cast<double>(after->busy[kind]);
  return static_cast<double>(busy) + static_cast<double>(after->busy[kind] - busy) *
                                         static_cast<double>(when - time) / static_cast<double>(interval);
}

double BusySeries::utilisation(std::size_t kind, Picoseconds from, Picoseconds until) const {
  if (until <= from || all_.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double busy = busy_until(kind, until) - busy_until(kind, from);
  const double time = static_cast<double>(until - from) * static_cast<double>(kinds_[kind].parts);
  return std::clamp(busy / time, 0.0, 1.0);
}

}  // namespace tlmssd
