// YAML events to nodes, under limits.
#include "platform/scenario/document.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "models/base/suggest.h"

namespace tlmssd {
namespace {

bool is_forbidden_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20U && c != '\n' && c != '\t' && c != '\r') || byte == 0x7FU;
}

std::string too_many_values() {
  return "more than " + std::to_string(k_most_nodes) + " values";
}

/// Begins a value, or something about one. yaml-cpp keeps all of a line's.
bool begins_value(char c) {
  return c == ',' || c == '[' || c == '{' || c == '&' || c == '*' || c == '!';
}

/// Refuses what is not text, or a line too much, before the parser sees it.
void check_text(std::string_view text, const std::shared_ptr<const std::string>& file) {
  std::uint64_t line = 1;
  const auto refuse = [&](const std::string& why) { throw Origin{file, line, false}.error(why); };
  if (text.size() > k_longest_document)
    throw Origin{file, 0, false}.error(std::string("is larger than ") + k_longest_document_text);
  bool indenting = true;
  bool tab = false;
  std::size_t values = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (is_forbidden_control(c))
      refuse("is not a text file (control character " + in_quotes(text.substr(at, 1)) + ")");
    const std::size_t length = utf8_length(text, at);
    if (length == 0) refuse("is not valid UTF-8");
    at += length;
    // Of nodes that are taken each has three of them at most: [{a: b}, ...
    if (begins_value(c) && ++values > 3 * k_most_nodes) refuse(too_many_values());
    if (c == '\n') {
      ++line;
      indenting = true;
      tab = false;
      values = 0;
    } else if (indenting && c == '\t') {
      tab = true;
    } else if (indenting && c != ' ' && c != '\r') {
      if (tab && c != '#') refuse("a tab in the indentation; YAML wants spaces");
      indenting = false;
    }
  }
}

std::size_t node_count(const Node& node) {
  std::size_t count = 1;
  for (const Node::Child& child : node.children) count += node_count(child.value);
  return count;
}

std::size_t node_depth(const Node& node) {
  std::size_t depth = 0;
  for (const Node::Child& child : node.children) depth = std::max(depth, node_depth(child.value));
  return depth + 1;
}

/// Finds quoted texts that run to the end of the file, which yaml-cpp takes without complaint.
class QuoteCheck {
 public:
  explicit QuoteCheck(std::string_view text) : text_(text) {
    lines_.push_back(
        text.starts_with("\xEF\xBB\xBF") ? 3 : 0);  // yaml-cpp counts from behind the byte order mark
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
      lines_.push_back(at + 1);
    }
  }
  /// Whether the scalar that begins at `mark` (or behind an anchor there) is quoted and has no end.
  [[nodiscard]] bool is_open(const YAML::Mark& mark) const {
    if (mark.line < 0 || static_cast<std::size_t>(mark.line) >= lines_.size()) return false;
    std::size_t at = lines_[static_cast<std::size_t>(mark.line)] + static_cast<std::size_t>(mark.column);
    if (at < text_.size() && text_[at] == '&') {
      at = std::min(text_.find_first_of(" \t\r\n", at), text_.size());
      at = std::min(text_.find_first_not_of(" \t\r\n", at), text_.size());
    }
    if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return false;
    const char quote = text_[at];
    for (++at; at < text_.size(); ++at) {
      if (quote == '"' && text_[at] == '\\') {
        ++at;
      } else if (text_[at] == quote) {
        const bool doubled = quote == '\'' && at + 1 < text_.size() && text_[at + 1] == quote;
        if (!doubled) return false;
        ++at;
      }
    }
    return true;
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> lines_;  ///< where each begins
};

/// Builds the tree. Throws InputError out of the parser at the first thing that is refused.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::shared_ptr<const std::string> file, std::string_view text)
      : file_(std::move(file)), quotes_(text) {}
  /// All nodes get this origin instead of their line.
  TreeBuilder(const Origin& fixed, std::string_view text)
      : file_(fixed.file), fixed_(&fixed), quotes_(text) {}

  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = line(mark); }
  /// The line where the document began.
  [[nodiscard]] std::uint64_t start() const { return start_; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (expects_key()) refuse(mark, "a key is missing before ':'");
    put(make(mark, Node::Type::null), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (expects_key()) refuse(mark, "a key must be a plain word");
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "an alias that contains itself");
    copies_ += node_count(found->second);
    check_counts(mark);
    if (open_.size() + node_depth(found->second) > k_deepest_nesting) refuse_depth(mark);
    put(found->second, 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    check_value(mark, value);
    if (tag == "!" && quotes_.is_open(mark)) refuse(mark, "a quoted text without end");
    if (expects_key()) {
      Frame& frame = open_.back();
      if (value == "<<") refuse(mark, "merge keys ('<<') are not supported");
      const auto [first, fresh] = frame.keys.emplace(value, line(mark));
      if (!fresh) {
        refuse(mark, "key " + in_quotes(value) + " is given twice (first in line " +
                         std::to_string(first->second) + ")");
      }
      frame.key = value;
      frame.key_origin = origin(mark);
      frame.has_key = true;
      return;
    }
    Node node = make(mark, Node::Type::scalar);
    node.text = value;
    put(std::move(node), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    enter(mark, tag, anchor, Node::Type::sequence);
  }
  void OnSequenceEnd() override { leave(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    enter(mark, tag, anchor, Node::Type::map);
  }
  void OnMapEnd() override { leave(); }

 private:
  struct Frame {
    Node node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    std::string key;
    Origin key_origin;
    std::map<std::string, std::uint64_t> keys;  ///< to the line of each
  };

  static std::uint64_t line(const YAML::Mark& mark) { return static_cast<std::uint64_t>(mark.line) + 1; }
  [[nodiscard]] Origin origin(const YAML::Mark& mark) const {
    return fixed_ != nullptr ? *fixed_ : Origin{file_, line(mark), false};
  }
  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& message) const {
    throw origin(mark).error(message);
  }
  [[noreturn]] void refuse_depth(const YAML::Mark& mark) const {
    refuse(mark, "nested more than " + std::to_string(k_deepest_nesting) + " deep");
  }
  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(mark, "YAML tags (" + in_quotes(tag) + ") are not supported");
  }
  void check_value(const YAML::Mark& mark, const std::string& value) const {
    if (value.size() > k_longest_value) {
      Complaint complaint = origin(mark).error("").complaint();
      complaint.key = path();
      complaint.what = std::string(expects_key() ? "a key" : "a value") + " of " +
                       std::to_string(value.size()) + " characters; at most " +
                       std::to_string(k_longest_value) + " are taken";
      throw InputError(complaint);
    }
    if (is_text(value)) return;
    // Escapes in quoted texts can produce what the file may not hold.
    refuse(mark, "a control character in " + in_quotes(value));
  }
  /// Of what is being read: "load.0.bs".
  [[nodiscard]] std::string path() const {
    std::string path;
    for (const Frame& frame : open_) {
      const bool map = frame.node.type == Node::Type::map;
      if (map && !frame.has_key) continue;
      if (!path.empty()) path += '.';
      path += map ? frame.key : std::to_string(frame.node.children.size());
    }
    return path;
  }
  [[nodiscard]] bool expects_key() const {
    return !open_.empty() && open_.back().node.type == Node::Type::map && !open_.back().has_key;
  }
  [[nodiscard]] Node make(const YAML::Mark& mark, Node::Type type) {
    ++nodes_;
    check_counts(mark);
    Node node;
    node.type = type;
    node.origin = origin(mark);
    return node;
  }
  void check_counts(const YAML::Mark& mark) const {
    if (nodes_ > k_most_nodes) refuse(mark, too_many_values());
    if (copies_ > k_most_copies)
      refuse(mark, "aliases for more than " + std::to_string(k_most_copies) + " values");
  }
  void enter(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Type type) {
    check_tag(mark, tag);
    if (expects_key()) refuse(mark, "a key must be a plain word (or a bracket is not closed)");
    if (open_.size() >= k_deepest_nesting) refuse_depth(mark);
    Frame frame;
    frame.node = make(mark, type);
    frame.anchor = anchor;
    open_.push_back(std::move(frame));
  }
  void leave() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    put(std::move(frame.node), frame.anchor);
  }
  void put(Node node, YAML::anchor_t anchor) {
    if (anchor != 0) {
      copies_ += node_count(node);  // kept for aliases; the next node notices when that was too much
      anchors_[anchor] = node;
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& parent = open_.back();
    if (node.type == Node::Type::null) {  // an empty value is marked where the next thing begins
      node.origin = parent.node.type == Node::Type::map ? parent.key_origin : parent.node.origin;
    }
    parent.node.children.push_back({std::move(parent.key), parent.key_origin, std::move(node)});
    parent.key.clear();
    parent.has_key = false;
  }

  std::shared_ptr<const std::string> file_;
  const Origin* fixed_ = nullptr;
  QuoteCheck quotes_;
  Node root_;
  std::vector<Frame> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::size_t nodes_ = 0;   ///< that the text has
  std::size_t copies_ = 0;  ///< of them
  std::uint64_t start_ = 0;
};

/// Runs the parser; its own exceptions become InputErrors.
Node build(std::string_view text, TreeBuilder& builder, const Origin& whole) {
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return {};
    Node root = builder.take();
    TreeBuilder second = whole.set ? TreeBuilder(whole, {}) : TreeBuilder(whole.file, {});
    if (parser.HandleNextDocument(second)) {
      Origin place = whole;
      if (!place.set) place.line = second.start();
      throw place.error("more than one YAML document ('---')");
    }
    return root;
  } catch (const YAML::Exception& error) {
    Origin place = whole;
    if (!place.set && !error.mark.is_null()) place.line = static_cast<std::uint64_t>(error.mark.line) + 1;
    throw place.error("not valid YAML: " + error.msg);
  }
}

}  // namespace

Node::Child* Node::find(std::string_view key) {
  const auto found =
      std::find_if(children.begin(), children.end(), [&](const Child& child) { return child.key == key; });
  return found == children.end() ? nullptr : &*found;
}
const Node::Child* Node::find(std::string_view key) const {
  const auto found =
      std::find_if(children.begin(), children.end(), [&](const Child& child) { return child.key == key; });
  return found == children.end() ? nullptr : &*found;
}

bool is_text(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0 || is_forbidden_control(text[at])) return false;
    at += length;
  }
  return true;
}

Node parse_document(std::string_view text, const std::shared_ptr<const std::string>& file) {
  check_text(text, file);
  TreeBuilder builder(file, text);
  return build(text, builder, {file, 0, false});
}

Node parse_setting(std::string_view value, const Origin& origin) {
  static constexpr std::string_view k_structured = "[{\"'";
  if (value.empty() || k_structured.find(value.front()) == std::string_view::npos) {
    Node node;
    node.type = value.empty() ? Node::Type::null : Node::Type::scalar;
    node.text = value;
    node.origin = origin;
    return node;
  }
  TreeBuilder builder(origin, value);
  return build(value, builder, origin);
}

}  // namespace tlmssd
