"""The hostile program: with an interrupt before each of its instructions, faults at each, and both at random times its final state is the same, on the
functional system, on qemu, and on the core, which is compared in lockstep meanwhile."""

import subprocess
from pathlib import Path

import pytest

from tests.isa import system
from tests.isa.hostile import FOUND, KINDS, RUNS, hostile_program
from tests.isa.system_core import KSEG0_CACHED, on_core

BYTE_ORDERS = pytest.mark.parametrize("big", [True, False], ids=["big", "little"])
MEMORIES = {"fast": [], "slow": ["--set", "delay.latency=9"], "slower": ["--set", "delay.latency=40"],
            "random": ["--set", "delay.jitter=20", "--set", "delay.refuse=0.3"]}  # fmt: skip
LEAST = 200  # instructions of the body, and so interrupts that come in different places


def checked(done: subprocess.CompletedProcess) -> list[int]:
    """The final state."""
    assert done.returncode == 0, done.stderr
    wrong, what, *rest = (int(word, 16) for word in done.stdout.split())
    assert wrong == 0, f"run {wrong} ends otherwise than the first: word {what} of its state, or Cause of an exception"
    counts, state = rest[: 2 * len(KINDS)], rest[2 * len(KINDS) :]
    assert len(state) == FOUND
    for kind, runs, interrupts in zip(KINDS, counts[::2], counts[1::2], strict=True):
        assert runs >= LEAST and interrupts >= runs - 4 or kind == "random interrupts" and interrupts > runs == RUNS, (kind, runs, interrupts)
    return state


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, build_dir: Path):
    """The program and its final state, on the functional system."""
    known: dict[bool, tuple[Path, list[int]]] = {}

    def run(big: bool) -> tuple[Path, list[int]]:
        if big not in known:
            elf = hostile_program(tmp_path_factory.mktemp("hostile") / "hostile.elf", big)
            known[big] = elf, checked(system.on_oracle(elf, big, build_dir, "--limit", "100000000"))
        return known[big]

    return run


@BYTE_ORDERS
def test_functional_system(big: bool, expected):
    assert any(expected(big)[1])


@pytest.mark.skipif(not system.qemu_is_there(), reason="qemu-system-mips and qemu-system-mipsel are not installed")
@BYTE_ORDERS
def test_qemu(big: bool, expected):
    elf, state = expected(big)
    assert checked(system.on_qemu(elf, big)) == state


@BYTE_ORDERS
@pytest.mark.parametrize("memory", [pytest.param(name, marks=[pytest.mark.soak] * (name == "slow")) for name in MEMORIES])
def test_core_in_lockstep(memory: str, big: bool, expected, systems: dict[bool, Path], tmp_path: Path):
    elf, state = expected(big)
    assert checked(on_core(systems[big], elf, tmp_path, big, KSEG0_CACHED, "--quiet", *MEMORIES[memory], cycles=40000000)) == state
