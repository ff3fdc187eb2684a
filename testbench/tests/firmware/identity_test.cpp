// What a snapshot's identity has of firmware's configuration: the choices, and the parameters that
// their tables mark, given or not.
#include <catch2/catch.hpp>
#include <string>

#include "firmware/ftl.h"
#include "testbench/tests/support/given.h"

namespace tlmssd::firmware {
namespace {

std::string value_of(const FirmwareConfig& config, const std::string& key) {
  std::string found;
  for (const auto& [name, value] : Ftl::identity(config)) {
    if (name != key) continue;
    CHECK(found.empty());
    found = value;
  }
  return found;
}

TEST_CASE("the identity of a plain drive's firmware") {
  std::string lines;
  for (const auto& [key, value] : Ftl::identity({})) {
    if (features().find(std::string_view(key).substr(0, key.rfind('.'))) != nullptr) {
      CHECK(key.ends_with(".policy"));
      CHECK(value == "none");
    } else {
      lines += key + " " + value + "\n";
    }
  }
  CHECK(lines ==
        "firmware.mapping.scheme page\n"
        "firmware.mapping.unit 4 KiB\n"
        "firmware.allocation.order CWDP\n"
        "firmware.allocation.stripe none\n"
        "firmware.allocation.multi_plane false\n"
        "firmware.allocation.streams separate\n"
        "firmware.buffer.capacity 32 MiB\n"
        "firmware.cache.policy none\n"
        "firmware.gc.policy greedy\n"
        "firmware.wear.policy dynamic\n"
        "firmware.ecc.policy none\n"
        "firmware.pslc.policy none\n");
}

TEST_CASE("the identity has the marked parameters of what is chosen") {
  FirmwareConfig config;
  CHECK(value_of(config, "firmware.cache.medium").empty());
  CHECK(value_of(config, "firmware.buffer.mode").empty());  // a drained buffer is empty in either
  CHECK(value_of(config, "firmware.pslc.fold_first").empty());
  CHECK(value_of(config, "firmware.streams.handles").empty());
  config.cache.policy = "lru";
  config.pslc.policy = "all";
  CHECK(value_of(config, "firmware.cache.medium") == "scm");
  CHECK(value_of(config, "firmware.pslc.fold_first") == "oldest");
  if (has_feature("firmware.streams")) {
    choose(config, "firmware.streams", "initially-isolated");
    CHECK(value_of(config, "firmware.streams.handles") == "8");
    choose(config, "firmware.streams", "initially-isolated", {{"handles", whole(5)}});
    CHECK(value_of(config, "firmware.streams.handles") == "5");
  }
  if (has_feature("firmware.replicas")) {
    choose(config, "firmware.replicas", "hot-reads", {{"capacity", whole(1 << 20)}, {"list", whole(4096)}});
    CHECK(value_of(config, "firmware.replicas.policy") == "hot-reads");
    CHECK(value_of(config, "firmware.replicas.capacity") == "1 MiB");
    CHECK(value_of(config, "firmware.replicas.list").empty());
  }
}

}  // namespace
}  // namespace tlmssd::firmware
