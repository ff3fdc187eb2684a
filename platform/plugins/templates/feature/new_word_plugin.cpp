#include "new_word_feature.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeFeature>(tlmssd::firmware::features());
}
