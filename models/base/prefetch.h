// Asks the processor to fetch a cache line ahead of its use.
#pragma once

namespace tlmssd {

/// Without the empty asm GCC 12 takes functions that only prefetch for functions without effect and
/// drops their calls.
inline void prefetch_line(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

}  // namespace tlmssd
