#include "new_word_memory.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeMemory>(tlmssd::memory_models());
}
