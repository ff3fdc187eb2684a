#include "new_word_code.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeCode>(tlmssd::ecc_code_family());
}
