// The accesses, the fetches and the writes. What is said about them is in report.cpp.
#include "testbench/host/file_cache/file_cache.h"

#include <algorithm>
#include <fmt/format.h>

#include "models/base/make_policy.h"
#include "models/tlm/kernel_time.h"
#include "testbench/host/host_driver.h"

namespace tlmssd {

FileCache::FileCache(const sc_core::sc_module_name& name, const FileCacheConfig& config,
                     const AttachedDrive& drive, EventQueue& event_queue, PslcQuery pslc)
    : sc_core::sc_module(name),
      host_("host_tsock", event_queue, *this),
      port_("drive_isock", event_queue, drive.lba_bytes, drive.queues, drive.queue_depth),
      config_(config),
      drive_(drive),
      event_queue_(event_queue),
      shape_(file_cache_shape(config, drive)),
      most_(static_cast<std::uint32_t>(drive.max_transfer / drive.lba_bytes)),
      apps_(make_app_files(config, drive.lba_bytes)),
      policy_(
          make_policy(admission_family(), "file_cache.admission", config.admission, config.admission_policy,
                      AdmissionContext{config.files, config.file_size, std::move(pslc), apps_, config.seed})),
      store_(config.files, shape_.slots),
      fetched_(config.files, 0) {}

FileCache::~FileCache() = default;

void FileCache::set_timed(bool timed) {
  timed_ = timed;
  port_.set_timed(timed);
}

Bytes FileCache::limit() const {
  return policy_->limit(Bytes{shape_.slots} * config_.file_size);
}

Stamp FileCache::stamp(FileNumber file, std::uint32_t fetch, std::uint32_t block) const {
  const auto unit = static_cast<std::uint32_t>(std::max<Bytes>(drive_.mapping_page / drive_.lba_bytes, 1));
  const std::uint32_t units = (shape_.file_blocks + unit - 1) / unit;
  return make_stamp(file * units + block / unit, static_cast<std::uint16_t>(fetch), block % unit);
}

Picoseconds FileCache::arrival_of(Picoseconds begin, std::uint32_t blocks) const {
  return begin + config_.latency + transfer_time(Bytes{blocks} * drive_.lba_bytes, config_.bandwidth);
}

// ---- the host's commands

bool FileCache::on_drive(LbaRange range) const {
  return range.blocks <= blocks() && range.lba <= blocks() - range.blocks;
}

/// It is one of the files that apps may delete, the whole of it.
bool FileCache::is_file(LbaRange range) const {
  if (!apps_ || range.lba < blocks() || range.lba - blocks() >= file_blocks()) return false;
  return (range.lba - blocks()) % shape_.file_blocks == 0 && range.blocks == blocks_of(file_at(range.lba));
}

/// What the drive itself does not know: where it ends, and the files behind.
HostStatus FileCache::validate(const HostCommand& command) const {
  if (command.queue >= drive_.queues) return HostStatus::invalid_field;
  if (command.opcode == HostOpcode::flush) return HostStatus::success;
  const LbaRange range{command.lba, command.blocks};
  if (command.opcode == HostOpcode::trim) {
    const auto all = [&command](auto&& are) {
      return std::all_of(command.ranges().begin(), command.ranges().end(), are);
    };
    const bool good = all([this](const LbaRange& one) { return on_drive(one); }) ||
                      all([this](const LbaRange& one) { return is_file(one); });
    return good ? HostStatus::success : HostStatus::lba_out_of_range;
  }
  if (on_drive(range)) return HostStatus::success;
  if (range.lba < blocks() || range.blocks > file_blocks() ||
      range.lba - blocks() > file_blocks() - range.blocks)
    return HostStatus::lba_out_of_range;
  const std::uint64_t first = (range.lba - blocks()) % shape_.file_blocks;
  const bool within = range.blocks > 0 && first + range.blocks <= blocks_of(file_at(range.lba)) &&
                      command.data().size() == range.blocks;
  return command.opcode == HostOpcode::read && within ? HostStatus::success : HostStatus::invalid_field;
}

void FileCache::start(Entry& entry) {
  HostCommand& command = *entry.command;
  command.ledger.charge(Cause::submission, event_queue_.now());
  command.status = validate(command);
  if (command.status != HostStatus::success) {
    host_.end(entry);
  } else if (command.opcode == HostOpcode::read && command.lba >= blocks()) {
    tasks_.start(access(entry));
  } else if (command.opcode == HostOpcode::trim && !command.ranges().empty() &&
             !on_drive(command.ranges().front())) {
    remove(entry);
  } else {
    tasks_.start(pass(entry));
  }
}

/// A command for the drive.
Task<> FileCache::pass(Entry& entry) {
  HostCommand& command = *entry.command;
  DriveBatch batch(port_, command.ledger, command.queue);
  batch.pass(command);
  entry.waits_for = "the drive";
  co_await batch;
  command.ledger = batch.last();
  command.status = batch.status();
  host_.end(entry);
}

/// Apps delete files. One that is just being written goes when it has been.
void FileCache::remove(Entry& entry) {
  std::vector<Slot> slots;
  for (const LbaRange& range : entry.command->ranges()) {
    const FileNumber file = file_at(range.lba);
    ++stats_.deleted;
    policy_->deleted(file);
    if (const auto fetch = under_way_.find(file); fetch != under_way_.end()) fetch->second.wanted = false;
    const std::optional<Slot> slot = store_.find(file);
    if (!slot) continue;
    if (store_.writing(*slot)) {
      deleted_.insert(*slot);
      continue;
    }
    store_.remove(*slot);
    if (!store_.is_read(*slot)) slots.push_back(*slot);  // else its last reader releases it
  }
  if (!slots.empty()) tasks_.start(release(std::move(slots)));
  host_.end(entry);
}

/// A read of a file or a part of it.
Task<> FileCache::access(Entry& entry) {
  HostCommand& command = *entry.command;
  if (timed_ && config_.cost > 0) {
    entry.waits_for = "the host's software";
    WaitUntil done{event_queue_, event_queue_.now() + config_.cost};
    co_await done;
    command.ledger.charge(Cause::host_software, event_queue_.now());
  }
  const FileNumber file = file_at(command.lba);
  const auto first = static_cast<std::uint32_t>((command.lba - blocks()) % shape_.file_blocks);
  ++stats_.accesses;
  bool here = policy_->accessed(file);
  if (here) ++stats_.memory_hits;
  for (std::optional<Slot> slot; !here && (slot = store_.find(file));)
    here = co_await read_copy(entry, *slot, first);  // a copy that cannot be read is gone afterwards
  if (!here) co_await from_network(entry, file, first);
  std::fill(command.data().begin(), command.data().end(), k_zeros);
  host_.end(entry);
}

/// False: the drive cannot read it.
Task<bool> FileCache::read_copy(Entry& entry, Slot slot, std::uint32_t first) {
  HostCommand& command = *entry.command;
  const FileNumber file = *store_.file(slot);
  const std::uint32_t fetch = store_.fetch(slot);
  store_.touch(slot);
  if (store_.writing(slot)) {
    ++stats_.hits;
    ++stats_.hits_unwritten;
    co_return true;
  }
  store_.begin_read(slot);
  DriveBatch batch(port_, command.ledger, command.queue);
  batch.move(HostOpcode::read, lba_of(slot) + first, command.data(), most_);
  entry.waits_for = "reads of the drive";
  co_await batch;
  command.ledger = batch.last();
  const bool good = batch.status() == HostStatus::success;
  if (good) {
    check(command, file, fetch, first);
    ++stats_.hits;
  } else {
    ++stats_.refetched;
    if (store_.file(slot) == file) store_.remove(slot);
  }
  const bool last = store_.end_read(slot) == 0;
  if (last && !store_.file(slot)) tasks_.start(release({slot}));
  co_return good;
}

void FileCache::check(const HostCommand& command, FileNumber file, std::uint32_t fetch,
                      std::uint32_t first) const {
  for (std::uint32_t i = 0; i < command.blocks; ++i) {
    const Stamp expected = stamp(file, fetch, first + i);
    if (command.data()[i] == expected) continue;
    throw DataMismatch(
        fmt::format("at {} ps: the copy of file {} holds {:04x} in block {} instead of {:04x}, of fetch {}",
                    event_queue_.now(), file, command.data()[i], first + i, expected, fetch));
  }
}

Task<> FileCache::from_network(Entry& entry, FileNumber file, std::uint32_t first) {
  HostCommand& command = *entry.command;
  Picoseconds begin = 0;
  if (const auto found = under_way_.find(file); found != under_way_.end()) {
    ++stats_.joined;
    begin = found->second.begin;
    found->second.wanted = true;
  } else {
    ++stats_.misses;
    stats_.bytes_fetched += bytes_of(file);
    begin = std::max(event_queue_.now(), network_free_);
    if (timed_) network_free_ = begin + transfer_time(bytes_of(file), config_.bandwidth);
    tasks_.start(fetch(file, begin));
  }
  if (!timed_) co_return;
  entry.waits_for = "the network";
  WaitUntil here{event_queue_, arrival_of(begin, first + command.blocks)};
  co_await here;
  stats_.network += event_queue_.now() - command.ledger.mark();
  command.ledger.charge(Cause::network, event_queue_.now());
}

// ---- beside them

/// A file comes over the network.
Task<> FileCache::fetch(FileNumber file, Picoseconds begin) {
  ++background_;
  under_way_[file] = {begin};
  if (timed_) {
    WaitUntil here{event_queue_, arrival_of(begin, blocks_of(file))};
    co_await here;
  }
  const bool wanted = under_way_.at(file).wanted;
  under_way_.erase(file);
  fetched_[file] = ++fetches_;
  const std::vector<AdmissionPolicy::Verdict> verdicts =
      wanted ? policy_->fetched(file) : std::vector<AdmissionPolicy::Verdict>{{file, false}};
  for (const AdmissionPolicy::Verdict& verdict : verdicts) {
    if (verdict.write) {
      admit(verdict.file);
    } else {
      ++stats_.rejected;
    }
  }
  --background_;
}

/// A file is to be written. Also brings the cache below the policy's limit, whatever becomes of the
/// file.
void FileCache::admit(FileNumber file) {
  if (store_.find(file)) return;
  if (read_only_) {
    ++stats_.without_room;
    return;
  }
  const auto most = std::min<Bytes>(store_.slots(), limit() / config_.file_size);
  std::vector<Slot> evicted;
  const auto evict = [&] {
    const std::optional<Slot> victim = store_.victim();
    if (!victim) return false;
    store_.remove(*victim);
    evicted.push_back(*victim);
    ++stats_.evicted;
    return true;
  };
  while (store_.used() + 1 > most && evict()) {
  }
  std::optional<Slot> slot;
  if (store_.used() + 1 <= most) {
    slot = store_.take_free();
    // Otherwise that of a file that goes; slots that others have given up are still being trimmed.
    if (!slot && (!evicted.empty() || evict())) {
      slot = evicted.back();
    }
  }
  if (!slot) {
    ++stats_.without_room;
    if (!evicted.empty()) tasks_.start(release(std::move(evicted)));
    return;
  }
  store_.insert(*slot, file, fetched_[file]);
  tasks_.start(write(*slot, std::move(evicted)));
}

/// The file of `slot` to the drive, after what had to go for it.
Task<> FileCache::write(Slot slot, std::vector<Slot> evicted) {
  ++background_;
  co_await trim(evicted);
  for (const Slot other : evicted) {
    if (other != slot) store_.freed(other);
  }
  const FileNumber file = *store_.file(slot);
  std::vector<Stamp> data(blocks_of(file));
  for (std::uint32_t i = 0; i < data.size(); ++i) data[i] = stamp(file, store_.fetch(slot), i);
  const Ledger since(event_queue_.now());
  DriveBatch batch(port_, since, 0);
  batch.move(HostOpcode::write, lba_of(slot), data, most_);
  co_await batch;
  if (batch.status() == HostStatus::success) {
    ++stats_.written;
    stats_.bytes_written += bytes_of(file);
    store_.committed(slot);
    if (deleted_.erase(slot) > 0) {
      store_.remove(slot);
      if (!store_.is_read(slot)) tasks_.start(release({slot}));
    }
  } else {
    ++stats_.failed_writes;
    read_only_ = read_only_ || batch.status() == HostStatus::write_protected;
    deleted_.erase(slot);
    store_.remove(slot);
    store_.freed(slot);
  }
  --background_;
}

/// Slots that hold nothing any more become free.
Task<> FileCache::release(std::vector<Slot> slots) {
  ++background_;
  co_await trim(slots);
  for (const Slot slot : slots) store_.freed(slot);
  --background_;
}

Task<> FileCache::trim(const std::vector<Slot>& slots) {
  const Ledger since(event_queue_.now());
  DriveBatch batch(port_, since, 0);
  for (const Slot slot : slots) batch.trim({lba_of(slot), shape_.file_blocks});
  co_await batch;
  read_only_ = read_only_ || batch.status() == HostStatus::write_protected;
}

}  // namespace tlmssd
