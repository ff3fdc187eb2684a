// What a drive is like at this moment, as JSON and as text: what tlmssd inspect and a break show.
//
// Overview: time, commands under way and what each waits for, dies, write buffer, free pool, blocks
// by state, wear; and whether the map, the valid bits, the valid counts and the spare areas agree.
// On request the blocks one by one, a part of the map, and where one logical block is. Nothing is
// changed by looking, and no time passes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "testbench/app/simulation.h"

namespace tlmssd {

struct StateQuery {
  bool overview = true;
  bool blocks = false;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> map;  ///< first and last LPN
  std::optional<std::uint64_t> lba;
};

/// "5", or "5-9". Throws InputError naming `option`.
std::pair<std::uint64_t, std::uint64_t> parse_range(const std::string& option, const std::string& text);

/// Throws InputError, which begins with `option`, when the drive has not what is asked for.
void check_query(const StateQuery& query, const Ssd& ssd, const std::string& option);

/// `query` must have passed check_query().
nlohmann::ordered_json drive_state(Simulation& simulation, const StateQuery& query);
std::string state_text(const nlohmann::ordered_json& state);

}  // namespace tlmssd
