// What passes before the first command of interest: start-up of a run, and drives that are full or
// in steady state without having been written.
#include <systemc>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "testbench/app/commands.h"
#include "testbench/bench/bench.h"
#include "testbench/bench/loads.h"

namespace {

using namespace tlmssd;
using namespace tlmssd::literals;

/// A folder that is gone with this object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tlmssd_bench_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// `tlmssd run` of 1,000 reads on a drive of 128 GiB that was never written, from the scenario's
/// text to the report; loading the program itself is not in it.
bench::Result start_up() {
  const Folder folder;
  RunOptions options;
  options.scenario_text =
      "ssd:\n"
      "  flash:\n"
      "    channels: 8\n"
      "    ways: 4\n"
      "    user_capacity: 128 GiB\n"
      "    part: {planes: 4, page_size: 16 KiB, pages_per_block: 768}\n"
      "load: {rw: randread, bs: 4k, iodepth: 16, size: 100%, number_ios: 1000}\n";
  options.out = folder.file("results");
  options.quiet = true;
  int code = -1;
  const double cost = bench::timed([&] { code = run_command(options); });
  if (code != k_exit_ok) throw std::runtime_error("the run has failed");
  return {cost, 1, "run"};
}

SsdConfig drive_of(std::uint32_t ways, Bytes user) {
  SsdConfig config;
  config.host.lba_size = 4096;
  config.dram.capacity = 4_GiB;
  config.flash.channels = 8;
  config.flash.ways = ways;
  config.part.planes = 1;
  config.part.page_size = 4096;
  config.part.pages_per_block = 256;
  config.capacity.user_capacity = user;
  config.capacity.over_provisioning = 0.125;
  return config;
}

/// A drive of 1 TiB, filled in order.
bench::Result known_fill() {
  Simulation simulation(drive_of(8, 1024_GiB));
  const Bytes size = simulation.drive_size().bytes;
  const double cost = bench::timed([&] { bench::fill(simulation, size); });
  return {cost, 1, "drive"};
}

bench::Result steady_state() {
  Simulation simulation(drive_of(2, bench::scaled(32_GiB, 32)));
  const auto pages = static_cast<double>(simulation.drive_size().bytes / 4_KiB);
  std::string why_not;
  bool made = false;
  const double cost = bench::timed([&] { made = simulation.make_steady(1, why_not).has_value(); });
  if (!made) throw std::logic_error(why_not);
  return {cost, pages, "page"};
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  return bench::run_cases(
      argc, argv,
      {{"start_up", start_up, "start-up: a run of 1,000 reads on a drive of 128 GiB"},
       {"known_fill_1_tib", known_fill, "1 TiB filled in order, at once"},
       {"steady_state", steady_state, "steady state without being written, per page of the drive"}});
}
