// What the built-in fuzzing does with an input: feeds it to the readers, to trace-info and to the
// placement.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/base/input_error.h"
#include "testbench/loads/fio/fio_job.h"
#include "testbench/loads/requests/placement.h"
#include "testbench/loads/traces/trace_info.h"

namespace tlmssd::fuzz {

/// Reads `bytes` in the format that its first byte chooses (the formats, auto, fio job file).
/// Anything but an InputError, or a request that leaves the drive, is a finding.
inline void read_trace(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t choice = static_cast<unsigned char>(bytes.front()) % (trace_formats().size() + 2);
  bytes.remove_prefix(1);
  try {
    if (choice == trace_formats().size() + 1) {
      parse_fio_jobs("fuzz", bytes);
      return;
    }
    TraceFile file;
    if (choice < trace_formats().size()) file.config.format = trace_formats()[choice].name;
    file.config.zero_size = bytes.size() % 2 == 0 ? "skip" : "refuse";
    file.columns = ColumnsConfig{};
    file.columns->time = 4;
    TraceReader info_reader(file, "fuzz", bytes);
    const TraceInfo info = inspect_trace(info_reader, 64);
    to_text(info);
    to_json(info);
    LoadExtent extent;
    for (const TraceInfo::Volume& volume : info.volumes) extent.volume_bytes.push_back(volume.end);
    for (const char* how : {"wrap", "scale"}) {
      static const DriveSize k_drive{std::uint64_t{1} << 40U, 4096};
      PlacementConfig config;
      config.addresses = how;
      PlacedSource placed(std::make_unique<TraceReader>(file, "fuzz", bytes), config, extent, k_drive);
      PlacedRequest request;
      for (std::uint64_t n = 0;
           placed.counts().requests < info.requests() && n < 1000 && placed.next(request); ++n) {
        if (request.lba + request.blocks > k_drive.bytes / k_drive.lba_bytes)
          throw std::logic_error("request beyond the drive");
      }
    }
  } catch (const InputError&) {
  }
}

}  // namespace tlmssd::fuzz
