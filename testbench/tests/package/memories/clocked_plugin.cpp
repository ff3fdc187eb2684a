// The third party's SRAM as a model of ssd.dram and ssd.scm, and what it might do wrong.
#include "clocked_sram.h"
#include "models/memory/memory_model.h"
#include "platform/plugins/plugin.h"

namespace {

class Clocked final : public tlmssd::MemoryModel {
 public:
  static constexpr std::string_view k_name = "clocked";
  static constexpr std::string_view k_summary = "cycles of its own clock for each access, loosely timed";

  struct Config {
    tlmssd::Picoseconds period = 5'000;
    std::uint32_t latency = 4;
    std::uint32_t width = 16;
    tlmssd::Bytes missing = 0;
    static const tlmssd::ParameterTable<Config>& parameters() {
      static const auto table =
          tlmssd::ParameterTable<Config>{}
              .time("period", &Config::period, {1'000, 1'000'000}, "of its clock")
              .integer("latency", &Config::latency, {0, 1000}, "cycles of each access before its bytes")
              .integer("width", &Config::width, {1, 4096}, "bytes of a cycle")
              .bytes("missing", &Config::missing, {0, std::uint64_t{1} << 40U}, "what it holds too little");
      return table;
    }
  };

  Clocked(const Config& config, const tlmssd::MemoryContext& context)
      : sram_("sram", context.capacity - config.missing,
              sc_core::sc_time(static_cast<double>(config.period), sc_core::SC_PS), config.latency,
              config.width) {}
  tlmssd::MemorySocket socket() override { return sram_.socket; }
  void report(tlmssd::StatisticsSink& sink) const override {
    sink.value("cycles", sram_.cycles, "cycles", "of its clock");
    sink.value("work", sram_.work, "cycles", "in accesses");
    sink.value("direct pointers", sram_.direct, "pointers", "that it has lent");
  }
  void reset_statistics() override { sram_.cycles = sram_.work = sram_.direct = 0; }
  [[nodiscard]] bool archives() const override { return true; }  // the drive asks for no bytes

 private:
  vendor::ClockedSram sram_;
};

}  // namespace

TLMSSD_PLUGIN("vendor-sram", "0.9") {
  registrar.add<Clocked>(tlmssd::memory_models());
}
