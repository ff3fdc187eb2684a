// Model check of the whole drive: many small drives of every kind under overlapping random
// commands.
//
// Each drive is drawn from its number: odd geometries, program units, mapping pages, policies,
// link, gangs, suspend, cached operations; half of them have wear, age, wrong bits and decoders
// that hardly bear them. Three things watch and stop the run by themselves: the scoreboard compares
// every block read with what it may hold, the measurement wants every ledger to add up to its
// latency, and the dies refuse what silicon refuses. On top, a drive that is saved and restored in
// between must go on exactly as one that is not. A failure is repeated by running the one test
// case.
#include <systemc>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <sstream>

#include "firmware/base/allocation_order.h"
#include "firmware/blocks/wear_policy.h"
#include "firmware/cache/cache_policy.h"
#include "firmware/ecc/ecc_policy.h"
#include "firmware/mapping/mapping.h"
#include "firmware/pslc/data_path.h"
#include "firmware/victims/victim_policy.h"
#include "models/base/memory_archive.h"
#include "models/flash/scheduling/scheduler.h"
#include "testbench/tests/drive/mixed_load.h"
#include "testbench/tests/support/given.h"

namespace tlmssd::drive_tests {
namespace {

template <class Family>
std::string any_of(const Family& family, RandomStream& random) {
  const auto infos = family.infos();
  return infos[random.below(infos.size())].name;
}

void draw_flash(SsdConfig& config, RandomStream& random) {
  const auto small = [&](std::uint32_t from, std::uint32_t to) {
    return static_cast<std::uint32_t>(from + random.below(to - from + 1));
  };
  config.flash.channels = small(1, 3);
  config.flash.ways = small(1, 3);
  config.flash.dies_per_way = small(1, 2);
  config.flash.bus = 100'000'000 * small(1, 12);
  config.flash.cache_operations = random.below(2) == 0;
  config.scheduling = any_of(schedulers(), random);
  // Suspending needs a policy that lets reads overtake.
  config.flash.suspend = config.scheduling == "read-first" || config.scheduling == "write-drain"
                             ? pick<const char*>(random, {"none", "program", "erase", "both"})
                             : "none";
  NandPart& part = config.part;
  part.cell = pick<const char*>(random, {"slc", "mlc", "tlc", "qlc"});
  part.planes = small(1, 4);
  part.program_unit = pick<const char*>(random, {"page", "word-line", "block"});
  part.pages_per_block = part.bits() * small(2, 7);
  part.blocks_per_plane = small(14, 30);
  part.page_size = pick<Bytes>(random, {4096, 8192, 16384, 12288});
  part.spare_size = pick<Bytes>(random, {0, 448, 1872});
  part.read_latency = {static_cast<std::int64_t>(small(5, 90) * 1_us)};
  part.program_latency.clear();
  for (std::uint32_t b = 0; b < part.bits(); ++b)
    part.program_latency.push_back(static_cast<std::int64_t>(small(100, 900) * 1_us + b));
  part.erase_latency = small(1, 4) * 1_ms;
  part.program_suspend_latency = small(5, 50) * 1_us;
  part.erase_suspend_latency = small(5, 100) * 1_us;
}

void draw_host(SsdConfig& config, RandomStream& random) {
  const bool sata = random.below(4) == 0;
  config.host.protocol = sata ? "sata" : "nvme";
  config.host.link = sata ? "sata6" : pick<const char*>(random, {"pcie3x4", "pcie1x1", "pcie6x16"});
  config.host.queues = static_cast<std::uint32_t>(1 + random.below(4));
  config.host.queue_depth = static_cast<std::uint32_t>(4 + random.below(64));
  config.host.coalesce_count = pick<std::uint32_t>(random, {1, 1, 4});
  config.host.max_transfer = 256_KiB;
  config.cpu.cores = static_cast<std::uint32_t>(1 + random.below(4));
  config.dram.capacity = 32_MiB;
  config.dram.bandwidth = pick<Bytes>(random, {100'000'000, 3'200'000'000});
  if (random.below(3) == 0) config.scm = ScmConfig{};  // without use
}

/// Channels on their own, or all of them in one or more gangs.
void draw_organisation(FlashConfig& flash, RandomStream& random) {
  flash.organisation = pick<const char*>(random, {"channels", "shared-bus-gang", "shared-control-gang"});
  flash.gang = flash.channels % 2 == 0 && random.below(2) == 0 ? 2 : flash.channels;
}

/// No cache, one in SCM or one in DRAM, of about a tenth of the flash.
void draw_cache(SsdConfig& config, RandomStream& random) {
  const std::uint64_t kind = random.below(3);
  const Bytes size =
      std::max<Bytes>(config.geometry().bytes() / 10, 3 * config.firmware.buffer.capacity) / 64_KiB * 64_KiB;
  if (kind == 0) return;
  config.scm.reset();
  firmware::CacheConfig& cache = config.firmware.cache;
  cache.policy = any_of(firmware::cache_family(), random);
  cache.medium = kind == 1 ? "scm" : "dram";
  cache.grain = pick<Bytes>(random, {0, 512});
  cache.copy_in = pick<const char*>(random, {"sectors", "unit"});
  cache.write_back = pick<const char*>(random, {"dirty", "dirty", "all"});
  cache.copy_waits = random.below(2) == 0;
  if (kind == 1) {
    config.scm = ScmConfig{};
    config.scm->capacity = size;
    config.scm->banks = static_cast<std::uint32_t>(1 + random.below(16));
  } else {
    cache.capacity = size;
    config.dram.capacity += size;
  }
}

void draw_firmware(SsdConfig& config, RandomStream& random) {
  firmware::FirmwareConfig& f = config.firmware;
  // A mapping page that divides the page and holds at most 64 logical blocks.
  do {
    f.mapping.unit = pick<Bytes>(random, {512, 1024, 2048, 4096, 8192, 16384});
    config.host.lba_size = random.below(3) == 0 ? 4096 : 512;
  } while (f.mapping.unit < config.host.lba_size || config.part.page_size % f.mapping.unit != 0);
  const auto& orders = firmware::allocation_orders();
  f.allocation.order = orders[random.below(orders.size())];
  f.allocation.multi_plane = random.below(2) == 0;
  f.allocation.streams = pick<const char*>(random, {"separate", "shared"});
  f.buffer.mode = pick<const char*>(random, {"write-back", "write-back", "write-through"});
  f.buffer.flush_at = pick<double>(random, {0, 0.5, 1});
  f.gc.policy = any_of(firmware::victim_family(), random);
  f.gc.low_water = static_cast<std::uint32_t>(1 + random.below(3));
  f.gc.background_start = pick<double>(random, {0, 0.1, 0.6});
  f.gc.background_stop = 0.7;
  f.gc.idle_after = pick<Picoseconds>(random, {0, 5'000'000});
  f.gc.parallel_copies = static_cast<std::uint32_t>(1 + random.below(8));
  f.wear.policy = any_of(firmware::wear_family(), random);
  f.seed = config.seed;
  const std::uint32_t planes = f.allocation.multi_plane ? config.part.planes : 1;
  const Bytes program_unit = planes * config.part.pages_per_program() * config.part.page_size;
  f.buffer.capacity = std::max<Bytes>(program_unit * (2 + random.below(6)), 64_KiB);
}

/// A drive and what it has been through.
struct Drawn {
  SsdConfig config;
  AgeConfig age;
  std::unique_ptr<Given> map = std::make_unique<Given>();
  std::unique_ptr<Given> pslc = std::make_unique<Given>();
  double read_dies = 0;  ///< of the partition, if there is one
  [[nodiscard]] bool fails() const { return config.has_errors(); }
};

/// The map in flash in half of the drives, with anything from one line of it to all of it in DRAM,
/// or in the host's memory.
void draw_map(Drawn& drawn, RandomStream& random) {
  firmware::FirmwareConfig& f = drawn.config.firmware;
  if (random.below(2) == 0) return;
  const auto page = static_cast<std::int64_t>(f.mapping.unit / 4);
  const std::int64_t line = pick<std::int64_t>(random, {1, 1, 4, page});
  const auto lines = static_cast<std::int64_t>(1 + random.below(random.below(2) == 0 ? 4 : 4000));
  f.mapping.scheme = "dftl";
  HostConfig& host = drawn.config.host;
  const bool in_host = !host.is_sata() && random.below(2) == 0;
  if (in_host) host.memory_buffer = static_cast<Bytes>(8 * line * lines);
  *drawn.map = Given({{"cache", whole(8 * line * lines)},
                      {"cache_in", Value(std::string(in_host ? "host" : "dram"))},
                      {"line", whole(line)},
                      {"segmented_lru", Value(random.below(2) == 0)},
                      {"batch_update", Value(random.below(4) != 0)}});
  f.mapping_policy = borrowed(*drawn.map);
}

/// Log blocks or block-mapped regions in half of the drives that have the map in DRAM. Blocks that
/// divide what is erased at a time, few logs as a rule.
void draw_scheme(Drawn& drawn, RandomStream& random) {
  firmware::FirmwareConfig& f = drawn.config.firmware;
  if (f.mapping.scheme != "page" || random.below(2) == 0) return;
  f.mapping.scheme = pick<const char*>(random, {"block-mapped", "bast", "fast", "superblock"});
  const firmware::Layout layout(drawn.config.shape(), f.allocation);
  const std::uint32_t programs = layout.block_units / layout.die_units;
  std::uint32_t block = 1;
  do block = static_cast<std::uint32_t>(1 + random.below(programs));
  while (programs % block != 0);
  const Bytes bytes = Bytes{block} * layout.die_units * layout.unit_bytes;
  const bool by_address = random.below(4) != 0;
  *drawn.map =
      Given({{"block", whole(by_address ? static_cast<std::int64_t>(bytes) : 0)},
             {"placement", Value(std::string(by_address ? "address" : "log"))},
             {"log_blocks", whole(static_cast<std::int64_t>(1 + random.below(random.below(4) == 0 ? 7 : 3)))},
             {"adjacent", whole(static_cast<std::int64_t>(1 + random.below(4)))},
             {"update_blocks", whole(static_cast<std::int64_t>(1 + random.below(3)))}});
  f.mapping_policy = borrowed(*drawn.map);
  if (f.mapping.scheme == "block-mapped" && by_address)
    f.buffer.capacity = std::max<Bytes>(f.buffer.capacity, bytes * (2 + random.below(3)));
}

/// Blocks in SLC mode in half of the drives that can have them: static ones, dynamic ones or both,
/// often very few.
void draw_pslc(Drawn& drawn, RandomStream& random) {
  SsdConfig& config = drawn.config;
  firmware::FirmwareConfig& f = config.firmware;
  const bool by_page = f.mapping.scheme == "page" || f.mapping.scheme == "dftl";
  if (!by_page || f.allocation.stripe != "none" || config.part.bits() == 1 || random.below(2) == 0) return;
  NandPart& part = config.part;
  part.slc_read_latency = static_cast<Picoseconds>(5 + random.below(30)) * 1_us;
  part.slc_program_latency = static_cast<Picoseconds>(50 + random.below(200)) * 1_us;
  part.slc_erase_latency = static_cast<Picoseconds>(1 + random.below(3)) * 1_ms;
  firmware::PslcConfig& c = f.pslc;
  c.policy = any_of(firmware::path_family(), random);
  const firmware::Layout layout(config.shape(), f.allocation);
  const Bytes block = Bytes{layout.pus} * layout.slc_units() * layout.unit_bytes;
  const std::uint64_t kinds = random.below(3);
  // Beside these and what the firmware sets aside, a few blocks must be left for data.
  if (kinds != 0) c.static_bytes = block * (1 + random.below(2));
  if (kinds != 1) c.dynamic_bytes = block * (1 + random.below(random.below(2) == 0 ? 2 : 9));
  c.when_full = pick<const char*>(random, {"wait", "bypass"});
  c.fold_first = pick<const char*>(random, {"oldest", "emptiest"});
  c.bypass_buffer = pick<double>(random, {0, 0.1, 0.5, 0.9});
  c.fold_below = pick<double>(random, {0, 0.1, 0.5});
  c.fold_until = c.fold_below + 0.2;
  c.gone_at = pick<double>(random, {0.5, 0.75, 2});
  const bool copies = part.pages_per_program() <= part.slc_pages_per_block() && random.below(2) == 0;
  c.fold_by = copies ? "copyback" : "controller";
  *drawn.pslc = Given({{"cold_from", Value(random.uniform())}, {"list", Value(0.5)}});
  f.pslc_policy = borrowed(*drawn.pslc);
}

/// As much capacity as the drive can offer with this firmware, or somewhat less.
void draw_capacity(SsdConfig& config, RandomStream& random) {
  firmware::DriveShape shape = config.shape();
  const double physical = static_cast<double>(shape.geometry.bytes());
  const double most = static_cast<double>(firmware::Ftl::largest_logical_blocks(shape, config.firmware)) *
                      static_cast<double>(config.host.lba_size);
  const double user = most * (random.below(2) == 0 ? 0.99 : 0.5 + 0.45 * random.uniform());
  config.capacity.over_provisioning = physical / user - 1;
}

/// Codes that bear the errors of the drive's age just so, or just not.
void draw_errors(Drawn& drawn, RandomStream& random) {
  SsdConfig& config = drawn.config;
  firmware::FirmwareConfig& f = config.firmware;
  if (random.below(2) == 0) return;
  drawn.age.cycles = static_cast<std::uint32_t>(random.below(3000));
  drawn.age.retention = random.uniform() * 200 * 86'400;
  drawn.age.powered = random.below(2) == 0;
  drawn.age.reads = static_cast<std::uint32_t>(random.below(1000));
  f.ecc.policy = any_of(firmware::ecc_family(), random);
  f.pslc.fold_by = "controller";  // what is copied on the die is not corrected
  config.ecc.engines = static_cast<std::uint32_t>(1 + random.below(4));
  do config.ecc.frame = pick<Bytes>(random, {512, 1024, 2048, 4096});
  while (f.mapping.unit % config.ecc.frame != 0);
  config.reliability = any_of(reliability_models(), random);
  config.errors.distribution = pick<const char*>(random, {"beta-binomial", "binomial"});
  const auto model = reliability_models().make(config.reliability, NoValues(), config.part);
  const double rate = model->rber({.cycles = static_cast<double>(drawn.age.cycles),
                                   .age_days = drawn.age.retention / 86'400,
                                   .reads_per_page = 100});
  const double margin = 1 + 2 * random.uniform();
  for (CodeConfig& code : config.ecc.codes) {
    code.correctable =
        static_cast<std::uint32_t>(8 + margin * (1 + random.uniform()) * rate * config.ecc.frame_bits());
    code.throughput = 100'000'000 + random.below(2'000'000'000);
    code.latency = static_cast<Picoseconds>(random.below(50)) * 1_us;
    code.waterfall = random.below(2) == 0 ? 0 : 0.05;
  }
  // BCH needs parity for what it corrects; where nearly all bits are wrong there is not so much.
  constexpr std::uint32_t k_most = 1000;
  std::uint32_t& corrected = config.ecc.codes[static_cast<std::size_t>(EccCode::bch)].correctable;
  if (corrected > k_most) config.reliability = "log-retention";
  corrected = std::min(corrected, k_most);
  while (config.ecc.most_correctable_by_bch() < corrected) ++config.ecc.parity;
  if (random.below(2) == 0) return;
  choose(f, "firmware.refresh", "limits",
         {{"retention", Value(86'400.0 * static_cast<double>(random.below(60)))},
          {"reads", whole(static_cast<std::int64_t>(random.below(3) * 300))},
          {"errors", whole(static_cast<std::int64_t>(random.below(2) * 40))},
          {"patrol", Value(86'400.0 * static_cast<double>(1 + random.below(30)))}});
}

std::uint32_t count_dies(const SsdConfig& config) {
  return config.flash.channels * config.flash.ways * config.flash.dies_per_way;
}

/// Remedies against read disturb: regions instead of blocks, blocks of their own for data that are
/// read much, lower pass voltages.
void draw_remedies(Drawn& drawn, RandomStream& random) {
  firmware::FirmwareConfig& f = drawn.config.firmware;
  const bool regions = random.below(2) == 0;
  const auto count = static_cast<std::int64_t>(1 + random.below(12));
  const auto reads = static_cast<std::int64_t>(20 + random.below(200));
  const bool refreshes = has_feature("firmware.refresh") && f.choice("firmware.refresh").policy != "none";
  if (refreshes && regions) {
    choose(f, "firmware.refresh", "read-regions",
           {{"reads", whole(reads * count)},
            {"patrol", Value(86'400.0)},
            {"regions", whole(count)},
            {"region_reads", whole(reads)}});
  }
  if (!refreshes || firmware::mapping_family().has_log_blocks(f.mapping.scheme))
    f.features.erase("firmware.placement");
  if (f.ecc.policy != "none" && random.below(2) == 0) choose(f, "firmware.pass_voltage", "tuned");
  const std::uint32_t dies = count_dies(drawn.config);
  if (f.mapping.scheme == "page" && f.allocation.stripe == "none" && dies > 1 && random.below(3) == 0) {
    drawn.read_dies = (1 + static_cast<double>(random.below(dies - 1))) / dies;
    choose(
        f, "firmware.partition", "read-write",
        {{"read_dies", Value(drawn.read_dies)}, {"keep_room", Value(pick<double>(random, {0, 0.1, 0.5}))}});
  }
}

Drawn draw(std::uint64_t number) {
  RandomStream random(number, "drives");
  Drawn drawn;
  SsdConfig& config = drawn.config;
  config.seed = number;
  config.check_protocol = number % 4 == 0;
  draw_flash(config, random);
  draw_host(config, random);
  draw_firmware(config, random);
  RandomStream maps(number, "maps");
  draw_map(drawn, maps);
  RandomStream stripes(number, "stripes");
  const auto& known = firmware::stripes();
  if (number % 2 == 0) config.firmware.allocation.stripe = known[stripes.below(known.size())];
  RandomStream schemes(number, "schemes");
  draw_scheme(drawn, schemes);
  RandomStream pslc(number, "pslc");
  draw_pslc(drawn, pslc);
  RandomStream remedies(number, "remedies");
  if (remedies.below(3) == 0) choose(config.firmware, "firmware.placement", "little-worn");  // takes room
  draw_capacity(config, random);
  RandomStream caches(number, "caches");
  draw_cache(config, caches);
  RandomStream errors(number, "errors");
  draw_errors(drawn, errors);
  draw_remedies(drawn, remedies);
  RandomStream organisations(number, "organisations");
  draw_organisation(config.flash, organisations);
  return drawn;
}

std::string describe_map(const Drawn& drawn) {
  std::string text;
  for (const char* key : {"cache", "line", "block", "log_blocks", "adjacent", "update_blocks"}) {
    if (const Value* value = drawn.map->find(key))
      text += fmt::format("{} {} ", key, std::get<std::int64_t>(*value));
  }
  return text;
}

std::string describe(const Drawn& drawn) {
  const SsdConfig& config = drawn.config;
  const NandPart& part = config.part;
  const firmware::FirmwareConfig& f = config.firmware;
  return fmt::format(
      "{} {} lba {}, {} of {}: {}x{}x{} dies, {} {} planes x {} blocks x {} pages of {}, program {}, unit "
      "{}, {} stripe {} mp {} "
      "streams {}, buffer {} {}, gc {} low {} bg {}, wear {}, scheduling {}, suspend {}, cached {}, {} in "
      "{}, map {} with {}, OP {:.3f}, {} cycles, {:.0f} d, {} reads, {}, ecc {} frame {} corrects {}, "
      "refresh {}, placement {}, pass voltage {}, partition {} {:.2f} of the dies, SLC mode: {} {} B static "
      "{} B dynamic {} {} {}",
      config.host.protocol, config.host.link, config.host.lba_size, config.flash.organisation,
      config.flash.gang, config.flash.channels, config.flash.ways, config.flash.dies_per_way, part.cell,
      part.planes, part.blocks_per_plane, part.pages_per_block, part.page_size, part.program_unit,
      f.mapping.unit, f.allocation.order, f.allocation.stripe, f.allocation.multi_plane, f.allocation.streams,
      f.buffer.mode, f.buffer.capacity, f.gc.policy, f.gc.low_water, f.gc.background_start, f.wear.policy,
      config.scheduling, config.flash.suspend, config.flash.cache_operations, f.cache.policy, f.cache.medium,
      f.mapping.scheme, describe_map(drawn), config.capacity.over_provisioning, drawn.age.cycles,
      drawn.age.retention / 86'400, drawn.age.reads, config.reliability, f.ecc.policy, config.ecc.frame,
      config.ecc.of(EccCode::bch).correctable, f.choice("firmware.refresh").policy,
      f.choice("firmware.placement").policy, f.choice("firmware.pass_voltage").policy,
      f.choice("firmware.partition").policy, drawn.read_dies, f.pslc.policy, f.pslc.static_bytes,
      f.pslc.dynamic_bytes, f.pslc.when_full, f.pslc.fold_by, f.pslc.fold_first);
}

void run_loads(Simulation& simulation, const Mix& mix, std::uint32_t count, std::uint64_t seed) {
  std::vector<Load> loads;
  for (std::uint32_t i = 0; i < count; ++i)
    loads.push_back(mixed_load(mix, simulation.drive_size(), seed + i));
  Measurement measurement(std::vector<std::string>(count, "mixed"));
  simulation.run(loads, measurement);
}

/// What a drive has done in the end.
struct DriveEnd {
  firmware::FtlStatistics filled;      ///< until the drive had been filled and overwritten
  firmware::FtlStatistics statistics;  ///< after that
  Picoseconds now = 0;
  std::uint64_t checked_blocks = 0;
  std::uint64_t failed = 0;  ///< commands
  std::uint64_t media_errors = 0;
  std::uint64_t mismatches = 0;  ///< reads
  bool read_only = false;
  bool restored_whole = true;  ///< the archive was read to its end
  bool read_all = false;       ///< every byte of the drive was read in the end, or its read has failed
};

/// Saves the drive and restores it into itself: nothing may have changed.
bool save_and_restore(Simulation& simulation) {
  MemoryArchive saved;
  simulation.archive(saved);
  saved.rewind();
  simulation.archive(saved);
  return saved.at_end();
}

DriveEnd run_drive(const Drawn& drawn, std::uint64_t number, bool restored, std::uint32_t trims = 0) {
  Simulation simulation(drawn.config);
  const DriveSize size = simulation.drive_size();
  simulation.wear(drawn.age);
  std::vector<Load> before = make_loads({.rw = "write", .bs = 32_KiB}, size);
  before.push_back(mixed_load({.requests = 1500, .hot_blocks = 1'000'000'000}, size, number));
  simulation.run_untimed(before);
  simulation.rest(drawn.age);
  DriveEnd end;
  end.filled = simulation.ssd().ftl().statistics();
  const std::uint64_t failed_before = simulation.driver().failed();
  Bytes failed_bytes = 0;
  simulation.driver().set_completion_hook([&](const Completed& command) {
    end.media_errors += command.status == HostStatus::media_error ? 1 : 0;
    failed_bytes += command.status == HostStatus::success ? 0 : command.bytes;
  });
  run_loads(simulation, {.requests = 900, .depth = 16, .hot_blocks = 64, .trims = trims}, 3, number + 100);
  run_loads(simulation,
            {.requests = 900, .depth = 16, .reads = 20, .hot_blocks = 1'000'000'000, .trims = trims}, 2,
            number + 200);
  simulation.drain();
  if (restored) end.restored_whole = save_and_restore(simulation);
  run_loads(simulation,
            {.requests = 600, .depth = 4, .reads = 20, .hot_blocks = 1'000'000'000, .trims = trims}, 1,
            number + 300);
  end.statistics = simulation.ssd().ftl().statistics();
  end.now = simulation.ssd().event_queue().now();
  end.checked_blocks = simulation.scoreboard().checked_blocks();
  std::vector<Load> all = one(read_all(size, 8));
  Measurement measurement({"all"});
  failed_bytes = 0;
  simulation.run(all, measurement);
  const OperationMeasurement& reads = measurement.load(0).operation(HostOpcode::read);
  end.read_all = reads.bytes() + failed_bytes == size.bytes;
  end.failed = simulation.driver().failed() - (drawn.fails() ? failed_before : 0);
  end.mismatches = simulation.scoreboard().mismatches();
  end.read_only = simulation.ssd().ftl().read_only();
  simulation.driver().set_completion_hook(nullptr);
  simulation.drain();
  simulation.ssd().finish_checks();
  return end;
}

void check_end(const DriveEnd& end, const Drawn& drawn) {
  const firmware::FtlStatistics& s = end.read_only ? end.filled : end.statistics;
  INFO(fmt::format(
      "{} host units, {} programs of the host, {} of collection, {} victims, {} groups of blocks erased",
      s.host_units_written, s.programs[0], s.programs[1], s.gc_victims, s.erases));
  CHECK(end.failed == end.media_errors);
  if (!drawn.fails()) CHECK(end.failed == 0);
  CHECK(end.mismatches == 0);
  CHECK_FALSE(end.read_only);
  CHECK(end.restored_whole);
  CHECK(end.read_all);
}

void check_drive(std::uint64_t number, std::uint32_t trims = 0) {
  const Drawn drawn = draw(number);
  INFO(describe(drawn));
  std::optional<DriveEnd> straight;
#ifndef __SANITIZE_ADDRESS__  // half the time, and both end alike or not whether sanitized or not
  straight = in_child<DriveEnd>([&] { return run_drive(drawn, number, false, trims); });
#endif
  const DriveEnd restored = run_drive(drawn, number, true, trims);
  check_end(restored, drawn);
  if (!straight) return;
  check_end(*straight, drawn);
  CHECK(restored.now == straight->now);
  CHECK(restored.checked_blocks == straight->checked_blocks);
  CHECK(std::memcmp(&restored.statistics, &straight->statistics, sizeof straight->statistics) == 0);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("random drive", "[drive]", ((int Number), Number), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                       11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
                       33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54,
                       55, 56, 57, 58, 59) {
  check_drive(Number);
}

// Those that have found something: collection in circles or given up too early, an archive restored
// over what was there, a suspend that came after the end, evictions that put in more map entries
// than they put out, collection that waited for the read that set it off.
TEMPLATE_TEST_CASE_SIG("random drive that has been telling", "[drive]", ((int Number), Number), 72, 73, 77,
                       116, 152, 182, 199, 225, 326, 486, 577, 637, 680) {
  check_drive(Number);
}

// Half of what its host writes it trims, as a rule less than a mapping page.
TEMPLATE_TEST_CASE_SIG("random drive that is trimmed in pieces", "[drive]", ((int Number), Number), 800, 801,
                       802, 803, 804, 805, 806, 807, 808, 809, 810, 811, 812, 813, 814, 815, 816, 817, 818,
                       819) {
  check_drive(Number, 35);
}

// For long searches: TLMSSD_DRIVES="first last" test_drive "[.search]"
TEST_CASE("random drives, as many as asked for", "[.search]") {
  const char* range = std::getenv("TLMSSD_DRIVES");
  std::istringstream words(range == nullptr ? "60 159" : range);
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  words >> first >> last;
  for (std::uint64_t number = first; number <= last; ++number) {
    const Drawn drawn = draw(number);
    INFO("drive " << number << ": " << describe(drawn));
    DriveEnd end;
    CHECK_NOTHROW(end = in_child<DriveEnd>([&] { return run_drive(drawn, number, number % 2 == 0); }));
    check_end(end, drawn);
  }
}

}  // namespace tlmssd::drive_tests
