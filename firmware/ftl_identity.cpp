// What firmware's configuration adds to the identity of a snapshot: of the file, and of firmware's
// part in it.
#include "firmware/blocks/wear_policy.h"
#include "firmware/cache/cache_policy.h"
#include "firmware/core/feature_info.h"
#include "firmware/ecc/ecc_policy.h"
#include "firmware/ftl.h"
#include "firmware/mapping/mapping.h"
#include "firmware/pslc/data_path.h"
#include "firmware/victims/victim_policy.h"

namespace tlmssd::firmware {

Identity Ftl::identity(const FirmwareConfig& f) {
  Identity identity;
  const auto choice = [&](const char* section, const char* key, const std::string& policy,
                          const std::vector<PolicyInfo>& policies, const PolicyValues& values) {
    identify_choice(identity, section, key, policy, policies, values.get());
  };
  choice("firmware.mapping", "scheme", f.mapping.scheme, mapping_family().infos(), f.mapping_policy);
  identify(identity, "firmware.mapping", f.mapping);
  identify(identity, "firmware.allocation", f.allocation);
  identify(identity, "firmware.buffer", f.buffer);
  choice("firmware.cache", "policy", f.cache.policy, cache_family().infos(), f.cache_policy);
  if (is_chosen(f.cache.policy)) identify(identity, "firmware.cache", f.cache);
  choice("firmware.gc", "policy", f.gc.policy, victim_family().infos(), f.gc_policy);
  choice("firmware.wear", "policy", f.wear.policy, wear_family().infos(), f.wear_policy);
  choice("firmware.ecc", "policy", f.ecc.policy, ecc_family().infos(), f.ecc_policy);
  choice("firmware.pslc", "policy", f.pslc.policy, path_family().infos(), f.pslc_policy);
  if (is_chosen(f.pslc.policy)) identify(identity, "firmware.pslc", f.pslc);
  for (const FeatureInfo& info : features()) {
    const FeatureChoice chosen = f.choice(info.path);
    identify_choice(identity, info.path, "policy", chosen.policy, info.policies(), chosen.values.get());
    if (chosen.is_on()) identify(identity, info.path, info.parameters, chosen.values.get());
  }
  return identity;
}

}  // namespace tlmssd::firmware
