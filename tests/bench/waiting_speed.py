"""Host instructions per cycle of machines that do hardly anything but wait.

A program of the host machine that waits for its memory, by cycles to the memory: the cycles in which everything waits are left
out.  Coherent processors that wait for their bus, by their number: of a processor that waits only the parts are stepped that the
bus asks for something.  Valgrind counts over the difference of two run lengths, so the figures repeat exactly.
"""

from pathlib import Path

from measuring import counted_per_cycle, run

ROOT = Path(__file__).resolve().parent.parent.parent
MULTIPROCESSOR = ROOT / "examples" / "multiprocessor" / "multiprocessor.lss"
SHORT, LONG = 100_000, 200_000  # cycles of the processor
LATENCIES = (10, 50, 200)
PROCESSORS = (4, 8)


def stalled(build: Path, processors: int) -> float:
    """Host instructions per cycle of coherent processors, all of which wait."""
    simulator = build / "bench" / f"stalled_{processors}"
    run([build / "bin" / "lss", "build", MULTIPROCESSOR, "-D", f"processors={processors}", "-o", simulator])
    command = [simulator, "--quiet", "--program", build / "bench" / "stalled_cores.elf", "--cycles"]
    return counted_per_cycle(lambda cycles: [*command, cycles], SHORT, LONG).instructions


def measure(build: Path) -> dict:
    """Host instructions per cycle of the processors, by latency and by their number."""
    simulator, program = build / "bench" / "host_waiting", build / "bench" / "wait_for_memory.elf"
    run([build / "bin" / "lss", "build", ROOT / "examples" / "host" / "host.lss", "-o", simulator])

    def waiting(latency: int) -> float:
        command = [simulator, "--quiet", "--kernel", program, "--latency", latency, "--cycles"]
        return counted_per_cycle(lambda cycles: [*command, cycles], SHORT, LONG).instructions

    return {
        "waiting_host_instructions_per_cycle": {str(latency): waiting(latency) for latency in LATENCIES},
        "stalled_cores_host_instructions_per_cycle": {str(count): stalled(build, count) for count in PROCESSORS},
    }
