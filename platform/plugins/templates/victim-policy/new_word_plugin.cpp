#include "new_word_victims.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeVictims>(tlmssd::firmware::victim_family());
}
