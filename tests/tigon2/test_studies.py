"""One small study of the real machine, from the plan to the report."""

import json
from pathlib import Path

from harness.run.progress import Progress
from harness.study import campaign, plan, validation

PLAN = """
machine = "{root}/examples/tigon2/tigon2.lss"
firmware = "build/firmware/tigon2/tigon2.elf"
parameters = {{ cores = "cpus", sram_mhz = "sram_mhz" }}
[[study]]
name = "small"
title = "Small"
about = "A few frames."
direction = "duplex"
payloads = [400]
ratios = ["1:2", "1:1"]
frames = 1800
warmup = 600
series = [{{ name = "one", label = "one processor", cores = 1, sram_mhz = 100 }}]
"""


def test_a_small_study(root: Path, build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").symlink_to(build_dir / "bin")
    (tmp_path / "firmware").symlink_to(build_dir / "firmware")
    (tmp_path / "plan.toml").write_text(PLAN.format(root=root))
    (tmp_path / "text.md").write_text(
        "# T\n\nabout\n\n{{percent small one 400}} {{setting small one 400 host.overhead}}\n\n{{figure small}}\n"
    )
    outcome = campaign.run(plan.load([tmp_path / "plan.toml"]), [], tmp_path, Progress())
    page = validation.write(outcome, tmp_path / "text.md", tmp_path).read_text()
    (record,) = json.loads((tmp_path / "studies/studies.json").read_text())
    assert (record["machine"], record["cores"], record["sram_mhz"]) == ("tigon2", 1, 100)
    assert (record["frames"], record["drops"], record["damaged"], record["published_percent"]) == (1800, 0, 0, None)
    assert record["percent"] == round(100 * record["mbps"] / record["theory_mbps"], 2) and 30 < record["percent"] < 100
    assert f"{record['percent']:.1f} % 30 %" in page and "<svg" in page
