#include "firmware/buffer/flusher.h"

#include <algorithm>
#include <fmt/format.h>

#include "firmware/flash/program.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

namespace {

std::uint32_t checked_capacity(const Core& core) {
  const Bytes least = Bytes{2} * core.layout.program_units * core.layout.unit_bytes;
  const Bytes capacity = core.config.buffer.capacity;
  if (capacity < least && core.places != nullptr) {
    throw refusal("firmware.buffer.capacity",
                  fmt::format("{} B cannot hold two block-mapped regions of {} B each", capacity, least / 2),
                  fmt::format("{} B", least));
  }
  if (capacity < least) {
    throw refusal("firmware.buffer.capacity",
                  fmt::format("{} B cannot hold two program units of {} B each ({} planes x {} pages)",
                              capacity, least / 2, core.layout.planes, core.layout.program_pages),
                  fmt::format("{} B", least));
  }
  const Bytes most = Bytes{0x7FFFFFFF} * core.layout.unit_bytes;
  if (capacity > most) {
    throw refusal("firmware.buffer.capacity",
                  fmt::format("{} B is more than {} mapping pages", capacity, 0x7FFFFFFF),
                  fmt::format("{} B", most));
  }
  return static_cast<std::uint32_t>(capacity / core.layout.unit_bytes);
}

}  // namespace

Flusher::Flusher(Core& core)
    : core_(core),
      buffer_(checked_capacity(core), core.layout, core.map->dram_bytes(),
              core.pslc ? 2 : core.pool.handles()),
      space_(core, buffer_, *this),
      completions_(core, buffer_),
      turns_(core),
      queue_(core, buffer_),
      least_(core.layout.units_of_program(core.pslc ? BlockMode::slc : BlockMode::native)),
      threshold_(static_cast<std::uint32_t>(std::clamp(core.config.buffer.flush_at, 0.0, 1.0) *
                                            buffer_.capacity())) {}

// ---------------------------------------------------------------------------------------------------------------- sending out

void Flusher::pump() {
  if (pumping_) return;
  pumping_ = true;
  const bool one_line = buffer_.lines() == 1;
  while (!core_.read_only && (one_line ? send(0, false) : send_in_turn())) {
  }
  pumping_ = false;
  queue_.check(nullptr);
}

// The lines take turns, so that none keeps another from dies that can take a program. False:
// nothing of any line can be sent now.
bool Flusher::send_in_turn() {
  const std::uint8_t lines = buffer_.lines();
  std::uint8_t line = next_line_;
  bool sent = false;
  for (std::uint8_t tried = 0; tried < lines && !core_.read_only; ++tried) {
    sent = send(line, false);
    if (sent) break;
    line = line + 1 == lines ? 0 : line + 1;
  }
  if (!sent && !core_.read_only && all_lines_short()) sent = send(line = longest_line(), true);
  if (sent) next_line_ = line + 1 == lines ? 0 : line + 1;
  return sent;
}

/// A command waits for what is here, no program is under way, and each line for itself is too short
/// for one, though together they hold enough. That is all that a cache evicts at a time
/// (Cache::wants_more).
bool Flusher::all_lines_short() const {
  return awaited() && queue_.empty() && buffer_.waiting() >= core_.layout.program_units;
}

std::uint8_t Flusher::longest_line() const {
  std::uint8_t longest = 0;
  for (std::uint8_t line = 1; line < buffer_.lines(); ++line) {
    if (buffer_.waiting(line) > buffer_.waiting(longest)) longest = line;
  }
  return longest;
}

// False: nothing of the line is due, or there is no place for it now. `short_too`: even if it takes
// padding.
bool Flusher::send(std::uint8_t line, bool short_too) {
  const std::uint32_t waiting = buffer_.waiting(line);
  if (waiting == 0) return false;
  // Features that hold programs are asked every time, whatever comes of it.
  if (turns_.passed_over() && core_.hooks.holds_program.empty()) return false;
  const bool must = short_too || pressing(line);
  if (!must && (waiting < least_ || (buffer_.waiting() <= threshold_ && !awaited()))) return false;
  if (destination_->blocked() || (!core_.hooks.holds_program.empty() && held())) return false;
  const std::uint32_t position = turns_.position();
  turns_.ask_placement();
  Destination::Place to;
  // Of several lines, one that finds all busy leaves whose turn it is as it was.
  if (buffer_.lines() == 1 || !turns_.all_busy()) {
    to = destination_->next_place(line);
    // Where features keep it from is better than nowhere, if nothing under way will change that.
    if (!to && queue_.empty() && turns_.lift_placement()) to = destination_->next_place(line);
  }
  if (!to) {
    // Every parallel unit is full of programs on their way; with none on its way the drive has
    // nothing left to give.
    if (queue_.empty()) core_.go_read_only();
    return false;
  }
  if (!must && waiting < core_.layout.units_of_program(to.mode())) {
    turns_.go_back(position);
    return false;
  }
  ProgramJob& job = core_.jobs.take();
  job.pu = to.pu();
  job.mode = to.mode();
  job.ledger = Ledger(now());
  turns_.occupy(job.pu);
  destination_->fill(job, line);
  job.evicted = completions_.evictions() != nullptr && all_evicted(job);
  queue_.dispatched(job);
  for (Feature* const feature : core_.hooks.program) feature->on_program(job, turns_.restricted());
  tasks_.start(flush(job));
  return true;
}

bool Flusher::all_evicted(const ProgramJob& job) {
  return std::none_of(job.source.get(), job.source.get() + job.live, [this](WriteBuffer::Index i) {
    return i < ProgramJob::k_copied && buffer_.entry(i).from_host;
  });
}

bool Flusher::held() {
  const Hooks::List& hooks = core_.hooks.holds_program;
  return std::any_of(hooks.begin(), hooks.end(),
                     [this](Feature* feature) { return feature->holds_program(core_.layout.program_units); });
}

Task<> Flusher::flush(ProgramJob& job) {
  if (job.partial > 0) co_await destination_->read_modify_write(job);
  for (;;) {
    co_await RunStage(core_.hw, Stage::flash, &job.ledger);
    bool placed = !core_.read_only;
    if (placed && !destination_->claim_now(job)) placed = co_await destination_->claim(job);
    if (!placed) {
      fail(job);
      co_return;
    }
    Program program(core_, job);
    destination_->started(job);
    if (!program.await_ready()) destination_->prefetch(job);
    if (co_await program) break;
    destination_->on_failure(job);
  }
  destination_->commit(job);
  end(job);
}

void Flusher::fail(ProgramJob& job) {
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const WriteBuffer::Index i = job.source[n];
    if (i < ProgramJob::k_copied) completions_.abort(i);
  }
  end(job);
}

void Flusher::end(ProgramJob& job) {
  const std::uint32_t pu = job.pu;
  turns_.vacate(pu);
  destination_->release(job);
  queue_.ended(job);
  space_.note_program(job.ledger);
  space_.grant();
  queue_.check(&job.ledger);
  core_.jobs.give(job);
  destination_->ended(pu);
  for (Feature* const feature : core_.hooks.program_end) feature->on_program_end();
  if (buffer_.waiting() > 0) pump();
  if (Evictions* const evictions = completions_.evictions()) evictions->pump();
  core_.events.work_ended();
}

// ------------------------------------------------------------------------------------------------------------------------ trims

bool Flusher::discard(Lpn unit) {
  bool had_any = false;
  const WriteBuffer::Index i = buffer_.drop(unit, had_any);
  if (i != WriteBuffer::k_none) {
    completions_.complete(i, nullptr, false);
    buffer_.free_entry(i);
    space_.grant();
  }
  return had_any && core_.lookup(unit) == k_nowhere;
}

void Flusher::trim(Lpn unit, std::uint64_t sectors) {
  const WriteBuffer::Index i = buffer_.find(unit);
  if (i != WriteBuffer::k_none && buffer_.trim(i, sectors)) discard(unit);
}

std::uint64_t Flusher::discard(std::uint64_t first, std::uint64_t end) {
  if (buffer_.free() == buffer_.capacity()) return 0;
  std::uint64_t unknown = 0;
  if (end - first <= buffer_.capacity()) {
    for (std::uint64_t unit = first; unit < end; ++unit) unknown += discard(static_cast<Lpn>(unit)) ? 1 : 0;
    return unknown;
  }
  for (WriteBuffer::Index i = 0; i < buffer_.used(); ++i) {
    const WriteBuffer::Entry& entry = buffer_.entry(i);
    const bool here =
        entry.state != WriteBuffer::State::free && entry.state != WriteBuffer::State::superseded;
    if (here && entry.unit >= first && entry.unit < end) unknown += discard(entry.unit) ? 1 : 0;
  }
  return unknown;
}

// ----------------------------------------------------------------------------------------------------------------- end of life

void Flusher::now_read_only() {
  for (WriteBuffer::Index i = buffer_.take(); i != WriteBuffer::k_none; i = buffer_.take())
    completions_.abort(i);
  space_.now_read_only();
  queue_.check(nullptr);
}

void Flusher::power_lost() {
  for (WriteBuffer::Index i = buffer_.take(); i != WriteBuffer::k_none; i = buffer_.take()) {
    completions_.complete(i, nullptr, true);
    buffer_.release(i);
  }
  for (WriteBuffer::Index i = 0; i < buffer_.used(); ++i) {
    if (buffer_.entry(i).state == WriteBuffer::State::stranded) buffer_.release(i);
  }
}

void Flusher::archive(Archive& a) {
  a(buffer_);
  turns_.archive(a);
  queue_.archive(a);
  a(next_line_);
  a(force_);
}

}  // namespace tlmssd::firmware
