#include "testbench/report/files/perfetto_writer.h"

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

namespace tlmssd {
namespace {

// Numbers of fields, as in Perfetto's trace.proto, trace_packet.proto, track_descriptor.proto,
// track_event.proto and debug_annotation.proto.
namespace trace {
constexpr protozero::pbf_tag_type k_packet = 1;
}
namespace packet_of {
constexpr protozero::pbf_tag_type k_timestamp = 8;
constexpr protozero::pbf_tag_type k_sequence = 10;
constexpr protozero::pbf_tag_type k_track_event = 11;
constexpr protozero::pbf_tag_type k_track_descriptor = 60;
}  // namespace packet_of
namespace descriptor {
constexpr protozero::pbf_tag_type k_uuid = 1;
constexpr protozero::pbf_tag_type k_name = 2;
constexpr protozero::pbf_tag_type k_parent = 5;
constexpr protozero::pbf_tag_type k_counter = 8;
constexpr protozero::pbf_tag_type k_child_ordering = 11;
constexpr protozero::pbf_tag_type k_rank = 12;
constexpr std::int32_t k_explicit = 3;
}  // namespace descriptor
namespace event {
constexpr protozero::pbf_tag_type k_argument = 4;
constexpr protozero::pbf_tag_type k_type = 9;
constexpr protozero::pbf_tag_type k_track = 11;
constexpr protozero::pbf_tag_type k_name = 23;
constexpr protozero::pbf_tag_type k_counter_value = 30;
constexpr protozero::pbf_tag_type k_flow = 47;
constexpr protozero::pbf_tag_type k_last_flow = 48;
constexpr std::int32_t k_begin = 1;
constexpr std::int32_t k_end = 2;
constexpr std::int32_t k_instant = 3;
constexpr std::int32_t k_counter = 4;
}  // namespace event
namespace argument {
constexpr protozero::pbf_tag_type k_number = 3;
constexpr protozero::pbf_tag_type k_text = 6;
constexpr protozero::pbf_tag_type k_name = 10;
}  // namespace argument

constexpr std::uint32_t k_sequence = 1;

struct TrackGroup {
  const char* group;
  const char* one;
};
constexpr TrackGroup k_track_groups[k_track_kinds] = {{"queues", "queue"},     {"host link", "direction"},
                                                      {"cores", "core"},       {"collection", "worker"},
                                                      {"channels", "channel"}, {"dies", "die"},
                                                      {"dies", "plane"},       {"counters", "counter"}};

std::string name_of(const Track& track) {
  if (track.kind == TrackKind::link) return track.index == 0 ? "to the drive" : "to the host";
  const char* one = k_track_groups[static_cast<std::size_t>(track.kind)].one;
  return fmt::format("{} {}", one, track.kind == TrackKind::plane ? track.plane : track.index);
}

void add(protozero::pbf_writer& to, const TraceArgument& argument) {
  protozero::pbf_writer made(to, event::k_argument);
  made.add_string(argument::k_name, argument.name);
  if (argument.is_text) {
    made.add_string(argument::k_text, argument.text);
  } else {
    made.add_uint64(argument::k_number, argument.number);
  }
}

}  // namespace

void PerfettoWriter::flush_packet(std::string_view packet) {
  std::string text;
  protozero::pbf_writer writer(text);
  writer.add_message(trace::k_packet, packet.data(), packet.size());
  file_.write(text);
}

void PerfettoWriter::packet(Picoseconds when, std::string_view event) {
  std::string text;
  protozero::pbf_writer writer(text);
  writer.add_uint64(packet_of::k_timestamp, static_cast<std::uint64_t>(when) / 1000);
  writer.add_uint32(packet_of::k_sequence, k_sequence);
  writer.add_message(packet_of::k_track_event, event.data(), event.size());
  flush_packet(text);
}

void PerfettoWriter::describe(std::uint64_t uuid, std::uint64_t parent, std::string_view name,
                              std::int32_t rank, bool counter) {
  std::string text;
  protozero::pbf_writer writer(text);
  writer.add_uint32(packet_of::k_sequence, k_sequence);
  {
    protozero::pbf_writer made(writer, packet_of::k_track_descriptor);
    made.add_uint64(descriptor::k_uuid, uuid);
    made.add_string(descriptor::k_name, name.data(), name.size());
    if (parent != 0) made.add_uint64(descriptor::k_parent, parent);
    if (counter) protozero::pbf_writer(made, descriptor::k_counter).add_int32(1, 0);
    made.add_enum(descriptor::k_child_ordering, descriptor::k_explicit);
    made.add_int32(descriptor::k_rank, rank);
  }
  flush_packet(text);
}

/// The track above all of a kind; described when it is first needed.
std::uint64_t PerfettoWriter::group(TrackKind kind) {
  const auto number = static_cast<std::size_t>(kind);
  const std::uint64_t uuid = number + 1;
  if ((groups_ >> number & 1U) == 0) {
    groups_ |= std::uint64_t{1} << number;
    describe(uuid, 0, k_track_groups[number].group, static_cast<std::int32_t>(number));
  }
  return uuid;
}

std::uint64_t PerfettoWriter::parent_of(const Track& track) {
  if (track.kind != TrackKind::plane) return group(track.kind);
  const Track die{TrackKind::die, track.index, 0};
  std::vector<Part>& parts = parts_[die];
  if (parts.empty()) {
    parts.push_back({++last_uuid_, 0});
    describe(last_uuid_, group(TrackKind::die), name_of(die), static_cast<std::int32_t>(die.index));
  }
  return parts.front().uuid;
}

/// A part of the track on which the slice overlaps nothing: the one that has been free the
/// shortest.
std::uint64_t PerfettoWriter::part_for(const TraceSlice& slice) {
  std::vector<Part>& parts = parts_[slice.track];
  Part* best = nullptr;
  for (Part& part : parts) {
    if (part.until <= slice.start && (best == nullptr || part.until > best->until)) best = &part;
  }
  if (best == nullptr) {
    const std::uint64_t parent = parent_of(slice.track);
    parts.push_back({++last_uuid_, 0});
    best = &parts.back();
    const std::uint32_t rank = slice.track.kind == TrackKind::plane ? slice.track.plane : slice.track.index;
    describe(best->uuid, parent, name_of(slice.track), static_cast<std::int32_t>(rank));
  }
  best->until = slice.end;
  return best->uuid;
}

void PerfettoWriter::write(const TraceSlice& slice) {
  const std::uint64_t track = part_for(slice);
  const auto made = [&](std::int32_t type, auto&& more) {
    std::string text;
    protozero::pbf_writer writer(text);
    writer.add_enum(event::k_type, type);
    writer.add_uint64(event::k_track, track);
    more(writer);
    return text;
  };
  packet(slice.start, made(event::k_begin, [&](protozero::pbf_writer& writer) {
           writer.add_string(event::k_name, slice.name);
           for (const TraceArgument& argument : slice.arguments) add(writer, argument);
           for (const std::uint64_t flow : slice.flows) writer.add_fixed64(event::k_flow, flow);
         }));
  if (!slice.flows_back.empty() || !slice.flows_on.empty()) {
    packet(slice.end, made(event::k_instant, [&](protozero::pbf_writer& writer) {
             writer.add_string(event::k_name, "completed");
             for (const std::uint64_t flow : slice.flows_on) writer.add_fixed64(event::k_flow, flow);
             for (const std::uint64_t flow : slice.flows_back) writer.add_fixed64(event::k_last_flow, flow);
           }));
  }
  packet(slice.end, made(event::k_end, [](protozero::pbf_writer& /*writer*/) {}));
}

void PerfettoWriter::write(const TraceCounter& counter) {
  const auto [at, fresh] = counters_.try_emplace(counter.name, last_uuid_ + 1);
  if (fresh) {
    ++last_uuid_;
    describe(at->second, group(TrackKind::counter), counter.name, static_cast<std::int32_t>(counters_.size()),
             true);
  }
  std::string text;
  protozero::pbf_writer writer(text);
  writer.add_enum(event::k_type, event::k_counter);
  writer.add_uint64(event::k_track, at->second);
  writer.add_int64(event::k_counter_value, counter.value);
  packet(counter.when, text);
}

}  // namespace tlmssd
