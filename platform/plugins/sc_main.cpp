#include "platform/plugins/sc_main.h"

namespace tlmssd {

ScMain& kernel_main() {
  static ScMain chosen = nullptr;
  return chosen;
}

}  // namespace tlmssd

int sc_main(int argc, char* argv[]) {
  const tlmssd::ScMain chosen = tlmssd::kernel_main();
  return chosen == nullptr ? 0 : chosen(argc, argv);
}
