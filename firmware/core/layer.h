// A layer in front of the kernel: a memory that takes part of the host's data and passes on the
// rest. Commands go by this interface alone; without a layer they go straight to write buffer and
// flash. The cache in SCM or DRAM is one (firmware/cache).
#pragma once

#include <bit>
#include <cstdint>
#include <memory>

#include "firmware/base/hardware.h"
#include "firmware/base/ppn.h"
#include "models/base/host_command.h"
#include "models/base/task.h"

namespace tlmssd::firmware {

struct Durable;

/// A command under way, as far as a layer has to do with it.
inline constexpr const char* k_waits_for_core = "a controller core";

struct HeldCommand {
  HostCommand& command;
  const char* waits_for = k_waits_for_core;  ///< for the report of a stall
};

/// Gives a read `sectors` of the unit that begins at LBA `start`; `stamps`: of all sectors of
/// the unit.
inline void copy_sectors(HostCommand& command, std::uint64_t start, std::uint64_t sectors,
                         const Stamp* stamps) {
  const std::span<Stamp> data = command.data();
  for (std::uint64_t rest = sectors; rest != 0; rest &= rest - 1) {
    const auto s = static_cast<std::uint32_t>(std::countr_zero(rest));
    data[start + s - command.lba] = stamps[s];
  }
}

/// What a layer passes writes on to.
class WriteAcceptor {
 public:
  virtual ~WriteAcceptor() = default;
  /// Inserts blocks into the write buffer, waiting for room there. False: the drive is read-only.
  virtual Task<bool> accept(HeldCommand& held, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                            Durable* durable) = 0;
};

class Layer {
 public:
  /// Room that a read keeps in the layer for what it will bring from flash.
  struct Hold {
    virtual ~Hold() = default;
  };

  virtual ~Layer() = default;
  /// For the report of a stall: what a command waits for that waits for its data.
  [[nodiscard]] virtual const char* name() const = 0;
  /// Memory that its data lie in.
  [[nodiscard]] virtual MemoryKind medium() const = 0;
  /// They survive a loss of power.
  [[nodiscard]] virtual bool non_volatile() const = 0;

  /// A command will ask for `unit` after its next wait: a chance to fetch into the processor's
  /// caches what tells where its data are.
  virtual void prefetch(Lpn /*unit*/) const {}
  /// The same, of the data themselves; some time after prefetch().
  virtual void prefetch_data(Lpn /*unit*/) const {}

  // ---- reads
  /// Whether every block of the range is here.
  [[nodiscard]] virtual bool covers(std::uint64_t lba, std::uint64_t blocks) const = 0;
  /// Copies those sectors `want` of `unit` that are here into the command's data and appends their
  /// places to `where`; returns the others.
  virtual std::uint64_t take(HostCommand& command, Lpn unit, std::uint64_t want, MemorySpans& where) = 0;
  /// Before a read goes to flash: waits for room for what it will copy in, if it is to wait for
  /// that.
  virtual Task<> prepare_read(HeldCommand& held, std::unique_ptr<Hold>& hold) = 0;
  /// Sectors of `unit` have been read at `place` in flash (`need`: those the host wanted). `hold`:
  /// what prepare_read() has set aside; null: nothing. pump() is due afterwards, when no read holds
  /// a block any more.
  virtual void copy_in(Lpn unit, Ppn place, std::uint64_t need, const Stamp* stamps, Hold* hold) = 0;

  // ---- writes
  /// Takes blocks or passes them on. False: the drive is read-only.
  virtual Task<bool> write(HeldCommand& held, WriteAcceptor& below, std::uint64_t lba, std::uint64_t blocks,
                           const Stamp* data, Durable* durable) = 0;
  [[nodiscard]] virtual bool holds(Lpn unit) const = 0;
  /// Data of the units from `first` up to `end` are void. Returns how many were here and are known
  /// neither to map nor to buffer.
  virtual std::uint64_t discard(std::uint64_t first, std::uint64_t end) = 0;
  /// The same of sectors of a unit.
  virtual void trim(Lpn unit, std::uint64_t sectors) = 0;

  // ---- all of it
  /// Starts what is due to leave for the write buffer.
  virtual void pump() = 0;
  /// Brings all that flash does not have into the write buffer, which then has to be flushed.
  virtual Task<> stage_all() = 0;
  /// There is something that flash does not have.
  [[nodiscard]] virtual bool dirty() const = 0;
};

}  // namespace tlmssd::firmware
