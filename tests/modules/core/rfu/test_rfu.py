"""rfu: operations of up to nine registers, where their values come from, what they wait for, and what passes untouched."""

import random

import pytest

from tests.modules.harness import Bench, Device, collect, happened
from tests.modules.mips import IMPORTS, NO_DEST, bypass, encode, executed, failed, pack

M = 0xFFFFFFFF
SOURCES = [8, 9, 10, 11, 12, 13, 14, 15, 24]
BODY = """
  sources = [8, 9, 10, 11, 12, 13, 14, 15, 24];
  cycles = [1, 3];
  apply = <<<
    uint32_t sum = operation;
    for (int k = 0; k < 9; k++) sum = sum * 31 + in.v[k];
    return sum;
  >>>;
"""
PORTS = {"in": ("in", 1, "core_executed"), "out": ("out", 1, "core_executed"), "memory": ("in", 1, "core_bypass"), "writeback": ("in", 1, "core_bypass")}
NONE = bypass()


def apply(operation: int, values: list[int]) -> int:
    total = operation
    for value in values:
        total = total * 31 + value & M
    return total


def word(operation: int, rt: int) -> int:
    """mfc2 rt, operation"""
    return 0x12 << 26 | rt << 16 | operation << 11


def asked(operation: int, result: int = 7, rt: int = 2) -> str:
    """The unit's instruction, with a result: before it, what the ALU happened to give."""
    return executed(0x40, word(operation, rt), pack(dest=rt), result)


@pytest.fixture(scope="module")
def device(bench: Bench) -> Device:
    return Device(bench, "rfu", PORTS, BODY, IMPORTS, collect("dut", "operated(pc, operation, result)"))


def test_operands_are_the_newest_values(device: Device) -> None:
    """The copy, then what is being written back, then what is in the memory stage."""
    old, newer, newest = [0] * 9, [0] * 9, [0] * 9
    old[0], newer[0], newest[0] = 5, 6, 9
    later = [9, 0, 0, 0, 0, 0, 0, 0, 77]
    ran = device.check_table(f"""
        in         | memory                    | writeback                   | out                        | in.ack | out.ack
        {asked(0)} | {NONE}                    | {NONE}                      | {asked(0, 0)}              | 1      | 1
        .          | {NONE}                    | {bypass(8, value=5)}        | .                          | -      | 1
        {asked(0)} | {NONE}                    | {NONE}                      | {asked(0, apply(0, old))}  | 1      | 1
        {asked(0)} | {NONE}                    | {bypass(8, value=6)}        | {asked(0, apply(0, newer))} | 1     | 1
        {asked(0)} | {bypass(8, value=9)}      | {bypass(8, value=8)}        | {asked(0, apply(0, newest))} | 0    | 0
        {asked(0)} | {bypass(3, value=4)}      | {bypass(8, value=9)}        | {asked(0, apply(0, newest))} | 1    | 1
        .          | {NONE}                    | {bypass(24, value=77)}      | .                          | -      | 1
        {asked(0)} | {bypass(NO_DEST, value=1)} | {bypass(9 + 32, value=1)}  | {asked(0, apply(0, later))} | 1     | 1
    """)
    done = [(0, [0] * 9), (2, old), (3, newer), (5, newest), (7, later)]
    assert happened(ran, "operated") == [(cycle, 0x40, 0, apply(0, values)) for cycle, values in done]


def test_a_loaded_source_is_waited_for(device: Device) -> None:
    """While the load is in the memory stage nothing is offered; it comes from the write-back stage."""
    loaded = [0] * 9
    loaded[7] = 21
    ran = device.check_table(f"""
        in         | memory                       | writeback             | out                          | in.ack | out.ack
        {asked(0)} | {bypass(15, loads=True)}     | {NONE}                | .                            | 0      | 1
        {asked(0)} | {bypass(15, loads=True)}     | {NONE}                | .                            | 0      | 1
        {asked(0)} | {NONE}                       | {bypass(15, value=21)} | {asked(0, apply(0, loaded))} | 1      | 1
        {asked(0)} | {bypass(3, loads=True)}      | {NONE}                | {asked(0, apply(0, loaded))} | 1      | 1
    """)
    assert ran.stat("dut", "waits") == 2 and ran.stat("dut", "operations") == 2


def test_long_operations_stay(device: Device) -> None:
    done = asked(1, apply(1, [0] * 9))
    device.check_table(f"""
        in         | memory | writeback | out    | in.ack | out.ack
        {asked(1)} | {NONE} | {NONE}    | .      | 0      | 1
        {asked(1)} | {NONE} | {NONE}    | .      | 0      | 1
        {asked(1)} | {NONE} | {NONE}    | {done} | 0      | 0
        {asked(1)} | {NONE} | {NONE}    | {done} | 1      | 1
        {asked(1)} | {NONE} | {NONE}    | .      | 0      | 1
    """)


def test_an_operation_that_was_flushed_begins_anew(device: Device) -> None:
    done = asked(1, apply(1, [0] * 9))
    device.check_table(f"""
        in         | memory | writeback | out    | in.ack | out.ack
        {asked(1)} | {NONE} | {NONE}    | .      | 0      | 1
        {asked(1)} | {NONE} | {NONE}    | .      | 0      | 1
        .          | {NONE} | {NONE}    | .      | -      | 1
        {asked(1)} | {NONE} | {NONE}    | .      | 0      | 1
        {asked(1)} | {NONE} | {NONE}    | .      | 0      | 1
        {asked(1)} | {NONE} | {NONE}    | {done} | 1      | 1
    """)


def test_everything_else_passes(device: Device) -> None:
    """Other instructions, annulled ones and those that failed, in the same cycle."""
    others = [executed(4, encode("addu", 8, 9, 10), pack(dest=10), 12, 13), executed(8, word(1, 2), pack(annulled=1), 3),
              executed(12, word(1, 2), failed("reserved"), 4), executed(16, word(1, 2) | 1, pack(dest=2), 5)]  # fmt: skip
    rows = [f"{other} | {NONE} | {NONE} | {other} | 1 | 1" for other in others]
    device.check_table("in | memory | writeback | out | in.ack | out.ack\n" + "\n".join(rows))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_writes_and_operations(seed: int, bench: Bench, device: Device) -> None:
    """Against a register file of the test's own, under back-pressure."""
    r = random.Random(seed)
    registers = [0] * 32
    rows = ["in | memory | writeback | out"]
    for _ in range(300):
        written, coming = ((r.choice([*SOURCES, 3, NO_DEST]), r.getrandbits(32)) for _ in range(2))
        stages = f"{bypass(coming[0], value=coming[1])} | {bypass(written[0], value=written[1])}"
        if written[0] < 32:
            registers[written[0]] = written[1]
        values = [coming[1] if n == coming[0] else registers[n] for n in SOURCES]
        rows.append(f"{asked(0)} | {stages} | {asked(0, apply(0, values))}" if r.random() < 0.5 else f". | {stages} | .")
    device.check_table("\n".join(rows), {"out_sink[0].ready": 0.7})


@pytest.mark.parametrize(
    ("body", "message"),
    [("sources = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];", "1 to 9 source registers, not 10"), ("sources = [32];", "a register from 0 to 31, not 32"),
     ("sources = [1]; cycles = [0];", "at least one cycle")],
)  # fmt: skip
def test_wrong_configurations_are_refused(body: str, message: str, bench: Bench) -> None:
    text = f"{IMPORTS}\ninstance s : source; instance m[2] : source; instance k : sink;\n"
    text += f"instance unit : rfu {{ {body} apply = <<< return 0; >>>; }};\ns.out -> unit.in; m[0].out -> unit.memory; m[1].out -> unit.writeback; unit.out -> k.in;\n"
    assert message in bench.refuse(text)
