"""The RV32I core executes what the manual says: every instruction with 0, 1 and 2 nops around it, random programs against the
interpreter, and what stops it; on its scratchpad and on a slow memory that refuses by chance."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.isa import riscv
from tests.isa.streams import explain
from tests.sample import sampled

FIRST = int(os.environ.get("SEED", "1"))


@pytest.fixture(scope="session")
def cores(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("riscv")
    source, slow = root / "examples/riscv_core/riscv_core.lss", directory / "slow.lss"
    text = source.read_text()
    assert "filter.scratchpad -> scratchpad.port;" in text
    slow.write_text(text.replace(
        "filter.scratchpad -> scratchpad.port;",
        "instance delay : memory_delay { width = 32; latency = 2; jitter = 3; refuse = 0.3; };\n"
        "filter.scratchpad -> delay.in;\ndelay.out -> scratchpad.port;"))  # fmt: skip
    for name, machine in (("fast", source), ("slow", slow)):
        done = subprocess.run([build_dir / "bin" / "lss", "build", machine, "-o", directory / name], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return {name: directory / name for name in ("fast", "slow")}


def run(core: Path, elf: Path, *options: str, cycles: int = 200000) -> subprocess.CompletedProcess:
    """Bounded, so that a core that stands still fails instead of running for ever."""
    return subprocess.run([core, "--program", elf, "--cycles", str(cycles), *options], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("name", ["fast", "slow"])
@pytest.mark.parametrize("nops", [0, 1, 2])
def test_every_instruction(nops: int, name: str, cores: dict[str, Path], tmp_path: Path):
    """The exit status is the number of the first case that failed."""
    done = run(cores[name], riscv.assemble(riscv.cases(nops), tmp_path / "cases.elf", "device"))
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr


def test_a_failing_case_is_seen(cores: dict[str, Path], tmp_path: Path):
    text = riscv.cases(0).replace("CHECK a0, 0x7\n", "CHECK a0, 0x8\n", 1)
    done = run(cores["fast"], riscv.assemble(text, tmp_path / "cases.elf", "device"))
    assert done.returncode == 1 and "exited with status 1 after" in done.stderr, done.stderr


def compare(seed: int, cores: dict[str, Path], build_dir: Path, tmp_path: Path) -> None:
    text = riscv.random_program(seed).text
    plain = riscv.assemble(text, tmp_path / f"oracle{seed}.elf")
    expected = subprocess.run([build_dir / "bin" / "rv32i-oracle", plain], capture_output=True, timeout=60)
    assert expected.returncode == 0, expected.stderr.decode()
    elf = riscv.assemble(text, tmp_path / f"core{seed}.elf", "device")
    for name, core in cores.items():
        printed = tmp_path / f"{name}{seed}"
        done = run(core, elf, "--set", f"console.output={printed}")
        assert done.returncode == 0, f"seed {seed} on {name}: {done.stderr}"
        found = printed.read_bytes()
        assert found == expected.stdout, f"seed {seed} on {name}: {explain(expected.stdout, found)}"


@pytest.mark.parametrize("seed", sampled(range(FIRST, FIRST + 10), 5))
def test_random_stream(seed: int, cores: dict[str, Path], build_dir: Path, tmp_path: Path):
    """SEED=n in the environment starts at another seed."""
    compare(seed, cores, build_dir, tmp_path)


@pytest.mark.soak
def test_many_random_streams(cores: dict[str, Path], build_dir: Path, tmp_path: Path):
    for seed in range(3000, 3500):
        compare(seed, cores, build_dir, tmp_path)


STOPS = {
    "ecall": (["nop", "X: ecall"], "syscall"),
    "ebreak": (["nop", "X: ebreak"], "breakpoint"),
    "reserved": (["nop", "X: .word 0x0000007f"], "reserved instruction"),
    "another extension": (["nop", "X: .word 0x02208033"], "reserved instruction"),  # mul
    "misaligned load": (["addi t0, zero, 2", "X: lw a0, 0(t0)"], "unaligned"),
    "misaligned store": (["addi t0, zero, 1", "X: sh a0, 0(t0)"], "unaligned"),
    "nothing there": (["lui t0, 0x70000", "X: lw a0, 8(t0)"], "nothing responds"),
}


@pytest.mark.parametrize("name", STOPS)
def test_what_cannot_be_executed_stops_with_a_report(name: str, cores: dict[str, Path], tmp_path: Path):
    """The report says what and where, in RISC-V's words; what stands behind a taken branch is not executed."""
    lines, text = STOPS[name]
    code = ["j 1f", ".word 0", "1: blt zero, zero, 1b", *lines, "li a0, 1", "EXIT 0"]
    done = run(cores["fast"], riscv.assemble("\n".join(code) + "\n", tmp_path / "x.elf", "device"))
    where = 0x400000 + 4 * (3 + len(lines) - 1)
    assert done.returncode == 1 and text in done.stderr and f"pc 0x{where:08x}" in done.stderr, done.stderr
    assert "00400000  jal zero, 0x400008" in done.stderr and "00400008  blt zero, zero, 0x400008" in done.stderr, done.stderr
    assert "00400004" not in done.stderr, done.stderr
