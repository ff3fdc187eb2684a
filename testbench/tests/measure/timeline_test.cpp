// Timelines read back as protocol buffers: what is on which track, nesting, arrows, windows.
#include "testbench/report/files/timeline.h"

#include <catch2/catch.hpp>
#include <map>
#include <protozero/pbf_reader.hpp>

#include "models/base/input_error.h"
#include "testbench/tests/measure/support.h"

namespace tlmssd {
namespace {

using namespace test;

struct TimelineEvent {
  std::uint64_t when = 0;
  std::int32_t type = 0;
  std::uint64_t track = 0;
  std::string name;
  std::int64_t value = 0;
  std::vector<std::uint64_t> flows;
  std::vector<std::uint64_t> last_flows;
  std::map<std::string, std::string> arguments;
};

struct Trace {
  std::map<std::uint64_t, std::string> tracks;  ///< with their parents: "dies/die 3"
  std::vector<TimelineEvent> events;
  [[nodiscard]] std::vector<TimelineEvent> of(const std::string& track) const {
    std::vector<TimelineEvent> found;
    for (const TimelineEvent& event : events)
      if (tracks.at(event.track) == track) found.push_back(event);
    return found;
  }
};

void read_argument(protozero::pbf_reader argument, TimelineEvent& event) {
  std::string name;
  std::string value;
  while (argument.next()) {
    if (argument.tag() == 10) {
      name = argument.get_string();
    } else if (argument.tag() == 3) {
      value = std::to_string(argument.get_uint64());
    } else {
      value = argument.get_string();
    }
  }
  event.arguments[name] = value;
}

TimelineEvent read_event(protozero::pbf_reader from) {
  TimelineEvent event;
  while (from.next()) {
    switch (from.tag()) {
      case 4:
        read_argument(from.get_message(), event);
        break;
      case 9:
        event.type = from.get_enum();
        break;
      case 11:
        event.track = from.get_uint64();
        break;
      case 23:
        event.name = from.get_string();
        break;
      case 30:
        event.value = from.get_int64();
        break;
      case 47:
        event.flows.push_back(from.get_fixed64());
        break;
      case 48:
        event.last_flows.push_back(from.get_fixed64());
        break;
      default:
        FAIL("field " << from.tag());
    }
  }
  return event;
}

void read_track(protozero::pbf_reader from, Trace& trace) {
  std::uint64_t uuid = 0;
  std::string name;
  std::string parent;
  while (from.next()) {
    if (from.tag() == 1) {
      uuid = from.get_uint64();
    } else if (from.tag() == 2) {
      name = from.get_string();
    } else if (from.tag() == 5) {
      const auto found = trace.tracks.find(from.get_uint64());
      REQUIRE(found != trace.tracks.end());  // described before
      parent = found->second + "/";
    } else {
      from.skip();
    }
  }
  CHECK(trace.tracks.emplace(uuid, parent + name).second);
}

Trace read(const std::string& path) {
  const std::string text = content_of(path);
  Trace trace;
  protozero::pbf_reader whole(text);
  while (whole.next(1)) {
    protozero::pbf_reader packet = whole.get_message();
    TimelineEvent event;
    std::uint64_t when = 0;
    while (packet.next()) {
      if (packet.tag() == 8) {
        when = packet.get_uint64();
      } else if (packet.tag() == 60) {
        read_track(packet.get_message(), trace);
      } else if (packet.tag() == 11) {
        event = read_event(packet.get_message());
        REQUIRE(trace.tracks.count(event.track) == 1);
        event.when = when;
        trace.events.push_back(event);
      } else {
        packet.skip();
      }
    }
  }
  return trace;
}

TraceSlice slice(TrackKind kind, std::uint32_t index, const char* name, Picoseconds start, Picoseconds end) {
  return {.track = {kind, index, 0}, .name = name, .start = start, .end = end};
}

constexpr Picoseconds k_us = 1'000'000;

}  // namespace

TEST_CASE("slices, counters and arrows come back from the file") {
  const Scratch scratch;
  const std::string path = scratch / "timeline.perfetto";
  Timeline timeline(path, {1 * k_us, 2 * k_us, 0, 0});
  CHECK(timeline.wants(500'000, 1 * k_us));
  CHECK_FALSE(timeline.wants(2 * k_us, 3 * k_us));
  timeline.add(slice(TrackKind::die, 3, "outside", 0, 900'000));
  TraceSlice sense = slice(TrackKind::die, 3, "sense", 500'000, 1'500'001);
  sense.flows = {8};
  sense.arguments = {{"PPN", std::uint64_t{7}}, {"cause", std::string("host")}};
  timeline.add(sense);
  TraceSlice read_command = slice(TrackKind::queue, 0, "read", 1'100'000, 1'300'000);
  read_command.flows = {8};
  read_command.flows_back = {8};
  read_command.flows_on = {9};
  timeline.add(read_command);
  timeline.add(slice(TrackKind::queue, 0, "read", 1'200'000, 1'400'000));  // overlaps: another lane
  timeline.add(slice(TrackKind::queue, 0, "read", 1'300'000, 1'500'000));  // follows the first
  timeline.add({.name = "free blocks", .when = 1'250'000, .value = 7});
  timeline.add({.name = "free blocks", .when = 2'250'000, .value = 8});
  timeline.close();
  const Trace trace = read(path);
  const std::vector<TimelineEvent> die = trace.of("dies/die 3");
  REQUIRE(die.size() == 2);
  CHECK(die[0].when == 1000);
  CHECK(die[0].name == "sense");
  CHECK(die[0].flows == std::vector<std::uint64_t>{8});
  CHECK(die[0].arguments == std::map<std::string, std::string>{{"PPN", "7"}, {"cause", "host"}});
  CHECK(die[1].when == 1500);
  const std::vector<TimelineEvent> queue = trace.of("queues/queue 0");
  REQUIRE(queue.size() == 7);
  CHECK(queue[1].name == "completed");
  CHECK(queue[1].last_flows == std::vector<std::uint64_t>{8});
  CHECK(queue[1].flows == std::vector<std::uint64_t>{9});
  CHECK(queue[0].track != queue[3].track);
  CHECK(queue[0].track == queue[5].track);
  const std::vector<TimelineEvent> free = trace.of("counters/free blocks");
  REQUIRE(free.size() == 1);
  CHECK(free[0].value == 7);
  CHECK_THROWS_AS(Timeline(scratch / "no/such/folder", TimelineWindow{}), InputError);
}

TEST_CASE("only what surrounds the slowest commands is kept, however long ago they were") {
  const Scratch scratch;
  const std::string path = scratch / "timeline.perfetto";
  Timeline timeline(path, {0, 1'000'000 * k_us, 2, 3 * k_us});
  // A command each 10 us; those two are slow, one of them long before the end.
  const auto latency = [](int i) { return i == 300 ? 9 * k_us : i == 390'000 ? 8 * k_us : 1 * k_us; };
  for (int i = 0; i < 400'000; ++i) {
    const Picoseconds start = i * 2 * k_us;
    timeline.add(slice(TrackKind::die, 0, "sense", start, start + k_us / 2));
    timeline.add(slice(TrackKind::queue, 0, "read", start, start + latency(i)));
    timeline.completed(start, start + latency(i));
  }
  CHECK_FALSE(timeline.incomplete());
  timeline.close();
  const Trace trace = read(path);
  std::vector<std::uint64_t> starts;
  for (const TimelineEvent& event : trace.of("dies/die 0"))
    if (event.type == 1) starts.push_back(event.when);
  // From 3 us before each to 3 us after it, in steps of 2 us.
  std::vector<std::uint64_t> wanted;
  for (const int slow : {300, 390'000}) {
    const Picoseconds from = slow * 2 * k_us - 3 * k_us;
    const Picoseconds until = slow * 2 * k_us + latency(slow) + 3 * k_us;
    for (int i = slow - 5; i < slow + 20; ++i) {
      const Picoseconds start = i * 2 * k_us;
      if (start + k_us / 2 >= from && start <= until)
        wanted.push_back(static_cast<std::uint64_t>(start / 1000));
    }
  }
  CHECK(starts == wanted);
}

}  // namespace tlmssd
