// From what a scenario says to loads that can be run.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <set>

#include "models/base/input_error.h"
#include "models/base/input_file.h"
#include "models/base/quantity_text.h"
#include "models/base/suggest.h"
#include "testbench/loads/fio/fio_job.h"
#include "testbench/loads/generator/generator.h"
#include "testbench/loads/load.h"
#include "testbench/loads/profile_load.h"
#include "testbench/loads/requests/request_family.h"
#include "testbench/loads/traces/trace_reader.h"

namespace tlmssd {

namespace {

std::string path_of(const std::string& file, const std::string& directory) {
  const std::filesystem::path path(file);
  return path.is_absolute() || directory.empty() ? file : (std::filesystem::path(directory) / path).string();
}

using LongTime = __int128;

constexpr Picoseconds k_longest_load = Picoseconds{1} << 62U;
constexpr const char* k_longest_text = "53 days of simulated time";

/// Nothing: later than `k_longest_load`.
std::optional<Picoseconds> scaled(LongTime time, double time_scale) {
  if (time_scale == 1)
    return time > k_longest_load ? std::nullopt : std::optional(static_cast<Picoseconds>(time));
  const double product = static_cast<double>(time) * time_scale;
  if (product > static_cast<double>(k_longest_load)) return std::nullopt;
  return static_cast<Picoseconds>(std::llround(product));
}

/// Times of which the pauses between them are cut to a longest one; 0: they are left alone.
class ShortPauses {
 public:
  explicit ShortPauses(LongTime longest) : longest_(longest) {}
  /// The first time stays as it is, and so do those that lie back.
  LongTime operator()(LongTime time) {
    if (longest_ == 0) return time;
    if (any_ && time - last_ > longest_) cut_ += time - last_ - longest_;
    any_ = true;
    last_ = std::max(last_, time);
    return time - cut_;
  }
  [[nodiscard]] LongTime cut() const { return cut_; }

 private:
  LongTime longest_;
  LongTime last_ = 0;
  LongTime cut_ = 0;
  bool any_ = false;
};

/// The longest pause in recorded time.
LongTime longest_pause(const OpenLoopConfig& config) {
  if (config.longest_gap == 0) return 0;
  return std::max<LongTime>(
      static_cast<LongTime>(static_cast<double>(config.longest_gap) / config.time_scale), 1);
}

// --------------------------------------------------------------------------------------------------------------------- traces

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
/// scaled. Without a `time_scale` nothing asks for times, and there are none.
class TracePart final : public RequestSource {
 public:
  TracePart(TraceFile file, const LimitConfig& limits, const Scan& scan, std::optional<double> time_scale,
            LongTime longest, std::uint64_t expected)
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
    if (time_scale) check_end(span, *time_scale);
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
    auto part = std::make_unique<TracePart>(
        file, config.limits, found, open ? std::optional(config.open.time_scale) : std::nullopt,
        open ? longest_pause(config.open) : 0, found.extent.requests * config.limits.repeat);
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

std::vector<Load> trace_loads(const LoadConfig& config, const DriveSize& drive,
                              const std::string& directory) {
  const TraceFile file{path_of(config.kind.trace, directory), config.trace, config.blkparse, config.columns,
                       config.pacing.is_open()};
  const bool open = config.pacing.is_open();
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
  std::vector<Load> loads;
  loads.push_back(std::move(load));
  return loads;
}

// ----------------------------------------------------------------------------------------------------------------- generators

std::string describe(const GeneratorConfig& config) {
  std::string text = config.rw;
  const bool rated = !config.rate_iops.empty() || !config.rate.empty();
  if (config.mixes_reads_and_writes() && rated) {
    text += " as their rates have it";
  } else if (config.mixes_reads_and_writes()) {
    const std::int64_t reads = config.rwmixwrite >= 0 ? 100 - config.rwmixwrite : config.rwmixread;
    text += fmt::format(" {} % reads", reads);
  }
  if (!config.bssplit.empty()) {
    text += ", bssplit " + config.bssplit;
  } else {
    text += config.bsrange.empty() ? ", bs " + config.bs : ", bsrange " + config.bsrange;
  }
  if (config.is_random()) text += ", " + config.random_distribution;
  if (!config.rate_iops.empty()) text += ", rate_iops " + config.rate_iops;
  if (!config.rate.empty()) text += ", rate " + config.rate;
  return text + fmt::format(", iodepth {}", config.iodepth);
}

/// All of the numjobs of one job.
void add_jobs(std::vector<Load>& loads, const std::string& name, const GeneratorConfig& config,
              const RunConfig& run, FioUnits units, const DriveSize& drive, std::uint64_t seed) {
  if (config.time_based && run.runtime == 0) throw InputError("time_based: needs runtime as well");
  for (std::uint32_t job = 0; job < config.numjobs; ++job) {
    Load load;
    load.name = config.numjobs == 1 ? name : fmt::format("{}.{}", name, job);
    load.job = name;
    const GeneratorPlan plan = plan_generator(config, drive, units, job);
    RandomStream seeds(config.randseed != 0 ? config.randseed : seed, "load " + load.name);
    load.source =
        std::make_unique<PlacedSource>(std::make_unique<Generator>(plan, seeds()), PlacementConfig{},
                                       LoadExtent{{plan.offset + plan.size}, 0}, drive);
    load.description = describe(config);
    load.pacing = plan.paced() ? Pacing::open_loop : Pacing::closed_loop;
    load.queue_depth = config.iodepth;
    schedule(load, run);
    load.time_based = config.time_based && config.number_ios == 0;
    load.longer_by = {load.time_based ? "runtime" : "number_ios"};
    load.wanted = plan.most_requests();
    load.made = true;
    load.writes = plan.writes();
    load.think_time = config.thinktime;
    load.think_blocks = config.thinktime_blocks;
    load.end_fsync = config.end_fsync && config.writes();
    if (const std::string notice = plan.range_notice(); job == 0 && !notice.empty())
      load.warnings.push_back(notice);
    load.alone_by = plan.alone_options(load.end_fsync);
    load.operations = plan.operations();
    if (load.operations && load.end_fsync) load.operations->push_back(HostOpcode::flush);
    loads.push_back(std::move(load));
  }
}

/// Gives a message of the form "option: ..." the option's line in the job file.
InputError at_option(const InputError& error, const FioJobFile& file, const FioJob& job) {
  const std::string message = error.what();
  return {file.file, job.line_of(message.substr(0, message.find(':'))), "job " + job.name + ": " + message};
}

/// What is said of jobs whose iodepth their ioengine does not keep; the first of `jobs`.
std::string depth_notice(const FioJobFile& file, const std::vector<const FioJob*>& jobs) {
  const FioJob& job = *jobs.front();
  return fmt::format(
      "{}:{}: iodepth {} of job {}{} counts as 1, as in fio: ioengine {}{} is synchronous; libaio or "
      "io_uring "
      "keeps more outstanding",
      name_in_reports(file.file), job.line_of("iodepth"), job.generator.iodepth, job.name,
      jobs.size() == 1 ? "" : fmt::format(" (and of {} more)", jobs.size() - 1), job.ioengine,
      job.lines.contains("ioengine") ? "" : ", the default,");
}

std::vector<Load> fio_loads(const LoadConfig& config, const DriveSize& drive, std::uint64_t seed,
                            const std::string& directory) {
  const FioJobFile file = read_fio_jobs(path_of(config.kind.fio, directory));
  std::vector<Load> loads;
  std::vector<std::string> names;
  std::vector<const FioJob*> shallow;
  ErrorList errors;
  std::set<std::pair<std::uint64_t, std::string>> blamed;  // an option of [global] once, not for each job
  std::uint32_t phase = 0;
  for (const FioJob& job : file.jobs) {
    names.push_back(job.name);
    if (!config.fio.job.empty() && job.name != config.fio.job) continue;
    if (job.stonewall && !loads.empty()) ++phase;
    const std::size_t first = loads.size();
    GeneratorConfig made = job.generator;
    if (job.synchronous() && made.iodepth > 1) {
      made.iodepth = 1;
      shallow.push_back(&job);
    }
    try {
      job.check_runs();
      add_jobs(loads, config.kind.name.empty() ? job.name : config.kind.name + "." + job.name, made, job.run,
               job.units, drive, seed);
    } catch (const InputError& error) {
      const InputError found = at_option(error, file, job);
      if (blamed.insert({found.complaint().line, error.what()}).second) errors.add(found);
    }
    for (std::size_t i = first; i < loads.size(); ++i) {
      loads[i].phase = phase;
    }
  }
  errors.throw_if_any();
  if (loads.empty()) {
    throw InputError("job: there is none called " + in_quotes(config.fio.job) + " in " + file.file +
                     ", expected " + any_of(names) + did_you_mean(config.fio.job, names));
  }
  loads.front().warnings.insert(loads.front().warnings.begin(), file.warnings.begin(), file.warnings.end());
  if (!shallow.empty()) loads.front().warnings.push_back(depth_notice(file, shallow));
  return loads;
}

// ------------------------------------------------------------------------------------------------------------------- profiles

std::vector<Load> profile_loads(const LoadConfig& config, const DriveSize& drive, std::uint64_t seed,
                                const std::string& directory) {
  std::vector<Load> loads;
  std::vector<std::string> longer_by;
  if (config.profile.requests != 0) {
    longer_by = {"requests"};
  } else if (config.profile.scale < 1 && config.profile.traces_folder.empty()) {
    longer_by = {"scale"};
  }
  if (config.profile.traces_folder.empty()) {
    loads.push_back(made_up_load(config, drive, seed));
    loads.front().longer_by = longer_by;
    return loads;
  }
  const std::string folder = path_of(config.profile.traces_folder, directory);
  const std::string file = recorded_volume(config.kind.profile, folder);
  loads = trace_loads(recorded_load(config, file), drive, {});
  loads.front().longer_by = longer_by;
  loads.front().description =
      fmt::format("the recorded volume {}, not made up: {}", config.kind.profile, loads.front().description);
  if (config.profile.scale != 1)
    loads.front().warnings.push_back("scale has no effect on a recorded volume, which is replayed as it is");
  return loads;
}

// ------------------------------------------------------------------------------------------------------- sources of plug-ins

/// What a source from outside makes, as far as it is sound.
class CheckedSource final : public RequestSource {
 public:
  CheckedSource(std::unique_ptr<RequestSource> source, std::string name, Bytes bytes,
                std::optional<double> time_scale, LongTime longest)
      : source_(std::move(source)),
        name_(std::move(name)),
        bytes_(bytes),
        time_scale_(time_scale),
        pauses_(longest) {}
  bool next(Request& request) override {
    request = {};
    if (!source_->next(request)) return false;
    ++number_;
    if (request.time < last_) refuse("has an earlier time than the one before");
    last_ = request.time;
    const auto time = time_scale_ ? scaled(pauses_(request.time), *time_scale_) : std::optional(request.time);
    if (!time) refuse(fmt::format("is due after more than {}", k_longest_text));
    request.time = *time;
    request.device = 0;
    if (const auto opcode = static_cast<std::size_t>(request.opcode); opcode >= k_opcodes) {
      refuse(fmt::format("has opcode {}, which there is not; valid: 0 to {}", opcode, k_opcodes - 1));
    }
    if (request.opcode == HostOpcode::flush) return true;
    if (request.bytes == 0) refuse("has no length");
    if (request.offset >= bytes_ || request.bytes > bytes_ - request.offset) {
      refuse(
          fmt::format("of {} B at {} B ends beyond the drive's {} B", request.bytes, request.offset, bytes_));
    }
    return true;
  }
  [[nodiscard]] std::uint64_t expected() const override { return source_->expected(); }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(fmt::format("source: request {} of {} {}", number_, name_, what));
  }
  std::unique_ptr<RequestSource> source_;
  std::string name_;
  Bytes bytes_;
  std::optional<double> time_scale_;
  ShortPauses pauses_;
  std::uint64_t number_ = 0;
  Picoseconds last_ = 0;
};

std::vector<Load> source_loads(const LoadConfig& config, const DriveSize& drive, std::uint64_t seed) {
  const std::string& source = config.kind.source;
  if (drive.file_size != 0)
    throw refusal("target", "files can only be read, and a source may write", "drive");
  Load load;
  load.name = config.kind.name.empty() ? source : config.kind.name;
  RandomStream seeds(seed, "load " + load.name);
  const SourceContext context{drive.bytes, drive.lba_bytes, seeds()};
  const PolicyInfo* const info = request_sources().find(source);
  if (info == nullptr) throw InputError("source: there is none called " + in_quotes(source));
  const bool open = config.pacing.is_open();
  load.source = std::make_unique<PlacedSource>(
      std::make_unique<CheckedSource>(
          request_sources().make(source, *config.source, context), source, drive.bytes,
          open ? std::optional(config.open.time_scale) : std::nullopt, open ? longest_pause(config.open) : 0),
      PlacementConfig{}, LoadExtent{{drive.bytes}, 0}, drive);
  load.description = fmt::format("{}: {} (plug-in {})", source, info->summary, info->origin);
  load.pacing = open ? Pacing::open_loop : Pacing::closed_loop;
  load.queue_depth = open ? config.open.max_outstanding : config.closed.queue_depth;
  schedule(load, config.run);
  std::vector<Load> loads;
  loads.push_back(std::move(load));
  return loads;
}

// -------------------------------------------------------------------------------------------------------------------- warm-up

/// How many requests of `load` come before the run. `bounded`: the number that the load expects is
/// certain.
std::uint64_t warm_up_requests(const Load& load, const WarmUp& warm_up, bool bounded) {
  const std::uint64_t all = load.source->expected();
  if (warm_up.share > 0 && all == 0) {
    throw InputError(
        "warm_up: a share of an unknown number of requests; expected a number of requests (20000)");
  }
  const std::uint64_t requests = warm_up.share > 0
                                     ? static_cast<std::uint64_t>(warm_up.share * static_cast<double>(all))
                                     : warm_up.requests;
  if (bounded && requests >= all) throw warm_up_takes_all(requests, all);
  return requests;
}

void set_warm_up(std::vector<Load>& loads, const LoadConfig& config) {
  const WarmUp warm_up = parse_warm_up(config.kind.warm_up);
  if (warm_up.requests == 0 && warm_up.share == 0) return;
  const bool recorded = !config.kind.trace.empty() || !config.kind.profile.empty();
  const bool bounded = recorded || (config.kind.fio.empty() && config.generator.number_ios != 0);
  for (Load& load : loads) load.warm_up = warm_up_requests(load, warm_up, bounded);
}

void choose_streams(std::vector<Load>& loads, const LoadKindConfig& kind, const DriveSize& drive) {
  if (kind.stream == "0") return;
  const bool recorded = !kind.trace.empty();
  for (Load& load : loads) {
    const StreamMap::Drive handles{drive.bytes, drive.handles};
    load.source->use(StreamMap(kind.stream, handles, recorded ? load.source->volumes() : 0));
  }
  if (drive.handles == 1) {
    loads.front().warnings.emplace_back(
        "stream has no effect: the drive has no placement handles (firmware.streams.policy is none)");
  }
}

/// As load_keys() has it.
std::string kind_of(const LoadConfig& config) {
  if (!config.kind.trace.empty()) return "trace";
  if (!config.kind.profile.empty()) return "profile";
  if (!config.kind.fio.empty()) return "fio";
  return config.source != nullptr ? "source" : "";
}

std::vector<Load> made_loads(const LoadConfig& config, const DriveSize& drive, std::uint64_t seed,
                             const std::string& directory) {
  if (!config.kind.trace.empty() && drive.apps)
    throw refusal("target", "files of apps (file_cache.apps) are read by their lives, not by a trace",
                  "drive");
  if (!config.kind.trace.empty()) return trace_loads(config, drive, directory);
  if (!config.kind.profile.empty() && drive.file_size != 0)
    throw refusal("target", "files can only be read, and a profile writes", "drive");
  if (!config.kind.profile.empty()) return profile_loads(config, drive, seed, directory);
  if (!config.kind.fio.empty()) return fio_loads(config, drive, seed, directory);
  if (config.source != nullptr) return source_loads(config, drive, seed);
  std::vector<Load> loads;
  add_jobs(loads, config.kind.name.empty() ? "load" : config.kind.name, config.generator, config.run,
           FioUnits::scenario, drive, seed);
  return loads;
}

}  // namespace

RequestFamily& request_sources() {
  static RequestFamily family;
  return family;
}

std::vector<std::string> Load::keys_of(const std::vector<std::string>& options) const {
  const std::vector<LoadKeys> all = load_keys();
  const auto takes = [&](const std::string& option) {
    if (kind == "fio") return is_fio_option(option);
    return std::any_of(all.begin(), all.end(), [&](const LoadKeys& some) {
      const auto& kinds = some.only_with;
      return (kinds.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) &&
             std::any_of(some.parameters.begin(), some.parameters.end(),
                         [&](const ParameterSpec& spec) { return spec.name == option; });
    });
  };
  std::vector<std::string> keys;
  for (const std::string& option : options)
    if (takes(option)) keys.push_back(key_of(option));
  return keys;
}

void schedule(Load& load, const RunConfig& run) {
  load.start = run.startdelay;
  load.ramp_time = run.ramp_time;
  load.ramp_requests = run.ramp_requests;
  if (run.runtime != 0) load.runtime = run.runtime;
}

InputError warm_up_takes_all(std::uint64_t requests, std::uint64_t all) {
  return InputError(
      fmt::format("warm_up: {} leaves none of the load's {} requests to measure", requests, all));
}

std::vector<Load> make_loads(const LoadConfig& config, const DriveSize& drive, std::uint64_t seed,
                             const std::string& directory) {
  if (drive.lba_bytes == 0 || drive.bytes < drive.lba_bytes)
    throw InputError("the drive holds no logical block");
  std::vector<Load> loads = made_loads(config, drive, seed, directory);
  for (Load& load : loads) {
    load.queue = config.kind.queue;
    load.kind = kind_of(config);
  }
  choose_streams(loads, config.kind, drive);
  set_warm_up(loads, config);
  return loads;
}

}  // namespace tlmssd
