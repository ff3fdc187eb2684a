"""Cores, memories and the system bus."""


def draw(d):
    cores = d.put("ssd.cpu", "cores", d.whole(1, 4)) if d.chance(0.4) else d.get("ssd.cpu", "cores")
    d.section("ssd.cpu", 0.2, leave=("cores", "costs"))
    if d.chance(0.1):
        d.put("ssd.cpu", "costs", ["stage, policy, cached, entries, cycles", "translate, any, hit, 1, 20",
                                   "translate, any, miss, 1, 90", "victim, any, any, 1, 30", "victim, any, any, 64, 300"])
    d.section("ssd.cpu.cycles", 0.2)
    for parameter in d.schema.sections["ssd.cpu.assignment"].of(None):
        if d.chance(0.1):
            some = sorted(d.random.sample(range(cores), d.whole(0, cores)))
            d.put("ssd.cpu.assignment", parameter.key, some)
    d.section("ssd.cpu.assignment", 0)
    d.section("ssd.bus", 0.15)
    if d.chance(0.1):
        d.choose("ssd.dram", "built-in")
    d.section("ssd.dram", 0.2, capacity=[2**26, 2**27, 2**28])
    d.facts.scm = d.chance(0.25)
    if d.facts.scm:
        d.put("ssd.scm", "capacity", d.pick(2**20, 2**22, *(0.05, 0.1) * (d.facts.physical > 2**21)))
        if d.chance(0.1):
            d.choose("ssd.scm", "built-in")
        d.section("ssd.scm", 0.3, wear_region=[512, 4096, 2**20])
    else:
        d.leave_out("ssd.scm")
