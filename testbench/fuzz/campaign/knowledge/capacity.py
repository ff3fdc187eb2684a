"""How much of the flash the host may use: enough spare that most drives can clean themselves."""


def draw(d):
    f, flash = d.facts, "ssd.flash"
    spare = d.pick(0.3, 0.45, 0.6)
    if getattr(f, "managed", 0) or f.has_logs or f.pslc:
        spare = d.pick(0.5, 0.65, 0.8)
    if d.chance(0.05):
        spare = d.pick(0.02, 0.1, 0.2)
    if d.chance(0.5):
        d.put(flash, "spare_factor", spare)
    else:
        d.put(flash, "over_provisioning", round(1 / (1 - spare) - 1, 4))
    f.user = int(f.physical * (1 - spare))
    if d.chance(0.08):
        f.user = d.put(flash, "user_capacity", max(f.user // 2**20, 1) * 2**20)
