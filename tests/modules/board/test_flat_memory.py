"""A host with memory that takes the same time for every request: a chain of pointers measures what a load waits."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.emulib.test_system import bare
from tests.hosts import COHERENT

# A chain of 1,200 nodes, each in a line of its own. The cache has 512 lines, so none of the first 100 is in it any more.
CHASE = """
  LI $t0, 0x80200000
  LI $t2, 0x8029f600
1: addiu $t1, $t0, 544
  sw $t1, 0($t0)
  addiu $t0, $t0, 544
  sltu $t3, $t0, $t2
  bnez $t3, 1b
  nop
  sync
  LI $t0, 0x80200000
  addiu $t4, $zero, 100
  lui $zero, 1
3: lw $t0, 0($t0)
  addiu $t4, $t4, -1
  bnez $t4, 3b
  nop
  lui $zero, 2
4: b 4b
  nop
"""


@pytest.fixture
def host(root: Path, build_sim) -> Callable[..., Path]:
    return lambda *given: build_sim(root / "examples/host/host.lss", *(word for one in (COHERENT, *given) for word in ("-D", one)))


def waited(host: Path, run_sim, elf: Path, *more: object) -> float:
    """Cycles of a load that misses, of which the loop has three instructions more."""
    done = run_sim(host, "--quiet", "--kernel", elf, "--measure-from", "marker(1)", "--measure-to", "marker(2)", "--until", "marker(2)", *more)
    first, last = (done.stats["measured"][end]["time_fs"] for end in ("from", "to"))
    return (last - first) / 5e6 / 100  # at 200 MHz


def test_a_load_takes_100_cycles(host, run_sim, tmp_path: Path) -> None:
    """From one load to the next that needs it; more latency is as much more. SDRAM is faster."""
    elf = bare(CHASE, tmp_path / "chase.elf")
    flat = host("memory_kind=flat_memory")
    assert waited(flat, run_sim, elf) == pytest.approx(100, abs=3)
    assert waited(flat, run_sim, elf, "--set", "system.controller.delay.latency=183") == pytest.approx(200, abs=3)
    assert waited(host(), run_sim, elf) < 50
