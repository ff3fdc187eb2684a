#include <catch2/catch.hpp>

#include "models/base/input_error.h"
#include "models/nand/bus_timing.h"
#include "models/nand/timing/timing_model.h"

using namespace tlmssd;
using namespace tlmssd::literals;

TEST_CASE("page types follow page numbers, and units of several pages take the sum of their pages") {
  NandPart part;
  part.cell = "tlc";
  part.pages_per_block = 9;
  part.read_latency = {56'500'000, 77'500'000, 106'000'000};
  part.program_latency = {820'000'000, 2'225'000'000, 5'734'000'000};
  const auto timing = make_timing_model(part);
  CHECK(timing->answer(sense_operation(part, PageId{0})).duration == 56'500_ns);
  CHECK(timing->answer(sense_operation(part, PageId{4})).duration == 77'500_ns);
  CHECK(timing->answer(sense_operation(part, PageId{8})).duration == 106_us);
  CHECK(timing->answer(program_operation(part, PageId{1}, 1)).duration == 2225_us);
  CHECK(timing->answer(program_operation(part, PageId{3}, 3)).duration == 8779_us);
  CHECK(timing->answer(program_operation(part, PageId{2}, 5)).duration == 8779_us + 5734_us + 820_us);
  CHECK(timing->answer(erase_operation()).duration == part.erase_latency);
}

TEST_CASE("one latency serves all page types") {
  NandPart part;
  part.cell = "tlc";
  part.pages_per_block = 576;
  part.program_unit = "word-line";
  part.program_latency = {1'083'000'000};
  const auto timing = make_timing_model(part);
  CHECK(timing->answer(program_operation(part, PageId{0}, part.pages_per_program())).duration == 3249_us);
}

TEST_CASE("contradictory parts and unknown timing models are refused") {
  NandPart part;
  part.read_latency = {1, 2, 3};
  CHECK_THROWS_WITH(make_timing_model(part),
                    Catch::Contains("read_latency: ") && Catch::Contains(" has 3 values"));
  part.read_latency = {1};
  part.timing = "tabel";
  CHECK_THROWS_WITH(make_timing_model(part), Catch::Contains("tabel"));
  CHECK_THROWS_AS(BusTiming(NandPart{}, 400_MBps, 3000), InputError);
}

TEST_CASE("a part has an SLC mode when its sheet gives all latencies of it") {
  NandPart part;
  CHECK_FALSE(part.has_slc_mode());
  CHECK(part.slc_pages_per_block() == 0);
  CHECK(part.endurance_in_slc_mode() == 10'000);
  const auto refused = [&part](const char* why) {
    INFO(why);
    CHECK_THROWS_WITH(part.check(), Catch::Contains(why));
  };
  part.slc_endurance = 30'000;
  refused("there is no SLC mode");
  part.slc_read_latency = 28_us;
  refused("give all of slc_read_latency");
  part.slc_program_latency = 200_us;
  refused("give all of slc_read_latency");
  part.slc_erase_latency = 2_ms;
  CHECK_NOTHROW(part.check());
  CHECK(part.slc_pages_per_block() == 128);
  CHECK(part.endurance_in_slc_mode() == 30'000);
  const auto timing = make_timing_model(part);
  ArrayOperation op;
  op.mode = BlockMode::slc;
  op.page = PageId{7};
  CHECK(timing->answer(op).duration == 28_us);
  op.command = ArrayCommand::program;
  CHECK(timing->answer(op).duration == 200_us);
  op.command = ArrayCommand::erase;
  CHECK(timing->answer(op).duration == 2_ms);
  part.slc_endurance = 0;
  CHECK(part.endurance_in_slc_mode() == 10'000);
  part.slc_endurance = 30'000;
  part.endurance = 0;
  CHECK(part.endurance_in_slc_mode() == 0);
  part.cell = "tlc";
  part.read_latency = {1};
  refused("256 is not a multiple of the 3 bits per cell");
  part.cell = "slc";
  refused("whose native mode is slc");
}

TEST_CASE("bus phases are the sums of their cycles") {
  NandPart part;
  part.planes = 2;
  part.page_size = 16384;
  part.spare_size = 1000;
  const BusTiming bus(part, 400_MBps, 4096);
  CHECK(bus.read_command(1) == 7 * 25_ns + 100_ns);
  CHECK(bus.read_command(2) == 14 * 25_ns + 600_ns + 100_ns);
  CHECK(bus.erase_command(1) == 5 * 25_ns + 100_ns);
  CHECK(bus.status() == 130_ns);
  CHECK(bus.data_in(1).data == 43'460_ns);
  CHECK(bus.data_in(1).command == 7 * 25_ns + 70_ns + 100_ns);
  CHECK(bus.data_in(2).total() == 2 * (43'460_ns + 245_ns) + 600_ns + 100_ns);
  CHECK(bus.data_out(0, 4).data == 43'460_ns);
  CHECK(bus.data_out(0, 4).command == 20_ns + 7 * 25_ns + 300_ns);
  CHECK(bus.data_out(3, 2).command == 20_ns + 2 * (7 * 25_ns + 300_ns));  // from two planes
  CHECK(bus.data_out(3, 1).data == transfer_time(4096 + 250, 400_MBps));
  CHECK(bus.data_out(0, 0).total() == 130_ns);
}

TEST_CASE("every parameter of a part has a sentence and a default that reads back") {
  for (const ParameterSpec& spec : NandPart::parameters().specs()) {
    CHECK(!spec.name.empty());
    CHECK(spec.doc.size() > 10);
  }
  CHECK(NandPart::parameters().read(NoValues{}).read_latency == NandPart{}.read_latency);
}
