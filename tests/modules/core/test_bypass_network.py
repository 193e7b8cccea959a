"""bypass_network: operands get their newest values from all slots, and nothing behind forwards again."""

import random

import pytest

from tests.modules.harness import Bench, Device
from tests.modules.mips import IMPORTS, NO_DEST, NO_SOURCE, bypass, issued, pack

PORTS = {"in": ("in", 1, "core_issued"), "out": ("out", 1, "core_issued"), "memory": ("in", 2, "core_bypass"), "writeback": ("in", 2, "core_bypass")}
NONE = bypass()


@pytest.fixture(scope="module")
def device(bench: Bench) -> Device:
    return Device(bench, "bypass_network", PORTS, "", IMPORTS)


def item(rs: int, rt: int, a: int, b: int) -> str:
    return issued(4, 5, pack(alu=1, rs=rs, rt=rt, dest=9), 6, a, b)


def left(a: int, b: int) -> str:
    return issued(4, 5, pack(alu=1, dest=9), 6, a, b)


def test_newest_first_and_the_later_slot_of_a_bundle(device: Device) -> None:
    old, new = bypass(3, value=30), bypass(3, value=31)
    device.check_table(f"""
        in                | memory[0] | memory[1] | writeback[0]         | writeback[1] | out           | in.ack | out.ack
        {item(3, 4, 1, 2)} | {NONE}   | {NONE}    | {NONE}               | {NONE}       | {left(1, 2)}  | 1      | 1
        {item(3, 4, 1, 2)} | {NONE}   | {NONE}    | {old}                | {NONE}       | {left(30, 2)} | 1      | 1
        {item(3, 4, 1, 2)} | {NONE}   | {NONE}    | {old}                | {new}        | {left(31, 2)} | 1      | 1
        {item(3, 4, 1, 2)} | {new}    | {NONE}    | {NONE}               | {old}        | {left(31, 2)} | 1      | 1
        {item(3, 4, 1, 2)} | {old}    | {new}     | {NONE}               | {NONE}       | {left(31, 2)} | 0      | 0
        {item(4, 3, 1, 2)} | {old}    | {NONE}    | {bypass(4, value=8)} | {new}        | {left(8, 30)} | 1      | 1
        {item(3, 3, 1, 2)} | {NONE}   | {old}     | {new}                | {NONE}       | {left(30, 30)} | 1     | 1
        {item(NO_SOURCE, NO_SOURCE, 1, 2)} | {bypass(NO_DEST, value=7)} | {NONE} | {NONE} | {NONE} | {left(1, 2)} | 1 | 1
    """)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_stages(seed: int, device: Device) -> None:
    r = random.Random(seed)
    rows = ["in | memory[0] | memory[1] | writeback[0] | writeback[1] | out"]
    for _ in range(200):
        sources = [r.choice([1, 2, 3, NO_SOURCE]) for _ in range(2)]
        operands = [r.getrandbits(32) for _ in range(2)]
        stages = [(r.choice([1, 2, 3, NO_DEST]), r.getrandbits(32)) for _ in range(4)]  # memory, then write-back
        newest = [stages[1], stages[0], stages[3], stages[2]]
        values = [next((value for dest, value in newest if dest == source), operand) for source, operand in zip(sources, operands)]
        shown = " | ".join(bypass(dest, value=value) for dest, value in stages)
        rows.append(f"{item(*sources, *operands)} | {shown} | {left(*values)}")
    device.check_table("\n".join(rows))
