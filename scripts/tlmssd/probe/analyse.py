"""From fio's results to what is inside: all findings of a probe."""

from pathlib import Path

from tlmssd.probe.buffer import buffer_findings
from tlmssd.probe.cliffs import cliff_findings
from tlmssd.probe.findings import Finding
from tlmssd.probe.reads import read_findings
from tlmssd.probe.results import Results, read_results
from tlmssd.probe.writes import grain_finding


def analyse(folder: str | Path) -> list[Finding]:
    """What the results of a probe in `folder` (STAGE.json) show; it sees nothing but these.

    Raises InputError when there are none, or one is not fio's json.
    """
    return findings_of(read_results(Path(folder)))


def findings_of(results: Results) -> list[Finding]:
    """What results show."""
    command_rate = max((point.iops for point in results.group("depth")), default=0.0)
    grain = grain_finding(results, command_rate)
    reads = read_findings(results, grain)
    stripe = next((float(f.value) for f in reads if f.key == "stripe" and f.visible), 0.0)
    buffers = buffer_findings(results, stripe)
    buffer = buffers[0]
    held = float(buffer.value) if buffer.visible else 0.0
    through = buffers[1].value == "write-through"
    cliffs = cliff_findings(results, fast_bytes(buffers), held, through)
    return [*reads, grain, *buffers, *cliffs]


def fast_bytes(buffers: list[Finding]) -> float:
    """Bytes that go in fast because of the write buffer alone; 0 where none shows."""
    return float(buffers[0].details["knee"]) if buffers[0].visible else 0.0
