"""examples/multiprocessor: a parallel program of 1, 2 and 4 processors over each kind of memory, with and without level 2; the marks that its
coherence leaves; and wrong parameters and programs, each in a line."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import firmware
from tests.sample import seldom

MACHINE = "examples/multiprocessor/multiprocessor.lss"
# Caches so small that lines leave them all the time.
SMALL = ("dcache_size=2KiB", "icache_size=2KiB", "ways=1", "l2_size=8KiB", "l2_ways=2")
BUILDS = {
    "one": ("processors=1",),
    "two": ("processors=2",),
    "four": ("processors=4",),
    "four over one level 2": ("processors=4", "clusters=1"),
    "four over four of level 2, small caches, RAMBUS": ("processors=4", "clusters=4", "dram=dram_kind.rambus", *SMALL),
    "four, small caches, lines of 64 bytes": ("processors=4", "line=64", "dcache_size=4KiB", "icache_size=4KiB", "ways=1"),
}


@pytest.fixture(scope="module")
def sort(root: Path, build_dir: Path) -> Path:
    return build_dir / "firmware/bucket_sort/bucket_sort.elf"


@pytest.fixture(scope="module")
def built(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """built("processors=1"): the machine with these parameters, built once."""
    done: dict[tuple[str, ...], Path] = {}

    def build(*settings: str) -> Path:
        if settings not in done:
            done[settings] = tmp_path_factory.mktemp("multiprocessor") / "machine"
            given = [word for setting in settings for word in ("-D", setting)]
            subprocess.run([build_dir / "bin/lss", "build", root / MACHINE, "-O0", *given, "-o", done[settings]], check=True)
        return done[settings]

    return build


# `one` and the largest have a part of all that there is.
REST = "one", "two", "four", "four over one level 2", "four, small caches, lines of 64 bytes"


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.soak] * (name in REST)) for name in BUILDS])
def test_processors_sort_together(built, run_sim, sort: Path, tmp_path: Path, name: str) -> None:
    """The program checks itself; every processor takes part, and their caches are what passes numbers on."""
    (tmp_path / "count").write_text("400")
    done = run_sim(built(*BUILDS[name]), "--program", sort, "--arguments", "count", "--cycles", 10_000_000)
    cpus = int(BUILDS[name][0][-1])
    assert done.status == 0 and "400 numbers are sorted" in done.out
    assert all(done.value(f"cores.cpu[{k}].core.system", "kernel_instructions") > 10_000 for k in range(cpus))
    supplied = sum(done.value(f"cores.cpu[{k}].dcache.controller", "supplied") for k in range(cpus))
    assert supplied > 100 if cpus > 1 else supplied == 0


@pytest.mark.soak
def test_processors_share_the_work(built, run_sim, sort: Path) -> None:
    """Between the program's markers."""
    cycles = {}
    for cpus in 1, 2, 4:
        done = run_sim(built(f"processors={cpus}"), "--program", sort, "--measure-from", "marker(1)", "--measure-to", "marker(2)")
        window = done.stats["measured"]
        cycles[cpus] = window["to"]["cycles"]["cpu_clk"] - window["from"]["cycles"]["cpu_clk"]
    assert cycles[1] > 1.6 * cycles[2] > 1.6 * 1.4 * cycles[4], cycles


@seldom
def test_an_exception_is_the_status(built, run_sim, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """A program of one's own with the start-up of this one executes a break (9); a store where no memory is ends the run with a report."""
    source = tmp_path / "stops"
    source.mkdir()
    (source / "machine").write_text(str(root / MACHINE))
    (source / "stops.c").write_text('void main(unsigned number) { if (!number) __asm__ volatile("break"); }')
    for name in "start.S", "bucket_sort.ld":
        (source / name).write_text((root / "firmware/bucket_sort" / name).read_text())
    done = run_sim(built("processors=2"), "--program", firmware.build(source, tmp_path, build_dir), "--cycles", 1_000_000, ok=None)
    assert done.status == 128 + 9, done.err
    done = run_sim(built("processors=1", "memory=1MiB"), "--program", build_dir / "firmware/bucket_sort/bucket_sort.elf", ok=None)
    assert done.status == 1 and "a write failed: nothing responds at address 0x007fff" in done.err


WRONG = {
    "processors=17": "processors",
    "vpes=9": "vpes",
    "clusters=3": "there are more caches of level 2 than the 2 processors",
    "dcache_size=1KiB": "a way of a cache needs a power-of-two number of lines, at least 64, and at most 65536 bytes",
    "line=48": "the size of a line must be a power of two",
    "dram=dram_kind.core": "core",
}


@pytest.mark.parametrize("setting", WRONG)
def test_wrong_parameters(lss, root: Path, setting: str) -> None:
    done = lss("check", root / MACHINE, "-D", setting, ok=False)
    assert WRONG[setting] in done.err


@pytest.mark.parametrize("text", ["", "sideways 4096", "latency 4096", "latency 4096 48", "read 4000", "copy 8388608", "write 0"])
def test_what_is_to_be_measured_must_be_said(built, run_sim, build_dir: Path, tmp_path: Path, text: str) -> None:
    """firmware/memory_speed says in a line what is wrong with its text."""
    (tmp_path / "text").write_text(text)
    done = run_sim(built("processors=1"), "--quiet", "--program", build_dir / "firmware/memory_speed/memory_speed.elf", "--arguments", "text", "--cycles", 1_000_000, ok=None)
    assert done.status == 2 and done.out.startswith("memory_speed: ") and done.out.count("\n") == 1, done.out
