// Timing models: the one file where those of the program register.
#include "models/base/input_error.h"
#include "models/nand/timing/formula_timing.h"
#include "models/nand/timing/table_timing.h"
#include "models/nand/timing/timing_model.h"

namespace tlmssd {

TimingFamily& timing_models() {
  static auto family = TimingFamily{}.with<TableTiming>().with<FormulaTiming>();
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
