"""A host with Linux and a gateway at its wire: it talks to this computer's kernel and to QEMU, and its record is the same run."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.linux_guest import guest
from tests.network.hosts import EXAMPLES, NIC, NO_TAPS, has_taps

HERE = Path(__file__).resolve().parent
CARD = ["-D", "cards=[tigon2_slot(station_kind = gateway)]"]
GATEWAY = "slots.card[0].station"
STREAMS = [
    "head -c 1000000 /bin/busybox >/tmp/x; md5sum /tmp/x",
    "nc {outside} 5001 </tmp/x",
    "nc {outside} 5002 </dev/null | md5sum",
]
# Of each kind of other end: where the gateway leads, its address, and what the guest does before and after the streams.
ENDS = {
    "tap": ("tap:tap0", "10.0.0.1", "true", "nc -l -p 5003"),
    "dgram": ("udp:7001:127.0.0.1:7002", "10.0.2.2", "ip addr add 10.0.2.15/24 dev eth0", "true"),
    "stream": ("stream:127.0.0.1:7002", "10.0.2.2", "ip addr add 10.0.2.15/24 dev eth0", "true"),
}


@pytest.fixture(scope="module")
def host(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    simulator = tmp_path_factory.mktemp("outside") / "host"
    machine = EXAMPLES.parent / "host/fast.lss"
    subprocess.run([build_dir / "bin/lss", "build", machine, *NIC, *CARD, "-o", simulator], check=True)
    return simulator


def command(host: Path, build: Path, name: str, *options: str) -> list[str]:
    software, shell = guest(build), build / "linux/shell"
    files = ["--kernel", software.vmlinux, "--dtb", shell / "host.dtb", "--initramfs", shell / "initramfs.cpio"]
    words = ["--quiet", "--time", "600 s", "--switch_at", "end", "--console_script", "script", "--console_output", f"{name}.txt"]
    return [str(word) for word in (host, *words, *files, "--run-dir", name, *options)]


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", ENDS)
def test_a_session_and_its_record(host: Path, build_dir: Path, tmp_path: Path, kind: str) -> None:
    """Ping, both ways where that is possible, and a megabyte each way; then the same session from its record."""
    if not has_taps():
        pytest.skip(NO_TAPS)
    if kind != "tap" and not shutil.which("qemu-system-mipsel"):
        pytest.skip("there is no qemu-system-mipsel (package qemu-system-mips)")
    place, outside, before, after = ENDS[kind]
    lines = [before, f"ping -A -c 20 {outside}", *(line.format(outside=outside) for line in STREAMS), after, "cat /proc/net/dev", "poweroff -f"]
    (tmp_path / "script").write_text('wait "/ # "\n' + "".join(f'send "{line}; "\n' for line in lines) + 'send "\\n"\n')
    first = command(host, build_dir, "first", "--gateway", f"{GATEWAY}={place}", "--record-links", "links")
    subprocess.run(["unshare", "-rn", sys.executable, HERE / "outside.py", tmp_path, kind, *first], check=True, timeout=3000)
    seen = json.loads((tmp_path / "outside.json").read_text())
    console = (tmp_path / "first.txt").read_text().replace("\r", "")
    sums = re.findall(r"^([0-9a-f]{32})  ", console, re.MULTILINE)
    assert "20 packets transmitted, 20 packets received, 0% packet loss" in console
    assert seen == {"taken": [1000000, sums[0]], "given": sums[1]} | ({"replies": 10} if kind == "tap" else {})
    [counters] = re.findall(r"^ *eth0: *([\d ]+)$", console, re.MULTILINE)
    numbers = [int(number) for number in counters.split()]
    assert numbers[2] == 0 and numbers[10:] == [0] * 6, counters
    subprocess.run(command(host, build_dir, "again", "--replay-links", "links"), check=True, timeout=3000, cwd=tmp_path)
    results = [json.loads((tmp_path / name / "statistics.json").read_text()) for name in ("first", "again")]
    assert results[0]["statistics"] == results[1]["statistics"] and results[0]["run"] == results[1]["run"]
    assert (tmp_path / "first.txt").read_bytes() == (tmp_path / "again.txt").read_bytes()
    assert [json.loads((tmp_path / name / "manifest.json").read_text())["repeatable"] for name in ("first", "again")] == [False, True]


@pytest.mark.parametrize("options", [["fast.lss", *CARD], ["../network/rack.lss", "-D", "uplink=true"]])
def test_the_machines_are_right(build_dir: Path, options: list[str]) -> None:
    machine, *rest = options
    subprocess.run([build_dir / "bin/lss", "check", "--netlist-only", EXAMPLES.parent / "host" / machine, *NIC, *rest], check=True)
