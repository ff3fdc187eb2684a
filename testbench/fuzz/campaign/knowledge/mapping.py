"""The map, allocation and the write buffer, with the sizes that must fit each other.

`facts`: `map_unit` (bytes of a mapping page), `program_bytes` (a program unit of a parallel unit),
`group_block` (bytes that a group erases at a time), `by_page` (the map is by unit, not by block).
"""

_BLOCK_SCHEMES = ("block-mapped", "bast", "fast", "superblock")


def draw(d):
    f = d.facts
    _draw_unit(d)
    _draw_allocation(d)
    scheme = d.choose("firmware.mapping") if d.chance(0.6) else "page"
    f.by_page = scheme not in _BLOCK_SCHEMES
    f.has_logs = scheme in ("bast", "fast", "superblock")
    if scheme == "block-mapped":
        _draw_block_map(d)
    d.section("firmware.mapping", 0.4, leave=("block", "placement"),
              cache=[64, 512, 4096, 65536, 2**20], line=lambda: _line(d),
              log_blocks=[1, 1, 2, 3, 4], adjacent=[1, 2, 3, 4], update_blocks=[1, 2, 3])
    if f.has_logs:
        d.drop("firmware.allocation", "streams")
        if not d.has("firmware.mapping", "log_blocks"):
            d.put("firmware.mapping", "log_blocks", d.whole(1, 3))
    _draw_buffer(d)


def _draw_unit(d):
    f = d.facts
    units = [u for u in (512, 1024, 2048, 4096, 8192, 12288, 16384)
             if u % f.lba == 0 and f.page % u == 0 and u // f.lba <= 64]
    f.map_unit = d.put("firmware.mapping", "unit", d.pick(*units, 4096 if 4096 in units else units[0]))


def _draw_allocation(d):
    f, section = d.facts, "firmware.allocation"
    multi_plane = f.multi_plane_part and d.chance(0.4)
    if multi_plane:
        d.put(section, "multi_plane", True)
    stripe = d.put(section, "stripe", d.any_value(d.schema.find(section, "stripe"))) if d.chance(0.2) else "none"
    counts = {"C": f.channels, "W": f.ways, "D": f.dies_per_way}
    f.lanes = 1
    for letter in stripe if stripe != "none" else "":
        f.lanes *= counts[letter]
    d.section(section, 0.25, leave=("stripe", "multi_plane"), programs_per_pu=[1, 2, 4, 64])
    f.group_planes = f.planes if multi_plane else 1
    f.program_bytes = f.group_planes * f.program_pages * f.page
    f.group_block = f.group_planes * f.lanes * f.pages * f.page
    f.groups = f.channels * f.ways * f.dies_per_way // f.lanes * (f.planes // f.group_planes)
    f.striped = stripe != "none"


def _draw_block_map(d):
    f = d.facts
    programs = f.group_block // f.program_bytes
    parts = d.pick(*[n for n in range(1, programs + 1) if programs % n == 0])
    f.managed = f.group_block
    if d.chance(0.5):
        f.managed = d.put("firmware.mapping", "block", f.program_bytes * parts)
    if d.chance(0.3) and f.managed == f.group_block:
        d.put("firmware.mapping", "placement", "log")


def _line(d):
    entries = d.facts.map_unit // 4
    return d.pick(0, 1, *[n for n in (2, 4, 16, 64) if entries % n == 0])


def _draw_buffer(d):
    f, section = d.facts, "firmware.buffer"
    least = max(2 * f.program_bytes, 2 * getattr(f, "managed", 0), 65536)
    f.buffer = d.get(section, "capacity")
    if least > f.buffer or d.chance(0.7):
        f.buffer = d.put(section, "capacity", least * d.pick(1, 1, 2, 3, 8))
    d.section(section, 0.3, leave=("capacity",))
