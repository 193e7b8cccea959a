"""The hostile program: with an interrupt before each of its instructions, faults at each, and both at random times its final state is the same, on the
functional system, on qemu, and on the core, which is compared in lockstep meanwhile."""

from pathlib import Path

import pytest

from tests.isa import system
from tests.isa.hostile import checked
from tests.isa.system_core import KSEG0_CACHED, on_core
from tests.sample import sampled

BYTE_ORDERS = pytest.mark.parametrize("big", [True, False], ids=["big", "little"])
MEMORIES = {"fast": [], "slow": ["--set", "delay.latency=9"], "slower": ["--set", "delay.latency=40"],
            "random": ["--set", "delay.jitter=20", "--set", "delay.refuse=0.3"]}  # fmt: skip


@BYTE_ORDERS
def test_functional_system(big: bool, expected):
    assert any(expected(big)[1])


@pytest.mark.skipif(not system.qemu_is_there(), reason="qemu-system-mips and qemu-system-mipsel are not installed")
@BYTE_ORDERS
def test_qemu(big: bool, expected):
    elf, state = expected(big)
    assert checked(system.on_qemu(elf, big)) == state


@pytest.mark.parametrize("big", [True, pytest.param(False, marks=pytest.mark.soak)], ids=["big", "little"])  # which takes another machine
@pytest.mark.parametrize("memory", sampled(MEMORIES, len(MEMORIES), 3))
def test_core_in_lockstep(memory: str, big: bool, expected, systems: dict[bool, Path], tmp_path: Path):
    elf, state = expected(big)
    assert checked(on_core(systems[big], elf, tmp_path, big, KSEG0_CACHED, "--quiet", *MEMORIES[memory], cycles=40000000)) == state
