#include "new_word_ecc.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeEcc>(tlmssd::firmware::ecc_family());
}
