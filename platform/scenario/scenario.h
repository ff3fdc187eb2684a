// A scenario as read: every value checked against the catalogue, every default known, every
// question remembered.
//
// Reading refuses whatever is unknown, missing, of the wrong kind or unit, out of range or
// contradictory, with one line: InputError "file:line: what is wrong, and the nearest valid
// choice". Nothing else is thrown for bad input. Aliases and anchors of YAML work; tags, several
// documents in one file, tabs in the indentation and more than 64 MiB of text are refused.
//
// What it leaves out: whether values of different sections fit each other is for the builder of the
// drive; Scenario::error() gives such complaints the place in the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/input_error.h"
#include "platform/scenario/catalogue.h"

namespace tlmssd {

/// Where something was written. `file` may be "--set a.b=c" (line 0).
struct Origin {
  std::shared_ptr<const std::string> file;
  std::uint64_t line = 0;
  bool set = false;  ///< by --set
  [[nodiscard]] InputError error(const std::string& message) const {
    return {file ? *file : "scenario", line, message};
  }
};

struct ReadOptions {
  /// Where files named in a scenario (parts) are looked for after the folder of the file that names
  /// them.
  std::vector<std::string> folders;
  /// Text of a file, or nothing when there is no such file; by default read from disk. (Tests and
  /// the fuzzer put their own.)
  std::function<std::optional<std::string>(const std::string& path)> open;
  /// `open` reads from disk: where a file is missing, names like it are looked for there.
  bool on_disk = false;
};

/// A parameter that the scenario sets but that plays no part in the run.
struct Unread {
  std::string path;  ///< "ssd.dram.latency"
  std::string file;
  std::uint64_t line = 0;
};

/// The values of one section in use: what read() of a ParameterTable asks.
class SectionValues final : public ParameterValues {
 public:
  struct Setting {
    const ParameterSpec* spec = nullptr;
    std::optional<Value> given;
    Origin origin;  ///< of `given`
    mutable bool read = false;
    std::string lines_of = {};  ///< the file whose lines `given` is; empty: they are in the scenario
    [[nodiscard]] const Value* given_value() const { return given ? &*given : nullptr; }
    /// Given, or by default; null when it is optional and absent.
    [[nodiscard]] const Value* effective() const {
      return given ? &*given : spec->optional ? nullptr : &spec->fallback;
    }
  };
  [[nodiscard]] const Value* find(std::string_view name) const override;
  [[nodiscard]] const Setting* setting(std::string_view name) const;
  /// What find() returns, without its counting as a question.
  [[nodiscard]] const Value* given(std::string_view name) const;

  std::string path;
  const Section* section = nullptr;
  Origin origin;                  ///< where the section begins; no file when it was not given
  std::vector<Setting> settings;  ///< every key that applies, in order of declaration
  std::string variant;            ///< the key of the active variant
};

/// The values of a section, looked at without their counting as read.
class Glance final : public ParameterValues {
 public:
  explicit Glance(const SectionValues* section) : section_(section) {}
  [[nodiscard]] const Value* find(std::string_view name) const override {
    return section_ == nullptr ? nullptr : section_->given(name);
  }

 private:
  const SectionValues* section_;  ///< null: absent
};

class Scenario {
 public:
  [[nodiscard]] std::string title() const;
  [[nodiscard]] std::uint64_t seed() const;
  /// Shared libraries that the scenario names (key `plugins`).
  [[nodiscard]] std::vector<std::string> plugins() const;
  /// Name and folder of the scenario's file ("." when it has none).
  [[nodiscard]] const std::string& file() const { return *file_; }
  [[nodiscard]] std::string folder() const;

  // Paths are those of the catalogue, with the position of list entries: "ssd.dram",
  // "precondition.0", "load.1.columns". A path that the catalogue does not have is a
  // std::logic_error.

  /// The values of a section; all defaults when it is an absent optional one.
  [[nodiscard]] const ParameterValues& values(std::string_view path) const;
  /// The same for who asks about the scenario and is no part of the run.
  [[nodiscard]] Glance glance(std::string_view path) const { return Glance(find(path)); }
  /// The chosen policy; `key` only when the section has several families.
  [[nodiscard]] std::string policy(std::string_view path, std::string_view key = {}) const;
  /// Section: not an optional one that is absent. Parameter: it has a value, given or by default.
  [[nodiscard]] bool has(std::string_view path) const;
  /// Entries of a list section.
  [[nodiscard]] std::size_t count(std::string_view path) const;

  /// An InputError that names the place where `path` (a section or a parameter) was given, or the
  /// file when it was not.
  [[nodiscard]] InputError error(std::string_view path, const std::string& message) const;
  /// The same for an error of code that knows nothing of files: the place is that of the key it is
  /// about, which may be given whole ("ssd.dram.capacity") or from `path` on ("capacity"), as a
  /// field or at the beginning of its text ("capacity: ..."). An error that has a place keeps it.
  [[nodiscard]] InputError complaint(std::string_view path, const InputError& error) const;
  /// Whether `path` names a parameter of a section in use.
  [[nodiscard]] bool has_parameter(std::string_view path) const { return find_setting(path) != nullptr; }
  /// Whether the parameter `path` has another value than its default.
  [[nodiscard]] bool changes(std::string_view path) const {
    const SectionValues::Setting* setting = find_setting(path);
    return setting != nullptr && setting->given && *setting->given != setting->spec->fallback;
  }
  /// Whether the key, in use, is of what the scenario has chosen (Section::only_of()): what is not
  /// plays no part and is left out of resolved scenarios.
  [[nodiscard]] bool counts(const SectionValues& section, std::string_view key) const;
  /// Every parameter that the scenario sets, in the order of the catalogue.
  struct Written {
    std::string path;
    const SectionValues* section;
    const SectionValues::Setting* setting;
  };
  [[nodiscard]] std::vector<Written> written() const;
  /// Set but not read so far, in the order of the catalogue. Includes parameters of a policy that
  /// --set has replaced, and those that `idle` says of that others leave them without a part.
  using Idle = std::function<bool(const SectionValues& section, const SectionValues::Setting& setting)>;
  [[nodiscard]] std::vector<Unread> unread(const Idle& idle = {}) const;

  /// The whole scenario with every default filled in and explained. Reads back to the same, to the
  /// byte.
  [[nodiscard]] std::string resolved_yaml() const;
  /// The same as JSON; quantities are texts with units, as in the YAML. (Reads back too.)
  [[nodiscard]] std::string resolved_json() const;

 private:
  friend class ScenarioReader;
  friend class ScenarioWriter;
  [[nodiscard]] const SectionValues* find(std::string_view path) const;
  [[nodiscard]] const SectionValues::Setting* find_setting(std::string_view path) const;
  [[nodiscard]] Complaint place_of(std::string_view path, Complaint complaint) const;
  [[nodiscard]] std::string whole_path(std::string_view path, const std::string& word, bool section) const;

  const Catalogue* catalogue_ = nullptr;
  std::shared_ptr<const std::string> file_;
  std::vector<std::unique_ptr<SectionValues>> sections_;       ///< in use, in order of the catalogue
  std::map<std::string, std::size_t, std::less<>> positions_;  ///< path to index in sections_
  std::map<std::string, std::size_t, std::less<>> counts_;     ///< entries of each list
  std::vector<Unread> replaced_;
};

/// Does `work` and gives its errors places, as complaint() does.
template <class Work>
auto located(const Scenario& scenario, std::string_view path, Work work) {
  try {
    return work();
  } catch (const InputError& error) {
    const std::vector<InputError> all = errors_of(error);
    if (std::all_of(all.begin(), all.end(),
                    [](const InputError& one) { return !one.complaint().file.empty(); })) {
      throw;
    }
    ErrorList placed;
    for (const InputError& one : all) placed.add(scenario.complaint(path, one));
    placed.throw_if_any();
    throw;
  }
}

/// Reads the file. `overrides`: "a.b.c=value" each, applied in order; absent sections and the next
/// list entry are created.
Scenario read_scenario(const std::string& path, const Catalogue& catalogue,
                       const std::vector<std::string>& overrides = {}, const ReadOptions& options = {});
/// The same from memory; `name` stands for the file in messages and places files named in it.
Scenario parse_scenario(std::string_view text, const std::string& name, const Catalogue& catalogue,
                        const std::vector<std::string>& overrides = {}, const ReadOptions& options = {});

}  // namespace tlmssd
