// Broken firmware sections: policies, mapping schemes and caches that there are not, that do not go
// with the drive, or whose settings do nothing.
#include "testbench/tests/program/broken.h"

namespace tlmssd::program_tests {
namespace {

/// A section for the SCM (line 4), for scenarios whose cache is at fault (line 12).
const std::string k_with_scm = replaced(k_small, "  dram:", "  scm: {capacity: 1 MiB}\n  dram:");

}  // namespace

TEST_CASE("scenarios with unknown or foreign policies", "[program]") {
  refuse_all({
      {"  buffer:", "  gc: {policy: greddy}\n  buffer:",
       "@:11: firmware.gc.policy: 'greddy' is not known; did you mean 'greedy'?"},
      {"  buffer:", "  gc: {policy: greedy, choices: 4}\n  buffer:",
       "@:11: key 'choices' in firmware.gc belongs to policy 'd-choices', but policy is 'greedy'"},
      {"  buffer:", "  gc: {policy: d-choices, choices: 0}\n  buffer:",
       "@:11: firmware.gc.choices: 0 is out of ..."},
      {"    ways: 1", "    ways: 1\n    scheduling: {policy: fifo}",
       "@:8: ssd.flash.scheduling.policy: 'fifo' is not known; there is read-first, write-drain, "
       "out-of-order "
       "or in-order; one of your own needs its plug-in (plugins:, --plugin or TLMSSD_PLUGINS)"},
      {"    ways: 1", "    ways: 1\n    scheduling: {policy: in-order, starvation_bound: 1 ms}",
       "@:8: key 'starvation_bound' in ssd.flash.scheduling belongs to policy 'read-first' or 'write-drain', "
       "but policy is "
       "'in-order'"},
      {"  buffer:", "  allocation: {order: CWDD}\n  buffer:",
       "@:11: firmware.allocation.order: 'CWDD' is not one ..."},
      {"planes: 1", "planes: 1, timing: tabel",
       "@:9: ssd.flash.part.timing: 'tabel' is not known; did you mean 'table'?"},
      {"  buffer:", "  wear: {policy: sttic}\n  buffer:",
       "@:11: firmware.wear.policy: 'sttic' is not known; did you mean 'static'?"},
  });
}

TEST_CASE("scenarios with wrong block-mapped regions and stripes", "[program]") {
  refuse_all({
      {k_buffer, "  mapping: {scheme: block-mapped, block: 24 KiB}\n  buffer:",
       "@:11: firmware.mapping.block: 24576 B is not made of whole program units of 4096 B that divide the "
       "block of 65536 B that is erased at a time (1 dies x 1 planes x 16 pages); nearest valid: 16384 B"},
      {k_buffer, "  mapping: {scheme: block-mapped, block: 1 MiB}\n  buffer:",
       "@:11: firmware.mapping.block: 1048576 B is not made of whole program units of 4096 B that divide the "
       "block of 65536 B that is erased at a time (1 dies x 1 planes x 16 pages); nearest valid: 65536 B"},
      {k_buffer, "  allocation: {stripe: C}\n  mapping: {scheme: block-mapped, block: 6 KiB}\n  buffer:",
       "@:12: firmware.mapping.block: 6144 B is not made of whole program units of 4096 B that divide the "
       "block of 131072 B that is erased at a time (2 dies x 1 planes x 16 pages); nearest valid: 4096 B"},
      {k_buffer, "  mapping: {scheme: block-mapped, block: 32 KiB, placement: log}\n  buffer:",
       "@:11: firmware.mapping.block: a block-mapped region of 32768 B that is written as a log must be what "
       "is "
       "erased at a time; nearest valid: 65536 B"},
      {k_buffer, "  mapping: {scheme: block-mapped, placement: logs}\n  buffer:",
       "@:11: firmware.mapping.placement: 'logs' is not one of address or log; did you mean 'log'?"},
      {"{capacity: 256 KiB}", "{capacity: 64 KiB}\n  mapping: {scheme: block-mapped}",
       "@:11: firmware.buffer.capacity: 65536 B cannot hold two block-mapped regions of 65536 B each; "
       "nearest "
       "valid: 131072 B"},
      {k_buffer, "  mapping: {scheme: page, block: 64 KiB}\n  buffer:",
       "@:11: key 'block' in firmware.mapping belongs to scheme 'block-mapped', but scheme is 'page'"},
      {k_buffer, "  allocation: {stripe: CC}\n  buffer:",
       "@:11: firmware.allocation.stripe: 'CC' is not one of C, CD, CDW, CW, CWD, D, DC, DCW, DW, DWC, W, "
       "WC, WCD, WD, WDC or none; did you mean 'C'?"},
  });
}

TEST_CASE("scenarios with wrong log blocks", "[program]") {
  const char* const part = "blocks_per_plane: 32, pages_per_block: 16, page_size: 4 KiB}\nfirmware:";
  refuse_all({
      {k_buffer, "  mapping: {scheme: bast, log_blocks: 30}\n  buffer:",
       "@:11: firmware.mapping.log_blocks: 30 are too many for parallel units of 32 blocks that keep 731 "
       "mapping "
       "pages in all; nearest valid: 8"},
      {k_buffer, "  mapping: {scheme: fast}\n  buffer:",
       "@:11: firmware.mapping.log_blocks: 8 are too many for parallel units of 32 blocks that keep 731 "
       "mapping "
       "pages in all (by default: the scenario does not give it); nearest valid: 7"},
      {k_buffer, "  mapping: {scheme: superblock, log_blocks: 100}\n  buffer:",
       "@:11: firmware.mapping.log_blocks: 100 are too many for parallel units of 32 blocks that keep 731 "
       "mapping "
       "pages in all; nearest valid: 7"},
      {k_buffer, "  mapping: {scheme: bast, log_blocks: 0}\n  buffer:",
       "@:11: firmware.mapping.log_blocks: 0 is out of range: must be 1 to 1000000"},
      {k_buffer, "  mapping: {scheme: bast, adjacent: 4}\n  buffer:",
       "@:11: key 'adjacent' in firmware.mapping belongs to scheme 'superblock', but scheme is 'bast'"},
      {k_buffer, "  mapping: {scheme: bast, cache: 64 KiB}\n  buffer:",
       "@:11: key 'cache' in firmware.mapping belongs to scheme 'dftl', but scheme is 'bast'"},
      {k_buffer, "  mapping: {scheme: dftl, log_blocks: 4}\n  buffer:",
       "@:11: key 'log_blocks' in firmware.mapping belongs to scheme 'bast', 'fast' or 'superblock', but "
       "scheme is 'dftl'"},
      {k_buffer, "  mapping: {scheme: basst}\n  buffer:",
       "@:11: firmware.mapping.scheme: 'basst' is not known; did you mean 'bast'?"},
      {part,
       "blocks_per_plane: 4, pages_per_block: 16, page_size: 4 KiB}\nfirmware:\n  mapping: {scheme: bast}",
       "@:9: ssd.flash.part.blocks_per_plane: 4 are too few, 9 of them are set aside for log blocks and "
       "merges"},
      {part,
       "blocks_per_plane: 9, pages_per_block: 16, page_size: 4 KiB}\nfirmware:\n  mapping: {scheme: "
       "superblock}",
       "@:9: ssd.flash.part.blocks_per_plane: 9 are too few, 9 of them are set aside for log blocks and "
       "merges"},
      {"40 %\n    part: {planes: 1, blocks_per_plane: 32, pages_per_block: 16, page_size: 4 KiB}\nfirmware:",
       "2 %\n    part: {planes: 1, blocks_per_plane: 32, pages_per_block: 16, page_size: 4 "
       "KiB}\nfirmware:\n  mapping: {scheme: bast, log_blocks: 2}",
       "@:8: ssd.flash.over_provisioning: 1003 logical blocks need 1003 mapping pages, but of the 1024 on "
       "flash only 928 can be kept (2 parallel units x 32 blocks, of which 3 per parallel unit are set aside "
       "for log blocks "
       "and merges); nearest valid: 10.35 %"},
  });
}

TEST_CASE("settings of victims and streams with log blocks are reported as unused", "[program]") {
  const Folder folder;
  const auto warns = [&](const std::string& section, const std::string& key, const std::string& value) {
    const std::string scenario =
        folder.write("s.yaml", replaced(k_small, k_buffer,
                                        "  mapping: {scheme: bast, log_blocks: 4}\n  " + section + ": {" +
                                            key + ": " + value + "}\n  buffer:"));
    const Outcome outcome = run(folder, {"run", scenario});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    return outcome.out.find("parameter set that plays no part: firmware." + section + "." + key) !=
           std::string::npos;
  };
  CHECK(warns("gc", "policy", "fifo"));
  CHECK(warns("gc", "low_water", "3"));
  CHECK(warns("gc", "background_start", "1 %"));
  CHECK(warns("gc", "background_stop", "20 %"));
  CHECK(warns("gc", "idle_target", "20 %"));
  CHECK(warns("allocation", "streams", "shared"));
  CHECK_FALSE(warns("gc", "idle_after", "1 s"));
  CHECK_FALSE(warns("gc", "parallel_copies", "2"));
  CHECK_FALSE(warns("allocation", "stripe", "C"));
}

TEST_CASE("scenarios with wrong caches: without SCM", "[program]") {
  refuse_all({
      {k_buffer, "  cache: {policy: nv-wb}\n  buffer:",
       "@:11: firmware.cache.medium: scm, but the drive has no SCM; give it a section ssd.scm, or write "
       "'medium: dram' (by default: the scenario does not give it)"},
      {k_buffer, "  cache:\n    policy: nv-wb\n    medium: scm\n  buffer:",
       "@:13: firmware.cache.medium: scm, but the drive has no SCM; give it a section ssd.scm, or write "
       "'medium: dram'"},
      {k_buffer, "  cache: {policy: lru, medium: dram}\n  buffer:",
       "@:11: firmware.cache.capacity: a cache in DRAM needs its size (by default: the scenario does not "
       "give "
       "it)"},
      {k_buffer, "  cache: {policy: lru, medium: dram, capacity: 10 %}\n  buffer:",
       "@:11: firmware.cache.capacity: '10 %': '%' is not a unit of size; use B, KiB, MiB, GiB, TiB, kB, MB, "
       "GB or TB"},
      {k_buffer, "  cache: {policy: lru, medium: dram, capacity: 100 MiB}\n  buffer:",
       "@:4: ssd.dram.capacity: 64 MiB do not hold the mapping table, write buffer and cache (101 MiB) and "
       "one "
       "transfer (2 MiB)"},
      {k_buffer, "  cache: {policy: nv-wb, medium: scmm}\n  buffer:",
       "@:11: firmware.cache.medium: 'scmm' is not one of scm or dram; did you mean 'scm'?"},
      {k_buffer, "  cache: {policy: nvwb}\n  buffer:",
       "@:11: firmware.cache.policy: 'nvwb' is not known; did you mean 'nv-wb'?"},
      {k_buffer, "  cache: {policy: fifo}\n  buffer:",
       "@:11: firmware.cache.policy: 'fifo' is not known; there is none, nv-wb, write-only, read-write, "
       "scm-storage, lru or cflru; one of your own needs its plug-in (plugins:, --plugin or TLMSSD_PLUGINS)"},
      {k_buffer, "  parity: {policy: fifo}\n  buffer:",
       "@:11: firmware.parity.policy: 'fifo' is not known; there is none, behind-collection or "
       "behind-writes"},
      {k_buffer, "  cache: {policy: nv-wb, hot_writes: 3}\n  buffer:",
       "@:11: key 'hot_writes' in firmware.cache belongs to policy 'scm-storage', but policy is 'nv-wb'"},
      {k_buffer, "  cache: {policy: lru, evict_below_free: 5 %}\n  buffer:",
       "@:11: key 'evict_below_free' in firmware.cache belongs to policy 'nv-wb', 'write-only', 'read-write' "
       "or "
       "'scm-storage', but policy is 'lru'"},
      {k_buffer, "  cache: {policy: nv-wb, evict_below_fre: 5 %}\n  buffer:",
       "@:11: key 'evict_below_fre' is not known in firmware.cache; did you mean 'evict_below_free'?"},
  });
}

TEST_CASE("scenarios with wrong caches: in SCM", "[program]") {
  refuse_all(
      {
          {k_buffer, "  cache: {policy: nv-wb, capacity: 2 MiB}\n  buffer:",
           "@:12: firmware.cache.capacity: 2097152 B, but the SCM has 1048576 B; nearest valid: 1048576 B"},
          {k_buffer, "  cache: {policy: nv-wb, capacity: 4 KiB}\n  buffer:",
           "@:12: firmware.cache.capacity: 4096 B cannot hold two program units of 4096 B each; nearest "
           "valid: "
           "8192 B"},
          {k_buffer, "  cache: {policy: nv-wb, grain: 3000 B}\n  buffer:",
           "@:12: firmware.cache.grain: 3000 B does not divide the mapping page of 4096 B into whole logical "
           "blocks of 4096 B; nearest valid: 4096 B"},
          {k_buffer, "  cache: {policy: nv-wb, grain: 8 KiB}\n  buffer:",
           "@:12: firmware.cache.grain: 8192 B does not divide ..."},
          {k_buffer, "  cache: {policy: nv-wb, grain: 512}\n  buffer:",
           "@:12: firmware.cache.grain: '512' has no unit; write for instance '512 B'"},
          {k_buffer, "  cache: {policy: nv-wb, evict_below_free: 95 %}\n  buffer:",
           "@:12: firmware.cache.evict_below_free: 95 % is out of range: must be 0 % to 90 %"},
          {k_buffer, "  cache: {policy: read-write, second_touch: 2}\n  buffer:",
           "@:12: firmware.cache.second_touch: '2' is not true or false"},
          {k_buffer, "  cache: {policy: nv-wb, copy_in: all}\n  buffer:",
           "@:12: firmware.cache.copy_in: 'all' is not one of sectors or unit"},
          {k_buffer, "  cache: {policy: nv-wb, write_back: clean}\n  buffer:",
           "@:12: firmware.cache.write_back: 'clean' is not one of dirty or all"},
          {"capacity: 1 MiB", "capacity: 110 %",
           "@:4: ssd.scm.capacity: 110 % is out of range: must be 0.01 % to 100 %"},
          {"capacity: 1 MiB", "capacity: 0 %",
           "@:4: ssd.scm.capacity: 0 % is out of range: must be 0.01 % to 100 %"},
          {"capacity: 1 MiB", "capacity: 0.5 %",
           "@:4: ssd.scm.capacity: this share of the flash is 20971 B; at least 64 KiB are needed; nearest "
           "valid: ..."},
          {"capacity: 1 MiB", "capacity: 10",
           "@:4: ssd.scm.capacity: '10' has no unit; write for instance '10 MiB' or '10 %'"},
          {"capacity: 1 MiB", "capacity: ten %",
           "@:4: ssd.scm.capacity: 'ten %' is not a share; write for instance '50 MiB' or '10 %'"},
          {"capacity: 1 MiB", "capacity: 32 KiB",
           "@:4: ssd.scm.capacity: 32 KiB is out of range: must be 64 KiB to 16 TiB"},
      },
      k_with_scm);
}

TEST_CASE("cache settings without a cache are reported as unused", "[program]") {
  const Folder folder;
  const std::string scenario =
      folder.write("s.yaml", replaced(k_small, k_buffer, "  cache: {grain: 1 KiB}\n  buffer:"));
  const Outcome outcome = run(folder, {"run", scenario});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("parameter set that plays no part: firmware.cache.grain") != std::string::npos);
}

}  // namespace tlmssd::program_tests
