// What controller and channel note about an operation on its way: an extension that stays with its
// payload when that returns to its pool, so a job is allocated once per payload and found without a
// look-up.
#pragma once

#include <array>
#include <vector>

#include "models/base/intrusive_queue.h"
#include "models/flash/scheduling/scheduler.h"
#include "models/nand/busy_cause.h"
#include "models/tlm/transport.h"

namespace tlmssd {

class FlashChannel;
class FlashController;

struct FlashJob : tlm::tlm_extension<FlashJob> {
  FlashOp* op = nullptr;
  tlm::tlm_generic_payload* payload = nullptr;
  FlashJob* next = nullptr;  // in the queue it is in

  // The channel's.
  FlashChannel* channel = nullptr;
  std::uint32_t way = 0;  // die on its channel
  Lane lane = Lane::normal;
  std::uint32_t pages_done = 0;  // program: pages (in each plane) of the steps that are through
  std::uint32_t pages_now = 0;   // of the step under way
  std::uint32_t suspends = 0;
  bool unsuspendable = false;                            // the die has said that it is too late
  Picoseconds suspendable = 0;                           // next suspend not before this instant
  Picoseconds arrived = 0;                               // at the channel
  Picoseconds waiting_since = 0;                         // this step
  Picoseconds all_busy_before = 0;                       // the die's busy time at waiting_since
  std::array<Picoseconds, k_busy_causes> busy_before{};  // the die's busy times at waiting_since
  std::array<Picoseconds, k_blockers> behind_before{};

  // The controller's.
  FlashController* controller = nullptr;
  Picoseconds memory_done = 0;
  Picoseconds decoded = 0;            // 0: not yet looked at
  bool memory_open = false;           // memory has not answered yet
  bool data_wanted = false;           // the channel waits for the data of a program
  std::vector<std::uint16_t> errors;  // wrong bits of each frame that was read
  bool flash_done = false;

  tlm::tlm_extension_base* clone() const override { return new FlashJob(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const FlashJob&>(other);
  }

  /// The job of `payload`; made when it has none yet.
  static FlashJob& of(tlm::tlm_generic_payload& payload) {
    auto* job = payload.get_extension<FlashJob>();
    if (job == nullptr) {
      job = new FlashJob;  // freed with the payload
      job->payload = &payload;
      payload.set_extension(job);
    }
    return *job;
  }
};

using JobQueue = IntrusiveQueue<FlashJob>;

}  // namespace tlmssd
