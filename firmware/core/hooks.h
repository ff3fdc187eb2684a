// Which features implement which hook: a list for each, filled when the drive is made. On a plain
// drive all are empty, and a hook costs one test.
#pragma once

#include <algorithm>
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
    put<decltype(&T::on_arrival)>(arrival, feature);
    put<decltype(&T::on_host_command)>(host_command, feature);
    put<decltype(&T::on_host_read)>(host_read, feature);
    put<decltype(&T::on_read_end)>(read_end, feature);
    put<decltype(&T::on_command_end)>(command_end, feature);
    put<decltype(&T::on_page_read)>(page_read, feature);
    put<decltype(&T::on_first_attempt)>(first_attempt, feature);
    put<decltype(&T::on_rewritten)>(rewritten, feature);
    put<decltype(&T::on_program)>(program, feature);
    put<decltype(&T::on_programmed)>(programmed, feature);
    put<decltype(&T::on_program_end)>(program_end, feature);
    put<decltype(&T::on_victim)>(victim, feature);
    put<decltype(&T::on_moved)>(moved, feature);
    put<decltype(&T::on_erase)>(erase, feature);
    put<decltype(&T::on_erased)>(erased, feature);
    put<decltype(&T::on_collected)>(collected, feature);
    put<decltype(&T::redirect_read)>(redirect_read, feature);
    put<decltype(&T::copy_of)>(copy_of, feature);
    put<decltype(&T::holds_read)>(holds_read, feature);
    put<decltype(&T::restricts_writes)>(restricts_writes, feature);
    put<decltype(&T::holds_program)>(holds_program, feature);
    put<decltype(&T::holds_collection)>(holds_collection, feature);
    put<decltype(&T::write_line)>(write_line, feature);
    put<decltype(&T::pass_voltage)>(pass_voltage, feature);
    put<decltype(&T::next_move)>(next_move, feature);
  }

  /// Whether a write, that nothing else goes with, calls a hook of `feature`.
  [[nodiscard]] bool sees_writes(const Feature& feature) const {
    const auto in = [&](const List& list) {
      return std::find(list.begin(), list.end(), &feature) != list.end();
    };
    return in(arrival) || in(host_command) || in(command_end) || in(rewritten) || in(program) ||
           in(programmed) || in(program_end) || in(restricts_writes) || in(holds_program) ||
           in(holds_collection) || in(write_line);
  }

  // ---- moves that features ask for
  [[nodiscard]] bool move_waits(std::uint32_t pu) const {
    return std::any_of(next_move.begin(), next_move.end(), [&](Feature* f) { return f->move_waits(pu); });
  }
  [[nodiscard]] bool moves_parts() const {
    return std::any_of(next_move.begin(), next_move.end(), [](Feature* f) { return f->moves_parts(); });
  }
  /// Of the first feature for which something waits.
  [[nodiscard]] Move take_move(std::uint32_t pu, bool parts) const {
    for (Feature* const feature : next_move) {
      if (feature->move_waits(pu)) return feature->next_move(pu, parts);
    }
    return {};
  }

  List arrival, host_command, command_end, page_read, first_attempt;
  List host_read, read_end, rewritten, program, programmed, program_end, victim, moved, erase, erased,
      collected;
  List redirect_read;     ///< end_redirected() goes with it
  List copy_of;           ///< of one feature at most; give_back() goes with it
  List holds_read;        ///< of one feature at most; on_read_turn_end() goes with it
  List restricts_writes;  ///< allows_write() goes with it
  List holds_program;
  List holds_collection;
  List write_line;    ///< of one feature at most
  List pass_voltage;  ///< the last one has its way
  List next_move;     ///< move_waits() and moves_parts() go with it

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
