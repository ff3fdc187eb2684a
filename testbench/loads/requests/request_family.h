// Requests made by a class of a plug-in (`load: {source: NAME}`): a RequestSource with k_name,
// k_summary, a Config and a constructor (Config, const SourceContext&), as PolicyFamily wants them.
//
// Its addresses are bytes of the drive, from 0 on; what lies beyond its end, or is no request,
// ends the run with the load's name. With pacing: open-loop each request is issued at its time.
// Chance comes from RandomStream(context.seed, "...").
#pragma once

#include "models/base/parameters.h"
#include "testbench/loads/requests/request.h"

namespace tlmssd {

/// What a source is made with.
struct SourceContext {
  Bytes bytes = 0;  ///< of the drive
  std::uint32_t lba_bytes = 512;
  std::uint64_t seed = 0;
};

using RequestFamily = PolicyFamily<RequestSource, const SourceContext&>;
/// Those of plug-ins; the program's own loads have variants of their own (load_config.h).
RequestFamily& request_sources();

}  // namespace tlmssd
