"""What a cycle of the host machine costs, busy and idle, with each kind of memory, and how long its Linux takes to boot beside others
that run it.

The same for the functional core with which a machine may begin: instructions in a second, seconds to the prompt, and what it
costs beside the detailed core when that has the program.

Busy is the kernel on its way up; idle a shell that waits, alone and beside a network interface that polls.  The same files boot on
the functional machine, and on QEMU, which translates and keeps no time: what they do in their seconds is less.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from measuring import BenchError, Subject, counted_per_cycle, interleaved, median, run

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.linux_guest import Guest, qemu_command  # noqa: E402

MACHINE = ROOT / "examples" / "host" / "host.lss"
CARD = ["-I", ROOT / "examples" / "tigon2", "-D", "cards=[tigon2_slot]"]
# What is behind the core: caches that write through to a simple memory; coherent ones on a bus with an SDRAM; a level 2 between.
MEMORIES: dict[str, list[str]] = {
    "": [],
    ", coherent": ["-D", "system_kind=coherent_system"],
    ", coherent, level 2": ["-D", "system_kind=coherent_system", "-D", "l2_size=1 MiB"],
}
SETTLED = 20_000_000  # cycles behind the marker in which the shell comes up
BUSY_FROM = 20_000_000  # cycles: the kernel is unpacking its files and starting drivers
SHORT, LONG = 100_000, 400_000  # cycles between which host instructions are counted
SHORT_HOT, LONG_HOT = 1_000_000, 3_000_000
HOT_CYCLES = 200_000_000
REPETITIONS = 3
# Of the long run, in which restoring a checkpoint must not count.
CYCLES = {"busy": 10_000_000, "busy, a fast core beside it": 10_000_000, "busy, coherent": 10_000_000, "busy, coherent, level 2": 10_000_000, "idle": 2_000_000_000, "idle, with an idle card": 400_000_000}


def guest(build: Path, name: str) -> Guest:
    """The kernel with the files of one of its guests."""
    found = Guest(build / "linux/out/vmlinux", build / f"linux/{name}/initramfs.cpio", build / f"linux/{name}/host.dtb")
    for file in (found.vmlinux, found.initramfs, found.tree):
        if not file.exists():
            raise BenchError(f"there is no {file}; `make linux` makes it")
    return found


def build_lss(build: Path, name: str, *options: str | Path) -> Path:
    """The simulator that is measured, and NAME_marked, which finds the marker before the shell: one that counts markers of the
    card's processors, too, cannot replay what they do."""
    simulator = build / "bench" / name
    run([build / "bin" / "lss", "build", MACHINE, *options, "-o", simulator])
    marked = simulator.with_name(f"{name}_marked")
    run([build / "bin" / "lss", "build", MACHINE, *options, "--watch", "marker(3)", "-o", marked])
    return simulator


def boot(simulator: Path, given: Guest) -> list:
    """The command that boots a guest, without what ends it."""
    files = ["--kernel", given.vmlinux, "--dtb", given.tree, "--initramfs", given.initramfs]
    return [simulator, "--quiet", "--console_output", "/dev/null", *files]


def prompt_cycle(begin: Path) -> int:
    """The cycle in which a checkpoint was written, of the fastest clock."""
    return int(json.loads(begin.with_suffix(".json").read_text())["run"]["cycles"]["cpu_clk"])


def checkpoint(begin: list, file: Path, *until: str) -> Path:
    """The state in which a run is after so many cycles, or at the prompt."""
    run([*begin, *until, "--checkpoint", file, "--stats", file.with_suffix(".json")])
    return file


def waiting(simulator: Path, given: Guest, folder: Path) -> tuple[Path, int]:
    """The state in which the guest's shell waits, and its cycle."""
    marked = simulator.with_name(f"{simulator.name}_marked")
    prompt = checkpoint(boot(marked, given), folder / f"{simulator.name}-prompt", "--until", "marker(3)")
    settled = prompt_cycle(prompt) + SETTLED
    return checkpoint(going_on(simulator, prompt, 0)(settled), folder / f"{simulator.name}-idle"), settled


def at_work(simulator: Path, given: Guest, folder: Path, *options: str) -> Callable[[int], list]:
    """The command that goes on for so many cycles where the kernel is on its way up."""
    begun = checkpoint([*boot(simulator, given), *options], folder / f"{simulator.name}-busy", "--cycles", str(BUSY_FROM))
    return going_on(simulator, begun, BUSY_FROM)


def going_on(simulator: Path, begin: Path, from_cycle: int) -> Callable[[int], list]:
    """The command that goes on from a checkpoint for so many cycles."""
    return lambda n: [simulator, "--quiet", "--restore", begin, "--console_output", "/dev/null", "--cycles", from_cycle + n]


def boot_seconds(build: Path, simulators: dict[str, Path], folder: Path) -> dict[str, float]:
    """Processor seconds from reset to power-off, the host machine's by its memory."""
    given = guest(build, "out")
    oracle = [build / "bin/mips-oracle", "--system", "--dtb", given.tree, "--initramfs", given.initramfs, given.vmlinux]
    commands = {f"host machine{memory}": boot(simulator, given) for memory, simulator in simulators.items()}
    commands["functional machine"] = oracle
    if shutil.which("qemu-system-mipsel"):
        commands["QEMU"] = qemu_command(given, folder)
    return {name: median([run(command)[0] for _ in range(REPETITIONS)]) for name, command in commands.items()}


def fast_boot(build: Path, simulator: Path, folder: Path) -> dict[str, float]:
    """Of a boot on the functional core, start of the run included: millions of instructions in a second of the processor up to the power switch, and seconds up to the prompt."""
    stats = folder / "fast.json"
    whole = [run([*boot(simulator, guest(build, "out")), "--switch_at", "end", "--stats", stats])[0] for _ in range(REPETITIONS)]
    [instructions] = [one["value"] for one in json.loads(stats.read_text())["statistics"] if (one["path"], one["name"]) == ("system.cpu.fast", "instructions")]
    marked = boot(simulator.with_name(f"{simulator.name}_marked"), guest(build, "shell"))
    prompt = [run([*marked, "--switch_at", "end", "--until", "marker(3)"])[0] for _ in range(REPETITIONS)]
    return {"host_fast_mips": instructions / median(whole) / 1e6, "host_fast_prompt_seconds": median(prompt)}


def fast_hot(build: Path) -> dict[str, float]:
    """Of a program without an operating system, all of whose loops are hot, on the functional core: millions of instructions in a
    second of the processor, and host instructions that one costs."""
    simulator = build_lss(build, "host_fast_big", "-D", "processor=fast_processor", "-D", "big_endian=true")
    program = build / "bench" / "integer_host.elf"

    def command(cycles: int) -> list:
        return [simulator, "--quiet", "--kernel", program, "--switch_at", "end", "--cycles", cycles]

    nanoseconds = median(interleaved([Subject("hot", command, cycles=HOT_CYCLES)], REPETITIONS)["hot"])
    return {"host_fast_hot_mips": 1e3 / nanoseconds, "host_fast_hot_instructions": counted_per_cycle(command, SHORT_HOT, LONG_HOT).instructions}


def measure(build: Path) -> dict:
    """Nanoseconds and host instructions per cycle by state, seconds of a boot by machine, and figures of the functional core."""
    machines = {memory: build_lss(build, f"host{number or ''}", *MEMORIES[memory]) for number, memory in enumerate(MEMORIES)}
    alone, with_card, fast = machines[""], build_lss(build, "host_nic", *CARD), build_lss(build, "host_fast", "-D", "processor=fast_processor")
    shell = guest(build, "shell")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        busy = {f"busy{memory}": at_work(simulator, shell, folder) for memory, simulator in machines.items()}
        busy["busy, a fast core beside it"] = at_work(fast, shell, folder, "--switch_at", "start")
        subjects = [Subject(kind, command, cycles=CYCLES[kind]) for kind, command in busy.items()]
        for kind, simulator in ("idle", alone), ("idle, with an idle card", with_card):
            waits = going_on(simulator, *waiting(simulator, shell, folder))
            subjects.append(Subject(kind, waits, cycles=CYCLES[kind]))
        figures = {kind: median(times) for kind, times in interleaved(subjects, REPETITIONS).items()}
        return {
            "host_ns_per_cycle": figures,
            "host_instructions_per_cycle": {kind: counted_per_cycle(command, SHORT, LONG).instructions for kind, command in busy.items()},
            "host_boot_seconds": boot_seconds(build, machines, folder),
            **fast_boot(build, fast, folder),
            **fast_hot(build),
        }
