"""mips_decode: the control word of every instruction is what the instruction table says, whatever was decoded before."""

import random

import pytest

from tests.isa.streams import table
from tests.modules.harness import Bench, Device
from tests.modules.mips import IMPORTS, control, failed, fetched, struct


def decoder(bench: Bench, pri_joff: bool = True) -> Device:
    ports = {"in": ("in", 1, "core_fetched"), "out": ("out", 1, "core_decoded")}
    return Device(bench, "mips_decode", ports, f"pri_joff = {str(pri_joff).lower()};", IMPORTS)


def immediate(word: int, kind: str) -> int:
    """As the ALU or the branch adder uses it."""
    low = word & 0xFFFF
    extended = (low | 0xFFFF0000) if low & 0x8000 else low
    return {"none": 0, "signed": extended, "unsigned": low, "upper": low << 16, "shift": word >> 6 & 31,
            "offset": extended << 2 & 0xFFFFFFFF, "target": (word & 0x3FFFFFF) << 2}[kind]  # fmt: skip


@pytest.mark.parametrize("seed", [1, 2])
def test_every_instruction(seed: int, bench: Bench) -> None:
    """In an order and with repetitions that make the decoder forget and remember."""
    r = random.Random(seed)
    words = []
    for i in table("prijoff"):
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
    decoder(bench).check_table("\n".join(rows))


def test_instructions_without_immediate(bench: Bench) -> None:
    rows, expected = [], []
    for n, i in enumerate(table("prijoff")):
        if i.control.get("imm", "none") == "none":
            rows.append(f"{n} {fetched(4 * n, i.match | 0x00A50000 & ~i.mask)} once")
            expected.append((i.name, control(i.name, i.match | 0x00A50000 & ~i.mask)))
    device = decoder(bench)
    table_rows = "in | out\n" + "\n".join(f"{row.split(' ', 1)[1].rsplit(' ', 1)[0]} | -" for row in rows)
    ran = device.check_table(table_rows)
    seen = [line.split(" ", 2)[2] for line in (ran.directory / "out0.seen").read_text().splitlines()]
    wrong = [f"{name}: {line}, expected control={word}" for (name, word), line in zip(expected, seen, strict=True)
             if f"control={word} " not in line]
    assert not wrong, "\n".join(wrong)


def test_reserved_words_and_failed_fetches_say_so(bench: Bench) -> None:
    reserved, broken = 0x7C000000, struct(pc=4, word=7, control=failed("fetch"), immediate=0, fresh=True)
    ran = decoder(bench).check_table(
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


def test_pri_and_joff_are_an_option(bench: Bench) -> None:
    for word in (0x0109180B, 0x0109000A):
        ran = decoder(bench, False).check_table(f"in | out\n{fetched(0, word)} | -")
        assert f"control={failed('reserved')} " in (ran.directory / "out0.seen").read_text()
