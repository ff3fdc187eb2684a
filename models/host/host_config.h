// Scenario section ssd.host: protocol, link, queues, limits and costs of the host interface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/parameters.h"
#include "models/base/types.h"

namespace tlmssd {

enum class LinkKind : std::uint8_t { pcie, sata };

/// A link as its text says: pcie3x4, sata6.
struct LinkSpec {
  LinkKind kind = LinkKind::pcie;
  std::uint32_t generation = 3;  ///< PCIe 1..6
  std::uint32_t lanes = 4;       ///< PCIe 1, 2, 4, 8, 16
  std::uint32_t megabits = 0;    ///< SATA: 1500, 3000 or 6000
  bool operator==(const LinkSpec&) const = default;
};

/// Reads "pcie<1-6>x<1|2|4|8|16>" or "sata1.5" / "sata3" / "sata6"; throws InputError that names the valid forms and proposes one of `kind`.
LinkSpec parse_link(const std::string& text, LinkKind kind = LinkKind::pcie);

struct HostConfig {
  std::string protocol = "nvme";
  std::string link = "pcie3x4";
  std::uint32_t queues = 4;
  std::uint32_t queue_depth = 1024;
  std::string arbitration = "round-robin";
  std::vector<std::int64_t> weights;
  std::uint32_t burst = 1;
  std::uint32_t outstanding_limit = 0;
  Bytes lba_size = 512;
  Bytes max_transfer = Bytes{2} << 20U;
  std::uint32_t max_payload = 256;
  std::uint32_t max_read_request = 512;
  std::uint32_t tlp_overhead = 8;
  std::uint32_t dllp_overhead = 2;
  Picoseconds link_latency = 150'000;
  Picoseconds interrupt_latency = 1'000'000;
  std::uint32_t coalesce_count = 1;
  Picoseconds coalesce_time = 100'000'000;
  Bytes memory_buffer = 0;
  Picoseconds memory_latency = 100'000;

  static const ParameterTable<HostConfig>& parameters();
  /// Throws InputError when values contradict each other; the message names the keys.
  void validate() const;
  [[nodiscard]] bool is_sata() const { return protocol == "sata"; }
  [[nodiscard]] bool is_weighted() const { return arbitration == "weighted"; }
  /// As the protocol has it: SATA has one queue of at most 32 commands whatever the scenario says
  /// of NVMe's.
  [[nodiscard]] std::uint32_t effective_queues() const { return is_sata() ? 1 : queues; }
  [[nodiscard]] std::uint32_t effective_depth() const;

 private:
  void check_link() const;
  [[nodiscard]] std::string fitting_weights() const;
};

}  // namespace tlmssd
