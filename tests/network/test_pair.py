"""examples/network/pair: two hosts with Linux on one cable, each with the kernel's own driver of its card."""

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from harness.net import packets
from tests.network.hosts import EXAMPLES, NIC, run

EXAMPLE = EXAMPLES / "pair.lss"
# The address that /init gives each.
ADDRESS = {"a": "10.0.0.2", "b": "10.0.0.3"}


@pytest.mark.parametrize("options", [[], ["-D", "computer=host(processor = scalar_processor)", "-D", "latency=5 us", "-D", "rate=100 Mb/s"]])
def test_the_machine_is_right(build_dir: Path, options: list[str]) -> None:
    subprocess.run([build_dir / "bin/lss", "check", "--netlist-only", EXAMPLE, *NIC, *options], check=True)


@pytest.fixture(scope="module")
def pair(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    simulator = tmp_path_factory.mktemp("pair") / "pair"
    subprocess.run([build_dir / "bin/lss", "build", EXAMPLE, *NIC, "-o", simulator], check=True)
    return simulator


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.timeout(3600)
def test_a_stream_each_way(pair: Path, build_dir: Path, tmp_path: Path) -> None:
    """Each guest sends a megabyte to the other, and gets what was sent; nothing is lost, and the wire had no fault."""
    first = f"head -c 1000000 /dev/urandom >/tmp/x; md5sum /tmp/x; nc -l -p 5001 </tmp/x | md5sum; cat /proc/net/dev; ping -A -c 100 {ADDRESS['b']}; nc -l -p 5002; poweroff -f"
    second = f"head -c 1000000 /bin/busybox >/tmp/x; md5sum /tmp/x; until nc {ADDRESS['a']} 5001 </tmp/x >/tmp/y; do sleep 0.1; done; md5sum </tmp/y; cat /proc/net/dev; until echo done | nc {ADDRESS['a']} 5002; do sleep 0.1; done"
    files = ["--set", "cable.to_b.capture=to_b", "--set", "cable.to_a.capture=to_a"]
    consoles = run(pair, build_dir, tmp_path, {"a": first, "b": second}, *files)
    sums = {name: re.findall(r"^([0-9a-f]{32})  ", text, re.MULTILINE) for name, text in consoles.items()}
    assert sums["a"][0] != sums["b"][0]
    assert sums["a"] == [sums["a"][0], sums["b"][0]] and sums["b"] == [sums["b"][0], sums["a"][0]]
    assert "100 packets transmitted, 100 packets received, 0% packet loss" in consoles["a"]
    for text in consoles.values():
        [counters] = re.findall(r"^ *eth0: *([\d ]+)$", text, re.MULTILINE)
        numbers = [int(number) for number in counters.split()]
        assert numbers[2:6] == [0] * 4 and numbers[10:] == [0] * 6, counters
    for way in ("to_a", "to_b"):
        assert len(list(packets.read(tmp_path / way))) > 700


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.timeout(3600)
def test_a_cable_that_damages_frames(pair: Path, build_dir: Path, tmp_path: Path) -> None:
    """TCP sends again what a card dropped for its wrong FCS."""
    first = "nc -l -p 5001 | md5sum; poweroff -f"
    second = f"head -c 300000 /dev/urandom >/tmp/x; md5sum </tmp/x; until nc {ADDRESS['a']} 5001 </tmp/x; do sleep 0.1; done"
    consoles = run(pair, build_dir, tmp_path, {"a": first, "b": second}, "--set", "cable.to_a.faults=fcs/40")
    [sent], [received] = (re.findall(r"^([0-9a-f]{32})  ", consoles[name], re.MULTILINE) for name in "ba")
    assert sent == received != hashlib.md5(b"").hexdigest()
