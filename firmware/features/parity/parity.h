// Parity over dies, by which a read is served whose die is busy with collection: the other members
// of its stripe and the parity are read instead, in parallel (Yan et al., "Tiny-Tail Flash:
// Near-Perfect Elimination of Garbage Collection Tail Latencies in NAND SSDs", ACM ToS 13(3), 2017;
// Luo et al. 2022: [23]).
//
// The dies are parted into groups of `stripe`, in the order in which writes go round them, which is
// across channels by default. A stripe is formed of what is programmed: program units on all dies
// but one of a group, what the host writes and what is moved apart because they live for different
// times. Once there is one of each of these dies, their XOR, which has been kept in DRAM meanwhile,
// is programmed on the remaining one, which is another one each time since writes go on from there.
//
// A stripe is of places, not of logical units: it holds whatever becomes of the data there, until
// a block of one of its members or of the parity is erased. Nothing refers to a parity but its
// stripe. To the block pool it is invalid from the beginning: it is not moved, and its block is the
// better a victim for it. It must not be counted for nothing all the same, because what is moved
// has parity programmed, too. Where a victim gives less than one part in `stripe`, its moves would
// cost more than it gives. So one part in `stripe` of flash is no room for data (own_units), and no
// parity goes to a parallel unit of which more holds data. Of the others, victims give more on
// average than the parity of what is moved takes, and collection comes to an end.
//
// Why nothing can deadlock: parity waits for room as the host's data do, in their line, holds
// nothing meanwhile that collection needs, and is given up where nothing can be collected. Parity
// of what was moved takes room among moved data only while the reserve is whole, as what gives no
// block back does (gc/feature_moves.h).
//
// It is for latency and does not protect data: it is not read when a page cannot be decoded, and is
// gone with the power. TTFlash's collection copies within a plane and goes round the planes of a
// group one at a time; here `rotate` lets one die of a group collect at a time (turns.h). Other
// differences: stripes there are of logical pages with fixed dies, so that they outlive collection,
// and its writes avoid dies that collect. Left out: the time and the transfers of XOR while stripes
// are formed, but for writing it to DRAM; the time to look a stripe up.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "firmware/core/core.h"
#include "firmware/core/feature_info.h"
#include "firmware/features/parity/rebuilder.h"
#include "firmware/features/parity/stripe_table.h"
#include "firmware/features/parity/turns.h"
#include "firmware/gc/worker.h"

namespace tlmssd::firmware {

struct ParityConfig {
  std::uint32_t stripe = 4;
  BytesPerSecond xor_rate = 3'200'000'000;
  std::uint32_t forming = 64;
  bool rotate = false;
  static const ParameterTable<ParityConfig>& parameters();
};

class Parity final : public Feature {
 public:
  static constexpr const char* k_path = "firmware.parity";
  static constexpr const char* k_doc = "parity over dies, from which a read is served whose die is busy";
  static constexpr const char* k_choice_doc = "with what a die must be busy for that";
  using Config = ParityConfig;
  static std::vector<PolicyInfo> policies();
  static std::uint64_t own_units(const FeatureChoice& choice, const Layout& layout);
  static InputError too_many_units(const FeatureChoice& choice, Bytes bytes, Bytes left);
  struct Counters {
    std::uint64_t programs = 0;        ///< of parity
    std::uint64_t displaced = 0;       ///< stripes given up while they were formed
    std::uint64_t refused = 0;         ///< complete ones without room for their parity
    std::uint64_t erased = 0;          ///< stripes ended by an erase
    std::uint64_t busy = 0;            ///< units of host reads whose die was busy
    std::uint64_t without_stripe = 0;  ///< of these, units in no stripe
    std::uint64_t others_busy = 0;     ///< of these, units of whose stripe another die was busy
    std::uint64_t served = 0;          ///< units rebuilt
    std::uint64_t lost = 0;            ///< reads of a member or a parity that failed
  };

  explicit Parity(const FeatureContext& context);

  void on_programmed(const ProgramJob& job) override;
  void on_program_end() override { pump(); }
  void on_erased(std::uint32_t pu) override { turns_.erased(pu); }
  void on_collected(std::uint32_t pu) override;
  bool holds_collection(std::uint32_t pu) override { return rotate_ && turns_.waits(pu); }
  void on_read_end() override { pump(); }
  void on_erase(BlockNumber block) override;
  void on_power_lost() override { table_.clear(); }
  bool redirect_read(Lpn unit, Ppn where, std::uint64_t need, ReadBatch& reads) override;
  bool end_redirected(const ReadOp& read, ReadBatch& again) override;

  [[nodiscard]] bool idle() const override;
  void drop() override;
  [[nodiscard]] Bytes dram_bytes() const override { return Bytes{forming_.size()} * buffer_bytes(); }
  [[nodiscard]] std::optional<MovedUnits> moved() const override {
    return MovedUnits{"parity", "parity over dies", counters_.programs * core_.layout.program_units};
  }
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { counters_ = {}; }
  void archive(Archive& archive) override;
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  enum class State : std::uint8_t { none, open, complete, flying };
  /// A stripe that is being formed, with a buffer in DRAM.
  struct Forming {
    State state = State::none;
    bool moved = false;         ///< of data that were moved
    bool lost = false;          ///< flying: a member has been erased
    std::uint8_t handle = 0;    ///< placement handle of its data
    std::uint32_t group = 0;    ///< of dies
    std::uint64_t number = 0;   ///< in the order in which they were begun
    std::uint64_t dies = 0;     ///< of the group, with a member
    ProgramJob* job = nullptr;  ///< the parity, as far as it goes
    std::vector<std::uint32_t> units;
  };
  [[nodiscard]] Bytes buffer_bytes() const {
    return Bytes{core_.layout.program_units} * core_.layout.unit_bytes;
  }
  [[nodiscard]] std::uint64_t address_of(const Forming& forming) const {
    return dram_address_ + static_cast<std::uint64_t>(&forming - forming_.data()) * buffer_bytes();
  }
  [[nodiscard]] std::uint32_t die_of(std::uint32_t program_unit) const {
    return index(core_.layout.die_of(core_.layout.pu_of(block_of(program_unit)), 0));
  }
  [[nodiscard]] BlockNumber block_of(std::uint32_t program_unit) const {
    return BlockNumber(program_unit / core_.layout.programs_per_block);
  }
  [[nodiscard]] bool busy(std::uint32_t die) const;
  Forming* open_for(const ProgramJob& job, std::uint32_t die);
  void add(Forming& forming, const ProgramJob& job, std::uint32_t die);
  void pump();
  [[nodiscard]] bool has_room(std::uint32_t pu) const;
  [[nodiscard]] bool takes(const Forming& forming) const;
  Task<bool> place(Forming& forming);
  Task<> program(Forming& forming);
  void release(Forming& forming);
  bool includes(const Forming& forming, BlockNumber block) const;

  Core& core_;
  GcWorker& gc_;
  std::string policy_name_;
  bool behind_writes_;
  bool rotate_;
  std::size_t each_;  ///< stripes of a group that may be formed at a time
  std::uint32_t stripe_;
  std::uint64_t dram_address_;
  std::vector<std::uint32_t> dies_;      ///< in the order in which writes go round them
  std::vector<std::uint32_t> place_of_;  ///< of a die, in that order
  std::vector<Forming> forming_;         ///< as many of each group
  StripeTable table_;
  Rebuilder rebuilder_;
  Turns turns_;
  Counters counters_;
  std::uint64_t begun_ = 0;
  std::uint32_t complete_ = 0;       ///< stripes whose parity is to be started
  bool pumping_ = false;             ///< within pump(), which is not begun again
  const ProgramJob* own_ = nullptr;  ///< parity that has just been programmed
  std::vector<std::uint32_t> others_;
  Completion posted_;
  TaskSet tasks_;
};

}  // namespace tlmssd::firmware
