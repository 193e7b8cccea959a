"""Linux with its own driver of the Tigon-2 on examples/host: the card on the PCI bus, our firmware in it, and a station on its wire."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.linux_guest import Guest, comparable, on_host, on_oracle

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def host(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    simulator = tmp_path_factory.mktemp("host") / "host"
    options = ["-I", root / "examples/tigon2", "-D", "nic=true", "-o", simulator]
    subprocess.run([build_dir / "bin/lss", "build", root / "examples/host/host.lss", *options], check=True)
    return simulator


def value(stats: dict, path: str, name: str) -> float:
    [found] = [one["value"] for one in stats["statistics"] if (one["path"], one["name"]) == (path, name)]
    return found


def test_the_driver_finds_the_card(software: Guest, host: Path, build_dir: Path, tmp_path: Path) -> None:
    """It reads the address from the EEPROM and starts the firmware; all else is as without a card. Twice the same."""
    status, console, stats = on_host(software, host, tmp_path)
    without = comparable(on_oracle(software, build_dir)[1]).splitlines()
    assert status == 0 and [line for line in comparable(console).splitlines() if line in without] == without
    assert re.search(r"pci 0000:00:01\.0: \[12ae:0001\] type 00 class 0x020000", console)
    assert re.search(r"MAC: 02:00:00:00:00:01", console) and "Firmware up and running" in console
    assert "init: eth0 02:00:00:00:00:01 is up as 10.0.0.2" in console
    assert value(stats, "card.nic.registers", "unlisted") == 0
    assert on_host(software, host, tmp_path)[1] == console
