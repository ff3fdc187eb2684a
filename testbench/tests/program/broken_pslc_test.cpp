// Broken scenarios of drives with blocks in SLC mode. Where a nearest valid value is named, it is
// tried.
#include "testbench/tests/program/broken.h"

namespace tlmssd::program_tests {
namespace {

const std::string k_pslc = R"(title: small
ssd:
  host: {lba_size: 4 KiB}
  dram: {capacity: 64 MiB}
  flash:
    channels: 2
    over_provisioning: 40 %
    part:
      {cell: qlc, planes: 2, blocks_per_plane: 32, pages_per_block: 32, page_size: 16 KiB, program_unit: word-line,
       read_latency: [90 us], program_latency: [2 ms], erase_latency: 5 ms,
       slc_read_latency: 20 us, slc_program_latency: 200 us, slc_erase_latency: 3 ms}
firmware:
  buffer: {capacity: 2 MiB}
  pslc: {policy: all, static: 1 MiB, dynamic: 4 MiB}
load: {rw: randrw, number_ios: 100}
)";
constexpr const char* k_static = "static: 1 MiB";
constexpr const char* k_dynamic = "dynamic: 4 MiB";

}  // namespace

TEST_CASE("values of a pSLC that cannot be", "[program]") {
  refuse_all(
      {
          {"pslc: {", "pslc: {fold_frist: oldest, ",
           "@:14: key 'fold_frist' is not known in firmware.pslc; did you mean 'fold_first'?"},
          {"policy: all", "policy: alll",
           "@:14: firmware.pslc.policy: 'alll' is not known; did you mean 'all'?"},
          {k_static, "static: 1",
           "@:14: firmware.pslc.static: '1' has no unit; write for instance '1 KiB'..."},
          {k_static, "static: -1 MiB",
           "@:14: firmware.pslc.static: -1 MiB is out of range: must be 0 B to 1024 TiB"},
          {k_static, "static: 200 %", "@:14: firmware.pslc.static: 200 % is out of range: ..."},
          {k_dynamic, "when_full: never, dynamic: 4 MiB",
           "@:14: firmware.pslc.when_full: 'never' is not one of wait or bypass"},
          {k_dynamic, "fold_by: copybak, dynamic: 4 MiB",
           "@:14: firmware.pslc.fold_by: 'copybak' is not one of controller or copyback; did you mean "
           "'copyback'?"},
          {k_dynamic, "fold_first: x, dynamic: 4 MiB",
           "@:14: firmware.pslc.fold_first: 'x' is not one of oldest or emptiest"},
          {k_dynamic, "fold_below: 120 %, dynamic: 4 MiB",
           "@:14: firmware.pslc.fold_below: 120 % is out of range: must be 0 % to 100 %"},
          {k_dynamic, "idle_target: 0.5, dynamic: 4 MiB",
           "@:14: firmware.pslc.idle_target: '0.5' has no unit; write for instance '50 %' or '0.5x'"},
          {k_dynamic, "cold_from: 10 %, dynamic: 4 MiB", "@:14: key 'cold_from' ..."},
      },
      k_pslc);
}

TEST_CASE("a pSLC that contradicts itself or the drive", "[program]") {
  refuse_all(
      {
          {"static: 1 MiB, dynamic: 4 MiB", "static: 0 B",
           "@:14: firmware.pslc.static: 0 B, and no dynamic blocks either, are no pSLC; nearest valid: "
           "1048576 B"},
          {k_dynamic, "full_until: 80 %, dynamic: 4 MiB",
           "@:14: firmware.pslc.full_until: with 80 %, firmware.pslc.gone_at: 75 % lie before full_until (80 "
           "%); nearest valid: 75 %"},
          {k_dynamic, "of_free_space: 140 %, dynamic: 4 MiB",
           "@:14: firmware.pslc.of_free_space: 140 % are more blocks than there are: one in SLC mode, full "
           "of data, takes 75 % of a block's free space; nearest valid: 133.33 %"},
          {k_dynamic, "fold_below: 50 %, dynamic: 4 MiB",
           "@:14: firmware.pslc.fold_below: with 50 %, firmware.pslc.fold_until: background folding "
           "would stop at 20 %, before it starts "
           "(fold_below, "
           "50 %); nearest valid: 20 %"},
          {"policy: all", "policy: cold-bypass, cold_from: 60 %, cold_until: 20 %",
           "@:14: firmware.pslc.cold_until: 20 % lie before cold_from (60 %); nearest valid: 60 %"},
          {k_buffer, "  allocation: {stripe: C}\n  buffer:",
           "@:15: firmware.pslc.policy: blocks in SLC mode may not span dies (firmware.allocation.stripe is "
           "not none); "
           "nearest valid: none"},
          {k_buffer, "  mapping: {scheme: bast}\n  buffer:",
           "@:15: firmware.pslc.policy: blocks in SLC mode need page mapping (firmware.mapping.scheme is "
           "bast); nearest "
           "valid: none"},
          {k_buffer, "  mapping: {scheme: block-mapped, block: 64 KiB}\n  buffer:",
           "@:15: firmware.pslc.policy: blocks in SLC mode need page mapping (firmware.mapping.scheme is "
           "block-mapped); nearest valid: none"},
          {"slc_read_latency: 20 us, slc_program_latency: 200 us, slc_erase_latency: 3 ms", "endurance: 0",
           "@:14: firmware.pslc.policy: the flash part has no SLC mode (ssd.flash.part.slc_read_latency); "
           "nearest valid: "
           "none"},
      },
      k_pslc);
}

TEST_CASE("copies on the die where there can be none", "[program]") {
  refuse_all({{k_buffer, "  ecc: {policy: fixed}\n  buffer:",
               "@:15: firmware.pslc.fold_by: copies on the die do not pass the decoders, so that wrong bits "
               "would pile up "
               "(firmware.ecc.policy is not none); nearest valid: controller"},
              {"word-line", "block",
               "@:14: firmware.pslc.fold_by: a program unit of 32 pages is not to be found in a block of 8 "
               "pages in SLC mode; "
               "nearest valid: controller"}},
             replaced(k_pslc, "policy: all", "policy: all, fold_by: copyback"));
}

TEST_CASE("a pSLC that is too large, and the nearest that is not", "[program]") {
  const auto refused = [](const char* what, const char* by, const std::string& valid,
                          const std::string& complaint) {
    const Folder folder;
    refuse(folder, folder.write("s.yaml", replaced(k_pslc, what, by)),
           complaint + "; nearest valid: " + valid);
  };
  const auto accepted = [](const char* what, const std::string& by) {
    const Folder folder;
    const Outcome outcome =
        run(folder, {"run", folder.write("s.yaml", replaced(k_pslc, what, by)), "--out", folder / "out"});
    INFO(by << "\n" << outcome.err);
    CHECK(outcome.code == 0);
  };
  for (const char* size : {"static: 100 %", "static: 6 MiB", "static: 31 MiB"}) {
    const std::string blocks =
        size == std::string("static: 100 %") ? "128" : std::string(size).substr(8, size[9] == ' ' ? 1 : 2);
    refused(k_static, size, "5 MiB",
            "@:14: firmware.pslc.static: " + blocks +
                " blocks of each parallel unit would always be in SLC mode, but of its 32, 23 have to hold "
                "the data "
                "and 4 are set "
                "aside");
  }
  accepted(k_static, "static: 5 MiB");
  refused(
      k_dynamic, "dynamic: 32 MiB", "31 MiB",
      "@:14: firmware.pslc.dynamic: 32 blocks of each parallel unit might be in SLC mode, but it has only 31 "
      "beside the static "
      "ones");
  accepted(k_dynamic, "dynamic: 31 MiB");
  refused("40 %", "5 %", "19.07 %",
          "@:7: ssd.flash.over_provisioning: 31207 logical blocks need 31207 mapping pages, but of the 32768 "
          "on flash only "
          "27520 can be kept (8 parallel units x 32 blocks, of which 5 per parallel unit are set aside for "
          "garbage "
          "collection, open blocks "
          "and static pSLC)");
  accepted("40 %", "19.07 %");
}

}  // namespace tlmssd::program_tests
