"""Linux on the virtual processing elements of one processor: a kernel with MIPS_MT_SMP brings all up, which then interrupt each other, on
the functional processor and on cores with caches, in lockstep."""

import re
from pathlib import Path

import pytest

from tests.hosts import CHECKED, COHERENT, LEVEL_2, vpes, wide
from tests.linux_guest import Guest, build_host, guest, on_host, on_oracle

pytestmark = [pytest.mark.soak, pytest.mark.optimised]


@pytest.fixture(scope="module")
def software(build_dir: Path) -> Guest:
    return guest(build_dir, vpes=True)


def check(console: str, vpes: int) -> None:
    """All are up, each is a VPE of a 34K, and has had interrupts of its timer and of others."""
    assert f"smp: Brought up 1 node, {vpes} CPU" in console and "reboot: Power down" in console, console[-4000:]
    assert re.findall(r"^VPE\s+: (\d+)", console, re.MULTILINE) == [str(n) for n in range(vpes)]
    counts = {name: [int(word) for word in numbers.split()] for numbers, name in re.findall(r"^ *\d+: +([\d ]+?) +MIPS +\d+ +(.*)$", console, re.MULTILINE)}
    assert all(count > 0 for count in counts["timer"]) and sum(counts["ttyS0"]) > 0
    if vpes > 1:
        assert all(count > 0 for count in counts["IPI call"]) and sum(counts["IPI resched"]) > 0


@pytest.mark.parametrize("vpes", [1, 2, 3, 8])
def test_on_the_functional_processor(vpes: int, software: Guest, build_dir: Path) -> None:
    status, console = on_oracle(software, build_dir, "--vpes", str(vpes))
    assert status == 0
    check(console, vpes)


@pytest.mark.parametrize(("count", "options"), [(2, [CHECKED]), (3, [LEVEL_2]), (8, [])], ids=["lockstep", "level 2", "eight"])
def test_on_cores(count: int, options: list[str], software: Guest, root: Path, build_dir: Path, tmp_path: Path) -> None:
    machine = build_host(root, build_dir, tmp_path / "host", COHERENT, vpes(count), *options)
    status, console, stats = on_host(software, machine, tmp_path)
    assert status == 0
    check(console, count)
    values = {(one["path"], one["name"]): one["value"] for one in stats["statistics"]}
    if CHECKED in options:
        assert values["system.cpu.cores.cpu[0].core", "compared"] > 10_000_000 and values["system.cpu.cores.cpu[1].core", "compared"] > 1_000_000
        assert values["system.cpu.cores.cpu[1].core", "compared_interrupts"] > 20


@pytest.mark.parametrize(("vpes", "options"), [(2, [wide(vpes=2), CHECKED]), (2, [wide(vpes=2, mshrs=4), COHERENT, CHECKED]), (8, [wide(8, vpes=8, mshrs=8), COHERENT])], ids=["lockstep", "several misses", "eight"])
def test_on_contexts_of_a_wide_core(vpes: int, options: list[str], software: Guest, root: Path, build_dir: Path, tmp_path: Path) -> None:
    machine = build_host(root, build_dir, tmp_path / "host", *options)
    status, console, stats = on_host(software, machine, tmp_path)
    assert status == 0
    check(console, vpes)
    values = {(one["path"], one["name"]): one["value"] for one in stats["statistics"]}
    assert all(values[f"system.cpu.core.system[{vpe}]", "kernel_instructions"] > 100_000 for vpe in range(vpes))
    if CHECKED in options:
        assert values["system.cpu.core", "compared"] > 20_000_000 and values["system.cpu.core", "compared_interrupts"] > 50


def test_without_vpes_it_is_a_kernel_for_one(software: Guest, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """A 4KEc has none: the kernel says so and goes on."""
    status, console = on_oracle(software, build_dir)
    assert status == 0 and "4KEc" in console and "reboot: Power down" in console
