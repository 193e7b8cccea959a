"""console: prints bytes, ends the run when every program has exited, and replies everything else."""

import pytest

from tests.modules.harness import Bench, Memory, collect, happened

NETLIST = "instance console : console;\nrequester[0].memory -> console.port;\n"


def console(bench: Bench, lanes: int = 1) -> Memory:
    netlist = "instance console : console;\n" + "".join(f"requester[{i}].memory -> console.port;\n" for i in range(lanes))
    return Memory(bench, netlist + collect("console", "exited(lane, status)", "marker(number)"), sources=lanes, width=32)


def test_bytes_are_printed(bench: Bench) -> None:
    """Each reply comes a cycle after its request; the other registers are silent."""
    memory = console(bench)
    script = [f"0 write 1 0xffff0000 {ord(c)}" for c in "hello\n"] + ["0 read 4 0xffff0000"]
    (replies,) = memory.play([script], 40, {"console.output": "printed"})
    assert (memory.last.directory / "printed").read_bytes() == b"hello\n"
    assert len(replies) == 7 and not any(a.error for a in replies) and replies[-1].data == 0
    assert memory.last.stat("console", "bytes") == 6


def test_nothing_replies_beside_the_registers(bench: Bench) -> None:
    (replies,) = console(bench).play([["0 write 4 0xffff000c 1", "0 read 4 0xfffefffc"]], 10, {"console.output": "printed"})
    assert [a.error for a in replies] == [True, True]


@pytest.mark.parametrize(("status", "told"), [(0, 0), (1, 1), (77, 77), (0xFFFFFFFF, 255), (0x1FE, 254), (0x100, 1), (0x80000000, 1)])
def test_an_exit_ends_the_run(status: int, told: int, bench: Bench) -> None:
    """The simulator's exit status is the program's low byte, and never 0 for a program that failed."""
    memory = console(bench)
    memory.play([[f"3 write 4 0xffff0004 {status}"]], 1000, {"console.output": "printed"}, ok=status == 0)
    assert memory.last.status == told
    signed = status - (status >> 31 << 32)
    assert ("the program exited with status" in memory.last.err) == (status != 0)
    assert f"the program exited{f' with status {signed}' if status else ''} after" in memory.last.err
    assert memory.last.stat("console", "exits") == 1 and memory.last.stat("console", "status") == signed


def test_the_run_goes_on_until_all_programs_have_exited(bench: Bench) -> None:
    """With the first status that is not 0, whatever comes before and after it."""
    memory = console(bench, 2)
    scripts = [["0 write 4 0xffff0004 0"], ["20 write 4 0xffff0004 0"]]
    memory.play(scripts, 1000, {"console.output": "printed"})
    assert memory.last.stat("console", "exits") == 2
    for first, second, told in ((0, 5, 5), (5, 0, 5), (5, 7, 5), (7, 5, 7), (0xFFFFFFFE, 5, 254), (5, 0xFFFFFFFE, 5)):
        scripts = [[f"0 write 4 0xffff0004 {first}"], [f"20 write 4 0xffff0004 {second}"]]
        memory.play(scripts, 1000, {"console.output": "printed"}, ok=False)
        assert memory.last.status == told, (first, second)


def test_a_marker_is_an_event(bench: Bench) -> None:
    """Zero is none, nor is what is read there; a barrier is no access, wherever it points."""
    memory = console(bench)
    script = ["0 write 4 0xffff0008 5", "1 write 4 0xffff0008 0", "2 read 4 0xffff0008", "3 write 1 0xffff000b 7", "9 barrier 4 0xffff000c"]
    (replies,) = memory.play([script], 40, {"console.output": "printed"})
    assert [event[1:] for event in happened(memory.last, "marker")] == [(5,), (7,)] and len(replies) == 5
    assert not any(a.error for a in replies) and (memory.last.directory / "printed").read_bytes() == b""


def test_a_program_that_exits_twice_has_ended_once(bench: Bench) -> None:
    memory = console(bench, 2)
    scripts = [["0 write 4 0xffff0004 0", "5 write 4 0xffff0004 3"], ["20 write 4 0xffff0004 0"]]
    memory.play(scripts, 1000, {"console.output": "printed"}, ok=False)
    assert memory.last.counted("console") == {"exits": 2, "status": 3} and memory.last.status == 3
    assert [event[1:] for event in happened(memory.last, "exited")] == [(0, 0), (0, 3), (1, 0)]
