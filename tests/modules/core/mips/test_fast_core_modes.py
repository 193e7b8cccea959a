"""fast_core: the cycles in which it is in kernel mode, in user mode, idle and halted, whatever the steps are."""

from collections.abc import Sequence

import pytest

from tests.modules.core.mips.fast_program import GO, K0, K2, LIMIT, MARKER, SETTINGS, T0, machine
from tests.modules.harness import Bench, Memory, collect, happened
from tests.modules.mips import encode
from tests.sample import seldom

EPC, STATUS, CAUSE, COMPARE, COUNT = 14, 12, 13, 11, 9
UM, EXL, TIMER = 0x10, 2, 1 << 15
ERET, SYSCALL, TLBWI, WAIT, NOP = encode("eret"), encode("syscall"), encode("tlbwi"), encode("wait"), 0
USER_PAGE, VECTOR = 0x1000, 0x180


def set_cp0(register: int, value: int) -> list[int]:
    return [encode("lui", 0, K0, low=value >> 16), encode("ori", K0, K0, low=value & 0xFFFF), encode("mtc0", 0, K0, register)]


# Virtual page 0 is the page at USER_PAGE; then the program goes on there, in user mode.
TO_USER = [
    *set_cp0(0, 0), *set_cp0(10, 0), *set_cp0(2, USER_PAGE >> 6 | 0x1F), *set_cp0(3, 0x1F), TLBWI,
    *set_cp0(EPC, 0), *set_cp0(STATUS, UM | EXL), ERET,
]  # fmt: skip
# It goes on after the instruction that failed.
HANDLER = [encode("mfc0", 0, K2, EPC), encode("addiu", K2, K2, low=4), encode("mtc0", 0, K2, EPC), ERET]


def bench_machine(bench: Bench) -> Memory:
    return machine(bench, "instance taken : sink;\ndut.save -> taken.in;\n" + collect("dut", "marker(number)", "mode(user)"))


Ran = tuple[list[tuple[int, ...]], list[tuple[int, ...]], dict[str, int]]


def run(dut: Memory, quantum: int, kernel: list[int], user: Sequence[int] = (), handler: list[int] = HANDLER) -> Ran:
    """Markers and modes with their cycles, and the cycles counted in each."""
    parts = (0, kernel), (USER_PAGE, user), (VECTOR, handler)
    program = [f"0 write 4 {at + 4 * k:#x} {word:#x}" for at, words in parts for k, word in enumerate(words)]
    files = {"go": f"{len(program)} {GO} once\n", "limit": "".join(f"{k} {LIMIT} once\n" for k in range(2000))}
    dut.play([program, []], 2000, SETTINGS | {"dut.quantum": quantum}, files=files, outstanding=8)
    found = dut.last.counted("dut")
    counted = {name: found.get(name, 0) for name in ("kernel_cycles", "user_cycles", "idle_cycles", "halted_cycles")}
    assert sum(counted.values()) == 2000
    return happened(dut.last, "marker"), happened(dut.last, "mode"), counted


@pytest.mark.parametrize("calls, between", [(1, 0), (3, 5), (100, 1)])
def test_modes_begin_in_their_cycles(bench: Bench, calls: int, between: int) -> None:
    """From the cycle after the instruction that changes the mode; a step may hold any number of them."""
    dut = bench_machine(bench)
    user = [*([encode("addiu", T0, T0, low=1)] * between), SYSCALL] * calls + [MARKER]
    ran = {quantum: run(dut, quantum, [MARKER - 1, *TO_USER], user) for quantum in (1, 3, 1000)}
    [(begun, first), (ended, last)], modes, counted = ran[1]
    assert (first, last) == (6, 7)
    begins = [begun + len(TO_USER) + 1 + k * (between + 1 + len(HANDLER)) for k in range(calls + 1)]
    assert [cycle for cycle, user in modes if user] == begins and ended == begins[-1]
    assert [cycle for cycle, user in modes if not user] == [*(cycle + between + 1 for cycle in begins[:-1]), ended + 1]
    assert counted["user_cycles"] == calls * (between + 1) + 1
    assert counted["kernel_cycles"] == 1 + len(TO_USER) + calls * len(HANDLER) + 1  # and the cycle after the command
    assert counted["idle_cycles"] == 0 and ran[3] == ran[1] and ran[1000] == ran[1]


@seldom
def test_a_wait_is_idle(bench: Bench) -> None:
    """Until the interrupt that ends it; enabled or not, and the processor is in kernel mode."""
    dut = bench_machine(bench)
    sleep = [*set_cp0(STATUS, TIMER), *set_cp0(COMPARE, 200), encode("mtc0", 0, 0, COUNT), MARKER - 1, WAIT, NOP, MARKER]
    ran = {quantum: run(dut, quantum, sleep) for quantum in (1, 3, 1000)}
    [(begun, _), (ended, _)], modes, counted = ran[1]
    assert modes == [] and counted["user_cycles"] == 0
    assert ended - begun == 1 + counted["idle_cycles"] + 2 and counted["idle_cycles"] > 350
    assert counted["kernel_cycles"] == len(sleep) + 1
    assert ran[3] == ran[1] and ran[1000] == ran[1]


@seldom
def test_an_interrupt_ends_user_mode(bench: Bench) -> None:
    """Kernel mode begins with the first instruction of the handler."""
    dut = bench_machine(bench)
    spin = [encode("addiu", T0, T0, low=1)] * 300
    prepare = [*set_cp0(COMPARE, 100), encode("mtc0", 0, 0, COUNT), MARKER - 1, *TO_USER[:-4], *set_cp0(STATUS, UM | EXL | TIMER | 1), ERET]
    [(begun, _), (ended, _)], modes, counted = run(dut, 1000, prepare, spin, [MARKER])
    [(enters, _), (leaves, _)] = modes
    assert enters == begun + len(prepare) - prepare.index(MARKER - 1)
    assert leaves == ended and counted["user_cycles"] == leaves - enters and 120 < counted["user_cycles"] < 200
    assert run(dut, 3, prepare, spin, [MARKER]) == run(dut, 1, prepare, spin, [MARKER])
