"""Who may know whom: the stages of the compiler, the families of modules and the runtime form an order, and what a file
includes, imports or instantiates is of its own folder or of one before it.  Within the compiler and emulib no two files call
each other in a circle."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from harness.firmware import tool
from tests.conventions.test_tree import sources
from tests.tree import found, library_modules

ROOT = Path(__file__).resolve().parents[2]
STAGES = ["base", "front", "elab", "attach", "schedule", "plan", "parts", "emit", "build", "server", "commands"]
# What the compiler may use of the runtime, and of emulib what it does with files that users name and with what it prints.
SHARED = {
    "lss/runtime/engine/clock.h",
    "lss/runtime/text/json.h",
    "lss/runtime/text/number.h",
    "lss/runtime/text/pattern.h",
    "lss/runtime/text/quantity.h",
    "lss/runtime/files/cache_place.h",
    "lss/runtime/files/child_process.h",
    "lss/runtime/files/packet_reader.h",
    "lss/runtime/files/packet_writer.h",
    "lss/runtime/files/used_files.h",
    "lss/runtime/files/whole_file.h",
    "lss/runtime/trace/code_names.h",
    "lss/runtime/trace/trace_reader.h",
    "emulib/program/input_file.h",
    "emulib/program/standard_streams.h",
}
# Each family with those that its modules may use, beside its own.
_LOW = ["generic", "clock", "memory", "bus", "wire"]
FAMILIES = {family: set(_LOW[:rank]) for rank, family in enumerate(_LOW)}
FAMILIES |= {family: set(_LOW) for family in ("cache", "mmu", "io", "core", "nic")}
FAMILIES |= {family: {*_LOW, "io"} for family in ("pci", "disk")}
INSTRUCTION_SETS = {f"core/{path.parent.name}": path.parent.name for path in found(ROOT / "emulib", "instructions.def") if (ROOT / "modules/core" / path.parent.name).exists()}
INSTRUCTION_SETS["core/rfu"] = "mips"
FAMILIES["core/ooo"] = {*_LOW, "core", "cache", "mmu"}
FAMILIES |= {family: {*_LOW, "core", "core/ooo", "cache", "mmu"} for family in INSTRUCTION_SETS}
FAMILIES["board"] = set(FAMILIES)
# What is of no instruction set, and no stage of anything.
SHARED_BY_MODULES = {"emulib/program/image.h", "emulib/program/device_tree.h", "emulib/program/linux_banner.h", "emulib/arithmetic.h", "emulib/console_script.h", "emulib/rtc_registers.h", "lss/runtime/engine/forks.h", "lss/runtime/text/number.h", "lss/runtime/text/quantity.h"}
LARGEST_FOLDER = 30


def includes(path: Path) -> list[str]:
    return re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)


def family(path: Path) -> str:
    return str(path.parent.relative_to(ROOT / "modules"))


def test_every_folder_has_its_rank() -> None:
    assert {p.name for p in (ROOT / "lss").iterdir() if p.is_dir()} == {*STAGES, "runtime"}
    assert {family(p) for p in found(ROOT / "modules", "*.lss")} == set(FAMILIES)


@pytest.mark.parametrize("stage", STAGES)
def test_stages_include_earlier_ones(stage: str) -> None:
    allowed = {*STAGES[: STAGES.index(stage) + 1]}
    wrong = []
    for path in found(ROOT / "lss" / stage, "*.[chly]"):
        for name in includes(path):
            parts = name.split("/")
            fine = name in SHARED or name == "lss/parser.h" or (parts[0] == "lss" and len(parts) == 3 and parts[1] in allowed)
            if not fine and not name.endswith(".def"):
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong


Names = dict[str, tuple[set[str], set[str]]]  # of each file what it defines and what it uses, functions and variables


def names_in(folder: Path) -> Names:
    """By object file; what is left of a source file that has been moved is none of them."""
    homes = {str(path): f"{path.parent.name}/{path.stem}" for path in found(folder, "*.o")}
    names: Names = {file: (set(), set()) for file in homes.values() if file.split("/")[0] not in STAGES or (ROOT / "lss" / f"{file}.c").exists()}
    listing = subprocess.run([tool("llvm-nm"), "-A", "--extern-only", *homes], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        path, _, symbol = line.rpartition(": ")
        kind, name = symbol.split()[-2:]
        if homes[path] in names:
            names[homes[path]][kind == "U"].add(name)
    return names


def circles(names: Names) -> list[list[str]]:
    """The groups of files that call each other, directly or through others, each with its calls."""
    homes = {name: file for file, (defined, _) in names.items() for name in defined}
    calls = {file: {homes[name] for name in used if homes.get(name, file) != file} for file, (_, used) in names.items()}
    reached: dict[str, set[str]] = {}
    for file in names:
        reached[file], rest = set(), [file]
        while rest:
            rest += (new := calls[rest.pop()] - reached[file])
            reached[file] |= new
    groups = {frozenset(other for other in reached[file] if file in reached[other]) for file in names}
    return [
        [f"{file} calls {name} of {homes[name]}" for file in sorted(group) for name in sorted(names[file][1]) if homes.get(name, file) in group - {file}]
        for group in groups
        if group
    ]


# The interpreter calls itself, as the language does, and the table of commands names the one that prints it.
EXCEPTED = re.compile(r"elab/\w+ calls \w+ of elab/\w+|commands/main calls command_completion of .*|.* calls command_at of commands/main")


@pytest.mark.parametrize("part", ["lss", "emulib"])
def test_no_files_call_each_other_in_a_circle(build_dir: Path, part: str) -> None:
    names = names_in(build_dir / "obj" / part)
    assert len(names) > 40
    assert not [circle for circle in circles(names) if not all(EXCEPTED.fullmatch(call) for call in circle)]


def test_a_circle_is_found(tmp_path: Path) -> None:
    texts = {
        "a": "void second(void); void first(void) { second(); }",
        "b": "void third(void); void second(void) { third(); }",
        "c": "void first(void), below(void); void third(void) { first(); below(); }",
        "d": "void below(void) {}",
    }
    for name, text in texts.items():
        subprocess.run([tool("clang"), "-c", "-x", "c", "-", "-o", tmp_path / f"{name}.o"], input=text, text=True, check=True)
    folder = tmp_path.name
    calls = ["a calls second of b", "b calls third of c", "c calls first of a"]
    assert circles(names_in(tmp_path)) == [[re.sub(r"\b([abc])\b", rf"{folder}/\1", call) for call in calls]]


def sections(header: str) -> list[tuple[str, str]]:
    """The functions that a header declares below `// file.c`, each with that file, which is its map of the folder."""
    declared, file = [], ""
    for line in header.splitlines():
        if section := re.match(r"// (\w+)\.c\b", line):
            file = section[1]
        elif file and (function := re.match(r"(?:const )?\w+ [\w *]*?(\w+)\(", line)):
            declared.append((function[1], file))
    return declared


@pytest.mark.parametrize("header", ["attach/balance.h", "attach/instrument.h", "emit/emit.h", "plan/plan.h", "schedule/schedule.h"])
def test_headers_say_which_file_defines_what(build_dir: Path, header: str) -> None:
    names = names_in(build_dir / "obj" / "lss")
    homes = {name: file for file, (defined, _) in names.items() for name in defined}
    declared = sections((ROOT / "lss" / header).read_text())
    assert len(declared) > 5 and len({file for _, file in declared}) > 2
    assert [(name, file) for name, file in declared if homes.get(name) != f"{header.split('/')[0]}/{file}"] == []


def test_the_runtime_knows_no_compiler() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} includes {name}"
        for path in found(ROOT / "lss" / "runtime", "*.[ch]")
        for name in includes(path)
        if not name.startswith(("lss/runtime/", "emulib/program/", "emulib/isas.h"))
    ]
    assert not wrong


def test_modules_include_lower_families() -> None:
    wrong = []
    for path in found(ROOT / "modules", "*.[ch]"):
        own = family(path)
        for name in includes(path):
            used = name.rpartition("/")[0]
            sets = INSTRUCTION_SETS.get(own)
            fine = used == own or used in FAMILIES[own] or name in SHARED_BY_MODULES or (sets and re.match(rf"{sets}/(isa|cp0|mt)\.h|{sets}_control\.inc", name))
            fine = fine or path.stem == "lockstep" and name == f"emulib/{sets}/lockstep.h"  # an emulator beside the core, not in it
            fine = fine or path.stem == "fast_core" and name in ("emulib/mips/system.h", "emulib/mips/quantum.h")  # in place of a core, where no time is measured
            if not fine:
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong


def test_modules_use_lower_families() -> None:
    homes = {path.stem: family(path) for path in found(ROOT / "modules", "*.lss")}
    wrong = []
    for path in found(ROOT / "modules", "*.lss"):
        text = re.sub(r"/\*.*?\*/|//[^\n]*|<<<.*?>>>", "", path.read_text(), flags=re.DOTALL)
        used = re.findall(r"\bimport (\w+);", text) + re.findall(r"\b(?:instance|wraps) \w+[^:;{]*: *(\w+)", text)
        wrong += [
            f"{path.relative_to(ROOT)} uses {name} of {homes.get(name)}"
            for name in used
            if name in homes and homes[name] != family(path) and homes[name] not in FAMILIES[family(path)]
        ]
    assert not wrong


def test_names_of_modules_are_unique() -> None:
    names = Counter(path.name for path in found(ROOT / "modules", "*.lss"))
    assert not [name for name, count in names.items() if count > 1]
    assert len(library_modules(ROOT)) > 50


def test_folders_stay_small() -> None:
    """A folder with more files of one kind holds more than one thing; golden inputs may be many."""
    counts = Counter((path.parent, path.suffix) for path in sources(".c", ".h", ".py", ".lss") if path.parts[:2] != ("tests", "lang") or path.suffix != ".lss")
    assert counts
    large = {f"{folder} ({suffix})": n for (folder, suffix), n in counts.items() if n > LARGEST_FOLDER}
    assert not large


MAPPED = sorted({p.parent for p in found(ROOT / "lss", "*.c", "*.h", "*.l", "*.y")})


@pytest.mark.parametrize("folder", MAPPED, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_every_stage_has_a_map(folder: Path) -> None:
    """A README.md in each folder names what lies there, and nothing else."""
    named = set(re.findall(r"^\| `(\w+)` \|", (folder / "README.md").read_text(), re.MULTILINE))
    kinds = (".c", ".h", ".l", ".y", ".def")
    assert named == {path.stem for path in folder.iterdir() if path.suffix in kinds}


def test_one_page_lists_the_families_and_what_they_may_use() -> None:
    """It names no module, so that a new one needs no edit."""
    page = ROOT / "modules" / "README.md"
    assert found(ROOT / "modules", "README.md") == [page]
    listed = {}
    for name, used in re.findall(r"^\| `([\w/]+)` \| .* \| ?(.*) ?\|$", page.read_text(), re.MULTILINE):
        base = _LOW if "base families" in used else FAMILIES if "all families" in used else []
        listed[name] = {*base, *re.findall(r"`([\w/]+)`", used)}
    assert {name: used - {name} for name, used in listed.items()} == {name: used - {name} for name, used in FAMILIES.items()}
