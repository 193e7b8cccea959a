"""mips_vpe_control: two VPEs alone at its ports: what is read and written where, when the reply comes, who executes, who waits for
whom, and what cannot be had."""

import random

import pytest

from tests.modules.harness import Bench, Ran, collect, happened
from tests.modules.mips import IMPORTS, BundleDevice, struct

ALL = 0xFFFFFFFF
PORTS = {
    "threads.request": ("in", 2, "thread_request"), "threads.reply": ("out", 2, "thread_reply"), "remote.request": ("out", 2, "thread_request"), "remote.reply": ("in", 2, "thread_reply"),
    "vpe": ("in", 2, "vpe_state"), "status": ("in", 2, "core_status"), "control": ("out", 2, "core_control"), "load": ("out", 2, "core_state_word"), "save": ("in", 2, "core_state_word"),
}  # fmt: skip
INPUTS = [f"{port}[{i}]" for port in ("threads_request", "remote_reply", "save") for i in (0, 1)]
OUTPUTS = [f"{port}[{i}]" for port in ("threads_reply", "remote_request", "control", "load") for i in (0, 1)]
HI, LO, PC, WAITING = 32, 33, 34, 38
TC_STATUS, TC_RESTART, TC_HALT, MVP_CONTROL = (2, 1), (2, 3), (2, 4), (0, 1)


def ask(op: str, tc: int, register: tuple[int, int] | str | int, value: int = 0, master: bool = False, own: bool = False) -> str:
    """A request for a register: of coprocessor 0 by number and selection, general, "hi", "lo"."""
    kind = "cp0" if isinstance(register, tuple) else "general" if isinstance(register, int) else register
    number, select = register if isinstance(register, tuple) else (register if isinstance(register, int) else 0, 0)
    return struct(op=op, tc=tc, kind=kind, number=number, select=select, value=value, master=master, own=own)


def passed(op: str, tc: int, register: tuple[int, int], value: int = 0, by: int = 0) -> str:
    return ask(op, tc, register, value, True, tc == by)


def vpe(runs: bool, master: bool = True) -> str:
    return struct(runs=runs, master=master)


def status(halted: bool, pc: int = 0, slot: bool = False) -> str:
    return struct(halted=halted, fault=False, slot=slot, pc=pc)


def word(number: int, value: int) -> str:
    return struct(number=number, value=value, last=False)


def told(halt: bool) -> str:
    return struct(set_halt=True, halt=halt, set_pc=False, pc=0, step=False, flush=False)


# VPE 0 executes, VPE 1 is halted, unless a row says otherwise.
IDLE = {"vpe[0]": vpe(True), "vpe[1]": vpe(False), "status[0]": status(False), "status[1]": status(True, 0x80001230)}


@pytest.fixture(scope="module")
def device(bench: Bench) -> BundleDevice:
    return BundleDevice(bench, "mips_vpe_control", PORTS, after=collect("dut", "executes(vpe, does)"), before=IMPORTS + "import mips_system_types;\n")


def play(device: BundleDevice, rows: list[dict[str, str]], always: dict[str, str] | None = None) -> Ran:
    """A row for each cycle, of what is not idle; nothing else is sent, and words are loaded in the cycle in which they come."""
    columns = [*INPUTS, *OUTPUTS, *IDLE, "load[0].ack", "load[1].ack", "save[0].ack", "save[1].ack"]
    idle = {**dict.fromkeys(columns, "."), **IDLE, "load[0].ack": "1", "load[1].ack": "1", "save[0].ack": "-", "save[1].ack": "-", **(always or {})}
    assert all(name in columns for row in rows for name in row)
    return device.check_table("\n".join([" | ".join(columns), *(" | ".join({**idle, **row}[c] for c in columns) for row in rows)]))


def asks(by: int, request: str) -> dict[str, str]:
    return {f"threads_request[{by}]": request}


def said(value: int | str, retry: bool = False) -> str:
    return struct(value=value, retry=retry)


def answers(to: int, value: int) -> dict[str, str]:
    return {f"threads_reply[{to}]": said(value)}


def test_a_register_of_coprocessor_0_is_read(device: BundleDevice) -> None:
    """The other's, and one's own: asked for in the next cycle, replied in the one behind."""
    for tc in (0, 1):
        ran = play(device, [asks(0, ask("read", tc, (13, 0))), {f"remote_request[{tc}]": passed("read", tc, (13, 0)), f"remote_reply[{tc}]": said(7)}, answers(0, 7), {}, {}])
        assert ran.stat("dut", "requests") == 1 and ran.stat("dut", "unreachable") == 0


def test_a_write_is_done_when_who_may_not_execute_has_halted(device: BundleDevice) -> None:
    """VPE 0 lets VPE 1 go, which MVPControl.EVP allows, and halts it again."""
    go = [asks(0, ask("evpe", 0, MVP_CONTROL)), {}, answers(0, 0), asks(0, ask("write", 1, TC_HALT, 0)), {"remote_request[1]": passed("write", 1, TC_HALT, 0), "remote_reply[1]": said(1)}]
    runs = {"vpe[1]": vpe(True)}
    on = [{**runs}, {**runs, "control[1]": told(False)}, {**runs, "status[1]": status(False), **answers(0, 1)}]
    executes = {**runs, "status[1]": status(False)}
    halts = [{**executes, **asks(0, ask("write", 1, TC_HALT, 1))}, {**executes, "remote_request[1]": passed("write", 1, TC_HALT, 1), "remote_reply[1]": said(0)}]
    off = [{"status[1]": status(False)}, {"status[1]": status(False), "control[1]": told(True)}, {"status[1]": status(False)}, {}, answers(0, 0), {}]
    ran = play(device, go + on + [executes] * 3 + halts + off)
    assert happened(ran, "executes") == [(5, 1, 1), (len(go + on) + 5, 1, 0)]


def test_a_vpe_that_halts_itself_goes_no_further(device: BundleDevice) -> None:
    """The reply comes when it was told to halt, not before."""
    play(device, [asks(0, ask("write", 0, TC_HALT, 1)), {"remote_request[0]": passed("write", 0, TC_HALT, 1), "remote_reply[0]": said(0)}, {"vpe[0]": vpe(False)},
                  {"vpe[0]": vpe(False), "control[0]": told(True)}, {"vpe[0]": vpe(False), **answers(0, 0)}, {"vpe[0]": vpe(False)}])  # fmt: skip


def test_general_registers_and_hi_and_lo(device: BundleDevice) -> None:
    """Read: the state begins anew, and its words are taken up to that which is meant, when they come."""
    for register, number in ((5, 5), ("hi", HI), ("lo", LO)):
        rows: list[dict[str, str]] = [asks(0, ask("read", 1, register)), {"load[1]": word(0, 0), "load[1].ack": "0"}, {"load[1]": word(0, 0)}]
        for n in range(number + 1):
            rows += [{"save[1].ack": "1"}] * (n % 7 == 3) + [{"save[1]": word(n, 100 + n), "save[1].ack": "1"}]
        play(device, [*rows, {**answers(0, 100 + number), "save[1].ack": "0"}, {}])
    play(device, [asks(0, ask("write", 1, 5, 77)), {"load[1]": word(5, 77), "load[1].ack": "0"}, {"load[1]": word(5, 77)}, {}, answers(0, 0), {}])
    for register, hi, lo in (("hi", 77, 133), ("lo", 132, 77)):
        rows = [asks(0, ask("write", 1, register, 77)), {"load[1]": word(0, 0)}, *({"save[1]": word(n, 100 + n), "save[1].ack": "1"} for n in range(LO + 1))]
        play(device, [*rows, {"load[1]": word(HI, hi)}, {"load[1]": word(LO, lo), "load[1].ack": "0"}, {"load[1]": word(LO, lo)}, {}, answers(0, 0), {}])


def test_where_a_thread_goes_on(device: BundleDevice) -> None:
    """Read: of the branch, when it stopped in a slot, as TCStatus says, too.  Written: the link ends, then the pc comes."""
    play(device, [asks(0, ask("read", 1, TC_RESTART)), answers(0, 0x80001230), {}])
    slot = {"status[1]": status(True, 0x80001230, True)}
    play(device, [{**slot, **asks(0, ask("read", 1, TC_RESTART))}, {**slot, **answers(0, 0x8000122C)}, slot])
    for at, value in ((slot, 0x2000 | 1 << 21), ({}, 0x2000)):
        reads = {"remote_request[1]": passed("read", 1, TC_STATUS), "remote_reply[1]": said(0x2000)}
        play(device, [{**at, **asks(0, ask("read", 1, TC_STATUS))}, {**at, **reads}, {**at, **answers(0, value)}])
    play(device, [asks(0, ask("write", 1, TC_RESTART, 0x80004560)), {"remote_request[1]": passed("write", 1, TC_RESTART, 0x80004560), "remote_reply[1]": said(ALL)},
                  {"load[1]": word(PC, 0x80004560)}, {"load[1]": word(WAITING, 0)}, {}, answers(0, 0), {}])  # fmt: skip


UNREACHABLE = {"a TC that there is not": (2, (13, 0)), "a register that there is not": (1, (3, 1)), "what no register is": (1, "nothing"), "a general register of one that executes": (0, 4),
               "HI of it": (0, "hi"), "where it goes on": (0, TC_RESTART)}  # fmt: skip


@pytest.mark.parametrize("what", UNREACHABLE)
def test_what_cannot_be_had(device: BundleDevice, what: str) -> None:
    """Reads all ones; nothing is written, which takes a cycle longer."""
    tc, register = UNREACHABLE[what]
    ran = play(device, [asks(0, ask("read", tc, register)), answers(0, ALL), {}, asks(0, ask("write", tc, register, 1)), {}, answers(0, ALL), {}])
    assert ran.stat("dut", "unreachable") == 2


def test_who_is_no_master(device: BundleDevice) -> None:
    """Reaches its own, which are told so, and changes nothing that is shared."""
    plain = {"vpe[0]": vpe(True, False)}
    own = {"remote_request[0]": ask("read", 0, (13, 0), own=True), "remote_reply[0]": said(3)}
    ran = play(device, [asks(0, ask("read", 1, (13, 0))), answers(0, ALL), asks(0, ask("read", 0, (13, 0))), own, answers(0, 3), asks(0, ask("evpe", 0, MVP_CONTROL)), {}, answers(0, 0),
                        asks(0, ask("write", 0, MVP_CONTROL, 3)), {}, answers(0, 0), asks(0, ask("read", 0, MVP_CONTROL)), answers(0, 0), {}], plain)  # fmt: skip
    assert ran.stat("dut", "unreachable") == 1


def test_what_is_shared(device: BundleDevice) -> None:
    """MVPControl has two bits; MVPConf0 says two VPEs, MVPConf1 nothing."""
    rows = [asks(0, ask("write", 0, MVP_CONTROL, ALL)), {}, answers(0, 0)]
    for register, value in ((MVP_CONTROL, 3), ((0, 2), 0x80000401), ((0, 3), 0)):
        rows += [asks(0, ask("read", 0, register)), answers(0, value)]
    play(device, rows)


EXECUTE = {"vpe[1]": vpe(True), "status[1]": status(False)}


def test_one_has_the_processor_for_itself(device: BundleDevice) -> None:
    """dvpe is done when the others have halted; who finds it done changes nothing; evpe lets them go."""
    rows = [asks(0, ask("evpe", 0, MVP_CONTROL)), {}, answers(0, 0), {"vpe[1]": vpe(True)}, {**EXECUTE, "status[1]": status(True), "control[1]": told(False)},
            {**EXECUTE, **asks(1, ask("dvpe", 1, MVP_CONTROL))}, EXECUTE, {**EXECUTE, "control[0]": told(True)}, EXECUTE, {**EXECUTE, "status[0]": status(True)},
            {**EXECUTE, "status[0]": status(True), **answers(1, 1)}]  # fmt: skip
    alone = {**EXECUTE, "status[0]": status(True)}
    rows += [{**alone, **asks(1, ask("evpe", 1, MVP_CONTROL))}, alone, {**alone, "control[0]": told(False)}, {**EXECUTE, **answers(1, 0)}, EXECUTE]
    ran = play(device, rows)
    assert happened(ran, "executes") == [(3, 1, 1), (6, 0, 0), (12, 0, 1)]


BOTH = [asks(0, ask("evpe", 0, MVP_CONTROL)), {}, answers(0, 0), {"vpe[1]": vpe(True)}, {**EXECUTE, "status[1]": status(True), "control[1]": told(False)}]


@pytest.mark.parametrize("request_of_0", [ask("dvpe", 0, MVP_CONTROL), ask("evpe", 0, MVP_CONTROL), ask("read", 1, (13, 0)), ask("write", 1, (13, 0), 9), ask("read", 1, 4)])
def test_who_may_not_execute_is_not_served(device: BundleDevice, request_of_0: str) -> None:
    """Both ask in one cycle, and VPE 1 clears MVPControl.EVP: it goes on, and the request of VPE 0 is put off.  It is served once VPE 1 has set EVP again."""
    off = {**answers(1, 1), "threads_reply[0]": said(0, True)}
    rows = [*BOTH, {**EXECUTE, **asks(0, request_of_0), **asks(1, ask("dvpe", 1, MVP_CONTROL))}, EXECUTE, {**EXECUTE, "control[0]": told(True)}, {**EXECUTE, **off}]
    rows += [EXECUTE] * 9 + [{**EXECUTE, **asks(1, ask("evpe", 1, MVP_CONTROL))}, EXECUTE, {**EXECUTE, "control[0]": told(False)}, {**EXECUTE, **answers(1, 0)}, {**EXECUTE, **asks(0, request_of_0)}]
    written = "write" in request_of_0
    passes = {"remote_request[1]": passed("write" if written else "read", 1, (13, 0), 9 if written else 0), "remote_reply[1]": said(7)}
    if "dvpe" in request_of_0:
        halted = {"status[1]": status(True)}
        then = [{}, {"control[1]": told(True)}, halted, {**halted, **answers(0, 1)}]
    elif "evpe" in request_of_0:
        then = [{}, answers(0, 1)]
    elif "general" in request_of_0:
        then = [answers(0, ALL)]
    else:
        then = [passes, *([{}] if written else []), answers(0, 7)]
    rows += [{**EXECUTE, **row} for row in then]
    play(device, [*rows, EXECUTE])


def test_who_has_yet_to_halt_is_waited_for(device: BundleDevice) -> None:
    """A general register of one that executes no more, but has not halted."""
    late = {"status[1]": status(False)}
    play(device, [{**late, **asks(0, ask("write", 1, 4, 9))}, late, late, {}, {"load[1]": word(4, 9)}, {}, answers(0, 0)])


def test_a_request_is_put_off_when_its_thread_is_wanted(device: BundleDevice) -> None:
    """Of a VPE that is halted while its request waits, another one wants a general register: it is told to come again, halts, and is served when it asks again and executes."""
    alone = {**EXECUTE, "status[0]": status(False)}
    rows = [*BOTH, {**EXECUTE, **asks(0, ask("dvpe", 0, MVP_CONTROL)), **asks(1, ask("dvpe", 1, MVP_CONTROL))}, EXECUTE, {**EXECUTE, "control[0]": told(True)}, {**EXECUTE, **answers(1, 1), "threads_reply[0]": said(0, True)}]
    rows += [{**alone, **asks(1, ask("write", 0, 4, 9))}, alone, alone, alone, {**EXECUTE, "status[0]": status(True)}]
    halted = {**EXECUTE, "status[0]": status(True)}
    rows += [{**halted, "load[0]": word(4, 9)}, halted, {**halted, **answers(1, 0)}, halted, {**halted, **asks(1, ask("evpe", 1, MVP_CONTROL))}, halted, {**halted, "control[0]": told(False)}, {**EXECUTE, **answers(1, 0)}]
    ran = play(device, [*rows, {**EXECUTE, **asks(0, ask("read", 0, MVP_CONTROL))}, {**EXECUTE, **answers(0, 1)}, EXECUTE])
    assert ran.stat("dut", "put_off") == 1


def test_a_request_is_put_off_when_others_write_what_it_depends_on(device: BundleDevice) -> None:
    """VPE 1 asks, and VPE 0, whose turn is first, writes its VPEControl: TargTC may be another one."""
    served = {"remote_request[1]": passed("write", 1, (1, 1), 3), "remote_reply[1]": said(0), "threads_reply[1]": said(0, True)}
    rows = [*BOTH, {**EXECUTE, **asks(1, ask("read", 1, MVP_CONTROL))}, {**EXECUTE, **answers(1, 1)}, {**EXECUTE, **asks(0, ask("write", 1, (1, 1), 3)), **asks(1, ask("read", 0, (13, 0)))}]
    ran = play(device, [*rows, {**EXECUTE, **served}, EXECUTE, {**EXECUTE, **answers(0, 0)}, EXECUTE])
    assert ran.stat("dut", "put_off") == 1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_words_that_are_refused_come_again(device: BundleDevice, seed: int) -> None:
    rng = random.Random(seed)
    rows: list[dict[str, str]] = []
    for _ in range(10):
        register, value = rng.randrange(32), rng.getrandbits(32)
        rows += [{}] * rng.randrange(3) + [asks(0, ask("write", 1, register, value))]
        rows += [{"load[1]": word(register, value), "load[1].ack": "0"}] * rng.randrange(4) + [{"load[1]": word(register, value)}, {}, answers(0, 0)]
    assert play(device, rows).stat("dut", "requests") == 10, f"seed {seed}"


def test_lanes_that_do_not_belong_together(bench: Bench) -> None:
    text = IMPORTS + """import mips_system_types; instance dut : mips_vpe_control; instance s[4] : source; instance t[5] : sink;
        s[0].out -> dut.threads.request; dut.threads.reply -> t[0].in; dut.remote.request -> t[1].in; s[1].out -> dut.remote.reply; s[2].out -> dut.vpe, dut.vpe;
        s[3].out -> dut.status; dut.control -> t[2].in; dut.load -> t[3].in;"""
    assert "every port needs a lane for each VPE" in bench.refuse(text)
