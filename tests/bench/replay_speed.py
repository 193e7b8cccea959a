"""What replay is worth: machines with it and with --no-replay, from full load to none.

Host instructions and mispredicted branches are valgrind's, of steady traffic, and repeat exactly.  Host cycles are those of
the processor's own counters, where there are any, else processor time; as the same machine code linked elsewhere takes a few
per cent more or less, each ratio is the median over several layouts of the code, each of which runs both ways in turns.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import core_speed
import nic10g_speed
import tigon2_speed
from measuring import Counts, Subject, calibrate, counted_per_cycle, host_cycles, median

LAYOUTS = 5
SHORT, LONG = 400_000, 1_000_000  # clocks between which instructions are counted: by the first, tables have been filled and loops found


@dataclass
class Workload:
    """A machine and what it does: `command` runs a simulator for so many cycles."""

    machine: str
    command: Callable[[Path, int], list]


def workloads(build: Path) -> dict[str, Workload]:
    def nic(machine: str, firmware: str, rate: str = "") -> Workload:
        """Frames of the largest size as fast as the NIC takes them, or at a rate each way."""
        options = ["--quiet", "--firmware", build / "firmware" / firmware / f"{firmware}.elf", "--payload", 1472]
        options += ["--mode", "rate", "--rate", rate, "--watchdog", "1 s"] if rate else []
        return Workload(machine, lambda simulator, cycles: [simulator, *options, "--cycles", f"cpu_clk:{cycles}"])

    program = build / "bench" / "integer.elf"
    return {
        "single core": Workload("core", lambda simulator, n: core_speed.lss_command(simulator, program, n)),
        "tigon2, full load": nic("tigon2", "tigon2"),
        "tigon2_parallel, full load": nic("tigon2", "tigon2_parallel"),
        "tigon2_parallel, 300 Mb/s": nic("tigon2", "tigon2_parallel", "300 Mb/s"),
        "tigon2_parallel, 100 Mb/s": nic("tigon2", "tigon2_parallel", "100 Mb/s"),
        "tigon2, 1 Mb/s": nic("tigon2", "tigon2", "1 Mb/s"),
        "nic10g, line rate": nic("nic10g", "nic10g"),
        "nic10g, 1 Mb/s": nic("nic10g", "nic10g", "1 Mb/s"),
    }


def compile_machine(build: Path, machine: str) -> Path:
    if machine == "core":
        return core_speed.build_lss(build, 1)
    return tigon2_speed.build_lss(build) if machine == "tigon2" else nic10g_speed.build_lss(build, 8)


def layouts(build: Path, machine: str) -> list[Path]:
    """Simulators of the machine whose basic blocks are aligned in several ways, the first as it is."""
    made = []
    flags = os.environ.get("LSS_CFLAGS", "")
    for layout in range(LAYOUTS):
        os.environ["LSS_CFLAGS"] = f"{flags} -mllvm -align-all-nofallthru-blocks={layout}" if layout else flags
        made.append(build / "bench" / f"replay_{machine}_{layout}")
        shutil.copy2(compile_machine(build, machine), made[-1])
    os.environ["LSS_CFLAGS"] = flags
    return made


def ratio_of_cycles(workload: Workload, simulators: list[Path], seconds: float) -> tuple[float, float]:
    """Host cycles (or nanoseconds) of a cycle with replay, and their ratio to those without: medians over the layouts."""
    with_replay, ratios = [], []
    for simulator in simulators:
        subject = Subject(simulator.name, lambda n, s=simulator: workload.command(s, n))
        calibrate(subject, seconds)
        short, long = subject.cycles // 4, subject.cycles
        costs = []
        for options in ([], ["--no-replay"]):
            few, many = (host_cycles(workload.command(simulator, n) + options) for n in (short, long))
            costs.append((many - few) / (long - short))
        with_replay.append(costs[0])
        ratios.append(costs[0] / costs[1])
    return median(with_replay), median(ratios)


def measure(build: Path, seconds: float = 1.0) -> dict:
    """Per workload: instructions and mispredicted branches both ways, host cycles, and the ratios."""
    made: dict[str, list[Path]] = {}
    results: dict[str, dict] = {"replay_ratio": {}, "replay_instruction_ratio": {}, "replay_workloads": {}}
    for name, workload in workloads(build).items():
        if workload.machine not in made:
            made[workload.machine] = layouts(build, workload.machine)
        simulators = made[workload.machine]

        def counts(*options: str, w: Workload = workload, s: Path = simulators[0]) -> Counts:
            return counted_per_cycle(lambda n: [*w.command(s, n), *options], SHORT, LONG)

        with_it, without = counts(), counts("--no-replay")
        cost, ratio = ratio_of_cycles(workload, simulators, seconds)
        results["replay_ratio"][name] = ratio
        results["replay_instruction_ratio"][name] = with_it.instructions / without.instructions
        results["replay_workloads"][name] = {
            "instructions": with_it.instructions,
            "instructions_without": without.instructions,
            "mispredicted": with_it.mispredicted,
            "mispredicted_without": without.mispredicted,
            "host_cycles": cost,
        }
    return results
