"""Virtual processing elements out of in-order cores, in lockstep with a functional processor each: the directed cases of the MT ASE, and
eight of them at once.  What mftr reads of others, and what they write to memory, is believed; all else is compared."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.emulib.mt_cases import let_go, mt_cases, put, target
from tests.isa import system
from tests.isa.programs import run
from tests.isa.system_core import KSEG0_CACHED, on_core

BYTE_ORDERS = pytest.mark.parametrize("big", [True, False], ids=["big", "little"])
MEMORIES = {"fast": [], "slow": ["--set", "delay.latency=40"], "random": ["--set", "delay.jitter=20", "--set", "delay.refuse=0.3"]}


@pytest.fixture(scope="session")
def machines(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path) -> Callable[[bool, int], Path]:
    """machines(big, vpes): mt_machine.lss."""
    built: dict[tuple[bool, int], Path] = {}

    def build(big: bool, vpes: int) -> Path:
        if (big, vpes) not in built:
            output = tmp_path_factory.mktemp("mt") / f"mt{vpes}{big}"
            run([build_dir / "bin" / "lss", "build", root / "tests" / "isa" / "mt_machine.lss", "-o", output, "-D", f"big_endian={str(big).lower()}", "-D", f"vpes={vpes}", "-D", "lockstep=1 MiB"])
            built[big, vpes] = output
        return built[big, vpes]

    return build


def compared(done: subprocess.CompletedProcess, core: int) -> int:
    found = re.search(rf"cores\.cpu\[{core}\]\.core +compared +(\d+)", done.stdout)
    return int(found[1]) if found else 0


def run_cases(machine: Path, big: bool, tmp_path: Path, *options: str) -> subprocess.CompletedProcess:
    """What the directed cases print is what they expect."""
    cases = mt_cases()
    elf = system.build(cases, tmp_path / "cases.elf", big, mt=True)
    done = on_core(machine, elf, tmp_path, big, KSEG0_CACHED, *options, cycles=20000000)
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
    printed = "\n".join(line for line in done.stdout.splitlines() if re.fullmatch(r"[0-9a-f]{8}", line))
    labels = system.labels_of(elf)
    wrong = system.differences(cases, system.records(printed, len(cases)), [system.expected(n, case, labels) for n, case in enumerate(cases)])
    assert not wrong, "\n".join(wrong)
    return done


def compare_cases(machine: Path, big: bool, tmp_path: Path, *options: str) -> None:
    done = run_cases(machine, big, tmp_path, *options)
    assert compared(done, 0) > 30000 and compared(done, 1) > 50


def test_directed_cases(machines, tmp_path: Path):
    compare_cases(machines(False, 2), False, tmp_path, *MEMORIES["random"])


@pytest.mark.soak
@BYTE_ORDERS
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_directed_cases_in_every_way(big: bool, memory: str, seed: int, machines, tmp_path: Path):
    compare_cases(machines(big, 2), big, tmp_path, *MEMORIES[memory], "--seed", str(seed))


def relay(vpes: int) -> str:
    """Every VPE but the last lets the next go; the last interrupts the first, which then counts those that have executed."""
    start = let_go("V").replace(target(1), "mtc0 $s3, $1, 1\nehb\n").replace("mttgpr $t1, $4\n", "mttgpr $t1, $4\nmttgpr $s0, $16\nmttgpr $s1, $17\n")
    return f"""
  lui $s0, 0xa019
  addiu $s1, $zero, {vpes}
V:
  mfc0 $s2, $15, 1
  andi $s2, $s2, 0x3ff
  LI $t1, 0x10000100
  mtc0 $t1, $12
  sll $t2, $s2, 2
  addu $t2, $t2, $s0
  addiu $t1, $s2, 100
  sw $t1, 0x100($t2)
  addiu $s3, $s2, 1
  beq $s3, $s1, 2f
  nop
{start}
  bnez $s2, 4f
  nop
3: wait
  mfc0 $t1, $13
  andi $t1, $t1, 0x100
  beqz $t1, 3b
  mtc0 $zero, $13
  b W
  nop
2:
  mtc0 $zero, $1, 1
  ehb
  addiu $t1, $zero, 0x100
  mttc0 $t1, $13
4:
{put("$2, 4", 1)}
5: b 5b
  nop
W:
""" + "".join(f"lw $t1, {0x100 + 4 * n}($s0)\nRECORD $t1\n" for n in range(vpes))


def run_relay(machine: Path, vpes: int, big: bool, tmp_path: Path, *options: str) -> subprocess.CompletedProcess:
    cases = [system.Case("relay", relay(vpes), [100 + n for n in range(vpes)])]
    elf = system.build(cases, tmp_path / "relay.elf", big, mt=True)
    done = on_core(machine, elf, tmp_path, big, KSEG0_CACHED, *options, cycles=2000000)
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
    assert re.findall(r"^000000(\w\w)$", done.stdout, re.MULTILINE) == [f"{100 + n:02x}" for n in range(vpes)]
    return done


def compare_relay(machine: Path, vpes: int, build_dir: Path, tmp_path: Path, *options: str) -> None:
    """With the functional processor, too."""
    done = run_relay(machine, vpes, False, tmp_path, *options)
    assert all(compared(done, n) > 15 for n in range(vpes)), done.stdout
    printed = system.on_oracle(tmp_path / "relay.elf", False, build_dir, "--vpes", str(vpes), "--limit", "1000000").stdout.split()
    assert printed == ["ca5e0000", *(f"{100 + n:08x}" for n in range(vpes))]


def test_a_relay(machines, build_dir: Path, tmp_path: Path):
    compare_relay(machines(False, 2), 2, build_dir, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("vpes", [3, 8])
def test_a_relay_of_more(vpes: int, memory: str, machines, build_dir: Path, tmp_path: Path):
    compare_relay(machines(False, vpes), vpes, build_dir, tmp_path, *MEMORIES[memory])
