// Stands in front of the C++ runtime's function that throws, so that note_throw() sees each
// exception where it begins: behind a catch it is too late to say whether a plug-in is on the
// stack. Costs nothing until something is thrown.
#include <cstdlib>
#include <dlfcn.h>
#include <typeinfo>

#include "platform/plugins/loader.h"

namespace {

/// The exception, if it is one of input.
tlmssd::InputError* input_error(void* thrown, const std::type_info* type) {
  return typeid(tlmssd::InputError).__do_catch(type, &thrown, 1) ? static_cast<tlmssd::InputError*>(thrown)
                                                                 : nullptr;
}

}  // namespace

// Declared as the compiler does by itself where a header throws.
extern "C" [[noreturn]] void __cxa_throw(void* thrown, void* type, void (*destroy)(void*)) {
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto next = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  tlmssd::note_throw(input_error(thrown, static_cast<const std::type_info*>(type)));
  if (next != nullptr) next(thrown, type, destroy);
  std::abort();
}
