"""Reads of the host in batches that meet on no die."""


def draw(d):
    f, issue = d.facts, "firmware.parallel_issue"
    if f.channels * f.ways * f.dies_per_way == 1 or not d.chance(0.2):
        d.leave_out(issue)
        return
    d.choose(issue)
    d.section(issue, 0.5, at_once=[1, 2, 8], starvation_bound=[0, 10**6, 10**9])
