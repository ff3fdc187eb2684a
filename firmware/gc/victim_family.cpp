// The victim policies there are.
#include "firmware/gc/cost_benefit.h"
#include "firmware/gc/fifo.h"
#include "firmware/gc/greedy.h"
#include "firmware/gc/random.h"
#include "firmware/gc/windowed_greedy.h"

namespace tlmssd::firmware {

const VictimFamily& victim_family() {
  static const auto family = VictimFamily{}
                                 .with<GreedyVictims>()
                                 .with<CostBenefitVictims>()
                                 .with<FifoVictims>()
                                 .with<RandomVictims>()
                                 .with<ChoicesVictims>()
                                 .with<WindowedGreedyVictims>();
  return family;
}

}  // namespace tlmssd::firmware
