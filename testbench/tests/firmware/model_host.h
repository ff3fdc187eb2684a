// A host that knows what every logical block must hold: it submits commands, keeps a reference, and
// compares every read.
//
// Commands take effect in the order of submission, so the reference changes when a command is
// submitted and a read's expected data are taken at that moment, however many commands are under
// way.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <vector>

#include "firmware/ftl.h"
#include "models/base/memory_archive.h"
#include "testbench/tests/firmware/fake_hardware.h"

namespace tlmssd::firmware::testing {

inline constexpr std::uint32_t k_unit =
    8;  ///< logical blocks of a mapping page, where nothing else is chosen

/// TLMSSD_STRESS=n makes the random tests n times as long, from other seeds.
inline std::uint32_t stress() {
  static const char* const text = std::getenv("TLMSSD_STRESS");
  static const auto factor = static_cast<std::uint32_t>(text != nullptr ? std::atoi(text) : 1);
  return factor;
}

class ModelHost {
 public:
  ModelHost(FakeHardware& hardware, Ftl& ftl, const DriveShape& shape, std::uint64_t seed)
      : hw_(hardware),
        ftl_(ftl),
        shape_(shape),
        unit_blocks_(static_cast<std::uint32_t>(shape.mapping_page_bytes) / shape.lba_bytes),
        held_((shape.logical_blocks + unit_blocks_ - 1) / unit_blocks_, false),
        reference(shape.logical_blocks, k_zeros),
        random(seed, "model host") {
    attach();
  }
  void attach() {
    hw_.host.on_complete = [this](HostCommand& command) { completed(command); };
  }

  void write(std::uint64_t lba, std::uint32_t blocks, bool fua = false) {
    Slot& slot = take(HostOpcode::write, lba, blocks);
    slot.command.force_unit_access = fua;
    std::uint32_t content = 0;
    slot.command.placement_handle = handles > 1 ? static_cast<std::uint16_t>(random.below(handles)) : handle_;
    for (std::uint32_t i = 0; i < blocks; ++i) {
      slot.data[i] = make_stamp(static_cast<Lpn>(lba + i), ++sequence_);
      if (contents > 0 && blocks % k_unit == 0) {
        const std::uint32_t block = i % k_unit;
        if (block == 0) content = static_cast<std::uint32_t>(random.below(contents + unique));
        if (content < contents) slot.data[i] = stamp_from(static_cast<Stamp>(content + 1), block);
      }
      if (!ftl_.read_only()) reference[lba + i] = slot.data[i];
    }
    given.blocks_written += blocks;
    for (std::uint64_t unit = lba / unit_blocks_; unit * unit_blocks_ < lba + blocks; ++unit) {
      held_[unit] = true;
      ++given.units_written;
    }
    submit(slot);
  }
  /// With this placement handle.
  void write_by(std::uint16_t handle, std::uint64_t lba, std::uint32_t blocks) {
    handle_ = handle;
    write(lba, blocks);
    handle_ = 0;
  }
  void read(std::uint64_t lba, std::uint32_t blocks) {
    Slot& slot = take(HostOpcode::read, lba, blocks);
    std::fill_n(slot.data.begin(), blocks, Stamp{0xBEEF});
    slot.expected.assign(reference.begin() + static_cast<std::ptrdiff_t>(lba),
                         reference.begin() + static_cast<std::ptrdiff_t>(lba + blocks));
    given.blocks_read += blocks;
    for (std::uint64_t unit = lba / unit_blocks_; unit * unit_blocks_ < lba + blocks; ++unit) {
      ++given.units_read;
      if (!held_[unit]) ++given.nothing_read;
    }
    submit(slot);
  }
  void trim(std::vector<LbaRange> ranges) {
    Slot& slot = take(HostOpcode::trim, 0, 0);
    slot.ranges = std::move(ranges);
    slot.command.set_ranges(slot.ranges);
    for (const LbaRange& r : slot.ranges) clear(r.lba, r.blocks);
    submit(slot);
  }
  void zeroes(std::uint64_t lba, std::uint32_t blocks, bool fua = false) {
    Slot& slot = take(HostOpcode::write_zeroes, lba, blocks);
    slot.command.force_unit_access = fua;
    clear(lba, blocks);
    submit(slot);
  }
  void flush() { submit(take(HostOpcode::flush, 0, 0)); }

  /// One random command. `longest`: blocks of the longest transfer.
  void anything(std::uint32_t longest) {
    const std::uint64_t dice = random.below(100);
    const auto blocks = static_cast<std::uint32_t>(
        1 + random.below(random.below(4) == 0 ? longest : std::max(1U, longest / 8)));
    const std::uint64_t lba = somewhere(blocks);
    if (dice < 50) {
      write(lba, blocks, random.below(20) == 0);
    } else if (dice < 85) {
      read(lba, blocks);
    } else if (dice < 90) {
      zeroes(lba, blocks, random.below(4) == 0);
    } else if (dice < 97) {
      std::vector<LbaRange> ranges;
      for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
        const std::uint64_t length =
            std::min<std::uint64_t>(1 + random.below(2 * longest), shape_.logical_blocks);
        ranges.push_back({somewhere(length), length});
      }
      trim(std::move(ranges));
    } else {
      flush();
    }
  }
  /// A place for a transfer: near a hot spot half of the time, so that commands meet.
  std::uint64_t somewhere(std::uint64_t blocks) {
    const std::uint64_t span = shape_.logical_blocks - blocks + 1;
    return random.below(2) == 0 ? random.below(span) : random.below(std::min<std::uint64_t>(span, 256));
  }

  /// Lets time pass until fewer than `limit` commands are under way.
  void wait_below(std::uint32_t limit) {
    while (outstanding >= limit) {
      if (hw_.event_queue.empty()) stalled();
      hw_.event_queue.run_until(hw_.event_queue.next());
    }
  }
  /// Lets everything end that is under way, the drive's own work too.
  void let_end() {
    while (!hw_.event_queue.empty()) hw_.event_queue.run_until(hw_.event_queue.next());
  }
  void drain() {
    wait_below(1);
    bool done = false;
    const auto body = [](Ftl& ftl, bool& flag) -> Task<> {
      co_await ftl.drain();
      flag = true;
    };
    body(ftl_, done).start();
    while (!done) {
      if (hw_.event_queue.empty()) stalled();
      hw_.event_queue.run_until(hw_.event_queue.next());
    }
    REQUIRE(ftl_.idle());
  }
  /// Reads the whole drive and compares.
  void verify_all(std::uint32_t step = 64) {
    for (std::uint64_t lba = 0; lba < shape_.logical_blocks; lba += step) {
      read(lba, static_cast<std::uint32_t>(std::min<std::uint64_t>(step, shape_.logical_blocks - lba)));
      wait_below(8);
    }
    wait_below(1);
  }
  [[noreturn]] void stalled() {
    std::string text;
    ftl_.describe_stall(text);
    FAIL("the drive hangs:\n" << text);
    throw 0;
  }

 private:
  FakeHardware& hw_;
  Ftl& ftl_;
  DriveShape shape_;
  std::uint32_t unit_blocks_;
  std::vector<bool> held_;  ///< by mapping page: something was written there, and it was not trimmed since

 public:
  /// Of all commands that the drive was given.
  struct Given {
    std::uint64_t blocks_read = 0;
    std::uint64_t blocks_written = 0;
    std::uint64_t units_read = 0;     ///< mapping pages touched
    std::uint64_t nothing_read = 0;   ///< of these, mapping pages that nothing was written to
    std::uint64_t units_written = 0;  ///< the same
    std::uint64_t units_trimmed = 0;  ///< mapping pages with data that were trimmed as a whole
  } given;
  std::vector<Stamp> reference;
  RandomStream random;
  std::uint32_t handles = 1;   ///< placement handles that writes are given, at random
  std::uint32_t contents = 0;  ///< that writes of whole mapping pages may hold as well, all as likely
  std::uint32_t unique = 0;    ///< as likely as so many of them: data that there are once
  std::uint32_t outstanding = 0;
  std::uint64_t completions = 0;
  std::uint64_t refused = 0;       ///< commands that ended with write_protected
  std::uint64_t media_errors = 0;  ///< commands that ended with one
  bool media_errors_expected = false;
  bool check_data = true;
  HostStatus last_status = HostStatus::success;

 private:
  struct Slot {
    struct Command : HostCommand {
      Slot* slot = nullptr;
    } command;
    std::vector<Stamp> data;
    std::vector<Stamp> expected;
    std::vector<LbaRange> ranges;
    Picoseconds start = 0;
  };
  Slot& take(HostOpcode opcode, std::uint64_t lba, std::uint32_t blocks) {
    if (free_.empty()) {
      slots_.push_back(std::make_unique<Slot>());
      free_.push_back(slots_.back().get());
    }
    Slot& slot = *free_.back();
    free_.pop_back();
    static_cast<HostCommand&>(slot.command) = HostCommand();
    slot.command.opcode = opcode;
    slot.command.lba = lba;
    slot.command.blocks = blocks;
    if (slot.data.size() < blocks) slot.data.resize(blocks);
    if (opcode == HostOpcode::read || opcode == HostOpcode::write)
      slot.command.set_data(std::span(slot.data).first(blocks));
    slot.command.slot = &slot;
    return slot;
  }
  void clear(std::uint64_t lba, std::uint64_t blocks) {
    const std::uint64_t end = lba + blocks;
    // The last mapping page may reach beyond the drive.
    const std::uint64_t end_unit = end == shape_.logical_blocks ? held_.size() : end / unit_blocks_;
    for (std::uint64_t unit = (lba + unit_blocks_ - 1) / unit_blocks_; unit < end_unit; ++unit) {
      if (held_[unit]) ++given.units_trimmed;
      held_[unit] = false;
    }
    if (!ftl_.read_only()) std::fill_n(reference.begin() + static_cast<std::ptrdiff_t>(lba), blocks, k_zeros);
  }
  void submit(Slot& slot) {
    slot.start = hw_.event_queue.now();
    slot.command.ledger = Ledger(slot.start);
    ++outstanding;
    hw_.host.waiting = outstanding;
    ftl_.submit(slot.command);
  }
  void completed(HostCommand& command) {
    Slot& slot = *static_cast<Slot::Command&>(command).slot;
    --outstanding;
    hw_.host.waiting = outstanding;
    ++completions;
    last_status = command.status;
    if (command.status == HostStatus::write_protected) ++refused;
    if (command.ledger.total() != hw_.event_queue.now() - slot.start ||
        command.ledger.mark() != hw_.event_queue.now()) {
      FAIL("ledger of a " << name_of(command.opcode) << " adds up to " << command.ledger.total()
                          << " ps instead of " << hw_.event_queue.now() - slot.start);
    }
    if (command.status == HostStatus::media_error && media_errors_expected) {
      ++media_errors;
    } else if (command.opcode == HostOpcode::read && check_data) {
      if (command.status != HostStatus::success) FAIL("read ended with " << name_of(command.status));
      for (std::uint32_t i = 0; i < command.blocks; ++i) {
        if (slot.data[i] != slot.expected[i]) {
          FAIL("block " << command.lba + i << " of read " << command.lba << "+" << command.blocks << " holds "
                        << slot.data[i] << " instead of " << slot.expected[i]);
        }
      }
    }
    free_.push_back(&slot);
  }
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;
  std::uint16_t sequence_ = 0;
  std::uint16_t handle_ = 0;
};

/// Hardware, firmware and host of a setup, which has a shape, a configuration and options.
struct ModelRig {
  template <class Setup>
  explicit ModelRig(Setup& setup, std::uint64_t seed = 1)
      : hw(setup.shape, setup.options),
        ftl(hw.ports, setup.shape, setup.config),
        host(hw, ftl, setup.shape, seed) {}
  FakeHardware hw;
  Ftl ftl;
  ModelHost host;
};

/// What the parts of a drive save, one after another.
template <class... Parts>
std::vector<std::uint8_t> saved(Parts&... parts) {
  MemoryArchive archive;
  (archive(parts), ...);
  return archive.content();
}
/// A snapshot of the hardware and firmware of `from` is loaded into those of `to`, whose host knows
/// what they must hold.
template <class Rig>
void restore(Rig& from, Rig& to) {
  MemoryArchive archive(saved(from.hw, from.ftl));
  archive(to.hw);
  archive(to.ftl);
  to.host.reference = from.host.reference;
}

}  // namespace tlmssd::firmware::testing
