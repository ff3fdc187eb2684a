// Pieces of firmware work that cost controller cycles (scenario: ssd.cpu.cycles). Shared by the
// controller cores, which charge them, and the firmware, which names the one it is about to
// execute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tlmssd {

enum class Stage : std::uint8_t {
  command,    ///< take a host command from the mailbox and decode it
  translate,  ///< one mapping look-up or update
  buffer,     ///< one write-buffer insertion or look-up
  flash,      ///< build and issue one flash operation
  complete,   ///< finish a host command
  gc,         ///< garbage collection: per victim selection and per valid unit moved
  count
};
inline constexpr std::size_t k_stages = static_cast<std::size_t>(Stage::count);
std::string_view name_of(Stage stage);

/// What cycles of a stage may depend on (ssd.cpu.costs).
struct StageWork {
  enum class Cached : std::uint8_t { unknown, miss, hit };
  double entries = 1;               ///< entries that one execution looks at
  Cached cached = Cached::unknown;  ///< whether what it looks for is in the cache
  std::uint32_t candidates = 0;     ///< blocks among which a victim is chosen first; 0: none is
};

}  // namespace tlmssd
