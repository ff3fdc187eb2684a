#include "models/nand/timing/table_timing.h"

#include <cmath>

#include "models/base/input_error.h"

namespace tlmssd {

namespace {

using C = TableTimingConfig;
using Table = ParameterTable<C>;

Table&& tables(Table&& table) {
  return std::move(table)
      .texts("read_table", &C::read_table,
             "tR over any arguments: a list of lines, the first naming the columns (\"type, cycles, time\" "
             "or ... "
             "factor); or the name of a CSV file with those lines")
      .lines_of_file()
      .filled()
      .optional()
      .texts("program_table", &C::program_table, "the same of tPROG of one program: a page, or a word line")
      .lines_of_file()
      .filled()
      .optional()
      .texts("erase_table", &C::erase_table, "the same of tBERS")
      .lines_of_file()
      .filled()
      .optional()
      .choice("table_interpolation", &C::table_interpolation, {"linear", "step"},
              "between two values of a column: linear, or as at the lower one; constant beyond the ends")
      .optional();
}

Table&& variations(Table&& table) {
  const auto sigma = [](const char* what) {
    return std::string("standard deviation of the logarithm of ") + what;
  };
  return std::move(table)
      .share("program_die_variation", &C::program_die_variation, {0, 1}, sigma("tPROG from die to die"))
      .optional()
      .share("program_block_variation", &C::program_block_variation, {0, 1},
             sigma("tPROG from block to block"))
      .optional()
      .share("program_layer_variation", &C::program_layer_variation, {0, 1},
             sigma("tPROG from layer to layer, alike in all dies"))
      .optional()
      .share("erase_die_variation", &C::erase_die_variation, {0, 1}, sigma("tBERS from die to die"))
      .optional()
      .share("erase_block_variation", &C::erase_block_variation, {0, 1}, sigma("tBERS from block to block"))
      .optional();
}

std::size_t number(ArrayCommand command) {
  return static_cast<std::size_t>(command);
}

/// What the data sheet's own time may be at most, in picoseconds (NandPart::parameters).
Picoseconds longest(ArrayCommand command) {
  using namespace literals;
  return command == ArrayCommand::sense ? 1_s : 10_s;
}

}  // namespace

const ParameterTable<TableTimingConfig>& TableTimingConfig::parameters() {
  static const Table table = variations(tables(Table{}));
  return table;
}

double TableTiming::Spread::factor(const ArrayOperation& op) const {
  return std::exp(die * op.die_deviate + block * op.block_deviate + layer * op.layer_deviate -
                  (die * die + block * block + layer * layer) / 2);
}

TableTiming::TableTiming(const Config& config, const NandPart& part) : part_(part) {
  part.check();
  for (std::uint32_t type = 0; type < part.bits(); ++type) {
    sense_.push_back(part.read_time(PageId{type}));
    program_.push_back(part.program_time(PageId{type}));
  }
  for (const Picoseconds latency : program_) word_line_ += latency;
  const auto between =
      config.table_interpolation == "step" ? LookupTable::Between::step : LookupTable::Between::linear;
  const auto read = [&](ArrayCommand command, const char* key, const std::vector<std::string>& lines,
                        Picoseconds shortest) {
    if (lines.empty()) return;
    tables_[number(command)] = LookupTable(key, lines, part, command, {shortest, longest(command)}, between);
  };
  const auto least = [](const auto& times) { return *std::min_element(times.begin(), times.end()); };
  read(ArrayCommand::sense, "read_table", config.read_table, least(sense_));
  read(ArrayCommand::program, "program_table", config.program_table, least(program_));
  read(ArrayCommand::erase, "erase_table", config.erase_table, part.erase_latency);
  spreads_[number(ArrayCommand::program)] = {config.program_die_variation, config.program_block_variation,
                                             config.program_layer_variation};
  spreads_[number(ArrayCommand::erase)] = {config.erase_die_variation, config.erase_block_variation, 0};
  for (std::size_t i = 0; i < k_commands; ++i) {
    plain_ = plain_ && tables_[i].empty() && !spreads_[i].any();
    history_ = history_ || spreads_[i].any() || tables_[i].looks_at_history();
  }
}

void TableTiming::check_drive(const Geometry& drive) const {
  ErrorList errors;
  for (const LookupTable& table : tables_) errors.attempt([&] { table.check_dies(drive.dies()); });
  errors.throw_if_any();
}

Picoseconds TableTiming::data_sheet(const ArrayOperation& op) const {
  if (op.slc()) return data_sheet_latency(part_, op);
  if (op.command == ArrayCommand::sense) return sense_[index(op.page) % sense_.size()];
  if (op.command == ArrayCommand::erase) return part_.erase_latency;
  const auto types = static_cast<std::uint32_t>(program_.size());
  Picoseconds total = op.pages / types * word_line_;
  for (std::uint32_t i = 0; i < op.pages % types; ++i) total += program_[(index(op.page) + i) % types];
  return total;
}

ArrayAnswer TableTiming::answer(const ArrayOperation& op) const {
  ArrayAnswer answer;
  answer.duration = data_sheet(op);
  if (plain_) return answer;
  const LookupTable& table = tables_[number(op.command)];
  const Spread& spread = spreads_[number(op.command)];
  auto time = static_cast<double>(answer.duration);
  if (table.applies(op)) time = table.at(op, answer.duration);
  if (spread.any()) time *= spread.factor(op);
  answer.duration = std::max<Picoseconds>(std::llround(time), 1);
  return answer;
}

}  // namespace tlmssd
