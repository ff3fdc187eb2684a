// Laying loads onto drives: wrapping, scaling, refusing, rounding, several volumes.
#include "testbench/loads/requests/placement.h"

#include <catch2/catch.hpp>

#include "files.h"
#include "testbench/loads/generator/generator.h"

using namespace tlmssd;
using namespace tlmssd::test;

namespace {

class ListSource final : public RequestSource {
 public:
  explicit ListSource(std::vector<Request> requests) : requests_(std::move(requests)) {}
  bool next(Request& request) override {
    if (at_ == requests_.size()) return false;
    request = requests_[at_++];
    return true;
  }
  [[nodiscard]] std::string where() const override { return "list:" + std::to_string(at_); }

 private:
  std::vector<Request> requests_;
  std::size_t at_ = 0;
};

Request write(std::uint64_t offset, std::uint64_t bytes, std::uint32_t device = 0) {
  return {HostOpcode::write, false, device, offset, bytes, 0};
}

PlacedSource placed(std::vector<Request> requests, const std::string& addresses, DriveSize drive,
                    std::uint32_t volume = PlacedSource::k_all_volumes, PlacementConfig config = {}) {
  config.addresses = addresses;
  LoadExtent extent;
  for (const Request& request : requests) {
    if (request.device >= extent.volume_bytes.size()) extent.volume_bytes.resize(request.device + 1, 0);
    auto& end = extent.volume_bytes[request.device];
    end = std::max(end, request.offset + request.bytes);
  }
  return {std::make_unique<ListSource>(std::move(requests)), config, extent, drive, volume};
}

std::vector<std::pair<std::uint64_t, std::uint32_t>> all(PlacedSource& source) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> result;
  PlacedRequest request;
  while (source.next(request)) result.emplace_back(request.lba, request.blocks);
  return result;
}

using List = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

}  // namespace

TEST_CASE("requests are widened to whole logical blocks and counted") {
  auto source =
      placed({write(0, 4096), write(512, 512), write(4095, 2), write(8192, 8192)}, "refuse", {1 << 20, 4096});
  CHECK(all(source) == List{{0, 1}, {0, 1}, {0, 2}, {2, 2}});
  CHECK(source.counts().widened == 2);
  CHECK(source.counts().requests == 4);
}

TEST_CASE("either end that lies within a block counts as one widened request") {
  auto source = placed({write(0, 100), write(100, 3996), write(100, 100), write(4096, 8192)}, "refuse",
                       {1 << 20, 4096});
  CHECK(all(source) == List{{0, 1}, {0, 1}, {0, 1}, {1, 2}});
  CHECK(source.counts().widened == 3);
}

TEST_CASE("trims are narrowed to the logical blocks that lie in them, others beside them live on") {
  const auto trim = [](std::uint64_t offset, std::uint64_t bytes) {
    return Request{HostOpcode::trim, false, 0, offset, bytes, 0};
  };
  // One block's worth across two, one with a block inside, a whole one, one that ends within its
  // first block, and one that ends where a block does.
  auto source =
      placed({trim(8704, 4096), trim(8704, 8192), trim(4096, 4096), trim(4196, 100), trim(100, 8092)},
             "refuse", {1 << 20, 4096});
  CHECK(all(source) == List{{3, 1}, {1, 1}, {1, 1}});
  CHECK(source.counts().requests == 5);
  CHECK(source.counts().narrowed == 2);
  CHECK(source.counts().too_small == 2);
  CHECK(source.counts().widened == 0);
}

TEST_CASE("requests that are skipped count as taken") {
  GeneratorConfig config;
  config.rw = "write";
  config.bs = "4k";
  config.size = "64k";
  LoadExtent extent;
  extent.volume_bytes = {65536};
  const DriveSize drive{1 << 20, 512};
  PlacedSource source(std::make_unique<Generator>(plan_generator(config, drive, FioUnits::scenario, 0), 1),
                      PlacementConfig{}, extent, drive, PlacedSource::k_all_volumes);
  CHECK(source.sequential_writes().requests == 16);
  source.skip(5);
  PlacedRequest request;
  REQUIRE(source.next(request));
  CHECK(request.lba == 5 * 8);
  CHECK(source.counts().requests == 6);
}

TEST_CASE("wrap takes addresses modulo the drive and splits what crosses the end") {
  // a drive of 100 blocks
  auto source =
      placed({write(0, 512), write(100 * 512, 1024), write(199 * 512, 1024), write(99 * 512, 512 * 202)},
             "wrap", {51200, 512});
  CHECK(all(source) == List{{0, 1}, {0, 2}, {99, 1}, {0, 1}, {99, 1}, {0, 100}, {0, 100}, {0, 1}});
  CHECK(source.counts().wrapped == 2);
  CHECK(source.counts().split == 4);
}

TEST_CASE("scale squeezes pages and keeps requests inside") {
  std::vector<Request> requests;
  for (std::uint64_t page = 0; page < 1000; ++page)
    requests.push_back(write(page * 4096, page == 999 ? 4096 : 8192));
  auto source = placed(requests, "scale", {100 * 4096, 512});
  std::uint64_t last = 0;
  PlacedRequest request;
  while (source.next(request)) {
    CHECK(request.lba % 8 == 0);
    CHECK(request.lba >= last);
    CHECK(request.lba + request.blocks <= 800);
    last = request.lba;
  }
  CHECK(last == 99 * 8);
  CHECK(source.counts().split == 0);
  CHECK(source.counts().scaled >= 990);
  CHECK(source.counts().scaled < 1000);  // the first page stays where it is
}

TEST_CASE("nothing moves when everything fits") {
  for (const char* how : {"wrap", "scale", "refuse"}) {
    auto source = placed({write(4096, 4096), write(0, 8192)}, how, {1 << 20, 512});
    CHECK(all(source) == List{{8, 8}, {0, 16}});
    CHECK(source.counts().wrapped + source.counts().scaled + source.counts().split == 0);
  }
}

TEST_CASE("refuse names the line and the size") {
  auto source = placed({write(0, 512), write(1 << 20, 512)}, "refuse", {1 << 20, 512});
  CHECK(source.refuses());
  CHECK(message_of([&] { all(source); }) ==
        "list:2: field offset: the request of 512 B at 1048576 B ends beyond the 1048576 B of the drive that "
        "the load may use, "
        "expected a larger drive or addresses: wrap or scale");
}

TEST_CASE("a trim beyond the drive is refused even where it holds no logical block") {
  const Request small{HostOpcode::trim, false, 0, 1 << 20, 512, 0};
  auto source = placed({write(0, 4096), small}, "refuse", {1 << 20, 4096});
  CHECK(source.refuses());
  CHECK_THAT(message_of([&] { all(source); }),
             Catch::StartsWith("list:2: field offset: the request of 512 B at 1048576 B ends beyond"));
}

TEST_CASE("volumes lie one after another, or one is chosen") {
  const std::vector<Request> requests = {write(1024, 512, 0), write(0, 512, 1), write(512, 512, 2)};
  auto together = placed(requests, "refuse", {16 << 20, 512});
  CHECK(all(together) == List{{2, 1}, {2048, 1}, {4097, 1}});
  auto one = placed(requests, "refuse", {1 << 20, 512}, 2);
  CHECK(all(one) == List{{1, 1}});
  CHECK(one.counts().other_volume == 2);
}

TEST_CASE("a region of the drive") {
  PlacementConfig config;
  config.region_offset = 10 * 512;
  config.region_size = 20 * 512;
  auto source = placed({write(0, 512), write(19 * 512, 1024)}, "wrap", {51200, 512},
                       PlacedSource::k_all_volumes, config);
  CHECK(all(source) == List{{10, 1}, {29, 1}, {10, 1}});
  config.region_size = 1 << 20;
  CHECK(message_of([&] {
          placed({write(0, 512)}, "wrap", {51200, 512}, PlacedSource::k_all_volumes, config);
        }) == "region_size: 1048576 B at 5120 B ends beyond the drive's 51200 B");
}

TEST_CASE("odd drives and huge trims stay inside under every policy") {
  for (const char* how : {"wrap", "scale"}) {
    for (const Bytes bytes : {Bytes{512}, Bytes{4096 * 3 + 512}, Bytes{999 * 512}}) {
      std::vector<Request> requests;
      for (std::uint64_t i = 0; i < 500; ++i) requests.push_back(write(i * 7919 * 333, 1 + i * 37));
      requests.push_back({HostOpcode::trim, false, 0, 12345, bytes * 3, 0});
      auto source = placed(requests, how, {bytes, 512});
      PlacedRequest request;
      while (source.next(request)) {
        REQUIRE(request.blocks > 0);
        REQUIRE(request.lba + request.blocks <= bytes / 512);
      }
    }
  }
}
