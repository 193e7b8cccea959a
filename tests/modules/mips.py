"""What the tests of the MIPS stages share: instruction words, control words made from the instruction table, structs as text,
and a Device whose ports may be members of bundles."""

import re
from functools import cache
from pathlib import Path

from tests.isa.streams import generate, table
from tests.modules.harness import Bench, Device

ROOT = Path(__file__).resolve().parents[2]
MIPS = generate.ISAS["mips"]
IMPORTS = "import core_types;\nimport memory_types;\nimport core_types;"
NO_SOURCE, NO_DEST = 33, 32


class BundleDevice(Device):
    """A Device with ports such as `memory.request`; in tables they are called `memory_request`.

    With `latch`, a pipe stands before the port `in` as in a pipeline: an item arrives a cycle later and stays until it
    is accepted, committed all the time; the monitor `latched` sees it there.
    """

    def __init__(
        self, bench: Bench, module: str, ports: dict[str, tuple[str, int, str]], body: str = "", latch: bool = False, after: str = "", before: str = IMPORTS
    ) -> None:
        names = {name.replace(".", "_"): name for name in ports}

        class Renaming:
            """The bench, but for the names of bundle members."""

            def build(self, text: str, *options: str) -> Path:
                for plain, dotted in names.items():
                    text = re.sub(rf"\bdut\.{plain}\b", f"dut.{dotted}", text)
                if latch:
                    text = text.replace("instance dut", "instance latch : pipe;\ninstance latched : monitor;\ninstance dut").replace("-> dut.in;", "-> latch.in;")
                    text += "latch.out -> latched.in;\nlatched.out -> dut.in;\n"
                return bench.build(text, *options)

            def __getattr__(self, name: str) -> object:
                return getattr(bench, name)

        flat = {plain: ports[dotted] for plain, dotted in names.items()}
        super().__init__(Renaming(), module, flat, body, before, after)  # type: ignore[arg-type]


def struct(**fields: object) -> str:
    """A struct as modules print it."""
    words = (f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in fields.items())
    return "{" + " ".join(words) + "}"


def request(op: str, address: int, size: int = 4, data: int = 0, sign: bool = False, tag: int = 0) -> str:
    return struct(op=op, size=size, sign=sign, combine=False, tag=tag, address=address, data=data)


def reply(data: int = 0, tag: int = 0, error: bool = False) -> str:
    return struct(tag=tag, error=error, latency=0, data=data)


@cache
def instruction(name: str) -> generate.Instruction:
    return next(i for i in (*table("prijoff"), *table("mips32r2_mt")) if i.name == name)


def encode(name: str, rs: int = 0, rt: int = 0, rd: int = 0, low: int = 0) -> int:
    """The word of an instruction; `low` is what its lower fields hold."""
    return instruction(name).match | rs << 21 | rt << 16 | rd << 11 | low


@cache
def enumerations() -> dict[str, dict[str, int]]:
    """The enums of core_types.lss: the number of each name."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "modules" / "core" / "core_types.lss").read_text(), flags=re.DOTALL)
    known: dict[str, dict[str, int]] = {}
    for enum, body in re.findall(r"^enum (\w+) {(.*?)}", text, re.MULTILINE | re.DOTALL):
        numbers = known[enum] = {}
        for name, number in re.findall(r"(\w+)(?: = (\d+))?", body):
            numbers[name] = int(number) if number else max(numbers.values(), default=-1) + 1
    return known


@cache
def layout() -> dict[str, str]:
    """The members of a control word and their types, as core_types.lss has them."""
    text = (ROOT / "modules" / "core" / "core_types.lss").read_text()
    body = re.search(r"^packed control_word : uint64 {(.*?)^}", text, re.MULTILINE | re.DOTALL)
    assert body
    return {name: of for of, name in re.findall(r"^  (\S+) (\w+) :", body[1], re.MULTILINE)}


def pack(**fields: int | str) -> str:
    """A control word of these fields, numbers or names, as modules print it; registers that are not given are none."""
    values = {"rs": NO_SOURCE, "rt": NO_SOURCE, "dest": NO_DEST} | fields
    assert set(values) <= set(layout())
    words = []
    for name, of in layout().items():
        names = enumerations().get(of, {})
        value = values.get(name, 0)
        number = names[value] if isinstance(value, str) else int(value)
        shown = next((known for known, n in names.items() if n == number), "true" if of == "bool" else number)
        if number:
            words.append(f"{name}={shown}")
    return "{" + " ".join(words) + "}"


def failed(trap: str) -> str:
    return pack(trap=trap)


def control(name: str, word: int) -> str:
    """The control word of an instruction, from the instruction table and the documented layout alone."""
    i = instruction(name)
    words = {key: i.control.get(key, MIPS.absence(key)) for key in MIPS.words}
    registers = {"rs": word >> 21 & 31, "rt": word >> 16 & 31, "rd": word >> 11 & 31, "ra": 31}
    fields: dict[str, int | str] = {key: words[key] for key in ("alu", "a", "b", "part", "branch", "muldiv", "move", "trap", "mem")}
    fields |= {key: words[key] == "yes" for key in ("sign", "likely", "link")} | {"size": int(words["size"])}
    fields |= {"serializes": words["serializes"] != "no", "keeps": words["serializes"] == "context"}
    fields["align"] = max(int(words["size"]) - 1, 0) if words["part"] == "whole" else 0
    for source in ("rs", "rt"):
        if source in i.reads:
            fields[source] = registers[source]
    if words["dest"] != "none" and registers[words["dest"]] != 0:
        fields["dest"] = registers[words["dest"]]
    fields["loads"] = words["mem"] in ("load", "linked", "conditional")
    fields["unusual"] = words["trap"] != "none" or words["muldiv"] in ("mfhi", "mflo", "mul") or words["link"] == "yes" or words["move"] != "none"
    unseen = "dest" not in fields and not fields["unusual"]
    if unseen or (words["alu"], words["b"], registers["rt"]) == ("or", "rt", 0):
        fields["alu"] = "add"
    return pack(**fields)


def fetched(pc: int, word: int, fresh: bool = False, error: bool = False) -> str:
    return struct(pc=pc, word=word, fresh=fresh, error=error)


def decoded(pc: int, name: str, word: int, immediate: int = 0, fresh: bool = False) -> str:
    return struct(pc=pc, word=word, control=control(name, word), immediate=immediate, fresh=fresh)


def issued(pc: int, word: int, controls: str, immediate: int = 0, a: int = 0, b: int = 0) -> str:
    return struct(pc=pc, word=word, control=controls, immediate=immediate, a=a, b=b)


def executed(pc: int, word: int, controls: str, result: int = 0, b: int = 0) -> str:
    return struct(pc=pc, word=word, control=controls, result=result, b=b)


def finished(pc: int, word: int, controls: str, value: int = 0) -> str:
    return struct(pc=pc, word=word, control=controls, value=value)


def bypass(dest: int = NO_DEST, loads: bool = False, occupies: bool = False, value: int = 0) -> str:
    return shown(pack(dest=dest, loads=loads, muldiv="mult" if occupies else 0), value)


def shown(controls: str, value: int = 0) -> str:
    """What a stage shows of the instruction in it."""
    return struct(control=controls, value=value)


def in_slot(controls: str) -> str:
    """The control word of an instruction that is in a delay slot."""
    return re.sub(r" (serializes=|keeps=|rs=\d|rt=\d|dest=\d)", r" slot=true \1", controls, count=1)
