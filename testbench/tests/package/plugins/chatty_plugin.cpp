// A plug-in that says something of itself while it is loaded, in every way there is.
#include <cstdio>
#include <iostream>

#include "platform/plugins/plugin.h"

namespace {

[[maybe_unused]] const int k_banner = std::printf("chatty says good morning");

}  // namespace

TLMSSD_PLUGIN("chatty", "2.0") {
  std::cout << "chatty is enrolled as " << registrar.origin();
}
