// Stands in front of the C++ runtime's function that throws, so that note_throw() sees each
// exception where it begins: behind a catch it is too late to say whether a plug-in is on the
// stack. Costs nothing until something is thrown.
#include <cstdlib>
#include <dlfcn.h>
#include <typeinfo>

#include "platform/plugins/loader.h"

extern "C" [[noreturn]] void __cxa_throw(void* thrown, std::type_info* type, void (*destroy)(void*)) {
  using Throw = void (*)(void*, std::type_info*, void (*)(void*));
  static const auto next = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  tlmssd::note_throw();
  if (next != nullptr) next(thrown, type, destroy);
  std::abort();
}
