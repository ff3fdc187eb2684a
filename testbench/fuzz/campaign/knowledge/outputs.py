"""How the run is carried out and what is written beside the report."""


def draw(d):
    d.facts.timed = not d.chance(0.1)
    if not d.facts.timed:
        d.put("run", "timed", False)
    d.section("run", 0.15, leave=("timed", "stall_after", "pause_at"), quantum=[0, 1, 10**6, 10**9])
    if d.chance(0.03):
        d.put("run", "stall_after", d.pick(10**16, 10**17))  # ps: slow cores may need hours
    if d.facts.timed and d.chance(0.03):
        d.put("run", "pause_at", d.pick(0, 10**17))  # a stop prints the drive's state
    d.section("report", 0.15, leave=("command_log", "decisions"))
    if d.chance(0.1):
        d.put("report", "decisions", d.pick([], ["gc"], ["write", "remap", "cache"], ["all"]))
    if d.chance(0.3):
        d.put("report", "command_log", d.pick("csv", "csv", "csv.gz", "csv.zst"))
    d.section("report.decision_filter", 0.03, lpn=[[], [3], [0, 40]], block=[[], [1], [0, 9]], most=[1, 100, 10**6],
              **{"from": [0, 10**6, 10**9], "length": [0, 10**6, 10**9]})
    if d.get("report", "timeline"):
        d.section("report.window", 0.5, slowest=[0, 1, 20], margin=[0, 10**6, 10**9],
                  **{"from": [0, 10**6, 10**9], "length": [1000, 10**6, 10**9]})
    else:
        d.section("report.window", 0.01)
    if d.chance(0.1):
        d.put("report", "silence", d.pick("", "falls-behind", "falls-behind, unwritten-reads"))
    if d.chance(0.5):
        d.put("", "seed", d.pick(0, 1, 2, d.log_whole(3, 2**31)))
    if d.chance(0.1):
        d.put("", "title", d.pick("a title", "Größe ≥ 1", "x: y # z", "'\"<&>"))
    d.section("", 0.02, leave=("seed", "title"))
