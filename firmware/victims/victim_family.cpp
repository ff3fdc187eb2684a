// The victim policies there are.
#include "firmware/victims/cost_benefit.h"
#include "firmware/victims/fifo.h"
#include "firmware/victims/greedy.h"
#include "firmware/victims/random.h"
#include "firmware/victims/windowed_greedy.h"

namespace tlmssd::firmware {

VictimFamily& victim_family() {
  static auto family = VictimFamily{}
                           .with<GreedyVictims>()
                           .with<CostBenefitVictims>()
                           .with<FifoVictims>()
                           .with<RandomVictims>()
                           .with<ChoicesVictims>()
                           .with<WindowedGreedyVictims>();
  return family;
}

}  // namespace tlmssd::firmware
