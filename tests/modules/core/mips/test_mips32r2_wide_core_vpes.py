"""Virtual processing elements as contexts of an out-of-order core, in lockstep with a functional processor each: what cores in order do
as VPEs (test_mips_vpe_control_cores.py) is done by them, too, on shared queues, caches and units."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa.programs import run
from tests.modules.core.mips.test_mips_vpe_control_cores import BYTE_ORDERS, MEMORIES, run_cases, run_relay
from tests.sample import seldom

# Width, and what caches and sizes there are.
SHAPES = {
    "smallest": (1, ["entries=4", "queue=1"]),
    "four-wide": (4, []),
    "coherent": (4, ["coherent=true"]),
    "several misses": (8, ["coherent=true", "mshrs=4", "entries=64", "queue=32"]),
}


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path) -> Callable[..., Path]:
    """machines(shape, big, vpes): system_machine.lss."""
    built: dict[tuple[str, bool, int], Path] = {}

    def build(shape: str, big: bool, vpes: int) -> Path:
        if (shape, big, vpes) not in built:
            width, more = SHAPES[shape]
            output = tmp_path_factory.mktemp("vpes") / "machine"
            given = [f"wide={width}", f"vpes={vpes}", "checked=true", f"big_endian={str(big).lower()}", *more]
            run([build_dir / "bin/lss", "build", root / "tests/isa/system_machine.lss", "-o", output, *(word for one in given for word in ("-D", one))])
            built[shape, big, vpes] = output
        return built[shape, big, vpes]

    return build


def compared(done: subprocess.CompletedProcess) -> int:
    found = re.search(r"^core +compared +(\d+)", done.stdout, re.MULTILINE)
    return int(found[1]) if found else 0


def instructions(done: subprocess.CompletedProcess, vpe: int) -> int:
    found = re.search(rf"^core\.system\[{vpe}\] +kernel_instructions +(\d+)", done.stdout, re.MULTILINE)
    return int(found[1]) if found else 0


def follow_cases(machine: Path, big: bool, tmp_path: Path, *options: str) -> None:
    done = run_cases(machine, big, tmp_path, *options)
    assert compared(done) > 30000 and instructions(done, 1) > 40


def follow_relay(machine: Path, vpes: int, big: bool, tmp_path: Path, *options: str) -> None:
    done = run_relay(machine, vpes, big, tmp_path, *options)
    assert compared(done) > 100 * vpes and all(instructions(done, vpe) > 15 for vpe in range(vpes)), done.stdout


def test_directed_cases(machines, tmp_path: Path) -> None:
    follow_cases(machines("coherent", False, 2), False, tmp_path, *MEMORIES["random"])


@seldom
def test_a_relay_of_eight(machines, tmp_path: Path) -> None:
    follow_relay(machines("several misses", False, 8), 8, False, tmp_path)


@pytest.mark.soak
@BYTE_ORDERS
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_cases_and_relays_in_every_way(shape: str, memory: str, big: bool, machines, tmp_path: Path) -> None:
    for seed in ("1", "2", "3"):
        follow_cases(machines(shape, big, 2), big, tmp_path, *MEMORIES[memory], "--seed", seed)
        for vpes in (3, 8):
            follow_relay(machines(shape, big, vpes), vpes, big, tmp_path, *MEMORIES[memory], "--seed", seed)
