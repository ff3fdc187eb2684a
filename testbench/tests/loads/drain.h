// What a load asks for, to its end.
#pragma once

#include <vector>

#include "testbench/loads/load.h"

namespace tlmssd::test {

inline std::vector<PlacedRequest> drain(const Load& load) {
  std::vector<PlacedRequest> requests;
  PlacedRequest request;
  while (load.source->next(request)) requests.push_back(request);
  return requests;
}

}  // namespace tlmssd::test
