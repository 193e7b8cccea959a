"""The bottleneck report on netlists whose limiter is known by construction, on every example, and on wrong input."""

import io
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from harness.bottleneck import Analysis, NetlistError, analyse, diagram, measure, page, text
from harness.bottleneck.netlist import keys_of_lanes
from harness.run.store import without
from tests.sample import sampled, seldom

CYCLES = 3000


class Examine:
    """Builds and examines small netlists; each gets a folder of its own."""

    def __init__(self, build: Path, folder: Path) -> None:
        self.build, self.folder, self.made = build, folder, 0

    def __call__(self, netlist: str, *settings: str, cycles: int = CYCLES, after: str = "", **files: str) -> Analysis:
        self.made += 1
        self.out = self.folder / f"machine{self.made}"
        self.out.mkdir(parents=True)
        (self.out / "machine.lss").write_text(netlist)
        for name, content in files.items():
            (self.out / name.replace("_dot_", ".")).write_text(content)
        arguments = ["--cycles", str(cycles), *(text for one in settings for text in ("--set", one))]
        return measure.examine(self.out / "machine.lss", self.build, self.out, arguments=arguments, after=after)


@pytest.fixture
def examine(build_dir: Path, tmp_path: Path) -> Examine:
    return Examine(build_dir, tmp_path)


def printed(analysis: Analysis) -> str:
    console = Console(width=200, record=True, file=io.StringIO())
    text.show(analysis, console)
    return console.export_text()


CHAIN = """
instance producer : source;
instance first : pipe { depth = 3; };
instance second : pipe;
instance consumer : sink;
producer.out -> first.in : uint32;
first.out -> second.in;
second.out -> consumer.in;
"""
# Takes an item only every `every` cycles.
WORKER = """
module worker {
  parameter every = 4 : int;
  inport in : 'a;
  outport out : 'a;
  state { 'a item; bool full; uint64 next; }
  phase_start -> out.data, in.ack;
  phase_end;
}
"""
WORKER_C = """/* worker.c: takes an item every so many cycles. */
phase_start() {
  send_if(out, self->full, self->item);
  accept(in, !self->full && cycle() >= self->next);
}
phase_end() {
  if (transferred(out)) self->full = false;
  if (transferred(in)) {
    self->item = data(in);
    self->full = true;
    self->next = cycle() + param(every);
  }
}
"""


def test_a_slow_sink_limits(examine: Examine) -> None:
    analysis = examine(CHAIN, "consumer.ready=0.3")
    limiter = analysis.limiter
    assert limiter.cause.kind == "busy" and limiter.name == "consumer" and limiter.busy > 0.99
    assert [str(link) for link in limiter.waiters] == ["second.out → consumer.in"]
    assert limiter.waited == pytest.approx(0.7, abs=0.05)
    # Whatever waits, waits for the sink in the end; the way there is the whole chain behind it.
    assert {str(c.link) for c in analysis.waiting} == {"producer.out → first.in", "first.out → second.in", "second.out → consumer.in"}
    assert all(c.cause.path == "consumer" for c in analysis.waiting)
    first = next(c for c in analysis.waiting if c.link.source.path == "producer")
    assert [step.link.target.path for step in first.steps] == ["first", "second", "consumer"]
    assert analysis.verdict.startswith("consumer is the limiter: busy 99.")
    assert "second.out → consumer.in" in analysis.verdict


def test_a_slow_middle_limits(examine: Examine) -> None:
    netlist = CHAIN.replace("second : pipe", "second : worker { every = 4; }")
    analysis = examine(netlist, worker_dot_lss=WORKER, worker_dot_c=WORKER_C)
    assert analysis.limiter.name == "second" and analysis.limiter.cause.kind == "busy" and analysis.limiter.busy > 0.99
    # What is behind it waits three cycles of four, what is before it starves.
    assert analysis.limiter.waited == pytest.approx(0.75, abs=0.01)
    after = next(link for link in analysis.machine.links if link.source.path == "second")
    assert after.waiting == 0 and after.idle == pytest.approx(0.75, abs=0.01)
    assert [one.cause.path for one in analysis.starved] == ["second"]


def test_an_output_that_two_share_limits(examine: Examine) -> None:
    analysis = examine("""
        instance requester[2] : source;
        instance arbiter : mux { choose = <<< return offered == 3 ? last != 1 : (int32_t)offered - 1; >>>; };
        instance consumer : sink;
        requester[0].out -> arbiter.in : uint32;
        requester[1].out -> arbiter.in;
        arbiter.out -> consumer.in;
    """)
    limiter = analysis.limiter
    assert limiter.cause.kind == "port" and limiter.name == "arbiter.out" and limiter.busy > 0.99
    assert [str(link.target) for link in limiter.waiters] == ["arbiter.in[0]", "arbiter.in[1]"]
    assert all(link.waiting == pytest.approx(0.5, abs=0.01) for link in limiter.waiters)
    assert "one a cycle is its maximum" in analysis.verdict


MEMORY = """
instance requester[2] : memory_source;
instance arbiter : memory_arbiter;
instance controller : sram_controller { first_access = 5; };
instance memory : memory_state { size = 64 KiB; };
requester[0].memory -> arbiter.in;
requester[1].memory -> arbiter.in;
arbiter.out -> controller.in;
controller.memory -> memory.port;
"""


@seldom
def test_a_memory_that_two_requesters_share(examine: Examine) -> None:
    scripts = {
        "a_dot_txt": "".join("0 write 8 0x100 1\n" for _ in range(100)),
        "b_dot_txt": "".join(f"0 read 4 {0x1000 + 64 * i:#x}\n" for i in range(300)),
    }
    out = examine.folder / "machine1"
    analysis = examine(
        MEMORY, f"requester[0].script={out}/a.txt", f"requester[1].script={out}/b.txt", "requester[0].outstanding=8",
        "requester[1].outstanding=8", cycles=700, **scripts,
    )  # fmt: skip
    limiter = analysis.limiter
    assert limiter.name == "controller" and limiter.busy > 0.98, "the module's own count says that it is busy"
    assert {str(link.target) for link in limiter.waiters} == {"arbiter.in.request[0]", "arbiter.in.request[1]"}
    # Bytes as the arbiter's references carried them; one reference of 8 bytes a cycle is what its output could carry.
    arbiter = next(m for m in analysis.memories if m.path == "arbiter")
    links = {link.source.path: link for link in analysis.machine.links if link.target.path == "arbiter"}
    carried = {r.name: (r.read, r.written) for r in arbiter.requesters}
    assert carried == {
        "requester[0]": (0, 8 * links["requester[0]"].transferred),
        "requester[1]": (4 * links["requester[1]"].transferred, 0),
    }
    assert links["requester[0]"].transferred > 50 and arbiter.capacity == 700 * 8
    memory = next(m for m in analysis.memories if m.path == "memory")
    assert [r.name for r in memory.requesters] == ["arbiter"], "the requester behind the controller is the arbiter"


CROSSING = """
clock fast_clock = 500 MHz;
clock slow_clock = 50 MHz;
instance producer : source on fast_clock;
instance bridge : clock_crossing;
instance consumer : sink on slow_clock;
producer.out -> bridge.in : uint32;
bridge.out -> consumer.in;
"""


@pytest.mark.parametrize(("ready", "limiter"), [("1.0", "consumer.in"), ("0.9", "consumer"), ("0.6", "consumer")])
def test_a_slow_sink_behind_a_crossing_limits(examine: Examine, ready: str, limiter: str) -> None:
    """Ten fast cycles pass in a slow one, so the wait before a crossing says little about the wait behind it."""
    analysis = examine(CROSSING, f"consumer.ready={ready}", cycles=10 * CYCLES)
    assert analysis.limiter.name == limiter and analysis.limiter.busy > 0.99
    path = next(c for c in analysis.waiting if c.link.source.path == "producer")
    assert [step.link.target.path for step in path.steps] == ["bridge", "consumer"]
    assert path.steps[0].then == "always has an item to send"


@pytest.mark.parametrize(
    ("crossing", "memory", "limiter"), [("", 50, "memory.port.request"), ("outstanding = 1;", 400, "bridge")]
)
def test_a_memory_behind_a_crossing(examine: Examine, crossing: str, memory: int, limiter: str) -> None:
    """A memory that answers a reference in each of its cycles limits, unless the crossing lets too few through."""
    analysis = examine(f"""
        clock core_clock = 200 MHz;
        clock memory_clock = {memory} MHz;
        instance requester : memory_source on core_clock;
        instance bridge : memory_crossing {{ {crossing} }};
        instance memory : memory_state on memory_clock {{ size = 64 KiB; }};
        requester.memory -> bridge.in;
        bridge.out -> memory.port;
    """, "requester.outstanding=8", cycles=10 * CYCLES)  # fmt: skip
    assert analysis.limiter.name == limiter
    assert [str(link.target) for link in analysis.limiter.waiters] == ["bridge.in.request"]


def test_a_slow_source_starves_all(examine: Examine) -> None:
    analysis = examine(CHAIN, "producer.interval=10")
    assert analysis.limiter is None and not analysis.waiting
    (starved,) = analysis.starved
    assert starved.cause.kind == "source" and starved.cause.path == "producer"
    assert starved.link.target.path == "consumer" and starved.link.idle == pytest.approx(0.9, abs=0.01)
    assert "The sources limit" in analysis.verdict and "producer offers something in 10 % of the cycles" in analysis.verdict
    assert "producer sends no more" in printed(analysis)


CREDITS = {
    "sender_dot_lss": """
module sender {
  parameter credits = 4 : int;
  inport in : 'a;
  outport out : 'a;
  inport credit : bool;
  state { int32 left = credits; bool full; 'a item; }
  phase_start -> out.data, in.ack, credit.ack;
  phase_end;
}
""",
    "sender_dot_c": """/* sender.c: sends while it has credit. */
phase_start() {
  send_if(out, self->full && self->left > 0, self->item);
  accept(in, !self->full || self->left > 0);
  accept(credit, true);
}
phase_end() {
  if (transferred(out)) { self->full = false; self->left--; }
  if (transferred(in)) { self->item = data(in); self->full = true; }
  if (transferred(credit)) self->left++;
}
""",
    "receiver_dot_lss": """
module receiver {
  inport in : 'a;
  outport credit : bool;
  state { bool give; }
  phase_start -> in.ack, credit.data;
  phase_end;
}
""",
    "receiver_dot_c": """/* receiver.c: takes everything and gives a credit back for it. */
phase_start() { accept(in, true); send_if(credit, self->give, true); }
phase_end() { self->give = transferred(in); }
""",
}


HELD = {
    "gate_dot_lss": """
module gate {
  inport in : 'a;
  inport busy : bool;
  inport chatter : bool;
  always busy.ack, chatter.ack;
  handler accept : busy.data, chatter.data -> in.ack;
}
""",
    "gate_dot_c": """/* gate.c: takes an item while the unit is not busy; what the chatter says changes nothing. */
handler(accept) { accept(in, !data(busy)); }
""",
    "unit_dot_lss": """
module unit {
  outport working : bool;
  stat uint64 busy "cycles"; /** Cycles of work. */
  phase_start -> working.data;
  phase_end;
}
""",
    "unit_dot_c": """/* unit.c: works in three cycles of four, and counts them. */
phase_start() { send(working, cycle() % 4 != 0); }
phase_end() { count(busy, cycle() % 4 != 0); }
""",
    "chatterer_dot_lss": """
module chatterer {
  outport word : bool;
  outport out : uint32;
  always out.enable;
  phase_start -> word.data, out.data;
}
""",
    "chatterer_dot_c": """/* chatterer.c: always says something, and always offers an item. */
phase_start() {
  send(word, true);
  send(out, 1);
}
""",
}


def test_who_counts_that_it_is_busy_comes_before_who_only_waits(examine: Examine) -> None:
    """Both tell the gate something; the unit's statistic covers the wait, the other one's output waits all the time."""
    analysis = examine("""
        instance producer : source;
        instance gate : gate;
        instance chatterer : chatterer;
        instance never : sink { ready = 0.0; };
        instance unit : unit;
        producer.out -> gate.in : uint32;
        chatterer.word -> gate.chatter;
        chatterer.out -> never.in;
        unit.working -> gate.busy;
    """, **HELD)  # fmt: skip
    [path] = [one for one in analysis.waiting if one.link.target.path == "gate"]
    assert path.cause.path == "unit" and path.steps[0].then == "is stalled by unit"


@seldom
def test_a_loop_of_credits_limits(examine: Examine) -> None:
    """Four credits and a round trip of more than twenty cycles: no instance is slow, what goes round comes back too late."""
    analysis = examine("""
        instance producer : source;
        instance sender : sender;
        instance there : pipe { depth = 10; };
        instance receiver : receiver;
        instance back : pipe { depth = 10; };
        producer.out -> sender.in : uint32;
        sender.out -> there.in;
        there.out -> receiver.in;
        receiver.credit -> back.in;
        back.out -> sender.credit;
    """, **CREDITS)  # fmt: skip
    limiter = analysis.limiter
    assert limiter.cause.kind == "loop" and set(limiter.cause.members) == {"sender", "there", "receiver", "back"}
    assert [str(link) for link in limiter.waiters] == ["producer.out → sender.in"]
    assert limiter.waiters[0].moved == pytest.approx(4 / 22, abs=0.03)
    assert analysis.verdict.startswith("The loop ") and "latency is too long" in analysis.verdict
    for member in ("sender", "there", "receiver", "back"):
        assert member in analysis.verdict


@seldom
def test_counts_cover_every_cycle_and_the_beginning_is_left_out(examine: Examine) -> None:
    whole = examine(CHAIN, "consumer.ready=0.3")
    assert {link.cycles for link in whole.machine.links} == {CYCLES}
    part = examine(CHAIN, "consumer.ready=0.3", after="1us")  # 1000 cycles of 1 GHz
    assert {link.cycles for link in part.machine.links} == {CYCLES - 1000}
    assert part.machine.seconds == pytest.approx(2e-6)
    assert part.limiter.name == "consumer" and part.limiter.busy == 1.0


def test_a_window_between_conditions(examine: Examine) -> None:
    """Until whatever condition the beginning is left out, also if the run itself is bounded by another one."""
    by_time = examine(CHAIN, "consumer.ready=0.3", after="1us")
    by_cycles = examine(CHAIN, "consumer.ready=0.3", after="cycles(clk) >= 1000")
    assert [str(link) for link in by_time.machine.links] == [str(link) for link in by_cycles.machine.links]
    assert [(link.moved, link.waiting) for link in by_time.machine.links] == [(link.moved, link.waiting) for link in by_cycles.machine.links]
    assert without(["--until", "x", "--set", "a=1", "--until=y", "3"], ["--until"]) == ["--set", "a=1", "3"]
    stats, earlier = measure.run(examine.out / "simulator", examine.out, ["--until", "cycles(clk) >= 300"], "cycles(clk) >= 100")
    assert (earlier["run"]["cycles"]["clk"], stats["run"]["cycles"]["clk"]) == (100, 300)


def test_page_and_results(examine: Examine, tmp_path: Path) -> None:
    analysis = examine(CHAIN, "consumer.ready=0.3")
    written = page.write(analysis, tmp_path / "report", "A chain")
    content = written.read_text()
    assert content.count("<svg") == 1 and "consumer is the limiter" in content and "waits 7" in content
    assert content == page.write(analysis, tmp_path / "again", "A chain").read_text(), "the same for the same run"
    found = json.loads((tmp_path / "report" / "bottleneck.json").read_text())
    assert found["limiter"] == "consumer" and found["waiting"][0]["cause"] == "consumer"
    assert "<html" not in page.fragment(analysis), "a fragment goes into other pages"


# A worker that says why it stalls: every fourth cycle it takes an item, one it rests, two it thinks.
THINKER_C = """/* thinker.c: takes an item every fourth cycle, and counts why it takes none in the others. */
phase_start() { accept(in, cycle() % 4 == 0); }
phase_end() {
  if (cycle() % 4 == 1) count(stall_hard_thought);
  else if (cycle() % 4 > 1) count(stall_rest);
}
"""
THINKER = """
module thinker {
  inport in : 'a;
  stat uint64 stall_rest "cycles";         /** Cycles of rest. */
  stat uint64 stall_hard_thought "cycles"; /** Cycles of thought. */
  phase_start -> in.ack;
  phase_end;
}
"""


@seldom
def test_a_limiter_that_counts_its_stalls_says_why(examine: Examine, tmp_path: Path) -> None:
    netlist = "instance producer : source;\ninstance p : pipe;\ninstance slow : thinker;\nproducer.out -> p.in : uint32;\np.out -> slow.in;\n"
    analysis = examine(netlist, after="2 us", thinker_dot_lss=THINKER, thinker_dot_c=THINKER_C)
    assert analysis.limiter.name == "slow"
    why = "slow stalls for rest (50 %), hard thought (25 %); it does not stall in 25 % of the cycles."
    assert analysis.verdict.endswith(why)
    assert "Stalls by reason" in printed(analysis) and "rest (50 %), hard thought (25 %)" in printed(analysis)
    content = page.write(analysis, tmp_path / "report", "Thinking").read_text()
    assert why in content and ">hard thought<" in content
    found = json.loads((tmp_path / "report" / "bottleneck.json").read_text())
    [stalls] = found["stalls"]
    assert stalls["path"] == "slow" and stalls["reasons"] == pytest.approx({"rest": 0.5, "hard thought": 0.25})
    assert not examine(CHAIN).stalls and "Stalls by reason" not in printed(examine(CHAIN))


PROGRAMS = ("hello", "sum", "checksum", "fir")
EXAMPLES = {
    "pipe_chain": ([], ["--cycles", "500", "--set", "consumer.ready=0.5"], "consumer"),
    "arbiter": ([], ["--cycles", "500"], "arbiter.out"),
    "single_core": ([], ["--program", "hello"], "core.muldiv"),  # it looks for primes by division
    "rfu_core": ([], ["--program", "checksum"], None),
    "vliw_core": ([], ["--program", "fir"], None),
    "dual_core": (["latency=20"], ["--program", "sum"], "controller"),
}


@pytest.mark.parametrize("name", sampled(EXAMPLES, 3))
def test_examples(name: str, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Every example can be examined, and those whose limiter is known by construction are found."""
    defines, arguments, limiter = EXAMPLES[name]
    arguments = [str(build_dir / "firmware" / a / f"{a}.elf") if a in PROGRAMS else a for a in arguments]
    analysis = measure.examine(root / "examples" / name / f"{name}.lss", build_dir, tmp_path, defines, arguments)
    assert analysis.limiter and (limiter is None or analysis.limiter.name == limiter)
    assert analysis.limiter.name in printed(analysis)
    drawn = [re.sub(r"\[\d+\]", "[]", level.path) for level in diagram.levels(analysis)]
    assert len(drawn) == len(set(drawn)), "of equal modules, one is drawn"
    lines = [line for level in diagram.levels(analysis) for line in re.findall(r'^  "([^"]+)" -> "([^"]+)"', level.dot, re.MULTILINE)]
    assert lines and not [one for one in lines if one[0] == one[1]], "what stays within a module is no line"
    cores = [path for path, module in analysis.machine.modules.items() if module == "core_issue"]
    assert sorted(one.path for one in analysis.stalls) == sorted(cores)
    assert all({"load use", "branch", "fetch", "memory"} <= {reason for reason, _ in one.reasons} for one in analysis.stalls)


def test_modules_in_another_folder(root: Path, build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "way.lss").write_text("module way { inport in : uint32; outport out : uint32; in -> out; }\n")
    (tmp_path / "machine.lss").write_text(CHAIN.replace("second : pipe", "second : way"))
    command = [sys.executable, "-m", "harness", "bottleneck", str(tmp_path / "machine.lss"), "--build", str(build_dir)]
    command += ["-I", str(tmp_path / "parts"), "--out", str(tmp_path / "out"), "--", "--cycles", "100", "--set", "consumer.ready=0.3"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0 and "consumer is the limiter" in done.stdout, done.stdout + done.stderr


def test_one_request_is_one_wait(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """A load of cpu[2] waits in its pipeline, at its filter and at its cache: only the longest of these counts."""
    program = build_dir / "firmware" / "sum" / "sum.elf"
    machine = root / "examples" / "quad_core" / "quad_core.lss"
    limiter = measure.examine(machine, build_dir, tmp_path, [], ["--program", str(program)]).limiter
    assert limiter.name == "controller" and limiter.cause.kind == "reply"
    waits = {str(path.shared_port): path.shared_port.waiting for path in limiter.wait_paths}
    levels = ("pipeline.access.in", "filter.in.request", "dcache.controller.in.request")
    seen = [wait for level in levels for name, wait in waits.items() if name.endswith(f"cpu[2].{level}")]
    assert len(seen) == 3 and seen[0] > seen[1] > seen[2] > 0.1
    assert sorted(link.target.path.partition(".")[0] for link in limiter.waiters) == [f"cpu[{n}]" for n in range(4)]
    assert seen[0] in [link.waiting for link in limiter.waiters] and limiter.waited < sum(waits.values()) / 2


def test_what_is_too_wide_is_drawn_downwards() -> None:
    def size(boxes: int) -> list[float]:
        dot = "digraph { node [shape=box]; " + " -> ".join(f"module_number_{n}" for n in range(boxes)) + " }"
        svg = diagram.render(diagram.Level("", "", dot))
        return [float(one) for one in re.search(r'<svg width="(\d+)pt" height="(\d+)pt"', svg).groups()]

    (wide, low), (narrow, high) = size(4), size(40)
    assert wide > low and narrow < high and narrow < diagram.WIDEST


@pytest.mark.soak  # test_examples has smaller machines
@pytest.mark.slow
def test_the_network_interface(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """A memory that is made slow on purpose is named, with its requesters."""
    elf = build_dir / "firmware" / "tigon2" / "tigon2.elf"
    arguments = ["--firmware", str(elf), "--payload", "1472", "--frames", "60"]
    machine = root / "examples" / "tigon2" / "tigon2.lss"
    analysis = measure.examine(machine, build_dir, tmp_path, ["sram_frequency=40MHz"], arguments, "1.5ms")
    assert analysis.limiter.name == "nic.controller" and analysis.limiter.busy > 0.9
    assert not [one.name for one in analysis.limiters if "memory_path" in one.name], "a crossing forwards, it is not the cause"
    cycles = {link.cycles for link in analysis.machine.links}
    assert len(cycles) == 2, "every connection was counted in every cycle of its clock, asleep or not"
    arbiter = analysis.memories[0]
    assert {"nic.dma_read", "nic.dma_write", "nic.mac_tx", "nic.mac_rx", "nic.cpu[0]"} <= {r.name for r in arbiter.requesters}
    assert "<svg" in page.fragment(analysis)


def test_wrong_input_is_one_line(examine: Examine, tmp_path: Path) -> None:
    examine(CHAIN)
    netlist = json.loads((examine.out / "netlist.json").read_text())
    stats = json.loads((examine.out / "statistics.json").read_text())
    with pytest.raises(NetlistError, match="build the simulator with --collect connections"):
        analyse(netlist, {k: v for k, v in stats.items() if k != "connections"})
    with pytest.raises(NetlistError, match="nothing is left to examine, make --after less"):
        analyse(netlist, stats, stats)
    other = {**stats, "connections": stats["connections"][1:]}
    with pytest.raises(NetlistError, match="lack .*: they are from another machine"):
        analyse(netlist, other)
    with pytest.raises(measure.MeasureError, match="unknown-module|nowhere"):
        examine("instance a : nowhere;\n")
    with pytest.raises(measure.MeasureError, match="consumer.redy"):
        examine(CHAIN, "consumer.redy=1")


@pytest.mark.parametrize("name", ["arbiter", "dual_core", "tigon2", "nic10g"])
def test_whatever_the_counts_every_wait_has_a_cause(name: str, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Counts that no run would give must not send the search round in circles or leave a path without an end."""
    file = tmp_path / "netlist.json"
    command = [build_dir / "bin" / "lss", "export", root / "examples" / name / f"{name}.lss", "-o", file]
    subprocess.run(command, check=True, capture_output=True)
    netlist = json.loads(file.read_text())
    keys = keys_of_lanes(netlist)
    widths = {f"{i['path']}.{p['name']}": p.get("width", 1) for i in netlist["instances"] for p in i["ports"]}
    for seed in range(5):
        chance = random.Random(seed)
        counts = []
        for c in netlist["connections"]:
            lanes = {e: keys.get((c[e], c[f"{e}_lane"])) or c[f"{e}_lane"] for e in ("from", "to")}
            ends = {e: f"{c[e]}[{lanes[e]}]" if widths[c[e]] > 1 or lanes[e] else c[e] for e in ("from", "to")}
            cuts = sorted(chance.randrange(10001) for _ in range(3))
            shares = [b - a for a, b in zip([0, *cuts], [*cuts, 10000])]
            counts.append(ends | dict(zip(("transferred", "stalled", "cancelled", "idle"), chance.sample(shares, 4))))
        analysis = analyse(netlist, {"connections": counts, "statistics": [], "run": {"simulated_ns": 10000}})
        assert analysis.waiting and all(c.cause and c.shared_port for c in analysis.waiting), f"seed {seed}"
        assert all(c.cause for c in analysis.starved), f"seed {seed}"
        assert analysis.verdict and page.results(analysis)["waiting"], f"seed {seed}"
        assert printed(analysis), f"seed {seed}"
