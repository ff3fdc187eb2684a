// DFTL: page-level mapping with the table in flash and a cache of its entries in DRAM (Gupta, Kim &
// Urgaonkar, ASPLOS 2009), or in the host memory buffer of a drive with hardly any DRAM.
//
// Map pages (the paper's translation pages) hold unit_bytes / 4 entries each and lie in flash; the
// global translation directory (GTD) that says where is in DRAM. The cached mapping table (CMT)
// holds lines of `line` entries, 8 bytes each (logical and physical number). A command waits until
// the entries that it needs are there: the line used longest ago goes, and when it is dirty its map
// page is read (unless the line is all of it), changed and written; then the page that is wanted is
// read. One read serves all the lines of a command that are in the same page, and all commands that
// wait for the same page. Commands of the host fetch before they take effect, writes and trims too,
// unless a cache in SCM or DRAM takes the data. A trim that covers whole map pages reads none of
// them: they are void and forgotten.
//
// A program that ends, of data from a cache too, or a move by garbage collection, changes an entry
// without waiting. One that is not cached is put in, dirty, beyond the capacity; the next fetch
// evicts down to the capacity, those late ones first, in the order in which they came, and the
// write of a map page takes along all late entries of it (with `batch_update` all dirty ones). This
// stands for the paper's lazy copying and batch updates in garbage collection. On a nearly full
// drive it matters: every page written makes collection move more, so what is written must not grow
// with what was moved, but be bounded by the number of map pages. Entries that are being read lie
// in buffers of their own and do not count.
//
// A cache in the host's memory costs traffic that one in DRAM does not show: lines are written
// there when they come, and read back when a dirty one is written to flash, 8 bytes per entry,
// those of neighbouring lines together; nothing waits for the former, the write of the map page for
// the latter. A hit is read over the link, while what has just come from flash is looked at in
// DRAM, where it has arrived. Which lines there are, and where, the controller knows by itself
// (left out: the memory that takes).
//
// The emulator's truth is the table in its own memory: what is cached decides about time and flash
// traffic, never about data. Left out: blocks of their own for map pages (they travel with the
// host's data), the reading of spare areas after a loss of power or of a map page, the adaptive
// partial and full updates of later variants (S-FTL, CDFTL, TPFTL).
#pragma once

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "firmware/base/hardware.h"
#include "firmware/base/unit_hash.h"
#include "firmware/mapping/mapping.h"
#include "models/base/sparse_array.h"

namespace tlmssd::firmware {

struct DftlConfig {
  Bytes cache = Bytes{1} << 20U;
  std::string cache_in = "dram";
  std::uint32_t line = 1;
  bool segmented_lru = true;
  bool batch_update = true;
  static const ParameterTable<DftlConfig>& parameters();
  [[nodiscard]] bool lies_in_host() const { return cache_in == "host"; }
};

struct DftlStatistics {
  std::uint64_t lookups = 0;          ///< entries that commands asked for
  std::uint64_t line_lookups = 0;     ///< lines that these lie in, each once for every command
  std::uint64_t misses = 0;           ///< lines that had to be brought in for that
  std::uint64_t page_reads = 0;       ///< times a map page was wanted, for a miss or in order to change it
  std::uint64_t shared_reads = 0;     ///< of these, served by a read already under way for another command
  std::uint64_t clean_evictions = 0;  ///< lines
  std::uint64_t dirty_evictions = 0;  ///< lines
  std::uint64_t write_backs = 0;      ///< map pages written
  std::uint64_t batched = 0;          ///< further dirty lines that were written with these
  std::uint64_t late_entries = 0;     ///< lines put in beyond the capacity by programs and moves
  std::uint64_t void_pages = 0;       ///< map pages forgotten by trims
  std::uint64_t most_lines = 0;       ///< largest number of lines at any time
};

class Dftl final : public MappingScheme {
 public:
  static constexpr std::string_view k_name = "dftl";
  static constexpr std::string_view k_summary =
      "one entry per mapping page, the table in flash, a cache of entries in DRAM (Gupta et al., ASPLOS'09)";
  static constexpr Bytes k_cached_bytes = 8;  ///< of an entry in the cache
  using Config = DftlConfig;

  /// Throws InputError when lines do not fit a map page, or the cache cannot hold one.
  Dftl(const Config& config, const Layout& layout);

  // An entry holds the physical unit plus one, so that untouched memory means unmapped. Map pages
  // come last: that is the GTD.
  [[nodiscard]] Ppn lookup(Lpn unit) const override { return Ppn::of_entry(entries_.read(unit)); }
  void update(Lpn unit, Ppn where) override;
  void prefetch(Lpn unit) const override { entries_.prefetch(unit); }
  [[nodiscard]] std::uint64_t next_touched(std::uint64_t unit, std::uint64_t end) const override {
    return entries_.next_touched(unit, end);
  }
  [[nodiscard]] bool at_hand(Lpn first, std::uint64_t count) const override;
  [[nodiscard]] Span entries(Lpn first, std::uint64_t count) const override;
  [[nodiscard]] Bytes dram_bytes() const override { return cache_dram_bytes() + gtd_bytes(); }
  [[nodiscard]] Bytes host_memory_bytes() const override { return in_host_ ? cache_bytes() : 0; }
  [[nodiscard]] std::uint64_t in_host_memory(Lpn first, std::uint64_t count) const override;
  void archive(Archive& archive) override;

  [[nodiscard]] std::uint32_t entries_per_page() const override { return per_page_; }
  void attach(MapPages& pages) override { pages_ = &pages; }
  [[nodiscard]] bool resident(Lpn first, std::uint64_t count) override;
  Task<> fetch(Lpn first, std::uint64_t count, Ledger* ledger) override;
  Task<> fetch_to_deallocate(Lpn first, std::uint64_t count, Ledger* ledger) override;
  void deallocation(std::uint64_t first, std::uint64_t end) override;
  void power_lost() override { forget_lines(); }
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override;
  void describe_stall(std::string& text) const override;
  [[nodiscard]] const DftlStatistics& statistics() const { return stats_; }

 private:
  using Index = std::uint32_t;
  static constexpr Index k_none = UnitHash::k_none;
  enum Segment : std::uint8_t {
    k_late,
    k_probationary,
    k_protected,
    k_segments
  };  ///< in the order of giving up
  struct Line {
    std::uint32_t number = 0;  ///< first unit / line_
    Index older = k_none;      ///< neighbours in the segment; `newer` also links free places
    Index newer = k_none;
    Index next_dirty = k_none;  ///< neighbours among the dirty lines of the map page
    Index previous_dirty = k_none;
    Segment segment = k_probationary;
    bool dirty = false;
  };
  struct Ends {
    Index oldest = k_none;
    Index newest = k_none;
    std::uint64_t size = 0;
  };

  [[nodiscard]] Bytes cache_bytes() const { return capacity_ * line_ * k_cached_bytes; }
  [[nodiscard]] Bytes cache_dram_bytes() const { return in_host_ ? 0 : cache_bytes(); }
  [[nodiscard]] Bytes line_bytes() const { return line_ * k_cached_bytes; }
  [[nodiscard]] Bytes gtd_bytes() const { return k_entry_bytes * pages_count_; }
  [[nodiscard]] std::uint32_t page_of(const Line& line) const { return line.number / lines_per_page_; }
  [[nodiscard]] Lpn unit_of(std::uint32_t page) const { return static_cast<Lpn>(logical_units_ + page); }
  [[nodiscard]] std::uint64_t lines() const {
    return segments_[k_late].size + segments_[k_probationary].size + segments_[k_protected].size;
  }
  /// Lines beyond the capacity when `own` more come.
  [[nodiscard]] std::uint64_t excess(std::uint64_t own = 0) const {
    return lines() + own > capacity_ ? lines() + own - capacity_ : 0;
  }

  // ---- the lines that are cached
  Index insert(std::uint32_t number, Segment segment);
  void remove(Index i);
  void use(Index i);
  void append(Index i, Segment segment);
  void unlink(Index i);
  void set_dirty(Index i);
  void set_clean(Index i);
  [[nodiscard]] Index victim() const;
  void forget_lines();

  // ---- traffic with flash
  Task<> fetch_from(std::uint32_t page, std::uint64_t first, std::uint64_t end);
  void take_in(std::uint32_t first, std::uint32_t last, std::uint64_t most);
  Task<> make_space(std::uint64_t own);
  Task<> write_back(std::uint32_t number, bool late);
  /// Whether a dirty line goes with the write of its map page when another one, `late` or not,
  /// does.
  [[nodiscard]] bool goes_along(const Line& line, bool late) const {
    return batch_update_ || (late && line.segment == k_late);
  }
  Task<> read_page(std::uint32_t page);
  void charge(Ledger* ledger) const;

  // ---- a cache in the host memory buffer
  void add_line(MemorySpans& lines, std::uint32_t number) const {
    lines.add(number % capacity_ * line_bytes(), line_bytes());
  }
  void post_lines();

  std::uint64_t logical_units_;
  std::uint32_t per_page_;  ///< entries of a map page
  std::uint32_t line_;      ///< entries of a line
  std::uint32_t lines_per_page_;
  std::uint32_t pages_count_;
  std::uint64_t capacity_;   ///< lines
  std::uint64_t protected_;  ///< lines of the protected segment, at most
  bool batch_update_;
  bool in_host_;  ///< the cache
  SparseArray<std::uint32_t> entries_;
  MapPages* pages_ = nullptr;
  UnitHash index_;  ///< line number to place
  std::vector<Line> lines_;
  Index free_ = k_none;
  std::array<Ends, k_segments> segments_;
  ZeroPages<std::uint32_t> dirty_;  ///< by map page: its first dirty line, plus one
  std::uint64_t dirty_lines_ = 0;
  std::uint64_t awaited_ = 0;     ///< lines that are about to be taken in
  std::uint64_t void_first_ = 0;  ///< units whose entries need not be kept: their map pages are void
  std::uint64_t void_end_ = 0;
  std::unordered_map<std::uint32_t, WaitQueue>
      reading_;           ///< map pages that are being read, and who waits for them
  MemorySpans taken_in_;  ///< lines to be written into the host memory buffer
  Completion posted_;
  DftlStatistics stats_;
};

}  // namespace tlmssd::firmware
