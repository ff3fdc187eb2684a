#include "firmware/features/pass_voltage/pass_voltage.h"

#include <fmt/format.h>

#include "models/base/input_error.h"
#include "models/base/make_policy.h"
#include "models/base/report_within.h"

namespace tlmssd::firmware {

PassVoltage::PassVoltage(const FeatureContext& context) : core_(context.core) {
  if (!core_.ecc) {
    throw refusal("firmware.pass_voltage.policy",
                  fmt::format("'{}' goes by the bits that decoders correct, and nothing is decoded "
                              "(firmware.ecc.policy is none)",
                              context.choice.policy),
                  "none");
  }
  policy_ = make_policy(pass_voltage_family(), "firmware.pass_voltage.policy", context.choice.policy,
                        context.choice.values, core_.layout.total_blocks());
}

void PassVoltage::on_first_attempt(const ReadOp& read) {
  const FlashOp& op = read.op;
  const bool decoded = op.status != FlashStatus::uncorrectable;
  policy_->read({read.block, core_.pool.info(read.block).erases, op.pass_voltage, decoded,
                 decoded ? op.worst_errors : 0, core_.clock()});
}

void PassVoltage::report(StatisticsSink& sink) const {
  sink.open("pass voltage", "voltage of the word lines that are not read");
  report_within(sink, "firmware.pass_voltage.policy", *policy_);
  sink.close();
}

}  // namespace tlmssd::firmware
