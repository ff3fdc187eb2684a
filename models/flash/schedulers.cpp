// Scheduling policies: the one file where they register.
#include "models/base/input_error.h"
#include "models/flash/scheduling/in_order.h"
#include "models/flash/scheduling/out_of_order.h"
#include "models/flash/scheduling/read_first.h"
#include "models/flash/scheduling/write_drain.h"

namespace tlmssd {

PolicyFamily<Scheduler>& schedulers() {
  static auto family = PolicyFamily<Scheduler>{}
                           .with<ReadFirstScheduler>()
                           .with<WriteDrainScheduler>()
                           .with<OutOfOrderScheduler>()
                           .with<InOrderScheduler>();
  return family;
}

std::unique_ptr<Scheduler> make_scheduler(std::string_view name, const ParameterValues& values) {
  auto scheduler = schedulers().make(name, values);
  if (scheduler == nullptr) {
    std::string known;
    for (const PolicyInfo& info : schedulers().infos()) known += " " + info.name;
    throw InputError("there is no flash scheduling \"" + std::string(name) + "\"; known:" + known);
  }
  return scheduler;
}

}  // namespace tlmssd
