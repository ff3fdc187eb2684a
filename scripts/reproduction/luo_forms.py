"""Closed forms of luo.py: what the parameters of a drive say about its rates and about the place of the cliff, nothing fitted.

All from the resolved scenario of a run; phases on the bus as in docs/modelling.md. A die does one thing at a time; buses are shared by few dies
and do not limit, which `slc_rate` and `qlc_rate` check.
"""

import re

UNITS = {"": 1, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
         "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "%": 0.01, "MHz": 1e6, "GHz": 1e9, "MT/s": 1e6}
BITS = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}


def resolved(report):
    """Path to value of every parameter of a run, as texts."""
    values, path = {}, []
    for line in report.content["scenario"].splitlines():
        match = re.match(r"( *)([\w]+): ?(.*?)(?:  #.*)?$", line)
        if not match or line.lstrip().startswith("#"):
            continue
        depth = len(match[1]) // 2
        path = path[:depth] + [match[2]]
        if match[3].strip():
            values[".".join(path)] = match[3].strip().strip('"')
    return values


def number(text):
    """12.5e-6 from '12.5 us', also when it stands in brackets (the mean of several)."""
    parts = [part.split() for part in text.strip("[]").split(",")]
    return sum(float(part[0]) * UNITS[part[1] if len(part) > 1 else ""] for part in parts) / len(parts)


class Forms:
    """Rates in bytes/s and places in bytes of one drive, from the report of any of its runs."""

    def __init__(self, report):
        values = resolved(report)
        self.values = values
        flash, part = "ssd.flash.", "ssd.flash.part."

        def of(name):
            return number(values[name])

        self.channels = int(of(flash + "channels"))
        self.dies = int(of(flash + "ways") * of(flash + "dies_per_way"))  # on each channel
        self.bus = of(flash + "bus")
        self.planes = int(of(part + "planes"))
        self.page = of(part + "page_size")
        self.bits = BITS[values[part + "cell"]]
        self.word_line = self.bits if values[part + "program_unit"] == "word-line" else 1
        self.passes = int(number(values.get(part + "program_passes", "1")))  # each gets the data of the word line
        self.rows = int(of(part + "pages_per_block"))
        self.cycle, self.wb, self.adl, self.ccs, self.rr, self.whr, self.dbsy = (
            of(part + name) for name in ("cycle_time", "t_wb", "t_adl", "t_ccs", "t_rr", "t_whr", "t_dbsy"))
        self.native = [of(part + name) for name in ("read_latency", "program_latency", "erase_latency")]
        if part + "slc_read_latency" in values:
            self.slc = [of(part + name) for name in ("slc_read_latency", "slc_program_latency", "slc_erase_latency")]

    # ---- phases on the bus, seconds; `pages` one after another
    def command(self):
        return self.planes * 7 * self.cycle + (self.planes - 1) * (self.wb + self.dbsy) + self.wb

    def data_out(self):
        return self.rr + self.planes * (7 * self.cycle + self.ccs + self.page / self.bus)

    def data_in(self, pages):
        return pages * (7 * self.cycle + self.adl + self.page / self.bus) + (pages - 1) * (self.wb + self.dbsy) + self.wb

    def status(self):
        return 2 * self.cycle + self.whr

    # ---- seconds of one die per byte
    def stripe(self):
        return self.planes * self.page

    def write_slc(self):
        _, program, erase = self.slc
        rows = self.rows // self.bits
        return (self.data_in(self.planes) + program + self.status() + erase / rows) / self.stripe()

    def read_slc(self):
        return (self.command() + self.slc[0] + self.data_out()) / self.stripe()

    def write_native(self):
        _, program, erase = self.native
        n = self.word_line
        data = self.passes * (self.data_in(n * self.planes) + self.status())
        return (data + n * program + erase * n / self.rows) / (n * self.stripe())

    # ---- bytes/s of the whole drive
    def rate(self, seconds, bus_seconds=0):
        """Of all dies, each busy so long per byte; at most what the buses let through."""
        dies = self.channels * self.dies / seconds
        return min(dies, self.channels / bus_seconds) if bus_seconds else dies

    def slc_rate(self):
        return self.rate(self.write_slc(), (self.data_in(self.planes) + self.status()) / self.stripe())

    def plain_rate(self):
        n = self.word_line * self.planes
        return self.rate(self.write_native(), self.passes * (self.data_in(n) + self.status()) / (n * self.page))

    def folding_rate(self, folded=1):
        """1 / (1/slc + f (1/read + 1/qlc)): each byte is written to SLC, and f bytes are moved for it."""
        return self.rate(self.write_slc() + folded * (self.read_slc() + self.write_native()))


class Pool:
    """The pSLC of a drive: how large it is and when it is full. Sizes as rounded to blocks, from a report; `before`: that of a run which has only
    looked at the drive as it was before the writes. What it still holds in SLC mode lies in the open blocks."""

    def __init__(self, report, before):
        values, forms = resolved(report), Forms(report)
        self.begun = before.value("firmware.pslc.valid_units") * number(values["firmware.mapping.unit"])
        self.full_until, self.gone_at, self.fold_below = (
            number(values["firmware.pslc." + name]) for name in ("full_until", "gone_at", "fold_below"))
        self.row = forms.channels * forms.dies * forms.stripe() * (forms.rows // forms.bits)  # a block in SLC mode on every die, bytes
        self.fixed = round(report.value("firmware.pslc.static_size") / self.row)
        self.dynamic = round(report.value("firmware.pslc.largest_size") / self.row) - self.fixed
        self.user = number(values["ssd.flash.user_capacity"])

    def blocks(self, fill):
        """Blocks of each die that may be in SLC mode at a fill (share of the user capacity)."""
        share = min(max((self.gone_at - fill) / (self.gone_at - self.full_until), 0), 1)
        return self.fixed + int(self.dynamic * share + 0.5)

    def cliff(self, fill):
        """Bytes written in sequence to an idle drive until folding begins: when the share of free blocks falls below fold_below. The block
        that was open in idle time is not folded, so what it holds (`begun`) counts."""
        return self._folding_begins(fill)[0]

    def left(self, fill):
        """Room that the pSLC still has then, bytes: what is written into it need not be folded."""
        written, used = self._folding_begins(fill)
        return (self.blocks(fill + written / self.user) - used + 1) * self.row

    def _folding_begins(self, fill):
        used = 1
        while True:
            written = (used - 1) * self.row - self.begun  # when the block number `used` of each die is opened
            if written >= 0 and 1 - used / self.blocks(fill + written / self.user) < self.fold_below:
                return written, used
            used += 1

    def folded(self, fill):
        """Bytes folded per byte written after the cliff, because new data make the pSLC smaller."""
        shrinks = self.full_until <= fill < self.gone_at
        return 1 + self.dynamic * self.row / (self.gone_at - self.full_until) / self.user if shrinks else 1.0
