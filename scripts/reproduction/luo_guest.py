"""Runs this machine's Python under another Linux kernel: a guest of QEMU whose root is this machine's, read only, but for one folder. For luo_record.py.

Needs Debian's packages qemu-system-x86, busybox-static and kmod, and a kernel image, unpacked (KERNEL is a new folder):

    apt-get download linux-image-6.1.0-56-amd64 && dpkg-deb -x linux-image-6.1.0-56-amd64_*.deb KERNEL
"""

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MODULES = ["virtio_pci", "9p", "9pnet_virtio", "loop"]
MEMORY = "6G"  # holds the device and the page cache; what is not touched takes nothing
ENDED = "guest: status "  # the guest's last line
INIT = """#!/bin/busybox sh
busybox mount -t devtmpfs none /dev
for module in $(busybox cat /modules); do busybox insmod $module; done
busybox mount -t 9p -o trans=virtio,version=9p2000.L,cache=loose,ro root /machine
busybox mount -t proc none /machine/proc
busybox mount -t sysfs none /machine/sys
busybox mount -t tracefs none /machine/sys/kernel/tracing
busybox mount -t devtmpfs none /machine/dev
busybox mkdir -p /machine/dev/shm
for folder in /dev/shm /tmp /run; do busybox mount -t tmpfs -o size=90% none /machine$folder; done
busybox mkdir -p /machine{written}
busybox mount -t 9p -o trans=virtio,version=9p2000.L written /machine{written}
busybox chroot /machine {command}
busybox echo {ended}$?
busybox poweroff -f
"""


def run(kernel, modules, written, command):
    """Runs `command` in the guest, which may write the folder `written` only; its output goes to standard output. Ends this program when it fails."""
    release = next(Path(kernel, "lib/modules").iterdir()).name
    subprocess.run(["depmod", "-b", kernel, release], check=True)
    with tempfile.TemporaryDirectory() as folder:
        archive = _initial(Path(folder) / "root", Path(kernel), release, [*MODULES, *modules], INIT.format(written=written, command=shlex.join(command), ended=ENDED))
        share = "local,security_model=none,multidevs=remap"
        guest = subprocess.Popen(
            ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", MEMORY, "-nographic", "-no-reboot", "-nic", "none",
             "-kernel", Path(kernel, f"boot/vmlinuz-{release}"), "-initrd", archive, "-append", "console=ttyS0 quiet panic=-1",
             "-virtfs", f"{share},path=/,mount_tag=root,readonly=on", "-virtfs", f"{share},path={written},mount_tag=written"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace")
        status = "none"
        for line in guest.stdout:
            _, found, rest = line.partition(ENDED)
            if found:
                status = rest.strip()
            else:
                print(line, end="", flush=True)
        if guest.wait() != 0 or status != "0":
            sys.exit(f"the guest failed: QEMU ended with {guest.returncode}, its command with {status}")


def _initial(root, kernel, release, modules, init):
    """The first root of the guest as a cpio archive: busybox, the modules in the order of their loading, and /init."""
    for name in ("bin", "dev", "machine"):
        (root / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), root / "bin/busybox")
    order = []
    for module in modules:
        lines = subprocess.run(["modprobe", "-d", kernel, "-S", release, "--show-depends", module], check=True, capture_output=True, text=True).stdout
        order += [path for path in (Path(line.split()[1]) for line in lines.splitlines() if line.startswith("insmod ")) if path not in order]
    for path in order:
        shutil.copy(path, root / path.name)
    (root / "modules").write_text("".join(f"/{path.name}\n" for path in order))
    (root / "init").write_text(init)
    (root / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    archive = root.with_suffix(".cpio")
    archive.write_bytes(subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], cwd=root, input=names.encode(), check=True, capture_output=True).stdout)
    return archive
