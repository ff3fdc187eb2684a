// SystemC calls one function, sc_main, that every program which links it must have. The library has
// one for programs that bring none of their own: tests of a model, which have no kernel, and those
// that call tlmssd::main().
#pragma once

namespace tlmssd {

using ScMain = int (*)(int argc, char* argv[]);
/// What sc_main of the library goes on to; null: there is nothing to simulate.
ScMain& kernel_main();

}  // namespace tlmssd
