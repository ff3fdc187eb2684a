// table: latencies from the data sheet, one for each page type; or from tables over whatever a
// drive knows of an operation (lookup_table.h), with lognormal variation between dies, blocks and
// layers.
//
// The published spread of tPROG and tBERS is from block to block and layer to layer of a die, reads
// being timed by the controller's setting: so variation is of programs and erases. Each factor is
// exp(sigma z - sigma^2 / 2), of mean 1, with the deviate z of the die, block or layer. Leaves out:
// variation of reads; for that there is the model `formula`.
#pragma once

#include <array>
#include <optional>

#include "models/nand/timing/lookup_table.h"
#include "models/nand/timing/timing_model.h"

namespace tlmssd {

struct TableTimingConfig {
  std::vector<std::string> read_table;
  std::vector<std::string> program_table;
  std::vector<std::string> erase_table;
  std::string table_interpolation = "linear";
  double program_die_variation = 0;
  double program_block_variation = 0;
  double program_layer_variation = 0;
  double erase_die_variation = 0;
  double erase_block_variation = 0;

  static const ParameterTable<TableTimingConfig>& parameters();
};

class TableTiming final : public TimingModel {
 public:
  static constexpr std::string_view k_name = "table";
  static constexpr std::string_view k_summary =
      "latencies per page type from the data sheet, or tables over type, layer, cycles, age and others";
  using Config = TableTimingConfig;

  /// InputError when a table is none.
  TableTiming(const Config& config, const NandPart& part);
  [[nodiscard]] ArrayAnswer answer(const ArrayOperation& op) const override;
  [[nodiscard]] bool looks_at_history() const override { return history_; }
  void check_drive(const Geometry& drive) const override;

 private:
  static constexpr std::size_t k_commands = 3;
  struct Spread {
    double die = 0;
    double block = 0;
    double layer = 0;
    [[nodiscard]] bool any() const { return die > 0 || block > 0 || layer > 0; }
    [[nodiscard]] double factor(const ArrayOperation& op) const;
  };
  [[nodiscard]] Picoseconds data_sheet(const ArrayOperation& op) const;

  NandPart part_;
  std::vector<Picoseconds> sense_;    // by page type
  std::vector<Picoseconds> program_;  // by page type
  Picoseconds word_line_ = 0;
  std::array<LookupTable, k_commands> tables_;
  std::array<Spread, k_commands> spreads_;
  bool plain_ = true;  // nothing but the data sheet
  bool history_ = false;
};

}  // namespace tlmssd
