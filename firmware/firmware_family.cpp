#include <algorithm>

#include "firmware/base/firmware.h"
#include "firmware/core/feature_info.h"
#include "models/base/input_error.h"
#include "models/base/suggest.h"

namespace tlmssd::firmware {

namespace {

/// Whether `name` is a section of our own firmware ("gc" of firmware.gc).
bool is_section(const std::string& name) {
  static constexpr std::string_view k_sections[] = {"mapping", "allocation", "buffer", "cache", "gc",
                                                    "wear",    "ecc",        "pslc",   "model"};
  return std::find(std::begin(k_sections), std::end(k_sections), name) != std::end(k_sections) ||
         features().find("firmware." + name) != nullptr;
}

}  // namespace

FirmwareFamily::FirmwareFamily() {
  members_.push_back(
      {{std::string(k_own), "the program's own, with the sections beside this key", {}}, nullptr});
}

void FirmwareFamily::add(PolicyInfo info, MakeFirmware make) {
  for (const ParameterSpec& parameter : info.parameters) {
    if (is_section(parameter.name)) {
      throw InputError("plug-in " + info.origin + ": parameter " + in_quotes(parameter.name) +
                       " of firmware " + info.name +
                       " has the name of a section of firmware; call it otherwise");
    }
  }
  members_.push_back({std::move(info), std::move(make)});
}

const PolicyInfo* FirmwareFamily::find(std::string_view name) const {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& member) { return member.info.name == name; });
  return found == members_.end() ? nullptr : &found->info;
}

std::unique_ptr<Firmware> FirmwareFamily::make(std::string_view name, const ParameterValues& values,
                                               const FirmwareContext& context) const {
  for (const Member& member : members_) {
    if (member.info.name == name && member.make) return member.make(values, context);
  }
  return nullptr;
}

std::vector<PolicyInfo> FirmwareFamily::infos() const {
  std::vector<PolicyInfo> all;
  for (const Member& member : members_) all.push_back(member.info);
  return all;
}

FirmwareFamily& firmware_family() {
  static FirmwareFamily family;
  return family;
}

}  // namespace tlmssd::firmware
