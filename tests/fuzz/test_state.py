"""States that no run of a machine has: after a restore they are refused, or the run goes on without a crash.

A small machine in every run, all machines of examples/ in the soak.

The simulators are linked with poke_state.c, which changes the restored state before anything looks at it.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.examples.test_builds_agree import WORK
from tests.kits import Kit

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / "tests" / "engine" / "modules"
RANGED = "instance s : source { count = 100000; };\ninstance r : ranged;\ns.out -> r.in : uint32;\n"
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=0:exitcode=77", "UBSAN_OPTIONS": "halt_on_error=1:exitcode=77"}
SANITIZED = pytest.mark.parametrize("kit", ["sanitized"], indirect=True)
# field, byte at which it is changed, bytes, what is said; nothing: the run goes on
POKES = [
    ("last", 0, "04000000", "r.last: 4 is outside its range, -1 to 3"),
    ("last", 0, "feffffff", "r.last: -2 is outside its range, -1 to 3"),
    ("last", 0, "ffffffff", None),
    ("turn[1][2]", 0, "00286bee", "r.turn[1][2]: 4000000000 is outside its range, 0 to 3"),
    ("full[1]", 0, "07", "r.full[1]: 7 is neither false (0) nor true (1)"),
    ("full[0]", 0, "01", None),
    ("full[1]", 0, "01", "r: entry 0 is the first that is full, and is empty"),
    ("small", 0, "20", "r.small: what it holds does not fit in bits(5)"),
    ("small", 0, "1f", None),
    ("wide", 8, "40", "r.wide: what it holds does not fit in bits(70)"),
    ("kind", 0, "02", "r.kind: 2 is not a value of ranged_kind"),
    ("kind", 0, "05", None),
    ("entry[3]", 0, "04", "r.entry[3].at.way: 4 is outside its range, 0 to 3"),
    ("entry[3]", 4, "feff", "r.entry[3].at.owner[1]: -2 is outside its range, -1 to 7"),
    ("entry[3]", 6, "0010", "r.entry[3].word: what it holds does not fit in ranged_word"),
    ("entry[3]", 6, "07", "r.entry[3].word.low: 7 is outside its range, 0 to 4"),
    ("entry[3]", 6, "04", "r.entry[3].word.low: 4 is outside its range, 0 to 3"),
    ("entry[3]", 6, "20", "r.entry[3].word.kind: 2 is not a value of ranged_kind"),
    ("entry[0]", 8, "6400", "r.entry[0].number: 100 is outside its range, 0 to 99"),
    ("age[2]", 0, "07000080", "r.age[2]: 2147483655 modulo 4 is 3, outside its range, 0 to 2"),
    ("age[2]", 0, "06000080", None),
    ("entry[1]", 8, "0f", "r.entry[1].number: 15 modulo 8 is 7, outside its range, 0 to 6"),
    ("far", 0, "04", "r.far: 4 is outside its range, at least 5"),
    ("far", 0, "ffffffffffffffff", None),
    ("negative", 0, "fe", "r.negative: -2 is outside its range, at most -3"),
    ("table[599]", 0, "2d01", "r.table[599]: 301 is outside its range, 0 to 300"),
    ("history", 128, "20", "r.history: what says where its latest element is goes beyond its elements"),
]


@pytest.fixture(scope="module")
def poker(kit: Kit, tmp_path_factory) -> Callable[..., Path]:
    """poker(machine, *options): a simulator, in the soak with sanitizers, whose restored states can be changed."""
    changer = kit.make(kit.build, "fuzz/poke_state.o")
    flags = f"-O0 -Wl,--wrap=spinach_ranges_fault -Wl,{changer}"

    def build(machine: str | Path, *options: str) -> Path:
        folder = tmp_path_factory.mktemp("poked")
        source = machine
        if isinstance(machine, str):
            source = folder / "machine.lss"
            source.write_text(machine)
        command = [kit.lss, "build", *kit.options, "-I", MODULES, source, "-o", folder / "sim", *options]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **SANITIZERS, "LSS_CFLAGS": flags}
        )
        assert done.returncode == 0, done.stderr
        return folder / "sim"

    return build


@pytest.fixture(scope="module")
def ranged(poker) -> Path:
    return poker(RANGED)


def restored(simulator: Path, *options: str, **environment: str) -> subprocess.CompletedProcess:
    command = [simulator, "--quiet", "--restore", "point", *options]
    return subprocess.run(
        command,
        cwd=simulator.parent,
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, **SANITIZERS, **environment},
    )


def checkpoint(simulator: Path, *options: str) -> None:
    done = subprocess.run(
        [simulator, "--quiet", *options, "--checkpoint", "point"],
        cwd=simulator.parent,
        capture_output=True,
        text=True,
        env={**os.environ, **SANITIZERS},
    )
    assert done.returncode == 0, done.stderr


def test_what_is_not_allowed_is_refused_with_its_range(ranged) -> None:
    simulator = ranged
    checkpoint(simulator, "--cycles", "10")
    for field, offset, digits, said in POKES:
        done = restored(simulator, "--cycles", "20", "--stats", "s.json", POKE=f"r.{field} {offset} {digits}")
        expected = (2, f'sim: cannot restore "point": {said}\n') if said else (0, "")
        assert (done.returncode, done.stderr) == expected, field
        assert (simulator.parent / "s.json").exists() == (said is None)
        (simulator.parent / "s.json").unlink(missing_ok=True)
    done = restored(simulator, "--cycles", "20", POKE="r.sent 0 01")
    assert done.returncode == 2 and "r: the identity sent <= kept does not hold: 1 is more than 0" in done.stderr


def test_set_refuses_the_same(ranged) -> None:
    simulator = ranged
    commands = [
        "r.last = 4",
        "r.last = 3",
        "r.turn[1][2] = 4000000000",
        "r.kind = 2",
        "r.entry[3] = {at={way=4}}",
        "r.full[2] = true",
        "r.first = 2",
        "r.full[2] = true",
        "r.first = 1",
        "r.age[1] = 7",
        "r.sent = 1",
        "r.kept = 1",
        "r.sent = 1",
    ]
    done = subprocess.run(
        [simulator, "--quiet", "--interactive"],
        input="".join(f"set {c}\n" for c in commands) + "print r.sent\nprint r.first\n",
        cwd=simulator.parent,
        capture_output=True,
        text=True,
    )
    assert done.stdout.endswith("r.sent = 1\nr.first = 2\n")
    assert done.stderr.splitlines() == [
        "sim: r.last: 4 is outside its range, -1 to 3",
        "sim: r.turn[1][2]: 4000000000 is outside its range, 0 to 3",
        'sim: r.kind: "2" is none of nothing, one, other',
        "sim: r.entry[3].at.way: 4 is outside its range, 0 to 3",
        "sim: r: entry 0 is the first that is full, and is empty",
        "sim: r: entry 1 is the first that is full, and is empty",
        "sim: r.age[1]: 7 modulo 4 is 3, outside its range, 0 to 2",
        "sim: r: the identity sent <= kept does not hold: 1 is more than 0",
    ]


# Places of the ring of a flight with 4 slots, and instants; whatever they are, nothing is read or written beyond it.
FLYING = "instance s : source { count = 100000; interval = 3; };\ninstance d : delivery { delay = 9 ns; };\ninstance k : sink;\ns.out -> d.in : uint32;\nd.out -> k.in;\n"
FLIGHTS = [
    ("way", 0, "04000000", "d.way.head: 4 is outside its range, 0 to 3"),
    ("way", 4, "ffffffff", "d.way.tail: 4294967295 is outside its range, 0 to 3"),
    ("way", 8, "05000000", "d.way.held: 5 is outside its range, 0 to 4"),
    ("way_arrives[3]", 0, "ffffffffffffffff", None),
    ("way_item[2]", 0, "ffffffff", None),
]


def test_a_flight_never_leads_out_of_its_ring(poker) -> None:
    simulator = poker(FLYING)
    checkpoint(simulator, "--cycles", "8")
    for field, offset, digits, said in FLIGHTS:
        done = restored(simulator, "--cycles", "12", POKE=f"d.{field} {offset} {digits}")
        assert (done.returncode, done.stderr) == ((2, f'sim: cannot restore "point": {said}\n') if said else (0, "")), field
    commands = "set d.way = {head=4}\nset d.way = {head=3 tail=1 held=5}\nset d.way = {head=3 tail=1 held=2}\nprint d.way\n"
    done = subprocess.run([simulator, "--quiet", "--interactive"], input=commands, cwd=simulator.parent, capture_output=True, text=True)
    assert done.stdout.endswith("d.way = {head=3 tail=1 held=2}\n")
    assert done.stderr == "sim: d.way.head: 4 is outside its range, 0 to 3\nsim: d.way.held: 5 is outside its range, 0 to 4\n"


def test_a_module_that_breaks_its_own_range_is_found(build_sim, run_sim, tmp_path: Path) -> None:
    """By debug builds after the cycle, by others where a checkpoint is written."""
    (tmp_path / "grows.lss").write_text("module grows { state { uint32 n in 0..5; } phase_end; }\n")
    (tmp_path / "grows.c").write_text("phase_end() { self->n++; }\n")
    machine = "import grows;\ninstance g : grows;\n"
    done = run_sim(build_sim(machine), "--cycles", 9, "--checkpoint", "point", ok=False)
    assert "error: g.n: 9 is outside its range, 0 to 5 (at 9 ns)" in done.err and not (tmp_path / "point").exists()
    done = run_sim(build_sim(machine, "--debug"), "--cycles", 9, ok=False)
    assert "error: g.n: 9 is outside its range, 0 to 5" in done.err


CHAIN = """
instance s : source { count = 100000; interval = 1; };
instance p : pipe { depth = 4; };
instance rigid : pipe { depth = 3; elastic = false; };
instance q : queue { depth = 3; };
instance k : sink { ready = 0.5; };
s.out -> p.in : uint32;
p.out -> rigid.in;
rigid.out -> q.in;
q.out -> k.in;
instance r : memory_source { width = 32; count = 100000; };
instance narrow : memory_width { from = 32; to = 16; };
instance delay : memory_delay { width = 16; };
instance sram : sram_controller { width = 16; };
instance memory : memory_state { width = 16; size = 4 KiB; alias = true; };
r.memory -> narrow.in;
narrow.out -> delay.in;
delay.out -> sram.in;
sram.memory -> memory.port;
instance c[2] : memory_source {
  width = 32; count = 100000;
  generate = <<<
    const uint32_t at = (uint32_t)(random >> 8) & 0x3fc;
    return (typeof_port(memory_request)){.op = random & 1 ? mem_op_write : mem_op_read, .size = 4, .address = at};
  >>>;
};
instance lines : cache { width = 32; fill_width = 32; line = 16; sets = 8; ways = 2; write_back = true; write_allocate = true; };
instance buffer : uncached_buffer { width = 32; out_width = 32; };
instance banks : memory_crossbar { width = 32; interleave = 16; };
instance bank[2] : memory_state { width = 32; size = 4 KiB; };
c[0].memory -> lines.in;
lines.memory -> banks.in;
c[1].memory -> buffer.in;
buffer.out -> banks.in;
banks.out -> bank[0].port;
banks.out -> bank[1].port;
"""
SCSI = ["-D", "cards=[scsi_card(disks = 2)]"]
WIDE = ["-D", "system_kind=coherent_system", "-D", "mshrs=4", "-D", "l2_size=32 KiB"]
# Of each machine: whose work it does (WORK), further options of lss, when the checkpoint is taken and when runs end, and
# how many of the changes are left out for one that is tried.
SUBJECTS = {
    "arbiter": ("arbiter/arbiter", [], "300", "1100", 1),
    "disk": ("disk/disk", [], "3 ms", "40 ms", 1),
    "dual_core": ("dual_core/dual_core", [], "5000", "7000", 2),
    "host": ("host/host", [], "9000", "11000", 4),
    "host, disk": ("host/host disk", [], "60 us", "80 us", 4),
    "host, SCSI": ("host/host", SCSI, "9000", "11000", 4),
    "host, network": ("host/server", [], "60 us", "80 us", 8),
    "host, wide": ("host/wide", WIDE, "5000", "7000", 6),
    "host, wide, VPEs": ("host/wide_smp", ["-D", "vpes=3", "-D", "mshrs=1"], "5000", "7000", 6),
    "host, VPEs": ("host/smp", [], "5000", "7000", 6),
    "host, VPEs, two disks": ("host/smp two disks", [], "60 us", "80 us", 8),
    "host, fast": ("host/fast", [], "2000", "4000", 6),
    "host, octane": ("host/octane", [], "2000", "4000", 8),
    "host, blade": ("host/blade", [], "2000", "4000", 8),
    "host, windows": ("host/sampled", [], "2000", "4000", 4),
    "messages": ("messages/messages_host", [], "2000", "4000", 8),
    "multiprocessor": ("multiprocessor/multiprocessor", [], "9000", "11000", 4),
    "multiprocessor, level 2": ("multiprocessor/multiprocessor level 2", [], "9000", "11000", 4),
    "network, pair": ("network/pair", [], "2000", "4000", 16),
    "network, rack": ("network/rack", [], "2000", "4000", 16),
    "network, stations": ("network/stations", [], "40 us", "60 us", 4),
    "nic10g": ("nic10g/nic10g", [], "150 us", "154 us", 8),
    "pipe_chain": ("pipe_chain/pipe_chain", [], "300", "1100", 1),
    "quad_core": ("quad_core/quad_core", [], "5000", "7000", 4),
    "rfu_core": ("rfu_core/rfu_core", [], "3000", "5000", 1),
    "riscv_core": ("riscv_core/riscv_core", [], "3000", "5000", 1),
    "rule30": ("rule30/rule30_host", [], "9000", "11000", 4),
    "single_core": ("single_core/single_core", [], "3000", "5000", 1),
    "tigon2": ("tigon2/tigon2", [], "900 us", "906 us", 5),
    "tigon2, no processor": ("tigon2/tigon2_hardware_limit", [], "200 us", "210 us", 1),
    "vliw_core": ("vliw_core/vliw_core", [], "3000", "5000", 1),
    "wide_core": ("wide_core/wide_core", [], "4000", "6000", 1),
    "wide_core, three programs": ("wide_core/wide_core", ["-D", "width=4", "-D", "contexts=3"], "4000", "6000", 1),
}


def poke(simulator: Path, given: list[str], option: str, first: str, last: str, words: str) -> tuple[int, int]:
    """Runs with a changed state, each time another one, none of which may fail; and how many were refused."""
    checkpoint(simulator, *given, option, first)
    done = restored(simulator, option, last, POKES=words)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    runs, refused, failed = (int(word) for word in done.stdout.splitlines()[-1].split()[::2])
    assert failed == 0
    return runs, refused


def test_any_state_is_refused_or_runs(poker) -> None:
    runs, refused = poke(poker(CHAIN), [], "--cycles", "300", "1300", "1 1 2 * 2")
    assert runs > 100 and refused > 10


def test_cycles_that_do_not_agree_with_the_time_are_refused(ranged) -> None:
    """Of one clock, where every change of either is found; what is skipped, and when there was progress or work, may be anything."""
    poke(ranged, [], "--cycles", "10", "30", "1 1 20 @")
    done = restored(ranged, "--cycles", "30", POKE="@ 48 0b")
    said = 'sim: cannot restore "point": it is damaged: the cycles of the clock "clk" and the time do not agree\n'
    assert (done.returncode, done.stderr) == (2, said)


def test_every_machine_is_a_subject() -> None:
    assert {work for work, *_ in SUBJECTS.values()} == set(WORK)


@pytest.mark.soak
@SANITIZED
def test_any_state_is_refused_or_runs_for_long(poker) -> None:
    poke(poker(CHAIN), [], "--cycles", "300", "1300", "1 30 200 *")


@pytest.mark.soak
@SANITIZED
@pytest.mark.parametrize("name", SUBJECTS)
def test_any_state_of_machines_is_refused_or_runs(name: str, poker, build_dir: Path, tmp_path: Path) -> None:
    work, more, first, last, every = SUBJECTS[name]
    options, arguments = WORK[work]
    given = arguments("middle", build_dir, tmp_path)
    fast = "--switch_at" in given
    while limits := [k for k, word in enumerate(given) if word in ("--cycles", "--time", "--switch_at")]:
        del given[limits[0] : limits[0] + 2]
    if fast:
        given += ["--switch_at", "end"]
    simulator = poker(ROOT / f"examples/{work.split()[0]}.lss", *options, *more)
    option = "--cycles" if first.isdigit() else "--time"
    poke(simulator, given, option, first, last, f"1 2 4 * {every}")
