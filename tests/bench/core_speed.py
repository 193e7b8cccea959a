"""Structural tax and scaling: the five-stage core in LSS against the hand-written monolithic simulator.

All run the same integer program from a private single-cycle scratchpad, at 1, 2, 4 and 8 cores.
"""

from pathlib import Path

from measuring import Subject, interleaved, median, run

CORES = (1, 2, 4, 8)
HERE = Path(__file__).resolve().parent


def build_lss(build: Path, cores: int) -> Path:
    """Compiles the machine of so many cores and returns the simulator."""
    simulator = build / "bench" / f"cores_{cores}"
    run([build / "bin" / "lss", "build", HERE / "cores.lss", "-I", HERE, "-D", f"processors={cores}", "-o", simulator])
    return simulator


def lss_command(simulator: Path, program: Path, cycles: int) -> list:
    """The command that runs the program on the LSS machine."""
    return [simulator, "--quiet", "--cycles", cycles, "--image", program]


def measure(build: Path) -> dict:
    """Tax, second tax against decoding every time, and ns per core-cycle of both simulators at each core count."""
    program = build / "bench" / "integer.elf"
    monolith = build / "bench" / "monolith"
    subjects = [Subject("monolith_decode_anew", lambda n: [monolith, "--decode-anew", "--cycles", n, program])]
    for cores in CORES:
        simulator = build_lss(build, cores)
        subjects.append(
            Subject(f"monolith {cores}", lambda n, c=cores: [monolith, "--cores", c, "--cycles", n, program], cores)
        )
        subjects.append(Subject(f"lss {cores}", lambda n, s=simulator: lss_command(s, program, n), cores))
    figures = {name: median(times) for name, times in interleaved(subjects).items()}
    return {
        "structural_tax": figures["lss 1"] / figures["monolith 1"],
        "structural_tax_decode_anew": figures["lss 1"] / figures["monolith_decode_anew"],
        "ns_per_core_cycle": {str(cores): figures[f"lss {cores}"] for cores in CORES},
        "monolith_ns_per_core_cycle": {str(cores): figures[f"monolith {cores}"] for cores in CORES},
        "monolith_decode_anew_ns_per_core_cycle": figures["monolith_decode_anew"],
    }
