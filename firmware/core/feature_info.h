// What is known of a feature without making it: its section of the scenario, its policies, how it
// is made. The catalogue, the scenario reader, the identity of a snapshot and the Ftl go by the one
// list of them.
//
// A feature class T has
//   static constexpr const char *k_path, *k_doc, *k_choice_doc;   section, what it is, what is chosen
//   using Config                       with parameters(): those that are not of one policy
//   T(const FeatureContext& context);  throws InputError when the configuration does not go together
// and may have
//   static std::vector<PolicyInfo> policies();                    "none" first; without it: none, on
//   static std::uint64_t own_units(const FeatureChoice&, const Layout&);   units on top of those of data
//   static InputError too_many_units(const FeatureChoice&, Bytes units, Bytes left);
//   static Handles handles(const FeatureChoice&);                 kinds of host data that get open blocks
//   static constexpr MovePurpose k_moves;             with next_move(): what its moves are for
//   static constexpr bool k_move_block = true;       what is moved for features gets an open block of its own
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "firmware/base/config.h"
#include "firmware/core/hooks.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

class Core;
class Flusher;
class GcEngine;
class GcWorker;
class Layer;
class PlaneJoiner;

/// What a feature is made with.
struct FeatureContext {
  Core& core;
  Flusher& flusher;
  GcWorker& gc_worker;
  GcEngine& gc_engine;  ///< the GC worker, or what makes space instead
  PlaneJoiner* joiner;  ///< makes multi-plane reads of the host's; null: each read is one operation
  const Layer* front;   ///< what commands meet before the write buffer; null: nothing
  const FirmwareConfig& config;
  const FeatureChoice& choice;
  std::uint64_t dram_address;  ///< where its own part of the DRAM begins
};

/// Placement handles: kinds of host data with open blocks of their own.
struct Handles {
  std::uint32_t count = 1;
  bool apart = false;  ///< what is moved of a handle's data stays among them
};

struct FeatureInfo {
  std::string path;
  std::string doc;
  std::string choice_doc;
  std::vector<ParameterSpec> parameters;
  std::vector<PolicyInfo> (*policies)();
  std::unique_ptr<Feature> (*make)(const FeatureContext& context, Hooks& hooks);
  /// Null: it has none.
  std::uint64_t (*own_units)(const FeatureChoice& choice, const Layout& layout) = nullptr;
  InputError (*too_many_units)(const FeatureChoice& choice, Bytes bytes, Bytes left) = nullptr;
  Handles (*handles)(const FeatureChoice& choice) = nullptr;
  const MovePurpose* moves = nullptr;
  bool move_block = false;  ///< WriteTarget::move is wanted
  std::string origin = {};  ///< the plug-in it comes from; empty: the program
};

/// The choices of a feature that has no policies.
inline std::vector<PolicyInfo> none_or_on() {
  return {{"none", "it is not there", {}}, {"on", "it is at work", {}}};
}

template <class T>
FeatureInfo feature_info(std::string origin = {}) {
  FeatureInfo info{.path = T::k_path,
                   .doc = T::k_doc,
                   .choice_doc = T::k_choice_doc,
                   .parameters = T::Config::parameters().specs(),
                   .policies = &none_or_on,
                   .make = [](const FeatureContext& context, Hooks& hooks) -> std::unique_ptr<Feature> {
                     auto feature = std::make_unique<T>(context);
                     hooks.add(*feature);
                     return feature;
                   },
                   .origin = std::move(origin)};
  if constexpr (requires { &T::policies; }) info.policies = &T::policies;
  if constexpr (requires { &T::own_units; }) {
    info.own_units = &T::own_units;
    info.too_many_units = &T::too_many_units;
  }
  if constexpr (requires { &T::handles; }) info.handles = &T::handles;
  if constexpr (requires { T::k_moves; }) {
    static_assert(!is_of_kernel(T::k_moves.purpose));
    info.moves = &T::k_moves;
  } else {
    static_assert(std::is_same_v<decltype(&T::next_move), decltype(&Feature::next_move)>,
                  "a feature that has data moved says for what: k_moves");
  }
  if constexpr (requires { T::k_move_block; }) info.move_block = T::k_move_block;
  return info;
}

/// What the chosen features make of the host's data.
Handles handles_of(const FirmwareConfig& config);
/// Whether one of them wants an open block for data that are moved for features.
bool has_move_block(const FirmwareConfig& config);

/// Features in the order in which they are made, asked and reported.
class FeatureFamily {
 public:
  FeatureFamily(std::initializer_list<FeatureInfo> features) {
    for (const FeatureInfo& feature : features) insert(feature);
  }
  /// One more, of the plug-in `origin`. Which hooks it has is known where it is compiled, so that
  /// the kernel asks it for no others (hooks.h).
  template <class T>
  void add(std::string origin) {
    insert(feature_info<T>(std::move(origin)));
  }
  /// The one with this section of the scenario; null when there is none.
  [[nodiscard]] const FeatureInfo* find(std::string_view path) const {
    const auto found =
        std::find_if(begin(), end(), [&](const FeatureInfo& feature) { return feature.path == path; });
    return found == end() ? nullptr : &*found;
  }
  [[nodiscard]] std::vector<FeatureInfo>::const_iterator begin() const { return features_.begin(); }
  [[nodiscard]] std::vector<FeatureInfo>::const_iterator end() const { return features_.end(); }

 private:
  /// Throws InputError when another feature has its data moved for the same purpose: the moves of
  /// both would be booked as one.
  void insert(FeatureInfo feature) {
    const auto same = std::find_if(begin(), end(), [&](const FeatureInfo& other) {
      return feature.moves != nullptr && other.moves != nullptr &&
             feature.moves->purpose == other.moves->purpose;
    });
    if (same != end()) {
      throw InputError((feature.origin.empty() ? std::string() : "plug-in " + feature.origin + ": ") +
                       feature.path + " has data moved as \"" + std::string(name_of(feature.moves->purpose)) +
                       "\", as " + same->path + " does: k_moves needs a purpose of its own");
    }
    features_.push_back(std::move(feature));
  }
  std::vector<FeatureInfo> features_;
};

/// All of them (firmware/features.cpp).
FeatureFamily& features();

}  // namespace tlmssd::firmware
