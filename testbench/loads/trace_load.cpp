#include "testbench/loads/trace_load.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <utility>

#include "models/base/input_error.h"
#include "models/base/input_file.h"
#include "models/base/quantity_text.h"
#include "models/base/suggest.h"
#include "testbench/loads/recorded_time.h"
#include "testbench/loads/traces/trace_reader.h"

namespace tlmssd {
namespace {

/// What one pass over the part of the trace to be replayed found.
struct Scan {
  LoadExtent extent;
  std::uint32_t only_volume = PlacedSource::k_all_volumes;
  LongTime first = 0;
  LongTime last = 0;
  LongTime cut = 0;  ///< of pauses
  bool has_times = true;
  std::string description;
  std::uint64_t out_of_order = 0;
  std::uint64_t zero_size = 0;
};

/// Whether a request is of the one volume that is replayed, or all are.
bool is_replayed(const Request& request, std::uint32_t only_volume) {
  return only_volume == PlacedSource::k_all_volumes || request.device == only_volume;
}

/// `volume`: the one to be replayed, whose requests alone count, or "all".
Scan scan(const TraceFile& file, const LimitConfig& limits, const std::string& volume, LongTime longest) {
  TraceReader reader(file);
  ShortPauses pauses(longest);
  Scan result;
  Request request;
  std::uint64_t read = 0;
  const bool one = volume != "all";
  while ((limits.requests == 0 || read < limits.skip + limits.requests) && reader.next(request)) {
    if (one) {
      if (result.only_volume == PlacedSource::k_all_volumes && reader.volumes()[request.device] == volume)
        result.only_volume = request.device;
      if (request.device != result.only_volume) continue;
    }
    if (read++ < limits.skip) continue;
    if (request.device >= result.extent.volume_bytes.size())
      result.extent.volume_bytes.resize(request.device + 1, 0);
    Bytes& end = result.extent.volume_bytes[request.device];
    end = std::max(end, request.offset + request.bytes);
    result.last = pauses(reader.elapsed());
    if (result.extent.requests++ == 0) result.first = result.last;
  }
  if (one && read == 0) {
    throw InputError("volume: " + in_quotes(volume) + " has no request in " + file.path + ", expected all, " +
                     any_of(reader.volumes()) + did_you_mean(volume, reader.volumes()));
  }
  if (result.extent.requests == 0) {
    throw refusal("skip",
                  fmt::format("{} leaves none of the {} requests of {}{}", limits.skip, read,
                              one ? "volume " + in_quotes(volume) + " of " : "", file.path),
                  std::to_string(read - 1));
  }
  result.cut = pauses.cut();
  result.has_times = reader.has_times();
  result.description = reader.description();
  result.out_of_order = reader.out_of_order();
  result.zero_size = reader.zero_size();
  return result;
}

/// The part of a trace that is replayed, as often as asked, with times from its first request and
/// scaled. Without a `time_scale` nothing asks for times, and there are none. A runtime ends it
/// before time cannot be counted any more.
class TracePart final : public RequestSource {
 public:
  TracePart(TraceFile file, const LimitConfig& limits, const Scan& scan, std::optional<double> time_scale,
            LongTime longest, bool has_runtime, std::uint64_t expected)
      : file_(std::move(file)),
        limits_(limits),
        only_volume_(scan.only_volume),
        first_(scan.first),
        time_scale_(time_scale),
        longest_(longest),
        pauses_(longest),
        expected_(expected) {
    // Repetitions follow each other at the mean distance of requests.
    const LongTime span = scan.last - scan.first;
    period_ = span + span / static_cast<LongTime>(std::max<std::uint64_t>(scan.extent.requests - 1, 1));
    if (time_scale && !has_runtime) check_end(span, *time_scale);
  }
  bool next(Request& request) override {
    for (;;) {
      if (!reader_ && !begin()) return false;
      if ((limits_.requests == 0 || taken_ < limits_.requests) && reader_->next(request)) break;
      reader_.reset();
    }
    if (!is_replayed(request, only_volume_)) return true;  // passed over where it would be placed
    ++taken_;
    const LongTime time = pauses_(reader_->elapsed()) - first_ + period_ * (round_ - 1);
    request.time = time_scale_ ? scaled(time, *time_scale_).value_or(k_longest_load) : 0;
    return true;
  }
  [[nodiscard]] std::uint64_t expected() const override { return expected_; }
  [[nodiscard]] std::string where() const override { return reader_ ? reader_->where() : file_.path; }

 private:
  void check_end(LongTime span, double time_scale) const {
    const auto fits = [&](std::uint64_t repeat) {
      return scaled(span + period_ * (repeat - 1), time_scale).has_value();
    };
    if (!fits(1)) {
      throw refusal(
          "time_scale", fmt::format("{} makes the trace take more than {}", time_scale, k_longest_text),
          fmt::format("{:.6g}", static_cast<double>(k_longest_load) / static_cast<double>(span) * 0.99999));
    }
    std::uint64_t most = limits_.repeat;
    if (fits(most)) return;
    std::uint64_t least = 1;
    while (most - least > 1) {
      const std::uint64_t middle = (least + most) / 2;
      (fits(middle) ? least : most) = middle;
    }
    throw refusal("repeat", fmt::format("{} repetitions take more than {}", limits_.repeat, k_longest_text),
                  std::to_string(least));
  }
  bool begin() {
    if (round_ == limits_.repeat) return false;
    ++round_;
    taken_ = 0;
    reader_ = std::make_unique<TraceReader>(file_);
    pauses_ = ShortPauses(longest_);
    Request skipped;
    for (std::uint64_t n = 0; n < limits_.skip;) {
      if (!reader_->next(skipped)) return false;
      if (is_replayed(skipped, only_volume_)) ++n;
    }
    return true;
  }
  TraceFile file_;
  LimitConfig limits_;
  std::uint32_t only_volume_;
  LongTime first_;
  LongTime period_ = 0;
  std::optional<double> time_scale_;
  LongTime longest_;
  ShortPauses pauses_;
  std::uint64_t expected_;
  std::unique_ptr<TraceReader> reader_;
  std::uint64_t round_ = 0;
  std::uint64_t taken_ = 0;
};

/// A request to the network's files must be a read within one of them.
void check_file(const PlacedRequest& request, const DriveSize& drive, const PlacedSource& source) {
  if (drive.file_size == 0 || request.opcode == HostOpcode::flush) return;
  const std::uint64_t file_blocks = drive.file_size / drive.lba_bytes;
  const std::uint64_t first = (request.lba - drive.first_lba) % file_blocks;
  if (request.opcode == HostOpcode::read && first + request.blocks <= file_blocks) return;
  throw InputError(
      source.where(), 0,
      fmt::format("target: files can only be read, each request within one file of {} B; this is a {} of "
                  "{} B, {} B into a file",
                  drive.file_size, name_of(request.opcode), Bytes{request.blocks} * drive.lba_bytes,
                  first * drive.lba_bytes));
}

std::unique_ptr<PlacedSource> place_trace(const TraceFile& file, const LoadConfig& config, const Scan& found,
                                          const DriveSize& drive) {
  const bool open = config.pacing.is_open();
  const auto make = [&] {
    auto part = std::make_unique<TracePart>(file, config.limits, found,
                                            open ? std::optional(config.open.time_scale) : std::nullopt,
                                            open ? longest_pause(config.open) : 0, config.run.runtime != 0,
                                            found.extent.requests * config.limits.repeat);
    return std::make_unique<PlacedSource>(std::move(part), config.placement, found.extent, drive,
                                          found.only_volume);
  };
  auto source = make();
  if (source->refuses() || drive.file_size != 0) {  // find the line now, before anything has been run
    PlacedRequest request;
    while (source->next(request)) check_file(request, drive, *source);
    source = make();
  }
  return source;
}

}  // namespace

Load trace_load(const LoadConfig& config, const DriveSize& drive, const std::string& path) {
  const bool open = config.pacing.is_open();
  const TraceFile file{path, config.trace, config.blkparse, config.columns, open};
  const Scan found =
      scan(file, config.limits, config.placement.volume, open ? longest_pause(config.open) : 0);
  if (open && !found.has_times) {
    throw refusal("pacing", "open-loop needs time stamps, which " + file.path + " does not have",
                  "closed-loop");
  }
  Load load;
  load.name = config.kind.name.empty() ? name_in_reports(config.kind.trace) : config.kind.name;
  load.source = place_trace(file, config, found, drive);
  load.description = found.description + "; " + load.source->description();
  if (found.cut > 0)
    load.description += fmt::format("; {} of pauses left out (longest_gap)",
                                    time_text(static_cast<double>(found.cut) * config.open.time_scale));
  load.pacing = open ? Pacing::open_loop : Pacing::closed_loop;
  load.queue_depth = open ? config.open.max_outstanding : config.closed.queue_depth;
  load.queue = config.kind.queue;
  load.longer_by = {config.limits.requests == 0 ? "repeat" : "requests"};
  schedule(load, config.run);
  // A load without a name of its own has the file's, which its warnings begin with.
  const std::string whose = config.kind.name.empty() ? "" : name_in_reports(file.path) + ": ";
  if (found.out_of_order > 0) {
    load.warnings.push_back(
        fmt::format("{}{} time stamps out of order, raised to the one above", whose, found.out_of_order));
  }
  if (found.zero_size > 0)
    load.warnings.push_back(fmt::format("{}{} requests without size skipped", whose, found.zero_size));
  return load;
}

}  // namespace tlmssd
