#include "firmware/core/core.h"

#include <algorithm>
#include <fmt/format.h>

#include "firmware/core/feature_info.h"
#include "firmware/mapping/block_map.h"
#include "models/base/input_error.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

namespace {

VictimContext victim_context(const Layout& layout, const FirmwareConfig& config) {
  return {layout.pus, layout.blocks, layout.block_units, config.seed};
}

std::unique_ptr<EccPolicy> make_ecc(const FirmwareConfig& config, const DriveShape& shape,
                                    const Layout& layout) {
  if (!is_chosen(config.ecc.policy)) return nullptr;
  const EccContext context{layout.total_blocks(), shape.lba_bytes, shape.logical_blocks};
  return make_policy(ecc_family(), "firmware.ecc.policy", config.ecc.policy, config.ecc_policy, context);
}

std::unique_ptr<Pslc> make_pslc(const FirmwareConfig& config, const Layout& layout, BlockPool& pool,
                                const MappingScheme& map) {
  return is_chosen(config.pslc.policy) ? std::make_unique<Pslc>(config, layout, pool, map) : nullptr;
}

}  // namespace

std::unique_ptr<WearPolicy> make_wear(const FirmwareConfig& config, const Layout& layout) {
  return make_policy(wear_family(), "firmware.wear.policy", config.wear.policy, config.wear_policy,
                     WearContext{layout.pus, config.seed});
}

std::unique_ptr<MappingScheme> make_map(const FirmwareConfig& config, const Layout& layout) {
  return make_policy(mapping_family(), "firmware.mapping.scheme", config.mapping.scheme,
                     config.mapping_policy, layout);
}

Layout make_layout(const DriveShape& shape, const FirmwareConfig& config) {
  Layout layout(shape, config.allocation);
  for (const FeatureInfo& info : features()) {
    const FeatureChoice choice = config.choice(info.path);
    if (choice.is_on() && info.own_units != nullptr) layout.feature_units += info.own_units(choice, layout);
  }
  const std::unique_ptr<MappingScheme> map = make_map(config, layout);
  if (const std::uint32_t units = map->block_units(); units > 0) layout.set_program_units(units);
  if (const std::uint32_t entries = map->entries_per_page(); entries > 0)
    layout.map_units = (layout.logical_units + entries - 1) / entries;
  return layout;
}

Handles handles_of(const FirmwareConfig& config) {
  for (const FeatureInfo& info : features()) {
    const FeatureChoice choice = config.choice(info.path);
    if (choice.is_on() && info.handles != nullptr) return info.handles(choice);
  }
  return {};
}

bool has_move_block(const FirmwareConfig& config) {
  return std::any_of(features().begin(), features().end(), [&](const FeatureInfo& info) {
    return info.move_block && config.choice(info.path).is_on();
  });
}

BlockPool::Options pool_options(const FirmwareConfig& config, const DriveShape& shape, const Layout& layout,
                                const WearPolicy& wear, const MappingScheme& map) {
  const bool shared_open = config.allocation.shares_open_blocks();
  if (config.gc.low_water == 0)
    throw refusal("firmware.gc.low_water", "0 leaves garbage collection no room", "1");
  if (map.set_aside() > 0) return {.reserve = map.set_aside() - 1, .owned = true, .wear = config.wear.policy};
  const PslcSize slc = pslc_size(config.pslc, layout);
  const Handles handles = handles_of(config);
  return {.shared_open = shared_open,
          // Collection may have opened a block for each handle whose data it keeps apart.
          .reserve = config.gc.low_water + (handles.apart ? handles.count - 1 : 0),
          .wear_stream = wear.moves_data(),
          .move_stream = has_move_block(config),
          .handles = handles.count,
          .apart = handles.apart,
          .modes = slc.statics + slc.dynamic > 0,
          .statics = std::min(slc.statics, layout.blocks),  // Pslc::check_size() refuses more
          .slc_wear = shape.slc_wear,
          .victims = config.gc.policy,
          .wear = config.wear.policy};
}

Core::Core(Hardware& hardware, const DriveShape& shape, const FirmwareConfig& configuration,
           CoreEvents& listener)
    : hw(hardware),
      layout(make_layout(shape, configuration)),
      config(configuration),
      map(make_map(config, layout)),
      places(map->places()),
      victims(make_policy(victim_family(), "firmware.gc.policy", config.gc.policy, config.gc_policy,
                          victim_context(layout, config))),
      wear(make_wear(config, layout)),
      ecc(make_ecc(config, shape, layout)),
      pool(layout, pool_options(config, shape, layout, *wear, *map)),
      pslc(make_pslc(config, layout, pool, *map)),
      reads(layout),
      jobs(layout),
      events(listener) {
  if (map->copies_on_die() && ecc) {
    throw refusal("firmware.mapping.copyback",
                  "copies on the die do not pass the decoders, so that wrong bits would pile up "
                  "(firmware.ecc.policy is not none)",
                  "false");
  }
  config.features.clear();
  config.mapping_policy = nullptr;
  config.gc_policy = nullptr;
  config.wear_policy = nullptr;
  config.ecc_policy = nullptr;
  config.pslc_policy = nullptr;
  pool.attach(*victims, *wear, pslc ? &pslc->victims() : nullptr);
}

void Core::refuse_place(Lpn unit, Ppn where) const {
  throw objection("firmware.mapping.scheme",
                  fmt::format("{} has logical unit {} at physical unit {}, but there are {}",
                              config.mapping.scheme, unit, where.number(), flash_units_));
}

void Core::refuse_entries(Lpn first, std::uint64_t count, const MappingScheme::Span& entries,
                          Bytes size) const {
  throw objection(
      "firmware.mapping.scheme",
      fmt::format("{} has the entries of logical units {} to {} in {} B from address {} on, which are "
                  "not within the {} B that it takes",
                  config.mapping.scheme, first, first + count - 1, entries.bytes, entries.address, size));
}

MappingScheme::Span Core::host_entries(Lpn first, std::uint64_t count) const {
  const MappingScheme::Span entries = map->entries(first, count);
  if (!within(entries, map_host_bytes_)) refuse_entries(first, count, entries, map_host_bytes_);
  return entries;
}

Task<> Core::look_up_in_host(Lpn first, std::uint64_t count, Ledger* ledger) {
  std::uint64_t brought = 0;
  if (!map_at_hand(first, count)) {
    brought = count - map->in_host_memory(first, count);
    co_await map->fetch(first, count, ledger);
  }
  MemoryAccess access(hw, ledger, Cause::map_fetch);
  if (brought > 0) access.add(MemoryKind::dram, map_bytes_, MappingScheme::k_entry_bytes * brought, false);
  if (brought < count) {
    const MappingScheme::Span entries = host_entries(first, count - brought);
    access.add(MemoryKind::host, entries.address, entries.bytes, false);
  }
  co_await access;
}

void Core::post_to_host(Lpn first, std::uint32_t count) {
  const std::uint64_t cached = map->in_host_memory(first, count);
  if (cached == 0) return;
  const MappingScheme::Span entries = host_entries(first, cached);
  hw.memory.access(MemoryKind::host, entries.address, entries.bytes, true, posted_);
}

void Core::refuse_touched(std::uint64_t unit, std::uint64_t answer) const {
  throw objection("firmware.mapping.scheme",
                  fmt::format("{} names logical unit {} as the first that may be mapped at or after {}",
                              config.mapping.scheme, answer, unit));
}

void Core::check_capacity() {
  if (read_only) return;
  if (map->set_aside() > 0 ? !map->fits(pool) : pool.usable() < needed_units()) go_read_only();
}

void Core::go_read_only() {
  if (read_only) return;
  read_only = true;
  if (map->set_aside() > 0 || pool.usable() < needed_units()) {
    end_of_life = EndOfLife::spare_blocks;
  } else {
    end_of_life = pool.left_by_policy() > 0 ? EndOfLife::victim_policy : EndOfLife::free_blocks;
  }
  events.now_read_only();
}

void Core::deallocate(Lpn unit, Ppn where) {
  tell_remap(*this, unit, where, k_nowhere, "deallocated");
  map->update(unit, k_nowhere);
  rewritten(unit);
  if (places == nullptr) {
    pool.invalidate(where);
    return;
  }
  // The block keeps all of its slots as long as anything is left in it.
  const std::uint32_t block = places->block_of(unit);
  if (places->any(block)) return;
  for (std::uint32_t n = 0; n < places->units(); ++n) pool.invalidate(places->base(block) + n);
  places->place(block, k_nowhere);
}

void Core::place_block(std::uint32_t block, const ProgramJob& job) {
  if (!places->any(block)) return;
  const Ppn old = places->base(block);
  tell_remap(*this, places->first_of(block), old, job.base, "block-mapped region written anew");
  for (std::uint32_t n = 0; n < places->units(); ++n) {
    if (old != k_nowhere) pool.invalidate(old + n);
    pool.validate(job.base + n, job.block);
  }
  places->place(block, job.base);
}

}  // namespace tlmssd::firmware
