// The whole program with a model of one's own, linked.
#include "layered_timing.h"
#include "platform/plugins/main.h"
#include "platform/plugins/plugin.h"

int main(int argc, char* argv[]) {
  tlmssd::Registrar("layered", "1.0").add<LayeredTiming>(tlmssd::timing_models());
  return tlmssd::main(argc, argv);
}
