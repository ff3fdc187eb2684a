#include "testbench/conform/conform_mapping.h"

#include <algorithm>
#include <fmt/format.h>

#include "models/base/memory_archive.h"
#include "models/base/random.h"
#include "testbench/conform/call_cost.h"
#include "testbench/conform/found_by.h"

namespace tlmssd {

namespace {

using firmware::k_nowhere;
using firmware::Layout;
using firmware::MappingScheme;
using firmware::Ppn;

constexpr int k_mapping_steps = 200'000;
constexpr double k_most_nanoseconds_per_step = 1'000;

/// A drive of 48 MiB on 64 MiB of flash.
Layout layout() {
  firmware::DriveShape shape;
  shape.geometry = {.channels = 2,
                    .ways = 1,
                    .dies_per_way = 1,
                    .planes = 1,
                    .blocks = 64,
                    .pages = 64,
                    .page_bytes = 8192,
                    .spare_bytes = 0};
  shape.lba_bytes = 4096;
  shape.logical_blocks = 12'288;
  return Layout(shape, firmware::AllocationConfig{});
}

class Checks {
 public:
  Checks(const MakeMapping& make, std::uint64_t seed)
      : make_(make),
        layout_(layout()),
        random_(seed, "conformance of mapping"),
        map_(make(layout_)),
        places_(layout_.logical_units) {}

  Conformance all() {
    found_.check("keeps its table within the DRAM that it says it takes", [&] { return entries(); });
    if (!plain()) {
      found_.note("the rest is left to whole drives");
      return found_;
    }
    found_.check("a fresh one holds nothing", [&] { return compare(*map_); });
    found_.check("finds each unit where it was put last", [&] { return updates(); });
    found_.check("next_touched() passes over nothing that is mapped", [&] { return touched(); });
    found_.check("a second one knows nothing of the first", [&] { return second(); });
    found_.check("a snapshot holds all of it", [&] { return across_snapshot(); });
    found_.check("nothing is lost with the power", [&] { return across_power(); });
    double taken = 0;
    found_.check("a look-up takes at most 1 us", [&]() -> std::string {
      taken = nanoseconds();
      return taken <= k_most_nanoseconds_per_step ? "" : fmt::format("{:.0f} ns", taken);
    });
    found_.note(fmt::format("{:.0f} ns", taken));
    return found_;
  }

 private:
  bool plain() {
    return map_->block_units() == 0 && map_->log_scheme() == nullptr && map_->entries_per_page() == 0;
  }

  std::string entries() {
    for (int i = 0; i < k_mapping_steps / 100; ++i) {
      const Lpn first = unit();
      const std::uint64_t count = 1 + random_.below(std::min<std::uint64_t>(units() - first, 64));
      const MappingScheme::Span span = map_->entries(first, count);
      const Bytes all = map_->host_memory_bytes() > 0 ? map_->host_memory_bytes() : map_->dram_bytes();
      if (span.address <= all && span.bytes <= all - span.address) continue;
      return fmt::format("{} entries from unit {} on: {} B at {}, of {} B", count, first, span.bytes,
                         span.address, all);
    }
    return {};
  }

  std::string updates() {
    for (int i = 0; i < k_mapping_steps; ++i) {
      const Lpn changed = unit();
      places_[changed] = random_.below(5) == 0 ? k_nowhere : place();
      map_->update(changed, places_[changed]);
      const Lpn asked = unit();
      map_->prefetch(asked);
      if (map_->lookup(asked) != places_[asked]) return wrong(asked, map_->lookup(asked));
      if (map_->lookup(changed) != places_[changed]) return wrong(changed, map_->lookup(changed));
    }
    return compare(*map_);
  }

  std::string touched() {
    for (int i = 0; i < k_mapping_steps / 100; ++i) {
      const std::uint64_t first = unit();
      const std::uint64_t end = first + random_.below(units() - first + 1);
      std::uint64_t mapped = first;
      while (mapped < end && !places_[mapped].valid()) ++mapped;
      const std::uint64_t found = map_->next_touched(first, end);
      if (found >= first && found <= mapped) continue;
      return fmt::format("{} from {} to {}, where unit {} is mapped", found, first, end, mapped);
    }
    return {};
  }

  std::string second() {
    const auto other = make_(layout_);
    for (std::uint64_t i = 0; i < units(); ++i) {
      const auto asked = static_cast<Lpn>(i);
      if (other->lookup(asked).valid()) return fmt::format("unit {} is mapped in it", asked);
    }
    other->update(unit(), place());
    return compare(*map_);
  }

  std::string across_snapshot() {
    MemoryArchive archive;
    map_->archive(archive);
    archive.rewind();
    auto other = make_(layout_);
    other->archive(archive);
    if (!archive.at_end()) return "archive() restores less than it saves";
    if (std::string lost = compare(*other); !lost.empty()) return lost;
    map_ = std::move(other);
    return updates();
  }

  std::string across_power() {
    map_->power_lost();
    return compare(*map_);
  }

  double nanoseconds() {
    return nanoseconds_of_call(k_mapping_steps / 10,
                               [&](std::size_t) { return map_->lookup(unit()).entry(); });
  }

  std::string compare(const MappingScheme& map) {
    for (std::uint64_t i = 0; i < units(); ++i) {
      const auto asked = static_cast<Lpn>(i);
      if (map.lookup(asked) != places_[i]) return wrong(asked, map.lookup(asked));
    }
    return {};
  }

  std::string wrong(Lpn unit, Ppn found) const {
    const auto text = [](Ppn where) { return where.valid() ? std::to_string(where.number()) : "nowhere"; };
    return fmt::format("unit {} is said to be at {}, and was put to {}", unit, text(found),
                       text(places_[unit]));
  }

  [[nodiscard]] std::uint64_t units() const { return places_.size(); }
  /// The first and the last one often.
  Lpn unit() {
    const std::uint64_t kind = random_.below(16);
    return static_cast<Lpn>(kind == 0 ? 0 : kind == 1 ? units() - 1 : random_.below(units()));
  }
  /// Any that a drive can have, so that none is too large for an entry.
  Ppn place() { return Ppn{static_cast<std::uint32_t>(random_.below(std::uint64_t{Ppn::k_most} + 1))}; }

  const MakeMapping& make_;
  Layout layout_;
  RandomStream random_;
  std::unique_ptr<MappingScheme> map_;
  std::vector<Ppn> places_;  ///< by unit
  Conformance found_;
};

}  // namespace

Conformance conform_mapping(const MakeMapping& make, std::uint64_t seed) {
  return found_by<Checks>("can be made for a drive", make, seed);
}

}  // namespace tlmssd
