// The whole program for those who link it: every command, with the models and policies that were
// registered before (plugin.h).
#pragma once

namespace tlmssd {

/// To be returned from main(). Call it once. The program must not define sc_main.
int main(int argc, char* argv[]);

}  // namespace tlmssd
