// The words of a load's section.
#include "testbench/loads/config/load_config.h"

#include <charconv>

#include "models/base/input_error.h"
#include "models/base/suggest.h"
#include "testbench/loads/profiles/profiles.h"
#include "testbench/loads/requests/request_family.h"
#include "testbench/loads/text/fields.h"
#include "testbench/loads/traces/trace_format.h"

namespace tlmssd {

namespace {

constexpr double k_long = 0x1p62;       // an end of a range that means "no limit but the type's"
constexpr double k_long_time = 4.6e18;  // the same in picoseconds: 53 days

std::vector<std::string> format_names() {
  std::vector<std::string> names = {"auto"};
  for (const TraceFormatInfo& info : trace_formats()) names.emplace_back(info.name);
  return names;
}

}  // namespace

const ParameterTable<LoadKindConfig>& LoadKindConfig::parameters() {
  static const auto table =
      ParameterTable<LoadKindConfig>{}
          .text("name", &LoadKindConfig::name,
                "name of the load in reports; empty: the file's name, or \"load\"")
          .text("trace", &LoadKindConfig::trace,
                "trace file to replay, plain or compressed (gzip, bzip2, xz, zstd)")
          .filled()
          .choice("profile", &LoadKindConfig::profile, volume_names(),
                  "volume whose published statistics the requests are made from; tlmssd profile shows them")
          .optional()
          .text("fio", &LoadKindConfig::fio, "fio job file to run")
          .filled()
          .integer("queue", &LoadKindConfig::queue, {-1, 65535},
                   "host queue that the load uses, one of ssd.host.queues, numbered from 0; -1 gives every "
                   "load the "
                   "next queue in turn, and begins again behind the last")
          .flag("stonewall", &LoadKindConfig::stonewall,
                "the load, and those listed after it, begin when all listed before it have ended; startdelay "
                "counts from there (idle time)")
          .one_or_zero()
          .text(
              "warm_up", &LoadKindConfig::warm_up,
              "requests at the load's beginning (20000), or their share of all (30 %), to carry out without "
              "simulated time before the run; measured is what follows")
          .filled()
          .choice("target", &LoadKindConfig::target, {"drive", "files"},
                  "what the load's addresses are: the drive's, or those of the network's files one after "
                  "another (needs file_cache; reads only, each within one file)")
          .text(
              "stream", &LoadKindConfig::stream,
              "placement handle of the load's writes, from 0 on (needs firmware.streams): a number; volume, "
              "the number of the trace's volume in order of appearance; or ranges of the drive with their "
              "handles (0-512m:1,512m-100%:2; elsewhere 0)")
          .filled();
  return table;
}

const ParameterTable<FioFileConfig>& FioFileConfig::parameters() {
  static const auto table = ParameterTable<FioFileConfig>{}.text(
      "job", &FioFileConfig::job, "the one job of the file to run; empty runs all of them");
  return table;
}

const ParameterTable<RunConfig>& RunConfig::parameters() {
  static const auto table =
      ParameterTable<RunConfig>{}
          .time("startdelay", &RunConfig::startdelay, {0, k_long_time}, "wait before the first request")
          .usually_in("s")
          .time("runtime", &RunConfig::runtime, {0, k_long_time},
                "stop issuing requests after this time; 0 runs to the load's end")
          .usually_in("s")
          .time("ramp_time", &RunConfig::ramp_time, {0, k_long_time},
                "time at the beginning that is run but not measured")
          .usually_in("s")
          .integer("ramp_requests", &RunConfig::ramp_requests, {0, std::uint64_t{1} << 50U},
                   "requests at the beginning that are run but not measured; with several loads, measurement "
                   "begins when "
                   "each has completed as many as it says");
  return table;
}

const ParameterTable<PacingConfig>& PacingConfig::parameters() {
  static const auto table =
      ParameterTable<PacingConfig>{}.choice("pacing", &PacingConfig::pacing, {"closed-loop", "open-loop"},
                                            "closed-loop keeps queue_depth requests outstanding and ignores "
                                            "time stamps; open-loop issues each request at its time stamp");
  return table;
}

const ParameterTable<ClosedLoopConfig>& ClosedLoopConfig::parameters() {
  static const auto table = ParameterTable<ClosedLoopConfig>{}.integer(
      "queue_depth", &ClosedLoopConfig::queue_depth, {1, 65536}, "requests that the load keeps outstanding");
  return table;
}

const ParameterTable<OpenLoopConfig>& OpenLoopConfig::parameters() {
  static const auto table =
      ParameterTable<OpenLoopConfig>{}
          .real("time_scale", &OpenLoopConfig::time_scale, {0.000001, 1000000},
                "factor on the times between requests: 0.5 replays twice as fast as recorded")
          .time("longest_gap", &OpenLoopConfig::longest_gap, {0, k_long_time},
                "longer pauses between requests, after time_scale, are cut to this (1 s); 0 leaves them as "
                "recorded")
          .usually_in("s")
          .integer("max_outstanding", &OpenLoopConfig::max_outstanding, {0, 65536},
                   "most requests outstanding at once, further ones wait their turn; 0 means no limit");
  return table;
}

const ParameterTable<LimitConfig>& LimitConfig::parameters() {
  static const auto table =
      ParameterTable<LimitConfig>{}
          .integer("skip", &LimitConfig::skip, {0, k_long},
                   "requests of the trace (of its volume, where one is chosen) to pass over at its "
                   "beginning")
          .integer("requests", &LimitConfig::requests, {0, k_long},
                   "requests of the trace (of its volume, where one is chosen) to replay behind "
                   "those that skip passes over; 0 means all")
          .integer("repeat", &LimitConfig::repeat, {1, 1000000},
                   "how many times to replay the trace, one after another");
  return table;
}

const ParameterTable<ProfileConfig>& ProfileConfig::parameters() {
  static const auto table =
      ParameterTable<ProfileConfig>{}
          .real("scale", &ProfileConfig::scale, {0.000001, 1},
                "share of the published footprint and of the published number of requests; accesses per byte "
                "of the footprint stay as published")
          .integer("requests", &ProfileConfig::requests, {0, k_long},
                   "requests to make at most; 0 makes the published number times scale")
          .text("traces_folder", &ProfileConfig::traces_folder,
                "folder with the recorded volume as NAME.csv, .csv.gz, .csv.zst or .csv.xz (MSR format, as "
                "from SNIA), to be replayed instead; scale then has no effect")
          .optional()
          .filled()
          .choice("addresses", &ProfileConfig::addresses, {"refuse", "wrap", "scale"},
                  "what happens when the footprint is larger than the drive: refuse stops, wrap takes "
                  "addresses modulo the region's size, scale squeezes them proportionally")
          .bytes("region_offset", &ProfileConfig::region_offset, {0, k_long},
                 "where on the drive the part that the load uses begins")
          .bytes("region_size", &ProfileConfig::region_size, {0, k_long},
                 "size of that part; 0 means to the end of the drive");
  return table;
}

const ParameterTable<TraceConfig>& TraceConfig::parameters() {
  static const auto table = ParameterTable<TraceConfig>{}
                                .choice("format", &TraceConfig::format, format_names(),
                                        "layout of the trace file; auto recognises all but csv by their "
                                        "first lines, csv needs the section columns")
                                .choice("zero_size", &TraceConfig::zero_size, {"refuse", "skip"},
                                        "what happens to a read, write or trim of no bytes: refuse stops "
                                        "with the line's number, skip passes over it and counts")
                                .time("max_disorder", &TraceConfig::max_disorder, {0, k_long_time},
                                      "how far a time stamp may lie before the one above it: up to this it "
                                      "is raised to it and counted (biosnoop and csv: requests are put in "
                                      "order of their times), beyond it "
                                      "the trace is refused as unsorted (in open loop; in closed loop it is "
                                      "raised, however far)");
  return table;
}

const ParameterTable<BlkparseConfig>& BlkparseConfig::parameters() {
  static const auto table = ParameterTable<BlkparseConfig>{}.choice(
      "action", &BlkparseConfig::action, {"Q", "D", "C"},
      "which lines of a blkparse text are requests: Q as queued, D as issued to the device, C as completed");
  return table;
}

const ParameterTable<ColumnsConfig>& ColumnsConfig::parameters() {
  static const auto table =
      ParameterTable<ColumnsConfig>{}
          .integer("time", &ColumnsConfig::time, {0, 1000},
                   "column of the time stamp, counted from 1; 0: there is none")
          .integer("op", &ColumnsConfig::op, {1, 1000}, "column of the operation")
          .integer("offset", &ColumnsConfig::offset, {1, 1000}, "column of the start address")
          .integer("size", &ColumnsConfig::size, {1, 1000}, "column of the length")
          .integer("device", &ColumnsConfig::device, {0, 1000},
                   "column of the volume's name; 0: there is only one")
          .choice("time_unit", &ColumnsConfig::time_unit, {"s", "ms", "us", "100ns", "ns", "ps"},
                  "unit of the time stamps")
          .bytes("offset_unit", &ColumnsConfig::offset_unit, {1, 0x1p30},
                 "bytes per unit of the start address (512 B for sectors)")
          .bytes("size_unit", &ColumnsConfig::size_unit, {1, 0x1p30},
                 "bytes per unit of the length (512 B for sectors)")
          .text("read", &ColumnsConfig::read, "words for a read, separated by commas; empty: none")
          .text("write", &ColumnsConfig::write, "words for a write, separated by commas; empty: none")
          .text("trim", &ColumnsConfig::trim, "words for a trim, separated by commas; empty: none")
          .text("flush", &ColumnsConfig::flush, "words for a flush, separated by commas; empty: none")
          .choice("separator", &ColumnsConfig::separator, {"comma", "semicolon", "tab", "blank"},
                  "what separates columns; blank stands for any run of blanks and tabs")
          .integer("header_lines", &ColumnsConfig::header_lines, {0, 1000},
                   "lines to pass over at the beginning (a row of titles in them, or behind them, is "
                   "recognised by itself)");
  return table;
}

const ParameterTable<GeneratorConfig>& GeneratorConfig::parameters() {
  using G = GeneratorConfig;
  static const auto table =
      ParameterTable<G>{}
          .choice("rw", &G::rw,
                  {"read", "write", "trim", "randread", "randwrite", "randtrim", "rw", "readwrite", "randrw",
                   "trimwrite", "randtrimwrite"},
                  "pattern, as in fio")
          .integer("rwmixread", &G::rwmixread, {0, 100}, "per cent of reads in rw and randrw")
          .integer("rwmixwrite", &G::rwmixwrite, {-1, 100},
                   "per cent of writes, instead of rwmixread; -1: not given")
          .text("bs", &G::bs, "request size, or sizes for read,write,trim (4k or 4k,8k,64k)")
          .filled()
          .text("bsrange", &G::bsrange,
                "lowest and highest request size (4k-64k), drawn evenly over the multiples of the lowest")
          .filled()
          .optional()
          .text("bssplit", &G::bssplit,
                "request sizes with their shares in per cent (4k/60:64k/40), per direction after commas")
          .filled()
          .optional()
          .text("blockalign", &G::blockalign,
                "what random positions are multiples of; by default the smallest request size")
          .filled()
          .optional()
          .integer("iodepth", &G::iodepth, {1, 65536}, "requests that each job keeps outstanding")
          .integer("numjobs", &G::numjobs, {1, 1024},
                   "number of such jobs, each with a random stream and a queue of its own")
          .text("offset", &G::offset, "where on the drive the job's region begins (1g or 10%)")
          .filled()
          .text("offset_increment", &G::offset_increment, "added to offset for every further job of numjobs")
          .filled()
          .text("size", &G::size,
                "size of the region, and bytes to do unless io_size says otherwise (1g or 50%; 1gb is a "
                "thousand million, as everywhere but in job files)")
          .filled()
          .text("io_size", &G::io_size,
                "bytes to read, write and trim in all, or a share of size (50%), of trimwrite to trim and as "
                "many to write; by default size")
          .filled()
          .optional()
          .integer("number_ios", &G::number_ios, {0, k_long},
                   "requests to do at most, of trimwrite trims and as many writes; 0 means no such limit")
          .flag("time_based", &G::time_based, "go on until runtime has passed, however much is done")
          .one_or_zero()
          .integer("loops", &G::loops, {1, 1000000}, "how many times to do the whole amount")
          .text("rate_iops", &G::rate_iops,
                "requests per second (1000, or 10k: 10240), or for read,write,trim; issued at even times")
          .filled()
          .optional()
          .text("rate", &G::rate, "bytes per second (100m), or for read,write,trim; not with rate_iops")
          .filled()
          .optional()
          .choice("rate_process", &G::rate_process, {"linear", "poisson"},
                  "how requests of a limited rate are spread: evenly or with exponential gaps")
          .time("thinktime", &G::thinktime, {0, k_long_time},
                "pause when thinktime_blocks requests have completed and none is outstanding any more")
          .usually_in("us")
          .integer("thinktime_blocks", &G::thinktime_blocks, {1, 1000000000},
                   "requests between pauses, at least; up to iodepth - 1 others are under way by then")
          .text("random_distribution", &G::random_distribution,
                "where random requests go: random, zipf:theta, pareto:h, normal:deviation or "
                "zoned:access/size:..., or lives: of the files of file_cache.apps each is read whole, from "
                "when its "
                "app fetches it until it deletes it, whatever bs says")
          .filled()
          .integer("hot_set", &G::hot_set, {0, 1000000000},
                   "number of the places that zipf, pareto and normal prefer: loads of one number, size and "
                   "block size, "
                   "and overwriting before them, prefer the same ones, with every seed; 0: each its own")
          .flag("norandommap", &G::norandommap,
                "random positions may repeat; false touches every position once before any a second time")
          .one_or_zero()
          .integer("randseed", &G::randseed, {0, k_long},
                   "seed of the job's random streams; 0 takes the scenario's")
          .text("percentage_random", &G::percentage_random,
                "per cent of random requests in a random pattern, per direction after commas")
          .filled()
          .integer("fsync", &G::fsync, {0, k_long}, "a flush after so many writes; 0 means none")
          .flag("end_fsync", &G::end_fsync,
                "a flush when all that the load asked for has completed, after its runtime, too")
          .one_or_zero();
  return table;
}

bool GeneratorConfig::asks_for_mix() const {
  return rw == "rw" || rw == "readwrite" || rw == "randrw";
}

bool GeneratorConfig::writes() const {
  return asks_for_mix() ? read_percent() < 100 : rw.ends_with("write");
}

WarmUp parse_warm_up(const std::string& text) {
  const std::string_view all = trimmed(text);
  const bool percent = all.ends_with('%');
  const std::string_view digits = percent ? trimmed(all.substr(0, all.size() - 1)) : all;
  const char* const end = digits.data() + digits.size();
  WarmUp result;
  const auto read = [&](auto& value) {
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc{} && stop == end;
  };
  const bool good =
      percent ? read(result.share) && result.share >= 0 && result.share < 100 : read(result.requests);
  if (!good) {
    throw InputError(
        "warm_up: " + in_quotes(text) +
        " is not understood, expected a number of requests (20000) or a share below 100 % (30 %)");
  }
  result.share /= 100;
  return result;
}

namespace {

void read_pacing(LoadConfig& config, const ParameterValues& load) {
  config.pacing = PacingConfig::parameters().read(load);
  if (config.pacing.is_open()) {
    config.open = OpenLoopConfig::parameters().read(load);
  } else {
    config.closed = ClosedLoopConfig::parameters().read(load);
  }
}

void read_trace(LoadConfig& config, const ParameterValues& load, const ParameterValues* columns) {
  config.trace = TraceConfig::parameters().read(load);
  if (config.trace.format == "csv") {
    if (columns == nullptr)
      throw InputError("format: csv needs the section columns, which says what the columns mean");
    config.columns = ColumnsConfig::parameters().read(*columns);
  }
  if (config.trace.format == "blkparse" || config.trace.format == "auto") {
    config.blkparse = BlkparseConfig::parameters().read(load);
  }
  config.placement = PlacementConfig::parameters().read(load);
  config.limits = LimitConfig::parameters().read(load);
  read_pacing(config, load);
}

void check_one_kind(const LoadKindConfig& kind) {
  const std::pair<const char*, bool> given[] = {{"trace", !kind.trace.empty()},
                                                {"profile", !kind.profile.empty()},
                                                {"fio", !kind.fio.empty()},
                                                {"source", !kind.source.empty()}};
  std::string first;
  for (const auto& [name, is_given] : given) {
    if (!is_given) continue;
    if (!first.empty())
      throw InputError(std::string(name) + ": cannot be given together with " + first +
                       ", expected two loads");
    first = name;
  }
}

}  // namespace

LoadConfig LoadConfig::read(const ParameterValues& load, const ParameterValues* columns) {
  LoadConfig config;
  config.kind = LoadKindConfig::parameters().read(load);
  if (const Value* const source = load.find("source")) config.kind.source = std::get<std::string>(*source);
  check_one_kind(config.kind);
  if (!config.kind.fio.empty()) {
    config.fio = FioFileConfig::parameters().read(load);
    return config;
  }
  config.run = RunConfig::parameters().read(load);
  if (!config.kind.trace.empty()) {
    read_trace(config, load, columns);
  } else if (!config.kind.profile.empty()) {
    config.profile = ProfileConfig::parameters().read(load);
    config.closed = ClosedLoopConfig::parameters().read(load);
  } else if (!config.kind.source.empty()) {
    config.source = borrowed(load);
    read_pacing(config, load);
  } else {
    config.generator = GeneratorConfig::parameters().read(load);
  }
  return config;
}

std::vector<LoadKeys> load_keys() {
  const std::vector<std::string> trace = {"trace"};
  std::vector<std::string> paced = trace;
  std::vector<std::string> closed = {"trace", "profile"};
  std::vector<std::string> run = {"trace", "profile", ""};
  // Without a plug-in there is no such kind of load.
  if (!request_sources().infos().empty()) {
    for (auto* const kinds : {&paced, &closed, &run}) kinds->emplace_back("source");
  }
  return {
      {LoadKindConfig::parameters().specs(), {}},         {TraceConfig::parameters().specs(), trace},
      {BlkparseConfig::parameters().specs(), trace},      {PlacementConfig::parameters().specs(), trace},
      {PacingConfig::parameters().specs(), paced},        {ClosedLoopConfig::parameters().specs(), closed},
      {OpenLoopConfig::parameters().specs(), paced},      {LimitConfig::parameters().specs(), trace},
      {ProfileConfig::parameters().specs(), {"profile"}}, {FioFileConfig::parameters().specs(), {"fio"}},
      {GeneratorConfig::parameters().specs(), {""}},      {RunConfig::parameters().specs(), run},
  };
}

}  // namespace tlmssd
