"""The five-stage core executes what the architecture says: every instruction with 0, 1 and 2 nops around it, in both byte
orders; random programs against the interpreter; and what stops it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.isa import cases
from tests.isa.programs import assemble
from tests.isa.streams import explain, random_program

FIRST = int(os.environ.get("SEED", "1"))
SETS = ("prijoff", "mips32r2")
BYTE_ORDERS = pytest.mark.parametrize("big", [True, False], ids=["big", "little"])


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("isa")


@pytest.fixture(scope="session")
def cores(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path) -> dict[str, Path]:
    """Simulators of one core: on its scratchpad, big- and little-endian, and on a slow memory that refuses by chance."""
    directory = tmp_path_factory.mktemp("cores")
    slow = directory / "slow.lss"
    text = (root / "examples" / "single_core" / "single_core.lss").read_text()
    assert "filter.scratchpad -> scratchpad.port;" in text
    slow.write_text(text.replace(
        "filter.scratchpad -> scratchpad.port;",
        "instance delay : memory_delay { width = 32; latency = 2; jitter = 3; refuse = 0.3; };\n"
        "filter.scratchpad -> delay.in;\ndelay.out -> scratchpad.port;"))  # fmt: skip
    machines = {
        f"{kind}{order}-{instruction_set}": (source, ["-D", f"big_endian={str(order == 'big').lower()}", "-D", f"set=mips_isa.{instruction_set}"])
        for kind, source in (("", root / "examples" / "single_core" / "single_core.lss"), ("slow-", slow))
        for order in ("big", "little")
        for instruction_set in SETS
    }
    machines["big-mips32r2_system"] = (root / "examples" / "single_core" / "single_core.lss", ["-D", "set=mips_isa.mips32r2_system"])
    for name, (source, options) in machines.items():
        command = [build_dir / "bin" / "lss", "build", source, "-o", directory / name, *options]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return {name: directory / name for name in machines}


def core_of(instruction_set: str, big: bool, kind: str = "") -> str:
    return f"{kind}{'big' if big else 'little'}-{instruction_set}"


def run(core: Path, elf: Path, *options: str, cycles: int = 200000) -> subprocess.CompletedProcess:
    """Bounded, so that a core that stands still fails instead of running for ever."""
    command = [core, "--program", elf, "--cycles", str(cycles), *options]
    return subprocess.run(command, capture_output=True, timeout=120)


@BYTE_ORDERS
@pytest.mark.parametrize("nops", [0, 1, 2])
@pytest.mark.parametrize("name", cases.NAMES)
def test_instruction(name: str, nops: int, big: bool, cores: dict[str, Path], programs: Path):
    instruction_set = cases.set_of(name)
    elf = cases.program(programs, name, nops, big, "device", instruction_set)
    done = run(cores[core_of(instruction_set, big)], elf)
    assert done.returncode == 0, f"case {done.returncode} of {name}: {done.stderr.decode()}"
    assert b"the program exited" in done.stderr, done.stderr.decode()


def test_a_failing_case_is_seen(cores: dict[str, Path], tmp_path: Path):
    elf = assemble("EXIT 9\n", tmp_path / "x.elf", True, "device")
    done = run(cores["big-prijoff"], elf)
    assert done.returncode != 0 and b"9" in done.stderr


@BYTE_ORDERS
@pytest.mark.parametrize("nops", [0, 1])
def test_every_instruction_on_slow_memory(nops: int, big: bool, cores: dict[str, Path], programs: Path):
    """Interlocks hold when loads, stores and fetches take any number of cycles."""
    failed = {}
    for name in cases.NAMES:
        instruction_set = cases.set_of(name)
        elf = cases.program(programs, name, nops, big, "device", instruction_set)
        done = run(cores[core_of(instruction_set, big, "slow-")], elf)
        if done.returncode != 0 or b"the program exited" not in done.stderr:
            failed[name] = (done.returncode, done.stderr.decode())
    assert not failed


def compare(seed: int, big: bool, instruction_set: str, cores: dict[str, Path], build_dir: Path, tmp_path: Path, kinds: tuple[str, ...] = ("", "slow-")) -> None:
    machine = "prijoff" if instruction_set == "mips2" else "mips32r2"
    stream = random_program(seed, instruction_set=instruction_set)
    plain = assemble(stream.text, tmp_path / f"oracle{seed}.elf", big, instruction_set=instruction_set)
    expected = subprocess.run([build_dir / "bin" / "mips-oracle", "--set", instruction_set, plain], capture_output=True, timeout=60)
    assert expected.returncode == 0, expected.stderr.decode()
    elf = assemble(stream.text, tmp_path / f"core{seed}.elf", big, "device", instruction_set)
    if qemu := shutil.which("qemu-mips" if big else "qemu-mipsel"):
        found = subprocess.run([qemu, "-cpu", "24Kc", plain], capture_output=True, timeout=60).stdout
        assert found == expected.stdout, f"seed {seed} on qemu: {explain(expected.stdout, found)}"
    for name in (core_of(machine, big, kind) for kind in kinds):
        printed = tmp_path / f"{name}{seed}"
        done = run(cores[name], elf, "--set", f"console.output={printed}")
        assert done.returncode == 0, f"seed {seed} on {name}: {done.stderr.decode()}"
        found = printed.read_bytes()
        assert found == expected.stdout, f"seed {seed} on {name}: {explain(expected.stdout, found)}"


@BYTE_ORDERS
@pytest.mark.parametrize("seed", range(FIRST, FIRST + 10))
def test_random_stream(seed: int, big: bool, cores: dict[str, Path], build_dir: Path, tmp_path: Path):
    """SEED=n in the environment starts at another seed; even seeds are programs for MIPS32r2."""
    compare(seed, big, "mips2" if seed % 2 else "mips32r2", cores, build_dir, tmp_path)


@pytest.mark.soak
@BYTE_ORDERS
@pytest.mark.parametrize(("instruction_set", "count"), [("mips2", 250), ("mips32", 2500), ("mips32r2", 2500)])
def test_many_random_streams(instruction_set: str, count: int, big: bool, cores: dict[str, Path], build_dir: Path, tmp_path: Path):
    """10,000 programs of MIPS32 and its revision 2: interpreter, qemu and core agree.  One in ten also runs on slow memory."""
    for seed in range(3000, 3000 + count):
        compare(seed, big, instruction_set, cores, build_dir, tmp_path, ("", "slow-") if seed % 10 == 0 else ("",))
        for file in tmp_path.iterdir():
            file.unlink()


STOPS = {
    "add": (["lui $t0, 0x7fff", "X: add $v1, $t0, $t0"], b"overflow"),
    "addi": (["lui $t0, 0x7fff", "ori $t0, $t0, 0xffff", "X: addi $v1, $t0, 1"], b"overflow"),
    "sub": (["lui $t0, 0x8000", "addiu $t1, $zero, 1", "X: sub $v1, $t0, $t1"], b"overflow"),
    "break": (["nop", "X: break 5"], b"break"),
    "syscall": (["nop", "X: syscall"], b"syscall"),
    "reserved": (["nop", "X: .word 0x7c000000"], b"reserved instruction"),
    "misaligned load": (["addiu $t0, $zero, 2", "X: lw $v1, 0($t0)"], b"unaligned"),
    "misaligned store": (["addiu $t0, $zero, 1", "X: sh $v1, 0($t0)"], b"unaligned"),
    "nothing there": (["lui $t0, 0x7000", "X: lw $v1, 8($t0)"], b"nothing responds"),
}
STOPS |= {
    name: ([*cases.li("t0", a), *cases.li("t1", b), "X: " + cases.trap_code(name, b)], b"trap")
    for name, (a, b) in cases.TRAPPING.items()
}


@pytest.mark.parametrize("name", STOPS)
def test_what_cannot_be_executed_stops_with_a_report(name: str, cores: dict[str, Path], tmp_path: Path):
    """The report says what and where; the instruction's result was not written, nor those of its followers."""
    lines, text = STOPS[name]
    follower = ["addiu $v1, $zero, 1", "lui $t5, 0x10", "sw $v1, 0($t5)", "EXIT 0"]
    elf = assemble("\n".join([*lines, *follower]) + "\n", tmp_path / "x.elf", True, "device")
    done = run(cores["big-prijoff"], elf)
    where = 0x400000 + 4 * (len(lines) - 1)
    assert done.returncode == 1, done.stderr.decode()
    assert text in done.stderr and f"pc 0x{where:08x}".encode() in done.stderr, done.stderr.decode()


@pytest.mark.parametrize(("word", "text"), [
    (0x40096000, b"instruction for system control, which this processor has not"), (0xBD150000, b"instruction for system control"),
    (0x44000000, b"instruction of a coprocessor that there is not"),
])  # fmt: skip
def test_without_system_control_its_instructions_stop_with_a_report(word: int, text: bytes, cores: dict[str, Path], tmp_path: Path):
    elf = assemble(f"addiu $t0, $zero, 1\n.word {word:#x}\nEXIT 0\n", tmp_path / "x.elf", True, "device")
    done = run(cores["big-mips32r2_system"], elf)
    assert done.returncode == 1 and text in done.stderr and b"pc 0x00400004" in done.stderr, done.stderr.decode()


def test_jump_to_nowhere(cores: dict[str, Path], tmp_path: Path):
    elf = assemble("lui $t0, 0x7000\njr $t0\nnop\n", tmp_path / "x.elf", True, "device")
    done = run(cores["big-prijoff"], elf)
    assert done.returncode == 1 and b"pc 0x70000000" in done.stderr, done.stderr.decode()


def test_the_report_names_instructions_of_the_programs_set(cores: dict[str, Path], tmp_path: Path):
    """PRI and MOVN are the same word."""
    text = ".word 0x0109180b\nX: break 5\n"
    for instruction_set, name in (("prijoff", "pri"), ("mips32r2", "movn")):
        elf = assemble(text, tmp_path / f"{name}.elf", True, "device", instruction_set)
        assert re.search(rf"00400000  {name} +\$v1, \$t0, \$t1", run(cores[f"big-{instruction_set}"], elf).stderr.decode())


def test_a_program_for_a_newer_set_is_refused_by_the_machine(cores: dict[str, Path], tmp_path: Path):
    done = run(cores["big-prijoff"], assemble("nop\n", tmp_path / "x.elf", True, "device", "mips32r2"))
    assert done.returncode != 0 and b"say MIPS32r2 code, the processors execute up to prijoff: build with -mips2" in done.stderr


def test_the_report_shows_registers_and_what_ran(cores: dict[str, Path], tmp_path: Path):
    """More than 32 instructions run, so the list must begin with the oldest that is remembered."""
    loop = "addiu $t0, $zero, 20\n1: addiu $t0, $t0, -1\nbne $t0, $zero, 1b\nlui $t1, 0xabcd\nX: break 5\n"
    report = run(cores["big-prijoff"], assemble(loop, tmp_path / "x.elf", True, "device")).stderr.decode()
    assert "r8  00000000 abcd0000 00000000" in report, report
    listed = [line.split() for line in report.splitlines() if re.match(r" +[0-9a-f]{8}  ", line)]
    assert len(listed) == 32 and listed[-1][:3] == ["00400010", "break", "5"], report
    assert [words[0] for words in listed[-4:]] == ["00400004", "00400008", "0040000c", "00400010"], report
    assert "<X+0x0> x.s:" in report
