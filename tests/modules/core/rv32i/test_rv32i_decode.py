"""rv32i_decode: control words as the instruction table says, branches in two steps, targets, annulled words, and the count of
what left the pipeline."""

import random

import pytest

from tests.isa.riscv import generate, table
from tests.modules.harness import Bench, Device, read_monitor
from tests.modules.mips import IMPORTS, failed, fetched, pack, struct
from tests.sample import sampled

M = 0xFFFFFFFF
COMPARED = 34
PORTS = {"in": ("in", 1, "core_fetched"), "out": ("out", 1, "core_decoded"), "taken": ("in", 1, "uint32"), "redirect": ("out", 1, "uint32"),
         "retired": ("in", 1, "bool"), "done": ("out", 1, "bool")}  # fmt: skip
BRANCH = {"lt": "gtz", "ltu": "gtz", "ge": "lez", "geu": "lez"}
RV32I = generate.ISAS["rv32i"]


@pytest.fixture(scope="module")
def device(bench: Bench) -> Device:
    return Device(bench, "rv32i_decode", PORTS, "", IMPORTS)


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def immediate(kind: str, pc: int, word: int) -> int:
    return {"none": 0, "signed": signed(word >> 20, 12), "store": signed(word >> 25 << 5 | word >> 7 & 31, 12), "shift": word >> 20 & 31,
            "upper": word & 0xFFFFF000, "pcupper": pc + (word & 0xFFFFF000), "link": pc + 4}[kind] & M  # fmt: skip


def target(name: str, pc: int, word: int, base: int) -> int:
    if name == "jal":
        return pc + signed((word >> 31) << 20 | word & 0xFF000 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1, 21) & M
    if name == "jalr":
        return base + signed(word >> 20, 12) & M & ~1
    return pc + signed((word >> 31) << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 63) << 5 | (word >> 8 & 15) << 1, 13) & M


def controls(i: generate.Instruction, word: int) -> list[str]:
    """The control words of an instruction's steps, from the table and the documented layout alone."""
    words = {key: i.control.get(key, RV32I.absence(key)) for key in RV32I.words}
    fields: dict[str, int | str] = {"alu": "nor" if words["alu"] == "second" else words["alu"], "mem": words["mem"]}
    fields["a"] = {"none": "zero", "rs1": "rs"}[words["a"]]
    fields["b"] = {"none": "zero", "rs2": "rt", "imm": "imm"}[words["b"]]
    fields |= {"size": int(words["size"]), "align": max(int(words["size"]) - 1, 0), "sign": words["sign"] == "yes"}
    fields["loads"] = words["mem"] == "load"
    fields |= {"trap": words["trap"], "unusual": words["trap"] != "none"}
    if "rs1" in i.reads:
        fields["rs"] = word >> 15 & 31
    if "rs2" in i.reads:
        fields["rt"] = word >> 20 & 31
    if i.writes and word >> 7 & 31:
        fields["dest"] = word >> 7 & 31
    if words["branch"] in BRANCH:
        fields |= {"dest": COMPARED, "annulled": 1}
        return [pack(**fields), pack(branch=BRANCH[words["branch"]], rs=COMPARED)]
    return [pack(branch=words["branch"], **fields)]


def item(pc: int, word: int, control: str, number: int, fresh: bool = False) -> str:
    return struct(pc=pc, word=word, control=control, immediate=number, fresh=fresh)


def encodings(r: random.Random, count: int) -> list[tuple[generate.Instruction, int]]:
    return [(i, i.match | r.getrandbits(32) & ~i.mask & M) for i in table() for _ in range(count)]


@pytest.mark.parametrize("seed", sampled([1, 2], 2))
def test_every_instruction(seed: int, device: Device) -> None:
    rows = ["in | in.ack | out"]
    for n, (i, word) in enumerate(encodings(random.Random(seed), 8)):
        number = immediate(i.control.get("imm", "none"), 4 * n, word)
        steps = controls(i, word)
        rows += [f"{fetched(4 * n, word)} | {int(k + 1 == len(steps))} | {item(4 * n, word, c, number)}" for k, c in enumerate(steps)]
    device.check_table("\n".join(rows))


def test_targets(device: Device) -> None:
    """Where the stage behind says that a branch is taken; a word behind it is annulled, unless the pc was set from outside."""
    r = random.Random(5)
    idle = pack(annulled=1)
    rows = ["in | taken | in.ack | out | redirect"]
    for n, (i, word) in enumerate(encodings(r, 6)):
        if i.kind not in ("branch", "jump"):
            continue
        pc, base = r.getrandbits(30) << 2, r.getrandbits(32)
        number = immediate(i.control.get("imm", "none"), pc, word)
        steps = [item(pc, word, c, number) for c in controls(i, word)]
        rows += [f"{fetched(pc, word)} | . | 0 | {step} | ." for step in steps[:-1]]
        rows.append(f"{fetched(pc, word)} | {base} | 1 | {steps[-1]} | {target(i.name, pc, word, base)}")
        behind = 0x00208463  # beq ra, sp, 8
        if n % 2:
            rows.append(f"{fetched(pc + 4, behind)} | . | 1 | {struct(pc=pc + 4, word=behind, control=idle, immediate=0, fresh=False)} | .")
        else:
            rows.append(f"{fetched(8, 0x13, fresh=True)} | . | 1 | {item(8, 0x13, pack(a=1, b=3, rs=0), 0, True)} | .")
    device.check_table("\n".join(rows))


def test_a_branch_that_waits_keeps_its_step(device: Device) -> None:
    """Refused at each step; withdrawn after the first, which is then begun anew; every first step is left out of the count once."""
    blt = 0x0020C463  # blt ra, sp, 8
    i = next(i for i in table() if i.name == "blt")
    first, second = (item(0, blt, c, 0) for c in controls(i, blt))
    word, other = fetched(0, blt), fetched(4, 0x13)
    only = item(4, 0x13, pack(a=1, b=3, rs=0), 0)
    device.check_table(f"""
        in      | taken | redirect | out      | out.ack | out.enable | in.ack | retired | retired.ack | done
        {word}  | .     | .        | {first}  | 0       | 1          | 0      | true | 1        | true
        {word}! | .     | .        | {first}  | 1       | 1          | 0      | true | 1        | true
        {other} | .     | .        | {only}   | 1       | 1          | 1      | true | 1        | .
        {word}  | .     | .        | {first}  | 1       | 1          | 0      | true | 1        | true
        {word}  | .     | .        | {second} | 0       | 0          | 0      | .    | 1        | .
        {word}  | 9     | 8        | {second} | 1       | 1          | 1      | true | 1        | .
        .       | .     | .        | .        | 1       | -          | -      | true | 1        | true
    """)


def test_reserved_words_and_failed_fetches(device: Device) -> None:
    ran = device.check_table(
        f"""
        in                                | in.ack | out | out.ack
        {fetched(0, 0x0000007F)}          | 1      | -   | 1
        {fetched(4, 0x0020C463, error=True)} | 1   | -   | 1
        {fetched(8, 0x00000000)}          | 1      | -   | 1
        """
    )
    seen = (ran.directory / "out0.seen").read_text().splitlines()
    assert [f"control={failed(trap)} " in line for trap, line in zip(("reserved", "fetch", "reserved"), seen)] == [True] * 3, seen


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nothing_is_lost_under_pressure(seed: int, device: Device, bench: Bench) -> None:
    """Whatever refuses when, the steps of all words come out once and in order."""
    r = random.Random(seed)
    words = r.choices(encodings(r, 2), k=120)
    script = "".join(f"{2 * n} {fetched(4 * n, word)}\n" for n, (_, word) in enumerate(words))
    settings = {"in_source[0].script": "in.txt", "out_sink[0].ready": 0.6, "out_monitor[0].record": "out.seen",
                "taken_source[0].count": 0, "retired_source[0].count": 0}  # fmt: skip
    ran = bench.run(device.simulator, 1200, settings, seed=seed, files={"in.txt": script})
    found = [line.value for line in read_monitor(ran.directory / "out.seen") if line.transferred]
    expected = [item(4 * n, word, c, immediate(i.control.get("imm", "none"), 4 * n, word))
                for n, (i, word) in enumerate(words) for c in controls(i, word)]  # fmt: skip
    assert found == expected
