#include "platform/lifetime.h"

namespace tlmssd {

void report_lifetime(StatisticsSink& sink, const WearOfLoad& wear) {
  const auto written = static_cast<double>(wear.written);
  const auto blocks = static_cast<double>(wear.blocks);
  const double of_slc = wear.endurance == 0 ? 0 : wear.slc_cycles * wear.endurance / wear.slc_endurance;
  const double cycles = wear.native_cycles + of_slc;
  // No value where nothing is worn, or nothing was written: then it was not the load that wore.
  const double all = written > 0 && wear.endurance > 0 ? blocks * wear.endurance : 0;
  const double lasts = quotient(written, quotient(cycles, all));
  const double drive_writes = lasts / static_cast<double>(wear.user);
  sink.open(
      "lifetime",
      "what the host can write at this load until the rated endurance of the flash is used up; no value "
      "where nothing was written or worn, or endurance is 0");
  sink.value("written", lasts, "B", "bytes of the host, if wear is levelled perfectly (terabytes written)");
  sink.value("drive writes", drive_writes, "", "the same, in capacities of the drive");
  sink.value("drive writes per day", drive_writes / (k_warranty_years * 365), "",
             "the same, spread over five years of 365 days");
  sink.value(
      "cycles per drive write", quotient(wear.endurance, drive_writes), "",
      "native cycles of a block, on average, each time that the host writes as much as the drive holds");
  if (wear.slc_cycles > 0)
    sink.value("wear in slc mode", quotient(of_slc, all > 0 ? cycles : 0), "share",
               "of these cycles, those in SLC mode, each of which counts for endurance / slc_endurance");
  sink.value("evenness", wear.evenness, "share",
             "wear of a block so far, on average, as a share of that of the most worn one");
  sink.value("written, first block", lasts * wear.evenness, "B",
             "bytes of the host until the first block is worn out, if wear stays as uneven as it is");
  sink.close();
}

}  // namespace tlmssd
