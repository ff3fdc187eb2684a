"""What is asked of the drive: made loads, job files, profiles, traces; one to three of them."""

from campaign.knowledge import streams, traces

_US, _MS = 10**6, 10**9
_DISTRIBUTIONS = ("random", "zipf:1.1", "zipf:0.5", "pareto:0.2", "normal:20", "zoned:50/10:50/90")


def draw(d):
    count = d.pick(1, 1, 1, 2, 3)
    if d.facts.file_cache:
        count = d.pick(1, 2)
    for i in range(count):
        path = f"load.{i}"
        if d.facts.file_cache and (i == 0 or d.chance(0.5)):
            _draw_of_files(d, path)
        else:
            kind = d.pick("made", "made", "made", "made", "made", "trace", "trace", "fio", "profile")
            {"made": _draw_made, "fio": _draw_jobs, "profile": _draw_profile, "trace": traces.draw}[kind](d, path)
        _draw_common(d, path, i)


def _draw_common(d, path, number):
    if d.chance(0.15):
        d.put(path, "name", d.pick("reads", f"load {number}", "näme"))
    if d.chance(0.15):
        d.put(path, "queue", d.whole(-1, d.facts.queues - 1))
    if number > 0 and d.chance(0.3):
        d.put(path, "stonewall", True)
    if not d.has(path, "warm_up") and d.facts.timed and d.chance(0.12):
        d.put(path, "warm_up", d.pick("1", "2", "10 %", "30 %"))
    streams.draw_load(d, path)
    if not d.has(path, "fio"):
        _draw_some(d, path, 0.08, startdelay=[_US, 10 * _MS, 3 * 10**12], ramp_time=[_US, 100 * _US],
                   ramp_requests=[1, 5], runtime=[100 * _US, 5 * _MS, 100 * _MS] if d.facts.timed else [0])
    if not d.facts.timed and d.has(path, "ramp_requests"):
        d.drop(path, "ramp_requests")


def _draw_some(d, path, share, **hints):
    """Draws these parameters of a load and no other, each with this chance."""
    others = [p.key for p in d.schema.sections["load"].of(d.policy(path)) if p.key not in hints]
    d.section(path, share, leave=others, **hints)


def fio_words(d):
    """Words of one made load, as fio understands them; sizes in whole logical blocks."""
    lba = d.facts.lba // 512
    sizes = [f"{lba * n * 512}" for n in (1, 2, 3, 4, 8)] + ["4k", "8k", "16k", "64k", "128k"]
    words = {"rw": d.pick("read", "write", "randread", "randwrite", "randrw", "randrw", "rw", "readwrite",
                          "trim", "randtrim", "trimwrite", "randtrimwrite")}
    words["number_ios"] = d.log_whole(5, 1500)
    how = d.pick("bs", "bs", "bs", "bssplit", "bsrange", "three")
    if how == "bs":
        words["bs"] = d.pick(*sizes)
    elif how == "three":
        words["bs"] = ",".join(d.pick(*sizes) for _ in range(3))
    elif how == "bssplit":
        share = d.whole(1, 99)
        words["bssplit"] = f"{d.pick(*sizes)}/{share}:{d.pick(*sizes)}/{100 - share}"
    else:
        words["bsrange"] = f"{d.pick('4k', '8k')}-{d.pick('16k', '32k', '64k')}"
    _draw_fio_mix(d, words)
    _draw_fio_region(d, words)
    _draw_fio_pace(d, words)
    return words


def _draw_fio_mix(d, words):
    if d.chance(0.4):
        words["rwmixread"] = d.pick(0, 10, 50, 70, 100)
    elif d.chance(0.15):
        words["rwmixwrite"] = d.pick(0, 30, 100)
    if d.chance(0.3):
        words["random_distribution"] = d.pick(*_DISTRIBUTIONS)
    if d.chance(0.15):
        words["percentage_random"] = d.pick("0", "50", "100", "20,80")
    if d.chance(0.1):
        words["norandommap"] = False
    if d.chance(0.1):
        words["randseed"] = d.whole(0, 1000)
    if d.chance(0.15):
        words["fsync"] = d.pick(1, 4, 32)
    if d.chance(0.1):
        words["end_fsync"] = True
    if d.chance(0.1):
        words["blockalign"] = d.pick("4k", "8k")


def _draw_fio_region(d, words):
    if d.chance(0.3):
        words["size"] = d.pick("10%", "30%", "50%")
    if d.chance(0.15):
        words["offset"] = d.pick("10%", "25%", "0")
        words.setdefault("size", "20%")
    if d.chance(0.1):
        words["io_size"] = d.pick("64k", "256k", "1m")
    if d.chance(0.05):
        words["loops"] = d.whole(1, 3)
    if d.chance(0.2):
        words["numjobs"] = d.pick(1, 2, 3)
        if d.chance(0.3):
            words["offset_increment"] = d.pick("10%", "1%")
            words["size"] = "20%"


def _draw_fio_pace(d, words):
    if d.chance(0.7):
        words["iodepth"] = d.pick(1, 2, 4, 16, 64, 256)
    if d.chance(0.1):
        words["rate_iops"] = d.pick("100", "5000", "1000000", "2000,500")
    elif d.chance(0.08):
        words["rate"] = d.pick("1m", "50m", "1g")
    if ("rate" in words or "rate_iops" in words) and d.chance(0.5):
        words["rate_process"] = d.pick("linear", "poisson")


def _draw_made(d, path):
    for key, value in fio_words(d).items():
        d.put(path, key, value)
    if d.chance(0.08):
        d.put(path, "thinktime", d.pick(_US, _MS, 50 * _MS))
        _draw_some(d, path, 1, thinktime_blocks=[1, 4, 16])
    if d.chance(0.08) and d.facts.timed:
        d.put(path, "time_based", True)
        d.put(path, "runtime", d.pick(100 * _US, 2 * _MS, 20 * _MS))
    # A parameter that came later than this module.
    d.section(path, 0.02, leave=(*_KNOWN, "target", "stonewall", "queue", "warm_up", "name", "stream"))


_KNOWN = ("trace", "profile", "fio", "startdelay", "runtime", "ramp_time", "ramp_requests", "rw", "rwmixread",
          "rwmixwrite", "bs", "bsrange", "bssplit", "blockalign", "iodepth", "numjobs", "offset",
          "offset_increment", "size", "io_size", "number_ios", "time_based", "loops", "rate_iops", "rate",
          "rate_process", "thinktime", "thinktime_blocks", "random_distribution", "norandommap", "randseed",
          "percentage_random", "fsync", "end_fsync")


def _draw_of_files(d, path):
    """Reads of the network's files, each within one file."""
    d.put(path, "target", "files")
    d.put(path, "rw", d.pick("read", "randread"))
    d.put(path, "number_ios", d.log_whole(5, 200))
    if d.facts.apps:
        d.put(path, "rw", "randread")
        d.put(path, "random_distribution", "lives")
        return
    size = d.facts.file_size
    d.put(path, "bs", str(d.pick(size, max(d.facts.lba, size // 4))))
    if d.chance(0.5):
        d.put(path, "random_distribution", d.pick(*_DISTRIBUTIONS))
    if d.chance(0.5):
        d.put(path, "iodepth", d.pick(1, 4, 16))


def _draw_jobs(d, path):
    lines = ["[global]", "ioengine=libaio", "direct=1", f"iodepth={d.pick(1, 4, 16)}"]
    names = [f"job{i}" for i in range(d.whole(1, 3))]
    for i, name in enumerate(names):
        lines.append(f"[{name}]")
        if i and d.chance(0.4):
            lines.append("stonewall")
        for key, value in fio_words(d).items():
            lines.append(f"{key}={int(value) if isinstance(value, bool) else value}")
        if d.chance(0.1):
            lines.append(f"startdelay={d.pick('1ms', '100us')}")
    file = f"jobs{path[-1]}.fio"
    d.files[file] = "\n".join(lines) + "\n"
    d.put(path, "fio", file)
    if d.chance(0.3):
        d.put(path, "job", d.pick(*names))


def _draw_profile(d, path):
    d.put(path, "profile", d.any_value(d.schema.find("load", "profile")))
    d.put(path, "scale", d.pick(1e-4, 3e-4, 1e-3))
    d.put(path, "requests", d.log_whole(5, 800))
    d.put(path, "addresses", d.pick("wrap", "scale"))
    if d.chance(0.5):
        d.put(path, "queue_depth", d.pick(1, 4, 32, 256))
    if d.chance(0.05):
        d.files["recorded/" + d.node(path)["profile"] + ".csv"] = traces.text_of(d, "msr")
        d.put(path, "traces_folder", "recorded")
        d.drop(path, "scale")
    if d.chance(0.2):
        traces.draw_region(d, path)
