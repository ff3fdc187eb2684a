#include "firmware/foreign/c_firmware.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <utility>
#include <vector>

#include "firmware/base/firmware.h"
#include "firmware/foreign/c_adapter.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

namespace {

ParameterSpec spec_of(const tlmssd_parameter& parameter) {
  constexpr std::array k_kinds = {Kind::integer, Kind::real, Kind::share, Kind::time,
                                  Kind::bytes,   Kind::flag, Kind::text};
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

/// The struct as this version knows it: what an older header had not is null.
tlmssd_firmware whole(const tlmssd_firmware& given, const std::string& origin) {
  if (given.api != TLMSSD_FIRMWARE_API)
    throw InputError(
        fmt::format("{}: its firmware is written for version {} of tlmssd_firmware.h, but this is {}", origin,
                    given.api, TLMSSD_FIRMWARE_API));
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
  return firmware;
}

}  // namespace

void add_c_firmware(const tlmssd_firmware& firmware, const std::string& origin) {
  struct Known {
    tlmssd_firmware firmware;
    std::vector<ParameterSpec> parameters;
  };
  const auto known = std::make_shared<Known>(Known{whole(firmware, origin), {}});
  for (std::size_t i = 0; i < known->firmware.parameter_count; ++i)
    known->parameters.push_back(spec_of(known->firmware.parameters[i]));
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
