// The published figures of the volumes, with their marks.
#include "testbench/loads/profiles/profiles.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "models/base/input_error.h"
#include "models/base/suggest.h"

namespace tlmssd {

namespace {

constexpr double k_kb = 1000;
constexpr double k_kib = 1024;
constexpr double k_gb = 1e9;

constexpr Figure published(double value) {
  return {value, Mark::published};
}
constexpr Figure remembered(double value) {
  return {value, Mark::memory};
}
constexpr Figure derived(double value) {
  return {value, Mark::derived};
}
constexpr Figure assumed(double value) {
  return {value, Mark::assumed};
}

/// Reads and writes with the published means of each, both scaled by what the mean over all
/// requests demands: their ratio is kept, the overall mean wins.
void split_means(VolumeProfile& volume, double read, double write) {
  const double share = volume.write_share.value;
  const double factor = volume.mean_bytes.value / ((1 - share) * read + share * write);
  volume.mean_read_bytes = derived(read * factor);
  volume.mean_write_bytes = derived(write * factor);
}

/// What follows from the figures that a volume has.
VolumeProfile complete(VolumeProfile volume) {
  if (!volume.mean_read_bytes.known()) {
    volume.mean_read_bytes = assumed(volume.mean_bytes.value);
    volume.mean_write_bytes = volume.mean_read_bytes;
  }
  const double bytes = volume.requests.value * volume.mean_bytes.value;
  if (!volume.footprint_bytes.known()) {
    const bool chosen = volume.accesses_per_byte.mark == Mark::assumed;
    volume.footprint_bytes = {bytes / volume.accesses_per_byte.value, chosen ? Mark::assumed : Mark::derived};
  } else {
    volume.accesses_per_byte = derived(bytes / volume.footprint_bytes.value);
  }
  // Where no offsets are published: extents as long as the mean request, so that a request covers
  // its extent (A). The volumes whose offsets are published have extents of 1.05 to 3.2 mean
  // requests, in no order that another volume could be read off.
  if (!volume.offsets.known())
    volume.offsets = assumed(std::round(volume.footprint_bytes.value / volume.mean_bytes.value));
  volume.accesses_per_offset = {volume.requests.value / volume.offsets.value,
                                volume.offsets.mark == Mark::assumed ? Mark::assumed : Mark::derived};
  return volume;
}

VolumeProfile prxy_0() {
  VolumeProfile volume;
  volume.name = "prxy_0";
  volume.label = "firewall and web proxy; write-intensive";
  volume.requests = published(12'518'968);
  volume.write_share = published(0.969);
  volume.mean_bytes = derived(5.2 * k_kib);
  split_means(volume, 8.3 * k_kb, 4.6 * k_kb);
  volume.offsets = published(155'681);
  volume.footprint_bytes = published(2.18 * k_gb);
  volume.note =
      "means of 8.3 KB for reads and 4.6 KB for writes are published (V), perhaps of a subset: they give 4.7 "
      "KB over all, not "
      "5.2 KiB; the overall mean holds and the ratio of reads to writes is kept";
  return complete(volume);
}

VolumeProfile proj_0() {
  VolumeProfile volume;
  volume.name = "proj_0";
  volume.label = "project directories; write-intensive";
  volume.requests = published(4'224'524);
  volume.write_share = remembered(0.875);
  volume.mean_bytes = remembered(38.0 * k_kib);
  volume.offsets = published(286'228);
  volume.footprint_bytes = published(11.7 * k_gb);
  volume.note =
      "48.3 accesses per unit are remembered (M), the unit is not; requests, offsets and footprint (V) give "
      "14.8 per offset and "
      "14 per byte, and they hold";
  return complete(volume);
}

VolumeProfile hm_0() {
  VolumeProfile volume;
  volume.name = "hm_0";
  volume.label = "hardware monitoring; write-intensive";
  volume.requests = published(3'993'316);
  volume.write_share = published(0.645);
  volume.mean_bytes = published(9.2 * k_kb);
  volume.offsets = published(439'187);
  volume.footprint_bytes = published(5.63 * k_gb);
  volume.cold_reads = published(0.22);
  return complete(volume);
}

VolumeProfile web_1() {
  VolumeProfile volume;
  volume.name = "web_1";
  volume.label = "web and SQL server; write-intensive, write-dominant";
  volume.requests = remembered(160'891);
  volume.write_share = remembered(0.459);
  volume.mean_bytes = remembered(29.6 * k_kib);
  volume.accesses_per_byte = remembered(1.2);
  volume.note =
      "accesses per unit are taken as per footprint byte, which gives the footprint; offsets are assumed";
  return complete(volume);
}

VolumeProfile prxy_1() {
  VolumeProfile volume;
  volume.name = "prxy_1";
  volume.label = "firewall and web proxy; read-intensive, read-dominant and frequently written";
  volume.requests = published(168'638'964);
  volume.write_share = remembered(0.345);  // 35 % is V: the same within its rounding
  volume.mean_bytes = remembered(12.8 * k_kib);
  split_means(volume, 24.6 * k_kb, 26.1 * k_kb);
  volume.offsets = published(390'226);
  volume.footprint_bytes = published(16.5 * k_gb);
  volume.note =
      "means of 24.6 KB for reads and 26.1 KB for writes are published (V), perhaps of a subset: the overall "
      "mean holds and their "
      "ratio is kept; 150 accesses per unit are remembered (M), requests, mean and footprint give 134 per "
      "byte, and they hold";
  return complete(volume);
}

VolumeProfile proj_3() {
  VolumeProfile volume;
  volume.name = "proj_3";
  volume.label = "project directories; read-intensive";
  volume.requests = remembered(2'244'644);
  volume.write_share = remembered(0.052);
  volume.mean_bytes = remembered(9.6 * k_kib);
  volume.accesses_per_byte = remembered(3.6);
  volume.note =
      "accesses per unit are taken as per footprint byte, which gives the footprint; offsets are assumed";
  return complete(volume);
}

VolumeProfile src2_1() {
  VolumeProfile volume;
  volume.name = "src2_1";
  volume.label = "source control; read-intensive";
  volume.requests = remembered(660'000);
  volume.write_share = remembered(0.02);
  volume.mean_bytes = remembered(59.2 * k_kib);
  // Nothing is known of the footprint: the geometric mean of web_1 and proj_3, the volumes with as
  // few requests.
  volume.accesses_per_byte = assumed(2.08);
  volume.note =
      "footprint and offsets are assumed: 2.08 accesses per byte, the geometric mean of web_1 and proj_3";
  return complete(volume);
}

/// Share of extents that only reads touch, such that the share `first_reads` of all extents is read
/// before it is written. A shared extent is met first by the operation that has more requests for
/// each of its extents.
double read_only_share(double reads, double first_reads) {
  constexpr double k_shared = ProfileModel::k_shared;
  double low = 0;
  double high = 1 - k_shared;
  for (int step = 0; step < 50; ++step) {
    const double read_only = (low + high) / 2;
    const double read_rate = reads / (read_only + k_shared);
    const double write_rate = (1 - reads) / (1 - read_only);
    const double read_first = read_only + k_shared * read_rate / (read_rate + write_rate);
    (read_first < first_reads ? low : high) = read_only;
  }
  return low;
}

}  // namespace

const std::vector<VolumeProfile>& volume_profiles() {
  static const std::vector<VolumeProfile> volumes = {prxy_0(), proj_0(), hm_0(),  web_1(),
                                                     prxy_1(), proj_3(), src2_1()};
  return volumes;
}

std::vector<std::string> volume_names() {
  std::vector<std::string> names;
  for (const VolumeProfile& volume : volume_profiles()) names.emplace_back(volume.name);
  return names;
}

const VolumeProfile& find_volume(std::string_view name) {
  for (const VolumeProfile& volume : volume_profiles()) {
    if (volume.name == name) return volume;
  }
  const auto names = volume_names();
  throw InputError("profile: " + in_quotes(name) + " is not known, expected " + any_of(names) +
                   did_you_mean(name, names));
}

ProfilePlan plan_profile(const VolumeProfile& volume, double scale) {
  if (!(scale > 0 && scale <= 1))
    throw InputError(
        fmt::format("scale: {:g} is out of range, expected a number above 0 and at most 1", scale));
  ProfilePlan plan;
  plan.requests = static_cast<std::uint64_t>(std::llround(volume.requests.value * scale));
  plan.extents = static_cast<std::uint32_t>(std::llround(volume.offsets.value * scale));
  if (plan.requests == 0 || plan.extents == 0)
    throw InputError(fmt::format("scale: {:g} leaves nothing of {}", scale, volume.name));
  plan.footprint = static_cast<Bytes>(volume.footprint_bytes.value * scale);
  plan.write_share = volume.write_share.value;
  plan.mean_bytes[0] = volume.mean_read_bytes.value;
  plan.mean_bytes[1] = volume.mean_write_bytes.value;
  const double reads = 1 - plan.write_share;
  plan.first_reads = volume.cold_reads.known()
                         ? volume.cold_reads.value * reads * volume.requests.value / volume.offsets.value
                         : reads;
  plan.read_only = read_only_share(reads, plan.first_reads);
  plan.write_only = 1 - ProfileModel::k_shared - plan.read_only;
  return plan;
}

std::string marks_text(const VolumeProfile& volume) {
  const auto mark = [](const Figure& figure) { return static_cast<char>(figure.mark); };
  return fmt::format("requests {}, writes {}, mean size {}, offsets {}, footprint {}", mark(volume.requests),
                     mark(volume.write_share), mark(volume.mean_bytes), mark(volume.offsets),
                     mark(volume.footprint_bytes));
}

}  // namespace tlmssd
