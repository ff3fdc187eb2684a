#include "models/host/host_config.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <utility>

#include "models/base/input_error.h"
#include "models/base/suggest.h"

namespace tlmssd {

namespace {
constexpr Bytes k_most_memory_buffer = Bytes{1} << 40U;
constexpr std::array<std::uint32_t, 5> k_pcie_lanes = {1, 2, 4, 8, 16};
constexpr std::uint32_t k_pcie_generations = 6;

/// The numbers in a text, in order, each up to 100.
std::vector<double> numbers_in(const std::string& text) {
  static const std::regex number("[0-9]+(\\.[0-9]+)?");
  std::vector<double> numbers;
  for (std::sregex_iterator one(text.begin(), text.end(), number); one != std::sregex_iterator(); ++one)
    numbers.push_back(std::min(std::strtod(one->str().c_str(), nullptr), 100.0));
  return numbers;
}

/// What a text may mean that is no link of `kind`: the generation and lanes, or the rate, that come
/// nearest. Where it names nothing of the kind: what most drives have.
std::string nearest_link(const std::string& text, LinkKind kind) {
  constexpr std::size_t k_longest = 32;  // more says nothing
  const std::string own = kind == LinkKind::sata ? "sata" : "pcie";
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::vector<double> numbers = lower.find(own) == std::string::npos
                                          ? std::vector<double>{}
                                          : numbers_in(lower.substr(lower.find(own), k_longest));
  if (kind == LinkKind::sata) {
    if (numbers.empty()) return "sata6";
    return numbers[0] < 2.25 ? "sata1.5" : numbers[0] < 4.5 ? "sata3" : "sata6";
  }
  const double generation = numbers.empty() ? 3 : std::clamp<double>(numbers[0], 1, k_pcie_generations);
  const double lanes = numbers.size() < 2 ? 4 : numbers[1];
  // Of two that are as near, the one that carries more.
  const std::uint32_t nearest =
      *std::min_element(k_pcie_lanes.rbegin(), k_pcie_lanes.rend(),
                        [&](double a, double b) { return std::abs(a - lanes) < std::abs(b - lanes); });
  return "pcie" + std::to_string(static_cast<std::uint32_t>(generation)) + "x" + std::to_string(nearest);
}
}  // namespace

LinkSpec parse_link(const std::string& text, LinkKind kind) {
  for (const auto& [name, megabits] : {std::pair{"sata1.5", 1500U}, {"sata3", 3000U}, {"sata6", 6000U}}) {
    if (text == name) return {LinkKind::sata, 0, 0, megabits};
  }
  if (text.size() >= 7 && text.size() <= 8 && text.starts_with("pcie") && text[4] >= '1' && text[4] <= '6' &&
      text[5] == 'x') {
    for (const std::uint32_t lanes : k_pcie_lanes) {
      if (text.substr(6) == std::to_string(lanes)) {
        return {LinkKind::pcie, static_cast<std::uint32_t>(text[4] - '0'), lanes, 0};
      }
    }
  }
  throw refusal("ssd.host.link",
                in_quotes(text) +
                    " is none of pcie<generation 1 to 6>x<lanes 1, 2, 4, 8 or 16> (such as pcie3x4), "
                    "sata1.5, sata3, sata6",
                nearest_link(text, kind));
}

std::uint32_t HostConfig::effective_depth() const {
  return is_sata() ? std::min<std::uint32_t>(queue_depth, 32) : queue_depth;
}

const ParameterTable<HostConfig>& HostConfig::parameters() {
  static const auto table =
      ParameterTable<HostConfig>{}
          .choice("protocol", &HostConfig::protocol, {"nvme", "sata"},
                  "command protocol: nvme (queue pairs over PCIe) or sata (one queue of up to 32 commands, "
                  "NCQ, beside which flushes and trims run alone)")
          .text("link", &HostConfig::link,
                "pcie<generation>x<lanes>, generation 1 to 6, lanes 1, 2, 4, 8 or 16, such as pcie3x4; or "
                "sata1.5, sata3, sata6 (Gb/s)")
          .integer("queues", &HostConfig::queues, {1, 1024},
                   "NVMe submission/completion queue pairs; SATA always has one")
          .integer("queue_depth", &HostConfig::queue_depth, {1, 65536},
                   "entries of each queue; SATA: at most 32 are used")
          .choice("arbitration", &HostConfig::arbitration, {"round-robin", "weighted"},
                  "which queue is fetched from next when commands wait in several, which they do only while "
                  "outstanding_limit are under way")
          .integers(
              "weights", &HostConfig::weights, {1, 65536},
              "weighted arbitration: commands fetched from each queue in its turn, one number per queue")
          .integer("burst", &HostConfig::burst, {1, 65536},
                   "round robin: commands fetched from a queue in its turn")
          .integer("outstanding_limit", &HostConfig::outstanding_limit, {0, 1'000'000},
                   "commands the device works on at once, from fetch to completion; 0: as many as the queues "
                   "hold, so that no command waits for another queue's turn")
          .bytes("lba_size", &HostConfig::lba_size, {512, 4096}, "logical block size: 512 B or 4 KiB")
          .shapes_state()
          .bytes("max_transfer", &HostConfig::max_transfer, {4096, std::uint64_t{64} << 20U},
                 "longest read or write; longer ones are refused with invalid field")
          .integer("max_payload", &HostConfig::max_payload, {128, 512},
                   "PCIe payload of one packet in bytes: 128, 256 or 512")
          .integer("max_read_request", &HostConfig::max_read_request, {128, 4096},
                   "PCIe bytes asked for by one read request: 128 to 4096, a power of two")
          .integer("tlp_overhead", &HostConfig::tlp_overhead, {0, 64},
                   "PCIe bytes per packet beside header and payload: framing, sequence number, LCRC; not "
                   "used by generation 6")
          .integer("dllp_overhead", &HostConfig::dllp_overhead, {0, 64},
                   "PCIe bytes of acknowledgements and flow control per packet; not used by generation 6")
          .time("link_latency", &HostConfig::link_latency, {0, 1'000'000'000},
                "one way through link, switches and host bridge; a fetch from host memory takes two, a frame "
                "of "
                "SATA four (assumption)")
          .time("interrupt_latency", &HostConfig::interrupt_latency, {0, 1'000'000'000'000},
                "from the interrupt's arrival to the host having the completion (assumption)")
          .integer("coalesce_count", &HostConfig::coalesce_count, {1, 256},
                   "completions of a queue that share one interrupt; 1: each has its own")
          .time("coalesce_time", &HostConfig::coalesce_time, {1, 1'000'000'000'000},
                "longest time a completion waits for others to share its interrupt")
          .bytes("memory_buffer", &HostConfig::memory_buffer, {0, k_most_memory_buffer},
                 "host memory that the drive may use over the link (NVMe host memory buffer), as "
                 "firmware.mapping.cache_in says; 0: none; SATA has none")
          .time("memory_latency", &HostConfig::memory_latency, {0, 1'000'000'000},
                "of the host's memory behind the link, for a read of that buffer, beside link_latency "
                "(assumption)");
  return table;
}

void HostConfig::validate() const {
  ErrorList errors;
  errors.attempt([&] { check_link(); });
  const bool linked = errors.empty();
  const auto refuse = [&](const char* key, const std::string& what, const std::string& nearest) {
    errors.add(refusal(std::string("ssd.host.") + key, what, nearest));
  };
  const bool whole_blocks = lba_size == 512 || lba_size == 4096;
  if (!whole_blocks) refuse("lba_size", "must be 512 B or 4 KiB", lba_size < 2304 ? "512 B" : "4 KiB");
  if (max_payload != 128 && max_payload != 256 && max_payload != 512) {
    refuse("max_payload", "must be 128, 256 or 512",
           max_payload < 192   ? "128"
           : max_payload < 384 ? "256"
                               : "512");
  }
  if ((max_read_request & (max_read_request - 1)) != 0) {
    refuse("max_read_request", "must be a power of two from 128 to 4096",
           std::to_string(std::bit_floor(max_read_request)));
  }
  if (whole_blocks && max_transfer % lba_size != 0) {
    refuse("max_transfer", "must be a multiple of ssd.host.lba_size",
           std::to_string(std::max<Bytes>(max_transfer / lba_size, 1) * lba_size) + " B");
  }
  if (is_sata() && memory_buffer > 0) {
    refuse("memory_buffer", "is memory of the host over PCIe, but ssd.host.protocol is sata, which has none",
           "0 B");
  }
  // How many queues there are is not known while protocol and link contradict each other.
  if (is_weighted() && linked && weights.size() != effective_queues()) {
    refuse("weights",
           "has " + std::to_string(weights.size()) + " numbers, but there are " +
               std::to_string(effective_queues()) + " queues",
           fitting_weights());
  }
  if (!is_weighted() && !weights.empty()) {
    refuse("weights", "are given, but ssd.host.arbitration is " + arbitration + ", not weighted", "[]");
  }
  errors.throw_if_any();
}

void HostConfig::check_link() const {
  const LinkKind kind = is_sata() ? LinkKind::sata : LinkKind::pcie;
  if (parse_link(link, kind).kind == kind) return;
  throw refusal("ssd.host.protocol",
                protocol + " does not run over ssd.host.link " + link +
                    ": nvme needs pcie..., sata needs sata1.5, sata3 or sata6",
                is_sata() ? "nvme" : "sata");
}

/// The weights there are, cut or filled with ones to one for each queue, as a scenario writes them.
std::string HostConfig::fitting_weights() const {
  std::string text;
  for (std::uint32_t queue = 0; queue < effective_queues(); ++queue) {
    text += (queue > 0 ? ", " : "") + std::to_string(queue < weights.size() ? weights[queue] : 1);
  }
  return "[" + text + "]";
}

}  // namespace tlmssd
