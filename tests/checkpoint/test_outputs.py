"""Files that only a checkpoint names: a restored run writes them below its working folder, or asks for a name."""

from pathlib import Path

import pytest

MACHINE = "instance s : source;\ninstance k : sink;\ns.out -> k.in : uint32;\n"


@pytest.mark.parametrize("place", ["absolute", "up", "link"])
def test_what_a_checkpoint_names_elsewhere_is_not_written_over(place: str, build_sim, run_sim, tmp_path: Path) -> None:
    simulator = build_sim(MACHINE)
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    (tmp_path / "link").symlink_to(elsewhere)
    name = {"absolute": str(elsewhere / "keys"), "up": f"../{elsewhere.name}/keys", "link": "link/keys"}[place]
    run_sim(simulator, "--cycles", 10, "--set", f"k.record={name}", "--checkpoint", "point")
    (elsewhere / "keys").write_text("mine")
    done = run_sim(simulator, "--cycles", 20, "--restore", "point", ok=False)
    why = "only the checkpoint names it, and it is not below the folder in which the simulator runs"
    assert done.err == f'{simulator.name}: error: k: cannot write "{name}": {why} (name it again: --set k.record=FILE)\n'
    assert (elsewhere / "keys").read_text() == "mine" and [path.name for path in elsewhere.iterdir()] == ["keys"]
    # Who names it means it.
    run_sim(simulator, "--cycles", 20, "--restore", "point", "--set", f"k.record={name}")
    assert (elsewhere / "keys").read_text() != "mine"


def test_what_it_names_here_is_written(build_sim, run_sim, tmp_path: Path) -> None:
    simulator = build_sim(MACHINE)
    (tmp_path / "inner").mkdir()
    for name in ("record", "inner/record", str(tmp_path / "whole"), "/dev/null", "-"):
        run_sim(simulator, "--cycles", 10, "--set", f"k.record={name}", "--checkpoint", "point")
        run_sim(simulator, "--cycles", 20, "--restore", "point")
