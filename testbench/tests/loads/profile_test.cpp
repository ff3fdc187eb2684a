// Made-up volumes: do they have the statistics that are published of them? The figures are written
// out once more here, from the sources, so that a slip in the table shows.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "files.h"
#include "testbench/loads/profile_load.h"
#include "testbench/loads/profiles/profile_layout.h"
#include "testbench/loads/profiles/profile_report.h"
#include "testbench/loads/profiles/profile_source.h"

using namespace tlmssd;
using namespace tlmssd::test;
using namespace tlmssd::literals;

namespace {

struct Expected {
  const char* name;
  double scale;  // so that there are a hundred thousand requests or more
  double requests;
  double write_percent;
  double mean_read;
  double mean_write;
  double offsets;
  double footprint;
};

// Means of prxy_0: 8.3 and 4.6 KB scaled by 5.2 KiB over their mean of 4.715 KB; of prxy_1: 24.6
// and 26.1 KB by 12.8 KiB over 25.12 KB. Footprints of web_1, proj_3, src2_1: bytes requested over
// 1.2, 3.6, 2.08; their offsets: footprint over mean.
constexpr Expected k_expected[] = {
    {"prxy_0", 0.01, 12'518'968, 96.9, 9374, 5195, 155'681, 2.18e9},
    {"proj_0", 0.03, 4'224'524, 87.5, 38'912, 38'912, 286'228, 11.7e9},
    {"hm_0", 0.03, 3'993'316, 64.5, 9200, 9200, 439'187, 5.63e9},
    {"web_1", 1, 160'891, 45.9, 30'310, 30'310, 134'076, 4.064e9},
    {"prxy_1", 0.002, 168'638'964, 34.5, 12'837, 13'620, 390'226, 16.5e9},
    {"proj_3", 0.05, 2'244'644, 5.2, 9830, 9830, 623'512, 6.129e9},
    {"src2_1", 0.2, 660'000, 2.0, 60'621, 60'621, 317'308, 19.24e9},
};

ProfileFigures figures_of(const char* name, double scale, std::uint64_t seed = 1) {
  ProfileSource source(plan_profile(find_volume(name), scale), seed);
  return measure_requests(source);
}

std::vector<Request> requests_of(const char* name, double scale, std::uint64_t seed, std::uint64_t most) {
  ProfileSource source(plan_profile(find_volume(name), scale), seed, most);
  std::vector<Request> requests;
  Request request;
  while (source.next(request)) requests.push_back(request);
  return requests;
}

LoadConfig profile_config(const std::string& name, double scale) {
  LoadConfig config;
  config.kind.profile = name;
  config.profile.scale = scale;
  return config;
}

const DriveSize k_drive_4kn{256_MiB, 4096};

}  // namespace

TEST_CASE("what is told of a volume is of the requests that a run with the same seed makes") {
  constexpr std::uint64_t k_seed = 7;
  const Load load = std::move(make_loads(profile_config("hm_0", 0.005), {1_GiB, 512}, k_seed).front());
  double writes = 0;
  double all = 0;
  for (PlacedRequest request; load.source->next(request); ++all)
    if (request.opcode == HostOpcode::write) ++writes;
  ProfileRun run;
  run.scale = 0.005;
  for (const std::uint64_t seed : {k_seed, k_seed + 1}) {
    run.seed = seed;
    const auto told = nlohmann::json::parse(profile_json(find_volume("hm_0"), run));
    const auto share = told["figures"]["write_share"]["generated"].get<double>();
    INFO(seed << ": " << share << " against " << writes / all);
    CHECK((share == Approx(writes / all).epsilon(1e-12)) == (seed == k_seed));
  }
}

TEST_CASE("made-up volumes have the published statistics") {
  for (const Expected& expected : k_expected) {
    INFO(expected.name);
    const ProfileFigures figures = figures_of(expected.name, expected.scale);
    CHECK(std::abs(static_cast<double>(figures.info.requests()) - expected.requests * expected.scale) <= 1);
    CHECK(std::abs(figures.write_share() * 100 - expected.write_percent) < 0.5);
    CHECK(figures.mean_bytes(HostOpcode::read) == Approx(expected.mean_read).epsilon(0.02));
    CHECK(figures.mean_bytes(HostOpcode::write) == Approx(expected.mean_write).epsilon(0.02));
    CHECK(static_cast<double>(figures.offsets) == Approx(expected.offsets * expected.scale).epsilon(0.01));
    CHECK(static_cast<double>(figures.info.footprint) ==
          Approx(expected.footprint * expected.scale).epsilon(0.01));
    CHECK(figures.accesses_per_offset() == Approx(expected.requests / expected.offsets).epsilon(0.01));
    const double mean = expected.mean_read * (1 - expected.write_percent / 100) +
                        expected.mean_write * expected.write_percent / 100;
    CHECK(figures.accesses_per_byte() == Approx(expected.requests * mean / expected.footprint).epsilon(0.02));
  }
  CHECK(std::size(k_expected) == volume_profiles().size());
}

TEST_CASE("accesses per unit are those published where nothing else contradicts them") {
  CHECK(find_volume("web_1").accesses_per_byte.value == 1.2);
  CHECK(find_volume("proj_3").accesses_per_byte.value == 3.6);
  CHECK(find_volume("prxy_0").accesses_per_byte.value == Approx(30).epsilon(0.05));
  CHECK(find_volume("hm_0").accesses_per_offset.value == Approx(9.1).epsilon(0.01));
  CHECK(find_volume("prxy_1").accesses_per_byte.value == Approx(134).epsilon(0.01));  // 150 M
  CHECK(find_volume("proj_0").accesses_per_byte.value ==
        Approx(14.05).epsilon(0.01));  // 48.3 M, of another unit
}

TEST_CASE("22 % of the reads of hm_0 are cold") {
  CHECK(figures_of("hm_0", 0.03).cold_read_share() == Approx(0.22).epsilon(0.05));
}

TEST_CASE("a twentieth of the requests is sequential, in every volume") {
  for (const Expected& expected : k_expected) {
    INFO(expected.name);
    CHECK(figures_of(expected.name, expected.scale / 2).sequential_share() == Approx(0.05).margin(0.003));
  }
}

TEST_CASE("popularity follows Zipf's law for the model's exponent") {
  // Requests at the n-th most popular extent, where neither runs nor first visits count: prxy_1 has
  // 432 for each.
  std::map<Bytes, std::uint64_t> count;
  for (const Request& request : requests_of("prxy_1", 0.002, 3, 0)) {
    if (request.opcode == HostOpcode::read) ++count[request.offset];
  }
  std::vector<double> sorted;
  for (const auto& [offset, n] : count) sorted.push_back(static_cast<double>(n));
  std::sort(sorted.rbegin(), sorted.rend());
  REQUIRE(sorted.size() > 400);
  const double slope = std::log(sorted[2] / sorted[99]) / std::log(100.0 / 3);
  CHECK(slope == Approx(0.86).margin(0.08));
}

TEST_CASE("neighbours in a cluster are about equally popular and touched alike") {
  const ProfileLayout layout(plan_profile(find_volume("hm_0"), 0.02), 5);
  std::vector<std::uint32_t> rank(layout.extents(), layout.extents());
  const auto& by_rank = layout.by_rank(ProfileLayout::k_read);
  for (std::uint32_t r = 0; r < by_rank.size(); ++r) rank[by_rank[r]] = r;
  std::uint32_t jumps = 0;
  for (std::uint32_t extent = 1; extent < layout.extents(); ++extent) {
    CHECK(layout.start(extent) == layout.start(extent - 1) + layout.pages(extent - 1) * 4096);
    if (extent % 16 == 0) {
      jumps += rank[extent] == rank[extent - 1] + 1 ? 0 : 1;
      continue;
    }
    CHECK(layout.touched_by(extent, 0) == layout.touched_by(extent - 1, 0));
    CHECK(layout.touched_by(extent, 1) == layout.touched_by(extent - 1, 1));
    if (layout.touched_by(extent, 0)) CHECK(rank[extent] == rank[extent - 1] + 1);
  }
  CHECK(jumps > layout.extents() / 16 * 9 / 10);  // clusters are scattered
}

TEST_CASE("reads and writes overlap in a fifth of the extents, with popularities of their own") {
  const ProfileLayout layout(plan_profile(find_volume("prxy_1"), 0.05), 5);
  const double extents = layout.extents();
  const double both = static_cast<double>(layout.by_rank(0).size() + layout.by_rank(1).size()) - extents;
  CHECK(both / extents == Approx(0.2).margin(0.01));
  // Of the hundred clusters most read, about as many are among the hundred most written as chance
  // will have it.
  const auto hot = [&](unsigned operation) {
    const auto& ranks = layout.by_rank(operation);
    return std::set<std::uint32_t>(ranks.begin(), ranks.begin() + 1600);
  };
  std::size_t in_both = 0;
  const auto written = hot(1);
  for (const std::uint32_t extent : hot(0)) in_both += written.count(extent);
  CHECK(in_both < 320);
}

TEST_CASE("lengths of extents have the mean that is asked for") {
  for (const double mean : {1.0, 2.4, 3.13, 10.3, 14.8, 16.0}) {
    const auto shares = ProfileLayout::length_shares(mean);
    double sum = 0;
    double found = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      sum += shares[i];
      found += shares[i] * ProfileModel::k_extent_pages[i];
    }
    CHECK(sum == Approx(1));
    CHECK(found == Approx(mean).epsilon(1e-6));
  }
}

TEST_CASE("the same seed makes the same requests, another seed others") {
  const auto requests = requests_of("hm_0", 0.01, 7, 5000);
  CHECK(requests.size() == 5000);
  CHECK(requests == requests_of("hm_0", 0.01, 7, 5000));
  CHECK_FALSE(requests == requests_of("hm_0", 0.01, 8, 5000));
  // The number asked for does not change the requests before it; more than the volume's are made
  // when asked for.
  auto longer = requests_of("hm_0", 0.01, 7, 60'000);
  REQUIRE(longer.size() == 60'000);
  longer.resize(5000);
  CHECK(longer == requests);
}

TEST_CASE("scaling keeps the ratios") {
  const ProfileFigures small = figures_of("proj_0", 0.01);
  const ProfileFigures large = figures_of("proj_0", 0.04);
  CHECK(static_cast<double>(large.info.requests()) ==
        Approx(4.0 * static_cast<double>(small.info.requests())).epsilon(1e-4));
  CHECK(static_cast<double>(large.offsets) == Approx(4.0 * static_cast<double>(small.offsets)).epsilon(1e-3));
  CHECK(large.accesses_per_byte() == Approx(small.accesses_per_byte()).epsilon(0.01));
  CHECK(large.accesses_per_offset() == Approx(small.accesses_per_offset()).epsilon(0.01));
  CHECK(large.write_share() == Approx(small.write_share()).margin(0.001));
}

TEST_CASE("a part of a volume has its mix and sizes too") {
  ProfileSource source(plan_profile(find_volume("prxy_0"), 1), 1, 50'000);
  const ProfileFigures figures = measure_requests(source);
  CHECK(figures.write_share() == Approx(0.969).margin(0.005));
  CHECK(figures.mean_bytes(HostOpcode::write) == Approx(5195).epsilon(0.02));
}

TEST_CASE("a load made from a profile") {
  auto loads = make_loads(profile_config("prxy_0", 0.01), k_drive_4kn, 1);
  REQUIRE(loads.size() == 1);
  CHECK(loads[0].name == "prxy_0");
  CHECK(loads[0].pacing == Pacing::closed_loop);
  CHECK(loads[0].queue_depth == 32);
  CHECK(loads[0].source->expected() == 125'190);
  CHECK_THAT(
      loads[0].description,
      Catch::StartsWith("synthetic, from the published statistics of MSR Cambridge prxy_0 at scale 0.01 "
                        "(requests V, writes V, mean size D, offsets V, footprint V); "));
  PlacedRequest first;
  PlacedRequest other;
  REQUIRE(loads[0].source->next(first));
  REQUIRE(make_loads(profile_config("prxy_0", 0.01), k_drive_4kn, 2)[0].source->next(other));
  CHECK(first.lba != other.lba);
  auto short_one = profile_config("prxy_0", 0.01);
  short_one.profile.requests = 77;
  CHECK(make_loads(short_one, k_drive_4kn, 1)[0].source->expected() == 77);
}

TEST_CASE("a footprint that does not fit is refused, wrapped or scaled") {
  auto config = profile_config("hm_0", 0.1);
  config.profile.requests = 1000;
  CHECK(message_of([&] { make_loads(config, k_drive_4kn, 1); }) ==
        "scale: 0.1 of hm_0 covers 537 MiB, more than the load may use of the drive, expected a smaller "
        "scale, a larger "
        "drive or addresses: wrap or scale; nearest valid: addresses: wrap");
  for (const char* addresses : {"wrap", "scale"}) {
    config.profile.addresses = addresses;
    auto loads = make_loads(config, k_drive_4kn, 1);
    PlacedRequest request;
    std::uint64_t requests = 0;
    while (loads[0].source->next(request)) {
      CHECK((request.lba + request.blocks) * k_drive_4kn.lba_bytes <= k_drive_4kn.bytes);
      ++requests;
    }
    CHECK(requests >= 1000);
  }
}

TEST_CASE("the recorded volume is replayed instead where there is one") {
  const Folder folder;
  auto config = profile_config("web_1", 0.5);
  config.profile.traces_folder = folder.path();
  CHECK(message_of([&] { make_loads(config, k_drive_4kn, 1); }) ==
        "traces_folder: " + folder.path() +
            " holds no web_1.csv, .csv.gz, .csv.zst or .csv.xz; without traces_folder the requests are made "
            "up");
  static_cast<void>(folder.write(
      "web_1.csv", "0,web,1,Write,4096,8192,0\n10,web,1,Read,0,4096,0\n20,web,1,Read,4096,4096,0\n"));
  config.profile.requests = 2;
  auto loads = make_loads(config, k_drive_4kn, 1);
  REQUIRE(loads.size() == 1);
  CHECK(loads[0].name == "web_1");
  CHECK(loads[0].pacing == Pacing::closed_loop);
  CHECK(loads[0].queue_depth == 32);
  CHECK_THAT(loads[0].description, Catch::StartsWith("the recorded volume web_1, not made up: msr"));
  REQUIRE(loads[0].warnings.size() == 1);
  CHECK_THAT(loads[0].warnings[0], Catch::StartsWith("scale has no effect"));
  PlacedRequest request;
  REQUIRE(loads[0].source->next(request));
  CHECK(request.opcode == HostOpcode::write);
  CHECK(request.lba == 1);
  CHECK(request.blocks == 2);
  REQUIRE(loads[0].source->next(request));
  CHECK_FALSE(loads[0].source->next(request));
}

TEST_CASE("volumes that are not known, and scales that leave nothing") {
  CHECK(message_of([] { make_loads(profile_config("prxy_2", 1), k_drive_4kn, 1); }) ==
        "profile: 'prxy_2' is not known, expected prxy_0, proj_0, hm_0, web_1, prxy_1, proj_3 or src2_1; did "
        "you mean "
        "'prxy_0' or 'prxy_1'?");
  CHECK(message_of([] { plan_profile(find_volume("web_1"), 1e-6); }) ==
        "scale: 1e-06 leaves nothing of web_1");
  for (const double scale : {0.0, -1.0, 1.5, std::nan("")}) {
    CHECK_THAT(message_of([&] { plan_profile(find_volume("web_1"), scale); }),
               Catch::Contains("is out of range"));
  }
}

TEST_CASE("targets and results side by side") {
  const std::string text = profile_text(find_volume("proj_0"), {0.01, 0, 1});
  CHECK_THAT(text, Catch::Contains("87.50 %     M        87."));
  CHECK_THAT(text, Catch::Contains("14.76     D          14.76"));
  CHECK_THAT(text, Catch::Contains("Note: 48.3 accesses per unit are remembered (M)"));
  CHECK_THAT(text, Catch::Contains("Note: reads and writes share the mean request"));
  CHECK_THAT(text, !Catch::Contains("fewer requests"));
  CHECK_THAT(profile_text(find_volume("proj_0"), {0.01, 9, 1}), Catch::Contains("Note: fewer requests"));
  const std::string json = profile_json(find_volume("hm_0"), {0.01, 0, 1});
  CHECK_THAT(json, Catch::Contains("\"cold_read_share\": {"));
  CHECK_THAT(json, Catch::Contains("\"mark\": \"V\""));
  for (const std::string& name : volume_names()) CHECK_THAT(profile_list_text(), Catch::Contains(name));
}

TEST_CASE("figures of requests worked out by hand") {
  class Listed final : public RequestSource {
   public:
    explicit Listed(std::vector<Request> requests) : requests_(std::move(requests)) {}
    bool next(Request& request) override {
      if (at_ == requests_.size()) return false;
      request = requests_[at_++];
      return true;
    }

   private:
    std::vector<Request> requests_;
    std::size_t at_ = 0;
  };
  const auto make = [](HostOpcode opcode, Bytes offset, Bytes bytes) {
    Request request;
    request.opcode = opcode;
    request.offset = offset;
    request.bytes = bytes;
    return request;
  };
  Listed source({make(HostOpcode::write, 0, 4096), make(HostOpcode::write, 0, 8192),
                 make(HostOpcode::read, 8192, 4096), make(HostOpcode::read, 8192, 4096),
                 make(HostOpcode::write, 65536, 4096), make(HostOpcode::read, 0, 4096)});
  const ProfileFigures figures = measure_requests(source);
  CHECK(figures.offsets == 3);
  CHECK(figures.cold_reads == 1);
  CHECK(figures.cold_read_share() == Approx(1.0 / 3));
  CHECK(figures.fifth_most_written == Approx(2.0 / 3));
  CHECK(figures.accesses_per_offset() == 2);
  CHECK(figures.info.footprint == 16384);
  CHECK(figures.accesses_per_byte() == Approx(28672.0 / 16384));
  CHECK(figures.sequential_share() == Approx(1.0 / 6));
}
