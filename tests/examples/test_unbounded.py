"""Every machine of the examples and of the documentation, started with nothing that bounds its run: within ten seconds it
ends, or has said in a line what could bound it or what it waits for."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.test_snippets import ALL_PAGES, blocks, name_of
from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 10
NO_MACHINE = "nothing is instantiated here"
PAGES = [page for page in ALL_PAGES if any((block.file or "").endswith(".lss") for block in blocks(page))]
QUICK = ("tour.md",)


def started(command: list, folder: Path) -> str:
    """What a simulator says until it ends, or for SECONDS; it may not end without a word, and not by a crash."""
    run = subprocess.Popen(
        list(map(str, command)), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "LSS_PROGRESS": "off"},
    )  # fmt: skip
    try:
        said = run.communicate(timeout=SECONDS)[0]
        assert run.returncode in (0, 1, 2) and said.strip(), f"status {run.returncode}: {said!r}"
    except subprocess.TimeoutExpired:
        run.send_signal(signal.SIGINT)
        said = run.communicate(timeout=60)[0]
        told = [line for line in said.decode(errors="replace").splitlines() if "note: this run has no bound" in line]
        assert len(told) == 1 and "--cycles" in told[0], said
    return said.decode(errors="replace")


def try_machine(lss: Callable, machine: Path, folder: Path, *options: str | Path) -> None:
    simulator = folder / f"unbounded_{machine.stem}"
    built = lss("build", "-O", "0", machine, "-o", simulator, *options, cwd=folder)
    if NO_MACHINE not in built.err:
        started([simulator], folder)


@pytest.mark.soak
@pytest.mark.parametrize("machine", found(ROOT / "examples", "*.lss"), ids=lambda path: path.stem)
def test_a_machine_of_the_examples(lss, tmp_path, machine):
    try_machine(lss, machine, tmp_path, "-I", ROOT / "examples/tigon2")


@pytest.mark.parametrize(
    "page", [pytest.param(p, id=name_of(p), marks=[pytest.mark.soak] * (p.name not in QUICK)) for p in PAGES]
)
def test_the_machines_of_a_page(lss, tmp_path, page):
    """As it is when the page has been read to the end."""
    files = {block.file: block.body for block in blocks(page) if block.file}
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in files:
        if name.endswith(".lss") and lss("check", name, cwd=tmp_path, ok=None).status == 0:
            try_machine(lss, tmp_path / name, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("listed", found(ROOT / "firmware", "machine"), ids=lambda path: path.parent.name)
def test_a_program(lss, tmp_path, build_dir, listed):
    """On the machine that it was written for."""
    machine, *options = listed.read_text().split()
    simulator, program = (
        tmp_path / "simulator",
        build_dir / "firmware" / listed.parent.name / f"{listed.parent.name}.elf",
    )
    lss("build", ROOT / machine, "-o", simulator, *options)
    [top] = [one for one in json.loads(lss("export", ROOT / machine, *options).out)["instances"] if not one["path"]]
    declared = {one["name"] for one in top["parameters"] if one["runtime"]}
    option = next(name for name in ("program", "firmware") if name in declared)
    started([simulator, f"--{option}", program.resolve()], tmp_path)
