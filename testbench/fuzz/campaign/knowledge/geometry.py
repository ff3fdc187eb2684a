"""Channels, dies and the flash part: small drives of odd shapes.

A part has one to four bits per cell, few small blocks, and program units of a page, a word line or a block.
Later modules need the sizes that follow; they stand in `facts`.
"""

SHIPPED = ("2d-fg-mlc", "3d-ct-tlc", "femu-tlc", "mlc-4k", "mqsim-mlc", "qlc-96-layer", "slc-2k", "tlc-48l",
           "xl-flash-slc", "z-nand-slc")
_BITS = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}
_US, _MS = 10**6, 10**9


def draw(d):
    _draw_shape(d)
    _draw_part(d)
    _draw_organisation(d)


def _draw_shape(d):
    flash = "ssd.flash"
    d.facts.channels = d.put(flash, "channels", d.pick(1, 1, 2, 2, 3, 4))
    d.facts.ways = d.put(flash, "ways", d.pick(1, 1, 2, 3)) if d.chance(0.8) else d.get(flash, "ways")
    d.facts.dies_per_way = d.put(flash, "dies_per_way", d.whole(1, 2)) if d.chance(0.3) else 1


def _draw_part(d):
    part, f = "ssd.flash.part", d.facts
    f.cell = d.put(part, "cell", d.pick(*_BITS))
    f.bits = _BITS[f.cell]
    f.planes = d.put(part, "planes", d.pick(1, 1, 2, 3, 4))
    f.unit = d.put(part, "program_unit", d.pick("page", "page", "word-line", "block"))
    f.pages = d.put(part, "pages_per_block", f.bits * d.whole(2, 8))
    f.blocks = d.put(part, "blocks_per_plane", d.whole(16, 48))
    f.page = d.put(part, "page_size", d.pick(4096, 8192, 16384, 12288))
    f.physical = f.channels * f.ways * f.dies_per_way * f.planes * f.blocks * f.pages * f.page
    f.program_pages = {"page": 1, "word-line": f.bits, "block": f.pages}[f.unit]
    for key, low, high in (("read_latency", 5 * _US, 90 * _US), ("program_latency", 100 * _US, 900 * _US)):
        if d.chance(0.6):
            d.put(part, key, [d.whole(low, high) for _ in range(d.pick(1, f.bits))])
    f.has_slc = f.bits > 1 and d.chance(0.5)
    if f.has_slc:
        d.put(part, "slc_read_latency", d.whole(5, 30) * _US)
        d.put(part, "slc_program_latency", d.whole(50, 200) * _US)
        d.put(part, "slc_erase_latency", d.whole(1, 3) * _MS)
    f.multi_plane_part = not d.chance(0.1)
    if not f.multi_plane_part:
        d.put(part, "multi_plane", False)
    if f.unit == "word-line" and d.chance(0.3):
        d.put(part, "program_passes", d.whole(1, 3))
    d.section(part, 0.12, leave=("timing", "file", "read_table", "program_table", "erase_table", "table_interpolation", "read", "program",
                                 "erase", "slc_read", "slc_program", "slc_erase", "slc_read_latency", "slc_program_latency",
                                 "slc_erase_latency", "program_passes", "multi_plane"),
              endurance=[0, 3, 20, 100, 10000], spare_size=[0, 448, 1872], erase_latency=[_MS, 3 * _MS],
              name=["a part", "x-1"], source=["made up"])
    if d.chance(0.06):
        d.put(part, "endurance", d.pick(10, 40, 200))
        d.put(part, "grown_bad_blocks", d.pick(0.02, 0.2, 1))
    if not f.has_slc:
        d.drop(part, "slc_endurance")
    f.part_suspends = d.get(part, "suspend")
    f.part_caches = d.get(part, "cache_read") or d.get(part, "cache_program")
    if d.chance(0.1):
        d.put(part, "timing", "table")
        if d.chance(0.5):
            d.put(part, "table_interpolation", d.pick("linear", "step"))
        for key in ("read_table", "program_table", "erase_table"):
            if d.chance(0.5):
                d.put(part, key, ["cycles, factor", "0, 1", f"1000, {d.pick('0.8', '1', '1.3')}"])
    elif d.chance(0.1):
        d.put(part, "timing", "formula")
        for key in ("read", "program", "erase", *(("slc_read", "slc_program", "slc_erase") if f.has_slc else ())):
            if d.chance(0.5):
                d.put(part, key, d.pick("base", "base * (1 + 0.001*min(cycles, 3000))", "base + 1us"))
    _move_to_file(d, part)


def _move_to_file(d, part):
    """Some parts lie in a file of their own, whole or with keys beside it that win; some are shipped ones."""
    node = d.node(part)
    if d.chance(0.12):
        keep = d.random.sample(sorted(node), d.whole(0, min(3, len(node))))
        d.files["part.yaml"] = {k: v for k, v in node.items() if k not in keep}
        kept = {k: node[k] for k in keep}
        d.node("ssd.flash")["part"] = {"file": "part.yaml", **kept} if kept else "part.yaml"
        d.drawn.add((part, "file"))
    elif d.chance(0.06) and not d.facts.bits == 1:
        d.node("ssd.flash")["part"] = {"file": f"parts/nand/{d.pick(*SHIPPED)}.yaml", **node}
        d.drawn.add((part, "file"))


def _draw_organisation(d):
    flash, channels = "ssd.flash", d.facts.channels
    d.section(flash, 0.2, bus=[10**8 * n for n in (1, 2, 4, 8, 12)],
              cache_operations=[d.facts.part_caches, False],
              leave=("ways", "suspend", "organisation", "gang", "over_provisioning", "spare_factor", "user_capacity", "read_power",
                     "budget_dies", "slow_read"))
    if d.chance(0.15):
        d.put(flash, "read_power", "budgeted")
        d.put(flash, "budget_dies", 1 if channels == 1 else d.pick(1, 2))
        if d.chance(0.5):
            d.put(flash, "slow_read", d.pick(1, 1.6, 3))
    if d.chance(0.25):
        gang = d.put(flash, "organisation", d.pick("channels", "shared-bus-gang", "shared-control-gang"))
        if gang != "channels" and (channels % 2 or d.chance(0.5)):
            d.put(flash, "gang", d.pick(*[n for n in range(1, channels + 1) if channels % n == 0]))
    scheduling = "read-first"
    if d.chance(0.3):
        scheduling = d.choose("ssd.flash.scheduling")
    d.section("ssd.flash.scheduling", 0.3, starvation_bound=[0, 10**6, 10**9])
    if scheduling in ("read-first", "write-drain") and d.facts.part_suspends and d.chance(0.4):
        d.put(flash, "suspend", d.pick("none", "program", "erase", "both"))
