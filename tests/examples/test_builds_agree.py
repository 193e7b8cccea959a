"""Every machine in examples/ takes the same time and counts the same however it was built, and when it was interrupted.

Release builds let clusters sleep, replay what repeats itself and inline, debug builds step everything, and -O0 shows what
only an optimiser would hide; short runs do without an optimiser, which takes longer than they do.  What a release build
leaves out is also done and compared.
A run that goes on from a checkpoint begins awake and with no signal known: it ends as the straight one does, if modules
keep all that matters in their state and say truly when they act next.
"""

import hashlib
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.emulib.test_system import end
from tests.host import sectors
from tests.isa import system
from tests.isa.programs import assemble
from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
BUILDS = {"short": ([], ["--debug"])} | dict.fromkeys(("middle", "long"), ([], ["--debug", "-O0"], ["-O0"]))

# What a core waits for, in turn: HI and LO at every distance, loads, stores, branches, its own code, locks.
WAITING = """
  lui $s0, %hi(words)
  addiu $s0, $s0, %lo(words)
  addiu $s1, $zero, PASSES
  addiu $t1, $zero, 7
1: div $zero, $s1, $t1
  mflo $t2
  div $zero, $s1, $t1
  addiu $t3, $t3, 1
  mfhi $t4
  mult $t2, $s1
  mflo $t5
  mult $t5, $t1
  lw $t6, 0($s0)
  lw $t7, 4($s0)
  mfhi $t8
  addu $t6, $t6, $t7
  sw $t6, 0($s0)
  divu $zero, $t6, $t1
  sw $t8, 8($s0)
  lw $t9, 8($s0)
  sb $t9, 13($s0)
  mflo $t0
2: ll $t2, 16($s0)
  addu $t2, $t2, $t0
  sc $t2, 16($s0)
  beq $t2, $zero, 2b
  addiu $s1, $s1, -1
  bne $s1, $zero, 1b
  sw $t4, 20($s0)
  EXIT 0
.data
.balign 64
words: .word 1, 2, 3, 4, 5, 6
"""
# Lines of cells, each computed from the one before, with an interrupt after each.
LINES = """
  LI $s0, 0xbf003000
  addiu $s1, $zero, PASSES
  addiu $t0, $zero, 88
  sw $t0, 0x18($s0)
  addiu $s2, $zero, 3
  sw $s2, 0x04($s0)
  sw $s2, 0x20($s0)
  addiu $s3, $zero, 1
1: sw $s3, 0x1c($s0)
2: mfc0 $t1, $13
  andi $t1, $t1, 0x2000
  beqz $t1, 2b
  nop
  lw $t2, 0xa0($s0)
  sw $s2, 0x08($s0)
3: mfc0 $t1, $13
  andi $t1, $t1, 0x2000
  bnez $t1, 3b
  nop
  addiu $s1, $s1, -1
  bnez $s1, 1b
  nop
"""
LENGTHS = ("short", "middle", "long")
RESTORED = {"short": 1, "middle": 60, "long": 3}  # times that a run is interrupted


def by_length(length: str, *values: int) -> str:
    """What stands for a length among three."""
    return str(values[LENGTHS.index(length)])


def waiting(length: str, build_dir: Path, tmp_path: Path) -> list[str]:
    program = assemble(WAITING.replace("PASSES", by_length(length, 20, 300, 2000)), tmp_path / f"{length}.elf", True, "device")
    return ["--program", str(program), "--cycles", "10000000"]


def program(name: str, *cycles: int) -> Callable[[str, Path, Path], list[str]]:
    def arguments(length: str, build_dir: Path, tmp_path: Path) -> list[str]:
        return ["--program", str(build_dir / f"firmware/{name}/{name}.elf"), "--cycles", by_length(length, *cycles)]

    return arguments


def kernel(length: str, build_dir: Path, tmp_path: Path) -> list[str]:
    text = system.HEAD + system.START + WAITING.replace("PASSES", by_length(length, 20, 300, 2000)).replace("EXIT 0", end(0))
    return ["--kernel", str(system.assemble(text, tmp_path / f"{length}.elf", False)), "--cycles", "10000000"]


def in_two_hosts(first: str, second: str) -> Callable[[str, Path, Path], list[str]]:
    """The second has more to do, and switches off after the first, which ends the run."""

    def arguments(length: str, build_dir: Path, tmp_path: Path) -> list[str]:
        (tmp_path / "second").mkdir(exist_ok=True)
        _, short, *limit = kernel(length, build_dir, tmp_path)
        _, long, *_ = kernel(LENGTHS[min(LENGTHS.index(length) + 1, 2)], build_dir, tmp_path / "second")
        return ["--set", f"{first}.kernel={short}", "--set", f"{second}.kernel={long}", *limit]

    return arguments


def datagrams(length: str, build_dir: Path, tmp_path: Path) -> list[str]:
    """Two stations send to the third one."""
    return ["--set", "node[0].udp_to=192.0.2.3", "--set", "node[1].udp_to=192.0.2.3", "--time", by_length(length, 60, 500, 2000) + " us"]


def lines_of_cells(length: str, build_dir: Path, tmp_path: Path) -> list[str]:
    text = system.HEAD + system.START + LINES.replace("PASSES", by_length(length, 20, 300, 2000)) + end(0)
    program = system.assemble(text, tmp_path / f"{length}.elf", False)
    return ["--kernel", str(program), "--set", "rule30.time_to_result=300 ns", "--cycles", "10000000"]


def begun_fast(length: str, build_dir: Path, tmp_path: Path) -> list[str]:
    return [*kernel(length, build_dir, tmp_path), "--switch_at", "instructions(70)"]


def in_windows(length: str, build_dir: Path, tmp_path: Path) -> list[str]:
    settings = [f"system.cpu.sampler.{one}" for one in ("period=60", "warm=10", "measure=20", "shortest=1")]
    return [*begun_fast(length, build_dir, tmp_path), *(word for one in settings for word in ("--set", one))]


def sorting(length: str, build_dir: Path, tmp_path: Path) -> list[str]:
    text = tmp_path / "arguments"
    text.write_text(by_length(length, 16, 500, 2000))
    return ["--program", str(build_dir / "firmware/bucket_sort/bucket_sort.elf"), "--arguments", str(text), "--cycles", "10000000"]


def transfers(*passes: int) -> Callable[[str, Path, Path], list[str]]:
    def arguments(length: str, build_dir: Path, tmp_path: Path) -> list[str]:
        program = sectors.program(int(by_length(length, *passes)), tmp_path)
        return ["--kernel", str(program), "--disk_image", str(sectors.image(tmp_path, 128)), "--cycles", "10000000"]

    return arguments


def items(length: str, build_dir: Path, tmp_path: Path) -> list[str]:
    return ["--set", "consumer.ready=0.4", "--cycles", by_length(length, 500, 20_000, 100_000)]


def reads(length: str, build_dir: Path, tmp_path: Path) -> list[str]:
    return ["--requests", by_length(length, 2, 50, 150), "--outstanding", "4", "--time", "1000 s"]  # it ends before that


PACKETS = "sent.pcap", "received.pcap"  # that a NIC's run writes where it is run


def traffic(firmware: str | None, *microseconds: int) -> Callable[[str, Path, Path], list[str]]:
    def arguments(length: str, build_dir: Path, tmp_path: Path) -> list[str]:
        given = ["--firmware", str(build_dir / f"firmware/{firmware}/{firmware}.elf")] if firmware else []
        given += ["--sent", PACKETS[0], "--received", PACKETS[1]] if firmware else []
        return [*given, "--payload", "400", "--time", by_length(length, *microseconds) + " us"]

    return arguments


# Per machine: options of lss, and what it is given to do, in three lengths.
WORK = {
    "arbiter/arbiter": ([], items),
    "disk/disk": (["-D", "cylinders=100"], reads),
    "dual_core/dual_core": ([], waiting),
    "host/fast": (["-D", "memory=4 MiB", "-D", "detailed=wide_processor"], begun_fast),
    "host/host": (["-D", "memory=4 MiB"], kernel),
    "host/host disk": (["-D", "memory=4 MiB", "-D", "disks=[disk_image]"], transfers(2, 20, 100)),
    "host/octane": (["-D", "memory=4 MiB"], begun_fast),
    "host/blade": (["-D", "memory=4 MiB"], kernel),
    "host/sampled": (["-D", "memory=4 MiB"], in_windows),
    "host/server": (["-D", "memory=4 MiB", "-I", str(ROOT / "examples/tigon2")], transfers(2, 20, 100)),
    "host/smp": (["-D", "memory=4 MiB"], kernel),
    "host/smp two disks": (["-D", "memory=4 MiB", "-D", "l2_size=64 KiB", "-D", "disks=[disk_image]", "-D", "cards=[scsi_card]"], transfers(1, 5, 25)),
    "host/wide": (["-D", "memory=4 MiB"], kernel),
    "host/wide_smp": (["-D", "memory=4 MiB"], kernel),
    "messages/messages_host": (["-D", "memory=4 MiB", "-I", str(ROOT / "examples/tigon2")], begun_fast),
    "multiprocessor/multiprocessor": ([], sorting),
    "multiprocessor/multiprocessor level 2": (["-D", "processors=2", "-D", "clusters=2", "-D", "dram=dram_kind.rambus"], sorting),
    "network/pair": (["-I", str(ROOT / "examples/tigon2")], in_two_hosts("a", "b")),
    "network/rack": (["-I", str(ROOT / "examples/tigon2"), "-D", "hosts=2"], in_two_hosts("node[0]", "node[1]")),
    "network/stations": (["-D", "links=ring(3)", "-D", "slots=4"], datagrams),
    "nic10g/nic10g": (["-D", "processors=2"], traffic("nic10g", 60, 200, 500)),
    "pipe_chain/pipe_chain": ([], items),
    "quad_core/quad_core": (["-D", "memory=8 MiB"], waiting),
    "rfu_core/rfu_core": ([], waiting),
    "riscv_core/riscv_core": ([], program("sha256", 20_000, 1_000_000, 10_000_000)),
    "rule30/rule30_host": (["-D", "memory=4 MiB"], lines_of_cells),
    "single_core/single_core": ([], waiting),
    "tigon2/tigon2": (["-D", "processors=2"], traffic("tigon2_parallel", 130, 1000, 5000)),
    "tigon2/tigon2_hardware_limit": ([], traffic(None, 200, 1000, 5000)),
    "vliw_core/vliw_core": ([], waiting),
    "wide_core/wide_core": ([], program("sha256", 5_000, 100_000, 10_000_000)),
}


def test_every_machine_has_work(lss) -> None:
    """A file is a machine when it instantiates something; every folder holds one."""
    files = found(ROOT / "examples", "*.lss")
    machines = {f"{path.parent.name}/{path.stem}" for path in files if "there is no machine" not in lss("check", "--netlist-only", path, ok=None).err}
    assert machines == {name.split()[0] for name in WORK}
    folders = {path.name for path in (ROOT / "examples").iterdir() if path.is_dir()}
    assert len(folders) >= 9 and folders == {name.split("/")[0] for name in machines}


def compare(name: str, length: str, build_sim, run_sim, build_dir: Path, tmp_path: Path) -> None:
    options, work = WORK[name]
    arguments, seen = work(length, build_dir, tmp_path), []
    simulators = [build_sim(ROOT / f"examples/{name.split()[0]}.lss", *options, *how) for how in BUILDS[length]]
    runs = [(simulator, " ".join(how), []) for simulator, how in zip(simulators, BUILDS[length], strict=True)]
    runs += [(simulators[0], option, [option]) for option in ("--no-replay", "--check-replay")]
    for simulator, _, more in runs:
        done = run_sim(simulator, "--quiet", *arguments, *more, "--state-hashes", "hashes.txt")
        assert done.stats is not None
        seen.append((done.stats["run"], done.stats["statistics"], written(tmp_path)))
    assert sum(entry["value"] != 0 for entry in seen[0][1]) >= 2, "nothing happened"
    assert ("--sent" in arguments) == (len(seen[0][2]) == 3)
    for (_, how, _), (run, statistics, files) in zip(runs[1:], seen[1:], strict=True):
        assert run == seen[0][0], f"with {how}, the run ended otherwise"
        assert files == seen[0][2], f"with {how}, other packets or another state than in the release build"
        other = [(a, b["value"]) for a, b in zip(seen[0][1], statistics, strict=True) if a != b]
        assert not other, f"with {how}, other values than in the release build: {other}"
    for k in range(RESTORED[length]):
        interrupt(f"{name} {length} {k}", simulators, arguments, seen[0], run_sim, tmp_path)
    for simulator in simulators:
        simulator.unlink()


def written(place: Path) -> dict[str, str]:
    """The packets that a run wrote, and the hash of the state in which it ended."""
    hashed = {"state": (place / "hashes.txt").read_text().splitlines()[-1]}
    return hashed | {name: hashlib.sha256((place / name).read_bytes()).hexdigest() for name in PACKETS if (place / name).exists()}


def interrupt(seed: str, simulators: list[Path], arguments: list[str], straight: tuple, run_sim, tmp_path: Path) -> None:
    """A run up to a random cycle, in a random build, and its continuation in another process and build."""
    rng = random.Random(seed)
    first, second = rng.choice(simulators), rng.choice(simulators)
    cycle = rng.randrange(1, max(straight[0]["cycles"].values()))
    point = tmp_path / "run.checkpoint"
    run_sim(first, "--quiet", *arguments, "--cycles", cycle, "--checkpoint", point)
    limit = arguments[arguments.index("--cycles") :][:2] if "--cycles" in arguments else []
    limit += arguments[arguments.index("--time") :][:2] if "--time" in arguments else []
    goes_on = ["--outputs", "continue", "--state-hashes", "hashes.txt"]
    done = run_sim(second, "--quiet", *limit, "--restore", point, *goes_on)
    assert done.stats is not None
    at = f"from cycle {cycle} on, {first.name} and {second.name}"
    # How much idle time is skipped depends on where it was begun to look for it.
    ended, wanted = ({**run, "skipped_cycles": None} for run in (done.stats["run"], straight[0]))
    assert ended == wanted, f"restored {at}, the run ended otherwise"
    assert written(tmp_path) == straight[2], f"restored {at}, other packets or another state than in the straight run"
    other = [(a, b["value"]) for a, b in zip(straight[1], done.stats["statistics"], strict=True) if a != b]
    assert not other, f"restored {at}, other values than in the straight run: {other}"


# Machines whose modules are all, or nearly, in another that is tried.
REST = ("multiprocessor/multiprocessor", "quad_core/quad_core", "dual_core/dual_core", "tigon2/tigon2", "nic10g/nic10g", "single_core/single_core",
        "multiprocessor/multiprocessor level 2", "riscv_core/riscv_core", "rfu_core/rfu_core")  # fmt: skip
REST += tuple(name for name in WORK if name.startswith(("host/", "network/", "messages/")) and name != "host/host disk")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.soak] * (name in REST)) for name in WORK])
def test_builds_agree(name: str, build_sim, run_sim, build_dir: Path, tmp_path: Path) -> None:
    compare(name, "short", build_sim, run_sim, build_dir, tmp_path)


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.parametrize("name", WORK)
def test_restored_runs_agree(name: str, build_sim, run_sim, build_dir: Path, tmp_path: Path) -> None:
    """A thousand in all."""
    compare(name, "middle", build_sim, run_sim, build_dir, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", WORK)
def test_modules_keep_their_word(name: str, build_sim, run_sim, build_dir: Path, tmp_path: Path) -> None:
    """None does anything before the cycle that its next_event named."""
    options, work = WORK[name]
    simulator = build_sim(ROOT / f"examples/{name.split()[0]}.lss", *options, "--debug")
    run_sim(simulator, "--quiet", *work("middle", build_dir, tmp_path), "--check-idle")


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.parametrize("name", WORK)
def test_builds_agree_for_long(name: str, build_sim, run_sim, build_dir: Path, tmp_path: Path) -> None:
    compare(name, "long", build_sim, run_sim, build_dir, tmp_path)
