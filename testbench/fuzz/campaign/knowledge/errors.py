"""Bit errors, their correction, and the pass voltage that goes by what is corrected."""

_DECODING = ("fixed", "conventional", "aoa-ecc", "retry-only")


def draw(d):
    if d.chance(0.3):
        d.choose("ssd.flash.reliability")
    errors = d.policy("ssd.flash.reliability") != "none"
    reliability = "ssd.flash.reliability"
    d.section(reliability, 0.15, leave=("cycles", "days", "rber", "file"))
    if d.policy(reliability) == "table" and d.chance(0.5):
        _draw_table(d, reliability)
    if errors and d.chance(0.2):
        d.put(reliability, "page_types", [round(d.random.uniform(0.5, 3), 2) for _ in range(d.facts.bits)])
    if errors and d.chance(0.15):
        d.files["errors.yaml"] = dict(d.node(reliability))
        d.node("ssd.flash")["reliability"] = {"file": "errors.yaml"}
        d.drawn.add((reliability, "file"))
    if errors:
        d.choose("firmware.ecc", *_DECODING)
    elif d.chance(0.15):
        d.choose("firmware.ecc")
    d.section("firmware.ecc", 0.3, window=[10, 100, 100000], average_over=[1, 64, 1024])
    if d.policy("firmware.ecc") != "none":
        frames = [n for n in (512, 1024, 2048, 4096) if d.facts.map_unit % n == 0]
        d.put("ssd.flash.ecc", "frame", d.pick(*frames))
        d.drop("firmware.mapping", "copyback")  # copies on a die are not corrected
        if d.chance(0.3):
            d.choose("firmware.pass_voltage")
    d.section("firmware.pass_voltage", 0.4)
    d.section("ssd.flash.ecc", 0.2)
    for path in d.schema.sections:
        if path.startswith("ssd.flash.ecc."):
            d.section(path, 0.08, extra_senses=[0, 1, 6])
    if d.policy("firmware.ecc") != "none" and d.chance(0.95):
        _make_room_for_bch(d)


def _make_room_for_bch(d):
    """Parity for what it is to correct: m bits for each, where 2^m - 1 is the frame's bits or more."""
    path, bch = "ssd.flash.ecc", "ssd.flash.ecc.bch"
    if d.get(bch, "correctable") > 2000:
        d.drop(bch, "correctable")
    corrected, frame, parity = d.get(bch, "correctable"), d.get(path, "frame"), d.get(path, "parity")
    while 8 * parity // (8 * (frame + parity)).bit_length() < corrected:
        parity += 1
    if parity != d.get(path, "parity"):
        d.put(path, "parity", parity)


def _draw_table(d, path):
    cycles, days = sorted(d.random.sample(range(5000), 2)), sorted(d.random.sample(range(400), 2))
    d.put(path, "cycles", cycles)
    d.put(path, "days", days)
    d.put(path, "rber", sorted(float(f"{10 ** d.random.uniform(-5, -2):.3g}") for _ in range(4)))
