#include "firmware/foreign/c_firmware.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "firmware/base/firmware.h"
#include "firmware/foreign/c_adapter.h"
#include "models/base/input_error.h"
#include "models/base/suggest.h"

namespace tlmssd::firmware {

namespace {

constexpr std::array k_kinds = {Kind::integer, Kind::real, Kind::share, Kind::time,
                                Kind::bytes,   Kind::flag, Kind::text};

/// A small letter first, then such letters, digits and `joints`.
bool is_word(std::string_view name, std::string_view joints) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && small(name.front()) && std::all_of(name.begin(), name.end(), [&](char c) {
    return small(c) || (c >= '0' && c <= '9') || joints.find(c) != std::string_view::npos;
  });
}

/// What is wrong with range and default; empty: nothing. Without limits both are 0.
std::string wrong_numbers(const tlmssd_parameter& parameter, Kind kind) {
  if (kind == Kind::flag || kind == Kind::text) return {};
  const double fallback = parameter.fallback;
  const double minimum = parameter.minimum;
  const double maximum = parameter.maximum;
  if (std::isnan(minimum) || std::isnan(maximum) || !std::isfinite(fallback))
    return "has a default or a range that is no number";
  if (minimum > maximum) return fmt::format("has a range from {} down to {}", minimum, maximum);
  const bool limits = minimum != 0 || maximum != 0;
  if (limits && (fallback < minimum || fallback > maximum))
    return fmt::format("has the default {}, which is not in its range of {} to {}", fallback, minimum,
                       maximum);
  constexpr double k_most = 9.2e18;  // that an integer holds
  const bool whole = kind != Kind::real && kind != Kind::share;
  if (whole && (fallback != std::floor(fallback) || std::abs(fallback) > k_most))
    return fmt::format("has the default {}, which is no whole number that fits", fallback);
  if ((kind == Kind::bytes || kind == Kind::time) && fallback < 0)
    return fmt::format("has the default {}, which is less than no {}", fallback,
                       kind == Kind::bytes ? "bytes" : "time");
  return {};
}

/// What is wrong with a parameter behind those before it; empty: nothing.
std::string wrong_with(const tlmssd_parameter& parameter, const std::vector<ParameterSpec>& before) {
  if (!is_word(parameter.name, "_")) return "is no key; write small letters, digits and _, a letter first";
  if (std::string_view(parameter.name) == "model") return "is taken: firmware.model says which firmware";
  const auto same = [&](const ParameterSpec& other) { return other.name == parameter.name; };
  if (std::any_of(before.begin(), before.end(), same)) return "is declared twice";
  const std::uint32_t kind = foreign::number_in(parameter.kind);
  if (kind >= k_kinds.size()) return fmt::format("is of kind {}; valid: 0 to {}", kind, k_kinds.size() - 1);
  return wrong_numbers(parameter, k_kinds.at(kind));
}

ParameterSpec spec_of(const tlmssd_parameter& parameter) {
  ParameterSpec spec;
  spec.name = parameter.name;
  spec.kind = k_kinds.at(static_cast<std::size_t>(parameter.kind));
  spec.minimum = parameter.minimum;
  spec.maximum = parameter.maximum;
  spec.doc = parameter.doc == nullptr ? "" : parameter.doc;
  switch (spec.kind) {
    case Kind::flag:
      spec.fallback = parameter.fallback != 0;
      break;
    case Kind::real:
    case Kind::share:
      spec.fallback = parameter.fallback;
      break;
    case Kind::text:
      spec.fallback = std::string();
      break;
    default:
      spec.fallback = static_cast<std::int64_t>(parameter.fallback);
  }
  return spec;
}

std::vector<ParameterSpec> specs_of(const tlmssd_firmware& firmware, const std::string& origin) {
  if (firmware.parameter_count > 0 && firmware.parameters == nullptr)
    throw InputError(fmt::format("plug-in {}: its firmware has {} parameters, but names none (null)", origin,
                                 firmware.parameter_count));
  std::vector<ParameterSpec> specs;
  for (std::size_t i = 0; i < firmware.parameter_count; ++i) {
    const tlmssd_parameter& parameter = firmware.parameters[i];
    if (parameter.name == nullptr)
      throw InputError(fmt::format("plug-in {}: parameter {} of its firmware has no name", origin, i + 1));
    if (const std::string wrong = wrong_with(parameter, specs); !wrong.empty())
      throw InputError(fmt::format("plug-in {}: parameter {} of its firmware {}", origin,
                                   in_quotes(parameter.name), wrong));
    specs.push_back(spec_of(parameter));
  }
  return specs;
}

/// The struct as this version knows it: what an older header had not is null.
tlmssd_firmware whole(const tlmssd_firmware& given, const std::string& origin) {
  if (given.api != TLMSSD_FIRMWARE_API)
    throw InputError(
        fmt::format("{}: its firmware is written for version {} of tlmssd_firmware.h, but this is {}", origin,
                    given.api, TLMSSD_FIRMWARE_API));
  // Behind what each must have come fields that an older header may not have.
  constexpr std::size_t k_least = offsetof(tlmssd_firmware, quiet);
  if (given.size < k_least)
    throw InputError(
        fmt::format("{}: its struct tlmssd_firmware says a size of {} bytes, less than the {} that each has; "
                    "write .size = sizeof(struct tlmssd_firmware)",
                    origin, given.size, k_least));
  tlmssd_firmware firmware{};
  std::memcpy(&firmware, &given, std::min(given.size, sizeof firmware));
  const bool complete = firmware.name != nullptr && firmware.version != nullptr &&
                        firmware.create != nullptr && firmware.destroy != nullptr &&
                        firmware.buffers != nullptr && firmware.dram_bytes != nullptr &&
                        firmware.submit != nullptr && firmware.drain != nullptr;
  if (!complete)
    throw InputError(origin +
                     ": its firmware lacks a name, a version or one of create, destroy, buffers, "
                     "dram_bytes, submit and drain");
  if (!is_word(firmware.name, "-_"))
    throw InputError(in_quotes(firmware.name) +
                     " is no name of a firmware; write small letters, digits, - and _, a letter first");
  return firmware;
}

}  // namespace

void add_c_firmware(const tlmssd_firmware& firmware, const std::string& origin) {
  struct Known {
    tlmssd_firmware firmware;
    std::vector<ParameterSpec> parameters;
  };
  const auto known = std::make_shared<Known>(Known{whole(firmware, origin), {}});
  known->parameters = specs_of(known->firmware, origin);
  const char* const summary = known->firmware.summary;
  PolicyInfo info{known->firmware.name, summary == nullptr ? "" : summary, known->parameters, origin};
  if (firmware_family().find(info.name) != nullptr)
    throw InputError("plug-in " + origin + ": there is a firmware " + info.name + " already");
  firmware_family().add(
      std::move(info), [known](const ParameterValues& values, const FirmwareContext& context) {
        return std::make_unique<foreign::CFirmware>(known->firmware, values, context, known->parameters);
      });
}

}  // namespace tlmssd::firmware

void tlmssd_add_firmware(const tlmssd_firmware* firmware) {
  using tlmssd::firmware::add_c_firmware;
  const bool named = firmware->name != nullptr && firmware->version != nullptr;
  add_c_firmware(*firmware, named ? std::string(firmware->name) + " " + firmware->version : "firmware");
}
