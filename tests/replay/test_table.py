"""The tables of replay, in the soak under sanitizers: filled and cleared many times over, by cycles of one and of two segments."""

import subprocess

from tests.kits import Kit

from .conftest import LANE

# What comes stays in the state of the lane, which goes round in other states from then on.
MACHINE = (
    LANE
    + """
instance lane[2] : lane;  instance number[2] : source { interval = 3001; };  instance none[2] : source { count = 0; };
instance k[2] : sink { ready = 0.9; };
for (i = 0; i < 2; i = i + 1) { number[i].out -> lane[i].in : uint32;  none[i].out -> lane[i].command : uint32; }
lane[0].out -> k[0].in;  lane[1].out -> k[1].in;
"""
)


def test_tables_are_cleared_and_filled_again(kit: Kit, library, run_sim, tmp_path, monkeypatch):
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    machine, simulator = tmp_path / "lanes.lss", tmp_path / "lanes"
    machine.write_text(MACHINE)
    subprocess.run([kit.lss, "build", "-O", "1", *kit.options, "-I", library, machine, "-o", simulator], check=True)
    run_sim(simulator, "--cycles", 300_000)
