#include "firmware/ecc/aoa.h"

#include <cmath>

namespace tlmssd::firmware {

const ParameterTable<AoaEccConfig>& AoaEccConfig::parameters() {
  using C = AoaEccConfig;
  constexpr double k_year = 365.0 * 86'400;
  static const auto table =
      ParameterTable<C>{}
          .integer("window", &C::window, {1, 1'000'000'000'000},
                   "host commands over which the workload is classified: as many as stand for a week of it")
          .real("hot_frequency", &C::hot_frequency, {0, 1'000'000},
                "average write frequency in the window (blocks written over distinct blocks written) from "
                "which a workload is hot")
          .share("read_dominant", &C::read_dominant, {0, 1},
                 "share of reads in the data of the window from which a workload is read-dominant")
          .integer("handover_cycles", &C::handover_cycles, {0, 1'000'000},
                   "P/E cycles at which Quick-LDPC hands over to EP-LDPC for data that are a day old")
          .duration("hot_retention", &C::hot_retention, {1, k_year}, "age that data of hot workloads reach")
          .duration("cold_retention", &C::cold_retention, {1, k_year},
                    "age that data of cold workloads reach")
          .real("retention_exponent", &C::retention_exponent, {0, 10},
                "the hand-over comes at cycles proportional to the age to minus this");
  return table;
}

AoaEcc::AoaEcc(const Config& config, const EccContext& /*context*/)
    : config_(config), classifier_(config.window) {}

std::optional<ReadAttempt> AoaEcc::next(const PageFacts& /*page*/, ReadAttempt last,
                                        std::uint32_t /*tried*/) {
  if (last.code == EccCode::ep_ldpc) return {};
  return ReadAttempt{EccCode::ep_ldpc, 0};
}

void AoaEcc::reclassify() {
  windows_ = classifier_.windows();
  limit_ = 0;
  if (!classifier_.known() || !read_dominant()) return;
  constexpr double k_day = 86'400;
  const double days = (hot() ? config_.hot_retention : config_.cold_retention) / k_day;
  limit_ = static_cast<std::uint32_t>(
      std::lround(config_.handover_cycles * std::pow(days, -config_.retention_exponent)));
}

void AoaEcc::report(StatisticsSink& sink) const {
  sink.value("windows", classifier_.windows(), "", "windows over which the workload was classified");
  if (!classifier_.known()) return;
  sink.value("write_frequency", classifier_.traits().write_frequency, "",
             "average write frequency in the last window");
  sink.value("read_share", classifier_.traits().read_share, "", "share of reads in its data");
  sink.text("class",
            hot() ? (read_dominant() ? "hot, read-dominant" : "hot, write-dominant")
                  : (read_dominant() ? "cold, read-dominant" : "cold, write-dominant"),
            "what that makes the workload");
  sink.value("handover", std::uint64_t{limit_}, "cycles",
             "P/E cycles at which Quick-LDPC hands over to EP-LDPC; 0: EP-LDPC from the start");
}

void AoaEcc::archive(Archive& a) {
  classifier_.archive(a);
  if (!a.saving()) reclassify();
}

}  // namespace tlmssd::firmware
