#include "firmware/mapping/block_map.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "models/base/input_error.h"

namespace tlmssd::firmware {

BlockPlaces::BlockPlaces(std::uint64_t logical_units, std::uint32_t block_units)
    : units_(block_units),
      by_units_(block_units),
      bases_((logical_units + block_units - 1) / block_units),
      mapped_((bases_.size() * block_units + 63) / 64) {}

bool BlockPlaces::any(std::uint32_t block) const {
  const std::uint64_t first = first_of(block);
  const std::uint64_t end = first + units_;
  for (std::uint64_t unit = first; unit < end;) {
    const std::uint64_t here = std::min(end, (unit / 64 + 1) * 64) - unit;
    const std::uint64_t ones = here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
    if ((mapped_.read(unit / 64) >> (unit % 64) & ones) != 0) return true;
    unit += here;
  }
  return false;
}

std::uint64_t BlockPlaces::next_touched(std::uint64_t unit, std::uint64_t end) const {
  const std::uint64_t word = mapped_.next_touched(unit / 64, (end + 63) / 64);
  return std::min(std::max(unit, word * 64), end);
}

// ---------------------------------------------------------------------------------------------------------------- the scheme

const ParameterTable<BlockMap::Config>& BlockMap::Config::parameters() {
  static const auto table =
      ParameterTable<Config>{}
          .bytes("block", &Config::block, {0, Bytes{1} << 32U},
                 "block-mapped region: whole program units that divide a block of the parallel unit (which "
                 "firmware.allocation.stripe spreads over dies); 0: all of it")
          .choice(
              "placement", &Config::placement, {"address", "log"},
              "how pages lie in a block-mapped region: each at its own offset, or in the order of writing "
              "(the block is then all of the parallel unit's)")
          .flag("copyback", &Config::copyback,
                "copy the rest of a rewritten block on its dies where whole program units stay on theirs "
                "(the block is made of whole stripes), instead of through the controller");
  return table;
}

std::uint32_t BlockMap::checked_units(const Config& config, const Layout& layout, bool by_address) {
  if (config.block == 0) return layout.block_units;
  const Bytes whole = Bytes{layout.block_units} * layout.unit_bytes;
  if (!by_address) {
    if (config.block == whole) return layout.block_units;
    throw refusal(
        "firmware.mapping.block",
        fmt::format("a block-mapped region of {} B that is written as a log must be what is erased at a time",
                    config.block),
        fmt::format("{} B", whole));
  }
  const Bytes least = Bytes{layout.die_units} * layout.unit_bytes;
  if (config.block % least == 0 && whole % config.block == 0)
    return static_cast<std::uint32_t>(config.block / layout.unit_bytes);
  std::uint64_t nearest = 1;
  const std::uint64_t programs = layout.block_units / layout.die_units;
  const auto distance = [&](std::uint64_t n) {
    const Bytes bytes = n * least;
    return bytes > config.block ? bytes - config.block : config.block - bytes;
  };
  for (std::uint64_t n = 1; n <= programs; ++n) {
    if (programs % n == 0 && distance(n) < distance(nearest)) nearest = n;
  }
  throw refusal("firmware.mapping.block",
                fmt::format("{} B is not made of whole program units of {} B that divide the block of {} B "
                            "that is erased at a time ({} dies x {} planes x {} pages)",
                            config.block, least, whole, layout.stripe_dies, layout.planes, layout.pages),
                fmt::format("{} B", nearest * least));
}

BlockMap::BlockMap(const Config& config, const Layout& layout)
    : by_address_(config.placement == "address"),
      copies_on_die_(by_address_ && config.copyback),
      block_bytes_(Bytes{checked_units(config, layout, by_address_)} * layout.unit_bytes),
      flash_units_(layout.total_units()),
      places_(by_address_ ? layout.logical_units : 0, checked_units(config, layout, by_address_)),
      entries_(by_address_ ? 0 : layout.logical_units) {}

void BlockMap::update(Lpn unit, Ppn where) {
  if (!by_address_) {
    entries_.write(unit) = where.entry();
  } else if (where == k_nowhere) {
    places_.deallocate(unit);
  } else {
    throw std::logic_error("block-mapped regions are placed as a whole");
  }
}

std::uint64_t BlockMap::next_touched(std::uint64_t unit, std::uint64_t end) const {
  return by_address_ ? places_.next_touched(unit, end) : entries_.next_touched(unit, end);
}

MappingScheme::Span BlockMap::entries(Lpn first, std::uint64_t count) const {
  if (!by_address_) return {k_entry_bytes * first, k_entry_bytes * count};
  const std::uint64_t last = (first + count - 1) / places_.units();
  const std::uint32_t block = places_.block_of(first);
  return {k_entry_bytes * block, k_entry_bytes * (last - block + 1)};
}

Bytes BlockMap::dram_bytes() const {
  return k_entry_bytes * (by_address_ ? places_.count() : entries_.size());
}

void BlockMap::report(StatisticsSink& sink) const {
  sink.value("block", block_bytes_, "B", "size of a block-mapped region");
  sink.text("placement", by_address_ ? "address" : "log", "how pages lie in a block-mapped region");
}

void BlockMap::archive(Archive& a) {
  places_.archive(a);
  a(entries_);
  if (a.saving()) return;
  for (std::uint32_t block = 0; block < places_.count(); ++block) {
    const Ppn base = places_.base(block);
    if (base != k_nowhere && std::uint64_t{base.number()} + places_.units() > flash_units_)
      throw ArchiveError("snapshot is damaged: a place beyond the drive");
  }
}

}  // namespace tlmssd::firmware
