"""slot_interlock: issue is shown what concerns the instruction in hand, and branches only where there is a branch unit."""

import pytest

from tests.modules.harness import Bench, Device
from tests.modules.mips import IMPORTS, NO_DEST, NO_SOURCE, bypass, encode, failed, pack, struct

PORTS = {"in": ("in", 1, "core_decoded"), "out": ("out", 1, "core_decoded"), "execute": ("in", 2, "core_bypass"), "memory": ("in", 2, "core_bypass"),
         "executing": ("out", 1, "core_bypass"), "referring": ("out", 1, "core_bypass")}  # fmt: skip
NONE = bypass()


def item(control: str) -> str:
    return struct(pc=8, word=encode("addu", 3, 4, 5), control=control, immediate=7, fresh=False)


@pytest.fixture(scope="module")
def device(bench: Bench) -> Device:
    return Device(bench, "slot_interlock", PORTS, "", IMPORTS)


def test_what_it_shows(device: Device) -> None:
    """In execute a load before another result; in the memory stage the later slot's of one register, and two registers as a load."""
    one, other = bypass(3, value=30), bypass(4, value=40)
    load, conflict = bypass(4, loads=True), bypass(4, loads=True, value=40)
    in_hand = item(pack(rs=3, rt=4, dest=5))
    rows = [
        (in_hand, NONE, NONE, NONE, NONE, NONE, NONE),
        (in_hand, one, NONE, NONE, NONE, one, NONE),
        (in_hand, NONE, other, NONE, NONE, other, NONE),
        (in_hand, one, load, NONE, NONE, load, NONE),
        (in_hand, load, one, NONE, NONE, load, NONE),
        (in_hand, bypass(5, loads=True), bypass(6), bypass(5), bypass(6), NONE, NONE),
        (in_hand, NONE, NONE, one, NONE, NONE, one),
        (in_hand, NONE, NONE, bypass(3, value=1), one, NONE, one),
        (in_hand, NONE, NONE, one, other, NONE, conflict),
        (in_hand, NONE, NONE, bypass(3, loads=True), NONE, NONE, bypass(3, loads=True)),
        (item(pack(rs=3, rt=3)), NONE, NONE, one, other, NONE, one),
        (item(pack(rs=NO_SOURCE, rt=NO_SOURCE)), bypass(NO_DEST), NONE, bypass(NO_DEST), NONE, NONE, NONE),
    ]
    table = ["in | execute[0] | execute[1] | memory[0] | memory[1] | executing | referring | out | in.ack"]
    table += [" | ".join([*row, row[0], "1"]) for row in rows]
    device.check_table("\n".join(table))


def test_handshake(device: Device) -> None:
    """The instruction is refused with issue, what it shows is not."""
    in_hand = item(pack(rs=3, rt=4))
    device.check_table(f"""
        in         | execute[0] | execute[1] | memory[0] | memory[1] | out        | in.ack | execute[0].ack | memory[1].ack | out.ack
        {in_hand}  | {NONE}     | {NONE}     | {NONE}    | {NONE}    | {in_hand}  | 0      | 1              | 1             | 0
        {in_hand}  | {NONE}     | {NONE}     | {NONE}    | {NONE}    | {in_hand}  | 1      | 1              | 1             | 1
        .          | {NONE}     | {NONE}     | {NONE}    | {NONE}    | .          | 1      | 1              | 1             | 1
    """)


@pytest.mark.parametrize("branch", ["eq", "jump", "register"])
def test_a_slot_without_branch_unit(branch: str, bench: Bench, device: Device) -> None:
    control = pack(branch=branch, rs=3)
    without = Device(bench, "slot_interlock", PORTS, "branches = false;", IMPORTS)
    rows = "in | execute[0] | execute[1] | memory[0] | memory[1] | out\n"
    stages = " | ".join([NONE] * 4)
    device.check_table(rows + f"{item(control)} | {stages} | {item(control)}")
    plain = item(pack(rs=3, dest=2))
    without.check_table(rows + f"{item(control)} | {stages} | {item(failed('reserved'))}\n{plain} | {stages} | {plain}")
