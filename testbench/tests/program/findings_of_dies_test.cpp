// Findings: what keeps dies busy, and those who wait for them, is named by what it is.
#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>

#include "testbench/tests/program/finding.h"
#include "testbench/tests/program/planted.h"

namespace tlmssd::program_tests {

TEST_CASE("waits for merges of log blocks are told as merges, also where their data take long",
          "[program][figure]") {
  const std::string text = drive_with(
      "channels: 1, ways: 4, bus: 25 MT/s, over_provisioning: 40 %, part: {cell: slc, planes: 1, "
      "blocks_per_plane: 120, pages_per_block: 24, page_size: 16 KiB}",
      "firmware: {buffer: {capacity: 256 KiB}, mapping: {scheme: fast, log_blocks: 4}}\n" + k_fill +
          "load: {rw: randwrite, bs: 4k, number_ios: 2000}\n");
  const Json slow = run_with({}, text);
  const Json one = finding(slow, "p99.9 of write");
  INFO(one.dump());
  CHECK(one["cause"] == "merges of log blocks");
  CHECK(one["look_at"] == "ssd.flash.bus or ssd.flash.channels or firmware.mapping.log_blocks");
  CHECK(told(run_with({"ssd.flash.bus=4000 MT/s"}, text), "p99.9 of write", "look_at") ==
        "firmware.mapping.log_blocks");
}

TEST_CASE("erases of free blocks into SLC mode are not collection, and the pSLC's size is what it is",
          "[program]") {
  const std::string text = R"(ssd:
  flash: {channels: 1, ways: 1, user_capacity: 1 GB, part: {file: parts/nand/qlc-96-layer.yaml, pages_per_block: 64}}
firmware:
  allocation: {multi_plane: true}
  buffer: {capacity: 4 MiB}
  pslc: {policy: all, static: 1 %, dynamic: 10 %}
load: {rw: randwrite, bs: 16k, iodepth: 16, number_ios: 600, io_size: 10g}
)";
  const Folder folder;
  const Json report = report_of(folder, folder.write("s.yaml", text), "out");
  REQUIRE_FALSE(report["findings"].empty());
  for (const Json& one : report["findings"]) {
    INFO(one.dump());
    CHECK(one["cause"] == "erases for SLC mode");
    CHECK(one["look_at"] == "firmware.pslc");
  }
  const std::string said = run_ok(folder, {"run", folder / "s.yaml", "-o", folder / "again"}).out;
  const Json& pslc = report["statistics"]["firmware"]["pslc"];
  const auto mib = [&pslc](const char* name) { return pslc[name]["value"].get<double>() / (1 << 20); };
  CHECK(mib("size") < 0.5 * mib("size_allowed"));
  std::smatch match;
  REQUIRE(std::regex_search(
      said, match,
      std::regex("all, (\\S+) MiB of at most (\\S+) MiB,?\\s+(\\S+) MiB in use, (\\S+) MiB allowed now")));
  CHECK(std::stod(match[1]) == Approx(mib("size")).epsilon(0.01));
  CHECK(std::stod(match[2]) == Approx(mib("largest_size")).epsilon(0.01));
  CHECK(std::stod(match[3]) == Approx(mib("size_in_use")).epsilon(0.01));
  CHECK(std::stod(match[4]) == Approx(mib("size_allowed")).epsilon(0.01));
}

TEST_CASE("where a drive folds and collects, the one that keeps its dies longer makes the room",
          "[program][figure]") {
  const std::string text = R"(ssd:
  host: {lba_size: 4 KiB}
  flash: {channels: 2, ways: 1, user_capacity: 1 GiB, over_provisioning: 40 %, part: {file: parts/nand/qlc-96-layer.yaml, pages_per_block: 64}}
firmware:
  allocation: {multi_plane: true}
  pslc: {policy: all, static: 5 %, dynamic: 10 %, when_full: wait}
precondition: {fill: 100 %}
load: {rw: randwrite, bs: 16k, iodepth: 8, number_ios: 30000, io_size: 10g}
)";
  // At first blocks in SLC mode are folded into free ones, which must be erased; then these run
  // out.
  for (const auto& [commands, cause] :
       std::vector<std::pair<std::string, std::string>>{{"5000", "folding"}, {"30000", "collection"}}) {
    const Json report = run_with({"load.number_ios=" + commands}, text);
    const Json& dies = report["statistics"]["flash"]["dies"];
    INFO(dies.dump());
    CHECK(dies["busy_migration"]["value"] > 0.05);  // with the erases that folding takes
    CHECK((dies["busy_gc"]["value"] > 0.05) == (cause == "collection"));
    for (const Json& one : report["findings"]) {
      INFO(one.dump());
      CHECK(one["cause"] == cause);
    }
    REQUIRE(report["findings"].size() == 2);
  }
}

TEST_CASE("what moves data is named by what it is, not as moves", "[program]") {
  const std::string flash =
      "channels: 4, ways: 1, over_provisioning: 120 %, part: {planes: 1, blocks_per_plane: 80, "
      "pages_per_block: 64, page_size: 8 KiB}";
  const auto look_at = [&](const std::string& rest) {
    return told(run_with({}, drive_with(flash, rest)), "p99.9 of r", "look_at");
  };
  CHECK(look_at("firmware: {parity: {policy: behind-collection, stripe: 4}}\n"
                "precondition: [{fill: 50 %, order: sequential}]\n"
                "load:\n"
                "  - {name: w, rw: write, bs: 8k, rate_iops: 1000, iodepth: 8, number_ios: 4000, "
                "io_size: 10g, offset: 50%, size: 50%}\n"
                "  - {name: r, rw: randread, bs: 4k, iodepth: 2, rate_iops: 1000, number_ios: 4000, "
                "io_size: 10g, size: 50%}\n") == "firmware.parity");
  CHECK(look_at("firmware: {replicas: {policy: hot-reads, reads: 2, capacity: 16 MiB}}\n" + k_fill +
                "load: {name: r, rw: randread, bs: 4k, iodepth: 2, rate_iops: 3000, number_ios: 60000, "
                "io_size: 10g, random_distribution: 'zipf:0.8'}\n") == "firmware.replicas");
}

// The arrays take hardly any time: what waits does so for the batch before, not for reads of its
// own die.
TEST_CASE("waits for earlier batches of reads are told as such, not as reads of the flash",
          "[program][figure]") {
  const std::string batches = "firmware.parallel_issue.policy=batches";
  for (const char* const latency : {"1 ps", "60 us"}) {
    const std::string read = std::string("ssd.flash.part.read_latency=[") + latency + "]";
    const Json report = run_with({batches, read, "load.rw=randread", "load.iodepth=32"});
    const Json told_of_reads = finding(report, "p99.9 of read");
    INFO(latency << ": " << told_of_reads);
    CHECK(told_of_reads.value("cause", "") == "batches of reads");
    CHECK(told_of_reads.value("look_at", "") == "firmware.parallel_issue");
  }
}

TEST_CASE("what reading again costs is told from reads, and no less than what it gives",
          "[program][figure]") {
  const std::string text = drive_with(
      flash_of("channels: 2, ways: 2, user_capacity: 128 MiB",
               "planes: 1, page_size: 16 KiB, spare_size: 1680 B, endurance: 0") +
          ", reliability: {model: power-law, base: 0.0001, wear: 0, retention: 4e-4, disturb: 0, "
          "distribution: binomial, block_variation: 0, page_variation: 0}",
      "firmware: {ecc: {policy: retry-only, code: bch}}\nage: {cycles: 1000, retention: 90 d}\n" + k_fill +
          "run: {errors: accept}\nload: {rw: randread, bs: 16k, iodepth: 64, number_ios: 4000}\n");
  const Json retried = run_with({}, text);
  const Json& found = retried["findings"][0];
  INFO(found.dump());
  CHECK(found["cause"] == "error correction");
  CHECK(found["look_at"] == "ssd.flash.ecc or firmware.ecc");
  const Json sound = run_with({"ssd.flash.reliability.retention=0"}, text);
  const auto iops = [](const Json& report) { return report["results"]["total"]["iops"].get<double>(); };
  CHECK(most_times(found) >= iops(sound) / iops(retried) - 0.05);
}

// Six of seven senses are there for soft decoding only: hard LDPC reads the same data without.
TEST_CASE("senses that only the code asks for are told from reads, and no less than what they give",
          "[program][figure]") {
  const std::string text =
      drive_with(flash_of("channels: 2, ways: 2, user_capacity: 128 MiB",
                          "planes: 1, page_size: 16 KiB, spare_size: 1680 B, endurance: 0") +
                     ", reliability: {model: power-law}, ecc: {engines: 8}",
                 "firmware: {ecc: {policy: fixed, code: soft-ldpc}}\n" + k_fill +
                     "load: {rw: randread, bs: 16k, iodepth: 64, number_ios: 4000}\n");
  const auto iops = [](const Json& report) { return report["results"]["total"]["iops"].get<double>(); };
  const std::string k_without = "ssd.flash.ecc.soft-ldpc.extra_senses=0";
  const Json soft = run_with({}, text);
  const Json& senses = soft["statistics"]["flash"]["controller"]["decoders"];
  CHECK(senses["further_senses"]["value"] == 6 * senses["soft-ldpc"]["pages"]["value"].get<int>());
  CHECK(senses["further_senses_of_first_attempts"]["value"] == senses["further_senses"]["value"]);
  const Json& found = soft["findings"][0];
  INFO(found.dump());
  CHECK(found["cause"] == "further senses for the code");
  CHECK(found["look_at"] == "ssd.flash.ecc or firmware.ecc");
  const Json hard = run_with({k_without}, text);
  CHECK(most_times(found) >= iops(hard) / iops(soft) - 0.05);
  CHECK_FALSE(hard["statistics"]["flash"]["controller"]["decoders"].contains("further_senses"));
  // Of a read by itself, too.
  const Json alone = run_with({"load.iodepth=1"}, text);
  INFO(alone["findings"].dump());
  CHECK(alone["findings"][0]["cause"] == "further senses for the code");
}

TEST_CASE("one of several that is always busy is named", "[program][figure]") {
  const std::string drive = drive_with(
      flash_of("channels: 2, ways: 2, user_capacity: 128 MiB", "planes: 1, page_size: 4 KiB"), k_fill);
  const std::string reads = "load: {rw: randread, bs: 4k, iodepth: 16, number_ios: 4000}\n";
  const auto first = [&](const std::string& text, const Settings& settings) -> Json {
    return run_with(settings, text)["findings"][0];
  };
  const Json core =
      first(drive + reads, {"ssd.cpu.cores=4", "ssd.cpu.clock=20 MHz", "ssd.cpu.assignment={translate: [2]}",
                            "ssd.cpu.cycles.translate=2000"});
  INFO(core.dump());
  CHECK(core["cause"] == "one of the cores");
  CHECK_THAT(core["text"].get<std::string>(),
             Catch::StartsWith("one of the cores, core 2: ") && Catch::Contains("at 1.0"));
  CHECK(core["look_at"] == "ssd.cpu.clock or ssd.cpu.assignment");
  // Every sixteenth page lies on the same die.
  const Json die = first(drive + reads, {"load.blockalign=64k"});
  INFO(die.dump());
  CHECK(die["cause"] == "one of the dies");
  CHECK_THAT(die["text"].get<std::string>(), Catch::StartsWith("one of 4 dies: "));
  CHECK(die["look_at"] == "the addresses that are asked for");
  // Dies that are all busy are told of several loads as well.
  const Json two = first(drive +
                             "load:\n  - {name: a, rw: randread, bs: 4k, iodepth: 32, number_ios: 4000}\n"
                             "  - {name: b, rw: randread, bs: 4k, iodepth: 32, number_ios: 4000}\n",
                         {});
  CHECK_THAT(two["text"].get<std::string>(), Catch::StartsWith("the dies: "));
}

TEST_CASE("decoders are named with the codes that they decode", "[program]") {
  const std::string decoding =
      drive_with(flash_of("channels: 2, ways: 2, user_capacity: 128 MiB",
                          "planes: 1, page_size: 16 KiB, spare_size: 1680 B") +
                     ", reliability: {model: power-law}, ecc: {soft-ldpc: {throughput: 20 MB/s}}",
                 "firmware: {ecc: {policy: fixed, code: soft-ldpc}}\n" + k_fill +
                     "load: {rw: randread, bs: 16k, iodepth: 16, number_ios: 1000}\n");
  const Json first = run_with({}, decoding)["findings"][0];
  CHECK(first["cause"] == "the LDPC decoders");
  CHECK(first["look_at"] == "ssd.flash.ecc.engines or ssd.flash.ecc.soft-ldpc.throughput");
}

TEST_CASE("mapping pages that are written in parts are named, with what that costs", "[program][figure]") {
  const std::string text = k_tlc_drive +
                           "firmware: {mapping: {unit: 16 KiB}}\n"
                           "load: {rw: randwrite, bs: 4k, iodepth: 32, number_ios: 40000}\n";
  const Json report = run_with({}, text);
  const Json parts = finding(report, "mapping pages written in parts: ");
  INFO(report["findings"].dump());
  REQUIRE_FALSE(parts.empty());
  CHECK(parts["look_at"] == "firmware.mapping.unit");
  const std::string said = parts["text"].get<std::string>();
  CHECK(std::stod(said.substr(said.find(": ") + 2)) ==
        Approx(report["write_amplification"]["host"]["value"].get<double>()).margin(0.005));
  // Pages that writes fill, by themselves or together in the buffer.
  for (const Settings& settings :
       std::vector<Settings>{{"firmware.mapping.unit=4 KiB"}, {"load.bs=16k"}, {"load.rw=write"}})
    CHECK(told(run_with(settings, text), "mapping pages written in parts").empty());
}

TEST_CASE("padding is named, with why programs are not filled", "[program][figure]") {
  const std::string text = k_tlc_drive + "load: {rw: randwrite, bs: 4k, iodepth: 32, number_ios: 20000}\n";
  const Json through = run_with({"firmware.buffer.mode=write-through"}, text);
  INFO(through["findings"].dump());
  CHECK(told(through, "padding: 64.3 % of what was programmed holds no data: each write", "look_at") ==
        "firmware.buffer.mode");
  const Json flushed =
      run_with({"load.fsync=1", "load.iodepth=1", "load.numjobs=16", "load.number_ios=2000"}, text);
  INFO(flushed["findings"].dump());
  CHECK(told(flushed, "padding: ", "look_at") == "the host's flushes and force unit access");
  // Writes that fill program units, and a buffer that gathers them.
  CHECK(told(run_with({"firmware.buffer.mode=write-through", "load.bs=64k", "load.number_ios=2000"}, text),
             "padding")
            .empty());
  CHECK(told(run_with({}, text), "padding").empty());
}

TEST_CASE("dies that no command waits for are busy with the flash's own time, which no more dies shorten",
          "[program]") {
  const std::string text =
      replaced(k_tlc_drive, "channels: 2, ways: 2", "channels: 1, ways: 1, bus: 800 MT/s") +
      "load: {rw: randread, bs: 4k, iodepth: 1, number_ios: 3000}\n";
  const auto iops = [](const Json& report) { return report["results"]["total"]["iops"].get<double>(); };
  const Json alone = run_with({}, text);
  const Json dies = finding(alone, "the dies: ");
  INFO(alone["findings"].dump());
  REQUIRE_FALSE(dies.empty());
  CHECK(dies["cause"] == "the flash's own time");
  CHECK(dies["look_at"] == "ssd.flash.part");
  const Json& ledger = alone["results"]["total"]["operations"]["read"]["ledger"];
  CHECK(most_times(dies) == Approx(1 / (1 - ledger["sense"]["share"].get<double>())).epsilon(0.01));
  CHECK(iops(run_with({"ssd.flash.ways=4"}, text)) == Approx(iops(alone)).epsilon(0.01));
  const Json through = run_with({"load.rw=randwrite", "firmware.buffer.mode=write-through"}, text);
  CHECK(told(through, "the dies: ") == "the flash's own time");
  // Who has something waiting gains from more dies.
  const Json two = run_with({"load.iodepth=2"}, text);
  CHECK(told(two, "the dies: ") == "reads of the flash");
  CHECK(told(two, "the dies: ", "look_at") == "ssd.flash.ways or ssd.flash.channels");
  // No more than two are ever outstanding.
  const double more_dies = iops(run_with({"load.iodepth=2", "ssd.flash.ways=4"}, text)) / iops(two);
  CHECK(more_dies > 1.3);
  CHECK(most_times(finding(two, "the dies: ")) >= 0.999 * more_dies);
  CHECK(most_times(finding(two, "the dies: ")) < 2);
  // Writes that the buffer has taken say nothing of how many programs there are to do.
  CHECK(told(run_with({"load.rw=randwrite"}, text), "the dies: ") == "programs of host data");
}

TEST_CASE("dies that read pages of the map for commands are told with the map, which no more dies shorten",
          "[program][figure]") {
  const Settings settings = {"load.rw=randread",        "load.iodepth=1",
                             "load.ramp_requests=0",    "load.number_ios=3000",
                             "ssd.flash.channels=1",    "ssd.flash.ways=1",
                             "ssd.flash.bus=1600 MT/s", "firmware.mapping={scheme: dftl, cache: 4 KiB}"};
  const auto iops = [](const Json& report) { return report["results"]["total"]["iops"].get<double>(); };
  const auto with = [&](const std::string& more) {
    Settings changed = settings;
    changed.push_back(more);
    return run_with(changed);
  };
  const Json report = run_with(settings);
  INFO(report["findings"].dump());
  const Json dies = finding(report, "the dies: ");
  REQUIRE_FALSE(dies.empty());
  CHECK_THAT(dies["text"].get<std::string>(), Catch::Contains("commands hardly wait for them"));
  const auto map = std::find_if(report["findings"].begin(), report["findings"].end(), [](const Json& one) {
    return one["cause"] == "pages of the map" && one["text"].get<std::string>().starts_with("the dies: ");
  });
  REQUIRE(map != report["findings"].end());
  CHECK((*map)["look_at"] == "firmware.mapping.cache");
  const double more_cache = iops(with("firmware.mapping.cache=4 MiB")) / iops(report);
  CHECK(more_cache > 1.5);
  CHECK(most_times(*map) > 0.95 * more_cache);
  CHECK(iops(with("ssd.flash.ways=4")) < 1.1 * iops(report));
}

TEST_CASE("what goes with rewrites of regions, their erases too, is in what there would be without them",
          "[program]") {
  const std::string text = R"(
ssd:
  host: {queues: 1}
  flash:
    channels: 1
    ways: 1
    over_provisioning: 60 %
    part: {file: parts/nand/mqsim-mlc.yaml, planes: 1, blocks_per_plane: 64, pages_per_block: 16, spare_size: 0 B}
firmware: {mapping: {scheme: block-mapped, copyback: true, unit: 8 KiB}, buffer: {capacity: 256 KiB, mode: write-through}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randwrite, bs: 8k, iodepth: 1, number_ios: 100}
)";
  const Json report = run_with({}, text);
  INFO(report["findings"].dump());
  const Json dies = finding(report, "the dies: ");
  CHECK(dies["cause"] == "rewrites of block-mapped regions");
  const std::string told = dies["text"];
  const std::string about = "without that about ";
  REQUIRE(told.find(about) != std::string::npos);
  const auto iops = [](const Json& one) { return one["results"]["total"]["iops"].get<double>(); };
  // Nothing is rewritten, nor erased.
  const double truth =
      iops(run_with({}, replaced(text, "scheme: block-mapped, copyback: true", "scheme: page"))) /
      iops(report);
  CHECK(std::stod(told.substr(told.find(about) + about.size())) == Approx(truth).epsilon(0.15));
  const Json slow = finding(report, "p99.9 of write");
  // All that is charged to collection was erases.
  const Json& parts = report["results"]["total"]["operations"]["write"]["percentiles"]["p99.9"]["ledger"];
  const int erases = static_cast<int>(std::lround(parts["space wait"]["share"].get<double>() * 100));
  CHECK_THAT(slow["text"].get<std::string>(), Catch::Contains("erases " + std::to_string(erases) + " %"));
}

// What commands wait for in the layer is that earlier ones and cleaning get on, which programs keep
// waiting: without those, dies are left with the rest of their work.
TEST_CASE("waits for cleaning of the log-structured host layer are no time that stays", "[program][figure]") {
  const std::string text =
      "seed: 3\nlog_structured: {segment: 256 KiB, spare: 20 %, low_water: 8}\n" +
      drive_with("channels: 1, ways: 1, part: {blocks_per_plane: 64, pages_per_block: 64}",
                 "precondition: [{fill: 100 %, order: sequential}, {overwrite: 1x, order: random}]\n"
                 "load: {rw: randwrite, bs: 4k, iodepth: 32, loops: 100, number_ios: 15000}\n");
  const auto rate = [](const Json& report) { return report["results"]["total"]["iops"].get<double>(); };
  // Of the dies' time, what is left without programs of host data.
  const auto left_of = [](const Json& limit) {
    const std::string bound = limit["text"];
    std::smatch numbers;
    const std::regex words("the dies: ([0-9.]+) % .*, ([0-9.]+) % for programs of host data");
    REQUIRE(std::regex_search(bound, numbers, words));
    return (std::stod(numbers[1]) - std::stod(numbers[2])) / 100;
  };
  constexpr double k_as_written = 0.06;  // a digit
  for (const std::string buffer : {"256 KiB", "1 MiB"}) {
    const Settings settings = {"firmware.buffer.capacity=" + buffer};
    const Json report = run_with(settings, text);
    const Json limit = finding(report, "the dies: ");
    INFO(limit.dump());
    const double most = most_times(limit);
    CHECK(most > 1 / left_of(limit) - k_as_written);  // more dies shorten the rest, too
    const Json half = run_with({settings[0], "ssd.flash.part.program_latency=[375 us]"}, text);
    CHECK(rate(half) > 1.5 * rate(report));
    CHECK(rate(half) < most * rate(report));
  }
  // One at a time, each command has the processor for a millisecond: that stays.
  const Json costly = run_with({"load.iodepth=1", "log_structured.cost=1 ms"}, text);
  const Json limit = finding(costly, "the dies: ");
  INFO(limit.dump());
  CHECK(most_times(limit) == Approx(1000 / rate(costly)).margin(k_as_written));
  CHECK(most_times(limit) < 0.8 / left_of(limit));
}

TEST_CASE("reads that are slow for the power budget are told with it", "[program]") {
  const std::string text = R"(
ssd:
  host: {queues: 1}
  flash:
    channels: 2
    ways: 4
    over_provisioning: 100 %
    read_power: budgeted
    budget_dies: 1
    slow_read: 4
    suspend: program
    part: {file: parts/nand/mqsim-mlc.yaml, planes: 1, blocks_per_plane: 64, pages_per_block: 64, spare_size: 0 B, program_suspend_latency: 5 us}
firmware: {mapping: {unit: 8 KiB}, buffer: {capacity: 256 KiB, mode: write-through}}
precondition: [{fill: 100 %}]
load:
  - {name: w, rw: write, bs: 8k, iodepth: 4, number_ios: 3000}
  - {name: r, rw: randread, bs: 8k, iodepth: 1, number_ios: 400, rate_iops: 700}
)";
  const Json report = run_with({}, text);
  INFO(report["findings"].dump());
  CHECK_THAT(told(report, "p99.9 of r read"), Catch::Contains("the power budget"));
  CHECK(told(report, "p99.9 of r read", "look_at") == "ssd.flash.read_power");
  const Json& ledger = report["results"]["loads"][1]["operations"]["read"]["ledger"];
  CHECK(ledger["power budget"]["mean_ns"].get<double>() ==
        Approx(3 * ledger["sense"]["mean_ns"].get<double>()).epsilon(0.05));
}

}  // namespace tlmssd::program_tests
