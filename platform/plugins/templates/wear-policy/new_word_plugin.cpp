#include "new_word_wear.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeWear>(tlmssd::firmware::wear_family());
}
