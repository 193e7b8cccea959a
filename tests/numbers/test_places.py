"""Every place in which people write numbers takes the same ones: octal nowhere, each unit everywhere, one line for what is
none.  READERS names all files that read numbers, with the test of each, and fails when another one does."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import quantity
from tests.isa.programs import tool
from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
# Files that call the shared reader, and the test that goes through them.
READERS = {
    "emulib/console_script.c": "numbers/test_places.py::test_formats",
    "emulib/tools/choose.c": "numbers/test_places.py::test_options_of_tools",
    "emulib/tools/disasm.c": "numbers/test_places.py::test_options_of_tools",
    "emulib/tools/mips_system_command.c": "numbers/test_places.py::test_options_of_tools",
    "emulib/tools/oracle.c": "numbers/test_places.py::test_options_of_tools",
    "examples/tigon2/descriptor_trace.h": "numbers/test_places.py::test_formats",
    "lss/attach/derived.c": "numbers/test_places.py::test_indices_in_the_language",
    "lss/attach/views.c": "lang/test_bad.py",
    "lss/attach/watches.c": "numbers/test_places.py::test_events_to_watch",
    "lss/base/working.c": "numbers/test_places.py::test_options_of_the_compiler",
    "lss/build/options.c": "numbers/test_places.py::test_options_of_the_compiler",
    "lss/commands/command_cache.c": "numbers/test_places.py::test_options_of_the_compiler",
    "lss/commands/command_fmt.c": "lang/test_fmt.py::test_a_width_is_a_number_of_columns",
    "lss/commands/command_trace.c": "numbers/test_places.py::test_a_range_of_recorded_events",
    "lss/elab/evaluate.c": "numbers/test_reader.py::test_the_language_reads_the_same",
    "lss/elab/operators.c": "numbers/test_reader.py::test_the_language_reads_the_same",
    "lss/front/lexer.l": "numbers/test_reader.py::test_the_language_reads_the_same",
    "lss/runtime/commands/interactive.c": "numbers/test_places.py::test_commands",
    "lss/runtime/debug/server.c": "debug/test_protocol.py",
    "lss/runtime/files/console_place.c": "modules/io/test_uart16550_console.py::test_a_wrong_place",
    "lss/runtime/gateway/frame_record.c": "modules/wire/test_gateway.py::test_records_that_are_wrong",
    "lss/runtime/gateway/gateway_place.c": "modules/wire/test_gateway.py::test_options_that_are_wrong",
    "lss/runtime/carrier/main.c": "network/test_hosts.py::test_hosts_with_other_files",
    "lss/runtime/link/part.c": "link/test_network.py::test_parts_count_what_the_whole_counts",
    "lss/runtime/run/option_table.c": "numbers/test_places.py::test_options_of_a_simulator",
    "lss/runtime/engine/settings.c": "numbers/test_places.py::test_each_unit_in_a_setting",
    "lss/runtime/engine/condition.c": "numbers/test_places.py::test_conditions",
    "lss/runtime/engine/names.c": "numbers/test_places.py::test_indices_of_states",
    "lss/runtime/text/json_reader.c": "link/test_network.py::test_a_wrong_file_of_the_network",
    "lss/runtime/text/type.c": "numbers/test_places.py::test_values_of_types",
    "modules/core/core_switch.h": "numbers/test_places.py::test_formats",
    "modules/generic/fault_plan.h": "numbers/test_places.py::test_formats",
    "modules/generic/source.c": "numbers/test_places.py::test_scripts_of_items",
    "modules/io/serial_eeprom.c": "modules/io/test_serial_eeprom.py::test_the_contents_at_the_start",
    "modules/memory/memory_source.c": "numbers/test_places.py::test_scripts_of_requests",
    "modules/wire/traffic_dependencies.h": "modules/wire/test_traffic_replay.py",
}
# What may read numbers in another way: they are written by programs, or are no numbers for people.
OTHERS = {
    "emulib/tools/disasm.c": "words of instructions, in hexadecimal without 0x",
    "examples/tigon2/tigon2_driver.h": "bytes of an Ethernet address",
    "lss/runtime/cores/views.c": "a pc in the text of an error",
    "examples/host/latency/bin/measure.h": "a program of the guest",
    "examples/messages/guest/bin/vianet.c": "a program of the guest",
    "examples/network/guest/bin/request.c": "a program of the guest",
    "examples/network/guest/bin/serve.c": "a program of the guest",
    "examples/rule30/guest/bin/r30.c": "a program of the guest",
    "lss/build/cache_trim.c": "what the compiler wrote there",
    "lss/build/clang_errors.c": "messages of clang",
    "lss/emit/roll.c": "numbers in C that the compiler wrote",
    "lss/plan/module_source.c": "digits that a regular expression found",
    "lss/runtime/checkpoint/layout.c": "what the runtime wrote there",
    "lss/runtime/debug/handover.c": "what one process passes to the next",
    "lss/runtime/files/detach.c": "descriptors, as the system lists them",
    "lss/runtime/engine/bounds.c": "names of C types",
    "lss/runtime/files/file_place.c": "names below /proc/self/fd",
    "lss/runtime/observe/roles.c": "what the compiler wrote there",
    "lss/runtime/text/json.c": "what was printed just before",
    "lss/runtime/text/number.c": "the reader itself",
    "lss/runtime/text/type.c": "what was printed just before",
    "lss/server/message.c": "the length of a message of the protocol",
    "modules/wire/station.h": "bytes of an Ethernet address",
}
CALL = re.compile(r"\b(?:number_(?:take|parse|read)\w*|number_nearest|number_exact|quantity_read\w*|choose_number)\(")
OWN = re.compile(r"\b(?:strto(?:u?l|u?ll|f|d|ld|[ui]max)|g_ascii_strto\w+|g_ascii_string_to_\w+|ato(?:i|l|ll|f)|[fs]?scanf|G_OPTION_ARG_(?:INT\w*|DOUBLE))\b[(,]")
STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def test_every_file_that_reads_numbers_is_known() -> None:
    """A new one uses the shared reader, and names its test here."""
    texts = {}
    for folder in ("lss", "modules", "emulib", "examples"):
        for path in found(ROOT / folder, "*.[chly]"):
            texts[str(path.relative_to(ROOT))] = STRINGS.sub('""', path.read_text())
    shared = {name for name, text in texts.items() if CALL.search(text)} - {f"lss/runtime/text/{n}" for n in ("number.h", "number.c", "quantity.h", "quantity.c")}
    assert shared - {"emulib/tools/choose.h"} == set(READERS)
    assert {name for name, text in texts.items() if OWN.search(text)} == set(OTHERS)
    for test in READERS.values():
        file, _, function = test.partition("::")
        assert f"def {function}(" in (ROOT / "tests" / file).read_text() if function else (ROOT / "tests" / file).exists(), test


# ---- A simulator

MACHINE = """
clock slow = 1 GHz;
runtime parameter whole = 0 : int;
runtime parameter real = 0.5 : float;
runtime parameter fraction = 1 percent : fraction;
runtime parameter time = 0 ns : time;
runtime parameter size = 0 B : size;
runtime parameter rate = 0 b/s : rate;
runtime parameter frequency = 0 Hz : frequency;
instance h : held { whole = whole; real = real; fraction = fraction; time = time; size = size; rate = rate; frequency = frequency; };
instance s : source { count = 1000; };
instance k : sink;
s.out -> k.in : uint32;
instance r : memory_source { count = 0; };
instance m : memory_state { size = 4 KiB; };
r.memory -> m.port;
"""
HELD = """
struct pair { int8 small; float32 part; };
module held {
  runtime parameter whole = 0 : int;
  runtime parameter real = 0.5 : float;
  runtime parameter fraction = 1 percent : fraction;
  runtime parameter time = 0 ns : time;
  runtime parameter size = 0 B : size;
  runtime parameter rate = 0 b/s : rate;
  runtime parameter frequency = 0 Hz : frequency;
  state { int64 seen[6]; float64 floats[2]; uint64 cycles; uint64 large; int64 minus; pair both; uint32 rows[12]; bits(100) wide; }
  phase_end;
}
"""
CODE = """
phase_end() {
  self->seen[0] = param(whole), self->seen[1] = param(time), self->seen[2] = param(size), self->seen[3] = param(rate), self->seen[4] = param(frequency);
  self->floats[0] = param(real), self->floats[1] = param(fraction);
  for (int i = 0; i < 12; i++) self->rows[i] = (uint32_t)(100 + i);
  self->cycles++;
  self->minus = -1;
}
"""
SEEN = {"whole": "seen[0]", "time": "seen[1]", "size": "seen[2]", "rate": "seen[3]", "frequency": "seen[4]", "real": "floats[0]", "fraction": "floats[1]"}


@pytest.fixture(scope="module")
def sim(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.CompletedProcess]:
    folder = tmp_path_factory.mktemp("places")
    for name, text in {"m.lss": MACHINE, "held.lss": HELD, "held.c": CODE}.items():
        (folder / name).write_text(text)
    subprocess.run([build_dir / "bin/lss", "build", "-O0", "m.lss", "-o", "sim", "--record", "k.taken"], cwd=folder, check=True)

    def run(*options: str, text: str = "") -> subprocess.CompletedProcess:
        return subprocess.run([folder / "sim", "--quiet", *options], cwd=folder, input=text, capture_output=True, text=True, timeout=60)

    run.folder = folder
    return run


def value(done: subprocess.CompletedProcess) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout.rpartition(" = ")[2].strip()


def refused(done: subprocess.CompletedProcess, *words: str) -> None:
    """One line that has these words, and nothing else."""
    assert done.returncode not in (0, -6, -11) and len(done.stderr.splitlines()) == 1, (done.returncode, done.stdout, done.stderr)
    assert all(word in done.stderr for word in words), done.stderr


@pytest.mark.parametrize("unit", quantity.UNITS)
def test_each_unit_in_a_setting(unit: str, sim: Callable, build_dir: Path) -> None:
    dimension = quantity.UNITS[unit].dimension
    text = f"010 {unit}"
    print_it = ("--cycles", "1", "--print", f"h.{SEEN[dimension]}")
    expected = quantity.quantity(text, dimension) if dimension == "fraction" else quantity.base(text, dimension)
    assert float(value(sim("--set", f"{dimension}={text}", *print_it))) == float(expected)
    if unit == "%":
        return
    other = next(name for name, one in quantity.UNITS.items() if one.dimension not in (dimension, "fraction"))
    refused(sim("--set", f"{dimension}=10", *print_it), dimension, '"10" lacks its unit', unit)
    refused(sim("--set", f"{dimension}=10 {other}", *print_it), dimension, f'"10 {other}" is a', unit)
    refused(sim("--set", f"{dimension}=10 {unit}x", *print_it), dimension, "unknown unit", unit)


def test_each_unit_in_a_definition(build_dir: Path, tmp_path: Path) -> None:
    """-D takes what the source takes."""
    texts = {name: f"010 {name}" for name, unit in quantity.UNITS.items() if unit.dimension not in ("fraction",)}
    lines = [f"parameter p{n} = 0 {name} : {quantity.UNITS[name].dimension};\n" for n, name in enumerate(texts)]
    (tmp_path / "m.lss").write_text("".join(lines) + "parameter whole = 0 : int; instance a : source; instance b : sink; a.out -> b.in : uint32;\n")
    definitions = [word for n, text in enumerate(texts.values()) for word in ("-D", f"p{n}={text}")]
    done = subprocess.run([build_dir / "bin/lss", "export", "m.lss", *definitions, "-D", "whole=010"], cwd=tmp_path, capture_output=True, text=True, check=True)
    found_values = re.findall(r'"name": "p\d+".*?"value": ("[^"]*"|-?\d+)', done.stdout, re.DOTALL)
    assert len(found_values) == len(texts)
    for (name, text), one in zip(texts.items(), found_values, strict=True):
        dimension = quantity.UNITS[name].dimension
        assert (quantity.base(one.strip('"'), dimension) if '"' in one else int(one)) == quantity.base(text, dimension)
    assert re.search(r'"name": "whole".*?"value": 10\b', done.stdout, re.DOTALL)


@pytest.mark.parametrize(("text", "expected"), [("010", 10), ("08", 8), ("-010", -10), ("0x10", 16), ("0b11", 3), ("1_000", 1000), ("1e3", 1000), ("0xffffffffffffffff", -1)])
def test_whole_numbers_in_a_setting(text: str, expected: int, sim: Callable) -> None:
    assert int(value(sim("--set", f"whole={text}", "--cycles", "1", "--print", "h.seen[0]"))) == expected


def test_options_of_a_simulator(sim: Callable) -> None:
    cycles = ("--print", "h.cycles")
    assert [value(sim("--cycles", text, *cycles)) for text in ("010", "0x0a", "0b1010", "1_0", "1e1", "slow:010")] == ["10"] * 6
    assert [value(sim("--time", text, *cycles)) for text in ("010 ns", "0.01us", "1e4 ps", "1e-5 ms")] == ["10"] * 4
    assert sim("--cycles", "1", "--seed", "010", "--stats", "a.json").returncode == sim("--cycles", "1", "--seed", "10", "--stats", "b.json").returncode == 0
    seeds = [re.search(r'"seed": (\d+)', (sim.folder / name).read_text())[1] for name in ("a.json", "b.json")]
    assert seeds == ["10", "10"]
    for option in ("--cycles", "--seed", "--state-hash-every", "--serve"):
        for text in ("1x", "-1", "1.5", "18446744073709551616"):
            refused(sim(option, text, "--cycles", "1"), option, f'"{text}"')
    for option, wrong in (("--time", "1 B"), ("--watchdog", "1"), ("--history", "1 s"), ("--checkpoint-every", "1.5 fs")):
        refused(sim(option, wrong, "--cycles", "1"), option, f'"{wrong}"', "; a ")
    for option, unit in (("--time", "ns"), ("--watchdog", "ns"), ("--history", "MiB"), ("--checkpoint-every", "ns")):
        refused(sim(option, f"-1 {unit}", "--cycles", "1"), option, f'"-1 {unit}" is negative')
        refused(sim(option, f"99999999999999999999 {unit}", "--cycles", "1"), option, "too large")


def test_conditions(sim: Callable) -> None:
    cycles = ("--cycles", "500", "--print", "h.cycles")
    assert value(sim("--until", "cycles(slow) >= 010", *cycles)) == "10"
    for text in ("h.cycles >= 010", "h.cycles >= 0xa", "h.cycles >= 0b1010", "h.cycles == 1e1", "010 ns", "1e-2 us", "event(k.taken, 010)", "cycles(slow) >= 1_0"):
        assert value(sim("--until", text, *cycles)) in ("10", "11"), text
    assert value(sim("--until", "event(k.taken, 0x10)", *cycles)) == value(sim("--until", "event(k.taken, 016)", *cycles))
    assert value(sim("--until", "h.minus == 0xffffffffffffffff", *cycles)) == "1"
    for text in ("h.cycles >= 08x", "h.cycles >= 1.5", "h.cycles >= 99999999999999999999", "cycles(slow) >= -1", "1 B", "10", "-1 ns", "event(k.taken, 0)"):
        refused(sim("--until", text, *cycles), "--until")


def test_commands(sim: Callable) -> None:
    done = sim("--interactive", text="cycle 010\nprint h.cycles\n")
    assert "h.cycles = 10" in done.stdout
    assert '"010x" is not a whole number' in sim("--interactive", text="cycle 010x\n").stderr


def test_indices_of_states(sim: Callable) -> None:
    assert value(sim("--cycles", "1", "--print", "h.rows[010]")) == "110"
    assert sim("--cycles", "1", "--print", "h.rows[08..010]").stdout == sim("--cycles", "1", "--print", "h.rows[8..0xa]").stdout
    for wrong in ("h.rows[-1]", "h.rows[+1]", "h.rows[ 1]", "h.rows[1x]", "h.rows[1.5]", "h.rows[99999999999999999999]"):
        refused(sim("--cycles", "1", "--print", wrong), wrong)


def test_values_of_types(sim: Callable) -> None:
    def after(name: str, text: str) -> str:
        done = sim("--interactive", text=f"set h.{name} = {text}\nprint h.{name}\n")
        return done.stderr.strip() or done.stdout.strip().rpartition(" = ")[2]

    assert after("both", "{small=-010 part=1e-1}") == "{small=-10 part=0.1}"
    assert after("large", "0xffffffffffffffff") == "0xffffffffffffffff" and after("large", "010") == "10"
    assert after("wide", "0x10") == "0x10" and after("wide", "010") == "0xa" and after("wide", "0b11") == "0x3"
    assert after("both", "{small=128}").endswith("128 does not fit in int8") and "is not a number" in after("both", "{part=.5}")


def test_scripts_of_items(sim: Callable) -> None:
    (sim.folder / "items.txt").write_text("010 08\n0x14 0b11\n")
    done = sim("--set", "s.script=items.txt", "--set", "k.record=taken.txt", "--cycles", "100")
    assert done.returncode == 0, done.stderr
    assert (sim.folder / "taken.txt").read_text() == "10 8\n20 3\n"
    (sim.folder / "items.txt").write_text("1.5 8\n")
    refused(sim("--set", "s.script=items.txt", "--cycles", "100"), "items.txt:1", "'1.5' is not a cycle")


def test_scripts_of_requests(sim: Callable) -> None:
    (sim.folder / "requests.txt").write_text("010 write 04 0x10 010\n020 read 4 020\n030 read 4 16\n")
    done = sim("--set", "r.script=requests.txt", "--set", "r.record=replies.txt", "--cycles", "100")
    assert done.returncode == 0, done.stderr
    replies = [line.split() for line in (sim.folder / "replies.txt").read_text().splitlines()]
    assert [int(reply[3], 0) for reply in replies if len(reply) > 3][-2:] == [0, 10]
    (sim.folder / "requests.txt").write_text("010 read 4 1x\n")
    refused(sim("--set", "r.script=requests.txt", "--cycles", "100"), "requests.txt:1", "'1x' is not an address")


def test_a_range_of_recorded_events(sim: Callable, build_dir: Path) -> None:
    assert sim("--record", "events", "--record-events", "k.taken", "--cycles", "40").returncode == 0

    def lines(text: str) -> subprocess.CompletedProcess:
        return subprocess.run([build_dir / "bin/lss", "trace", "events", "--cycles", text], cwd=sim.folder, capture_output=True, text=True)

    assert lines("08-010").stdout == lines("8-0xa").stdout and len(lines("08-010").stdout.splitlines()) == 3
    for wrong in ("8-", "-8", "8x", "9-8", "1.5", ""):
        refused(lines(wrong), "--cycles", f'"{wrong}"')


# ---- The compiler

LINE = "instance a : source; instance b : sink; a.out -> b.in : uint32;\n"


def test_options_of_the_compiler(build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "m.lss").write_text(LINE)

    def lss(*words: str, progress: str = "off") -> subprocess.CompletedProcess:
        command = ["env", f"LSS_CACHE={tmp_path}/cache", f"LSS_PROGRESS={progress}", build_dir / "bin/lss", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert lss("check", "--netlist-only", "m.lss", progress="0b1010").returncode == 0
    refused(lss("check", "--netlist-only", "m.lss", progress="10s"), "LSS_PROGRESS", '"10s" is not a whole number')
    assert "more than 1 instances" in lss("check", "--netlist-only", "m.lss", "--max-instances", "0b1").stderr
    assert lss("check", "--netlist-only", "m.lss", "--max-instances", "010").returncode == 0  # as octal it would be 8: enough, too
    assert "more than 10 steps" in lss("check", "--netlist-only", "m.lss", "--max-steps", "010").stderr
    refused(lss("check", "m.lss", "--max-steps", "08x"), "--max-steps", '"08x" is not a whole number')
    assert lss("cache", "--limit", "010 MiB").returncode == 0 and "at most 10 MiB" in lss("cache", "show").stdout
    for wrong in ("10", "1.5 B", "-1 MiB", "1 s", "99999999999 GiB"):
        refused(lss("cache", "--limit", wrong), "--limit", f'"{wrong}"')


def test_events_to_watch(build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "m.lss").write_text("instance a : memory_source { count = 20; }; instance b : memory_state { size = 64 B; }; a.memory -> b.port;\n")
    build = [build_dir / "bin/lss", "build", "-O0", "m.lss", "-o", "sim", "--watch", "a.replied(tag == 0x0)"]
    subprocess.run(build, cwd=tmp_path, check=True)
    run = ["./sim", "--quiet", "--until", "event(a.replied(tag == 00), 03)", "--cycles", "1000"]
    assert subprocess.run(run, cwd=tmp_path, capture_output=True, text=True).stderr == ""
    done = subprocess.run([*build[:-1], "a.replied(tag == 1x)"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "PATH.EVENT(ARGUMENT == N)" in done.stderr


def test_indices_in_the_language(build_dir: Path, tmp_path: Path) -> None:
    """An index of a statistic that others are worked out of."""
    (tmp_path / "two.lss").write_text("module two { stat uint64 n[12] ''; stat half = n[010] / 2 ''; phase_end; }\n".replace("'", '"'))
    (tmp_path / "two.c").write_text("phase_end() { report(n[10], 8); }\n")
    (tmp_path / "m.lss").write_text("clock c = 1 GHz; instance t : two on c;\n")
    done = subprocess.run([build_dir / "bin/lss", "export", "m.lss"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and '(t.n[10] / 2)' in done.stdout, done.stderr


# ---- Formats of files and of parameters

FORMATS = [
    ("descriptor", "post 010 02 0x100", "10 2 256 0"), ("descriptor", "send 1e3 042 08", "1000 2 0 42"), ("descriptor", "# nothing", "0 0 0 0"),
    *[("descriptor", text, "!") for text in ("post -1 2 256", "post 1 2 256 3", "post 1.5 2 256", "send 1 42x", "send 1 2 x", "send 1", "send 1 1 1 1 1 1 1 1 1 1", "sendx 1 2", "post 99999999999999999999 2 256")],
    ("switch", "marker(010)", "10"), ("switch", "instructions(1e6)", "1000000"), ("switch", "010 ms", "10000000"), ("switch", "1.5us", "1500"), ("switch", "20 s", "20000000000"),
    *[("switch", text, "!") for text in ("marker(0x)", "marker(-1)", "instructions(1.5)", "10", "0.5 ns", "0 ns", "-1 ms", "10 B")],
    ("fault", "fcs@010", "10"), ("fault", "fcs/0x10", "16"), ("fault", "fcs%0.5", "0.5"), ("fault", "fcs@1e3", "1000"),
    *[("fault", text, "!") for text in ("fcs@-1", "fcs@1.5", "fcs@0", "fcs%101", "fcs@", "fcs@1x", "fcs%nan", "fcs@1e999")],
    ("script", "after 010 ms", "10000000"), ("script", "after 1.5 us", "1500"), ("script", "after 0x10ns", "16"),
    *[("script", text, "!") for text in ("after 10", "after 0.5 ns", "after -1 ms", "after 10 B", "after 99999999999999999999 s", "after ms")],
]  # fmt: skip


@pytest.fixture(scope="module")
def formats(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("formats") / "formats"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "glib-2.0"], check=True, capture_output=True, text=True).stdout.split()
    folders = [word for folder in (ROOT, ROOT / "modules", ROOT / "emulib") for word in ("-I", folder)]
    subprocess.run([tool("clang"), *folders, ROOT / "tests/numbers/formats.c", build_dir / "lib/libemulib.a", *flags, "-o", program], check=True)
    return program


def test_formats(formats: Path) -> None:
    text = "".join(f"{kind}\t{line}\n" for kind, line, _ in FORMATS)
    said = subprocess.run([formats], input=text, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [(kind, line, found) for (kind, line, _), found in zip(FORMATS, said, strict=True)] == FORMATS


@pytest.mark.parametrize(("program", "words", "message"), [
    ("mips-disasm", ["--words", "--pc", "1x"], '--pc: "1x" is not a whole number'),
    ("mips-oracle", ["--limit", "-1", "x"], '--limit: "-1" is negative'),
    ("mips-oracle", ["--limit", "010x", "x"], '--limit: "010x" is not a whole number'),
    ("mips-oracle", ["--system", "--limit", "1.5", "x"], '--limit: "1.5" is not a whole number'),
    ("mips-oracle", ["--system", "--vpes", "0", "x"], '--vpes: "0" is not in the range 1 to 8'),
    ("mips-oracle", ["--system", "--memory", "64", "x"], '--memory 64: "64" lacks its unit; a size is a number and one of B, KiB, MiB, GiB, TiB, kB, MB, GB'),
    ("mips-oracle", ["--system", "--memory", "1.5MiB", "x"], "--memory 1.5MiB: expected whole MiB, 1 MiB to 256 MiB"),
])  # fmt: skip
def test_options_of_tools(program: str, words: list[str], message: str, build_dir: Path) -> None:
    done = subprocess.run([build_dir / "bin" / program, *words], capture_output=True, text=True, input="")
    assert (done.returncode, done.stderr) == (2, f"{program}: {message}\n")


def test_what_tools_take(build_dir: Path) -> None:
    def listing(pc: str) -> str:
        return subprocess.run([build_dir / "bin/mips-disasm", "--words", "--pc", pc], capture_output=True, text=True, input="1000ffff\n", check=True).stdout

    assert listing("010") == listing("0xa") != listing("8")
