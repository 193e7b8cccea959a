"""What a program prints is a result: where it cannot be written, each of our programs says so in one line and fails.

All of them, with standard output or error on a full disk or closed; and what is printed before a signal is not lost."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.isa import riscv, system
from tests.isa.programs import assemble
from tests.sample import sampled

CHAIN = "instance p : source; instance k : sink; p.out -> k.in : uint32;\n"
SAYS = "lui $a1, %hi(text)\naddiu $a1, $a1, %lo(text)\naddiu $a0, $zero, {}\naddiu $a2, $zero, 6\naddiu $v0, $zero, 4004\nsyscall\n"
TEXT = '\n.data\ntext: .ascii "hello\\n"\n'
ALONE = ".set noreorder\n.text\n.globl __start\n__start:\n"
PRINTS_TO_UART = """lui $t0, 0xbf00
addiu $t1, $zero, 65
sb $t1, 0x900($t0)
addiu $t1, $zero, 0x42
{}
sb $t1, 0x500($t0)
nop
"""
PROGRAMS = {  # the words of each, what it prints to
    "sim": (["sim", "--cycles", "9"], "both"),
    "sim help": (["sim", "--help"], "out"),
    "sim list": (["sim", "--list=json"], "out"),
    "sim print": (["sim", "--cycles", "9", "--quiet", "--print", "k.*"], "out"),
    "sim statistics": (["sim", "--cycles", "9", "--quiet", "--stats", "-"], "out"),
    "sim stream": (["sim", "--cycles", "9", "--quiet", "--set", "k.record=-"], "out"),
    "sim hashes": (["sim", "--cycles", "9", "--quiet", "--state-hashes", "-"], "out"),
    "sim trace": (["debug", "--cycles", "9", "--quiet", "--trace", "p"], "err"),
    "sim idle": (["debug", "--cycles", "9", "--quiet", "--check-idle"], "err"),
    "lss": (["lss", "list"], "out"),
    "lss warning": (["lss", "check", "warns.lss"], "err"),
    "lss help": (["lss", "help"], "out"),
    "mips-oracle": (["mips-oracle", "out.elf"], "out"),
    "mips-oracle error": (["mips-oracle", "err.elf"], "err"),
    "mips-oracle registers": (["mips-oracle", "--registers", "none.elf"], "out"),
    "mips-oracle trace": (["mips-oracle", "--trace", "-", "none.elf"], "err"),
    "mips-oracle help": (["mips-oracle", "--help"], "out"),
    "mips-oracle system": (["mips-oracle", "--system", "system.elf"], "out"),
    "mips-oracle system trace": (["mips-oracle", "--system", "--trace", "-", "quiet.elf"], "err"),
    "rv32i-oracle": (["rv32i-oracle", "riscv.elf"], "out"),
    "rv32i-oracle counts": (["rv32i-oracle", "--counts", "riscv.elf"], "out"),
    "mips-disasm": (["mips-disasm", "out.elf"], "out"),
    "rv32i-disasm": (["rv32i-disasm", "riscv.elf"], "out"),
    "harness": (["harness", "theory", "18"], "out"),
    "harness help": (["harness", "check", "--help"], "out"),
    "firmware help": (["harness", "firmware", "--help"], "out"),
}  # fmt: skip


@pytest.fixture(scope="module")
def place(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the simulators and programs that are run."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "chain.lss").write_text(CHAIN)
    (folder / "warns.lss").write_text(CHAIN + 'warn("look here");\n')
    for name, words in (("sim", []), ("debug", ["--debug"])):
        subprocess.run([build_dir / "bin/lss", "build", *words, "chain.lss", "-o", name], cwd=folder, check=True)
    assemble(SAYS.format(1) + "EXIT 0\n" + TEXT, folder / "out.elf", True)
    assemble(SAYS.format(2) + "EXIT 0\n" + TEXT, folder / "err.elf", True)
    assemble("EXIT 0\n", folder / "none.elf", True)
    assemble(SAYS.format(1) + "1: b 1b\nnop\n" + TEXT, folder / "hangs.elf", True)
    system.assemble(ALONE + PRINTS_TO_UART.format(""), folder / "system.elf", False)
    system.assemble(ALONE + PRINTS_TO_UART.format("1: b 1b\nnop\n"), folder / "system_hangs.elf", False)
    system.assemble(
        ALONE + "lui $t0, 0xbf00\naddiu $t1, $zero, 0x42\nsb $t1, 0x500($t0)\nnop\n", folder / "quiet.elf", False
    )
    riscv.assemble(
        'li a0, 1\nla a1, m\nli a2, 6\nli a7, 64\necall\nEXIT 0\n.data\nm: .ascii "hello\\n"\n.text\n',
        folder / "riscv.elf",
    )
    return folder


def command_of(words: list[str], build_dir: Path, place: Path) -> list[str]:
    if words[0] == "harness":
        return [sys.executable, "-m", "harness", *words[1:]]
    own = place / words[0]
    return [str(own if own.exists() else build_dir / "bin" / words[0]), *words[1:]]


def run(command: list[str], redirections: str, place: Path) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "LSS_CACHE": str(place / "cache")}
    shell = ["sh", "-c", f'"$@" {redirections}', "sh", *command]
    return subprocess.run(shell, cwd=place, capture_output=True, text=True, env=environment, timeout=60)


@pytest.mark.parametrize("name", sampled(PROGRAMS, 3))
def test_what_is_printed_is_a_result(name: str, build_dir: Path, place: Path) -> None:
    words, prints_to = PROGRAMS[name]
    command = command_of(words, build_dir, place)
    fine = run(command, "", place)
    assert fine.returncode == 0 and fine.stdout == ("" if prints_to == "err" else fine.stdout or None)
    for why, full in ("No space left on device", ">/dev/full"), ("Bad file descriptor", ">&-"):
        done = run(command, full, place)
        if prints_to == "err":
            assert (done.returncode, done.stderr) == (0, fine.stderr)
            continue
        assert done.returncode in (1, 3)
        said = [line for line in done.stderr.splitlines() if line not in fine.stderr and "simulated time" not in line]
        assert len(said) == 1 and "cannot write" in said[0], done.stderr
        assert why in said[0] or name == "mips-oracle help", "what GLib prints, it flushes itself and drops the reason"
    for full in "2>/dev/full", "2>&-":
        done = run(command, full, place)
        assert (done.returncode != 0) == (prints_to != "out"), f"{full}: status {done.returncode}"


def test_a_reader_that_has_enough_is_no_error(place: Path) -> None:
    """`spinach … | head`: no message, and the status of a process that SIGPIPE ended, as `lss` has it."""
    many = " ".join(str(size) for size in range(1, 1473)) + " "
    done = run(["true"], f"; {{ {sys.executable} -m harness theory {many * 4}; echo $? >&2; }} | head -1", place)
    assert (done.stdout.split()[0], done.stderr) == ("payload,", "141\n")


@pytest.mark.parametrize("words", [["hangs.elf"], ["--system", "system_hangs.elf"]])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_a_program_printed_before_a_signal(words: list[str], number: int, build_dir: Path, place: Path) -> None:
    with subprocess.Popen([build_dir / "bin/mips-oracle", *words], cwd=place, stdout=subprocess.PIPE) as oracle:
        assert oracle.stdout.read(1) in b"hA", "it comes while the program runs"
        oracle.send_signal(number)
        assert oracle.wait(20) == -number


def test_a_trace_replaces_no_program(build_dir: Path, place: Path) -> None:
    (place / "link").unlink(missing_ok=True)
    os.link(place / "none.elf", place / "link")
    for words in ["none.elf"], ["--system", "quiet.elf"]:
        before = (place / words[-1]).read_bytes()
        trace = "link" if words == ["none.elf"] else "quiet.elf"
        done = run([str(build_dir / "bin/mips-oracle"), *words, "--trace", trace], "", place)
        assert (done.returncode, done.stderr) == (
            2,
            f"mips-oracle: cannot write {trace}: it is read too, as {words[-1]}\n",
        )
        assert (place / words[-1]).read_bytes() == before


def test_a_file_does_not_get_the_number_of_a_closed_stream(build_dir: Path, place: Path) -> None:
    """Or what is printed would be in it."""
    run([str(place / "sim"), "--cycles", "9", "--set", "k.record=items.txt"], "<&- >&- 2>&-", place)
    run([str(place / "sim"), "--cycles", "9", "--quiet", "--set", "k.record=right.txt"], "", place)
    assert (place / "items.txt").read_text() == (place / "right.txt").read_text()
