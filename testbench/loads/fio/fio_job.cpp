// fio job files.
#include "testbench/loads/fio/fio_job.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "models/base/input_error.h"
#include "models/base/input_file.h"
#include "models/base/suggest.h"
#include "testbench/loads/text/fields.h"
#include "testbench/loads/text/line_reader.h"

namespace tlmssd {

namespace {

using Setter = void (*)(FioJob&, const std::string&);

[[noreturn]] void expected(const std::string& what) {
  throw std::invalid_argument("expected " + what);
}

/// fio takes its suffixes of sizes behind every whole number: iodepth=1k is 1024.
std::uint64_t number(const FioJob& job, const std::string& text, std::uint64_t low, std::uint64_t high) {
  const auto value = fio_size(text, job.units);
  if (!value || *value < low || *value > high)
    expected(fmt::format("a whole number from {} to {}", low, high));
  return *value;
}

Picoseconds duration(const std::string& text, Picoseconds bare) {
  const auto value = fio_time(text, bare);
  if (!value) expected("a time (30, 30s, 500ms)");
  return *value;
}

bool flag(const std::string& text) {
  if (text.empty() || text == "1") return true;
  if (text == "0") return false;
  expected("0, 1 or the option alone");
}

constexpr Picoseconds k_second = 1'000'000'000'000;
constexpr Picoseconds k_microsecond = 1'000'000;
constexpr std::uint64_t k_any = std::uint64_t{1} << 62U;

/// An engine of fio 3.33.
struct Engine {
  const char* name;
  bool synchronous = false;       ///< it waits for each request (FIO_SYNCIO)
  const char* instead = nullptr;  ///< what it does in place of reading and writing data of a drive
};

constexpr const char* k_no_data = "moves no data";
constexpr const char* k_of_files = "does things to files as such and moves no data";
constexpr const char* k_network = "sends data over the network, to no drive";

constexpr Engine k_engines[] = {
    {"sync", true},
    {"psync", true},
    {"vsync", true},
    {"pvsync", true},
    {"pvsync2", true},
    {"io_uring"},
    {"io_uring_cmd"},
    {"libaio"},
    {"posixaio"},
    {"solarisaio"},
    {"windowsaio"},
    {"mmap", true},
    {"splice", true},
    {"sg"},
    {"libzbc", true},
    {"mtd", true},
    {"libpmem", true},
    {"pmemblk", true},
    {"dev-dax", true},
    {"libcufile", true},
    {"libiscsi", true},
    {"nbd"},
    {"nfs"},
    {"rados"},
    {"rbd"},
    {"http", true},
    {"gfapi", true},
    {"gfapi_async"},
    {"libhdfs", true},
    {"dfs"},
    {"ime_psync", true},
    {"ime_psyncv", true},
    {"ime_aio"},
    {"xnvme"},
    {"null", false, k_no_data},
    {"cpuio", true, "keeps processors busy and moves no data"},
    {"exec", true, "runs another program"},
    {"filecreate", true, k_of_files},
    {"filestat", true, k_of_files},
    {"filedelete", true, k_of_files},
    {"falloc", true, k_of_files},
    {"ftruncate", true, k_of_files},
    {"e4defrag", true, "has ext4 move its own blocks"},
    {"net", true, k_network},
    {"netsplice", true, k_network},
    {"rdma", false, k_network},
};

const Engine* find_engine(std::string_view name) {
  const auto* const found = std::find_if(std::begin(k_engines), std::end(k_engines),
                                         [&](const Engine& engine) { return name == engine.name; });
  return found == std::end(k_engines) ? nullptr : found;
}

constexpr const char* k_usual_engines = "that reads and writes (libaio, io_uring, psync, ...)";

/// As fio does, "linuxaio" and "aio" stand for libaio.
void set_ioengine(FioJob& job, const std::string& text) {
  job.ioengine = text.starts_with("linuxaio") || text.starts_with("aio") ? "libaio" : text;
  if (find_engine(job.ioengine) != nullptr) return;
  std::vector<std::string> names;
  for (const Engine& engine : k_engines)
    if (engine.instead == nullptr) names.emplace_back(engine.name);
  expected("an engine of fio 3.33 " + std::string(k_usual_engines) + did_you_mean(text, names));
}

struct Option {
  const char* name;
  Setter set;
  bool flag = false;  ///< may stand alone, without a value
};

void set_rw(FioJob& job, const std::string& text) {
  job.generator.rw = text == "mixed" ? "rw" : text;
}
void set_bs(FioJob& job, const std::string& text) {
  job.generator.bs = text;
}
void set_bsrange(FioJob& job, const std::string& text) {
  job.generator.bsrange = text;
}
void set_blockalign(FioJob& job, const std::string& text) {
  job.generator.blockalign = text;
}
void set_io_size(FioJob& job, const std::string& text) {
  job.generator.io_size = text;
}
void set_runtime(FioJob& job, const std::string& text) {
  job.run.runtime = duration(text, k_second);
}
void set_stonewall(FioJob& job, const std::string& text) {
  job.stonewall = flag(text);
}

/// Every option understood; some have two names.
constexpr Option k_options[] = {
    {"rw", set_rw},
    {"readwrite", set_rw},
    {"rwmixread",
     [](FioJob& job, const std::string& text) {
       job.generator.rwmixread = static_cast<std::int32_t>(number(job, text, 0, 100));
       job.generator.rwmixwrite = -1;
     }},
    {"rwmixwrite",
     [](FioJob& job, const std::string& text) {
       job.generator.rwmixwrite = static_cast<std::int32_t>(number(job, text, 0, 100));
     }},
    {"bs", set_bs},
    {"blocksize", set_bs},
    {"bsrange", set_bsrange},
    {"blocksize_range", set_bsrange},
    {"bssplit", [](FioJob& job, const std::string& text) { job.generator.bssplit = text; }},
    {"blockalign", set_blockalign},
    {"ba", set_blockalign},
    {"iodepth",
     [](FioJob& job, const std::string& text) {
       job.generator.iodepth = static_cast<std::uint32_t>(number(job, text, 1, 65536));
     }},
    {"numjobs",
     [](FioJob& job, const std::string& text) {
       job.generator.numjobs = static_cast<std::uint32_t>(number(job, text, 1, 1024));
     }},
    {"offset", [](FioJob& job, const std::string& text) { job.generator.offset = text; }},
    {"offset_increment", [](FioJob& job, const std::string& text) { job.generator.offset_increment = text; }},
    {"size", [](FioJob& job, const std::string& text) { job.generator.size = text; }},
    {"io_size", set_io_size},
    {"io_limit", set_io_size},
    {"number_ios",
     [](FioJob& job, const std::string& text) { job.generator.number_ios = number(job, text, 0, k_any); }},
    {"time_based", [](FioJob& job, const std::string& text) { job.generator.time_based = flag(text); }, true},
    {"loops",
     [](FioJob& job, const std::string& text) { job.generator.loops = number(job, text, 1, 1'000'000); }},
    {"rate_iops", [](FioJob& job, const std::string& text) { job.generator.rate_iops = text; }},
    {"rate", [](FioJob& job, const std::string& text) { job.generator.rate = text; }},
    {"rate_process",
     [](FioJob& job, const std::string& text) {
       if (text != "linear" && text != "poisson") expected("linear or poisson");
       job.generator.rate_process = text;
     }},
    {"thinktime",
     [](FioJob& job, const std::string& text) { job.generator.thinktime = duration(text, k_microsecond); }},
    {"thinktime_blocks",
     [](FioJob& job, const std::string& text) {
       job.generator.thinktime_blocks = static_cast<std::uint32_t>(number(job, text, 1, 1'000'000'000));
     }},
    {"random_distribution",
     [](FioJob& job, const std::string& text) { job.generator.random_distribution = text; }},
    {"norandommap", [](FioJob& job, const std::string& text) { job.generator.norandommap = flag(text); },
     true},
    {"randseed",
     [](FioJob& job, const std::string& text) { job.generator.randseed = number(job, text, 0, k_any); }},
    {"percentage_random",
     [](FioJob& job, const std::string& text) { job.generator.percentage_random = text; }},
    {"fsync",
     [](FioJob& job, const std::string& text) { job.generator.fsync = number(job, text, 0, k_any); }},
    {"fdatasync",
     [](FioJob& job, const std::string& text) { job.generator.fdatasync = number(job, text, 0, k_any); }},
    {"end_fsync", [](FioJob& job, const std::string& text) { job.generator.end_fsync = flag(text); }, true},
    {"sync",
     [](FioJob& job, const std::string& text) {
       const bool none = text == "0" || text == "none";
       if (!none && text != "1" && text != "sync" && text != "dsync") expected("none, sync or dsync");
       job.generator.force_unit_access = !none;
     }},
    {"filesize", [](FioJob& job, const std::string& text) { job.file_size = text; }},
    {"fsync_on_close", [](FioJob& job, const std::string& text) { job.fsync_on_close = flag(text); }, true},
    {"runtime", set_runtime},
    {"timeout", set_runtime},
    {"ramp_time", [](FioJob& job, const std::string& text) { job.run.ramp_time = duration(text, k_second); }},
    {"startdelay",
     [](FioJob& job, const std::string& text) { job.run.startdelay = duration(text, k_second); }},
    {"stonewall", set_stonewall, true},
    {"wait_for_previous", set_stonewall, true},
    {"ioengine", set_ioengine},
    {"create_only", [](FioJob& job, const std::string& text) { job.create_only = flag(text); }, true},
    {"kb_base",
     [](FioJob& job, const std::string& text) {
       if (text != "1000" && text != "1024") expected("1000 or 1024");
       job.units = text == "1000" ? FioUnits::job_1000 : FioUnits::job_1024;
     }},
};

/// Options about the host that runs fio or about its output: they change nothing that reaches the
/// drive.
constexpr const char* k_without_effect[] = {"allow_file_create",
                                            "allow_mounted_write",
                                            "buffer_compress_percentage",
                                            "buffer_pattern",
                                            "buffered",
                                            "bwavgtime",
                                            "clat_percentiles",
                                            "clocksource",
                                            "continue_on_error",
                                            "cpumask",
                                            "cpus_allowed",
                                            "cpus_allowed_policy",
                                            "create_fsync",
                                            "create_on_open",
                                            "create_serialize",
                                            "dedupe_percentage",
                                            "description",
                                            "direct",
                                            "directory",
                                            "disable_bw",
                                            "disable_bw_measurement",
                                            "disable_clat",
                                            "disable_lat",
                                            "disable_slat",
                                            "disk_util",
                                            "fadvise_hint",
                                            "fallocate",
                                            "file_service_type",
                                            "filename",
                                            "filename_format",
                                            "fixedbufs",
                                            "gid",
                                            "group_reporting",
                                            "gtod_cpu",
                                            "gtod_reduce",
                                            "hipri",
                                            "invalidate",
                                            "iomem",
                                            "iopsavgtime",
                                            "lat_percentiles",
                                            "log_avg_msec",
                                            "log_hist_msec",
                                            "log_max_value",
                                            "log_offset",
                                            "max_latency",
                                            "mem",
                                            "name",
                                            "new_group",
                                            "nice",
                                            "nonvectored",
                                            "numa_cpu_nodes",
                                            "numa_mem_policy",
                                            "openfiles",
                                            "overwrite",
                                            "per_job_logs",
                                            "percentile_list",
                                            "pre_read",
                                            "prio",
                                            "prioclass",
                                            "random_generator",
                                            "randrepeat",
                                            "refill_buffers",
                                            "registerfiles",
                                            "scramble_buffers",
                                            "slat_percentiles",
                                            "softrandommap",
                                            "sqthread_poll",
                                            "sqthread_poll_cpu",
                                            "status-interval",
                                            "status_interval",
                                            "thinktime_spin",
                                            "thread",
                                            "uid",
                                            "unified_rw_reporting",
                                            "unit_base",
                                            "unlink",
                                            "userspace_reap",
                                            "write_bw_log",
                                            "write_hist_log",
                                            "write_iops_log",
                                            "write_lat_log",
                                            "zero_buffers"};

/// Options that change nothing with the one value that is fio's default, and of which others are
/// not carried out here.
struct HarmlessAs {
  const char* name;
  const char* value;
};
constexpr HarmlessAs k_harmless_as[] = {
    {"nrfiles", "1"},
    {"exitall", "0"},
    {"offset_align", "0"},
    {"iodepth_batch", "1"},
    {"iodepth_batch_submit", "1"},
    {"iodepth_batch_complete", "1"},
    {"iodepth_batch_complete_min", "1"},
    {"iodepth_batch_complete_max", "1"},
};

/// What is said of an option without effect beside that.
const char* remark(const std::string& option) {
  if (option == "filename") return ": all jobs use the one drive";
  if (option == "max_latency") return ": no job ends because a request was slow";
  return "";
}

class Parser {
 public:
  Parser(LineReader& lines, FioJobFile& result) : lines_(lines), result_(result) {
    // fio's own defaults where they differ from a scenario's
    global_.generator.rw = "read";
    global_.generator.norandommap = false;
  }

  void run() {
    std::string_view raw;
    while (lines_.next(raw)) {
      check_text(raw);
      const std::size_t comment = raw.find_first_of(";#");
      const std::string_view line = trimmed(raw.substr(0, comment));
      if (line.empty()) continue;
      if (line.front() == '[') {
        section(line);
      } else {
        errors_.attempt([&] { option(line); });
        if (errors_.errors().size() >= k_most_errors) break;  // it may be something else than a job file
      }
    }
    errors_.throw_if_any();
    for (FioJob& job : result_.jobs) {
      job.generator.end_fsync |= job.fsync_on_close;
      try {
        job.check_file_size();
      } catch (const InputError& error) {
        errors_.add({lines_.file(), job.line_of("filesize"), error.what()});
      }
      if (job.generator.time_based && job.run.runtime == 0)
        errors_.add({lines_.file(), job.line_of("time_based"), "time_based: needs runtime as well"});
      if (job.generator.time_based && job.generator.number_ios != 0) {
        job.generator.number_ios = 0;  // fio 3.33 does not look at it then
        note_without_effect("number_ios", job.line_of("number_ios"), ": the job is time_based");
      }
    }
    errors_.throw_if_any();
    if (result_.jobs.empty())
      throw InputError(lines_.file(), 0, "holds no job, expected a section [name] beside [global]");
  }

 private:
  /// Names of jobs come into reports and onto the screen.
  void check_text(std::string_view line) const {
    for (const char c : line) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte < 0x20U && c != '\t') || byte == 0x7FU)
        lines_.fail("is not a text file (control character " + in_quotes({&c, 1}) + ")");
    }
  }
  void section(std::string_view line) {
    if (line.back() != ']' || line.size() < 3)
      lines_.fail("section " + quoted_input(line) + " is not closed, expected [name]");
    const std::string name(trimmed(line.substr(1, line.size() - 2)));
    given_.clear();
    if (name == "global") {
      current_ = &global_;
      return;
    }
    if (result_.jobs.size() >= 1024) lines_.fail("there are more than 1024 jobs");
    result_.jobs.push_back(global_);
    current_ = &result_.jobs.back();
    current_->name = name;
    current_->line = lines_.line();
  }
  void option(std::string_view line) {
    const std::size_t equals = line.find('=');
    const std::string name(trimmed(line.substr(0, equals)));
    const std::string value(equals == std::string_view::npos ? std::string_view{}
                                                             : trimmed(line.substr(equals + 1)));
    if (current_ == nullptr)
      lines_.fail("option " + quoted_input(name) + " comes before any section, expected [global] or [name]");
    for (const Option& known : k_options) {
      if (name != known.name) continue;
      if (value.find('$') != std::string::npos)
        lines_.fail("option " + name + ": variables are not supported, expected a value");
      // A flag may stand alone; any other option without a value has been forgotten.
      if (value.empty() && (equals != std::string_view::npos || !known.flag))
        lines_.fail("option " + name + " has no value");
      const Given given{&known, value, lines_.line()};
      set(given);
      current_->lines[name] = given.line;
      // fio reads kb_base before the other options of its section.
      if (name == "kb_base") std::for_each(given_.begin(), given_.end(), [this](const Given& g) { set(g); });
      std::erase_if(given_, [&](const Given& before) { return before.option == &known; });
      given_.push_back(given);
      return;
    }
    for (const char* harmless : k_without_effect) {
      if (name != harmless) continue;
      note_without_effect(name, lines_.line(), remark(name));
      return;
    }
    for (const HarmlessAs& harmless : k_harmless_as) {
      if (name != harmless.name) continue;
      if (value != harmless.value)
        lines_.fail(fmt::format("option {}: {} is not supported, expected {}, or the job without it", name,
                                quoted_input(value), harmless.value));
      note_without_effect(name, lines_.line(), remark(name));
      return;
    }
    std::vector<std::string> names;
    for (const Option& known : k_options) names.emplace_back(known.name);
    lines_.fail("option " + quoted_input(name) + " is not supported" + did_you_mean(name, names));
  }

  void note_without_effect(const std::string& name, std::uint64_t line, std::string_view why) {
    result_.warnings.push_back(fmt::format("{}:{}: option {} has no effect here{}",
                                           name_in_reports(lines_.file()), line, name, why));
  }

  struct Given {
    const Option* option;
    std::string value;
    std::uint64_t line;
  };
  void set(const Given& given) {
    try {
      given.option->set(*current_, given.value);
    } catch (const std::invalid_argument& error) {
      throw InputError(lines_.file(), given.line,
                       fmt::format("option {}: {} is not understood, {}", given.option->name,
                                   quoted_input(given.value), error.what()));
    }
  }

  static constexpr std::size_t k_most_errors = 32;

  LineReader& lines_;
  FioJobFile& result_;
  ErrorList errors_;  ///< of options, which say nothing of each other
  FioJob global_;
  FioJob* current_ = nullptr;
  std::vector<Given> given_;  ///< so far in the current section, the last of each option
};

FioJobFile parse(LineReader& lines) {
  FioJobFile result;
  result.file = lines.file();
  Parser(lines, result).run();
  return result;
}

}  // namespace

bool FioJob::synchronous() const {
  const Engine* const engine = find_engine(ioengine);
  return engine != nullptr && engine->synchronous;
}

void FioJob::check_runs() const {
  if (create_only)
    throw InputError(
        "create_only: fio lays out files and runs nothing, expected 0, or another job (job: NAME)");
  const Engine* const engine = find_engine(ioengine);
  if (engine != nullptr && engine->instead != nullptr)
    throw InputError(
        fmt::format("ioengine: {} {}, expected one {}", ioengine, engine->instead, k_usual_engines));
}

void FioJob::check_file_size() const {
  if (file_size.empty()) return;
  const auto file = fio_size(file_size, units);
  if (!file) refuse_option("filesize", file_size, "a size (1g)");
  const auto size = fio_size(generator.size, units);
  if (!size || *size > *file)
    throw InputError(
        "filesize: has no effect here, where the drive is what is used; expected a size that is given, and "
        "is no larger");
}

bool is_fio_option(std::string_view name) {
  return std::any_of(std::begin(k_options), std::end(k_options),
                     [&](const Option& option) { return name == option.name; });
}

FioJobFile read_fio_jobs(const std::string& path) {
  LineReader lines(path);
  return parse(lines);
}

FioJobFile parse_fio_jobs(const std::string& name, std::string_view text) {
  LineReader lines(name, text);
  return parse(lines);
}

}  // namespace tlmssd
