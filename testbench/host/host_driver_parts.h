// What a host driver keeps of commands under way, split requests and running loads. Internal to
// HostDriver.
#pragma once

#include "testbench/host/host_driver.h"

namespace tlmssd {

/// A command under way: what the drive sees, and what the host keeps beside it.
struct HostDriver::Slot : HostCommand {
  Payloads::Payload* payload = nullptr;
  std::vector<Stamp> stamps;
  Scoreboard::Ticket ticket;
  LbaRange range;
  HostDriver* driver = nullptr;
  Stream* stream = nullptr;
  SplitRequest* split = nullptr;  ///< the request that this command is a piece of, if any
  Picoseconds submitted = 0;
  bool busy = false;
  bool write_protected = false;  ///< issued when the drive was already known to be read-only
  Slot* next = nullptr;          ///< of those that are free
};

/// A request that is longer than the drive takes, carried out as several commands.
struct HostDriver::SplitRequest {
  Completed whole;               ///< as the block layer will see it completed
  std::uint32_t out = 0;         ///< pieces outstanding
  bool issued = false;           ///< all of its pieces have been
  SplitRequest* next = nullptr;  ///< of those that are free
};

/// A load while it runs.
struct HostDriver::Stream {
  HostDriver* driver;
  Load* load;
  std::uint16_t number;
  std::uint32_t queue;
  Picoseconds start = 0;  ///< absolute
  Picoseconds stop = k_never;
  PlacedRequest head;             ///< the next request, or what is left of it, when has_head
  SplitRequest* split = nullptr;  ///< not null: pieces of the head have been issued
  bool has_head = false;
  bool exhausted = true;
  bool ended = false;
  bool sleeping = false;          ///< an event queue item will pump this stream
  std::uint32_t outstanding = 0;  ///< requests; so are the next two
  std::uint64_t issued = 0;
  std::uint64_t completed = 0;
  Picoseconds lag = 0;  ///< of the last request, behind its time
  Picoseconds last_issue = 0;
  bool by_time = false;  ///< `stop` has ended it
  Picoseconds first_time =
      0;  ///< time stamp of the first request after a warm-up, from which the others count
  Picoseconds think_until = 0;

  static void wake(void* self) {
    auto* stream = static_cast<Stream*>(self);
    stream->sleeping = false;
    stream->driver->pump(*stream);
  }
};

}  // namespace tlmssd
