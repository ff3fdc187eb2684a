// Where the memories lie on the drive's internal bus, that of the host among them. Addresses are
// never rewritten on the way: each memory knows its base.
#pragma once

#include "models/base/types.h"

namespace tlmssd {

inline constexpr std::uint64_t k_dram_base = 0;
inline constexpr std::uint64_t k_scm_base = std::uint64_t{1} << 40U;          // 1 TiB: above any DRAM
inline constexpr std::uint64_t k_host_memory_base = std::uint64_t{1} << 50U;  // 1 PiB: above any SCM

}  // namespace tlmssd
