"""What to run on a drive: fio job files whose results say what is inside.

reads.fio       writes its file once, gently; then reads it by size, by stride, by queue depth
writes.fio      random writes by size, then bursts after rests, inside the file
cliff.fio       writes its own larger file in pieces, rests, and goes on: the pSLC
spare.fio       overwrites the whole drive at random: only when asked for in so many words
calibrate.fio   jobs that determine timings, for `tlmssd calibrate`

Everything the analysis needs to know of a job is in its name, because fio's json may say no more.
All jobs follow one another (stonewall), each is limited in amount and in time; together they take
under an hour. After Ryu & Park (2009), who found block sizes and stripes of three drives so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tlmssd.errors import InputError

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
STAGES = ("reads", "writes", "cliff", "spare", "calibrate")
ENGINES = ("libaio", "io_uring", "posixaio", "solarisaio", "windowsaio")
"""Of fio's those that read and write drives, and take many requests at once."""
DESTRUCTIVE = "spare"
"""The stage that wants the whole drive."""
SIZES = [
    *(4 * KIB * n for n in range(1, 17)),
    *(8 * KIB * n for n in range(9, 17)),
    *(16 * KIB * n for n in range(9, 33)),
    *(64 * KIB * n for n in range(9, 33)),
]
"""Of the reads by size: fine enough to see each page that is added."""
ODD = (1, 3, 5, 7, 9, 11, 13, 15)
ODD_PRODUCTS = (21, 25, 27, 33, 35, 39, 45, 49, 55, 63, 65, 75, 77, 91, 105)
"""Odd parts of a stripe: of the channels (to 16), of channels and dies (to 8) that are both odd."""
DEPTHS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
BURSTS = [MIB << power for power in range(2, 11)]
SHORT_BURSTS = [MIB << power for power in range(4)]
"""Of smaller writes: for a buffer that a burst of large ones fills at once."""
PACES = [1024 * MIB, 1536 * MIB, 2048 * MIB]
"""Bytes per second of bursts that are not as fast as they can be: they leave flash the memory."""
PACED_BURSTS = [MIB << power for power in range(4, 9)]
PIECES, SECOND_PIECES = 96, 48
PIECE_SHARE = 1 / 256
"""Of the capacity: a piece of the pSLC's cliff."""
SPARE_PIECES = 60
SPARE_SHARE = 1 / 100
SPARE_WRITE = 16 * KIB
FILL_SECONDS, PIECE_SECONDS, SPARE_SECONDS = 800, 5, 6
"""So that all stages together take less than an hour, however slow the drive, and START_SECONDS for
fio to start each job."""
START_SECONDS = 0.05


@dataclass(frozen=True)
class Job:
    """A section of a job file; everything beside `rw`, `bs` and so on stands in [global]."""

    name: str
    options: dict[str, object]

    def text(self) -> str:
        """As fio reads it."""
        lines = [f"[{self.name}]", *(f"{key}={value}" for key, value in self.options.items())]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Target:
    """What is probed. `capacity`: of the drive, in B; `region`: bytes that the reads touch, little
    enough to be written anew into spare blocks; `area`: those that the writes touch.

    `start`: where the cliff's own writes begin; `filled`: share of the drive that holds data
    before. `sector`: smallest request, in B.
    """

    filename: str
    capacity: int
    region: int
    area: int
    start: int
    filled: float
    sector: int = 4 * KIB
    engine: str = "libaio"

    def __post_init__(self):
        check_name(self.filename)

    @staticmethod
    def of(filename: str, capacity: int, filled: float, sector: int = 4 * KIB) -> "Target":
        """A drive of `capacity` bytes, of which a share is `filled`."""
        if capacity < 128 * MIB:
            raise InputError("a drive to probe needs 128 MiB or more")
        region, area = (min(1 << ((capacity // n).bit_length() - 1), GIB) for n in (32, 4))
        return Target(filename, capacity, region, area, 0, filled, sector)


def check_name(name: str) -> None:
    """Raises InputError for a file that cannot be named in a job file: fio cuts lines at # and ;,
    puts values for $, takes - for its own input and output, and has no way to write these."""
    cut = next((character for character in "#;$" if character in name), None)
    why = ""
    if cut:
        why = f"'{cut}' has a meaning of its own there"
    elif not name.isprintable():
        why = "it has characters that cannot be printed"
    elif name in ("", "-") or name != name.strip() or "\\:" in name:
        why = "fio would take another name"
    if why:
        raise InputError(f"'{name}' cannot be named in a fio job file: {why}; name another")


def jobs_of(stage: str, target: Target) -> list[Job]:
    """The jobs of a stage."""
    makers = {
        "reads": _reads,
        "writes": _writes,
        "cliff": _cliff,
        "spare": _spare,
        "calibrate": _calibrate,
    }
    return list(makers[stage](target))


def job_file(stage: str, target: Target, jobs: Sequence[Job] | None = None) -> str:
    """The job file of a stage, with what it does to the drive in its first lines."""
    head = "\n".join(f"# {line}" for line in _words(stage, target))
    shared = Job(
        "global",
        {
            # A list of names to fio, with colons between.
            "filename": target.filename.replace(":", "\\:"),
            "ioengine": target.engine,
            "direct": 1,
            "thread": 1,
            "stonewall": 1,
            "norandommap": 1,
            "random_generator": "tausworthe64",
            "group_reporting": 1,
            "size": target.region if stage == "reads" else target.area,
        },
    )
    parts = [shared, *(jobs_of(stage, target) if jobs is None else jobs)]
    return head + "\n" + "\n".join(part.text() for part in parts)


def _words(stage: str, target: Target) -> Iterator[str]:
    yield f"tlmssd probe, stage {stage}. Run it with"
    yield f"fio --output-format=json+ --output={stage}.json {stage}.fio"
    if stage == DESTRUCTIVE:
        yield f"THIS DESTROYS ALL DATA ON {target.filename}."
    else:
        yield f"Reads and writes the file {target.filename} alone, and makes it if need be."


def plan_texts(target: Target, whole_drive: str | None) -> dict[str, str]:
    """The job files by name; the stage that destroys data only where a drive is named for it."""
    targets = dict.fromkeys(STAGES, target)
    if whole_drive is None:
        del targets[DESTRUCTIVE]
    else:
        targets[DESTRUCTIVE] = replace(target, filename=whole_drive, filled=1.0)
    return {f"{stage}.fio": job_file(stage, own) for stage, own in targets.items()}


def rest(number: int, seconds: float) -> Job:
    """Two reads with a pause between: fio's only way to leave a drive alone between two jobs."""
    options = {"rw": "randread", "bs": "4k", "number_ios": 2, "thinktime": int(seconds * 1e6)}
    return Job(f"rest-{number}", {**options, "runtime": int(seconds) + 3})


def _reads(target: Target) -> Iterator[Job]:
    gently = {"rw": "write", "bs": "128k", "rate": 32 * MIB, "runtime": 60}
    yield Job("lay", gently)
    yield rest(1, 5)
    fine = [target.sector * n for n in (1, 2, 3, 4, 5, 6)] if target.sector < 4 * KIB else []
    for size in [*(size for size in fine if size < 4 * KIB), *SIZES]:
        if size <= target.region // 16:
            align = 256 * KIB
            options = {"rw": "randread", "bs": size, "blockalign": align}
            yield Job(f"size-{size}", {**options, "number_ios": 100, "runtime": 1})
    for stride in strides(target.region):
        options = {"rw": "randread", "bs": 4 * KIB, "blockalign": stride, "iodepth": 32}
        yield Job(f"stride-{stride}", {**options, "number_ios": 1000, "runtime": 1})
        yield Job(f"alone-{stride}", {**options, "iodepth": 1, "number_ios": 200, "runtime": 1})
    for depth in DEPTHS:
        options = {"rw": "randread", "bs": 4 * KIB, "iodepth": depth}
        amount = 400 + 30 * depth
        yield Job(f"depth-{depth}", {**options, "number_ios": amount, "runtime": 4})
    for size in (4 * KIB, 16 * KIB, 128 * KIB):
        for pattern in ("read", "randread"):
            options = {"rw": pattern, "bs": size, "number_ios": 600, "runtime": 4}
            yield Job(f"order-{pattern}-{size}", options)


def strides(region: int) -> list[int]:
    """Odd multiples of powers of two from 4 KiB to a 16th of the region."""
    found = {4 * KIB * odd << power for odd in ODD for power in range(20)}
    more = {4 * KIB * odd << power for odd in ODD_PRODUCTS for power in range(20)}
    more = {stride for stride in more if stride <= region // 64}
    return sorted(stride for stride in found | more if stride <= region // 16)


def _writes(target: Target) -> Iterator[Job]:
    number = 0
    for size in (4 * KIB, 64 * KIB):
        number += 1
        yield rest(number, 2)
        options = {"rw": "write", "bs": size, "number_ios": 64, "runtime": 4}
        yield Job(f"single-{size}", options)
    for size in BURSTS:
        if size <= target.area:
            number += 1
            yield rest(number, 2)
            options = {"rw": "write", "bs": 64 * KIB, "iodepth": 8, "io_size": size, "runtime": 10}
            yield Job(f"burst-{size}", options)
    for size in SHORT_BURSTS:
        number += 1
        yield rest(number, 2)
        options = {"rw": "write", "bs": 16 * KIB, "iodepth": 8, "io_size": size, "runtime": 5}
        yield Job(f"short-{size}", options)
    for pace in PACES:
        for size in PACED_BURSTS:
            if size <= target.area:
                number += 1
                yield rest(number, 2)
                options = {"rw": "write", "bs": 64 * KIB, "iodepth": 8, "io_size": size}
                yield Job(f"paced-{pace}-{size}", {**options, "rate": pace, "runtime": 1})
    yield Job("stream", {"rw": "write", "bs": MIB, "iodepth": 4, "runtime": 15})
    size = 2 * MIB
    while size >= target.sector:
        amount = max(200, min(4000, target.area // 4 // size))
        options = {"rw": "randwrite", "bs": size, "iodepth": 32, "number_ios": amount}
        if size <= target.area // 64:
            yield Job(f"grain-{size}", {**options, "runtime": 10})
        size //= 2


def _cliff(target: Target) -> Iterator[Job]:
    piece = int(target.capacity * PIECE_SHARE) // MIB * MIB or MIB
    room = (target.capacity - target.start) // piece
    counts = (min(PIECES, room * 2 // 3), min(SECOND_PIECES, room // 3))
    at, number = target.start, 0
    for series, count in enumerate(counts, 1):
        yield rest(series, 30 if series == 1 else 240)
        for _ in range(count):
            name = f"cliff-{series}-{number:03}-at-{at}-of-{target.capacity}"
            name += f"-filled-{target.filled:.4f}"
            where = {"offset": at, "size": piece}
            options = {"rw": "write", "bs": MIB, "iodepth": 16, **where}
            yield Job(name, {**options, "runtime": PIECE_SECONDS})
            at, number = at + piece, number + 1


def _spare(target: Target) -> Iterator[Job]:
    whole = {"size": target.capacity // MIB * MIB}
    yield Job("fill", {"rw": "write", "bs": MIB, "iodepth": 16, **whole, "runtime": FILL_SECONDS})
    yield rest(1, 10)
    piece = int(target.capacity * SPARE_SHARE) // MIB * MIB or MIB
    for number in range(SPARE_PIECES):
        options = {"rw": "randwrite", "bs": SPARE_WRITE, "iodepth": 64, "io_size": piece}
        name = f"spare-{number:03}-of-{target.capacity}"
        yield Job(name, {**options, **whole, "runtime": SPARE_SECONDS})


def _calibrate(target: Target) -> Iterator[Job]:
    one_at_a_time = (
        (4, 1500), (8, 1000), (12, 1000), (16, 1000), (32, 800), (64, 600), (128, 400),
        (256, 300), (512, 200), (1024, 100),
    )  # fmt: skip
    for size, count in one_at_a_time:
        options = {"rw": "randread", "bs": f"{size}k", "number_ios": count, "runtime": 5}
        yield Job(f"read-{size}k-qd1", options)
    deep = (
        (4, 8, 4000), (4, 64, 10000), (4, 256, 16000), (8, 128, 8000), (16, 64, 6000),
        (64, 32, 3000), (256, 16, 1000),
    )  # fmt: skip
    for size, depth, count in deep:
        options = {"rw": "randread", "bs": f"{size}k", "iodepth": depth, "number_ios": count}
        yield Job(f"read-{size}k-qd{depth}", {**options, "runtime": 5})
    for size, depth in ((16, 64), (128, 32), (1024, 8)):
        options = {"rw": "read", "bs": f"{size}k", "iodepth": depth, "io_size": "256m"}
        yield Job(f"stream-{size}k-qd{depth}", {**options, "runtime": 5})
    for number, size in enumerate((1, 2, 4, 8, 16, 32, 64, 128), 1):
        yield rest(number, 1.5)
        options = {"rw": "write", "bs": "64k", "iodepth": 8, "io_size": f"{size}m", "runtime": 10}
        yield Job(f"write-burst-{size}m", options)
    quick = ((4, 1, 200), (4, 4, 256), (4, 8, 256), (4, 16, 256), (4, 32, 256), (4, 64, 384),
             (8, 16, 200), (8, 32, 200))  # fmt: skip
    for number, (size, depth, count) in enumerate(quick, 20):
        yield rest(number, 1.5)
        options = {"rw": "randwrite", "bs": f"{size}k", "iodepth": depth, "number_ios": count}
        yield Job(f"write-{size}k-qd{depth}", {**options, "runtime": 2})
    for number, size in enumerate((4, 64), 40):
        yield rest(number, 1.5)
        options = {"rw": "randwrite", "bs": f"{size}k", "fsync": 1, "number_ios": 200}
        yield Job(f"write-{size}k-fsync", {**options, "runtime": 5})
    options = {"rw": "write", "bs": "128k", "iodepth": 32, "io_size": "256m", "runtime": 5}
    yield Job("write-steady", options)
    options = {"rw": "randwrite", "bs": "4k", "iodepth": 32, "number_ios": 30000, "runtime": 5}
    yield Job("write-random", options)
