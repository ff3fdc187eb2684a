// A drive that is nothing but a memory, for tests of what stands between a host and its drive.
//
// It takes a random time for each command and looks at what it is asked: no command may overlap one
// under way if one of them writes, none may move more than the drive takes or have another address
// than its payload, no queue may hold more than it has entries, and, with segments, these may only
// be written from their start to their end and nothing may be trimmed. It can hold END_REQ back,
// lose data and refuse writes.
#pragma once

#include <systemc>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "models/base/event_queue.h"
#include "models/base/random.h"
#include "models/tlm/kernel_time.h"
#include "models/tlm/transport.h"

namespace tlmssd::drive_tests {

using namespace literals;

class MemoryDrive : public sc_core::sc_module {
 public:
  struct Options {
    std::uint64_t blocks = 0;
    std::uint32_t lba_bytes = 0;       ///< 0: a payload may have any address
    std::uint64_t segment_blocks = 0;  ///< 0: there are no segments
    std::uint64_t most_blocks = 0;     ///< that one command may move; 0: any number
    std::size_t queue_depth = 0;       ///< commands that one queue may hold; 0: any number
    Picoseconds least = 1_us;          ///< time of a command
    Picoseconds most = 200_us;
    bool stalls = false;  ///< now and then END_REQ is late
    std::uint64_t seed = 1;
  };
  MemoryDrive(const sc_core::sc_module_name& name, EventQueue& event_queue, const Options& options)
      : sc_core::sc_module(name),
        tsock("tsock", *this),
        content(options.blocks, k_zeros),
        event_queue_(event_queue),
        options_(options),
        random_(options.seed, "memory drive") {}
  ~MemoryDrive() override {
    for (const Entry* entry : under_way_) delete entry;
  }
  TargetSocket<MemoryDrive> tsock;

  std::vector<Stamp> content;
  std::uint64_t free_for_all = 0;  ///< below this block commands may overlap, as a host's own do
  /// Writes from number `n` on are refused, and whatever else changes data; none: never.
  std::uint64_t writes_allowed = ~std::uint64_t{0};
  std::set<std::uint64_t> unreadable;  ///< logical blocks
  std::map<HostOpcode, std::uint64_t> seen;
  std::uint64_t blocks_written = 0;
  std::vector<HostOpcode> order;  ///< of all commands, when `keep_order`
  bool keep_order = false;
  /// What untimed commands are answered with, whose status alone says that they went well.
  tlm::tlm_response_status untimed_response = tlm::TLM_OK_RESPONSE;
  std::function<Picoseconds(const HostCommand&)> time;  ///< of a command, instead of a random one

  tlm::tlm_sync_enum forward(unsigned, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    const Picoseconds when = arrival(event_queue_, delay);
    if (phase != tlm::BEGIN_REQ) throw std::logic_error("memory drive: unexpected phase");
    HostCommand& command = *payload.get_extension<HostExtension>();
    look_at(payload, command);
    payload.acquire();
    auto* const entry = new Entry{this, &payload, &command};
    under_way_.insert(entry);
    const auto spread = static_cast<std::uint64_t>(options_.most - options_.least + 1);
    const Picoseconds takes =
        time ? time(command) : options_.least + static_cast<Picoseconds>(random_.below(spread));
    if (options_.stalls && random_.below(4) == 0) {
      entry->answer_at = when + 3_us + takes;
      event_queue_.at(
          when + 2_us,
          [](void* self) { static_cast<Entry*>(self)->drive->accept(*static_cast<Entry*>(self)); }, entry);
      return tlm::TLM_ACCEPTED;
    }
    event_queue_.at(when + takes, &MemoryDrive::answer, entry);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void blocking(unsigned, tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  }
  unsigned debug(unsigned, tlm::tlm_generic_payload& payload) {
    HostCommand& command = *payload.get_extension<HostExtension>();
    look_at(payload, command);
    carry_out(command);
    if (untimed_response != tlm::TLM_OK_RESPONSE) payload.set_response_status(untimed_response);
    return payload.get_data_length();
  }

 private:
  struct Entry {
    MemoryDrive* drive;
    tlm::tlm_generic_payload* payload;
    HostCommand* command;
    Picoseconds answer_at = 0;
  };
  static LbaRange range_of(const HostCommand& command) {
    return command.opcode == HostOpcode::trim ? command.ranges().front()
                                              : LbaRange{command.lba, command.blocks};
  }
  void look_at(const tlm::tlm_generic_payload& payload, const HostCommand& command) {
    ++seen[command.opcode];
    if (options_.lba_bytes > 0 && payload.get_address() != command.lba * options_.lba_bytes)
      throw std::logic_error("memory drive: a payload's address is not its command's");
    if (keep_order) order.push_back(command.opcode);
    look_at_queue(command);
    if (command.opcode == HostOpcode::flush) return;
    const bool trims = command.opcode == HostOpcode::trim;
    if ((trims || command.opcode == HostOpcode::write_zeroes) && options_.segment_blocks > 0)
      throw std::logic_error("memory drive: such commands should not get here");
    const LbaRange range = range_of(command);
    const std::uint64_t end = range.lba + range.blocks;
    if (range.blocks == 0 || end > content.size())
      throw std::logic_error("memory drive: address beyond the end");
    if (options_.most_blocks > 0 && command.data().size() > options_.most_blocks)
      throw std::logic_error("memory drive: a command moves more than the drive takes");
    const bool writes = command.opcode != HostOpcode::read;
    for (const Entry* other : under_way_) {
      const HostCommand& o = *other->command;
      if (o.opcode == HostOpcode::flush || (!writes && o.opcode == HostOpcode::read)) continue;
      const LbaRange theirs = range_of(o);
      if (end > free_for_all && theirs.lba < end && range.lba < theirs.lba + theirs.blocks)
        throw std::logic_error("memory drive: a command overlaps one under way");
    }
    if (writes && options_.segment_blocks > 0) look_at_segment(command, end);
  }
  void look_at_queue(const HostCommand& command) const {
    const auto held = std::count_if(under_way_.begin(), under_way_.end(), [&](const Entry* other) {
      return other->command->queue == command.queue;
    });
    if (options_.queue_depth > 0 && static_cast<std::size_t>(held) >= options_.queue_depth)
      throw std::logic_error("memory drive: a queue holds more than it has entries");
  }
  void look_at_segment(const HostCommand& command, std::uint64_t end) {
    const std::uint64_t segment = command.lba / options_.segment_blocks;
    std::uint64_t& next = next_[segment];
    const std::uint64_t start = segment * options_.segment_blocks;
    if (next == start + options_.segment_blocks || next == 0) next = start;
    if (command.lba != next || end > start + options_.segment_blocks)
      throw std::logic_error("memory drive: a segment is not written from its start to its end");
    next = end;
    if (open_ != segment) {  // the log leaves a segment only when it is full
      if (open_ != ~std::uint64_t{0} && next_[open_] != (open_ + 1) * options_.segment_blocks)
        throw std::logic_error("memory drive: two segments are being written");
      open_ = segment;
    }
  }
  void carry_out(HostCommand& command) {
    command.status = HostStatus::success;
    if (command.opcode == HostOpcode::write) {
      if (writes_ >= writes_allowed) {
        command.status = HostStatus::write_protected;
        return;
      }
      ++writes_;
      blocks_written += command.blocks;
      for (std::uint32_t i = 0; i < command.blocks; ++i) {
        content[command.lba + i] = command.data()[i];
        unreadable.erase(command.lba + i);
      }
    } else if (command.opcode == HostOpcode::trim || command.opcode == HostOpcode::write_zeroes) {
      if (writes_ >= writes_allowed) {
        command.status = HostStatus::write_protected;
        return;
      }
      const LbaRange range = range_of(command);
      for (std::uint64_t i = 0; i < range.blocks; ++i) content[range.lba + i] = k_zeros;
    } else if (command.opcode == HostOpcode::read) {
      for (std::uint32_t i = 0; i < command.blocks; ++i) {
        command.data()[i] = content[command.lba + i];
        if (unreadable.contains(command.lba + i)) command.status = HostStatus::media_error;
      }
    }
  }
  void accept(Entry& entry) {
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = annotation(event_queue_);
    tsock->nb_transport_bw(*entry.payload, phase, delay);
    event_queue_.at(entry.answer_at, &MemoryDrive::answer, &entry);
  }
  static void answer(void* self) {
    auto* const entry = static_cast<Entry*>(self);
    MemoryDrive& drive = *entry->drive;
    drive.carry_out(*entry->command);
    entry->command->ledger.charge(Cause::firmware, drive.event_queue_.now());
    entry->payload->set_response_status(entry->command->status == HostStatus::success
                                            ? tlm::TLM_OK_RESPONSE
                                            : tlm::TLM_GENERIC_ERROR_RESPONSE);
    drive.under_way_.erase(entry);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = annotation(drive.event_queue_);
    if (drive.tsock->nb_transport_bw(*entry->payload, phase, delay) != tlm::TLM_COMPLETED)
      throw std::logic_error("memory drive: an answer was not taken");
    entry->payload->release();
    delete entry;
  }

  EventQueue& event_queue_;
  Options options_;
  RandomStream random_;
  std::map<std::uint64_t, std::uint64_t> next_;  ///< in each segment the block to be written next
  std::uint64_t open_ = ~std::uint64_t{0};
  std::uint64_t writes_ = 0;
  std::set<Entry*> under_way_;
};

}  // namespace tlmssd::drive_tests
