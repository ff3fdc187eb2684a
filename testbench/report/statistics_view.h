// Finding things in the modules' statistics tree by name, whatever module reports them: what the
// summary and the HTML page show.
//
// Names are compared without regard to '_' and ' '. A utilisation is any number whose name ends
// with "utilisation"; those of numbered groups ("core 0", "channel 3") are gathered under one
// label.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tlmssd {

/// The name with '_' as ' '.
std::string plain_name(std::string_view name);
/// Is this a value as JsonSink writes it (not a group)?
bool is_value(const nlohmann::ordered_json& json);
/// The first group of this name anywhere in the tree, breadth first; null when there is none.
const nlohmann::ordered_json* find_group(const nlohmann::ordered_json& tree, std::string_view name);
/// The first value of this name, likewise.
const nlohmann::ordered_json* find_value(const nlohmann::ordered_json& tree, std::string_view name);
/// The first value of this name as a number; 0 when there is none, or it is none.
double number_in(const nlohmann::ordered_json& tree, std::string_view name);

/// Utilisation of like things.
struct Utilisation {
  std::string label;           ///< "flash channel bus", "core"
  std::vector<double> shares;  ///< 0..1 each, in the order of the tree
  bool apart = false;          ///< each has work that no other of them may take
  [[nodiscard]] double mean() const;
  [[nodiscard]] double highest() const;
};
std::vector<Utilisation> utilisations(const nlohmann::ordered_json& tree);
/// The same for people: labels as on a block diagram ("link in", "channels", "dies"), without the
/// totals over all channels and dies, which the means of the single ones repeat. Labels of modules
/// that are not known here stay as they are.
std::vector<Utilisation> plain_utilisations(const nlohmann::ordered_json& tree);

/// The spread of erase counts: the values of a group "erase counts", or those called "erases min"
/// and so on wherever they are.
std::vector<std::pair<std::string, const nlohmann::ordered_json*>> erase_counts(
    const nlohmann::ordered_json& tree);

/// What the drive's cache has done, a piece for each subject ("nv-wb in SCM 302 MiB: 88 % of writes
/// and 70 % of reads hit", "20 % free", "12.0 k evictions (76 % incomplete)"); empty when it has
/// none.
std::vector<std::string> cache_items(const nlohmann::ordered_json& tree);

/// How much of a map in flash was at hand and what it cost, or how block-mapped regions were
/// merged, in words; empty for page mapping.
std::vector<std::string> map_items(const nlohmann::ordered_json& tree);
/// Size of the pSLC, what lands there and what is folded; nothing without one.
std::vector<std::string> pslc_items(const nlohmann::ordered_json& tree);

/// How long the flash lasts at this load; nothing where that is not known.
std::vector<std::string> lifetime_items(const nlohmann::ordered_json& tree);

/// What a log-structured host layer in front of the drive has done; empty when there is none.
std::vector<std::string> log_structured_items(const nlohmann::ordered_json& tree);

/// What a cache of network files has done; empty when there is none.
std::vector<std::string> file_cache_items(const nlohmann::ordered_json& tree);

/// What error correction had to do, likewise ("retry-only with bch", "raw bit error rate 3.0e-03",
/// "12 % of reads retried, 3.1 times on average", "no read lost"); empty when there is none.
std::vector<std::string> error_correction_items(const nlohmann::ordered_json& tree);

/// A value with its unit as people read it ("1.50 GiB", "83.2 us", "12.3 %" for utilisations and
/// shares).
std::string value_text(const nlohmann::ordered_json& value, std::string_view name);

}  // namespace tlmssd
