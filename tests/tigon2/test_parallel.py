"""The two-processor machine with its firmware: every frame byte for byte, and what the link carries."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.net import check, theory, traffic
from harness.study.uses import throughput
from tests.sample import sampled, seldom
from tests.tigon2.conftest import AS_ELSEWHERE

pytestmark = pytest.mark.optimised


@pytest.fixture(scope="session")
def two(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """The machine at a clock of its SRAM in MHz, built once a session."""
    folder = tmp_path_factory.mktemp("two")

    def build(mhz: int) -> Path:
        simulator = folder / f"at{mhz}"
        if not simulator.exists():
            options = ["-D", "processors=2", "-D", f"sram_frequency={mhz}MHz", *AS_ELSEWHERE]
            command = [build_dir / "bin/lss", "build", root / "examples/tigon2/tigon2.lss", "-o", simulator, *options]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return simulator

    return build


@pytest.fixture
def firmware(build_dir: Path) -> Path:
    return build_dir / "firmware/tigon2_parallel/tigon2_parallel.elf"


@pytest.mark.parametrize("assist", ["true", "false"], ids=["assist", "software"])
@pytest.mark.parametrize(
    ("sizes", "ratio"),
    sampled([("18", "1:1"), ("1472", "1:1"), ("18-1472", "1:2"), ("18-1472", "3:1"), ("18:7,576:4,1472:1", "1:7"), ("19", "1:0"), ("1471", "0:1")], 3),
)  # fmt: skip
def test_frames_come_through_unharmed(
    two, firmware: Path, run_sim, tmp_path: Path, sizes: str, ratio: str, assist: str
) -> None:
    files = traffic.generate(tmp_path, sizes, 400, ratio)
    sends, receives = ratio.split(":")
    arguments = ["--firmware", firmware, "--assist", assist, "--ratio_send", sends, "--ratio_receive", receives]
    ways = [("send", files.send, tmp_path / "sent.pcap"), ("receive", files.receive, tmp_path / "received.pcap")]
    ways = [way for way in ways if way[1]]
    for name, came, went in ways:
        arguments += [f"--{name}", came, f"--{went.stem}", went]
    run_sim(two(100), *arguments)
    for _, came, went in ways:
        verdict = check.check_files(came, went)
        assert not verdict.wrong and not verdict.missing, verdict


def share(simulator: Path, firmware: Path, run_sim, folder: Path, payload: int, frames: int = 3000) -> float:
    """Of full duplex."""
    sent, received = folder / "sent.pcap", folder / "received.pcap"
    arguments = ["--payload", payload, "--frames", frames, "--sent", sent, "--received", received]
    run_sim(simulator, "--firmware", firmware, *arguments)
    flow = throughput.throughput_of_files(sent, received, frames // 3)
    return flow.payload_rate / (2 * theory.payload_rate(payload))


@pytest.mark.parametrize("mhz", [100, 250])
def test_full_duplex_with_the_largest_frames(two, firmware: Path, run_sim, tmp_path: Path, mhz: int) -> None:
    assert share(two(mhz), firmware, run_sim, tmp_path, 1472) >= 0.99


def test_faster_memory_is_faster_with_small_frames(two, firmware: Path, run_sim, tmp_path: Path) -> None:
    slow, fast = (share(two(mhz), firmware, run_sim, tmp_path, 100, 1500) for mhz in (100, 250))
    assert fast > 1.1 * slow


@seldom
@pytest.mark.slow
def test_frames_as_expensive_as_published_are_limited_by_memory(two, build_dir, run_sim, tmp_path: Path) -> None:
    """With the work of the shipped firmware, two processors do not fill the link, and with faster memory they do."""
    firmware = build_dir / "firmware/tigon2_parallel_paced/tigon2_parallel_paced.elf"
    slow, fast = (share(two(mhz), firmware, run_sim, tmp_path, 1472) for mhz in (100, 250))
    assert 0.7 < slow < 0.92 and fast >= 0.99
