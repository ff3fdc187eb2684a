// The log of firmware's decisions (report.decisions): decisions.jsonl, one JSON object per line.
//
// Every line has the instant in picoseconds after the start of the load, the number of the
// decision among all of the kinds asked for, and what belongs to it (firmware/base/decisions.h).
// Places on flash are numbers of physical units and of the drive's blocks, as tlmssd inspect shows
// them. The last line says how many decisions were left out, if the log became too long.
#pragma once

#include <cstdint>
#include <string>

#include "firmware/base/decisions.h"
#include "platform/ssd.h"
#include "testbench/app/scenario_catalogue.h"
#include "testbench/report/files/output_file.h"

namespace tlmssd {

/// The kinds that report.decisions names, as DecisionObserver wants them. Throws InputError.
std::uint32_t decision_kinds(const std::vector<std::string>& names);

/// Throws InputError when no decision can be about what the filter asks for.
void check_within_drive(const DecisionFilter& filter, const Ssd& ssd);

class DecisionLog final : public firmware::DecisionObserver {
 public:
  DecisionLog(const std::string& path, std::uint32_t kinds, const DecisionFilter& filter, Ssd& ssd);
  void decided(const firmware::Decision& decision) override;
  /// Writes the rest, and what was left out. Throws InputError when not everything could be
  /// written.
  void close();
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  /// Decisions of the kinds asked for, whether the filter let them pass or not.
  [[nodiscard]] std::uint64_t seen() const { return number_; }
  [[nodiscard]] std::uint64_t passed() const { return written_ + left_out_; }

 private:
  [[nodiscard]] bool passes(const firmware::Decision& decision) const;
  OutputFile file_;
  DecisionFilter filter_;
  const EventQueue& event_queue_;
  firmware::Layout layout_;
  Picoseconds start_;
  std::uint64_t number_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace tlmssd
