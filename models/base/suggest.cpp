// Nearest word and quoting. Distance: optimal string alignment (Damerau 1964, Levenshtein 1966),
// three rolling rows.
#include "models/base/suggest.h"

#include <algorithm>
#include <cstdint>

namespace tlmssd {
namespace {

constexpr std::size_t k_longest_word = 64;  // longer words are not typing errors
constexpr std::size_t k_longest_quote = 60;

std::string folded(std::string_view word) {
  std::string result(word);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return result;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20U || byte == 0x7FU;
}

/// The character of `length` bytes at `at`, if it can steer a terminal or turn the direction of
/// what follows, so that a message shows other than it is: C1 controls, bidirectional marks, ends
/// of lines and paragraphs; else 0.
std::uint32_t steering(std::string_view text, std::size_t at, std::size_t length) {
  const auto bits = [&](std::size_t i) { return static_cast<std::uint32_t>(text[at + i]) & 0x3FU; };
  std::uint32_t code = 0;
  if (length == 2) code = (static_cast<std::uint32_t>(text[at]) & 0x1FU) << 6U | bits(1);
  if (length == 3) code = (static_cast<std::uint32_t>(text[at]) & 0x0FU) << 12U | bits(1) << 6U | bits(2);
  const auto within = [code](std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
  };
  const bool steers = within(0x80, 0x9F) || code == 0x61C || within(0x200E, 0x200F) ||
                      within(0x2028, 0x202E) || within(0x2066, 0x2069);
  return steers ? code : 0;
}

/// "\u202e"
void append_code(std::string& text, std::uint32_t code) {
  static constexpr std::string_view k_hex = "0123456789abcdef";
  text += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) text += k_hex[code >> static_cast<unsigned>(shift) & 15U];
}

/// "\x1b"
void append_hex(std::string& text, char c) {
  static constexpr std::string_view k_hex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  text += {'\\', 'x', k_hex[byte >> 4U], k_hex[byte & 15U]};
}

}  // namespace

namespace {

/// Those of `choices` that are nearest to `word`, all equally near; none: nothing is near.
std::vector<std::string> all_nearest(std::string_view word, const std::vector<std::string>& choices) {
  if (word.empty() || word.size() > k_longest_word) return {};
  const std::string wanted = folded(word);
  std::vector<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, wanted.size() / 3);
  for (const std::string& choice : choices) {
    if (choice.empty() || choice.size() > k_longest_word) continue;
    const std::string candidate = folded(choice);
    const std::size_t d = distance(wanted, candidate);
    // A word of which nothing is left is not a typing error of another ("x" is not meant to be
    // "y").
    if (d > best_distance || d >= std::max(wanted.size(), candidate.size())) continue;
    if (d < best_distance) best.clear();
    best_distance = d;
    if (std::find(best.begin(), best.end(), choice) == best.end()) best.push_back(choice);
  }
  if (best.empty() && wanted.size() >= 3) {
    const auto begins = std::find_if(choices.begin(), choices.end(), [&](const std::string& choice) {
      return folded(choice).starts_with(wanted);
    });
    if (begins != choices.end()) best.push_back(*begins);
  }
  return best;
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& choices) {
  const std::vector<std::string> all = all_nearest(word, choices);
  return all.empty() ? std::string() : all.front();
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices) {
  constexpr std::size_t k_most = 3;  // more are no help
  std::vector<std::string> near = all_nearest(word, choices);
  if (near.empty()) return {};
  if (near.size() > k_most) near.resize(1);
  for (std::string& word_near : near) word_near = in_quotes(word_near);
  return "; did you mean " + any_of(near) + "?";
}

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned lead = byte(at);
  if (lead < 0x80U) return 1;
  const std::size_t length = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned second = byte(at + 1);
  if ((lead == 0xE0U && second < 0xA0U) || (lead == 0xEDU && second > 0x9FU)) return 0;
  if ((lead == 0xF0U && second < 0x90U) || (lead == 0xF4U && second > 0x8FU)) return 0;
  return length;
}

std::string in_quotes(std::string_view text) {
  std::string result = "'";
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text, at);
    if (at + std::max<std::size_t>(length, 1) > k_longest_quote) break;
    const char c = text[at];
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (is_control(c) || length == 0) {
      append_hex(result, c);
    } else if (const std::uint32_t code = steering(text, at, length); code != 0) {
      append_code(result, code);
    } else {
      result += text.substr(at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  if (at < text.size()) result += "...";
  return result + "'";
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (is_control(text[at]) && text[at] != '\n') {
      append_hex(result, text[at]);
    } else if (const std::uint32_t code = steering(text, at, length); code != 0) {
      append_code(result, code);
    } else {
      result += text.substr(at, std::max<std::size_t>(length, 1));
    }
    at += std::max<std::size_t>(length, 1);
  }
  return result;
}

std::string any_of(const std::vector<std::string>& choices, std::size_t limit) {
  std::string result;
  const std::size_t shown = std::min(limit, choices.size());
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) result += (i + 1 == choices.size()) ? " or " : ", ";
    result += choices[i];
  }
  if (shown < choices.size()) result += ", ...";
  return result;
}

}  // namespace tlmssd
