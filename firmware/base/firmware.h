// A whole FTL behind hardware.h: what a drive asks of its firmware. firmware::Ftl is one, a plug-in
// or a program that embeds the drive may bring others (docs/own-firmware.md).
//
// A firmware must take commands, write everything out, and say how much DRAM it uses; all else it
// may leave out. What it leaves out is missing from reports, or refused where a scenario asks for
// it. It works timed and untimed by the same code, because every await of hardware.h does.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firmware/base/drive_shape.h"
#include "firmware/base/fill_order.h"
#include "firmware/base/hardware.h"
#include "firmware/base/steady_order.h"
#include "models/base/archive.h"
#include "models/base/ecc_code.h"
#include "models/base/parameters.h"
#include "models/base/statistics.h"
#include "models/base/task.h"

namespace tlmssd::firmware {

class Firmware {
 public:
  Firmware() = default;
  Firmware(const Firmware&) = delete;
  virtual ~Firmware() = default;

  // ---- what each has

  /// Takes a command from the mailbox. It must stay where it is until
  /// hardware.host.complete(command) is called. Untimed: it is complete when this returns.
  virtual void submit(HostCommand& command) = 0;
  /// Writes everything out and waits until no command, program or collection is under way. In
  /// untimed mode it is done when start() or the first resume returns. Afterwards archive() may be
  /// called.
  virtual Task<> drain() = 0;
  /// DRAM that firmware uses, from address 0: maps, buffers, a cache if it lies in DRAM. Payload
  /// buffers may follow.
  [[nodiscard]] virtual Bytes dram_bytes() const = 0;

  // ---- what it may have

  /// Of the host memory buffer, what firmware uses, from address 0.
  [[nodiscard]] virtual Bytes host_memory_bytes() const { return 0; }
  /// From now on time passes, or does not. Nothing is under way. Drives begin timed.
  virtual void set_timed(bool /*timed*/) {}
  /// Whether archive() can be called.
  [[nodiscard]] virtual bool archives() const { return false; }
  /// Saves or restores everything that lives across an idle moment; the drive must be drained.
  /// Restoring needs a firmware built from the same shape and configuration, otherwise
  /// ArchiveError.
  virtual void archive(Archive& /*archive*/) {}
  /// The power fails and comes back: what has not reached flash or SCM is gone. No command and no
  /// program may be under way. False: the firmware does not model that.
  virtual bool power_cycle() { return false; }
  /// Every block has been through `cycles` more P/E cycles and `nanoseconds` have passed, which the
  /// simulation has not seen. Firmware knows both: it counts cycles, and the host tells it the
  /// time.
  virtual void rest(std::uint32_t /*cycles*/, std::int64_t /*nanoseconds*/) {}
  /// What is done ahead of need, such as collection in the background, is put off from now on, or
  /// goes on. Put off, the drive is as a host leaves it that never pauses: drained in between, it
  /// is not at rest.
  virtual void put_off_background(bool /*put_off*/) {}
  /// Idle time, as much as firmware has use for. Drained and untimed.
  virtual void idle_time() {}
  /// Why the drive cannot be brought into steady state but by writing it; empty: make_steady() can.
  [[nodiscard]] virtual std::string steady_only_by_writing() const {
    return "the firmware has no model of its steady state";
  }
  /// P/E cycles that make_steady() puts on each block, if it can.
  [[nodiscard]] virtual std::uint32_t steady_cycles(std::uint64_t /*seed*/) const { return 0; }
  /// Brings a drive that has never been written into the state in which uniform random overwriting
  /// leaves it in the end. Untimed. Returns in a sentence how it was done.
  virtual std::string make_steady(const SteadyOrder& /*order*/) {
    throw std::logic_error(steady_only_by_writing());
  }
  /// The host is about to write `order`: carries out its first requests without their pages, where
  /// what they leave is known. Untimed. Returns how many; the host writes the others.
  virtual std::uint64_t fill(const FillOrder& /*order*/) { return 0; }
  /// Every page that holds data has been read so many times.
  virtual void disturb(std::uint32_t /*reads*/) {}
  /// Looks after data that have become old, as it does by itself from time to time while it serves
  /// the host.
  virtual void patrol() {}
  /// Seconds until such a look finds the first block, if nothing is read or written meanwhile;
  /// infinity: none. What is already due does not count: the last look has dealt with it, or
  /// cannot.
  [[nodiscard]] virtual double next_due() { return std::numeric_limits<double>::infinity(); }
  /// Seconds between two such looks; 0: it makes none.
  [[nodiscard]] virtual double patrol_interval() const { return 0; }
  /// Codes that reads may ask for.
  [[nodiscard]] virtual EccCodes codes() const { return {}; }
  /// Times that a page is read until it is decoded or given up, at most.
  [[nodiscard]] virtual std::uint32_t most_attempts() const { return 1; }
  [[nodiscard]] virtual bool read_only() const { return false; }
  /// Why it is, for a message.
  [[nodiscard]] virtual std::string why_read_only() const { return "no spare blocks are left"; }
  /// Items of the event queue that are alarms of its own: nothing is under way for them, and a
  /// drained drive is at rest whatever they do later.
  [[nodiscard]] virtual std::size_t timers() const { return 0; }
  /// Appends, for the exit report of a run that cannot go on: what outstanding commands wait for.
  virtual void describe_stall(std::string& /*text*/) const {}
  virtual void report(StatisticsSink& /*sink*/) const {}
  virtual void reset_statistics() {}
};

/// What a firmware is made with. All of it outlives the firmware.
struct FirmwareContext {
  Hardware& hw;  ///< not to be used before the first command
  const DriveShape& shape;
  std::uint64_t seed = 1;
};

using MakeFirmware = std::function<std::unique_ptr<Firmware>(const ParameterValues&, const FirmwareContext&)>;

/// Firmware that a scenario can choose by name (firmware.model): that of plug-ins and programs that
/// link the library, beside our own, which has sections of its own.
class FirmwareFamily {
 public:
  static constexpr std::string_view k_own = "ftl";
  /// Whether `name` is our own.
  static constexpr bool is_own(std::string_view name) { return name == k_own; }

  FirmwareFamily();
  /// `T` has `static constexpr std::string_view k_name, k_summary`, a nested `Config` with
  /// `parameters()` and a constructor (const Config&, const FirmwareContext&).
  template <class T>
  void add(std::string origin) {
    add({std::string(T::k_name), std::string(T::k_summary), T::Config::parameters().specs(),
         std::move(origin)},
        [](const ParameterValues& values, const FirmwareContext& context) -> std::unique_ptr<Firmware> {
          return std::make_unique<T>(T::Config::parameters().read(values), context);
        });
  }
  /// InputError when one of the parameters has the name of a section of our own firmware.
  void add(PolicyInfo info, MakeFirmware make);
  /// What is known of the one called `name`; null when there is none.
  [[nodiscard]] const PolicyInfo* find(std::string_view name) const;
  /// Null: it is our own, or there is none of that name.
  [[nodiscard]] std::unique_ptr<Firmware> make(std::string_view name, const ParameterValues& values,
                                               const FirmwareContext& context) const;
  [[nodiscard]] std::vector<PolicyInfo> infos() const;

 private:
  struct Member {
    PolicyInfo info;
    MakeFirmware make;
  };
  std::vector<Member> members_;
};

FirmwareFamily& firmware_family();

}  // namespace tlmssd::firmware
