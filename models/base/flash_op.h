// One flash operation as firmware orders it and the flash controller, channels and dies carry it
// out.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/base/content.h"
#include "models/base/ecc_code.h"
#include "models/base/event_queue.h"
#include "models/base/geometry.h"
#include "models/base/ledger.h"
#include "models/base/sequential_fill.h"

namespace tlmssd {

struct ReadVerdict;

enum class FlashCommand : std::uint8_t { read, program, erase, copyback };
std::string_view name_of(FlashCommand command);

/// What the cells of a block hold: the bits of the part, or one each (SLC mode). An erase puts a
/// block into a mode.
enum class BlockMode : std::uint8_t { native, slc };
/// "native mode" or "SLC mode".
std::string_view name_of(BlockMode mode);

/// On whose behalf: decides priority, the cause that others are charged, and the statistics.
enum class Purpose : std::uint8_t { host, gc, wear, refresh, migration, map, count };
inline constexpr std::size_t k_purposes = static_cast<std::size_t>(Purpose::count);
std::string_view name_of(Purpose purpose);

/// The two queues of a die (models/flash/scheduling/scheduler.h).
enum class DieQueue : std::uint8_t { urgent, normal };
inline constexpr std::size_t k_die_queues = 2;

enum class FlashStatus : std::uint8_t {
  ok,
  program_failed,  ///< status bit after program: block must be retired
  erase_failed,    ///< status bit after erase: block must be retired
  uncorrectable,   ///< read could not be decoded by the code asked for
};

/// One operation on one die: a page (or several planes' pages at the same block and page number), a
/// block erase, or a copyback: pages sensed into the page register and programmed from there to
/// others of the same planes, with no data on the bus and past every decoder.
///
/// A program covers `pages` consecutive pages: 1, or the pages of a word line or of a whole block
/// where the part programs in such units; in SLC mode always 1. A copyback is addressed as a
/// program of its destination; its source is as many consecutive pages, with the same numbers in
/// each plane. Source and destination may be in different modes, so that pages are folded into a
/// native word line within the die. Reads and erases have pages == 1. Data move as mapping pages.
/// Unit slots of the operation are counted plane by plane, then page by page: slot = ((plane -
/// first plane)
/// * pages + (page - first page)) * units_per_page + unit_in_page. A program writes, and a copyback
/// copies, every slot of its pages; a read transfers slots [first_slot, first_slot + slots) only
/// (ONFI random data out: a column address per page), though the array senses whole pages. The
/// object must stay where it is until it is done; one that takes time is a FlashTransaction.
///
/// A multi-plane read of pages in different blocks is a chain (next_plane): one command, one
/// sensing, one data out; block, planes, slots, spare area, content and the decoder's verdict are
/// each link's own, all else is the first one's. The first one stands for the chain: it is the one
/// that is submitted and whose ledger is charged.
struct FlashOp {
  FlashCommand command = FlashCommand::read;
  Purpose purpose = Purpose::host;
  FlashStatus status = FlashStatus::ok;
  BlockMode mode = BlockMode::native;  ///< of the block, which it must be in; erase: which it is put into
  BlockMode source_mode = BlockMode::native;  ///< copyback: of the source block
  bool suspended_for_host = false;  ///< set by the flash controller: this op was suspended at least once
  /// Programs and erases: a write of the host waits for room in the write buffer, as this begins.
  bool writes_wait = false;
  // Reads only. Error correction: the code to decode with, and the step of the part's read-retry
  // levels of reference voltages (0: default).
  EccCode code = EccCode::none;
  std::uint8_t retry_level = 0;
  bool again = false;  ///< a further attempt at what could not be decoded
  // How the array is read for that code, set by the flash controller: the senses it takes and which
  // pages they are of.
  bool word_line =
      false;  ///< the first senses are of the pages of the word line, one each; else all of the same
  std::uint8_t senses = 1;  ///< in all
  std::uint8_t program_pass =
      0;  ///< programs in several passes: those of the word line under way that are through
  /// So far. Copyback: pages of the step under way in the page register; 0 while they are
  /// programmed.
  std::uint8_t sense_count = 0;
  std::uint16_t planes = 1;  ///< number of consecutive planes operated together
  DieId die{};
  PlaneId plane{};  ///< first plane
  BlockId block{};  ///< same in each plane
  PageId page{};    ///< first page, same in each plane
  std::uint32_t first_slot = 0;
  std::uint32_t slots = 0;
  std::uint16_t pages = 1;  ///< program, copyback: consecutive pages of the part's program unit
  float pass_voltage =
      1;  ///< reads: voltage of the word lines that are not read (Vpass), as a share of the nominal one, in (0, 1]
  /// Spare area: logical unit of each slot (k_no_unit: padding). Program: in. Read, copyback: out.
  /// `slots` entries.
  Lpn* spare = nullptr;
  /// Content: `stamps_per_unit` stamps for each slot, `slots` times. Program: in. Read, copyback:
  /// out.
  Stamp* stamps = nullptr;
  FlashOp* next_plane = nullptr;  ///< reads: of other planes, read by the same command
  /// Charged piece by piece while the operation proceeds; null when not asked for.
  Ledger* ledger = nullptr;
  /// Called through the event queue when done (timed mode only).
  EventQueue::Callback on_done = nullptr;
  void* on_done_self = nullptr;
  std::uint64_t buffer_address = 0;  ///< where in DRAM the data lie (for bus and bank accounting)
  union {
    /// Reads: some place in the state of who waits for it, as a coroutine's frame; null: none. What
    /// lies around it is fetched into the processor's caches when the end is near.
    const void* waiting = nullptr;
    /// Programs, untimed: all pages of the block, which is erased, hold this; null: what `spare`
    /// and `stamps` say. Pages, slots, spare area and content are not looked at.
    const SequentialFill* fill;
  };
  // Copybacks only: where the first page comes from.
  BlockId source_block{};
  PageId source_page{};
  std::uint32_t* errors =
      nullptr;           ///< out, by the die: wrong bits of each frame of the slots; null: not asked for
  float error_rate = 0;  ///< out, by the die, with `errors`: expected bit errors of the pages
  std::uint32_t worst_errors = 0;   ///< out: wrong bits of the worst frame
  std::uint32_t wrong_bits = 0;     ///< out: of all frames
  std::uint32_t failed_frames = 0;  ///< out: frames that could not be decoded
  ReadVerdict* verdict = nullptr;   ///< out: of slots and planes; null: not asked for

  /// Planes that work together, over the chain.
  [[nodiscard]] std::uint32_t all_planes() const {
    std::uint32_t sum = 0;
    for (const FlashOp* op = this; op != nullptr; op = op->next_plane) sum += op->planes;
    return sum;
  }
  /// Slots that are transferred, over the chain.
  [[nodiscard]] std::uint32_t all_slots() const {
    std::uint32_t sum = 0;
    for (const FlashOp* op = this; op != nullptr; op = op->next_plane) sum += op->slots;
    return sum;
  }
  /// Whether the page register holds, or is getting, what this copyback will program next.
  [[nodiscard]] bool copying() const { return command == FlashCommand::copyback && sense_count != 0; }
};

}  // namespace tlmssd
