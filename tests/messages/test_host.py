"""The machine of the study of messages: what a load takes from each level of its memory."""

from pathlib import Path

import pytest

from tests.emulib.test_system import bare

# A chain of 100 pointers, as many bytes from one to the next, which is followed as often as said; markers enclose the last time.  The pointers are
# written past the caches, which hold none of them at first.
CHAIN = """
  LI $t0, 0xa0200000
  LI $t2, {end:#x}
  LI $t4, 0x20000000
  LI $t6, {stride}
1: addu $t1, $t0, $t6
  subu $t3, $t1, $t4
  sw $t3, 0($t0)
  move $t0, $t1
  bne $t0, $t2, 1b
  nop
  lw $t0, -4($t2)
"""
FOLLOW = """
  LI $t0, 0x80200000
  addiu $t4, $zero, 100
  {marker}
3: lw $t0, 0($t0)
  addiu $t4, $t4, -1
  bnez $t4, 3b
  nop
"""


@pytest.fixture
def load(root: Path, build_sim, run_sim, tmp_path: Path):
    """Cycles from one load of a chain to the next, which needs its value."""
    host = build_sim(root / "examples/messages/messages_host.lss", "-I", str(root / "examples/tigon2"))

    def measure(stride: int, times: int) -> float:
        rounds = FOLLOW.format(marker="nop") * (times - 1) + FOLLOW.format(marker="lui $zero, 1")
        elf = bare(CHAIN.format(stride=stride, end=0xA0200000 + 100 * stride) + rounds + "lui $zero, 2\n4: b 4b\nnop\n", tmp_path / f"{stride}.elf")
        done = run_sim(host, "--quiet", "--kernel", elf, "--measure-from", "marker(1)", "--measure-to", "marker(2)", "--until", "marker(2)")
        first, last = (done.stats["measured"][end]["time_fs"] for end in ("from", "to"))
        return (last - first) / 5e6 / 100  # at 200 MHz

    return measure


def test_levels_of_memory(load) -> None:
    """Lines of the same set displace one another in the first level of 8 ways from 4 KiB on, in the second from 128 KiB on. From memory: into a set
    with room, and where a line has to leave both levels."""
    first = load(32, 2)
    assert first == pytest.approx(5, abs=0.1), "as fast as the loop is"
    assert load(4 << 10, 2) == pytest.approx(first + 10, abs=1)
    assert load(4 << 10, 1) == pytest.approx(100, abs=3)
    assert load(128 << 10, 2) == pytest.approx(100, abs=3)
