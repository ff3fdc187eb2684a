#include "testbench/measure/slowest.h"

#include <algorithm>
#include <tuple>

namespace tlmssd {
namespace {

/// Whether `a` is rather kept than `b`: any two commands of a run differ in one of these.
bool slower(const SlowCommand& a, const SlowCommand& b) {
  if (a.latency != b.latency) return a.latency > b.latency;
  return std::tie(a.submitted, a.load, a.lba, a.bytes) < std::tie(b.submitted, b.load, b.lba, b.bytes);
}

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

std::vector<const SlowCommand*> SlowestCommands::sorted() const {
  std::vector<const SlowCommand*> commands;
  commands.reserve(commands_.size());
  for (const SlowCommand& command : commands_) commands.push_back(&command);
  std::sort(commands.begin(), commands.end(),
            [](const SlowCommand* a, const SlowCommand* b) { return slower(*a, *b); });
  return commands;
}

}  // namespace tlmssd
