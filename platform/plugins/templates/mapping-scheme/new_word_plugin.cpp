#include "new_word_map.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeMap>(tlmssd::firmware::mapping_family());
}
