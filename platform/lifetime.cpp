#include "platform/lifetime.h"

#include <algorithm>

namespace tlmssd {

void report_lifetime(StatisticsSink& sink, const WearOfLoad& wear) {
  const auto written = static_cast<double>(wear.written);
  const auto blocks = static_cast<double>(wear.blocks);
  const double of_slc = wear.endurance == 0 ? 0 : wear.slc_cycles * wear.endurance / wear.slc_endurance;
  const double cycles = wear.native_cycles + of_slc;
  // No value where nothing is worn, or nothing was written: then it was not the load that wore.
  const double left = wear.endurance - std::min(wear.cycles_before, wear.endurance);
  const bool wears = written > 0 && wear.endurance > 0 && cycles > 0;
  const double lasts = quotient(written * blocks * left, wears ? cycles : 0);
  const double drive_writes = lasts / static_cast<double>(wear.user);
  sink.open(
      "lifetime",
      "what the host can write at this load until the rated endurance of the flash is used up; no value "
      "where nothing was written or worn, or endurance is 0");
  if (wear.cycles_before > 0)
    sink.value("cycles before", std::uint64_t{wear.cycles_before}, "cycles",
               "P/E cycles that age.cycles has put on every block: they are no longer left");
  sink.value("written", lasts, "B", "bytes of the host, if wear is levelled perfectly (terabytes written)");
  sink.value("drive writes", drive_writes, "", "the same, in capacities of the drive");
  sink.value("drive writes per day", drive_writes / (k_warranty_years * 365), "",
             "the same, spread over five years of 365 days");
  sink.value(
      "cycles per drive write",
      quotient(cycles * static_cast<double>(wear.user), wears ? written * blocks : 0), "",
      "native cycles of a block, on average, each time that the host writes as much as the drive holds");
  if (wear.slc_cycles > 0)
    sink.value("wear in slc mode", quotient(of_slc, wears ? cycles : 0), "share",
               "of these cycles, those in SLC mode, each of which counts for endurance / slc_endurance");
  sink.value(
      "evenness", wear.evenness, "share",
      "wear of a block in this simulation, on average, as a share of that of the most worn one; no value "
      "before that has ten cycles");
  sink.value("written, first block", lasts * wear.evenness, "B",
             "bytes of the host until the first block is worn out, if wear stays as uneven as it is");
  sink.close();
}

}  // namespace tlmssd
