// Reads that are served by parity: the same slots of all other members of a stripe are read, and
// their XOR is what the one member that is not read holds there, spare area included.
//
// What is rebuilt comes from what flash delivered alone. Its spare area is rebuilt as well, so that
// the check of any read (check_read) finds a stripe that names the wrong program units.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "firmware/core/core.h"

namespace tlmssd::firmware {

class Rebuilder {
 public:
  /// `feature`: whose reads they are; `xor_rate`: bytes per second that the XOR engine takes in.
  Rebuilder(Core& core, Feature& feature, BytesPerSecond xor_rate)
      : core_(core), feature_(feature), xor_rate_(xor_rate) {}

  /// Adds reads of the program units `others` to `reads` from which `unit`, at `where` in another
  /// of their stripe, is rebuilt; or widens those that rebuild its neighbour.
  void add(Lpn unit, Ppn where, std::uint64_t need, std::span<const std::uint32_t> others, ReadBatch& reads);

  enum class Outcome : std::uint8_t { none, rebuilt, lost };
  /// One of the reads has ended, and with it all of its batch. `rebuilt`: it holds what was wanted
  /// now. `lost`: one of them could not be decoded; the original has been added to `again`. `none`:
  /// the last of them will tell.
  Outcome end(const ReadOp& read, ReadBatch& again);

 private:
  /// The reads of one page that is rebuilt.
  struct Rebuild {
    const ReadBatch* batch = nullptr;  ///< null: it is over
    std::uint32_t original = 0;        ///< multi-plane page
    std::uint32_t ended = 0;
    bool lost = false;
    std::vector<ReadOp*> reads;
  };
  [[nodiscard]] Rebuild* near(const ReadBatch& reads, std::uint32_t mp_page, std::uint32_t at);
  std::uint32_t take();
  static bool any_lost(const Rebuild& rebuild);
  static void combine(const Rebuild& rebuild);
  void pass_engine(const Rebuild& rebuild, ReadBatch& again);

  Core& core_;
  Feature& feature_;
  BytesPerSecond xor_rate_;
  Picoseconds engine_free_ = 0;
  std::vector<Rebuild> rebuilds_;
  std::vector<std::uint32_t> free_;
  std::uint32_t last_ = 0;  ///< the youngest rebuild
};

}  // namespace tlmssd::firmware
