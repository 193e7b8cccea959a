"""Profiles: their sums are the statistics of the run, their call trees those of a program whose calls are known, and
other people's tools read the files that are made of them."""

import gzip
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from harness.trace import profile_table
from harness.trace.profile import Core, Cost, Place, Profile, Region, Requests, chains, functions, read
from tests.sample import sampled, seldom

CAUSES = {"fetch": "stall_fetch", "memory": "stall_memory", "load_use": "stall_load_use", "branch": "stall_branch", "multiply_divide": "stall_multiply_divide", "structural": "stall_structural", "halted": "halted", "issued": "issued"}
PROGRAM = r"""
#define APART __attribute__((noinline))
volatile unsigned sink;
APART unsigned leaf(unsigned n) { sink = n; return n * 3; }
APART static unsigned branch(unsigned n) { sink += n; return leaf(n + 1); }
unsigned tail(unsigned n);
__asm__(".text\n.globl tail\n.type tail, @function\n.set noreorder\ntail: j leaf\naddiu $4, $4, 1\n.size tail, .-tail\n");
APART static unsigned deep(unsigned n) { return n ? deep(n - 1) + sink : 1; }
APART static void one(void) { sink = 1; }
APART static void two(void) { sink = 2; }
static void (*volatile const table[])(void) = {one, two, one};
int main(void) {
  for (unsigned i = 0; i < 10; i++) sink = branch(i);
  for (unsigned i = 0; i < 4; i++) sink = tail(i);
  deep(5);
  for (unsigned i = 0; i < 3; i++) table[i]();
  return 0;
}
"""


@pytest.fixture
def profiled(build_dir: Path, root: Path, lss, run_sim, tmp_path: Path):
    """profiled(machine, [defines], options...): statistics without and with a profile, which must agree, and the profile."""

    def run(machine: str, defines: list[str], *options) -> tuple[object, Profile]:
        given = [word for define in defines for word in ("-D", define)]
        for name, more in (("plain", []), ("profiling", ["--record", "profile"])):
            lss("build", "-O0", root / "examples" / f"{machine}.lss", *given, *more, "-o", tmp_path / name)
        plain = run_sim(tmp_path / "plain", *options)
        done = run_sim(tmp_path / "profiling", *options, "--profile", "profile.json")
        assert {**done.stats, "manifest": 0} == {**plain.stats, "manifest": 0}
        return plain, read(tmp_path / "profile.json")

    return run


def totals(core: Core, causes: list[str]) -> dict[str, int]:
    return {cause: sum(place.cycles[i] for place in core.places) for i, cause in enumerate(causes)}


def value(done, path: str, name: str) -> int:
    """A statistic of all instances below a path."""
    return sum(e["value"] for e in done.stats["statistics"] if e["path"].startswith(path + ".") and e["name"] == name)


def check_sums(done, profile: Profile) -> None:
    for core in profile.cores:
        sums = totals(core, profile.causes)
        assert sums.pop("unknown") == 0
        assert sums == {cause: value(done, core.path, CAUSES[cause]) for cause in sums}
        assert core.cycles == sum(sums.values()) == core.issue_stages * done.stats["run"]["cycles"][core.clock]
        assert core.instructions == value(done, core.path, "instructions") == sum(p.instructions for p in core.places)
        assert core.cycles == sum(call.cycles for call in core.calls)
        assert core.instructions == sum(call.instructions for call in core.calls)
        requests = [one for place in core.places for one in place.requests]
        assert sum(one.accept + one.reply for one in requests) == sums["memory"]
        assert sum(one.fetch_accept + one.fetch_reply for one in requests) <= sums["fetch"]
        unnamed = [place for place in core.places if place.instructions and not (place.text and place.function)]
        assert not unnamed, unnamed[0]


@pytest.mark.parametrize(
    ("machine", "program", "cores"),
    sampled([("dual_core/dual_core", "sum", 2), ("vliw_core/vliw_core", "fir", 1), ("rfu_core/rfu_core", "fir", 1)], 3),
)
def test_totals_are_the_statistics_of_the_run(machine, program, cores, profiled, build_dir: Path) -> None:
    done, profile = profiled(machine, [], "--program", build_dir / "firmware" / program / f"{program}.elf", "--cycles", 60000)
    check_sums(done, profile)
    assert len(profile.cores) == cores


@seldom
def test_inlined_functions(profiled, build_dir: Path, tmp_path: Path) -> None:
    """They are callees in the chain, by themselves in the table, and what they call is theirs; the sums stay the same."""
    done, profile = profiled("riscv_core/riscv_core", [], "--program", build_dir / "firmware/sha256/sha256.elf", "--cycles", 60000)
    check_sums(done, profile)
    (core,) = profile.cores
    assert max(core.calls, key=lambda call: call.cycles * (call.function == "rotate_right")).inlined
    deepest = "_start main show digest (inlined) compress rotate_right (inlined)"
    [rotate] = [call for names, call in chains(core) if " ".join(names) == deepest]
    by_itself, symbols = (dict(functions(core, inlined)) for inlined in (True, False))
    own = by_itself["rotate_right (inlined)"]
    rotating = own.total
    assert rotate.instructions == own.instructions > 10000 and abs(rotate.cycles - rotating) < 1000  # that was annulled belongs to what was before it
    assert "rotate_right (inlined)" not in symbols and symbols["compress"].instructions == by_itself["compress"].instructions + own.instructions
    assert sum(cost.total for cost in by_itself.values()) == sum(cost.total for cost in symbols.values()) == core.cycles
    place = next(place for place in core.places if place.inlined and place.inlined[0].function == "rotate_right")
    source = (build_dir.parent / "firmware/sha256/sha256.c").read_text().splitlines()
    assert place.function == "compress" and "return x >> n" in source[place.line - 1] and "rotate_right(" in source[place.inlined[0].line - 1]
    table = harness(tmp_path / "profile.json", "--inlined", "--top", 3).stdout
    assert re.search(rf"^rotate_right \(inlined\) +{rotating:,} ", table, re.MULTILINE)
    annotated = harness(tmp_path / "profile.json", "--annotate", "rotate_right").stdout
    assert f"sha256.c: rotate_right (inlined)\n{rotating:>11,} " in annotated
    around = harness(tmp_path / "profile.json", "--annotate", "compress").stdout
    assert re.search(rf"sha256\.c\n(.|\n)*sha256\.c: rotate_right \(inlined\)\n +{rotating:,} ", around)
    harness(tmp_path / "profile.json", "--flame", "flame.svg", "--callgrind", "callgrind.out")
    assert f"rotate_right (inlined): {rotate.cycles:,} cycles" in (tmp_path / "flame.svg").read_text()
    calls = (tmp_path / "callgrind.out").read_text()
    assert "fn=rotate_right (inlined)\n" in calls and "cfn=rotate_right (inlined)\n" in calls


@seldom
def test_programs_of_one_processor(profiled, build_dir: Path) -> None:
    """Each has a profile of its own, in the functions of its own program, though both are at the same addresses."""
    programs = [build_dir / "firmware" / name / f"{name}.elf" for name in ("sha256", "list_walk")]
    done, profile = profiled("wide_core/wide_core", ["contexts=2"], "--program", ",".join(map(str, programs)), "--cycles", 20000)
    assert [core.path for core in profile.cores] == ["core context 0", "core context 1"]
    for n, core in enumerate(profile.cores):
        assert core.instructions == value(done, "core", f"instructions_of[{n}]") == sum(call.instructions for call in core.calls) > 10000
    compress, walk = ({place.function for place in core.places if place.instructions} for core in profile.cores)
    assert "compress" in compress and "compress" not in walk and None not in compress | walk


@pytest.mark.soak
def test_two_processors_of_a_network_interface(profiled, build_dir: Path) -> None:
    """Idle time is skipped while the host starts up; code runs in scratchpads, where the firmware copied it."""
    firmware = build_dir / "firmware/tigon2_parallel/tigon2_parallel.elf"
    done, profile = profiled("tigon2/tigon2", ["processors=2"], "--firmware", firmware, "--payload", 1472, "--time", "2500 us")
    check_sums(done, profile)
    first, second = profile.cores
    assert [region.name for region in first.regions] == ["nic.cpu[0].scratchpad", "nic.sram", "nic.registers"]
    copied = Counter()
    for place in second.places:
        copied[place.function] += sum(place.cycles) * (place.pc >= 0xC00000)
    assert copied["send"] > 5000 and copied["dma_read_done"] > 2500
    scratchpad = [one for place in second.places for one in place.requests if one.region == 0]
    assert sum(one.fetch_accept for one in scratchpad) > 500  # while loads and stores are served
    assert not any(one.fetch_reply for one in scratchpad)  # it replies in the same cycle
    assert min(profile.events[f"nic.mac_{one}"] for one in ("rx.received", "tx.sent")) > 25


@seldom
def test_memories_are_charged_for_fetches_that_wait(lss, run_sim, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """A memory that takes ten cycles longer takes that of the fetches that wait for it, and of nothing else."""
    waits, others = [], []
    for latency in (2, 12):
        lss("build", "-O0", root / "examples/dual_core/dual_core.lss", "-D", "processors=1", "-D", f"latency={latency}", "--record", "profile", "-o", tmp_path / "one")
        run_sim(tmp_path / "one", "--program", build_dir / "firmware/sum/sum.elf", "--profile", "p.json")
        profile = read(tmp_path / "p.json")
        (core,) = profile.cores
        shared = [one for place in core.places for one in place.requests if core.region_names()[one.region] == "shared"]
        waits.append(sum(one.fetch_reply for one in shared))
        others.append(totals(core, profile.causes)["fetch"] - waits[-1])
    assert waits[1] > waits[0] + 400 and abs(others[1] - others[0]) < 20


def test_a_window(lss, run_sim, root: Path, build_dir: Path, tmp_path: Path) -> None:
    lss("build", root / "examples/dual_core/dual_core.lss", "--record", "profile", "-o", tmp_path / "dual")
    program = build_dir / "firmware/sum/sum.elf"
    run_sim(tmp_path / "dual", "--program", program, "--profile", "p.json", "--record-from", "cycles(cpu_clk) >= 300", "--record-to", "cycles(cpu_clk) >= 1300")
    profile = read(tmp_path / "p.json")
    for core in profile.cores:
        assert core.cycles == 1000 and totals(core, profile.causes)["unknown"] < 50


@pytest.fixture(scope="module")
def known(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The profile of a program whose calls are known."""
    folder = tmp_path_factory.mktemp("known")
    source = folder / "known"
    source.mkdir()
    (source / "known.c").write_text(PROGRAM)
    (source / "machine").write_text(f"{root}/examples/single_core/single_core.lss\n")
    subprocess.run([sys.executable, "-m", "harness", "firmware", "known"], cwd=folder, check=True, env={"PATH": f"{build_dir}/bin:/usr/bin:/bin", "PYTHONPATH": str(root)})
    subprocess.run([build_dir / "bin/lss", "build", root / "examples/single_core/single_core.lss", "--record", "profile", "-o", "sim"], cwd=folder, check=True)
    subprocess.run(["./sim", "--quiet", "--program", "known.elf", "--profile", "profile.json"], cwd=folder, check=True)
    return folder / "profile.json"


def test_calls(known: Path) -> None:
    (core,) = read(known).cores
    calls = Counter()
    for names, call in chains(core):
        calls[" ".join(names)] += call.calls
    main = "_start main"
    assert calls[f"{main} branch"] == 10 and calls[f"{main} branch leaf"] == 10
    assert calls[f"{main} tail"] == 4 and calls[f"{main} leaf"] == 4  # which tail leaves in its place
    assert [calls[main + " deep" * n] for n in range(1, 8)] == [1, 1, 1, 1, 1, 1, 0]
    assert calls[f"{main} one"] == 2 and calls[f"{main} two"] == 1
    assert calls[main] == 1 and not [name for name in calls if name.count("main") > 1]


ELSEWHERE = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}  # what is not run in the tree finds it so


def harness(known: Path, *options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "harness", "profile", known, *map(str, options)], cwd=known.parent, env=ELSEWHERE, capture_output=True, text=True)


def test_table_and_annotated_source(known: Path) -> None:
    core = read(known).cores[0]
    table = harness(known).stdout
    assert f"core: {core.cycles:,} cycles, {core.instructions:,} instructions" in table
    assert "fetches: to be accepted" in table and "none: after a branch" in table and "of functions: to be accepted + for the reply" in table
    shown = dict(re.findall(r"^(\w+) +([\d,]+) ", table.split("cycles that loads")[0], re.MULTILINE))
    assert {name: int(shown[name].replace(",", "")) for name in ("leaf", "main")} == {name: sum(sum(p.cycles) for p in core.places if p.function == name) for name in ("leaf", "main")}
    source = harness(known, "--annotate", "leaf", "--code").stdout
    line = PROGRAM.splitlines().index(next(text for text in PROGRAM.splitlines() if "unsigned leaf(unsigned n)" in text)) + 1
    assert re.search(rf"^ +[\d,]+ +[\d,]+ .*\| +{line} APART unsigned leaf", source, re.MULTILINE)
    assert sum(int(n.replace(",", "")) for n in re.findall(r"^ +([\d,]+) .*\|         [0-9a-f]{8}  ", source, re.MULTILINE)) == int(shown["leaf"].replace(",", ""))
    wrong = harness(known, "--annotate", "nobody")
    assert wrong.returncode == 1 and wrong.stderr == 'harness: no processor executed a function "nobody"\n'
    wrong = harness(known, "--core", "gpu")
    assert wrong.returncode == 1 and wrong.stderr == 'harness: no processor matches "gpu"; there are core\n'
    other = harness(known.parent / "known.elf")
    assert other.returncode == 1 and other.stderr.count("\n") == 1 and "is no profile" in other.stderr


def test_flame_graph(known: Path) -> None:
    harness(known, "--flame", "flame.svg")
    root = ET.fromstring((known.parent / "flame.svg").read_text())
    boxes = [(g[0].text, float(g[1].get("x")), float(g[1].get("width")), int(g[1].get("y"))) for g in root.iter("{http://www.w3.org/2000/svg}g")]
    core = read(known).cores[0]
    (whole,) = [box for box in boxes if box[0].startswith("all: ")]
    assert f"{core.cycles:,} cycles (100.00 %)" in whole[0] and abs(whole[2] - 1180) < 1
    for title, x, width, y in boxes:  # each upon one that is at least as wide
        below = [box for box in boxes if box[3] == y + 18 and box[1] <= x + 0.01 and box[1] + box[2] >= x + width - 0.5]
        assert below or title == whole[0], title
    assert any(title.startswith("leaf: ") and "called 10 times" in title for title, *_ in boxes)


def test_waits_of_equal_length_are_shown() -> None:
    """Of functions and of the whole processor, with a column for each memory that anything waits for."""
    asked = Requests(0, reads=2, writes=1, accept=3, reply=3, fetch_accept=4, fetch_reply=4)
    place = Place(pc=0, word=0, text="", instructions=2, cycles=[2, 10, 6], requests=[asked, Requests(1, writes=1)], function="leaf")
    regions = [Region("ram", 0, 99), Region("io", 100, 199)]
    core = Core("core", "clk", 1, 1, 2, 18, regions, [place], [])
    whole = Cost()
    whole.add(place)
    causes = ["issued", "fetch", "memory"]
    waits, memories = profile_table._waits(core, whole, causes, functions(core)[:5]), profile_table._memories(core, whole, causes)
    assert [(column.header, *column.cells) for column in waits.columns] == [("function", "leaf"), ("fetch ram", "4 + 4"), ("fetch: none", "2"), ("ram", "3 + 3")]
    assert [list(column.cells)[0] for column in memories.columns] == ["ram", "2", "1", "3", "3", "4", "4"]


def test_callgrind_reads_it(known: Path) -> None:
    harness(known, "--callgrind", "callgrind.out")
    done = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "callgrind.out"], cwd=known.parent, capture_output=True, text=True)
    core = read(known).cores[0]
    assert done.returncode == 0, done.stderr
    assert re.search(rf"^{core.cycles:,} \(100.0%\) +{core.instructions:,} \(100.0%\).* PROGRAM TOTALS", done.stdout, re.MULTILINE)
    inclusive = {name: int(n.replace(",", "")) for n, name in re.findall(r"^ *([\d,]+) .*known.c:(\w+)", done.stdout, re.MULTILINE)}
    below = sum(call.cycles for names, call in chains(core) if "main" in names)
    assert inclusive["main"] == below


def fields(message: bytes) -> dict[int, list]:
    """A protobuf message: numbers and bytes by field."""
    found: dict[int, list] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        number = shift = 0
        while True:
            byte = message[at]
            at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    while at < len(message):
        key = varint()
        assert key & 7 in (0, 2)
        content: object = varint()
        if key & 7 == 2:
            content, at = message[at : at + content], at + content
        found.setdefault(key >> 3, []).append(content)
    return found


def test_pprof(known: Path) -> None:
    harness(known, "--pprof", "profile.pb.gz")
    profile = fields(gzip.decompress((known.parent / "profile.pb.gz").read_bytes()))
    core = read(known).cores[0]
    texts = [text.decode() for text in profile[6]]
    assert texts[0] == "" and [texts[fields(kind)[1][0]] for kind in profile[1]] == ["cycles", "instructions"]

    def numbers(packed: bytes) -> list[int]:
        return fields(b"".join(b"\x08" + part for part in re.findall(rb"[\x80-\xff]*[\x00-\x7f]", packed)))[1]

    samples = [fields(sample) for sample in profile[2]]
    cycles = sum(numbers(sample[2][0])[0] for sample in samples)
    assert cycles == core.cycles - core.calls[0].cycles
    names = {fields(function)[1][0]: texts[fields(function)[2][0]] for function in profile[5]}
    places = {fields(place)[1][0]: fields(fields(place)[4][0])[1][0] for place in profile[4]}
    stacks = {tuple(names[places[place]] for place in numbers(sample[1][0])) for sample in samples}
    assert ("leaf", "branch", "main", "_start") in stacks and ("leaf", "main", "_start") in stacks and ("deep",) * 6 + ("main", "_start") in stacks
