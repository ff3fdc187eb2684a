// What a memory can do wrong.
#include <tlm_utils/simple_target_socket.h>

#include <stdexcept>

#include "models/memory/memory_model.h"
#include "platform/plugins/plugin.h"

namespace {

class FaultyModule final : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(FaultyModule);
  FaultyModule(const sc_core::sc_module_name& name, std::string fault)
      : sc_core::sc_module(name), socket("socket"), fault_(std::move(fault)) {
    socket.register_b_transport(this, &FaultyModule::b_transport);
    socket.register_transport_dbg(this, &FaultyModule::transport_dbg);
    SC_THREAD(refresh);
  }
  tlm_utils::simple_target_socket<FaultyModule> socket;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
    if (fault_ == "throws") throw std::runtime_error("row not found");
    if (fault_ == "silent") wait();
    if (fault_ == "fatal") SC_REPORT_FATAL("refresh", "row lost");
    if (fault_ == "warns") SC_REPORT_WARNING("refresh", "row late");
    if (fault_ == "throws_nothing") throw std::runtime_error("");
    if (fault_ == "stops") sc_core::sc_stop();
    if (fault_ == "pauses") sc_core::sc_pause();
    if (fault_ == "narrows") payload.set_streaming_width(1);
    if (fault_ == "waits") wait(1, sc_core::SC_SEC);
    if (fault_ == "shortens") payload.set_data_length(1);
    payload.set_response_status(fault_ == "small" ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
  }
  void refresh() {
    wait(1, sc_core::SC_US);
    if (fault_ == "fatal_aside") SC_REPORT_FATAL("refresh", "row lost");
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    if (fault_ == "half" && ++asked_ > 100) return payload.get_data_length() / 2;
    return fault_ == "half" ? payload.get_data_length() : 0;
  }
  std::string fault_;
  int asked_ = 0;
};

class Faulty final : public tlmssd::MemoryModel {
 public:
  static constexpr std::string_view k_name = "faulty";
  static constexpr std::string_view k_summary = "takes no time, and more";
  struct Config {
    std::string fault = "none";
    static const tlmssd::ParameterTable<Config>& parameters() {
      static const auto table = tlmssd::ParameterTable<Config>{}.choice(
          "fault", &Config::fault,
          {"none", "small", "silent", "throws", "tiny", "half", "fatal", "fatal_aside", "warns", "stops",
           "waits", "shortens", "throws_nothing", "pauses", "narrows", "beyond"},
          "what it does wrong");
      return table;
    }
  };
  Faulty(const Config& config, const tlmssd::MemoryContext& /*context*/)
      : module_("module", config.fault), tiny_(config.fault == "tiny"), beyond_(config.fault == "beyond") {}
  tlmssd::MemorySocket socket() override { return module_.socket; }
  [[nodiscard]] tlmssd::MemoryTraits traits() const override {
    return {.base = beyond_ ? ~std::uint64_t{0} - 5 : 0,
            .capacity = tiny_ ? tlmssd::Bytes{1} << 20U : 0,
            .keeps_bytes = false};
  }

 private:
  FaultyModule module_;
  bool tiny_;
  bool beyond_;
};

}  // namespace

TLMSSD_PLUGIN("faulty", "0.1") {
  registrar.add<Faulty>(tlmssd::memory_models());
}
