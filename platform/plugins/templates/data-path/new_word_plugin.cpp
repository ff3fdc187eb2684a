#include "new_word_path.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypePath>(tlmssd::firmware::path_family());
}
