"""Host instructions per CPU clock of the whole two-CPU Tigon-2 under full duplex traffic.

Counted by valgrind over the difference of two run lengths, both beyond start-up, so the figure is of steady traffic
and repeats exactly.
"""

import re
from pathlib import Path

from measuring import BenchError, run

ROOT = Path(__file__).resolve().parent.parent.parent
MACHINE = ROOT / "examples" / "tigon2" / "tigon2.lss"
SHORT, LONG = 200_000, 300_000  # cycles of the CPUs' clock; the first frames pass after about 50,000


def build_lss(build: Path, *options: str) -> Path:
    """Compiles the two-CPU machine and returns the simulator."""
    simulator = build / "bench" / "tigon2_2"
    run([build / "bin" / "lss", "build", MACHINE, "-D", "cpus=2", *options, "-o", simulator])
    return simulator


def host_instructions(command: list) -> int:
    """Instructions that a command executes on the host."""
    out = Path(command[0]).parent / "valgrind.log"
    run(
        ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", f"--log-file={out}"]
        + command
    )
    found = re.search(r"I\s+refs:\s+([\d,]+)", out.read_text())
    if not found:
        raise BenchError(f"valgrind counted nothing; see {out}")
    return int(found.group(1).replace(",", ""))


def traffic(build: Path, simulator: Path, cycles: int) -> list:
    """The command for so many CPU clocks of full duplex traffic, as fast as the NIC can take it."""
    firmware = build / "firmware" / "tigon2" / "tigon2.elf"
    return [simulator, "--quiet", "--firmware", firmware, "--payload", 1472, "--cycles", f"cpu_clk:{cycles}"]


def measure(build: Path) -> dict:
    """Host instructions per CPU clock."""
    simulator = build_lss(build)
    few = host_instructions(traffic(build, simulator, SHORT))
    many = host_instructions(traffic(build, simulator, LONG))
    return {"tigon2_host_instructions_per_cycle": (many - few) / (LONG - SHORT)}
