#include "models/nand/timing/expression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <muParser.h>

namespace tlmssd {

namespace {

/// muParser gives a callback nothing but its argument: the scale of the parser that is being read
/// or evaluated.
thread_local double time_scale = 1;

template <std::int64_t k_picoseconds>
double unit(double value) {
  return value * static_cast<double>(k_picoseconds) * time_scale;
}

/// muParser would take "layer = 3" for an assignment.
void refuse_assignment(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '=') continue;
    const bool after = i > 0 && (text[i - 1] == '<' || text[i - 1] == '>' || text[i - 1] == '!');
    const bool doubled = i + 1 < text.size() && text[i + 1] == '=';
    if (!after && !doubled) throw Expression::Unreadable{i, "assigns; comparing is =="};
    if (doubled) ++i;
  }
}

/// tR[type] as a call of a function, and the micro sign as u, position by position.
std::string with_calls(std::string_view text) {
  std::string result(text);
  for (const std::string_view micro : {"\u00B5s", "\u03BCs"}) {  // as quantities may have it (units.cpp)
    for (std::size_t at = result.find(micro); at != std::string::npos; at = result.find(micro, at))
      result.replace(at, micro.size(), " us");
  }
  std::replace(result.begin(), result.end(), '[', '(');
  std::replace(result.begin(), result.end(), ']', ')');
  return result;
}

}  // namespace

double Expression::latency(void* latencies, double type) {
  const auto& of = static_cast<Latencies*>(latencies)->of;
  if (!(type >= 0 && type < static_cast<double>(of.size()))) return std::numeric_limits<double>::quiet_NaN();
  const auto whole = static_cast<std::uint32_t>(type);
  if (type != whole) return std::numeric_limits<double>::quiet_NaN();
  return of[whole] * time_scale;
}

Expression::Expression(std::string_view text, const NandPart& part, double scale)
    : scale_(scale), parser_(std::make_unique<mu::Parser>()), variables_(timing_arguments().size() + 1) {
  refuse_assignment(text);
  for (std::uint32_t type = 0; type < part.bits(); ++type) {
    reads_.of.push_back(static_cast<double>(part.read_time(PageId{type})));
    programs_.of.push_back(static_cast<double>(part.program_time(PageId{type})));
  }
  mu::Parser& parser = *parser_;
  time_scale = scale_;
  try {
    parser.DefinePostfixOprt("ps", unit<1>, true);
    parser.DefinePostfixOprt("ns", unit<1'000>, true);
    parser.DefinePostfixOprt("us", unit<1'000'000>, true);
    parser.DefinePostfixOprt("ms", unit<1'000'000'000>, true);
    parser.DefinePostfixOprt("s", unit<1'000'000'000'000>, true);
    parser.DefineFunUserData("tR", latency, &reads_, false);
    parser.DefineFunUserData("tPROG", latency, &programs_, false);
    parser.DefineConst("tBERS", static_cast<double>(part.erase_latency) * scale_);
    const auto arguments = timing_arguments();
    for (std::size_t i = 0; i < arguments.size(); ++i)
      parser.DefineVar(std::string(arguments[i].name), &variables_[i]);
    parser.DefineVar("base", &variables_.back());
    parser.SetExpr(with_calls(text));
    const auto names = parser.GetUsedVar();
    for (const TimingArgument& argument : arguments)
      if (names.contains(std::string(argument.name))) used_.push_back(&argument);
    uses_base_ = names.contains("base");
    static_cast<void>(parser.Eval());
    if (parser.GetNumResults() != 1) throw Unreadable{text.find(','), "is more than one expression"};
  } catch (const mu::ParserError& error) {
    const auto position = static_cast<std::size_t>(std::max(error.GetPos(), 0));
    const std::string& token = error.GetToken();
    const bool word = error.GetCode() == mu::ecUNASSIGNABLE_TOKEN;
    throw Unreadable{std::min(position, text.empty() ? 0 : text.size() - 1),
                     word ? "\"" + token + "\" is not known; there is base, tR[type], tPROG[type], tBERS, " +
                                timing_argument_names()
                          : error.GetMsg()};
  }
}

Expression::~Expression() = default;

double Expression::value(const std::vector<double>& values, double base) const {
  const TimingArgument* const first = timing_arguments().data();
  for (std::size_t i = 0; i < used_.size(); ++i)
    variables_[static_cast<std::size_t>(used_[i] - first)] = values[i];
  variables_.back() = base * scale_;
  time_scale = scale_;
  return parser_->Eval();
}

}  // namespace tlmssd
