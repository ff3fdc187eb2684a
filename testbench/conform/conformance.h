// The conformance kit: holds a model or policy to the contract of its family and says in words what
// it found.
//
//   const tlmssd::Conformance found = tlmssd::conform_timing([&] { return std::make_unique<AcmeTiming>(config, part); }, part);
//   REQUIRE(found.passed());        // or print found.text()
//
// `tlmssd conform timing acme` does the same, and runs whole drives with it besides (whole_run.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/nand/part/part.h"

namespace tlmssd {

class TimingModel;
class ReliabilityModel;

class Conformance {
 public:
  struct Finding {
    std::string check;  ///< what is asked, as a sentence
    std::string wrong;  ///< what is wrong; empty: passed
    std::string note;   ///< a figure beside a pass
  };

  /// One check: `work` returns what is wrong, or nothing; an exception is wrong, too.
  void check(const std::string& what, const std::function<std::string()>& work);
  /// Beside the latest check.
  void note(const std::string& text) { findings_.back().note = text; }
  void add(const Conformance& other);

  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  [[nodiscard]] bool passed() const;
  /// Whether this check is among those that failed.
  [[nodiscard]] bool failed(const std::string& what) const;
  /// A line for each check.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Finding> findings_;
};

using MakeTiming = std::function<std::unique_ptr<TimingModel>()>;
using MakeReliability = std::function<std::unique_ptr<ReliabilityModel>()>;

/// Of a timing model of `part`: pure, repeatable, finite, positive, monotone where physics says so,
/// SLC mode, cost of a call. `make` is called more than once. Takes about two seconds. `other`, if
/// given, makes a model with other parameters, or of a part with other latencies: it must answer as
/// it does alone, whatever `make` has made before.
Conformance conform_timing(const MakeTiming& make, const NandPart& part, std::uint64_t seed = 1,
                           const MakeTiming& other = {});
/// Of a reliability model: the same, and never better with more cycles, age or reads.
Conformance conform_reliability(const MakeReliability& make, const NandPart& part, std::uint64_t seed = 1);

}  // namespace tlmssd
