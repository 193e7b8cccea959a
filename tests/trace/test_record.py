"""Recorded events: what `lss trace` prints of a run is what happened in it, and recording changes nothing."""

import json
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.sample import seldom

MODULES = Path(__file__).resolve().parents[1] / "engine" / "modules"
MACHINE = """
packed status : uint32 { colour shade : 30; bool ready : 4; bits(12) count : 8; };
struct reading { uint32 address; int32 level; bits(70) wide; uint8 bytes[3]; status mode; };
enum colour { red, green };
instance s : source { count = 300; };
instance k : sink;
instance g : gauge;
s.out -> k.in : uint32;
instance wide_source : source { offer = 0.3; };
instance wide_sink : sink { pattern = "110"; };
wide_source.out -> wide_sink.in : reading;
"""
GAUGE = "module gauge { event read(colour c, float32 f, bool b, int16 n, reading r, status s); event empty(); phase_end; }\n"
GAUGE_C = """phase_end() {
  reading r = {.address = 0x1234, .level = -5, .wide = {{7, 1}}, .bytes = {1, 2, 3}, .mode = status_of_count(17) | status_of_shade(colour_green)};
  if (cycle() % 50 == 7) event(read, colour_green, 0.25f, true, (int16_t)-cycle(), r, status_of_ready(true) | 1);
  if (cycle() % 100 == 99) event(empty);
}
"""


@pytest.fixture(scope="module")
def simulators(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A machine with events of all kinds of arguments, as users build it, with --debug, and one that can record them."""
    folder = tmp_path_factory.mktemp("record")
    (folder / "m.lss").write_text(MACHINE)
    (folder / "gauge.lss").write_text(GAUGE)
    (folder / "gauge.c").write_text(GAUGE_C)
    builds = {"plain": [], "debug": ["--debug"], "recording": ["--record", "g.*", "--record", "ports **"]}
    for name, options in builds.items():
        subprocess.run([build_dir / "bin" / "lss", "build", "-O0", "m.lss", *options, "-o", name], cwd=folder, check=True)
    return {name: folder / name for name in builds}


@pytest.fixture(scope="module")
def dual(build_dir: Path, root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two processors, and their program."""
    simulator = tmp_path_factory.mktemp("dual") / "dual"
    subprocess.run([build_dir / "bin" / "lss", "build", root / "examples/dual_core/dual_core.lss", "-o", simulator], check=True)
    return simulator, build_dir / "firmware" / "sum" / "sum.elf"


def objects(lss, file: Path, *options) -> list[dict]:
    """The records of a file, each with path and event."""
    first, *rest = map(json.loads, lss("trace", file, "--json", *options).out.splitlines())
    return [{**first["sources"][record["source"]], **record} for record in rest]


def test_all_kinds_of_arguments(simulators, run_sim, lss, tmp_path: Path) -> None:
    options = ["--cycles", 200, "--record", "run.trace"]
    run_sim(simulators["plain"], *options, "--record-events", "g.read", "--record-events", "g.empty")
    text = lss("trace", tmp_path / "run.trace").out.splitlines()
    assert len(text) == 4 + 2
    assert text[1].split(maxsplit=1) == ["57", "g read c=green f=0.25 b=true n=-57 r={address=0x00001234 level=-5 wide=0x10000000000000007 bytes=[1 2 3] mode={shade=green count=17}} s={ready=true 0x1}"]
    assert text[2].split() == ["99", "g", "empty"]
    (second,) = objects(lss, tmp_path / "run.trace", "--cycles", "50-60")
    assert second["cycle"] == 57 and second["arguments"]["n"] == -57 and second["arguments"]["c"] == "green" and second["arguments"]["b"] is True
    assert second["arguments"]["s"] == "{ready=true 0x1}"


def test_several_clocks_have_one_time(build_sim, run_sim, lss, tmp_path: Path) -> None:
    machine = """clock fast = 300 MHz;  clock slow = 80 MHz;
        instance a : source on fast { interval = 3; };  instance b : source on slow { interval = 3; };
        instance k : sink on fast;  instance x : clock_crossing;  instance m : sink on fast;
        a.out -> k.in : uint32;  b.out -> x.in : uint32;  x.out -> m.in;
        """
    simulator = build_sim(machine, "--record", "ports **")
    run_sim(simulator, "--time", "100 ns", "--record", "run.trace", "--record-events", "ports *.out")
    lines = [line.split()[:4] for line in lss("trace", tmp_path / "run.trace").out.splitlines()]
    assert lines[:3] == [["0.000", "ns", "fast:0", "a.out"], ["0.000", "ns", "slow:0", "b.out"], ["3.333", "ns", "fast:1", "x.out"]]
    assert ["37.500", "ns", "slow:3", "b.out"] in lines


@pytest.mark.parametrize("build", ["plain", "debug", "recording"])
def test_recording_changes_nothing_and_misses_nothing(build, simulators, run_sim, lss, tmp_path: Path) -> None:
    options = ["--cycles", 2000, "--set", "k.ready=0.6"]
    plain = run_sim(simulators["plain"], *options)
    events = [] if build == "recording" else ["--record-events", "ports **", "--record-events", "g.*"]
    done = run_sim(simulators[build], *options, "--record", "run.trace", *events)
    assert done.stats == plain.stats | {"manifest": done.stats["manifest"]}
    records = objects(lss, tmp_path / "run.trace")
    taken = [r for r in records if r["event"] == "transferred"]
    assert len([r for r in taken if r["path"] == "s.out -> k.in"]) == plain.value("k", "items") == 300
    assert len([r for r in taken if "wide" in r["path"]]) == plain.value("wide_sink", "items")
    assert [r["arguments"]["data"] for r in taken if r["path"] == "s.out -> k.in"][:3] == [0, 1, 2]
    assert [r["instant"] for r in records] == sorted(r["instant"] for r in records)
    assert [r["cycle"] for r in records if r["event"] == "read"] == list(range(7, 2000, 50))
    assert {r["event"] for r in records} == {"transferred", "stalled", "read", "empty"}


def test_conditions_begin_and_end_a_recording(simulators, run_sim, lss, tmp_path: Path) -> None:
    def cycles(*options) -> list[int]:
        run_sim(simulators["recording"], "--cycles", 1000, "--record", "run.trace", *options)
        return [r["cycle"] for r in objects(lss, tmp_path / "run.trace", "--event", "g.read")]

    assert cycles("--record-from", "cycles(clk) >= 58", "--record-to", "cycles(clk) >= 158") == [107, 157]
    assert cycles("--record-from", "event(g.read, 3)", "--record-to", "event(g.empty, 3)") == [157, 207, 257]
    assert cycles("--record-from", "k.items >= 290") == list(range(307, 1000, 50))
    late = run_sim(simulators["recording"], "--cycles", 50, "--record", "run.trace", "--record-from", "event(g.empty)", ok=False)
    assert late.status == 1
    assert 'the run ended before the condition of --record-from, "event(g.empty)", came true' in late.err


def test_recording_goes_on_from_a_checkpoint(simulators, run_sim, lss, tmp_path: Path) -> None:
    simulator = simulators["recording"]
    run_sim(simulator, "--cycles", 400, "--checkpoint", "point")
    run_sim(simulator, "--cycles", 900, "--restore", "point", "--record", "second.trace")
    run_sim(simulator, "--cycles", 900, "--record", "whole.trace")
    whole = lss("trace", tmp_path / "whole.trace", "--cycles", "400-900").out
    assert len(whole) > 10000 and lss("trace", tmp_path / "second.trace").out == whole


def test_instructions(dual, run_sim, lss, tmp_path: Path) -> None:
    simulator, program = dual
    plain = run_sim(simulator, "--program", program)
    done = run_sim(simulator, "--program", program, "--record", "run.trace", "--record-events", "instructions", "--record-events", "memory")
    assert done.stats["statistics"] == plain.stats["statistics"]
    records = objects(lss, tmp_path / "run.trace")
    for core in ("core[0].pipeline", "core[1].pipeline"):
        mine = [r for r in records if r["core"] == core]
        retired = [r["arguments"] for r in mine if r["event"] == "retire"]
        assert len(retired) == plain.value(f"{core}.writeback", "instructions")
        # addiu $t, $s, n: its result is that of the last instruction that wrote $s, and n.  Others write rt or rd, but
        # for branches and stores.
        registers: dict[int, int] = {}
        checked = 0
        for instruction in retired:
            word, value = instruction["word"], instruction["value"]
            source, target, number = word >> 21 & 31, word >> 16 & 31, (word & 0x7FFF) - (word & 0x8000)
            if word >> 26 == 9:
                checked += source in registers
                assert registers.get(source, value - number & 0xFFFFFFFF) + number & 0xFFFFFFFF == value
                registers[target] = value
            elif word >> 26 == 0:
                registers[word >> 11 & 31] = value
            elif word >> 26 not in (1, 2, 3, 4, 5, 6, 7, 40, 41, 43):
                registers[target] = value
            registers[0] = 0
        assert checked > 20
        assert {r["function"] for r in mine} == {"_start", "main"}
    assert any(r["arguments"]["address"] == 0xFFFF0000 and r["arguments"]["op"] == "write" for r in records if r["event"] == "access")
    text = lss("trace", tmp_path / "run.trace", "--core", "core[1]", "--function", "main").out
    assert "core[0]" not in text and "_start" not in text and len(text) > 1000
    inlined = lss("trace", tmp_path / "run.trace", "--core", "core[0]", "--function", "fetch_add").out.splitlines()
    assert len(inlined) > 5 and all("<main+0x" in line and re.search(r"fetch_add \(inlined\), sum\.c:\d+$", line) for line in inlined)
    assert {"fetch_add"} in [{*r["inlined"]} for r in records if r.get("inlined")]
    stores = lss("trace", tmp_path / "run.trace", "--address", "0xffff0000-0xffff0007").out.splitlines()
    assert len(stores) > 20 and all("op=write address=0xffff000" in line and "console.h:" in line for line in stores)


@seldom
def test_a_killed_run_leaves_nothing_and_an_interrupted_one_all(simulators, lss, tmp_path: Path) -> None:
    for number, left in ((signal.SIGKILL, []), (signal.SIGTERM, ["run.trace"])):
        run = subprocess.Popen([simulators["recording"], "--quiet", "--record", "run.trace"], cwd=tmp_path, stderr=subprocess.PIPE)
        time.sleep(0.5)
        run.send_signal(number)
        run.communicate(timeout=60)
        assert [path.name for path in tmp_path.iterdir()] == left
    assert len(lss("trace", tmp_path / "run.trace", "--event", "g.empty").out) > 1000


def test_damaged_files_are_refused_in_one_line(simulators, run_sim, lss, tmp_path: Path) -> None:
    run_sim(simulators["recording"], "--cycles", 3000, "--record", "run.trace")
    whole, damaged, random_ = (tmp_path / "run.trace").read_bytes(), tmp_path / "damaged.trace", random.Random(1)
    contents = [b"", b"SPINTRCE", b"#!/bin/sh\necho\n", whole[:40], whole[:-1], whole[: len(whole) // 2], whole + b"x"]
    for _ in range(60):
        place, bit = random_.randrange(len(whole)), random_.randrange(8)
        contents.append(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
    said = set()
    for content in contents:
        damaged.write_bytes(content)
        done = lss("trace", damaged, ok=False)
        assert done.status == 1 and done.err.count("\n") == 1, (done.err, done.status)
        said.add(re.fullmatch(r'lss trace: cannot read ".*damaged.trace": (it [^:]*)(: .*)?\n', done.err)[1])
    assert said == {"it is cut off", "it is damaged", "it holds no recorded events"}
    missing = lss("trace", tmp_path / "none", ok=False)
    assert missing.status == 1 and missing.err.endswith("No such file or directory\n") and missing.err.count("\n") == 1


def test_wrong_command_lines(simulators, run_sim, lss, tmp_path: Path) -> None:
    def refused(status: int, words: str, *options) -> None:
        done = run_sim(simulators["plain"], "--cycles", 10, *options, ok=False)
        assert done.status == status and words in done.err, done.err

    refused(2, "what is recorded lacks its file: --record FILE", "--record-events", "memory")
    refused(2, "what is recorded lacks its file", "--record-from", "10 ns")
    refused(1, 'nothing that matches "g" has an event `raed`; did you mean `read`?', "--record", "x", "--record-events", "g.raed")
    refused(1, 'nothing that matches "**" has events of the kind `memory`', "--record", "x", "--record-events", "memory")
    refused(1, "what is recorded is written PATH.EVENT", "--record", "x", "--record-events", "everything")
    refused(1, "with or without a pattern after it; did you mean `ports`?", "--record", "x", "--record-events", "port")
    refused(1, 'nothing that matches "gg" has an event `read`; did you mean `g.read`?', "--record", "x", "--record-events", "gg.read")
    refused(1, 'cannot record to "none/x": No such file or directory', "--record", "none/x", "--record-events", "g.read")
    refused(1, 'cannot record to "/dev/null": it is no regular file', "--record", "/dev/null", "--record-events", "g.read")
    assert not list(tmp_path.glob("x*"))
    run_sim(simulators["plain"], "--cycles", 200, "--record", "y.trace", "--record-events", "g.read")
    for option, pattern, said in (("--event", "g.raed", 'event "g.raed"; did you mean `g.read`?'), ("--event", "nothing", 'event "nothing"; there are g.read'), ("--core", "g", 'processor "g"'), ("--function", "mian", 'instruction of a function "mian"')):
        wrong = lss("trace", tmp_path / "y.trace", option, pattern, ok=False)
        assert (wrong.status, wrong.out) == (1, "") and wrong.err == f'lss trace: "{tmp_path / "y.trace"}" has no {said}\n'
    empty = lss("trace", tmp_path / "y.trace", "--cycles", "1-2")
    assert (empty.out, empty.err) == ("", "lss trace: note: nothing that was recorded is what the options choose\n")
    wrong = lss("trace", "x", "--cycles", "9-3", ok=False)
    assert wrong.status == 2 and wrong.err == 'lss trace: --cycles takes a number or a range, "1000-2000", not "9-3"; `lss trace --help` shows the usage\n'
