#include "testbench/host/log_structured/log_structured_config.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "models/base/input_error.h"

namespace tlmssd {

using namespace literals;

const ParameterTable<LogStructuredChoice>& LogStructuredChoice::parameters() {
  static const auto table = ParameterTable<LogStructuredChoice>{}
                                .choice("policy", &LogStructuredChoice::policy, {"log-structured", "none"},
                                        "log-structured: writes are appended to a log on the drive, "
                                        "and a map in the host's memory says where data lie; "
                                        "none: commands go to the drive as they are")
                                .settles_state();
  return table;
}

const ParameterTable<LogStructuredConfig>& LogStructuredConfig::parameters() {
  static const auto table =
      ParameterTable<LogStructuredConfig>{}
          .bytes("grain", &LogStructuredConfig::grain, {512, 16_MiB},
                 "unit of the map; a write that covers a grain in part reads the rest first")
          .shapes_state()
          .bytes("segment", &LogStructuredConfig::segment, {4_KiB, 16_GiB},
                 "piece of the drive that is written from its start to its end; should be the drive's "
                 "block-mapped region")
          .shapes_state()
          .share("spare", &LogStructuredConfig::spare, {0.0001, 0.99},
                 "share of the drive kept back for cleaning; loads see the rest")
          .shapes_state()
          .integer("low_water", &LogStructuredConfig::low_water, {2, 1'000'000},
                   "free segments below which segments are cleaned; one of them is for cleaning alone")
          .shapes_state()
          .time("cost", &LogStructuredConfig::cost, {0, 1_s},
                "processor time of the host for each command, one command after the other");
  return table;
}

namespace {

/// The multiple of `step` nearest to `value`, at least one.
Bytes nearest_multiple(Bytes value, Bytes step) {
  return std::max<Bytes>((value + step / 2) / step, 1) * step;
}

/// The largest grain of which a segment is made and which one command carries; without one, what
/// one command carries.
Bytes largest_grain(Bytes segment, const AttachedDrive& drive) {
  const Bytes lba = drive.lba_bytes;
  const Bytes most = drive.max_transfer / lba * lba;
  for (Bytes grain = most; grain > 0; grain -= lba) {
    if (segment % grain == 0) return grain;
  }
  return most;
}

}  // namespace

SegmentLog::Shape log_shape(const LogStructuredConfig& config, const AttachedDrive& drive) {
  if (config.grain % drive.lba_bytes != 0) {
    throw refusal("log_structured.grain",
                  fmt::format("{} B are no whole logical blocks of {} B", config.grain, drive.lba_bytes),
                  fmt::format("{} B", nearest_multiple(config.grain, drive.lba_bytes)));
  }
  if (config.grain > drive.max_transfer) {
    throw refusal(
        "log_structured.grain",
        fmt::format("{} B exceed the {} B of ssd.host.max_transfer", config.grain, drive.max_transfer),
        fmt::format("{} B", largest_grain(config.segment, drive)));
  }
  if (config.segment % config.grain != 0) {
    throw refusal("log_structured.segment",
                  fmt::format("{} B are no whole grains of {} B", config.segment, config.grain),
                  fmt::format("{} B", nearest_multiple(config.segment, config.grain)));
  }
  const Bytes drive_bytes = drive.blocks * drive.lba_bytes;
  const std::uint64_t segments = drive_bytes / config.segment;
  const std::uint64_t segment_grains = config.segment / config.grain;
  // Besides those that are to be kept free the head has one, and one is what guarantees that a full
  // segment with holes is left.
  const std::uint64_t least = config.low_water + std::uint64_t{2};
  if (segments <= least) {
    throw refusal(
        "log_structured.segment",
        fmt::format("the drive has {} segments of {} B, and cleaning alone needs {} (low_water and 2)",
                    segments, config.segment, least),
        fmt::format("{} B", std::max(drive_bytes / (least + 1) / config.grain, Bytes{1}) * config.grain));
  }
  if (segments * segment_grains >= SegmentLog::k_lost)
    throw refusal("log_structured.grain",
                  fmt::format("{} B make more than 2^32 grains of this drive", config.grain),
                  fmt::format("{} B", 2 * config.grain));
  const std::uint64_t places = segments * segment_grains;
  const auto grains = static_cast<std::uint64_t>(static_cast<double>(places) * (1 - config.spare));
  if (places - grains < least * segment_grains) {
    const double share = static_cast<double>(least) / static_cast<double>(segments);
    throw refusal("log_structured.spare",
                  fmt::format("{:.4g} % of {} segments are fewer than the {} that cleaning needs (low_water "
                              "and 2)",
                              config.spare * 100, segments, least),
                  fmt::format("{:.4g} %", std::ceil(share * 1e4) / 100));
  }
  if (grains == 0) throw InputError("log_structured.spare: nothing is left for loads");
  return {static_cast<std::uint32_t>(grains), static_cast<std::uint32_t>(segments),
          static_cast<std::uint32_t>(segment_grains)};
}

}  // namespace tlmssd
