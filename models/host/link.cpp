#include "models/host/link.h"

#include <algorithm>
#include <numeric>

#include "models/base/booked.h"

namespace tlmssd {

namespace {

// PCI Express Base Specification 3.0, sections 2.2 and 4.2; NVM Express Base Specification 1.4,
// sections 4.2, 4.6, 3.1.
constexpr Bytes k_request_header = 16;  // memory request, 64-bit address
constexpr Bytes k_completion_header = 12;
constexpr Bytes k_submission_entry = 64;
constexpr Bytes k_completion_entry = 16;
constexpr Bytes k_doorbell = 4;
constexpr Bytes k_interrupt = 4;  // MSI-X message
// Serial ATA Revision 3.x, sections 9 and 10.5.
constexpr Bytes k_frame = 12 + 16;          // SOF, CRC, EOF; X_RDY, R_RDY, R_OK, SYNC
constexpr Picoseconds k_crossings = 4;      // X_RDY, R_RDY, the frame, R_OK
constexpr std::uint64_t k_dwords = 256;     // of which
constexpr std::uint64_t k_not_align = 254;  // carry something
constexpr Bytes k_register_h2d = 20;
constexpr Bytes k_register_d2h = 20;
constexpr Bytes k_dma_setup = 28;
constexpr Bytes k_dma_activate = 4;
constexpr Bytes k_set_device_bits = 8;
constexpr Bytes k_data_header = 4;
constexpr Bytes k_data_fis = 8192;

constexpr Bytes pieces(Bytes bytes, Bytes size) {
  return (bytes + size - 1) / size;
}

}  // namespace

Link::Link(const HostConfig& config)
    : max_payload_(config.max_payload),
      max_read_request_(config.max_read_request),
      latency_(config.link_latency),
      memory_latency_(config.memory_latency),
      has_memory_(config.memory_buffer > 0) {
  const LinkSpec spec = parse_link(config.link);
  kind_ = spec.kind;
  half_duplex_ = kind_ == LinkKind::sata;
  // Picoseconds per byte on the wire as a fraction: 8 bits / (rate x lanes), widened by the line
  // code.
  arrival_ = half_duplex_ ? 0 : latency_;
  handshake_ = half_duplex_ ? k_crossings * latency_ : 0;
  if (kind_ == LinkKind::pcie) {
    static constexpr std::uint64_t k_half_gigatransfers[] = {5, 10, 16, 32, 64, 128};
    static constexpr std::uint64_t k_code[][2] = {{8, 10},    {8, 10},    {128, 130},
                                                  {128, 130}, {128, 130}, {236, 256}};
    const std::size_t g = spec.generation - 1;
    ps_numerator_ = 8 * 2000 * k_code[g][1];
    ps_denominator_ = k_half_gigatransfers[g] * k_code[g][0] * spec.lanes;
    packet_overhead_ = spec.generation == 6 ? 0 : config.tlp_overhead + config.dllp_overhead;
    doorbell_wire_ = k_doorbell + k_request_header + packet_overhead_;
    request_wire_ = k_request_header + packet_overhead_;
    entry_wire_ = k_submission_entry + k_completion_header + packet_overhead_;
    completion_wire_ = k_completion_entry + k_interrupt + 2 * (k_request_header + packet_overhead_);
  } else {
    ps_numerator_ = std::uint64_t{10} * 1'000'000 * k_dwords;
    ps_denominator_ = spec.megabits * k_not_align;
    packet_overhead_ = k_frame;
    doorbell_wire_ = 0;
    request_wire_ = k_dma_setup + k_frame;
    entry_wire_ = k_register_h2d + k_register_d2h + 2 * k_frame;
    completion_wire_ = k_set_device_bits + k_frame;
  }
  const std::uint64_t common = std::gcd(ps_numerator_, ps_denominator_);
  ps_numerator_ /= common;
  ps_denominator_ /= common;
  doorbell_ = wire_time(doorbell_wire_);
  request_ = wire_time(request_wire_) + handshake_;
  entry_ = wire_time(entry_wire_) + 2 * handshake_;  // SATA: two frames; PCIe: no handshake
  completion_ = wire_time(completion_wire_) + handshake_;
}

Picoseconds Link::data_frames(Bytes bytes) {
  return static_cast<Picoseconds>(pieces(bytes, k_data_fis));
}

Picoseconds Link::control_frames(LinkDirection direction, Bytes bytes) {
  if (bytes == 0) return 0;
  return direction == LinkDirection::to_device ? data_frames(bytes) : 1;
}

Bytes Link::data_wire_bytes(LinkDirection direction, Bytes bytes) const {
  if (bytes == 0) return 0;
  if (kind_ == LinkKind::sata) return bytes + pieces(bytes, k_data_fis) * (k_data_header + k_frame);
  if (direction == LinkDirection::to_host) {
    return bytes + pieces(bytes, max_payload_) * (k_request_header + packet_overhead_);
  }
  const Bytes packets = bytes / max_read_request_ * pieces(max_read_request_, max_payload_) +
                        pieces(bytes % max_read_request_, max_payload_);
  return bytes + packets * (k_completion_header + packet_overhead_);
}

Bytes Link::control_wire_bytes(LinkDirection direction, Bytes bytes) const {
  if (bytes == 0) return 0;
  if (kind_ == LinkKind::sata) {
    const Bytes activates = direction == LinkDirection::to_device ? pieces(bytes, k_data_fis) - 1 : 0;
    return request_wire_ + activates * (k_dma_activate + k_frame);
  }
  return direction == LinkDirection::to_device ? pieces(bytes, max_read_request_) * request_wire_ : 0;
}

const Link::Size& Link::size(LinkDirection direction, Bytes bytes) {
  Size& known = sizes_[static_cast<std::size_t>(direction)];
  if (known.bytes != bytes) {
    known.bytes = bytes;
    known.data_wire = data_wire_bytes(direction, bytes);
    known.control_wire = control_wire_bytes(direction, bytes);
    known.data = data_time(direction, bytes);
    known.control = control_time(direction, bytes);
  }
  return known;
}

/// In turn behind what has been booked.
Picoseconds Link::book(LinkDirection direction, Picoseconds now, Picoseconds duration, Bytes payload,
                       Bytes wire) {
  Direction& used = used_by(direction);
  const Picoseconds start = std::max(used.free, now);
  used.free = start + duration;
  Direction& counted = directions_[static_cast<std::size_t>(direction)];
  counted.busy += duration;
  counted.payload += payload;
  counted.wire += wire;
  if (observer_ != nullptr) observer_->transferred(direction, start, used.free, payload);
  return start;
}

/// Between the packets of what has been booked: pushes later bookings back; nothing waits for it.
void Link::steal(LinkDirection direction, Picoseconds now, Picoseconds duration, Bytes wire) {
  Direction& used = used_by(direction);
  used.free = std::max(used.free, now) + duration;
  Direction& counted = directions_[static_cast<std::size_t>(direction)];
  counted.busy += duration;
  counted.wire += wire;
}

/// A small packet that is waited for: in turn with its like. Returns when its last byte has left.
Picoseconds Link::send_small(LinkDirection direction, Picoseconds now, Picoseconds duration, Bytes wire) {
  Direction& used = used_by(direction);
  used.small = std::max(used.small, now) + duration;
  steal(direction, now, duration, wire);
  return used.small;
}

Picoseconds Link::latency_of(Bytes to_device, Bytes to_host) const {
  if (kind_ == LinkKind::pcie)  // doorbell, fetch of the entry and of data, completion
    return latency_ + round_trip() + (to_device > 0 ? round_trip() : 0) + arrival();
  Bytes frames = 3;  // Register H2D and D2H, Set Device Bits
  for (const auto& [direction, data] :
       {std::pair(LinkDirection::to_device, to_device), std::pair(LinkDirection::to_host, to_host)})
    if (data > 0) frames += data_frames(data) + control_frames(direction, data);
  return static_cast<Picoseconds>(frames) * handshake_;
}

Link::Fetch Link::fetch(Picoseconds now, Bytes data) {
  static const Size k_nothing{};
  const bool sata = kind_ == LinkKind::sata;
  const Size& payload = data == 0 ? k_nothing : size(LinkDirection::to_device, data);
  // SATA's permissions come over the same wire as the data; PCIe's are taken from the other
  // direction in begin_data().
  const Picoseconds occupied = payload.data + (sata ? payload.control : 0);
  const Bytes wire = payload.data_wire + (sata ? payload.control_wire : 0);
  const Picoseconds data_turn = data == 0 ? now : book(LinkDirection::to_device, now, occupied, data, wire);
  const Picoseconds entry_sent = send_small(LinkDirection::to_device, now, entry_, entry_wire_);
  const Picoseconds asked = request_ + round_trip();
  Picoseconds delay = 0;  // SATA: the command is pushed, not fetched
  if (!sata) {
    steal(LinkDirection::to_device, now, doorbell_, doorbell_wire_);
    steal(LinkDirection::to_host, now, request_, request_wire_);
    delay = asked;
  }
  const Picoseconds entry = entry_sent + delay;
  if (data == 0) return {entry, entry, entry};
  const Picoseconds first = std::max(data_turn + entry_, entry_sent) + delay + asked;
  return {entry, first, first + payload.data + (sata ? payload.control - request_ : 0)};
}

void Link::begin_data(Picoseconds now, Bytes data) {
  if (data == 0 || kind_ == LinkKind::sata) return;
  const Size& payload = size(LinkDirection::to_device, data);
  steal(LinkDirection::to_host, now, payload.control, payload.control_wire);
}

Link::Answer Link::answer(Picoseconds now, Bytes data) {
  if (doorbell_wire_ > 0)
    steal(LinkDirection::to_device, now, doorbell_, doorbell_wire_);  // completion queue head
  const Picoseconds completion = completion_ + arrival_;
  if (data == 0) {
    return {send_small(LinkDirection::to_host, now, completion_, completion_wire_) - completion_, completion};
  }
  const Size& payload = size(LinkDirection::to_host, data);
  const Picoseconds start = book(LinkDirection::to_host, now, payload.control + payload.data + completion_,
                                 data, payload.control_wire + payload.data_wire + completion_wire_);
  return {start + payload.control + payload.data, completion};
}

/// Packets of the host memory buffer, in turn with their like, from `turn` on; the data behind them
/// are pushed back from `now` on. Returns when their last byte has left.
Picoseconds Link::send_memory(LinkDirection direction, Picoseconds now, Picoseconds turn, Bytes wire) {
  Direction& used = used_by(direction);
  const Picoseconds duration = wire_time(wire);
  used.memory = std::max(used.memory, turn) + duration;
  used.memory_wire += wire;
  steal(direction, now, duration, wire);
  return used.memory;
}

Picoseconds Link::read_host_memory(Picoseconds now, Bytes bytes) {
  const Bytes asking = control_wire_bytes(LinkDirection::to_device, bytes);
  const Picoseconds asked = send_memory(LinkDirection::to_host, now, now, asking);
  // The data follow the first request by a constant: what is booked here is earlier by that.
  const Picoseconds turn = asked - wire_time(asking);
  const Picoseconds sent =
      send_memory(LinkDirection::to_device, now, turn, data_wire_bytes(LinkDirection::to_device, bytes));
  return sent + request_ + round_trip() + memory_latency_;
}

Picoseconds Link::write_host_memory(Picoseconds now, Bytes bytes) {
  return send_memory(LinkDirection::to_host, now, now, data_wire_bytes(LinkDirection::to_host, bytes));
}

void Link::archive(Archive& a) {
  for (Direction& one : directions_) {
    a(one.free);
    a(one.small);
    a(one.memory);
    a(one.busy);  // by which what is booked is shared out to the directions
  }
}

std::array<Picoseconds, 2> Link::ahead(Picoseconds now) const {
  if (!half_duplex_) return {booked_ahead(directions_[0].free, now), booked_ahead(directions_[1].free, now)};
  const Picoseconds both = booked_ahead(directions_[0].free, now);
  const double part = ratio(static_cast<double>(directions_[0].busy),
                            static_cast<double>(directions_[0].busy + directions_[1].busy));
  const auto first = static_cast<Picoseconds>(static_cast<double>(both) * part);
  return {first, both - first};
}

std::array<Picoseconds, 2> Link::busy_so_far(Picoseconds now) const {
  const auto [in, out] = ahead(now);
  return {busy_within(now - since_, directions_[0].busy, in),
          busy_within(now - since_, directions_[1].busy, out)};
}

void Link::tell_busy(BusySink& sink, Picoseconds now) const {
  const auto [in, out] = busy_so_far(now);
  if (half_duplex_) return sink.busy("link", in + out, 1);
  sink.busy("link in", in, 1);
  sink.busy("link out", out, 1);
}

void Link::report(StatisticsSink& sink, Picoseconds now) const {
  const Picoseconds span = now - since_;
  const std::array<Picoseconds, 2> busy = busy_so_far(now);
  static constexpr const char* k_groups[] = {"to device", "to host"};
  sink.open("link", "host link");
  for (std::size_t d = 0; d < 2; ++d) {
    sink.open(k_groups[d], "one direction of the link");
    sink.value("utilisation", share_within(span, busy[d], 0), "", "share of time this direction was sending");
    sink.value("payload", directions_[d].payload, "B", "data of host commands");
    sink.value("wire bytes", directions_[d].wire, "B",
               "all bytes on the wire: data, packet overheads, commands, completions");
    if (has_memory_) {
      sink.value("host memory bytes", directions_[d].memory_wire, "B",
                 "of these, packets of the host memory buffer: read requests, data, packet overheads");
    }
    sink.close();
  }
  if (half_duplex_) {
    sink.value("utilisation", share_within(span, busy[0] + busy[1], 0), "",
               "share of time the link was busy in either direction");
  }
  sink.close();
}

void Link::reset_statistics(Picoseconds now) {
  const auto rest = ahead(now);
  since_ = now;
  for (std::size_t d = 0; d < 2; ++d) {
    directions_[d].busy = rest[d];
    directions_[d].payload = 0;
    directions_[d].wire = 0;
    directions_[d].memory_wire = 0;
  }
}

}  // namespace tlmssd
