// Read-ahead: what the host will read next, when it reads in order, is fetched from flash before it
// asks.
//
// A stream is a run of read commands of which each begins where the one before it ends; some are
// known at a time. From its `after`-th command on, `window` bytes beyond its end are kept in DRAM
// or on their way there. They are fetched in pieces of half a window, whole pages, so that the dies
// of a piece work at the same time, when a read has been given its data, with cores, map and flash
// at the cost of any other read of the host's. A command that wants what has come is served from
// there, as from the write buffer; what is on its way it waits for, charged as `read-ahead`.
//
// Why the data are true: a copy counts only while the map points at the place it was read from and
// the block there has not been erased since, so that nothing else can have come to that place. When
// the unit is written or trimmed it goes at once. What waits in the write buffer is asked for
// first. A copy that could not be decoded is lost, and the command reads for itself.
//
// A copy goes when all of it has been read, or when others need its room, the oldest first. Source:
// none, every drive does it in its own way; the window beyond the reader, and its half as the unit
// of fetching, are those of the Linux page cache (mm/readahead.c, `ondemand_readahead`). Left out:
// streams that go backwards, that leave gaps, or whose commands come out of order; a window that
// grows with the stream. What is served from a copy a layer in front takes in as if it had come
// from flash, but promotion, replicas and their like do not see it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firmware/base/flash_copy.h"
#include "firmware/base/unit_hash.h"
#include "firmware/core/core.h"
#include "firmware/core/feature_info.h"
#include "firmware/core/layer.h"
#include "firmware/features/read_ahead/read_streams.h"
#include "models/base/intrusive_queue.h"
#include "models/base/task.h"

namespace tlmssd::firmware {

struct ReadAheadConfig {
  Bytes window = Bytes{512} << 10U;
  std::uint32_t streams = 16;
  std::uint32_t after = 3;
  static const ParameterTable<ReadAheadConfig>& parameters();
};

class ReadAhead final : public Feature {
 public:
  static constexpr const char* k_path = "firmware.read_ahead";
  static constexpr const char* k_doc = "data fetched from flash before the host asks for them";
  static constexpr const char* k_choice_doc = "what is fetched ahead";
  using Config = ReadAheadConfig;
  static std::vector<PolicyInfo> policies();
  /// fetched == used + unused + outdated + lost + copies that are held and have not been used.
  struct Counters {
    std::uint64_t fetched = 0;   ///< units
    std::uint64_t used = 0;      ///< of these, units that the host has read any of
    std::uint64_t unused = 0;    ///< given up for want of room, or because the drive was to rest
    std::uint64_t outdated = 0;  ///< written, trimmed or moved before they were read
    std::uint64_t lost = 0;      ///< could not be decoded
    std::uint64_t waits = 0;     ///< times that a command wanted a unit that was on its way
  };

  explicit ReadAhead(const FeatureContext& context);

  void on_host_command(const HostCommand& command) override;
  void on_read_end() override;
  void on_rewritten(Lpn unit) override;
  void on_power_lost() override { drop(); }
  FlashCopy* copy_of(Lpn unit, Ppn where, std::uint64_t need) override;
  void give_back(FlashCopy& copy) override;
  [[nodiscard]] bool knows_fill() const override { return true; }

  [[nodiscard]] bool idle() const override { return under_way_ == 0; }
  void drop() override;
  [[nodiscard]] Bytes dram_bytes() const override { return Bytes{room_} * core_.layout.unit_bytes; }
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { counters_ = {}; }
  void archive(Archive& archive) override;
  [[nodiscard]] const Counters& counters() const { return counters_; }
  /// Units that are held and have not been used.
  [[nodiscard]] std::uint64_t not_used_yet() const;

 private:
  struct Copy : FlashCopy {
    Copy* next = nullptr;
    Copy* previous = nullptr;
    std::uint32_t number = 0;  ///< of the copy, for good
    Lpn unit = 0;
    Ppn where = k_nowhere;
    std::uint32_t erases = 0;  ///< of the block there when it was read
    std::uint64_t left = 0;    ///< sectors that the host has not read
    bool used = false;
    bool known = false;  ///< it is in the table; else it goes when no command needs it any more
  };

  void fetch_for(ReadStream& stream);
  Task<> fetch(Lpn first, std::uint32_t units);
  /// Whether all of these units is in the layer in front, where commands look first.
  [[nodiscard]] bool in_front(std::uint64_t first, std::uint64_t units) const;
  [[nodiscard]] bool make_room(std::uint32_t units);
  Copy* take(Lpn unit);
  /// Whether the copy is of what lies at `where` now.
  [[nodiscard]] bool is_of(const Copy& copy, Ppn where) const {
    return copy.where == where && copy.erases == erases_at(where);
  }
  [[nodiscard]] std::uint32_t erases_at(Ppn where) const {
    return core_.pool.info(core_.layout.block_of(where)).erases;
  }
  void arrived(Copy& copy, bool lost, const Stamp* stamps);
  void forget(Copy& copy, std::uint64_t& why);
  void free_if_done(Copy& copy);

  Core& core_;
  Flusher& flusher_;
  PlaneJoiner* joiner_;
  const Layer* front_;
  std::uint64_t dram_address_;
  std::string policy_name_;
  ReadAheadConfig config_;
  std::uint32_t window_;  ///< units
  std::uint32_t room_;    ///< units that there is room for
  ReadStreams streams_;
  UnitHash table_;
  std::vector<Copy> copies_;
  std::vector<Stamp> stamps_;
  std::vector<std::uint32_t> free_;  ///< numbers of copies
  IntrusiveQueue<Copy> order_;       ///< those in the table, oldest first
  std::uint32_t under_way_ = 0;      ///< fetches
  Counters counters_;
  TaskSet tasks_;  ///< last: its coroutines refer to everything above
};

}  // namespace tlmssd::firmware
