// new-name: a small flash translation layer, in coroutines. Every command is written through: a
// page (or what the part programs at once) on one die after the other, then the map.
//
// Models: page mapping with its table in DRAM, greedy garbage collection, trims, parts of units.
// Leaves out: a write buffer, blocks that fail (the drive then goes read-only), error correction,
// multi-plane operations, snapshots.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "firmware/base/firmware.h"
#include "firmware/flash/flash_await.h"
#include "models/base/input_error.h"

class NewTypeFtl final : public tlmssd::firmware::Firmware {
 public:
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "page mapping, written through, greedy collection";
  struct Config {
    std::uint32_t programs = 2;
    static const tlmssd::ParameterTable<Config>& parameters() {
      static const auto table = tlmssd::ParameterTable<Config>{}.integer(
          "programs", &Config::programs, {1, 64}, "programs that a plane has on their way at most");
      return table;
    }
  };

  NewTypeFtl(const Config& config, const tlmssd::firmware::FirmwareContext& context)
      : config_(config),
        hw_(context.hw),
        shape_(context.shape),
        sectors_(static_cast<std::uint32_t>(shape_.mapping_page_bytes / shape_.lba_bytes)),
        page_units_(static_cast<std::uint32_t>(shape_.geometry.page_bytes / shape_.mapping_page_bytes)),
        program_units_(page_units_ * shape_.program_unit),
        block_units_(page_units_ * shape_.geometry.pages),
        planes_(shape_.geometry.dies() * shape_.geometry.planes),
        map_((shape_.logical_blocks + sectors_ - 1) / sectors_, k_none),
        written_(map_.size(), 0),
        owner_(std::size_t{planes_} * shape_.geometry.blocks * block_units_, k_none),
        blocks_(std::size_t{planes_} * shape_.geometry.blocks),
        plane_(planes_) {
    const std::uint64_t kept =
        std::uint64_t{planes_} * (shape_.geometry.blocks - k_reserve - 2) * block_units_;
    if (shape_.geometry.blocks <= k_reserve + 2 || kept < map_.size())
      throw tlmssd::objection("ssd.flash.over_provisioning", "leaves less than 5 spare blocks in a plane");
    for (Plane& plane : plane_) plane.free = shape_.geometry.blocks;
  }

  void submit(tlmssd::HostCommand& command) override {
    ++under_way_;
    tasks_.start(serve(command));
  }
  tlmssd::Task<> drain() override {
    while (under_way_ > 0) {
      auto wait = ended_.wait();
      co_await wait;
    }
  }
  [[nodiscard]] tlmssd::Bytes dram_bytes() const override { return 4 * map_.size(); }
  [[nodiscard]] bool read_only() const override { return read_only_; }
  bool power_cycle() override { return true; }  // nothing is kept in DRAM but the map, which is rebuilt
  void report(tlmssd::StatisticsSink& sink) const override {
    sink.value("victims", victims_, "", "blocks chosen by garbage collection");
  }
  void reset_statistics() override { victims_ = 0; }

 private:
  using Unit = std::uint32_t;
  using HostOpcode = tlmssd::HostOpcode;
  static constexpr Unit k_none = ~0U;
  static constexpr std::uint32_t k_reserve = 3;  // free blocks at which collection starts
  struct Block {
    enum class State : std::uint8_t { free, open, full, bad } state = State::free;
    std::uint32_t next = 0;
    std::uint32_t valid = 0;
    std::uint32_t readers = 0;
    std::uint32_t programs = 0;
  };
  struct Plane {
    std::uint32_t free = 0;
    std::uint32_t open = k_none;
    std::uint32_t programs = 0;
    bool collecting = false;
  };
  /// A unit on its way to flash.
  struct Piece {
    Unit unit = k_none;
    Unit from = k_none;         ///< collection: it moves from there, unless it has been written meanwhile
    std::uint64_t version = 0;  ///< of the host's writes of that unit
    std::vector<tlmssd::Stamp> stamps;
  };

  // ---- commands

  tlmssd::Task<> serve(tlmssd::HostCommand& command) {
    using tlmssd::Stage;
    using tlmssd::firmware::RunStage;
    co_await RunStage(hw_, Stage::command, &command.ledger);
    command.status = checked(command);
    if (command.status == tlmssd::HostStatus::success) {
      if (command.opcode == HostOpcode::read) {
        co_await read(command);
      } else if (command.opcode != HostOpcode::flush) {  // nothing is left to be flushed
        co_await change(command);
      }
    }
    co_await RunStage(hw_, Stage::complete, &command.ledger);
    hw_.host.complete(command);
    --under_way_;
    wake(ended_);
  }

  [[nodiscard]] tlmssd::HostStatus checked(const tlmssd::HostCommand& command) const {
    using tlmssd::HostStatus;
    const auto beyond = [this](std::uint64_t lba, std::uint64_t blocks) {
      return lba > shape_.logical_blocks || blocks > shape_.logical_blocks - lba;
    };
    for (const tlmssd::LbaRange& range : command.ranges())
      if (beyond(range.lba, range.blocks)) return HostStatus::lba_out_of_range;
    if (command.opcode == HostOpcode::flush || !command.ranges().empty()) return HostStatus::success;
    if (command.blocks == 0 && command.opcode != HostOpcode::trim) return HostStatus::invalid_field;
    return beyond(command.lba, command.blocks) ? HostStatus::lba_out_of_range : HostStatus::success;
  }

  tlmssd::Task<> read(tlmssd::HostCommand& command) {
    using namespace tlmssd::firmware;
    const Unit first = unit_of(command.lba);
    const Unit last = unit_of(command.lba + command.blocks - 1);
    co_await RunStage(hw_, Stage::translate, &command.ledger, last - first + 1);
    MemoryAccess entries(hw_, MemoryKind::dram, 4 * std::uint64_t{first}, 4 * std::uint64_t{last - first + 1},
                         false, &command.ledger, tlmssd::Cause::map_fetch);
    co_await entries;
    for (Unit unit = first; unit <= last; ++unit) {
      std::vector<tlmssd::Stamp> stamps(sectors_, tlmssd::k_zeros);
      const bool readable = co_await fetch(unit, stamps, tlmssd::Purpose::host, &command.ledger);
      if (!readable) command.status = tlmssd::HostStatus::media_error;
      const std::uint64_t start = std::uint64_t{unit} * sectors_;
      for (std::uint32_t s = 0; s < sectors_; ++s) {
        const std::uint64_t block = start + s;
        if (block >= command.lba && block < command.lba + command.blocks)
          command.data()[block - command.lba] = stamps[s];
      }
    }
  }

  /// Writes, write zeroes and trims: of each unit what the command covers changes, and the whole is
  /// written anew. A unit that is trimmed as a whole loses its place.
  tlmssd::Task<> change(tlmssd::HostCommand& command) {
    using namespace tlmssd::firmware;
    const tlmssd::LbaRange whole{command.lba, command.blocks};
    const bool one = command.opcode != HostOpcode::trim || command.ranges().empty();
    const std::vector<tlmssd::LbaRange> ranges =
        one ? std::vector{whole} : std::vector(command.ranges().begin(), command.ranges().end());
    std::vector<Piece> pieces;
    for (const tlmssd::LbaRange& range : ranges) {
      for (std::uint64_t lba = range.lba; lba < range.lba + range.blocks;) {
        const Unit unit = unit_of(lba);
        const std::uint64_t end = std::min((std::uint64_t{unit} + 1) * sectors_, range.lba + range.blocks);
        co_await RunStage(hw_, Stage::translate, &command.ledger);
        while (locked(unit)) {
          auto wait = unlocked_.wait();
          co_await wait;
        }
        if (lba % sectors_ == 0 && end - lba == sectors_ && command.opcode != HostOpcode::write) {
          ++written_[unit];
          deallocate(unit);
        } else {
          lock(unit);
          Piece piece{unit, k_none, ++written_[unit], std::vector<tlmssd::Stamp>(sectors_, tlmssd::k_zeros)};
          if (end - lba < sectors_)
            co_await fetch(unit, piece.stamps, tlmssd::Purpose::host, &command.ledger);
          for (std::uint64_t block = lba; block < end; ++block)
            piece.stamps[block % sectors_] =
                command.opcode == HostOpcode::write ? command.data()[block - command.lba] : tlmssd::k_zeros;
          pieces.push_back(std::move(piece));
        }
        lba = end;
        if (pieces.size() == program_units_ || (lba == range.lba + range.blocks && !pieces.empty())) {
          const bool stored = co_await write(pieces, &command.ledger);
          if (!stored) command.status = tlmssd::HostStatus::write_protected;
          for (const Piece& piece : pieces) unlock(piece.unit);
          pieces.clear();
        }
      }
    }
  }

  // ---- flash

  /// What a unit holds. False: it cannot be read.
  tlmssd::Task<bool> fetch(Unit unit, std::vector<tlmssd::Stamp>& stamps, tlmssd::Purpose purpose,
                           tlmssd::Ledger* ledger) {
    using namespace tlmssd::firmware;
    const Unit where = map_[unit];
    if (where == k_none) co_return true;
    const bool readable = co_await read_at(where, unit, stamps, purpose, ledger);
    co_return readable;
  }
  tlmssd::Task<bool> read_at(Unit where, Unit unit, std::vector<tlmssd::Stamp>& stamps,
                             tlmssd::Purpose purpose, tlmssd::Ledger* ledger) {
    using namespace tlmssd::firmware;
    Block& block = blocks_[where / block_units_];
    ++block.readers;
    co_await RunStage(hw_, Stage::flash, ledger);
    tlmssd::Lpn spare = k_none;
    tlmssd::FlashTransaction op(operation(tlmssd::FlashCommand::read, where, purpose, ledger));
    op.first_slot = where % page_units_;
    op.slots = 1;
    op.spare = &spare;
    op.stamps = stamps.data();
    FlashAwait done(hw_, op);
    co_await done;
    --block.readers;
    wake(room_);
    if (spare != unit) throw tlmssd::InputError("a page holds another unit than its map says");
    co_return op.status == tlmssd::FlashStatus::ok;
  }

  [[nodiscard]] tlmssd::FlashOp operation(tlmssd::FlashCommand command, Unit where, tlmssd::Purpose purpose,
                                          tlmssd::Ledger* ledger) const {
    const std::uint32_t plane = where / block_units_ / shape_.geometry.blocks;
    tlmssd::FlashOp op;
    op.command = command;
    op.purpose = purpose;
    op.die = static_cast<tlmssd::DieId>(plane % shape_.geometry.dies());
    op.plane = static_cast<tlmssd::PlaneId>(plane / shape_.geometry.dies());
    op.block = static_cast<tlmssd::BlockId>(where / block_units_ % shape_.geometry.blocks);
    op.page = static_cast<tlmssd::PageId>(where % block_units_ / page_units_);
    op.ledger = ledger;
    return op;
  }

  /// A program unit of data of the host. False: the drive is read-only.
  tlmssd::Task<bool> write(std::vector<Piece>& pieces, tlmssd::Ledger* ledger) {
    std::uint32_t plane = k_none;
    while (!read_only_ && (plane = choose()) == k_none) {
      auto wait = room_.wait();
      co_await wait;
    }
    if (read_only_) co_return false;
    ledger->charge(tlmssd::Cause::space_wait, hw_.event_queue.now());
    ++plane_[plane].programs;
    const bool written = co_await program(plane, pieces, tlmssd::Purpose::host, ledger);
    --plane_[plane].programs;
    if (plane_[plane].free <= k_reserve && !plane_[plane].collecting) tasks_.start(collect(plane));
    wake(room_);
    co_return written;
  }

  /// The next plane in turn that can take a program of the host.
  std::uint32_t choose() {
    for (std::uint32_t i = 0; i < planes_; ++i) {
      const std::uint32_t n = (turn_ + i) % planes_;
      const Plane& plane = plane_[n];
      // Collection must find a block for what it moves: the last but one is not the host's.
      const std::uint32_t least = plane.open == k_none ? k_reserve : k_reserve - 1;
      if (plane.programs >= config_.programs || plane.free < least) continue;
      turn_ = (n + 1) % planes_;
      return n;
    }
    return k_none;
  }

  tlmssd::Task<bool> program(std::uint32_t plane, std::vector<Piece>& pieces, tlmssd::Purpose purpose,
                             tlmssd::Ledger* ledger) {
    using namespace tlmssd::firmware;
    const Unit base = claim(plane);
    Block& block = blocks_[base / block_units_];
    co_await RunStage(hw_, Stage::flash, ledger);
    std::vector<tlmssd::Lpn> spare(program_units_, tlmssd::k_no_unit);
    std::vector<tlmssd::Stamp> stamps(std::size_t{program_units_} * sectors_, tlmssd::k_zeros);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      spare[i] = pieces[i].unit;
      std::copy(pieces[i].stamps.begin(), pieces[i].stamps.end(),
                stamps.begin() + static_cast<std::ptrdiff_t>(i * sectors_));
    }
    tlmssd::FlashTransaction op(operation(tlmssd::FlashCommand::program, base, purpose, ledger));
    op.pages = static_cast<std::uint16_t>(shape_.program_unit);
    op.slots = program_units_;
    op.spare = spare.data();
    op.stamps = stamps.data();
    FlashAwait done(hw_, op);
    co_await done;
    --block.programs;
    if (op.status != tlmssd::FlashStatus::ok) {
      read_only_ = true;
      co_return false;
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Piece& piece = pieces[i];
      const bool current =
          piece.from == k_none ? written_[piece.unit] == piece.version : map_[piece.unit] == piece.from;
      if (!current) continue;
      deallocate(piece.unit);
      map_[piece.unit] = base + static_cast<Unit>(i);
      owner_[map_[piece.unit]] = piece.unit;
      ++block.valid;
    }
    co_return true;
  }

  /// The next program unit of the plane's open block.
  Unit claim(std::uint32_t plane) {
    Plane& p = plane_[plane];
    if (p.open == k_none) {
      p.open = plane * shape_.geometry.blocks;
      while (blocks_[p.open].state != Block::State::free) ++p.open;
      blocks_[p.open].state = Block::State::open;
      blocks_[p.open].next = 0;
      --p.free;
    }
    Block& block = blocks_[p.open];
    const Unit base = p.open * block_units_ + block.next;
    ++block.programs;
    block.next += program_units_;
    if (block.next < block_units_) return base;
    block.state = Block::State::full;
    p.open = k_none;
    return base;
  }

  void deallocate(Unit unit) {
    const Unit where = map_[unit];
    if (where == k_none) return;
    map_[unit] = owner_[where] = k_none;
    --blocks_[where / block_units_].valid;
  }

  // ---- garbage collection

  tlmssd::Task<> collect(std::uint32_t plane) {
    using namespace tlmssd::firmware;
    ++under_way_;
    plane_[plane].collecting = true;
    while (plane_[plane].free <= k_reserve && !read_only_) {
      co_await RunStage(hw_, Stage::gc, nullptr);
      const std::uint32_t victim = emptiest(plane);
      if (victim == k_none) break;
      ++victims_;
      const bool emptied = co_await empty(plane, victim);
      if (!emptied) break;
    }
    plane_[plane].collecting = false;
    --under_way_;
    wake(room_);
    wake(ended_);
  }

  [[nodiscard]] std::uint32_t emptiest(std::uint32_t plane) const {
    std::uint32_t best = k_none;
    const std::uint32_t first = plane * shape_.geometry.blocks;
    for (std::uint32_t b = first; b < first + shape_.geometry.blocks; ++b) {
      const Block& block = blocks_[b];
      if (block.state != Block::State::full || block.programs > 0 || block.valid == block_units_) continue;
      if (best == k_none || block.valid < blocks_[best].valid) best = b;
    }
    return best;
  }

  tlmssd::Task<bool> empty(std::uint32_t plane, std::uint32_t victim) {
    using namespace tlmssd::firmware;
    Block& block = blocks_[victim];
    std::vector<Piece> pieces;
    const Unit end = (victim + 1) * block_units_;
    for (Unit where = victim * block_units_; where < end; ++where) {
      const Unit unit = owner_[where];
      if (unit != k_none) {
        co_await RunStage(hw_, Stage::gc, nullptr);
        Piece piece{unit, where, 0, std::vector<tlmssd::Stamp>(sectors_, tlmssd::k_zeros)};
        const bool readable = co_await read_at(where, unit, piece.stamps, tlmssd::Purpose::gc, nullptr);
        if (!readable) read_only_ = true;
        pieces.push_back(std::move(piece));
      }
      if (pieces.size() < program_units_ && (where + 1 < end || pieces.empty())) continue;
      if (read_only_) co_return false;
      const bool moved = co_await program(plane, pieces, tlmssd::Purpose::gc, nullptr);
      if (!moved) co_return false;
      pieces.clear();
    }
    while (block.readers > 0) {
      auto wait = room_.wait();
      co_await wait;
    }
    co_await RunStage(hw_, Stage::flash, nullptr);
    tlmssd::FlashTransaction op(
        operation(tlmssd::FlashCommand::erase, victim * block_units_, tlmssd::Purpose::gc, nullptr));
    FlashAwait done(hw_, op);
    co_await done;
    const bool good = op.status == tlmssd::FlashStatus::ok;
    block.state = good ? Block::State::free : Block::State::bad;
    if (good) ++plane_[plane].free;
    if (!good) read_only_ = true;
    wake(room_);
    co_return good;
  }

  // ---- who waits for what

  void wake(tlmssd::WaitQueue& waiters) {
    std::vector<std::coroutine_handle<>> all;
    while (const auto waiter = waiters.pop()) all.push_back(waiter);
    for (const auto waiter : all) hw_.event_queue.soon(waiter);
  }
  [[nodiscard]] bool locked(Unit unit) const {
    return std::find(locked_.begin(), locked_.end(), unit) != locked_.end();
  }
  void lock(Unit unit) { locked_.push_back(unit); }
  void unlock(Unit unit) {
    locked_.erase(std::find(locked_.begin(), locked_.end(), unit));
    wake(unlocked_);
  }
  [[nodiscard]] Unit unit_of(std::uint64_t lba) const { return static_cast<Unit>(lba / sectors_); }

  Config config_;
  tlmssd::firmware::Hardware& hw_;
  const tlmssd::firmware::DriveShape& shape_;
  std::uint32_t sectors_;        ///< logical blocks of a unit
  std::uint32_t page_units_;     ///< mapping pages of a page
  std::uint32_t program_units_;  ///< of what is programmed at once
  std::uint32_t block_units_;
  std::uint32_t planes_;  ///< of all dies
  std::vector<Unit> map_;
  std::vector<std::uint64_t> written_;  ///< times that a unit has been written
  std::vector<Unit> owner_;             ///< by place
  std::vector<Block> blocks_;
  std::vector<Plane> plane_;
  std::vector<Unit> locked_;  ///< units that a command is changing
  std::uint32_t turn_ = 0;
  std::uint64_t victims_ = 0;
  std::uint32_t under_way_ = 0;
  bool read_only_ = false;
  tlmssd::WaitQueue room_;
  tlmssd::WaitQueue unlocked_;
  tlmssd::WaitQueue ended_;
  tlmssd::TaskSet tasks_;  ///< last: its coroutines refer to everything above
};
