"""One small study of the real machine, from the file to the report."""

import json
from pathlib import Path

from harness.run.execute import executor
from harness.run.progress import Progress
from harness.study import collection, validation

STUDY = """
title = "Small"
about = "A few frames."
machine = "{root}/examples/tigon2/tigon2.lss"
base = {{ "D.processors" = 1, "D.sram_frequency" = "100 MHz", "option.firmware" = "build/firmware/tigon2/tigon2.elf" }}
use = {{ with = "frames", frames = 1500, warmup = 500 }}
axis = [
  {{ name = "payload", values = [400] }},
  {{ name = "ratio", values = ["1:2", "1:1"], best = "rate" }},
]
figure = {{ x = "payload", y = "rate" }}
"""


def test_a_small_study(root: Path, build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").symlink_to(build_dir / "bin")
    (tmp_path / "firmware").symlink_to(build_dir / "firmware")
    (tmp_path / "small.toml").write_text(STUDY.format(root=root))
    (tmp_path / "text.md").write_text(
        "# T\n\nabout\n\n{{percent small 400}} {{setting small 400 host.overhead}}\n\n{{figure small}}\n"
    )
    with executor() as pool:
        made = collection.run([tmp_path / "small.toml"], [], tmp_path, pool, Progress())
    assert made.failed == []
    page = validation.write(made, tmp_path / "text.md", tmp_path).read_text()
    (record,) = json.loads((tmp_path / "studies/studies.json").read_text())
    assert (record["machine"], record["processors"], record["sram_frequency"]) == ("tigon2", 1, 100_000_000)
    assert (record["frames"], record["drops"], record["damaged"], record["published_percent"]) == (1500, 0, 0, None)
    assert abs(record["percent"] - 100 * record["mbps"] / record["theory_mbps"]) < 0.01 and 30 < record["percent"] < 100
    assert f"{record['percent']:.1f} % 30 %" in page and "<svg" in page
