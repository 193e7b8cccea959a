"""The address maps in READMEs: they are what the machines say, and no table says an address of theirs again."""

import re
from pathlib import Path

import pytest

from harness.report import maps
from harness.run.compiler import CompilerError
from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
READMES = found(ROOT / "examples", "README.md")


@pytest.mark.parametrize("page", maps.pages(), ids=lambda page: page.parent.name)
def test_a_map_is_up_to_date(page: Path, build_dir: Path) -> None:
    assert page.read_text() == maps.filled(page, build_dir), f"{page.parent.name}/README.md is stale: make reference"


def test_machines_with_devices_have_one() -> None:
    assert {"host", "multiprocessor", "nic10g", "tigon2"} <= {page.parent.name for page in maps.pages()}


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.parent.name)
def test_addresses_are_in_that_table_alone(page: Path) -> None:
    """A table that is written by hand names a region."""
    rest = maps.BLOCK.sub("", page.read_text())
    assert not re.findall(r"^\|.*\b0x[0-9a-f]{6,}\b", rest, re.MULTILINE)
    assert "<!-- map:" not in rest and "<!-- end of map" not in rest


def test_what_it_says(tmp_path: Path, build_dir: Path, root: Path) -> None:
    """RAM of a parameter, sizes with units, and interrupts through what has one input and one output."""
    (tmp_path / "README.md").write_text(f"before\n<!-- map: {root}/examples/host/host.lss -D memory=1MiB -D disks=[disk_image] -->\nold\n<!-- end of map -->\nafter\n")
    text = maps.filled(tmp_path / "README.md", build_dir)
    assert text.startswith("before\n<!-- map: ") and text.endswith("\n<!-- end of map -->\nafter\n") and "old" not in text
    assert "| 0x00000000 | 1 MiB |  | RAM |\n" in text and "| 0x1f000900 | 64 B | `uart` | serial port, a register every 8 bytes |\n" in text
    assert text.split("| interrupt | of |\n|---|---|\n")[1].split("\n\n")[0].splitlines() == [
        "| `ip2` | `devices.virtio` |", "| `ip4` | `devices.uart` |", "| `ip6` | `devices.rtc` |",
    ]  # fmt: skip


def test_a_machine_that_is_not_there(tmp_path: Path, build_dir: Path) -> None:
    (tmp_path / "README.md").write_text("<!-- map: nothing.lss -->\n<!-- end of map -->\n")
    with pytest.raises(CompilerError, match="nothing.lss"):
        maps.filled(tmp_path / "README.md", build_dir)


@pytest.mark.parametrize(("count", "text"), [(8, "8 B"), (0x200, "512 B"), (0x35F00, "220928 B"), (1 << 10, "1 KiB"), (3 << 20, "3 MiB"), (4 << 30, "4 GiB"), (1 << 40, "1024 GiB")])
def test_sizes(count: int, text: str) -> None:
    assert maps.size(count) == text
