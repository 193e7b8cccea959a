"""mips_decode: the control word of every instruction is what the instruction table says, whatever was decoded before."""

import random

import pytest

from tests.isa.streams import table
from tests.modules.harness import Bench, Device
from tests.modules.mips import IMPORTS, control, failed, fetched, struct

SETS = ("prijoff", "mips32r2")


def decoder(bench: Bench, instruction_set: str) -> Device:
    ports = {"in": ("in", 1, "core_fetched"), "out": ("out", 1, "core_decoded")}
    return Device(bench, "mips_decode", ports, f"set = mips_isa.{instruction_set};", IMPORTS + "\nimport mips_isa_types;")


def immediate(word: int, kind: str) -> int:
    """As the ALU or the branch adder uses it."""
    low = word & 0xFFFF
    extended = (low | 0xFFFF0000) if low & 0x8000 else low
    position, last = word >> 6 & 31, word >> 11 & 31
    sizes = {"extracted": last + 1, "inserted": max(last + 1 - position, 0)}
    if kind in sizes:
        return position | sizes[kind] << 8
    return {"none": 0, "signed": extended, "unsigned": low, "upper": low << 16, "shift": word >> 6 & 31,
            "offset": extended << 2 & 0xFFFFFFFF, "target": (word & 0x3FFFFFF) << 2}[kind]  # fmt: skip


@pytest.mark.parametrize("instruction_set", SETS)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_instruction(seed: int, instruction_set: str, bench: Bench) -> None:
    """In an order and with repetitions that make the decoder forget and remember."""
    r = random.Random(seed)
    words = []
    for i in table(instruction_set):
        for _ in range(6):
            words.append((i, i.match | r.getrandbits(32) & ~i.mask & 0xFFFFFFFF))
    words = r.choices(words, k=2 * len(words)) + words
    rows = ["in | out"]
    for n, (i, word) in enumerate(words):
        kind = i.control.get("imm", "none")
        if kind == "none":
            # What an instruction without immediate carries there is nobody's business: only the control word counts.
            continue
        out = struct(pc=4 * n, word=word, control=control(i.name, word), immediate=immediate(word, kind), fresh=False)
        rows.append(f"{fetched(4 * n, word)} | {out}")
    decoder(bench, instruction_set).check_table("\n".join(rows))


@pytest.mark.parametrize("instruction_set", SETS)
def test_instructions_without_immediate(instruction_set: str, bench: Bench) -> None:
    rows, expected = [], []
    for n, i in enumerate(table(instruction_set)):
        if i.control.get("imm", "none") == "none":
            rows.append(f"{n} {fetched(4 * n, i.match | 0x00A50000 & ~i.mask)} once")
            expected.append((i.name, control(i.name, i.match | 0x00A50000 & ~i.mask)))
    device = decoder(bench, instruction_set)
    table_rows = "in | out\n" + "\n".join(f"{row.split(' ', 1)[1].rsplit(' ', 1)[0]} | -" for row in rows)
    ran = device.check_table(table_rows)
    seen = [line.split(" ", 2)[2] for line in (ran.directory / "out0.seen").read_text().splitlines()]
    wrong = [f"{name}: {line}, expected control={word}" for (name, word), line in zip(expected, seen, strict=True)
             if f"control={word} " not in line]
    assert not wrong, "\n".join(wrong)


def test_reserved_words_and_failed_fetches_say_so(bench: Bench) -> None:
    reserved, broken = 0x7C000000, struct(pc=4, word=7, control=failed("fetch"), immediate=0, fresh=True)
    ran = decoder(bench, "mips2").check_table(
        f"""
        in                                    | in.ack | out | out.ack
        {fetched(0, reserved)}                | 0      | -   | 0
        {fetched(0, reserved)}                | 1      | -   | 1
        {fetched(4, 7, fresh=True, error=True)} | 1    | -   | 1
        """
    )
    seen = (ran.directory / "out0.seen").read_text()
    assert f"control={failed('reserved')} " in seen and f"control={failed('fetch')} " in seen, (seen, broken)
    assert "fresh=true" in seen.splitlines()[2]


# A word that the set has not, and the next smaller sets; names of the same words in others.
@pytest.mark.parametrize(("instruction_set", "word", "name"), [
    ("mips1", 0x50000000, None), ("mips2", 0x50000000, "beql"), ("mips2", 0x0109180B, None), ("prijoff", 0x0109180B, "pri"),
    ("mips32", 0x0109180B, "movn"), ("mips2", 0x0109000A, None), ("prijoff", 0x0109000A, "joff"), ("mips32", 0x7C090420, None),
    ("mips32r2", 0x7C090420, "seb"), ("prijoff", 0x71091802, None),
])  # fmt: skip
def test_sets_differ(instruction_set: str, word: int, name: str | None, bench: Bench) -> None:
    ran = decoder(bench, instruction_set).check_table(f"in | out\n{fetched(0, word)} | -")
    assert f"control={control(name, word) if name else failed('reserved')} " in (ran.directory / "out0.seen").read_text()
