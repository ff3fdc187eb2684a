"""What the drive has been through: preconditioning, age."""


def draw(d):
    _draw_steps(d)
    _draw_age(d)


def _draw_steps(d):
    f = d.facts
    for i in range(d.pick(0, 1, 1, 2, 3)):
        path = f"precondition.{i}"
        if i == 0 and not getattr(f, "file_cache", False) and d.chance(0.15):
            d.put(path, "state", "steady")
            continue
        what = "fill" if i == 0 and d.chance(0.8) else d.pick("fill", "overwrite", "trim")
        if what == "overwrite":
            d.put(path, what, d.pick(0.2, 0.5, 1, 2))
        else:
            d.put(path, what, d.pick(0.1, 0.3, 0.5, 0.9, 1))
        if what == "fill" and d.chance(0.4):
            d.put(path, "order", "sequential")
            if d.chance(0.5):
                d.put(path, "bs", f.map_unit * d.pick(1, 2, 3, 8, 13, 100))
        if f.idle_after > 10**9 and d.chance(0.3):
            d.put(path, "idle", True)
        if d.chance(0.2):
            d.put(path, "rest", d.pick(60, 86400, 30 * 86400, 365 * 86400))
            d.put(path, "temperature", d.pick(25, 40, 70))
            if d.chance(0.3):
                d.put(path, "powered", True)
        d.section(path, 0.2, leave=("state", "fill", "overwrite", "trim", "idle", "rest", "temperature", "powered"),
                  reads=[0, 10, 1000, 100000], region=[0.2, 0.5, 1], bs=[f.lba, 2 * f.lba, 65536, 131072],
                  random_distribution=["random", "zipf:1.1", "pareto:0.2", "normal:20", "zoned:50/10:50/90"],
                  round=[0.3, 0.5, 1], most_rounds=[5, 7, 12])
        if d.get(path, "until") == "steady" and (f.has_logs or getattr(f, "managed", 0)):
            d.put(path, "bs", 65536)  # small writes merge blocks for minutes


def _draw_age(d):
    if not d.chance(0.3):
        d.leave_out("age")
        return
    d.section("age", 0.4, cycles=[0, 1, 10, 1000, 3000], reads=[0, 10, 1000, 100000],
              retention=[0, 86400, 30 * 86400, 365 * 86400], leave=("powered",))
    if d.chance(0.3):
        d.put("age", "powered", True)
