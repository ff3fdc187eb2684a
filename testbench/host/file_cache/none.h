// None: nothing is kept, so that every access goes over the network; the drive still sets its space
// aside.
#pragma once

#include "testbench/host/file_cache/admission_policy.h"

namespace tlmssd {

class NoFiles final : public AdmissionPolicy {
 public:
  static constexpr std::string_view k_name = "none";
  static constexpr std::string_view k_summary = "no file is written, every access goes over the network";
  using Config = NoParameters;
  NoFiles(const Config& /*config*/, const AdmissionContext& /*context*/) {}

  bool accessed(FileNumber /*file*/) override { return false; }
  std::vector<Verdict> fetched(FileNumber file) override { return {{file, false}}; }
};

}  // namespace tlmssd
