// Random loads under every policy, with and without error correction: ledgers add up, data come
// back, every operation ends, the protocol is kept, and the same load gives the same result.
#include "testbench/tests/flash/random_load.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using namespace tlmssd::test;

TEST_CASE("random load, in-order") {
  load(small("in-order"));
}

TEST_CASE("random load, out-of-order") {
  load(small("out-of-order"));
}

TEST_CASE("random load, read-first") {
  load(small("read-first"));
}

TEST_CASE("random load, in-order with cached operations") {
  Options o = small("in-order");
  o.config.cache_operations = true;
  load(o);
}

TEST_CASE("random load, out-of-order with cached operations and slow memory") {
  Options o = small("out-of-order");
  o.config.cache_operations = true;
  o.memory_latency = 60_us;
  load(o);
}

TEST_CASE("random load, read-first with suspend and cached operations") {
  Options o = small("read-first");
  o.config.cache_operations = true;
  o.config.suspend = "both";
  load(o);
}

TEST_CASE("random load, read-first with suspend, word lines and late memory") {
  Options o = small("read-first");
  o.config.suspend = "both";
  o.part.program_unit = "word-line";
  o.memory_latency = 60_us;
  o.late_memory = true;
  load(o);
}

TEST_CASE("random load, read-first with suspend, whole blocks and cached operations") {
  Options o = small("read-first");
  o.config.suspend = "both";
  o.config.cache_operations = true;
  o.part.program_unit = "block";
  load(o);
}

TEST_CASE("random load with codes, in-order with cached operations") {
  Options o = small("in-order");
  o.config.cache_operations = true;
  load(with_errors(o), 1, true);
}

TEST_CASE("random load with codes, out-of-order with cached operations and slow memory") {
  Options o = small("out-of-order");
  o.config.cache_operations = true;
  o.memory_latency = 60_us;
  load(with_errors(o), 1, true);
}

TEST_CASE("random load with codes, read-first with suspend and cached operations") {
  Options o = small("read-first");
  o.config.cache_operations = true;
  o.config.suspend = "both";
  load(with_errors(o), 1, true);
}

TEST_CASE("random load with codes, read-first with suspend, word lines and late memory") {
  Options o = small("read-first");
  o.config.suspend = "both";
  o.part.program_unit = "word-line";
  o.memory_latency = 60_us;
  o.late_memory = true;
  load(with_errors(o), 1, true);
}

TEST_CASE("random load in both modes, out-of-order with cached operations") {
  Options o = small("out-of-order");
  o.config.cache_operations = true;
  load(with_modes(o));
}

TEST_CASE("random load in both modes, read-first with suspend, word lines, late memory and a gang") {
  Options o = small("read-first");
  o.config.suspend = "both";
  o.config.organisation = "shared-control-gang";
  o.part.program_unit = "word-line";
  o.memory_latency = 60_us;
  o.late_memory = true;
  load(with_modes(o));
}

TEST_CASE("random load in both modes with codes, whole blocks and cached operations") {
  Options o = small("read-first");
  o.config.suspend = "both";
  o.config.cache_operations = true;
  o.part.program_unit = "block";
  load(with_errors(with_modes(o)), 1, true);
}

TEST_CASE("the same load in both modes gives the same result, one mode another") {
  Options o = small("read-first");
  o.config.suspend = "both";
  const std::uint64_t first = load_in_child(with_modes(o), 1);
  CHECK(first == load_in_child(with_modes(o), 1));
  CHECK(first != load_in_child(o, 1));
}

TEST_CASE("reads without a code cost what they cost without decoders, with codes the same load is repeatable",
          "[figure]") {
  Options o = small("read-first");
  o.config.suspend = "both";
  o.config.cache_operations = true;
  CHECK(load_in_child(o, 1) == load_in_child(with_errors(o), 1));
  const std::uint64_t first = load_in_child(with_errors(o), 1, true);
  CHECK(first == load_in_child(with_errors(o), 1, true));
  CHECK(first != load_in_child(with_errors(o), 2, true));
}

TEST_CASE("the same load gives the same result, another seed another") {
  Options o = small("read-first");
  o.config.suspend = "both";
  o.config.cache_operations = true;
  const std::uint64_t first = load_in_child(o, 1);
  CHECK(first == load_in_child(o, 1));
  CHECK(first != load_in_child(o, 2));
}
