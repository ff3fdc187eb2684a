// Reliability models: the one file where they register. A new model is a class in a file of its own
// and one line here.
#include "models/base/input_error.h"
#include "models/nand/reliability/calibrated_mlc.h"
#include "models/nand/reliability/log_retention.h"
#include "models/nand/reliability/no_errors.h"
#include "models/nand/reliability/power_law.h"
#include "models/nand/reliability/rber_table.h"
#include "models/nand/reliability/reliability_model.h"

namespace tlmssd {

ReliabilityFamily& reliability_models() {
  static auto family = ReliabilityFamily{}
                           .with<NoErrors>()
                           .with<PowerLaw>()
                           .with<LogRetention>()
                           .with<RberTable>()
                           .with<CalibratedMlc>();
  return family;
}

std::unique_ptr<ReliabilityModel> make_reliability_model(const std::string& name, const NandPart& part,
                                                         const ParameterValues& values) {
  auto model = reliability_models().make(name, values, part);
  if (model != nullptr) return model;
  std::string known;
  for (const PolicyInfo& info : reliability_models().infos()) known += " " + info.name;
  throw InputError("there is no reliability model \"" + name + "\"; known:" + known);
}

}  // namespace tlmssd
