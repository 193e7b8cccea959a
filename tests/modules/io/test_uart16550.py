"""uart16550: registers, times of characters, FIFOs, interrupts, loop mode, and what a script types."""

import random
import subprocess
from collections import deque
from pathlib import Path

import pytest

from tests.console_scripts import WRONG_LINES
from tests.modules.harness import MOST_CHECKED, Bench, collect
from tests.modules.io.registers import Accesses, Registers
from tests.sample import sampled, seldom

DATA, IER, IIR, LCR, MCR, LSR, MSR, SCR = range(8)
FCR, DLM = IIR, IER
EIGHT = 3  # LCR: 8 bits, no parity, one stop bit
CHARACTER = 160  # cycles of such a one, where the input clock is that of the machine and the divisor 1
NONE, MODEM, EMPTY, RECEIVED, LINE, NEGLECTED, FIFOS = 1, 0, 2, 4, 6, 0xC, 0xC0
LOOP = 0x10


def uart(bench: Bench, body: str = "", clock: int = 100000000, **options) -> Registers:
    return Registers(bench, "uart16550", f"input_frequency = {clock} Hz; {body}", after=collect("dut", "sent(character)", "received(character)"), **options)


# Accesses as (register, value) to write and register to read, one a cycle, and what is read.
TABLES = {
    "reset": ([IER, IIR, LCR, MCR, LSR, MSR, SCR, DATA], [0, NONE, 0, 0, 0x60, 0xB0, 0, 0]),
    "what may be written": ([(IER, 0xF0), IER, (LCR, 0x7F), LCR, (MCR, 0xEF), MCR, (SCR, 0xA5), SCR], [0, 0x7F, 0xF, 0xA5]),
    "what may only be read": ([(LSR, 0xFF), LSR, (MSR, 0xFF), MSR], [0x60, 0xB0]),
    "divisor": ([(LCR, 0x80), DATA, DLM, (DATA, 0x34), (DLM, 0x12), DATA, DLM, (LCR, 0), IER], [1, 0, 0x34, 0x12, 0]),
    "FIFOs on and off": ([(FCR, 1), IIR, (FCR, 0xCE), IIR, (FCR, 0xC1), IIR, (FCR, 0), IIR], [0xC1, NONE, 0xC1, NONE]),
    "transmitter empty": ([(IER, 2), IIR, IIR, (IER, 0), (IER, 2), IIR, (IER, 2), IIR], [EMPTY, NONE, EMPTY, NONE]),
    "no interrupt that is not enabled": ([(IER, 0xD), IIR], [NONE]),
    "modem in loop mode": ([(MCR, LOOP), MSR, MSR, (MCR, LOOP | 3), MSR, (MCR, LOOP | 0xC), MSR, (MCR, LOOP), MSR, (MCR, 0), MSR],
                           [0x0B, 0, 0x33, 0xCB, 0x0C, 0xBB]),
    "modem interrupt": ([(IER, 8), IIR, (MCR, LOOP), IIR, MSR, IIR], [NONE, MODEM, 0x0B, NONE]),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLES)
def test_registers(case: str, bench: Bench) -> None:
    steps, expected = TABLES[case]
    accesses = Accesses()
    for cycle, step in enumerate(steps):
        accesses.write(cycle, *step) if isinstance(step, tuple) else accesses.read(cycle, step)
    device = uart(bench)
    values = device.play(accesses, 40, {"dut.output": "out"})
    assert [value for step, value in zip(steps, values, strict=True) if not isinstance(step, tuple)] == expected


@seldom
@pytest.mark.parametrize(("width", "shift", "big"), sampled([(32, 0, False), (32, 2, True), (64, 3, False), (64, 0, True)], 4, 1))
def test_accesses_of_several_bytes(width: int, shift: int, big: bool, bench: Bench) -> None:
    """One to each register among them; the bytes beside registers are nothing; addresses repeat."""
    device = uart(bench, f"reg_shift = {shift}; big_endian = {str(big).lower()};", width=width)
    size = width // 8
    registers = [(offset >> shift) % 8 if offset % (1 << shift) == 0 else None for offset in range((4 << shift), (4 << shift) + size)]
    written = [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x08][:size]
    value = {MCR: 0x11, LSR: 0x20 if size == 8 and shift == 0 else 0x60, MSR: 0x29 if shift == 0 else 0xB0, SCR: 0x44 if shift == 0 else 0, DATA: 0, IER: 6, IIR: FIFOS | EMPTY, LCR: 8}
    order = "big" if big else "little"
    accesses = Accesses(1 << shift).write(0, MCR, int.from_bytes(written, order), size).read(9, MCR + 8, size)
    read = device.play(accesses, 20, {"dut.output": "out"})[1]
    assert read.to_bytes(size, order) == bytes(0 if register is None else value[register] for register in registers)


def test_what_is_no_access(bench: Bench) -> None:
    device = uart(bench)
    script = ["0 barrier 1 0", "1 maintain 1 0 12", "2 read -1 6", "3 fetch_add 1 7 1", "4 read 1 7"]
    [replies] = device.memory.play([script], 20, {"dut.output": "out"}, outstanding=4)
    assert [(a.cycle, a.data, a.error) for a in replies] == [(1, 0, False), (2, 0, False), (3, 0xFFFFFFB0, False), (4, 0, True), (5, 0, False)]


def test_the_time_of_a_character(bench: Bench) -> None:
    """Sixteen clocks for each bit, one and a half stop bits with five of data; what does not fit the bits is cut off."""
    accesses, expected = Accesses(), []
    for line in range(64):
        bits, parity = 5 + (line & 3), line >> 3 & 1
        stop = 1 if not line & 4 else 1.5 if bits == 5 else 2
        accesses.write(300 * line, LCR, line).write(300 * line + 1, DATA, 0xFF)
        expected.append((300 * line + 1 + 16 * (1 + bits + parity + stop), (1 << bits) - 1))
    device = uart(bench)
    device.play(accesses, 64 * 300, {"dut.output": "out"})
    assert device.happened("sent") == expected


@pytest.mark.parametrize(("divisor", "clock", "cycles"), sampled([(1, 1843200, 8681), (2, 3686400, 8681), (0, 1843200, 8681), (3, 160000000, 300)], 2))
def test_the_divisor_and_the_input_clock(divisor: int, clock: int, cycles: int, bench: Bench) -> None:
    """Whole cycles of the machine, rounded up; the second character follows the first."""
    device = uart(bench, clock=clock)
    accesses = Accesses().write(0, LCR, 0x83).write(1, DATA, divisor & 0xFF).write(2, DLM, divisor >> 8).write(3, LCR, EIGHT)
    device.play(accesses.write(10, DATA, 65).write(11, DATA, 66), 20000, {"dut.output": "out"})
    assert device.happened("sent") == [(10 + cycles, 65), (10 + 2 * cycles, 66)]


def test_what_firmware_has_set(bench: Bench) -> None:
    """The line and the divisor with which a run begins."""
    device = uart(bench, "line_control = 3; divisor = 2;")
    values = device.play(Accesses().write(0, DATA, 0xFF).read(1, LCR), 400, {"dut.output": "out"})
    assert device.happened("sent") == [(2 * CHARACTER, 0xFF)] and values[1] == EIGHT


def test_without_fifos_one_character_waits(bench: Bench) -> None:
    """It moves on at once; a third takes the place of the second."""
    device = uart(bench)
    accesses = Accesses().write(0, LCR, EIGHT).write(1, DATA, 65).read(2, LSR).write(3, DATA, 66).read(4, LSR).write(5, DATA, 67)
    accesses.read(1 + CHARACTER, LSR).read(1 + CHARACTER + 1, LSR).read(2 + 2 * CHARACTER, LSR)
    values = device.play(accesses, 400, {"dut.output": "out"})
    assert (device.last.directory / "out").read_text() == "AC" and device.last.stat("dut", "discarded") == 1
    assert values[2] == 0x20 and values[4] == 0 and values[6:] == [0x20, 0x20, 0x60]


def test_a_transmit_fifo_holds_sixteen(bench: Bench) -> None:
    """And one is leaving; what is more is lost.  The interrupt comes when the last begins to leave, and reading that it came ends it."""
    device = uart(bench)
    accesses = Accesses().write(0, LCR, EIGHT).write(1, FCR, 1)
    for k in range(18):
        accesses.write(2 + k, DATA, 65 + k)
    last = 2 + 16 * CHARACTER
    accesses.write(20, IER, 2).read(21, IIR).read(last + 50, IIR).read(last + 60, IIR)
    values = device.play(accesses, 3000, {"dut.output": "out"})
    assert (device.last.directory / "out").read_text() == "ABCDEFGHIJKLMNOPQ"
    assert device.happened("sent") == [(2 + (k + 1) * CHARACTER, 65 + k) for k in range(17)]
    assert device.last.counted("dut") == {"sent": 17, "discarded": 1}
    assert values[-3:] == [FIFOS | NONE, FIFOS | EMPTY, FIFOS | NONE]
    assert device.edges() == [(last + 1, True), (last + 51, False)]


def test_writing_ends_the_interrupt_of_the_transmitter(bench: Bench) -> None:
    device = uart(bench)
    accesses = Accesses().write(0, LCR, EIGHT).write(1, FCR, 1).write(2, IER, 2).write(5, DATA, 65).write(9, DATA, 66)
    device.play(accesses, 400, {"dut.output": "out"})
    assert device.edges() == [(3, True), (10, False), (5 + CHARACTER + 1, True)]


def test_clearing_the_transmit_fifo(bench: Bench) -> None:
    """What is leaving leaves."""
    device = uart(bench)
    accesses = Accesses().write(0, LCR, EIGHT).write(1, FCR, 1).write(2, IER, 2).read(3, IIR)
    accesses.write(4, DATA, 65).write(5, DATA, 66).read(6, LSR).write(7, FCR, 5).read(8, LSR).read(9, IIR)
    values = device.play(accesses, 400, {"dut.output": "out"})
    assert values[6] == 0 and values[8:] == [0x20, FIFOS | EMPTY] and (device.last.directory / "out").read_text() == "A"


def typed(text: str, first: int = 0) -> list[int]:
    """The cycles in which the characters of a script without anything else arrive."""
    return [first + CHARACTER * (k + 1) for k in range(len(text))]


# LCR is 0 when the script begins, so its first character is one of five bits
FIVE = 112


def arrivals(count: int) -> list[int]:
    return [FIVE + CHARACTER * k for k in range(count)]


@pytest.mark.parametrize(("trigger", "level"), [(0, 1), (1, 4), (2, 8), (3, 14)])
def test_the_receiver_interrupts_at_its_trigger(trigger: int, level: int, bench: Bench) -> None:
    """And no more when there are fewer; the time-out comes four characters after what happened last."""
    device = uart(bench)
    came = arrivals(level)
    accesses = Accesses().write(0, LCR, EIGHT).write(1, FCR, 1 | trigger << 6).write(2, IER, 1)
    accesses.read(came[-1] + 10, IIR).read(came[-1] + 11, DATA).read(came[-1] + 12, IIR)
    values = device.play(accesses, 4000, {"dut.output": "out", "dut.script": "typed"}, typed=f'send "{"x" * level}"')
    again = [] if level == 1 else [(came[-1] + 11 + 4 * CHARACTER, True)]
    assert [cycle for cycle, _ in device.happened("received")] == came
    assert values[-3:] == [FIFOS | RECEIVED, ord("x"), FIFOS | NONE]
    assert device.edges() == [(came[-1] + 1, True), (came[-1] + 12, False), *again]


def test_the_time_out_of_the_receiver(bench: Bench) -> None:
    """Only with FIFOs; a character that comes meanwhile begins it anew, one that comes later does not, and reading one ends it."""
    device = uart(bench)
    came = [*arrivals(2), arrivals(2)[-1] + 100000 + CHARACTER]
    out = came[1] + 4 * CHARACTER
    accesses = Accesses().write(0, LCR, EIGHT).write(1, FCR, 0x81).write(2, IER, 1)
    accesses.read(out, IIR).read(came[2] + 10, IIR).read(came[2] + 20, DATA).read(came[2] + 21, IIR)
    values = device.play(accesses, 103000, {"dut.output": "out", "dut.script": "typed"}, typed='send "ab"\nafter 1 ms\nsend "c"')
    assert values[3:] == [FIFOS | NEGLECTED, FIFOS | NEGLECTED, ord("a"), FIFOS | NONE]
    assert device.edges() == [(out, True), (came[2] + 21, False), (came[2] + 20 + 4 * CHARACTER, True)]
    accesses = Accesses().write(0, LCR, EIGHT).write(1, IER, 1).read(500, IIR).read(501, DATA).read(502, IIR)
    values = device.play(accesses, 5000, {"dut.output": "out", "dut.script": "typed"}, typed='send "a"')
    assert values[2:] == [RECEIVED, ord("a"), NONE] and device.edges() == [(FIVE + 1, True), (502, False)]


@pytest.mark.parametrize("fifos", [True, False])
def test_an_overrun(fifos: bool, bench: Bench) -> None:
    """With FIFOs the newest character is lost, without them the one before; the status says so once."""
    device = uart(bench)
    text = "abcdefghijklmnopqr" if fifos else "ab"
    end = len(text) * (CHARACTER + 10) + 10
    accesses = Accesses().write(0, LCR, EIGHT).write(1, FCR, int(fifos)).write(2, IER, 5).write(3, MCR, LOOP)
    for k, character in enumerate(text.encode()):
        accesses.write(4 + k * (CHARACTER + 10), DATA, character)
    accesses.read(end, IIR).read(end + 1, LSR).read(end + 2, LSR).read(end + 3, IIR)
    for k in range(17):
        accesses.read(end + 10 + k, DATA)
    values = device.play(accesses, 5000, {"dut.output": "out"})[1 + len(text) :]
    kept = list(text.encode()[:16]) + [0] if fifos else [ord("b")] + 16 * [0]
    assert [value & 0x3F for value in values[3:7]] == [LINE, 0x23, 0x21, RECEIVED] and values[7:] == kept
    assert device.last.counted("dut") == {"received": len(text), "overruns": 2 if fifos else 1}


def test_interrupts_by_rank(bench: Bench) -> None:
    """Line status, received, transmitter empty, modem; each ended by its own access."""
    device = uart(bench)
    accesses = Accesses().write(0, LCR, EIGHT).write(1, MCR, LOOP).write(2, DATA, 97).write(4 + CHARACTER, DATA, 98).write(500, IER, 0xF).read(501, IIR).read(502, LSR)
    accesses.read(503, IIR).read(504, DATA).read(505, IIR).read(506, IIR).read(507, MSR).read(508, IIR)
    values = device.play(accesses, 600, {"dut.output": "out"})
    assert values[5:] == [LINE, 0x63, RECEIVED, ord("b"), EMPTY, MODEM, 0x0B, NONE]


def test_loop_mode(bench: Bench) -> None:
    """What is sent arrives when it has left, and goes nowhere else."""
    device = uart(bench)
    accesses = Accesses().write(0, LCR, EIGHT).write(1, MCR, LOOP).write(2, DATA, 0x5A)
    accesses.read(1 + CHARACTER, LSR).read(3 + CHARACTER, LSR).read(4 + CHARACTER, DATA).write(5 + CHARACTER, MCR, 0).write(6 + CHARACTER, DATA, 65)
    values = device.play(accesses, 600, {"dut.output": "out"})
    assert values[3:6] == [0x20, 0x61, 0x5A] and (device.last.directory / "out").read_text() == "A"


def test_a_script_types_when_it_has_read(bench: Bench) -> None:
    """From the end of the last character of a text, or from that of what it typed before; a text may be there already."""
    device = uart(bench)
    accesses = Accesses().write(0, LCR, EIGHT).write(1, FCR, 1)
    for k, character in enumerate(b"aab$xy"):
        accesses.write(2 + k, DATA, character)
    script = '# waits\nwait "ab"\nsend "12"\n\nafter 2 us\nsend "3"\nwait "$"\nwait "y"\nafter 10 ns\nsend "\\n\\\\"  \nwait "never"\nsend "z"'
    device.play(accesses, 3000, {"dut.output": "out", "dut.script": "typed"}, typed=script)
    left = [2 + CHARACTER * (k + 1) for k in range(6)]
    first = [left[2] + CHARACTER, left[2] + 2 * CHARACTER]
    third = first[1] + 200 + CHARACTER
    after = max(third, left[5]) + 1 + CHARACTER
    assert device.happened("received") == [(first[0], 49), (first[1], 50), (third, 51), (after, 10), (after + CHARACTER, 92)]


@pytest.mark.parametrize(("line", "why"), WRONG_LINES)
def test_a_script_that_is_wrong(line: str, why: str, bench: Bench) -> None:
    device = uart(bench)
    device.play(Accesses(), 10, {"dut.output": "out", "dut.script": "typed"}, ok=False, typed=f'wait "a"\n{line}\n')
    error = device.last.err.splitlines()
    assert len(error) == 1 and f"typed:2: {why}" in error[0]


@pytest.mark.parametrize(
    ("accesses", "script", "why"),
    [
        (Accesses().write(1, FCR, 1), 'send "a"\nsend "bcdefghijklmnopqr"', 'line 2 (send "bcdefghijklmnopqr"): a character is lost: the program did not read the ones before'),
        (Accesses(), '# one at a time\nsend "ab"', 'line 2 (send "ab"): a character is lost: the program did not read the ones before'),
        (Accesses().write(1, FCR, 1).write(400, FCR, 3), 'send "ab"\nwait "x"', 'line 1 (send "ab"): a character is lost: the program cleared the receiver'),
    ],
)
def test_a_script_that_types_into_nothing(accesses: Accesses, script: str, why: str, bench: Bench) -> None:
    """The error names the step; a receiver that is cleared when all was read is none."""
    device = uart(bench)
    device.play(Accesses().write(0, LCR, EIGHT).write(1, FCR, 1).read(400, DATA).write(500, FCR, 3), 600, {"dut.output": "out", "dut.script": "typed"}, typed='send "a"\nwait "x"')
    device.play(accesses, 5000, {"dut.output": "out", "dut.script": "typed"}, ok=False, typed=script)
    assert f"error: dut: typed, {why} (wait for the text that it prints when it reads)" in device.last.err


@seldom
def test_a_script_that_waits_for_ever(bench: Bench) -> None:
    """Each character that is printed gives it as long again; 0 is without end."""
    device = uart(bench, "instant = true;")
    accesses = Accesses().write(0, LCR, EIGHT).write(1000, DATA, 65).write(2500, DATA, 66)
    files = {"dut.output": "out", "dut.script": "typed", "dut.script_timeout": "20 us"}
    device.play(accesses, 4500, files, typed='wait "C"')  # until 4,501
    device.play(accesses, 5000, files | {"dut.script_timeout": "0 s"}, typed='wait "C"')
    device.play(accesses, 5000, files, ok=False, typed='wait "A"\nwait "C"')
    why = "nothing was printed for 2e-05 s of simulated time (script_timeout waits longer)"
    assert f'error: dut: typed, line 2 (wait "C"): {why}' in device.last.err
    device.play(accesses, 5000, files, typed='wait "B"')


@seldom
def test_a_terminal(bench: Bench) -> None:
    """Or whatever standard input is: characters arrive in order, no closer than they may, and the run says what it is."""
    device = uart(bench, "line_control = 3;")
    command = [device.memory.simulator, "--quiet", "--cycles", "2000", "--set", "dut.terminal=true"]
    done = subprocess.run(command, input="xyz", capture_output=True, text=True)
    assert done.returncode == 0 and "what is typed comes from a terminal: this run is not repeatable" in done.stderr
    came = [tuple(map(int, line.split()[1:])) for line in done.stdout.splitlines() if line.startswith("@received")]
    assert [character for _, character in came] == [*b"xyz"[: len(came)]] and came
    assert all(after[0] - before[0] >= CHARACTER for before, after in zip(came, came[1:], strict=False))


def test_characters_that_take_no_time(bench: Bench) -> None:
    """They leave in the cycle in which they are written, and arrive as long as there is room."""
    device = uart(bench, "instant = true;")
    accesses = Accesses().write(0, LCR, EIGHT).write(1, FCR, 1).write(2, IER, 2)
    accesses.write(10, DATA, 65).write(11, DATA, 66).read(12, LSR)
    for k in range(20):
        accesses.read(200 + k, DATA)
    text = "abcdefghijklmnopqrst"
    values = device.play(accesses, 300, {"dut.output": "out", "dut.script": "typed"}, typed=f'wait "B"\nsend "{text}"')
    assert device.happened("sent") == [(10, 65), (11, 66)] and values[5] == 0x61
    assert [cycle for cycle, _ in device.happened("received")][:16] == list(range(12, 28))
    assert bytes(values[6:]).decode() == text and device.last.stat("dut", "overruns") == 0


def model(steps: list[tuple[str, int, int]]) -> list[int]:
    """What a port in loop mode, whose characters take no time, answers to reads and writes."""
    received: deque[int] = deque()
    enabled, fifos, overrun, empty, answers = 0, 0, False, False, []
    for kind, register, value in steps:
        result = 0
        if kind == "write":
            if register == DATA:
                if len(received) == (16 if fifos else 1):
                    overrun = True
                    if not fifos:
                        received = deque([value])
                else:
                    received.append(value)
                empty = True
            elif register == IER:
                empty |= bool(value & ~enabled & 2)
                enabled = value & 0xF
            elif register == FCR:
                if (value ^ fifos) & 1 or (value & 3) == 3:
                    received.clear()
                fifos = value & 0xC1 if value & 1 else 0
        elif register == DATA:
            result = received.popleft() if received else 0
        elif register == IER:
            result = enabled
        elif register == LSR:
            result, overrun = 0x60 | overrun << 1 | bool(received), False
        elif register == IIR:
            trigger = [1, 4, 8, 14][fifos >> 6] if fifos else 1
            result = LINE if enabled & 4 and overrun else RECEIVED if enabled & 1 and len(received) >= trigger else EMPTY if enabled & 2 and empty else NONE
            empty &= result != EMPTY
            result |= FIFOS if fifos else 0
        answers.append(result)
    return answers


@pytest.mark.parametrize("seed", range(4))
def test_random_accesses(seed: int, bench: Bench) -> None:
    """As the model does, with requests that are cancelled and offered at random (the seed is the test's parameter)."""
    rng = random.Random(seed)
    choices = [("write", DATA)] * 6 + [("read", DATA)] * 4 + [("write", IER), ("write", FCR), ("read", LSR), ("read", IIR), ("read", IIR), ("read", IER)]
    steps = []
    for _ in range(1500):
        kind, register = rng.choice(choices)
        value = rng.choice([1, 1, 0x41, 0x81, 0xC1, 3, 0x83, 0]) if register == FCR else rng.getrandbits(8) & (0xF7 if register == IER else 0xFF)
        steps.append((kind, register, value))
    accesses = Accesses().write(0, LCR, EIGHT).write(0, MCR, LOOP)
    for kind, register, value in steps:
        accesses.read(0, register) if kind == "read" else accesses.write(0, register, value)
    values = device_values(uart(bench, "instant = true;"), accesses, rng)
    # The time-out of the receiver, which is time, is left out
    expected = model(steps)
    wrong = [(k, steps[k], got, want) for k, (got, want) in enumerate(zip(values, expected, strict=True))
             if got != want and got & 0xF != NEGLECTED]  # fmt: skip
    assert not wrong, f"seed {seed}: {wrong[:5]}"


def device_values(device: Registers, accesses: Accesses, rng: random.Random) -> list[int]:
    settings = {"dut.output": "out", "requester[0].offer": rng.choice([0.3, 0.7, 1.0]), "requester[0].cancel": rng.choice([0.0, 0.4])}
    return device.play(accesses, 12000, settings)[2:]


@seldom
def test_an_idle_port_sleeps(bench: Bench) -> None:
    device = uart(bench)
    accesses = Accesses().write(0, LCR, EIGHT).write(1, DATA, 65)
    device.play(accesses, 100 * MOST_CHECKED, {"dut.output": "out", "dut.script": "typed"}, typed='wait "A"\nafter 1 ms\nsend "x"\nwait "B"')
    assert device.happened("received") == [(1 + 100000 + 2 * CHARACTER, ord("x"))]
    # the monitor looks every cycle; the port alone would be stepped for a few cycles
    alone = uart(bench, interrupt=False)
    alone.play(accesses, 100 * MOST_CHECKED, {"dut.output": "out", "dut.script": "typed"}, typed='wait "A"\nafter 1 ms\nsend "x"\nwait "B"')
    assert alone.last.stats["run"]["skipped_cycles"] > 99 * MOST_CHECKED


@pytest.mark.parametrize("cycle", [3, 40, 700, 1500, 2300])
def test_a_checkpoint_in_the_midst(cycle: int, bench: Bench, tmp_path: Path) -> None:
    """The rest is the same, of what is sent, what arrives and what is read; with another script, that begins."""
    device = uart(bench)
    accesses = Accesses().write(0, LCR, EIGHT).write(1, FCR, 0x41).write(2, IER, 3)
    for k in range(10):
        accesses.write(3 + k, DATA, 48 + k)
    for k in range(8):
        accesses.read(1700 + 60 * k, DATA)
    (tmp_path / "script.txt").write_text("\n".join(accesses.lines) + "\n")
    (tmp_path / "typed").write_text('wait "23"\nsend "abcd"\nafter 1 us\nsend "ef"')
    (tmp_path / "other").write_text('send "Z"')
    settings = ["--set", "requester[0].script=script.txt", "--set", "requester[0].outstanding=4", "--set", "dut.script=typed"]

    def run(name: str, *words: str) -> tuple[str, str, list[str]]:
        files = ["--set", f"dut.output={name}.out", "--set", f"line.record={name}.line", "--set", f"requester[0].record={name}.replies"]
        done = subprocess.run([device.memory.simulator, "--quiet", *files, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return (tmp_path / f"{name}.out").read_text(), (tmp_path / f"{name}.line").read_text(), (tmp_path / f"{name}.replies").read_text().splitlines()

    whole = run("whole", *settings, "--cycles", "4000")
    first = run("first", *settings, "--cycles", str(cycle), "--checkpoint", "point")
    rest = run("rest", "--restore", "point", "--cycles", "4000")
    assert whole[0] == first[0] + rest[0] == "0123456789"
    assert whole[1] == first[1] + rest[1] and whole[2] == first[2] + rest[2]
    assert [int(line.split()[-1], 0) for line in whole[2][-8:]] == [*b"abcdef", 0, 0]
    other = run("other", "--restore", "point", "--cycles", "4000", "--set", "dut.script=other")
    assert cycle > 1700 or ord("Z") in [int(line.split()[-1], 0) for line in other[2][-8:]]
    assert other[0] == rest[0]
