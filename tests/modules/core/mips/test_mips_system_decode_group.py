"""mips_system_decode_group: what system control executes, with its operands; what is executed alone because of memory's order."""

import pytest

from tests.modules.harness import Bench
from tests.modules.mips import encode
from tests.modules.wide import Wide

PORTS = {"in": ("in", 1, "word_group(4)"), "out": ("out", 1, "op_group(12)")}
# Fields rs, rt, rd of the word; why it cannot be committed like others, the registers read and written.
SERIAL = {
    "mfc0": ((0, 9, 12), "system", [0, 0, 0], 9),
    "mtc0": ((0, 9, 12), "system", [0, 9, 0], 0),
    "di": ((0, 9, 12), "system", [0, 0, 0], 9),
    "rdhwr": ((0, 9, 2), "system", [0, 0, 0], 9),
    "rdpgpr": ((0, 9, 10), "system", [0, 9, 0], 10),
    "cache": ((8, 1, 0), "system", [8, 0, 0], 0),
    "synci": ((8, 0, 0), "system", [8, 0, 0], 0),
    "eret": ((0, 0, 0), "system", [0, 0, 0], 0),
    "tlbwr": ((0, 0, 0), "system", [0, 0, 0], 0),
    "wait": ((0, 0, 0), "system", [0, 0, 0], 0),
    "sync": ((0, 0, 0), "serial", [0, 0, 0], 0),
    "ll": ((8, 9, 0), "serial", [8, 0, 0], 9),
    "sc": ((8, 9, 0), "serial", [8, 9, 0], 9),
    "lwc1": ((8, 9, 0), "coprocessor", [0, 0, 0], 0),
    "syscall": ((0, 0, 0), "syscall", [0, 0, 0], 0),
}


def decode_alone(bench: Bench, module: str, name: str, fields: tuple[int, ...], trap: str, source: list[int], dest: int) -> None:
    device = Wide(bench, module, PORTS)
    word, add = encode(name, *fields), encode("add", 8, 9, 10)
    group = device.play({"in": {0: {"count": 2, "pc": 64, "word": [word, add]}}}, 1)["out"][0]
    one, other = group["op"][:2]
    assert group["count"] == 2
    assert (one["control"], one["source"], one["dest"]) == ({"kind": "none", "trap": trap}, source, dest)
    assert one["needs"] == ({"dest": 1} if dest else {}) and one["word"] == word
    assert other["control"] == {"trap": "overflow"}, "what is no matter of the system is decoded as without"


@pytest.mark.parametrize("name", SERIAL)
def test_what_is_executed_alone(name: str, bench: Bench) -> None:
    decode_alone(bench, "mips_system_decode_group", name, *SERIAL[name])


@pytest.mark.parametrize("name", ["mftr", "dvpe", "fork", "yield"])
def test_threads_are_reserved(name: str, bench: Bench) -> None:
    decode_alone(bench, "mips_system_decode_group", name, (8, 9, 10), "reserved", [0, 0, 0], 0)
