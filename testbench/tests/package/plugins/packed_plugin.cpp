// As built with options that change the sizes of classes: the number that says so is another.
#include "platform/plugins/plugin.h"

extern "C" __attribute__((visibility("default"))) const tlmssd::PluginDescription* tlmssd_plugin() {
  static const tlmssd::PluginDescription description{.layout = tlmssd::k_layout + 1,
                                                     .build = tlmssd::k_plugin_build,
                                                     .name = "packed",
                                                     .version = "1.0",
                                                     .enrol = [](tlmssd::Registrar& /*registrar*/) {},
                                                     .own_symbols = &tlmssd::k_own_symbols};
  return &description;
}
