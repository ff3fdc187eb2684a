// Base quantities and index types that every room shares.
//
// Time is an integer number of picoseconds (62 bits hold 53 days); sizes are bytes; rates are
// integers per second, so that every duration is exact integer arithmetic and two runs of one
// scenario agree to the bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tlmssd {

using Picoseconds = std::int64_t;
using Bytes = std::uint64_t;
using BytesPerSecond = std::uint64_t;
using Hertz = std::uint64_t;

/// An instant that never comes: "no deadline".
inline constexpr Picoseconds k_never = std::numeric_limits<Picoseconds>::max();

namespace literals {
constexpr Picoseconds operator""_ps(unsigned long long v) {
  return static_cast<Picoseconds>(v);
}
constexpr Picoseconds operator""_ns(unsigned long long v) {
  return static_cast<Picoseconds>(v) * 1'000;
}
constexpr Picoseconds operator""_us(unsigned long long v) {
  return static_cast<Picoseconds>(v) * 1'000'000;
}
constexpr Picoseconds operator""_ms(unsigned long long v) {
  return static_cast<Picoseconds>(v) * 1'000'000'000;
}
constexpr Picoseconds operator""_s(unsigned long long v) {
  return static_cast<Picoseconds>(v) * 1'000'000'000'000;
}
constexpr Bytes operator""_KiB(unsigned long long v) {
  return v << 10U;
}
constexpr Bytes operator""_MiB(unsigned long long v) {
  return v << 20U;
}
constexpr Bytes operator""_GiB(unsigned long long v) {
  return v << 30U;
}
constexpr Bytes operator""_TiB(unsigned long long v) {
  return v << 40U;
}
constexpr std::uint64_t operator""_MHz(unsigned long long v) {
  return v * 1'000'000;
}
constexpr std::uint64_t operator""_MBps(unsigned long long v) {
  return v * 1'000'000;
}
}  // namespace literals

/// Time to move `bytes` at `rate` bytes per second, rounded up to a picosecond. `rate` must be
/// above 0.
constexpr Picoseconds transfer_time(Bytes bytes, BytesPerSecond rate) {
  const auto scaled = static_cast<unsigned __int128>(bytes) * 1'000'000'000'000U + (rate - 1);
  return static_cast<Picoseconds>(scaled / rate);
}

/// Time of `cycles` of a clock of `frequency` hertz, rounded up to a picosecond. `frequency` must
/// be above 0.
constexpr Picoseconds cycle_time(std::uint64_t cycles, Hertz frequency) {
  return transfer_time(cycles, frequency);
}

// Positions in the flash array. A channel can never be passed for a die: each index is a type
// of its own.
enum class ChannelId : std::uint32_t {};
enum class DieId : std::uint32_t {
};  ///< counted over the whole drive: (channel * ways + way) * dies_per_way + die
enum class PlaneId : std::uint32_t {};  ///< within its die
enum class BlockId : std::uint32_t {};  ///< within its plane
enum class PageId : std::uint32_t {};   ///< within its block

/// Logical mapping page number (host address divided by the mapping page).
using Lpn = std::uint32_t;
inline constexpr Lpn k_no_unit = std::numeric_limits<Lpn>::max();

/// The number behind a strong index.
template <class Id>
constexpr std::uint32_t index(Id id) {
  return static_cast<std::uint32_t>(id);
}

}  // namespace tlmssd
