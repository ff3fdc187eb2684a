#include "models/nand/timing/formula_timing.h"

#include <algorithm>

#include "models/base/input_error.h"

namespace tlmssd {

const ParameterTable<FormulaTimingConfig>& FormulaTimingConfig::parameters() {
  using C = FormulaTimingConfig;
  const auto like = [](const char* what) {
    return std::string(what) + " in SLC mode; absent: slc latency of the part";
  };
  static const auto table = ParameterTable<C>{}
                                .text("read", &C::read,
                                      "tR as an expression, e.g. \"tR[type] * (1 + 0.08*age_days^0.3) + "
                                      "retry*12us\"; absent: read_latency")
                                .filled()
                                .optional()
                                .text("program", &C::program,
                                      "tPROG of one program, a page or a word line; absent: program_latency")
                                .filled()
                                .optional()
                                .text("erase", &C::erase, "tBERS; absent: erase_latency")
                                .filled()
                                .optional()
                                .text("slc_read", &C::slc_read, like("tR"))
                                .filled()
                                .optional()
                                .text("slc_program", &C::slc_program, like("tPROG"))
                                .filled()
                                .optional()
                                .text("slc_erase", &C::slc_erase, like("tBERS"))
                                .filled()
                                .optional();
  return table;
}

FormulaTiming::FormulaTiming(const Config& config, const NandPart& part) : part_(part) {
  part.check();
  struct Row {
    const char* key;
    const std::string& text;
    ArrayCommand command;
    bool slc;
  };
  const Row rows[] = {{"read", config.read, ArrayCommand::sense, false},
                      {"program", config.program, ArrayCommand::program, false},
                      {"erase", config.erase, ArrayCommand::erase, false},
                      {"slc_read", config.slc_read, ArrayCommand::sense, true},
                      {"slc_program", config.slc_program, ArrayCommand::program, true},
                      {"slc_erase", config.slc_erase, ArrayCommand::erase, true}};
  const auto is_empty = [](const Row& row) { return row.text.empty(); };
  if (std::ranges::all_of(rows, is_empty))
    throw objection("timing", "formula has no expression: give read, program or erase one");
  ErrorList errors;
  for (const Row& row : rows) {
    if (row.text.empty()) continue;
    errors.attempt([&] {
      if (row.slc && !part.has_slc_mode())
        throw objection(row.key, "the part " + part.name + " has no SLC mode");
      auto& formula = formulas_[row.slc ? 1 : 0][static_cast<std::size_t>(row.command)];
      formula.emplace(row.key, row.text, part, row.command, row.slc);
      history_ = history_ || formula->looks_at_history();
    });
  }
  errors.throw_if_any();
}

void FormulaTiming::check_drive(const Geometry& drive) const {
  ErrorList errors;
  for (const auto& mode : formulas_) {
    for (const auto& formula : mode)
      if (formula) errors.attempt([&] { formula->check_drive(drive); });
  }
  errors.throw_if_any();
}

ArrayAnswer FormulaTiming::answer(const ArrayOperation& op) const {
  ArrayAnswer answer;
  const auto& formula = formulas_[op.slc() ? 1 : 0][static_cast<std::size_t>(op.command)];
  answer.duration = formula ? formula->at(op) : data_sheet_latency(part_, op);
  return answer;
}

}  // namespace tlmssd
