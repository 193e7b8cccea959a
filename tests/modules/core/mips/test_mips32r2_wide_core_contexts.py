"""mips32r2_wide_core with two contexts: one waits, is halted, or gets another state, while the other executes; each has lanes of its own."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.isa import system
from tests.isa.programs import run as run_tool
from tests.isa.system_core import assemble_for, boot_contexts
from tests.modules.harness import Bench
from tests.sample import seldom

# The control and the state of context 1 come from outside, and its state goes there.
OUTSIDE = """
instance running : source { count = 0; };
instance ordered : source;
running.out -> core.control;
ordered.out -> core.control;
instance nothing : source { count = 0; };
instance words : source;
nothing.out -> core.load;
words.out -> core.load;
instance unseen : sink;
instance saved : sink;
core.save -> unseen.in;
core.save -> saved.in;
"""
# Counts in s0, then does something, ends, and waits for nothing.
COUNTS = """
.text
.globl __start
__start:
  LI $t0, 0x10000000
  mtc0 $t0, $12
  lui $t3, 0xbf00
  addiu $s0, $zero, 0
1:
  addiu $s0, $s0, 1
  LI $t0, {rounds}
  bne $s0, $t0, 1b
  nop
{last}
  sw $zero, 0x504($t3)
  lui $t0, 0x1000
  mtc0 $t0, $12
2: wait
  b 2b
  nop
"""
WAITS = "  LI $t0, 0x10008000\n  mtc0 $t0, $12\n  mfc0 $t0, $9\n  LI $t1, {ticks}\n  addu $t0, $t0, $t1\n  mtc0 $t0, $11\n  wait\n"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, root: Path, build_dir: Path) -> Path:
    directory = tmp_path_factory.mktemp("contexts")
    text = (root / "tests" / "isa" / "system_machine.lss").read_text()
    (directory / "machine.lss").write_text(text + OUTSIDE)
    settings = ("contexts=2", "wide=4", "memory=16 MiB", "checked=true")
    run_tool([build_dir / "bin" / "lss", "build", directory / "machine.lss", "-o", directory / "machine", *(word for one in settings for word in ("-D", one))])
    return directory / "machine"


def counting(c: int, rounds: int, directory: Path, last: str = "") -> Path:
    text = system.HEAD + system.START[: system.START.index(".section .vectors")] + COUNTS.format(rounds=rounds, last=last)
    return assemble_for(c, text, directory / f"p{c}.elf", False)


def played(machine: Path, elves: list[Path], directory: Path, cycles: int, *options: str, files: dict[str, str] | None = None) -> dict[str, int]:
    for name, text in (files or {}).items():
        (directory / name).write_text(text)
    given = [word for name, sink in (("ordered", "ordered.script"), ("words", "words.script")) for word in ("--set", f"{sink}={directory / name}")]
    for name in ("ordered", "words"):
        (directory / name).touch()
    command = [machine, *boot_contexts(elves, directory, False), *given, "--set", f"saved.record={directory / 'saved'}", "--cycles", str(cycles), *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=40)
    assert done.returncode == 0, done.stderr
    return {f"{path}.{name}": int(value) for path, name, value in re.findall(r"^(\S+) +(\S+) +(\d+) ", done.stdout, re.MULTILINE)}


@seldom
def test_contexts_that_wait_cost_no_time(machine: Path, tmp_path: Path) -> None:
    """Until the later timer; the other one meanwhile has all of the core, and is fetched for alone."""
    elves = [counting(0, 100, tmp_path, WAITS.format(ticks=500_000_000)), counting(1, 30_000, tmp_path, WAITS.format(ticks=1_000_000_000))]
    seen = played(machine, elves, tmp_path, 10_000_000_000)
    assert seen["console.exits"] == 2 and seen["cpu_clk.cycles"] < 2_100_000_000
    assert 0 <= 2_000_000_000 - seen["core.system[1].idle_cycles"] < 100, "Count advances every other cycle"
    assert seen["core.system[0].kernel_cycles"] < 3000 and 60_000 < seen["core.system[1].kernel_cycles"] < 70_000
    idle = seen["core.system[0].idle_cycles"] + seen["core.system[1].idle_cycles"]
    assert 0 <= idle - seen["core.core.core.fetch.asleep"] < 100


def test_the_state_of_a_context_comes_and_goes(machine: Path, tmp_path: Path) -> None:
    """While the other executes: the context is halted, its state is taken, and given back with another number in s0, with which it is soon at its end."""
    s0, rounds = 16, 1_000_000
    elves = [counting(0, 20_000, tmp_path), counting(1, rounds, tmp_path)]
    orders = "4000 {set_halt=true halt=true} once\n8000 {set_halt=true} once\n"
    played(machine, elves, tmp_path, 4500, files={"ordered": orders})
    words = re.findall(r"\{number=(\w+) value=(\w+) last=(\w+)\}", (tmp_path / "saved").read_text())
    state = words[: 1 + next(k for k, (*_, last) in enumerate(words) if last == "true")]
    assert [int(number, 0) for number, *_ in state] == list(range(len(state))) and 100 < int(state[s0][1], 0) < 4000
    back = "".join(f"{5000 + k} {{number={number} value={rounds - 3 if k == s0 else value} last={last}}}\n" for k, (number, value, last) in enumerate(state))
    seen = played(machine, elves, tmp_path, 200_000, files={"ordered": orders, "words": back})
    assert seen["console.exits"] == 2 and seen["core.core.core.list.instructions_of[1]"] < 20_000 < seen["core.core.core.list.instructions_of[0]"]
    assert seen["core.transfer[1].loads"] == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("}; instance s : sink; core.waits -> s.in;", "unlink, load, save, completed and waits have a lane for each of 2 contexts, and one of them has 1"),
        ("}; instance s : sink; core.status -> s.in;", "status must have the same number of lanes for each of 2 contexts"),
        ('}; instance s : source; s.out -> core.lines["ip2_2"];', "has no interrupt line `ip2_2`"),
    ],
)
def test_each_context_has_lanes_of_its_own(text: str, why: str, bench: Bench) -> None:
    with pytest.raises(AssertionError, match=re.escape(why)):
        bench.build(f"import core_types;\ninstance core : mips32r2_wide_core {{ contexts = 2; {text}\n")
