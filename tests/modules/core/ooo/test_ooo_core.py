"""ooo_core: micro-benchmarks whose times follow from parameters, and what a core cannot be built with.  That it executes what it
should is the business of tests/isa/test_wide_core.py."""

import pytest

from tests.modules.core.ooo.conftest import Core, steps
from tests.modules.harness import Bench
from tests.sample import sampled, seldom


@pytest.mark.parametrize("latency", sampled([1, 2, 4], 3, 1))
@pytest.mark.parametrize("width", sampled([1, 4], 2, 1))
def test_a_chain_costs_the_latency_of_its_units(width: int, latency: int, retired: Core) -> None:
    assert steps(retired("addi a0, a0, 1\n" * 80, 0, 80, width=width, unit_latency=latency)) == {latency}


@seldom
@pytest.mark.parametrize(("width", "units"), sampled([(1, 1), (2, 1), (2, 2), (4, 2), (4, 4), (8, 4), (8, 8)], 7, 3))
def test_independent_instructions_are_limited_by_width_and_units(width: int, units: int, retired: Core) -> None:
    code = "".join(f"addi x{5 + i % 20}, zero, {i}\n" for i in range(160))
    cycles = retired(code, 32, 96, width=width, units=units, entries=64, queue=64, registers=128)
    rate = min(width, units)
    assert cycles[-1] - cycles[0] in (96 // rate - 1, 96 // rate), "as groups lie"


@seldom
@pytest.mark.parametrize("queue", sampled([1, 2, 3, 4], 4, 2))
def test_a_queue_of_q_entries_sustains_a_quarter_of_q(queue: int, retired: Core) -> None:
    """Its room is known where instructions are sent four cycles after one left."""
    code = "".join(f"addi x{5 + i % 20}, zero, {i}\n" for i in range(120))
    cycles = retired(code, 20, 81, width=4, units=4, entries=64, registers=128, queue=queue)
    assert abs(cycles[80] - cycles[0] - 80 * 4 // queue) <= 3


@seldom
@pytest.mark.parametrize(("speculate", "each"), sampled([("true", 2), ("false", 3)], 2))
def test_a_chain_of_loads(speculate: str, each: int, retired: Core) -> None:
    """Load to use is 2 when loads are believed to hit, and one more when not."""
    code = "la a0, cell\n" + "lw a0, 0(a0)\n" * 60 + ".data\ncell: .word cell\n.text"
    assert steps(retired(code, 2, 60, speculate=speculate)) == {each}


@seldom
def test_a_value_through_memory(retired: Core) -> None:
    """Store and load of the same address, each needing the other: 3 cycles a pair."""
    code = "la t0, cell\n" + "sw a0, 0(t0)\nlw a0, 0(t0)\n" * 40 + ".data\ncell: .word 0\n.text"
    loads = retired(code, 2, 80)[1::2]
    assert steps(loads[2:]) == {3}


@seldom
@pytest.mark.parametrize(("width", "stages"), sampled([(1, 0), (4, 0), (8, 0), (4, 2), (8, 5)], 5, 2))
def test_a_wrong_prediction_costs_7_cycles_and_the_stages_of_the_front_end(width: int, stages: int, retired: Core) -> None:
    """From the branch to what follows it, as both are granted and so as both are committed; a branch that was never seen is taken to fall through."""
    code = "nop\n" * 16 + "".join(f"beq zero, zero, {n}f\n.word 0\n.word 0\n{n}: nop\n" for n in range(1, 9))
    cycles = retired(code, 16, 16, width=width, front_stages=stages)
    assert [b - a for a, b in zip(cycles[::2], cycles[1::2])] == [7 + stages] * 8


@seldom
@pytest.mark.parametrize(("width", "entries", "snapshots"), sampled([(1, 4, 0), (1, 32, 0), (2, 16, 0), (4, 8, 0), (4, 32, 0), (4, 32, 8)], 3, 2))
def test_a_walk_back_costs_more_behind_many(width: int, entries: int, snapshots: int, retired: Core) -> None:
    """The branch waits until the list is full of what follows it.  Two cycles of the walk are there anyway, until the right instructions come
    to renaming."""
    code = "nop\n" * 16 + "addi a0, a0, 1\n" * 3 + "bnez a0, 1f\n" + "".join(f"addi x{5 + n % 5}, zero, {n}\n" for n in range(80)) + "1: nop\n"
    retired(code, width=width, entries=entries, queue=64, registers=128, snapshots=snapshots, unit_latency=16)
    [branch], [behind] = retired.passed(19), retired.passed(100)
    undone = 0 if snapshots else entries - 1
    assert behind - branch == 7 + 15 + max(0, -(-undone // width) - 2)


def test_a_loop_is_predicted(retired: Core) -> None:
    """Four instructions, one of them a branch, in a cycle and one more for nothing: fetch stops at a taken branch."""
    cycles = retired("li a0, 100\n1: addi a1, a1, 1\naddi a2, a2, 1\naddi a0, a0, -1\nbnez a0, 1b\n", 1 + 4 * 40, 4 * 40, width=4, units=4)
    assert steps(cycles[::4]) == {1}


@seldom
def test_returns_deeper_than_the_stack_miss(retired: Core) -> None:
    """One return for each level beyond the entries of the return stack, in each round."""

    def missed(levels: int, rounds: int) -> int:
        code = f"la sp, stack\nli s0, {rounds}\n0: call f1\naddi s0, s0, -1\nbnez s0, 0b\nj out\n"
        for n in range(1, levels):
            code += f"f{n}: addi sp, sp, -4\nsw ra, 0(sp)\ncall f{n + 1}\nlw ra, 0(sp)\naddi sp, sp, 4\nret\n"
        retired(code + f"f{levels}: ret\nout:\n.data\n.space 4096\nstack: .word 0\n.text\n", 0, 1)
        return retired.counted("core.core.list", "indirect")

    assert [missed(levels, 9) - missed(levels, 5) for levels in (8, 16, 17, 20)] == [0, 0, 4, 16]


@pytest.mark.parametrize(("body", "message"), [
    ("width = 3;", "fetch has a width that is a power of two, not 3"), ("entries = 48;", "an active list needs a power-of-two number of entries, not 48"),
    ("buffer = 4; width = 8;", "an instruction buffer of 4 entries has no room for a group of 8"), ("registers = 20;", "32 registers of programs need at least 33 physical registers, not 20"),
    ("window = 40;", "a window of 40 instructions does not fit 32 entries"), ("width = 9;", "width"),
])  # fmt: skip
def test_what_it_cannot_be(body: str, message: str, bench: Bench) -> None:
    text = f"import memory_types;\ninstance dut : ooo_core {{ decoder = rv32i_decode_group; {body} }};\n"
    text += "instance m[3] : sink; instance r[3] : source;\n"
    for i, port in enumerate(("instructions", "data", "stores")):
        text += f"dut.{port}.request -> m[{i}].in; r[{i}].out -> dut.{port}.reply;\n"
    assert message in bench.refuse(text)
