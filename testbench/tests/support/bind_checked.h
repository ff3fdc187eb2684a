// Two sockets bound with a protocol checker in between.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/tlm/protocol_checker.h"

namespace tlmssd {

/// `checkers` keeps the new one, which is called after its number there.
template <class Initiator, class Target>
void bind_checked(std::vector<std::unique_ptr<ProtocolChecker>>& checkers, Initiator& initiator,
                  Target& target) {
  checkers.push_back(
      std::make_unique<ProtocolChecker>(("checker_" + std::to_string(checkers.size())).c_str()));
  initiator.bind(checkers.back()->tsock);
  checkers.back()->isock.bind(target);
}

}  // namespace tlmssd
