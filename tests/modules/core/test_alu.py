"""alu: results and condition codes for integers of every width and for floating point; handshake within the cycle."""

import pytest

from tests.modules.harness import Bench, Device
from tests.sample import sampled, seldom

M32 = 0xFFFFFFFF
M64 = 0xFFFFFFFFFFFFFFFF


def alu(bench: Bench, kind: str, flags: bool = True) -> Device:
    ports = {"a": ("in", 1, kind), "b": ("in", 1, kind), "op": ("in", 1, "alu_op"), "out": ("out", 1, kind)}
    if flags:
        ports["flags"] = ("out", 1, "alu_flags")
    return Device(bench, "alu", ports, before="import core_types;")


def codes(text: str) -> str:
    """ "z o" is zero and overflow."""
    names = {"z": "zero", "n": "negative", "c": "carry", "o": "overflow"}
    return "{" + " ".join(f"{name}={str(letter in text).lower()}" for letter, name in names.items()) + "}"


# kind: (a, b, operation, result, condition codes)
ROWS = {
    "uint32": [
        (3, 4, "add", 7, ""), (M32, 1, "add", 0, "zc"), (0x7FFFFFFF, 1, "add", 0x80000000, "no"),
        (0x80000000, 0x80000000, "add", 0, "zco"), (3, 4, "sub", M32, "n"), (4, 3, "sub", 1, "c"),
        (0x80000000, 1, "sub", 0x7FFFFFFF, "co"), (5, 5, "sub", 0, "zc"), (0xF0, 0x3C, "and", 0x30, ""),
        (0xF0, 0x3C, "or", 0xFC, ""), (0xF0, 0x3C, "xor", 0xCC, ""), (0xF0, 0x3C, "nor", 0xFFFFFF03, "n"),
        (M32, 0, "slt", 1, ""), (M32, 0, "sltu", 0, "z"), (0, M32, "sltu", 1, ""), (1, 31, "sll", 0x80000000, "n"),
        (1, 33, "sll", 2, ""), (0x80000000, 31, "srl", 1, ""), (0x80000000, 31, "sra", M32, "n"),
        (0x40000000, 30, "sra", 1, ""), (0x60, 0x20, "priority", 6, ""), (M32, M32, "priority", 32, ""),
        (1, 2, "priority", 0, "z"), (7, 6, "multiply", 42, ""), (43, 6, "divide", 7, ""), (43, 0, "divide", M32, "n"),
        (0, 9, "clz", 32, ""), (1, 9, "clz", 31, ""), (M32, 0, "clz", 0, "z"), (0x00800000, 0, "clz", 8, ""), (0, 0, "clo", 0, "z"),
        (M32, 0, "clo", 32, ""), (0xFF000000, 0, "clo", 8, ""), (0x7FFFFFFF, 0, "clo", 0, "z"), (0x180, 7, "seb", 0xFFFFFF80, "n"),
        (0xFF7F, 7, "seb", 0x7F, ""), (0x18000, 7, "seh", 0xFFFF8000, "n"), (0xFFFF7FFF, 7, "seh", 0x7FFF, ""),
        (0x12345678, 7, "wsbh", 0x34127856, ""), (0x12345678, 8, "rotr", 0x78123456, ""), (1, 1, "rotr", 0x80000000, "n"),
        (0x12345678, 32, "rotr", 0x12345678, ""), (0x12345678, 9, "ext", 0x12345678, ""), (9, 0x12345678, "ins", 9, ""),
    ],
    "uint8": [
        (255, 1, "add", 0, "zc"), (127, 1, "add", 128, "no"), (128, 7, "sra", 255, "n"), (128, 127, "slt", 1, ""),
        (1, 9, "sll", 2, ""), (15, 240, "nor", 0, "z"), (20, 20, "multiply", 144, "n"), (1, 0, "clz", 7, ""), (0xF0, 0, "clo", 4, ""),
        (0x81, 1, "rotr", 0xC0, "n"), (0x81, 1, "seb", 0x81, "n"),
    ],
    "uint16": [(0xFFFF, 1, "add", 0, "zc"), (0x8000, 0x7FFF, "slt", 1, ""), (0x8000, 15, "srl", 1, "")],
    "uint64": [
        (M64, 1, "add", 0, "zc"), (1, 63, "sll", 1 << 63, "n"), (1 << 63, 63, "sra", M64, "n"), (M64, 0, "slt", 1, ""),
        (M64, 0, "sltu", 0, "z"), (1 << 63, M64, "priority", 64, ""), (0, 0, "clz", 64, ""), (M64, 0, "clo", 64, ""), (1, 1, "rotr", 1 << 63, "n"),
        (0x8000, 0, "seh", M64 - 0x7FFF, "n"), (0x0123456789ABCDEF, 0, "wsbh", 0x23016745AB89EFCD, ""),
    ],
    "int32": [(-5, 3, "add", -2, "n"), (-5, 3, "slt", 1, ""), (-8, 1, "sra", -4, "n"), (-8, 28, "srl", 15, "")],
    "float32": [
        (1.5, 2.25, "add", 3.75, ""), (1.5, 2.25, "sub", -0.75, "n"), (1.5, 1.5, "sub", 0, "z"),
        (1.5, 2.25, "slt", 1, ""), (2.25, 1.5, "slt", 0, "z"), (1.5, -2, "multiply", -3, "n"), (3, 2, "divide", 1.5, ""),
    ],
    "float64": [(0.1, 0.2, "add", 0.30000000000000004, ""), (1, -1e300, "multiply", -1e300, "n")],
}  # fmt: skip


@pytest.mark.parametrize("kind", sampled(ROWS, 4))
def test_results(kind: str, bench: Bench) -> None:
    device = alu(bench, kind)
    lines = ["a | b | op | out | flags"]
    floating = kind.startswith("float")
    for a, b, op, out, flags in ROWS[kind]:
        shown = "-" if kind == "float64" else f"{out:g}" if floating else str(out)
        lines.append(f"{a!r} | {b!r} | {op} | {shown} | {codes(flags)}")
    device.check_table("\n".join(lines))


# (a, b, operation, position, size, result): the field is that of a for ext, that of b for ins.
FIELDS = [
    (0x12345678, 0, "ext", 0, 8, 0x78), (0x12345678, 0, "ext", 8, 8, 0x56), (0x12345678, 0, "ext", 28, 4, 1),
    (0x12345678, 0, "ext", 4, 1, 1), (0x12345678, 0, "ext", 0, 32, 0x12345678), (M32, 0, "ext", 28, 8, 0xF), (M32, 0, "ext", 3, 0, 0),
    (0xAB, 0x12345678, "ins", 0, 8, 0x123456AB), (0xFAB, 0x12345678, "ins", 8, 8, 0x1234AB78), (M32, 0, "ins", 31, 1, 0x80000000),
    (0, M32, "ins", 4, 20, 0xFF00000F), (0xDEADBEEF, 1, "ins", 0, 32, 0xDEADBEEF), (5, 7, "ins", 3, 0, 7), (0xFF, 0, "ins", 28, 8, 0xF0000000),
    (3, 4, "add", 1, 2, 7),
]  # fmt: skip


@seldom
def test_fields_of_bits(bench: Bench) -> None:
    ports = {"a": ("in", 1, "uint32"), "b": ("in", 1, "uint32"), "op": ("in", 1, "alu_op"), "field": ("in", 1, "bit_field"), "out": ("out", 1, "uint32")}
    rows = [f"{a} | {b} | {op} | {{position={position} size={size}}} | {out}" for a, b, op, position, size, out in FIELDS]
    device = Device(bench, "alu", ports, before="import core_types;")
    device.check_table("\n".join(["a | b | op | field | out", *rows, "1 | 2 | add | . | ."]))


def test_nothing_without_all_three(bench: Bench) -> None:
    alu(bench, "uint32").check_table(
        """
        a | b | op  | out | flags
        1 | . | add | .   | .
        . | 1 | add | .   | .
        1 | 1 | .   | .   | .
        1 | 1 | add | 2   | -
        """
    )


@seldom
def test_operands_wait_for_the_result_and_cancel_it(bench: Bench) -> None:
    alu(bench, "uint32", flags=False).check_table(
        """
        a  | a.ack | b | b.ack | op  | op.ack | out | out.ack | out.enable
        1  | 0     | 2 | 0     | add | 0      | 3   | 0       | -
        1  | 1     | 2 | 1     | add | 1      | 3   | 1       | 1
        1! | 1     | 2 | 1     | add | 1      | 3   | 1       | 0
        """
    )
