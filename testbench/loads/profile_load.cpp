// Loads with the published statistics of a volume.
#include "testbench/loads/profile_load.h"

#include <filesystem>
#include <fmt/format.h>

#include "models/base/input_error.h"
#include "models/base/quantity_text.h"
#include "testbench/loads/profiles/profile_source.h"
#include "testbench/loads/requests/load_seed.h"

namespace tlmssd {

std::string recorded_volume(const std::string& volume, const std::string& folder) {
  for (const char* ending : {".csv", ".csv.gz", ".csv.zst", ".csv.xz"}) {
    const auto path = std::filesystem::path(folder) / (volume + ending);
    if (std::filesystem::exists(path)) return path.string();
  }
  throw InputError(
      fmt::format("traces_folder: {} holds no {}.csv, .csv.gz, .csv.zst or .csv.xz; without traces_folder "
                  "the requests are made up",
                  folder, volume));
}

LoadConfig recorded_load(const LoadConfig& config, const std::string& file) {
  LoadConfig trace;
  trace.kind = config.kind;
  trace.kind.profile.clear();
  trace.kind.trace = file;
  if (trace.kind.name.empty()) trace.kind.name = config.kind.profile;
  trace.trace.format = "msr";
  trace.placement.addresses = config.profile.addresses;
  trace.placement.region_offset = config.profile.region_offset;
  trace.placement.region_size = config.profile.region_size;
  trace.limits.requests = config.profile.requests;
  trace.closed = config.closed;
  trace.run = config.run;
  return trace;
}

Load made_up_load(const LoadConfig& config, const DriveSize& drive, std::uint64_t seed) {
  const VolumeProfile& volume = find_volume(config.kind.profile);
  Load load;
  load.name = config.kind.name.empty() ? config.kind.profile : config.kind.name;
  auto source = std::make_unique<ProfileSource>(plan_profile(volume, config.profile.scale),
                                                load_seed(seed, load.name), config.profile.requests);
  const Bytes end = source->end();
  PlacementConfig placement;
  placement.addresses = config.profile.addresses;
  placement.region_offset = config.profile.region_offset;
  placement.region_size = config.profile.region_size;
  load.source = std::make_unique<PlacedSource>(std::move(source), placement, LoadExtent{{end}, 0}, drive);
  if (load.source->refuses()) {
    throw refusal("scale",
                  fmt::format("{:g} of {} covers {}, more than the load may use of the drive, expected a "
                              "smaller scale, a larger drive or addresses: wrap or scale",
                              config.profile.scale, volume.name, bytes_text(static_cast<double>(end))),
                  Proposal{"addresses", "wrap"});
  }
  load.description =
      fmt::format("synthetic, from the published statistics of MSR Cambridge {} at scale {:g} ({}); {}",
                  volume.name, config.profile.scale, marks_text(volume), load.source->description());
  load.queue_depth = config.closed.queue_depth;
  schedule(load, config.run);
  return load;
}

}  // namespace tlmssd
