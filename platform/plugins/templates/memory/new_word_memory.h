// new-name: a memory of one port: each access takes a latency and the time of its bytes. Say here
// where the numbers come from.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "models/memory/memory_model.h"

// The memory: any SystemC module with a target socket. It may wait, have a clock, annotate delays.
class NewTypeModule final : public sc_core::sc_module {
 public:
  NewTypeModule(const sc_core::sc_module_name& name, std::uint64_t bytes, const sc_core::sc_time& latency,
                double bytes_per_second)
      : sc_core::sc_module(name),
        socket("socket"),
        bytes_(bytes),
        latency_(latency),
        bytes_per_second_(bytes_per_second) {
    socket.register_b_transport(this, &NewTypeModule::b_transport);
    socket.register_transport_dbg(this, &NewTypeModule::transport_dbg);
  }

  tlm_utils::simple_target_socket<NewTypeModule> socket;
  std::uint64_t longest = 0;  // access so far

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (transport_dbg(payload) == 0) return;
    const unsigned length = payload.get_data_length();
    longest = std::max<std::uint64_t>(longest, length);
    delay += latency_ + sc_core::sc_time(std::round(length / bytes_per_second_ * 1e12), sc_core::SC_PS);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    if (address > bytes_.size() || length > bytes_.size() - address) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return 0;
    }
    if (payload.is_write()) std::memcpy(&bytes_[address], payload.get_data_ptr(), length);
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &bytes_[address], length);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return length;
  }

  std::vector<unsigned char> bytes_;
  sc_core::sc_time latency_;
  double bytes_per_second_;
};

// What the drive must know of it.
class NewTypeMemory final : public tlmssd::MemoryModel {
 public:
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "one port: a latency and a rate for each access";

  // Keys beside `model`. Each is declared once: scenario, list, schema and reference follow.
  struct Config {
    tlmssd::Picoseconds latency = 60'000;
    tlmssd::BytesPerSecond bandwidth = 1'600'000'000;
    static const tlmssd::ParameterTable<Config>& parameters() {
      static const auto table =
          tlmssd::ParameterTable<Config>{}
              .time("latency", &Config::latency, {0, 1'000'000'000}, "of each access, before its bytes")
              .bandwidth("bandwidth", &Config::bandwidth, {1'000'000, 1'000'000'000'000}, "of its port");
      return table;
    }
  };

  NewTypeMemory(const Config& config, const tlmssd::MemoryContext& context)
      : module_("memory", context.capacity,
                sc_core::sc_time(static_cast<double>(config.latency), sc_core::SC_PS),
                static_cast<double>(config.bandwidth)) {}

  tlmssd::MemorySocket socket() override { return module_.socket; }
  // b_transport, one access after another, addresses from 0, any length: see MemoryTraits for the
  // rest.
  [[nodiscard]] tlmssd::MemoryTraits traits() const override { return {}; }
  void report(tlmssd::StatisticsSink& sink) const override {
    sink.value("longest access", module_.longest, "B", "that there has been");
  }
  void reset_statistics() override { module_.longest = 0; }
  // Nothing but the bytes outlives an idle moment, and the drive does not ask for those: there is
  // nothing to save in archive().
  [[nodiscard]] bool archives() const override { return true; }

 private:
  NewTypeModule module_;
};
