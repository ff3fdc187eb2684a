// The host's commands: how they come, what becomes of each, how they are answered. Cleaning is in
// cleaning.cpp.
#include "testbench/host/log_structured/log_structured_layer.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "testbench/host/log_structured/log_structured_parts.h"

namespace tlmssd {

LogStructuredLayer::LogStructuredLayer(const sc_core::sc_module_name& name, const LogStructuredConfig& config,
                                       const AttachedDrive& drive, EventQueue& event_queue)
    : sc_core::sc_module(name),
      host_("host_tsock", event_queue, *this),
      port_("drive_isock", event_queue, drive.lba_bytes, drive.queues, drive.queue_depth),
      config_(config),
      drive_(drive),
      event_queue_(event_queue),
      grain_blocks_(static_cast<std::uint32_t>(config.grain / drive.lba_bytes)),
      log_(log_shape(config, drive)),
      most_(static_cast<std::uint32_t>(
          std::min<Bytes>(drive.max_transfer / config.grain, log_.shape().segment_grains))),
      order_(event_queue) {}

LogStructuredLayer::~LogStructuredLayer() = default;

// ---- coming

std::unique_ptr<HostPort::Entry> LogStructuredLayer::make_entry() {
  auto request = std::make_unique<Request>();
  request->log_structured = this;
  return request;
}

void LogStructuredLayer::taken(HostPort::Entry& entry) {
  auto& request = static_cast<Request&>(entry);
  request.ticket = {};
  const HostOpcode opcode = request.command->opcode;
  request.unsent = opcode != HostOpcode::read && opcode != HostOpcode::flush;
}

void LogStructuredLayer::set_timed(bool timed) {
  timed_ = timed;
  port_.set_timed(timed);
}

void LogStructuredLayer::start(HostPort::Entry& entry) {
  auto& request = static_cast<Request&>(entry);
  HostCommand& command = *request.command;
  command.ledger.charge(Cause::submission, event_queue_.now());
  command.status = command.queue < drive_.queues
                       ? validate(command, {blocks(), drive_.lba_bytes, drive_.max_transfer})
                       : HostStatus::invalid_field;
  if (command.status != HostStatus::success) {
    tasks_.start(reject(request));
    return;
  }
  switch (command.opcode) {
    case HostOpcode::read:
      tasks_.start(read(request));
      break;
    case HostOpcode::write:
      tasks_.start(write(request));
      break;
    case HostOpcode::trim:
    case HostOpcode::write_zeroes:
      tasks_.start(clear(request));
      break;
    case HostOpcode::flush:
      tasks_.start(flush(request));
      break;
  }
}

/// What has passed since the ledger was last charged was spent here.
void LogStructuredLayer::charge(Request& request, Picoseconds& to) {
  to += event_queue_.now() - request.command->ledger.mark();
  request.command->ledger.charge(Cause::host_software, event_queue_.now());
}

/// The processor takes the command up; then earlier commands on the same grains take effect.
Task<> LogStructuredLayer::begin(Request& request) {
  if (timed_ && config_.cost > 0) {
    request.waits_for = "the host's processor";
    processor_free_ = std::max(processor_free_, event_queue_.now()) + config_.cost;
    WaitUntil done{event_queue_, processor_free_};
    co_await done;
    charge(request, stats_.processor);
  }
  if (request.ticket.blocked()) {
    request.waits_for = "an earlier command on the same grains";
    co_await request.ticket;
    charge(request, stats_.lba_hazard_wait);
  }
}

// ---- going

/// The command is answered and gone afterwards.
void LogStructuredLayer::end(Request& request) {
  sent(request);
  host_.end(request);
}

// ---- the commands

Task<> LogStructuredLayer::reject(Request& request) {
  co_await begin(request);
  end(request);
}

Task<> LogStructuredLayer::read(Request& request) {
  HostCommand& command = *request.command;
  const std::uint64_t end_block = command.lba + command.blocks;
  order_.enter(request.ticket, grain_of(command.lba), grain_of(end_block - 1), false);
  co_await begin(request);
  ++stats_.reads;
  Batch batch(command.ledger);
  for (std::uint64_t block = command.lba; block < end_block;) {
    const Place place = log_.lookup(grain_of(block));
    const std::uint64_t end = end_of_piece(block, end_block);
    const std::span<Stamp> data = command.data().subspan(block - command.lba, end - block);
    if (is_place(place)) {
      fetch(batch, place, block % grain_blocks_, data, command.queue);
      ++stats_.pieces_read;
    } else {
      std::fill(data.begin(), data.end(), k_zeros);
      if (place == SegmentLog::k_lost) command.status = HostStatus::media_error;
    }
    block = end;
  }
  order_.leave(request.ticket);
  request.waits_for = "reads of the drive";
  co_await batch;
  batch.settle(command);
  end(request);
}

/// Up to where the blocks from `block` on lie together, or nowhere, in one segment.
std::uint64_t LogStructuredLayer::end_of_piece(std::uint64_t block, std::uint64_t end_block) const {
  Grain grain = grain_of(block);
  const Place first = log_.lookup(grain);
  Place place = first;
  for (;;) {
    const std::uint64_t end = (std::uint64_t{++grain}) * grain_blocks_;
    if (end >= end_block) return end_block;
    const Place next = log_.lookup(grain);
    const bool together = is_place(first)
                              ? next == place + 1 && log_.segment_of(next) == log_.segment_of(place)
                              : next == first;
    if (!together) return end;
    place = next;
  }
}

Task<> LogStructuredLayer::write(Request& request) {
  HostCommand& command = *request.command;
  order_.enter(request.ticket, grain_of(command.lba), grain_of(command.lba + command.blocks - 1), true);
  co_await begin(request);
  stats_.blocks_written += command.blocks;
  co_await store(request, {command.lba, command.blocks}, command.data().data());
  if (command.status == HostStatus::success) stats_.blocks_stored += command.blocks;
  order_.leave(request.ticket);
  end(request);
}

/// Appends blocks (zeros, when there are no data) in whole grains, and waits until the drive has
/// them.
Task<> LogStructuredLayer::store(Request& request, LbaRange range, Stamp* data) {
  HostCommand& command = *request.command;
  const Grain first = grain_of(range.lba);
  const std::uint32_t grains = grain_of(range.lba + range.blocks - 1) - first + 1;
  std::span<Stamp> all(data, range.blocks);
  std::vector<Stamp> whole;
  if (range.lba % grain_blocks_ != 0 || range.blocks % grain_blocks_ != 0) {
    whole.assign(std::size_t{grains} * grain_blocks_, k_zeros);
    co_await read_edges(request, range, whole);
    if (command.status != HostStatus::success) co_return;
    Stamp* const from = whole.data() + range.lba % grain_blocks_;
    if (data == nullptr) {
      std::fill_n(from, range.blocks, k_zeros);
    } else {
      std::copy_n(data, range.blocks, from);
    }
    all = whole;
  }
  Batch batch(command.ledger);
  for (std::uint32_t done = 0; done < grains && command.status == HostStatus::success;) {
    request.waits_for = "a free segment";
    Reservation room(*this, std::min(grains - done, most_));
    co_await room;
    charge(request, stats_.segment_wait);
    if (room.run.grains == 0) {
      command.status = HostStatus::write_protected;
      break;
    }
    stats_.grains_appended += room.run.grains;
    Piece& piece = append(room.run, all.subspan(std::size_t{done} * grain_blocks_));
    piece.force_unit_access = command.force_unit_access;
    piece.grain = first + done;
    done += room.run.grains;
    send(batch, piece);
  }
  if (command.opcode == HostOpcode::write) sent(request);
  request.waits_for = "writes of the drive";
  co_await batch;
  batch.settle(command);
}

/// Reads the grains that the blocks cover in part into their places in `whole`.
Task<> LogStructuredLayer::read_edges(Request& request, LbaRange range, std::vector<Stamp>& whole) {
  HostCommand& command = *request.command;
  const std::uint64_t end_block = range.lba + range.blocks;
  const Grain first = grain_of(range.lba);
  const Grain last = grain_of(end_block - 1);
  Batch batch(command.ledger);
  const auto edge = [&](Grain grain) {
    const Place place = log_.lookup(grain);
    if (place == SegmentLog::k_lost) command.status = HostStatus::media_error;
    if (!is_place(place)) return;
    ++stats_.edges_read;
    fetch(batch, place, 0,
          std::span(whole).subspan(std::size_t{grain - first} * grain_blocks_, grain_blocks_), command.queue);
  };
  const bool head = range.lba % grain_blocks_ != 0;
  const bool tail = end_block % grain_blocks_ != 0;
  if (head) edge(first);
  if (tail && !(head && first == last)) edge(last);
  request.waits_for = "reads of the drive";
  co_await batch;
  batch.settle(command);
}

/// Trim and write zeroes.
Task<> LogStructuredLayer::clear(Request& request) {
  HostCommand& command = *request.command;
  const LbaRange own{command.lba, command.blocks};
  const auto ranges =
      command.opcode == HostOpcode::trim ? command.ranges() : std::span<const LbaRange>(&own, 1);
  for (const LbaRange& range : ranges) {
    if (range.blocks > 0)
      order_.enter(request.ticket, grain_of(range.lba), grain_of(range.lba + range.blocks - 1), true);
  }
  co_await begin(request);
  if (read_only_) command.status = HostStatus::write_protected;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (command.status == HostStatus::success && ranges[i].blocks > 0)
      co_await clear_range(request, ranges[i]);
  }
  order_.leave(request.ticket);
  end(request);
}

/// Edges first: when the drive refuses one, no whole grain has been given up.
Task<> LogStructuredLayer::clear_range(Request& request, LbaRange range) {
  const HostStatus& status = request.command->status;
  const std::uint64_t end_block = range.lba + range.blocks;
  const std::uint64_t whole_first = (range.lba + grain_blocks_ - 1) / grain_blocks_;
  const std::uint64_t whole_end = end_block / grain_blocks_;
  if (range.lba % grain_blocks_ != 0 && log_.lookup(grain_of(range.lba)) != SegmentLog::k_nowhere) {
    const std::uint64_t end = std::min(end_block, whole_first * grain_blocks_);
    co_await store(request, {range.lba, end - range.lba}, nullptr);
  }
  const bool tail = end_block % grain_blocks_ != 0 && whole_end >= whole_first;
  if (status == HostStatus::success && tail && log_.lookup(grain_of(end_block)) != SegmentLog::k_nowhere) {
    const std::uint64_t start = whole_end * grain_blocks_;
    co_await store(request, {start, end_block - start}, nullptr);
  }
  if (status != HostStatus::success) co_return;
  for (std::uint64_t g = log_.next_touched(whole_first, whole_end); g < whole_end;
       g = log_.next_touched(g + 1, whole_end))
    log_.deallocate(static_cast<Grain>(g));
  progress();
}

Task<> LogStructuredLayer::flush(Request& request) {
  HostCommand& command = *request.command;
  co_await begin(request);
  request.waits_for = "earlier writes to be sent";
  EarlierSent earlier{request};
  co_await earlier;
  charge(request, stats_.lba_hazard_wait);
  Batch batch(command.ledger);
  Piece& piece = take_piece();
  piece.opcode = HostOpcode::flush;
  piece.queue = 0;
  send(batch, piece);
  request.waits_for = "a flush of the drive";
  co_await batch;
  batch.settle(command);
  end(request);
}

/// All that the command changes is on its way to the drive.
void LogStructuredLayer::sent(Request& request) {
  request.unsent = false;
  for (HostPort::Entry& entry : host_.under_way()) {
    auto& other = static_cast<Request&>(entry);
    if (flushes_waiting_ == 0 || other.unsent) return;
    if (!other.flush) continue;
    --flushes_waiting_;
    event_queue_.soon(std::exchange(other.flush, nullptr));
  }
}

// ---- towards the drive

LogStructuredLayer::Piece& LogStructuredLayer::take_piece() {
  Piece& piece = pieces_.take([this] {
    auto made = std::make_unique<Piece>();
    made->log_structured = this;
    made->on_done = [](DrivePort::Command& done) {
      auto& ended = static_cast<Piece&>(done);
      ended.log_structured->completed(ended);
    };
    return made;
  });
  piece.force_unit_access = false;
  piece.lba = 0;
  piece.blocks = 0;
  piece.set_data({});
  piece.run = {};
  piece.pinned.reset();
  piece.moves = nullptr;
  return piece;
}

/// Reads blocks that lie together from the grain at `place` on, of which the first `skip` are left
/// out.
void LogStructuredLayer::fetch(Batch& batch, Place place, std::uint64_t skip, std::span<Stamp> data,
                               std::uint16_t queue) {
  Piece& piece = take_piece();
  piece.opcode = HostOpcode::read;
  piece.lba = std::uint64_t{place} * grain_blocks_ + skip;
  piece.blocks = static_cast<std::uint32_t>(data.size());
  piece.set_data(data);
  piece.queue = queue;
  piece.pinned = log_.segment_of(place);
  log_.pin(*piece.pinned);
  send(batch, piece);
}

/// A write of the first grains of `data` to the places of `run`, not sent yet.
LogStructuredLayer::Piece& LogStructuredLayer::append(SegmentLog::Run run, std::span<Stamp> data) {
  Piece& piece = take_piece();
  piece.opcode = HostOpcode::write;
  piece.lba = std::uint64_t{run.first} * grain_blocks_;
  piece.blocks = run.grains * grain_blocks_;
  piece.set_data(data.first(piece.blocks));
  piece.queue = 0;
  piece.run = run;
  return piece;
}

void LogStructuredLayer::send(Batch& batch, Piece& piece) {
  piece.batch = &batch;
  piece.ledger = batch.parent;
  ++batch.pending;
  port_.send(piece);
}

/// What was written is where it was written from now on, unless cleaning has been overtaken.
void LogStructuredLayer::land(const Piece& piece) {
  if (piece.status == HostStatus::write_protected) read_only_ = true;
  for (std::uint32_t i = 0; piece.status == HostStatus::success && i < piece.run.grains; ++i) {
    const Place place = piece.run.first + i;
    if (piece.moves == nullptr) {
      log_.map(piece.grain + i, place);
    } else if (log_.lookup(piece.moves[i].grain) == piece.moves[i].from) {
      log_.map(piece.moves[i].grain, place);
    }
  }
  log_.committed(piece.run);
}

void LogStructuredLayer::completed(Piece& piece) {
  Batch& batch = *piece.batch;
  if (piece.pinned) log_.unpin(*piece.pinned);
  if (piece.run.grains > 0) land(piece);
  if (batch.status == HostStatus::success) batch.status = piece.status;
  batch.last = piece.ledger;
  batch.any = true;
  pieces_.give(piece);
  progress();
  if (--batch.pending == 0 && batch.waiter) batch.waiter.resume();
}

// ---- reporting

double LogStructuredLayer::write_amplification() const {
  if (stats_.blocks_written == 0) return 0;
  return static_cast<double>(stats_.grains_appended + stats_.grains_moved) * grain_blocks_ /
         static_cast<double>(stats_.blocks_written);
}

void LogStructuredLayer::report(StatisticsSink& sink) const {
  const auto seconds = [](Picoseconds time) { return static_cast<double>(time) * 1e-12; };
  sink.open("log_structured", "software of the host that turns random writes into sequential ones");
  sink.text("policy", "log-structured", "how it does that");
  sink.value("write amplification", write_amplification(), "",
             "bytes written to the drive per byte that the host wrote; the drive's own comes on top");
  sink.value("segments cleaned", stats_.segments_cleaned, "segments",
             "segments that were emptied to be free again");
  sink.value("grains moved", stats_.grains_moved, "grains", "grains that cleaning wrote anew");
  sink.value("grains appended", stats_.grains_appended, "grains", "grains written for commands of the host");
  sink.value("edges read", stats_.edges_read, "grains", "grains read because a command covered them in part");
  sink.value(
      "pieces per read",
      stats_.reads == 0 ? 0 : static_cast<double>(stats_.pieces_read) / static_cast<double>(stats_.reads), "",
      "reads of the drive per read of the host");
  sink.value("grains lost", stats_.grains_lost, "grains", "grains that cleaning could not read");
  sink.value("segment waits", stats_.waits_for_segment, "waits",
             "times that a write waited for a free segment");
  sink.value("processor time", seconds(stats_.processor), "s",
             "time in which commands had or waited for the processor");
  sink.value("LBA hazard wait", seconds(stats_.lba_hazard_wait), "s", "time behind earlier commands");
  sink.value("segment wait", seconds(stats_.segment_wait), "s", "time without a free segment");
  sink.value("segments", std::uint64_t{log_.shape().segments}, "segments", "segments of the log");
  sink.value("free segments", std::uint64_t{log_.free_segments()}, "segments", "of these, free at the end");
  sink.value("grains mapped", std::uint64_t{log_.mapped()}, "grains", "grains that hold data at the end");
  sink.value("map bytes", log_.map_bytes(), "B",
             "map and reverse map in the host's memory, 4 B for each entry");
  sink.close();
}

Identity LogStructuredLayer::identity() const {
  Identity identity{{"log_structured.policy", "log-structured"}};
  identify(identity, "log_structured", config_);
  return identity;
}

void LogStructuredLayer::describe_stall(std::string& text) const {
  text +=
      fmt::format("log_structured: {} commands under way, {} of {} segments free{}", host_.under_way().size(),
                  log_.free_segments(), log_.shape().segments, cleaning_ ? ", cleaning" : "");
  host_.describe(text);
}

}  // namespace tlmssd
