#include "testbench/report/statistics_view.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <deque>
#include <fmt/format.h>
#include <numeric>

#include "models/base/quantity_text.h"

namespace tlmssd {
namespace {

constexpr double k_even_wear = 0.8;  ///< of blocks, from which on the first one's end tells nothing new

using Json = nlohmann::ordered_json;

// Keys that are looked up thousands of times: the length of a text that is no std::string would be
// counted anew at every member.
const std::string k_value = "value";
const std::string k_unit = "unit";

/// The first member called `name` that is a group or a value as asked, breadth first.
const Json* find(const Json& tree, std::string_view name, bool group) {
  const std::string wanted = plain_name(name);
  std::deque<const Json*> queue{&tree};
  while (!queue.empty()) {
    const Json& here = *queue.front();
    queue.pop_front();
    if (!here.is_object()) continue;
    for (const auto& [key, member] : here.items()) {
      if (!member.is_object()) continue;
      const bool is_group = !is_value(member);
      if (is_group == group && plain_name(key) == wanted) return &member;
      if (is_group) queue.push_back(&member);
    }
  }
  return nullptr;
}

/// "channel 3" -> "channel"; "core0" -> "core".
std::string without_number(std::string_view name) {
  std::string text = plain_name(name);
  while (!text.empty() && std::isdigit(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

void gather(const Json& group, const std::string& label, std::vector<Utilisation>& result) {
  static constexpr std::string_view k_word = "utilisation";
  for (const auto& [key, member] : group.items()) {
    if (!member.is_object()) continue;
    if (!is_value(member)) {
      const std::string part = without_number(key);
      const bool repeats =
          label == part || label.ends_with(" " + part);  // a module's group within its owner's
      gather(member,
             label.empty() || part.empty() ? label + part
             : repeats                     ? label
                                           : label + " " + part,
             result);
      continue;
    }
    std::string name = plain_name(key);
    if (!name.ends_with(k_word) || !member["value"].is_number()) continue;
    name.resize(name.size() - k_word.size());
    std::string full = label + (name.empty() || label.empty() ? "" : " ") + name;
    while (full.ends_with(' ')) full.pop_back();
    auto at =
        std::find_if(result.begin(), result.end(), [&](const Utilisation& u) { return u.label == full; });
    if (at == result.end()) at = result.insert(result.end(), {full, {}});
    at->shares.push_back(member["value"].get<double>());
  }
}

}  // namespace

std::string plain_name(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

bool is_value(const Json& json) {
  if (!json.is_object()) return false;
  const auto value = json.find(k_value);
  return value != json.end() && !value->is_object();
}

const Json* find_group(const Json& tree, std::string_view name) {
  return find(tree, name, true);
}
const Json* find_value(const Json& tree, std::string_view name) {
  return find(tree, name, false);
}

double Utilisation::mean() const {
  return shares.empty()
             ? 0
             : std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
}
double Utilisation::highest() const {
  return shares.empty() ? 0 : *std::max_element(shares.begin(), shares.end());
}

std::vector<Utilisation> utilisations(const Json& tree) {
  std::vector<Utilisation> result;
  if (tree.is_object()) gather(tree, "", result);
  return result;
}

std::vector<Utilisation> plain_utilisations(const Json& tree) {
  static constexpr std::pair<std::string_view, std::string_view> k_labels[] = {
      {"host link to device", "link in"},
      {"host link to host", "link out"},
      {"cpu core", "cores"},
      {"dram", "DRAM"},
      {"host link", "link"},
      {"scm", "SCM"},
      {"scm banks", "SCM banks"},
      {"flash gang", "gangs"},
      {"flash channel bus", "channels"},
      {"flash channel die", "dies"},
      {"flash nand die array", "die arrays"},
      {"flash controller decoders bch", "BCH decoders"},
      {"flash controller decoders ldpc", "LDPC decoders"},
      {"flash bus", ""},
      {"flash dies", ""}};
  static constexpr std::string_view k_decoders = "flash controller decoders ";
  std::vector<Utilisation> result = utilisations(tree);
  for (Utilisation& u : result) {
    const auto* known = std::find_if(std::begin(k_labels), std::end(k_labels),
                                     [&](const auto& pair) { return pair.first == u.label; });
    if (known != std::end(k_labels)) {
      u.label = known->second;
    } else if (u.label.starts_with(k_decoders)) {  // of a code from outside
      u.label = u.label.substr(k_decoders.size()) + " decoders";
    }
  }
  std::erase_if(result, [](const Utilisation& u) { return u.label.empty(); });
  return result;
}

std::vector<std::pair<std::string, const Json*>> erase_counts(const Json& tree) {
  std::vector<std::pair<std::string, const Json*>> result;
  const auto add = [&](const Json* value, std::string_view name) {
    if (value != nullptr && is_value(*value) && (*value)["value"].is_number())
      result.emplace_back(plain_name(name), value);
  };
  if (const Json* group = find_group(tree, "erase counts")) {
    for (const auto& [name, member] : group->items()) add(&member, name);
    return result;
  }
  for (const char* name : {"min", "mean", "max", "deviation"})
    add(find_value(tree, std::string("erases ") + name), name);
  return result;
}

double number_in(const Json& group, std::string_view name) {
  const Json* const value = find_value(group, name);
  return value != nullptr && (*value)["value"].is_number() ? (*value)["value"].get<double>() : 0;
}

namespace {

std::string word_in(const Json& group, std::string_view name) {
  const Json* const value = find_value(group, name);
  return value != nullptr && (*value)["value"].is_string() ? (*value)["value"].get<std::string>() : "";
}

}  // namespace

std::vector<std::string> error_correction_items(const Json& tree) {
  const Json* const group = find_group(tree, "error correction");
  const Json* const decoders = find_group(tree, "decoders");
  if (group == nullptr || decoders == nullptr) return {};
  double pages = 0;
  for (const auto& [name, code] : decoders->items()) {
    if (code.is_object()) pages += number_in(code, "pages");
  }
  const double retries = number_in(*group, "retries");
  const double first = pages - retries;
  if (first <= 0) return {word_in(*group, "policy")};
  std::vector<std::string> codes;
  for (const auto& [name, code] : decoders->items()) {
    const double share = code.is_object() ? number_in(code, "pages") / pages : 0;
    if (share > 0) codes.push_back(fmt::format("{} {:.0f} %", name, share * 100));
  }
  std::vector<std::string> items = {fmt::format("{}: {}", word_in(*group, "policy"), list_text(codes))};
  // None where every read began at another step of the read-retry levels.
  if (const Json* const rate = find_value(*decoders, "raw bit error rate");
      rate != nullptr && (*rate)["value"].is_number())
    items.push_back(fmt::format("raw bit error rate {:.1e}", number_in(*decoders, "raw bit error rate")));
  const double retried = number_in(*group, "reads retried");
  if (retries > 0) {
    items.push_back(fmt::format("{:.1f} % of reads retried, {:.1f} times on average", 100 * retried / first,
                                retries / retried));
  }
  items.push_back(fmt::format("{} reads lost", count_text(number_in(*group, "reads lost"))));
  if (const double before = number_in(*group, "host units lost before"); before > 0)
    items.push_back(fmt::format("{} reads of mapping pages lost before", count_text(before)));
  return items;
}

std::vector<std::string> cache_items(const Json& tree) {
  const Json* const group = find_group(tree, "cache");
  if (group == nullptr || !group->contains("policy")) return {};
  const auto number = [&](const char* name) { return number_in(*group, name); };
  const auto word = [&](const char* name) { return word_in(*group, name); };
  std::string hits =
      fmt::format("{} in {} {}", word("policy"), word("medium"), bytes_text(number("capacity")));
  if (number("writes") > 0) hits += fmt::format(": {:.0f} % of writes", number("write hit share") * 100);
  if (number("reads") > 0) {
    hits += fmt::format("{} {:.0f} % of reads", number("writes") > 0 ? " and" : ":",
                        number("read hit share") * 100);
  }
  if (number("writes") > 0 || number("reads") > 0) hits += " hit";
  const double evictions = number("evictions");
  std::string out = fmt::format("{} evictions", count_text(evictions));
  if (evictions > 0)
    out += fmt::format(" ({:.0f} % incomplete)", number("incomplete evictions") / evictions * 100);
  std::vector<std::string> items{hits, fmt::format("{:.0f} % free", number("free share") * 100), out};
  if (const double clean = number("dropped clean"); clean > 0)
    items.push_back(fmt::format("{} clean units given up", count_text(clean)));
  return items;
}

std::vector<std::string> map_items(const Json& tree) {
  const Json* const group = find_group(tree, "mapping");
  if (group == nullptr || !group->contains("scheme")) return {};
  const auto number = [&](const char* name) { return number_in(*group, name); };
  const std::string scheme = word_in(*group, "scheme");
  if (!group->contains("cache_bytes") && !group->contains("block")) return {};
  if (!group->contains("cache_bytes")) {
    std::vector<std::string> items{fmt::format("{} with blocks of {}", scheme, bytes_text(number("block"))),
                                   fmt::format("tables {}", bytes_text(number("tables")))};
    if (group->contains("merges")) {
      const Json& merges = (*group)["merges"];
      items.push_back(
          fmt::format("merges {} switch, {} partial, {} full", count_text(number_in(merges, "switch")),
                      count_text(number_in(merges, "partial")), count_text(number_in(merges, "full"))));
    } else if (group->contains("packings")) {
      items.push_back(fmt::format("{} packings, {} collections", count_text(number("packings")),
                                  count_text(number("collections"))));
      items.push_back(fmt::format("{} units copied", count_text(number("units copied"))));
    } else if (group->contains("units_rewritten")) {
      items.push_back(fmt::format("{} units rewritten", count_text(number("units rewritten"))));
    }
    return items;
  }
  std::string hits = fmt::format("{} in {}", scheme, bytes_text(number("cache bytes")));
  if (group->contains("cache_in")) hits += " of host memory";
  if (number("look-ups") > 0) hits += fmt::format(": {:.0f} % of look-ups hit", number("hit share") * 100);
  std::string out = fmt::format("{} map pages written", count_text(number("map page writes")));
  if (number("map page writes") > 0) out += fmt::format(" ({:.1f} lines each)", number("lines per write"));
  return {hits, fmt::format("{} map pages read", count_text(number("map page reads"))), out};
}

namespace {

/// "full after 12.3 GiB in 4.56 s", "never full"; `prefix` as in the group `cliff`.
std::string cliff_item(const Json& pslc, const std::string& prefix, const char* what) {
  const Json* const cliff = find_group(pslc, "cliff");
  const Json* const written = cliff == nullptr ? nullptr : find_value(*cliff, prefix + "written");
  if (written == nullptr || !(*written)[k_value].is_number()) return fmt::format("never {}", what);
  std::string text = fmt::format("{} after {}", what, bytes_text((*written)[k_value].get<double>()));
  if (const double time = number_in(*cliff, prefix + "time"); time > 0)
    text += " in " + time_text(time * 1e12);
  return text;
}

}  // namespace

std::vector<std::string> pslc_items(const Json& tree) {
  const Json* const group = find_group(tree, "pslc");
  if (group == nullptr || !group->contains("policy")) return {};
  const auto number = [&](const char* name) { return number_in(*group, name); };
  std::string folds = fmt::format("{} blocks folded", count_text(number("blocks folded")));
  if (number("blocks folded") > 0) folds += fmt::format(", {:.0f} % valid", number("mean valid") * 100);
  return {fmt::format("{}, {} of at most {}", word_in(*group, "policy"), bytes_text(number("size")),
                      bytes_text(number("largest size"))),
          fmt::format("{} in use, {} allowed now", bytes_text(number("size in use")),
                      bytes_text(number("size allowed"))),
          fmt::format("{:.0f} % of writes committed there", number("share to slc") * 100),
          folds,
          fmt::format("{} waits for room", count_text(number("waits for room"))),
          cliff_item(*group, "folding ", "folding"),
          cliff_item(*group, "", "full")};
}

std::vector<std::string> lifetime_items(const Json& tree) {
  const Json* const group = find_group(tree, "lifetime");
  const double written = group == nullptr ? 0 : number_in(*group, "written");
  const Json* const known = group == nullptr ? nullptr : find_value(*group, "written");
  if (known == nullptr || !(*known)["value"].is_number()) return {};
  const auto number = [&](const char* name) { return number_in(*group, name); };
  std::vector<std::string> items = {
      fmt::format("{} written", written_text(written)),
      fmt::format("{} drive writes", count_text(number("drive writes"))),
      fmt::format("{:.3g} a day for five years", number("drive writes per day"))};
  if (number("cycles before") > 0)
    items.push_back(fmt::format("of what {} cycles of age have left", number("cycles before")));
  if (number("evenness") > 0 && number("evenness") < k_even_wear)
    items.push_back(
        fmt::format("first block worn out after {}", written_text(number("written first block"))));
  return items;
}

std::vector<std::string> log_structured_items(const Json& tree) {
  const Json* const group = find_group(tree, "log_structured");
  if (group == nullptr || !group->contains("policy")) return {};
  const auto number = [&](const char* name) { return number_in(*group, name); };
  std::vector<std::string> items = {
      fmt::format("{}: write amplification {:.3f}", word_in(*group, "policy"), number("write amplification")),
      fmt::format("{} segments cleaned", count_text(number("segments cleaned"))),
      fmt::format("{} grains moved", count_text(number("grains moved")))};
  if (number("pieces per read") > 0)
    items.push_back(fmt::format("{:.1f} pieces per read", number("pieces per read")));
  items.push_back(fmt::format("map {}", bytes_text(number("map bytes"))));
  return items;
}

std::vector<std::string> file_cache_items(const Json& tree) {
  const Json* const group = find_group(tree, "file_cache");
  if (group == nullptr || !group->contains("policy")) return {};
  const auto number = [&](const char* name) { return number_in(*group, name); };
  return {fmt::format("{}: {:.0f} % of {} accesses hit", word_in(*group, "policy"), number("hit ratio") * 100,
                      count_text(number("accesses"))),
          fmt::format("{} over the network", bytes_text(number("network bytes"))),
          fmt::format("{} files written ({}), {} evicted", count_text(number("files written")),
                      bytes_text(number("bytes written")), count_text(number("evicted"))),
          fmt::format("{} of {} used", bytes_text(number("space used")), bytes_text(number("space limit")))};
}

std::string value_text(const Json& value, std::string_view name) {
  if (!is_value(value)) return "";
  const Json& held = *value.find(k_value);
  if (held.is_string()) return held.get<std::string>();
  if (!held.is_number()) return "-";
  const double number = held.get<double>();
  const auto unit_at = value.find(k_unit);
  const std::string unit = unit_at != value.end() && unit_at->is_string() ? unit_at->get<std::string>() : "";
  if (unit == "B") return bytes_text(number);
  if (unit == "B/s") return bandwidth_text(number);
  if (unit == "ps") return time_text(number);
  if (unit == "ns") return time_text(number * 1e3);
  if (unit == "us") return time_text(number * 1e6);
  if (unit == "ms") return time_text(number * 1e9);
  if (unit == "s") return time_text(number * 1e12);
  const std::string plain = plain_name(name);
  if (plain.ends_with("utilisation") || plain.ends_with("share") || unit == "share")
    return share_text(number);
  const std::string text = held.is_number_integer() || std::abs(number) >= 1000
                               ? count_text(number)
                               : fmt::format("{:.3f}", number);
  return unit.empty() ? text : text + " " + unit;
}

}  // namespace tlmssd
