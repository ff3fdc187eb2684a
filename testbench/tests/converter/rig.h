// Host, converter and a drive that is nothing but a memory, with a protocol checker on both sides of the converter.
//
// The memory takes a random time for each command and looks at what it is asked: a segment may only be written from its start to its
// end, and no command may overlap one under way if one of them writes. It can hold END_REQ back, lose data and refuse writes.
#pragma once

#include <systemc>

#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "models/common/protocol_checker.h"
#include "testbench/converter/write_converter.h"
#include "testbench/tests/drive/mixed_load.h"

namespace tlmssd::converter_tests {

using namespace literals;

class MemoryDrive : public sc_core::sc_module {
 public:
  struct Options {
    std::uint64_t blocks = 0;
    std::uint64_t segment_blocks = 0;
    Picoseconds least = 1_us;  ///< time of a command
    Picoseconds most = 200_us;
    bool stalls = false;  ///< now and then END_REQ is late
    std::uint64_t seed = 1;
  };
  MemoryDrive(const sc_core::sc_module_name& name, Agenda& agenda, const Options& options)
      : sc_core::sc_module(name),
        tsock("tsock", *this),
        agenda_(agenda),
        options_(options),
        random_(options.seed, "memory drive"),
        content_(options.blocks, k_zeros) {}
  TargetSocket<MemoryDrive> tsock;

  /// Writes from number `n` on are refused; none: never.
  std::uint64_t writes_allowed = ~std::uint64_t{0};
  std::set<std::uint64_t> unreadable;  ///< logical blocks
  std::map<HostOpcode, std::uint64_t> seen;
  std::uint64_t blocks_written = 0;
  std::vector<HostOpcode> order;  ///< of all commands, when `keep_order`
  bool keep_order = false;
  std::function<Picoseconds(const HostCommand&)> time;  ///< of a command, instead of a random one

  tlm::tlm_sync_enum forward(unsigned, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    const Picoseconds when = arrival(agenda_, delay);
    if (phase != tlm::BEGIN_REQ) throw std::logic_error("memory drive: unexpected phase");
    HostCommand& command = *payload.get_extension<HostExtension>()->command;
    look_at(command);
    payload.acquire();
    auto* const entry = new Entry{this, &payload, &command};
    under_way_.insert(entry);
    const auto spread = static_cast<std::uint64_t>(options_.most - options_.least + 1);
    const Picoseconds takes =
        time ? time(command) : options_.least + static_cast<Picoseconds>(random_.below(spread));
    if (options_.stalls && random_.below(4) == 0) {
      entry->answer_at = when + 3_us + takes;
      agenda_.at(
          when + 2_us,
          [](void* self) { static_cast<Entry*>(self)->drive->accept(*static_cast<Entry*>(self)); }, entry);
      return tlm::TLM_ACCEPTED;
    }
    agenda_.at(when + takes, &MemoryDrive::answer, entry);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void blocking(unsigned, tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  }
  unsigned debug(unsigned, tlm::tlm_generic_payload& payload) {
    HostCommand& command = *payload.get_extension<HostExtension>()->command;
    look_at(command);
    carry_out(command);
    return payload.get_data_length();
  }

 private:
  struct Entry {
    MemoryDrive* drive;
    tlm::tlm_generic_payload* payload;
    HostCommand* command;
    Picoseconds answer_at = 0;
  };
  void look_at(const HostCommand& command) {
    ++seen[command.opcode];
    if (keep_order) order.push_back(command.opcode);
    if (command.opcode == HostOpcode::flush) return;
    if (command.opcode == HostOpcode::trim || command.opcode == HostOpcode::write_zeroes)
      throw std::logic_error("memory drive: the converter keeps such commands to itself");
    const std::uint64_t end = command.lba + command.blocks;
    if (command.blocks == 0 || end > content_.size())
      throw std::logic_error("memory drive: address beyond the end");
    const bool writes = command.opcode == HostOpcode::write;
    for (const Entry* other : under_way_) {
      const HostCommand& o = *other->command;
      if (o.opcode == HostOpcode::flush || (!writes && o.opcode == HostOpcode::read)) continue;
      if (o.lba < end && command.lba < o.lba + o.blocks)
        throw std::logic_error("memory drive: a command overlaps one under way");
    }
    if (!writes) return;
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
        content_[command.lba + i] = command.data[i];
        unreadable.erase(command.lba + i);
      }
    } else if (command.opcode == HostOpcode::read) {
      for (std::uint32_t i = 0; i < command.blocks; ++i) {
        command.data[i] = content_[command.lba + i];
        if (unreadable.contains(command.lba + i)) command.status = HostStatus::media_error;
      }
    }
  }
  void accept(Entry& entry) {
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = annotation(agenda_);
    tsock->nb_transport_bw(*entry.payload, phase, delay);
    agenda_.at(entry.answer_at, &MemoryDrive::answer, &entry);
  }
  static void answer(void* self) {
    auto* const entry = static_cast<Entry*>(self);
    MemoryDrive& drive = *entry->drive;
    drive.carry_out(*entry->command);
    entry->command->ledger.charge(Cause::firmware, drive.agenda_.now());
    entry->payload->set_response_status(entry->command->status == HostStatus::success
                                            ? tlm::TLM_OK_RESPONSE
                                            : tlm::TLM_GENERIC_ERROR_RESPONSE);
    drive.under_way_.erase(entry);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = annotation(drive.agenda_);
    if (drive.tsock->nb_transport_bw(*entry->payload, phase, delay) != tlm::TLM_COMPLETED)
      throw std::logic_error("memory drive: an answer was not taken");
    entry->payload->release();
    delete entry;
  }

  Agenda& agenda_;
  Options options_;
  RandomStream random_;
  std::vector<Stamp> content_;
  std::map<std::uint64_t, std::uint64_t> next_;  ///< in each segment the block to be written next
  std::uint64_t open_ = ~std::uint64_t{0};
  std::uint64_t writes_ = 0;
  std::set<Entry*> under_way_;
};

struct RigOptions {
  ConverterConfig converter;
  std::uint64_t segments = 16;
  std::uint32_t lba_bytes = 512;
  Bytes max_transfer = 128_KiB;
  std::uint32_t queues = 3;
  std::uint32_t queue_depth = 8;
  MemoryDrive::Options drive;
};

/// Small log: 16 segments of 64 KiB.
inline RigOptions small_log() {
  RigOptions options;
  options.converter.segment = 64_KiB;
  options.converter.spare = 0.25;
  return options;
}

class Rig {
 public:
  explicit Rig(const RigOptions& options)
      : lba_bytes(options.lba_bytes),
        process("agenda", agenda),
        converter("converter", options.converter, converted(options), agenda),
        drive("drive", agenda, drive_options(options)),
        scoreboard(converter.blocks(),
                   static_cast<std::uint32_t>(options.converter.grain / options.lba_bytes)),
        driver("host_driver", agenda, process, driver_config(options), scoreboard) {
    driver.device_isock.bind(front.tsock);
    front.isock.bind(converter.host_tsock);
    converter.drive_isock.bind(back.tsock);
    back.isock.bind(drive.tsock);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  [[nodiscard]] DriveSize size() const { return {converter.blocks() * lba_bytes, lba_bytes}; }

  void run(std::vector<Load>& loads) {
    Measurement measurement(std::vector<std::string>(loads.size(), "load"));
    driver.start(loads, measurement);
    process.resume();
    sc_core::sc_start();
    process.rethrow();
    if (!driver.finished()) {
      std::string text = driver.describe_outstanding() + "\n";
      converter.describe_stall(text);
      throw Stalled(text);
    }
    settle();
  }
  /// What the converter does beside the loads.
  void settle() {
    process.resume();
    sc_core::sc_start();
    process.rethrow();
    if (!converter.idle()) throw Stalled("the converter does not come to rest");
  }
  void run(Load load) {
    std::vector<Load> loads = drive_tests::one(std::move(load));
    run(loads);
  }
  void run_untimed(Load load) {
    std::vector<Load> loads = drive_tests::one(std::move(load));
    driver.run_untimed(loads);
  }
  /// No rule of the protocol was broken, and everything has ended.
  [[nodiscard]] std::string violations() {
    front.finish();
    back.finish();
    std::string text;
    for (const ProtocolChecker* checker : {&front, &back}) {
      for (const std::string& violation : checker->violations()) text += violation + "\n";
    }
    return text;
  }

  std::uint32_t lba_bytes;
  Agenda agenda;
  AgendaProcess process;
  WriteConverter converter;
  MemoryDrive drive;
  Scoreboard scoreboard;
  HostDriver driver;
  ProtocolChecker front{"front", ProtocolChecker::OnViolation::collect};
  ProtocolChecker back{"back", ProtocolChecker::OnViolation::collect};

 private:
  static ConvertedDrive converted(const RigOptions& options) {
    // A piece at the end that is no whole segment: nobody may touch it.
    const std::uint64_t segment_blocks = options.converter.segment / options.lba_bytes;
    return {options.segments * segment_blocks + segment_blocks / 2, options.lba_bytes, options.max_transfer,
            options.queues, options.queue_depth};
  }
  static MemoryDrive::Options drive_options(const RigOptions& options) {
    MemoryDrive::Options drive = options.drive;
    drive.segment_blocks = options.converter.segment / options.lba_bytes;
    drive.blocks = options.segments * drive.segment_blocks;
    return drive;
  }
  static HostDriverConfig driver_config(const RigOptions& options) {
    HostDriverConfig config;
    config.lba_bytes = options.lba_bytes;
    config.queues = options.queues;
    config.queue_depth = options.queue_depth;
    config.stall_after = 10_s;
    return config;
  }
};

}  // namespace tlmssd::converter_tests
