#include "firmware/core.h"

#include <fmt/format.h>
#include <stdexcept>

#include "firmware/make_policy.h"
#include "models/common/input_error.h"

namespace tlmssd::firmware {

namespace {

constexpr std::uint32_t k_look_back =
    4;  // a command with no more reads than this is searched for one to join

VictimContext victim_context(const Layout& layout, const FirmwareConfig& config) {
  return {layout.groups, layout.blocks, layout.block_units, config.seed};
}

}  // namespace

std::unique_ptr<WearPolicy> make_wear(const FirmwareConfig& config, const Layout& layout) {
  return make_policy(wear_family(), "firmware.wear.policy", config.wear.policy, config.wear_policy,
                     layout.groups);
}

BlockPool::Options pool_options(const FirmwareConfig& config, const WearPolicy& wear) {
  if (config.allocation.streams != "shared" && config.allocation.streams != "separate") {
    throw InputError(fmt::format(
        "firmware.allocation.streams: '{}' is neither separate nor shared; nearest valid: separate",
        config.allocation.streams));
  }
  if (config.gc.low_water == 0)
    throw InputError("firmware.gc.low_water: 0 leaves garbage collection no room; nearest valid: 1");
  return {config.allocation.streams == "shared", config.gc.low_water, wear.moves_data()};
}

Core::Core(Hardware& hardware, const DriveShape& shape, const FirmwareConfig& configuration,
           CoreEvents& listener)
    : hw(hardware),
      layout(shape, configuration.allocation.multi_plane),
      config(configuration),
      map(make_policy(mapping_family(), "firmware.mapping.scheme", config.mapping.scheme, nullptr, layout)),
      victims(make_policy(victim_family(), "firmware.gc.policy", config.gc.policy, config.gc_policy,
                          victim_context(layout, config))),
      wear(make_wear(config, layout)),
      pool(layout, pool_options(config, *wear)),
      reads(layout),
      jobs(layout),
      events(listener) {
  config.gc_policy = nullptr;
  config.wear_policy = nullptr;
  pool.attach(*victims, *wear);
}

ReadOp& Core::add_read(ReadList& list, PhysicalUnit where) {
  const std::uint32_t row = layout.row_of(where);
  const std::uint32_t at = where - row * layout.row_units;
  // Consecutive units usually lie side by side; in a short command an earlier read may be of the same page.
  ReadOp* near = list.last != nullptr && list.last->row == row ? list.last : nullptr;
  if (near == nullptr && list.count <= k_look_back) {
    for (near = list.first; near != nullptr && near->row != row;) near = near->next;
  }
  if (near != nullptr && at + layout.units_per_page > near->low && at < near->high + layout.units_per_page) {
    ReadPool::widen(*near, at);
    return *near;
  }
  ReadOp& read = reads.take(row, layout.block_of_row(row), at);
  pool.pin(read.block);
  list.push(read);
  return read;
}

void Core::aim(ReadList& list) {
  for (ReadOp* read = list.first; read != nullptr; read = read->next) {
    const std::uint32_t group = layout.group_of(read->block);
    const std::uint32_t first_plane = read->low / layout.units_per_page;
    const std::uint32_t last_plane = read->high / layout.units_per_page;
    FlashOp& op = read->op;
    op.command = FlashCommand::read;
    op.die = layout.die_of(group);
    op.plane = static_cast<PlaneId>(index(layout.plane_of(group)) + first_plane);
    op.planes = static_cast<std::uint16_t>(last_plane - first_plane + 1);
    op.block = static_cast<BlockId>(read->block - group * layout.blocks);
    op.page = static_cast<PageId>(read->row - read->block * layout.pages);
    op.pages = 1;
    op.first_slot = read->low - first_plane * layout.units_per_page;
    op.slots = read->high - read->low + 1;
    hw.flash.foresee(op);
  }
}

void Core::start_read(ReadOp& read, Latch& latch, Purpose purpose, Ledger* parent, bool alone) {
  FlashOp& op = read.op;
  op.purpose = purpose;
  op.suspended_for_host = false;
  op.status = FlashStatus::ok;
  op.spare = &read.spare[read.low];
  op.stamps = &read.stamps[std::size_t{read.low} * layout.sectors];
  op.next = nullptr;
  op.ledger = parent;
  if (parent != nullptr && !alone) {
    read.ledger = parent->fork();
    op.ledger = &read.ledger;
  }
  op.on_done = &ReadOp::done;
  op.on_done_self = &read;
  read.latch = &latch;
  ++stats.reads[static_cast<std::size_t>(purpose)];
  ++latch.pending;
  if (hw.flash.submit(op)) {
    --latch.pending;
    latch.last = op.ledger;
  }
}

void Core::check_spare(const ReadOp& read, std::uint32_t at) const {
  if (read.spare[at] == read.wanted[at]) return;
  const std::uint32_t group = layout.group_of(read.block);
  throw std::logic_error(fmt::format(
      "firmware: physical unit {} (die {}, plane {}, block {}, page {}, unit {}) should hold logical unit {} "
      "but its spare area says {}",
      std::uint64_t{read.row} * layout.row_units + at, index(layout.die_of(group)),
      index(layout.plane_of(group)) + at / layout.units_per_page, read.block - group * layout.blocks,
      read.row - read.block * layout.pages, at % layout.units_per_page, read.wanted[at], read.spare[at]));
}

void Core::claim(ProgramJob& job, Stream stream, Purpose purpose, std::uint64_t buffer_address) {
  job.base = pool.claim(job.group, stream);
  job.block = layout.block_of(job.base);
  FlashOp& op = job.op;
  op.command = FlashCommand::program;
  op.purpose = purpose;
  op.suspended_for_host = false;
  op.die = layout.die_of(job.group);
  op.plane = layout.plane_of(job.group);
  op.planes = static_cast<std::uint16_t>(layout.planes);
  op.block = static_cast<BlockId>(job.block - job.group * layout.blocks);
  op.page = static_cast<PageId>(layout.row_of(job.base) - job.block * layout.pages);
  op.pages = static_cast<std::uint16_t>(layout.program_pages);
  op.first_slot = 0;
  op.slots = layout.program_units;
  op.spare = job.spare.get();
  op.stamps = job.stamps.get();
  op.buffer_address = buffer_address;
  op.ledger = purpose == Purpose::host ? &job.ledger : nullptr;
}

void Core::put(ProgramJob& job, LogicalUnit unit, std::uint32_t source, const Stamp* stamps) {
  const std::uint32_t slot = layout.program_slot(job.live);
  job.spare[slot] = unit;
  std::copy_n(stamps, layout.sectors, &job.stamps[std::size_t{slot} * layout.sectors]);
  job.source[job.live++] = source;
}

void Core::pad(ProgramJob& job) {
  for (std::uint32_t n = job.live; n < layout.program_units; ++n) {
    const std::uint32_t slot = layout.program_slot(n);
    job.spare[slot] = k_no_unit;
    std::fill_n(&job.stamps[std::size_t{slot} * layout.sectors], layout.sectors, k_zeros);
  }
}

void Core::program_failed(const ProgramJob& job) {
  ++stats.program_failures;
  count_program(job, job.op.purpose);
  stats.units_padded[static_cast<std::size_t>(job.op.purpose)] += job.live;  // these slots are lost
  pool.programmed(job.block, true);
  check_capacity();
}

}  // namespace tlmssd::firmware
