// The few charts of report.html, as inline SVG. Colours are CSS classes, so that light and dark follow the page.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tlmssd {

/// Text as it may stand in HTML or an attribute.
std::string html_text(std::string_view text);

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct Axis {
  std::string label;
  bool logarithmic = false;
  std::string (*text)(double) = nullptr;  ///< how a tick is written
};

/// Lines over a common pair of axes. y starts at 0 and ends at `y_top` (0: at the largest value).
std::string line_chart(const std::vector<Curve>& curves, const Axis& x, const Axis& y, double y_top);

struct BarPart {
  std::string name;
  double share = 0;
  std::size_t colour = 0;
};
struct StackedBar {
  std::string label;
  std::vector<BarPart> parts;
};
/// One horizontal bar for each row, each as long as its shares (1 is the full width), with a legend of the parts.
std::string stacked_bars(const std::vector<StackedBar>& bars);

struct RangeBar {
  std::string label;
  double mean = 0;
  double low = 0;
  double high = 0;
  std::string text;
};
/// Horizontal bars up to `top` with the spread from low to high marked.
std::string range_bars(const std::vector<RangeBar>& bars, double top);

/// A grid of shares 0..1, `columns` to a row; each cell's title is its number and share.
std::string heat_map(const std::vector<double>& shares, std::size_t columns, std::string_view cell_name);

}  // namespace tlmssd
