"""Timelines read with Perfetto's own description of its format (the `perfetto` package)."""

import json
import subprocess
from collections import defaultdict

import pytest
from browser import chromium
from viewer import ask, open_timeline, viewer

from tlmssd.program import find_program

SCENARIO = """
title: timeline
ssd:
  host: {lba_size: 4 KiB}
  flash:
    channels: 2
    ways: 2
    spare_factor: 25 %
    part: {planes: 2, blocks_per_plane: 40, pages_per_block: 32}
firmware: {buffer: {capacity: 256 KiB}}
precondition: [{fill: 100 %}, {overwrite: 1x, order: random}]
load: {rw: randrw, rwmixread: 60, bs: 4k, iodepth: 8, number_ios: 3000}
"""


class Trace:
    """The slices of a timeline, with what they are of."""

    def __init__(self, path):
        pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
        trace = pb2.Trace()
        trace.ParseFromString(path.read_bytes())
        kinds = pb2.TrackEvent
        self.names, parents = {}, {}
        self.slices, self.counters, self.arrows = [], defaultdict(list), defaultdict(list)
        open_slices = defaultdict(list)
        for packet in sorted(trace.packet, key=lambda one: one.timestamp):
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                parents[track.uuid] = track.parent_uuid
                self.names[track.uuid] = track.name
                continue
            event = packet.track_event
            lane = open_slices[event.track_uuid]
            for flow in [*event.flow_ids, *event.terminating_flow_ids]:
                self.arrows[flow].append((packet.timestamp, event.track_uuid, event.name))
            if event.type == kinds.TYPE_SLICE_BEGIN:
                lane.append((packet.timestamp, event))
            elif event.type == kinds.TYPE_SLICE_END:
                start, begun = lane.pop()
                self.slices.append(self._slice(begun, start, packet.timestamp))
            elif event.type == kinds.TYPE_COUNTER:
                self.counters[event.track_uuid].append((packet.timestamp, event.counter_value))
        assert not any(open_slices.values())
        self.parents = {uuid: self.names.get(parent, "") for uuid, parent in parents.items()}

    @staticmethod
    def _slice(event, start, end):
        arguments = {}
        for one in event.debug_annotations:
            text = one.HasField("string_value")
            arguments[one.name] = one.string_value if text else one.uint_value
        return {"track": event.track_uuid, "name": event.name, "start": start, "end": end,
                "arguments": arguments, "flows": list(event.flow_ids)}  # fmt: skip

    def of(self, group: str):
        return [one for one in self.slices if self.parents[one["track"]] == group]


def timeline(folder, window: str, *settings: str) -> Trace:
    scenario = folder / "drive.yaml"
    scenario.write_text(SCENARIO + f"report: {{timeline: true, window: {window}}}\n")
    command = [str(find_program().path), "run", str(scenario), "--out", str(folder / "out")]
    for setting in settings:
        command += ["--set", setting]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return Trace(folder / "out/timeline.perfetto")


def test_a_whole_run(tmp_path):
    trace = timeline(tmp_path, "{length: 10 s}")
    commands = trace.of("queues")
    assert len(commands) == 3000
    for command in commands:
        told = command["arguments"]
        assert abs((command["end"] - command["start"]) * 1000 - told["latency (ps)"]) <= 1000
        known = ("load", "command", "LBA", "bytes", "latency (ps)")
        causes = sum(part for name, part in told.items() if name not in known)
        assert causes == told["latency (ps)"]
    for group in ("host link", "cores", "channels", "dies", "collection"):
        assert trace.of(group), group
    assert {trace.names[one["track"]] for one in trace.of("dies")} == {f"die {n}" for n in range(4)}
    assert {trace.names[one["track"]] for one in trace.of("die 0")} == {"plane 0", "plane 1"}
    counters = {trace.names[track] for track in trace.counters}
    assert counters == {"free blocks", "units in the write buffer", "commands outstanding"}


def counter(trace, name) -> list:
    (track,) = (one for one in trace.counters if trace.names[one] == name)
    return trace.counters[track]


def test_commands_outstanding_are_counted_as_they_come_and_go(tmp_path):
    settings = ("load.rw=randread", "load.iodepth=1", "load.number_ios=10", "load.rate_iops=1000")
    trace = timeline(tmp_path, "{length: 10 s}", *settings)
    expected = []
    for command in trace.of("queues"):
        expected += [(command["start"], 1), (command["end"], 0)]
    assert len(expected) == 20 and counter(trace, "commands outstanding") == expected

    trace = timeline(tmp_path, "{length: 10 s}")
    samples = counter(trace, "commands outstanding")
    spans = zip(samples, samples[1:], strict=False)
    counted = sum(value * (until - since) for (since, value), (until, _) in spans)
    latencies = sum(one["end"] - one["start"] for one in trace.of("queues"))
    assert counted == pytest.approx(latencies, rel=1e-3)
    assert samples[-1][1] == 0


@pytest.mark.parametrize("ramp", ["load.ramp_requests=100", "run={until: steady, round: 1 %}"])
def test_commands_that_are_not_measured_are_shown_too(tmp_path, ramp):
    trace = timeline(tmp_path, "{length: 10 s}", ramp)
    numbers = {one["arguments"]["command"] for one in trace.of("queues")}
    assert numbers == set(range(1, len(numbers) + 1))
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert len(numbers) > report["results"]["total"]["commands"]
    assert set(operations(trace)) <= numbers


def operations(trace) -> dict:
    """Of the dies, by the number of the command that waits for them."""
    by_command = defaultdict(list)
    for one in trace.of("dies"):
        if "command" in one["arguments"]:
            by_command[one["arguments"]["command"]].append(one)
    return by_command


def check_ways(trace, command, senses) -> None:
    """An arrow from the command to each of its operations, through the bus, and back."""
    ways = [flow for one in senses for flow in one["flows"]]
    assert len(ways) == len(senses) == len(set(ways))
    assert sorted(ways) == sorted(command["flows"])
    for flow in ways:
        way = trace.arrows[flow]
        groups = [trace.parents[track] for _, track, _ in way]
        assert groups[0] == groups[-1] == "queues" and groups.count("dies") == 1
        assert "channels" in groups[1:-1] and way[-1][2] == "completed"
        assert (way[0][0], way[-1][0]) == (command["start"], command["end"])


def test_arrows_lead_from_reads_to_their_operations_and_back(tmp_path):
    trace = timeline(tmp_path, "{length: 10 s}")
    of_command = operations(trace)
    reads = [one for one in trace.of("queues") if "sense" in one["arguments"]]
    assert len(reads) > 500
    for command in reads:
        (sense,) = of_command[command["arguments"]["command"]]
        # A logical block is a mapping page here.
        assert sense["arguments"]["LPN"] == command["arguments"]["LBA"]
        check_ways(trace, command, [sense])


def test_every_sense_of_a_read_names_the_unit_that_is_asked_for(tmp_path):
    settings = ("load.rw=randread", "load.number_ios=300", "ssd.flash.reliability.model=power-law")
    codes = ("firmware.ecc.policy=fixed", "firmware.ecc.code=soft-ldpc")
    trace = timeline(tmp_path, "{length: 10 s}", *settings, *codes)
    of_command = operations(trace)
    reads = trace.of("queues")
    assert len(reads) == 300
    for command in reads:
        senses = of_command[command["arguments"]["command"]]
        assert len(senses) > 1
        assert {one["arguments"]["LPN"] for one in senses} == {command["arguments"]["LBA"]}


def test_arrows_lead_to_each_operation_of_long_reads(tmp_path):
    load = ("load.rw=read", "load.bs=128k", "load.iodepth=4", "load.number_ios=200")
    trace = timeline(tmp_path, "{length: 10 s}", *load)
    of_command = operations(trace)
    reads = trace.of("queues")
    assert len(reads) == 200
    for command in reads:
        senses = of_command[command["arguments"]["command"]]
        assert sum(one["arguments"]["units"] for one in senses) == 32
        assert len(senses) > 4
        check_ways(trace, command, senses)


@pytest.mark.parametrize("mode", ["write-back", "write-through"])
def test_arrows_lead_from_writes_to_the_programs_of_their_data(tmp_path, mode):
    settings = ("load.rw=randwrite", "load.bs=128k", "load.number_ios=300")
    trace = timeline(tmp_path, "{length: 10 s}", *settings, f"firmware.buffer.mode={mode}")
    writes = {one["track"] for one in trace.of("queues")}
    reached = 0
    programs = [one for one in trace.of("dies") if one["name"].startswith("host program")]
    for program in programs:
        ways = [trace.arrows[flow] for flow in program["flows"]]
        ends = [end for way in ways for end in way if end[1] in writes]
        reached += bool(ends)
        for way in ways:
            commands = {name.partition(" ")[0] for _, track, name in way if track in writes}
            assert commands <= {"write", "completed"}
            assert any(trace.parents[track] == "dies" for _, track, _ in way)
    assert len(programs) > 300 and reached > 0.95 * len(programs)


def test_perfettos_own_trace_processor_reads_it(tmp_path):
    timeline(tmp_path, "{length: 10 s}")
    trace = Trace(tmp_path / "out/timeline.perfetto")
    with chromium() as browser, viewer(tmp_path / "out/timeline.perfetto") as address:
        open_timeline(browser, address)
        assert (
            ask(browser, "select name, value from stats where severity = 'error' and value > 0")
            == []
        )
        (count,) = ask(browser, "select count(*) from slice where name != 'completed'")
        assert count == [len(trace.slices)]
        (arrows,) = ask(browser, "select count(*) from flow")
        ends = sum(len(way) - 1 for way in trace.arrows.values())
        assert arrows == [ends]


def test_around_the_slowest(tmp_path):
    whole = timeline(tmp_path, "{length: 10 s}")
    slow = sorted(whole.of("queues"), key=lambda one: one["start"] - one["end"])[:20]
    spans = [(one["start"] - 10_000, one["end"] + 10_000) for one in slow]
    shown = timeline(tmp_path, "{length: 10 s, slowest: 20, margin: 10 us}")

    def wanted(one) -> bool:
        return any(one["end"] >= start - 1 and one["start"] <= end + 1 for start, end in spans)

    for group in ("queues", "dies", "channels"):
        expected = [(one["start"], one["name"]) for one in whole.of(group) if wanted(one)]
        assert sorted((one["start"], one["name"]) for one in shown.of(group)) == sorted(expected)
        assert len(expected) < len(whole.of(group))
