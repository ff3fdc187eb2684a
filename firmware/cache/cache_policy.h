// What a cache takes in and what it gives up next: the interface of cache policies, chosen by name
// (firmware.cache.policy).
//
// A policy is told of every line that comes, is used, changes and goes; it decides, it does not
// move data. It must not look at all lines in victim().
#pragma once

#include <cstdint>
#include <memory>

#include "firmware/cache/line_store.h"
#include "models/base/archive.h"
#include "models/base/parameters.h"

namespace tlmssd::firmware {

struct CacheContext {
  const LineStore& store;       ///< made before the policy, which may look at any line
  std::uint64_t cache_units;    ///< whole mapping pages that the cache could hold
  std::uint64_t logical_units;  ///< of the drive
  std::uint64_t seed;
};

class CachePolicy {
 public:
  using Index = LineStore::Index;
  virtual ~CachePolicy() = default;

  // ---- what is taken in
  /// Whether a write to `unit`, which has no line, goes into the cache (else: through the write
  /// buffer to flash). Asked once per write and unit.
  virtual bool admits_write(Lpn unit) = 0;
  /// Whether sectors of `unit` that were read from flash are copied into the cache, whether or not
  /// others of it are here already. Asked once per read and unit that has brought any.
  virtual bool admits_read(Lpn unit) = 0;
  /// Whether it ever does.
  [[nodiscard]] virtual bool copies_reads() const { return true; }
  /// Free share of the cache at or below which lines are written out.
  [[nodiscard]] virtual double keep_free() const = 0;

  // ---- what is given up
  /// A line has come, by a write or by a read.
  virtual void added(Index line, bool write) = 0;
  /// A line has been read or overwritten.
  virtual void used(Index line, bool write) = 0;
  /// A line is not to be chosen any more: it is being written out, or gone.
  virtual void removed(Index line) = 0;
  /// A line whose writing out has failed is back.
  virtual void restored(Index line) = 0;
  /// `line` will be used soon: a chance to fetch what is known of it into the processor's caches.
  virtual void prefetch(Index /*line*/) const {}
  /// The line to give up next, which stays known until removed(); LineStore::k_none when there is
  /// none.
  virtual Index victim() = 0;

  virtual void archive(Archive& archive) = 0;
};

using CacheFamily = PolicyFamily<CachePolicy, const CacheContext&>;
/// All cache policies by name, but for `none`.
CacheFamily& cache_family();
/// The same with `none`, as a scenario chooses among them.
std::vector<PolicyInfo> cache_policies();

}  // namespace tlmssd::firmware
