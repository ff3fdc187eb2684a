#include "new_word_cache.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeCache>(tlmssd::firmware::cache_family());
}
