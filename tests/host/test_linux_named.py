"""The machines that are named after those of the ML-RSIM paper boot Linux: in detail and in lockstep, and on the fast core with their disks."""

import subprocess
from pathlib import Path

import pytest

from tests.linux_guest import Guest, guest, on_host

pytestmark = [pytest.mark.soak, pytest.mark.optimised]

# Lines of the kernel about the caches, and the size of the disk in sectors.
MACHINES = {
    "octane": ("instruction cache 32kB, VIPT, 2-way, linesize 64 bytes", "data cache 32kB, 2-way, PIPT, no aliases, linesize 32 bytes", 17_766_200),
    "blade": ("instruction cache 32kB, VIPT, 4-way, linesize 32 bytes", "data cache 64kB, 4-way, PIPT, no aliases, linesize 32 bytes", 70_314_720),
}


def value(stats: dict, path: str, name: str) -> float:
    [found] = [one["value"] for one in stats["statistics"] if (one["path"], one["name"]) == (path, name)]
    return found


@pytest.mark.parametrize("name", MACHINES)
def test_boot(root: Path, build_dir: Path, tmp_path: Path, name: str) -> None:
    """With a device tree made for it.  The driver of the disk waits for seconds, which is much in detail."""
    *caches, sectors = MACHINES[name]
    software = guest(build_dir)
    file = root / f"examples/host/{name}.lss"
    subprocess.run(["make", "linux", f"BUILD={build_dir}", f"MACHINE={file}", f"LINUX_OUT={tmp_path}/out"], cwd=root, check=True)
    own = Guest(software.vmlinux, tmp_path / "out/initramfs.cpio", tmp_path / "out/host.dtb")
    for simulator, options in (("detailed", ["-D", "checked=true", "-D", "cards=[]"]), ("whole", [])):
        subprocess.run([build_dir / "bin/lss", "build", file, *options, "-o", tmp_path / simulator], check=True)

    status, console, stats = on_host(own, tmp_path / "detailed", tmp_path)
    assert status == 0 and all(f"Primary {line}" in console for line in caches)
    core = "system.cpu.processor.core"
    assert value(stats, core, "compared") == value(stats, f"{core}.core.core.list", "instructions") > 20_000_000

    status, console, stats = on_host(own, tmp_path / "whole", tmp_path, "--switch_at", "end")
    assert status == 0 and all(f"Primary {line}" in console for line in caches)
    assert f"[sda] {sectors} 512-byte logical blocks" in console and value(stats, f"{core}.core.core.list", "instructions") == 0
