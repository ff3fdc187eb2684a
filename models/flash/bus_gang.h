// A gang: neighbouring channels of which the flash controller drives all by one bus, or by one set
// of control lines.
//
// Two organisations beside independent channels, after Ryu & Park (design elements of SSD embedded software, Fig. 5) and Agrawal
// et al. (USENIX ATC 2008):
//   shared-bus gang      The members share data and control lines: one phase (bus_timing.h) at a time over all of them. Arrays work
//                        in parallel, and queues and chip enables stay one per die, so the gang does what one channel with all its
//                        dies would do.
//   shared-control gang  The members share the control lines and have data lines of their own. A phase needs the control lines from
//                        its start for its command, address and status cycles and the waits between them, and needs its member's
//                        data lines to its end: control parts exclude each other in the gang, moving bytes do not.
// The next phase is that of a command without data, else a transfer; each kind in the order of becoming ready over all members, of
// which those whose own lines are busy are passed over. A program whose data memory still owes (it answers late) keeps its
// member's lines, but not the control lines of others.
//
// Closed forms in saturation, for a gang of G channels with D dies each (C, O, W, S and B as in flash_channel.h; Oc and Wc the
// control parts of O and W; plain operations):
//   shared-bus       read  B * min(G D / (C + tR + O),      1 / (C + O))
//                    write B * min(G D / (W + tPROG + S),   1 / (W + S))
//   shared-control   read  B * min(G D / (C + tR + O),      G / (C + O),     1 / (C + Oc))
//                    write B * min(G D / (W + tPROG + S),   G / (W + S),     1 / (Wc + S))
//   both             copyback  B * min(G D / (n C + sum tR + P + tPROG + S), 1 / (n C + P + S))   (as in flash_channel.h)
// A shared-bus gang reaches its form as a channel does. For a shared-control gang the form is an upper bound: within 1 % where the
// control lines are clearly the limit, else an operation may lose the control parts of the other members, (G - 1) (C + Oc).
//
// Left out: broadcasting one command to all members, which then work in unison on pages of equal
// address (Agrawal et al. let the gang act as one wide package that way); that the control lines
// are free between the cycles of a phase; longer wires and more loads, which in silicon lower the
// rate of a shared bus.
//
// Hardware of the flash controller, beside its channels: a plain object, because nothing in it
// takes time.
#pragma once

#include <vector>

#include "models/base/booked.h"
#include "models/base/event_queue.h"
#include "models/base/statistics.h"

namespace tlmssd {

class FlashChannel;

class BusGang {
 public:
  enum class Shares : std::uint8_t { bus, control };

  BusGang(EventQueue& event_queue, Shares shares) : event_queue_(event_queue), shares_(shares) {}
  BusGang(const BusGang&) = delete;
  BusGang& operator=(const BusGang&) = delete;

  /// Before the first operation; the channel must live as long as the gang is used.
  void add(FlashChannel& member);

  [[nodiscard]] Shares shares() const { return shares_; }
  /// Number of a request for the bus, in the order of asking.
  std::uint64_t ticket() { return ++tickets_; }
  /// Lets members begin phases as long as one may.
  void arbitrate();
  /// `member` has begun a phase that ends at `until`, its cycles of control at `control`.
  void hold(FlashChannel& member, Picoseconds control, Picoseconds until);
  /// `member` keeps its data lines until memory answers.
  void wait_for_memory(FlashChannel& member) { holder_ = &member; }

  /// Share of the time in which what is shared was held, and how often.
  void report(StatisticsSink& sink) const;
  /// Of the time measured, how long it was held.
  [[nodiscard]] Picoseconds held() const;
  void reset_statistics();

 private:
  static void free_due(void* self) { static_cast<BusGang*>(self)->free(); }
  static void deferred_due(void* self) { static_cast<BusGang*>(self)->deferred(); }
  void free();
  void deferred();
  [[nodiscard]] FlashChannel* first();
  [[nodiscard]] bool busy();
  [[nodiscard]] bool must_wait(FlashChannel& next) const;
  /// What of the present phase lies ahead.
  [[nodiscard]] Picoseconds ahead() const { return booked_ahead(until_, event_queue_.now()); }

  EventQueue& event_queue_;
  Shares shares_;
  std::vector<FlashChannel*> members_;
  std::uint64_t tickets_ = 0;
  FlashChannel* holder_ = nullptr;  // began the latest phase
  Picoseconds until_ = 0;           // what is shared is held
  bool armed_ = false;
  bool deferred_ = false;
  Picoseconds held_ = 0;
  std::uint64_t phases_ = 0;
  Picoseconds measured_from_ = 0;
};

}  // namespace tlmssd
