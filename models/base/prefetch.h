// Asks the processor to fetch a cache line ahead of its use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tlmssd {

/// Without the empty asm GCC 12 takes functions that only prefetch for functions without effect and
/// drops their calls.
inline void prefetch_line(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

/// The lines of `bytes` from `address` on.
inline void prefetch_lines(const void* address, std::size_t bytes) {
  constexpr std::size_t k_line = 64;
  const char* const end = static_cast<const char*>(address) + bytes;
  const char* line = static_cast<const char*>(address);
  line -= reinterpret_cast<std::uintptr_t>(line) % k_line;
  for (; line < end; line += k_line) prefetch_line(line);
}

}  // namespace tlmssd
