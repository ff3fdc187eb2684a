// CacheSifter: files that come over the network are held back in the host's memory; the one used
// longest ago makes room for the next and is written only when it has been read again since it
// came.
//
// Follows Liang et al., CacheSifter (FAST 2022), as Luo et al. 2022 describe it (section 4.4): many
// files in a cache are dropped without ever being used, so only the necessary ones are written back
// (S). The classes of files that it learns by machine learning are a policy of their own
// (file_classes.h); here "read again" stands for them (A). The host's memory is LRU (A). An access
// that waits for a fetch under way does not count as reading again.
#pragma once

#include <vector>

#include "testbench/host/file_cache/admission_policy.h"
#include "testbench/host/file_cache/held_files.h"

namespace tlmssd {

struct CacheSifterConfig {
  Bytes memory = Bytes{64} << 20U;
  static const ParameterTable<CacheSifterConfig>& parameters() {
    static const auto table = ParameterTable<CacheSifterConfig>{}
                                  .bytes("memory", &CacheSifterConfig::memory, {512, std::int64_t{1} << 50U},
                                         "memory of the host for files that have come over the network")
                                  .shapes_state();
    return table;
  }
};

class CacheSifter final : public AdmissionPolicy {
 public:
  static constexpr std::string_view k_name = "cachesifter";
  static constexpr std::string_view k_summary =
      "files read again while they were held back in memory (CacheSifter, Liang et al. 2022)";
  using Config = CacheSifterConfig;
  /// Throws InputError when no file fits into the memory.
  CacheSifter(const Config& config, const AdmissionContext& context) : held_(config.memory, context) {}

  bool accessed(FileNumber file) override {
    HeldFiles::Held* const held = held_.use(file);
    if (held == nullptr) return false;
    held->mark = k_read_again;
    return true;
  }
  std::vector<Verdict> fetched(FileNumber file) override {
    std::vector<Verdict> verdicts;
    if (accessed(file)) return verdicts;  // it has come twice
    while (!held_.has_room_for(file)) {
      const HeldFiles::Held out = held_.oldest();
      held_.drop(out.file);
      verdicts.push_back({out.file, out.mark == k_read_again});
    }
    held_.hold(file, 0);
    return verdicts;
  }
  void deleted(FileNumber file) override { held_.drop(file); }
  void report(StatisticsSink& sink) const override {
    sink.value("files in memory", std::uint64_t{held_.size()}, "files", "held back in the host's memory");
  }
  void archive(Archive& a) override { a(held_); }

 private:
  static constexpr std::uint32_t k_read_again = 1;  ///< since it came
  HeldFiles held_;
};

}  // namespace tlmssd
