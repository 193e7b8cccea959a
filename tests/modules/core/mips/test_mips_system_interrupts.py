"""mips_system: interrupts by mask, level and mode, the timer to the cycle, waiting."""

import random

import pytest

from tests.modules.core.mips.system_bench import (
    BD,
    BEV,
    DC,
    ERL,
    EXL,
    IE,
    IV,
    LINES,
    TI,
    UM,
    SystemBench,
    failed,
    item,
    mfc0,
    mtc0,
    restart,
)
from tests.modules.harness import Bench
from tests.sample import sampled, seldom

PC = 0x80003004
ADD = item("addu", rd=8, pc=PC)


def high(cycle: int) -> bool:
    return True


@pytest.mark.parametrize("line", range(5))
def test_a_line_interrupts_from_the_next_cycle_on(bench: Bench, line: int) -> None:
    bit = 0x400 << line
    items = [mtc0("Status", IE | bit), *[item("addu", rd=8, pc=PC + 4 * n) for n in range(6)], mfc0("Cause"), mfc0("EPC")]
    played = SystemBench(bench).play(items, lines={line: lambda cycle: cycle >= 4})
    assert played.interrupt() == [(5, line + 2, PC + 12)]
    assert played.restarts()[1:] == [(5, restart(0x80000180))]
    assert played.kills() == [1, 5] and played.seen["out"][5].value is None
    assert played.results()[-2:] == [bit, PC + 12]
    assert played.elements("exceptions") == {0: 1}


@pytest.mark.parametrize("name", ["madd", "msubu", "mult", "divu", "mthi", "mtlo", "mul"])
def test_what_changed_hi_and_lo_is_not_done_again(bench: Bench, name: str) -> None:
    """It did so when it left execute, so the interrupt waits for the next: no handler sees what has not happened. `mul` changes neither."""
    items = [mtc0("Status", IE | 0x400), *[item(name, rs=1, rt=2, pc=PC + 4 * n) for n in range(3)], item("addu", rd=8, pc=PC + 12), ADD]
    played = SystemBench(bench).play(items, lines={0: high})
    assert [pc for _, _, pc in played.interrupt()] == [PC if name == "mul" else PC + 12]


@pytest.mark.parametrize("status", [0, IE | EXL, IE | ERL, EXL])
def test_interrupts_wait_until_they_are_enabled(bench: Bench, status: int) -> None:
    """Pending is shown all the same, and is gone with the level."""
    items = [mtc0("Status", status | 0xFF00), mfc0("Cause"), mfc0("Cause"), mfc0("Cause"), mfc0("Cause")]
    played = SystemBench(bench).play(items, lines={0: lambda cycle: cycle == 2, 3: high})
    assert played.results()[1:] == [0x2000, 0x2400, 0x2000, 0x2000] and played.interrupt() == []


@pytest.mark.parametrize("pending", range(8))
def test_masks_and_levels(bench: Bench, pending: int) -> None:
    """The highest that is enabled is told; all that is pending is in Cause."""
    lines = {n: high for n in range(5) if pending & 1 << n % 3}
    raised = sum(0x400 << n for n in lines)
    for mask in (0x400, 0x3000, 0x7C00, 0x4100):
        played = SystemBench(bench).play([mtc0("Status", IE | mask), ADD, mfc0("Cause")], lines=lines)
        let = raised & mask
        assert played.interrupt() == ([(2, let.bit_length() - 9, PC)] if let else [])
        assert played.results()[-1] == raised


@pytest.mark.parametrize("boot", [False, True])
@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("slot", [False, True])
def test_software_interrupts_and_where_they_go(bench: Bench, boot: bool, special: bool, slot: bool) -> None:
    cause = 0x200 | (IV if special else 0)
    items = [mtc0("Cause", cause), mtc0("Status", IE | 0x300 | (BEV if boot else 0)), item("addu", rd=8, pc=PC, slot=slot), mfc0("Cause"), mfc0("EPC"), mfc0("Status")]
    played = SystemBench(bench).play(items)
    vector = (0xBFC00200 if boot else 0x80000000) + (0x200 if special else 0x180)
    assert played.restarts()[2] == (3, restart(vector))
    assert played.results()[-3:] == [cause | (BD if slot else 0), PC - 4 if slot else PC, IE | EXL | 0x300 | (BEV if boot else 0)]


def test_an_interrupt_comes_before_everything_that_the_instruction_raises(bench: Bench) -> None:
    for text in ("{pc=12292 word=0 control={trap=fetch rs=33 rt=33 dest=32} result=2 b=0}", item("mtc0", rt=8, rd=14, pc=12292, b=5), item("eret", pc=12292), item("wait", pc=12292)):
        played = SystemBench(bench).play([mtc0("Cause", 0x100), mtc0("Status", IE | 0x100), text, mfc0("EPC")])
        assert played.results()[-1] == 12292 and played.exception() == [] and played.interrupt() == [(3, 0, 12292)]
        assert all(line.value == "false" for line in played.seen["unlink"])


def test_an_instruction_whose_request_is_outstanding_is_not_interrupted(bench: Bench) -> None:
    """One that is only offered is withdrawn; one that stands ends first, and the interrupt comes with the next instruction."""
    items = [mtc0("Cause", 0x100), mtc0("Status", IE | 0x100), item("lw", pc=PC, result=64), item("lw", pc=PC + 4, result=64)]
    played = SystemBench(bench).play(items, 12, refused=range(3, 7), standing=range(3, 8))
    assert played.interrupt() == [(8, 0, PC + 4)] and played.taken()[2] == 7
    played = SystemBench(bench).play(items, 12, refused=range(3, 7))
    assert played.interrupt() == [(3, 0, PC)] and played.taken()[2] == 3 and played.seen["out"][3].value is None


@seldom
def test_several_devices_share_a_line(bench: Bench) -> None:
    system = SystemBench(bench, lines=["ip2", "ip3", "ip2"])
    played = system.play([mfc0("Cause")] * 8, lines={0: lambda c: c in (1, 2), 2: lambda c: c in (2, 3), 1: lambda c: c == 5})
    assert played.results() == [0, 0x400, 0x400, 0x400, 0, 0x800, 0, 0]


@pytest.mark.parametrize("key", ["ip1", "ip7", "timer"])
def test_other_lines_there_are_not(bench: Bench, key: str) -> None:
    assert "interrupt line" in bench.refuse(f'instance dut : mips_system {{}};\ninstance line : source;\nline.out -> dut.lines["{key}"] : bool;\n')


# The timer.


@seldom
@pytest.mark.parametrize("divider", sampled([1, 2, 3, 16], 4, 2))
def test_count_advances_with_time_from_what_is_written(bench: Bench, divider: int) -> None:
    """Written in cycle 1 it has its value in this one."""
    items = [mtc0("Count", 0xFFFFFFFE), *[mfc0("Count")] * 70]
    played = SystemBench(bench, f"count_divider = {divider};").play(items)
    assert played.results()[1:] == [(0xFFFFFFFE + (n + 1) // divider) % 2**32 for n in range(70)]


@pytest.mark.parametrize("divider", [1, 2, 5])
def test_the_timer_is_pending_in_the_cycle_in_which_count_is_compare(bench: Bench, divider: int) -> None:
    """And stays so until Compare is written; IP7 is the same.  Writing Compare in between leaves Count as it is."""
    system = SystemBench(bench, f"count_divider = {divider};")
    for compare in (1, 7, 20):
        items = [mtc0("Count", 0), mtc0("Compare", compare), *[mfc0("Cause" if n % 2 else "Count") for n in range(150)], mtc0("Compare", 0), mfc0("Cause")]
        found = system.play(items).results()[2:]
        for n, value in enumerate(found[:150]):
            cycle = n + 3
            expected = (cycle - 1) // divider
            met = expected >= compare > 1 // divider  # equal when it is written: once round
            if n % 2 == 0:
                assert value == expected
            else:
                assert value == (TI | 0x8000 if met else 0), (cycle, compare)
        assert found[-1] == 0


def test_the_timer_interrupts_in_that_very_cycle(bench: Bench) -> None:
    items = [mtc0("Count", 0), mtc0("Compare", 10), mtc0("Status", IE | 0x8000), *[item("addu", rd=8, pc=PC + 4 * n) for n in range(40)]]
    played = SystemBench(bench).play(items)
    assert played.interrupt()[0][:2] == (21, 7)


def test_compare_that_count_is_already_is_met_once_round(bench: Bench) -> None:
    """2^32 counts later; so close to it is Count set then."""
    items = [mtc0("Cause", DC), mtc0("Count", 5), mtc0("Compare", 5), mtc0("Cause", 0), *[mfc0("Cause")] * 5, mtc0("Count", 3), *[mfc0("Cause")] * 6]
    found = SystemBench(bench).play(items).results()
    assert found[4:9] == [0] * 5 and found[10:] == [0, 0, 0, TI | 0x8000, TI | 0x8000, TI | 0x8000]


def test_count_stops_while_cause_says_so(bench: Bench) -> None:
    items = [mtc0("Count", 100), mfc0("Count"), mfc0("Count"), mtc0("Cause", DC), *[mfc0("Count")] * 3, mtc0("Compare", 105), mtc0("Count", 103), mfc0("Count"), mtc0("Cause", 0),
             *[mfc0("Count"), mfc0("Cause")] * 4]  # fmt: skip
    found = SystemBench(bench).play(items).results()
    assert found[1:3] == [100, 101] and found[4:7] == [101] * 3 and found[9] == 103
    assert found[11:] == [103, 0, 104, TI | 0x8000, 105, TI | 0x8000, 106, TI | 0x8000]


def test_writing_compare_in_the_cycle_of_the_timer_clears_it(bench: Bench) -> None:
    items = [mtc0("Count", 0), mtc0("Compare", 4), *[mfc0("Cause")] * 6, mtc0("Compare", 100), mfc0("Cause"), mfc0("Count"), mfc0("Cause")]
    played = SystemBench(bench).play(items)
    assert played.taken()[8] == 9 and played.results()[9:] == [0, 5, 0]


# Waiting.


def test_a_wait_holds_fetch_until_a_line_rises(bench: Bench) -> None:
    """Whatever Status.IE says; time in which nothing happens is skipped, and counted."""
    system = SystemBench(bench)
    items = [mtc0("Status", 0x800), item("wait", pc=PC), mfc0("Cause")]
    played = system.play(items, 1200, lines={1: lambda cycle: cycle == 1000}, at={2: 1100})
    assert played.restarts()[1:] == [(2, restart(PC + 4, hold=True, in_flight=1)), (1001, restart(refetch=True))]
    assert played.kills() == [1, 2] and played.waited() == [(1001, 999)]
    assert played.ran.counted("dut") == {"kernel_cycles": 201, "idle_cycles": 999, "kernel_instructions": 3}


def test_a_wait_ends_with_the_timer(bench: Bench) -> None:
    """In the cycle in which Count is Compare, which is not missed by skipping time.  What comes back is interrupted."""
    items = [mtc0("Count", 0), mtc0("Compare", 400), mtc0("Status", IE | UM | 0x8000), item("wait", pc=PC)]
    system = SystemBench(bench)
    played = system.play([*items[:2], mtc0("Status", IE | 0x8000), items[3], item("addu", rd=8, pc=PC + 4)], 900, at={4: 805})
    assert played.restarts()[3:] == [(4, restart(PC + 4, hold=True, in_flight=1)), (801, restart(refetch=True)), (806, restart(0x80000180))]
    assert played.interrupt() == [(806, 7, PC + 4)] and played.waited() == [(801, 797)]


def test_a_wait_for_what_is_pending_does_not_wait(bench: Bench) -> None:
    """Also in the cycle in which the timer comes."""
    system = SystemBench(bench)
    played = system.play([mtc0("Cause", 0x100), mtc0("Status", 0x100), item("wait", pc=PC), mfc0("Cause")])
    assert played.restarts()[2:] == [(3, restart(refetch=True, in_flight=1))] and played.waited() == []
    items = [mtc0("Count", 0), mtc0("Compare", 2), mtc0("Status", 0x8000), ADD, item("wait", pc=PC)]
    played = system.play(items, 20)
    assert played.taken()[4] == 5 and played.restarts()[3:] == [(5, restart(refetch=True, in_flight=1))]


def test_what_rises_as_a_wait_leaves_ends_it_at_once(bench: Bench) -> None:
    played = SystemBench(bench).play([mtc0("Status", 0x400), item("wait", pc=PC)], 30, lines={0: lambda cycle: cycle >= 2})
    assert played.restarts()[1:] == [(2, restart(PC + 4, hold=True, in_flight=1)), (3, restart(refetch=True))] and played.waited() == [(3, 1)]


def test_what_no_mask_lets_through_ends_no_wait(bench: Bench) -> None:
    played = SystemBench(bench).play([mtc0("Status", IE | 0x8000), item("wait", pc=PC)], 100, lines={0: high, 4: high})
    assert played.restarts()[1:] == [(2, restart(PC + 4, hold=True, in_flight=1))]
    assert played.ran.stat("dut", "idle_cycles") == 97


# Chance.

KINDS = ["addu", "lw", "sw", "mfc0", "eret", "ei", "mtc0", "syscall", "sync", "synci"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_instruction_is_lost_or_done_twice_whatever_the_stages_behind_do(bench: Bench, seed: int) -> None:
    """Each instruction ends once: it goes on, or it fails, or an interrupt is taken in its place; kill and restart come together,
    with what ends."""
    rng = random.Random(seed)
    cycles = 1500
    status = IE | 0x7C00
    items = [mtc0("EBase", 0x80000000), mtc0("Status", status)]
    kinds = []
    for n in range(500):
        kinds.append(rng.choice(KINDS))
        pc = 0x1000 + 4 * n
        items.append(mtc0("Status", status) if kinds[-1] == "mtc0" else failed("syscall", pc) if kinds[-1] == "syscall"
                     else item(kinds[-1], rd=8 if kinds[-1] == "addu" else 14, rt=9, pc=pc, result=64))  # fmt: skip
    levels = {n: [rng.random() < 0.05 for _ in range(cycles)] for n in range(len(LINES))}
    faults = {cycle: "{fails=true fault=refill address=64}" for cycle in range(cycles) if rng.random() < 0.1}
    played = SystemBench(bench).play(items, cycles, ready=0.6, seed=seed, faults=faults, lines={n: lambda cycle, n=n: levels[n][cycle] for n in levels})
    told = f"seed {seed}, {played.ran.directory}"
    exceptions = {cycle for cycle, *_ in played.exception()}
    interrupts = {cycle for cycle, *_ in played.interrupt()}
    taken, kills = played.taken(), set(played.kills())
    assert len(taken) == len(items), told
    assert not exceptions & interrupts and exceptions | interrupts <= set(taken) & kills, told
    assert len(exceptions) > 50 and len(interrupts) > 10, told
    serial = {cycle for cycle, kind in zip(taken[2:], kinds, strict=True) if kind in ("eret", "ei", "mtc0", "sync", "synci")} | set(taken[:2])
    assert kills == exceptions | interrupts | serial, told
    assert {cycle for cycle, _ in played.restarts()} == kills, told
    for cycle, value in played.restarts():
        ends = cycle in exceptions or cycle in interrupts
        assert value.endswith(f"in_flight={0 if ends else 1}}}"), told
    gone = {line.cycle for line in played.left() if "annulled" not in (line.value or "")}
    assert gone - exceptions == set(taken) - exceptions - interrupts, told
    counted = played.ran.counted("dut")
    assert counted["kernel_instructions"] == len(items) - len(exceptions) - len(interrupts), told


@seldom
def test_interrupts_are_shown_to_who_sends_only_some_instructions(bench: Bench) -> None:
    """As long as one would be taken: it is pending, and Status lets it."""
    dut = SystemBench(bench, wide=True)
    enable, disable = mtc0("Status", IE | 1 << 12), mtc0("Status", 1 << 12)
    played = dut.play([enable, disable, enable], 50, at={0: 5, 1: 20, 2: 30}, lines={2: lambda cycle: 10 <= cycle < 40})
    shown = [line.cycle for line in played.seen["interrupt"] if line.value == "true"]
    assert played.taken() == [6, 21, 31] and [cycle for cycle, *_ in played.interrupt()] == [21], "in place of the second, and then others wait"
    assert shown == [*range(11, 22), *range(32, 41)], "from the cycle after the line rose, and after Status lets it again"


def test_instructions_that_were_elsewhere_are_counted_by_mode(bench: Bench) -> None:
    """In place of those that are here."""
    dut = SystemBench(bench, wide=True)
    ran = dut.play([mtc0("Status", UM), item("addu")], 40, at={0: 10, 1: 20}, completed={3: 4, 10: 1, 30: 7, 31: 2}).ran
    assert [ran.stat("dut", name) for name in ("kernel_instructions", "user_instructions")] == [5, 9]
