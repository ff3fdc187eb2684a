// Which features implement which hook: a list for each, filled when the drive is made. On a plain
// drive all are empty, and a hook costs one test.
#pragma once

#include <type_traits>
#include <vector>

#include "firmware/core/feature.h"

namespace tlmssd::firmware {

class Hooks {
 public:
  using List = std::vector<Feature*>;
  /// Puts `feature` into the lists of the hooks that its class overrides.
  template <class T>
  void add(T& feature) {
    put<decltype(&T::on_host_command)>(host_command, feature);
    put<decltype(&T::on_host_read)>(host_read, feature);
    put<decltype(&T::on_read_end)>(read_end, feature);
    put<decltype(&T::on_rewritten)>(rewritten, feature);
    put<decltype(&T::on_program)>(program, feature);
    put<decltype(&T::on_victim)>(victim, feature);
    put<decltype(&T::on_moved)>(moved, feature);
    put<decltype(&T::on_erased)>(erased, feature);
    put<decltype(&T::on_collected)>(collected, feature);
    put<decltype(&T::redirect_read)>(redirect_read, feature);
    put<decltype(&T::steers)>(steers, feature);
    put<decltype(&T::holds_program)>(holds_program, feature);
    put<decltype(&T::placement_handle)>(placement_handle, feature);
  }

  List host_command, host_read, read_end, rewritten, program, victim, moved, erased, collected;
  List redirect_read;  ///< settle_redirected() goes with it
  List steers;         ///< allows_write() goes with it
  List holds_program;
  List placement_handle;  ///< of one feature at most

 private:
  template <class Method>
  struct ClassOf;
  template <class Class, class Signature>
  struct ClassOf<Signature Class::*> {
    using Type = Class;
  };
  /// A method that is not overridden belongs to Feature.
  template <class Method>
  static void put(List& list, Feature& feature) {
    if constexpr (!std::is_same_v<typename ClassOf<Method>::Type, Feature>) list.push_back(&feature);
  }
};

}  // namespace tlmssd::firmware
