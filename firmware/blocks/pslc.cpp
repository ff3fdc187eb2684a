#include "firmware/blocks/pslc.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "firmware/base/ftl_statistics.h"
#include "firmware/mapping/mapping.h"
#include "models/base/input_error.h"
#include "models/base/make_policy.h"
#include "models/base/quantity.h"
#include "models/base/report_within.h"

namespace tlmssd::firmware {

namespace {

/// Blocks of each parallel unit that hold so many bytes in SLC mode; at least one, if any.
std::uint32_t blocks_for(Bytes bytes, double share, const Layout& layout) {
  const double pu = static_cast<double>(layout.slc_units()) * layout.unit_bytes * layout.pus;
  const double wanted = share > 0 ? share * static_cast<double>(layout.total_units()) * layout.unit_bytes
                                  : static_cast<double>(bytes);
  if (wanted <= 0) return 0;
  return static_cast<std::uint32_t>(std::clamp(std::floor(wanted / pu + 0.5), 1.0, 4e9));
}

/// Bytes that so many blocks of each parallel unit hold in SLC mode.
Bytes size_of(std::uint64_t blocks, const Layout& layout) {
  return blocks * layout.pus * layout.slc_units() * layout.unit_bytes;
}

VictimContext slc_context(const Layout& layout) {
  return {layout.pus, layout.blocks, layout.slc_units(), 0};
}

void check(const FirmwareConfig& config, const Layout& layout, const MappingScheme& map) {
  const PslcConfig& c = config.pslc;
  const auto refuse = [](const char* key, const std::string& why, const std::string& nearest) {
    throw refusal(fmt::format("firmware.pslc.{}", key), why, nearest);
  };
  const auto one_of = [&](const char* key, const std::string& value, const char* first, const char* second) {
    if (value != first && value != second)
      refuse(key, fmt::format("'{}' is neither {} nor {}", value, first, second), first);
  };
  one_of("when_full", c.when_full, "wait", "bypass");
  one_of("fold_by", c.fold_by, "controller", "copyback");
  one_of("fold_first", c.fold_first, "oldest", "emptiest");
  if (map.block_units() > 0 || map.log_scheme() != nullptr)
    refuse("policy",
           fmt::format("blocks in SLC mode need page mapping (firmware.mapping.scheme is {})",
                       config.mapping.scheme),
           "none");
  if (layout.stripe_dies > 1)
    refuse("policy", "blocks in SLC mode may not span dies (firmware.allocation.stripe is not none)", "none");
  if (c.full_until > c.gone_at)
    refuse("gone_at",
           fmt::format("{:g} % lie before full_until ({:g} %)", 100 * c.gone_at, 100 * c.full_until),
           fmt::format("{:g} %", 100 * c.full_until));
  if (c.fold_below > c.fold_until)
    refuse("fold_until",
           fmt::format("background folding would stop at {:g} %, before it starts (fold_below, {:g} %)",
                       100 * c.fold_until, 100 * c.fold_below),
           fmt::format("{:g} %", 100 * c.fold_below));
  const double most =
      static_cast<double>(layout.block_units) / static_cast<double>(layout.block_units - layout.slc_units());
  if (c.of_free_space > most && (c.dynamic_bytes > 0 || c.dynamic_share > 0))
    refuse("of_free_space",
           fmt::format("{:g} % are more blocks than there are: one in SLC mode, full of data, takes {:.4g} % "
                       "of a block's free space",
                       100 * c.of_free_space, 100 / most),
           fmt::format("{:g} %", std::floor(1e4 * most) / 100));
  if (!c.folds_on_die()) return;
  if (is_chosen(config.ecc.policy))
    refuse("fold_by",
           "copies on the die do not pass the decoders, so that wrong bits would pile up "
           "(firmware.ecc.policy is "
           "not none)",
           "controller");
  if (layout.program_pages > layout.slc_mp_pages)
    refuse("fold_by",
           fmt::format("a program unit of {} pages is not to be found in a block of {} pages in SLC mode",
                       layout.program_pages, layout.slc_mp_pages),
           "controller");
}

}  // namespace

PslcSize pslc_size(const PslcConfig& config, const Layout& layout) {
  if (!is_chosen(config.policy)) return {};
  if (layout.slc_mp_pages == 0 || layout.slc_mp_pages >= layout.block_mp_pages) {
    throw refusal("firmware.pslc.policy",
                  fmt::format("the flash part has {}", layout.slc_mp_pages == 0
                                                           ? "no SLC mode (ssd.flash.part.slc_read_latency)"
                                                           : "one bit per cell anyway"),
                  "none");
  }
  const PslcSize size{blocks_for(config.static_bytes, config.static_share, layout),
                      blocks_for(config.dynamic_bytes, config.dynamic_share, layout)};
  if (size.statics == 0 && size.dynamic == 0) {
    throw refusal("firmware.pslc.static", "0 B, and no dynamic blocks either, are no pSLC",
                  fmt::format("{} B", size_of(1, layout)));
  }
  return size;
}

void Pslc::check_size(std::uint64_t kept_units, std::uint32_t overhead) const {
  const auto refuse = [&](const char* key, const std::string& why, std::uint64_t most) {
    throw refusal(fmt::format("firmware.pslc.{}", key), why,
                  format_value(Kind::bytes, Value(static_cast<std::int64_t>(size_of(most, layout_)))));
  };
  const std::uint64_t pu_units = std::uint64_t{layout_.pus} * layout_.block_units;
  const std::uint64_t data = std::max<std::uint64_t>(1, (kept_units + pu_units - 1) / pu_units);
  const std::uint64_t most = layout_.blocks > overhead + data ? layout_.blocks - overhead - data : 0;
  // Where the drive is too small even without them, they are not to blame.
  if (size_.statics > most && (most > 0 || std::uint64_t{size_.statics} + overhead >= layout_.blocks)) {
    refuse("static",
           fmt::format(
               "{} blocks of each parallel unit would always be in SLC mode, but of its {}, {} have to hold "
               "the data and {} are set aside",
               size_.statics, layout_.blocks, data, overhead),
           most);
  }
  if (size_.statics <= most && size_.dynamic > layout_.blocks - size_.statics) {
    refuse(
        "dynamic",
        fmt::format(
            "{} blocks of each parallel unit might be in SLC mode, but it has only {} beside the static ones",
            size_.dynamic, layout_.blocks - size_.statics),
        layout_.blocks - size_.statics);
  }
}

Pslc::Pslc(const FirmwareConfig& config, const Layout& layout, BlockPool& pool, const MappingScheme& map)
    : config_(config.pslc),
      layout_(layout),
      pool_(pool),
      size_(pslc_size(config.pslc, layout)),
      victims_(slc_context(layout), config.pslc.fold_first == "emptiest"),
      waits_(config.pslc.when_full == "wait"),
      folds_on_die_(config.pslc.folds_on_die()),
      promised_(layout.pus, 0) {
  check(config, layout, map);
  const PathContext context{*this, layout.logical_units,
                            std::uint64_t{size_.statics + size_.dynamic} * layout.pus * layout.slc_units()};
  path_ = make_policy(path_family(), "firmware.pslc.policy", config_.policy, config.pslc_policy, context);
}

// ------------------------------------------------------------------------------------------------------------------------- size

std::uint32_t Pslc::dynamic_limit(std::uint32_t pu) const {
  if (size_.dynamic == 0) return 0;
  const double full = static_cast<double>(pool_.valid_units()) / static_cast<double>(layout_.kept_units());
  double share = 1;
  if (full > config_.full_until)
    share = full >= config_.gone_at ? 0 : (config_.gone_at - full) / (config_.gone_at - config_.full_until);
  share += path_->extra();
  const auto wanted = static_cast<std::uint32_t>(size_.dynamic * share + 0.5);
  // By fours of units: at 75 % the whole numbers that the rule had before it was a parameter.
  const auto fours = static_cast<double>(std::max<std::int64_t>(pool_.room(pu), 0) / 4);
  const double most = fours * (4 * config_.of_free_space) / layout_.block_units;
  return std::min(wanted, static_cast<std::uint32_t>(most));
}

double Pslc::free_share(std::uint32_t pu, std::uint32_t coming) const {
  const double blocks = this->blocks(pu);
  const double used = pool_.slc(pu).used() - coming;
  return blocks > 0 ? 1 - used / blocks : (used > 0 ? -1 : 1);
}

double Pslc::free_share() const {
  std::uint64_t may = 0;
  std::uint64_t used = 0;
  for (std::uint32_t pu = 0; pu < layout_.pus; ++pu) {
    may += blocks(pu);
    used += pool_.slc(pu).used();
  }
  return used >= may ? 0 : 1 - static_cast<double>(used) / static_cast<double>(may);
}

PslcRoom Pslc::room() const {
  std::uint64_t all = 0;
  std::uint64_t free = 0;
  for (std::uint32_t pu = 0; pu < layout_.pus; ++pu) {
    const std::uint32_t may = blocks(pu);
    const std::uint32_t used = pool_.slc(pu).used();
    all += may;
    free += used >= may ? 0 : may - used;
  }
  const Bytes block = Bytes{layout_.slc_units()} * layout_.unit_bytes;
  return {all * block, free * block};
}

// ------------------------------------------------------------------------------------------------------------------------- room

bool Pslc::claimable(std::uint32_t pu) const {
  const BlockPool::SlcOfPu& slc = pool_.slc(pu);
  return slc.open != k_no_block || slc.statics().ready > 0 ||
         (slc.dynamic().ready > 0 && slc.dynamic().used < dynamic_limit(pu));
}

bool Pslc::has_space(std::uint32_t pu) const {
  const BlockPool::SlcOfPu& slc = pool_.slc(pu);
  std::uint64_t mp_pages = slc.open == k_no_block ? 0 : layout_.slc_mp_pages - slc.next;
  if (mp_pages > promised_[pu]) return true;
  std::uint32_t blocks = slc.statics().ready + slc.raw;
  const std::uint32_t most = dynamic_limit(pu);
  if (slc.dynamic().used < most) {
    const std::uint32_t free = pool_.pu(pu).free;
    const std::uint32_t more = free > leave_free_ ? free - leave_free_ : 0;
    blocks += std::min(most - slc.dynamic().used, slc.dynamic().ready + more);
  }
  mp_pages += std::uint64_t{blocks} * layout_.slc_mp_pages;
  return mp_pages > promised_[pu];
}

void Pslc::no_room(std::uint64_t host_blocks, Picoseconds now) {
  if (cliff_.full.met) return;
  for (std::uint32_t pu = 0; pu < layout_.pus; ++pu) {
    if (has_space(pu)) return;  // it is only busy
  }
  note(cliff_.full, host_blocks, now);
}

// -------------------------------------------------------------------------------------------------------------- state and reports

namespace {

void report_moment(StatisticsSink& sink, const Pslc::Moment& moment, Bytes block, const std::string& prefix,
                   const char* doc) {
  constexpr double k_never = std::numeric_limits<double>::quiet_NaN();
  sink.value(prefix + "written", moment.met ? static_cast<double>(moment.host_blocks * block) : k_never, "B",
             doc);
  sink.value(prefix + "time",
             moment.met && moment.after > 0 ? static_cast<double>(moment.after) * 1e-12 : k_never, "s",
             "when that was, since measurement began; no value without simulated time");
}

void report_cliff(StatisticsSink& sink, const Pslc::Cliff& cliff, Bytes block) {
  sink.open(
      "cliff",
      "where writes fall behind SLC mode, by what the host had written in the measured time, in flash or "
      "in the write buffer; no value where that did not happen");
  report_moment(
      sink, cliff.folding, block, "folding ",
      "until data were first folded while the host was not idle, for which its writes find dies busy");
  report_moment(
      sink, cliff.full, block, "",
      "until data that are to land in SLC mode first found no room: they wait for folding, or go to native "
      "blocks");
  sink.close();
}

}  // namespace

void Pslc::report(StatisticsSink& sink, const FtlStatistics& s) const {
  const auto bytes = [&](std::uint64_t blocks) { return blocks * layout_.slc_units() * layout_.unit_bytes; };
  std::uint64_t may = 0;
  BlockPool::SlcOfPu sum;
  for (std::uint32_t pu = 0; pu < layout_.pus; ++pu) {
    const BlockPool::SlcOfPu& one = pool_.slc(pu);
    may += blocks(pu);
    sum.statics_good += one.statics_good;
    for (int k = 0; k < 2; ++k) {
      sum.kinds[k].used += one.kinds[k].used;
      sum.kinds[k].ready += one.kinds[k].ready;
    }
  }
  const std::uint64_t most = std::uint64_t{size_.statics + size_.dynamic} * layout_.pus;
  const auto host = static_cast<double>(s.units_programmed[static_cast<std::size_t>(Purpose::host)] +
                                        s.units_programmed[static_cast<std::size_t>(Purpose::map)]);
  const double slc = static_cast<double>(s.slc_units);
  const BlockPool::SlcCounts counts = pool_.slc_counts();
  sink.open("pslc", "blocks in SLC mode before the native ones");
  sink.text("policy", config_.policy, "which writes go there");
  sink.value("largest size", bytes(most), "B", "static and all dynamic blocks");
  sink.value("size allowed", bytes(may), "B", "with the valid data there are now");
  sink.value("size", bytes(sum.used() + sum.ready()), "B", "blocks that are in SLC mode now");
  sink.value("size in use", bytes(sum.used()), "B", "of these, blocks that are not free");
  sink.value("static size", bytes(sum.statics_good), "B",
             "blocks that never change their mode, without those that have failed");
  sink.value("static size lost", bytes(std::uint64_t{size_.statics} * layout_.pus - sum.statics_good), "B",
             "blocks that never changed their mode and have failed");
  sink.value("valid units", counts.valid, "units", "mapping pages in SLC mode that the map points at");
  sink.value("host units to slc", s.slc_units, "units", "units that the write buffer programmed in SLC mode");
  sink.value("share to slc", host > 0 ? slc / host : 0, "share",
             "of all units that the write buffer programmed");
  sink.value("blocks folded", s.folds, "", "blocks in SLC mode chosen to be emptied into native ones");
  sink.value("of these idle", s.idle_folds, "", "while the host was idle");
  sink.value("mean valid",
             s.folds > 0
                 ? static_cast<double>(s.fold_valid) / (static_cast<double>(s.folds) * layout_.slc_units())
                 : 0,
             "share", "share of such a block's units that was valid when it was chosen");
  sink.value("units folded by copyback", s.units_folded_on_die, "units", "moved within their die");
  sink.value("units folded by controller", s.units_folded, "units", "read and programmed by the controller");
  sink.value("host units read in slc", s.host_units_slc, "units",
             "mapping pages that commands of the host read from blocks in SLC mode");
  sink.value("host units read native", s.host_units_native, "units",
             "mapping pages that commands of the host read from native blocks");
  sink.value("waits for room", s.slc_waits, "", "program units that waited for a free block in SLC mode");
  sink.value("blocks prepared", s.slc_prepared, "", "free blocks erased into SLC mode in addition");
  sink.value("blocks returned", s.slc_returned, "", "free blocks erased back into native mode in addition");
  sink.value("erases", counts.erases, "", "of all blocks into SLC mode, ever");
  if (size_.statics > 0) {
    const BlockPool::Wear wear = pool_.slc_wear();
    sink.value("static erases min", wear.minimum, "", "erase count of the least erased static block");
    sink.value("static erases mean", wear.mean, "", "mean erase count of the static blocks");
    sink.value("static erases max", wear.maximum, "", "erase count of the most erased static block");
  }
  report_within(sink, "firmware.pslc.policy", *path_);
  report_cliff(sink, cliff_, layout_.unit_bytes / layout_.sectors);
  sink.close();
}

void Pslc::archive(Archive& a) {
  victims_.archive(a);
  path_->archive(a);
}

}  // namespace tlmssd::firmware
