// What a plug-in of tlmssd includes: a policy or model of one's own becomes one of its family in
// three lines,
//
//   TLMSSD_PLUGIN("acme", "1.0") {
//     registrar.add<AcmeTiming>(tlmssd::timing_models());
//   }
//
// in a shared library (CMake: tlmssd_add_plugin(acme acme.cpp)) that the program loads at run time:
// `plugins: [libacme.so]` in a scenario, --plugin libacme.so, or TLMSSD_PLUGINS. A program that
// links tlmssd::tlmssd has no need of the library:
//
//   int main(int argc, char** argv) {
//     tlmssd::Registrar("acme", "1.0").add<AcmeTiming>(tlmssd::timing_models());
//     return tlmssd::main(argc, argv);      // platform/plugins/main.h
//   }
//
// A plug-in uses C++ types of the program, so it must come from the same headers and compiler:
// k_plugin_build says which, and the program refuses a library that says otherwise. What it defines
// stays its own (-fvisibility=hidden, which tlmssd_add_plugin sees to); only its entry is exported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/flash_op.h"
#include "models/base/host_command.h"
#include "models/base/input_error.h"
#include "models/base/parameters.h"
#include "platform/plugins/interface.h"

namespace tlmssd {

/// Adds to the families of the program what one plug-in brings.
class Registrar {
 public:
  Registrar(std::string name, const std::string& version) : origin_(std::move(name) + " " + version) {}

  /// `Policy` as the family's add() wants it. InputError when the family has one of that name.
  template <class Policy, class Family>
  Registrar& add(Family&& family) {
    constexpr std::string_view k_name = name_of<Policy>();
    if (const auto* const taken = family.find(k_name)) {
      throw InputError("plug-in " + origin_ + ": there is a " + std::string(k_name) + " already" +
                       (taken->origin.empty() ? "" : ", of plug-in " + taken->origin));
    }
    family.template add<Policy>(origin_);
    return *this;
  }
  /// Name and version.
  [[nodiscard]] const std::string& origin() const { return origin_; }

 private:
  /// Features of the FTL go by their section of the scenario.
  template <class Policy>
  static constexpr std::string_view name_of() {
    if constexpr (requires { Policy::k_path; }) {
      return Policy::k_path;
    } else {
      return Policy::k_name;
    }
  }
  std::string origin_;
};

/// Each library has its own, unless it exports what it defines inline. Then the dynamic linker
/// gives it the program's, as it does with classes and tables of parameters that have the same
/// name.
inline constexpr char k_own_symbols = 0;

/// Size and alignment of classes that a plug-in and the program hand to each other, in one number:
/// options of the compiler change them (-fpack-struct), or macros that the standard library heeds.
template <class... Types>
constexpr std::uint32_t layout_of() {
  std::uint32_t sum = 0;
  for (const std::size_t size : {sizeof(Types)..., alignof(Types)...})
    sum = sum * 31 + static_cast<std::uint32_t>(size);
  return sum;
}
inline constexpr std::uint32_t k_layout =
    layout_of<std::string, std::vector<std::string>, std::map<std::string, int>, std::optional<std::string>,
              std::function<void()>, ParameterSpec, PolicyInfo, InputError, FlashOp, HostCommand>();

/// What a plug-in says of itself. Format and build stay where they are for good.
struct PluginDescription {
  std::uint32_t format = 1;
  std::uint32_t layout = k_layout;
  const char* build = nullptr;
  const char* name = nullptr;
  const char* version = nullptr;
  void (*enrol)(Registrar& registrar) = nullptr;
  const char* own_symbols = nullptr;
};

}  // namespace tlmssd

/// Followed by the body of a function of `registrar`. Once in a shared library.
#define TLMSSD_PLUGIN(plugin_name, plugin_version)                                                     \
  static void tlmssd_enrol(tlmssd::Registrar& registrar);                                              \
  extern "C" __attribute__((visibility("default"))) const tlmssd::PluginDescription* tlmssd_plugin() { \
    static const tlmssd::PluginDescription description{1,                                              \
                                                       tlmssd::k_layout,                               \
                                                       tlmssd::k_plugin_build,                         \
                                                       plugin_name,                                    \
                                                       plugin_version,                                 \
                                                       &tlmssd_enrol,                                  \
                                                       &tlmssd::k_own_symbols};                        \
    return &description;                                                                               \
  }                                                                                                    \
  static void tlmssd_enrol(tlmssd::Registrar& registrar)
