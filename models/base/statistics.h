// How modules report what they counted: a name, a value, a unit and a sentence, grouped by the
// module that owns them.
//
// One walk over the platform feeds the JSON report, the HTML page and the terminal summary.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace tlmssd {

class StatisticsSink {
 public:
  virtual ~StatisticsSink() = default;
  /// Opens a group (an object in the JSON report); close() ends it.
  virtual void open(std::string_view group, std::string_view doc) = 0;
  virtual void close() = 0;
  virtual void value(std::string_view name, double value, std::string_view unit, std::string_view doc) = 0;
  virtual void value(std::string_view name, std::uint64_t value, std::string_view unit,
                     std::string_view doc) = 0;
  virtual void text(std::string_view name, std::string_view value, std::string_view doc) = 0;
};

/// `part` per `whole`; no value (NaN) where there is no whole.
inline double quotient(double part, double whole) {
  return whole > 0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
}

/// `part` of `all`; 0 of nothing.
inline double ratio(double part, double all) {
  return all > 0 ? part / all : 0;
}

}  // namespace tlmssd
