// Gathers data that reads of the host have delivered, in DRAM, until they fill a program unit, and
// programs that in native mode into a parallel unit of its owner's choice.
//
// Two program units are gathered at a time. Nothing waits for them: a program unit is only given a
// place that the host could take at once without a command waiting; without one it is given up. The
// data gathered are true, because they come from pages whose blocks are still pinned; that they
// still are when they have been programmed, the owner sees to.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "firmware/core/core.h"
#include "firmware/core/gc_engine.h"

namespace tlmssd::firmware {

class ReadGatherer {
 public:
  /// Who wants data written, and where.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// Whether a program unit may go to `pu`. `other`: where the other one that is being gathered
    /// goes, if anywhere.
    [[nodiscard]] virtual bool suits(std::uint32_t pu, std::optional<std::uint32_t> other) const = 0;
    /// Whether a program unit that is full may go to `pu` now; else it is asked again at the next
    /// pump().
    [[nodiscard]] virtual bool may_start(std::uint32_t /*pu*/) const { return true; }
    /// A program unit is on flash: its unit n at job.base + n. job.source: as given to add().
    /// `took`: from the order to its end.
    virtual void committed(const ProgramJob& job, Picoseconds took) = 0;
    /// It will not be. `refused`: no place could be had without waiting.
    virtual void aborted(const ProgramJob& job, bool refused) = 0;
  };
  /// A program unit.
  struct Gathering {
    ProgramJob* job = nullptr;
    bool flying = false;
    [[nodiscard]] std::optional<std::uint32_t> pu() const {
      return job == nullptr ? std::nullopt : std::optional(job->pu);
    }
  };

  /// `dram_address`: where data are gathered; dram_bytes() of them.
  ReadGatherer(Core& core, GcEngine& gc_engine, Owner& owner, std::uint64_t dram_address)
      : core_(core), gc_engine_(gc_engine), owner_(owner), dram_address_(dram_address) {}

  /// A program unit that another unit can be added to, going to a parallel unit that `fits`; null
  /// when there is none.
  template <class Fits>
  Gathering* find(Fits fits) {
    for (Gathering& gathering : gatherings_) {
      if (full(gathering) || (gathering.job == nullptr && !begin(gathering))) continue;
      if (fits(gathering.job->pu)) return &gathering;
    }
    return nullptr;
  }
  /// Adds the data of `unit`; `source` is the owner's.
  void add(Gathering& gathering, Lpn unit, std::uint32_t source, const Stamp* stamps);
  /// Starts full program units, as the owner allows. To be called when the read has released its
  /// blocks, because programs start collection, which may wait for just these.
  void pump();
  /// What is not yet on its way is given up.
  void drop();
  [[nodiscard]] bool idle() const {
    return std::none_of(gatherings_.begin(), gatherings_.end(), [](const Gathering& g) { return g.flying; });
  }
  [[nodiscard]] Bytes dram_bytes() const {
    return Bytes{gatherings_.size()} * core_.layout.program_units * core_.layout.unit_bytes;
  }
  /// Nothing may be gathered or under way.
  void archive(Archive& archive) { archive(position_); }

 private:
  /// Nothing can be added any more.
  [[nodiscard]] bool full(const Gathering& gathering) const {
    return gathering.job != nullptr && gathering.job->live == core_.layout.program_units;
  }
  bool begin(Gathering& gathering);
  [[nodiscard]] bool may_program(std::uint32_t pu) const;
  [[nodiscard]] std::uint64_t address_of(const Gathering& gathering) const {
    return dram_address_ + static_cast<std::uint64_t>(&gathering - gatherings_.data()) * dram_bytes() / 2;
  }
  Task<> program(Gathering& gathering);
  void abort(Gathering& gathering, bool refused);
  void end(Gathering& gathering);

  Core& core_;
  GcEngine& gc_engine_;
  Owner& owner_;
  std::uint64_t dram_address_;
  std::array<Gathering, 2> gatherings_;
  std::uint32_t position_ = 0;  ///< in the allocation order: the parallel unit that is asked next
  Completion posted_;
  TaskSet tasks_;
};

}  // namespace tlmssd::firmware
