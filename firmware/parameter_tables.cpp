#include <fmt/format.h>

#include "firmware/base/allocation_order.h"
#include "firmware/base/config.h"
#include "firmware/base/layout.h"
#include "firmware/blocks/wear_policy.h"
#include "firmware/mapping/mapping.h"
#include "firmware/victims/victim_policy.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

namespace {
template <class Family>
std::vector<std::string> names(const Family& family) {
  std::vector<std::string> result;
  for (const PolicyInfo& info : family.infos()) result.push_back(info.name);
  return result;
}
}  // namespace

const ParameterTable<MappingConfig>& MappingConfig::parameters() {
  static const auto table = ParameterTable<MappingConfig>{}
                                .choice("scheme", &MappingConfig::scheme, names(mapping_family()),
                                        "how logical units find their place in flash")
                                .bytes("unit", &MappingConfig::unit, {512, 65536},
                                       "mapping page: the grain of the map; must divide the flash page and "
                                       "be a multiple of the logical block")
                                .shapes_state();
  return table;
}

const ParameterTable<AllocationConfig>& AllocationConfig::log_parameters() {
  static const auto table =
      ParameterTable<AllocationConfig>{}
          .choice("order", &AllocationConfig::order, allocation_orders(),
                  "order in which program units go round channels (C), ways (W), dies "
                  "(D) and planes (P); the first letter varies fastest")
          .shapes_state()
          .choice(
              "stripe", &AllocationConfig::stripe, stripes(),
              "dies that a block spans, as one block number and erased as one: none, or those that differ "
              "in channel (C), "
              "way (W) or die (D); its pages go round them, the first letter varying fastest")
          .shapes_state()
          .flag("multi_plane", &AllocationConfig::multi_plane,
                "operate all planes of a die together: one block number and page in "
                "every plane, written and erased as one")
          .shapes_state()
          .integer("programs_per_pu", &AllocationConfig::programs_per_pu, {1, 65536},
                   "host programs under way in one plane (with multi_plane: one die) at a "
                   "time; beyond that, data wait in the write buffer or go to the next in order");
  return table;
}

const ParameterTable<AllocationConfig>& AllocationConfig::parameters() {
  static const auto table = ParameterTable<AllocationConfig>(log_parameters())
                                .choice("streams", &AllocationConfig::streams, {"separate", "shared"},
                                        "whether data moved by garbage collection go to a block of their own "
                                        "or into the one that the host writes; not with log blocks")
                                .shapes_state();
  return table;
}

bool AllocationConfig::shares_open_blocks() const {
  if (streams != "shared" && streams != "separate") {
    throw refusal("firmware.allocation.streams", fmt::format("'{}' is neither separate nor shared", streams),
                  "separate");
  }
  return streams == "shared";
}

const ParameterTable<BufferConfig>& BufferConfig::parameters() {
  static const auto table =
      ParameterTable<BufferConfig>{}
          .bytes("capacity", &BufferConfig::capacity, {512, Bytes{1} << 36U},
                 "size of the write buffer in DRAM; at least two program units of a parallel unit")
          .shapes_state()
          .choice("mode", &BufferConfig::mode, {"write-back", "write-through"},
                  "whether a write completes when it is in the buffer or when it is in flash")
          .share("flush_at", &BufferConfig::flush_at, {0, 1},
                 "share of the buffer that may wait before it is written out; 0: as soon as there is a whole "
                 "program unit");
  return table;
}

bool BufferConfig::is_write_through() const {
  if (mode != "write-back" && mode != "write-through") {
    throw refusal("firmware.buffer.mode", fmt::format("'{}' is neither write-back nor write-through", mode),
                  "write-back");
  }
  return mode == "write-through";
}

const ParameterTable<CacheConfig>& CacheConfig::parameters() {
  static const auto table =
      ParameterTable<CacheConfig>{}
          .choice("medium", &CacheConfig::medium, {"scm", "dram"}, "memory that the cache lies in")
          .shapes_state()
          .bytes("capacity", &CacheConfig::capacity, {0, Bytes{1} << 44U},
                 "size of the cache; 0: all of the SCM (a cache in DRAM must say how much)")
          .settles_state()
          .bytes("grain", &CacheConfig::grain, {0, 65536},
                 "piece in which its memory is given out; a unit that is here in part occupies only the "
                 "pieces it "
                 "needs (at least a logical block; 0: a whole mapping page)")
          .settles_state()
          .choice("copy_in", &CacheConfig::copy_in, {"sectors", "unit"},
                  "what a read copies in from flash: the logical blocks asked for, or the mapping pages they "
                  "lie in")
          .flag("copy_waits", &CacheConfig::copy_waits,
                "whether a read waits until there is room for what it copies in, up to an eighth of the "
                "cache; if not, nothing is copied when there is none")
          .choice("write_back", &CacheConfig::write_back, {"dirty", "all"},
                  "what an eviction writes to flash: lines that flash has not, or every line (the cache "
                  "counts as the "
                  "home of what was copied into it)");
  return table;
}

const ParameterTable<GcConfig>& GcConfig::log_parameters() {
  static const auto table =
      ParameterTable<GcConfig>{}
          .integer(
              "parallel_copies", &GcConfig::parallel_copies, {1, 1024},
              "page reads and program units under way at the same time in the cleaning of one parallel unit")
          .time("idle_after", &GcConfig::idle_after, {0, 1'000'000'000'000'000},
                "time without host commands after which all parallel units are cleaned up to idle_target, or "
                "all log "
                "blocks merged; 0: never");
  return table;
}

// What follows is about victims, which log blocks do without.
const ParameterTable<GcConfig>& GcConfig::parameters() {
  static const auto table =
      ParameterTable<GcConfig>(log_parameters())
          .share("idle_target", &GcConfig::idle_target, {0, 1},
                 "free blocks of a parallel unit, as a share of its spare blocks, up to which idle time is "
                 "used for cleaning; at most half of them")
          .choice("policy", &GcConfig::policy, names(victim_family()), "which block is emptied next")
          .integer(
              "low_water", &GcConfig::low_water, {1, 1024},
              "free blocks per parallel unit that the host leaves to garbage collection; at this level host "
              "writes wait for it (foreground). Blocks that fail while collection has taken its free ones "
              "can leave none, and the drive is read-only, oftenest with 1, but with 2 or 3 as well; more "
              "prevents that, and with less room the drive takes less all the same")
          .share("background_start", &GcConfig::background_start, {0, 1},
                 "free blocks of a parallel unit, as a share of its spare blocks, below which it is cleaned "
                 "in the background, at least low_water + 1; 0: never, and so where half of the spare "
                 "blocks are fewer than low_water + 2")
          .share(
              "background_stop", &GcConfig::background_stop, {0, 1},
              "free blocks of a parallel unit, as a share of its spare blocks, at which background cleaning "
              "stops; at most half of them");
  return table;
}

const ParameterTable<WearConfig>& WearConfig::parameters() {
  static const auto table = ParameterTable<WearConfig>{}.choice(
      "policy", &WearConfig::policy, names(wear_family()), "how erases are spread over the blocks");
  return table;
}

const ParameterTable<PslcConfig>& PslcConfig::parameters() {
  constexpr Bytes k_most = Bytes{1} << 50U;
  static const auto table =
      ParameterTable<PslcConfig>{}
          .bytes_or_share("static", &PslcConfig::static_bytes, &PslcConfig::static_share, {0, k_most},
                          "data that fit into blocks that are always in SLC mode, or that as a share of the "
                          "flash (all of it, spare "
                          "blocks included); they are no part of the native capacity")
          .bytes_or_share("dynamic", &PslcConfig::dynamic_bytes, &PslcConfig::dynamic_share, {0, k_most},
                          "data that fit, at most, into blocks that the native ones lend, or that as a "
                          "share of the flash")
          .share("full_until", &PslcConfig::full_until, {0, 1},
                 "share of the logical capacity with valid data up to which all of these may be in SLC mode")
          .share("gone_at", &PslcConfig::gone_at, {0, 2},
                 "share of the logical capacity with valid data from which none may; in between in a "
                 "straight line")
          .share(
              "of_free_space", &PslcConfig::of_free_space, {0, 2},
              "blocks that are lent at most, as a share of those that valid data would leave empty in "
              "native mode; more than 100 % count on the room that data in dynamic blocks save there: up to "
              "b / (b - 1), with b bits per cell")
          .choice("when_full", &PslcConfig::when_full, {"wait", "bypass"},
                  "whether writes without room in SLC mode wait for folding or go to native blocks")
          .share("bypass_buffer", &PslcConfig::bypass_buffer, {0, 0.9},
                 "part of the write buffer for writes that bypass SLC, where the policy "
                 "sends some there; at least a program unit, and two are left for the others; 0, or a buffer "
                 "of less than three: one for all, first come first served")
          .share(
              "fold_below", &PslcConfig::fold_below, {0, 1},
              "blocks of a parallel unit's pSLC that are free, as a share of it, below which data are folded "
              "in the background; 0: never")
          .share(
              "fold_until", &PslcConfig::fold_until, {0, 1},
              "blocks of a parallel unit's pSLC that are free, as a share of it, at which background folding "
              "stops")
          .share("idle_target", &PslcConfig::idle_target, {0, 1},
                 "blocks of a parallel unit's pSLC that are free, as a share of it, up to which idle time "
                 "(gc.idle_after) is used for folding; 0: "
                 "never")
          .choice("fold_by", &PslcConfig::fold_by, {"controller", "copyback"},
                  "whether folded data pass through the controller, or are copied on their die where whole "
                  "program units of consecutive "
                  "pages are valid")
          .choice("fold_first", &PslcConfig::fold_first, {"oldest", "emptiest"},
                  "which block in SLC mode is emptied first: the one written longest ago, or the one with "
                  "the fewest valid units")
          .shapes_state();
  return table;
}

}  // namespace tlmssd::firmware
