// The list of features: a new one is a folder under features/ and its line here.
#include "firmware/core/feature_info.h"
#include "firmware/features/pacing/pacing.h"
#include "firmware/features/parallel_issue/parallel_issue.h"
#include "firmware/features/parity/parity.h"
#include "firmware/features/partition/partition.h"
#include "firmware/features/pass_voltage/pass_voltage.h"
#include "firmware/features/placement/placement.h"
#include "firmware/features/promotion/promoter.h"
#include "firmware/features/read_ahead/read_ahead.h"
#include "firmware/features/redirection/redirection.h"
#include "firmware/features/refresh/refresher.h"
#include "firmware/features/replicas/replicas.h"
#include "firmware/features/streams/streams.h"

namespace tlmssd::firmware {

FeatureFamily& features() {
  // clang-format off
  static FeatureFamily list{
      feature_info<Refresher>(),
      feature_info<Placement>(),
      feature_info<PassVoltage>(),
      feature_info<Promoter>(),
      feature_info<Replicas>(),
      feature_info<Partition>(),
      feature_info<Pacing>(),
      feature_info<Streams>(),
      feature_info<Parity>(),
      feature_info<ParallelIssue>(),
      feature_info<Redirection>(),
      feature_info<ReadAhead>(),
  };
  // clang-format on
  return list;
}

}  // namespace tlmssd::firmware
