// Loads the plug-ins that are named, and says of each what is wrong and what is being loaded
// afterwards.
#include <iostream>

#include "models/base/input_error.h"
#include "platform/plugins/loader.h"

int main(int argc, char* argv[]) {
  for (int i = 1; i < argc; ++i) {
    std::string said = "loaded";
    try {
      tlmssd::load_plugin(argv[i]);
    } catch (const tlmssd::InputError& error) {
      said = error.what();
    }
    std::cout << said << "; loading: " << tlmssd::calling_plugin() << "\n";
  }
}
