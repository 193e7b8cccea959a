"""examples/riscv_core runs a C program for RISC-V to the right end, and says so when given one for another processor."""

import hashlib

import pytest


def test_sha256(root, build_dir, build_sim, run_sim) -> None:
    simulator = build_sim(root / "examples/riscv_core/riscv_core.lss")
    done = run_sim(simulator, "--program", build_dir / "firmware/sha256/sha256.elf")
    for message in (b"abc", b"a" * 1000):
        assert f"{len(message)} bytes: {hashlib.sha256(message).hexdigest()}\n" in done.out
    assert done.value("core.writeback", "instructions") > 50_000
    refused = run_sim(simulator, "--program", build_dir / "firmware/hello/hello.elf", ok=False)
    assert "hello.elf: a big-endian program in a little-endian memory" in refused.err


def test_chains_of_pointers(root, build_dir, build_sim, run_sim) -> None:
    """In order, and out of order behind a cache that misses all the time."""
    program = build_dir / "firmware/chase/chase.elf"
    assert "0 chains lost\n" in run_sim(build_sim(root / "examples/riscv_core/riscv_core.lss"), "--program", program).out
    done = run_sim(build_sim(root / "examples/wide_core/wide_core.lss", "-D", "caches=true"), "--program", program)
    assert "0 chains lost\n" in done.out
    assert done.value("dcache.controller", "misses") > 8 * 1024


@pytest.mark.soak  # docs/wide-cores.md runs such kernels on four contexts
@pytest.mark.optimised  # like the first machine of other tests
def test_kernels_of_several_contexts(root, build_dir, build_sim, run_sim) -> None:
    """Each program is right alone, and beside the others, on a core that executes them at the same time."""
    names = {"crc32": "0 sums wrong\n", "list_walk": "0 sums wrong\n", "quicksort": "0 pairs in wrong order\n"}
    programs = [build_dir / f"firmware/{name}/{name}.elf" for name in names]
    simulator = build_sim(root / "examples/riscv_core/riscv_core.lss")
    for program, expected in zip(programs, names.values(), strict=True):
        assert expected in run_sim(simulator, "--program", program).out
    simulator = build_sim(root / "examples/wide_core/wide_core.lss", "-D", "contexts=3", "-D", "width=8")
    done = run_sim(simulator, "--program", ",".join(str(program) for program in programs))
    assert done.value("console", "exits") == 3 and done.status == 0
