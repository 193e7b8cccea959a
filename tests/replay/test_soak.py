"""Random traffic through the NICs with all that a run leaves out done as well, and compared."""

import random
from pathlib import Path

import pytest

from .test_check import replayed

pytestmark = pytest.mark.optimised

ROOT = Path(__file__).resolve().parents[2]
MACHINES = {
    "tigon2/tigon2": (["-D", "processors=2"], ["tigon2", "tigon2_parallel"], "20 ms"),
    "nic10g/nic10g": ([], ["nic10g"], "2 ms"),
}
RATES = ["1 Mb/s", "30 Mb/s", "100 Mb/s", "300 Mb/s", "1 Gb/s"]


@pytest.mark.soak
@pytest.mark.parametrize("name", MACHINES)
def test_random_traffic_is_replayed_exactly(name: str, build_sim, run_sim, build_dir: Path, tell) -> None:
    options, firmwares, time = MACHINES[name]
    simulator, checked, simulated = build_sim(ROOT / f"examples/{name}.lss", *options), 0, 0
    for seed in range(20):
        rng = random.Random(f"{name} {seed}")
        firmware = rng.choice(firmwares)
        traffic = ["--mode", "rate", "--rate", rng.choice(RATES)] if rng.random() < 0.8 else []
        done = run_sim(
            simulator, "--quiet", "--check-replay", "--firmware", build_dir / f"firmware/{firmware}/{firmware}.elf",
            "--payload", rng.randrange(18, 1473), "--seed", seed, "--time", time, *traffic,
        )  # fmt: skip
        checked += sum(replayed(done).values())
        simulated += done.stats["run"]["cycles"]["cpu_clk"]
    tell(name, simulated, checked)
    assert checked > 1_000_000 or name != "tigon2/tigon2"
