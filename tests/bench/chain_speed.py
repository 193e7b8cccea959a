"""Cost of one small handshake module per cycle: a chain of 100 in LSS, SystemC, Verilator and hand-scheduled C.

There are two chains: `ripple`, whose readiness is combinational through all stages, and `registered`, whose stages
accept from state alone.  All implementations must deliver the same items and checksum.
"""

import json
from pathlib import Path

from measuring import BenchError, Subject, interleaved, median, run

STAGES = 100
VARIANTS = ("ripple", "registered")
CHAIN = Path(__file__).resolve().parent / "chain"


def build_lss(build: Path, variant: str) -> Path:
    """Compiles the chain in LSS and returns the simulator."""
    simulator = build / "bench" / f"chain_lss_{variant}"
    run([build / "bin" / "lss", "build", CHAIN / f"{variant}.lss", "-I", CHAIN, "-o", simulator])
    return simulator


def commands(build: Path, variant: str, lss: Path | None) -> dict:
    """For each implementation, the function from cycles to the command that runs it."""
    out = build / "bench"
    known = {
        "systemc": lambda n: [out / "chain_systemc", variant, n],
        "verilator": lambda n: [out / f"chain_verilator_{variant}", n],
        "c": lambda n: [out / "chain_c", variant, n],
    }
    programs = {name: command for name, command in known.items() if Path(command(0)[0]).exists()}
    if lss:
        programs = {"lss": lambda n: [lss, "--quiet", "--cycles", n], **programs}
    return programs


def lss_result(simulator: Path, cycles: int, scratch: Path) -> dict:
    """Items and checksum of the LSS chain after so many cycles."""
    stats = scratch / "chain_stats.json"
    run([simulator, "--quiet", "--cycles", cycles, "--stats", stats])
    values = {entry["name"]: entry["value"] for entry in json.loads(stats.read_text())["statistics"]}
    return {"items": int(values["items"]), "checksum": int(values["checksum"])}


def check_agreement(build: Path, variant: str, lss: Path, cycles: int = 20000) -> dict:
    """Raises unless every implementation counts the same items and checksum; returns them."""
    expected = lss_result(lss, cycles, build / "bench")
    for name, command in commands(build, variant, None).items():
        found = json.loads(run(command(cycles))[1])
        if found != expected:
            raise BenchError(f"chain {variant}: {name} found {found}, the LSS chain {expected}")
    return expected


def measure(build: Path) -> dict:
    """Medians in ns per module and cycle, for each variant and implementation, and their mean over the variants."""
    details = {}
    for variant in VARIANTS:
        lss = build_lss(build, variant)
        check_agreement(build, variant, lss)
        subjects = [Subject(name, command, STAGES) for name, command in commands(build, variant, lss).items()]
        details[variant] = {name: median(times) for name, times in interleaved(subjects).items()}
    names = details[VARIANTS[0]]
    return {
        "chain_ns_per_module_cycle": {n: sum(details[v][n] for v in VARIANTS) / len(VARIANTS) for n in names},
        "chain_variants": details,
    }
