"""program_start: sets every processor's program counter once, to the program's entry, and lets it go."""

from pathlib import Path

from tests.isa.programs import assemble
from tests.modules.harness import MOST_CHECKED, Bench, Device, read_items
from tests.modules.mips import struct


def starter(bench: Bench, lanes: int = 1) -> Device:
    return Device(bench, "program_start", {"control": ("out", lanes, "core_control")}, before="import core_types;")


def go(pc: int) -> str:
    return struct(set_halt=True, halt=False, set_pc=True, pc=pc, step=False, flush=False)


def test_one_command_and_no_more(bench: Bench) -> None:
    starter(bench).check_table(f"control\n{go(0x40)}\n.\n.", {"dut.entry": 0x40})


def test_the_command_waits_until_it_is_taken(bench: Bench) -> None:
    starter(bench, 2).check_table(
        f"""
        control[0] | control[0].ack | control[1] | control[1].ack
        {go(0)}    | 0              | {go(0)}    | 1
        {go(0)}    | 1              | .          | 1
        .          | 1              | .          | 1
        """,
        {"dut.entry": 0},
    )


def test_a_machine_that_sleeps_at_once_has_got_its_command(bench: Bench) -> None:
    """The first cycle is stepped although nobody names it; the run is too long to be checked cycle for cycle, and jumps."""
    settings = {"dut.entry": 0x40, "control_sink[0].record": "taken.txt"}
    ran = bench.run(starter(bench).simulator, 2 * MOST_CHECKED, settings)
    assert read_items(ran.directory / "taken.txt") == [(0, go(0x40))]
    assert ran.stats["run"]["skipped_cycles"] > MOST_CHECKED


def test_neither_program_nor_entry_is_refused(bench: Bench) -> None:
    error = bench.run(starter(bench).simulator, 5, ok=False).err
    assert "set `program` to its ELF file, or `entry` to the address at which the processors start" in error


def test_the_entry_of_a_program(bench: Bench, tmp_path: Path) -> None:
    for big in (True, False):
        elf = assemble("nop\n", tmp_path / "x.elf", big, "device")
        starter(bench).check_table(f"control\n{go(0x400000)}\n.", {"dut.program": elf})


def test_a_program_for_a_newer_instruction_set_is_refused(bench: Bench, tmp_path: Path) -> None:
    elf = assemble("nop\n", tmp_path / "x.elf", True, "device", "mips32")
    error = bench.run(starter(bench).simulator, 5, {"dut.program": elf}, ok=False).err
    assert "say MIPS32 code, the processors execute up to mips2: build with -mips2" in error
    newer = Device(bench, "program_start", {"control": ("out", 1, "core_control")}, 'set = "mips32r2";', before="import core_types;")
    newer.check_table(f"control\n{go(0x400000)}\n.", {"dut.program": elf})


def test_what_is_no_program_is_refused(bench: Bench, tmp_path: Path) -> None:
    device = starter(bench)
    text = tmp_path / "text.elf"
    text.write_bytes(b"\x7fELF, but no more than that")
    assert "text.elf: truncated" in bench.run(device.simulator, 5, {"dut.program": text}, ok=False).err
    assert "none.elf" in bench.run(device.simulator, 5, {"dut.program": tmp_path / "none.elf"}, ok=False).err


def test_programs_of_several_processors(bench: Bench, tmp_path: Path) -> None:
    """With a comma between them; those that are left out are the last."""
    first, second = (assemble(text, tmp_path / name, True, "device") for text, name in (("nop\n", "a.elf"), ("nop\nnop\n", "b.elf")))
    moved = bytearray(second.read_bytes())
    moved[24:28] = (0x400004).to_bytes(4, "big")  # e_entry
    second.write_bytes(moved)
    device = Device(bench, "program_start", {"control": ("out", 3, "core_control")}, "several = true;", before="import core_types;")
    device.check_table(f"control[0] | control[1] | control[2]\n{go(0x400000)} | {go(0x400004)} | {go(0x400004)}", {"dut.program": f"{first},{second}"})
