#!/usr/bin/env python3
"""Runs bench programs and prints their costs as multiples of E, the cost of one SystemC kernel activation.

Every case runs in a process of its own. Rounds are interleaved: each round measures E before and after every case and divides
by the mean of the two, so that a machine that changes its speed changes both. The table shows the median over the rounds.

usage: bench.py [--rounds N] [--only TEXT] [--json FILE] [--check] FOLDER
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

YARDSTICK = ("bench_kernel_event", "kernel_event")


def fail(message):
    sys.exit(f"scripts/bench: {message}")


def run(program, argument):
    environment = dict(os.environ, SYSTEMC_DISABLE_COPYRIGHT_MESSAGE="1")
    done = subprocess.run([program, argument], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
        fail(f"{os.path.basename(program)} {argument} failed (exit code {done.returncode}): {lines[-1]}")
    return done.stdout


def measure(program, case):
    for line in run(program, case).splitlines():
        if line.startswith("{"):
            return json.loads(line)
    fail(f"{os.path.basename(program)} {case} printed no result")


def find_cases(folder, only):
    cases = []
    for name in sorted(os.listdir(folder)):
        program = os.path.join(folder, name)
        if not name.startswith("bench_") or not os.access(program, os.X_OK) or os.path.isdir(program):
            continue
        for case in run(program, "--list").split():
            if (name, case) != YARDSTICK and (not only or only in case):
                cases.append((program, case))
    return cases


def run_rounds(folder, cases, rounds):
    yardstick = os.path.join(folder, YARDSTICK[0])
    if not os.path.exists(yardstick):
        fail(f"{YARDSTICK[0]} is not in {folder}")
    costs, samples, results = [], {}, {}
    for number in range(rounds):
        before = measure(yardstick, YARDSTICK[1])["ns_per_unit"]
        for program, case in cases:
            if sys.stderr.isatty():
                print(f"\r\033[Kround {number + 1}/{rounds}: {case}", end="", file=sys.stderr, flush=True)
            result = measure(program, case)
            after = measure(yardstick, YARDSTICK[1])["ns_per_unit"]
            costs.append((before + after) / 2)
            samples.setdefault(case, []).append(result["ns_per_unit"] / costs[-1])
            results[case] = result
            before = after
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    rows = []
    for case, ratios in samples.items():
        result = results[case]
        rows.append({"name": case, "unit": result["unit"], "multiple": statistics.median(ratios),
                     "lowest": min(ratios), "highest": max(ratios), "budget": result.get("budget") or 0,
                     "baseline": result.get("baseline") or "", "growth_budget": result.get("growth_budget") or 0})
    return statistics.median(costs), rows


def judge(rows):
    """Adds to each row what it is measured against and whether it holds."""
    by_name = {row["name"]: row for row in rows}
    for row in rows:
        verdicts = []
        if row["budget"]:
            row["within"] = row["multiple"] <= row["budget"]
            verdicts.append(f"at most {row['budget']:g} E: {'yes' if row['within'] else 'NO'}")
        base = by_name.get(row["baseline"])
        if base and row["growth_budget"]:
            growth = row["multiple"] / base["multiple"]
            within = growth < row["growth_budget"]
            row["within"] = row.get("within", True) and within
            verdicts.append(f"{growth:.2f} x {base['name']}, below {row['growth_budget']:g}: {'yes' if within else 'NO'}")
        row["verdict"] = "; ".join(verdicts)


def print_table(cost, rows):
    print(f"E = {cost:.1f} ns (one timed SC_METHOD activation, median over this run)\n")
    print("| case | per | multiples of E (lowest to highest) | ns | budget |")
    print("|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['name']} | {row['unit']} | {row['multiple']:.2f} ({row['lowest']:.2f} to {row['highest']:.2f}) "
              f"| {row['multiple'] * cost:.1f} | {row['verdict']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where the bench programs are")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="only cases with this text in their name")
    parser.add_argument("--json", help="also write the numbers to this file")
    parser.add_argument("--check", action="store_true", help="exit code 1 when a budget is not kept")
    options = parser.parse_args()
    if options.rounds < 1:
        fail("--rounds must be at least 1")
    cases = find_cases(options.folder, options.only)
    if not cases:
        fail(f"no case with '{options.only}' in its name" if options.only else f"no bench program in {options.folder}")
    cost, rows = run_rounds(options.folder, cases, options.rounds)
    judge(rows)
    print_table(cost, rows)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"ns_per_activation": cost, "rounds": options.rounds, "cases": rows}, file, indent=2)
    if options.check and not all(row.get("within", True) for row in rows):
        fail("a budget is not kept")


main()
