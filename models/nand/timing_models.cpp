// Timing models: the one file where they register. A new model is a class here (or included here) and one line in
// timing_models().
#include "models/common/input_error.h"
#include "models/nand/timing_model.h"

namespace tlmssd {

namespace {

/// Latencies as the data sheet gives them, whatever the wear.
class TableTiming final : public TimingModel {
 public:
  static constexpr std::string_view k_name = "table";
  static constexpr std::string_view k_summary =
      "latencies per page type from the data sheet, independent of wear";
  using Config = NoParameters;

  TableTiming(const Config& /*config*/, const NandPart& part) : erase_(part.erase_latency) {
    part.check();
    for (std::uint32_t type = 0; type < part.bits(); ++type) {
      sense_.push_back(part.read_time(PageId{type}));
      program_.push_back(part.program_time(PageId{type}));
    }
    for (const Picoseconds latency : program_) word_line_ += latency;
  }
  [[nodiscard]] Picoseconds sense(PageId page, std::uint32_t /*cycles*/) const override {
    return sense_[index(page) % sense_.size()];
  }
  [[nodiscard]] Picoseconds program(PageId first, std::uint32_t pages,
                                    std::uint32_t /*cycles*/) const override {
    const auto types = static_cast<std::uint32_t>(program_.size());
    Picoseconds total = pages / types * word_line_;
    for (std::uint32_t i = 0; i < pages % types; ++i) total += program_[(index(first) + i) % types];
    return total;
  }
  [[nodiscard]] Picoseconds erase(std::uint32_t /*cycles*/) const override { return erase_; }

 private:
  std::vector<Picoseconds> sense_;    // by page type
  std::vector<Picoseconds> program_;  // by page type
  Picoseconds word_line_ = 0;
  Picoseconds erase_;
};

}  // namespace

const PolicyFamily<TimingModel, const NandPart&>& timing_models() {
  static const auto family = PolicyFamily<TimingModel, const NandPart&>{}.with<TableTiming>();
  return family;
}

std::unique_ptr<TimingModel> make_timing_model(const NandPart& part, const ParameterValues& values) {
  auto model = timing_models().make(part.timing, values, part);
  if (model == nullptr) {
    std::string known;
    for (const PolicyInfo& info : timing_models().infos()) known += " " + info.name;
    throw InputError("NAND part " + part.name + ": there is no timing model \"" + part.timing +
                     "\"; known:" + known);
  }
  return model;
}

}  // namespace tlmssd
