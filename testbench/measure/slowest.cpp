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
  if (heap_.size() == k_most) {
    if (!slower(command, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), slower);
    heap_.back() = command;
  } else {
    heap_.push_back(command);
  }
  std::push_heap(heap_.begin(), heap_.end(), slower);
}

void SlowestCommands::merge(const SlowestCommands& other) {
  for (const SlowCommand& command : other.heap_) add(command);
}

std::vector<const SlowCommand*> SlowestCommands::sorted() const {
  std::vector<const SlowCommand*> commands;
  commands.reserve(heap_.size());
  for (const SlowCommand& command : heap_) commands.push_back(&command);
  std::sort(commands.begin(), commands.end(),
            [](const SlowCommand* a, const SlowCommand* b) { return slower(*a, *b); });
  return commands;
}

}  // namespace tlmssd
