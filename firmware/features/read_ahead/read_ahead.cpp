#include "firmware/features/read_ahead/read_ahead.h"

#include <fmt/format.h>

#include "firmware/buffer/flusher.h"
#include "firmware/flash/read_batch.h"
#include "models/base/input_error.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

const ParameterTable<ReadAheadConfig>& ReadAheadConfig::parameters() {
  static const auto table =
      ParameterTable<ReadAheadConfig>{}
          .bytes("window", &ReadAheadConfig::window, {4096, 1'073'741'824},
                 "bytes beyond the end of a stream that are fetched ahead, in pieces of half of it")
          .integer("streams", &ReadAheadConfig::streams, {1, 1024},
                   "runs of reads in order that are known at a time; each has room for a window in DRAM")
          .integer("after", &ReadAheadConfig::after, {1, 1000},
                   "read commands in order after which data are fetched ahead of them");
  return table;
}

std::vector<PolicyInfo> ReadAhead::policies() {
  return {{std::string(k_no_policy), "nothing is fetched before the host asks for it", {}},
          {"sequential", "what follows on reads of the host that are in order", {}}};
}

ReadAhead::ReadAhead(const FeatureContext& context)
    : core_(context.core),
      flusher_(context.flusher),
      joiner_(context.joiner),
      front_(context.front),
      dram_address_(context.dram_address),
      policy_name_(context.choice.policy),
      config_(context.choice.read<ReadAheadConfig>()),
      window_(static_cast<std::uint32_t>(config_.window / core_.layout.unit_bytes)),
      // What is fetched ends with whole pages, and begins in the midst of the host's own unit.
      room_(config_.streams * (window_ + core_.layout.units_per_page + 1)),
      streams_(config_.streams),
      table_(room_),
      copies_(room_),
      stamps_(std::size_t{room_} * core_.layout.sectors) {
  if (window_ < 2) {
    throw refusal(
        "firmware.read_ahead.window",
        fmt::format("{} B are no two mapping pages (firmware.mapping.unit), of which one is fetched "
                    "while the other is read",
                    config_.window),
        fmt::format("{} B", 2 * core_.layout.unit_bytes));
  }
  for (std::uint32_t n = 0; n < room_; ++n) {
    copies_[n].number = n;
    copies_[n].stamps = &stamps_[std::size_t{n} * core_.layout.sectors];
    free_.push_back(room_ - 1 - n);
  }
}

// ---------------------------------------------------------------------------------------------------------------- fetching

void ReadAhead::on_host_command(const HostCommand& command) {
  if (command.opcode == HostOpcode::read) streams_.read(command.lba, command.blocks);
}

void ReadAhead::on_read_end() {
  for (ReadStream& stream : streams_) fetch_for(stream);
}

void ReadAhead::fetch_for(ReadStream& stream) {
  if (stream.commands < config_.after) return;
  const Layout& layout = core_.layout;
  const std::uint64_t here = stream.next / layout.sectors;
  const std::uint64_t from = std::max(here, stream.fetched);
  const std::uint64_t whole_pages =
      (here + window_ + layout.units_per_page - 1) / layout.units_per_page * layout.units_per_page;
  const std::uint64_t to = std::min(whole_pages, layout.logical_units);
  const bool at_the_end = to == layout.logical_units;
  if (to <= from || (to - from < window_ / 2 && !at_the_end)) return;
  const auto units = static_cast<std::uint32_t>(to - from);
  const bool needless = in_front(from, units);
  if (!needless && !make_room(units)) return;
  stream.fetched = to;
  if (needless) return;
  ++under_way_;
  tasks_.start(fetch(static_cast<Lpn>(from), units));
}

bool ReadAhead::in_front(std::uint64_t first, std::uint64_t units) const {
  const std::uint64_t sectors = core_.layout.sectors;
  return front_ != nullptr && front_->covers(first * sectors, units * sectors);
}

Task<> ReadAhead::fetch(Lpn first, std::uint32_t units) {
  Hardware& hw = core_.hw;
  RunStage translate(hw, Stage::translate, nullptr, units);
  co_await translate;
  if (core_.map_in_host()) {
    co_await core_.look_up_in_host(first, units, nullptr);
  } else {
    if (!core_.map_at_hand(first, units)) co_await core_.map->fetch(first, units, nullptr);
    const MappingScheme::Span where = core_.map_entries(first, units);
    MemoryAccess entries(hw, MemoryKind::dram, where.address, where.bytes, false, nullptr, Cause::map_fetch);
    co_await entries;
  }
  ReadBatch reads(core_, Purpose::host, dram_address_, nullptr, joiner_);
  for (std::uint32_t n = 0; n < units; ++n) {
    Copy* const copy = take(first + n);
    if (copy != nullptr) reads.add(copy->where, copy->unit, copy->number);
  }
  co_await reads;
  reads.drain([this](const ReadOp& read, std::uint32_t at) {
    const bool lost = read.lost(at);
    if (!lost) check_read(core_, read, at);
    arrived(copies_[read.need[at]], lost, read.content(at));
  });
  --under_way_;
  core_.events.work_ended();
}

/// A copy for what lies in flash of `unit`; null where there is nothing to fetch.
ReadAhead::Copy* ReadAhead::take(Lpn unit) {
  const WriteBuffer& buffer = flusher_.buffer();
  const Ppn where = core_.lookup(unit);
  if (where == k_nowhere || buffer.find(unit) != WriteBuffer::k_none || core_.poisoned.contains(unit) ||
      free_.empty() || in_front(unit, 1))
    return nullptr;
  if (const std::uint32_t known = table_.find(unit); known != UnitHash::k_none) {
    if (is_of(copies_[known], where)) return nullptr;
    forget(copies_[known], counters_.outdated);
  }
  if (free_.empty()) return nullptr;
  Copy& copy = copies_[free_.back()];
  free_.pop_back();
  copy.unit = unit;
  copy.where = where;
  copy.erases = erases_at(where);
  copy.left = core_.layout.all_sectors();
  copy.there = copy.lost = copy.used = false;
  copy.known = true;
  table_.insert(unit, copy.number);
  order_.push(copy);
  ++counters_.fetched;
  return &copy;
}

/// Has copies go that lie there longest, until there is room for so many. False: what is left is on
/// its way, or being waited for.
bool ReadAhead::make_room(std::uint32_t units) {
  for (Copy* copy = order_.front(); copy != nullptr && free_.size() < units;) {
    Copy& oldest = *std::exchange(copy, order_.after(*copy));
    if (oldest.there && oldest.users == 0) forget(oldest, counters_.unused);
  }
  return free_.size() >= units;
}

void ReadAhead::arrived(Copy& copy, bool lost, const Stamp* stamps) {
  copy.there = true;
  copy.lost = lost;
  copy_stamps(stamps, core_.layout.sectors, &stamps_[std::size_t{copy.number} * core_.layout.sectors]);
  while (const auto waiter = copy.waiting.pop()) core_.hw.event_queue.soon(waiter);
  if (lost && copy.known) {
    forget(copy, counters_.lost);
  } else {
    free_if_done(copy);
  }
}

// ------------------------------------------------------------------------------------------------------------------ being read

FlashCopy* ReadAhead::copy_of(Lpn unit, Ppn where, std::uint64_t need) {
  const std::uint32_t number = table_.find(unit);
  if (number == UnitHash::k_none) return nullptr;
  Copy& copy = copies_[number];
  if (!is_of(copy, where)) {  // moved
    forget(copy, counters_.outdated);
    return nullptr;
  }
  if (!copy.used) ++counters_.used;
  if (!copy.there) ++counters_.waits;
  copy.used = true;
  copy.left &= ~need;
  ++copy.users;
  return &copy;
}

void ReadAhead::give_back(FlashCopy& given) {
  auto& copy = static_cast<Copy&>(given);
  --copy.users;
  if (copy.known && copy.there && copy.left == 0 && copy.users == 0) {
    forget(copy, counters_.unused);
  } else {
    free_if_done(copy);
  }
}

// ------------------------------------------------------------------------------------------------------------------- giving up

void ReadAhead::on_rewritten(Lpn unit) {
  const std::uint32_t number = table_.find(unit);
  if (number != UnitHash::k_none) forget(copies_[number], counters_.outdated);
}

void ReadAhead::drop() {
  while (!order_.empty()) forget(*order_.front(), counters_.unused);
}

/// No command finds the copy any more; `why` counts it if none has.
void ReadAhead::forget(Copy& copy, std::uint64_t& why) {
  if (!copy.used) ++why;
  copy.known = false;
  table_.erase(copy.unit);
  order_.erase(copy);
  free_if_done(copy);
}

void ReadAhead::free_if_done(Copy& copy) {
  if (!copy.known && copy.there && copy.users == 0) free_.push_back(copy.number);
}

// --------------------------------------------------------------------------------------------------------------------- lasting

std::uint64_t ReadAhead::not_used_yet() const {
  std::uint64_t number = 0;
  for (const Copy* copy = order_.front(); copy != nullptr; copy = order_.after(*copy))
    if (!copy->used) ++number;
  return number;
}

void ReadAhead::report(StatisticsSink& sink) const {
  sink.open("read ahead", k_doc);
  sink.text("policy", policy_name_, k_choice_doc);
  sink.value("units fetched", counters_.fetched, "units",
             "mapping pages read from flash before the host asked");
  sink.value("units used", counters_.used, "units", "of these, read by the host");
  sink.value("units unused", counters_.unused, "units",
             "of these, given up unread, for want of room or because the drive was to rest");
  sink.value("units outdated", counters_.outdated, "units",
             "of these, written, trimmed or moved before they were read");
  sink.value("units lost", counters_.lost, "units", "of these, not to be decoded");
  sink.value("waits", counters_.waits, "", "times that a command wanted a unit that was on its way");
  sink.close();
}

void ReadAhead::archive(Archive& a) {
  streams_.archive(a);
  a(counters_);
}

}  // namespace tlmssd::firmware
