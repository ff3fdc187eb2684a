#include "models/memory/dram.h"

namespace tlmssd {

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
                "from an access being served to its first byte; accesses overlap in it")
          .choice("arbitration", &DramConfig::arbitration, {k_in_order, k_round_robin},
                  Turns::meaning("access") + "; for the bus in front there is ssd.bus.arbitration");
  return table;
}

// ----------------------------------------------------------------------------------------------------------------------
// timing

DramTiming::Span DramTiming::reserve(Picoseconds arrival, Bytes bytes) {
  const Picoseconds time = times_.of(bytes);
  const Turns::Span span = turns_.take(arrival, time);
  return {span.start - arrival, span.booked - time, span.booked, span.end + latency_};
}

// ----------------------------------------------------------------------------------------------------------------------
// module

Dram::Dram(const sc_core::sc_module_name& name, const DramConfig& config, EventQueue& event_queue,
           std::uint64_t base)
    : MemoryTarget(name, event_queue, base, config.capacity),
      storage_(config.storage),
      timing_(config),
      bytes_(config.storage ? config.capacity : 0) {}

void Dram::move(tlm::tlm_generic_payload& payload) {
  const std::uint64_t first = payload.get_address() - base();
  unsigned char* data = payload.get_data_ptr();
  for (unsigned i = 0; i < payload.get_data_length(); ++i) {
    if (payload.is_write()) {
      bytes_.write(first + i) = data[i];
    } else {
      data[i] = bytes_.read(first + i);
    }
  }
}

Picoseconds Dram::access(Picoseconds arrival, std::uint64_t address, Bytes bytes, bool write) {
  if (!holds(address, bytes)) return k_never;
  const DramTiming::Span span = timing_.reserve(arrival, bytes);
  count(span.waited, span.start, span.free, bytes, write);
  return span.end;
}

void Dram::report(StatisticsSink& sink) const {
  sink.open("dram", "controller DRAM");
  counters().report(sink, now(), timing_.ahead(now(), feed()));
  sink.close();
}

void Dram::tell_busy(BusySink& sink) const {
  counters().tell_busy(sink, "DRAM", now(), timing_.ahead(now(), feed()));
}

void Dram::reset_statistics() {
  restart_counters(timing_.ahead(now(), feed()));
}

void Dram::archive(Archive& a) {
  a(timing_);
  if (storage_) a(bytes_);
}

}  // namespace tlmssd
