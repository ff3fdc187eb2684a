// The host link: PCI Express (generation x lanes) or Serial ATA, in bytes on the wire. Plain C++.
//
// Each direction is a reservation in the order of booking; SATA's two directions are one (half
// duplex at the frame level). A command's data are booked when the command is fetched (to the
// device) or answered (to the host); round trips are a constant shift behind that, so they leave no
// holes in the reservation. Small packets (commands, completions without data, read requests,
// doorbells) travel between the packets of the data that are booked: they take their time from the
// data behind them and wait only for one another. So do the packets of the host memory buffer,
// which wait only for their like: a controller asks for a map entry before the rest of the data.
//
// Byte accounting of PCIe (PCI Express Base Specification 3.0 to 6.0, NVM Express Base Specification 1.4):
//   symbol rate   2.5, 5 GT/s with 8b/10b; 8, 16, 32 GT/s with 128b/130b; 64 GT/s in flits that
//                 carry 236 of 256 bytes as TLPs
//   packet (TLP)  tlp_overhead (8 B: 4 B framing with sequence number, 4 B LCRC; none in flits) +
//                 dllp_overhead (2 B: one 8 B DLLP of Ack or flow control per four TLPs) + header +
//                 payload of at most max_payload
//   header        16 B for memory requests (64-bit addresses), 12 B for completions
//   command       doorbell: write of 4 B; fetch: read request, completion with 64 B; write data:
//                 read requests of at most max_read_request, completions with the data; read data:
//                 memory writes; completion: writes of 16 B (entry), 4 B (MSI-X) and the host's
//                 doorbell of 4 B
//   host memory   buffer (NVM Express Base Specification 1.2): read requests of at most
//                 max_read_request, completions with the data after a round trip and
//                 memory_latency; writes are posted memory writes
// Of SATA (Serial ATA Revision 3.x): 1.5, 3 or 6 Gb/s with 8b/10b, of which 2 dwords of 256 are ALIGN.
//   frame         one at a time in either direction, and a link that waits is a link in use: X_RDY over, R_RDY back; SOF, FIS,
//                 CRC, EOF over, R_OK back; SYNC. So 28 B (seven dwords) beside the FIS, and four times link_latency. WTRM and
//                 R_IP fill waits. A FIS has arrived when its exchange is over. Data FIS carry 4 B of header and at most 8 KiB.
//   command       Register H2D (20 B), answered by Register D2H (20 B); data: DMA Setup (28 B), then Data FIS, for writes each
//                 after the first preceded by DMA Activate (4 B); completion: Set Device Bits (8 B)
// Left out: retries, link power states, ordering stalls, the host memory's latency for commands and their data (put it into
// link_latency); of SATA: HOLD (buffers are never full or empty amid a frame), that SYNC has to cross before the other side may
// begin, collisions of X_RDY, several commands in one Set Device Bits.
#pragma once

#include <array>

#include "models/base/archive.h"
#include "models/base/busy_sink.h"
#include "models/base/statistics.h"
#include "models/base/types.h"
#include "models/host/host_config.h"

namespace tlmssd {

enum class LinkDirection : std::uint8_t { to_device, to_host };

/// Who wants to see every booking of the link.
class LinkObserver {
 public:
  virtual ~LinkObserver() = default;
  virtual void transferred(LinkDirection direction, Picoseconds start, Picoseconds end, Bytes payload) = 0;
};

class Link {
 public:
  explicit Link(const HostConfig& config);

  /// Exact time of `bytes` wire bytes, rounded up to a picosecond.
  [[nodiscard]] Picoseconds wire_time(Bytes bytes) const {
    return static_cast<Picoseconds>((bytes * ps_numerator_ + ps_denominator_ - 1) / ps_denominator_);
  }
  /// How long the wire is taken by `bytes` of data: SATA: with the handshake of each frame.
  [[nodiscard]] Picoseconds data_time(LinkDirection direction, Bytes bytes) const {
    return wire_time(data_wire_bytes(direction, bytes)) + data_frames(bytes) * handshake_;
  }
  /// The same of what asks for or permits that data.
  [[nodiscard]] Picoseconds control_time(LinkDirection direction, Bytes bytes) const {
    return wire_time(control_wire_bytes(direction, bytes)) + control_frames(direction, bytes) * handshake_;
  }
  /// Bytes on the wire for `bytes` of data, all packets included.
  [[nodiscard]] Bytes data_wire_bytes(LinkDirection direction, Bytes bytes) const;
  /// Bytes on the wire that ask for or permit that data: PCIe: in the opposite direction.
  [[nodiscard]] Bytes control_wire_bytes(LinkDirection direction, Bytes bytes) const;

  // Unloaded parts, from which every latency is made.
  [[nodiscard]] Picoseconds latency() const { return latency_; }  ///< one way; SATA: part of each frame
  /// From the host's submission until the device may fetch; 0 for SATA, whose command is the first
  /// frame itself.
  [[nodiscard]] Picoseconds doorbell() const { return kind_ == LinkKind::pcie ? doorbell_ + latency_ : 0; }
  [[nodiscard]] Picoseconds request_time() const { return request_; }  ///< one read request, or DMA Setup
  /// From a request's last byte until the first byte it asked for, and from an answer's last byte
  /// until it has arrived, beside the time on the wire; 0 for SATA.
  [[nodiscard]] Picoseconds round_trip() const { return 2 * arrival_; }
  [[nodiscard]] Picoseconds arrival() const { return arrival_; }
  [[nodiscard]] Picoseconds entry_time() const {
    return entry_;
  }  ///< submission entry, or Register H2D and D2H
  [[nodiscard]] Picoseconds completion_time() const {
    return completion_;
  }  ///< entry and interrupt, or Set Device Bits

  /// What link_latency takes of a command with so many bytes each way, when nothing holds it up.
  [[nodiscard]] Picoseconds latency_of(Bytes to_device, Bytes to_host) const;

  /// The fetch of a submission entry and then `data` bytes of write payload.
  struct Fetch {
    Picoseconds entry;       ///< the entry has arrived
    Picoseconds data_start;  ///< the first payload byte arrives
    Picoseconds data_end;    ///< the last payload byte has arrived; equals `entry` without payload
  };
  Fetch fetch(Picoseconds now, Bytes data);
  /// At `data_start`: the read requests for that payload take their share of the other direction.
  void begin_data(Picoseconds now, Bytes data);
  /// `data` bytes of read payload, then the completion.
  struct Answer {
    Picoseconds data_end;    ///< last payload byte has left; equals the start without payload
    Picoseconds completion;  ///< from the last payload byte leaving until the host has the completion
  };
  Answer answer(Picoseconds now, Bytes data);

  /// A read of the host memory buffer (PCIe): when its last byte has arrived.
  Picoseconds read_host_memory(Picoseconds now, Bytes bytes);
  /// A posted write into it: when its last byte has left.
  Picoseconds write_host_memory(Picoseconds now, Bytes bytes);

  void set_observer(LinkObserver* observer) { observer_ = observer; }
  /// What the small packets of the last commands have taken from data that did not come: it is
  /// booked beyond their end.
  void archive(Archive& a);
  void report(StatisticsSink& sink, Picoseconds now) const;
  void tell_busy(BusySink& sink, Picoseconds now) const;
  void reset_statistics(Picoseconds now);
  /// By all that is booked.
  [[nodiscard]] Picoseconds busy(LinkDirection direction) const {
    return directions_[static_cast<std::size_t>(direction)].busy;
  }

 private:
  struct Direction {
    Picoseconds free = 0;    // of data
    Picoseconds small = 0;   // of small packets
    Picoseconds memory = 0;  // of the host memory buffer's
    Picoseconds busy = 0;
    Bytes payload = 0;
    Bytes wire = 0;
    Bytes memory_wire = 0;  // of `wire`, the host memory buffer's
  };
  struct Size {  // the last size asked for: sizes repeat
    Bytes bytes = 0;
    Picoseconds data = 0;
    Picoseconds control = 0;
    Bytes data_wire = 0;
    Bytes control_wire = 0;
  };
  /// Frames of SATA, each with a handshake; PCIe has none.
  [[nodiscard]] static Picoseconds data_frames(Bytes bytes);
  [[nodiscard]] static Picoseconds control_frames(LinkDirection direction, Bytes bytes);
  Direction& used_by(LinkDirection direction) {
    return directions_[half_duplex_ ? 0 : static_cast<std::size_t>(direction)];
  }
  /// Of what is booked in each direction, what lies beyond `now`. Of one that is half duplex only
  /// the sum is known: it is shared out as all that is booked is.
  [[nodiscard]] std::array<Picoseconds, 2> ahead(Picoseconds now) const;
  /// Of what is booked in each direction, what lies in the time measured.
  [[nodiscard]] std::array<Picoseconds, 2> busy_so_far(Picoseconds now) const;
  const Size& size(LinkDirection direction, Bytes bytes);
  Picoseconds book(LinkDirection direction, Picoseconds now, Picoseconds duration, Bytes payload, Bytes wire);
  Picoseconds send_small(LinkDirection direction, Picoseconds now, Picoseconds duration, Bytes wire);
  Picoseconds send_memory(LinkDirection direction, Picoseconds now, Picoseconds turn, Bytes wire);
  void steal(LinkDirection direction, Picoseconds now, Picoseconds duration, Bytes wire);

  LinkKind kind_;
  bool half_duplex_;
  std::uint64_t ps_numerator_;
  std::uint64_t ps_denominator_;
  std::uint32_t max_payload_;
  std::uint32_t max_read_request_;
  std::uint32_t packet_overhead_;  // without header
  Picoseconds latency_;
  Picoseconds arrival_;    // of a packet behind its last byte
  Picoseconds handshake_;  // latencies of one frame
  Picoseconds memory_latency_;
  bool has_memory_;  // a host memory buffer
  Picoseconds doorbell_;
  Picoseconds request_;
  Picoseconds entry_;
  Picoseconds completion_;
  Bytes doorbell_wire_;
  Bytes request_wire_;
  Bytes entry_wire_;
  Bytes completion_wire_;
  Direction directions_[2];
  Size sizes_[2];
  LinkObserver* observer_ = nullptr;
  Picoseconds since_ = 0;
};

}  // namespace tlmssd
