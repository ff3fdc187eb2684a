// Queues, choice and bus of a channel. The steps of an operation are in flash_channel_steps.cpp.
#include "models/flash/flash_channel.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "models/base/input_error.h"

namespace tlmssd {

namespace {

[[noreturn]] void refuse_queue(DieQueue queue) {
  throw objection(
      "ssd.flash.scheduling.policy",
      fmt::format(
          "the policy puts an operation into queue {} of its die; there are 0 (urgent) and 1 (normal)",
          static_cast<unsigned>(queue)));
}

/// Only reads may be done while a program or erase is suspended: all else waits for its end.
bool may_interrupt(const FlashJob& job) {
  return job.queue == DieQueue::urgent && job.op->command == FlashCommand::read;
}

}  // namespace

FlashChannel::FlashChannel(const sc_core::sc_module_name& name, EventQueue& event_queue,
                           const FlashSetup& setup, ChannelId channel)
    : sc_core::sc_module(name),
      controller_tsock("controller_tsock", *this),
      event_queue_(event_queue),
      setup_(setup),
      channel_(channel),
      first_die_(index(channel) * setup.geometry.dies_per_channel()),
      step_pages_(setup.part.pages_per_step()),
      channel_order_(setup.scheduler.channel_order()),
      cache_read_(setup.config.cache_operations && setup.part.cache_read),
      cache_program_(setup.config.cache_operations && setup.part.cache_program),
      dies_(setup.geometry.dies_per_channel()) {
  setup.config.check_part(setup.part, setup.scheduler.overtakes());
  for (std::uint32_t way = 0; way < dies_.size(); ++way) {
    die_isock.emplace_back(("die_isock_" + std::to_string(way)).c_str(), *this, way);
    dies_[way].channel = this;
    dies_[way].socket = &die_isock.back();
    dies_[way].start.way = way;
    dies_[way].finish.way = way;
    dies_[way].finish.finish = true;
  }
  late_program_.queue = 1;
}

// ----------------------------------------------------------------------------------------------------------------- sockets

tlm::tlm_sync_enum FlashChannel::forward(unsigned /*index*/, tlm::tlm_generic_payload& payload,
                                         tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == data_phase) {
    in_forward_ = true;
    FlashJob& job = *std::exchange(awaiting_data_, nullptr);
    event_queue_.advance(arrival(event_queue_, delay));
    if (job.op->ledger != nullptr) job.op->ledger->charge(Cause::memory, event_queue_.now());
    if (gang_ != nullptr && gang_->shares() == BusGang::Shares::control) {
      data_there_ = &job;  // others may have the control lines meanwhile
    } else {
      command(job, 0);
      consider(die_of(job));
    }
    arbitrate();
    in_forward_ = false;
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  FlashJob* const found = job_of(payload);
  if (found == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  FlashJob& job = *found;
  if (index(job.op->die) - first_die_ >= dies_.size()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  payload.acquire();
  job.channel = this;
  job.queue = setup_.scheduler.queue(*job.op);
  if (job.queue > DieQueue::normal) refuse_queue(job.queue);
  job.pages_done = 0;
  job.pages_now = 0;
  job.suspends = 0;
  job.unsuspendable = false;
  job.not_suspended = 0;
  const Picoseconds when = arrival(event_queue_, delay);
  in_forward_ = true;
  if (when > event_queue_.now()) {
    event_queue_.at(when, &FlashChannel::admit_due, &job);
  } else {
    admit(job);
  }
  in_forward_ = false;
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

namespace {

/// The operation ends when its data are out: what goes on then was last touched long ago when many
/// commands wait, what firmware keeps behind the transaction, and the coroutine that waits for it,
/// which is 576 bytes long and has what `waiting` points at in its second line. The command itself
/// is fetched when the data begin to go out: more at once than now would have to wait.
void fetch_waiting(const FlashOp& op) {
  if (op.command != FlashCommand::read || op.waiting == nullptr) return;
  prefetch_lines<192>(static_cast<const char*>(op.on_done_self) + sizeof(FlashTransaction));
  prefetch_lines<552>(static_cast<const char*>(op.waiting) - 64);
}

}  // namespace

tlm::tlm_sync_enum FlashChannel::backward(unsigned index, tlm::tlm_generic_payload& payload,
                                          tlm::tlm_phase& phase, sc_core::sc_time& /*delay*/) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  Die& die = dies_[index];
  if (die.array == nullptr || die.array->payload != &payload || die.output != nullptr) {
    throw std::logic_error("a flash die answered an operation that it was not working on");
  }
  in_backward_ = &die;
  die.output = die.array;
  die.array = std::exchange(die.cached, nullptr);
  occupy(die);
  const FlashOp& op = *die.output->op;
  fetch_waiting(op);
  if (const FlashJob* const next = first_waiting(die); next != nullptr) {
    prefetch_lines<sizeof *next->op>(next->op);
    prefetch_lines<sizeof(BusyBefore)>(next->busy_before);
  }
  request(die.finish, op.command == FlashCommand::read && op.slots != 0 ? 1 : 0);
  consider(die);
  arbitrate();
  in_backward_ = nullptr;
  return tlm::TLM_ACCEPTED;
}

void FlashChannel::blocking(unsigned /*index*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  FlashOp* op = op_of(payload);
  if (op == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  const std::uint32_t way = index(op->die) - first_die_;
  if (way >= dies_.size()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  die_isock[way]->b_transport(payload, delay);
}

unsigned FlashChannel::debug(unsigned /*index*/, tlm::tlm_generic_payload& payload) {
  FlashOp* op = op_of(payload);
  if (op == nullptr) return 0;
  const std::uint32_t way = index(op->die) - first_die_;
  return way < dies_.size() ? (*dies_[way].socket)->transport_dbg(payload) : 0;
}

// ------------------------------------------------------------------------------------------------------ arrival and choice

void FlashChannel::admit(FlashJob& job) {
  const Picoseconds now = event_queue_.now();
  job.arrived = now;
  if (job.op->ledger != nullptr && job.op->ledger->mark() < now) job.op->ledger->charge(Cause::bus_wait, now);
  if (!channel_order_) {
    enqueue(job);
  } else {
    arrivals_.push(job);
    release_in_order();
  }
  if (job.next != nullptr) note_busy(die_of(job), job);  // it has not begun
}

void FlashChannel::release_in_order() {
  if (released_ != nullptr || arrivals_.empty()) return;
  released_ = &arrivals_.pop();
  enqueue(*released_);
}

void FlashChannel::enqueue(FlashJob& job) {
  Die& die = die_of(job);
  die.queues[static_cast<std::size_t>(job.queue)].push(job);
  consider(die);
  arbitrate();
}

FlashJob* FlashChannel::head(const Die& die) const {
  FlashJob* urgent = die.queues[static_cast<std::size_t>(DieQueue::urgent)].front();
  FlashJob* normal = die.queues[static_cast<std::size_t>(DieQueue::normal)].front();
  if (urgent == nullptr || normal == nullptr) return urgent == nullptr ? normal : urgent;
  return setup_.scheduler.next(urgent->arrived, normal->arrived, event_queue_.now()) == DieQueue::urgent
             ? urgent
             : normal;
}

FlashChannel::Action FlashChannel::next_action(Die& die, FlashJob* job) {
  if (event_queue_.now() < die.ready) {
    retry_at(die, die.ready);
    return Action::none;
  }
  if (die.suspended != nullptr) {
    const bool go_on = job != nullptr && may_interrupt(*job) &&
                       !setup_.scheduler.overdue(die.suspended->arrived, event_queue_.now());
    if (go_on) return can_begin(die, *job) ? Action::begin : Action::none;
    return die.array == nullptr && die.output == nullptr ? Action::resume : Action::none;
  }
  if (job == nullptr) return Action::none;
  if (can_begin(die, *job)) return Action::begin;
  return may_suspend(die, *job) ? Action::suspend : Action::none;
}

bool FlashChannel::can_begin(const Die& die, const FlashJob& job) const {
  if (die.array == nullptr && die.output == nullptr) return true;
  if (!may_be_cached(job)) return false;
  switch (job.op->command) {
    case FlashCommand::read:
      return die.array == nullptr && die.output->op->command == FlashCommand::read && !several_steps(job) &&
             !several_steps(*die.output);
    case FlashCommand::program:
      return die.array != nullptr && die.cached == nullptr &&
             die.array->op->command == FlashCommand::program && !several_steps(job) &&
             !several_steps(*die.array);
    case FlashCommand::erase:
    case FlashCommand::copyback:
      break;
  }
  return false;
}

bool FlashChannel::may_suspend(Die& die, const FlashJob& job) {
  const FlashJob* running = die.array;
  if (!may_interrupt(job) || running == nullptr || die.cached != nullptr || die.output != nullptr)
    return false;
  switch (running->op->command) {
    case FlashCommand::read:
      return false;
    case FlashCommand::program:
      if (!setup_.config.suspends_programs()) return false;
      break;
    case FlashCommand::erase:
      if (!setup_.config.suspends_erases()) return false;
      break;
    case FlashCommand::copyback:
      if (running->op->copying() || !setup_.config.suspends_programs()) return false;
      break;
  }
  if (running->unsuspendable || !setup_.scheduler.suspends(*running->op)) return false;
  if (running->suspends >= setup_.part.max_suspends) return not_suspended(*die.array, SuspendLimit::suspends);
  if (setup_.scheduler.overdue(running->arrived, event_queue_.now()))
    return not_suspended(*die.array, SuspendLimit::starvation);
  if (event_queue_.now() >= running->suspendable) return true;
  retry_at(die, running->suspendable);
  return not_suspended(*die.array, SuspendLimit::resume_time);
}

/// Counts what the limit forbids; false.
bool FlashChannel::not_suspended(FlashJob& running, SuspendLimit limit) {
  const auto bit = static_cast<std::uint8_t>(1U << static_cast<unsigned>(limit));
  if ((running.not_suspended & bit) == 0) ++counts_.not_suspended[static_cast<std::size_t>(limit)];
  running.not_suspended |= bit;
  return false;
}

void FlashChannel::consider(Die& die) {
  FlashJob* job = head(die);
  // Commonest first: nothing waits, or the array senses, which nothing can interrupt, or the die is
  // busy with what the job may neither join nor interrupt.
  if ((job == nullptr && die.suspended == nullptr) ||
      (die.array != nullptr && die.array->op->command == FlashCommand::read) ||
      (die.suspended == nullptr && (die.array != nullptr || die.output != nullptr) &&
       job->queue == DieQueue::normal && !may_be_cached(*job))) {
    withdraw(die.start);
    return;
  }
  const Action action = next_action(die, job);
  if (action == Action::none) {
    withdraw(die.start);
  } else {
    request(die.start, action == Action::begin && job->op->command == FlashCommand::program ? 1 : 0);
  }
}

void FlashChannel::retry_at(Die& die, Picoseconds when) {
  if (die.retry <= when) return;
  die.retry = when;
  event_queue_.at(when, &FlashChannel::retry_due, &die);
}

void FlashChannel::retry(Die& die) {
  if (event_queue_.now() < die.retry) return;
  die.retry = k_never;
  occupy(die);
  consider(die);
  arbitrate();
}

// --------------------------------------------------------------------------------------------------------------------- bus

void FlashChannel::request(BusRequest& request, int queue) {
  if (request.queue == queue) return;
  withdraw(request);
  request.queue = static_cast<std::int8_t>(queue);
  if (gang_ != nullptr) request.ticket = gang_->ticket();
  bus_queues_[queue].push(request);
}

void FlashChannel::arbitrate() {
  if (gang_ != nullptr) {
    gang_->arbitrate();
    return;
  }
  for (;;) {
    BusRequest* next = first_request();
    if (next == nullptr || bus_busy()) return;
    if (must_wait(*next)) {
      if (!deferred_) event_queue_.soon(&FlashChannel::deferred_due, this);
      deferred_ = true;
      return;
    }
    grant(*next);
  }
}

/// Whether a phase is on the channel's own lines; if so, arbitrates again when it ends.
bool FlashChannel::bus_busy() {
  if (armed_) return true;
  if (event_queue_.now() >= bus_until_) return false;
  if (bus_until_ != k_never) arm(bus_until_);
  return true;
}

void FlashChannel::grant(BusRequest& request) {
  if (&request == &late_program_) {
    FlashJob& job = *std::exchange(data_there_, nullptr);
    if (job.op->ledger != nullptr) job.op->ledger->charge(Cause::bus_wait, event_queue_.now());
    command(job, 0);
    consider(die_of(job));
    return;
  }
  withdraw(request);
  Die& die = dies_[request.way];
  if (request.finish) {
    finish(die);
  } else {
    start(die);
  }
}

/// TLM-2.0 forbids a call on the backward path from within one on the forward path of the same
/// socket, and the reverse.
bool FlashChannel::must_wait(const BusRequest& request) const {
  if (in_forward_) return request.queue == 1;
  const Die& die = dies_[request.way];
  return in_backward_ == &die && (!request.finish || die.output->op->copying());
}

void FlashChannel::deferred() {
  deferred_ = false;
  arbitrate();
}

void FlashChannel::arm(Picoseconds when) {
  armed_ = true;
  event_queue_.at(when, &FlashChannel::bus_due, this);
}

void FlashChannel::bus_free() {
  armed_ = false;
  if (transferring_ != nullptr) finished(*std::exchange(transferring_, nullptr));
  arbitrate();
}

// -------------------------------------------------------------------------------------------------------------- statistics

void FlashChannel::report(StatisticsSink& sink) const {
  const auto span = static_cast<double>(event_queue_.now() - measured_from_);
  counts().report(sink, span, setup_.config.multi_plane_reads, setup_.config.suspends());
  for (std::uint32_t way = 0; way < dies_.size(); ++way) {
    sink.open("die_" + std::to_string(first_die_ + way), "one die, from its channel's point of view");
    BusyTimes times{};
    std::ranges::transform(busy(way), times.begin(),
                           [](Picoseconds time) { return static_cast<double>(time); });
    report_busy(sink, times, span);
    sink.close();
  }
}

FlashCounts FlashChannel::counts() const {
  FlashCounts result = counts_;
  const Picoseconds ahead = bus_ahead();
  result.bus_time[static_cast<std::size_t>(bus_use_)] -= ahead;
  result.data_time -= std::min(ahead, bus_data_);
  result.memory_time -= std::clamp<Picoseconds>(ahead - bus_data_, 0, bus_memory_);
  return result;
}

std::array<Picoseconds, k_busy_causes> FlashChannel::busy(std::uint32_t way) const {
  const Die& die = dies_[way];
  std::array<Picoseconds, k_busy_causes> result;
  std::copy_n(die.times.begin(), k_busy_causes, result.begin());
  if (die.cause < k_busy_causes) result[die.cause] += event_queue_.now() - die.since;
  for (std::size_t c = 0; c < k_busy_causes; ++c) result[c] -= die.busy_at_reset[c];
  return result;
}

void FlashChannel::reset_statistics() {
  for (Die& die : dies_) {
    settle(die);
    // The running sums must go on: ledgers take differences of them.
    std::copy_n(die.times.begin(), k_busy_causes, die.busy_at_reset.begin());
  }
  const FlashCounts before = counts();
  const auto use = static_cast<std::size_t>(bus_use_);
  const Picoseconds ahead = counts_.bus_time[use] - before.bus_time[use];
  const Picoseconds data_ahead = counts_.data_time - before.data_time;
  const Picoseconds memory_ahead = counts_.memory_time - before.memory_time;
  counts_ = {};
  counts_.bus_time[use] = ahead;  // of the phase on the bus, what lies in the time measured
  counts_.data_time = data_ahead;
  counts_.memory_time = memory_ahead;
  measured_from_ = event_queue_.now();
}

}  // namespace tlmssd
