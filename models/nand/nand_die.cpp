#include "models/nand/nand_die.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "models/base/booked.h"
#include "models/base/busy_cause.h"
#include "models/base/input_error.h"

namespace tlmssd {

std::string_view name_of(BusUse use) {
  static constexpr std::array<std::string_view, k_bus_uses> k_names = {"command", "data in", "data out",
                                                                       "status",  "suspend", "resume"};
  return k_names[static_cast<std::size_t>(use)];
}

namespace {

Cause array_cause(const FlashOp& op) {
  if (op.command == FlashCommand::read || op.copying()) return Cause::sense;
  return op.command == FlashCommand::erase ? Cause::erase : Cause::program;
}

void charge(const FlashOp& op, Cause cause, Picoseconds until) {
  if (op.ledger != nullptr) op.ledger->charge(cause, until);
}

}  // namespace

NandDie::NandDie(const sc_core::sc_module_name& name, EventQueue& event_queue, const NandSetup& setup,
                 DieId die)
    : sc_core::sc_module(name),
      channel_tsock("channel_tsock", *this),
      event_queue_(event_queue),
      setup_(setup),
      state_(setup.part, setup.geometry, die, setup.unit_bytes, setup.stamps_per_unit, setup.seed,
             setup.contents),
      history_(setup.timing.looks_at_history()) {
  state_.attach(setup.errors);
}

// ----------------------------------------------------------------------------------------------------------------- sockets

tlm::tlm_sync_enum NandDie::forward(unsigned /*index*/, tlm::tlm_generic_payload& payload,
                                    tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) return begin(payload, phase, delay);
  if (phase == tlm::END_RESP) {
    end_response(payload);
    return tlm::TLM_COMPLETED;
  }
  if (phase == array_suspend) return suspend(payload, delay);
  if (phase == array_resume) resume(payload, delay);
  return tlm::TLM_ACCEPTED;
}

void NandDie::blocking(unsigned /*index*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  FlashOp* op = op_of(payload);
  if (op == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  check_free(*op);
  Picoseconds time = 0;
  do {
    Picoseconds bus = 0;
    time += perform(*op, arrival(event_queue_, delay), op->pages, bus).duration + bus;
    if (op->copying()) continue;
    time += op->command == FlashCommand::read ? setup_.bus.data_out(*op).total() : setup_.bus.status();
  } while (steps_left(*op));
  delay += to_sc_time(time);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned NandDie::debug(unsigned /*index*/, tlm::tlm_generic_payload& payload) {
  FlashOp* op = op_of(payload);
  if (op == nullptr) return 0;
  state_.execute(*op, event_queue_.now());
  return payload.get_data_length();
}

tlm::tlm_sync_enum NandDie::begin(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay) {
  FlashOp* op = op_of(payload);
  if (op == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  check_free(*op);
  const Picoseconds now = arrival(event_queue_, delay);
  Picoseconds bus = 0;
  slowed_by_ = 0;
  ArrayAnswer answer = perform(*op, now, state_.step_pages(BlockMode::native), bus);
  Active& next = array_ ? cached_ : array_;
  next.take(payload, *op, answer);
  next.slowed = slowed_by_;
  if (op->command == FlashCommand::program || op->command == FlashCommand::copyback) {
    next.pages = std::min<std::uint32_t>(state_.step_pages(op->mode), op->pages);
    const std::uint32_t behind = state_.block(op->plane, op->block).next_page;
    const bool written = behind > index(op->page);  // not so a pass before the last
    next.first = PageId{written ? behind - next.pages : behind};
  }
  next.ready = now + bus;
  payload.acquire();
  if (&next == &array_) {  // else array_done() starts it
    const bool chained_read = responding_ != nullptr && op->command == FlashCommand::read;
    start_array(next.ready, chained_read ? setup_.part.t_rcbsy : 0);
  }
  phase = tlm::END_REQ;
  delay += to_sc_time(bus);
  return tlm::TLM_UPDATED;
}

/// Whether `op`, executed at once, needs perform() again. A program of several steps has taken all
/// of them.
bool NandDie::steps_left(const FlashOp& op) const {
  if (op.command == FlashCommand::read) return op.sense_count < op.senses;
  if (op.command == FlashCommand::program) return op.program_pass != 0;
  return op.command == FlashCommand::copyback &&
         state_.block(op.plane, op.block).next_page < index(op.page) + op.pages;
}

void NandDie::check_free(const FlashOp& op) const {
  const auto allowed_after = [&](FlashCommand before) {
    if (op.command != before) return false;
    return op.command == FlashCommand::read
               ? setup_.part.cache_read
               : op.command == FlashCommand::program && setup_.part.cache_program;
  };
  bool free = !cached_;
  if (array_) free = free && op.command == FlashCommand::program && allowed_after(array_.op->command);
  if (responding_ != nullptr || held_count_ != 0) free = free && allowed_after(responding_command_);
  if (op.command == FlashCommand::read && held_count_ != 0) free = false;
  if (!free) state_.refuse(op, op.page, "operation on a busy plane");
  if (copying_ != nullptr && copying_ != &op)
    state_.refuse(op, op.page, "operation while the page register holds what a copyback will program");
  if (!suspended_) return;
  if (op.command != FlashCommand::read)
    state_.refuse(op, op.page, "only reads are possible while an operation is suspended");
  const FlashOp& other = *suspended_.op;
  const bool same_page = other.command == FlashCommand::erase ||
                         (op.page >= other.page && index(op.page) < index(other.page) + other.pages);
  for (const FlashOp* link = &op; link != nullptr; link = link->next_plane) {
    const bool same_planes = index(link->plane) < index(other.plane) + other.planes &&
                             index(other.plane) < index(link->plane) + link->planes;
    if (link->block == other.block && same_planes && same_page)
      state_.refuse(*link, link->page, "read of what a suspended operation is changing");
  }
}

/// What the timing model says of the array's work on `number` in every plane of `op`, and on the
/// other links of a multi-plane read: the slowest plane's time, the energy of all.
ArrayAnswer NandDie::ask_all(ArrayOperation& asked, const FlashOp& op, BlockId number,
                             Picoseconds now) const {
  asked.planes = op.all_planes();
  if (asked.planes == 1) return ask(asked, op.plane, number, now);
  ArrayAnswer whole = ask(asked, op.plane, number, now);
  double energy = whole.energy;  // of the plane asked about last
  for (const FlashOp* link = &op; link != nullptr; link = link->next_plane) {
    const BlockId block = link == &op ? number : link->block;
    for (std::uint32_t p = link == &op ? 1 : 0; p < link->planes; ++p) {
      const PlaneId plane{index(link->plane) + p};
      // Blocks of as many cycles are alike to a model that does not look at more.
      if (!history_ && state_.cycles(plane, block) == asked.cycles) {
        whole.energy += energy;
        continue;
      }
      ArrayAnswer one = ask(asked, plane, block, now);
      energy = one.energy;
      const double sum = whole.energy + energy;
      if (one.duration > whole.duration) whole = std::move(one);
      whole.energy = sum;
    }
  }
  return whole;
}

/// Of one plane.
ArrayAnswer NandDie::ask(ArrayOperation& asked, PlaneId plane, BlockId number, Picoseconds now) const {
  if (history_) {
    const BlockMode mode = asked.mode;
    state_.describe_data(asked, plane, number, now);
    asked.mode = mode;
    if (asked.command != ArrayCommand::sense) asked.age_days = 0;
    if (setup_.variation != nullptr) setup_.variation->vary(asked);
  } else {
    state_.describe(asked, plane, number);
  }
  ArrayAnswer answer = setup_.timing.answer(asked);
  if (answer.duration <= 0) refuse_answer(asked, std::to_string(answer.duration) + " ps");
  if (answer.duration > k_longest_work)
    refuse_answer(asked, std::to_string(answer.duration) + " ps, which is more than 1000 s,");
  if (!(answer.energy >= 0 && answer.energy <= std::numeric_limits<double>::max()))
    refuse_answer(asked, "an energy of " + fmt::format("{}", answer.energy) + " J");
  if (!answer.suspend_points.empty()) check_suspend_points(asked, answer);
  return answer;
}

void NandDie::check_suspend_points(const ArrayOperation& asked, const ArrayAnswer& answer) const {
  Picoseconds before = 0;
  for (const Picoseconds point : answer.suspend_points) {
    if (point <= before || point >= answer.duration) {
      refuse_answer(asked, "a suspend point at " + std::to_string(point) + " ps, after " +
                               std::to_string(before) + " ps, of " + std::to_string(answer.duration) + " ps");
    }
    before = point;
  }
}

void NandDie::refuse_answer(const ArrayOperation& asked, const std::string& answer) const {
  throw objection("ssd.flash.part.timing",
                  setup_.part.timing + " answers " + answer + " to " + to_text(asked));
}

ArrayAnswer NandDie::ask_sense(const FlashOp& op, BlockId number, PageId page, BlockMode mode,
                               Picoseconds now) const {
  ArrayOperation asked;
  asked.mode = mode;
  state_.shape().place(asked, page);
  if (op.command == FlashCommand::read) {
    asked.retry_level = op.retry_level;
    asked.pass_voltage = op.pass_voltage;
  }
  return ask_all(asked, op, number, now);
}

/// Of `pages` pages from `first`: step by step, as the part programs them.
ArrayAnswer NandDie::ask_program(const FlashOp& op, PageId first, std::uint32_t pages, bool resumed,
                                 Picoseconds now) const {
  ArrayOperation asked;
  asked.command = ArrayCommand::program;
  asked.mode = op.mode;
  asked.resumed = resumed;
  const std::uint32_t step = state_.step_pages(op.mode);
  state_.shape().place(asked, first);
  asked.pages = std::min(step, pages);
  ArrayAnswer whole = ask_all(asked, op, op.block, now);
  for (std::uint32_t done = asked.pages; done < pages; done += asked.pages) {
    state_.shape().place(asked, PageId{index(first) + done});
    asked.pages = std::min(step, pages - done);
    const ArrayAnswer one = ask_all(asked, op, op.block, now);
    for (const Picoseconds point : one.suspend_points) whole.suspend_points.push_back(whole.duration + point);
    whole.duration += one.duration;
    whole.energy += one.energy;
  }
  return whole;
}

ArrayAnswer NandDie::ask_erase(const FlashOp& op, bool resumed, Picoseconds now) const {
  ArrayOperation asked;
  asked.command = ArrayCommand::erase;
  asked.mode = op.mode;
  asked.resumed = resumed;
  return ask_all(asked, op, op.block, now);
}

/// Of a program in several passes, each of which takes an equal part; the last one takes the
/// remainder.
void NandDie::take_pass(ArrayAnswer& answer, std::uint32_t passes, bool last) {
  const Picoseconds part = answer.duration / passes;
  answer.duration = last ? answer.duration - (passes - 1) * part : part;
  answer.energy /= passes;
  for (Picoseconds& point : answer.suspend_points) point /= passes;
}

ArrayAnswer NandDie::perform(FlashOp& op, Picoseconds now, std::uint32_t limit, Picoseconds& bus) {
  ArrayAnswer answer = perform_on_state(op, now, limit, bus);
  energy_ += answer.energy;
  return answer;
}

void NandDie::slow_down(ArrayAnswer& answer) {
  const Picoseconds slowed = setup_.budget->slowed(answer.duration);
  slowed_by_ = slowed - answer.duration;
  answer.duration = slowed;
  ++slow_reads_;
}

ArrayAnswer NandDie::perform_on_state(FlashOp& op, Picoseconds now, std::uint32_t limit, Picoseconds& bus) {
  switch (op.command) {
    case FlashCommand::read: {
      const PageId page = state_.sensed_page(op);
      state_.read(op, now);
      bus = setup_.bus.read_command(op.all_planes());
      ArrayAnswer answer = ask_sense(op, op.block, page, op.mode, now);
      if (setup_.budget != nullptr && setup_.budget->spent()) slow_down(answer);
      return answer;
    }
    case FlashCommand::program: {
      const std::uint32_t passes = setup_.part.passes(op.mode);
      const bool last = op.program_pass + 1U == passes;
      const std::uint32_t pages = last ? state_.program(op, limit, now) : state_.pass(op, now);
      const PageId first{state_.block(op.plane, op.block).next_page - (last ? pages : 0)};
      bus = setup_.bus.data_in(op.planes * pages).total();
      op.program_pass = static_cast<std::uint8_t>(last ? 0 : op.program_pass + 1);
      ArrayAnswer answer = ask_program(op, first, pages, false, now);
      if (passes > 1) take_pass(answer, passes, last);
      return answer;
    }
    case FlashCommand::erase:
      state_.erase(op, now);
      bus = setup_.bus.erase_command(op.planes);
      return ask_erase(op, false, now);
    case FlashCommand::copyback: {
      const std::uint32_t pages = state_.copyback(op, now);
      copying_ = pages == 0 ? &op : nullptr;
      if (pages == 0) {
        bus = setup_.bus.read_command(op.planes);
        return ask_sense(op, op.source_block, state_.copied_page(op), op.source_mode, now);
      }
      const PageId first{state_.block(op.plane, op.block).next_page - pages};
      bus = setup_.bus.copyback_program(op.planes * pages);
      return ask_program(op, first, pages, false, now);
    }
  }
  return {};
}

// ------------------------------------------------------------------------------------------------------------------- array

void NandDie::start_array(Picoseconds start, Picoseconds swap) {
  array_.start = start;
  array_.end = start + swap + array_.duration;
  if (setup_.budget != nullptr && array_cause(*array_.op) != Cause::sense) setup_.budget->begin_work();
  event_queue_.at(array_.end, &NandDie::array_due, &self_);
}

/// The array is done with `op`, or has been suspended.
void NandDie::stop_array(const FlashOp& op, Picoseconds start, Picoseconds until) {
  const Cause cause = array_cause(op);
  array_busy_ += until - start;
  charge(op, cause, until);
  if (setup_.budget != nullptr && cause != Cause::sense) setup_.budget->end_work();
  if (observer_ != nullptr) observer_->array(state_.id(), op, start, until);
}

void NandDie::array_done() {
  const Picoseconds now = event_queue_.now();
  if (!array_ || array_.end != now) return;  // was suspended: this item is out of date
  tlm::tlm_generic_payload& payload = *std::exchange(array_.payload, nullptr);
  const FlashOp& op = *array_.op;
  if (array_.slowed > 0) {
    charge(op, Cause::sense, now - array_.slowed);
    charge(op, Cause::power_budget, now);
  }
  stop_array(op, array_.start, now);
  if (cached_) {
    array_ = std::exchange(cached_, {});
    if (array_.ready <= now) {
      // Its data waited in the cache register for the array.
      charge(*array_.op, busy_cause(op), now);
      start_array(now, setup_.part.t_cbsy);
    } else {
      start_array(array_.ready, 0);
    }
  }
  if (responding_ != nullptr) {
    held_[held_count_++] = &payload;
    return;
  }
  respond(payload, op);
}

void NandDie::respond(tlm::tlm_generic_payload& payload, const FlashOp& op) {
  responding_ = &payload;
  responding_command_ = op.command;
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = annotation(event_queue_);
  const tlm::tlm_sync_enum answer = channel_tsock.peer().nb_transport_bw(payload, phase, delay);
  if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP))
    end_response(payload);
}

void NandDie::end_response(tlm::tlm_generic_payload& payload) {
  if (responding_ != &payload) throw std::logic_error("END_RESP for a flash operation that has not answered");
  responding_ = nullptr;
  payload.release();
  if (held_count_ != 0) event_queue_.soon(&NandDie::respond_due, this);
}

void NandDie::respond_held() {
  if (responding_ != nullptr || held_count_ == 0) return;
  tlm::tlm_generic_payload& payload = *held_[0];
  held_[0] = held_[1];
  --held_count_;
  // What kept the answer back was the transfer of the page before it.
  const FlashOp& op = *op_of(payload);
  charge(op, Cause::bus_wait, event_queue_.now());
  respond(payload, op);
}

// ----------------------------------------------------------------------------------------------------------------- suspend

tlm::tlm_sync_enum NandDie::suspend(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const FlashOp* op = op_of(payload);
  const Picoseconds command = arrival(event_queue_, delay);
  // It has ended and only waits to say so.
  if (std::find(held_.begin(), held_.begin() + held_count_, &payload) != held_.begin() + held_count_)
    return tlm::TLM_ACCEPTED;
  if (!array_ || array_.payload != &payload || array_cause(*op) == Cause::sense || !setup_.part.suspend ||
      cached_ || suspended_ || array_.suspends >= setup_.part.max_suspends || command < array_.suspendable ||
      command < array_.start) {
    state_.refuse(*op, op->page, "suspend outside the limits of the part");
  }
  const Picoseconds accepted = command + setup_.bus.control();
  const Picoseconds latency = op->command == FlashCommand::erase ? setup_.part.erase_suspend_latency
                                                                 : setup_.part.program_suspend_latency;
  const Picoseconds stop = next_stop(array_, accepted);
  if (array_.end <= stop + latency) return tlm::TLM_ACCEPTED;  // ends by itself before it would be suspended
  suspended_ = std::exchange(array_, {});
  ++suspended_.suspends;
  ++suspends_;
  suspended_.duration = suspended_.end - stop;  // what is left
  if (setup_.part.repeats_pulse()) suspended_.duration += since_pulse(suspended_, stop);
  stop_array(*op, suspended_.start, stop);
  delay += to_sc_time(stop - command + latency);
  return tlm::TLM_UPDATED;
}

/// How long a program has been in its pulse at `instant`; an erase has none, nor has a program
/// whose points the timing model names.
Picoseconds NandDie::since_pulse(const Active& active, Picoseconds instant) const {
  if (active.op->command == FlashCommand::erase || !active.suspend_points.empty()) return 0;
  const Picoseconds done = std::max<Picoseconds>(instant - (active.end - active.total), 0);
  return setup_.part.program_pulse > 0 ? done % setup_.part.program_pulse : done;
}

/// The first instant from `instant` on at which the array can stop; its end when there is none
/// before.
Picoseconds NandDie::next_stop(const Active& active, Picoseconds instant) const {
  const Picoseconds zero =
      active.end - active.total;  // when it would have begun, had it never been suspended
  if (active.suspend_points.empty()) {
    const Picoseconds since = setup_.part.finishes_pulse() ? since_pulse(active, instant) : 0;
    if (since == 0) return instant;
    if (setup_.part.program_pulse == 0) return active.end;
    return std::min(instant + setup_.part.program_pulse - since, active.end);
  }
  for (const Picoseconds point : active.suspend_points) {
    if (zero + point >= instant) return zero + point;
  }
  return active.end;
}

/// What is left of a suspended operation takes as much longer as the timing model says of one that
/// goes on.
void NandDie::stretch_rest(Active& active, Picoseconds now) const {
  const FlashOp& op = *active.op;
  const auto whole = [&](bool resumed) {
    return op.command == FlashCommand::erase
               ? ask_erase(op, resumed, now).duration
               : ask_program(op, active.first, active.pages, resumed, now).duration;
  };
  const Picoseconds fresh = whole(false);
  const Picoseconds resumed = whole(true);
  if (fresh == resumed) return;
  const double stretch = static_cast<double>(resumed) / static_cast<double>(fresh);
  const Picoseconds done = active.total - active.duration;
  const auto scaled = [&](Picoseconds time) {
    return static_cast<Picoseconds>(std::llround(static_cast<double>(time) * stretch));
  };
  for (Picoseconds& point : active.suspend_points) {
    if (point > done) point = done + scaled(point - done);
  }
  active.duration = scaled(active.duration);
  active.total = done + active.duration;
}

void NandDie::resume(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
  const FlashOp* op = op_of(payload);
  if (!suspended_ || suspended_.payload != &payload || array_ || responding_ != nullptr) {
    state_.refuse(*op, op->page, "resume of an operation that is not suspended, or on a busy plane");
  }
  const Picoseconds going = arrival(event_queue_, delay) + setup_.bus.control() + setup_.part.resume_overhead;
  array_ = std::exchange(suspended_, {});
  if (history_ && array_.suspends == 1) stretch_rest(array_, going);  // later ones find it stretched
  charge(*op, Cause::suspend, going);
  array_.suspendable = going + setup_.part.min_resume_time;
  start_array(going, 0);
}

// -------------------------------------------------------------------------------------------------------------- statistics

/// Of the array's present operation, what has passed. Left out: that one which is being suspended
/// has counted up to the end of the command that does so.
Picoseconds NandDie::under_way() const {
  return array_ ? std::max<Picoseconds>(event_queue_.now() - array_.start, 0) : 0;
}

Picoseconds NandDie::array_busy() const {
  return busy_within(event_queue_.now() - measured_from_, array_busy_ + under_way(), 0);
}

void NandDie::report(StatisticsSink& sink) const {
  state_.report(sink);
  const Picoseconds span = event_queue_.now() - measured_from_;
  sink.value("array_utilisation", share_within(span, array_busy(), 0), "",
             "share of the time in which the array was sensing, programming or erasing");
  sink.value("suspends", suspends_, "", "programs and erases suspended for reads");
  if (setup_.budget != nullptr)
    sink.value("slow_reads", slow_reads_, "", "senses that took longer because other dies drew the power");
  if (energy_ > 0) sink.value("array_energy", energy_, "J", "of the array's work, as the timing model says");
}

void NandDie::reset_statistics() {
  state_.reset_statistics();
  array_busy_ = -under_way();  // counts as a whole when it ends
  suspends_ = 0;
  slow_reads_ = 0;
  energy_ = 0;
  measured_from_ = event_queue_.now();
}

}  // namespace tlmssd
