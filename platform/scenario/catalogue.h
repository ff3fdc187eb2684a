// What a scenario may contain: a tree of sections, each with its keys, made from the modules' own
// parameter tables. The scenario reader, the resolved scenario, `tlmssd list`, the JSON Schema and
// the Markdown reference all come from this one tree.
//
//   Catalogue catalogue;
//   catalogue.section("ssd", "the drive");
//   catalogue.section("ssd.dram", "memory beside the controller", DramConfig::parameters());
//   catalogue.section("ssd.scm", "storage-class memory", ScmConfig::parameters()).optional();
//   catalogue.file("ssd.flash.part", "data sheet of the dies", PartConfig::parameters()).required();
//   catalogue.section("firmware.gc", "garbage collection", GcConfig::parameters())
//       .policy("policy", infos, "greedy", "how a victim is chosen");  // a PolicyInfo for each
//   catalogue.list("precondition", "before the load", PreconditionConfig::parameters());
//   catalogue.list("load", "what the host asks", LoadKindConfig::parameters(), 1)
//       .variant("trace", "replays a recorded trace")
//       .variant("fio", "runs a fio job file")
//       .variant("", "a generator")
//       .keys(TraceConfig::parameters(), {"trace"})
//       .keys(GeneratorConfig::parameters(), {""});
//   catalogue.check();
//
// testbench/tests/scenario/test_catalogue.cpp has these tables, drive_catalogue.cpp the real ones.
//
// A section's keys stand in one YAML map, whatever number of tables they come from; each table is
// read on its own with XConfig::parameters().read(scenario.values("ssd.dram")), and what no table
// asked for is reported as unread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/parameters.h"

namespace tlmssd {

/// Keys of a section that apply together: a table, or a policy family (a selecting key and the
/// parameters of each policy).
struct KeyGroup {
  std::vector<ParameterSpec> parameters;  ///< of a table; of a policy family: just the selecting key
  std::vector<PolicyInfo> policies;       ///< of a policy family
  std::vector<std::string> only_with;     ///< variants these keys belong to; empty: all
  bool closed = false;                    ///< a policy family to which plug-ins add nothing
  [[nodiscard]] bool is_family() const { return !policies.empty(); }
  [[nodiscard]] bool goes_with(std::string_view variant) const;
  [[nodiscard]] const PolicyInfo* policy(std::string_view name) const;
};

/// One shape of a section, chosen by the presence of its key (a load is a trace, a fio file or a
/// generator).
struct Variant {
  std::string key;  ///< empty: the shape when no other variant's key is present
  std::string doc;
};

/// One map of the scenario.
class Section {
 public:
  Section(std::string path, std::string doc) : path_(std::move(path)), doc_(std::move(doc)) {}

  // ---- building; each returns the section itself, so that calls can be chained

  /// Keys of one more table in the same map; `only_with`: the variants they belong to (none named:
  /// all).
  Section& keys(std::vector<ParameterSpec> parameters, std::vector<std::string> only_with = {});
  template <class T>
  Section& keys(const ParameterTable<T>& table, std::vector<std::string> only_with = {}) {
    return keys(table.specs(), std::move(only_with));
  }
  /// A key that chooses one of `policies`, whose own parameters stand beside it. No default: the
  /// key is required.
  Section& policy(const std::string& key, std::vector<PolicyInfo> policies, const std::string& default_policy,
                  std::string doc = {}, std::vector<std::string> only_with = {});
  /// Plug-ins add nothing to the family declared last.
  Section& closed();
  /// One of several shapes. A key that selects a variant must be among the section's parameters.
  Section& variant(std::string key, std::string doc);
  /// A YAML sequence of such maps (or a single map, which counts as a sequence of one).
  Section& list(std::size_t at_least = 0);
  /// May also be the path of a YAML file with the same keys, or a map with `file:` and keys that
  /// override the file's.
  Section& from_file();
  /// Absent unless given: has() says so, and the resolved scenario leaves it out. (Otherwise an
  /// absent section means defaults.)
  Section& optional();
  /// Must be given.
  Section& required();
  /// Its keys count only where the section `owner`, whose first family is meant, has chosen
  /// `policy`; those in `always` whatever it has chosen.
  Section& only_of(std::string owner, std::string policy, std::vector<std::string> always = {});
  /// Declared by the plug-in `origin` (empty: by the program).
  Section& of_plugin(std::string origin);

  // ---- asking

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string name() const;  ///< the last word of the path
  [[nodiscard]] const std::string& doc() const { return doc_; }
  [[nodiscard]] const std::string& origin() const { return origin_; }  ///< plug-in; empty: the program
  [[nodiscard]] const std::vector<KeyGroup>& groups() const { return groups_; }
  [[nodiscard]] const std::vector<Variant>& variants() const { return variants_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Section>>& children() const { return children_; }
  [[nodiscard]] const Section* child(std::string_view name) const;
  [[nodiscard]] bool is_list() const { return list_; }
  [[nodiscard]] std::size_t minimum_count() const { return minimum_count_; }
  [[nodiscard]] bool is_from_file() const { return from_file_; }
  [[nodiscard]] bool is_optional() const { return optional_; }
  [[nodiscard]] bool is_required() const { return required_; }
  /// Section whose choice decides whether its keys count; empty: they always do.
  [[nodiscard]] const std::string& owner() const { return owner_; }
  /// Whether `key` counts where the owner has chosen `policy`.
  [[nodiscard]] bool counts_with(std::string_view policy, std::string_view key) const;
  /// Without any key of it, or at all if it is required, something is missing: a key, or a section
  /// in it.
  [[nodiscard]] bool needs_keys() const;
  /// Every key of every table, policy and variant, each name once, in order of declaration.
  [[nodiscard]] std::vector<const ParameterSpec*> all_parameters() const;
  [[nodiscard]] bool is_variant_key(std::string_view key) const;

 private:
  friend class Catalogue;
  std::string path_;
  std::string doc_;
  std::string origin_;
  std::string owner_;
  std::string owner_policy_;
  std::vector<std::string> always_;  ///< keys that count without the owner
  std::vector<KeyGroup> groups_;
  std::vector<Variant> variants_;
  std::vector<std::unique_ptr<Section>> children_;
  bool list_ = false;
  std::size_t minimum_count_ = 0;
  bool from_file_ = false;
  bool optional_ = false;
  bool required_ = false;
};

/// Words that users look for and parameters do not say of themselves.
struct Topic {
  std::vector<std::string> words;  ///< "tail", "p99"
  std::vector<std::string> paths;  ///< of keys and sections that are about it
};

/// All sections. The root has the keys `title` and `seed` from the start. Must outlive the
/// scenarios read with it.
class Catalogue {
 public:
  Catalogue();

  /// The section at `path` ("ssd.dram"), made on first use (with those above it) and given these
  /// keys in addition.
  Section& section(std::string_view path, std::string doc, std::vector<ParameterSpec> parameters = {});
  template <class T>
  Section& section(std::string_view path, std::string doc, const ParameterTable<T>& table) {
    return section(path, std::move(doc), table.specs());
  }
  /// One that a plug-in may bring. InputError when there is one at that path already.
  Section& section_of(const std::string& origin, const std::string& path, std::string doc,
                      std::vector<ParameterSpec> parameters);
  /// A list of such sections.
  template <class Parameters>
  Section& list(std::string_view path, std::string doc, const Parameters& parameters,
                std::size_t at_least = 0) {
    return section(path, std::move(doc), parameters).list(at_least);
  }
  /// A section that may stand in a file of its own.
  template <class Parameters>
  Section& file(std::string_view path, std::string doc, const Parameters& parameters) {
    return section(path, std::move(doc), parameters).from_file();
  }
  /// A policy family in the section at `path`.
  Section& policy(std::string_view path, const std::string& key, std::vector<PolicyInfo> policies,
                  const std::string& default_policy, std::string doc = {}) {
    return section(path, {}).policy(key, std::move(policies), default_policy, std::move(doc));
  }

  void topics(std::vector<Topic> topics) { topics_ = std::move(topics); }
  /// Paths of the keys and sections that are about `word`; letter case, "-" and "_" are not
  /// counted.
  [[nodiscard]] std::vector<std::string> about(std::string_view word) const;

  [[nodiscard]] const Section& root() const { return *root_; }
  /// The section at `path`; numbers in it (list positions) are skipped. Null when there is none.
  [[nodiscard]] const Section* find(std::string_view path) const;
  /// Throws std::logic_error when the declarations contradict each other (a name given twice with
  /// different meanings, a default policy that does not exist, a variant's key that is no
  /// parameter...); InputError, with its name, when a plug-in has declared what contradicts. Who
  /// makes a catalogue calls it at the end.
  void check() const;

 private:
  std::unique_ptr<Section> root_;
  std::vector<Topic> topics_;
};

/// For comparing words: in lower case, with spaces for "-" and "_".
std::string folded(std::string_view text);

/// `text`, and the plug-in it is about unless `origin` is empty.
std::string described(const std::string& text, const std::string& origin);
/// The policy's summary, and where it comes from when that is not the program.
std::string described(const PolicyInfo& policy);
/// "ssd.dram" + "latency".
std::string join_path(std::string_view path, std::string_view key);
/// The words of a dotted path; none for the empty path.
std::vector<std::string> split_path(std::string_view path);
/// A word that is a list position.
bool is_position(std::string_view word);

}  // namespace tlmssd
