"""A small machine and a study of it, for tests of studies: a chain of pipes between a source and a sink."""

import subprocess
import sys
from pathlib import Path

from harness.run.execute import executor
from harness.run.progress import Progress
from harness.study import model, runner

ROOT = Path(__file__).resolve().parents[2]
MACHINE = """
parameter stages = 2 : int;                     /** pipes in the chain */
runtime parameter script = "" : string;         /** what the source sends */
runtime parameter ready = 1.0 : float;          /** of the sink */
clock clk = 100 MHz;
instance producer : source { script = script; };
instance stage[stages] : pipe;
instance consumer : sink { ready = ready; };
producer.out -> stage[0].in : uint32;
for (i = 0; i + 1 < stages; i = i + 1) stage[i].out -> stage[i + 1].in;
stage[stages - 1].out -> consumer.in;
"""
STUDY = """
title = "A <chain> of [pipes]"
about = "Items & stages."
machine = "chain.lss"
base = { "option.cycles" = 1000 }
axis = [
  { name = "stages", setting = "D.stages", values = [2, 10] },
  { name = "ready", setting = "option.ready", values = [0.5, 1.0] },
]
figure = { x = "stages", y = "rate" }
published = { where = { stages = 2, ready = 1.0 }, rate = 0.9, label = "theirs" }
[measure]
rate = { value = "consumer.items / cycles(clk)", label = "items per cycle", better = "more" }
missing = { value = "1 - rate", better = "less" }
"""


def make(place: Path, text: str | None = None) -> model.Outcome:
    """The study, run here."""
    if text is not None:
        (place / "study.toml").write_text(text)
    study = runner.prepare(place / "study.toml", place / "build", Progress())
    runner.build(study, Progress())
    with executor() as pool:
        return runner.run(study, pool, Progress())


def command(place: Path, *arguments: str, file: str = "study.toml") -> list[str]:
    return [sys.executable, "-m", "harness", "study", str(place / file), "--build", str(place / "build"), "--plain", *arguments]


def run(place: Path, *arguments: str, status: int = 0, file: str = "study.toml") -> str:
    """The command, in a process of its own."""
    done = subprocess.run(command(place, *arguments, file=file), cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def rates(outcome: model.Outcome) -> dict[str, float]:
    return {row.point.name: row.measures.get("rate") for row in outcome.rows}
