// Where the grains of a log-structured store lie: the plain core of the log-structured host layer,
// without SystemC and without time.
//
// The store is `segments` segments of `segment_grains` places each. The head takes one place after
// the other, from the start of a segment to its end, and goes on in the free segment that has been
// free for longest (at first, from the lowest number up). A map says at which place each grain
// lies. Whatever is written anew or unmapped leaves a hole behind; a full segment without a valid
// grain, without a write under way into it and without a reader is free again. A victim is the full
// segment with the fewest valid grains, of several the one that came to that number first.
//
// Memory: 4 bytes for each grain of the map and 4 for each place, where they have been touched.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/base/archive.h"
#include "models/base/sparse_array.h"

namespace tlmssd {

class SegmentLog {
 public:
  using Grain = std::uint32_t;             ///< logical
  using Place = std::uint32_t;             ///< where a grain may lie: segment * segment_grains + n
  using Segment = std::uint32_t;           ///< index
  static constexpr Place k_nowhere = ~0U;  ///< of a grain that was never written, or has been unmapped
  static constexpr Place k_lost = ~1U;  ///< of a grain whose data could not be read when they had to be moved

  struct Shape {
    std::uint32_t grains = 0;  ///< of the map
    std::uint32_t segments = 0;
    std::uint32_t segment_grains = 0;
    [[nodiscard]] std::uint64_t places() const { return std::uint64_t{segments} * segment_grains; }
  };
  /// Places one after another in one segment.
  struct Run {
    Place first = 0;
    std::uint32_t grains = 0;
  };

  explicit SegmentLog(const Shape& shape);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] Place lookup(Grain grain) const { return map_.read(grain) - 1; }
  /// The first grain from `grain` on that may be mapped; those before it are not.
  [[nodiscard]] std::uint64_t next_touched(std::uint64_t grain, std::uint64_t end) const {
    return map_.next_touched(grain, end);
  }
  [[nodiscard]] std::uint32_t mapped() const { return mapped_; }
  [[nodiscard]] std::uint32_t free_segments() const {
    return shape_.segments - fresh_ + static_cast<std::uint32_t>(freed_.size());
  }
  /// Places that can be taken before anything is freed.
  [[nodiscard]] std::uint64_t room() const {
    return head_room() + std::uint64_t{free_segments()} * shape_.segment_grains;
  }
  /// Places left in the segment at the head.
  [[nodiscard]] std::uint32_t head_room() const { return !head_ ? 0 : shape_.segment_grains - head_used_; }

  // ---- appending

  /// The head goes on in a free segment; it must be at the end of its own, and there must be a free
  /// one.
  void open_segment();
  /// The next places at the head, at most `at_most`, as many as its segment still has. Their writer
  /// calls committed().
  Run take(std::uint32_t at_most);
  /// The write of places that were taken is over. Those that are valid have been mapped before; the
  /// others are holes.
  void committed(Run run);

  // ---- the map

  /// The grain lies at `place` from now on, which has been taken and has not committed.
  void map(Grain grain, Place place);
  /// The grain lies nowhere.
  void deallocate(Grain grain) { forget(grain, k_nowhere); }
  /// The data of the grain are lost.
  void lose(Grain grain) { forget(grain, k_lost); }

  // ---- reading and cleaning

  [[nodiscard]] Segment segment_of(Place place) const { return place / shape_.segment_grains; }
  /// As long as a segment is pinned, its places keep their data.
  void pin(Segment segment) { ++segments_[segment].readers; }
  void unpin(Segment segment);
  /// Chooses a victim, which is none of the full segments any more; nothing when no full segment
  /// has a hole (segments that writes are under way into are not looked at).
  std::optional<Segment> choose_victim();
  /// The victim is not free yet.
  [[nodiscard]] bool is_victim(Segment segment) const { return segments_[segment].state == State::victim; }
  /// The victim is one of the full segments again.
  void give_up(Segment victim);
  [[nodiscard]] std::uint32_t valid(Segment segment) const { return segments_[segment].valid; }
  /// Calls `visit(grain, place)` for each valid grain of the segment, from its start to its end.
  template <class Visit>
  void for_each_valid(Segment segment, Visit&& visit) const {
    const Place first = segment * shape_.segment_grains;
    for (Place place = first; place < first + shape_.segment_grains; ++place) {
      if (segments_[segment].valid > 0 && lookup(owner_[place]) == place) visit(owner_[place], place);
    }
  }

  /// Nothing may be under way.
  void archive(Archive& a);
  /// Memory that map and reverse map of this size take in a host.
  [[nodiscard]] std::uint64_t map_bytes() const { return (shape_.grains + shape_.places()) * sizeof(Place); }

 private:
  enum class State : std::uint32_t { free, head, full, victim };
  struct Info {
    State state;
    std::uint32_t valid;    // grains
    std::uint32_t writing;  // places taken and not committed
    std::uint32_t readers;
    Segment before;  // in the list of full segments with as many valid grains
    Segment after;
    [[nodiscard]] bool listed() const { return state == State::full && writing == 0; }
  };
  struct List {
    Segment first = k_none;
    Segment last = k_none;
  };

  static constexpr Segment k_none = ~0U;  // in lists

  void forget(Grain grain, Place instead);
  void make_hole(Place place);
  void settle(Segment segment);
  void push(Segment segment);
  void unlink(Segment segment);
  void rebuild(const std::vector<Segment>& full);

  Shape shape_;
  SparseArray<Place> map_;  // place + 1, so that untouched means nowhere
  ZeroPages<Grain> owner_;  // of each place the grain last mapped to it
  ZeroPages<Info> segments_;
  std::vector<List> lists_;    // by valid grains
  std::deque<Segment> freed_;  // longest first
  Segment fresh_ = 0;          // the first that was never used
  std::optional<Segment> head_;
  std::uint32_t head_used_ = 0;
  std::uint32_t mapped_ = 0;
};

}  // namespace tlmssd
