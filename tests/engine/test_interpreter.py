"""A user's module may step emulib's interpreter, as one does that checks what a core retires: the simulator links it."""

from pathlib import Path

# v0 = 1; v1 = 5; do v0 += v1 while (v1-- != 0); break
WORDS = [0x24020001, 0x24030005, 0x00431021, 0x1460FFFE, 0x2463FFFF, 0x0000000D]


def test_a_module_steps_the_interpreter(root, build_sim, run_sim, tmp_path: Path) -> None:
    netlist = tmp_path / "steps.lss"
    netlist.write_text(f"instance s : stepper {{ words = [{', '.join(map(hex, WORDS))}]; }};\n")
    done = run_sim(build_sim(netlist, "-I", root / "tests/engine/modules"), "--cycles", "100")
    assert done.value("s", "result") == 16 and done.value("s", "instructions") == 20, done.out
    assert "the program ended" in done.err
