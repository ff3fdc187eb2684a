#include "platform/durable_writes.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace tlmssd {

template <class Work>
void DurableWrites::each_block(const HostCommand& command, Work work) {
  if (command.opcode == HostOpcode::read || command.opcode == HostOpcode::flush) return;
  const auto each = [&](std::uint64_t lba, std::uint64_t blocks) {
    for (std::uint64_t i = 0; i < blocks; ++i) work(lba + i, i);
  };
  if (command.ranges().empty()) {
    each(command.lba, command.blocks);
  } else {
    for (const LbaRange& range : command.ranges()) each(range.lba, range.blocks);
  }
}

void DurableWrites::drop_if_done(Blocks::iterator block) {
  if (block->second.under_way == 0 && !block->second.waits) blocks_.erase(block);
}

void DurableWrites::submitted(const HostCommand& command, std::uint64_t number) {
  ++events_;
  if (command.opcode == HostOpcode::flush) flushes_.emplace(number, events_);
  const bool write = command.opcode == HostOpcode::write;
  each_block(command, [&](std::uint64_t lba, std::uint64_t i) {
    Block& block = blocks_[lba];
    block.waits = write && block.under_way == 0;
    ++block.under_way;
    block.stamp = write ? command.data()[i] : k_zeros;
    block.writer = number;
    block.completed = 0;
  });
}

std::string DurableWrites::completed(const HostCommand& command, std::uint64_t number) {
  ++events_;
  const bool success = command.status == HostStatus::success;
  const bool at_once = command.force_unit_access && command.opcode == HostOpcode::write;
  std::optional<std::uint64_t> missing;
  each_block(command, [&](std::uint64_t lba, std::uint64_t) {
    const auto at = blocks_.find(lba);
    Block& block = at->second;
    --block.under_way;
    if (block.waits && block.writer == number) {
      if (success && at_once && !missing) missing = lba;
      block.waits = success;
      block.completed = events_;
    }
    drop_if_done(at);
  });
  if (missing)
    return fmt::format("completes a write with force unit access before LBA {} of it is on flash", *missing);
  if (command.opcode != HostOpcode::flush) return {};
  const std::uint64_t asked = flushes_.extract(number).mapped();
  if (!success) return {};
  for (const auto& [lba, block] : blocks_) {
    if (block.waits && block.completed != 0 && block.completed < asked)
      return fmt::format("completes a flush before LBA {}, whose write had completed, is on flash", lba);
  }
  return {};
}

std::string DurableWrites::drained() const {
  const auto missing = std::find_if(blocks_.begin(), blocks_.end(), [](const auto& block) {
    return block.second.waits && block.second.completed != 0;
  });
  if (missing == blocks_.end()) return {};
  return fmt::format("says that it is drained before LBA {}, whose write had completed, is on flash",
                     missing->first);
}

void DurableWrites::programmed(Lpn unit, std::span<const Stamp> stamps) {
  const std::uint64_t first = std::uint64_t{unit} * blocks_per_unit_;
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    const auto at = blocks_.find(first + i);
    if (at == blocks_.end() || at->second.stamp != stamps[i]) continue;
    at->second.waits = false;
    drop_if_done(at);
  }
}

}  // namespace tlmssd
