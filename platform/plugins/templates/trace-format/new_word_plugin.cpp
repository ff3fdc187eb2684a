#include "new_word_format.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeFormat>(tlmssd::trace_formats());
}
