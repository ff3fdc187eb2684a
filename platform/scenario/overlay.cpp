// Overrides and part files.
#include "platform/scenario/overlay.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "models/base/input_file.h"
#include "models/base/suggest.h"

namespace tlmssd {
namespace {

constexpr std::size_t k_deepest_parts = 8;  ///< part files naming part files

/// Walks down the tree along one --set, making what is absent.
class Setter {
 public:
  Setter(const Catalogue& catalogue, const std::string& setting) : section_(&catalogue.root()) {
    const std::string shown = in_quotes(setting);
    origin_ = {std::make_shared<const std::string>("--set " + shown.substr(1, shown.size() - 2)), 0, true};
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      refuse("write --set path=value, for instance --set ssd.dram.latency='50 ns'");
    words_ = split_path(setting.substr(0, equals));
    value_ = setting.substr(equals + 1);
    for (const std::string& word : words_) {
      if (word.empty()) refuse("an empty word in the path");
      if (word.size() > k_longest_value) refuse("too long");
    }
    if (words_.size() > k_deepest_nesting)
      refuse("nested more than " + std::to_string(k_deepest_nesting) + " deep");
    if (!is_text(setting)) refuse("is not text (UTF-8 without control characters)");
    if (value_.size() > k_longest_value) refuse("the value is too long");
  }

  void apply(Node& root) {
    Node* at = &root;
    for (left_ = words_.size(); left_ > 0;) at = &step(*at, words_[words_.size() - left_--]);
    if (value_.empty() && section_ != nullptr && !in_entry_) {
      refuse(path_ + " has no value; set a key in it" + instead_of_keys());
    }
    *at = parse_setting(value_, origin_);
  }

 private:
  [[noreturn]] void refuse(const std::string& message) const { throw origin_.error(message); }

  /// What else can be said of the section as a whole. A --set cannot take an optional one away:
  /// given without keys it is there, with its defaults.
  [[nodiscard]] std::string instead_of_keys() const {
    if (section_->is_list())
      return section_->minimum_count() > 0 ? "" : ", or leave all of it out by " + path_ + "=[]";
    if (section_->needs_keys()) return {};
    const std::string defaults = ", or take the defaults of all of it by " + path_ + "={}";
    return section_->is_optional() ? defaults + "; to have none, remove it from the file" : defaults;
  }

  Node& step(Node& node, const std::string& word) {
    if (section_ != nullptr && section_->is_list() && !in_entry_) {
      in_entry_ = true;
      if (is_position(word)) {
        Node& chosen = entry(node, word);
        path_ = join_path(path_, word);
        return chosen;
      }
      return key(only_entry(node), word);
    }
    return key(node, word);
  }

  /// The list's entry at a position, which may be the next one. By a key alone only the first can
  /// be made: further ones would be there by a wrong number.
  Node& entry(Node& list, const std::string& word) {
    make_list(list);
    std::size_t position = 0;
    std::from_chars(word.data(), word.data() + word.size(), position);
    const std::size_t size = list.children.size();
    const bool by_key = left_ > 0 && size > 0;
    if (position > size || (position == size && by_key)) {
      const std::string count = std::to_string(size);
      refuse(path_ + " has " + count + (size == 1 ? " entry" : " entries") +
             (by_key ? "; add one as a whole: " + path_ + "." + count + "={...}"
                     : "; the next one is " + count));
    }
    if (position == size) append_entry(list);
    return list.children[position].value;
  }
  /// "load.queue_depth" means the only load there is.
  Node& only_entry(Node& list) {
    make_list(list);
    if (list.children.empty()) append_entry(list);
    if (list.children.size() > 1) {
      refuse(path_ + " has " + std::to_string(list.children.size()) + " entries; say which: " + path_ +
             ".0, " + path_ + ".1, ...");
    }
    return list.children.front().value;
  }
  void make_list(Node& node) const {
    if (node.type == Node::Type::sequence) return;
    Node list;
    list.type = Node::Type::sequence;
    list.origin = node.type == Node::Type::null ? origin_ : node.origin;
    if (node.type != Node::Type::null) list.children.push_back({{}, node.origin, std::move(node)});
    node = std::move(list);
  }
  void append_entry(Node& list) const {
    Node fresh;
    fresh.origin = origin_;
    list.children.push_back({{}, origin_, std::move(fresh)});
  }

  Node& key(Node& node, const std::string& word) {
    const bool names_file =
        node.type == Node::Type::scalar && section_ != nullptr && section_->is_from_file();
    if (node.type == Node::Type::null || names_file) {
      Node map;
      map.type = Node::Type::map;
      map.origin = names_file ? node.origin : origin_;
      if (names_file) map.children.push_back({"file", node.origin, std::move(node)});
      node = std::move(map);
    }
    if (node.type == Node::Type::sequence)
      refuse(path_ + " is a list of values; set it as a whole: " + path_ + "=[a, b]");
    if (node.type != Node::Type::map) refuse(path_ + " is a value, it has no " + in_quotes(word));
    path_ = join_path(path_, word);
    section_ = section_ == nullptr ? nullptr : section_->child(word);
    in_entry_ = false;
    if (Node::Child* child = node.find(word)) {
      child->origin = origin_;
      return child->value;
    }
    Node fresh;
    fresh.origin = origin_;
    node.children.push_back({word, origin_, std::move(fresh)});
    return node.children.back().value;
  }

  Origin origin_;
  std::vector<std::string> words_;
  std::size_t left_ = 0;  ///< words that the walk has not come to
  std::string value_;
  std::string path_;
  const Section* section_;  ///< at path_; null where the catalogue has none (the reader will complain)
  bool in_entry_ = false;   ///< section_ is a list and the walk is inside one of its entries
};

std::string folder_of(const std::string& file) {
  return std::filesystem::path(file).parent_path().string();
}

/// `name` with its last word replaced by the nearest file in the folder where `candidate` was
/// expected; empty when none is near.
std::string similar_file(const std::string& name, const std::string& candidate) {
  const std::filesystem::path folder = std::filesystem::path(candidate).parent_path();
  std::vector<std::string> names;
  std::error_code failure;
  std::filesystem::directory_iterator entries(folder.empty() ? "." : folder, failure);
  for (; !failure && entries != std::filesystem::directory_iterator() && names.size() < 1000;
       entries.increment(failure)) {
    names.push_back(entries->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const std::filesystem::path wanted(name);
  const std::string near = nearest(wanted.filename().string(), names);
  return near.empty() ? near : (wanted.parent_path() / near).string();
}

}  // namespace

void apply_setting(Node& root, const Catalogue& catalogue, const std::string& setting) {
  Setter(catalogue, setting).apply(root);
}

Node merged(Node base, const Node& over) {
  if (base.type != Node::Type::map || over.type != Node::Type::map) return over;
  for (const Node::Child& child : over.children) {
    if (Node::Child* same = base.find(child.key)) {
      same->origin = child.origin;
      same->value = merged(std::move(same->value), child.value);
    } else {
      base.children.push_back(child);
    }
  }
  return base;
}

Node PartFiles::expanded(const Node& node, const std::string& path, std::size_t depth) const {
  const Node::Child* named = node.type == Node::Type::map ? node.find("file") : nullptr;
  if (node.type != Node::Type::scalar && named == nullptr) return node;
  const Node& name = named == nullptr ? node : named->value;
  if (name.type != Node::Type::scalar)
    throw name.origin.error(join_path(path, "file") + " must be the path of a YAML file");
  if (name.text.empty())
    throw name.origin.error((named == nullptr ? path : join_path(path, "file")) +
                            " is empty; write the path of a YAML file");
  if (depth >= k_deepest_parts) throw name.origin.error(path + ": files that name each other in a circle");
  Node part = expanded(read(name.text, name.origin, path), path, depth + 1);
  if (named == nullptr) return part;
  Node own = node;
  std::erase_if(own.children, [](const Node::Child& child) { return child.key == "file"; });
  return merged(std::move(part), own);
}

PartFiles::Found PartFiles::find(const std::string& name, const Origin& origin,
                                 const std::string& subject) const {
  std::vector<std::string> candidates;
  const auto add = [&](const std::string& folder) {
    std::string candidate = (std::filesystem::path(folder) / name).string();
    if (std::find(candidates.begin(), candidates.end(), candidate) == candidates.end()) {
      candidates.push_back(std::move(candidate));
    }
  };
  if (!origin.set) add(folder_of(*origin.file));
  add(folder_of(scenario_file_));
  for (const std::string& folder : options_.folders) add(folder);
  for (const std::string& candidate : candidates) {
    std::optional<std::string> text;
    try {
      text = options_.open ? options_.open(candidate) : read_text_file(candidate);
    } catch (const InputError& problem) {
      throw origin.error(subject + problem.what());
    }
    if (text) return {std::make_shared<const std::string>(candidate), std::move(*text)};
  }
  std::string near;
  for (const std::string& candidate : candidates) {
    if (near.empty() && (!options_.open || options_.on_disk)) near = similar_file(name, candidate);
  }
  throw origin.error(subject + "no file " + in_quotes(name) +
                     (near.empty() ? "" : "; did you mean " + in_quotes(near) + "?"));
}

Node PartFiles::read(const std::string& name, const Origin& origin, const std::string& path) const {
  const Found found = find(name, origin, path + ": ");
  Node part = parse_document(found.text, found.file);
  if (part.type == Node::Type::map) return part;
  throw Origin{found.file, 1, false}.error(
      path + ": " + (part.type == Node::Type::null ? "the file is empty; expected" : "must be") +
      " a map (key: value ...)");
}

PartFiles::Lines PartFiles::lines(const std::string& name, const Origin& origin) const {
  const Found found = find(name, origin, "");
  if (found.text.size() > k_longest_document)
    throw origin.error(*found.file + " is longer than " + k_longest_document_text);
  if (!is_text(found.text)) throw origin.error(*found.file + " is not text (UTF-8)");
  std::vector<std::string> lines;
  const std::size_t first = found.text.starts_with("\xEF\xBB\xBF") ? 3 : 0;  // a byte order mark
  if (found.text.size() == first) throw origin.error(*found.file + " is empty");
  for (std::size_t begin = first; begin < found.text.size();) {
    const std::size_t end = std::min(found.text.find('\n', begin), found.text.size());
    std::string line = found.text.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.size() > k_longest_value)
      throw origin.error("line " + std::to_string(lines.size() + 1) + " of " + *found.file + " is too long");
    lines.push_back(std::move(line));
    begin = end + 1;
  }
  return {*found.file, std::move(lines)};
}

std::optional<std::string> read_text_file(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::status(path, failure).type() == std::filesystem::file_type::not_found)
    return std::nullopt;
  InputFile file(path, InputFile::Accept::files_and_streams);
  std::string text;
  std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
  while (text.size() <= k_longest_document) {
    const std::size_t got = file.read(buffer.data(), buffer.size());
    if (got == 0) break;
    text.append(buffer.data(), got);
  }
  return text;
}

}  // namespace tlmssd
