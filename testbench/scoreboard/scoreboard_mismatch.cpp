// What a wrong read returned instead: older content, zeros, another block's content. Off the hot
// path.
#include <algorithm>
#include <string>

#include "testbench/scoreboard/scoreboard.h"

namespace tlmssd {
std::string Mismatch::text() const {
  std::string line = "read of " + std::to_string(blocks) + " blocks at LBA " + std::to_string(first_lba) +
                     " is wrong at LBA " + std::to_string(lba) + ": ";
  switch (kind) {
    case Kind::lost_write:
      line += "the last write to it is lost (content is 1 write old)";
      break;
    case Kind::stale:
      line += "stale content, " + std::to_string(writes_old) + " writes old";
      break;
    case Kind::not_trimmed:
      line += "old content where zeros are due (trimmed or never written)";
      break;
    case Kind::zeros:
      line += "zeros where written content is due";
      break;
    case Kind::other_address:
      line += "content of LBA " + std::to_string(other_lba);
      break;
    case Kind::unknown:
      line += "content that explains itself in no way";
      break;
  }
  line += " (stamp " + std::to_string(got) + ", expected ";
  for (std::size_t i = 0; i < expected.size(); ++i)
    line += (i == 0 ? "" : " or ") + std::to_string(expected[i]);
  return line + ")";
}

/// The newest write's sequence number in a block's unit; 0 when it was never written.
std::uint16_t Scoreboard::latest(std::uint64_t lba) const {
  const std::uint64_t unit = units_.unit_of(lba);
  const std::uint16_t state = states_.read(unit);
  return state == k_in_side ? side_[side_.find(unit)].last : static_cast<std::uint16_t>(state & k_sequence);
}

/// All that a read from `begin` to `now` might have returned at `lba`.
void Scoreboard::collect_expected(std::uint64_t lba, std::uint64_t begin, std::uint64_t now) {
  std::vector<Stamp>& expected = mismatch_.expected;
  expected.clear();
  const std::uint64_t unit = units_.unit_of(lba);
  const std::uint16_t state = states_.read(unit);
  if (state != k_in_side) {
    expected.push_back(units_.stamp(lba, value_of(state)));
    return;
  }
  const SideTable::Index side = side_.find(unit);
  const auto block = static_cast<std::uint32_t>(lba - units_.first_block(unit));
  if (!side_[side].contended()) {
    expected.push_back(units_.stamp(lba, side_.states(side)[block]));
    return;
  }
  side_.lists(side, block, 1)[0].for_each_possible(begin, now, [&](std::uint16_t value) {
    const Stamp possible = units_.stamp(lba, value);
    if (std::find(expected.begin(), expected.end(), possible) == expected.end()) expected.push_back(possible);
  });
}

void Scoreboard::explain(const Ticket& ticket, std::uint64_t lba, Stamp got, std::span<const Stamp> data,
                         std::uint64_t now) {
  static constexpr std::uint64_t k_near = 64;
  mismatch_ = Mismatch{};
  mismatch_.lba = lba;
  mismatch_.got = got;
  mismatch_.first_lba = ticket.lba();
  mismatch_.blocks = data.size();
  collect_expected(lba, ticket.begin(), now);
  if (got == k_zeros) {
    mismatch_.kind = Mismatch::Kind::zeros;
    return;
  }
  const std::uint16_t newest = latest(lba);
  const std::uint16_t sequence = units_.sequence_of(lba, got, newest);
  if (sequence != 0) {
    // Writes behind the newest content that was due.
    std::uint16_t due = 0;
    for (const Stamp stamp : mismatch_.expected) due = std::max(due, units_.sequence_of(lba, stamp, newest));
    mismatch_.writes_old = due > sequence ? static_cast<std::uint32_t>(due - sequence) : 0U;
    mismatch_.kind = due == 0                    ? Mismatch::Kind::not_trimmed
                     : mismatch_.writes_old == 1 ? Mismatch::Kind::lost_write
                                                 : Mismatch::Kind::stale;
    return;
  }
  // A neighbour's content, present or the one before?
  const std::uint64_t from = ticket.lba() > k_near ? ticket.lba() - k_near : 0;
  const std::uint64_t until = std::min(units_.blocks(), ticket.end() + k_near);
  for (std::uint64_t other = from; other < until; ++other) {
    const std::uint16_t present = latest(other);
    if (other == lba || present == 0) continue;
    const auto previous = static_cast<std::uint16_t>(present - 1);
    if (got != units_.stamp(other, present) && (previous == 0 || got != units_.stamp(other, previous)))
      continue;
    mismatch_.kind = Mismatch::Kind::other_address;
    mismatch_.other_lba = other;
    return;
  }
}

}  // namespace tlmssd
