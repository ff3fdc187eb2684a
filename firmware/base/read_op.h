// Reads of flash: pooled, each of consecutive units of one multi-plane page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "firmware/base/layout.h"
#include "models/base/flash_transaction.h"
#include "models/base/intrusive_queue.h"
#include "models/base/ledger.h"
#include "models/base/read_verdict.h"
#include "models/base/slab.h"

namespace tlmssd::firmware {

class Feature;
class ReadBatch;

/// A read of consecutive units of one multi-plane page (a page, or the same page in neighbouring
/// planes), with room for a whole multi-plane page.
struct alignas(64) ReadOp {
  FlashTransaction op;
  ReadBatch* batch = nullptr;  ///< that it has been started in
  ReadOp* next = nullptr;
  ReadOp* joined = nullptr;  ///< the next one of the multi-plane read that this one begins or follows in
  // By unit of the multi-plane page:
  std::uint64_t* need = nullptr;  ///< the user's own: for commands, the sectors that are asked for
  Lpn* wanted = nullptr;          ///< logical unit expected there; k_no_unit: not asked for
  Lpn* spare = nullptr;
  Stamp* stamps = nullptr;
  BlockNumber block = k_no_block;  ///< pinned until the read has been dealt with
  std::uint32_t mp_page = 0;
  std::uint32_t low = 0;          ///< first unit of the multi-plane page that is read
  std::uint32_t high = 0;         ///< last
  std::uint32_t sectors = 0;      ///< of a unit
  std::uint32_t tag = 0;          ///< the user's own
  Feature* redirector = nullptr;  ///< that has this read instead of what lies at `original`; null: none
  Lpn copy_of = k_no_unit;        ///< redirected: the unit that is wanted, where it has another number here
  Ppn original = k_nowhere;       ///< redirected: where the unit itself lies that is at `low`, pinned as well
  bool undecoded = false;         ///< an attempt with the nominal pass voltage could not be decoded
  bool follows = false;           ///< it is done together with the read that it was joined to
  std::uint16_t senses = 0;       ///< of its pages so far, by all attempts; each disturbs the block
  /// Where need, wanted, spare and stamps are, all in one piece; `memory` when that is too small.
  alignas(8) std::array<std::byte, 64> room;
  std::unique_ptr<std::byte[]> memory;
  std::unique_ptr<ReadVerdict> verdict;  ///< null: it was never asked for
  Ledger ledger;                         ///< of the operation, where several run at once

  /// What has been read of unit `at` of the multi-plane page, sector by sector.
  [[nodiscard]] Stamp* content(std::uint32_t at) const { return &stamps[std::size_t{at} * sectors]; }
  /// What lies in unit `at` of the multi-plane page could not be read.
  [[nodiscard]] bool lost(std::uint32_t at) const {
    if (op.status != FlashStatus::uncorrectable) return false;
    return verdict->failed_slots.empty() || verdict->failed_slots.has(at - low);
  }
};

/// Reads in the order in which they were made; all of them are given back together.
struct ReadList : IntrusiveQueue<ReadOp> {
  std::uint32_t operations = 0;  ///< of the dies, once it is settled which reads are done together
};

class ReadPool {
 public:
  explicit ReadPool(const Layout& layout) : mp_page_(layout.mp_page_units), sectors_(layout.sectors) {}
  /// A read of unit `at` of `mp_page`; what is wanted there is yet to be set.
  ReadOp& take(std::uint32_t mp_page, BlockNumber block, std::uint32_t at) {
    ReadOp& read = pool_.take([this] { return make(); });
    read.mp_page = mp_page;
    read.block = block;
    read.low = read.high = at;
    read.redirector = nullptr;
    read.joined = nullptr;
    read.follows = false;
    read.undecoded = false;
    return read;
  }
  /// Widens the read so that it takes in unit `at` of its multi-plane page.
  static void widen(ReadOp& read, std::uint32_t at) {
    while (read.high < at) read.wanted[++read.high] = k_no_unit;
    while (read.low > at) read.wanted[--read.low] = k_no_unit;
  }
  void give(ReadOp& read) { pool_.give(read); }

 private:
  [[nodiscard]] std::unique_ptr<ReadOp> make() const {
    auto made = std::make_unique<ReadOp>();
    ReadOp& read = *made;
    read.sectors = sectors_;
    constexpr std::size_t k_per_unit = sizeof *read.need + sizeof *read.wanted + sizeof *read.spare;
    const std::size_t bytes = mp_page_ * (k_per_unit + sectors_ * sizeof(Stamp));
    if (bytes > read.room.size()) read.memory = std::make_unique<std::byte[]>(bytes);
    read.need = reinterpret_cast<std::uint64_t*>(read.memory ? read.memory.get() : read.room.data());
    read.wanted = reinterpret_cast<Lpn*>(read.need + mp_page_);
    read.spare = read.wanted + mp_page_;
    read.stamps = reinterpret_cast<Stamp*>(read.spare + mp_page_);
    return made;
  }
  std::uint32_t mp_page_;
  std::uint32_t sectors_;
  Pool<ReadOp> pool_;
};

}  // namespace tlmssd::firmware
