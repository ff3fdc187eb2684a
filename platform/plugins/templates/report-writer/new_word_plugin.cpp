#include "new_word_writer.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("new-name", "1.0") {
  registrar.add<NewTypeWriter>(tlmssd::report_writers());
}
