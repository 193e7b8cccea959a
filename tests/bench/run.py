"""`make bench`: measures all speed figures, prints them as a table and writes build/bench/bench.json.

Each section stands alone: when one cannot be measured its keys are null, the reason is printed, the others are
measured all the same, and the exit status is 1.  --only NAME[,NAME] measures some sections and keeps the figures of
the others from the last run.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import build_speed
import chain_speed
import core_speed
import host_speed
import nic10g_speed
import parts_speed
import replay_speed
import tigon2_speed
import tools_speed
import waiting_speed
from measuring import BenchError, machine_info

SECTIONS = {
    "core": core_speed.measure,
    "chain": chain_speed.measure,
    "tigon2": tigon2_speed.measure,
    "nic10g": nic10g_speed.measure,
    "host": host_speed.measure,
    "build": build_speed.measure,
    "replay": replay_speed.measure,
    "tools": tools_speed.measure,
    "waiting": waiting_speed.measure,
    "parts": parts_speed.measure,
}
KEYS = (
    "structural_tax",
    "ns_per_core_cycle",
    "tigon2_host_instructions_per_cycle",
    "tigon2_mispredicted_branches_per_cycle",
    "nic10g_host_instructions_per_cycle",
    "nic10g_mispredicted_branches_per_cycle",
    "nic10g_ns_per_core_cycle",
    "nic10g_per_core_speed",
    "host_ns_per_cycle",
    "host_instructions_per_cycle",
    "host_boot_seconds",
    "host_fast_mips",
    "host_fast_prompt_seconds",
    "chain_ns_per_module_cycle",
    "build_seconds",
    "rebuild_seconds",
    "replay_ratio",
    "replay_instruction_ratio",
    "restore_ms",
    "attached_ratio",
    "debugger",
    "waiting_host_instructions_per_cycle",
    "stalled_cores_host_instructions_per_cycle",
    "parts_cost",
    "parts_idle_seconds",
    "parts_loops",
    "parts_ring_seconds",
)


def row(text: str, value: float | None, unit: str, goal: str = "") -> str:
    """One line of the table."""
    shown = "-" if value is None else f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
    return f"  {text:<58}{shown:>10} {unit:<15} {goal}"


def core_rows(results: dict) -> list[str]:
    lines = []
    for cores, cost in (results.get("monolith_ns_per_core_cycle") or {}).items():
        lines.append(row(f"monolithic C, {cores} cores", cost, "ns/core-cycle", f"{1e3 / cost:.0f} M core-cycles/s"))
    anew = results.get("monolith_decode_anew_ns_per_core_cycle")
    lines.append(row("monolithic C, 1 core, decoding every time", anew, "ns/core-cycle"))
    for cores, cost in (results.get("ns_per_core_cycle") or {}).items():
        lines.append(row(f"LSS core, {cores} cores", cost, "ns/core-cycle", f"{1e3 / cost:.0f} M core-cycles/s"))
    lines.append(row("structural tax", results.get("structural_tax"), "times", "at most 3, goal 1.6"))
    lines.append(row("  against decoding every time", results.get("structural_tax_decode_anew"), "times"))
    per = results.get("ns_per_core_cycle") or {}
    # A single core is compiled into the machine's one function; from two on the cores share code of their own.
    scaling = per["8"] / per["2"] if "8" in per and "2" in per else None
    lines.append(row("cost per core-cycle, 8 cores against 2, same code", scaling, "times", "at most 1.3"))
    return lines


def chain_rows(results: dict) -> list[str]:
    lines = []
    for variant, costs in (results.get("chain_variants") or {}).items():
        for name, cost in costs.items():
            goal = "at most 1.5, goal 1.2" if name == "lss" else ""
            ratio = f"{cost / costs['c']:.2f} times C; {goal}".rstrip("; ") if costs.get("c") else ""
            lines.append(row(f"chain of 100, {variant}, {name}", cost, "ns/module-cycle", ratio))
    return lines


def other_rows(results: dict) -> list[str]:
    instructions = results.get("tigon2_host_instructions_per_cycle")
    lines = [
        row("two-CPU Tigon-2, duplex traffic", instructions, "instructions", "per CPU clock, at most 1,200, goal 800"),
        row(
            "  branches that go another way than predicted",
            results.get("tigon2_mispredicted_branches_per_cycle"),
            "branches",
            "per CPU clock",
        ),
        row("two-CPU Tigon-2, build from an empty cache", results.get("build_seconds"), "s", "under 20"),
    ]
    for change, seconds in (results.get("rebuild_changes") or {}).items():
        lines.append(row(f"  rebuild after changing {change}", seconds, "s"))
    for cores, cost in (results.get("nic10g_ns_per_core_cycle") or {}).items():
        lines.append(row(f"10 Gb/s NIC at line rate, {cores} cores", cost, "ns/core-cycle"))
    counted = results.get("nic10g_host_instructions_per_cycle"), results.get("nic10g_mispredicted_branches_per_cycle")
    for text, count, unit in zip(
        ("duplex traffic", "mispredicted"), counted, ("instructions", "branches"), strict=True
    ):
        lines.append(row(f"10 Gb/s NIC, 8 cores, {text}", count, unit, "per clock of the cores"))
    for beside, share in (results.get("nic10g_per_core_speed") or {}).items():
        goal = "at least 0.25" if "alone" in beside else ""
        lines.append(row(f"  a core among its 8, beside {beside}", share, "times as fast", goal))
    lines.append(row("two-CPU Tigon-2, worst rebuild", results.get("rebuild_seconds"), "s", "under 3"))
    return lines


HOST_LIMITS = {
    "busy": "at most 60, goal 40",
    "idle": "at most 0.1",
    "idle, with an idle card": "at most 20, with whole loops 5",
}


STALLED_LIMITS = {"4": "per cycle, goal 500", "8": "per cycle, goal 800"}


def waiting_rows(results: dict) -> list[str]:
    waits, stalls = (results.get(f"{key}_host_instructions_per_cycle") or {} for key in ("waiting", "stalled_cores"))
    return [
        *(row(f"host machine that waits, {latency} cycles to memory", count, "instructions", "per cycle") for latency, count in waits.items()),
        *(row(f"{cores} coherent cores, all stalled", count, "instructions", STALLED_LIMITS.get(cores, "")) for cores, count in stalls.items()),
    ]


PARTS_LIMITS = {"500 ns": "at most 1.2", "5 us": "at most 1.1", "in one process": "at most 0.08", "in two": "at most 0.16"}


def parts_rows(results: dict) -> list[str]:
    kinds = {"parts_cost": ("two Tigon-2 in parts, cable of", "times one"), "parts_idle_seconds": ("  idle for 50 ms,", "s")}
    lines = []
    for key, (text, unit) in kinds.items():
        for name, value in (results.get(key) or {}).items():
            lines.append(row(f"{text} {name}", value, unit, PARTS_LIMITS.get(name, "")))
    for rate, share in (results.get("parts_loops") or {}).items():
        lines.append(row(f"  cycles left out in whole loops, {rate}", share, "times one", "at least 0.9"))
    rings = results.get("parts_ring_seconds") or {}
    for nodes, seconds in rings.items():
        limit = f"at most {1.1 * rings['8']:.2f}" if nodes == "32" and "8" in rings else ""
        lines.append(row(f"  a node in a ring of {nodes}, 3 ms", seconds, "s", limit))
    return lines


FAST_CORE = {
    "host_fast_mips": ("its boot on the fast core", "M instr/s", "at least 50"),
    "host_fast_hot_mips": ("hot loops on it", "M instr/s", "at least 400"),
    "host_fast_hot_instructions": ("one instruction of them", "instructions", "at most 20"),
    "host_fast_prompt_seconds": ("its boot up to the prompt", "s", "at most 2"),
}


def host_rows(results: dict) -> list[str]:
    lines = []
    for state, cost in (results.get("host_ns_per_cycle") or {}).items():
        lines.append(row(f"host machine, {state}", cost, "ns/cycle", HOST_LIMITS.get(state, "")))
    for state, counted in (results.get("host_instructions_per_cycle") or {}).items():
        lines.append(row(f"  {state}", counted, "instructions", "per cycle"))
    boots = results.get("host_boot_seconds") or {}
    limits = {"host machine": "at most 15", "host machine, coherent, level 2": f"at most {1.5 * boots.get('host machine', 0):.1f}"}
    for name, seconds in boots.items():
        lines.append(row(f"  Linux from reset to power-off, {name}", seconds, "s", limits.get(name, "")))
    for key, (text, unit, limit) in FAST_CORE.items():
        if results.get(key) is not None:
            lines.append(row(f"  {text}", results[key], unit, limit))
    return lines


def replay_rows(results: dict) -> list[str]:
    lines = []
    unit = "cycles" if results["machine"].get("cycle_counters") else "ns"
    for name, figures in (results.get("replay_workloads") or {}).items():
        ratio, instructions = results["replay_ratio"][name], results["replay_instruction_ratio"][name]
        lines.append(row(name, figures["instructions"], "instructions", f"{instructions:.2f} times --no-replay"))
        lines.append(
            row("  mispredicted", figures["mispredicted"], "branches", f"{figures['mispredicted_without']:.2f} without")
        )
        lines.append(row("  time", figures["host_cycles"], unit, f"{ratio:.2f} times --no-replay"))
    return lines


ATTACHED = {
    "profile": ("profile of both processors", 2),
    "instructions": ("trace of all instructions", 5),
    "ten_signals": ("wave of ten signals", 5),
    "ports_of_a_core": ("wave of all ports of a processor", 25),
}
DEBUGGER = {
    "forward_ratio": ("gdb, forwards with a history of the whole run", "times stepping without", "at most 1.2"),
    "back_ratio": ("gdb, back over the whole run", "times forwards", "at most 3"),
    "reverse_stepi_ms": ("gdb, an instruction back", "ms at most", "under 100"),
    "reverse_step_ms": ("gdb, a line back", "ms at most", "under 1,000"),
}


def tools_rows(results: dict) -> list[str]:
    lines = [row("two-CPU Tigon-2, restored from a checkpoint", results.get("restore_ms"), "ms", "under 50")]
    for key, ratio in (results.get("attached_ratio") or {}).items():
        text, limit = ATTACHED[key]
        lines.append(row(f"  {text}", ratio, "times", f"at most {limit}"))
    for key, value in (results.get("debugger") or {}).items():
        text, unit, limit = DEBUGGER[key]
        lines.append(row(f"  {text}", value, unit, limit))
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description="speed figures")
    parser.add_argument("--build", type=Path, default=Path("build"), help="where make puts its products")
    parser.add_argument("--only", default="", help="sections to measure: " + ",".join(SECTIONS))
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(SECTIONS)
    if unknown := set(chosen) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    build = options.build.resolve()
    report = build / "bench" / "bench.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    results: dict = dict.fromkeys(KEYS)
    if options.only and report.exists():
        results.update(json.loads(report.read_text()))
    results["machine"] = machine_info()
    problems = []
    for name in chosen:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        try:
            results.update(SECTIONS[name](build))
        except BenchError as error:
            problems.append(f"{name}: {error}")
    scratch = report.with_suffix(".new")
    scratch.write_text(json.dumps(results, indent=2) + "\n")
    os.replace(scratch, report)
    machine = results["machine"]
    print(f"{machine['cpu']}, {machine['cpus']} CPUs, load {machine['load_average']:.1f}; {machine['clang']}")
    for line in (
        core_rows(results) + chain_rows(results) + other_rows(results) + host_rows(results) + replay_rows(results)
        + tools_rows(results) + waiting_rows(results) + parts_rows(results)
    ):
        print(line)
    for problem in problems:
        print(f"bench: not measured: {problem}", file=sys.stderr)
    print(f"figures in {os.path.relpath(report)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
