// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): SystemC asks for it
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include "models/memory/foreign_memory.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "models/base/quantity.h"
#include "models/base/report_within.h"
#include "models/tlm/kernel_time.h"

namespace tlmssd {

using Payload = tlm::tlm_generic_payload;

namespace {

constexpr std::string_view k_phases[] = {"UNINITIALIZED_PHASE", "BEGIN_REQ", "END_REQ", "BEGIN_RESP",
                                         "END_RESP"};

std::string bytes_text(Bytes bytes) {
  return format_value(Kind::bytes, static_cast<std::int64_t>(bytes));
}

}  // namespace

ForeignMemory::ForeignMemory(const sc_core::sc_module_name& name, const MemoryContext& context,
                             std::uint64_t base, const MemoryChoice& choice, EventQueue& event_queue,
                             const Lacking& lacking)
    : sc_core::sc_module(name),
      bus_tsock("bus_tsock", *this, event_queue),
      memory_isock("memory_isock", *this, event_queue),
      event_queue_(event_queue),
      name_(choice.make ? "of one's own" : choice.model),
      place_(context.place),
      base_(base),
      capacity_(context.capacity),
      model_(choice.made(context)) {
  if (model_ == nullptr) throw error("is no memory that is known");
  traits_ = model_->traits();
  at_once_ = traits_.at_once != 0 ? traits_.at_once : traits_.blocking ? 1 : ~0U;
  check_traits(lacking);
  SC_METHOD(look_for_silence);
  sensitive << silence_;
  dont_initialize();
}

ForeignMemory::~ForeignMemory() = default;

void ForeignMemory::check_traits(const Lacking& lacking) const {
  if (traits_.capacity != 0 && traits_.capacity < capacity_) {
    if (const std::string what = lacking ? lacking(traits_.capacity) : ""; !what.empty())
      throw error("holds " + bytes_text(traits_.capacity) + ", too little for this drive: " + what);
    throw refusal("ssd." + place_ + ".capacity",
                  bytes_text(capacity_) + " is more than model " + name_ + " holds",
                  bytes_text(traits_.capacity));
  }
  if (const std::string wrong = contradiction(traits_, capacity_); !wrong.empty()) throw error(wrong);
}

std::string ForeignMemory::contradiction(const MemoryTraits& traits, Bytes capacity) {
  const Bytes held = std::max(traits.capacity, capacity);
  if (held > 0 && traits.base > ~std::uint64_t{0} - (held - 1)) {
    return "says that its first byte has the address " + std::to_string(traits.base) +
           ", and that of the last of " + bytes_text(held) + " is beyond all numbers";
  }
  if (traits.burst != 0 && !std::has_single_bit(traits.burst))
    return "says that its burst is " + std::to_string(traits.burst) + " B, which is no power of two";
  if (traits.blocking && traits.at_once > k_most_threads) {
    return "says that b_transport may be called " + std::to_string(traits.at_once) +
           " times at once, more than " + std::to_string(k_most_threads);
  }
  return {};
}

InputError ForeignMemory::error(const std::string& what) const {
  return objection(key(), name_ + " " + what);
}

void ForeignMemory::fail(std::exception_ptr thrown) {
  if (error_) return;
  error_ = std::move(thrown);
  event_queue_.advance(kernel_now(event_queue_));
  event_queue_.soon([](void* self) { std::rethrow_exception(static_cast<ForeignMemory*>(self)->error_); },
                    this);
}

// ---------------------------------------------------------------------------------------------------
// accesses of the bus

tlm::tlm_response_status ForeignMemory::status(const Payload& payload) const {
  const Bytes bytes = payload.get_data_length();
  if (payload.get_address() < base_ || bytes > capacity_ || payload.get_address() - base_ > capacity_ - bytes)
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  return payload.get_streaming_width() < bytes ? tlm::TLM_BURST_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
}

Reply ForeignMemory::request(unsigned /*index*/, Payload& payload, Picoseconds when) {
  payload.set_response_status(status(payload));
  if (!payload.is_response_ok() || (!payload.is_read() && !payload.is_write())) return Reply::completed(when);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  Access& access = accesses_.take();
  access.owner = this;
  access.payload = &payload;
  access.arrived = when;
  access.sent = access.answered = 0;
  event_queue_.at(
      when,
      [](void* self) {
        Access& arrived = *static_cast<Access*>(self);
        arrived.owner->arrive(arrived);
      },
      &access);
  return Reply::accepted();
}

Picoseconds ForeignMemory::responding(Access& /*access*/) const {
  return event_queue_.now();
}

void ForeignMemory::consumed(Access& access) {
  access.payload = nullptr;
  accesses_.give(access);
}

void ForeignMemory::arrive(Access& access) {
  waiting_.push(access);
  pump();
}

/// Gives the memory what it may have.
void ForeignMemory::pump() {
  while (!waiting_.empty() && outstanding_ < at_once_) {
    Access& access = *waiting_.front();
    Part& part = next_part(access);
    if (access.sent == access.payload->get_data_length()) waiting_.pop();
    ++outstanding_;
    if (traits_.blocking) {
      call(part);
    } else {
      memory_isock.send(part);
    }
  }
}

ForeignMemory::Part& ForeignMemory::next_part(Access& access) {
  const Payload& whole = *access.payload;
  const std::uint64_t address = traits_.base + (whole.get_address() - base_) + access.sent;
  Bytes length = whole.get_data_length() - access.sent;
  if (traits_.burst != 0) length = std::min(length, traits_.burst - address % traits_.burst);
  Part& part = parts_.take(whole.get_command(), address, whole.get_data_ptr() + access.sent, length);
  part.extension.access = &access;
  part.extension.length = length;
  access.sent += length;
  return part;
}

// ---------------------------------------------------------------------------------------------------
// transactions of the memory

/// A transaction goes now.
Picoseconds ForeignMemory::departure(Part& part) {
  const Picoseconds now = event_queue_.now();
  part.extension.under_way = true;
  const Access& access = *part.extension.access;
  const Payload& whole = *access.payload;
  if (part.get_data_ptr() == whole.get_data_ptr())
    counters_.count(whole.get_data_length(), whole.is_write(), 0, now - access.arrived);
  ++transactions_;
  if (under_way_++ == 0) {
    busy_since_ = last_answer_ = now;
    silence_.notify(to_sc_time(k_longest_silence));
  }
  return now;
}

void ForeignMemory::responded(unsigned /*index*/, Payload& payload, Picoseconds when) {
  auto* const answered = dynamic_cast<Part*>(&payload);
  if (answered == nullptr || !std::exchange(answered->extension.under_way, false)) {
    fail(std::make_exception_ptr(error(answered == nullptr
                                           ? "answered a transaction that it has not been given"
                                           : "answered a transaction that is not under way any more")));
    return;
  }
  // arrival() of an endless delay is before now, and the queue would take that for now.
  if (when < event_queue_.now()) {
    fail(std::make_exception_ptr(silent()));
    return;
  }
  event_queue_.at(
      when,
      [](void* self) {
        Part& part = *static_cast<Part*>(self);
        part.extension.access->owner->finish(part);
      },
      answered);
}

void ForeignMemory::answered_wrongly(const Payload& payload, tlm::tlm_sync_enum status, unsigned phase) {
  const std::string place = " at its address " + std::to_string(payload.get_address());
  const std::string named =
      phase <= tlm::END_RESP ? std::string(k_phases[phase]) : "phase " + std::to_string(phase);
  std::string what = "sent " + named + place + ", which no target may";
  if (status == tlm::TLM_UPDATED)
    what = "answered BEGIN_REQ" + place + " with " + named + ", which no target may";
  if (status != tlm::TLM_UPDATED && status != tlm::TLM_ACCEPTED) {
    what = "answered BEGIN_REQ" + place + " with return value " + std::to_string(status) +
           ", which there is not";
  }
  fail(std::make_exception_ptr(error(what)));
}

void ForeignMemory::check(const Part& part) const {
  const Bytes length = part.extension.length;
  const tlm::tlm_response_status status = part.get_response_status();
  if (status == tlm::TLM_OK_RESPONSE && part.get_data_length() == length) return;
  const std::string asked = std::string(" a ") + (part.is_write() ? "write" : "read") + " of " +
                            std::to_string(length) + " B at its address " +
                            std::to_string(part.get_address());
  if (status > tlm::TLM_OK_RESPONSE || status < tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE)
    throw error("answered response status " + std::to_string(status) + ", which there is not, to" + asked);
  if (status != tlm::TLM_OK_RESPONSE) throw error("answered " + part.get_response_string() + " to" + asked);
  throw error("made" + asked + " one of " + std::to_string(part.get_data_length()) +
              " B, which no target may");
}

void ForeignMemory::finish(Part& part) {
  check(part);
  Access& access = *part.extension.access;
  access.answered += part.get_data_length();
  part.release();
  --outstanding_;
  last_answer_ = event_queue_.now();
  if (--under_way_ == 0) {
    counters_.busy += last_answer_ - busy_since_;
    silence_.cancel();
  }
  if (access.answered == access.payload->get_data_length()) {
    access.payload->set_response_status(tlm::TLM_OK_RESPONSE);
    bus_tsock.respond(access);
  }
  pump();
}

InputError ForeignMemory::silent() const {
  return error("has not answered for " + format_value(Kind::time, k_longest_silence) + "; " +
               std::to_string(under_way_) + " transactions are under way");
}

void ForeignMemory::look_for_silence() {
  const Picoseconds now = kernel_now(event_queue_);
  const Picoseconds end = last_answer_ + k_longest_silence;
  if (under_way_ == 0) return;
  if (now < end) {
    silence_.notify(to_sc_time(end - now));
    return;
  }
  fail(std::make_exception_ptr(silent()));
}

// ---------------------------------------------------------------------------------------------------
// b_transport

void ForeignMemory::call(Part& part) {
  static_cast<void>(departure(part));
  ready_.push(part);
  if (idle_threads_ < ready_.size()) {
    sc_core::sc_spawn([this] { work(); }, ("thread_" + std::to_string(threads_++)).c_str());
  } else {
    ready_event_.notify();
  }
}

void ForeignMemory::work() {
  for (;;) {
    while (ready_.empty()) {
      ++idle_threads_;
      wait(ready_event_);
      --idle_threads_;
    }
    Part& part = ready_.pop();
    try {
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      memory_isock->b_transport(part, delay);
      responded(0, part, arrival(event_queue_, delay));
    } catch (const sc_core::sc_unwind_exception&) {
      throw;
    } catch (...) {
      fail(std::current_exception());
    }
  }
}

/// For loosely timed masters of the bus: one transaction after another, nothing of it is queued.
void ForeignMemory::blocking(unsigned /*index*/, Payload& payload, sc_core::sc_time& delay) {
  payload.set_response_status(status(payload));
  if (!payload.is_response_ok() || (!payload.is_read() && !payload.is_write())) return;
  counters_.count(payload.get_data_length(), payload.is_write(), 0, 0);
  Access access{this, &payload};
  while (access.sent < payload.get_data_length()) {
    Part& part = next_part(access);
    ++transactions_;
    memory_isock->b_transport(part, delay);
    payload.set_response_status(part.get_response_status());
    part.release();
    if (!payload.is_response_ok()) return;
  }
}

// ---------------------------------------------------------------------------------------------------
// debug transport

unsigned ForeignMemory::debug(unsigned /*index*/, Payload& payload) {
  const auto length = payload.get_data_length();
  if (status(payload) != tlm::TLM_OK_RESPONSE) return 0;
  if (debug_ == Debug::missing || length == 0) return length;
  Part& whole = parts_.take(payload.get_command(), traits_.base + (payload.get_address() - base_),
                            payload.get_data_ptr(), length);
  const unsigned moved = memory_isock->transport_dbg(whole);
  whole.release();
  if (debug_ == Debug::unknown) debug_ = moved == 0 ? Debug::missing : Debug::answered;
  if (debug_ == Debug::answered && moved != length) {
    throw error("moved " + std::to_string(moved) + " of " + std::to_string(length) +
                " B by debug transport at its address " +
                std::to_string(traits_.base + (payload.get_address() - base_)));
  }
  return length;
}

// ---------------------------------------------------------------------------------------------------
// reporting

MemoryCounters ForeignMemory::counted() const {
  MemoryCounters counted = counters_;
  if (under_way_ > 0) counted.busy += event_queue_.now() - busy_since_;
  return counted;
}

void ForeignMemory::tell_busy(BusySink& sink) const {
  counted().tell_busy(sink, place_ == "dram" ? "DRAM" : "SCM", event_queue_.now(), 0);
}

void ForeignMemory::report(StatisticsSink& sink) const {
  sink.open(place_, place_ == "dram" ? "controller DRAM" : "storage-class memory");
  sink.text("model", name_,
            "memory from outside in this place: the interface is occupied while it has "
            "something to answer");
  counted().report(sink, event_queue_.now(), 0);
  sink.value("transactions", transactions_, "transactions", "that accesses have been cut into");
  if (debug_ != Debug::unknown) {
    sink.text("debug transport", debug_ == Debug::answered ? "answered" : "missing",
              "missing: untimed work does not reach the memory");
  }
  sink.open("own", "what the memory says of itself");
  report_within(sink, "memory " + name_, *model_);
  sink.close();
  sink.close();
}

void ForeignMemory::check_archives() const {
  if (!model_->archives()) throw error("does not archive itself, so there are no snapshots with it");
}

void ForeignMemory::archive(Archive& archive) {
  check_archives();
  model_->archive(archive);
}

void ForeignMemory::reset_statistics() {
  busy_since_ = event_queue_.now();
  counters_.restart(busy_since_, 0);
  transactions_ = 0;
  model_->reset_statistics();
}

}  // namespace tlmssd
