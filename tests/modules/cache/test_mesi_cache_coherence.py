"""Four caches and a device that work at the same few lines: every read is compared with one flat memory, and no two caches may
believe that they have the only copy of a line."""

from pathlib import Path

import pytest

from tests.modules.cache.coherent import DEVICE_GENERATE, GENERATE, LINE, checker, machine
from tests.modules.harness import Bench, Ran

SMALL = "sets = 2; ways = 2;"
DRAM = "memory_controller { queue = 8; refresh_interval = 300; }"
MACHINES = {
    "small caches": {"cache": SMALL},
    "one victim, writes that wait, few transactions": {"cache": "sets = 1; ways = 2; victims = 1; post_writes = false; replacement = cache_replacement.random;", "bus": "outstanding = 2; snoop_cycles = 1; turnaround = 0;"},
    "memory that answers out of order": {"cache": "sets = 4; ways = 1;", "bus": "width = 256;", "port": "entries = 8;", "memory": DRAM, "out": "memory"},
}  # fmt: skip


def generated(options: dict[str, str], pool: int, caches: int = 4, device: bool = True) -> str:
    requesters = "".join(
        f"instance requester_{i} : memory_source;\nrequester_{i}.generate = {(GENERATE if i < caches else DEVICE_GENERATE).replace('POOL', str(pool))};\nrequester_{i}.outstanding = {2 if i < caches else 4};\n"
        for i in range(caches + 1)
    )
    text = machine(caches=caches, **options)
    text = text.replace("requester[i].memory -> cache[i].in;", "")
    text += "".join(f"requester_{i}.memory -> cache[{i}].in;\n" for i in range(caches))
    text = text.replace(f"requester[{caches}].memory", f"requester_{caches}.memory")
    if not device:
        requesters += f"requester_{caches}.count = 0;\n"
    return "import memory_types;\nimport cache_types;\n" + requesters + text + checker(caches)


def looked_at(ran: Ran) -> dict[str, int]:
    """What the collector counted."""
    return {one["name"]: one["value"] for one in ran.stats["statistics"] if one["path"] == ""}


@pytest.mark.soak
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("seed", range(2))
def test_a_million_operations(build_dir: Path, tmp_path: Path, name: str, seed: int) -> None:
    bench = Bench(build_dir / "bin" / "lss", tmp_path)
    ran = bench.run(bench.build(generated(MACHINES[name], 8 * LINE * (seed + 1))), 8_000_000, seed=seed)
    seen = looked_at(ran)
    assert seen["reads"] + seen["writes"] > 1_000_000 and seen["conditionals"] > 10_000


@pytest.mark.parametrize("name", MACHINES)
def test_every_read_sees_the_last_write(bench: Bench, name: str) -> None:
    simulator = bench.build(generated(MACHINES[name], 8 * LINE))
    ran = bench.run(simulator, 12000)
    seen = looked_at(ran)
    assert seen["reads"] > 500 and seen["writes"] > 500 and seen["conditionals"] > 5 and seen["transitions"] > 1000
