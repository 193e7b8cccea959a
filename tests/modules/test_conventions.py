"""Every module has a declaration, a behaviour or an inside, and a test of its own."""

import json
import math
import re
import subprocess
from pathlib import Path

from tests.tree import found, library_modules, library_types


def test_the_library_is_found(root: Path) -> None:
    assert len(library_modules(root)) > 50 and len(library_types(root)) > 5
    assert all(path.stem.endswith("_types") for path in library_types(root)), "the reference finds types by this name"


def test_every_module_has_a_test(root: Path) -> None:
    tests = {path.name for path in found(root / "tests" / "modules", "test_*.py")}
    missing = [path.stem for path in library_modules(root) if f"test_{path.stem}.py" not in tests]
    assert not missing, f"no tests/modules/test_<module>.py for: {', '.join(missing)}"


def test_every_test_has_a_module(root: Path) -> None:
    stems = {path.stem for path in library_modules(root)}
    allowed = {"balance", "barrier", "conventions", "idle_time", "lost_instructions", "lost_items", "memory_stacks"}
    lost = [
        path.stem
        for path in found(root / "tests" / "modules", "test_*.py")
        if path.stem.removeprefix("test_") not in stems | allowed
        and not any(path.stem.removeprefix("test_").startswith(stem + "_") for stem in stems)
    ]
    assert not lost, f"tests of no module: {', '.join(lost)}"


def test_the_stem_names_the_module(root: Path) -> None:
    wrong = [
        path.name
        for path in library_modules(root)
        if not re.search(rf"^module {path.stem}\b", path.read_text(), re.MULTILINE)
    ]
    assert not wrong, f"no module of the file's name in: {', '.join(wrong)}"


def test_behaviour_and_declaration_come_in_pairs(root: Path) -> None:
    lonely = [path.name for path in found(root / "modules", "*.c") if not path.with_suffix(".lss").exists()]
    assert not lonely, f"behaviour without a declaration: {', '.join(lonely)}"


def test_every_module_says_what_becomes_of_items(root: Path) -> None:
    """Each module with ports and behaviour states what it conserves, or that it makes or consumes items."""
    silent = []
    for path in library_modules(root):
        text = path.read_text()
        if not path.with_suffix(".c").exists() or not re.search(r"^  (\w+ )*(in|out)port ", text, re.MULTILINE):
            continue
        if not re.search(r"^ +(?:if \(.*\) \{ )?(conserves|makes|consumes) ", text, re.MULTILINE):
            silent.append(path.name)
    assert not silent, f"no `conserves`, `makes` or `consumes` in: {', '.join(silent)}"


def test_what_users_see_is_documented(root: Path) -> None:
    """Parameters, userpoints, ports, events and statistics carry a doc comment: before them, or behind them."""
    bare = []
    for path in library_modules(root):
        text = re.sub(r"<<<.*?>>>", "<<<>>>", path.read_text(), flags=re.DOTALL)
        lines = text.splitlines()
        for number, line in enumerate(lines):
            if not re.match(
                r"  (runtime (init )?parameter|parameter|userpoint|optional (in|out)port|(in|out)port|event|stat) ",
                line,
            ):
                continue
            after = " ".join(lines[number : number + 6]).split(";", 1)[-1].lstrip()
            before = lines[number - 1].rstrip().endswith("*/") and not re.search(r";.*/\*\*", lines[number - 1])
            if not before and not after.startswith("/**"):
                bare.append(f"{path.name}:{number + 1}: {line.strip()}")
    assert not bare, "without a doc comment:\n" + "\n".join(bare)


def test_state_is_documented(root: Path) -> None:
    """Each field of a module's state says what it is, in a doc comment behind or before it: `--list` and `--print` show it."""
    bare, fields = [], 0
    for path in [*library_modules(root), *found(root / "examples", "*.lss")]:
        inside, before = False, ""
        text = re.sub(r"; */\*\*\s*\S.*?\*/", "; /** text */", path.read_text(), flags=re.DOTALL)
        for number, line in enumerate(text.splitlines(), 1):
            inside = line.startswith("  state {") or (inside and not line.startswith("  }"))
            range_of_member = re.match(r"    \w+(\.\w+)*( % .+)? in ", line)
            if inside and re.match(r"    \w.*;", line) and not range_of_member:
                fields += 1
                if not re.search(r";\s*/\*\* \S", line) and (re.search(r";\s*/\*", before) or not before.endswith("*/")):
                    bare.append(f"{path.name}:{number}: {line.strip()}")
            before = line
    assert fields > 600
    assert not bare, "state without a doc comment:\n" + "\n".join(bare)


def test_each_statistic_is_seen_by_a_test_of_its_module(root: Path) -> None:
    """By its name in quotation marks, which may end in what a test puts together: f"faulty_{kind}"."""
    unseen, looked_at = [], 0
    for path in library_modules(root):
        names = re.findall(r"^  (?:gauge )?stat \w+ (\w+)", path.read_text(), re.MULTILINE)
        tests = "".join(test.read_text() for test in found(root / "tests" / "modules", f"test_{path.stem}*.py"))
        for name in names:
            looked_at += 1
            made = (
                re.search(rf'f"{name[:k]}{{', tests) and f'"{name[k:]}"' in tests
                for k in range(2, len(name))
                if name[k - 1] == "_"
            )
            if f'"{name}"' not in tests and not any(made):
                unseen.append(f"{path.name}: {name}")
    assert looked_at > 100
    assert not unseen, "statistics that no test of the module looks at: " + ", ".join(unseen)


def test_each_event_is_collected_by_a_test_of_its_module(root: Path) -> None:
    """Or it is counted in an identity of the module, which the debug builds of all its tests compare with items at its ports."""
    unseen, looked_at = [], 0
    for path in library_modules(root):
        tests = "".join(test.read_text() for test in found(root / "tests" / "modules", f"test_{path.stem}*.py"))
        identities = "".join(re.findall(r"\bidentity [^;]*;", path.read_text()))
        for name in re.findall(r"^  event (\w+)\(", path.read_text(), re.MULTILINE):
            looked_at += 1
            if re.search(rf"\b{name}\b", identities):
                continue
            if not re.search(rf"collect\(.*['\"]{name}['\"(]|\bevent {name}\b|\.{name}['\"(,]", tests):
                unseen.append(f"{path.name}: {name}")
    assert looked_at > 50
    assert not unseen, "events that no test of the module collects: " + ", ".join(unseen)


def test_a_machine_may_hold_several_specialisations_of_a_module(root: Path) -> None:
    """The C file is compiled once for each, in one unit: types, enumerators and tables stand in the header, once for all."""
    for source in found(root / "modules", "*.c"):
        wrong = re.findall(
            r"^(?!.*\) \{$)(?:(?:static )?const|static \w+ const|typedef|enum|struct|union)\b.*[{=].*$",
            source.read_text(),
            re.MULTILINE,
        )
        assert not wrong, f"{source.name}: {wrong[0]}"


def test_macros_of_headers_say_whose_they_are(root: Path) -> None:
    """Headers of all modules of a machine are in one unit: a macro called LINE would break a user's module beside it."""
    words_of_userpoints = {"reg", "set_reg", "context_value"}
    looked_at, wrong = 0, []
    for header in found(root / "modules", "*.h"):
        prefixes = tuple(f"{word.removesuffix('S')}_" for word in header.stem.upper().split("_")) + (
            f"{header.stem.upper()}_",
        )
        prefixes += tuple(f"{word}_" for word in header.stem.upper().split("_"))
        for name in re.findall(r"^\s*#\s*define\s+(\w+)", header.read_text(), re.MULTILINE):
            looked_at += 1
            undefined = re.search(rf"^\s*#\s*undef {name}\b", header.read_text(), re.MULTILINE)
            if not name.startswith(prefixes) and name not in words_of_userpoints and not undefined:
                wrong.append(f"{header.name}: {name}")
    assert looked_at > 50
    assert not wrong, "without the header's prefix: " + ", ".join(wrong)


# Modules whose cycles ask for the time, each with what no instant of their clock says.
ASK_FOR_TIME = {
    "clock_crossing": "compares instants of two clocks",
    "memory_crossing": "compares instants of two clocks",
    "host_bus": "times of the bus, in ticks of all clocks",
    "pci_bus": "times of the bus, in ticks of all clocks",
    "ethernet": "times of the wire, in ticks of all clocks",
    "station": "times of the wire, in ticks of all clocks",
    "gateway": "times of the wire, in ticks of all clocks",
    "traffic_replay": "times of the files, in nanoseconds",
    "frame_checker": "latencies in nanoseconds",
    "nic10g_driver": "times of the software, in nanoseconds",
    "tigon2_driver": "times of the software, in nanoseconds",
    "tigon2_traffic_generator": "says at what time it failed",
    "register_bank": "timers count in a unit of their own; a reply's place is its cycle",
    "core_switch": "its parameter may be a time since the start of the run; asked for between cycles only",
    "rtc_m48t02": "shows seconds since the start of the run",
    "dram_controller": "a reply says how long it took; refreshes are so far apart that they are counted later",
    "memory_controller": "a reply says how long it took; refreshes of idle time are counted later",
    "cable": "a crossing, which has no instants; its beats arrive between cycles",
    "memory_source": "its script says in which cycle",
    "source": "its script says in which cycle",
    "sink": "its record says in which cycle",
    "monitor": "its record says in which cycle",
}


def functions_that_ask(text: str) -> set[str]:
    """Functions of a module in which now() or cycle() is, macros among them; those that run between cycles may."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', " ", text, flags=re.DOTALL)
    text = re.sub(r"^#define (\w+)((?:[^\n]*\\\n)*[^\n]*)", r"\1() {\2}", text, flags=re.MULTILINE)
    found_in, depth, name = set(), 0, ""
    for piece in re.finditer(r"([A-Za-z_]\w*)\s*\(|[{}]", text):
        depth += (piece[0] == "{") - (piece[0] == "}")
        if depth == 0 and piece[1]:
            name = piece[1] if piece[1] not in ("__attribute__", "typeof_port") else name
        elif piece[1] in ("now", "cycle"):
            found_in.add(name)
    return found_in - {"next_event", "init", "statistics", "finish"}


def test_time_is_read_where_no_instant_would_do(root: Path) -> None:
    """`until` tells the same, and does not change with every cycle: what asks for the time is never replayed."""
    sources = [
        path
        for path in [*found(root / "modules", "*.c"), *found(root / "examples", "*.c")]
        if path.with_suffix(".lss").exists()
    ]
    asking = {path.stem: functions_that_ask(path.read_text()) for path in sources}
    assert functions_that_ask(
        "static int f(int a) { if (a) { return (int)cycle(); } }\n#define G(x) (now() + (x))\ninit() { now(); }"
    ) == {"f", "G"}
    more = {name: sorted(where) for name, where in asking.items() if where and name not in ASK_FOR_TIME}
    assert not more, f"say when by set_until() and until(): {more}"
    fewer = sorted(name for name in ASK_FOR_TIME if not asking.get(name))
    assert not fewer, f"do not ask any more, and need no exception: {fewer}"


# Modules with arrays of 1 KiB or more that are behaviour, and why.
LARGE_BEHAVIOUR = {
    "register_bank": "userpoints see the whole file",
    "traffic_replay": "reads packet files, and is never replayed",
    "nic10g_driver": "no hardware: reads and writes packet files",
    "tigon2_driver": "no hardware: reads and writes packet files",
}
MACHINES = ("dual_core", "nic10g", "quad_core", "riscv_core", "tigon2", "vliw_core")


def bytes_of(field: dict, types: dict[str, dict]) -> int:
    """Of a field of an exported netlist, without what aligns it."""

    def of(name: str) -> int:
        one = types[name]
        if "element" in one:
            return one["length"] * of(one["element"])
        return sum(of(part["type"]) for part in one.get("fields", ())) or (one.get("bits", 8) + 7) // 8

    return math.prod(field["dimensions"]) * of(field["type"])


def test_large_arrays_are_memories(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Of which a cycle needs little: compared word by word where they are read, and not as a whole."""
    large: dict[str, set[str]] = {}
    for machine in MACHINES:
        out = tmp_path / f"{machine}.json"
        subprocess.run(
            [build_dir / "bin/lss", "export", root / f"examples/{machine}/{machine}.lss", "-o", out], check=True
        )
        netlist = json.loads(out.read_text())
        types = {one["name"]: one for one in netlist["types"]}
        for one in netlist["instances"]:
            for field in one["state"]:
                if field["kind"] == "behaviour" and field["dimensions"] and bytes_of(field, types) >= 1024:
                    large.setdefault(one["module"], set()).add(field["name"])
    more = {name: sorted(fields) for name, fields in large.items() if name not in LARGE_BEHAVIOUR}
    assert not more, f"write `memory` before their types: {more}"
    fewer = sorted(set(LARGE_BEHAVIOUR) - set(large))
    assert not fewer, f"have none any more, and need no exception: {fewer}"
