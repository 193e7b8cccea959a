"""What a cycle of the host machine costs, busy and idle, and how long its Linux takes to boot beside others that run it.

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
CARD = ["-I", ROOT / "examples" / "tigon2", "-D", "nic=true"]
SETTLED = 20_000_000  # cycles behind the marker in which the shell comes up
BUSY_FROM = 20_000_000  # cycles: the kernel is unpacking its files and starting drivers
SHORT, LONG = 100_000, 400_000  # cycles between which host instructions are counted
REPETITIONS = 3
# Of the long run, in which restoring a checkpoint must not count.
CYCLES = {"busy": 10_000_000, "idle": 2_000_000_000, "idle, with an idle card": 400_000_000}


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


def going_on(simulator: Path, begin: Path, from_cycle: int) -> Callable[[int], list]:
    """The command that goes on from a checkpoint for so many cycles."""
    return lambda n: [simulator, "--quiet", "--restore", begin, "--console_output", "/dev/null", "--cycles", from_cycle + n]


def boot_seconds(build: Path, simulator: Path, folder: Path) -> dict[str, float]:
    """Processor seconds from reset to power-off."""
    given = guest(build, "out")
    oracle = [build / "bin/mips-oracle", "--system", "--dtb", given.tree, "--initramfs", given.initramfs, given.vmlinux]
    commands = {"host machine": boot(simulator, given), "functional machine": oracle}
    if shutil.which("qemu-system-mipsel"):
        commands["QEMU"] = qemu_command(given, folder)
    return {name: median([run(command)[0] for _ in range(REPETITIONS)]) for name, command in commands.items()}


def measure(build: Path) -> dict:
    """Nanoseconds and host instructions per cycle by state, and seconds of a boot by machine."""
    alone, with_card = build_lss(build, "host"), build_lss(build, "host_nic", *CARD)
    shell = guest(build, "shell")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begun = checkpoint(boot(alone, shell), folder / "busy", "--cycles", str(BUSY_FROM))
        busy = going_on(alone, begun, BUSY_FROM)
        subjects = [Subject("busy", busy, cycles=CYCLES["busy"])]
        for kind, simulator in ("idle", alone), ("idle, with an idle card", with_card):
            waits = going_on(simulator, *waiting(simulator, shell, folder))
            subjects.append(Subject(kind, waits, cycles=CYCLES[kind]))
        figures = {kind: median(times) for kind, times in interleaved(subjects, REPETITIONS).items()}
        return {
            "host_ns_per_cycle": figures,
            "host_instructions_per_cycle": counted_per_cycle(busy, SHORT, LONG).instructions,
            "host_boot_seconds": boot_seconds(build, alone, folder),
        }
