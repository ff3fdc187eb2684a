#include "models/nand/nand_die.h"

#include <algorithm>

#include "models/nand/busy_cause.h"

namespace tlmssd {

namespace {

Cause array_cause(const FlashOp& op) {
  if (op.command == FlashCommand::read || op.copying()) return Cause::sense;
  return op.command == FlashCommand::erase ? Cause::erase : Cause::program;
}

void charge(const FlashOp& op, Cause cause, Picoseconds until) {
  if (op.ledger != nullptr) op.ledger->charge(cause, until);
}

}  // namespace

NandDie::NandDie(const sc_core::sc_module_name& name, Agenda& agenda, const NandSetup& setup, DieId die)
    : sc_core::sc_module(name),
      channel_tsock("channel_tsock", *this),
      agenda_(agenda),
      setup_(setup),
      state_(setup.part, setup.geometry, die, setup.unit_bytes, setup.stamps_per_unit, setup.seed,
             setup.contents) {
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
    time += perform(*op, arrival(agenda_, delay), op->pages, bus) + bus;
    if (op->copying()) continue;
    time += op->command == FlashCommand::read ? setup_.bus.data_out(op->first_slot, op->slots).total()
                                              : setup_.bus.status();
  } while (steps_left(*op));
  delay += to_sc_time(time);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned NandDie::debug(unsigned /*index*/, tlm::tlm_generic_payload& payload) {
  FlashOp* op = op_of(payload);
  if (op == nullptr) return 0;
  state_.execute(*op, agenda_.now());
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
  const Picoseconds now = arrival(agenda_, delay);
  Active next;
  next.payload = &payload;
  next.op = op;
  Picoseconds bus = 0;
  next.duration = perform(*op, now, setup_.part.pages_per_step(), bus);
  next.ready = now + bus;
  payload.acquire();
  if (array_) {
    cached_ = next;  // array_done() starts it
  } else {
    const bool chained_read = responding_ != nullptr && op->command == FlashCommand::read;
    start_array(next, next.ready, chained_read ? setup_.part.t_rcbsy : 0);
  }
  phase = tlm::END_REQ;
  delay += to_sc_time(bus);
  return tlm::TLM_UPDATED;
}

/// Whether `op`, executed at once, needs perform() again. A program of several steps has taken all of them.
bool NandDie::steps_left(const FlashOp& op) const {
  if (op.command == FlashCommand::read) return op.sensed < op.senses;
  if (op.command == FlashCommand::program) return op.passed != 0;
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
  const bool same_planes =
      index(op.plane) < index(other.plane) + other.planes && index(other.plane) < index(op.plane) + op.planes;
  const bool same_page = other.command == FlashCommand::erase ||
                         (op.page >= other.page && index(op.page) < index(other.page) + other.pages);
  if (op.block == other.block && same_planes && same_page) {
    state_.refuse(op, op.page, "read of what a suspended operation is changing");
  }
}

Picoseconds NandDie::perform(FlashOp& op, Picoseconds now, std::uint32_t limit, Picoseconds& bus) {
  Picoseconds time = 0;
  const auto slowest = [&](BlockId number, auto&& question) {
    for (std::uint32_t p = 0; p < op.planes; ++p) {
      time = std::max(time, question(state_.cycles(PlaneId{index(op.plane) + p}, number)));
    }
  };
  const auto sense = [&](BlockId number, PageId page, BlockMode mode) {
    slowest(number, [&](std::uint32_t cycles) {
      return mode == BlockMode::native ? setup_.timing.sense(page, cycles)
                                       : setup_.timing.slc_sense(setup_.part, page, cycles);
    });
    bus = setup_.bus.read_command(op.planes);
  };
  const auto program = [&](PageId first, std::uint32_t pages) {
    slowest(op.block, [&](std::uint32_t cycles) {
      return op.mode == BlockMode::native ? setup_.timing.program(first, pages, cycles)
                                          : setup_.timing.slc_program(setup_.part, first, cycles);
    });
  };
  switch (op.command) {
    case FlashCommand::read: {
      const PageId page = state_.sensed_page(op);
      state_.read(op, now);
      sense(op.block, page, op.mode);
      break;
    }
    case FlashCommand::program: {
      const std::uint32_t passes = setup_.part.passes(op.mode);
      const bool last = op.passed + 1U == passes;
      const std::uint32_t pages = last ? state_.program(op, limit, now) : state_.pass(op, now);
      program(PageId{state_.block(op.plane, op.block).next_page - (last ? pages : 0)}, pages);
      time = last ? time - (passes - 1) * (time / passes) : time / passes;
      op.passed = static_cast<std::uint8_t>(last ? 0 : op.passed + 1);
      bus = setup_.bus.data_in(op.planes * pages).total();
      break;
    }
    case FlashCommand::erase:
      state_.erase(op, now);
      slowest(op.block, [&](std::uint32_t cycles) {
        return op.mode == BlockMode::native ? setup_.timing.erase(cycles)
                                            : setup_.timing.slc_erase(setup_.part, cycles);
      });
      bus = setup_.bus.erase_command(op.planes);
      break;
    case FlashCommand::copyback: {
      const std::uint32_t pages = state_.copyback(op, now);
      copying_ = pages == 0 ? &op : nullptr;
      if (pages == 0) {
        sense(op.source_block, state_.copied_page(op), op.source_mode);
        break;
      }
      program(PageId{state_.block(op.plane, op.block).next_page - pages}, pages);
      bus = setup_.bus.copyback_program(op.planes * pages);
      break;
    }
  }
  return time;
}

// ------------------------------------------------------------------------------------------------------------------- array

void NandDie::start_array(const Active& next, Picoseconds start, Picoseconds swap) {
  array_ = next;
  array_.start = start;
  array_.end = start + swap + next.duration;
  agenda_.at(array_.end, &NandDie::array_due, this);
}

void NandDie::array_done() {
  const Picoseconds now = agenda_.now();
  if (!array_ || array_.end != now) return;  // was suspended: this item is out of date
  const Active done = array_;
  array_ = {};
  array_busy_ += now - done.start;
  charge(*done.op, array_cause(*done.op), now);
  if (observer_ != nullptr) observer_->array(state_.id(), *done.op, done.start, now);
  if (cached_) {
    const Active next = cached_;
    cached_ = {};
    if (next.ready <= now) {
      // Its data waited in the cache register for the array.
      charge(*next.op, busy_cause(*done.op), now);
      start_array(next, now, setup_.part.t_cbsy);
    } else {
      start_array(next, next.ready, 0);
    }
  }
  if (responding_ != nullptr) {
    held_[held_count_++] = done.payload;
    return;
  }
  respond(*done.payload);
}

void NandDie::respond(tlm::tlm_generic_payload& payload) {
  responding_ = &payload;
  responding_command_ = op_of(payload)->command;
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = annotation(agenda_);
  const tlm::tlm_sync_enum answer = channel_tsock->nb_transport_bw(payload, phase, delay);
  if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP))
    end_response(payload);
}

void NandDie::end_response(tlm::tlm_generic_payload& payload) {
  if (responding_ != &payload) throw std::logic_error("END_RESP for a flash operation that has not answered");
  responding_ = nullptr;
  payload.release();
  if (held_count_ != 0) agenda_.soon(&NandDie::respond_due, this);
}

void NandDie::respond_held() {
  if (responding_ != nullptr || held_count_ == 0) return;
  tlm::tlm_generic_payload& payload = *held_[0];
  held_[0] = held_[1];
  --held_count_;
  // What kept the answer back was the transfer of the page before it.
  charge(*op_of(payload), Cause::bus_wait, agenda_.now());
  respond(payload);
}

// ----------------------------------------------------------------------------------------------------------------- suspend

tlm::tlm_sync_enum NandDie::suspend(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const FlashOp* op = op_of(payload);
  const Picoseconds command = arrival(agenda_, delay);
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
  if (array_.end <= accepted + latency)
    return tlm::TLM_ACCEPTED;  // ends by itself before it would be suspended
  suspended_ = array_;
  array_ = {};
  ++suspended_.suspends;
  ++suspends_;
  suspended_.duration = suspended_.end - accepted;  // what is left
  array_busy_ += accepted - suspended_.start;
  charge(*op, array_cause(*op), accepted);
  if (observer_ != nullptr) observer_->array(state_.id(), *op, suspended_.start, accepted);
  delay += to_sc_time(setup_.bus.control() + latency);
  return tlm::TLM_UPDATED;
}

void NandDie::resume(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
  const FlashOp* op = op_of(payload);
  if (!suspended_ || suspended_.payload != &payload || array_ || responding_ != nullptr) {
    state_.refuse(*op, op->page, "resume of an operation that is not suspended, or on a busy plane");
  }
  const Picoseconds going = arrival(agenda_, delay) + setup_.bus.control() + setup_.part.resume_overhead;
  Active next = suspended_;
  suspended_ = {};
  charge(*op, Cause::suspend, going);
  next.suspendable = going + setup_.part.min_resume_time;
  start_array(next, going, 0);
}

// -------------------------------------------------------------------------------------------------------------- statistics

void NandDie::report(StatisticsSink& sink) const {
  state_.report(sink);
  const Picoseconds span = agenda_.now() - measured_from_;
  sink.value("array_utilisation",
             span > 0 ? static_cast<double>(array_busy_) / static_cast<double>(span) : 0.0, "",
             "share of the time in which the array was sensing, programming or erasing");
  sink.value("suspends", suspends_, "", "programs and erases suspended for reads");
}

void NandDie::reset_statistics() {
  state_.reset_statistics();
  array_busy_ = 0;
  suspends_ = 0;
  measured_from_ = agenda_.now();
}

}  // namespace tlmssd
