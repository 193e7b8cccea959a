"""mips_decode: the control word of every instruction is what the instruction table says, whatever was decoded before."""

import random

import pytest

from tests.isa.streams import table
from tests.modules.harness import Bench, Device
from tests.modules.mips import IMPORTS, control, encode, failed, fetched, pack, struct
from tests.sample import sampled, seldom

SETS = ("prijoff", "mips32r2", "mips32r2_system")


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
@pytest.mark.parametrize("seed", sampled([1, 2], 2))
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


# What system control has to do: the number of the register that is written, read as rt, and whether what follows is fetched again.
KEEPS = ("mtc0", "di", "ei", "tlbp")  # unless they change nothing of what it was fetched with
SYSTEM = {
    "mfc0": (5, None, False), "mtc0": (None, 5, True), "rdpgpr": (7, 5, False), "wrpgpr": (7, 5, False), "di": (5, None, True), "ei": (5, None, True),
    "tlbr": (None, None, True), "tlbwi": (None, None, True), "tlbwr": (None, None, True), "tlbp": (None, None, True),
    "eret": (None, None, True), "wait": (None, None, True), "cache": (None, None, True), "synci": (None, None, True), "rdhwr": (5, None, False),
}  # fmt: skip
UNUSABLE = ("movci", "cop1", "cop2", "cop1x", "lwc1", "lwc2", "ldc1", "ldc2", "swc1", "swc2", "sdc1", "sdc2")


def free_bits(name: str) -> int:
    """An instruction with 5 as rt, 7 as rd, 3 as rs and an immediate of -4, where it has them."""
    i = next(i for i in table("mips32r2_system") if i.name == name)
    return i.match | (3 << 21 | 5 << 16 | 7 << 11) & ~i.mask | (0xFFFC & ~i.mask if "memory" in i.operands else 0)


def test_instructions_for_system_control(bench: Bench) -> None:
    """Written out: what mips_system and what guards it rely on."""
    rows = ["in | out"]
    for n, (name, (dest, rt, serializes)) in enumerate(SYSTEM.items()):
        word, addressed = free_bits(name), name in ("cache", "synci")
        fields: dict[str, int | str] = {"trap": "system", "unusual": True, "serializes": serializes, "keeps": name in KEEPS}
        fields |= {"dest": dest} if dest else {}
        fields |= {"rt": rt} if rt else {}
        fields |= {"rs": 3, "a": "rs", "b": "imm"} if addressed else {}
        fields |= {"a": "rt"} if name in ("rdpgpr", "wrpgpr") else {}
        immediate = 0xFFFFFFFC if addressed else 0
        rows.append(f"{fetched(4 * n, word)} | {struct(pc=4 * n, word=word, control=pack(**fields), immediate=immediate, fresh=False)}")
    sync = encode("sync")
    out = pack(trap=0, mem="barrier", size=1, serializes=True, keeps=True)
    rows.append(f"{fetched(0x100, sync)} | {struct(pc=0x100, word=sync, control=out, immediate=0, fresh=False)}")
    decoder(bench, "mips32r2_system").check_table("\n".join(rows))


def test_coprocessors_that_there_are_not(bench: Bench) -> None:
    rows = ["in | out"]
    for n, name in enumerate(UNUSABLE):
        word = free_bits(name)
        rs = {"rs": 3} if name[1:] in ("wc1", "wc2", "dc1", "dc2") else {}
        out = pack(trap="coprocessor", unusual=True, **rs)
        rows.append(f"{fetched(4 * n, word)} | {struct(pc=4 * n, word=word, control=out, immediate=0, fresh=False)}")
    decoder(bench, "mips32r2_system").check_table("\n".join(rows))


def test_a_failed_fetch_has_its_reason_as_its_result(bench: Bench) -> None:
    """The word is then a mem_fault; that of an address which is no word's is 1."""
    control = pack(trap="fetch", b="imm")
    rows = ["in | out"]
    for pc, word, fault in ((4, 0, 0), (8, 2, 2), (12, 3, 3), (18, 0x12345678, 1), (0x80000000, 1, 1)):
        rows.append(f"{fetched(pc, word, error=True)} | {struct(pc=pc, word=word, control=control, immediate=fault, fresh=False)}")
    decoder(bench, "mips32r2_system").check_table("\n".join(rows))


@seldom
def test_reserved_words_and_failed_fetches_say_so(bench: Bench) -> None:
    reserved, broken = 0x7C000000, pack(trap="fetch", b="imm")
    ran = decoder(bench, "mips2").check_table(
        f"""
        in                                    | in.ack | out | out.ack
        {fetched(0, reserved)}                | 0      | -   | 0
        {fetched(0, reserved)}                | 1      | -   | 1
        {fetched(4, 7, fresh=True, error=True)} | 1    | -   | 1
        """
    )
    seen = (ran.directory / "out0.seen").read_text()
    assert f"control={failed('reserved')} " in seen and f"control={broken} " in seen, (seen, broken)
    assert "fresh=true" in seen.splitlines()[2]


# A word that the set has not, and the next smaller sets; names of the same words in others.
@pytest.mark.parametrize(("instruction_set", "word", "name"), [
    ("mips1", 0x50000000, None), ("mips2", 0x50000000, "beql"), ("mips2", 0x0109180B, None), ("prijoff", 0x0109180B, "pri"),
    ("mips32", 0x0109180B, "movn"), ("mips2", 0x0109000A, None), ("prijoff", 0x0109000A, "joff"), ("mips32", 0x7C090420, None),
    ("mips32r2", 0x7C090420, "seb"), ("prijoff", 0x71091802, None), ("mips32r2", 0x42000018, None), ("mips32r2_system", 0x42000018, "eret"),
    ("mips32r2", 0x44000000, None), ("mips32r2_system", 0x44000000, "cop1"), ("mips32r2_system", 0x7C090420, "seb"),
])  # fmt: skip
def test_sets_differ(instruction_set: str, word: int, name: str | None, bench: Bench) -> None:
    ran = decoder(bench, instruction_set).check_table(f"in | out\n{fetched(0, word)} | -")
    assert f"control={control(name, word) if name else failed('reserved')} " in (ran.directory / "out0.seen").read_text()
