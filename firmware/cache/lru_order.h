// Lines in the order of their last use, with preferences among the oldest of them.
//
// The `window` oldest lines (a share of all) stand in three lists, each in LRU order: clean ones,
// dirty ones with all sectors present, and dirty ones that lack some. The line given up is the
// oldest of the first list that has any, by what is preferred; without preferences, or with a
// window of 0, it is the oldest of all. Everything takes constant time. Sources: the window of
// clean lines is that of CFLRU (Park et al., CASES 2006); preferring complete pages is the
// page-fragmentation control of SCM/NAND hybrids (Sun et al., "A high performance and
// energy-efficient cold data eviction algorithm for 3D-TSV hybrid ReRAM/MLC NAND SSD", IEEE TCAS-I
// 2014).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "firmware/cache/line_store.h"

namespace tlmssd::firmware {

class LruOrder {
 public:
  using Index = LineStore::Index;
  struct Preferences {
    double window = 0;  ///< share of the lines among which the next two count
    bool clean_first = false;
    bool complete_first = false;
  };

  LruOrder(const LineStore& store, const Preferences& preferences)
      : store_(store), preferences_(preferences) {}

  /// The line is the one used last from now on.
  void push(Index line);
  void remove(Index line);
  [[nodiscard]] bool contains(Index line) const { return line < links_.size() && links_[line].list != k_out; }
  /// Soon the line will be pushed (k_none: no line).
  void prefetch(Index line) const {
    if (line < links_.size()) prefetch_line(&links_[line]);
  }
  /// The line to give up next; k_none when there is none.
  [[nodiscard]] Index victim();
  void archive(Archive& archive);

 private:
  enum List : std::uint8_t { k_young, k_clean, k_complete, k_partial, k_lists, k_out = 0xFF };
  struct Link {
    Index older = LineStore::k_none;
    Index younger = LineStore::k_none;
    List list = k_out;
  };
  struct Ends {
    Index oldest = LineStore::k_none;
    Index youngest = LineStore::k_none;
    std::uint64_t size = 0;
  };
  void append(Index line, List list);
  void unlink(Index line);
  [[nodiscard]] List old_list(Index line) const;
  void age();

  const LineStore& store_;
  Preferences preferences_;
  std::vector<Link> links_;
  std::array<Ends, k_lists> lists_;
};

}  // namespace tlmssd::firmware
