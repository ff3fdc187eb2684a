#include "testbench/measure/svg_charts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace tlmssd {
namespace {

constexpr double k_width = 720;
constexpr double k_height = 260;
constexpr double k_left = 78;
constexpr double k_right = 12;
constexpr double k_top = 10;
constexpr double k_bottom = 42;
constexpr std::size_t k_colours = 12;

template <class... Arguments>
void append(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

/// Maps values to places on an axis and chooses its ticks.
class Scale {
 public:
  Scale(double low, double high, bool logarithmic, double from, double to)
      : logarithmic_(logarithmic && low > 0 && high > low),
        low_(low),
        high_(high > low ? high : low + 1),
        from_(from),
        to_(to) {
    if (!logarithmic_) return;
    low_ = std::log10(low_);
    high_ = std::log10(high_);
  }
  [[nodiscard]] double at(double value) const {
    const double v = logarithmic_ ? std::log10(std::max(value, 1e-300)) : value;
    return from_ + std::clamp((v - low_) / (high_ - low_), 0.0, 1.0) * (to_ - from_);
  }
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> result;
    if (logarithmic_) {
      const bool fine = high_ - low_ < 2.5;
      for (double decade = std::floor(low_); decade <= high_; ++decade) {
        for (const double factor : {1.0, 2.0, 5.0}) {
          const double v = decade + std::log10(factor);
          if ((fine || factor == 1.0) && v >= low_ - 1e-9 && v <= high_ + 1e-9)
            result.push_back(factor * std::pow(10, decade));
        }
      }
      return result;
    }
    const double raw = (high_ - low_) / 5;
    const double power = std::pow(10, std::floor(std::log10(raw)));
    const double step = power * (raw / power > 5 ? 10 : raw / power > 2 ? 5 : raw / power > 1 ? 2 : 1);
    for (double v = std::ceil(low_ / step) * step; v <= high_ + step * 1e-9; v += step) result.push_back(v);
    return result;
  }

 private:
  bool logarithmic_;
  double low_;
  double high_;
  double from_;
  double to_;
};

std::string tick_text(const Axis& axis, double value) {
  return axis.text != nullptr ? axis.text(value) : fmt::format("{:g}", value);
}

void axes(std::string& svg, const Scale& x_scale, const Scale& y_scale, const Axis& x, const Axis& y) {
  for (const double tick : y_scale.ticks()) {
    const double at = y_scale.at(tick);
    append(svg, R"(<line class="grid" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", k_left, at,
           k_width - k_right, at);
    append(svg, R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", k_left - 6, at + 4,
           html_text(tick_text(y, tick)));
  }
  for (const double tick : x_scale.ticks()) {
    const double at = x_scale.at(tick);
    append(svg, R"(<line class="grid" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", at, k_top, at,
           k_height - k_bottom);
    append(svg, R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", at,
           k_height - k_bottom + 16, html_text(tick_text(x, tick)));
  }
  append(svg, R"(<text class="label" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)",
         (k_left + k_width - k_right) / 2, k_height - 6, html_text(x.label));
}

std::string legend(const std::vector<std::pair<std::string, std::size_t>>& entries) {
  std::string html = "<p class=\"legend\">";
  for (const auto& [name, colour] : entries) {
    append(html, R"(<span><i class="b{}"></i>{}</span> )", colour % k_colours, html_text(name));
  }
  return html + "</p>";
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string line_chart(const std::vector<Curve>& curves, const Axis& x, const Axis& y, double y_top) {
  double low = 0;
  double high = 0;
  bool first = true;
  for (const Curve& curve : curves) {
    for (const auto& [px, py] : curve.points) {
      if (x.logarithmic && px <= 0) continue;
      low = first ? px : std::min(low, px);
      high = first ? px : std::max(high, px);
      first = false;
      if (y_top <= 0 || py > y_top) y_top = std::max(y_top, py);
    }
  }
  if (first) return "<p>no data</p>";
  if (y_top <= 0) y_top = 1;
  const Scale x_scale(low, high, x.logarithmic, k_left, k_width - k_right);
  const Scale y_scale(0, y_top, false, k_height - k_bottom, k_top);
  std::string svg = fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{} over {}">)", k_width,
                                k_height, html_text(y.label), html_text(x.label));
  axes(svg, x_scale, y_scale, x, y);
  std::vector<std::pair<std::string, std::size_t>> names;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    append(svg, R"(<polyline class="c{}" points=")", i % k_colours);
    for (const auto& [px, py] : curves[i].points)
      append(svg, "{:.1f},{:.1f} ", x_scale.at(px), y_scale.at(py));
    svg += "\"/>";
    names.emplace_back(curves[i].name, i);
  }
  return "<p class=\"label\">" + html_text(y.label) + "</p>" + svg + "</svg>" + legend(names);
}

std::string stacked_bars(const std::vector<StackedBar>& bars) {
  static constexpr double k_row = 30;
  static constexpr double k_label = 190;
  std::string svg = fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="shares">)", k_width,
                                k_row * static_cast<double>(bars.size()) + 4);
  std::vector<std::pair<std::string, std::size_t>> names;
  double top = 4;
  for (const StackedBar& bar : bars) {
    append(svg, R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", k_label - 8,
           top + 16, html_text(bar.label));
    double left = k_label;
    for (const BarPart& part : bar.parts) {
      const double width = part.share * (k_width - k_label - k_right);
      append(
          svg,
          R"(<rect class="f{}" x="{:.2f}" y="{:.1f}" width="{:.2f}" height="22"><title>{} {:.1f} %</title></rect>)",
          part.colour % k_colours, left, top, std::max(width, 0.0), html_text(part.name), part.share * 100);
      left += width;
      const std::pair<std::string, std::size_t> entry{part.name, part.colour};
      if (std::find(names.begin(), names.end(), entry) == names.end()) names.push_back(entry);
    }
    top += k_row;
  }
  return svg + "</svg>" + legend(names);
}

std::string range_bars(const std::vector<RangeBar>& bars, double top) {
  static constexpr double k_row = 24;
  static constexpr double k_label = 260;
  const double full = k_width - k_label - 90;
  std::string svg = fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="bars">)", k_width,
                                k_row * static_cast<double>(bars.size()) + 4);
  const auto place = [&](double value) {
    return k_label + std::clamp(top > 0 ? value / top : 0, 0.0, 1.0) * full;
  };
  double y = 4;
  for (const RangeBar& bar : bars) {
    append(svg, R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", k_label - 8,
           y + 13, html_text(bar.label));
    append(svg, R"(<rect class="bed" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="16"/>)", k_label, y, full);
    append(svg, R"(<rect class="f0" x="{:.1f}" y="{:.1f}" width="{:.2f}" height="16"/>)", k_label, y,
           place(bar.mean) - k_label);
    if (bar.high > bar.low) {
      append(svg, R"(<line class="spread" x1="{:.2f}" y1="{:.1f}" x2="{:.2f}" y2="{:.1f}"/>)", place(bar.low),
             y + 8, place(bar.high), y + 8);
    }
    append(svg, R"(<text class="tick" x="{:.1f}" y="{:.1f}">{}</text>)", k_label + full + 8, y + 13,
           html_text(bar.text));
    y += k_row;
  }
  return svg + "</svg>";
}

std::string heat_map(const std::vector<double>& shares, std::size_t columns, std::string_view cell_name) {
  columns = std::max<std::size_t>(1, columns);
  const std::size_t rows = (shares.size() + columns - 1) / columns;
  const double cell = std::clamp(k_width / static_cast<double>(columns), 6.0, 40.0);
  std::string svg = fmt::format(
      R"(<svg viewBox="0 0 {:.1f} {:.1f}" style="max-width:{:.0f}px" role="img" aria-label="heat map">)",
      cell * static_cast<double>(columns), cell * static_cast<double>(rows),
      cell * static_cast<double>(columns));
  for (std::size_t i = 0; i < shares.size(); ++i) {
    append(
        svg,
        R"(<rect class="heat" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill-opacity="{:.3f}"><title>{} {}: {:.1f} %</title></rect>)",
        cell * static_cast<double>(i % columns), cell * static_cast<double>(i / columns), cell - 1, cell - 1,
        0.04 + 0.96 * std::clamp(shares[i], 0.0, 1.0), html_text(cell_name), i, shares[i] * 100);
  }
  return svg + "</svg>";
}

}  // namespace tlmssd
