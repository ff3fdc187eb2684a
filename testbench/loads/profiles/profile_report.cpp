// Targets and results of made-up volumes.
#include "testbench/loads/profiles/profile_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "testbench/loads/profiles/profile_source.h"
#include "testbench/loads/requests/load_seed.h"

namespace tlmssd {

namespace {

using Json = nlohmann::ordered_json;

double ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

/// Counts requests by start offset while another takes them.
class OffsetCounter final : public RequestSource {
 public:
  OffsetCounter(RequestSource& source, ProfileFigures& figures) : source_(source), figures_(figures) {}
  bool next(Request& request) override {
    if (!source_.next(request)) return false;
    const auto [place, is_new] = writes_.try_emplace(request.offset, 0);
    if (request.opcode == HostOpcode::write) {
      ++place->second;
    } else if (is_new) {
      ++figures_.cold_reads;
    }
    return true;
  }
  void finish() {
    figures_.offsets = writes_.size();
    std::vector<std::uint64_t> counts;
    std::uint64_t all = 0;
    for (const auto& [offset, writes] : writes_) {
      if (writes > 0) counts.push_back(writes);
      all += writes;
    }
    std::sort(counts.begin(), counts.end(), std::greater<>());
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < (counts.size() + 4) / 5; ++i) most += counts[i];
    figures_.fifth_most_written = ratio(static_cast<double>(most), static_cast<double>(all));
  }

 private:
  RequestSource& source_;
  ProfileFigures& figures_;
  std::unordered_map<Bytes, std::uint64_t> writes_;  // sorted before it is shown
};

enum class Unit : std::uint8_t { count, share, bytes, megabytes, factor };

/// One line of the comparison.
struct Row {
  const char* key;
  const char* title;
  Unit unit;
  Figure target;
  double generated;
};

std::vector<Row> rows_of(const VolumeProfile& volume, const ProfileRun& run, const ProfileFigures& figures) {
  const auto scaled = [&](Figure figure) { return Figure{figure.value * run.scale, figure.mark}; };
  const auto footprint = static_cast<double>(figures.info.footprint);
  const Mark no_mark = Mark::none;
  return {
      {"requests", "requests", Unit::count, scaled(volume.requests),
       static_cast<double>(figures.info.requests())},
      {"write_share", "writes", Unit::share, volume.write_share, figures.write_share()},
      {"mean_bytes", "mean request", Unit::bytes, volume.mean_bytes, figures.info.size_mean},
      {"mean_read_bytes", "mean read", Unit::bytes, volume.mean_read_bytes,
       figures.mean_bytes(HostOpcode::read)},
      {"mean_write_bytes", "mean write", Unit::bytes, volume.mean_write_bytes,
       figures.mean_bytes(HostOpcode::write)},
      {"offsets", "distinct start offsets", Unit::count, scaled(volume.offsets),
       static_cast<double>(figures.offsets)},
      {"footprint_bytes", "footprint", Unit::megabytes, scaled(volume.footprint_bytes), footprint},
      {"accesses_per_offset", "requests per start offset", Unit::factor, volume.accesses_per_offset,
       figures.accesses_per_offset()},
      {"accesses_per_byte", "accesses per footprint byte", Unit::factor, volume.accesses_per_byte,
       figures.accesses_per_byte()},
      {"cold_read_share", "cold reads, of reads", Unit::share, volume.cold_reads, figures.cold_read_share()},
      {"sequential_share",
       "sequential",
       Unit::share,
       {ProfileModel::k_sequential, Mark::assumed},
       figures.sequential_share()},
      {"fifth_most_written",
       "writes to the 20 % most written",
       Unit::share,
       {0, no_mark},
       figures.fifth_most_written},
      {"overwrite_rate",
       "bytes written per distinct byte",
       Unit::factor,
       {0, no_mark},
       figures.info.overwrite_rate()},
  };
}

std::string value_text(Unit unit, double value) {
  switch (unit) {
    case Unit::count:
      return fmt::format("{:.0f}", value);
    case Unit::share:
      return fmt::format("{:.2f} %", value * 100);
    case Unit::bytes:
      return fmt::format("{:.0f} B", value);
    case Unit::megabytes:
      return fmt::format("{:.1f} MB", value * 1e-6);
    case Unit::factor:
      break;
  }
  return fmt::format("{:.2f}", value);
}

/// Of the requests that a run with that seed makes, whose load has the volume's name.
ProfileFigures generate(const VolumeProfile& volume, const ProfileRun& run) {
  ProfileSource source(plan_profile(volume, run.scale), load_seed(run.seed, std::string(volume.name)),
                       run.requests);
  return measure_requests(source);
}

/// What must be known to read the table.
std::vector<std::string> notes_of(const VolumeProfile& volume, const ProfileRun& run) {
  std::vector<std::string> notes;
  if (!volume.note.empty()) notes.emplace_back(volume.note);
  if (volume.mean_read_bytes.mark == Mark::assumed)
    notes.emplace_back("reads and writes share the mean request: nothing is published of each alone");
  if (run.requests != 0 && run.requests < plan_profile(volume, run.scale).requests)
    notes.emplace_back(
        "fewer requests than the volume has at this scale: offsets and footprint are reached only by all of "
        "them");
  return notes;
}

}  // namespace

double ProfileFigures::mean_bytes(HostOpcode opcode) const {
  const TraceInfo::Operation& operation = info.of(opcode);
  return ratio(static_cast<double>(operation.bytes), static_cast<double>(operation.requests));
}

double ProfileFigures::write_share() const {
  return ratio(static_cast<double>(info.of(HostOpcode::write).requests),
               static_cast<double>(info.transfers()));
}

double ProfileFigures::sequential_share() const {
  return ratio(static_cast<double>(info.sequential), static_cast<double>(info.transfers()));
}

double ProfileFigures::cold_read_share() const {
  return ratio(static_cast<double>(cold_reads), static_cast<double>(info.of(HostOpcode::read).requests));
}

double ProfileFigures::accesses_per_offset() const {
  return ratio(static_cast<double>(info.transfers()), static_cast<double>(offsets));
}

double ProfileFigures::accesses_per_byte() const {
  return ratio(info.size_mean * static_cast<double>(info.transfers()), static_cast<double>(info.footprint));
}

ProfileFigures measure_requests(RequestSource& source) {
  ProfileFigures figures;
  OffsetCounter counter(source, figures);
  figures.info = inspect_requests(counter);
  counter.finish();
  return figures;
}

std::string profile_text(const VolumeProfile& volume, const ProfileRun& run) {
  const ProfileFigures figures = generate(volume, run);
  std::string text = fmt::format("{}: {}\nat scale {:g}, seed {}\n\n{:<34}{:>15}{:>6}{:>15}\n", volume.name,
                                 volume.label, run.scale, run.seed, "", "target", "mark", "generated");
  for (const Row& row : rows_of(volume, run, figures)) {
    const bool known = row.target.known();
    text += fmt::format("{:<34}{:>15}{:>6}{:>15}\n", row.title,
                        known ? value_text(row.unit, row.target.value) : "not published",
                        static_cast<char>(row.target.mark), value_text(row.unit, row.generated));
  }
  text += "\nV read in a public source, M from memory of one, D derived, A assumed\n";
  for (const std::string& note : notes_of(volume, run)) text += "Note: " + note + "\n";
  return text;
}

std::string profile_json(const VolumeProfile& volume, const ProfileRun& run) {
  static constexpr const char* k_units[] = {"1", "share", "B", "B", "1"};
  const ProfileFigures figures = generate(volume, run);
  Json json = {{"volume", volume.name}, {"label", volume.label}, {"scale", run.scale}, {"seed", run.seed}};
  for (const Row& row : rows_of(volume, run, figures)) {
    Json& entry = json["figures"][row.key];
    entry["unit"] = k_units[static_cast<std::size_t>(row.unit)];
    entry["target"] = row.target.known() ? Json(row.target.value) : Json();
    entry["mark"] = std::string(1, static_cast<char>(row.target.mark));
    entry["generated"] = row.generated;
  }
  json["notes"] = notes_of(volume, run);
  return json.dump(2) + "\n";
}

std::string profile_list_text() {
  std::string text;
  for (const VolumeProfile& volume : volume_profiles()) {
    const auto mark = [](const Figure& figure) { return static_cast<char>(figure.mark); };
    text += fmt::format(
        "{:<8}{:>12.0f} {} requests, {:>4.1f} % {} writes of {:>4.1f} KiB {} on {:>5.2f} GB {}  {}\n",
        volume.name, volume.requests.value, mark(volume.requests), volume.write_share.value * 100,
        mark(volume.write_share), volume.mean_bytes.value / 1024, mark(volume.mean_bytes),
        volume.footprint_bytes.value * 1e-9, mark(volume.footprint_bytes), volume.label);
  }
  return text;
}

std::string profile_list_json() {
  Json json = Json::array();
  for (const VolumeProfile& volume : volume_profiles())
    json.push_back({{"volume", volume.name}, {"label", volume.label}});
  return json.dump(2) + "\n";
}

}  // namespace tlmssd
