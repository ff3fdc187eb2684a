// Brings a drive that was never written into steady state: as if it had been filled and overwritten
// at random, mapping page by mapping page, for long.
//
// In three steps. First the closed blocks of each parallel unit are made in the block pool, with
// valid counts drawn from the stationary distribution of the victim policy (StationaryBlocks), and
// open blocks beside them. Then the pool is played: host programs take program units and make as
// many units of the parallel unit invalid, chosen by chance, and blocks are collected as the GC
// worker does it, with the pool, the victim policy and the wear policy of the drive, but without
// logical addresses, flash operations or time. That brings about what no distribution says: in
// which order blocks are listed, how collection goes in bursts, what it left unfinished. Policies
// without a model are played for longer. Last the logical units are laid onto what is valid by a
// random permutation, older versions onto what is not, and each page is programmed once, with its
// spare area, through the same port as ever; the map follows.
//
// A drive at rest is as untimed writing leaves it: all parallel units are at the same point of
// filling a block, because they take turns, and each at its own point of the cycle of collection,
// which is drawn; at the same one where nothing ever takes them out of step. Where so little is
// spare that some are passed over now and then, they are not: such a drive is settled by writing.
// Behind a host that never pauses (sustained) each is at a point of its own of filling and
// collecting, because in time one that collects is passed over by the others.
//
// A: wear is that of a fill and four times the capacity in overwrites; where chance puts more on a
// block than it bears, it has as much behind it as it bears. The number of valid units of
// a parallel unit is drawn, too: each gets the same share of the writes, and loses units at random,
// which makes an Ornstein-Uhlenbeck process of variance half its mean. All blocks are written at
// the present instant, as untimed preconditioning has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/base/steady_order.h"
#include "firmware/core/core.h"
#include "firmware/gc/worker.h"
#include "firmware/steady/permutation.h"
#include "firmware/steady/stationary.h"
#include "models/base/random.h"

namespace tlmssd::firmware {

class SteadyState {
 public:
  SteadyState(Core& core, GcWorker& worker, const SteadyOrder& order);

  /// Why that cannot be done on this drive; empty: it can.
  [[nodiscard]] static std::string only_by_writing(const Core& core);
  /// Erases that blocks have behind them then: the mean, rounded up, and one more.
  [[nodiscard]] std::uint32_t cycles();
  /// Nothing has ever been written. Returns in a sentence how it was done.
  std::string make();

 private:
  /// How many blocks of a parallel unit there are of each kind at the outset.
  struct Plan {
    std::uint32_t free;
    std::uint32_t open;  ///< 0, or one for each of the streams
    std::uint32_t closed;
  };
  struct Victim {
    BlockNumber block;
    std::uint32_t at = 0;  ///< units looked at
  };
  /// Those of the GC worker; 0: nothing is collected in the background.
  [[nodiscard]] std::uint32_t background_start() const {
    return order_.sustained ? 0 : worker_.background_start();
  }
  [[nodiscard]] std::uint32_t background_stop() const {
    return order_.sustained ? 0 : worker_.background_stop();
  }
  void prepare();
  [[nodiscard]] double erases(double amplification, double played) const;
  void draw_valid();
  void make_plans();
  [[nodiscard]] bool collect_together() const;
  [[nodiscard]] StationaryBlocks model_of(const Plan& plan) const;
  void make_blocks(std::uint32_t pu, const Plan& plan, const StationaryBlocks& model);
  void make_free(std::uint32_t pu);
  void make_closed(std::uint32_t pu, std::uint32_t valid);
  void make_open(std::uint32_t pu, WriteTarget target, std::uint32_t programs);
  void wear_in(std::uint32_t pu, double erases);
  void limit_wear(std::uint32_t pu);
  // ---- playing
  void play(std::uint32_t pu, std::uint64_t programs);
  void play_on(std::uint32_t pu, double amplification);
  void write(std::uint32_t pu);
  void invalidate_any(std::uint32_t pu);
  void collect(std::uint32_t pu);
  [[nodiscard]] bool wants_more(std::uint32_t pu) const;
  bool read_batch(std::uint32_t pu);
  bool move_gathered(std::uint32_t pu);
  void erase_empty();
  // ---- contents
  void write_contents();
  void draw_contents(BlockNumber block, const Permutation& permutation);
  void place(Lpn unit, Ppn where);
  struct Placed {
    Lpn unit;
    Ppn where;
  };
  void tell_map(std::vector<Placed>& placed);
  void write_block(BlockNumber block, std::uint32_t programs, ProgramJob& job);
  void erase(BlockNumber block);

  Core& core_;
  GcWorker& worker_;
  const SteadyOrder& order_;
  const Layout& layout_;
  BlockPool& pool_;
  RandomStream random_;
  std::vector<std::uint32_t> valid_;  ///< by parallel unit
  double mean_valid_;
  StationaryChoice choice_;
  std::vector<Plan> plans_;                  ///< those that a parallel unit may begin with
  std::vector<Victim> victims_;              ///< of the parallel unit that is being collected
  std::vector<Ppn> gathered_;                ///< valid units of these that are to be moved next
  std::uint64_t played_ = 0;                 ///< programs of the host and of collection in a parallel unit
  std::uint64_t until_ = 0;                  ///< playing ends at so many, in the midst of collection or not
  std::uint64_t laid_ = 0;                   ///< logical units that have their place
  std::vector<Lpn> units_;                   ///< of a block
  std::vector<std::vector<Placed>> placed_;  ///< by region of the map, which has yet to learn of it
};

}  // namespace tlmssd::firmware
