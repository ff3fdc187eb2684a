"""Tests of the campaigns' own parts: python3 -m unittest, as CTest does; TLMSSD_PROGRAM names the program."""

import errno
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from campaign import (budgets, corpus, failing_calls, invariants, knowledge, minimise, quantities, schema,
                      twice_as_slow)
from campaign.findings import Finding
from campaign.program import Program
from campaign.setup import Setup

_PROGRAM = os.environ["TLMSSD_PROGRAM"]


class Generator(unittest.TestCase):
    """The generator of scenarios."""

    def test_draws_every_parameter_of_the_schema(self):
        known = schema.of_program(_PROGRAM)
        missing = set(known.parameters()) - {("", "plugins")}  # a campaign has no library to load
        for number in range(1500):
            missing -= knowledge.draw(known, f"coverage/{number}").drawn
            if not missing:
                return
        self.fail(f"never drawn: {sorted('.'.join(filter(None, m)) for m in missing)}")

    def test_draws_a_parameter_and_a_section_that_nobody_has_told_it_of(self):
        known = schema.Schema({"properties": {"new": {
            "type": "object", "description": "a section of tomorrow",
            "properties": {"age": {"type": "string", "description": "x\ntime (ps)\nrange: 1 ns to 1 s",
                                   "default": "1 us"},
                           "on": {"type": "boolean", "default": False}}}}})
        known.sections.update({p: s for p, s in schema.of_program(_PROGRAM).sections.items() if p not in ("", "new")})
        known.sections[""].parameters += schema.of_program(_PROGRAM).sections[""].parameters
        drawn = set().union(*(knowledge.draw(known, n).drawn for n in range(100)))
        self.assertLessEqual({("new", "age"), ("new", "on")}, drawn)

    def test_gives_the_same_scenario_for_the_same_seed(self):
        known = schema.of_program(_PROGRAM)
        one, two, other = (knowledge.draw(known, seed) for seed in ("1/7", "1/7", "1/8"))
        self.assertEqual((one.finished(), one.files), (two.finished(), two.files))
        self.assertNotEqual(one.finished(), other.finished())


class Quantities(unittest.TestCase):
    """Units."""

    def test_are_written_as_they_are_read(self):
        for kind, value in (("size", 12288), ("time", 1), ("time", 3 * 10**9), ("duration", 86400),
                            ("frequency", 333_000_000), ("bandwidth", 3_200_000_000), ("share", 0.125),
                            ("temperature", -40.0)):
            self.assertEqual(quantities.parse(kind, quantities.write(kind, value)), value)


class Minimising(unittest.TestCase):
    """Delta debugging."""

    def test_leaves_what_is_needed(self):
        tree = {"a": {"b": 1, "c": [1, 2, {"d": 3}]}, "e": {"f": 2, "g": {"h": 4}}, "load": [{"x": 1}, {"y": 2}]}

        def fails(found, text, files):
            del text, files
            return found.get("e", {}).get("f") == 2 and {"y": 2} in found.get("load", [])

        small, _, _ = minimise.minimise(fails, tree, None, {}, seconds=20)
        self.assertEqual(small, {"e": {"f": 2}, "load": [{"y": 2}]})

    def test_leaves_the_line_that_matters(self):
        text = "".join(f"line {i}\n" for i in range(100))
        _, small, _ = minimise.minimise(lambda tree, t, files: "line 57" in t, None, text, {}, seconds=20)
        self.assertEqual(small, "line 57\n")


class Corpus(unittest.TestCase):
    """Findings as files."""

    def test_holds_scenario_and_files(self):
        files = {"t.csv": b"1,2\n\n3,4\n", "x.gz": bytes(range(256)), "e.txt": "no end", "part.yaml": {"planes": 2}}
        finding = Finding("scenarios", 3, "stalled (exit code 3)", "a\nb", {"load": [{"rw": "read"}]}, None, files)
        with tempfile.TemporaryDirectory() as folder:
            entry = corpus.read(corpus.write(folder, finding, 1))
        self.assertEqual(entry.text, b"load:\n- rw: read\n")
        self.assertEqual(entry.files, {"t.csv": b"1,2\n\n3,4\n", "x.gz": bytes(range(256)), "e.txt": b"no end",
                                       "part.yaml": b"planes: 2\n"})


class TwiceAsSlow(unittest.TestCase):
    """Doubling of times."""

    def test_doubles_times_and_halves_rates(self):
        d = knowledge.draw(schema.of_program(_PROGRAM), "twice")
        first, second = twice_as_slow.pair({"ssd": {"flash": {"part": {"read_latency": ["50 us"]}}}},
                                           _plain(d), d.random)
        self.assertEqual(second["ssd"]["flash"]["part"]["read_latency"], ["100 us"])
        clocks = [quantities.parse("frequency", t["ssd"]["cpu"]["clock"]) for t in (first, second)]
        self.assertEqual(clocks[0], 2 * clocks[1])


def _plain(d):
    d.tree = {}
    return d


class Budgets(unittest.TestCase):
    """The list of both ends of every range."""

    def test_names_every_bounded_parameter(self):
        with tempfile.TemporaryDirectory() as work:
            count = budgets.all_of_them(Setup(Program(_PROGRAM), 1, work))
        bounded = [p for s in schema.of_program(_PROGRAM).sections.values() for p in s.parameters
                   if (p.low, p.high) != (None, None) and not p.listed]
        self.assertGreater(count, len(bounded))

    def test_work_folder_is_made(self):
        with tempfile.TemporaryDirectory() as work:
            self.assertTrue(Path(Setup(Program(_PROGRAM), 1, f"{work}/deep").folder("x", 1)).is_dir())


class Rates(unittest.TestCase):
    """What must hold of rates, against reports in which they are wrong."""

    def _found(self, load, iops):
        """Rules that a report does not keep in which every rate of operations a second is `iops` times what it was, or,
        where nothing was measured, `iops`."""
        scenario = ("ssd: {host: {lba_size: 4 KiB, coalesce_count: 3}, flash: {channels: 1, ways: 1, "
                    f"part: {{blocks_per_plane: 28}}}}}}\nload: {{rw: write, bs: 4 KiB, {load}}}\n")
        with tempfile.TemporaryDirectory() as work:
            Path(work, "s.yaml").write_text(scenario)
            subprocess.run([_PROGRAM, "run", "s.yaml", "-q", "-o", "out"], cwd=work, check=True)
            report = json.loads(Path(work, "out/report.json").read_text())
        for part in (report["results"]["total"], *report["results"]["loads"]):
            for rates in (part, *part["operations"].values()):
                rates["iops"] = rates["iops"] * iops if report["rate_time"]["value"] > 0 else iops
        return {rule for rule, _ in invariants.check(report, True)}

    def test_hold_and_are_missed_where_they_are_too_low(self):
        self.assertEqual(self._found("number_ios: 100", 1), set())
        self.assertIn("most commands are in the rates", self._found("number_ios: 100", 0.3))

    def test_there_are_none_where_all_completes_at_once(self):
        at_once = "number_ios: 6, iodepth: 256, ramp_requests: 5"
        self.assertEqual(self._found(at_once, None), set())
        self.assertIn("no time, no rate", self._found(at_once, 1))


class Lifetimes(unittest.TestCase):
    """What must hold of what loads can write, against reports in which it is wrong."""

    def _found(self, times):
        """Rules that a report does not keep in which loads behind a layer of the host can write `times` as much."""
        scenario = ("ssd: {host: {lba_size: 4 KiB}, flash: {channels: 1, ways: 1, part: {blocks_per_plane: 32, "
                    "pages_per_block: 16}}}\nlog_structured: {segment: 64 KiB, spare: 20 %}\nrun: {timed: false}\n"
                    "precondition: [{fill: 100 %}]\nload: {rw: randwrite, bs: 4k, loops: 10, number_ios: 9000}\n")
        with tempfile.TemporaryDirectory() as work:
            Path(work, "s.yaml").write_text(scenario)
            subprocess.run([_PROGRAM, "run", "s.yaml", "-q", "-o", "out"], cwd=work, check=True)
            report = json.loads(Path(work, "out/report.json").read_text())
        shown = report["lifetime"]
        for name in ("written", "written_first_block", "drive_writes", "drive_writes_per_day"):
            if shown[name]["value"] is not None:
                shown[name]["value"] *= times
        shown["cycles_per_drive_write"]["value"] /= times
        return {rule for rule, _ in invariants.check(report, False)}

    def test_hold_and_are_missed_where_moves_of_the_layer_count(self):
        self.assertEqual(self._found(1), set())
        self.assertIn("lifetime", self._found(2))


class FailingCalls(unittest.TestCase):
    """Calls that fail."""

    def test_without_any_memory_the_program_says_so(self):
        with tempfile.TemporaryDirectory() as work:
            setup = Setup(Program(_PROGRAM), 1, work)
            if setup.program.sanitized:
                self.skipTest("the sanitizers' allocator is not the one that is made to fail")
            for at in (1, 2, 3, 10, 100, 1000, 5000, 10000):
                result = failing_calls.failing(setup, at, "allocate", at, errno.ENOMEM, 0)
                self.assertEqual([f"{f.rule}: {f.detail}" for f in result.findings], [])
                self.assertEqual(result.outcome, "out of memory")


if __name__ == "__main__":
    unittest.main()
