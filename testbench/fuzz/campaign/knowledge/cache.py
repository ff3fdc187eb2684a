"""The cache in SCM or DRAM before the write buffer."""


def draw(d):
    f, cache = d.facts, "firmware.cache"
    if not d.chance(0.7 if f.scm else 0.1):
        d.section(cache, 0.02)
        return
    d.choose(cache)
    if not f.scm or d.chance(0.2):
        d.put(cache, "medium", "dram")
        d.put(cache, "capacity", d.pick(2**20, 2**21, 2**22))
    grains = [0, *[n for n in (512, 1024, 4096) if n % f.lba == 0 and f.map_unit % n == 0]]
    d.put(cache, "grain", d.pick(*grains))
    d.section(cache, 0.3, leave=("medium", "capacity", "grain"))
