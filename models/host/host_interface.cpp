#include "models/host/host_interface.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/tlm/kernel_time.h"

namespace tlmssd {

using Payload = tlm::tlm_generic_payload;

namespace {

constexpr Bytes k_nvme_range = 16;
constexpr Bytes k_ata_range = 8;  // ATA/ATAPI Command Set: LBA range entries in blocks of 512 B
constexpr std::uint64_t k_ata_range_blocks = 0xFFFF;  // that one of them names at most
constexpr Bytes k_ata_block = 512;

}  // namespace

HostInterface::HostInterface(const sc_core::sc_module_name& name, const HostConfig& config,
                             const HostWiring& wiring, EventQueue& event_queue)
    : sc_core::sc_module(name),
      host_tsock("host_tsock", *this, event_queue),
      mailbox_isock("mailbox_isock", *this, event_queue),
      memory_("memory_isock", event_queue),
      memory_isock(memory_.socket),
      config_(config),
      wiring_(wiring),
      event_queue_(event_queue),
      link_(config),
      arbiter_(config),
      depth_(config.effective_depth()),
      limit_(config.outstanding_limit == 0 ? std::numeric_limits<std::uint32_t>::max()
                                           : config.outstanding_limit),
      buffers_(wiring.buffer_bytes / config.max_transfer),
      sata_(config.is_sata()),
      queues_(config.effective_queues()) {
  config.validate();
  if (buffers_ == 0)
    throw std::logic_error("the host interface's buffer holds less than one longest transfer");
  for (std::uint32_t i = 0; i < queues_.size(); ++i) {
    queues_[i].host = this;
    queues_[i].index = i;
  }
}

// --------------------------------------------------------------------------------------------------------------------- entries

namespace {

/// What a TLM-2.0 initiator is told of a command that has ended.
tlm::tlm_response_status response_of(HostStatus status) {
  if (status == HostStatus::success) return tlm::TLM_OK_RESPONSE;
  return status == HostStatus::lba_out_of_range ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                : tlm::TLM_GENERIC_ERROR_RESPONSE;
}

/// Whether SATA has the command among those of its queue (NCQ).
bool is_queued(HostOpcode opcode) {
  return opcode == HostOpcode::read || opcode == HostOpcode::write;
}

}  // namespace

/// Finds or makes the command behind a payload. Null: there is no making sense of it; the response
/// status says why.
HostInterface::Entry* HostInterface::adopt(Payload& payload) {
  auto* entry = payload.get_extension<HostExtension>();
  if (entry == nullptr) {
    entry = adopt_plain(payload);
    if (entry == nullptr) return nullptr;
  } else {
    entry->plain = false;
  }
  entry->status = HostStatus::success;
  if (entry->queue >= queues_.size()) {
    entry->status = HostStatus::invalid_field;
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return nullptr;
  }
  entry->host = this;
  entry->payload = &payload;
  if (free_indices_.empty()) {
    entry->index = indices_++;
  } else {
    entry->index = free_indices_.back();
    free_indices_.pop_back();
  }
  entry->buffer_address = wiring_.buffer_address + entry->index % buffers_ * config_.max_transfer;
  return entry;
}

/// A bus master that knows nothing of drives: a plain read or write of stamps on queue 0.
HostInterface::Entry* HostInterface::adopt_plain(Payload& payload) {
  const auto refuse = [&payload](tlm::tlm_response_status why) {
    payload.set_response_status(why);
    return nullptr;
  };
  const unsigned length = payload.get_data_length();
  if (!payload.is_read() && !payload.is_write()) return refuse(tlm::TLM_COMMAND_ERROR_RESPONSE);
  if (payload.get_address() % config_.lba_size != 0) return refuse(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  if (length % sizeof(Stamp) != 0 || payload.get_streaming_width() < length)
    return refuse(tlm::TLM_BURST_ERROR_RESPONSE);
  if (payload.get_byte_enable_ptr() != nullptr) return refuse(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  Entry& entry = plain_.take();
  static_cast<HostCommand&>(entry) = HostCommand();
  entry.plain = true;
  entry.opcode = payload.is_read() ? HostOpcode::read : HostOpcode::write;
  entry.lba = payload.get_address() / config_.lba_size;
  entry.blocks = length / static_cast<unsigned>(sizeof(Stamp));
  entry.set_data({static_cast<Stamp*>(static_cast<void*>(payload.get_data_ptr())), entry.blocks});
  entry.ledger = Ledger(event_queue_.now());
  payload.set_extension<HostExtension>(&entry);
  return &entry;
}

/// Gives the payload back as it came.
void HostInterface::abandon(Entry& entry) {
  if (entry.plain) entry.payload->clear_extension(&entry);
}

void HostInterface::forget(Entry& entry) {
  free_indices_.push_back(entry.index);
  if (entry.plain) plain_.give(entry);
}

/// What comes over the link with the command.
Bytes HostInterface::fetched_bytes(const HostCommand& command) const {
  if (command.opcode == HostOpcode::write) return data_bytes(command);
  if (command.opcode != HostOpcode::trim) return 0;
  if (!config_.is_sata()) return command.ranges().size() * k_nvme_range;
  std::uint64_t entries = 0;
  for (const LbaRange& range : command.ranges())
    entries += (std::uint64_t{range.blocks} + k_ata_range_blocks - 1) / k_ata_range_blocks;
  return (entries * k_ata_range + k_ata_block - 1) / k_ata_block * k_ata_block;
}

void HostInterface::count(const HostCommand& command) {
  const auto opcode = static_cast<std::size_t>(command.opcode);
  ++counters_.commands[opcode];
  if (command.status != HostStatus::success) {
    ++counters_.failed;
    return;
  }
  Bytes blocks = command.blocks;
  if (command.opcode == HostOpcode::trim) {
    blocks = 0;
    for (const LbaRange& range : command.ranges()) blocks += range.blocks;
  }
  if (command.opcode != HostOpcode::flush) counters_.bytes[opcode] += blocks * config_.lba_size;
}

// ------------------------------------------------------------------------------------------------------------------ submission

Reply HostInterface::request(unsigned /*index*/, Payload& payload, Picoseconds when) {
  Entry* const adopted = adopt(payload);
  if (adopted == nullptr) return Reply::completed(when);
  Entry& entry = *adopted;
  entry.arrived = when;
  const bool full = queues_[entry.queue].taken >= depth_;
  if (full || when > event_queue_.now()) {
    stalled_ = &entry;
    arriving_ = when > event_queue_.now();
    if (full) ++counters_.stalls;
    if (arriving_) {
      event_queue_.at(
          when,
          [](void* self) {
            auto& host = *static_cast<HostInterface*>(self);
            host.arriving_ = false;
            host.admit_stalled();
            host.pump();
          },
          this);
    }
    return Reply::held();  // nothing else can come: one place is enough
  }
  enqueue(entry);
  pump();
  return Reply::accepted();
}

void HostInterface::enqueue(Entry& entry) {
  Queue& queue = queues_[entry.queue];
  ++queue.taken;
  ++queued_;
  queue.waiting.push(entry);
  arbiter_.set_waiting(entry.queue, true);
}

void HostInterface::admit_stalled() {
  if (stalled_ == nullptr || arriving_ || queues_[stalled_->queue].taken >= depth_) return;
  Entry& entry = *std::exchange(stalled_, nullptr);
  enqueue(entry);
  host_tsock.accept(entry);
}

/// Whether a command of SATA may be issued beside those under way: the next one of its only queue.
bool HostInterface::may_issue() const {
  if (under_way_ == 0) return true;
  return !alone_ && is_queued(queues_.front().waiting.front()->opcode);
}

/// The queue stands for a non-queued command: one under way, or its first one, which waits for all
/// before it.
void HostInterface::hold_up() {
  const auto owner =
      alone_ ? alone_owner_ : static_cast<std::uint8_t>(queues_.front().waiting.front()->ledger.owner());
  if (held_since_ != k_never && holds_up_ == owner) return;
  go_on();
  holds_up_ = owner;
  held_since_ = event_queue_.now();
}

/// All that waits has stood behind that command since it was there, if the queue stands at all.
void HostInterface::go_on() {
  if (held_since_ == k_never) return;
  const Picoseconds now = event_queue_.now();
  const auto stood = [&](Entry& entry) {
    const Picoseconds from = std::max(held_since_, entry.ledger.mark());
    if (from < now) entry.ledger.stood_behind(k_behind_alone + holds_up_, now - from);
  };
  for (Entry& entry : queues_.front().waiting) stood(entry);
  if (stalled_ != nullptr && !arriving_) stood(*stalled_);
  counters_.held_up += now - std::max(held_since_, counted_from_);
  held_since_ = k_never;
}

void HostInterface::pump() {
  while (under_way_ < limit_ && queued_ > 0) {
    if (sata_) {
      if (!may_issue()) return hold_up();
      go_on();
    }
    Queue& queue = queues_[arbiter_.next()];
    Entry& entry = queue.waiting.pop();
    if (queue.waiting.empty()) arbiter_.set_waiting(queue.index, false);
    --queued_;
    ++under_way_;
    if (sata_) {
      alone_ = !is_queued(entry.opcode);
      alone_owner_ = static_cast<std::uint8_t>(entry.ledger.owner());
    }
    ++queue.fetched;
    queue.waited += event_queue_.now() - entry.arrived;
    fetch(entry);
  }
}

// ----------------------------------------------------------------------------------------------------------------------- fetch

void HostInterface::fetch(Entry& entry) {
  const Picoseconds now = event_queue_.now();
  entry.ledger.charge(Cause::submission, now);
  entry.status = validate(entry, limits());
  const Bytes data = entry.status == HostStatus::success ? fetched_bytes(entry) : 0;
  const Link::Fetch times = link_.fetch(now, data);
  // A doorbell that has not arrived yet delays the whole by what is missing.
  const Picoseconds late = std::max<Picoseconds>(entry.arrived + link_.doorbell() - now, 0);
  entry.link_end = times.data_end + late;
  if (data == 0 || entry.opcode != HostOpcode::write) {
    link_.begin_data(now, data);
    fetched(entry, now);
    return;
  }
  event_queue_.at(
      times.data_start + late,
      [](void* self) { static_cast<Entry*>(self)->host->begin_payload(*static_cast<Entry*>(self)); }, &entry);
}

/// The first payload byte arrives: DRAM takes the data as they come.
void HostInterface::begin_payload(Entry& entry) {
  const Bytes data = data_bytes(entry);
  link_.begin_data(event_queue_.now(), data);
  const Picoseconds end = memory_.access(
      entry.buffer_address, data, true,
      [](void* self) {
        auto& late = *static_cast<Entry*>(self);
        late.host->fetched(late, late.host->event_queue_.now());
      },
      &entry);
  if (end != k_never) fetched(entry, end);
}

/// Entry and payload are known to be in at max(link, memory): hands the command to the mailbox
/// then.
void HostInterface::fetched(Entry& entry, Picoseconds memory_end) {
  Ledger& ledger = entry.ledger;
  // A late memory answers after some of this has passed; what lies ahead is charged ahead.
  ledger.charge(Cause::link, entry.link_end);
  if (memory_end > entry.link_end) ledger.charge(Cause::memory, memory_end);
  event_queue_.at(
      std::max(entry.link_end, memory_end),
      [](void* self) {
        auto& done = *static_cast<Entry*>(self);
        if (done.status == HostStatus::success) {
          done.host->mailbox_isock.send(done);
        } else {
          done.host->answer(done);
        }
      },
      &entry);
}

// ---------------------------------------------------------------------------------------------------------------------- answer

void HostInterface::responded(unsigned /*index*/, Payload& payload, Picoseconds when) {
  Entry& entry = *payload.get_extension<HostExtension>();
  entry.host = this;
  if (!payload.is_response_ok() && entry.status == HostStatus::success)
    entry.status = HostStatus::invalid_field;
  const bool needs_memory = entry.opcode == HostOpcode::read && entry.status == HostStatus::success;
  if (needs_memory || when > event_queue_.now()) {
    // A call of the backward path must not lead into one of the forward path (the memory's).
    event_queue_.at(
        when, [](void* self) { static_cast<Entry*>(self)->host->answer(*static_cast<Entry*>(self)); },
        &entry);
  } else {
    answer(entry);
  }
}

void HostInterface::answer(Entry& entry) {
  const Picoseconds now = event_queue_.now();
  if (entry.ledger.mark() < now) {
    counters_.unexplained += now - entry.ledger.mark();
    entry.ledger.charge(Cause::firmware, now);
  }
  const bool sends = entry.opcode == HostOpcode::read && entry.status == HostStatus::success;
  const Bytes data = sends ? data_bytes(entry) : 0;
  const Link::Answer times = link_.answer(now, data);
  entry.link_end = times.data_end;
  entry.completion = times.completion + config_.interrupt_latency;
  if (!sends) {
    answered(entry, now);
    return;
  }
  const Picoseconds end = memory_.access(
      entry.buffer_address, data, false,
      [](void* self) {
        auto& late = *static_cast<Entry*>(self);
        late.host->answered(late, late.host->event_queue_.now());
      },
      &entry);
  if (end != k_never) answered(entry, end);
}

void HostInterface::answered(Entry& entry, Picoseconds memory_end) {
  Ledger& ledger = entry.ledger;
  if (memory_end > entry.link_end) {
    ledger.charge(Cause::link, entry.link_end);
    ledger.charge(Cause::memory, memory_end);
  }
  const Picoseconds seen = std::max(memory_end, entry.link_end) + entry.completion;
  ledger.charge(Cause::link, seen);
  event_queue_.at(
      seen, [](void* self) { static_cast<Entry*>(self)->host->completed(*static_cast<Entry*>(self)); },
      &entry);
}

void HostInterface::completed(Entry& entry) {
  if (config_.coalesce_count <= 1) {
    ++counters_.interrupts;
    host_tsock.respond(entry);
    return;
  }
  Queue& queue = queues_[entry.queue];
  queue.coalescing.push(entry);
  if (queue.coalescing.size() >= config_.coalesce_count) {
    flush(queue);
  } else if (queue.coalescing.size() == 1) {
    queue.deadline = event_queue_.now() + config_.coalesce_time;
    event_queue_.at(
        queue.deadline,
        [](void* self) {
          auto& late = *static_cast<Queue*>(self);
          // The interrupt may have gone out meanwhile, and a later one may be held back with a
          // deadline of its own.
          if (!late.coalescing.empty() && late.host->event_queue_.now() >= late.deadline)
            late.host->flush(late);
        },
        &queue);
  }
}

void HostInterface::flush(Queue& queue) {
  ++counters_.interrupts;
  for (std::uint32_t n = queue.coalescing.size(); n > 0; --n) host_tsock.respond(queue.coalescing.pop());
}

Picoseconds HostInterface::responding(Entry& entry) {
  const Picoseconds now = event_queue_.now();
  if (entry.ledger.mark() < now)
    entry.ledger.charge(config_.coalesce_count > 1 ? Cause::interrupt_wait : Cause::link, now);
  count(entry);
  entry.payload->set_response_status(response_of(entry.status));
  abandon(entry);
  return now;
}

/// The host has consumed the completion: slot and payload are free again.
void HostInterface::consumed(Entry& entry) {
  --queues_[entry.queue].taken;
  --under_way_;
  forget(entry);
  admit_stalled();
  pump();
  if (outstanding() == 0 && quiet_ != nullptr) quiet_(quiet_self_);
}

// ------------------------------------------------------------------------------------------------------------- debug, blocking

unsigned HostInterface::debug(unsigned /*index*/, Payload& payload) {
  Entry* const entry = adopt(payload);
  if (entry == nullptr) return 0;
  unsigned moved = 0;
  entry->status = validate(*entry, limits());
  if (entry->status == HostStatus::success) moved = mailbox_isock->transport_dbg(payload);
  count(*entry);
  abandon(*entry);
  forget(*entry);
  return moved;
}

void HostInterface::blocking(unsigned /*index*/, Payload& payload, sc_core::sc_time& /*delay*/) {
  payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
}

// ------------------------------------------------------------------------------------------------------------------ statistics

void HostInterface::report(StatisticsSink& sink) const {
  sink.open("host", "host interface and link");
  for (std::size_t i = 0; i < counters_.commands.size(); ++i) {
    sink.open(name_of(static_cast<HostOpcode>(i)), "commands of one kind");
    sink.value("commands", counters_.commands[i], "commands", "commands completed");
    sink.value("bytes", counters_.bytes[i], "B", "logical bytes of the commands that succeeded");
    sink.close();
  }
  sink.value("failed", counters_.failed, "commands", "commands completed with an error status");
  sink.value("interrupts", counters_.interrupts, "interrupts", "interrupts raised");
  sink.value("full queue", counters_.stalls, "commands", "commands that found their submission queue full");
  sink.value("unexplained", static_cast<double>(counters_.unexplained) * 1e-12, "s",
             "time in firmware that no wait was charged with (counted as firmware)");
  if (sata_) {
    const Picoseconds now = event_queue_.now();
    const Picoseconds held =
        counters_.held_up + (held_since_ == k_never ? 0 : now - std::max(held_since_, counted_from_));
    const Picoseconds all = std::max<Picoseconds>(now - counted_from_, 1);
    sink.value("queue held up", static_cast<double>(held) / static_cast<double>(all), "",
               "share of the time in which commands stood in the queue for one that SATA runs alone");
  }
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const double fetched = static_cast<double>(std::max<std::uint64_t>(queues_[i].fetched, 1));
    sink.open("queue " + std::to_string(i), "one submission queue");
    sink.value("fetched", queues_[i].fetched, "commands", "commands that the arbiter took");
    sink.value("mean wait", static_cast<double>(queues_[i].waited) * 1e-12 / fetched, "s",
               "mean time from submission until the arbiter took the command");
    sink.close();
  }
  link_.report(sink, event_queue_.now());
  sink.close();
}

void HostInterface::reset_statistics() {
  counters_ = {};
  counted_from_ = event_queue_.now();
  for (Queue& queue : queues_) {
    queue.fetched = 0;
    queue.waited = 0;
  }
  link_.reset_statistics(event_queue_.now());
}

}  // namespace tlmssd
