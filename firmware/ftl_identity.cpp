// What must be the same in two drives for a snapshot of the one to be restored in the other, as far
// as firmware's configuration goes: of the snapshot's file and of firmware's part in it.
#include "firmware/core/feature_info.h"
#include "firmware/ftl.h"

namespace tlmssd::firmware {

Identity Ftl::identity(const FirmwareConfig& f) {
  Identity identity{{"firmware.mapping.scheme", f.mapping.scheme},
                    {"firmware.mapping.unit", std::to_string(f.mapping.unit)},
                    {"firmware.allocation.order", f.allocation.order},
                    {"firmware.allocation.stripe", f.allocation.stripe},
                    {"firmware.allocation.multi_plane", f.allocation.multi_plane ? "true" : "false"},
                    {"firmware.allocation.streams", f.allocation.streams},
                    {"firmware.cache.policy", f.cache.policy},
                    {"firmware.cache.medium", is_chosen(f.cache.policy) ? f.cache.medium : "none"},
                    {"firmware.gc.policy", f.gc.policy},
                    {"firmware.wear.policy", f.wear.policy},
                    {"firmware.ecc.policy", f.ecc.policy},
                    {"firmware.pslc.policy", f.pslc.policy},
                    {"firmware.pslc.fold_first", is_chosen(f.pslc.policy) ? f.pslc.fold_first : "none"}};
  for (const FeatureInfo& info : features()) {
    const FeatureChoice choice = f.choice(info.path);
    identity.emplace_back(info.path + ".policy", choice.policy);
    if (info.identity == nullptr) continue;
    for (auto& entry : info.identity(choice)) identity.push_back(std::move(entry));
  }
  return identity;
}

}  // namespace tlmssd::firmware
