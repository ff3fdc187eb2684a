#include "new_word_source.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeSource>(tlmssd::request_sources());
}
