// The reference marks what a snapshot's identity holds, and nothing else.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

#include "support.h"
#include "testbench/app/scenario_catalogue.h"
#include "testbench/app/scenario_check.h"

namespace tlmssd::drive_tests {
namespace {

bool is_marked(const ParameterSpec& spec) {
  return spec.shapes_state || spec.settles_state;
}

/// Every key that the catalogue has ("firmware.cache.capacity"), and whether each declaration of it
/// is marked. Keys that choose policies are left out: the reference names the families.
void gather_marks(const Section& section, std::map<std::string, bool>& keys) {
  const auto add = [&](const ParameterSpec& spec) {
    const std::string key = section.path() + "." + spec.name;
    const auto known = keys.emplace(key, is_marked(spec)).first;
    known->second = known->second && is_marked(spec);
  };
  for (const KeyGroup& group : section.groups()) {
    if (!group.is_family()) std::for_each(group.parameters.begin(), group.parameters.end(), add);
    for (const PolicyInfo& policy : group.policies)
      std::for_each(policy.parameters.begin(), policy.parameters.end(), add);
  }
  for (const auto& child : section.children()) gather_marks(*child, keys);
}

/// Checks that the identity of the drive holds marked keys alone, and `wanted` among them.
void check_identity(const std::string& yaml, const std::set<std::string>& wanted) {
  const Scenario scenario = parse_scenario(yaml, "marks", scenario_catalogue());
  const Simulation simulation(SsdConfig::from(scenario), read_simulation(scenario));
  std::map<std::string, bool> keys;
  gather_marks(scenario_catalogue().root(), keys);
  std::set<std::string> found;
  for (const auto& [key, value] : simulation.identity()) {
    const auto known = keys.find(key);
    if (known == keys.end()) continue;  // what no key says alone, such as the capacity
    INFO(key);
    CHECK(known->second);
    found.insert(key);
  }
  for (const std::string& key : wanted) {
    INFO(key);
    CHECK(found.contains(key));
  }
}

constexpr const char* k_marked_drive = R"(
ssd:
  dram: {capacity: 256 MiB}
  scm: {capacity: 16 MiB}
  flash:
    channels: 2
    ways: 1
    over_provisioning: 60 %
    part: {planes: 1, blocks_per_plane: 64, pages_per_block: 16, slc_read_latency: 20 us, slc_program_latency: 200 us, slc_erase_latency: 2 ms}
)";

constexpr const char* k_any_load = "load: {rw: read}\n";

}  // namespace

TEST_CASE("a snapshot's identity holds marked keys: a drive with a cache", "[drive]") {
  check_identity(std::string(k_marked_drive) + R"(
firmware:
  cache: {policy: lru}
  pslc: {policy: all, static: 1 MiB}
  refresh: {policy: limits}
contents: {duplicates: 10 %}
)" + k_any_load,
                 {"ssd.flash.part.slc_endurance", "firmware.cache.capacity", "firmware.cache.grain",
                  "ssd.scm.capacity", "contents.pool"});
}

TEST_CASE("a snapshot's identity holds marked keys: a log-structured host layer", "[drive]") {
  check_identity(std::string(k_marked_drive) + "log_structured: {grain: 4 KiB, spare: 50 %}\n" + k_any_load,
                 {"log_structured.grain"});
}

TEST_CASE("a snapshot's identity holds marked keys: a file cache", "[drive]") {
  check_identity(std::string(k_marked_drive) +
                     "file_cache: {admission: dfcache, files: 40, file_size: 64 KiB}\n" + k_any_load,
                 {"file_cache.files"});
}

}  // namespace tlmssd::drive_tests
