// From what a scenario says to loads that can be run.
#include <algorithm>
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
#include "testbench/loads/recorded_time.h"
#include "testbench/loads/requests/load_seed.h"
#include "testbench/loads/requests/request_family.h"
#include "testbench/loads/trace_load.h"

namespace tlmssd {

namespace {

std::string path_of(const std::string& file, const std::string& directory) {
  const std::filesystem::path path(file);
  return path.is_absolute() || directory.empty() ? file : (std::filesystem::path(directory) / path).string();
}

// ----------------------------------------------------------------------------------------------------------------- generators

std::string describe(const GeneratorConfig& config) {
  std::string text = config.rw;
  const bool rated = !config.rate_iops.empty() || !config.rate.empty();
  if (config.mixes_reads_and_writes() && rated) {
    text += " as their rates have it";
  } else if (config.asks_for_mix()) {
    text += fmt::format(" {} % reads", config.read_percent());
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

/// `config` as its numjobs are called.
std::string name_of_job(const std::string& name, const GeneratorConfig& config, std::uint32_t job) {
  return config.numjobs == 1 ? name : fmt::format("{}.{}", name, job);
}

/// `name`, numbered where loads before have it: jobs of one name would ask for the same addresses
/// in step.
std::string name_apart(const std::string& name, const GeneratorConfig& config,
                       const std::vector<Load>& loads) {
  const auto taken = [&](const std::string& one) {
    for (std::uint32_t job = 0; job < config.numjobs; ++job)
      for (const Load& load : loads)
        if (load.name == name_of_job(one, config, job)) return true;
    return false;
  };
  std::string apart = name;
  for (int number = 2; taken(apart); ++number) apart = fmt::format("{} {}", name, number);
  return apart;
}

/// All of the numjobs of one job.
void add_jobs(std::vector<Load>& loads, const std::string& name, const GeneratorConfig& config,
              const RunConfig& run, FioUnits units, const DriveSize& drive, std::uint64_t seed) {
  if (config.time_based && run.runtime == 0) throw InputError("time_based: needs runtime as well");
  for (std::uint32_t job = 0; job < config.numjobs; ++job) {
    Load load;
    load.name = name_of_job(name, config, job);
    load.job = name;
    const GeneratorPlan plan = plan_generator(config, drive, units, job);
    const std::uint64_t own_seed = load_seed(config.randseed != 0 ? config.randseed : seed, load.name);
    load.source =
        std::make_unique<PlacedSource>(std::make_unique<Generator>(plan, own_seed), PlacementConfig{},
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
      const std::string name = config.kind.name.empty() ? job.name : config.kind.name + "." + job.name;
      add_jobs(loads, name_apart(name, made, loads), made, job.run, job.units, drive, seed);
    } catch (const InputError& error) {
      const InputError found = at_option(error, file, job);
      if (blamed.insert({found.complaint().line, error.what()}).second) errors.add(found);
    }
    for (std::size_t i = first; i < loads.size(); ++i) {
      loads[i].phase = phase;
      loads[i].delay_phases = phase;
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

Load profile_load(const LoadConfig& config, const DriveSize& drive, std::uint64_t seed,
                  const std::string& directory) {
  std::vector<std::string> longer_by;
  if (config.profile.requests != 0) {
    longer_by = {"requests"};
  } else if (config.profile.scale < 1 && config.profile.traces_folder.empty()) {
    longer_by = {"scale"};
  }
  if (config.profile.traces_folder.empty()) {
    Load load = made_up_load(config, drive, seed);
    load.longer_by = longer_by;
    return load;
  }
  const std::string file =
      recorded_volume(config.kind.profile, path_of(config.profile.traces_folder, directory));
  Load load = trace_load(recorded_load(config, file), drive, file);
  load.longer_by = longer_by;
  load.description =
      fmt::format("the recorded volume {}, not made up: {}", config.kind.profile, load.description);
  if (config.profile.scale != 1)
    load.warnings.push_back("scale has no effect on a recorded volume, which is replayed as it is");
  return load;
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
  const SourceContext context{drive.bytes, drive.lba_bytes, load_seed(seed, load.name)};
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
  std::vector<Load> loads;
  if (!config.kind.trace.empty()) {
    loads.push_back(trace_load(config, drive, path_of(config.kind.trace, directory)));
    return loads;
  }
  if (!config.kind.profile.empty() && drive.file_size != 0)
    throw refusal("target", "files can only be read, and a profile writes", "drive");
  if (!config.kind.profile.empty()) {
    loads.push_back(profile_load(config, drive, seed, directory));
    return loads;
  }
  if (!config.kind.fio.empty()) return fio_loads(config, drive, seed, directory);
  if (config.source != nullptr) return source_loads(config, drive, seed);
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
