"""Bounds and conditions of a restored run that were over when the checkpoint was written are refused."""

import pytest

from tests.sample import sampled

MACHINE = "instance s : source;\ninstance k : sink;\ns.out -> k.in : uint32;\n"


@pytest.mark.parametrize(
    ("options", "error"),
    sampled([
        (("--cycles", 10), "--cycles 10: the run goes on at cycle 400 of clk, which is later (cycles count from the start of the checkpoint's run)"),
        (("--time", "10 ns"), "--time: the run goes on at 400 ns, which is later (time counts from the start of the checkpoint's run)"),
        (("--until", "cycles(clk) >= 300"), "--until cycles(clk) >= 300: the run goes on at 400 ns, which is later"),
        (("--cycles", 500, "--wave", "w.fst", "--wave-from", "10 ns"), "--wave-from 10 ns: the run goes on at 400 ns, which is later"),
        (("--cycles", 500, "--wave", "w.fst", "--wave-to", "10 ns"), "--wave-to 10 ns: the run goes on at 400 ns, which is later"),
        (("--cycles", 400), None),
        (("--cycles", 401), None),
        (("--time", "400 ns"), None),
        (("--until", "cycles(clk) >= 401"), None),
    ], 3),
)
def test_what_was_over(options, error, build_sim, run_sim, tmp_path) -> None:
    simulator = build_sim(MACHINE)
    run_sim(simulator, "--cycles", 400, "--checkpoint", "point")
    done = run_sim(simulator, "--restore", "point", *options, "--quiet", ok=None)
    if error:
        assert done.status == 2 and done.err == f"{simulator.name}: {error}\n"
        assert not (tmp_path / "w.fst").exists()
    else:
        assert done.status == 0 and not done.err
