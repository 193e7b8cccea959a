"""Runs of machines with several Linux hosts, each with a script for its shell."""

import os
import subprocess
import sys
from pathlib import Path

from tests.linux_guest import guest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/network"
NO_TAPS = "no tap interface is possible here: unshare -rn, or /dev/net/tun, is missing"
NIC = ["-I", str(EXAMPLES.parent / "tigon2")]


def has_taps() -> bool:
    """Whether a network namespace of one's own, with a tap interface in it, is possible here."""
    return subprocess.run(["unshare", "-rn", "test", "-w", "/dev/net/tun"], check=False).returncode == 0


def run(simulator: Path, build: Path, directory: Path, scripts: dict[str, str], *options: str, time: str = "60 s") -> dict[str, str]:
    """What the consoles show; a script is a line for the shell of a host, which may be longer than a text of a console script, but
    not than the 1,023 characters of a line of ash.  The simulator may be a network in parts."""
    software = guest(build)
    shell = build / "linux/shell"
    whole, parts = [simulator, "--quiet", "--stats", "stats.json"], [sys.executable, "-m", "harness", "network", simulator, "--run-dir", "parts"]
    words: list[object] = [*(parts if simulator.is_dir() else whole), "--time", time, *options]
    assert all(len(script) < 1024 for script in scripts.values())
    for name, script in scripts.items():
        pieces = [script[at : at + 200] for at in range(0, len(script), 200)]
        (directory / name).write_text('wait "/ # "\n' + "".join(f'send "{piece}"\n' for piece in pieces) + 'send "\\n"\n')
        files = {"kernel": software.vmlinux, "dtb": shell / "host.dtb", "initramfs": shell / "initramfs.cpio"}
        for key, value in (files | {"switch_at": "end", "console_script": name, "console_output": f"{name}.txt"}).items():
            words += ["--set", f"{name}.{key}={value}"]
    done = subprocess.run([str(word) for word in words], cwd=directory, capture_output=True, text=True, timeout=3600, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    return {name: (directory / f"{name}.txt").read_text().replace("\r", "") for name in scripts}
