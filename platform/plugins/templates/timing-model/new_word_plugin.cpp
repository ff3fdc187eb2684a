#include "new_word_timing.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeTiming>(tlmssd::timing_models());
}
