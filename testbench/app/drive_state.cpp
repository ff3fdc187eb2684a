#include "testbench/app/drive_state.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <vector>

#include "firmware/blocks/block_pool.h"
#include "firmware/mapping/mapping.h"
#include "models/base/input_error.h"
#include "models/base/suggest.h"

namespace tlmssd {

namespace {

using firmware::BlockInfo;
using firmware::BlockNumber;
using firmware::BlockPool;
using firmware::BlockState;
using firmware::Layout;
using firmware::MappingScheme;
using firmware::Ppn;
using Json = nlohmann::ordered_json;

constexpr std::size_t k_most_problems = 10;
constexpr std::size_t k_most_lines = 32;  ///< of a table of parallel units or dies, in text

const char* name_of(BlockState state) {
  constexpr const char* k_names[] = {"free", "open", "closed", "victim", "grown bad", "retired"};
  return k_names[static_cast<std::size_t>(state)];
}

/// Where a physical unit lies in its die.
struct Spot {
  DieId die;
  PlaneId plane;
  BlockId block;
  PageId page;
  std::uint32_t unit;
};

Spot spot_of(const Layout& layout, Ppn where) {
  const BlockNumber block = layout.block_of(where);
  const std::uint32_t pu = layout.pu_of(block);
  const std::uint32_t mp_page = layout.mp_page_of(where);
  const std::uint32_t at = layout.in_mp_page(where, mp_page);
  const Layout::Place place = layout.place_of(mp_page - block * layout.block_mp_pages);
  return {layout.die_of(pu, place.stripe_die),
          static_cast<PlaneId>(index(layout.plane_of(pu)) + at / layout.units_per_page),
          static_cast<BlockId>(block - pu * layout.blocks), static_cast<PageId>(place.page),
          at % layout.units_per_page};
}

Json dies(Ssd& ssd) {
  Json all = Json::array();
  for (std::uint32_t die = 0; die < ssd.shape().geometry.dies(); ++die) {
    const auto& controller = ssd.flash().controller();
    const std::uint32_t pending = controller.pending(static_cast<DieId>(die));
    const std::uint32_t writing = controller.writing(static_cast<DieId>(die));
    all.push_back({{"die", die}, {"reads", pending - writing}, {"programs_and_erases", writing}});
  }
  return all;
}

/// What is known whichever firmware the drive has.
Json outside(Simulation& simulation) {
  Ssd& ssd = simulation.ssd();
  return {{"time_ps", ssd.event_queue().now()},
          {"events", ssd.event_queue().executed()},
          {"user_bytes", simulation.drive_size().bytes},
          {"commands",
           {{"completed", simulation.driver().completed()},
            {"outstanding", simulation.driver().outstanding()},
            {"host", simulation.driver().describe_outstanding()},
            {"firmware", ssd.describe_stall()}}},
          {"dies", dies(ssd)}};
}

/// Of our own firmware.
class Inspection {
 public:
  explicit Inspection(Simulation& simulation)
      : simulation_(simulation),
        ssd_(simulation.ssd()),
        map_(ssd_.ftl().map()),
        pool_(ssd_.ftl().blocks()),
        layout_(pool_.layout()) {}

  [[nodiscard]] Json overview() {
    Json state = outside(simulation_);
    state["read_only"] = ssd_.ftl().read_only();
    state["buffer"] = {{"units", ssd_.ftl().buffered_units()}};
    state["parallel_units"] = parallel_units();
    std::map<std::string, std::uint64_t> states;
    std::map<std::uint32_t, std::uint64_t> erases;
    for_each_block([&](BlockNumber block) {
      ++states[state_of(block)];
      ++erases[pool_.info(block).erases];
    });
    state["block_states"] = states;
    for (const auto& [count, blocks] : erases)
      state["wear"].push_back({{"erases", count}, {"blocks", blocks}});
    state["cycles_before"] = ssd_.flash().die(DieId{0}).state().cycles_before();
    state["consistency"] = consistency();
    return state;
  }

  [[nodiscard]] Json blocks() const {
    std::map<std::uint32_t, std::string> targets;
    for (std::uint32_t pu = 0; pu < layout_.pus; ++pu) {
      pool_.for_each_target(pu, [&](firmware::WriteTarget target, const BlockPool::Frontier& front) {
        targets[front.block] = firmware::name_of(target);
      });
      if (has_slc() && !pool_.slc(pu).open.none()) targets[pool_.slc(pu).open] = "SLC";
    }
    Json all = Json::array();
    for_each_block([&](BlockNumber block) {
      if (!pool_.used(block)) return;
      const BlockInfo& info = pool_.info(block);
      Json one = {{"block", std::uint32_t{block}}, {"pu", layout_.pu_of(block)},
                  {"state", state_of(block)},      {"mode", info.mode == BlockMode::slc ? "slc" : "native"},
                  {"valid", info.valid},           {"units", layout_.units_of_block(info.mode)},
                  {"erases", info.erases},         {"programs_in_flight", info.in_flight}};
      if (info.state != BlockState::free)
        one["age_s"] = static_cast<double>(ssd_.ftl().clock() - info.written) * 1e-9;
      if (const auto target = targets.find(block); target != targets.end()) one["target"] = target->second;
      all.push_back(std::move(one));
    });
    return all;
  }

  [[nodiscard]] Json map_part(std::uint64_t first, std::uint64_t last) const {
    Json lines = Json::array();
    const std::uint64_t end = std::min<std::uint64_t>(last, layout_.kept_units() - 1);
    for (std::uint64_t unit = ssd_.ftl().next_touched(first, end + 1); unit <= end;
         unit = ssd_.ftl().next_touched(unit + 1, end + 1)) {
      if (map_.lookup(static_cast<Lpn>(unit)).valid()) lines.push_back(place_of(static_cast<Lpn>(unit)));
    }
    return lines;
  }

  [[nodiscard]] Json what_is_at(std::uint64_t lba) const {
    const auto unit = static_cast<Lpn>(lba / layout_.sectors);
    Json state = {{"lba", lba}, {"sector", lba % layout_.sectors}};
    state.update(place_of(unit));
    return state;
  }

 private:
  [[nodiscard]] bool has_slc() const { return ssd_.ftl().pslc_room().has_value(); }

  template <class F>
  void for_each_block(F f) const {
    for (std::uint32_t n = 0; n < layout_.total_blocks(); ++n) f(BlockNumber(n));
  }

  [[nodiscard]] std::string state_of(BlockNumber block) const {
    return pool_.used(block) ? name_of(pool_.info(block).state) : "never used";
  }

  [[nodiscard]] Json parallel_units() const {
    Json all = Json::array();
    for (std::uint32_t n = 0; n < layout_.pus; ++n) {
      const BlockPool::ParallelUnit& pu = pool_.pu(n);
      Json one = {
          {"pu", n},           {"free", pu.free},       {"good", pu.good},          {"failing", pu.failing},
          {"valid", pu.valid}, {"invalid", pu.invalid}, {"in_flight", pu.in_flight}};
      pool_.for_each_target(n, [&](firmware::WriteTarget target, const BlockPool::Frontier& front) {
        one["open"].push_back({{"target", firmware::name_of(target)},
                               {"block", std::uint32_t{front.block}},
                               {"programs", front.next},
                               {"of", layout_.programs_per_block}});
      });
      all.push_back(std::move(one));
    }
    return all;
  }

  [[nodiscard]] Lpn spare_at(Ppn where) const {
    const Spot spot = spot_of(layout_, where);
    return ssd_.flash().die(spot.die).state().spare(spot.plane, spot.block, spot.page, spot.unit);
  }

  [[nodiscard]] Json place_of(Lpn unit) const {
    const Ppn where = map_.lookup(unit);
    Json place = {{"lpn", unit}, {"ppn", where.valid() ? Json(where.number()) : Json()}};
    if (!where.valid()) return place;
    const BlockNumber block = layout_.block_of(where);
    const Spot spot = spot_of(layout_, where);
    const Lpn spare = spare_at(where);
    place["block"] = std::uint32_t{block};
    place["block_state"] = state_of(block);
    place["erases"] = pool_.info(block).erases;
    place["die"] = index(spot.die);
    place["plane"] = index(spot.plane);
    place["page"] = index(spot.page);
    place["unit"] = spot.unit;
    place["valid"] = pool_.valid(where);
    place["spare_area"] = spare == k_no_unit ? Json() : Json(spare);
    return place;
  }

  /// The map against valid bits and spare areas, valid bits against valid counts.
  [[nodiscard]] Json consistency() const {
    std::uint64_t mapped = 0;
    std::uint64_t wrong = 0;
    Json problems = Json::array();
    const auto complain = [&](const std::string& text) {
      ++wrong;
      if (problems.size() < k_most_problems) problems.push_back(text);
    };
    const bool whole = map_.block_units() > 0;  // such a block keeps slots that hold nothing
    std::vector<std::uint32_t> in_block(layout_.total_blocks());
    std::vector<bool> taken(layout_.total_units());
    const std::uint64_t end = layout_.kept_units();
    for (std::uint64_t n = ssd_.ftl().next_touched(0, end); n < end;
         n = ssd_.ftl().next_touched(n + 1, end)) {
      const auto unit = static_cast<Lpn>(n);
      const Ppn where = map_.lookup(unit);
      if (!where.valid()) continue;
      ++mapped;
      if (where.number() >= layout_.total_units()) {
        complain(fmt::format("LPN {} is mapped beyond the flash, to PPN {}", unit, where.number()));
        continue;
      }
      ++in_block[layout_.block_of(where)];
      if (taken[where.number()])
        complain(fmt::format("PPN {} is mapped twice, also by LPN {}", where.number(), unit));
      taken[where.number()] = true;
      if (!pool_.valid(where))
        complain(fmt::format("LPN {} is mapped to PPN {} in block {}, where nothing is valid", unit,
                             where.number(), std::uint32_t{layout_.block_of(where)}));
      const Lpn spare = spare_at(where);
      if (spare == unit) continue;
      complain(fmt::format("LPN {} is mapped to PPN {} in block {}, whose spare area says {}", unit,
                           where.number(), std::uint32_t{layout_.block_of(where)},
                           spare == k_no_unit ? "nothing" : "LPN " + std::to_string(spare)));
    }
    for_each_block([&](BlockNumber block) {
      std::uint32_t bits = 0;
      for (std::uint32_t word = 0; word < (layout_.block_units + 63) / 64; ++word)
        bits += static_cast<std::uint32_t>(std::popcount(pool_.words(block)[word]));
      const std::uint32_t valid = pool_.info(block).valid;
      if (bits != valid)
        complain(
            fmt::format("block {} counts {} valid units and marks {}", std::uint32_t{block}, valid, bits));
      if (!whole && in_block[block] != valid)
        complain(fmt::format("block {} counts {} valid units, and the map has {} there", std::uint32_t{block},
                             valid, in_block[block]));
    });
    return {{"mapped", mapped}, {"consistent", wrong == 0}, {"problems", wrong}, {"first", problems}};
  }

  Simulation& simulation_;
  Ssd& ssd_;
  const MappingScheme& map_;
  const BlockPool& pool_;
  const Layout& layout_;
};

// ---- as text

std::string seconds(const Json& picoseconds) {
  return fmt::format("{:.9f} s", picoseconds.get<double>() * 1e-12);
}

std::string text_of(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.dump();
}

/// Columns as wide as what stands in them, with two blanks between.
std::string table(const Json& rows, const std::vector<std::string>& columns, std::size_t most) {
  std::vector<std::size_t> widths;
  for (const std::string& column : columns) {
    std::size_t width = column.size();
    for (const Json& row : rows)
      width = std::max(width, row.contains(column) ? text_of(row[column]).size() : 1);
    widths.push_back(width);
  }
  std::string text;
  const auto line = [&](const auto& field) {
    std::string one;
    for (std::size_t i = 0; i < columns.size(); ++i)
      one += fmt::format("  {:>{}}", field(columns[i]), widths[i]);
    text += one + "\n";
  };
  line([](const std::string& column) { return column; });
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i)
    line([&](const std::string& column) {
      return rows[i].contains(column) ? text_of(rows[i][column]) : std::string("-");
    });
  if (rows.size() > most) text += fmt::format("  and {} more (--json - has all)\n", rows.size() - most);
  return text;
}

std::string inside_text(const Json& state) {
  std::string text = fmt::format("write buffer: {} units{}\n", state["buffer"]["units"].dump(),
                                 state["read_only"].get<bool>() ? "; the drive is read-only" : "");
  text += "free pool, by parallel unit:\n";
  Json units = state["parallel_units"];
  for (Json& unit : units) {
    std::string open;
    for (const Json& one : unit.value("open", Json::array()))
      open += fmt::format("{}{}: {} ({} of {})", open.empty() ? "" : ", ", one["target"].get<std::string>(),
                          one["block"].dump(), one["programs"].dump(), one["of"].dump());
    unit["open"] = open.empty() ? Json() : Json(open);
  }
  text +=
      table(units, {"pu", "free", "good", "failing", "valid", "invalid", "in_flight", "open"}, k_most_lines);
  text += "blocks:";
  for (const auto& [name, count] : state["block_states"].items())
    text += fmt::format(" {} {}", count.dump(), name);
  text += "\nwear";
  if (state["cycles_before"] != 0)
    text += fmt::format(" since age, beside its {} cycles of every block", state["cycles_before"].dump());
  text += ":\n" + table(state["wear"], {"erases", "blocks"}, k_most_lines);
  const Json& consistency = state["consistency"];
  text += fmt::format("consistency: {} units mapped; ", consistency["mapped"].dump());
  if (consistency["consistent"].get<bool>())
    return text + "map, valid bits, valid counts and spare areas agree\n";
  text += fmt::format("{} contradictions\n", consistency["problems"].dump());
  for (const Json& problem : consistency["first"]) text += "  " + problem.get<std::string>() + "\n";
  return text;
}

std::string overview_text(const Json& state) {
  std::string text = fmt::format("time {}, {} events; the host has {} B\n", seconds(state["time_ps"]),
                                 state["events"].dump(), state["user_bytes"].dump());
  const Json& commands = state["commands"];
  const std::string all = commands["completed"].dump();
  const std::string of_run =
      commands.contains("completed_in_run") ? commands["completed_in_run"].dump() : all;
  text += fmt::format("host: {} commands completed{}, {}\n", of_run,
                      of_run == all ? "" : fmt::format(" ({} with those before the run)", all),
                      commands["host"].get<std::string>());
  text += state["commands"]["firmware"].get<std::string>();
  if (!text.ends_with('\n')) text += '\n';
  Json busy = Json::array();
  for (const Json& die : state["dies"]) {
    if (die["reads"] != 0 || die["programs_and_erases"] != 0) busy.push_back(die);
  }
  text += fmt::format("dies: {} of {} busy\n", busy.size(), state["dies"].size());
  if (!busy.empty()) text += table(busy, {"die", "reads", "programs_and_erases"}, k_most_lines);
  return state.contains("parallel_units") ? text + inside_text(state) : text;
}

std::string lba_text(const Json& place) {
  if (place["ppn"].is_null())
    return fmt::format("LBA {} is in LPN {}, which is mapped nowhere\n", place["lba"].dump(),
                       place["lpn"].dump());
  return fmt::format(
      "LBA {} is sector {} of LPN {}: PPN {}, {}; in block {} ({}, {} erases): die {}, plane {}, page {}, "
      "unit "
      "{}; its spare area says {}\n",
      place["lba"].dump(), place["sector"].dump(), place["lpn"].dump(), place["ppn"].dump(),
      place["valid"].get<bool>() ? "valid" : "NOT VALID", place["block"].dump(),
      place["block_state"].get<std::string>(), place["erases"].dump(), place["die"].dump(),
      place["plane"].dump(), place["page"].dump(), place["unit"].dump(),
      place["spare_area"].is_null() ? "nothing" : "LPN " + place["spare_area"].dump());
}

}  // namespace

std::pair<std::uint64_t, std::uint64_t> parse_range(const std::string& option, const std::string& text) {
  const std::size_t dash = text.find('-');
  const auto number = [&](std::string_view part) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error == std::errc::result_out_of_range)
      throw InputError(fmt::format("{}: {} is too large, expected at most {}", option, part,
                                   std::numeric_limits<std::uint64_t>::max()));
    if (error != std::errc() || end != part.data() + part.size())
      throw InputError(option + ": " + in_quotes(text) + " is no range, expected a number, or FIRST-LAST");
    return value;
  };
  const std::uint64_t first = number(std::string_view(text).substr(0, dash));
  const std::uint64_t last =
      dash == std::string::npos ? first : number(std::string_view(text).substr(dash + 1));
  if (last < first) throw InputError(option + ": " + in_quotes(text) + " ends before it begins");
  return {first, last};
}

void check_query(const StateQuery& query, const Ssd& ssd, const std::string& option) {
  if (!query.blocks && !query.map && !query.lba) return;
  if (ssd.own_ftl() == nullptr)
    throw InputError(
        option +
        ": the blocks and the map of other firmware than tlmssd's own (firmware.model) cannot be shown");
  const auto check = [&](std::uint64_t number, const char* what, std::uint64_t count) {
    if (number >= count)
      throw InputError(
          fmt::format("{}: {} is beyond the drive, whose last {} is {}", option, number, what, count - 1));
  };
  if (query.lba) check(*query.lba, "logical block", ssd.shape().logical_blocks);
  if (!query.map) return;
  for (const std::uint64_t end : {query.map->first, query.map->second})
    check(end, "mapping page", ssd.own_ftl()->blocks().layout().kept_units());
}

Json drive_state(Simulation& simulation, const StateQuery& query) {
  if (simulation.ssd().own_ftl() == nullptr) return outside(simulation);
  Inspection inspection(simulation);
  Json state = Json::object();
  if (query.overview) state = inspection.overview();
  if (query.blocks) state["blocks"] = inspection.blocks();
  if (query.map) state["map"] = inspection.map_part(query.map->first, query.map->second);
  if (query.lba) state["where"] = inspection.what_is_at(*query.lba);
  return state;
}

std::string state_text(const Json& state) {
  std::string text;
  if (state.contains("time_ps")) text += overview_text(state);
  if (state.contains("blocks")) {
    text += "blocks that have been used:\n" +
            table(state["blocks"],
                  {"block", "pu", "state", "mode", "valid", "units", "erases", "age_s", "target"},
                  state["blocks"].size());
  }
  if (state.contains("map")) {
    text +=
        fmt::format("map: {} units\n", state["map"].size()) +
        table(state["map"], {"lpn", "ppn", "block", "die", "plane", "page", "unit", "valid", "spare_area"},
              state["map"].size());
  }
  if (state.contains("where")) text += lba_text(state["where"]);
  return text;
}

}  // namespace tlmssd
