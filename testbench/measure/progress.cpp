#include "testbench/measure/progress.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "testbench/measure/quantities.h"

namespace tlmssd {

Progress::Progress(std::string label, std::uint64_t total, bool terminal)
    : label_(std::move(label)),
      total_(total),
      next_(terminal ? 1 : ~std::uint64_t{0}),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::Progress(std::string label, std::uint64_t total)
    : Progress(std::move(label), total, isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  finish();
}

std::string Progress::line(std::uint64_t done, Picoseconds now, double elapsed) const {
  static constexpr std::uint64_t k_width = 24;
  const std::string when = now > 0 ? ", simulated " + time_text(static_cast<double>(now)) : std::string();
  if (total_ == 0)
    return fmt::format("{} {}{}, {:.0f} s", label_, count_text(static_cast<double>(done)), when, elapsed);
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const auto filled = static_cast<std::size_t>(share * k_width);
  std::string left = "?";
  if (share > 0) {
    const auto seconds = static_cast<std::uint64_t>(elapsed * (1 - share) / share + 0.5);
    left = seconds >= 3600 ? fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
                           : fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  }
  return fmt::format("{} [{}{}] {:3.0f} %{}, {} left", label_, std::string(filled, '#'),
                     std::string(k_width - filled, '.'), share * 100, when, left);
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
