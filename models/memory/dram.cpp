#include "models/memory/dram.h"

#include <algorithm>
#include <cstring>

#include "models/tlm/kernel_time.h"

namespace tlmssd {

using Payload = tlm::tlm_generic_payload;

const ParameterTable<DramConfig>& DramConfig::parameters() {
  static const auto table = ParameterTable<DramConfig>{}.bytes(
      "capacity", &DramConfig::capacity, {std::uint64_t{64} << 10U, k_scm_base},
      "size of the controller's DRAM: write buffer, mapping tables and data in flight");
  return table;
}

const ParameterTable<DramConfig>& DramConfig::timing_parameters() {
  static const auto table =
      ParameterTable<DramConfig>{}
          .bandwidth("bandwidth", &DramConfig::bandwidth, {1'000'000, 1'000'000'000'000},
                     "sustained data rate of the DRAM, all costs of rows, banks and refresh included")
          .time("latency", &DramConfig::latency, {0, 1'000'000'000},
                "from an access being served to its first byte; accesses overlap in it");
  return table;
}

// ----------------------------------------------------------------------------------------------------------------------
// timing

DramTiming::Span DramTiming::reserve(Picoseconds arrival, Bytes bytes) {
  const Picoseconds start = std::max(free_, arrival);
  free_ = start + times_.of(bytes);
  return {start, free_, free_ + latency_};
}

void MemoryCounters::count(Bytes bytes, bool write, Picoseconds occupancy, Picoseconds wait) {
  ++(write ? writes : reads);
  (write ? written_bytes : read_bytes) += bytes;
  busy += occupancy;
  waiting += wait;
}

void MemoryCounters::report(StatisticsSink& sink, Picoseconds now, Picoseconds ahead) const {
  const std::uint64_t accesses = reads + writes;
  sink.value("utilisation", share_within(now - since, busy, ahead), "",
             "share of time its interface was occupied");
  sink.value("busy", static_cast<double>(busy_within(now - since, busy, ahead)) * 1e-12, "s",
             "time its interface was occupied");
  sink.value("reads", reads, "accesses", "read accesses");
  sink.value("writes", writes, "accesses", "write accesses");
  sink.value("bytes read", read_bytes, "B", "bytes read");
  sink.value("bytes written", written_bytes, "B", "bytes written");
  sink.value("mean wait",
             accesses > 0 ? static_cast<double>(waiting) * 1e-12 / static_cast<double>(accesses) : 0.0, "s",
             "mean time an access waited for earlier ones");
}

void MemoryCounters::restart(Picoseconds now, Picoseconds ahead) {
  *this = {};
  busy = ahead;
  since = now;
}

// ----------------------------------------------------------------------------------------------------------------------
// module

Dram::Dram(const sc_core::sc_module_name& name, const DramConfig& config, EventQueue& event_queue,
           std::uint64_t base)
    : sc_core::sc_module(name),
      bus_tsock("bus_tsock", *this),
      config_(config),
      event_queue_(event_queue),
      base_(base),
      timing_(config),
      bytes_(config.storage ? config.capacity : 0) {}

bool Dram::holds(std::uint64_t address, Bytes bytes) const {
  return address >= base_ && bytes <= config_.capacity && address - base_ <= config_.capacity - bytes;
}

void Dram::move(Payload& payload) {
  const std::uint64_t first = payload.get_address() - base_;
  unsigned char* data = payload.get_data_ptr();
  for (unsigned i = 0; i < payload.get_data_length(); ++i) {
    if (payload.is_write()) {
      bytes_.write(first + i) = data[i];
    } else {
      data[i] = bytes_.read(first + i);
    }
  }
}

Picoseconds Dram::access(Payload& payload, Picoseconds arrival) {
  const Bytes bytes = payload.get_data_length();
  if (!holds(payload.get_address(), bytes)) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return arrival;
  }
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return arrival;
  }
  if (payload.get_streaming_width() < bytes) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return arrival;
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  const bool write = payload.is_write();
  if (!write && !payload.is_read()) return arrival;
  if (config_.storage) move(payload);
  return reserve(arrival, bytes, write);
}

Picoseconds Dram::access(Picoseconds arrival, std::uint64_t address, Bytes bytes, bool write) {
  return holds(address, bytes) ? reserve(arrival, bytes, write) : k_never;
}

Picoseconds Dram::reserve(Picoseconds arrival, Bytes bytes, bool write) {
  const DramTiming::Span span = timing_.reserve(arrival, bytes);
  counters_.count(bytes, write, span.free - span.start, span.start - arrival);
  if (observer_ != nullptr) observer_->occupied(span.start, span.free, bytes, write);
  return span.end;
}

tlm::tlm_sync_enum Dram::forward(unsigned /*index*/, Payload& payload, tlm::tlm_phase& phase,
                                 sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ)
    return tlm::TLM_ACCEPTED;  // nothing else can come: every request completes at once
  const Picoseconds arrived = arrival(event_queue_, delay);
  delay += to_sc_time(access(payload, arrived) - arrived);
  return tlm::TLM_COMPLETED;
}

void Dram::blocking(unsigned /*index*/, Payload& payload, sc_core::sc_time& delay) {
  const Picoseconds arrived = arrival(event_queue_, delay);
  delay += to_sc_time(access(payload, arrived) - arrived);
}

unsigned Dram::debug(unsigned /*index*/, Payload& payload) {
  if (!holds(payload.get_address(), payload.get_data_length())) return 0;
  if (config_.storage && (payload.is_read() || payload.is_write())) move(payload);
  return payload.get_data_length();
}

void Dram::report(StatisticsSink& sink) const {
  sink.open("dram", "controller DRAM");
  const Picoseconds now = event_queue_.now();
  counters_.report(sink, now, timing_.ahead(now, feed_));
  sink.close();
}

void Dram::reset_statistics() {
  const Picoseconds now = event_queue_.now();
  counters_.restart(now, timing_.ahead(now, feed_));
}

void Dram::archive(Archive& a) {
  a(timing_);
  if (config_.storage) a(bytes_);
}

}  // namespace tlmssd
