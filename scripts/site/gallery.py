"""Draws the gallery of the example scenarios: docs/gallery.md and docs/images/gallery.

scripts/make_gallery            runs the scenarios, some minutes; what the store knows is there
scripts/make_gallery --check    only whether the page has every scenario, and its picture
"""

import argparse
import gzip
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import altair as alt
import pandas as pd
import vl_convert
from pages import ROOT, sentence

from tlmssd import Result, RunRequest
from tlmssd.causes import CAUSES, cause_colour, in_order
from tlmssd.engine import thread_pool
from tlmssd.pictures.axes import axis_of, colours, time_axis
from tlmssd.pictures.latencies import cdf, distribution_data, stacked_causes
from tlmssd.pictures.page import configured
from tlmssd.quantities import quantity_text
from tlmssd.runs import Runner

EXAMPLES = ROOT / "scenarios/examples"
PAGE = ROOT / "docs/gallery.md"
PICTURES = ROOT / "docs/images/gallery"
WIDTH = 620
LEGEND = {"orient": "top", "title": None, "columns": 4, "labelLimit": 400, "symbolOpacity": 1}

Results = Mapping[str, Result]
"""By what is said of each variant of the scenario."""
Draw = Callable[[Results], alt.Chart]


@dataclass(frozen=True)
class Picture:
    """What is shown of a scenario: settings of each variant by what is said of it, and a chart."""

    caption: str
    draw: Draw
    variants: Mapping[str, Mapping[str, object]]


def with_legend(chart: alt.Chart, names: list[str] | None = None) -> alt.Chart:
    """A chart for a picture of its own, which has no page around it to say the colours."""
    chart = chart.copy()
    chart.encoding.color["legend"] = {**LEGEND, **({"values": names} if names else {})}
    return chart


def percentiles(operation: str) -> Draw:
    """Latency of one operation: share of the commands done, stretched to the slowest."""

    def draw(results: Results) -> alt.Chart:
        lines = {name: {"": result.histogram(operation)} for name, result in results.items()}
        chart = cdf(distribution_data(lines), colours(list(lines)), tail=True)
        return with_legend(chart).properties(height=230)

    return draw


def operations(results: Results) -> alt.Chart:
    """The same of all operations of one run."""
    (result,) = results.values()
    lines = {name: {"": result.histogram(name)} for name in result.operations}
    chart = cdf(distribution_data(lines), colours(list(lines)), tail=True)
    return with_legend(chart).properties(height=230)


def causes(operation: str) -> Draw:
    """Where the time of one operation goes on average, a bar for each variant."""

    def draw(results: Results) -> alt.Chart:
        return cause_bars(
            {
                name: result.report["results"]["total"]["operations"][operation]["ledger"]
                for name, result in results.items()
            }
        )

    return draw


def causes_of_loads(results: Results) -> alt.Chart:
    """The same of every load and operation of one run."""
    (result,) = results.values()
    return cause_bars(
        {
            f"{load['name']}: {operation}": measured["ledger"]
            for load in result.report["results"]["loads"]
            for operation, measured in load["operations"].items()
        }
    )


def cause_bars(ledgers: Mapping[str, Mapping]) -> alt.Chart:
    """Bars of causes, out of ledgers of report.json."""
    spent = {
        name: {cause: part["mean_ns"] for cause, part in ledger.items()}
        for name, ledger in ledgers.items()
    }
    chart, legend = stacked_causes(spent)
    chart.encoding.y["axis"] = alt.Axis(labelLimit=200)
    return with_legend(chart, list(legend)).properties(height=alt.Step(30))


def bars(metric: str, title: str) -> Draw:
    """One figure of every variant, with its value."""

    def draw(results: Results) -> alt.Chart:
        figures = {name: (r.value(metric), r.unit(metric)) for name, r in results.items()}
        return value_bars(figures, title)

    return draw


def loads(metric: str, title: str) -> Draw:
    """One figure of every load of every variant."""

    def draw(results: Results) -> alt.Chart:
        figures = {
            f"{load['name']}, {name}": (
                result.value(f"loads.{load['name']}.{metric}"),
                result.unit(f"loads.{load['name']}.{metric}"),
            )
            for name, result in results.items()
            for load in result.report["results"]["loads"]
        }
        return value_bars(figures, title)

    return draw


def value_bars(figures: Mapping[str, tuple[float, str]], title: str) -> alt.Chart:
    """Bars with their values behind them."""
    rows = [
        {"name": name, "value": value, "text": quantity_text(value, unit)}
        for name, (value, unit) in figures.items()
    ]
    most = max(row["value"] for row in rows)
    unit = next(iter(figures.values()))[1]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=260)),
        x=alt.X("value:Q", axis=axis_of(unit, title), scale=alt.Scale(domain=[0, 1.15 * most])),
    )
    texts = base.mark_text(align="left", dx=5).encode(text="text:N")
    bar = base.mark_bar(color=colours(["bars"])["bars"], height={"band": 0.7})
    return alt.layer(bar, texts).properties(height=alt.Step(28))


def erases(results: Results) -> alt.Chart:
    """Erases per second over time."""
    (result,) = results.values()
    series = result.report["series"]
    data = pd.DataFrame({"time": series["time"], "value": series["erases"]})
    return (
        alt.Chart(data)
        .mark_line(strokeWidth=1.4, color=colours(["line"])["line"])
        .encode(
            x=alt.X("time:Q", axis=axis_of("s", "time"), scale=alt.Scale(nice=False)),
            y=alt.Y("value:Q", axis=axis_of("1/s", "erases", tickCount=5)),
        )
        .properties(height=160)
    )


def over_time(operation: str) -> Draw:
    """Bandwidth of one operation over time."""

    def draw(results: Results) -> alt.Chart:
        parts = []
        for name, result in results.items():
            frame = result.time_series()
            part = frame[frame["series"] == f"{operation}.bandwidth"]
            parts.append(part.assign(line=name))
        data = pd.concat(parts, ignore_index=True)[["time", "line", "value"]]
        palette = colours(list(dict.fromkeys(data["line"])))
        scale = alt.Scale(domain=list(palette), range=list(palette.values()))
        return (
            alt.Chart(data)
            .mark_line(strokeWidth=1.4, interpolate="step-after")
            .encode(
                x=alt.X("time:Q", axis=axis_of("s", "time"), scale=alt.Scale(nice=False)),
                y=alt.Y("value:Q", axis=axis_of("B/s", "bandwidth", tickCount=5)),
                color=alt.Color("line:N", scale=scale, legend=alt.Legend(**LEGEND)),
            )
            .properties(height=200)
        )

    return draw


def by_rate(results: Results) -> alt.Chart:
    """Latency at some percentiles against the rate, which the variants are named by."""
    figures = ("mean", "p99", "p99.9")
    rows = [
        {"rate": float(rate), "line": figure, "ns": result.value(f"read.{figure}")}
        for rate, result in results.items()
        for figure in figures
    ]
    palette = colours(list(figures))
    scale = alt.Scale(domain=list(palette), range=list(palette.values()))
    return (
        alt.Chart(pd.DataFrame(rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("rate:Q", axis=axis_of("1/s", "reads that arrive")),
            y=alt.Y("ns:Q", scale=alt.Scale(type="log"), axis=time_axis("latency", tickCount=5)),
            color=alt.Color("line:N", scale=scale, legend=alt.Legend(**LEGEND)),
        )
        .properties(height=230)
    )


def commands(results: Results) -> alt.Chart:
    """Every command of a few milliseconds: when it came, its latency, and its main cause."""
    (result,) = results.values()
    with gzip.open(result.folder / "commands.csv.gz", "rt") as file:
        log = pd.read_csv(file)
    begin = log["submitted_ps"].min() + 20e9
    log = log[log["submitted_ps"].between(begin, begin + 12e9)]
    spent = log.iloc[:, log.columns.get_loc("load_limit_ps") :].fillna(0)
    spent.columns = list(CAUSES)[: len(spent.columns)]
    data = pd.DataFrame(
        {
            "ms": log["submitted_ps"] / 1e9,
            "ns": log["latency_ps"] / 1e3,
            "operation": log["operation"],
            "cause": spent.idxmax(axis=1),
        }
    )
    used = in_order(set(data["cause"]))
    scale = alt.Scale(domain=used, range=[cause_colour(cause) for cause in used])
    return (
        alt.Chart(data.round({"ms": 4}))
        .mark_point(filled=True, size=28, opacity=0.9)
        .encode(
            x=alt.X("ms:Q", title="submitted (ms)", scale=alt.Scale(zero=False, nice=False)),
            y=alt.Y("ns:Q", scale=alt.Scale(type="log"), axis=time_axis("latency", tickCount=6)),
            color=alt.Color("cause:N", scale=scale, legend=alt.Legend(**LEGEND)),
            shape=alt.Shape("operation:N", legend=alt.Legend(**LEGEND)),
        )
        .properties(height=230)
    )


def variants(key: str, *values: object) -> dict[str, dict[str, object]]:
    """One variant for each value of a parameter."""
    return {str(value): {key: value} for value in values}


AS_IT_IS: dict[str, dict[str, object]] = {"as it is": {}}
WA = bars("write_amplification", "write amplification")
SUSPEND, SCHEDULING = "ssd.flash.suspend", "ssd.flash.scheduling.policy"
ZIPF = "load.random_distribution"
REFRESH = "firmware.refresh.policy"
ECC = {"firmware.ecc.policy": "fixed", "firmware.ecc.code": "soft-ldpc"}
LOG, LOG_LOAD = "log_structured.policy", "load.0.rw"
ORGANISATION = "ssd.flash.organisation"
FLAT = ["layer, factor", "0, 1", "47, 1"]
GALLERY: dict[str, Picture] = {
    "client_pslc": Picture(
        "bandwidth over time",
        over_time("write"),
        {
            "waits for room in SLC mode": {},
            "goes to native blocks": {"firmware.pslc.when_full": "bypass"},
            "no pSLC": {"firmware.pslc": {"policy": "none"}},
        },
    ),
    "consumer_tlc": Picture(
        "latency of reads",
        percentiles("read"),
        {
            "suspend, reads first": {},
            "no suspend": {SUSPEND: "none"},
            "no suspend, in order": {SUSPEND: "none", SCHEDULING: "in-order"},
        },
    ),
    "dftl": Picture(
        "where the time of reads goes",
        causes("read"),
        {
            "cache of 128 KiB": {},
            "cache of 2 MiB": {"firmware.mapping.cache": "2 MiB"},
            "uniform accesses": {ZIPF: "random"},
        },
    ),
    "dramless": Picture(
        "random reads per second, by where the map's entries are cached",
        bars("iops", "IOPS"),
        {
            "256 KiB in host memory": {},
            "32 KiB in the controller": {
                "firmware.mapping.cache_in": "dram",
                "firmware.mapping.cache": "32 KiB",
            },
            "all of it in DRAM": {
                "firmware.mapping.scheme": "page",
                "ssd.dram.capacity": "64 MiB",
            },
        },
    ),
    "read_ahead": Picture(
        "reads in order, one at a time",
        bars("bandwidth", "bandwidth"),
        {
            "128 KiB, 512 KiB ahead": {},
            "128 KiB, none": {"firmware.read_ahead.policy": "none"},
            "4 KiB, 512 KiB ahead": {"load.bs": "4k"},
            "4 KiB, none": {"load.bs": "4k", "firmware.read_ahead.policy": "none"},
        },
    ),
    "fio_job": Picture("where the time of each job goes", causes_of_loads, AS_IT_IS),
    "gangs": Picture(
        "random reads per second",
        bars("iops", "IOPS"),
        variants(ORGANISATION, "channels", "shared-control-gang", "shared-bus-gang"),
    ),
    "hot_cold": Picture(
        "write amplification",
        WA,
        {
            "uniform": {ZIPF: "random", "precondition.1.random_distribution": "random"},
            "Zipf": {},
            "Zipf, cost-benefit": {"firmware.gc.policy": "cost-benefit"},
        },
    ),
    "layer_variation": Picture(
        "latency of writes",
        percentiles("write"),
        {
            "by layer": {},
            "mean of the layers": {"ssd.flash.part.program_table": FLAT},
        },
    ),
    "log_blocks": Picture(
        "random writes per second, by mapping scheme",
        bars("iops", "IOPS"),
        variants("firmware.mapping.scheme", "fast", "bast", "superblock", "page"),
    ),
    "log_structured": Picture(
        "bandwidth of the file's writes",
        bars("bandwidth", "bandwidth"),
        {
            "random, as a log": {},
            "sequential, as a log": {LOG_LOAD: "write"},
            "random": {LOG: "none"},
            "sequential": {LOG: "none", LOG_LOAD: "write"},
        },
    ),
    "pacing": Picture(
        "bandwidth over time",
        over_time("write"),
        {"not paced": {"firmware.pacing.policy": "none"}, "paced": {}},
    ),
    "profile": Picture("latencies", operations, AS_IT_IS),
    "rate_sweep": Picture(
        "latency of reads against their rate",
        by_rate,
        variants("load.rate_iops", 20000, 60000, 100000, 130000, 150000, 160000, 165000),
    ),
    "read_retry": Picture(
        "where the time of reads goes",
        causes("read"),
        {
            "from the foot": {},
            "levels remembered": {"firmware.ecc.remember": "true"},
            "1000 cycles, 90 days": {"age.cycles": 1000, "age.retention": "90 d"},
            "fresh": {"age.cycles": 0, "age.retention": "0 s"},
        },
    ),
    "refresh": Picture(
        "reads lost after the year",
        bars("statistics.firmware.error_correction.reads_lost", "reads lost"),
        {
            "refresh after 14 days": {},
            "after 60 days": {"firmware.refresh.retention": "60 d"},
            "never": {REFRESH: "none"},
        },
    ),
    "sata": Picture(
        "where the time of reads goes",
        causes("read"),
        {"6 Gb/s": {}, "3 Gb/s": {"ssd.host.link": "sata3"}},
    ),
    "shelf_life": Picture(
        "where the time of reads goes",
        causes("read"),
        {
            "as it is": {},
            "levels not remembered": {"firmware.ecc.remember": "false"},
            "soft LDPC": ECC,
            "at 55 C": {"age.temperature": "55 C"},
        },
    ),
    "streams": Picture(
        "write amplification",
        WA,
        {
            "no handles": {"firmware.streams.policy": "none"},
            "initially isolated": {},
            "persistently isolated": {"firmware.streams.policy": "persistently-isolated"},
        },
    ),
    "timeline": Picture("the commands of 12 ms, by their main cause", commands, AS_IT_IS),
    "trim": Picture(
        "write amplification",
        WA,
        {
            "trimmed": {},
            "never trimmed": {
                "precondition.1.trim": "0 %",
                "precondition.1.overwrite": "1x",
                "load.rw": "randwrite",
            },
        },
    ),
    "two_tenants": Picture(
        "p99 of reads; web is to have 1 ms at most",
        loads("read.p99", "p99"),
        {
            "as it is": {},
            "9 commands at once": {"ssd.host.outstanding_limit": 9},
            "7 of batch": {"load.1.iodepth": 7},
        },
    ),
    "wear_out": Picture("blocks erased per second, until the drive is read-only", erases, AS_IT_IS),
    "weighted_queues": Picture(
        "reads per second",
        loads("iops", "IOPS"),
        {
            "4 : 2 : 1": {},
            "equal": {"ssd.host.arbitration": "round-robin", "ssd.host.weights": "[]"},
        },
    ),
    "write_amplification": Picture(
        "write amplification, by victim policy",
        WA,
        variants("firmware.gc.policy", "greedy", "d-choices", "cost-benefit", "fifo", "random"),
    ),
}
"""What is shown of each scenario of scenarios/examples."""

HEAD = """# Gallery

One picture of each scenario in [scenarios/examples](../scenarios/examples), made by
`scripts/make_gallery` from its results and those of variants. Causes of latency have the colours
that they have in every report.
"""


def page() -> str:
    """The text of docs/gallery.md."""
    parts = [HEAD]
    for name, picture in GALLERY.items():
        file = f"{name}.yaml"
        says = sentence(EXAMPLES / file)
        parts.append(
            f"\n## {name}\n\n{says}. ([{file}](../scenarios/examples/{file}))\n"
            f"\n![{name}: {picture.caption}](images/gallery/{name}.svg)\n"
        )
    return "".join(parts)


def complaints() -> list[str]:
    """What is amiss with the page and its pictures."""
    there = {file.stem for file in EXAMPLES.glob("*.yaml")}
    found = [f"{name}.yaml has no picture in gallery.py" for name in sorted(there - set(GALLERY))]
    found += [f"there is no {name}.yaml any more" for name in sorted(set(GALLERY) - there)]
    if found:
        return found
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        found.append("docs/gallery.md is not what the scenarios say")
    found += [
        f"there is no docs/images/gallery/{name}.svg"
        for name in GALLERY
        if not (PICTURES / f"{name}.svg").exists()
    ]
    return found


def svg(chart: alt.Chart, caption: str) -> str:
    """The chart as a picture of its own, on white."""
    specification = configured(chart.properties(width=WIDTH, title=caption)).to_dict()
    specification["config"]["background"] = "white"
    specification["config"]["title"] = {"anchor": "start", "fontSize": 13, "fontWeight": "normal"}
    text = vl_convert.vegalite_to_svg(specification)
    text = re.sub(
        r' (aria-[a-z]+|role)="[^"]*"', "", text
    )  # of every mark; the page describes the whole
    return re.sub(r"<[^>]+>", lambda tag: LONG_NUMBER.sub(rounded, tag[0]), text)


LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def rounded(number: re.Match) -> str:
    """Hundredths of a pixel are not to be seen."""
    return f"{float(number[0]):.2f}"


def draw(names: list[str], folder: Path, short: bool, jobs: int | None) -> None:
    """Runs what the pictures show, and draws them into `folder`."""
    wanted = [
        (name, label, RunRequest.of(EXAMPLES / f"{name}.yaml", settings))
        for name in names
        for label, settings in GALLERY[name].variants.items()
    ]
    with Runner(short=short) as runner, thread_pool(jobs) as pool:
        outcomes = runner.run([request for _, _, request in wanted], pool)
    results: dict[str, dict[str, Result]] = {name: {} for name in names}
    for (name, label, _), outcome in zip(wanted, outcomes, strict=True):
        results[name][label] = outcome.result
    folder.mkdir(parents=True, exist_ok=True)
    for name, shown in results.items():
        picture = GALLERY[name]
        text = svg(picture.draw(shown), picture.caption)
        (folder / f"{name}.svg").write_text(text, encoding="utf-8")


def main() -> int:
    """Draws, or checks."""
    parser = argparse.ArgumentParser(prog="scripts/make_gallery", description=__doc__)
    parser.add_argument("names", nargs="*", help="scenarios (default: all)")
    parser.add_argument("--check", action="store_true", help="only whether everything is there")
    parser.add_argument(
        "--short", action="store_true", help="short runs, whose figures mean nothing"
    )
    parser.add_argument("--out", type=Path, default=PICTURES, help="folder of the pictures")
    parser.add_argument("--jobs", type=int, help="runs at a time")
    options = parser.parse_args()
    if not options.check:
        draw(options.names or list(GALLERY), options.out, options.short, options.jobs)
        if options.out == PICTURES:
            PAGE.write_text(page(), encoding="utf-8")
    found = complaints()
    for line in found:
        print(f"scripts/make_gallery: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
