"""The functional system on bare-metal programs: directed cases with expected values, and the same on qemu."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.console_scripts import WRONG_LINES
from tests.isa import system
from tests.isa.system_cases import all_cases

BYTE_ORDERS = pytest.mark.parametrize("big", [True, False], ids=["big", "little"])


@BYTE_ORDERS
def test_directed_cases(big: bool, build_dir: Path, tmp_path: Path):
    cases = all_cases()
    elf = system.build(cases, tmp_path / "cases.elf", big)
    done = system.on_oracle(elf, big, build_dir, "--limit", "10000000")
    assert (done.returncode, done.stderr) == (0, "")
    shown = [system.on_oracle(elf, big, build_dir, "--counts", "--registers", *how).stdout for how in ([], ["--interpret"])]
    assert shown[0] == shown[1]
    labels = system.labels_of(elf)
    wrong = system.differences(cases, system.records(done.stdout, len(cases)), [system.expected(n, case, labels) for n, case in enumerate(cases)])
    assert not wrong, f"{len(wrong)} of {len(cases)} cases:\n" + "\n".join(wrong)


@pytest.mark.skipif(not system.qemu_is_there(), reason="qemu-system-mips and qemu-system-mipsel are not installed")
@BYTE_ORDERS
def test_directed_cases_on_qemu(big: bool, tmp_path: Path):
    cases = [case for case in all_cases() if case.qemu]
    elf = system.build(cases, tmp_path / "cases.elf", big)
    done = system.on_qemu(elf, big)
    assert done.returncode == 0, done.stderr
    labels = system.labels_of(elf)
    wrong = system.differences(cases, system.records(done.stdout, len(cases)), [system.expected(n, case, labels) for n, case in enumerate(cases)])
    assert not wrong, f"{len(wrong)} of {len(cases)} cases:\n" + "\n".join(wrong)


def test_the_documentation_lists_the_registers(root: Path):
    text = (root / "emulib/mips/cp0.def").read_text() + (root / "emulib/mips/mt.def").read_text()
    table = re.findall(r'^  X\((\w+), (\d+), (\d+), (.*?), (.*?), "(.*)"\) *\\?$', text, re.MULTILINE)
    rows = [f"| {number}.{select} | {name} | `{reset}` | `{writable}` | {text} |" for name, number, select, reset, writable, text in table]
    missing = [row for row in rows if row not in (root / "docs/mips.md").read_text()]
    assert len(rows) > 40 and not missing


def test_the_help_leads_here(build_dir: Path):
    shown = subprocess.run([build_dir / "bin" / "mips-oracle", "--help"], capture_output=True, text=True, check=True).stdout
    assert "mips-oracle --system --help" in shown
    shown = subprocess.run([build_dir / "bin" / "mips-oracle", "--system", "--help"], capture_output=True, text=True, check=True).stdout
    assert all(option in shown for option in ("--dtb", "--initramfs", "--memory", "--console-script", "--trace"))


def end(status: int) -> str:
    """Code that ends a run."""
    return f"LI $t0, 0xbf000000\nLI $t1, {status}\nsb $t1, 0x504($t0)\nLI $t1, 0x42\nsb $t1, 0x500($t0)\n9: b 9b\nnop\n"


def bare(text: str, output: Path, big: bool = False) -> Path:
    return system.assemble(system.HEAD + system.START + text, output, big)


@BYTE_ORDERS
def test_the_program_gives_the_exit_status(big: bool, build_dir: Path, tmp_path: Path):
    done = system.on_oracle(bare(end(7), tmp_path / "x.elf", big), big, build_dir, "--counts")
    assert (done.returncode, done.stderr) == (7, "") and "instructions  10\n" in done.stdout


def test_a_wait_for_nothing_ends(build_dir: Path, tmp_path: Path):
    done = system.on_oracle(bare("wait\nX: nop\n", tmp_path / "x.elf"), False, build_dir)
    assert done.returncode == 125
    assert re.search(r"x\.elf: waits at 0x8010\w+ <X\+0x0> .*for an interrupt that never comes$", done.stderr.rstrip()), done.stderr


ECHO = """
  LI $t0, 0xbf000000
  LI $t1, 1
  sb $t1, 0x908($t0)
  LI $t1, 0x10001000
  mtc0 $t1, $12
  addiu $t1, $zero, 62
  sb $t1, 0x900($t0)
1: wait
  lbu $t1, 0x928($t0)
  andi $t1, $t1, 1
  beqz $t1, 1b
  lbu $t1, 0x900($t0)
  sb $t1, 0x900($t0)
  addiu $t2, $t1, -113
  bnez $t2, 1b
  nop
"""


def test_a_console_script_types(build_dir: Path, tmp_path: Path):
    """The program prints '>' and what is typed, up to a q; it waits for each character, which takes 160 * 200e6 / 3686400 cycles."""
    elf, script = bare(ECHO + end(0), tmp_path / "x.elf"), tmp_path / "script"
    script.write_text('# types\nwait ">"\nsend "ab\\tb"\n\nwait "\\tb"\nafter 1 ms\nsend "q"\n')
    done = system.on_oracle(elf, False, build_dir, "--console-script", str(script), "--counts")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(">ab\tbq")
    cycles = int(re.search(r"idle cycles +(\d+)", done.stdout)[1]) + int(re.search(r"instructions +(\d+)", done.stdout)[1])
    assert 0 <= cycles - 200000 - 5 * 160 * 200e6 / 3686400 < 200
    script.write_text('wait ">"\nsend "a"\n')
    assert system.on_oracle(elf, False, build_dir, "--console-script", str(script)).returncode == 125


def test_a_script_waits_for_what_is_printed_in_order(build_dir: Path, tmp_path: Path):
    """A text may begin within another beginning of itself, and be printed before the script comes to wait for it."""
    elf, script = bare(ECHO + end(0), tmp_path / "x.elf"), tmp_path / "script"
    for lines in ('wait ">"\nsend "abaabab"\nwait "abab"\nsend "q"', 'send "xyz"\nwait "x"\nwait "yz"\nsend "q"', 'send "xyz"\nafter 1 ms\nwait "y"\nsend "xq"'):
        script.write_text(lines)
        done = system.on_oracle(elf, False, build_dir, "--console-script", str(script))
        assert done.returncode == 0, (lines, done)
    script.write_text('send "xyz"\nwait "yz"\nwait "y"\nsend "q"\n')
    assert system.on_oracle(elf, False, build_dir, "--console-script", str(script)).returncode == 125


@pytest.mark.parametrize(("line", "why"), WRONG_LINES)
def test_a_console_script_that_is_wrong(line: str, why: str, build_dir: Path, tmp_path: Path):
    script = tmp_path / "script"
    script.write_text(f'wait "a"\n{line}\n')
    done = system.on_oracle(bare(end(0), tmp_path / "x.elf"), False, build_dir, "--console-script", str(script))
    assert done.returncode == 2
    assert done.stderr == f"mips-oracle: {script}:2: {why}\n"


def test_a_trace(build_dir: Path, tmp_path: Path):
    code = "LI $t0, 0x80200000\nLI $t1, 0x1234\nsh $t1, 2($t0)\nLA $s7, 1f\nsyscall\n1: nop\n" + end(0)
    elf, trace = bare(code, tmp_path / "x.elf"), tmp_path / "trace"
    done = system.on_oracle(elf, False, build_dir, "--trace", str(trace))
    assert done.returncode == 0, done.stderr
    lines = trace.read_text().splitlines()
    first = next(n for n, line in enumerate(lines) if " sh " in line)
    assert lines[first - 1].endswith(" ori $t1, $t1, 0x1234  $t1 = 0x00001234")
    assert lines[first].endswith(" sh $t1, 2($t0)  [0x80200002] = 0x1234")
    assert lines[first + 3].endswith(" syscall  exception 8") and lines[first + 4].startswith("0xbfc00380 ")
    done = system.on_oracle(elf, False, build_dir, "--trace", "/nowhere/trace")
    assert (done.returncode, done.stderr) == (2, "mips-oracle: cannot write /nowhere/trace: No such file or directory\n")


def test_a_limit_ends_a_run(build_dir: Path, tmp_path: Path):
    elf = bare("1: b 1b\nnop\n", tmp_path / "x.elf")
    done = system.on_oracle(elf, False, build_dir, "--counts", "--limit", "1001")
    assert done.returncode == 124 and "instructions  1001\n" in done.stdout


@BYTE_ORDERS
def test_devices(big: bool, build_dir: Path, tmp_path: Path):
    """The clock's first second, an absent PCI function, an empty virtio slot, the UART's line status, in words of both orders."""
    reads = {"0x1f0017f8": 0x20, "0x1f0017ff": 0x26, "0x1f001000": 0, "0x1f002000": 0, "0x1b000001": 0xFF, "0x1f000928": 0x60}
    text = "".join(f"LI $t0, {int(a, 16) | 0xA0000000:#x}\nlbu $t1, 0($t0)\nRECORD $t1\n" for a in reads)
    store = "LI $t0, 0xbf001010\nLI $t1, 0x12345678\nsw $t1, 0($t0)\nlbu $t1, 0($t0)\nRECORD $t1\nlhu $t1, 2($t0)\nRECORD $t1\n"
    elf = bare(text + store + system.END, tmp_path / "x.elf", big)
    done = system.on_oracle(elf, big, build_dir, "--limit", "100000")
    assert done.returncode == 0
    assert [int(word, 16) for word in done.stdout.split()] == [*reads.values(), *((0x12, 0x5678) if big else (0x78, 0x1234))]


@pytest.mark.parametrize(("words", "message"), [
    ([], "one program is expected; see mips-oracle --system --help"),
    (["--memory", "3GB", "x"], "--memory 3GB: expected whole MiB, 1 MiB to 256 MiB"),
    (["--memory", "512MiB", "x"], "--memory 512MiB: expected whole MiB, 1 MiB to 256 MiB"),
    (["x"], 'cannot read program "x": No such file or directory'),
    (["--big-endian", "{elf}"], "{elf} is little-endian, the machine is not: leave out --big-endian"),
    (["--dtb", "none", "{elf}"], "cannot read none: No such file or directory"),
    (["--memory", "1MiB", "{elf}"], "{elf}: a segment: N bytes at physical address 0x00100000 are not within RAM of 1 MiB or the boot ROM"),
    (["--memory", "16MiB", "--initramfs", "{elf}", "{elf}"], "{elf}: the file system: N bytes at physical address 0x02000000 are not within RAM of 16 MiB or the boot ROM"),
])  # fmt: skip
def test_what_is_wrong_is_said_in_a_line(words: list[str], message: str, build_dir: Path, tmp_path: Path):
    elf = bare(end(0), tmp_path / "x.elf")
    command = [build_dir / "bin" / "mips-oracle", "--system", *(word.format(elf=elf) for word in words)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.sub(r"\d+ bytes", "N bytes", done.stderr) == f"mips-oracle: {message.format(elf=elf)}\n"
