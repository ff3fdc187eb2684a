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

/// The same of a number that is known when this is compiled: without a loop, one line too many at
/// the most.
template <std::size_t k_bytes>
[[gnu::always_inline]] inline void prefetch_lines(const void* address) {
  constexpr std::size_t k_line = 64;
  const char* const first = static_cast<const char*>(address);
#pragma GCC unroll 16
  for (std::size_t at = 0; at < k_bytes; at += k_line) __builtin_prefetch(first + at, 1);
  prefetch_line(first + k_bytes - 1);
}

}  // namespace tlmssd
