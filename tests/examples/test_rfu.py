"""examples/rfu_core: what the unit computes is right, in little more than half of the time; a core without it refuses its instruction."""

import re

import pytest

from tests.isa.programs import assemble


def internet_checksum(data: bytes) -> int:
    total = sum(int.from_bytes(data[n : n + 2], "big") for n in range(0, len(data), 2))
    while total >> 16:
        total = (total >> 16) + (total & 0xFFFF)
    return ~total & 0xFFFF


def frame(size: int) -> bytes:
    """What the program fills its frame with."""
    words, value = [], 1
    for _ in range(size // 4):
        value = value * 1664525 + 1013904223 & 0xFFFFFFFF
        words.append(value.to_bytes(4, "big"))
    return b"".join(words)


@pytest.fixture
def core(root, build_sim):
    return build_sim(root / "examples/rfu_core/rfu_core.lss")


def test_checksums(core, build_dir, run_sim) -> None:
    done = run_sim(core, "--program", build_dir / "firmware/checksum/checksum.elf")
    pattern = r"^(\d+) bytes: checksum (\d+), cycles without the unit (\d+), with it (\d+)$"
    rows = [tuple(map(int, row)) for row in re.findall(pattern, done.out, re.MULTILINE)]
    assert [row[0] for row in rows] == [64, 256, 576, 1472], done.out
    for size, checksum, without, with_unit in rows:
        assert checksum == internet_checksum(frame(size))
        assert with_unit < without
    assert rows[-1][3] < 0.55 * rows[-1][2]
    assert done.value("core.unit", "operations") == sum(size // 32 + 1 for size, *_ in rows)


# Nine sources produced right before the operation, by the ALU and by loads, its result used by the ALU, a branch, a store and itself,
# and branches behind it, which wait in decode while they are taken.
HAZARDS = """
  lui $s0, %hi(words)
  addiu $s0, $s0, %lo(words)
  addiu $t0, $zero, 1
  addiu $t1, $zero, 2
  addiu $t2, $zero, 3
  addiu $t3, $zero, 4
  lw $t4, 0($s0)
  lw $t5, 4($s0)
  addiu $t6, $zero, 7
  addiu $t8, $zero, 9
  lw $t7, 8($s0)
  mfc2 $v0, $0
  addiu $t9, $zero, 45
  bne $v0, $t9, bad
  mfc2 $t8, $0
  mfc2 $t8, $0
  addiu $v1, $t8, -36
  addiu $t9, $zero, 45
  bne $v1, $t9, bad
  nop
  mfc2 $t0, $0
  beq $t0, $zero, bad
  sw $t0, 12($s0)
  lw $t1, 12($s0)
  bne $t1, $t0, bad
  addiu $t9, $zero, 117
  bne $t1, $t9, bad
  nop
  mfc2 $zero, $0
  bne $zero, $zero, bad
  addiu $t4, $zero, 0
  beql $t4, $t9, bad
  mfc2 $s1, $0
  bne $s1, $zero, bad
  nop
  lw $t7, 8($s0)
  mfc2 $s2, $0
  b 1f
  addiu $s3, $zero, 1
  addiu $s3, $s3, 16
1: addiu $s3, $s3, 2
  mfc2 $s4, $0
  jal 2f
  addiu $s3, $s3, 4
  b bad
  nop
2: addiu $t9, $zero, 7
  bne $s3, $t9, bad
  nop
  EXIT 0
bad: EXIT 9
.data
words: .word 5, 6, 8, 0
"""


def test_hazards(core, run_sim, tmp_path) -> None:
    done = run_sim(core, "--program", assemble(HAZARDS, tmp_path / "x.elf", True, "device"), "--cycles", "10000")
    assert "the program exited" in done.err


TWO = """
  addiu $t0, $zero, 5
  addiu $s0, $zero, 40
  mfc2 $t1, $2
  mfc2 $t0, $0
  mfc2 $v0, $3
  mfc2 $v1, $1
  addiu $t9, $zero, 140
  bne $t1, $t9, bad
  addiu $t9, $zero, 10
  bne $t0, $t9, bad
  addiu $t9, $zero, 50
  bne $v0, $t9, bad
  addiu $t9, $zero, 19
  bne $v1, $t9, bad
  EXIT 0
bad: EXIT 9
"""


def test_two_units_with_operations_and_sources_of_their_own(root, build_sim, run_sim, tmp_path) -> None:
    """The second one reads what the first has just computed; what neither has is reserved."""
    pipeline = (root / "examples/rfu_core/rfu_pipeline.lss").read_text()
    for old, new in {
        "module rfu_pipeline {": "module two_pipeline {",
        "instance unit : rfu { sources; cycles; apply; };": """
  instance unit : rfu { sources; operations = 2; apply = <<< return operation ? in.v[0] + 9 : in.v[0] * 2; >>>; };
  instance more : rfu { sources = [16, 8]; first = 2; operations = 2; cycles = [3]; apply = <<< return operation ? in.v[0] + in.v[1] : in.v[0] + 100; >>>; };""",
        "instance recognize : rfu_decode;": "instance recognize : rfu_decode { operations = 4; };",
        "unit.out -> ex_mem.in;": "unit.out -> more.in;\n  more.out -> ex_mem.in;",
        "execute.memory, unit.memory;": "execute.memory, unit.memory, more.memory;",
        "execute.writeback, unit.writeback;": "execute.writeback, unit.writeback, more.writeback;",
    }.items():
        assert old in pipeline
        pipeline = pipeline.replace(old, new)
    (tmp_path / "two_pipeline.lss").write_text(pipeline)
    machine = (root / "examples/rfu_core/rfu_core.lss").read_text().replace("rfu_pipeline", "two_pipeline")
    (tmp_path / "two_core.lss").write_text(re.sub(r"sources = .*?\n  cycles = .*?;\n", "sources = [8];\n", machine, flags=re.DOTALL))
    program = assemble(TWO, tmp_path / "x.elf", True, "device")
    done = run_sim(build_sim(tmp_path / "two_core.lss"), "--program", program, "--cycles", "10000")
    assert "the program exited" in done.err
    assert (done.value("core.unit", "operations"), done.value("core.more", "operations")) == (2, 2)
    unknown = assemble("mfc2 $v0, $4\nEXIT 0\n", tmp_path / "y.elf", True, "device")
    assert "reserved instruction: pc 0x00400000" in run_sim(tmp_path / "sim1", "--program", unknown, ok=False).err


def test_the_pipeline_is_the_old_one_and_two_modules(root) -> None:
    used = {}
    for path in ("modules/core/mips/mips_pipeline.lss", "examples/rfu_core/rfu_pipeline.lss"):
        used[path] = sorted(re.findall(r"^  (?:instance|wraps) \w+ : (\w+)", (root / path).read_text(), re.MULTILINE))
    old, new = used.values()
    assert new == sorted([*old, "rfu", "rfu_decode"])


def test_a_core_without_the_unit_has_no_such_instruction(root, build_sim, run_sim, tmp_path) -> None:
    simulator = build_sim(root / "examples/single_core/single_core.lss")
    done = run_sim(simulator, "--program", assemble("X: mfc2 $v0, $0\nEXIT 0\n", tmp_path / "x.elf", True, "device"), ok=False)
    assert "reserved instruction: pc 0x00400000" in done.err
