// Which 512 B sectors of which volume have been touched, and which written: a hash table of
// bitmaps.
//
// One entry of 24 bytes stands for 64 sectors (32 KiB), so memory follows what is touched, not the
// address span.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "models/base/mixing.h"

namespace tlmssd {

class Footprint {
 public:
  Footprint() : entries_(1024) {}

  /// Notes a read or write of `bytes` (above 0) at `offset`; sectors touched in part count whole.
  void add(std::uint32_t volume, std::uint64_t offset, std::uint64_t bytes, bool write) {
    const std::uint64_t first = offset / k_sector;
    const std::uint64_t last = (offset + bytes - 1) / k_sector;
    for (std::uint64_t chunk = first / 64; chunk <= last / 64; ++chunk) {
      const std::uint64_t low = chunk == first / 64 ? first % 64 : 0;
      const std::uint64_t high = chunk == last / 64 ? last % 64 : 63;
      const std::uint64_t mask = (~std::uint64_t{0} >> (63 - (high - low))) << low;
      Entry& entry = find(chunk, volume);
      entry.touched |= mask;
      if (write) entry.written |= mask;
    }
  }
  [[nodiscard]] std::uint64_t touched_bytes() const {
    return sum([](const Entry& e) { return std::popcount(e.touched); }) * k_sector;
  }
  [[nodiscard]] std::uint64_t written_bytes() const {
    return sum([](const Entry& e) { return std::popcount(e.written); }) * k_sector;
  }
  [[nodiscard]] std::uint64_t touched_4k() const {
    return sum([](const Entry& e) {
      int pages = 0;
      for (unsigned page = 0; page < 8; ++page) pages += ((e.touched >> (8 * page)) & 0xFFU) != 0 ? 1 : 0;
      return pages;
    });
  }

 private:
  static constexpr std::uint64_t k_sector = 512;
  struct Entry {
    std::uint64_t key = 0;  ///< chunk and volume; an entry with touched == 0 is free
    std::uint64_t touched = 0;
    std::uint64_t written = 0;
  };
  // 63-bit byte addresses give chunks below 2^48; volumes are below 2^16.
  static std::uint64_t key_of(std::uint64_t chunk, std::uint32_t volume) { return chunk << 16U | volume; }
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const {
    return static_cast<std::size_t>((key * k_golden) >> (64 - bits_));
  }
  Entry& find(std::uint64_t chunk, std::uint32_t volume) {
    const std::uint64_t key = key_of(chunk, volume);
    std::size_t slot = slot_of(key);
    while (entries_[slot].touched != 0 && entries_[slot].key != key)
      slot = (slot + 1) & (entries_.size() - 1);
    if (entries_[slot].touched == 0) {
      if (used_ * 3 > entries_.size() * 2) {
        grow();
        return find(chunk, volume);
      }
      ++used_;
      entries_[slot].key = key;
    }
    return entries_[slot];
  }
  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    ++bits_;
    for (const Entry& entry : old) {
      if (entry.touched == 0) continue;
      std::size_t slot = slot_of(entry.key);
      while (entries_[slot].touched != 0) slot = (slot + 1) & (entries_.size() - 1);
      entries_[slot] = entry;
    }
  }
  template <class Count>
  [[nodiscard]] std::uint64_t sum(Count count) const {
    std::uint64_t total = 0;
    for (const Entry& entry : entries_) total += static_cast<std::uint64_t>(count(entry));
    return total;
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
  unsigned bits_ = 10;
};

}  // namespace tlmssd
