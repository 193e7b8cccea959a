"""fast_core at its ports: what a program does to RAM and devices, when, and where it halts."""

import pytest

from tests.modules.core.mips.fast_program import (
    DEVICES,
    LIMIT,
    MARKER,
    PROGRAM,
    SETTINGS,
    STATE_PC,
    T0,
    WORDS,
    machine,
    scripts,
    shown,
)
from tests.modules.harness import Bench, collect, happened, read_items
from tests.modules.mips import encode, struct
from tests.sample import seldom


@pytest.mark.parametrize("quantum", [1, 3, 1000])
def test_a_program(bench: Bench, quantum: int) -> None:
    """The RAM shows what was stored; markers, exceptions and requests to devices are counted; it halts behind the marker, with its state."""
    dut = machine(bench, "instance taken : sink;\ndut.save -> taken.in;\n" + collect("dut", "marker(number)", "executed(pc, instructions)"))
    played, files = scripts(["300 read 4 0x100", "300 read 4 0x104", "300 read -1 0xffff", "300 swap 4 0x100 1", "300 read 8 0xfffc", "300 barrier 1 0"])
    settings = SETTINGS | {"dut.quantum": quantum, "taken.record": "taken"}
    [replies, _] = dut.play(played, 400, settings, files=files, outstanding=8)
    assert [(reply.error, reply.data) for reply in replies[len(PROGRAM) :]] == [(False, 5), (False, 5), (False, 0), (True, 0), (True, 0), (False, 0)]
    counted = dut.last.counted("dut")
    assert counted["instructions"] == len(PROGRAM) and counted["device_requests"] == 3  # all but the load that fails, and the marker
    assert counted["unimplemented"] == 1 and counted["refills"] == 1 and {name: n for name, n in counted.items() if name.partition("[")[0] == "exceptions"} == {"exceptions[2]": 1}
    assert counted["steps"] == len(happened(dut.last, "executed")) and sum(done for _, _, done in happened(dut.last, "executed")) == len(PROGRAM)
    assert [number for _, number in happened(dut.last, "marker")] == [7]
    words = read_items(dut.last.directory / "taken")
    assert len(words) == 101 + WORDS  # of the reset state before it is let go, and of the last, once
    numbers, values, last = zip(*(shown(word) for _, word in words[-WORDS:]), strict=True)
    assert numbers == tuple(range(WORDS)) and last == (*[False] * (WORDS - 1), True)
    assert (values[8], values[10], values[33], values[34]) == (5, 5, 25, STATE_PC)


@pytest.mark.parametrize("between", [0, 1, 17, 18, 19, 100])
def test_markers_are_passed_in_their_cycles(bench: Bench, between: int) -> None:
    """Each instruction takes one, whatever the quantum is; what is counted there are the instructions up to it."""
    dut = machine(bench, "instance taken : sink;\ndut.save -> taken.in;\n" + collect("dut", "marker(number)", "executed(pc, instructions)"))
    program = [MARKER - 6, *([encode("addiu", T0, T0, low=1)] * between), MARKER - 5, *([encode("addiu", T0, T0, low=1)] * 3), MARKER]
    played = [[f"0 write 4 {4 * k:#x} {word:#x}" for k, word in enumerate(program)], []]
    seen = set()
    for quantum in (1, 3, 18, 1000):
        dut.play(played, 400, SETTINGS | {"dut.quantum": quantum}, files=scripts([])[1], outstanding=8)
        marks = happened(dut.last, "marker")
        assert [number for _, number in marks] == [1, 2, 7]
        [first, second, last] = [cycle for cycle, _ in marks]
        assert (second - first, last - second) == (between + 1, 4)
        done = happened(dut.last, "executed")
        assert [sum(n for at, _, n in done if at <= cycle) for cycle, _ in marks] == [1, between + 2, between + 6] == [1, between + 2, dut.last.counted("dut")["instructions"]]
        seen.add(first)
    assert len(seen) == 1


@seldom
def test_a_state_comes(bench: Bench) -> None:
    """While it is halted; then it executes what that says: here the handler's marker, with other registers."""
    dut = machine(bench, "instance taken : sink;\ninstance other : source;\ndut.save -> taken.in;\nother.out -> dut.load : core_state_word;\n" + collect("dut", "marker(number)"))
    played, files = scripts([])
    words = [0] * WORDS
    words[9], words[34], words[39 + 13] = 77, 0xBFC00200, 1 << 22
    came = [struct(number=k, value=value, last=k == WORDS - 1) for k, value in enumerate(words)]
    files |= {"go": f"300 {struct(set_halt=True, halt=False, set_pc=False, pc=0, step=False, flush=False)} once\n", "other": "".join(f"150 {word}\n" for word in came)}
    dut.play(played, 400, SETTINGS | {"taken.record": "taken", "other.script": "other"}, files=files, outstanding=8)
    assert [number for _, number in happened(dut.last, "marker")] == [7]
    went = dict(shown(word)[:2] for _, word in read_items(dut.last.directory / "taken")[-WORDS:])
    assert (went[9], went[34]) == (77, 0xBFC00204)


@seldom
def test_requests_of_others_pass(bench: Bench) -> None:
    """Within the cycle, while the processor is halted; not while it executes."""
    others = "instance other : memory_source { width = 32; };\nother.memory -> dut.others;\ninstance taken : sink;\ndut.save -> taken.in;\n"
    dut = machine(bench, others)
    played, files = scripts([])
    files |= {"other": f"5 write 4 {DEVICES + 64:#x} 0x1234\n6 read 4 {DEVICES + 64:#x}\n7 read 4 0x1e000000\n105 read 4 {DEVICES + 32:#x}\n"}
    dut.play(played, 400, SETTINGS | {"other.script": "other", "other.record": "replies"}, files=files, outstanding=8)
    replies = [line.split() for line in (dut.last.directory / "replies").read_text().splitlines()]
    assert [(int(cycle), int(error), int(data, 0)) for cycle, _, error, data in replies[:3]] == [(5, 0, 0), (6, 0, 0x1234), (7, 1, 0)]
    assert int(replies[3][0]) > 110 and int(replies[3][3], 0) == 5


def test_wrong_parameters(bench: Bench) -> None:
    text = machine(bench, "instance taken : sink;\ndut.save -> taken.in;\n").text.replace("size = 64 KiB", "size = 6000 B")
    assert "the RAM must be whole pages of 4 KiB" in bench.refuse(text)


BLOCKS = """
instance taken : sink;
dut.save -> taken.in;
instance blocks : source {
  generate = <<<
    mem_block block = {.address = index == 2 ? 0xfff9 : 0x200 + 8 * (uint32_t)index, .size = 8};
    for (unsigned k = 0; k < 8; k++) block.bytes[k] = (uint8_t)(16 * (index + 1) + k);
    return block;
  >>>;
};
blocks.out -> dut.contents;
"""


@seldom
@pytest.mark.parametrize("limits", [0, -1])
def test_blocks_of_contents(limits: int, bench: Bench) -> None:
    """They are in the RAM at the end of their cycle, after what others write, whether it may execute or not."""
    dut = machine(bench, BLOCKS)
    script = ["0 write 4 0x200 5", "1 read 1 0x200", "2 read 8 0x200", "3 read 8 0x208"]
    files = {"limit": f"0 {LIMIT}\n"}
    given = {"commands.count": 0, "blocks.count": 2, **({"limits.script": "limit"} if limits else {"limits.count": 0})}
    [replies, _] = dut.play([script, []], 12, given, files=files)
    first, second = (int.from_bytes(bytes(16 * n + k for k in range(8)), "little") for n in (1, 2))
    assert [reply.data for reply in replies] == [0, 0x10, first, second]
    dut.play([[], []], 12, given | {"blocks.count": 3}, files=files, ok=False)
    assert "dut: 8 bytes of contents at 0xfff9 do not fit: the memory is 0x0 to 0xffff (make it larger)" in dut.last.err


def test_a_memory_has_one_loader(bench: Bench) -> None:
    text = machine(bench, BLOCKS).text
    assert "a memory is loaded by one loader" in bench.refuse(text + "instance more : source;\nmore.out -> dut.contents;\n")
