#include "new_word_scheduler.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeScheduler>(tlmssd::schedulers());
}
