#include "models/nand/reliability/rber_table.h"

#include <cmath>
#include <string>

#include "models/base/input_error.h"
#include "models/base/quantity.h"

namespace tlmssd {

const ParameterTable<RberTableConfig>& RberTableConfig::parameters() {
  using C = RberTableConfig;
  static const auto table =
      ParameterTable<C>{}
          .reals("cycles", &C::cycles, {0, 1e9}, "program/erase cycles of the rows of `rber`, ascending")
          .reals("days", &C::days, {0, 1e6}, "days of retention of the columns of `rber`, ascending")
          .reals(
              "rber", &C::rber, {1e-15, 0.5},
              "bit error rates, row by row: for the first number of cycles at every age, then for the next")
          .real("read_disturb", &C::read_disturb, {0, 0.5},
                "bit error rate that every read of the page since it was programmed adds");
  return table;
}

RberTable::Axis::Axis(const char* key, const std::vector<double>& points) : points_(points) {
  const auto refuse = [&](const std::string& what) { throw objection(key, what); };
  if (points_.empty()) refuse("is empty; give at least one value");
  for (std::size_t i = 1; i < points_.size(); ++i) {
    if (points_[i] > points_[i - 1]) continue;
    refuse("must ascend: " + format_value(Kind::real, points_[i]) + " follows " +
           format_value(Kind::real, points_[i - 1]));
  }
}

RberTable::Axis::Spot RberTable::Axis::locate(double value) const {
  if (points_.size() == 1 || value <= points_.front()) return {};
  const auto after = std::upper_bound(points_.begin() + 1, points_.end() - 1, value);
  const auto high = static_cast<std::size_t>(after - points_.begin());
  const double from = points_[high - 1];
  const double to = points_[high];
  const double share = from > 0 ? std::log(value / from) / std::log(to / from) : value / to;
  return {high - 1, high, std::min(share, 1.0), std::max(share - 1, 0.0)};
}

RberTable::RberTable(const Config& config, const NandPart& /*part*/)
    : cycles_("cycles", config.cycles), days_("days", config.days), read_disturb_(config.read_disturb) {
  const std::size_t wanted = cycles_.size() * days_.size();
  if (config.rber.size() != wanted) {
    throw objection("rber", "has " + std::to_string(config.rber.size()) + " values; give one for each of " +
                                std::to_string(cycles_.size()) + " cycles x " + std::to_string(days_.size()) +
                                " days = " + std::to_string(wanted));
  }
  for (const double rate : config.rber) log_rber_.push_back(std::log(rate));
  const std::size_t rows = cycles_.size();
  const std::size_t columns = days_.size();
  if (rows > 1) {
    for (std::size_t i = 0; i < columns; ++i) {
      const std::size_t last = (rows - 1) * columns + i;
      row_step_ += (log_rber_[last] - log_rber_[last - columns]) / static_cast<double>(columns);
    }
  }
  if (columns > 1) {
    for (std::size_t last = columns - 1; last < log_rber_.size(); last += columns) {
      column_step_ += (log_rber_[last] - log_rber_[last - 1]) / static_cast<double>(rows);
    }
  }
}

double RberTable::rber(const ArrayOperation& stress) const {
  const Axis::Spot row = cycles_.locate(stress.cycles);
  const Axis::Spot column = days_.locate(stress.age_days);
  const auto along = [&](std::size_t of) {
    const double* const rates = log_rber_.data() + of * days_.size();
    return std::lerp(rates[column.low], rates[column.high], column.share);
  };
  const double log_rate = std::lerp(along(row.low), along(row.high), row.share) + row.beyond * row_step_ +
                          column.beyond * column_step_;
  return at_most_half(std::exp(log_rate) + read_disturb_ * stress.reads_per_page);
}

}  // namespace tlmssd
