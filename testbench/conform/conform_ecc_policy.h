// The conformance kit for ECC selection policies.
#pragma once

#include "firmware/ecc/ecc_policy.h"
#include "testbench/conform/conformance.h"

namespace tlmssd {

using MakeEccPolicy =
    std::function<std::unique_ptr<firmware::EccPolicy>(const firmware::EccContext& context)>;

/// Random reads, failures and commands of the host: it asks only for codes that it has named,
/// codes() stays as it is, it gives up after most_attempts() at the latest, and asks for the same
/// again, across a snapshot too.
Conformance conform_ecc_policy(const MakeEccPolicy& make, std::uint64_t seed = 1);

}  // namespace tlmssd
