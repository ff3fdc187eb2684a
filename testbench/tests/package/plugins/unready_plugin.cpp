// A library that throws as soon as it is opened.
#include <stdexcept>

#include "platform/plugins/plugin.h"

namespace {

struct Unready {
  Unready() { throw std::runtime_error("no licence for this machine"); }
} const unready;

}  // namespace

TLMSSD_PLUGIN("unready", "1.0") {
  static_cast<void>(registrar);
}
