#include "new_word_ftl.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeFtl>(tlmssd::firmware::firmware_family());
}
