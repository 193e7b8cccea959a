"""Host time per core-cycle of the 10 Gb/s NIC with 8 cores and with 1, beside a single core on its scratchpad, in one run.

The NIC carries full-size frames both ways at line rate; the single core is the one of the structural tax.
"""

from pathlib import Path

import core_speed
from measuring import Subject, counted_per_cycle, interleaved, median, run

MACHINE = Path(__file__).resolve().parent.parent.parent / "examples" / "nic10g" / "nic10g.lss"
CORES = (1, 8)
SHORT, LONG = 50_000, 70_000  # clocks of the cores between which host instructions are counted


def build_lss(build: Path, cores: int) -> Path:
    """Compiles the NIC with so many cores and returns the simulator."""
    simulator = build / "bench" / f"nic10g_{cores}"
    run([build / "bin" / "lss", "build", MACHINE, "-D", f"processors={cores}", "-o", simulator])
    return simulator


def traffic(build: Path, simulator: Path, cycles: int) -> list:
    """The command for so many clocks of the cores under full duplex traffic."""
    firmware = build / "firmware" / "nic10g" / "nic10g.elf"
    return [simulator, "--quiet", "--firmware", firmware, "--payload", 1472, "--cycles", f"cpu_clk:{cycles}"]


def measure(build: Path) -> dict:
    """ns per core-cycle of the NIC by cores, and the speed of a core among 8 beside one alone in it and a bare one."""
    program, single = build / "bench" / "integer.elf", core_speed.build_lss(build, 1)
    subjects = [Subject("bare core", lambda n: core_speed.lss_command(single, program, n))]
    for cores in CORES:
        simulator = build_lss(build, cores)
        subjects.append(Subject(f"nic {cores}", lambda n, s=simulator: traffic(build, s, n), cores))
    figures = {name: median(times) for name, times in interleaved(subjects).items()}
    counts = counted_per_cycle(lambda n: traffic(build, simulator, n), SHORT, LONG)
    return {
        "nic10g_host_instructions_per_cycle": counts.instructions,
        "nic10g_mispredicted_branches_per_cycle": counts.mispredicted,
        "nic10g_ns_per_core_cycle": {str(cores): figures[f"nic {cores}"] for cores in CORES},
        "nic10g_per_core_speed": {
            "one alone in the NIC": figures["nic 1"] / figures["nic 8"],
            "a bare core on a scratchpad": figures["bare core"] / figures["nic 8"],
        },
    }
