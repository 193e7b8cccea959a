"""rfu_decode: the unit's instructions become instructions with a result, everything else passes as it is."""

import random

import pytest

from tests.modules.harness import Bench, Device
from tests.modules.mips import IMPORTS, encode, failed, pack, struct


@pytest.fixture(scope="module")
def device(bench: Bench) -> Device:
    return Device(bench, "rfu_decode", {"in": ("in", 1, "core_decoded"), "out": ("out", 1, "core_decoded")}, "", IMPORTS)


def item(word: int, control: str, pc: int = 8) -> str:
    return struct(pc=pc, word=word, control=control, immediate=word & 0xFFFF, fresh=True)


def mfc2(rt: int, operation: int) -> int:
    return 0x12 << 26 | rt << 16 | operation << 11


def test_what_it_recognizes(device: Device) -> None:
    reserved = failed("reserved")
    rows = ["in | out | in.ack | out.ack"]
    r = random.Random(3)
    for rt in (2, 31, *r.sample(range(1, 32), 8)):
        word = mfc2(rt, r.randrange(32))
        rows.append(f"{item(word, reserved)} | {item(word, pack(dest=rt))} | 1 | 1")
    nothing = mfc2(0, 3)
    rows.append(f"{item(nothing, reserved)} | {item(nothing, pack())} | 1 | 1")
    device.check_table("\n".join(rows))


def test_what_passes(device: Device) -> None:
    """Reserved words of others, what could not be fetched, ordinary instructions; refused and cancelled items."""
    addu, word = encode("addu", 1, 2, 3), mfc2(2, 1)
    unchanged = [item(addu, pack(rs=1, rt=2, dest=3)), item(word, failed("fetch")), item(word | 1, failed("reserved")), item(0x7C000000, failed("reserved"))]
    rows = [f"{one} | {one} | - | 1 | 1" for one in unchanged]
    other = item(addu, pack(alu="nor"))
    rows += [f"{other} | {other} | - | 0 | 0", f"{other}! | {other} | 0 | 1 | 1"]
    device.check_table("in | out | out.enable | in.ack | out.ack\n" + "\n".join(rows))
