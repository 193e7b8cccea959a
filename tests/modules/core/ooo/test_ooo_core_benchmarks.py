"""ooo_core behind caches and predictors: micro-benchmarks whose cycles follow from parameters."""

import random

import pytest

from tests.modules.core.ooo.conftest import Core
from tests.sample import sampled, seldom

MEMORY = 40  # cycles to memory
CACHED = {"caches": "true", "latency": MEMORY, "memory_queue": 32, "queue": 32, "entries": 64, "registers": 128}
MISS = MEMORY + 5  # a load and one that needs its value: its address, the cache, memory's time, the reply, the wake-up, the grant
HIT = 2
# A second level between the cache and memory, which replies so many cycles later.
LEVEL = 10
LEVEL_2 = ("    dcache.memory -> bus.in;\n  } else", f"    instance second : mshr_cache {{ width = 64; fill_width = 64; line = 32; sets = 64; ways = 2; latency = {LEVEL}; }};\n    dcache.memory -> second.in;\n    second.memory -> bus.in;\n  }} else")


def chase(lines: int, rounds: int, chains: int = 1, apart: int = 32) -> str:
    """So many steps from line to line, in so many chains of their own, `rounds` times around; the loop costs nothing beside a miss."""
    code = "".join(f"la x{10 + c}, chain{c}\n" for c in range(chains)) + f"li x5, {rounds * lines}\n1:\n"
    code += "".join(f"lw x{10 + c}, 0(x{10 + c})\n" for c in range(chains)) + "addi x5, x5, -1\nbnez x5, 1b\n"
    data = ""
    for c in range(chains):
        data += "".join(f"{f'chain{c}: ' if n == 0 else ''}.word chain{c} + {(n + 1) % lines * apart}\n.space {apart - 4}\n" for n in range(lines))
    return code + ".data\n.balign 4096\n" + data + ".text\n"


def each(retired: Core, lines: int, rounds: int = 6, chains: int = 1, **parameters: object) -> float:
    """Cycles of a step of the chains, on the average of the last rounds, behind two in which code and lines were fetched."""
    assert rounds * lines < 2048, "one instruction sets the counter"
    retired(chase(lines, rounds, chains), **parameters)
    loads = retired.passed(2 * chains + 1)
    assert len(loads) == rounds * lines
    warm = 2 * lines * (1 + 15 // lines)
    return (loads[-1] - loads[warm - 1]) / (len(loads) - warm)


@seldom
@pytest.mark.parametrize("lines", [1, 7, 8])
def test_a_chase_in_the_cache(lines: int, retired: Core) -> None:
    """What fits takes the time of a hit, when it was fetched once."""
    assert each(retired, lines, 48, dcache_size="256 B", **CACHED) == HIT


@pytest.mark.parametrize(("lines", "missing"), [(9, 3), (10, 6), (12, 12), (16, 16)])
def test_a_chase_beyond_the_cache(lines: int, missing: int, retired: Core) -> None:
    """Four sets of two lines: those in sets with three or more lines miss every time, the others never."""
    assert each(retired, lines, dcache_size="256 B", **CACHED) == (missing * MISS + (lines - missing) * HIT) / lines


@pytest.mark.parametrize(("lines", "step"), [(8, HIT), (64, 5 + LEVEL), (128, 5 + LEVEL), (256, MISS + 2 + LEVEL)])
def test_a_chase_at_each_level(lines: int, step: int, retired: Core) -> None:
    """8 lines fit the first level, 128 the second; a miss of both pays for both."""
    assert each(retired, lines, 6, change=LEVEL_2, dcache_size="256 B", **CACHED) == step


@seldom
@pytest.mark.parametrize("mshrs", sampled([1, 2, 4], 3, 1))
@pytest.mark.parametrize("chains", sampled([1, 2, 4, 6, 8], 3, 1))
def test_chases_in_parallel(chains: int, mshrs: int, retired: Core) -> None:
    """m chases take the time of one until there are as many as MSHRs, which are busy as long as a chase takes for a step; then they share these."""
    assert each(retired, 65, 4, chains, mshrs=mshrs, dcache_size="256 B", **CACHED) == MISS * max(1, chains / mshrs), "each chain is in another set than its neighbours"


@seldom
@pytest.mark.parametrize(("store", "step"), [("", 2), ("sw a0, 4(a0)", 3), ("sw a0, 0(a0)", 3), ("sb a1, 0(a0)", 7)])
def test_a_store_before_a_load(store: str, step: int, retired: Core) -> None:
    """Of another address: nothing waits, but one address is formed in a cycle.  Of the same: the value is forwarded, as fast.  Of a part: the store has to be in memory."""
    code = "la a0, cell\nandi a1, a0, 255\n" + f"{store}\nlw a0, 0(a0)\n" * 40 + ".data\ncell: .word cell, 0\n.text"
    retired(code, width=4)
    loads = [retired.passed(3 + (k + 1) * (1 + bool(store)) - 1)[0] for k in range(40)]
    assert {b - a for a, b in zip(loads[20:], loads[21:])} == {step}


@seldom
@pytest.mark.parametrize("entries", sampled([32, 64], 2))
def test_misses_overlap_if_both_are_in_the_list(entries: int, retired: Core) -> None:
    """The second load is `distance` instructions behind the first, which is the oldest while it waits.  If it has a place, four
    instructions a cycle lie between them; else its place is known to be free four cycles after the first is committed."""

    def between(distance: int) -> int:
        body = "lw a1, 0(a0)\n" + "".join(f"addi x{12 + n % 8}, zero, {n}\n" for n in range(distance - 1)) + "lw a2, 64(a0)\n"
        code = f"la a0, lines\nli t0, 8\n1:\n{body}add a0, a0, a1\nadd a0, a0, a2\naddi a0, a0, 128\naddi t0, t0, -1\nbnez t0, 1b\n.data\n.balign 4096\nlines: .space 2048\n.text\n"
        retired(code, **CACHED | {"entries": entries, "units": 4, "latency": 60})
        return retired.passed(3 + distance)[5] - retired.passed(3)[5]

    for distance in (entries - 5, entries - 1):
        assert between(distance) == distance // 4
    for distance in (entries, entries + 3):
        assert between(distance) == 60 + 5 + 4


TABLE = """
import wide_types;
module small_table {
  parameter width = 4 : int;
  inport port : direction; inport train : branch_outcomes(width);
  instance table : direction_table { width = width; entries = 64; };
  port -> table.port; train -> table.train;
}
"""


@seldom
@pytest.mark.parametrize("ways", sampled(["T", "TN", "TTN", "NNT", "TNN", "TTTN", "TTNN"], 3))
def test_branches_that_share_a_counter(ways: str, retired: Core) -> None:
    """One behind the other, each always or never taken: what two bits count."""
    code = "li s0, ROUNDS\n.balign 256\n1:\n"
    for way in ways:
        code += f"{'beq' if way == 'T' else 'bne'} zero, zero, 2f\n2:\n.balign 256\n"
    code += "nop\naddi s0, s0, -1\nbnez s0, 1b\n"

    def wrong(rounds: int) -> int:
        retired(code.replace("ROUNDS", str(rounds)), change=("import memory_types;\n", "import memory_types;\n" + TABLE), directions="small_table", width=1)
        return retired.counted("core.core.predictor.direction.table", "wrong")

    counter, found = 0, []
    for _ in range(60):
        found.append(0)
        for way in ways:
            found[-1] += (counter >= 2) != (way == "T")
            counter = min(counter + 1, 3) if way == "T" else max(counter - 1, 0)
    assert wrong(60) - wrong(40) == sum(found[40:])


@seldom
def test_branches_on_bits_that_nobody_foresees(retired: Core) -> None:
    """Where each is predicted wrongly a step is the 7 cycles of that, the sum that the next load needs, and the load; where none is, fetch limits;
    where half of them are, each costs the 7 and a part of what it waited for."""

    def branches(bits: list[int]) -> tuple[int, int, set[int]]:
        code = f"la a0, bits\nli a1, {len(bits)}\nnop\nnop\n1: lw a2, 0(a0)\nbnez a2, 2f\nnop\nnop\n2: addi a0, a0, 4\naddi a1, a1, -1\nbnez a1, 1b\n"
        retired(f"{code}.data\nbits: .word {', '.join(map(str, bits))}\n.text\n", width=8)
        ends = retired.passed(9)[20:]
        return ends[-1] - ends[0], retired.counted("core.core.predictor.direction", "wrong"), {b - a for a, b in zip(ends, ends[1:])}

    length, rng = 400, random.Random(1)
    foreseen, few, _ = branches([0] * length)
    _, all_wrong, steps = branches([1] + [1, 0] * (length // 2))  # a counter of two bits is wrong from then on
    assert all_wrong > length and steps == {7 + 1 + HIT}
    taken, wrong, _ = branches([rng.randrange(2) for _ in range(length)])
    assert few < 5 and wrong > length // 3 and 7 < (taken - foreseen) / (wrong - few) < 7 + 1 + HIT


@pytest.mark.parametrize("units", sampled([1, 2, 4], 3, 1))
@pytest.mark.parametrize("chains", sampled([1, 2, 3, 4, 6, 8], 3, 1))
def test_chains_share_the_units(chains: int, units: int, retired: Core) -> None:
    """n steps of k independent chains take n * max(k / units, 1) cycles."""
    code = "".join(f"addi x{10 + c}, x{10 + c}, 1\n" for c in range(chains)) * 96
    cycles = retired(code, 0, 96 * chains, width=4, units=units, entries=64, queue=64, registers=128)
    last = cycles[chains - 1 :: chains]
    assert last[80] - last[32] == pytest.approx(48 * max(1, chains / units), abs=1)


@seldom
@pytest.mark.parametrize(("contexts", "units"), sampled([(1, 4), (4, 4), (8, 4), (8, 8)], 4, 1))
def test_contexts_of_one_chain_each_share_the_units(contexts: int, units: int, retired: Core) -> None:
    """An instruction of each context in a cycle, until the units are too few."""
    parameters = {"contexts": contexts, "fetch_contexts": 2 if contexts > 1 else 1, "width": 8, "units": units, "queue": 64, "registers": 31 * contexts + 128}
    retired("li t0, 40\n1:\n" + "addi a1, a1, 1\n" * 62 + "addi t0, t0, -1\nbnez t0, 1b\n", **parameters)
    window = [cycle for _, cycle in retired.lines if 500 <= cycle < 1500]
    assert len(window) / 1000 == pytest.approx(min(contexts, units), rel=0.05), "the loop costs two instructions beside each 62"
