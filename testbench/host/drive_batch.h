// Commands of host software to a drive that are awaited together.
#pragma once

#include <algorithm>
#include <coroutine>
#include <deque>
#include <span>

#include "testbench/host/drive_port.h"

namespace tlmssd {

/// Each command goes on with the ledger of `parent` as it is when the command is sent; at the join
/// the one that ended last counts. It must stay where it is until all have ended.
class DriveBatch {
 public:
  DriveBatch(DrivePort& port, const Ledger& parent, std::uint16_t queue)
      : port_(port), parent_(parent), queue_(queue) {}
  DriveBatch(const DriveBatch&) = delete;

  /// Reads or writes the blocks of `data` from `lba` on, in commands of at most `most` blocks.
  void move(HostOpcode opcode, std::uint64_t lba, std::span<Stamp> data, std::uint32_t most) {
    for (std::size_t done = 0; done < data.size(); done += most) {
      Piece& piece = add(opcode);
      piece.lba = lba + done;
      piece.set_data(data.subspan(done, std::min<std::size_t>(most, data.size() - done)));
      piece.blocks = static_cast<std::uint32_t>(piece.data().size());
      send(piece);
    }
  }
  void trim(LbaRange range) {
    Piece& piece = add(HostOpcode::trim);
    piece.range = range;
    piece.set_ranges({&piece.range, 1});
    send(piece);
  }
  /// A command of the host as it is.
  void pass(const HostCommand& command) {
    Piece& piece = add(command.opcode);
    piece.force_unit_access = command.force_unit_access;
    piece.lba = command.lba;
    piece.blocks = command.blocks;
    piece.placement_handle = command.placement_handle;
    if (command.opcode == HostOpcode::trim) {
      piece.set_ranges(command.ranges());
    } else {
      piece.set_data(command.data());
    }
    send(piece);
  }

  [[nodiscard]] bool await_ready() const noexcept { return pending_ == 0; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiter_ = handle; }
  void await_resume() const noexcept {}
  /// Of the first that failed.
  [[nodiscard]] HostStatus status() const { return status_; }
  /// Of the one that ended last.
  [[nodiscard]] const Ledger& last() const { return last_; }

 private:
  struct Piece : DrivePort::Command {
    DriveBatch* batch = nullptr;
    LbaRange range;
  };
  Piece& add(HostOpcode opcode) {
    Piece& piece = pieces_.emplace_back();
    piece.batch = this;
    piece.opcode = opcode;
    piece.queue = queue_;
    piece.on_done = [](DrivePort::Command& done) {
      auto& ended = static_cast<Piece&>(done);
      ended.batch->completed(ended);
    };
    return piece;
  }
  void send(Piece& piece) {
    piece.ledger = parent_;
    ++pending_;
    port_.send(piece);
  }
  void completed(const Piece& piece) {
    if (status_ == HostStatus::success) status_ = piece.status;
    last_ = piece.ledger;
    if (--pending_ == 0 && waiter_) waiter_.resume();
  }

  DrivePort& port_;
  const Ledger& parent_;
  std::uint16_t queue_;
  std::deque<Piece> pieces_;
  HostStatus status_ = HostStatus::success;
  Ledger last_;
  std::uint32_t pending_ = 0;
  std::coroutine_handle<> waiter_{};
};

}  // namespace tlmssd
