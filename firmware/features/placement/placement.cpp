#include "firmware/features/placement/placement.h"

#include <fmt/format.h>

#include "models/base/input_error.h"
#include "models/base/make_policy.h"
#include "models/base/report_within.h"

namespace tlmssd::firmware {

Placement::Placement(const FeatureContext& context) {
  const std::string& name = context.choice.policy;
  BlockPool& pool = context.core.pool;
  if (pool.by_name() || context.core.hooks.next_move.empty()) {
    throw refusal("firmware.placement.policy",
                  fmt::format("'{}' is about data that refresh moves, and there are none ({})", name,
                              pool.by_name() ? "log blocks have places of their own"
                                             : "firmware.refresh.policy is none"),
                  "none");
  }
  policy_ = make_policy(placement_family(), "firmware.placement.policy", name, context.choice.values,
                        pool.layout().total_blocks());
  pool.attach(*policy_);
}

void Placement::report(StatisticsSink& sink) const {
  sink.open("placement", "blocks for data that are read much");
  report_within(sink, "firmware.placement.policy", *policy_);
  sink.close();
}

}  // namespace tlmssd::firmware
