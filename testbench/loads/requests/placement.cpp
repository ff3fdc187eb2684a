// Lays a load's address space onto a drive.
#include "testbench/loads/requests/placement.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "models/base/input_error.h"
#include "models/base/quantity_text.h"

namespace tlmssd {

namespace {

constexpr Bytes k_volume_step = Bytes{1}
                                << 20U;  // volumes start on whole mebibytes of the joined address space
constexpr Bytes k_page = 4096;           // grain of scaling
constexpr std::uint64_t k_most_blocks = std::uint64_t{1} << 31U;  // per request handed out

std::uint64_t scale(std::uint64_t value, std::uint64_t numerator, std::uint64_t denominator) {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(value) * numerator / denominator);
}

}  // namespace

const ParameterTable<PlacementConfig>& PlacementConfig::parameters() {
  static const auto table = ParameterTable<PlacementConfig>{}
                                .choice("addresses", &PlacementConfig::addresses, {"refuse", "wrap", "scale"},
                                        "what happens to a trace whose addresses lie beyond the drive: "
                                        "refuse stops with the line's number, wrap takes "
                                        "addresses modulo the region's size, scale squeezes them "
                                        "proportionally (only when they do not fit)")
                                .text("volume", &PlacementConfig::volume,
                                      "which of the recording's volumes to replay, by the name that "
                                      "trace-info shows; all lays them one after another "
                                      "in order of appearance")
                                .filled()
                                .bytes("region_offset", &PlacementConfig::region_offset, {0, 0x1p62},
                                       "where on the drive the part that the trace uses begins")
                                .bytes("region_size", &PlacementConfig::region_size, {0, 0x1p62},
                                       "size of that part; 0 means to the end of the drive");
  return table;
}

PlacedSource::PlacedSource(std::unique_ptr<RequestSource> source, const PlacementConfig& config,
                           const LoadExtent& extent, const DriveSize& drive, std::uint32_t only_volume)
    : source_(std::move(source)), lba_bytes_(drive.lba_bytes), only_volume_(only_volume) {
  if (config.region_offset >= drive.bytes) {
    throw InputError(
        fmt::format("region_offset: {} B lies beyond the drive's {} B", config.region_offset, drive.bytes));
  }
  const Bytes size = config.region_size == 0 ? drive.bytes - config.region_offset : config.region_size;
  if (size > drive.bytes - config.region_offset) {
    throw InputError(fmt::format("region_size: {} B at {} B ends beyond the drive's {} B", size,
                                 config.region_offset, drive.bytes));
  }
  region_first_ = (config.region_offset + lba_bytes_ - 1) / lba_bytes_;
  const std::uint64_t region_end = (config.region_offset + size) / lba_bytes_;
  if (region_end <= region_first_) throw InputError("region_size: holds no whole logical block");
  region_blocks_ = region_end - region_first_;
  region_first_ += drive.first_lba;

  for (std::size_t i = 0; i < extent.volume_bytes.size(); ++i) {
    base_.push_back(only_volume_ == k_all_volumes ? span_ : 0);
    if (only_volume_ != k_all_volumes && i != only_volume_) continue;
    const Bytes rounded = (extent.volume_bytes[i] + k_volume_step - 1) / k_volume_step * k_volume_step;
    if (span_ + rounded < span_ || (span_ + rounded) >> 63U != 0) {
      throw InputError(
          "volume: all volumes one after another do not fit 63 bits of address, choose one of them");
    }
    span_ += i + 1 == extent.volume_bytes.size() || only_volume_ != k_all_volumes ? extent.volume_bytes[i]
                                                                                  : rounded;
  }
  const bool fits = (span_ + lba_bytes_ - 1) / lba_bytes_ <= region_blocks_;
  mode_ = fits                          ? Mode::fits
          : config.addresses == "wrap"  ? Mode::wrap
          : config.addresses == "scale" ? Mode::scale
                                        : Mode::refuse;
  static constexpr const char* k_how[] = {"fits as it is", "addresses wrapped", "addresses scaled",
                                          "refused"};
  description_ = fmt::format("{} of addresses on {} of the drive: {}", bytes_text(static_cast<double>(span_)),
                             bytes_text(static_cast<double>(region_blocks_ * lba_bytes_)),
                             k_how[static_cast<std::size_t>(mode_)]);
}

bool PlacedSource::next(PlacedRequest& request) {
  while (pending_blocks_ == 0) {
    Request from;
    if (!source_->next(from)) return false;
    if (only_volume_ != k_all_volumes && from.device != only_volume_) {
      ++counts_.other_volume;
      continue;
    }
    ++counts_.requests;
    pending_.opcode = from.opcode;
    pending_.force_unit_access = from.force_unit_access;
    pending_.time = from.time;
    if (from.opcode == HostOpcode::flush) {
      request = pending_;
      request.lba = 0;
      request.blocks = 0;
      return true;
    }
    place(from);
    pending_.placement_handle = streams_.handle(from.device, (region_first_ + pending_lba_) * lba_bytes_);
  }
  emit(request);
  return true;
}

SequentialRun PlacedSource::sequential_writes() const {
  SequentialRun run = source_->sequential_writes();
  const bool as_they_are =
      mode_ == Mode::fits && pending_blocks_ == 0 && base_.size() <= 1 && streams_.is_plain();
  const Bytes region = region_blocks_ * lba_bytes_;
  if (!as_they_are || run.offset % lba_bytes_ != 0 || run.bytes % lba_bytes_ != 0 || run.bytes == 0 ||
      run.offset > region || run.bytes / lba_bytes_ > k_most_blocks)
    return {};
  run.requests = std::min(run.requests, (region - run.offset) / run.bytes);
  run.offset += region_first_ * lba_bytes_;
  return run;
}

void PlacedSource::skip(std::uint64_t requests) {
  source_->skip(requests);
  counts_.requests += requests;
}

void PlacedSource::round(HostOpcode opcode, Bytes start, Bytes end) {
  const bool trim = opcode == HostOpcode::trim;
  const std::uint64_t first = trim ? (start + lba_bytes_ - 1) / lba_bytes_ : start / lba_bytes_;
  const std::uint64_t behind = trim ? end / lba_bytes_ : (end + lba_bytes_ - 1) / lba_bytes_;
  pending_lba_ = first;
  pending_blocks_ = behind > first ? behind - first : 0;
  if (start % lba_bytes_ == 0 && end % lba_bytes_ == 0) return;
  ++(!trim ? counts_.widened : pending_blocks_ > 0 ? counts_.narrowed : counts_.too_small);
}

void PlacedSource::place(const Request& request) {
  const Bytes start = (base_.empty() ? 0 : base_[request.device]) + request.offset;
  const Bytes end = start + request.bytes;
  round(request.opcode, start, end);
  const bool beyond = request.opcode == HostOpcode::trim && end > region_blocks_ * lba_bytes_;
  if (pending_blocks_ == 0 && !(beyond && mode_ == Mode::refuse)) return;
  switch (mode_) {
    case Mode::fits:
      return;
    case Mode::wrap:
      if (pending_lba_ >= region_blocks_) {
        pending_lba_ %= region_blocks_;
        ++counts_.wrapped;
      }
      return;
    case Mode::scale: {
      // Whole pages are scaled so that alignment survives; drives with odd blocks are scaled in
      // blocks.
      const std::uint64_t grain =
          k_page % lba_bytes_ == 0 && region_blocks_ * lba_bytes_ >= 2 * k_page ? k_page / lba_bytes_ : 1;
      const std::uint64_t span_grains = (span_ + grain * lba_bytes_ - 1) / (grain * lba_bytes_);
      const std::uint64_t within = pending_lba_ % grain;
      std::uint64_t moved = scale(pending_lba_ / grain, region_blocks_ / grain, span_grains) * grain + within;
      if (moved + pending_blocks_ > region_blocks_)
        moved = region_blocks_ - std::min(pending_blocks_, region_blocks_);
      if (moved != pending_lba_) ++counts_.scaled;
      pending_lba_ = moved;
      return;
    }
    case Mode::refuse:
      if (pending_lba_ + pending_blocks_ <= region_blocks_ && !beyond) return;
      const std::string where = source_->where();
      throw InputError(
          where, 0,
          fmt::format("field offset: the request of {} B at {} B ends beyond the {} B of the drive "
                      "that the load may use, expected a larger drive or addresses: wrap or scale",
                      request.bytes, start, region_blocks_ * lba_bytes_));
  }
}

/// Hands out what is pending up to the end of the region; the rest goes on at its beginning.
void PlacedSource::emit(PlacedRequest& request) {
  const std::uint64_t blocks = std::min({pending_blocks_, region_blocks_ - pending_lba_, k_most_blocks});
  request = pending_;
  request.lba = region_first_ + pending_lba_;
  request.blocks = static_cast<std::uint32_t>(blocks);
  pending_blocks_ -= blocks;
  pending_lba_ += blocks;
  if (pending_lba_ == region_blocks_) pending_lba_ = 0;
  if (pending_blocks_ > 0) ++counts_.split;
}

}  // namespace tlmssd
