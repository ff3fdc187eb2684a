#include "testbench/report/advice/resources.h"

#include <algorithm>

#include "testbench/report/statistics_view.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

/// A memory from outside, which is not made of what ours is.
bool is_foreign(const Json& statistics, const char* memory) {
  return statistics.contains(memory) && statistics[memory].contains("model");
}

/// Decoders of one kind, and how fast they are with each code that they have decoded.
Resource decoders(std::string_view label, const Json& statistics) {
  Resource resource{std::string(label), "the " + std::string(label), {"ssd.flash.ecc.engines"}};
  const std::string_view kind = label.substr(0, label.rfind(' '));
  const Json* const group = find_group(statistics, "decoders");
  if (group == nullptr) return resource;
  for (const auto& [code, counts] : group->items()) {
    if (!counts.is_object() || is_value(counts)) continue;
    const bool own = group->contains(code + "_utilisation");  // BCH, or a code from outside
    const std::string_view decoder = code == "bch" ? "BCH" : own ? std::string_view(code) : "LDPC";
    if (decoder == kind) resource.keys.push_back("ssd.flash.ecc." + code + ".throughput");
  }
  return resource;
}

}  // namespace

std::string Resource::all_keys() const {
  std::string all;
  for (const std::string& key : keys) all += (all.empty() ? "" : " or ") + key;
  return all;
}

std::optional<Resource> find_resource(std::string_view label, const Json& statistics) {
  if (label == "DRAM" && is_foreign(statistics, "dram"))
    return Resource{"DRAM", "the DRAM", {"ssd.dram.model"}};
  if (label == "SCM" && is_foreign(statistics, "scm")) return Resource{"SCM", "the SCM", {"ssd.scm.model"}};
  if (label.ends_with(" decoders")) return decoders(label, statistics);
  if (label == "link in" || label == "link out") {
    const Json* const link = find_group(statistics, "link");
    if (link != nullptr && link->contains("utilisation")) return std::nullopt;
  }
  static const std::vector<Resource> all = {
      {"link in", "the host link", {"ssd.host.link"}, ", to the device"},
      {"link out", "the host link", {"ssd.host.link"}, ", to the host"},
      {"link", "the host link", {"ssd.host.link"}},
      {"cores",
       "the controller's cores",
       {"ssd.cpu.clock", "ssd.cpu.cores"},
       "",
       "core",
       {"ssd.cpu.clock", "ssd.cpu.assignment"}},
      {"bus", "the system bus", {"ssd.bus.clock", "ssd.bus.width"}},
      {"DRAM", "the DRAM", {"ssd.dram.bandwidth"}},
      {"SCM", "the SCM", {"ssd.scm.bandwidth"}, ", its interface"},
      {"SCM banks",
       "the SCM",
       {"ssd.scm.banks", "ssd.scm.read_latency", "ssd.scm.program_latency"},
       ", its banks"},
      {"gangs",
       "the lines that channels share",
       {"ssd.flash.gang", "ssd.flash.bus"},
       "",
       "gang",
       {"ssd.flash.bus", "the addresses that are asked for"}},
      {"channels",
       "the flash channels",
       {"ssd.flash.bus", "ssd.flash.channels"},
       "",
       "channel",
       {"ssd.flash.bus", "the addresses that are asked for"}}};
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Resource& one) { return one.label == label; });
  if (found == all.end()) return std::nullopt;
  return *found;
}

}  // namespace tlmssd
