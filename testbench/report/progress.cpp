#include "testbench/report/progress.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "models/base/quantity_text.h"

namespace tlmssd {

namespace {

/// "1:02:03", or "2:03".
std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string label, std::uint64_t total, Shows shows)
    : label_(std::move(label)),
      total_(total),
      next_(shows == Shows::bar || (shows == Shows::estimate && total != 0) ? 1 : ~std::uint64_t{0}),
      shows_(shows),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::Shows Progress::on_stderr() {
  return isatty(STDERR_FILENO) != 0 ? Shows::bar : Shows::estimate;
}

Progress::~Progress() {
  finish();
}

std::string Progress::line(std::uint64_t done, Picoseconds now, double elapsed) const {
  static constexpr std::uint64_t k_width = 24;
  const std::string when = now > 0 ? ", simulated " + time_text(static_cast<double>(now)) : std::string();
  const std::string rate =
      elapsed > 0 ? fmt::format(", {}/s", count_text(static_cast<double>(done) / elapsed)) : "";
  if (total_ == 0)
    return fmt::format("{} {}{}{}, {:.0f} s", label_, count_text(static_cast<double>(done)), rate, when,
                       elapsed);
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const auto filled = static_cast<std::size_t>(share * k_width);
  const std::string left = share > 0 ? clock_text(elapsed * (1 - share) / share) : "?";
  return fmt::format("{} [{}{}] {:3.0f} % of {}{}{}, {} left", label_, std::string(filled, '#'),
                     std::string(k_width - filled, '.'), share * 100, count_text(static_cast<double>(total_)),
                     rate, when, left);
}

std::string Progress::estimate(std::uint64_t done, double elapsed) const {
  constexpr double k_long = 60;
  if (total_ == 0 || done == 0) return {};
  const double all = elapsed * static_cast<double>(total_) / static_cast<double>(done);
  if (all < k_long) return {};
  return fmt::format("{}: {} requests, about {} in all", label_, count_text(static_cast<double>(total_)),
                     clock_text(all));
}

/// Shows ten times a second at most, and aims the next look at the clock at a fifth of that.
void Progress::show(std::uint64_t done, Picoseconds now) {
  const auto present = std::chrono::steady_clock::now();
  const double since = std::chrono::duration<double>(present - last_).count();
  const std::uint64_t steps = std::max<std::uint64_t>(1, done - std::min(done, shown_at_));
  next_ = done + std::clamp<std::uint64_t>(
                     static_cast<std::uint64_t>(static_cast<double>(steps) * 0.02 / std::max(since, 1e-6)), 1,
                     std::uint64_t{1} << 20U);
  if (since < 0.1) return;
  if (shows_ == Shows::estimate) {
    constexpr double k_seen = 2;  // seconds of work that an estimate needs
    const double elapsed = std::chrono::duration<double>(present - start_).count();
    if (elapsed < k_seen) return;
    next_ = ~std::uint64_t{0};
    if (const std::string text = estimate(done, elapsed); !text.empty())
      std::fprintf(stderr, "%s\n", text.c_str());
    return;
  }
  last_ = present;
  shown_at_ = done;
  visible_ = true;
  const std::string text = line(done, now, std::chrono::duration<double>(present - start_).count());
  std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
  std::fflush(stderr);
}

void Progress::finish() {
  if (visible_) std::fprintf(stderr, "\r\x1b[K");
  visible_ = false;
}

}  // namespace tlmssd
