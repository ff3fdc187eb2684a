// What the steps of preconditioning come to in requests.
#include "testbench/app/precondition.h"

#include <catch2/catch.hpp>

#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

constexpr Bytes k_step_page = 4_KiB;
const DriveSize k_step_drive{2_GiB, 512};

/// What the step asks for, bytes; 0: there is nothing to do.
Bytes asked_bytes(const PreconditionStep& step) {
  std::vector<Load> loads;
  try {
    loads = make_precondition_loads(step, 0, k_step_drive, k_step_page, 1);
  } catch (const InputError& error) {
    REQUIRE_THAT(error.what(), Catch::StartsWith("precondition.0: nothing to do: "));
  }
  Bytes bytes = 0;
  for (Load& load : loads) {
    PlacedRequest request;
    for (std::uint64_t given = 0; load.next(request, given); ++given)
      bytes += request.blocks * k_step_drive.lba_bytes;
  }
  return bytes;
}

}  // namespace

TEST_CASE("a share of a step that is less than a block is one block, and no share is none") {
  constexpr double k_less = 1e-10;  // a fifth of a byte
  for (double PreconditionStep::*const share : {&PreconditionStep::overwrite, &PreconditionStep::trim}) {
    PreconditionStep step;
    CHECK(asked_bytes(step) == 0);
    step.*share = k_less;
    CHECK(asked_bytes(step) == k_step_page);
    step.*share = 300.0 / 2e9;  // less than a logical block
    CHECK(asked_bytes(step) == k_step_page);
    step.*share = 0.25;
    CHECK(asked_bytes(step) == 512_MiB);
  }
  PreconditionStep step;
  step.fill = k_less;
  CHECK(asked_bytes(step) == 512);
  step.fill = 3.5 * 512 / static_cast<double>(2_GiB);
  CHECK(asked_bytes(step) == 3 * 512);
  step.fill = 0;
  step.trim = 1;
  step.region = k_less;
  CHECK(asked_bytes(step) == 512);
  step.region = 0;
  CHECK(asked_bytes(step) == 0);
}

TEST_CASE("what a step writes page by page: all but a fill whose outcome is known") {
  PreconditionStep step;
  step.fill = 0.5;
  CHECK(step.written(false).touched == 0.5);
  CHECK(step.written(false).programmed == 0.5);
  CHECK(step.written(true).touched == 0);
  CHECK(step.written(true).programmed == 0);
  step.overwrite = 2;  // each place is missed by one in e squared
  CHECK(step.written(true).touched == Approx(0.5 * 0.8647).epsilon(1e-3));
  CHECK(step.written(true).programmed == 1);
  CHECK(step.written(false).touched == 0.5);
  CHECK(step.written(false).programmed == 1.5);
  step.random_distribution = "zipf:1.1";
  CHECK(step.written(true).touched == 0);
  step.order = "sequential";
  CHECK(step.written(true).touched == 0.5);
  PreconditionStep steady;
  steady.state = "steady";
  CHECK(steady.written(false).touched == 1);
  CHECK(steady.written(false).programmed > 1e6);  // all the flash there is
}

}  // namespace tlmssd::drive_tests
