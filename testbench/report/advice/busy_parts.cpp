#include "testbench/report/advice/busy_parts.h"

#include <algorithm>

#include "models/base/quantity_text.h"

namespace tlmssd {
namespace {

constexpr double k_even = 0.9;  ///< of the busiest, from which on all of a kind are as busy as it
/// From this share of the dies' time on, data on their way in or out are what limits them.
constexpr double k_held_for_rate = 1.0 / 3;

}  // namespace

MeasuredDrive::MeasuredDrive(const nlohmann::ordered_json& report, const ChosenLimits& chosen)
    : statistics(report["statistics"]),
      loads(report["results"]["loads"]),
      uses(plain_utilisations(statistics)),
      limits(chosen) {}

bool uneven(const Utilisation& use) {
  return use.highest() >= k_busy_resource && use.mean() < k_busy_resource &&
         use.mean() < k_even * use.highest();
}

double load_of(const Utilisation& use) {
  return uneven(use) ? use.highest() : use.mean();
}

const Utilisation* MeasuredDrive::use_of(std::string_view label) const {
  for (const Utilisation& use : uses)
    if (use.label == label) return &use;
  return nullptr;
}

std::vector<std::string> busy_ones(const Utilisation& use) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < use.shares.size(); ++i)
    if (use.shares[i] >= k_busy_resource) numbers.push_back(std::to_string(i));
  return numbers;
}

std::string some_of(std::size_t number) {
  return (number == 1 ? "one" : std::to_string(number)) + " of ";
}

double MeasuredDrive::busy(std::string_view label) const {
  const Utilisation* const use = use_of(label);
  return use == nullptr ? 0 : use->mean();
}

std::optional<Resource> MeasuredDrive::limiting(const Utilisation& use) const {
  std::optional<Resource> resource = find_resource(use.label, statistics);
  if (!resource || !uneven(use) || resource->one.empty()) return resource;
  const std::vector<std::string> numbers = busy_ones(use);
  resource->name = some_of(numbers.size()) + "the " + resource->one + "s";
  resource->part = ", " + resource->one + (numbers.size() == 1 ? " " : "s ") + list_text(numbers);
  resource->keys = resource->keys_of_one;
  return resource;
}

double MeasuredDrive::held() const {
  const double dies = busy("dies");
  return dies > 0 ? 1 - busy("die arrays") / dies : 0;
}

bool MeasuredDrive::transfers_limit() const {
  return held() >= k_held_for_rate || busy("channels") > busy("die arrays");
}

}  // namespace tlmssd
