#include "new_word_errors.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeErrors>(tlmssd::reliability_models());
}
