// CacheSifter: files that come over the network are held back in the host's memory; the one used
// longest ago makes room for the next and is written only when it has been read again since it
// came.
//
// Follows Liang et al., CacheSifter (FAST 2022), as Luo et al. 2022 describe it (section 4.4): many
// files in a cache are dropped without ever being used, so only the necessary ones are written back
// (S). Left out: the classes of files that it learns by machine learning, and their active periods;
// "read again" stands for them (A). The host's memory is LRU (A). An access that waits for a fetch
// under way does not count as reading again.
#pragma once

#include <fmt/format.h>
#include <list>
#include <unordered_map>

#include "models/base/input_error.h"
#include "testbench/host/file_cache/admission_policy.h"

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
  CacheSifter(const Config& config, const AdmissionContext& context)
      : room_(config.memory / context.file_size) {
    if (room_ == 0) {
      throw refusal("file_cache.memory",
                    fmt::format("{} B hold no file of {} B", config.memory, context.file_size),
                    fmt::format("{} B", context.file_size));
    }
  }

  bool accessed(FileNumber file) override {
    const auto found = places_.find(file);
    if (found == places_.end()) return false;
    found->second->again = 1;
    held_.splice(held_.begin(), held_, found->second);
    return true;
  }
  Verdict fetched(FileNumber file) override {
    Verdict verdict;
    if (accessed(file)) return verdict;  // it has come twice
    if (held_.size() == room_) {
      verdict = {held_.back().file, held_.back().again != 0};
      places_.erase(held_.back().file);
      held_.pop_back();
    }
    held_.push_front({file, 0});
    places_[file] = held_.begin();
    return verdict;
  }
  void report(StatisticsSink& sink) const override {
    sink.value("files in memory", std::uint64_t{held_.size()}, "files", "held back in the host's memory");
  }
  void archive(Archive& a) override {
    std::vector<Held> all(held_.begin(), held_.end());
    a(all);
    if (a.saving()) return;
    held_.assign(all.begin(), all.end());
    places_.clear();
    for (auto place = held_.begin(); place != held_.end(); ++place) places_[place->file] = place;
  }

 private:
  struct Held {
    FileNumber file;
    std::uint32_t again;  ///< 1: read since it came
  };
  std::uint64_t room_;    ///< files
  std::list<Held> held_;  ///< the one used last first
  std::unordered_map<FileNumber, std::list<Held>::iterator> places_;
};

}  // namespace tlmssd
