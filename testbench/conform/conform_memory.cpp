// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): SystemC asks for it
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include "testbench/conform/conform_memory.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <utility>

namespace tlmssd {

namespace {

constexpr int k_accesses = 2'000;
constexpr std::uint32_t k_most_outstanding = 64;
constexpr std::uint32_t k_most_callers = 16;
constexpr std::size_t k_most_held = 4;                    // payloads that have been answered
constexpr std::size_t k_most_answered = 32;               // whose data are looked at again
constexpr std::size_t k_around = 4096;                    // bytes before and behind those of a payload
constexpr unsigned char k_nobodys = 0xA5;                 // what these are
constexpr std::size_t k_region = std::size_t{64} << 10U;  // of which the bytes are compared
constexpr std::size_t k_longest = 4096;
constexpr std::size_t k_word = 64;
constexpr int k_patience = 4;  // times the longest that an access may take

std::string text(const sc_core::sc_time& time) {
  return time.to_string();
}

}  // namespace

std::span<unsigned char> MemoryConformance::Data::bytes() {
  return std::span(room).subspan(k_around, room.size() - 2 * k_around);
}

void MemoryConformance::Data::resize(std::size_t bytes) {
  room.assign(bytes + 2 * k_around, k_nobodys);
}

/// Those that were never answered.
MemoryConformance::Pool::~Pool() {
  for (tlm::tlm_generic_payload* const payload : used) delete static_cast<Access*>(payload);
}

void MemoryConformance::Pool::free(tlm::tlm_generic_payload* payload) {
  used.erase(payload);
  freed.notify(sc_core::SC_ZERO_TIME);
  delete static_cast<Access*>(payload);
}

MemoryConformance::MemoryConformance(const sc_core::sc_module_name& name, const MemorySocket& memory,
                                     const MemoryShape& shape, std::uint64_t seed)
    : sc_core::sc_module(name),
      socket_("socket"),
      checker_("checker", ProtocolChecker::OnViolation::collect),
      shape_(shape),
      random_(seed, "conformance of memories"),
      word_(shape.burst != 0 ? std::min<std::size_t>(shape.burst, k_word) : k_word),
      longest_(shape.burst != 0 ? std::min<std::size_t>(shape.burst, k_longest) : k_longest),
      whole_(shape.burst != 0 ? std::min<std::size_t>(shape.burst, k_region) : k_region),
      region_(std::min<std::size_t>(k_region, shape.capacity)) {
  whole_ = std::min(whole_, region_);
  for (Bytes at = shape.capacity / 2; at >= region_; at /= 2) far_.push_back(at / word_ * word_);
  if (const Bytes last = (shape.capacity - word_) / word_ * word_; last >= region_) far_.push_back(last);
  bytes_.resize(region_ + far_.size() * word_);
  socket_.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  socket_.bind(checker_.tsock);
  memory.bind_to(checker_.isock);
  SC_THREAD(work);
}

void MemoryConformance::run() {
  pauses_ = true;
  for (std::uint64_t before = ~std::uint64_t{0}; !ended() && accesses_ != before;) {
    before = accesses_;
    sc_core::sc_start(k_patience * shape_.longest);
    if ((sc_core::sc_get_status() & (sc_core::SC_STOPPED | sc_core::SC_END_OF_SIMULATION)) == 0) continue;
    wrong(broken_, "it has ended the simulation (sc_stop())");
  }
  if (!ended() && outstanding_ == 0)
    wrong(broken_, fmt::format("an access takes more than {}", text(k_patience * shape_.longest)));
}

Conformance MemoryConformance::found() const {
  Conformance found;
  found.check("every call comes back, without an exception", [&] {
    if (!broken_.empty()) return broken_;
    return done_ || outstanding_ > 0 ? std::string() : fmt::format("the simulation ended during {}", at_);
  });
  if (shape_.blocking) found.check("b_transport answers every access", [&] { return answers_; });
  found.check("no time annotated is before that of the call, or endless", [&] { return forwards_; });
  if (shape_.phases)
    found.check("nb_transport answers every request once", [&] {
      if (phases_wrong_.empty() && outstanding_ > 0)
        return fmt::format("{} requests were never answered", outstanding_);
      return phases_wrong_;
    });
  if (shape_.keeps_bytes)
    found.check("what was written is read, however it was written", [&] { return bytes_wrong_; });
  found.check("of a payload's data only what is read changes, and before the answer",
              [&] { return data_wrong_; });
  if (shape_.blocking) found.check("an access beyond the end is refused", [&] { return beyond_wrong_; });
  found.check(shape_.debug ? "debug transport moves every byte and takes no time"
                           : "debug transport moves every byte, or there is none, and takes no time",
              [&] { return debug_wrong_; });
  found.check("the base protocol of TLM-2.0 is kept", [&] {
    const auto& violations = checker_.violations();
    if (violations.empty()) return std::string();
    return fmt::format("{} ({} in all)", violations.front(), violations.size());
  });
  found.check("no payload is held on to", [&] {
    if (!held_wrong_.empty()) return held_wrong_;
    return pool_.used.empty() || outstanding_ > 0 ? std::string()
                                                  : fmt::format("{} are still held", pool_.used.size());
  });
  return found;
}

void MemoryConformance::wrong(std::string& check, const std::string& what) const {
  if (check.empty()) check = fmt::format("{} ({})", what, at_);
}

/// Exceptions end the thread, not the simulation: others may be under way.
void MemoryConformance::guarded(const std::function<void()>& work) {
  try {
    work();
  } catch (const sc_core::sc_unwind_exception&) {
    throw;
  } catch (const std::exception& error) {
    wrong(broken_, error.what());
  } catch (...) {
    wrong(broken_, "something that is no std::exception");
  }
}

void MemoryConformance::work() {
  guarded([this] {
    if (shape_.blocking) {
      at_ = "loosely timed";
      blocking();
      at_ = "whole bursts";
      whole_bursts();
      at_ = "as far as its capacity goes";
      whole_capacity();
      at_ = "several at once";
      if (shape_.at_once > 1) several_at_once();
      at_ = "ahead of the kernel";
      run_ahead();
      at_ = "beyond the end";
      beyond();
    }
    if (shape_.blocking) debug();
    at_ = "approximately timed";
    if (shape_.phases) phases();
    if (!shape_.blocking) debug();
    if (outstanding_ == 0) wait_for_releases(0);
    for (const Answered& one : answered_) check_answered(one);
    done_ = true;
  });
  if (pauses_) sc_core::sc_pause();
}

// ---- accesses

void MemoryConformance::fill(Access& access, tlm::tlm_command command) {
  const std::size_t words = region_ / word_;
  const std::size_t first = random_.below(words);
  const std::size_t left = longest_ - (shape_.burst == 0 ? 0 : first * word_ % longest_);
  const std::size_t count = 1 + random_.below(std::min(words - first, left / word_));
  access.offset = first * word_;
  access.data.resize(count * word_);
  access.set_command(command);
  forget(access, shape_.base + access.offset);
}

/// Disjoint parts that each have room for the longest access.
std::uint32_t MemoryConformance::parts(std::uint32_t most) const {
  const std::uint32_t wanted = shape_.at_once == 0 ? most : std::min(shape_.at_once, most);
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(region_ / unit(), 1, std::max(wanted, 1U)));
}

/// A random access to one of the disjoint parts of the bytes.
void MemoryConformance::fill_part(Access& access, std::uint32_t part, std::uint32_t parts) {
  fill(access, random_.below(2) == 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  const std::size_t size = region_ / parts / unit() * unit();
  const std::size_t length = std::min(access.data.bytes().size(), size);
  access.data.resize(length);
  access.offset = part * size + (shape_.burst == 0 ? access.offset % (size - length + word_) / word_ * word_
                                                   : access.offset % size);
  forget(access, shape_.base + access.offset);
}

/// The word behind the last of them is the first of all: where a smaller memory begins anew.
void MemoryConformance::fill_far(Access& access, std::size_t which, tlm::tlm_command command) {
  const bool far = which < far_.size();
  access.data.resize(word_);
  access.offset = far ? region_ + which * word_ : 0;
  access.set_command(command);
  forget(access, shape_.base + (far ? far_[which] : 0));
}

/// A fresh transaction of the payload's length, with bytes of its own.
void MemoryConformance::forget(Access& access, std::uint64_t address) {
  const std::span<unsigned char> bytes = access.data.bytes();
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random_());
  access.written.assign(bytes.begin(), bytes.end());
  access.set_address(address);
  access.set_data_ptr(bytes.data());
  access.set_data_length(static_cast<unsigned>(bytes.size()));
  access.set_streaming_width(static_cast<unsigned>(bytes.size()));
  access.set_byte_enable_ptr(nullptr);
  access.set_dmi_allowed(false);
  access.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  ++accesses_;
}

/// An access that has been answered; takes its data.
void MemoryConformance::compare(Access& access, const char* where) {
  unsigned char* const kept = bytes_.data() + access.offset;
  if (access.is_write()) {
    std::memcpy(kept, access.written.data(), access.written.size());
  } else if (shape_.keeps_bytes) {
    const std::span<unsigned char> bytes = access.data.bytes();
    const auto [here, there] = std::mismatch(bytes.begin(), bytes.end(), kept);
    if (here != bytes.end())
      wrong(bytes_wrong_, fmt::format("{}: byte {} is {:#x}, expected {:#x}", where,
                                      access.get_address() + static_cast<std::uint64_t>(here - bytes.begin()),
                                      *here, *there));
  }
  check_data(access);
}

void MemoryConformance::check_data(Access& access) {
  const std::span<unsigned char> bytes = access.data.bytes();
  const std::vector<unsigned char>& room = access.data.room;
  const auto spoilt = [](unsigned char byte) { return byte != k_nobodys; };
  const auto begin = room.begin() + k_around;
  const auto end = room.end() - k_around;
  const char* const kind = access.is_write() ? "write" : "read";
  if (const auto behind = std::find_if(end, room.end(), spoilt); behind != room.end())
    wrong(data_wrong_,
          fmt::format("a {} of {} B changes byte {} of its data", kind, bytes.size(), behind - begin));
  if (std::find_if(room.begin(), begin, spoilt) != begin)
    wrong(data_wrong_, fmt::format("a {} of {} B changes what lies before its data", kind, bytes.size()));
  if (access.is_write() && !std::equal(bytes.begin(), bytes.end(), access.written.begin()))
    wrong(data_wrong_, fmt::format("a write of {} B at {} changes them", bytes.size(), access.get_address()));
  if (answered_.size() == k_most_answered) {
    check_answered(answered_.front());
    answered_.pop_front();
  }
  answered_.push_back({std::move(access.data), {}});
  answered_.back().then = answered_.back().data.room;
}

void MemoryConformance::check_answered(const Answered& one) {
  if (one.data.room != one.then) wrong(data_wrong_, "data change after the answer");
}

// ---- loosely timed hosts

void MemoryConformance::check_blocking(Access& access, sc_core::sc_time& delay) {
  const sc_core::sc_time called = sc_core::sc_time_stamp() + delay;
  const sc_core::sc_time latest = called + shape_.longest * std::max(running_, 1U);
  socket_->b_transport(access, delay);
  const sc_core::sc_time ended = sc_core::sc_time_stamp() + delay;
  if (!access.is_response_ok())
    wrong(answers_, fmt::format("{} B at {}: {}", access.get_data_length(), access.get_address(),
                                access.get_response_string()));
  if (ended < called) wrong(forwards_, fmt::format("called for {}, ended at {}", text(called), text(ended)));
  if (ended > latest)
    wrong(forwards_,
          fmt::format("called for {}, ended at {}, later than {}", text(called), text(ended), text(latest)));
  compare(access, "b_transport");
}

/// Waits for each access before the next. First all of the bytes are written, so that they are
/// known.
void MemoryConformance::blocking() {
  Access access;
  const auto use = [&] {
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    check_blocking(access, delay);
    wait(delay);
  };
  for (std::size_t offset = 0; offset < region_; offset += longest_) {
    access.data.resize(std::min(longest_, region_ - offset));
    access.offset = offset;
    access.set_command(tlm::TLM_WRITE_COMMAND);
    forget(access, shape_.base + offset);
    use();
  }
  for (int i = 0; i < k_accesses; ++i) {
    fill(access, i % 2 == 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    use();
  }
}

/// All of the bytes, in accesses as long as the memory takes.
void MemoryConformance::whole_bursts() {
  Access access;
  for (const tlm::tlm_command command :
       {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND, tlm::TLM_READ_COMMAND}) {
    for (std::size_t offset = 0; offset + whole_ <= region_; offset += whole_) {
      access.data.resize(whole_);
      access.offset = offset;
      access.set_command(command);
      forget(access, shape_.base + offset);
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      check_blocking(access, delay);
      wait(delay);
      if (whole_ == longest_) return;  // such have been tried
    }
  }
}

/// Of those behind the region; when they are read, with its first one.
std::size_t MemoryConformance::far_words(tlm::tlm_command command) const {
  return far_.empty() ? 0 : far_.size() + (command == tlm::TLM_READ_COMMAND ? 1 : 0);
}

/// All are written, then read, so that none is another's.
void MemoryConformance::whole_capacity() {
  Access access;
  for (const tlm::tlm_command command : {tlm::TLM_WRITE_COMMAND, tlm::TLM_READ_COMMAND}) {
    for (std::size_t i = 0; i < far_words(command); ++i) {
      fill_far(access, i, command);
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      check_blocking(access, delay);
      wait(delay);
    }
  }
}

/// b_transport is called before it has come back to others.
void MemoryConformance::several_at_once() {
  const std::uint32_t callers = parts(k_most_callers);
  running_ = callers;
  for (std::uint32_t part = 0; part < callers; ++part) {
    sc_core::sc_spawn([this, part, callers] {
      guarded([&] {
        Access access;
        for (int i = 0; i < k_accesses / 10; ++i) {
          fill_part(access, part, callers);
          sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
          check_blocking(access, delay);
          wait(delay);
        }
      });
      --running_;
      progress_.notify(sc_core::SC_ZERO_TIME);
    });
  }
  while (running_ > 0) wait(progress_);
}

/// Lets the kernel catch up only now and then (temporal decoupling).
void MemoryConformance::run_ahead() {
  const sc_core::sc_time quantum(100, sc_core::SC_US);
  Access access;
  sc_core::sc_time local = sc_core::SC_ZERO_TIME;
  for (int i = 0; i < k_accesses; ++i) {
    fill(access, random_.below(2) == 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    local += sc_core::sc_time(static_cast<double>(random_.below(200)), sc_core::SC_NS);  // its own work
    check_blocking(access, local);
    if (local < quantum) continue;
    wait(local);
    local = sc_core::SC_ZERO_TIME;
  }
  wait(local);
}

void MemoryConformance::beyond() {
  Access access;
  const std::uint64_t end = shape_.base + shape_.capacity;
  for (const std::uint64_t address : {end, end - word_ / 2, end + (std::uint64_t{1} << 30U)}) {
    for (const tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
      access.set_command(command);
      access.data.resize(word_);
      forget(access, address);
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      socket_->b_transport(access, delay);
      if (!access.is_response_error())
        wrong(beyond_wrong_, fmt::format("{} B at {}: {}, the memory ends at {}", word_, address,
                                         access.get_response_string(), end));
      check_data(access);
      wait(delay);
    }
  }
}

void MemoryConformance::debug() {
  at_ = "debug transport";
  Access access;
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): a reference would go on with time
  const sc_core::sc_time before = sc_core::sc_time_stamp();
  for (int i = 0; i < k_accesses / 10; ++i) {
    fill(access, i % 3 == 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    const unsigned moved = socket_->transport_dbg(access);
    if (moved == 0 && !shape_.debug && i == 0) return;
    if (moved != access.get_data_length()) {
      wrong(debug_wrong_, fmt::format("{} of {} B", moved, access.get_data_length()));
      continue;
    }
    compare(access, "transport_dbg");
  }
  if (sc_core::sc_time_stamp() != before)
    wrong(debug_wrong_, "takes until " + text(sc_core::sc_time_stamp()));
}

// ---- the approximately timed host

/// As many requests at once as the memory takes, over disjoint parts of the bytes: which of them
/// comes first is the memory's business.
void MemoryConformance::phases() {
  if (!shape_.blocking) one_by_one(longest_, tlm::TLM_WRITE_COMMAND);
  const std::uint32_t count = parts(k_most_outstanding);
  for (int i = 0; i < k_accesses && phases_wrong_.empty(); ++i) {
    auto* const access = new Access(&pool_);
    pool_.used.insert(access);
    access->acquire();
    const std::uint32_t part = static_cast<std::uint32_t>(i) % count;
    fill_part(*access, part, count);
    issue(*access);
    // The first part again only when all of them have been answered.
    while (phases_wrong_.empty() && (requesting_ != nullptr || (part + 1 == count && outstanding_ > 0))) {
      wait_for_progress();
      collect();
    }
    if (request_ends_ > sc_core::sc_time_stamp()) wait(request_ends_ - sc_core::sc_time_stamp());
  }
  while (phases_wrong_.empty() && outstanding_ > 0) {
    wait_for_progress();
    collect();
  }
  if (whole_ != longest_) {
    at_ = "whole bursts";
    one_by_one(whole_, tlm::TLM_WRITE_COMMAND);
    one_by_one(whole_, tlm::TLM_READ_COMMAND);
  }
  at_ = "as far as its capacity goes";
  for (const tlm::tlm_command command : {tlm::TLM_WRITE_COMMAND, tlm::TLM_READ_COMMAND}) {
    for (std::size_t i = 0; i < far_words(command); ++i)
      alone([&](Access& access) { fill_far(access, i, command); });
  }
}

/// All of the bytes, by accesses of so many that wait for each other.
void MemoryConformance::one_by_one(std::size_t bytes, tlm::tlm_command command) {
  for (std::size_t offset = 0; offset < region_; offset += bytes) {
    alone([&](Access& access) {
      access.data.resize(std::min(bytes, region_ - offset));
      access.offset = offset;
      access.set_command(command);
      forget(access, shape_.base + offset);
    });
  }
}

/// An access that is waited for.
void MemoryConformance::alone(const std::function<void(Access&)>& fill) {
  if (!phases_wrong_.empty()) return;
  auto* const access = new Access(&pool_);
  pool_.used.insert(access);
  access->acquire();
  fill(*access);
  issue(*access);
  while (phases_wrong_.empty() && (requesting_ != nullptr || outstanding_ > 0)) {
    wait_for_progress();
    collect();
  }
  if (request_ends_ > sc_core::sc_time_stamp()) wait(request_ends_ - sc_core::sc_time_stamp());
}

void MemoryConformance::wait_for_progress() {
  if (!responses_.empty()) return;
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): a reference would go on with time
  const sc_core::sc_time before = sc_core::sc_time_stamp();
  const sc_core::sc_time most = shape_.longest;
  wait(most, progress_);
  if (responses_.empty() && sc_core::sc_time_stamp() - before >= most)
    wrong(phases_wrong_, fmt::format("{} requests are not answered within {}", outstanding_, text(most)));
}

/// Until no more than `most` payloads are held, all of which have been answered; a memory may
/// release them some time after END_RESP.
void MemoryConformance::wait_for_releases(std::size_t most) {
  for (std::size_t held = pool_.used.size() + 1; pool_.used.size() > most && pool_.used.size() < held;) {
    held = pool_.used.size();
    wait(shape_.longest, pool_.freed);
  }
}

void MemoryConformance::issue(Access& access) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  ++outstanding_;
  requesting_ = &access;
  const tlm::tlm_sync_enum status = socket_->nb_transport_fw(access, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return;
  const bool completed = status == tlm::TLM_COMPLETED;
  if (completed || phase == tlm::END_REQ || phase == tlm::BEGIN_RESP) request_ended(delay);
  if (completed || phase == tlm::BEGIN_RESP) {
    access.responded = true;
    responses_.push_back({&access, sc_core::sc_time_stamp() + delay, !completed});
    progress_.notify(delay);
  }
}

void MemoryConformance::request_ended(const sc_core::sc_time& delay) {
  requesting_ = nullptr;
  request_ends_ = sc_core::sc_time_stamp() + delay;
}

/// Takes what has been answered. From the thread alone: the backward path must not call forward.
void MemoryConformance::collect() {
  while (!responses_.empty()) {
    const Response response = responses_.front();
    responses_.pop_front();
    Access& access = *response.access;
    if (response.at > sc_core::sc_time_stamp()) wait(response.at - sc_core::sc_time_stamp());
    if (!access.is_response_ok())
      wrong(phases_wrong_, fmt::format("{} B at {}: {}", access.get_data_length(), access.get_address(),
                                       access.get_response_string()));
    compare(access, "nb_transport");
    --outstanding_;
    if (response.ends) {
      tlm::tlm_phase phase = tlm::END_RESP;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      socket_->nb_transport_fw(access, phase, delay);
    }
    access.release();
  }
  if (outstanding_ > 0 || !held_wrong_.empty()) return;
  wait_for_releases(k_most_held);
  if (pool_.used.size() > k_most_held)
    wrong(held_wrong_, fmt::format("{} that have all been answered are held", pool_.used.size()));
}

tlm::tlm_sync_enum MemoryConformance::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                                      tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (!pool_.used.contains(&payload)) {
    wrong(phases_wrong_, "an answer to what is no longer asked");
    return tlm::TLM_COMPLETED;
  }
  // A response implies END_REQ of its own request alone.
  if (requesting_ == &payload && (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP)) request_ended(delay);
  if (phase == tlm::BEGIN_RESP) {
    auto& access = static_cast<Access&>(payload);
    if (std::exchange(access.responded, true)) {
      wrong(phases_wrong_, "a request is answered twice");
      return tlm::TLM_ACCEPTED;
    }
    responses_.push_back({&access, sc_core::sc_time_stamp() + delay, true});
  }
  progress_.notify(delay);
  return tlm::TLM_ACCEPTED;
}

}  // namespace tlmssd
