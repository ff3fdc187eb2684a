// The test catalogue and its files.
#include "test_catalogue.h"

namespace tlmssd::test {
namespace {

using namespace tlmssd::literals;

struct HostConfig {
  std::string protocol = "nvme";
  std::uint32_t queues = 4;
  std::uint32_t queue_depth = 64;
  std::vector<std::int64_t> weights = {1, 1};
  static const ParameterTable<HostConfig>& parameters() {
    static const auto table =
        ParameterTable<HostConfig>{}
            .choice("protocol", &HostConfig::protocol, {"nvme", "sata"}, "what the host speaks")
            .integer("queues", &HostConfig::queues, {1, 65535}, "submission queues")
            .integer("queue_depth", &HostConfig::queue_depth, {1, 65536}, "entries per queue")
            .integers("weights", &HostConfig::weights, {1, 255}, "of weighted arbitration");
    return table;
  }
};

struct CpuConfig {
  std::uint32_t cores = 2;
  Hertz clock = 500_MHz;
  static const ParameterTable<CpuConfig>& parameters() {
    static const auto table =
        ParameterTable<CpuConfig>{}
            .integer("cores", &CpuConfig::cores, {1, 64}, "number of cores")
            .frequency("clock", &CpuConfig::clock, {1'000'000, 10'000'000'000}, "of every core");
    return table;
  }
};

struct DramConfig {
  Bytes capacity = 64_MiB;
  BytesPerSecond bandwidth = 3'200'000'000;
  Picoseconds latency = 50_ns;
  bool ecc = false;
  static const ParameterTable<DramConfig>& parameters() {
    static const auto table =
        ParameterTable<DramConfig>{}
            .bytes("capacity", &DramConfig::capacity, {1_KiB, 1_TiB}, "size of the memory")
            .bandwidth("bandwidth", &DramConfig::bandwidth, {1'000'000, 1'000'000'000'000}, "of its port")
            .time("latency", &DramConfig::latency, {0, 1_ms}, "from request to first byte")
            .flag("ecc", &DramConfig::ecc, "whether it corrects errors");
    return table;
  }
};

struct FlashConfig {
  std::uint32_t channels = 4;
  std::uint32_t dies_per_channel = 2;
  BytesPerSecond bus = 400_MBps;
  double over_provisioning = 0.25;
  static const ParameterTable<FlashConfig>& parameters() {
    static const auto table =
        ParameterTable<FlashConfig>{}
            .integer("channels", &FlashConfig::channels, {1, 256}, "number of channels")
            .integer("dies_per_channel", &FlashConfig::dies_per_channel, {1, 64}, "dies that share a channel")
            .bandwidth("bus", &FlashConfig::bus, {1'000'000, 100'000'000'000}, "of one channel")
            .share("over_provisioning", &FlashConfig::over_provisioning, {0, 4},
                   "physical over logical capacity, less one");
    return table;
  }
};

struct PartConfig {
  std::string name;
  Bytes page = 16_KiB;
  std::uint32_t blocks = 1024;
  Picoseconds sense = 50_us;
  std::vector<std::int64_t> program = {500'000'000};
  static const ParameterTable<PartConfig>& parameters() {
    static const auto table = ParameterTable<PartConfig>{}
                                  .text("name", &PartConfig::name, "of the part")
                                  .required()
                                  .bytes("page", &PartConfig::page, {512, 1_MiB}, "size of a page")
                                  .integer("blocks", &PartConfig::blocks, {4, 1'000'000}, "per plane")
                                  .time("sense", &PartConfig::sense, {1, 1_s}, "array to register")
                                  .times("program", &PartConfig::program, {1, 1_s}, "per page type");
    return table;
  }
};

struct WearConfig {
  double shape = 2.5;
  double retention = 31'536'000;
  double temperature = 40;
  static const ParameterTable<WearConfig>& parameters() {
    static const auto table =
        ParameterTable<WearConfig>{}
            .real("shape", &WearConfig::shape, {0.1, 100}, "of the Weibull distribution")
            .duration("retention", &WearConfig::retention, {0, 315'360'000}, "how long data lie unread")
            .temperature("temperature", &WearConfig::temperature, {-40, 125}, "while they lie");
    return table;
  }
};

struct GcConfig {
  double start_below = 0.02;
  static const ParameterTable<GcConfig>& parameters() {
    static const auto table = ParameterTable<GcConfig>{}.share("start_below", &GcConfig::start_below, {0, 1},
                                                               "share of free blocks that starts it");
    return table;
  }
};
struct ChoicesConfig {
  std::uint32_t d = 8;
  static const ParameterTable<ChoicesConfig>& parameters() {
    static const auto table =
        ParameterTable<ChoicesConfig>{}.integer("d", &ChoicesConfig::d, {1, 1024}, "blocks drawn at random");
    return table;
  }
};
struct WindowedConfig {
  std::uint32_t window = 32;
  static const ParameterTable<WindowedConfig>& parameters() {
    static const auto table = ParameterTable<WindowedConfig>{}.integer(
        "window", &WindowedConfig::window, {1, 1 << 20}, "oldest blocks looked at");
    return table;
  }
};

struct PreconditionConfig {
  double fill = 0;
  std::string order = "sequential";
  static const ParameterTable<PreconditionConfig>& parameters() {
    static const auto table =
        ParameterTable<PreconditionConfig>{}
            .share("fill", &PreconditionConfig::fill, {0, 1}, "share of the drive that is written once")
            .choice("order", &PreconditionConfig::order, {"sequential", "random"}, "of the addresses");
    return table;
  }
};

struct LoadKindConfig {
  std::string trace;
  std::string fio;
  std::uint32_t queue_depth = 32;
  static const ParameterTable<LoadKindConfig>& parameters() {
    static const auto table =
        ParameterTable<LoadKindConfig>{}
            .text("trace", &LoadKindConfig::trace, "a trace file to replay")
            .text("fio", &LoadKindConfig::fio, "a fio job file")
            .integer("queue_depth", &LoadKindConfig::queue_depth, {1, 65536}, "requests kept outstanding");
    return table;
  }
};
struct TraceConfig {
  std::string format = "auto";
  static const ParameterTable<TraceConfig>& parameters() {
    static const auto table = ParameterTable<TraceConfig>{}.choice("format", &TraceConfig::format,
                                                                   {"auto", "msr", "csv"}, "of the trace");
    return table;
  }
};
struct GeneratorConfig {
  std::string rw;
  Bytes bs = 4_KiB;
  Bytes size = 0;
  static const ParameterTable<GeneratorConfig>& parameters() {
    static const auto table =
        ParameterTable<GeneratorConfig>{}
            .choice("rw", &GeneratorConfig::rw, {"read", "write", "randread", "randwrite"}, "pattern")
            .required()
            .bytes("bs", &GeneratorConfig::bs, {512, 1_GiB}, "request size")
            .bytes("size", &GeneratorConfig::size, {0, 1'000'000_GiB}, "of the region");
    return table;
  }
};
struct OpenConfig {
  double time_scale = 1;
  static const ParameterTable<OpenConfig>& parameters() {
    static const auto table = ParameterTable<OpenConfig>{}.real("time_scale", &OpenConfig::time_scale,
                                                                {1e-6, 1e6}, "factor on time stamps");
    return table;
  }
};
struct ColumnsConfig {
  std::uint32_t offset = 0;
  static const ParameterTable<ColumnsConfig>& parameters() {
    static const auto table = ParameterTable<ColumnsConfig>{}.integer("offset", &ColumnsConfig::offset,
                                                                      {0, 100}, "column of the address");
    return table;
  }
};

std::vector<ParameterSpec> scm_parameters() {
  ParameterSpec capacity;
  capacity.name = "capacity";
  capacity.kind = Kind::bytes_or_share;
  capacity.required = true;
  capacity.minimum = 4096;
  capacity.maximum = 1e15;
  capacity.doc = "size, or share of the flash";
  ParameterSpec endurance;
  endurance.name = "endurance";
  endurance.kind = Kind::integer;
  endurance.optional = true;
  endurance.maximum = 1e12;
  endurance.doc = "writes per line; without it the memory does not wear";
  return {capacity, endurance};
}

Catalogue make_catalogue() {
  Catalogue catalogue;
  catalogue.section("ssd", "the drive");
  catalogue.section("ssd.host", "host interface", HostConfig::parameters());
  catalogue.section("ssd.cpu", "controller cores", CpuConfig::parameters());
  catalogue.section("ssd.dram", "memory beside the controller", DramConfig::parameters());
  catalogue.section("ssd.scm", "storage-class memory", scm_parameters()).optional();
  catalogue.section("ssd.flash", "the flash array", FlashConfig::parameters());
  catalogue.file("ssd.flash.part", "data sheet of the dies", PartConfig::parameters()).required();
  catalogue.section("ssd.flash.part.wear", "how it wears", WearConfig::parameters());
  catalogue.section("firmware.gc", "garbage collection", GcConfig::parameters())
      .policy("policy",
              {{"greedy", "fewest valid units", {}},
               {"d-choices", "fewest valid units of d drawn at random", ChoicesConfig::parameters().specs()},
               {"windowed", "greedy among the oldest", WindowedConfig::parameters().specs()}},
              "greedy", "how a victim is chosen");
  catalogue.list("precondition", "before the load", PreconditionConfig::parameters());
  catalogue.list("load", "what the host asks", LoadKindConfig::parameters(), 1)
      .variant("trace", "replays a recorded trace")
      .variant("fio", "runs a fio job file")
      .variant("", "a generator")
      .keys(TraceConfig::parameters(), {"trace"})
      .policy("pacing",
              {{"closed-loop", "keeps requests outstanding", {}},
               {"open-loop", "follows the time stamps", OpenConfig::parameters().specs()}},
              "closed-loop", "when requests are issued", {"trace"})
      .keys(GeneratorConfig::parameters(), {""});
  catalogue.section("load.columns", "columns of a csv trace", ColumnsConfig::parameters()).optional();
  catalogue.check();
  return catalogue;
}

}  // namespace

const Catalogue& test_catalogue() {
  static const Catalogue catalogue = make_catalogue();
  return catalogue;
}

const char* const k_example = R"(title: hybrid SSD under a write-heavy server load
seed: 7
ssd:
  host:  {protocol: nvme, queues: 4, queue_depth: 64, weights: [1, 2, 3]}
  cpu:   {cores: 2, clock: 500 MHz}
  dram:  {capacity: 64 MiB, bandwidth: 3.2 GB/s, latency: 50 ns}
  scm:   {capacity: 10 %}
  flash: {channels: 4, dies_per_channel: 2, bus: 400 MB/s, part: parts/nand/tlc.yaml, over_provisioning: 25 %}
firmware:
  gc: {policy: d-choices, d: 10}
precondition: [{fill: 90 %, order: sequential}, {fill: 0.5x, order: random}]
load: {trace: prxy_0.csv, format: msr, pacing: open-loop, time_scale: 0.5, queue_depth: 32}
)";

ReadOptions test_options() {
  ReadOptions options;
  options.folders = {"scenarios"};
  options.open = [](const std::string& path) -> std::optional<std::string> {
    static const std::map<std::string, std::string> k_files = {
        {"parts/nand/tlc.yaml",
         "name: 3d-tlc\npage: 16 KiB\nsense: 60 us\nprogram: [0.5 ms, 1.2 ms, 2.3 ms]\nwear: {shape: 3}\n"},
        {"scenarios/parts/slc.yaml", "name: slc\nblocks: 2048\n"},
        {"parts/unit.yaml", "name: bad\n\nsense: 60\n"},
        {"parts/key.yaml", "name: bad\npage: 16 KiB\nsence: 60 us\n"},
        {"parts/empty.yaml", ""},
        {"parts/list.yaml", "[1, 2]"},
        {"parts/syntax.yaml", "name: [\n"},
        {"parts/loop.yaml", "file: loop.yaml\n"},
        {"parts/small.yaml", "file: nand/tlc.yaml\nblocks: 16\n"},
        {"parts/nameless.yaml", "blocks: 16\n"},
    };
    const auto found = k_files.find(path);
    if (found == k_files.end()) return std::nullopt;
    return found->second;
  };
  return options;
}

Scenario read(const std::string& text, const std::vector<std::string>& overrides) {
  return parse_scenario(text, "s.yaml", test_catalogue(), overrides, test_options());
}

}  // namespace tlmssd::test
