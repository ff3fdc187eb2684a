#include "testbench/host/load_instants.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

#include "models/base/suggest.h"

namespace tlmssd {

namespace {

/// "give it less startdelay or thinktime, more rate_iops, or fewer requests": of the options that
/// go with the load.
std::string shorter_by(const Load& load) {
  std::vector<std::string> less;
  for (const char* const option : {"startdelay", "ramp_time", "thinktime", "time_scale"}) {
    if (!load.keys_of({option}).empty()) less.emplace_back(option);
  }
  std::string text = "give it ";
  if (!less.empty()) text += "less " + any_of(less) + ", ";
  if (!load.keys_of({"rate_iops"}).empty()) text += "more rate_iops, ";
  return text + (text.ends_with(", ") ? "or " : "") + "fewer requests";
}

}  // namespace

LoadTooLong::LoadTooLong(const std::string& load, const std::string& key, const std::string& remedy)
    : InputError(objection(
          key, fmt::format("{} would go on after 53 days of simulated time, the most there can be; {}",
                           in_quotes(load), remedy))),
      load_(load) {}

Picoseconds begin_of(const Load& load, const std::vector<Picoseconds>& phase_begins) {
  return std::max(phase_begins[load.phase], later(phase_begins[load.phase - load.delay_phases], load.start));
}

void check_instant(const Load& load, Picoseconds when, const char* key) {
  if (when > k_last_request) throw LoadTooLong(load.name, key, shorter_by(load));
}

void check_clock(const Load& load, Picoseconds now) {
  if (now <= k_last_request) return;
  throw LoadTooLong(load.name, "", "its commands have taken so long, whatever it waits for between them");
}

namespace {

/// Requests after which look_ahead() sees whether k_drawn_ahead can matter.
constexpr std::uint64_t k_sample = 1'000;
constexpr Picoseconds k_samples = k_drawn_ahead / k_sample;

/// When `load` issues its last request at the earliest.
Picoseconds look_ahead(Load& load, const std::vector<Picoseconds>& phase_begins) {
  const Picoseconds phase_start = phase_begins[load.phase];
  const Picoseconds start = begin_of(load, phase_begins);
  check_instant(load, start, "startdelay");
  const Picoseconds ramp_end = later(start, load.ramp_time);
  if (load.ramp_time > 0) check_instant(load, ramp_end, "ramp_time");
  const Picoseconds stop = load.runtime == k_never ? k_never : later(ramp_end, load.runtime);
  PlacedRequest request;
  if (load.warm_up > k_drawn_ahead) return phase_start;
  for (std::uint64_t n = 0; n < load.warm_up; ++n) {
    if (!load.source->next(request)) return phase_start;
  }
  Picoseconds last = phase_start;
  Picoseconds first_time = 0;
  Picoseconds think_until = 0;
  // Before a pause, and after the last one: so many at most.
  const std::uint64_t between = std::uint64_t{std::max(load.think_blocks, 1U)} + load.queue_depth - 1;
  for (std::uint64_t n = 0; load.requests == 0 || n < load.requests; ++n) {
    // Where the requests so far follow each other too closely, as many would never get there.
    if (n == k_drawn_ahead || (n == k_sample && last - start < k_last_request / k_samples)) break;
    if (!load.source->next(request)) break;
    if (n == 0 && load.warm_up > 0) first_time = request.time;
    Picoseconds due = std::max(start, think_until);
    if (load.pacing == Pacing::open_loop) due = std::max(due, later(start, request.time - first_time));
    if (due >= stop) break;
    check_instant(load, due, due == think_until ? "thinktime" : "");
    last = due;
    if (load.think_time > 0 && load.queue_depth > 0 && (n + 1) % between == 0)
      think_until = later(due, load.think_time);
  }
  return last;
}

}  // namespace

void look_ahead(std::vector<Load>& loads) {
  std::vector<Picoseconds> begins = {0};
  std::uint32_t phases = 0;
  for (const Load& load : loads) phases = std::max(phases, load.phase + 1);
  for (std::uint32_t phase = 0; phase < phases; ++phase) {
    Picoseconds end = begins.back();
    for (Load& load : loads) {
      if (load.phase == phase) end = std::max(end, look_ahead(load, begins));
    }
    begins.push_back(end);
  }
}

}  // namespace tlmssd
