#include "models/nand/bus_timing.h"

#include "models/base/input_error.h"

namespace tlmssd {

BusTiming::BusTiming(const NandPart& part, BytesPerSecond rate, Bytes unit_bytes)
    : rate_(rate),
      unit_bytes_(unit_bytes),
      spare_bytes_(part.spare_size),
      units_per_page_(unit_bytes == 0 ? 0 : static_cast<std::uint32_t>(part.page_size / unit_bytes)),
      page_cycles_((2 + part.column_cycles + part.row_cycles) * part.cycle_time),
      erase_cycles_((2 + part.row_cycles) * part.cycle_time),
      gap_(part.t_wb + part.t_dbsy),
      t_wb_(part.t_wb),
      t_adl_(part.t_adl),
      t_ccs_(part.t_ccs),
      t_rr_(part.t_rr),
      status_(2 * part.cycle_time + part.t_whr),
      control_(part.cycle_time + part.t_wb),
      page_time_(transfer_time(part.page_size + part.spare_size, rate)) {
  if (rate == 0) throw InputError("the flash bus has a rate of 0");
  if (unit_bytes == 0 || part.page_size % unit_bytes != 0) {
    throw InputError("the mapping page of " + std::to_string(unit_bytes) +
                     " bytes does not divide the flash page of " + std::to_string(part.page_size) + " bytes");
  }
  for (std::uint32_t count = 0; count <= units_per_page_ * part.planes; ++count) {
    units_time_.push_back(transfer_time(units_bytes(count), rate));
  }
}

}  // namespace tlmssd
