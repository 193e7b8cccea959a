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
from tests.sample import sampled

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
@pytest.mark.parametrize("nops", sampled([0, 1, 2], 3, 1))
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
@pytest.mark.parametrize("nops", sampled([0, 1], 2))
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
@pytest.mark.parametrize("seed", sampled(range(FIRST, FIRST + 10), 5))
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
    """A loop of a hundred instructions passed a thousand times hides neither what was before nor how often it was passed."""
    body = "".join(f"addiu $t1, $t1, {n}\n" for n in range(97))
    loop = f"addiu $t0, $zero, 1000\n1: addiu $t0, $t0, -1\n{body}bne $t0, $zero, 1b\nnop\nlui $t1, 0xabcd\nX: break 5\n"
    report = run(cores["big-prijoff"], assemble(loop, tmp_path / "x.elf", True, "device")).stderr.decode()
    assert "r8  00000000 abcd0000 00000000" in report, report
    lines = report[report.index("how it came here") :].splitlines()[1:]
    assert lines[0].split()[0] == "00400000" and lines[1].strip() == "1000 times:", report
    assert lines[2].startswith("      00400004 to 00400118, 70 instructions"), report
    assert lines[3].split()[:2] == ["0040011c", "addiu"] and lines[32].split()[:2] == ["00400190", "nop"], report
    assert lines[33].split()[:2] == ["00400194", "lui"] and lines[34].split()[:3] == ["00400198", "break", "5"], report
    assert "<X+0x0> x.s:" in report


def test_the_report_shows_loops_that_call(cores: dict[str, Path], tmp_path: Path):
    """What a lap consists of, in order, the one that is not over yet, and the loop around it."""
    text = """
addiu $s0, $zero, 2
outer: addiu $t0, $zero, 50
top: addiu $t0, $t0, -1
jal f
nop
bne $t0, $zero, top
nop
addiu $s0, $s0, -1
bne $s0, $zero, outer
nop
break
f: jr $ra
nop
"""
    report = run(cores["big-prijoff"], assemble(text, tmp_path / "x.elf", True, "device")).stderr.decode()
    lines = report[report.index("how it came here") :].splitlines()[1:]
    ways = [(line.split()[0], line.split()[1] == "times:") for line in lines if re.match(r" +(\d+ times:|[0-9a-f]{8}  )", line)]
    lap = [f"{pc:08x}" for pc in (0x400008, 0x40000C, 0x400010, 0x40002C, 0x400030, 0x400014, 0x400018)]
    end = [*lap, "0040001c", "00400020", "00400024"]
    assert [pc for pc, _ in ways][-len(lap) - len(end) - 2 :] == ["49", *lap, *end, "00400028"], report
    assert [pc for pc, loop in ways if loop] == ["49", "49"], report
