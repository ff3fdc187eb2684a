// The third party's banked DRAM as a model of ssd.dram and ssd.scm.
#include "banked_dram.h"
#include "models/memory/memory_model.h"
#include "platform/plugins/plugin.h"

namespace {

class Banked final : public tlmssd::MemoryModel {
 public:
  static constexpr std::string_view k_name = "banked";
  static constexpr std::string_view k_summary = "rows, banks and refresh, approximately timed";
  static constexpr std::uint64_t k_base = 0x8000'0000;

  struct Config {
    tlmssd::Picoseconds clock = 1'000;
    std::uint32_t banks = 8;
    tlmssd::Bytes row = 2048;
    std::uint32_t burst = 4;
    bool refresh = true;
    static const tlmssd::ParameterTable<Config>& parameters() {
      static const auto table =
          tlmssd::ParameterTable<Config>{}
              .time("clock", &Config::clock, {1, 1'000'000}, "period of its clock")
              .integer("banks", &Config::banks, {1, 64}, "banks")
              .bytes("row", &Config::row, {64, std::uint64_t{1} << 40U}, "of each bank")
              .integer("burst", &Config::burst, {1, 1000}, "cycles that the data of 64 B take")
              .flag("refresh", &Config::refresh, "350 cycles of every 7800");
      return table;
    }
  };

  Banked(const Config& config, const tlmssd::MemoryContext& context)
      : dram_("dram", k_base, context.capacity, timings(config)) {}
  tlmssd::MemorySocket socket() override { return dram_.socket; }
  [[nodiscard]] tlmssd::MemoryTraits traits() const override {
    return {.blocking = false, .base = k_base, .burst = vendor::BankedDram::k_burst, .keeps_bytes = false};
  }
  void report(tlmssd::StatisticsSink& sink) const override {
    sink.value("hits", dram_.counted.hits, "bursts", "that found their row open");
    sink.value("closed", dram_.counted.closed, "bursts", "that found their bank closed");
    sink.value("conflicts", dram_.counted.conflicts, "bursts", "that found another row open");
    sink.value("refreshes", dram_.counted.refreshes, "refreshes", "of all banks");
  }
  void reset_statistics() override { dram_.counted = {}; }

 private:
  static vendor::BankedTimings timings(const Config& config) {
    vendor::BankedTimings t;
    t.clock = sc_core::sc_time(static_cast<double>(config.clock), sc_core::SC_PS);
    t.banks = config.banks;
    t.row = config.row;
    t.burst = config.burst;
    if (!config.refresh) t.refi = 0;
    return t;
  }
  vendor::BankedDram dram_;
};

}  // namespace

TLMSSD_PLUGIN("vendor-dram", "2.1") {
  registrar.add<Banked>(tlmssd::memory_models());
}
