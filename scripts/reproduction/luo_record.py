#!/usr/bin/env python3
"""Records what real file systems make of the file loads of luo_files.py, for `recordings/`: Linux, root, a loop device in memory, and the kernel's block tracepoints.

    /usr/bin/python3 scripts/reproduction/luo_record.py ext4 btrfs      (needs mkfs.ext4, mkfs.btrfs, and a kernel that has both)
    /usr/bin/python3 scripts/reproduction/luo_record.py --kernel KERNEL f2fs      (under another kernel, see luo_guest.py; needs mkfs.f2fs)
    /usr/bin/python3 scripts/reproduction/luo_record.py --kernel KERNEL --control ext4      (what the guest alone changes: keeps amounts, as control-ext4-...)

Every thread takes loops as Filebench would: files are deleted, created, overwritten and read as a whole. Writes go through the page cache, of which the
device may hold 64 MiB of dirty data (A: the host of a sixteenth); reads are direct, so that they reach the device. Times are not kept, because the requests are
replayed in a closed loop. A file is one table with a header line, packed by xz: operation, first block and number of blocks of 4 KiB.
"""

import argparse
import json
import lzma
import mmap
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import luo_files
import luo_guest

HERE = Path(__file__).resolve().parent
SIZE = 14 << 30  # bytes of the device: what lies behind the data on the drives of luo_files.py
DIRTY = 64 << 20  # bytes in the page cache that are still to be written (A)
TRACING = Path("/sys/kernel/tracing")
MAKE = {"ext4": (["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"], "discard"), "btrfs": (["mkfs.btrfs", "-q", "-f"], "discard=sync"),
        "f2fs": (["mkfs.f2fs", "-q", "-f"], "discard")}
ISSUED = re.compile(r"block_rq_issue: \d+,\d+ (\S+) \d+ \(.*?\) (\d+) \+ (\d+) ")
BLOCK = 8  # sectors
MIB = 1 << 20


class Trace:
    """Requests that the kernel hands to one device, from `with` to its end; `text` is ftrace's."""

    def __init__(self, device):
        self.instance = TRACING / "instances/tlmssd_files"
        self.device = device
        self.text = []

    def __enter__(self):
        self.instance.mkdir(exist_ok=True)
        (self.instance / "buffer_size_kb").write_text("65536")
        (self.instance / "trace").write_text("")
        number = os.stat(self.device).st_rdev
        (self.instance / "events/block/block_rq_issue/filter").write_text(f"dev == {os.major(number) << 20 | os.minor(number)}")
        (self.instance / "events/block/block_rq_issue/enable").write_text("1")
        return self

    def __exit__(self, *_):
        (self.instance / "events/block/block_rq_issue/enable").write_text("0")
        self.text = (self.instance / "trace").read_text().splitlines()
        lost = [int(line.split()[1]) for path in self.instance.glob("per_cpu/cpu*/stats") for line in path.read_text().splitlines() if line.startswith("overrun:")]
        self.instance.rmdir()
        if any(lost):
            raise RuntimeError(f"{sum(lost)} requests were not recorded")


def requests(text):
    """(operation, first block, blocks) of ftrace's lines: R, W, D (discard) and F (flush). A write that is to be durable at once is followed by a flush."""
    for line in text:
        match = ISSUED.search(line)
        if not match:
            continue
        flags, first, count = match[1], int(match[2]), int(match[3])
        kind = flags.lstrip("F")[:1] if count else "F"
        if kind not in ("R", "W", "D", "F"):
            continue
        yield kind, first // BLOCK, -(-(first % BLOCK + count) // BLOCK)
        if kind == "W" and "F" in flags[flags.index("W"):]:
            yield "F", 0, 0


class Loops:
    """The loops of a load on a mounted file system, by as many threads as it has."""

    def __init__(self, load, folder):
        self.load, self.folder = load, folder
        self.there = list(range(load.files))
        self.made = load.files
        self.left = load.loops
        self.lock = threading.Lock()
        self.data = os.urandom(load.size)

    def create_all(self):
        for number in self.there:
            self.write(number, False)
        os.sync()

    def run(self):
        threads = [threading.Thread(target=self.work, args=(n,)) for n in range(self.load.threads)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        os.sync()

    def work(self, thread):
        chance = random.Random(thread)
        buffer = mmap.mmap(-1, self.load.size)
        while True:
            with self.lock:
                if self.left == 0:
                    return
                self.left -= 1
            for _ in range(self.load.deletes):
                with self.lock:
                    number = self.there.pop(chance.randrange(len(self.there)))
                os.unlink(self.path(number))
            for _ in range(self.load.creates):
                with self.lock:
                    number = self.made
                    self.made += 1
                self.write(number, self.load.sync)
                with self.lock:
                    self.there.append(number)
            for _ in range(self.load.writes):
                self.tolerant(self.write, chance, self.load.sync, os.O_WRONLY)
            for _ in range(self.load.reads):
                self.tolerant(self.read, chance, buffer)

    def tolerant(self, action, chance, *more):
        """Does something to a file that is there; another thread may delete it first."""
        try:
            action(self.there[chance.randrange(len(self.there) - self.load.threads)], *more)
        except FileNotFoundError:
            pass

    def path(self, number):
        return self.folder / f"{number % 100:02}" / str(number)

    def write(self, number, sync, how=os.O_WRONLY | os.O_CREAT):
        path = self.path(number)
        path.parent.mkdir(exist_ok=True)
        file = os.open(path, how, 0o644)
        os.write(file, self.data)
        if sync:
            os.fsync(file)
        os.close(file)

    def read(self, number, buffer):
        file = os.open(self.path(number), os.O_RDONLY | os.O_DIRECT)
        os.readv(file, [buffer])
        os.close(file)


def limit(device):
    """The page cache holds DIRTY bytes for the device; for all devices, if the kernel (before 6.2) knows no limit of one."""
    limits = Path("/sys/class/bdi") / Path(f"/sys/block/{Path(device).name}/dev").read_text().strip()
    if (limits / "max_bytes").exists():
        (limits / "max_bytes").write_text(str(DIRTY))
        (limits / "strict_limit").write_text("1")
    else:
        Path("/proc/sys/vm/dirty_background_bytes").write_text(str(DIRTY // 2))
        Path("/proc/sys/vm/dirty_bytes").write_text(str(DIRTY))


def kernel():
    """Version of the kernel that runs; Debian's releases do not tell the last part."""
    match = re.search(r"Debian (\d+\.\d+\.\d+)", platform.version())
    return match[1] if match else platform.release().split("-")[0]


def record(system, load, folder):
    """The requests of creating the files, and those of the loops, as (operation, first block, blocks)."""
    image = folder / "image"
    with open(image, "wb") as file:
        file.truncate(SIZE)
    device = subprocess.run(["losetup", "--find", "--show", image], check=True, capture_output=True, text=True).stdout.strip()
    mounted = folder / "mounted"
    mounted.mkdir(exist_ok=True)
    try:
        make, options = MAKE[system]
        subprocess.run([*make, device], check=True)
        limit(device)
        subprocess.run(["mount", "-o", options, device, mounted], check=True)
        try:
            loops = Loops(load, mounted)
            with Trace(device) as creating:
                loops.create_all()
            with Trace(device) as running:
                loops.run()
        finally:
            subprocess.run(["umount", mounted], check=True)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)
        image.unlink()
    return list(requests(creating.text)), list(requests(running.text))


def amounts(load, run):
    """Requests of the loops, by kind, and MiB: written, and what the loops wrote of files."""
    kinds = {kind: sum(one[0] == kind for one in run) for kind in "RWFD"}
    written = sum(count for kind, _, count in run if kind == "W") * 4096
    return {"running": len(run), **kinds, "written": round(written / MIB), "wanted": round(load.loops * (load.creates + load.writes) * load.size / MIB)}


def main():
    parser = argparse.ArgumentParser(description="Records the file loads by way of real file systems.")
    parser.add_argument("--kernel", type=Path, metavar="FOLDER", help="run under the kernel that is unpacked there (luo_guest.py) instead of this machine's")
    parser.add_argument("--to", type=Path, metavar="FOLDER", default=HERE / "recordings", help="where recordings and their index go (default: recordings)")
    parser.add_argument("--control", action="store_true", help="keep no requests, only how many of each kind there were")
    parser.add_argument("systems", nargs="+", choices=MAKE)
    options = parser.parse_args()
    if options.kernel:
        folder = options.to.resolve()
        again = [sys.executable, str(Path(__file__).resolve()), *options.systems, "--to", str(folder), *(["--control"] if options.control else [])]
        luo_guest.run(options.kernel.resolve(), options.systems, folder, again)
        return
    index = options.to / "recordings.json"
    known = json.loads(index.read_text(encoding="utf-8")) if index.exists() else {}
    for system in options.systems:
        for load in luo_files.TABLE_1:
            with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
                created, run = record(system, load, Path(folder))
            name = f"{system}-{load.name.lower()}"
            if not options.control:
                text = "operation,block,blocks\n" + "".join(f"{kind},{first},{count}\n" for kind, first, count in created + run)
                (options.to / f"{name}.csv.xz").write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
            name = f"control-{name}" if options.control else name
            known[name] = {"creating": len(created), **amounts(load, run), "kernel": kernel()}
            print(name, known[name], flush=True)
            index.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
