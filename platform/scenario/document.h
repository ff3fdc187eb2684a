// YAML text to a tree of nodes that know where they were written. yaml-cpp does the parsing (its
// event interface); this adds what it lacks: limits on size, depth, number of nodes and length of a
// value (alias bombs, deeply nested input), duplicate keys, and refusal of what is not text. Every
// complaint is an InputError with file and line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/scenario/scenario.h"

namespace tlmssd {

/// Bytes. What the program writes itself has five kilobytes for each load, with every default.
inline constexpr std::size_t k_longest_document = 64 << 20;
inline constexpr const char* k_longest_document_text = "64 MiB";
inline constexpr std::size_t k_longest_value = 4096;  ///< bytes
inline constexpr std::size_t k_deepest_nesting = 32;
inline constexpr std::size_t k_most_nodes = 1'000'000;  ///< a load has about forty, with every default
inline constexpr std::size_t k_most_copies = 200'000;   ///< of nodes, by aliases

struct Node {
  enum class Type : std::uint8_t { null, scalar, sequence, map };
  struct Child;
  Type type = Type::null;
  std::string text;             ///< of a scalar
  std::vector<Child> children;  ///< of a sequence or map
  Origin origin;

  [[nodiscard]] Child* find(std::string_view key);
  [[nodiscard]] const Child* find(std::string_view key) const;
};
struct Node::Child {
  std::string key;  ///< of a map
  Origin origin;    ///< of the key
  Node value;
};

/// Well-formed UTF-8 without control characters other than tabs and ends of line.
bool is_text(std::string_view text);
/// One YAML document. A null node for an empty one.
Node parse_document(std::string_view text, const std::shared_ptr<const std::string>& file);
/// The value of a --set: a YAML flow sequence, map or quoted text when it begins like one, else the
/// text as it is.
Node parse_setting(std::string_view value, const Origin& origin);

}  // namespace tlmssd
