// All: whatever comes over the network is written to the drive, as caches of network files usually
// do.
#pragma once

#include "testbench/host/file_cache/admission_policy.h"

namespace tlmssd {

class AllFiles final : public AdmissionPolicy {
 public:
  static constexpr std::string_view k_name = "all";
  static constexpr std::string_view k_summary = "every file that is fetched is written";
  using Config = NoParameters;
  AllFiles(const Config& /*config*/, const AdmissionContext& /*context*/) {}

  bool accessed(FileNumber /*file*/) override { return false; }
  std::vector<Verdict> fetched(FileNumber file) override { return {{file, true}}; }
};

}  // namespace tlmssd
