// A drive with a cache on fake hardware, and a host that knows what every logical block must hold.
#pragma once

#include <algorithm>
#include <fmt/format.h>

#include "firmware/cache/cache.h"
#include "testbench/tests/firmware/model_host.h"

namespace tlmssd::firmware::testing {

struct CacheCase {
  std::string policy = "nv-wb";
  std::string medium = "scm";
  Geometry geometry{2, 1, 1, 1, 16, 8, 16384, 0};
  std::uint32_t program_unit = 1;
  Bytes unit = 16384;
  Bytes grain = 512;
  std::string copy_in = "sectors";
  bool copy_waits = false;
  std::string write_back = "dirty";
  double share = 0.1;  ///< of the flash
  double fill = 0.8;
  std::uint32_t lba = 512;
};

inline std::string describe(const CacheCase& c) {
  return fmt::format("{} in {}, unit {}, grain {}, program {} pages, copies in {}{}, writes back {}, lba {}",
                     c.policy, c.medium, c.unit, c.grain, c.program_unit, c.copy_in,
                     c.copy_waits ? " and waits" : "", c.write_back, c.lba);
}

struct CacheRig {
  CacheRig(const CacheCase& c, const FakeOptions& options, std::uint64_t seed)
      : shape(shape_of(c)),
        config(config_of(c)),
        hw(shape, options),
        ftl(hw.ports, sized(c), config),
        host(hw, ftl, shape, seed) {}

  static DriveShape shape_of(const CacheCase& c) {
    DriveShape shape;
    shape.geometry = c.geometry;
    shape.program_unit = c.program_unit;
    shape.lba_bytes = c.lba;
    shape.mapping_page_bytes = c.unit;
    shape.scm_bytes = c.medium == "scm" ? bytes(c) : 0;
    return shape;
  }
  static Bytes bytes(const CacheCase& c) {
    const auto share = static_cast<Bytes>(c.share * static_cast<double>(c.geometry.bytes()));
    const Bytes least = Bytes{2} * c.geometry.page_bytes * c.program_unit;
    return std::max(share, least) / 16384 * 16384;
  }
  static FirmwareConfig config_of(const CacheCase& c) {
    FirmwareConfig config;
    config.mapping.unit = c.unit;
    config.buffer.capacity = std::max<Bytes>(Bytes{2} * c.geometry.page_bytes * c.program_unit, 16 * c.unit);
    config.cache.policy = c.policy;
    config.cache.medium = c.medium;
    config.cache.capacity = c.medium == "scm" ? 0 : bytes(c);
    config.cache.grain = c.grain;
    config.cache.copy_in = c.copy_in;
    config.cache.copy_waits = c.copy_waits;
    config.cache.write_back = c.write_back;
    return config;
  }
  const DriveShape& sized(const CacheCase& c) {
    const auto most = static_cast<double>(Ftl::largest_logical_blocks(shape, config));
    const std::uint64_t sectors = shape.mapping_page_bytes / shape.lba_bytes;
    shape.logical_blocks = static_cast<std::uint64_t>(c.fill * most) / sectors * sectors;
    return shape;
  }
  [[nodiscard]] const Cache& cache() const { return *ftl.cache(); }

  DriveShape shape;
  FirmwareConfig config;
  FakeHardware hw;
  Ftl ftl;
  ModelHost host;
};

inline void check_conservation(const CacheRig& rig) {
  const CacheStatistics& s = rig.cache().statistics();
  CHECK(s.sectors_dirtied + s.sectors_back ==
        s.sectors_out + s.sectors_discarded + s.sectors_lost + rig.cache().store().dirty_sectors());
  CHECK(s.write_hits + s.around <= s.writes);
  CHECK(s.read_hits + s.read_partial <= s.reads);
}

inline std::vector<std::string> policies() {
  std::vector<std::string> names;
  for (const PolicyInfo& info : cache_family().infos()) names.push_back(info.name);
  return names;
}

class Settings final : public ParameterValues {
 public:
  explicit Settings(std::vector<std::pair<std::string, Value>> values) : values_(std::move(values)) {}
  [[nodiscard]] const Value* find(std::string_view name) const override {
    for (const auto& [key, value] : values_) {
      if (key == name) return &value;
    }
    return nullptr;
  }

 private:
  std::vector<std::pair<std::string, Value>> values_;
};

}  // namespace tlmssd::firmware::testing
