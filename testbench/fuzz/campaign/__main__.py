"""The command line of the campaigns; see scripts/campaign."""

import argparse
import collections
import os
import sys
import tempfile

from campaign import kinds
from campaign.program import Program
from campaign.runner import Campaign
from campaign.setup import Setup


def _arguments():
    parser = argparse.ArgumentParser(prog="scripts/campaign", description="Random inputs against the program.")
    parser.add_argument("--kind", default="all", choices=[*kinds.ALL, "all"], help="which campaign (all)")
    parser.add_argument("--count", type=int, help="cases of each kind (each kind's own small number)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case (0)")
    parser.add_argument("--seed", type=int, default=1, help="case i of a seed is always the same (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at a time (all cores)")
    parser.add_argument("--program", default="build/release/tlmssd", help="the program under test")
    parser.add_argument("--out", default="build/campaign", help="where results are kept; a run is taken up again")
    parser.add_argument("--patience", type=float, default=1, help="factor on limits of host time (1)")
    parser.add_argument("--keep", metavar="DIR", help="write findings, made small, into this corpus "
                        "(OUT/found; the one that CTest replays is testbench/fuzz/corpus/campaign)")
    parser.add_argument("--minimise", type=float, default=60, metavar="S", help="seconds for each finding (60)")
    return parser.parse_args()


def main():
    """Runs the campaigns, prints the table; 0 when nothing was found, else 1."""
    arguments = _arguments()
    names = list(kinds.ALL) if arguments.kind == "all" else [arguments.kind]
    program = Program(arguments.program)
    found = 0
    with tempfile.TemporaryDirectory(prefix="tlmssd-campaign-") as work:
        setup = Setup(program, arguments.seed, work, arguments.patience)
        for name in names:
            kind = kinds.ALL[name]
            campaign = Campaign(kind, setup, arguments.out, arguments.jobs)
            count = kind.COUNT if arguments.count is None else arguments.count
            if hasattr(kind, "all_of_them"):
                count = min(count, kind.all_of_them(setup) - arguments.first)
            campaign.run(range(arguments.first, arguments.first + count))
            found += _report(campaign, arguments)
    return 1 if found else 0


def _report(campaign, arguments):
    """Prints one kind's line and its findings; returns how many sorts of findings there are."""
    results = campaign.results.values()
    outcomes = collections.Counter(r.outcome for r in results)
    findings = campaign.findings()
    words = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    print(f"{campaign.kind.NAME:12} seed {arguments.seed}: {len(results)} cases ({words}), "
          f"{sum(r.runs for r in results)} runs of the program, {sum(r.seconds for r in results):.0f} s, "
          f"slowest {max((r.seconds for r in results), default=0):.1f} s; {len(findings)} findings", flush=True)
    for first, count in sorted(findings.values(), key=lambda f: -f[1]):
        print(f"  {count} x {first.rule}, first in number {first.number}:\n      {first.detail[:400]}")
        path = campaign.keep(first, arguments.keep or f"{arguments.out}/found", arguments.minimise)
        print(f"      {path or 'made from its number alone'}", flush=True)
    return len(findings)


if __name__ == "__main__":
    sys.exit(main())
