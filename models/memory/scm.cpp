#include "models/memory/scm.h"

#include <algorithm>

namespace tlmssd {

const ParameterTable<ScmConfig>& ScmConfig::parameters() {
  static const auto table =
      ParameterTable<ScmConfig>{}
          .bytes_or_share(
              "capacity", &ScmConfig::capacity, &ScmConfig::share,
              {std::uint64_t{64} << 10U, std::uint64_t{1} << 44U},
              "size of the storage-class memory, or its share of the flash (all of it, spare blocks "
              "included)")
          .shapes_state();
  return table;
}

const ParameterTable<ScmConfig>& ScmConfig::bank_parameters() {
  static const auto table = ParameterTable<ScmConfig>{}
                                .time("read_latency", &ScmConfig::read_latency, {0, 1'000'000'000},
                                      "time a bank is busy reading one 512 B sector")
                                .time("program_latency", &ScmConfig::program_latency, {0, 1'000'000'000},
                                      "time a bank is busy programming one 512 B sector; there is no erase")
                                .integer("banks", &ScmConfig::banks, {1, 4096},
                                         "banks that work in parallel; sector n lies in bank n modulo banks")
                                .bandwidth("bandwidth", &ScmConfig::bandwidth, {1'000'000, 1'000'000'000'000},
                                           "data rate of the interface")
                                .bytes("wear_region", &ScmConfig::wear_region, {512, std::uint64_t{1} << 40U},
                                       "granularity at which sector programs are counted");
  return table;
}

// ----------------------------------------------------------------------------------------------------------------------
// timing

ScmTiming::ScmTiming(const ScmConfig& config)
    : bank_free_(config.banks, 0),
      read_latency_(config.read_latency),
      program_latency_(config.program_latency),
      sector_time_(transfer_time(k_scm_sector, config.bandwidth)),
      bandwidth_(config.bandwidth) {}

ScmTiming::Span ScmTiming::reserve(Picoseconds arrival, std::uint64_t first_sector, std::uint64_t sectors,
                                   bool write, bool first_partial, bool last_partial) {
  const Picoseconds start = std::max(interface_free_, arrival);
  interface_free_ = start + (sectors == 1 ? sector_time_ : transfer_time(sectors * k_scm_sector, bandwidth_));
  const Picoseconds latency = write ? program_latency_ : read_latency_;
  const std::uint64_t banks = bank_free_.size();
  const std::uint64_t involved = std::min(sectors, banks);
  std::uint64_t bank = first_sector % banks;
  const std::uint64_t last_bank = (first_sector + sectors - 1) % banks;
  Picoseconds last = 0;
  Picoseconds longest = 0;
  for (std::uint64_t n = 0; n < involved; ++n) {
    Picoseconds work = static_cast<Picoseconds>((sectors - n + banks - 1) / banks) * latency;
    if (write && first_partial && n == 0) work += read_latency_;
    if (write && last_partial && bank == last_bank) work += read_latency_;
    bank_free_[bank] = std::max(bank_free_[bank], arrival) + work;
    banks_booked_ += work;
    last = std::max(last, bank_free_[bank]);
    longest = std::max(longest, work);
    if (++bank == banks) bank = 0;
  }
  const Picoseconds end = std::max(interface_free_ + latency, last + sector_time_);
  const Picoseconds alone = arrival + std::max(interface_free_ - start + latency, longest + sector_time_);
  return {start, interface_free_, end, end - alone};
}

Picoseconds ScmTiming::banks_ahead(Picoseconds now) const {
  Picoseconds sum = 0;
  for (const Picoseconds free : bank_free_) sum += booked_ahead(free, now);
  return sum;
}

// ----------------------------------------------------------------------------------------------------------------------
// module

Scm::Scm(const sc_core::sc_module_name& name, const ScmConfig& config, EventQueue& event_queue,
         std::uint64_t base)
    : MemoryTarget(name, event_queue, base, config.capacity),
      timing_(config),
      wear_region_(config.wear_region),
      wear_((config.capacity + config.wear_region - 1) / config.wear_region, 0) {}

void Scm::add_wear(std::uint64_t first_sector, std::uint64_t sectors) {
  // Region borders may fall inside a sector: it counts where it begins.
  while (sectors > 0) {
    const std::uint64_t region = first_sector * k_scm_sector / wear_region_;
    const std::uint64_t next = ((region + 1) * wear_region_ + k_scm_sector - 1) / k_scm_sector;
    const std::uint64_t here = std::min(sectors, next - first_sector);
    wear_[region] += here;
    first_sector += here;
    sectors -= here;
  }
}

Picoseconds Scm::access(Picoseconds arrival, std::uint64_t address, Bytes bytes, bool write) {
  if (!holds(address, bytes)) return k_never;
  const std::uint64_t begin = address - base();
  const std::uint64_t first = begin / k_scm_sector;
  const std::uint64_t sectors = (begin + bytes + k_scm_sector - 1) / k_scm_sector - first;
  const bool head = begin % k_scm_sector != 0 || (sectors == 1 && bytes % k_scm_sector != 0);
  const bool tail = sectors > 1 && (begin + bytes) % k_scm_sector != 0;
  const ScmTiming::Span span = timing_.reserve(arrival, first, sectors, write, head, tail);
  count(span.waited, span.start, span.free, sectors * k_scm_sector, write);
  if (write) add_wear(first, sectors);
  return span.end;
}

bool Scm::access_untimed(std::uint64_t address, Bytes bytes, bool write) {
  if (!holds(address, bytes)) return false;
  if (write && bytes > 0) {
    const std::uint64_t begin = address - base();
    const std::uint64_t first = begin / k_scm_sector;
    add_wear(first, (begin + bytes + k_scm_sector - 1) / k_scm_sector - first);
  }
  return true;
}

void Scm::report(StatisticsSink& sink) const {
  std::uint64_t total = 0;
  std::uint64_t most = 0;
  for (const std::uint64_t region : wear_) {
    total += region;
    most = std::max(most, region);
  }
  const double sectors = static_cast<double>(capacity()) / k_scm_sector;
  const double region_sectors = static_cast<double>(std::min(wear_region_, capacity())) / k_scm_sector;
  sink.open("scm", "storage-class memory");
  counters().report(sink, now(), timing_.ahead(now(), feed()));
  const auto banks_time = (now() - counters().since) * static_cast<Picoseconds>(timing_.banks());
  sink.value("banks utilisation",
             share_within(banks_time, timing_.banks_booked(), timing_.banks_ahead(now())), "",
             "share of the banks' time spent reading and programming sectors");
  sink.value("mean wear", static_cast<double>(total) / sectors, "programs",
             "sector programs over sectors, since new");
  sink.value("highest wear", static_cast<double>(most) / region_sectors, "programs",
             "mean programs per sector of the most worn region, since new");
  sink.close();
}

void Scm::tell_busy(BusySink& sink) const {
  counters().tell_busy(sink, "SCM", now(), timing_.ahead(now(), feed()));
  const Picoseconds banks_time = (now() - counters().since) * static_cast<Picoseconds>(timing_.banks());
  sink.busy("SCM banks", busy_within(banks_time, timing_.banks_booked(), timing_.banks_ahead(now())),
            timing_.banks());
}

void Scm::reset_statistics() {
  restart_counters(timing_.ahead(now(), feed()));
  timing_.restart_banks(now());
}

void ScmTiming::archive(Archive& a) {
  const std::size_t banks = bank_free_.size();
  a(bank_free_);
  if (bank_free_.size() != banks) throw ArchiveError("snapshot's SCM has another number of banks");
  a(interface_free_);
}

void Scm::archive(Archive& a) {
  a(timing_);
  const std::size_t regions = wear_.size();
  a(wear_);
  if (wear_.size() != regions) throw ArchiveError("snapshot's SCM has another number of wear regions");
}

}  // namespace tlmssd
