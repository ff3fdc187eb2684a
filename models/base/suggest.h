// Words for messages: the nearest valid choice to a mistyped word, and what a user wrote quoted so
// that it stays on one line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tlmssd {

/// The choice nearest to `word` by Damerau-Levenshtein distance (optimal string alignment), letter
/// case and '-' / '_' not counted; the first of equals. A choice that begins with `word` is near
/// too. Empty when nothing is close.
std::string nearest(std::string_view word, const std::vector<std::string>& choices);

/// "; did you mean 'greedy'?", with up to three that are equally near, or nothing when no choice is
/// close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices);

/// Length in bytes of the UTF-8 character at `at`; 0 when it is not well formed (overlong forms and
/// surrogates are not).
std::size_t utf8_length(std::string_view text, std::size_t at);

/// `text` in single quotes, cut to about 60 characters, with control characters, marks of direction
/// and broken UTF-8 escaped: safe to put into a one-line message.
std::string in_quotes(std::string_view text);

/// `text` with its control characters and marks of direction escaped, but for ends of lines: what
/// has not been quoted cannot steer a terminal.
std::string printable(std::string_view text);

/// "a, b or c"; at most `limit` of them, then "...".
std::string any_of(const std::vector<std::string>& choices, std::size_t limit = 12);

}  // namespace tlmssd
