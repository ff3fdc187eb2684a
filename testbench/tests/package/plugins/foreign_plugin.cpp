// A library of another build.
#include "platform/plugins/plugin.h"

extern "C" __attribute__((visibility("default"))) const tlmssd::PluginDescription* tlmssd_plugin() {
  static const tlmssd::PluginDescription description{
      .build = "tlmssd 0.0.1 (headers 000000000000)", .name = "foreign", .version = "1"};
  return &description;
}
