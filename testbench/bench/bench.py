#!/usr/bin/env python3
"""Runs bench programs and prints their costs as multiples of E, the cost of one SystemC kernel activation.

Every case runs in a process of its own. Rounds are interleaved: each round measures E before and after every case and divides
by the mean of the two, so that a machine that changes its speed changes both. The table shows the median over the rounds.

With --count instructions are counted instead of time (valgrind), of a part of the work: the same on every machine, however
busy. --check then compares them with those that are kept in instructions.json, which --keep writes.

usage: bench.py [--rounds N] [--only TEXT] [--budgets] [--json FILE] [--check] [--count [--keep]] FOLDER
"""
import argparse
import concurrent.futures
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

YARDSTICK = ("bench_kernel_event", "kernel_event")
KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")
# How many times what is kept, or a growth budget, a counted case may take: compilers and libraries differ a little, time that
# is lost to the caches is not counted at all.
MARGIN = 1.05
# How many times its budget a timed case may take before --check fails.
TIME_MARGIN = 1.1
TIMED = "tlmssd::bench::timed(*"


def fail(message):
    sys.exit(f"scripts/bench: {message}")


def run(command):
    environment = dict(os.environ, SYSTEMC_DISABLE_COPYRIGHT_MESSAGE="1")
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
        words = " ".join(os.path.basename(word) for word in command[-3:])
        fail(f"{words} failed (exit code {done.returncode}): {lines[-1]}")
    return done.stdout


def result_in(output, command):
    for line in output.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    fail(f"{os.path.basename(command[-1])} printed no result")


def measure(program, case):
    command = [program, case]
    return result_in(run(command), command)


def count(program, case):
    """The result of a short run, with the instructions of what it times as its cost."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        command = ["valgrind", "--tool=callgrind", f"--toggle-collect={TIMED}", f"--callgrind-out-file={out}", program, case,
                   "--short"]
        result = result_in(run(command), command)
        with open(out, encoding="utf-8", errors="replace") as file:
            totals = re.findall(r"^(?:summary|totals): (\d+)", file.read(), re.MULTILINE)
    if result["measure"] == "ns":
        if not totals or int(totals[-1]) == 0:
            fail(f"{case}: no instruction was counted within {TIMED}")
        result["cost"] = int(totals[-1])
    return result


def cost_of(result):
    return result["cost"] / result["units"]


def find_cases(folder, only, budgets):
    """(program, case) of all cases, or of those of the table of budgets and what they are compared with."""
    cases = []
    for name in sorted(os.listdir(folder)):
        program = os.path.join(folder, name)
        if not name.startswith("bench_") or not os.access(program, os.X_OK) or os.path.isdir(program):
            continue
        for case in run([program, "--budgets" if budgets else "--list"]).split():
            if (name, case) != YARDSTICK and (not only or only in case):
                cases.append((program, case))
    return cases


def row_of(result, costs):
    row = {"name": result["name"], "cost": statistics.median(costs), "lowest": min(costs), "highest": max(costs)}
    return row | {key: result[key] for key in ("unit", "measure", "budget", "work", "baseline", "growth_budget")}


def run_rounds(folder, cases, rounds):
    """E in nanoseconds, and a row for each case; costs are multiples of E, or bytes."""
    yardstick = os.path.join(folder, YARDSTICK[0])
    if not os.path.exists(yardstick):
        fail(f"{YARDSTICK[0]} is not in {folder}")
    activations, samples, results = [], {}, {}
    for number in range(rounds):
        before = cost_of(measure(yardstick, YARDSTICK[1]))
        for program, case in cases:
            if sys.stderr.isatty():
                print(f"\r\033[Kround {number + 1}/{rounds}: {case}", end="", file=sys.stderr, flush=True)
            result = measure(program, case)
            after = cost_of(measure(yardstick, YARDSTICK[1]))
            activations.append((before + after) / 2)
            samples.setdefault(case, []).append(cost_of(result) / (activations[-1] if result["measure"] == "ns" else 1))
            results[case] = result
            before = after
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return statistics.median(activations), [row_of(results[case], costs) for case, costs in samples.items()]


def count_all(cases):
    """A row for each case; costs are instructions."""
    if shutil.which("valgrind") is None:
        fail("--count needs valgrind: apt-get install valgrind")
    timed = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for result in pool.map(lambda case: count(*case), cases):
            if result["measure"] == "ns":
                timed.append(row_of(result, [cost_of(result)]))
    return timed


def judge(rows, kept=None):
    """Adds to each row what it is measured against, whether it holds and whether it is within the margin. `kept`: instructions."""
    by_name = {row["name"]: row for row in rows}
    margin = TIME_MARGIN if kept is None else MARGIN

    def verdict(row, cost, limit, text):
        alike = kept is not None and cost <= limit * margin  # a few instructions more are no other result
        word = "yes" if cost <= limit else "within the margin" if alike else "NO"
        row.setdefault("verdicts", []).append(f"{text}: {word}")
        row["within"] = row.get("within", True) and cost <= limit
        row["within_margin"] = row.get("within_margin", True) and cost <= limit * margin

    for row in rows:
        if kept is None and row["budget"]:
            unit = "E" if row["measure"] == "ns" else row["measure"]
            verdict(row, row["cost"], row["budget"], f"at most {row['budget']:g} {unit}")
        if kept is not None and row["name"] in kept:
            verdict(row, row["cost"], kept[row["name"]], f"kept: {kept[row['name']]}")
        base = by_name.get(row["baseline"])
        if base and row["growth_budget"]:
            growth = row["cost"] / base["cost"]
            verdict(row, growth, row["growth_budget"], f"{growth:.2f} x {base['name']}, at most {row['growth_budget']:g}")


def spread(row):
    return f"{row['cost']:.2f} ({row['lowest']:.2f} to {row['highest']:.2f})"


def print_times(activation, rows):
    print(f"E = {activation:.1f} ns (one timed SC_METHOD activation, median over this run)\n")
    print("| case | per | multiples of E (lowest to highest) | ns | budget |")
    print("|---|---|---|---|---|")
    for row in rows:
        time = f"{row['cost'] * activation:.1f}" if row["measure"] == "ns" else row["measure"]
        print(f"| {row['name']} | {row['unit']} | {spread(row)} | {time} | {'; '.join(row.get('verdicts', []))} |")


def print_budgets(activation, rows):
    """The table of budgets, as docs/performance.md has it."""
    print(f"E = {activation:.1f} ns.\n")
    print("| work | case | per | multiples of E (lowest to highest) | budget |")
    print("|---|---|---|---|---|")
    for row in rows:
        if row["work"]:
            print(f"| {row['work']} | {row['name']} | {row['unit']} | {spread(row)} | {'; '.join(row.get('verdicts', []))} |")


def print_counts(rows):
    print("| case | per | instructions | at most |")
    print("|---|---|---|---|")
    for row in rows:
        print(f"| {row['name']} | {row['unit']} | {row['cost']:.0f} | {'; '.join(row.get('verdicts', []))} |")


def read_kept():
    if not os.path.exists(KEPT):
        return {}
    with open(KEPT, encoding="utf-8") as file:
        return json.load(file)


def keep(rows):
    kept = read_kept() | {row["name"]: math.ceil(row["cost"]) for row in rows}
    with open(KEPT, "w", encoding="utf-8") as file:
        json.dump(dict(sorted(kept.items())), file, indent=2)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where the bench programs are")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="only cases with this text in their name")
    parser.add_argument("--budgets", action="store_true", help="only the cases of the table of budgets, as that table")
    parser.add_argument("--json", help="also write the numbers to this file")
    parser.add_argument("--check", action="store_true", help="exit code 1 when a budget is exceeded by more than the margin")
    parser.add_argument("--count", action="store_true", help="count instructions instead of time")
    parser.add_argument("--keep", action="store_true", help="with --count: write instructions.json anew")
    options = parser.parse_args()
    if options.rounds < 1:
        fail("--rounds must be at least 1")
    if options.keep and not options.count:
        fail("--keep goes with --count")
    cases = find_cases(options.folder, options.only, options.budgets)
    if not cases:
        fail(f"no case with '{options.only}' in its name" if options.only else f"no bench program in {options.folder}")
    if options.count:
        rows = count_all(cases)
        if options.keep:
            keep(rows)
        judge(rows, read_kept())
        print_counts(rows)
        numbers = {"cases": rows}
    else:
        activation, rows = run_rounds(options.folder, cases, options.rounds)
        judge(rows)
        (print_budgets if options.budgets else print_times)(activation, rows)
        numbers = {"ns_per_activation": activation, "rounds": options.rounds, "cases": rows}
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(numbers, file, indent=2)
    beyond = [row["name"] for row in rows if not row.get("within_margin", True)]
    if options.check and beyond:
        fail(f"more than the margin above what they may cost: {', '.join(beyond)}")


if __name__ == "__main__":
    main()
