#include "models/nand/timing/formula_check.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "models/base/input_error.h"
#include "models/base/random.h"
#include "models/nand/timing/expression.h"
#include "models/nand/timing/timing_model.h"

namespace tlmssd {

namespace {

constexpr std::size_t k_most_points = 40'000;

/// Pages of a block of which all are tried; of larger ones some.
constexpr std::uint32_t k_most_pages = 4096;
/// The same where they make too many points.
constexpr std::uint32_t k_fewer_pages = 32;

/// Where an expression is evaluated: the values of its arguments, and what the data sheet says
/// there.
struct Point {
  std::vector<double> values;
  double base = 0;
};

/// Those that the page of an operation determines, as it does the data sheet's latency.
bool follows_from_page(const TimingArgument& argument) {
  static constexpr std::array<std::string_view, 5> k_names = {"type", "layer", "word_line", "page", "pages"};
  return std::find(k_names.begin(), k_names.end(), argument.name) != k_names.end();
}

/// Where an expression is tried: operations of one kind that can occur on a part.
class Points {
 public:
  Points(const Expression& expression, const NandPart& part, const Geometry& drive, ArrayCommand command,
         bool slc)
      : expression_(expression),
        part_(part),
        drive_(drive),
        command_(command),
        mode_(slc ? BlockMode::slc : BlockMode::native) {
    for (std::size_t i = 0; i < expression.used().size(); ++i) {
      if (follows_from_page(*expression.used()[i])) continue;
      axes_.push_back({i, values_to_try(*expression.used()[i])});
      combinations_ = std::min(combinations_ * axes_.back().values.size(), k_most_points + 1);
    }
    places_ = places(k_most_pages);
    if (combinations_ * places_.size() > k_most_points) places_ = places(k_fewer_pages);
  }

  /// Calls `visit` for every combination, or for all corners and a sample when they are too many.
  template <class Visit>
  void each(Visit visit) const {
    if (combinations_ * places_.size() <= k_most_points) {
      for (std::size_t n = 0; n < combinations_; ++n) {
        std::size_t rest = n;
        const auto digit = [&](std::size_t size) { return std::exchange(rest, rest / size) % size; };
        for (Point point : places_) visit(set(point, digit));
      }
      return;
    }
    const std::size_t corners = std::size_t{1} << std::min<std::size_t>(axes_.size(), 11);
    for (std::size_t n = 0; n < corners; ++n) {
      for (Point point : places_) {
        std::size_t rest = n;
        visit(set(point,
                  [&](std::size_t size) { return std::exchange(rest, rest / 2) % 2 == 0 ? 0 : size - 1; }));
      }
    }
    sample(k_most_points, visit);
  }

  /// So many, at random.
  template <class Visit>
  void sample(std::size_t count, Visit visit) const {
    RandomStream random(1, "formula check");
    const auto any = [&](std::size_t size) { return static_cast<std::size_t>(random.below(size)); };
    for (std::size_t n = 0; n < count; ++n) {
      Point point = places_[any(places_.size())];
      visit(set(point, any));
    }
  }

 private:
  struct Axis {
    std::size_t argument;  // in Expression::used()
    std::vector<double> values;
  };

  template <class Choose>
  const Point& set(Point& point, Choose choose) const {
    for (const Axis& axis : axes_) point.values[axis.argument] = axis.values[choose(axis.values.size())];
    return point;
  }

  /// All where they are few, else both ends and some between, closer together near the lower one.
  [[nodiscard]] std::vector<double> values_to_try(const TimingArgument& argument) const {
    Range range = argument.occurring(part_, command_, mode_);
    if (argument.name == "die") range = {0, drive_.dies() - 1};
    if (argument.name == "block") range = {0, drive_.blocks - 1};
    std::vector<double> values;
    if (argument.whole && range.maximum - range.minimum < 8) {
      for (double value = range.minimum; value <= range.maximum; ++value) values.push_back(value);
      return values;
    }
    const double width = range.maximum - range.minimum;
    std::set<double> chosen;
    for (const double share : {0.0, 1e-4, 1e-3, 0.05, 0.25, 0.5, 0.75, 1.0}) {
      const double value = range.minimum + share * width;
      chosen.insert(argument.whole ? std::round(value) : value);
    }
    if (argument.whole) chosen.insert(range.minimum + 1);
    if (range.minimum < 0) chosen.insert(0);
    return {chosen.begin(), chosen.end()};
  }

  /// First pages of the operations on a block: of all its word lines, or of the first, the last and
  /// some between where there are more than `most` pages.
  [[nodiscard]] std::vector<std::uint32_t> first_pages(std::uint32_t step, std::uint32_t most) const {
    const bool slc = mode_ == BlockMode::slc;
    const std::uint32_t pages = slc ? part_.slc_pages_per_block() : part_.pages_per_block;
    const std::uint32_t on_line = slc ? 1 : part_.bits();
    const std::uint32_t lines = (pages + on_line - 1) / on_line;
    const std::uint32_t some = std::min(lines, std::max(most / on_line, 4U));
    std::set<std::uint32_t> tried = {0, std::min(1U, lines - 1), lines - std::min(2U, lines), lines - 1};
    for (std::uint32_t n = 0; n < some; ++n)
      tried.insert(static_cast<std::uint32_t>(std::uint64_t{n} * lines / some));
    std::vector<std::uint32_t> first;
    for (const std::uint32_t line : tried) {
      const std::uint32_t end = std::min((line + 1) * on_line, pages);
      for (std::uint32_t page = line * on_line; page < end; page += step) first.push_back(page);
    }
    return first;
  }

  /// Points that differ in what follows from the page; the rest is to be set.
  [[nodiscard]] std::vector<Point> places(std::uint32_t most) const {
    const auto& used = expression_.used();
    ArrayOperation op;
    op.command = command_;
    op.mode = mode_;
    std::vector<Point> found;
    std::set<std::vector<double>> seen;
    const auto add = [&] {
      Point point{std::vector<double>(used.size()), 0};
      for (std::size_t i = 0; i < used.size(); ++i)
        if (follows_from_page(*used[i])) point.values[i] = used[i]->of(op);
      if (expression_.uses_base()) point.base = static_cast<double>(data_sheet_latency(part_, op));
      std::vector<double> all = point.values;
      all.push_back(point.base);
      if (seen.insert(all).second) found.push_back(point);
    };
    if (command_ == ArrayCommand::erase) {
      add();
      return found;
    }
    const bool native_program = command_ == ArrayCommand::program && mode_ == BlockMode::native;
    const std::uint32_t step = native_program ? part_.pages_per_step() : 1;
    const PageShape shape(part_);
    for (const std::uint32_t page : first_pages(step, most)) {
      shape.place(op, PageId{page});
      op.pages = std::min(step, part_.pages_per_block - page);
      add();
    }
    return found;
  }

  const Expression& expression_;
  const NandPart& part_;
  const Geometry& drive_;
  ArrayCommand command_;
  BlockMode mode_;
  std::vector<Axis> axes_;  // of what does not follow from the page
  std::size_t combinations_ = 1;
  std::vector<Point> places_;
};

/// Beginnings and ends of the words and signs of an expression.
struct Token {
  std::size_t begin;
  std::size_t end;
};
std::vector<Token> tokens_of(const std::string& text) {
  const auto word = [](char c) {
    const auto byte = static_cast<unsigned char>(c);  // of UTF-8, as in a micro sign
    return std::isalnum(byte) != 0 || c == '_' || c == '.' || byte >= 0x80;
  };
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      ++i;
      continue;
    }
    const std::size_t begin = i++;
    if (word(text[begin])) {
      while (i < text.size() && word(text[i])) ++i;
    }
    tokens.push_back({begin, i});
  }
  return tokens;
}

/// The expression with all times multiplied: a time must come out multiplied as well.
class Scaled {
 public:
  Scaled(const std::string& text, const NandPart& part) {
    for (const double scale : k_scales)
      expressions_.push_back(std::make_unique<Expression>(text, part, scale));
  }
  [[nodiscard]] bool is_time(const Expression& plain, const Point& point) const {
    const double once = plain.value(point.values, point.base);
    for (std::size_t i = 0; i < k_scales.size(); ++i) {
      const double expected = once * k_scales[i];
      const double found = expressions_[i]->value(point.values, point.base);
      if (!(std::abs(found - expected) <= 1e-6 * expected)) return false;
    }
    return true;
  }

 private:
  static constexpr std::array<double, 3> k_scales{2.0, 1e6, 1e-6};
  std::vector<std::unique_ptr<Expression>> expressions_;
};

class Check {
 public:
  Check(const std::string& key, const std::string& text, const NandPart& part, const Geometry& drive,
        ArrayCommand command, bool slc)
      : key_(key), text_(text), part_(part), drive_(drive), command_(command), slc_(slc) {}

  void run() const {
    const std::unique_ptr<Expression> whole = read();
    for (const TimingArgument* argument : whole->used())
      if (!argument->belongs_to(command_)) refuse_argument(*argument);
    const Points points(*whole, part_, drive_, command_, slc_);
    std::optional<Point> longest;  // where it is too long
    points.each([&](const Point& point) {
      const double value = whole->value(point.values, point.base);
      if (!std::isfinite(value)) refuse_undefined(*whole, point);
      if (!(value >= 0.5)) refuse_negative(*whole, point, value);
      if (!longest && value >= static_cast<double>(k_longest_work)) longest = point;
    });
    const Scaled scaled(text_, part_);
    points.sample(200, [&](const Point& point) {
      if (!scaled.is_time(*whole, point)) refuse_units(*whole, point);
    });
    if (longest) {  // which a wrong unit would explain better
      refuse(0, text_.size(),
             too_long(whole->value(longest->values, longest->base)) + place_of(*whole, *longest));
    }
  }

 private:
  [[noreturn]] void refuse(std::size_t position, std::size_t length, const std::string& what) const {
    const std::string piece = text_.substr(position, length);
    throw objection(key_, fmt::format("position {}, at \"{}\": {}", position + 1, piece.substr(0, 60), what));
  }

  [[nodiscard]] std::unique_ptr<Expression> read() const {
    try {
      return std::make_unique<Expression>(text_, part_);
    } catch (const Expression::Unreadable& problem) {
      refuse(problem.position, std::string::npos, problem.what);
    }
  }

  [[noreturn]] void refuse_argument(const TimingArgument& argument) const {
    for (const Token& token : tokens_of(text_)) {
      const std::size_t length = token.end - token.begin;
      if (text_.compare(token.begin, length, argument.name) == 0)
        refuse(token.begin, length, no_argument_of(command_));
    }
    refuse(0, text_.size(), std::string(argument.name) + " " + no_argument_of(command_));
  }

  /// The shortest piece of the text that is an expression by itself and `wrong`; the whole when no
  /// shorter one is.
  [[nodiscard]] Token shortest(const std::function<bool(const std::string&)>& wrong) const {
    const std::vector<Token> tokens = tokens_of(text_);
    for (std::size_t length = 1; length < tokens.size(); ++length) {
      for (std::size_t i = 0; i + length <= tokens.size(); ++i) {
        const Token piece{tokens[i].begin, tokens[i + length - 1].end};
        if (text_[piece.begin] == '[') continue;  // the index of tR[type] is no piece by itself
        if (wrong(text_.substr(piece.begin, piece.end - piece.begin))) return piece;
      }
    }
    return {0, text_.size()};
  }

  /// Value of a piece of the text at `point` of the whole; nothing when it is no expression.
  [[nodiscard]] std::optional<double> value_of(const std::string& piece, const Expression& whole,
                                               const Point& point, double scale = 1) const {
    try {
      const Expression part(piece, part_, scale);
      std::vector<double> values;
      for (const TimingArgument* argument : part.used()) {
        const auto at = std::find(whole.used().begin(), whole.used().end(), argument);
        values.push_back(point.values[static_cast<std::size_t>(at - whole.used().begin())]);
      }
      return part.value(values, point.base);
    } catch (const Expression::Unreadable&) {
      return {};
    }
  }

  [[nodiscard]] std::string place_of(const Expression& whole, const Point& point) const {
    std::string place;
    for (std::size_t i = 0; i < point.values.size(); ++i)
      place += fmt::format("{}{} = {}", i == 0 ? " where " : ", ", whole.used()[i]->name, point.values[i]);
    if (whole.uses_base())
      place += fmt::format("{}base = {:.6g} us", place.empty() ? " where " : ", ", point.base * 1e-6);
    return place;
  }

  [[noreturn]] void refuse_undefined(const Expression& whole, const Point& point) const {
    const Token piece = shortest([&](const std::string& text) {
      const auto value = value_of(text, whole, point);
      return value && !std::isfinite(*value);
    });
    const std::string at = text_.substr(piece.begin, piece.end - piece.begin);
    const auto value = value_of(at, whole, point);
    if ((at.starts_with("tR") || at.starts_with("tPROG")) && at.find(']') == at.size() - 1) {
      refuse(piece.begin, piece.end - piece.begin,
             fmt::format("is undefined{}; page types are 0 to {}", place_of(whole, point), part_.bits() - 1));
    }
    refuse(piece.begin, piece.end - piece.begin,
           (value && std::isinf(*value) ? "is infinite" : "is undefined") + place_of(whole, point));
  }

  /// Names the term that takes most away.
  [[noreturn]] void refuse_negative(const Expression& whole, const Point& point, double value) const {
    Token worst{0, text_.size()};
    double least = 0;
    int depth = 0;
    const std::vector<Token> tokens = tokens_of(text_);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const char sign = text_[tokens[i].begin];
      depth += sign == '(' || sign == '[' ? 1 : sign == ')' || sign == ']' ? -1 : 0;
      if (depth != 0 || sign != '-' || i == 0) continue;
      std::size_t last = i;
      for (int inner = 0; last + 1 < tokens.size(); ++last) {
        const char next = text_[tokens[last + 1].begin];
        inner += next == '(' || next == '[' ? 1 : next == ')' || next == ']' ? -1 : 0;
        if (inner < 0 || (inner == 0 && (next == '+' || next == '-'))) break;
      }
      const Token term{tokens[i].begin, tokens[last].end};
      const auto amount = value_of(text_.substr(term.begin, term.end - term.begin), whole, point);
      if (amount && *amount < least) {
        least = *amount;
        worst = term;
      }
    }
    refuse(worst.begin, worst.end - worst.begin,
           fmt::format("makes it {:.6g} us, which is no latency{}", value * 1e-6, place_of(whole, point)));
  }

  /// The power to which times enter a piece of text: 0 a number, 1 a time; nothing when it mixes
  /// them.
  [[nodiscard]] std::optional<double> power_of(const std::string& piece, const Expression& whole,
                                               const Point& point) const {
    const auto plain = value_of(piece, whole, point);
    if (!plain || *plain == 0 || !std::isfinite(*plain)) return 0;
    std::optional<double> power;
    for (const double scale : {2.0, 1e6, 1e-6}) {
      const auto scaled = value_of(piece, whole, point, scale);
      if (!scaled || !(*scaled / *plain > 0)) return {};
      const double found = std::log(*scaled / *plain) / std::log(scale);
      if (power && std::abs(found - *power) > 1e-6) return {};
      power = found;
    }
    return power;
  }

  [[noreturn]] void refuse_units(const Expression& whole, const Point& point) const {
    const auto power = power_of(text_, whole, point);
    if (power) {
      refuse(0, text_.size(),
             std::abs(*power) < 1e-6 ? "is a number, not a time: write a unit, as in 12us, or multiply base"
                                     : fmt::format("is a time to the power of {:.3g}, not a time", *power));
    }
    const Token piece = shortest([&](const std::string& text) { return !power_of(text, whole, point); });
    refuse(piece.begin, piece.end - piece.begin, "mixes times and numbers without unit");
  }

  const std::string& key_;
  const std::string& text_;
  const NandPart& part_;
  const Geometry& drive_;
  ArrayCommand command_;
  bool slc_;
};

}  // namespace

std::string too_long(double picoseconds) {
  return fmt::format("makes it {:.6g} s, and nothing may take {} s or more", picoseconds * 1e-12,
                     k_longest_work / 1'000'000'000'000);
}

void check_formula(const std::string& key, const std::string& text, const NandPart& part,
                   const Geometry& drive, ArrayCommand command, bool slc) {
  Check(key, text, part, drive, command, slc).run();
}

}  // namespace tlmssd
