"""The study of examples/messages has the shapes of the paper's figures, with fewer messages and sizes than it has itself."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.linux_guest import guest

pytestmark = [pytest.mark.soak, pytest.mark.optimised, pytest.mark.timeout(3600)]
SIZES, MTU = [100, 1000, 1472, 8000], 1472


def test_figures_5_to_8(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """UDP with checksums by software next to registered memory, DMA of 30 MB/s."""
    guest(build_dir)
    text = (root / "examples/messages/studies/messages.toml").read_text()
    places = {'"../messages_host.lss"': f'"{root}/examples/messages/messages_host.lss"', '"../../tigon2"': f'"{root}/examples/tigon2"', 'guest = "../guest"': f'guest = "{root}/examples/messages/guest"'}
    fewer = {"values = [100, 500, 1000, 1472, 2000, 4000, 6000, 8000]": f"values = {SIZES}", '["30 MB/s", "0 MB/s"]': '["30 MB/s"]', "24": "8"}
    for old, new in (places | fewer).items():
        assert old in text, old
        text = text.replace(old, new)
    (tmp_path / "study.toml").write_text(text)
    words = ["-m", "harness", "study", tmp_path / "study.toml", "--out", tmp_path / "out", "--build", build_dir, "--plain"]
    subprocess.run([sys.executable, *map(str, words)], cwd=root, check=True, stdin=subprocess.DEVNULL)
    points = {(one["variant"], one["bytes"]): one["measures"] for one in json.loads((tmp_path / "out/results.json").read_text())["points"]}

    for size in SIZES:
        udp, via, mapped = (points[variant, size] for variant in ("udpc", "via", "via-mapped"))
        assert 1.5 < udp["host"] / via["host"] < 3, size
        assert via["udp"] == via["ip"] == via["checksum"] == 0 < mapped["copy"] < 100 < via["copy"], "not of messages"
        assert size == SIZES[-1] or udp["socket"] == pytest.approx(points["udpc", 100]["socket"], rel=0.15)
        assert via["library"] < 0.05 * via["host"]
        assert via["nic"] == pytest.approx(200 * size / 30, rel=0.1, abs=800), "200 MHz, 30 MB/s"
    nic = [points["via-nic", size] for size in SIZES]
    for name, most in ("in_call", 250), ("host", 450):
        assert max(one[name] for one in nic) < min(most, 1.1 * min(one[name] for one in nic)), "whatever the size"
    small, large = points["udpc", 100], points["udpc", 8000]
    assert small["copying"] < small["udp"] + small["ip"] + small["buffers"] < large["copying"]
    assert points["via", 8000]["copying"] == max(points["via", 8000][name] for name in ("trap", "transport", "copying", "buffers", "queues", "driver", "interrupts"))
