#include "firmware/core/core.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

#include "firmware/base/make_policy.h"
#include "firmware/core/feature_info.h"
#include "firmware/mapping/block_map.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

namespace {

constexpr std::uint32_t k_look_back =
    4;  // a command with no more reads than this is searched for one to join

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

std::string_view name_of_mode(BlockMode mode) {
  return mode == BlockMode::slc ? "into SLC mode" : "into native mode";
}

}  // namespace

std::unique_ptr<WearPolicy> make_wear(const FirmwareConfig& config, const Layout& layout) {
  return make_policy(wear_family(), "firmware.wear.policy", config.wear.policy, config.wear_policy,
                     layout.pus);
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
  if (const std::uint32_t units = make_map(config, layout)->block_units(); units > 0)
    layout.set_program_units(units);
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
  if (map.set_aside() > 0) return {.reserve = map.set_aside() - 1, .owned = true};
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
          .slc_wear = shape.slc_wear};
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
      events(listener),
      joiner_(shape.multi_plane_reads && shape.geometry.planes > 1
                  ? std::optional<PlaneJoiner>(shape.same_blocks)
                  : std::nullopt),
      frames_per_unit_(shape.frames_per_unit),
      ecc_looks_at_age_(ecc && ecc->looks_at_age()) {
  if (const std::uint32_t entries = map->entries_per_page(); entries > 0)
    layout.map_units = (layout.logical_units + entries - 1) / entries;
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

ReadOp& Core::add_read(ReadList& list, Ppn where) {
  const std::uint32_t mp_page = layout.mp_page_of(where);
  const std::uint32_t at = layout.in_mp_page(where, mp_page);
  // Consecutive units usually lie side by side; in a short command an earlier read may be of the
  // same page.
  ReadOp* near = list.back();
  if (near != nullptr && near->mp_page != mp_page) near = list.size() <= k_look_back ? list.front() : nullptr;
  while (near != nullptr && near->mp_page != mp_page) near = ReadList::after(*near);
  if (near != nullptr && near->copy_of == k_no_unit && at + layout.units_per_page > near->low &&
      at < near->high + layout.units_per_page) {
    ReadPool::widen(*near, at);
    return *near;
  }
  ReadOp& read = take_read(where);
  list.push(read);
  return read;
}

ReadOp& Core::take_read(Ppn where) {
  const std::uint32_t mp_page = layout.mp_page_of(where);
  ReadOp& read = reads.take(mp_page, layout.block_of_mp_page(mp_page), layout.in_mp_page(where, mp_page));
  pool.pin(read.block);
  return read;
}

void Core::resolve(ReadList& list) {
  list.operations = list.size();
  for (ReadOp& read : list) {
    const std::uint32_t pu = layout.pu_of(read.block);
    const std::uint32_t first_plane = read.low / layout.units_per_page;
    const std::uint32_t last_plane = read.high / layout.units_per_page;
    const Layout::Place place = layout.place_of(read.mp_page - read.block * layout.block_mp_pages);
    FlashOp& op = read.op;
    op.command = FlashCommand::read;
    op.die = layout.die_of(pu, place.lane);
    op.plane = static_cast<PlaneId>(index(layout.plane_of(pu)) + first_plane);
    op.planes = static_cast<std::uint16_t>(last_plane - first_plane + 1);
    op.block = static_cast<BlockId>(read.block - pu * layout.blocks);
    op.page = static_cast<PageId>(place.page);
    op.pages = 1;
    op.mode = mode_of(read.block);
    op.first_slot = read.low - first_plane * layout.units_per_page;
    op.slots = read.high - read.low + 1;
    hw.flash.prefetch(op);
  }
}

void Core::start_read(ReadOp& read, Latch& latch, Purpose purpose, Ledger* parent, bool alone) {
  if (read.follows) return;
  set_up(read, latch, purpose);
  ReadOp* apart = read.joined == nullptr ? nullptr : part_unlike(read, latch, purpose);
  Ledger* ledger = parent;
  if (parent != nullptr && (!alone || apart != nullptr)) {
    read.ledger = parent->fork();
    ledger = &read.ledger;
  }
  start_chain(read, ledger);
  while (apart != nullptr) {
    ReadOp& other = *std::exchange(apart, apart->joined);
    other.joined = nullptr;
    if (parent != nullptr) other.ledger = parent->fork();
    start_chain(other, parent != nullptr ? &other.ledger : nullptr);
  }
}

/// Settles how a read is to be done.
void Core::set_up(ReadOp& read, Latch& latch, Purpose purpose) {
  FlashOp& op = read.op;
  op.purpose = purpose;
  op.suspended_for_host = false;
  op.status = FlashStatus::ok;
  op.spare = &read.spare[read.low];
  op.stamps = &read.stamps[std::size_t{read.low} * layout.sectors];
  op.next_plane = nullptr;
  op.on_done = &ended_due;
  op.on_done_self = &read;
  op.code = EccCode::none;
  op.worst_errors = 0;
  op.failed_slots = 0;
  read.latch = &latch;
  read.core = this;
  if (ecc) {
    const ReadAttempt first = ecc->first(facts(read));
    op.code = first.code;
    op.retry_level = first.retry_level;
    if (hw.decisions != nullptr) tell_code(read, "first attempt", config.ecc.policy);
  }
  for (Feature* const feature : hooks.pass_voltage) op.pass_voltage = feature->pass_voltage(read.block);
}

/// Takes off a read, and returns as a chain, those joined to it that the policies want to be read
/// with another code or other voltages: one command reads all planes alike.
ReadOp* Core::part_unlike(ReadOp& read, Latch& latch, Purpose purpose) {
  ReadOp* apart = nullptr;
  for (ReadOp* last = &read; last->joined != nullptr;) {
    ReadOp& other = *last->joined;
    set_up(other, latch, purpose);
    const FlashOp& op = read.op;
    if (other.op.code == op.code && other.op.retry_level == op.retry_level &&
        other.op.pass_voltage == op.pass_voltage) {
      last = &other;
      continue;
    }
    last->joined = other.joined;
    other.joined = apart;
    other.op.buffer_address = op.buffer_address;
    apart = &other;
  }
  return apart;
}

/// Starts a read, with those that are joined to it as one operation, charged to `ledger`.
void Core::start_chain(ReadOp& read, Ledger* ledger) {
  for (ReadOp* link = &read; link != nullptr; link = link->joined) {
    link->op.ledger = ledger;
    link->op.next_plane = link->joined == nullptr ? nullptr : &link->joined->op;
    ++read.latch->pending;
  }
  ++stats.reads[static_cast<std::size_t>(read.op.purpose)];
  if (hw.flash.submit(read.op)) ended(read);
}

/// Flash is done with a read and those that are joined to it; each goes on by itself.
void Core::ended(ReadOp& first) {
  for (ReadOp* read = &first; read != nullptr;) {
    ReadOp& one = *std::exchange(read, read->joined);  // end_flash() may give the last of all reads back
    one.op.next_plane = nullptr;
    end_flash(one);
  }
}

// ---- error correction

PageFacts Core::facts(const ReadOp& read) const {
  if (!ecc_looks_at_age_) return {.block = read.block};
  const BlockInfo& info = pool.info(read.block);
  constexpr double k_day = 86'400e9;
  return {read.block, cycles_before + pool.worn(read.block),
          static_cast<double>(clock() - info.written) / k_day};
}

void Core::after_decoder(ReadOp& read) {
  for (Feature* const feature : hooks.first_attempt) feature->on_first_attempt(read);
  if (read.op.status == FlashStatus::uncorrectable) {
    rereads_.start(read_again(read));
  } else {
    end_decoding(read);
  }
}

void Core::end_decoding(ReadOp& read) {
  const FlashOp& op = read.op;
  stats.decoded_bits += std::uint64_t{op.slots} * layout.unit_bytes * 8;
  if (op.status == FlashStatus::uncorrectable) {
    ++stats.lost_reads;
    stats.lost_frames += op.failed_frames;
  } else {
    const std::uint32_t frames = op.slots * frames_per_unit_;
    // Where several attempts brought the slots to light together, the last one failed at some of
    // them, and what was wrong there has not been corrected by it.
    if (op.failed_frames == 0) {
      stats.decoded_frames += frames;
      stats.corrected_bits += op.wrong_bits;
    }
    ecc->decoded(facts(read), {op.code, op.retry_level},
                 {op.worst_errors, static_cast<double>(op.wrong_bits) / frames});
  }
  read.latch->arrive(op.ledger);
}

// Tries what the policy names until every slot has been decoded once or the policy gives up. All of
// it is charged to retrying.
Task<> Core::read_again(ReadOp& read) {
  FlashOp& op = read.op;
  Ledger* const ledger = std::exchange(op.ledger, nullptr);
  const PageFacts page = facts(read);
  ++stats.retried_reads;
  op.pass_voltage = 1;
  Salvage salvage(read, layout.sectors);
  for (std::uint32_t tried = 1; salvage.incomplete(); ++tried) {
    const auto next = ecc->next(page, {op.code, op.retry_level}, tried);
    if (!next) {
      if (hw.decisions != nullptr) tell_code(read, "given up", "the policy names no further attempt");
      break;
    }
    ++stats.retries;
    op.code = next->code;
    op.retry_level = next->retry_level;
    if (hw.decisions != nullptr) tell_code(read, "another attempt", "the last one was not decoded");
    co_await RunStage(hw, Stage::flash, nullptr);
    FlashAwait again(hw, op);
    co_await again;
    salvage.add();
  }
  salvage.finish();
  op.ledger = ledger;
  if (ledger != nullptr) ledger->charge(Cause::retry, hw.event_queue.now());
  end_decoding(read);
}

void Core::check_spare(const ReadOp& read, std::uint32_t at) const {
  if (read.spare[at] == read.wanted[at]) return;
  const std::uint32_t pu = layout.pu_of(read.block);
  const Layout::Place place = layout.place_of(read.mp_page - read.block * layout.block_mp_pages);
  throw std::logic_error(fmt::format(
      "firmware: physical unit {} (die {}, plane {}, block {}, page {}, unit {}) should hold logical unit {} "
      "but its spare area says {}",
      std::uint64_t{read.mp_page} * layout.mp_page_units + at, index(layout.die_of(pu, place.lane)),
      index(layout.plane_of(pu)) + at / layout.units_per_page, read.block - pu * layout.blocks, place.page,
      at % layout.units_per_page, read.wanted[at], read.spare[at]));
}

void Core::claim(ProgramJob& job, WriteTarget target, Purpose purpose, std::uint64_t buffer_address) {
  job.target = target;
  job.base =
      job.mode == BlockMode::slc ? pool.claim_slc(job.pu, clock()) : pool.claim(job.pu, target, clock());
  prepare(job, purpose, buffer_address);
}

void Core::prepare(ProgramJob& job, Purpose purpose, std::uint64_t buffer_address) {
  job.block = layout.block_of(job.base);
  job.purpose = purpose;
  job.charged = purpose == Purpose::host || purpose == Purpose::map;
  const std::uint32_t first_mp_page = layout.mp_page_of(job.base) - job.block * layout.block_mp_pages;
  for (std::uint32_t n = 0; n < job.operations; ++n) {
    const Layout::Place place = layout.place_of(first_mp_page + n * layout.program_pages);
    FlashOp& op = job.parts[n].op;
    op.command = FlashCommand::program;
    op.purpose = purpose;
    op.suspended_for_host = false;
    op.writes_wait = writes_wait;
    op.die = layout.die_of(job.pu, place.lane);
    op.plane = layout.plane_of(job.pu);
    op.planes = static_cast<std::uint16_t>(layout.planes);
    op.block = static_cast<BlockId>(job.block - job.pu * layout.blocks);
    op.page = static_cast<PageId>(place.page);
    op.mode = job.mode;
    op.pages = static_cast<std::uint16_t>(job.mode == BlockMode::slc ? 1 : layout.program_pages);
    op.first_slot = 0;
    op.slots = job.mode == BlockMode::slc ? layout.mp_page_units : layout.die_units;
    op.spare = &job.spare[std::size_t{n} * layout.die_units];
    op.stamps = &job.stamps[std::size_t{n} * layout.die_units * layout.sectors];
    op.buffer_address = buffer_address + std::uint64_t{n} * layout.die_units * layout.unit_bytes;
    op.ledger = job.charged ? &job.ledger : nullptr;
    if (job.parts[n].copy_from != k_nowhere) copy_on_die(op, job.parts[n].copy_from);
  }
  if (hw.decisions != nullptr) tell_program(job);
}

void Core::copy_on_die(FlashOp& op, Ppn from) {
  const BlockNumber block = layout.block_of(from);
  const std::uint32_t pu = layout.pu_of(block);
  const Layout::Place place = layout.place_of(layout.mp_page_of(from) - block * layout.block_mp_pages);
  if (layout.die_of(pu, place.lane) != op.die || layout.plane_of(pu) != op.plane)
    throw std::logic_error("firmware: a copy on the die was to leave it");
  op.command = FlashCommand::copyback;
  op.source_mode = mode_of(block);
  op.source_block = static_cast<BlockId>(block - pu * layout.blocks);
  op.source_page = static_cast<PageId>(place.page);
  ++stats.copybacks;
}

void Core::put(ProgramJob& job, Lpn unit, std::uint32_t source, const Stamp* stamps) {
  const std::uint32_t slot = layout.program_slot(job.live, job.mode);
  job.spare[slot] = unit;
  std::copy_n(stamps, layout.sectors, &job.stamps[std::size_t{slot} * layout.sectors]);
  job.source[job.live++] = source;
}

void Core::put_hole(ProgramJob& job) {
  const std::uint32_t slot = layout.program_slot(job.live);
  job.spare[slot] = k_no_unit;
  std::fill_n(&job.stamps[std::size_t{slot} * layout.sectors], layout.sectors, k_zeros);
  job.source[job.live++] = ProgramJob::k_hole;
  ++job.holes;
}

void Core::pad(ProgramJob& job) {
  for (std::uint32_t n = job.live; n < layout.units_of_program(job.mode); ++n) {
    const std::uint32_t slot = layout.program_slot(n, job.mode);
    job.spare[slot] = k_no_unit;
    std::fill_n(&job.stamps[std::size_t{slot} * layout.sectors], layout.sectors, k_zeros);
  }
}

void Core::check_capacity() {
  if (read_only) return;
  if (map->set_aside() > 0 ? !map->fits(pool) : pool.usable() < needed_units()) go_read_only();
}

void Core::deallocate(Lpn unit, Ppn where) {
  note_remap(unit, where, k_nowhere, "deallocated");
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
  note_remap(places->first_of(block), old, job.base, "block-mapped region written anew");
  for (std::uint32_t n = 0; n < places->units(); ++n) {
    if (old != k_nowhere) pool.invalidate(old + n);
    pool.validate(job.base + n, job.block);
  }
  places->place(block, job.base);
}

Task<> Core::erase(BlockNumber block, BlockMode mode) {
  if (!pool.info(block).failed) {
    const std::uint32_t pu = layout.pu_of(block);
    co_await RunStage(hw, Stage::flash, nullptr, layout.lanes);
    std::vector<FlashOp> ops(layout.lanes);
    for (std::uint32_t lane = 0; lane < layout.lanes; ++lane) {
      FlashOp& op = ops[lane];
      op.command = FlashCommand::erase;
      op.mode = mode;
      op.purpose = Purpose::gc;
      op.writes_wait = writes_wait;
      op.die = layout.die_of(pu, lane);
      op.plane = layout.plane_of(pu);
      op.planes = static_cast<std::uint16_t>(layout.planes);
      op.block = static_cast<BlockId>(block - pu * layout.blocks);
    }
    pool.check_erasable(block);
    FlashAwait done(hw, ops);
    co_await done;
    const auto erased =
        std::count_if(ops.begin(), ops.end(), [](const FlashOp& op) { return op.status == FlashStatus::ok; });
    stats.erases += static_cast<std::uint64_t>(erased);
    stats.erase_failures += ops.size() - static_cast<std::uint64_t>(erased);
    if (static_cast<std::size_t>(erased) == ops.size()) {
      tell_block(DecisionKind::erase, "erased", name_of_mode(mode), block);
      pool.erased(block, mode);
      co_return;
    }
  }
  tell_block(DecisionKind::retire, "retired",
             pool.info(block).failed ? "a program of it has failed" : "its erase has failed", block);
  pool.retire(block);
  check_capacity();
}

void Core::program_failed(const ProgramJob& job) {
  ++stats.program_failures;
  count_program(job, job.purpose);
  stats.units_padded[static_cast<std::size_t>(job.purpose)] += job.live;  // these slots are lost
  tell_block(DecisionKind::retire, "to be emptied and retired", "a program of it has failed", job.block);
  pool.programmed(job.block, true);
  check_capacity();
}

// ---- the log of decisions

void Core::tell_block(DecisionKind kind, std::string_view what, std::string_view why,
                      BlockNumber block) const {
  if (!wanted(hw, kind)) return;
  note(hw, {.kind = kind,
            .what = what,
            .why = why,
            .pu = layout.pu_of(block),
            .block = block,
            .valid = pool.info(block).valid});
}

void Core::tell_remap(Lpn unit, Ppn from, Ppn to, std::string_view why) const {
  Decision decision{.kind = DecisionKind::remap, .what = "mapped", .why = why};
  decision.lpns = {&unit, 1};
  decision.from = from;
  decision.to = to;
  if (to != k_nowhere) decision.block = layout.block_of(to);
  note(hw, decision);
}

void Core::tell_program(const ProgramJob& job) const {
  if (!wanted(hw, DecisionKind::write)) return;
  const BlockInfo& info = pool.info(job.block);
  const bool opened = layout.first_unit(job.block) == job.base;
  const std::string why = fmt::format("{} data for the {} stream, {}{}", name_of(job.purpose),
                                      name_of(job.target), opened ? "a block just opened" : "the open block",
                                      job.mode == BlockMode::slc ? " in SLC mode" : "");
  std::vector<Lpn> units;
  for (std::uint32_t n = 0; n < job.live; ++n) units.push_back(job.spare[layout.program_slot(n, job.mode)]);
  note(hw, {.kind = DecisionKind::write,
            .what = "program",
            .why = why,
            .pu = job.pu,
            .block = job.block,
            .valid = info.valid,
            .lpns = units,
            .to = job.base});
}

void Core::tell_code(const ReadOp& read, std::string_view what, std::string_view why) const {
  if (!wanted(hw, DecisionKind::ecc)) return;
  const std::string text =
      fmt::format("{}: code {}, read-retry level {}", why, name_of(read.op.code), read.op.retry_level);
  std::vector<Lpn> units;
  for (std::uint32_t at = read.low; at <= read.high; ++at) {
    if (read.wanted[at] != k_no_unit) units.push_back(read.wanted[at]);
  }
  note(hw, {.kind = DecisionKind::ecc,
            .what = what,
            .why = text,
            .pu = layout.pu_of(read.block),
            .block = read.block,
            .lpns = units});
}

}  // namespace tlmssd::firmware
