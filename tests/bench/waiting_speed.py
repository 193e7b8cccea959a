"""Host instructions per cycle of machines that do hardly anything but wait.

A program of the host machine that waits for its memory, by cycles to the memory: the cycles in which everything waits are left
out.  Valgrind counts over the difference of two run lengths, so the figure repeats exactly.
"""

from pathlib import Path

from measuring import counted_per_cycle, run

ROOT = Path(__file__).resolve().parent.parent.parent
SHORT, LONG = 100_000, 200_000  # cycles of the processor
LATENCIES = (10, 50, 200)


def measure(build: Path) -> dict:
    """Host instructions per cycle of the processor, by latency."""
    simulator, program = build / "bench" / "host_waiting", build / "bench" / "wait_for_memory.elf"
    run([build / "bin" / "lss", "build", ROOT / "examples" / "host" / "host.lss", "-o", simulator])

    def waiting(latency: int) -> float:
        command = [simulator, "--quiet", "--kernel", program, "--latency", latency, "--cycles"]
        return counted_per_cycle(lambda cycles: [*command, cycles], SHORT, LONG).instructions

    return {"waiting_host_instructions_per_cycle": {str(latency): waiting(latency) for latency in LATENCIES}}
