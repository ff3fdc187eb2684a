#include "testbench/measure/slowest.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace tlmssd {
namespace {

/// Whether `a` is rather kept than `b`: any two commands of a run differ in one of these.
bool slower(const SlowCommand& a, const SlowCommand& b) {
  if (a.latency != b.latency) return a.latency > b.latency;
  return std::tie(a.submitted, a.load, a.lba, a.bytes) < std::tie(b.submitted, b.load, b.lba, b.bytes);
}

constexpr auto k_slower = [](const SlowCommand* a, const SlowCommand* b) { return slower(*a, *b); };

}  // namespace

void SlowestCommands::add(const SlowCommand& command) {
  const auto before = [this](std::uint16_t a, std::uint16_t b) { return slower(commands_[a], commands_[b]); };
  if (commands_.size() == k_most) {
    if (!slower(command, commands_[heap_.front()])) return;
    std::pop_heap(heap_.begin(), heap_.end(), before);
    commands_[heap_.back()] = command;
  } else {
    heap_.push_back(static_cast<std::uint16_t>(commands_.size()));
    commands_.push_back(command);
  }
  std::push_heap(heap_.begin(), heap_.end(), before);
}

void SlowestCommands::merge(const SlowestCommands& other) {
  for (const SlowCommand& command : other.commands_) add(command);
}

Picoseconds SlowestCommands::latency(std::size_t place) const {
  std::vector<Picoseconds> latencies;
  latencies.reserve(commands_.size());
  for (const SlowCommand& command : commands_) latencies.push_back(command.latency);
  const auto found = latencies.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(latencies.begin(), found, latencies.end(), std::greater<>());
  return *found;
}

std::vector<const SlowCommand*> SlowestCommands::all() const {
  std::vector<const SlowCommand*> commands;
  commands.reserve(commands_.size());
  for (const SlowCommand& command : commands_) commands.push_back(&command);
  return commands;
}

std::vector<const SlowCommand*> SlowestCommands::between(std::size_t first, std::size_t last) const {
  std::vector<const SlowCommand*> commands = all();
  const auto begin = commands.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = commands.begin() + static_cast<std::ptrdiff_t>(last);
  std::nth_element(commands.begin(), begin, commands.end(), k_slower);
  std::nth_element(begin, end, commands.end(), k_slower);
  return {begin, end + 1};
}

std::vector<const SlowCommand*> SlowestCommands::sorted() const {
  std::vector<const SlowCommand*> commands = all();
  std::sort(commands.begin(), commands.end(), k_slower);
  return commands;
}

}  // namespace tlmssd
