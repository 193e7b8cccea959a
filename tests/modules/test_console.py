"""console: prints bytes, ends the run when every program has exited, and answers everything else."""

import pytest

from tests.modules.harness import Bench, Memory

NETLIST = "instance console : console;\nrequester[0].memory -> console.port;\n"


def console(bench: Bench, lanes: int = 1) -> Memory:
    netlist = "instance console : console;\n" + "".join(f"requester[{i}].memory -> console.port;\n" for i in range(lanes))
    return Memory(bench, netlist, sources=lanes, width=32)


def test_bytes_are_printed(bench: Bench) -> None:
    """Each answer comes a cycle after its request; the other registers are silent."""
    memory = console(bench)
    script = [f"0 write 1 0xffff0000 {ord(c)}" for c in "hello\n"] + ["0 read 4 0xffff0000"]
    (answers,) = memory.play([script], 40, {"console.output": "printed"})
    assert (memory.last.directory / "printed").read_bytes() == b"hello\n"
    assert len(answers) == 7 and not any(a.error for a in answers) and answers[-1].data == 0
    assert memory.last.stat("console", "bytes") == 6


def test_nothing_answers_beside_the_registers(bench: Bench) -> None:
    (answers,) = console(bench).play([["0 write 4 0xffff0008 1", "0 read 4 0xfffefffc"]], 10, {"console.output": "printed"})
    assert [a.error for a in answers] == [True, True]


@pytest.mark.parametrize("status", [0, 1, 77])
def test_an_exit_ends_the_run(status: int, bench: Bench) -> None:
    memory = console(bench)
    memory.play([[f"3 write 4 0xffff0004 {status}"]], 1000, {"console.output": "printed"}, ok=status == 0)
    assert ("the program exited with status 77" in memory.last.err) == (status == 77)
    assert "the program exited" in memory.last.err


def test_the_run_goes_on_until_all_programs_have_exited(bench: Bench) -> None:
    memory = console(bench, 2)
    scripts = [["0 write 4 0xffff0004 0"], ["20 write 4 0xffff0004 0"]]
    memory.play(scripts, 1000, {"console.output": "printed"})
    assert memory.last.stat("console", "exits") == 2
    memory.play([scripts[0], ["20 write 4 0xffff0004 5"]], 1000, {"console.output": "printed"}, ok=False)
    assert "status 5" in memory.last.err
