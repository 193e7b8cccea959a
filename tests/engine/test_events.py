"""Conditions on events: the run builds a variant of its machine that counts them, and stops where they happened."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa import programs, riscv
from tests.sample import sampled, seldom

MODULES = Path(__file__).parent / "modules"
GOLDEN = Path(__file__).parent / "event_errors.golden"
LIBRARY = Path(__file__).resolve().parents[2] / "firmware" / "lib"

TICKERS = """
clock fast = 300 MHz;  clock slow = 70 MHz;
instance t[2] : ticker on fast;  instance k[2] : sink on fast;
instance u : ticker on slow;  instance l : sink on slow;  instance idle : source on slow;  instance m : sink on slow;
for (i = 0; i < 2; i = i + 1) { t[i].out -> k[i].in; }
u.out -> l.in;  idle.out -> m.in : uint32;
"""
CORE = """
runtime parameter program = "" : string;
instance core : PIPELINE;
instance filter : scratchpad_filter { segments = [{ base = 0, size = 0x800000, target = filter_target.scratchpad }]; };
instance ram : memory_state { width = 32; size = 8 MiB; big_endian = ENDIAN; image = program; };
instance console : console;
START
core.fetch -> filter.in;  core.data -> filter.in;  filter.main -> console.port;  filter.scratchpad -> ram.port;
"""


@pytest.fixture
def tickers(build_sim):
    return lambda *options: build_sim(TICKERS, "-I", MODULES, *options)


def test_events_are_counted_and_stop_the_run_where_they_happen(tickers, run_sim):
    plain = tickers()
    options = ["--time", "5 us", "--set", "k[1].ready=0.4", "--set", "l.pattern=110", "--set", "idle.interval=9"]
    first = run_sim(plain, *options)
    conditions = ["--measure-from", "event(u.taken, 20)", "--measure-to", "event(t[*].taken, 1500)", "--sample", "event(u.taken, 100)"]
    runs = [run_sim(simulator, *options, *conditions) for simulator in (plain, tickers("--debug"))]
    for done in runs:
        assert done.stats["statistics"] == first.stats["statistics"], "watching must not change what happens"
        assert done.stats["run"] == first.stats["run"]
    assert [runs[0].stats[key] == runs[1].stats[key] for key in ("measured", "samples")] == [True, True]
    done, measured = runs[0], runs[0].stats["measured"]
    # Two of three cycles accept: the 20th item goes in the 29th cycle of the slow clock.
    assert measured["from"]["events"]["u.taken"] == 20 and measured["from"]["cycles"]["slow"] == 29
    index = {(e["path"], e["name"]): i for i, e in enumerate(done.stats["statistics"])}
    items = [measured["to"]["values"][index[f"t[{i}]", "items"]] for i in range(2)]
    assert measured["to"]["events"]["t[*].taken"] == sum(items) and 1500 <= sum(items) <= 1501
    assert [sample["events"]["u.taken"] for sample in done.stats["samples"]] == [100, 200]
    assert [sample["cycles"]["slow"] for sample in done.stats["samples"]] == [149, 299]


def test_events_of_connections(build_sim, run_sim):
    simulator = build_sim("instance s : source; instance k : sink; s.out -> k.in : uint32;")
    done = run_sim(simulator, "--set", "k.pattern=100", "--until", "event(k.in.stalled, 10)")
    assert done.stats["run"]["cycles"]["clk"] == 15  # of each three cycles, the last two
    assert done.stats["run"]["ended"] == "the condition of --until holds" and "connections" not in done.stats


def test_a_variant_is_built_with_all_options_of_the_simulator(build_sim, run_sim, tmp_path):
    """Folders, definitions and collectors, several of each: it finds the same modules and counts the same."""
    options, machine = ["-D", "count=30", "-D", "depth=3"], "parameter count = 1 : int;\nparameter depth = 1 : int;\ninstance s : source { count = count; };\n"
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        module = f"module {name} {{ parameter depth : int; inport in : uint32; outport out : uint32; instance p : pipe {{ depth = depth; }}; in -> p.in; p.out -> out; }}"
        (tmp_path / name / f"{name}.lss").write_text(module)
        (tmp_path / f"of_{name}.lss").write_text(
            f'collector of_{name} on "{name}.p.in" event transferred {{\n  declare <<< uint64_t n; >>>  init <<< self->n = 100; >>>  record <<< self->n++; >>>\n'
            f'  report <<< report_value("{name}", self->n, "items", "items into ", path); >>>\n}}\n'
        )
        options += ["-I", name, "--collect", f"of_{name}.lss"]
        machine += f"instance {name} : {name} {{ depth = depth; }};\n"
    machine += "instance k : sink;\ns.out -> one.in;  one.out -> two.in;  two.out -> three.in;  three.out -> k.in;\n"
    simulator = build_sim(machine, *options)
    watched = run_sim(simulator, "--until", "event(k.taken, 30)")
    cycles = watched.stats["run"]["cycles"]["clk"]
    assert watched.stats["run"]["ended"] == "the condition of --until holds" and 30 < cycles < 60
    assert [watched.value(f"{name}.p.in", name) for name in ("one", "two", "three")] == [130] * 3
    assert watched.stats["statistics"] == run_sim(simulator, "--cycles", str(cycles)).stats["statistics"]


def test_a_variant_is_not_built_for_a_run_that_was_killed(tickers, tmp_path: Path) -> None:
    """The compiler, and what it has started, ends with it."""
    simulator, tool = tickers(), Path(programs.tool("clang")).name
    (tmp_path / tool).write_text(f"#!/bin/sh\necho $$ >{tmp_path}/started.part\nmv {tmp_path}/started.part {tmp_path}/started\nexec sleep 100\n")
    (tmp_path / tool).chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "LSS_CACHE": str(tmp_path / "cache")}
    run = subprocess.Popen([simulator, "--until", "event(u.taken, 7)"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: (tmp_path / "started").exists())
    compiler = Path("/proc") / (tmp_path / "started").read_text().strip()
    assert compiler.exists()
    run.kill()
    run.wait()
    until(lambda: not compiler.exists())


def until(holds: Callable[[], bool]) -> None:
    """Waits, at most half a minute."""
    for _ in range(300):
        if holds():
            return
        time.sleep(0.1)
    pytest.fail("this did not come true")


def test_a_variant_can_be_built_beforehand(lss, tickers, run_sim, tmp_path):
    watching = tickers("--watch", "u.taken")
    env = {"LSS_CACHE": str(tmp_path / "nothing")}
    done = subprocess.run([watching, "--until", "event(u.taken, 7)"], capture_output=True, text=True, env=env)
    assert done.returncode == 0 and "the condition of --until holds" in done.stderr and not (tmp_path / "nothing").exists()
    wrong = lss("build", tmp_path / "machine1.lss", "-I", MODULES, "-o", "x", "--watch", "u.takn", ok=False)
    assert wrong.status == 1 and '--watch:1:1: error[no-match]: nothing that matches "u" has an event `takn`' in wrong.err
    wrong = lss("build", tmp_path / "machine1.lss", "-I", MODULES, "-o", "x", "--watch", "u.taken(n == 1)", ok=False)
    assert wrong.status == 1 and "no event `taken` there has an argument `n` that is a number" in wrong.err
    wrong = lss("build", tmp_path / "machine1.lss", "-I", MODULES, "-o", "x", "--watch", "taken", ok=False)
    assert wrong.status == 1 and "--watch:1:1: error[no-match]: an event to watch is written PATH.EVENT, PATH.EVENT(ARGUMENT == N) or marker(N)\n" in wrong.err


@seldom
def test_events_are_distinguished_by_an_argument(tickers, run_sim):
    """The values of a ticker count up: the condition comes true with the event that has the value, in every build."""
    conditions = ["--measure-from", "event(u.taken(value == 20))", "--measure-to", "event(u.taken(value >= 0x64), 3)", "--sample", "event(t[*].taken(value < 5))"]
    runs = [run_sim(simulator, "--time", "5 us", *conditions) for simulator in (tickers(), tickers("--debug"))]
    measured = [done.stats["measured"] for done in runs]
    assert measured[0] == measured[1]
    at = next(i for i, e in enumerate(runs[0].stats["statistics"]) if (e["path"], e["name"]) == ("l", "items"))
    first = next(n for n in (20, 21) if measured[0]["from"]["values"][at] == n)  # counted from 0 or from 1
    assert measured[0]["to"]["values"][at] == first + 82
    assert measured[0]["to"]["events"]["u.taken(value >= 100)"] == 3 and len(runs[0].stats["samples"]) == 5


def test_wrong_events_are_reported_before_the_run(tickers, run_sim, golden):
    texts = ["event(u.takn)", "event(v.taken)", "event(taken)", "event(u.taken, 0)", "event(u.taken", "event(u.taken) >= 3"]
    texts += ["event(u.taken(valu == 1))", "event(u.taken(value = 1))", "event(u.taken(value == x))", "event(u.taken(value == 1)"]
    texts += ["event(t*.taken)", "event(nothing.stalled)", "evnt(u.taken)", "marker(3)", "marker(0)", "marker(x)"]
    simulator = tickers()
    lines = []
    for text in texts:
        done = run_sim(simulator, "--sample", text, ok=False)
        assert done.status == 2 and done.err.count("\n") == 1
        lines.append(done.err.split(": ", 1)[1])
    golden(GOLDEN, "".join(lines))
    # One language of patterns: an index is not part of the name that `*` stands for.
    for pattern, meant in (("t[*]", "t[0] t[1]"), ("*", "u l idle m"), ("*[1].**", "t[1] k[1]"), ("**.m,u", "u m")):
        heading = run_sim(simulator, "--cycles", 1, "--quiet", "--trace", pattern).err.splitlines()[0]
        assert sorted(heading.replace("|", "").split()[1:]) == sorted(meant.split()), heading
    assert run_sim(simulator, "--cycles", 1, "--trace", "t*", ok=False).status == 2


def test_names_are_listed_before_the_first_run(tickers, run_sim):
    simulator = tickers()
    listed = json.loads(subprocess.run([simulator, "--list=json"], capture_output=True, text=True, check=True).stdout)
    done = run_sim(simulator, "--cycles", "1")
    without_value = [{key: e[key] for key in e if key != "value"} for e in done.stats["statistics"]]
    assert listed["statistics"] == without_value
    assert listed["clocks"] == [{"name": "fast", "hertz": "300000000/1"}, {"name": "slow", "hertz": "70000000/1"}]
    (ready,) = (p for p in listed["parameters"] if p["name"] == "k[0].ready")
    assert (ready["type"], float(ready["default"])) == ("float", 1.0) and ready["description"]
    event = {"path": "u", "name": "taken", "arguments": "uint32 value", "description": "an item was taken"}
    assert event in listed["events"]
    refused = run_sim(simulator, "--list=xml", ok=False)
    assert refused.status == 2 and '--list takes "json" or nothing, not "xml"' in refused.err


LOOP = {
    "mips": "addiu $t0, $zero, 5\n1: {0}\n" + "nop\n" * 8 + "{1}\naddiu $t0, $t0, -1\nbne $t0, $zero, 1b\nnop\n{2}\nnop\nnop\nEXIT 0\n",
    "rv32i": "addi t0, zero, 5\n1: {0}\n" + "nop\n" * 8 + "{1}\naddi t0, t0, -1\nbne t0, zero, 1b\n{2}\nnop\nnop\nEXIT 0\n",
}


def core(isa):
    mips = isa == "mips"
    text = CORE.replace("ENDIAN", "true" if mips else "false")
    text = text.replace("PIPELINE", "mips_pipeline { start_halted = true; }" if mips else f"rv32i_pipeline {{ reset_pc = {programs.TEXT}; }}")
    return text.replace("START", "instance start : program_start { program = program; };  start.control -> core.control;" if mips else "")


@seldom
@pytest.mark.parametrize("isa", sampled(LOOP, 2))
def test_markers_of_programs(isa, build_sim, run_sim, tmp_path):
    """A marker takes the time of a nop; the windows between markers are those of the instructions between them."""
    mips = isa == "mips"
    simulator = build_sim(core(isa))
    form = "lui $zero, {}" if mips else "lui x0, {}"
    elfs = []
    for number, marks in enumerate((["nop"] * 3, [form.format(n) for n in (1, 2, 0x7FFF)])):
        code = LOOP[isa].format(*marks)
        path = tmp_path / f"{isa}{number}.elf"
        elfs.append(programs.assemble(code, path, True, "device") if mips else riscv.assemble(code, path, "device"))
    runs = [run_sim(simulator, "--program", elf) for elf in elfs]
    assert runs[0].stats["statistics"] == runs[1].stats["statistics"] and runs[0].stats["run"] == runs[1].stats["run"]
    options = ["--measure-from", "marker(1)", "--measure-to", "marker(2)", "--sample", "marker(1)", "--until", "marker(32767)"]
    done = run_sim(simulator, "--program", elfs[1], *options)
    begin, end = (done.stats["measured"][point] for point in ("from", "to"))
    at = next(i for i, e in enumerate(done.stats["statistics"]) if e["name"] == "instructions")
    assert end["values"][at] - begin["values"][at] == 9
    assert end["cycles"]["clk"] - begin["cycles"]["clk"] == 9
    assert end["events"] == {"marker(32767)": 0, "marker(1)": 1, "marker(2)": 1}
    samples = done.stats["samples"]
    assert [sample["events"]["marker(1)"] for sample in samples] == [1, 2, 3, 4, 5]
    turns = {b["values"][at] - a["values"][at] for a, b in zip(samples, samples[1:], strict=False)}
    assert turns == {13 if mips else 12}  # the delay slot
    refused = run_sim(simulator, "--program", elfs[0], "--until", "marker(1)", "--measure-to", "marker(2)", ok=False)
    assert 'before the condition of --measure-to, "marker(2)", came true' in refused.err


@pytest.mark.parametrize("isa", sampled(LOOP, 2, 1))
def test_reports_name_the_functions_of_the_program(isa, build_sim, run_sim, tmp_path):
    """Where the core was when the run failed is told by the program's own symbols, and its code as instructions."""
    code = ".type wrong, @function\nwrong:\nnop\n.word 0xffffffff\nnop\nnop\nnop\nnop\n.size wrong, . - wrong\n"
    assemble = programs.assemble if isa == "mips" else riscv.assemble
    elf = assemble(code, tmp_path / "wrong.elf", *([True] if isa == "mips" else []), "device")
    done = run_sim(build_sim(core(isa), "-O0"), "--program", elf, ok=False)
    first = "nop" if isa == "mips" else "addi zero, zero, 0"
    assert "reserved instruction" in done.err and "wrong+0x4" in done.err and f"00400000  {first} " in done.err, done.err


@pytest.mark.parametrize(("target", "code"), [("mips", "3c000007"), ("riscv32", "37700000")])
def test_the_macro_of_the_library_is_that_instruction(target, code, tmp_path):
    (tmp_path / "x.c").write_text('#include "marker.h"\nvoid f(void) { marker(7); }\n')
    command = [programs.tool("clang"), f"--target={target}", "-O2", "-I", LIBRARY, "-c", tmp_path / "x.c", "-o", tmp_path / "x.o"]
    subprocess.run([str(word) for word in command], check=True)
    assert bytes.fromhex(code) in (tmp_path / "x.o").read_bytes()
