// All ECC selection policies, one line each.
#include <algorithm>

#include "firmware/ecc/aoa.h"
#include "firmware/ecc/conventional.h"
#include "firmware/ecc/fixed.h"
#include "firmware/ecc/retry_only.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

namespace {

bool is_choice_of_codes(const ParameterSpec& spec) {
  return spec.kind == Kind::choice &&
         std::all_of(spec.choices.begin(), spec.choices.end(),
                     [](const auto& name) { return ecc_code_called(name) != EccCode::none; });
}

}  // namespace

EccFamily& ecc_family() {
  static auto family =
      EccFamily{}.with<FixedEcc>().with<ConventionalEcc>().with<AoaEcc>().with<RetryOnlyEcc>();
  return family;
}

std::vector<PolicyInfo> ecc_policies() {
  std::vector<PolicyInfo> infos =
      with_none(ecc_family(), "no error correction: nothing is decoded and nothing fails");
  // Codes of plug-ins may have come after the tables of parameters were made.
  for (PolicyInfo& info : infos) {
    for (ParameterSpec& spec : info.parameters) {
      if (is_choice_of_codes(spec)) spec.choices = ecc_code_names();
    }
  }
  return infos;
}

}  // namespace tlmssd::firmware
