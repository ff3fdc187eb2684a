#include "platform/scenario/value_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/quantity.h"

namespace tlmssd {
namespace {

using Accepts = std::function<bool(const std::string&)>;

constexpr int k_most_doublings = 40;
constexpr int k_looked_around =
    8;  ///< whole numbers next to the refused one, where one further away is found

/// A number of one kind, as double or as whole number: what the search does with it.
template <class T>
class NumberSearch {
 public:
  NumberSearch(const ParameterSpec& spec, const Accepts& accepts)
      : spec_(spec), accepts_(accepts), least_(limit(spec.minimum)), most_(limit(spec.maximum)) {
    if constexpr (std::is_floating_point_v<T>) {
      if (spec.kind != Kind::bytes_or_share) return;
      least_ = 0.0001;  // a share has limits of its own
      most_ = 1;
    }
  }

  std::optional<std::string> nearest(T refused) {
    const std::optional<T> up = nearer(refused, true);
    const std::optional<T> down = nearer(refused, false);
    // 0 often means something of its own.
    if (up && (!down || *down == 0 || *up - refused <= refused - *down)) return text(*up);
    if (down) return text(*down);
    return {};
  }

 private:
  static T limit(double value) {
    if constexpr (std::is_floating_point_v<T>) return value;
    return value >= 0x1p63 ? std::numeric_limits<T>::max() : static_cast<T>(value);
  }
  [[nodiscard]] std::string text(T value) const { return format_value(spec_.kind, Value(value)); }
  [[nodiscard]] bool accepts(T value) const {
    return value >= least_ && value <= most_ && accepts_(text(value));
  }
  [[nodiscard]] T further(T value, bool up) const {
    constexpr T k_start = std::is_floating_point_v<T> ? T(0.001) : T(1);
    if (up) return value <= 0 ? std::max(k_start, least_) : value > most_ / 2 ? most_ : value * 2;
    const T half = value / 2;
    return half < least_ || half == value ? least_ : half;
  }
  /// Sizes that fit each other are often powers of two, and doubling meets none from another
  /// number.
  [[nodiscard]] T further_power(T value, bool up) const {
    const double exponent = std::log2(static_cast<double>(std::max(value, T(1))));
    if (exponent >= 62) return value;
    return static_cast<T>(std::exp2(up ? std::floor(exponent) + 1 : std::ceil(exponent) - 1));
  }
  std::optional<T> nearer(T refused, bool up) const {
    const std::optional<T> found = outwards(refused, up, false);
    if (spec_.kind != Kind::bytes || refused <= 0) return found;
    const std::optional<T> power = outwards(refused, up, true);
    if (!found || !power) return found ? found : power;
    return up ? std::min(*found, *power) : std::max(*found, *power);
  }
  std::optional<T> outwards(T refused, bool up, bool powers) const {
    T last = refused;
    for (int n = 0; n < k_most_doublings; ++n) {
      const T next = powers ? further_power(last, up) : further(last, up);
      if (next == last || (up ? next < last : next > last)) return {};
      if (accepts(next)) return next_to(refused, rounded(between(last, next), last));
      last = next;
    }
    return {};
  }
  /// What is accepted may have gaps that doubling and bisection jump over: multiples, say.
  T next_to(T refused, T found) const {
    if constexpr (!std::is_floating_point_v<T>) {
      if (spec_.kind != Kind::integer) return found;
      const T step = found > refused ? 1 : -1;
      T value = refused;
      for (int n = 0; n < k_looked_around && value != found; ++n) {
        value += step;
        if (value != found && accepts(value)) return value;
      }
    }
    return found;
  }
  /// The accepted end of an interval that has become small.
  T between(T refused, T accepted) const {
    for (int n = 0; n < 64; ++n) {
      const T middle = refused + (accepted - refused) / 2;
      if (middle == refused || middle == accepted) break;
      if constexpr (std::is_floating_point_v<T>) {
        if (std::abs(accepted - refused) <= std::abs(accepted) * 1e-6) break;
      }
      (accepts(middle) ? accepted : refused) = middle;
    }
    return accepted;
  }
  /// A real number with three digits, away from what was refused.
  T rounded(T accepted, T refused) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (accepted == 0) return accepted;
      const double step = std::pow(10.0, std::floor(std::log10(std::abs(accepted))) - 2);
      const double steps = accepted / step;
      const double away = accepted > refused ? std::ceil(steps) : std::floor(steps);
      for (const double whole : {std::round(steps), away}) {
        const double nicer = step < 1 ? whole / std::round(1 / step) : whole * step;
        if (accepts(nicer)) return nicer;
      }
    }
    return accepted;
  }

  const ParameterSpec& spec_;
  const Accepts& accepts_;
  T least_;
  T most_;
};

}  // namespace

std::string written_text(const ParameterSpec& spec, const Value& value) {
  if (!spec.list) return format_value(spec.kind, value);
  std::string text;
  for (const std::string& element : format_elements(spec.kind, value))
    text += (text.empty() ? "" : ", ") + element;
  return "[" + text + "]";
}

std::optional<std::string> nearest_accepted(const ParameterSpec& spec, const Value& refused,
                                            const Accepts& accepts) {
  if (const auto* const whole = std::get_if<std::int64_t>(&refused)) {
    if (auto found = NumberSearch<std::int64_t>(spec, accepts).nearest(*whole)) return found;
  } else if (const auto* const real = std::get_if<double>(&refused)) {
    if (auto found = NumberSearch<double>(spec, accepts).nearest(*real)) return found;
  } else if (const auto* const flag = std::get_if<bool>(&refused)) {
    const std::string other = *flag ? "false" : "true";
    return accepts(other) ? std::optional(other) : std::nullopt;
  }
  std::vector<std::string> candidates;
  if (spec.list) return {};
  if (!spec.required && !spec.optional) candidates.push_back(written_text(spec, spec.fallback));
  candidates.insert(candidates.end(), spec.choices.begin(), spec.choices.end());
  const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const std::string& candidate) {
    return !candidate.empty() && candidate != written_text(spec, refused) && accepts(candidate);
  });
  return found == candidates.end() ? std::nullopt : std::optional(*found);
}

}  // namespace tlmssd
