"""examples/single_core and examples/dual_core run the C programs of firmware/ to the right end."""

import pytest

PRIMES = "hello from a MIPS core; primes: 2 3 5 7 11 13 17 19 23 29 31 37 41 43 47\n"


def test_hello(root, build_dir, build_sim, run_sim) -> None:
    simulator = build_sim(root / "examples/single_core/single_core.lss")
    done = run_sim(simulator, "--program", build_dir / "firmware/hello/hello.elf")
    assert PRIMES in done.out and done.value("console", "bytes") == len(PRIMES)
    assert done.value("core.writeback", "instructions") > 1000


@pytest.mark.parametrize("cpus", [1, 2, 4, 8])
def test_sum(cpus: int, root, build_dir, build_sim, run_sim) -> None:
    """Every core takes part, and the sum is right however many there are."""
    simulator = build_sim(root / "examples/dual_core/dual_core.lss", "-D", f"cpus={cpus}")
    done = run_sim(simulator, "--program", build_dir / "firmware/sum/sum.elf")
    assert f"{cpus} cores: the squares below 1000 add up to 332833500\n" in done.out
    assert all(done.value(f"core[{n}].pipeline.writeback", "instructions") > 0 for n in range(cpus))


@pytest.mark.parametrize("cpus", [0, 9])
def test_a_wrong_number_of_cores_is_an_error(cpus: int, root, lss) -> None:
    done = lss("check", root / "examples/dual_core/dual_core.lss", "-D", f"cpus={cpus}", ok=False)
    assert f"1 to 8 processors, not {cpus}" in done.err


def test_the_other_byte_order_is_refused_by_name(root, build_dir, build_sim, run_sim) -> None:
    simulator = build_sim(root / "examples/single_core/single_core.lss", "-D", "big_endian=false")
    done = run_sim(simulator, "--program", build_dir / "firmware/hello/hello.elf", ok=False)
    assert "hello.elf: a big-endian program in a little-endian memory" in done.err
