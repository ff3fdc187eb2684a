// The catalogue as text for the terminal and as Markdown.
#include "platform/scenario/reference.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "models/base/quantity.h"

namespace tlmssd {
namespace {

std::string default_text(const ParameterSpec& spec) {
  if (spec.required) return "required";
  if (spec.optional) return "not set";
  const std::vector<std::string> elements = format_elements(spec.kind, spec.fallback);
  if (!spec.list) return elements.front().empty() ? "\"\"" : elements.front();
  std::string text = "[";
  for (const std::string& element : elements) text += (text.size() > 1 ? ", " : "") + element;
  return text + "]";
}

std::string short_kind(const ParameterSpec& spec) {
  const std::string kind = kind_text(spec);
  if (spec.kind == Kind::bytes_or_share) return "size or share";
  return spec.kind == Kind::choice ? kind : kind.substr(0, kind.find(" ("));
}

std::string section_title(const Section& section) {
  return section.path().empty() ? "(top level)" : section.path();
}

std::string section_notes(const Section& section) {
  std::vector<std::string> notes;
  if (section.is_list()) notes.emplace_back("a list");
  if (section.is_list() && section.minimum_count() > 0) {
    notes.push_back("at least " + std::to_string(section.minimum_count()));
  }
  if (section.is_from_file()) notes.emplace_back("here or in a file of its own");
  if (section.is_required()) notes.emplace_back("required");
  if (section.is_optional()) notes.emplace_back("only when given");
  std::string text;
  for (const std::string& note : notes) text += (text.empty() ? "" : ", ") + note;
  return text;
}

/// "trace" -> "with trace"; "" -> "without trace or fio".
std::string variants_text(const Section& section, const std::vector<std::string>& only_with) {
  std::string with;
  bool none = false;
  for (const std::string& key : only_with) {
    none = none || key.empty();
    if (!key.empty()) with += (with.empty() ? "with " : " or ") + key;
  }
  if (!none) return with;
  std::string without;
  for (const Variant& variant : section.variants()) {
    const bool listed = std::find(only_with.begin(), only_with.end(), variant.key) != only_with.end();
    if (!variant.key.empty() && !listed) without += (without.empty() ? "without " : " or ") + variant.key;
  }
  return without;
}

// ----------------------------------------------------------------------------------------------------------------
// terminal

class Listing {
 public:
  Listing(const Catalogue& catalogue, std::string_view filter, std::size_t columns)
      : filter_(folded(filter)), columns_(columns) {
    const std::vector<std::string> paths = catalogue.about(filter);
    meant_.insert(paths.begin(), paths.end());
    // Two or three letters are in many words, and meant as one.
    constexpr std::size_t k_short = 3;
    whole_words_ = !filter_.empty() && filter_.size() <= k_short;
    add(catalogue.root());
    if (!out_.empty() || !std::exchange(whole_words_, false)) return;
    add(catalogue.root());
  }

  std::string text() { return std::move(out_); }

 private:
  [[nodiscard]] bool wanted(std::string_view text) const {
    const std::string all = folded(text);
    if (!whole_words_) return all.find(filter_) != std::string::npos;
    const auto in_word = [&](std::size_t at) {
      return at < all.size() && std::isalnum(static_cast<unsigned char>(all[at])) != 0;
    };
    for (std::size_t at = all.find(filter_); at != std::string::npos; at = all.find(filter_, at + 1))
      if ((at == 0 || !in_word(at - 1)) && !in_word(at + filter_.size())) return true;
    return false;
  }

  /// A key is looked for by its path, by what it means, and by what is said of it elsewhere.
  [[nodiscard]] bool wanted(const Section& section, const ParameterSpec& spec) const {
    const std::string path = join_path(section.path(), spec.name);
    return wanted(path) || wanted(spec.doc) || meant_.contains(path);
  }
  [[nodiscard]] bool wanted(const PolicyInfo& policy) const {
    return wanted(policy.name) || wanted(described(policy)) ||
           (!policy.origin.empty() && wanted(policy.origin));
  }

  void add(const Section& section) {
    std::string body;
    const bool whole = wanted(section.path()) || wanted(section.doc()) || meant_.contains(section.path());
    for (const KeyGroup& group : section.groups()) {
      const std::string with = group.only_with.empty() ? "" : variants_text(section, group.only_with);
      for (const ParameterSpec& spec : group.parameters) {
        if (whole || group_wanted(section, group, spec)) body += line(spec, "  ", with);
      }
      for (const PolicyInfo& policy : group.policies) add_policy(body, section, policy, whole);
    }
    if (!body.empty() || (whole && (!filter_.empty() || section.children().empty()))) {
      const std::string notes = section_notes(section);
      std::string title = section_title(section);
      if (!section.doc().empty()) title += ": " + section.doc();
      if (!notes.empty()) title += " (" + notes + ")";
      out_ += (out_.empty() ? "" : "\n") + wrapped("", title, 4) + body;
    }
    for (const auto& child : section.children()) add(*child);
  }

  [[nodiscard]] bool group_wanted(const Section& section, const KeyGroup& group,
                                  const ParameterSpec& spec) const {
    if (wanted(section, spec)) return true;
    return std::any_of(group.policies.begin(), group.policies.end(),
                       [&](const PolicyInfo& policy) { return wanted(policy); });
  }

  void add_policy(std::string& body, const Section& section, const PolicyInfo& policy, bool whole) const {
    const bool named = whole || wanted(policy);
    std::string lines;
    for (const ParameterSpec& spec : policy.parameters) {
      if (named || wanted(section, spec)) lines += line(spec, "        ", "");
    }
    if (named || !lines.empty()) body += wrapped("    - ", policy.name + ": " + described(policy), 8) + lines;
  }

  [[nodiscard]] std::string line(const ParameterSpec& spec, const std::string& indent,
                                 const std::string& with) const {
    constexpr std::size_t k_name_column = 24;
    constexpr std::size_t k_narrow = 60;
    std::string name = indent + spec.name;
    name.resize(std::max(name.size() + 2, k_name_column), ' ');
    const std::size_t hanging = columns_ != 0 && columns_ < k_narrow ? indent.size() + 2 : k_name_column;
    std::string text =
        short_kind(spec) + ", " + (spec.required || spec.optional ? "" : "default ") + default_text(spec);
    const std::string range = range_text(spec);
    if (!range.empty()) text += ", " + range;
    if (!with.empty()) text += ", " + with;
    return wrapped(name, text, hanging) +
           (spec.doc.empty() ? "" : wrapped(std::string(hanging, ' '), spec.doc, hanging));
  }

  /// `text` behind `start`, in lines of at most columns_ with later ones indented.
  [[nodiscard]] std::string wrapped(std::string start, std::string_view text, std::size_t indent) const {
    std::string out;
    while (columns_ != 0 && start.size() + text.size() > columns_) {
      const std::size_t room = columns_ > start.size() ? columns_ - start.size() : 0;
      std::size_t end = text.rfind(' ', room);
      if (end == std::string_view::npos || end == 0) end = text.find(' ', 1);  // a word too long for a line
      if (end == std::string_view::npos) break;
      out += start.append(text.substr(0, end)) + "\n";
      text.remove_prefix(end + 1);
      start.assign(indent, ' ');
    }
    return out + start.append(text) + "\n";
  }

  std::string filter_;
  bool whole_words_ = false;  ///< it must be one
  std::size_t columns_;
  std::set<std::string> meant_;  ///< paths that a topic of the filter names
  std::string out_;
};

// ----------------------------------------------------------------------------------------------------------------
// Markdown

std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

void add_rows(std::string& out, const std::vector<ParameterSpec>& specs) {
  if (specs.empty()) return;
  out += "| key | kind | default | range | meaning |\n|---|---|---|---|---|\n";
  for (const ParameterSpec& spec : specs) {
    const std::string fallback = default_text(spec);
    const bool value = !spec.required && !spec.optional;
    const bool marked = spec.shapes_state || spec.settles_state;
    out += "| `" + spec.name + (marked ? "` † | " : "` | ") + cell(short_kind(spec)) + " | " +
           (value ? "`" + cell(fallback) + "`" : fallback) + " | " + cell(range_text(spec)) + " | " +
           cell(spec.doc) + " |\n";
  }
  out += "\n";
}

void add_markdown(std::string& out, const Section& section) {
  out += section.path().empty() ? "## Top level\n\n" : "## `" + section.path() + "`\n\n";
  const std::string notes = section_notes(section);
  if (!section.path().empty() && (!section.doc().empty() || !notes.empty())) {
    out += section.doc() + (notes.empty() ? "" : (section.doc().empty() ? "(" : " (") + notes + ")") + "\n\n";
  }
  for (const Variant& variant : section.variants()) {
    out +=
        "- " + (variant.key.empty() ? "otherwise" : "with `" + variant.key + "`") + ": " + variant.doc + "\n";
  }
  if (!section.variants().empty()) out += "\n";
  std::vector<ParameterSpec> plain;  // keys without conditions, whatever tables they come from
  const auto tell_plain = [&] { add_rows(out, std::exchange(plain, {})); };
  for (const KeyGroup& group : section.groups()) {
    if (group.parameters.empty()) continue;
    if (group.only_with.empty() && !group.is_family()) {
      plain.insert(plain.end(), group.parameters.begin(), group.parameters.end());
      continue;
    }
    tell_plain();
    if (!group.only_with.empty()) out += "Only " + variants_text(section, group.only_with) + ":\n\n";
    add_rows(out, group.parameters);
    for (const PolicyInfo& policy : group.policies) {
      out +=
          "**`" + group.parameters.front().name + ": " + policy.name + "`**: " + described(policy) + "\n\n";
      add_rows(out, policy.parameters);
    }
  }
  tell_plain();
  for (const auto& child : section.children()) add_markdown(out, *child);
}

}  // namespace

std::string list_text(const Catalogue& catalogue, std::string_view filter, std::size_t columns) {
  return Listing(catalogue, filter, columns).text();
}

std::string reference_markdown(const Catalogue& catalogue) {
  std::string out =
      "# Scenario reference\n\nMade from the parameter tables by the program itself. Every quantity is "
      "written with its unit. A snapshot fits only drives with the same values of the keys marked †, "
      "and with the same seed, capacity, plug-ins, models of firmware and memories, and policies (of "
      "mapping, "
      "cache, collection, wear levelling, ECC, pSLC, features and the file cache).\n\n";
  add_markdown(out, catalogue.root());
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace tlmssd
