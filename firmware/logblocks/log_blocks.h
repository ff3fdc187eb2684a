// The machinery under log-block mapping: gives programs of the write buffer their place in log
// blocks, carries out merges, erases what has become empty, and evens out wear and moves data for
// features by merging.
//
// Every parallel unit has a lock. Its holder decides where things go: a program of the write buffer
// until it has been started, a merge until the blocks have changed their roles. Programs that have
// been started go on beside each other; a merge waits for those of its parallel unit. Merges copy a
// batch of program units at a time (firmware.gc.parallel_copies): reads together, then the programs
// in their order.
//
// Why it cannot deadlock: a parallel unit has room for all of its data blocks, its logs and one
// block more. A merge takes one block and gives back at least one; what wants a block waits for
// erases under way, which wait for nothing but reads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "firmware/core/core.h"
#include "firmware/core/gc_engine.h"
#include "firmware/flash/read_batch.h"
#include "firmware/logblocks/log_scheme.h"

namespace tlmssd::firmware {

class LogBlocks final : public GcEngine {
 public:
  LogBlocks(Core& core, LogScheme& scheme);

  // ---- programs of the write buffer
  [[nodiscard]] std::uint32_t home(Lpn unit) const { return scheme_.home(unit); }
  [[nodiscard]] bool together(const ProgramJob& job, Lpn unit) const {
    return home(unit) == job.pu && scheme_.together(job, unit);
  }
  /// Gives `job` its place, merging until there is one; the caller must start it at once and then
  /// call started(). False: the drive is read-only.
  Task<bool> place(ProgramJob& job, std::uint64_t buffer_address);
  void started(std::uint32_t pu) { unlock(pu); }
  /// The program has ended, well or not.
  void ended(std::uint32_t pu);

  // ---- for the schemes; the lock of the parallel unit is held
  [[nodiscard]] const BlockPool& pool() const { return core_.pool; }
  [[nodiscard]] bool read_only() const { return core_.read_only; }
  [[nodiscard]] std::uint32_t pu_of(BlockNumber block) const { return core_.layout.pu_of(block); }
  /// Waits until no program of the write buffer is under way in the parallel unit.
  Task<> programs_ended(std::uint32_t pu);
  /// A free block, opened for writing; k_no_block when there is none and none can be made, which
  /// ends the drive's life.
  Task<BlockNumber> take_block(std::uint32_t pu, bool most_worn = false);
  /// Copies units (k_no_unit: a hole) behind what has been written of an open block. False: a
  /// program failed or the drive is read-only; what has been copied by then is in the block.
  Task<bool> append(BlockNumber block, std::span<const Lpn> units);
  /// Nothing more will be written to the block.
  void close(BlockNumber block);
  /// Erases a block in which nothing is valid, as soon as no read is under way in it.
  void discard(BlockNumber block);

  // ---- GcEngine
  void kick(std::uint32_t pu) override;
  void program_ended(std::uint32_t /*pu*/) override {}
  void set_idle(bool idle) override;
  [[nodiscard]] bool idle_mode() const override { return idle_; }
  void unpinned(std::uint32_t pu, BlockNumber block) override;
  void now_read_only() override;
  [[nodiscard]] bool native_waits(std::uint32_t /*pu*/) const override { return false; }
  [[nodiscard]] bool idle() const override { return busy_ == 0; }
  [[nodiscard]] bool running(std::uint32_t pu) const override { return work_[pu].locked; }
  [[nodiscard]] std::uint32_t waiting(std::uint32_t pu) const override { return work_[pu].waiting; }
  void archive(Archive& archive) override;

 private:
  struct Work {
    bool locked = false;
    bool maintaining = false;
    bool check_wear = false;       ///< a block was erased since the wear policy was asked
    Purpose moving = Purpose::gc;  ///< what copies are made for
    std::uint32_t waiting = 0;     ///< for the lock
    std::uint32_t in_flight = 0;   ///< programs of the write buffer
    std::uint32_t erasing = 0;     ///< blocks on their way to being free
    WaitQueue lock;
    WaitQueue quiet;  ///< for in_flight to be 0
    WaitQueue free;   ///< for an erase to end
    WaitQueue pins;   ///< for reads of a block to end
  };
  /// A merge's copies under way.
  struct Flow {
    std::uint32_t under_way = 0;
    bool failed = false;
    WaitQueue ended;  ///< for one of them to end
  };

  Task<> lock(std::uint32_t pu);
  void unlock(std::uint32_t pu);
  Task<bool> empty_failed(std::uint32_t pu);
  Task<> erase(std::uint32_t pu, BlockNumber block, Purpose purpose);
  Task<> maintain(std::uint32_t pu);
  Task<bool> maintain_once(std::uint32_t pu);
  Task<bool> evacuate(std::uint32_t pu, BlockNumber block, Purpose purpose);
  /// A feature wants a block moved, or wear has to be looked at.
  [[nodiscard]] bool must_maintain(std::uint32_t pu) const;
  std::size_t make_batch(BlockNumber block, std::span<const Lpn> units, ReadBatch& reads,
                         std::vector<ProgramJob*>& batch);
  /// Whether what goes into program unit `number` of `block` can be copied on its die: then it is
  /// marked so.
  bool copy_on_die(ProgramJob& job, BlockNumber block, std::uint32_t number) const;
  void claim(ProgramJob& job, BlockNumber block, Purpose purpose, std::uint64_t buffer_address);
  Task<> copy(ProgramJob& job, Flow& flow);
  void commit(ProgramJob& job);
  void resume_all(WaitQueue& queue);

  Core& core_;
  LogScheme& scheme_;
  std::vector<Work> work_;
  ZeroPages<std::uint32_t> written_;  ///< program units of every block since its last erase
  std::uint32_t busy_ = 0;            ///< erases and maintenance under way
  bool idle_ = false;
  TaskSet tasks_;
};

}  // namespace tlmssd::firmware
