#include "platform/drive_catalogue.h"

#include "firmware/base/firmware.h"
#include "firmware/blocks/wear_policy.h"
#include "firmware/cache/cache_policy.h"
#include "firmware/core/feature_info.h"
#include "firmware/ecc/ecc_policy.h"
#include "firmware/mapping/mapping.h"
#include "firmware/pslc/data_path.h"
#include "firmware/victims/victim_policy.h"
#include "models/flash/scheduling/scheduler.h"
#include "models/nand/timing/timing_model.h"
#include "platform/ssd_config.h"

namespace tlmssd {

namespace {

void add_hardware(Catalogue& catalogue) {
  catalogue.section("ssd", "the drive's hardware");
  catalogue.section("ssd.host", "host interface: protocol, link and queues", HostConfig::parameters());
  catalogue.section("ssd.cpu", "controller cores that run the firmware", CpuConfig::parameters());
  catalogue.section("ssd.cpu.cycles", "cycles that one execution of each firmware stage takes",
                    CpuCyclesConfig::parameters());
  catalogue.section("ssd.cpu.assignment", "which cores may run each stage; an empty list: any of them",
                    CpuAssignmentConfig::parameters());
  catalogue
      .section("ssd.dram", "controller DRAM: mapping table, write buffer, data in flight",
               DramConfig::parameters())
      .policy("model",
              memory_models().beside("one interface: bandwidth, and a latency behind it",
                                     DramConfig::timing_parameters().specs()),
              std::string(k_own_memory), "the memory that stands there");
  catalogue
      .section("ssd.scm", "storage-class memory beside the DRAM; absent unless given",
               ScmConfig::parameters())
      .policy("model",
              memory_models().beside("banks of 512 B sectors behind one interface",
                                     ScmConfig::bank_parameters().specs()),
              std::string(k_own_memory), "the memory that stands there")
      .optional();
  catalogue.section("ssd.bus", "system bus between host interface, cores, flash controller and memories",
                    SystemBusConfig::parameters());
  catalogue.section("ssd.flash", "flash back end: channels, dies, bus, capacity", FlashConfig::parameters())
      .keys(FlashConfig::gang_parameters())
      .keys(FlashConfig::power_parameters())
      .keys(CapacityConfig::parameters());
  catalogue.section("ssd.flash.scheduling", "in which order a channel's operations start")
      .policy("policy", schedulers().infos(), "read-first", "which operation of a die goes next");
  catalogue.file("ssd.flash.part", "data sheet of the flash part", NandPart::parameters())
      .policy("timing", timing_models().infos(), "table", "model that gives the array's latencies");
  catalogue.section("ssd.flash.part.cost",
                    "prices of what a drive with this part is made of, in any currency; 0: not known",
                    CostConfig::parameters());
  catalogue.file("ssd.flash.reliability", "how many bits of a page are wrong", ErrorConfig::parameters())
      .keys(RetentionConfig::parameters())
      .policy("model", reliability_models().infos(), "none", "raw bit error rate by wear, age and reads");
  catalogue
      .section("ssd.flash.ecc", "decoders of the flash controller; what they are asked for is firmware.ecc",
               EccConfig::parameters())
      .policy("prediction", error_predictions().infos(), "none",
              "what quick-ldpc and ep-ldpc make of knowing where errors are likely, in place of their "
              "correctable");
  for (const EccCodeInfo& info : ecc_code_family())
    catalogue.section_of(info.origin, join_path("ssd.flash.ecc", info.name), info.summary, info.parameters());
}

void add_firmware(Catalogue& catalogue) {
  using namespace firmware;
  const std::string own(FirmwareFamily::k_own);
  catalogue.section("firmware", "the flash translation layer")
      .policy("model", firmware_family().infos(), own,
              "which firmware; the sections below are of the program's own, but for mapping.unit");
  catalogue.section("firmware.mapping", "where logical units lie", MappingConfig::parameters())
      .policy("scheme", mapping_family().infos(), "page", "mapping scheme")
      .only_of("firmware", own, {"unit"});
  catalogue
      .section("firmware.allocation", "how writes are spread over the flash", AllocationConfig::parameters())
      .only_of("firmware", own);
  catalogue.section("firmware.buffer", "write buffer in DRAM", BufferConfig::parameters())
      .only_of("firmware", own);
  catalogue
      .section("firmware.cache", "cache in SCM or DRAM, before the write buffer", CacheConfig::parameters())
      .policy("policy", cache_policies(), "none", "what is kept in the cache")
      .only_of("firmware", own);
  catalogue.section("firmware.gc", "garbage collection", GcConfig::parameters())
      .policy("policy", victim_family().infos(), "greedy", "which block is emptied next")
      .only_of("firmware", own);
  catalogue.section("firmware.wear", "wear levelling", WearConfig::parameters())
      .policy("policy", wear_family().infos(), "dynamic", "how wear is spread over the blocks")
      .only_of("firmware", own);
  catalogue.section("firmware.ecc", "error correction: how pages are read and decoded")
      .policy("policy", ecc_policies(), "none", "which code a page is read for, and what follows a failure")
      .only_of("firmware", own);
  catalogue
      .section("firmware.pslc", "blocks in SLC mode before the native ones (pSLC)", PslcConfig::parameters())
      .policy("policy", data_paths(), "none", "which writes go to blocks in SLC mode")
      .only_of("firmware", own);
  for (const FeatureInfo& info : features()) {
    catalogue.section_of(info.origin, info.path, info.doc, info.parameters)
        .policy("policy", info.policies(), "none", info.choice_doc)
        .closed()
        .only_of("firmware", own);
  }
}

}  // namespace

void add_drive_sections(Catalogue& catalogue) {
  add_hardware(catalogue);
  add_firmware(catalogue);
}

}  // namespace tlmssd
