"""Out-of-order cores for tests, from the smallest to eight instructions wide, with memories that take their time and refuse by chance."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

# Machines, by what they are built with; `slow` puts delays in front of memory in place of caches.  `registers` are those beside the program's.
SMALL = {"width": 1, "entries": 4, "queue": 1, "memory_queue": 1, "registers": 1, "snapshots": 1}
MACHINES: dict[str, dict[str, object]] = {
    "smallest": SMALL,
    "smallest slow": SMALL | {"slow": 1},
    "narrow": {"width": 2, "entries": 8, "queue": 3, "memory_queue": 2, "registers": 4, "snapshots": 2},
    "narrow cached": {"width": 2, "entries": 8, "queue": 3, "memory_queue": 2, "registers": 4, "snapshots": 2, "caches": "true", "mshrs": 2, "dcache_size": "256 B"},
    "four": {"width": 4},
    "four slow": {"width": 4, "slow": 1},
    "four cached": {"width": 4, "caches": "true"},
    "four blocking": {"width": 4, "caches": "true", "mshrs": 0},
    "four waiting": {"width": 4, "speculate": "false", "slow": 1},
    "long units": {"width": 4, "unit_latency": 3, "slow": 1},
    "tight eight": {"width": 8, "entries": 8, "queue": 3, "memory_queue": 2, "registers": 8, "snapshots": 3, "slow": 1},
    "eight": {"width": 8},
    "eight slow": {"width": 8, "slow": 1},
    "eight cached": {"width": 8, "entries": 64, "queue": 64, "memory_queue": 64, "caches": "true", "dcache_size": "1024 B"},
}
# Every width with every list and every queue, each with both ways to recover: one of the two on a memory that replies at once.
GRID: dict[str, dict[str, object]] = {
    f"{width}-wide, list {entries}, queue {queue}, {'snapshots' if snapshots else 'walk'}{', slow' if slow else ''}": {
        "width": width, "entries": entries, "queue": queue, "registers": min(entries, 6 * queue + width), "snapshots": snapshots, **({"slow": 1} if slow else {}),
    }
    for w, width in enumerate((1, 2, 4, 8)) for e, entries in enumerate((4, 16, 32, 64)) for q, queue in enumerate((1, 4, 16))
    for snapshots in (0, min(queue, 8)) for slow in [(w + e + q + bool(snapshots)) % 2]
}  # fmt: skip
ALL = MACHINES | GRID
LINKS = (("core.data -> ram.port;", "64"), ("filter.scratchpad -> ram.port;", "64"), ("core.instructions -> code.port;", "32 * width"))


def unfriendly(name: str) -> list[str]:
    """What makes the memory of a machine so, if it takes time at all."""
    slow = {"slow", "caches"} & ALL[name].keys()
    return ["--set", "jitter=5", "--set", "refuse=0.3"] if slow else []


def slowed(text: str) -> str:
    """The machine with delays in front of memory."""
    for link, width in LINKS:
        first, second = link.removesuffix(";").split(" -> ")
        name = f"slow_{first.replace('.', '_')}"
        delay = f"instance {name} : memory_delay {{ width = {width}; latency = 2; jitter = jitter; refuse = refuse; }};"
        assert text.count(f"  {link}\n}}\n") + text.count(f"  {link}\n  ") == 1
        head, _, tail = text.rpartition(f"  {link}\n")
        text = f"{head}  {delay}\n  {first} -> {name}.in;\n  {name}.out -> {second};\n{tail}"
    return text


def builder(directory: Path, build_dir: Path, root: Path, logical: int, *processor: str) -> Callable[..., Path]:
    """build(name, options...): the simulator of one of ALL in lockstep; the program has so many registers."""
    source, slow = root / "examples/wide_core/wide_core.lss", directory / "slow.lss"
    slow.write_text(slowed(source.read_text()))
    built: dict[tuple[str, ...], Path] = {}

    def build(name: str, *options: str) -> Path:
        if (name, *options) not in built:
            settings = {"checked": "true"} | ALL[name]
            if "registers" in settings:
                settings["registers"] = int(str(settings["registers"])) + logical
            chosen = slow if settings.pop("slow", 0) else source
            simulator = built[name, *options] = directory / f"sim{len(built)}"
            given = [word for key, value in settings.items() for word in ("-D", f"{key}={value}")]
            command = [build_dir / "bin" / "lss", "build", chosen, *processor, *given, *options, "-o", simulator]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return built[name, *options]

    return build


def run(simulator: Path, elf: Path, *options: object, cycles: int = 400_000) -> subprocess.CompletedProcess:
    """Bounded, so that a core that stands still fails instead of running for ever."""
    command = [simulator, "--program", elf, "--cycles", cycles, *options]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)


def counted(done: subprocess.CompletedProcess, name: str) -> int:
    return int(re.findall(rf"^core\S* +{name} +(\d+)", done.stdout + done.stderr, re.MULTILINE)[0])
