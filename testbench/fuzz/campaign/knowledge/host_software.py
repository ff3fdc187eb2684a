"""Software of the host before the drive: a log of random writes, or a cache of network files; never both."""


def draw(d):
    f = d.facts
    f.log_structured = f.file_cache = f.apps = False
    for path in ("log_structured", "file_cache", "file_cache.apps"):
        d.leave_out(path)
    chance = d.random.random()
    if chance < 0.08:
        _draw_log_structured(d)
    elif chance < 0.14:
        _draw_file_cache(d)


def _draw_log_structured(d):
    d.facts.log_structured = True
    grain = d.put("log_structured", "grain", d.pick(*[g for g in (512, 4096, 8192, 16384) if g % d.facts.lba == 0]))
    d.put("log_structured", "segment", grain * d.pick(1, 4, 8, 16))
    d.put("log_structured", "cost", d.pick(10**6, 5 * 10**6))
    d.put("log_structured", "spare", d.pick(0.1, 0.2, 0.4))
    d.section("log_structured", 0.2, low_water=[2, 3])


def _draw_file_cache(d):
    f = d.facts
    f.file_cache = True
    d.choose("file_cache")
    f.file_size = d.put("file_cache", "file_size", d.pick(4096, 16384, 65536))
    f.files = d.put("file_cache", "files", d.pick(1, 10, 50, 300))
    d.put("file_cache", "latency", d.pick(10**6, 10**9, 20 * 10**9))
    d.put("file_cache", "space", d.pick(0.1, 0.3, 0.5))
    d.section("file_cache", 0.3, leave=("burst", "transient"), window=[1, 10, 1000], memory=[65536, 2**20], cost=[10**6, 10**7])
    if d.node("file_cache").get("admission") == "file-classes":
        d.put("file_cache", "burst", d.pick(1, 10, 100))
        d.put("file_cache", "transient", d.pick(200, 1000))
    _draw_apps(d)


def _draw_apps(d):
    """Files of apps, which file-classes cannot do without."""
    d.facts.apps = d.node("file_cache").get("admission") == "file-classes" or d.chance(0.3)
    if not d.facts.apps:
        return
    d.put("file_cache.apps", "number", d.whole(1, min(d.facts.files, 12)))
    d.put("file_cache.apps", "burst", d.pick(2, 10, 100))
    d.put("file_cache.apps", "transient", d.pick(200, 1000))
    d.put("file_cache.apps", "rest", d.pick(1, 50, 1000))
    d.put("file_cache.apps", "told", d.pick(0, 0.5, 1))
    d.section("file_cache.apps", 0.3, burst_reading=[0, 0.3, 0.6], long_living=[0, 0.1, 0.4], session=[1, 5, 50])
