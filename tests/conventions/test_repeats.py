"""Parameters and userpoints: what a module passes on to one that it instantiates is not declared twice with one text.

`wraps` passes it on instead.  Only texts are looked at, so a module that means something else by a name says so.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
FILES = [*found(ROOT / "modules", "*.lss"), *found(ROOT / "examples", "*.lss")]

# Where it is not possible yet, and why.
EXCEPTED = {
    "examples/nic10g/nic10g_chip.lss": "it may have no processors, and `wraps` makes one at least",
    "modules/nic/mac_assist.lss": "it may have one of its halves alone, and `wraps` stands in no `if`",
}

HIDDEN = re.compile(r'<<<.*?>>>|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)  # C code, comments and strings
MODULE = re.compile(r"^module (\w+)[^{]*\{", re.M)
DECLARED = re.compile(r"\b(?:parameter|userpoint)\s+(\w+)([^;]*);")
MADE = re.compile(r"\b(instance|wraps)\s+\w+[^:;{}]*:\s*([^;{}]*)[;{]")
SETTING = re.compile(r"(?:^|;)\s*(default\s+)?(\w+)([^;]*)(?=;)")
AFTER = re.compile(r"[ \t]*/\*\*\s*(.*?)\s*\*/", re.S)
BEFORE = re.compile(r"^[ \t]*/\*\*\s*((?:(?!\*/).)*?)\s*\*/\s*\Z", re.S | re.M)


@dataclass
class Wrapped:
    """A `wraps`: the modules that it may be of, what stays inside, and the texts of the block."""

    modules: list[str]
    inside: set[str]
    texts: dict[str, str]


@dataclass
class Body:
    """A module, or the top of a machine."""

    file: Path
    declared: dict[str, str]  # its parameters and userpoints, with their texts
    made: set[str]  # the modules of its instances
    wrapped: list[Wrapped]


def hide(text: str) -> str:
    """The same length, without code, comments and strings."""
    return HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def block_at(bare: str, place: int) -> int:
    """The end of a block whose content begins at this place."""
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(bare[place], 0)
        place += 1
    return place - 1


def said_of(text: str, begin: int, end: int) -> str:
    """The text of what stands there: behind it, in lines of its own before it, or within it."""
    line = text.rfind("\n", 0, begin) + 1
    said = AFTER.match(text, end) or BEFORE.search(text[:line]) or AFTER.search(text[begin:end])
    return re.sub(r"\s+", " ", said[1]) if said else ""


def modules_of(expression: str, defaults: dict[str, str]) -> list[str]:
    """Names that may be modules; of a parameter those of its default."""
    words = re.findall(r"[A-Za-z_]\w*", re.split(r"\b(?:except|on)\b", expression)[0])
    return [name for word in words for name in re.findall(r"[A-Za-z_]\w*", defaults.get(word, word))]


def read_wraps(text: str, bare: str, head: re.Match, modules: list[str]) -> Wrapped:
    excepted = re.search(r"\bexcept\b([^{;]*?)(?:\bon\b|$)", head[2])
    one = Wrapped(modules, set(re.findall(r"\w+", excepted[1])) if excepted else set(), {})
    if head[0].endswith("{"):
        begin, end = head.end(), block_at(bare, head.end())
        for setting in SETTING.finditer(bare[begin:end]):
            if not setting[1]:
                one.inside.add(setting[2])
            elif said := AFTER.match(text, begin + setting.end() + 1):
                one.texts[setting[2]] = re.sub(r"\s+", " ", said[1])
    return one


def read_body(file: Path, text: str, bare: str) -> Body:
    found_here = list(DECLARED.finditer(bare))
    body = Body(file, {one[1]: said_of(text, one.start(), one.end()) for one in found_here}, set(), [])
    defaults = {one[1]: one[2] for one in found_here if re.search(r":\s*module\b", one[2])}
    for head in MADE.finditer(bare):
        modules = modules_of(head[2], defaults)
        body.made |= set(modules)
        if head[1] == "wraps":
            body.wrapped.append(read_wraps(text, bare, head, modules))
    return body


def bodies(file: Path, text: str) -> dict[str, Body]:
    """The modules that a file declares, and what is at its top, by the name of the file."""
    bare, top, all_here = hide(text), list(text), {}
    for module in MODULE.finditer(bare):
        begin, end = module.end(), block_at(bare, module.end())
        all_here[module[1]] = read_body(file, text[begin:end], bare[begin:end])
        top[module.start() : end] = " " * (end - module.start())
    rest = "".join(top)
    return {f"the top of {file.name}": read_body(file, rest, hide(rest))} | all_here


@cache
def library() -> dict[str, Body]:
    return {name: body for file in FILES for name, body in bodies(file, file.read_text()).items()}


def interface(name: str, known: dict[str, Body]) -> dict[str, str]:
    """The parameters and userpoints of a module, those that it passes on included."""
    body = known[name]
    all_of_it = dict(body.declared)
    for wraps in body.wrapped:
        for inner in wraps.modules:
            for word, said in (interface(inner, known) if inner in known else {}).items():
                if word not in wraps.inside:
                    all_of_it.setdefault(word, wraps.texts.get(word, said))
    return all_of_it


def repeated(body: Body, known: dict[str, Body]) -> list[str]:
    """What it declares with the text that a module has which it makes."""
    inner = [interface(name, known) | {"": name} for name in sorted(body.made & known.keys())]
    return [f"{word} of {one['']}" for one in inner for word, said in body.declared.items() if one.get(word) == said != ""]


def test_the_search_finds_them() -> None:
    text = """
module inner { parameter a = 1 : int; /** one */ parameter b = 2 : int; /** two */
  /** code */
  userpoint c() -> int32 = <<< return 1; >>>;
}
module middle { wraps i : inner except b { default a; /** first */ }; }
module outer { parameter a = 1 : int; /** first */ parameter b = 2 : int; /** two */ userpoint c() -> int32; /** code */
  parameter kind = middle : module; instance m[2] : kind { a; c; }; }
module other { parameter a = 1 : int; /** one */ instance m : middle { a; }; }
parameter a = 1 : int; /** one */
instance i : inner on clk { a; b = "instance j : middle;"; };
"""
    known = bodies(Path("x.lss"), text)
    assert interface("middle", known) == {"a": "first", "c": "code"}
    assert repeated(known["outer"], known) == ["a of middle", "c of middle"]
    assert repeated(known["other"], known) == []
    assert repeated(known["the top of x.lss"], known) == ["a of inner"]


def test_the_search_reads_the_library() -> None:
    core = interface("mips32r2_coherent_core", library())
    assert core["tlb_entries"] and core["post_writes"] and "set" not in core and "lookup_cycles" in core


@pytest.mark.parametrize("file", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_declared_twice_with_one_text(file: Path) -> None:
    again = [word for body in library().values() if body.file == file for word in repeated(body, library())]
    name = str(file.relative_to(ROOT))
    if name in EXCEPTED:
        assert again, f"{name} is an exception no more"
    else:
        assert not again, f"{name}: declared with the same text: {', '.join(again)}; `wraps` passes it on"
