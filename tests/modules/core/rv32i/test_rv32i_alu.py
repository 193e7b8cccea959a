"""rv32i_alu: every operation on chosen and random operands, and the handshake of a combinational module."""

import random

import pytest

from tests.modules.harness import Bench, Device
from tests.modules.mips import IMPORTS, struct

M = 0xFFFFFFFF
PORTS = {"a": ("in", 1, "uint32"), "b": ("in", 1, "uint32"), "op": ("in", 1, "alu_op"), "out": ("out", 1, "uint32"), "flags": ("out", 1, "alu_flags")}


def signed(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x


OPERATIONS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b, "slt": lambda a, b: signed(a) < signed(b), "sltu": lambda a, b: a < b,
    "sll": lambda a, b: a << (b & 31), "srl": lambda a, b: a >> (b & 31), "sra": lambda a, b: signed(a) >> (b & 31),
    "nor": lambda a, b: b,
}  # fmt: skip


@pytest.fixture(scope="module")
def device(bench: Bench) -> Device:
    return Device(bench, "rv32i_alu", PORTS, "", IMPORTS)


@pytest.mark.parametrize("seed", [1, 2])
def test_operations(seed: int, device: Device) -> None:
    r = random.Random(seed)
    edges = [0, 1, 31, 32, 0x7FFFFFFF, 0x80000000, M]
    rows = ["a | b | op | out | flags"]
    for name, compute in OPERATIONS.items():
        for _ in range(30):
            a, b = (r.choice([*edges, r.getrandbits(32)]) for _ in range(2))
            result = int(compute(a, b)) & M
            flags = struct(zero=result == 0, negative=bool(result >> 31), carry=False, overflow=False)
            rows.append(f"{a} | {b} | {name} | {result} | {flags}")
    device.check_table("\n".join(rows))


def test_handshake(device: Device) -> None:
    """Nothing without all operands; the result is cancelled with any of them, and refused with the receiver."""
    device.check_table("""
        a  | b  | op   | out | out.enable | out.ack | flags.ack | a.ack | b.ack | op.ack
        .  | 2  | add  | .   | -          | 1       | 1         | -     | -     | -
        1  | .  | add  | .   | -          | 1       | 1         | -     | -     | -
        1  | 2  | .    | .   | -          | 1       | 1         | -     | -     | -
        1  | 2  | add  | 3   | 1          | 1       | 1         | 1     | 1     | 1
        1! | 2  | add  | 3   | 0          | 1       | 1         | 1     | 1     | 1
        1  | 2  | add! | 3   | 0          | 1       | 1         | 1     | 1     | 1
        1  | 2  | add  | 3   | -          | 0       | 1         | 0     | 0     | 0
        1  | 2  | sub  | 4294967295 | -   | 1       | 0         | 0     | 0     | 0
    """)


def test_an_unknown_operation_stops_the_run(bench: Bench, device: Device) -> None:
    files = {"a.txt": "0 1 once\n", "b.txt": "0 2 once\n", "op.txt": "0 divide once\n"}
    values = {f"{name}_source[0].script": f"{name}.txt" for name in ("a", "b", "op")}
    ran = bench.run(device.simulator, 3, values, ok=False, files=files)
    assert "the RV32I ALU has no operation 13" in ran.err
