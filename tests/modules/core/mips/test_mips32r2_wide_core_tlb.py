"""mips32r2_wide_core: what a TLB miss costs, and from how many pages on a loop has one at each of them."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.isa import system
from tests.isa.system_core import KSEG0_CACHED, boot, frame
from tests.modules.core.mips.test_mips32r2_wide_core import REDIRECTED, SERVED
from tests.modules.core.mips.timeline import PROGRAM, build
from tests.sample import sampled

ENTRIES, PASSES = 16, 5
FAILED = 4  # cycles from the commitment of an instruction to the exception of the next, of which the micro TLB takes one to look it up
EXECUTED = 3  # more that an instruction takes than one that writes nothing and is not executed; a load one beside these
# Entries are replaced in turn, so a page that does not fit with the others is never there when it is wanted.
REFILL = f"""
  mtc0 $s7, $0
  addiu $s7, $s7, 1
  andi $s7, $s7, {ENTRIES - 1}
  tlbwi
  eret
"""
PREPARE = f"""
  LI $t3, {frame(0x300000) | 3 << 3:#x}
  mtc0 $t3, $2
  mtc0 $t3, $3
  lui $t1, 0x1000
  addiu $t4, $zero, PAGES
"""
LOOP = """
  nop
L:
  lw $t3, 0($t1)
  addiu $t4, $t4, -1
  bnez $t4, L
  addiu $t1, $t1, 0x2000
"""


@pytest.fixture(scope="module", params=sampled([1, 4], first=1))
def wide(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(scope="module")
def machine(wide: int, tmp_path_factory: pytest.TempPathFactory, root: Path, build_dir: Path) -> Path:
    return build(root, build_dir, tmp_path_factory.mktemp("core"), "core.core.list", "-D", f"wide={wide}")


def steps(machine: Path, directory: Path, pages: int) -> list[tuple[int, bool]]:
    """The cycles from a load to the next in the last pass over the pages, and whether there was a miss."""
    text = re.sub(r"refill:.*?\.org 0x180", f"refill:{REFILL}.org 0x180", PROGRAM, flags=re.DOTALL)
    text = (
        text.replace("{code}", LOOP)
        .replace("{prepare}", PREPARE.replace("PAGES", str(pages)))
        .replace("{passes}", str(PASSES))
    )
    elf = system.assemble(system.HEAD + text, directory / "x.elf", False)
    done = subprocess.run(
        [machine, *boot(elf, directory, False, KSEG0_CACHED), "--cycles", "100000"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
    load = system.labels_of(elf)["L"]
    seen = [
        (kind, int(cycle))
        for kind, cycle, pc in re.findall(r"^@(\w+) (\d+) (-?\d+)", done.stdout, re.MULTILINE)
        if int(pc) & 0xFFFFFFFF == load
    ]
    missed, loads = False, []
    for kind, cycle in seen:
        if kind == "retire":
            loads.append((cycle, missed))
        missed = kind == "exception"
    assert len(loads) == pages * PASSES
    last = loads[-pages:]
    return [(b[0] - a[0], b[1]) for a, b in zip(last[1:-1], last[2:], strict=True)]


@pytest.mark.parametrize("pages", sampled([ENTRIES // 2, ENTRIES], 2, 1))
def test_pages_that_fit(pages: int, machine: Path, wide: int, tmp_path: Path) -> None:
    """Four instructions, which are two groups as the branch is taken."""
    taken = steps(machine, tmp_path, pages)
    assert {missed for _, missed in taken} == {False}
    if pages == ENTRIES:  # the first are finished when what is before the loop is committed
        assert {cycles for cycles, _ in taken[-4:]} == {{1: 4, 4: 2}[wide]}


@pytest.mark.parametrize("pages", sampled([ENTRIES + 1, 2 * ENTRIES], 2))
def test_pages_that_do_not(pages: int, machine: Path, wide: int, tmp_path: Path) -> None:
    """Each instruction of the handler, and the load once more."""
    before = 4 - wide if wide < 4 else 0  # those of the loop that are committed behind the load
    handler = FAILED + 1 + REDIRECTED + SERVED  # mtc0
    handler += {1: 2, 4: 1}[wide]  # addiu, andi, which stay
    handler += SERVED + (wide == 1)  # tlbwi, which is requested as andi is committed if more is committed with that
    handler += REDIRECTED + SERVED  # eret
    assert set(steps(machine, tmp_path, pages)) == {(before + handler + REDIRECTED + EXECUTED + 1, True)}
