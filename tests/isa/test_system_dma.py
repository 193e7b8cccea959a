"""The MIPS32 cores beside another writer to memory: their caches show what that wrote, in order for each word, and SC does not store when
a write to the line came after LL.  Out of order, loads take effect in the order of the program all the same."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.isa import system
from tests.isa.system_core import KSEG0_CACHED, boot

WRITES = 2000
SHARED = 0x00300000  # two lines: the processor's counter, and 15 words that the other one writes, each write a higher number
WRITER = f"""
runtime parameter interval = 20 : int;
instance writer : memory_source {{
  count = {WRITES}; interval = interval; outstanding = 4;
  generate = <<< return (typeof_port(memory_request)){{.op = mem_op_write, .size = 4, .address = {SHARED} + 4 * (1 + (uint32_t)(random % 15)), .data = index + 1}}; >>>;
}};
parameter shows = true : bool;
if (coherent) {{
  instance writer_port : coherent_port {{ line = 32; big_endian = big_endian; }};
  writer.memory -> writer_port.in;
  writer_port.bus -> system_bus.agent["writer"];
  if (checked) {{ writer_port.written -> core.snoop; }}
  if (wide > 0 && shows) {{ writer_port.written -> core.written; }}
}} else {{
  writer.memory -> bus.in;
  if (checked) {{ ram_bytes.snoop -> core.snoop; }}
  if (wide > 0 && shows) {{ ram_bytes.snoop -> core.written; }}
}}
"""
PROGRAM = f"""
.macro LI r, value
  lui \\r, (\\value) >> 16
  ori \\r, \\r, (\\value) & 0xffff
.endm
.macro EXIT status
  LI $t0, 0xbf000500
  addiu $t1, $zero, \\status
  sw $t1, 4($t0)
9: b 9b
  nop
.endm
.text
.globl __start
__start:
  LI $t0, 0x10000000
  mtc0 $t0, $12
  LI $s0, {SHARED | 0x80000000:#x}
  addiu $s1, $zero, 0
  addiu $s3, $zero, 1
  LI $s4, {WRITES}
again:
  ll $t0, 0($s0)
  addiu $t1, $t0, 1
  {{between}}
  sc $t1, 0($s0)
  beqz $t1, again
  addiu $s1, $s1, 1
  sll $t2, $s3, 2
  addu $t3, $s0, $t2
  lw $t4, 0($t3)
  lw $t5, 0x1000($t3)
  sltu $t6, $t4, $t5
  bnez $t6, older
  sw $t4, 0x1000($t3)
  addiu $s3, $s3, 1
  andi $t6, $s3, 15
  bnez $t6, more
  nop
  addiu $s3, $zero, 1
more:
  addiu $s2, $s2, 1
  bne $t4, $s4, again
  nop
  lw $t0, 0($s0)
  bne $t0, $s2, lost
  nop
  bne $s1, $s2, failed
  nop
  EXIT 1
failed:
  EXIT 0
older:
  EXIT 2
lost:
  EXIT 3
"""
MACHINES = [
    pytest.param(settings, id=" ".join(settings) or "plain", marks=marks)
    for settings, marks in (
        ((), pytest.mark.soak),
        (("checked=true",), pytest.mark.soak),
        (("coherent=true", "checked=true"), pytest.mark.soak),
        (("wide=4", "checked=true"), pytest.mark.soak),
        (("wide=4", "coherent=true", "checked=true"), pytest.mark.soak),
        (("wide=4", "coherent=true", "mshrs=8", "fetch_mshrs=4", "checked=true"), ()),
        (("cache_size=128KiB", "ways=2", "checked=true"), ()),
        (("cache_size=32KiB", "ways=2", "coherent=true", "checked=true"), pytest.mark.soak),
        (("cache_size=128KiB", "ways=2", "wide=4", "coherent=true", "mshrs=8", "checked=true"), pytest.mark.soak),
    )
]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    directory = tmp_path_factory.mktemp("dma")
    text = (root / "tests" / "isa" / "system_machine.lss").read_text()
    assert "tag % 4 == 1" in text, "of four lanes; with a fifth a lane takes three bits"
    text = text.replace("tag % 4 == 1", "tag % 8 == 1").replace("memory : 0 B;", "memory : 0 B; is_own_write = <<< return ${!coherent} && tag % 8 != 4; >>>;")
    (directory / "machine.lss").write_text(text + WRITER)
    return directory / "machine.lss"


def built(described: Path, build_dir: Path, *settings: str) -> Path:
    simulator = described.with_name(" ".join(settings) or "plain")
    subprocess.run([build_dir / "bin/lss", "build", described, *(word for one in settings for word in ("-D", one)), "-o", simulator], check=True)
    return simulator


@pytest.fixture(scope="module", params=MACHINES)
def machine(described: Path, request: pytest.FixtureRequest, build_dir: Path) -> Path:
    return built(described, build_dir, *request.param)


@pytest.mark.parametrize(("latency", "between"), [(1, "mul $t7, $t0, $t0"), *(pytest.param(latency, "", marks=pytest.mark.soak) for latency in (9, 40))])
def test_a_writer_beside_the_processor(latency: int, between: str, machine: Path, tmp_path: Path) -> None:
    """Exit status 1: no SC ever failed, so nothing was tried; 2: a word went back; 3: an increment was lost."""
    elf = system.assemble(system.HEAD + PROGRAM.replace("{between}", between), tmp_path / "x.elf", False)
    for seed, jitter in ((1, 0), (2, 30)):
        command = [machine, *boot(elf, tmp_path, False, KSEG0_CACHED), "--cycles", "2000000", "--seed", str(seed), "--set", f"delay.latency={latency}", "--set", f"delay.jitter={jitter}"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0 and "the program exited" in done.stderr, (seed, done.stderr)
        assert re.search(r"invalidations +[1-9]", done.stdout)


# The writer counts in one line, then in another; the program reads the second, at an address that takes a division, then the first.
IN_TURN = f".address = index % 2 ? {SHARED + 64} : {SHARED}, .data = index / 2 + 1"
READER = PROGRAM[: PROGRAM.index("again:")] + f"""
again:
  divu $zero, $t5, $s4
  mflo $t2
  addu $t2, $t2, $s0
  lw $t5, 64($t2)
  lw $t6, 0($s0)
  sltu $t7, $t6, $t5
  bnez $t7, older
  addiu $s2, $s2, 1
  addiu $t7, $zero, {WRITES // 2 - 100}
  sltu $t7, $t5, $t7
  bnez $t7, again
  nop
  EXIT 0
older:
  EXIT 2
"""


@pytest.mark.soak  # tests/isa/test_wide_system_contexts.py has message passing and load buffering
@pytest.mark.parametrize("caches", [pytest.param((), marks=pytest.mark.soak), pytest.param(("coherent=true",), marks=pytest.mark.soak), ("coherent=true", "mshrs=8")], ids=lambda caches: " ".join(caches) or "plain")
@pytest.mark.parametrize("shows", [True, False])
def test_loads_take_effect_in_order(shows: bool, caches: tuple[str, ...], described: Path, build_dir: Path, tmp_path: Path) -> None:
    """The second count is never ahead of the first, if the core is shown what others write; if not, it is seen to be."""
    text = described.read_text()
    wrong = re.sub(r"\.address = \d+ \+ [^,]*, \.data = index \+ 1", IN_TURN, text)
    assert wrong != text
    other = tmp_path / "machine.lss"
    other.write_text(wrong)
    simulator = built(other, build_dir, "wide=4", f"shows={str(shows).lower()}", *caches)
    elf, ends, anew = system.assemble(system.HEAD + READER, tmp_path / "x.elf", False), set(), 0
    for seed in range(1, 6):
        command = [simulator, *boot(elf, tmp_path, False, KSEG0_CACHED), "--cycles", "2000000", "--seed", str(seed), "--set", "delay.jitter=30", "--set", f"writer.interval={7 + 3 * seed}"]
        done = subprocess.run(command, capture_output=True, text=True)
        ends.add(done.returncode)
        anew += int((re.findall(r"^core\S* +anew +(\d+)", done.stdout, re.MULTILINE) or ["0"])[0])
    assert (ends == {0} and anew > 50) if shows else 2 in ends, (ends, anew)
