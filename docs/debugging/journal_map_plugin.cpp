#include "journal_map.h"
#include "platform/plugins/plugin.h"

TLMSSD_PLUGIN("journal-map", "1.0") {
  registrar.add<JournalMap>(tlmssd::firmware::mapping_family());
}
