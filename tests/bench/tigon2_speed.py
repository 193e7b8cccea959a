"""Host instructions and mispredicted branches per CPU clock of the whole two-CPU Tigon-2 under full duplex traffic.

Counted by valgrind over the difference of two run lengths, both beyond start-up, so the figure is of steady traffic
and repeats exactly.
"""

from pathlib import Path

from measuring import counted_per_cycle, run

ROOT = Path(__file__).resolve().parent.parent.parent
MACHINE = ROOT / "examples" / "tigon2" / "tigon2.lss"
SHORT, LONG = 200_000, 300_000  # cycles of the CPUs' clock; the first frames pass after about 50,000


def build_lss(build: Path, *options: str) -> Path:
    """Compiles the two-CPU machine and returns the simulator."""
    simulator = build / "bench" / "tigon2_2"
    run([build / "bin" / "lss", "build", MACHINE, "-D", "processors=2", *options, "-o", simulator])
    return simulator


def traffic(build: Path, simulator: Path, cycles: int) -> list:
    """The command for so many CPU clocks of full duplex traffic, as fast as the NIC can take it."""
    firmware = build / "firmware" / "tigon2" / "tigon2.elf"
    return [simulator, "--quiet", "--firmware", firmware, "--payload", 1472, "--cycles", f"cpu_clk:{cycles}"]


def measure(build: Path) -> dict:
    """Host instructions and mispredicted branches per CPU clock."""
    simulator = build_lss(build)
    counts = counted_per_cycle(lambda cycles: traffic(build, simulator, cycles), SHORT, LONG)
    return {
        "tigon2_host_instructions_per_cycle": counts.instructions,
        "tigon2_mispredicted_branches_per_cycle": counts.mispredicted,
    }
