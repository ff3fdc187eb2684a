#include "layered_timing.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("layered", "1.0") {
  registrar.add<LayeredTiming>(tlmssd::timing_models());
}
