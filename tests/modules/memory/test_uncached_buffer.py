"""uncached_buffer: writes that are replied to at once and leave in order, alone or combined; what waits for them."""

import random
from itertools import product

import pytest

from tests.modules.harness import Bench, Bytes, Memory, collect, happened
from tests.sample import sampled, seldom

EVENTS = collect("dut", "combined(address)", "sent(address, size)")


def buffer(bench: Bench, body: str = "", out_width: int = 64, order: str = "little", depth: int = 16) -> Memory:
    big = str(order == "big").lower()
    text = f"""
        instance dut : uncached_buffer {{ {body} out_width = {out_width}; big_endian = {big}; }};
        instance delay : memory_delay {{ width = {out_width}; depth = {depth}; }};
        instance device : memory_state {{ width = {out_width}; size = 1 KiB; big_endian = {big}; }};
        requester[0].memory -> dut.in;
        dut.out -> delay.in;
        delay.out -> device.port;
        """
    return Memory(bench, text + EVENTS, width=32)


def departures(machine: Memory) -> list[tuple[int, int, int]]:
    return happened(machine.last, "sent")


@seldom
def test_writes_are_replied_to_at_once_and_leave_one_in_a_cycle(bench: Bench) -> None:
    machine = buffer(bench)
    script = ["0 write 4 0 1", "1 write 1 7 2", "2 write 2 8 3", "3 write 4 0 4"]
    [replies] = machine.play([script], 40, {"delay.latency": 9}, outstanding=8)
    assert [a.cycle for a in replies] == [0, 1, 2, 3]
    assert departures(machine) == [(1, 0, 4), (2, 7, 1), (3, 8, 2), (4, 0, 4)]
    assert machine.last.counted("dut") == {"writes": 4, "departures": 4}


@seldom
def test_a_full_buffer_takes_nothing(bench: Bench) -> None:
    machine = buffer(bench, "entries = 2;")
    [replies] = machine.play([[f"{k} write 4 {4 * k} {k}" for k in range(6)]], 200, {"delay.refuse": 1.0}, outstanding=8)
    assert [a.cycle for a in replies] == [0, 1] and not departures(machine)
    assert machine.last.counted("dut")["refusals"] > 100


def test_a_read_waits_for_the_replies_to_all_writes(bench: Bench) -> None:
    machine = buffer(bench)
    script = ["0 write 4 0x10 5", "0 write 4 0x14 6", "0 read 4 0x14", "0 write 4 0x14 7", "0 read -2 0x14"]
    [replies] = machine.play([script], 100, {"delay.latency": 5}, outstanding=8)
    assert [(a.cycle, a.data) for a in replies] == [(0, 0), (1, 0), (13, 6), (14, 0), (26, 7)]


def test_barriers_and_atomic_operations_pass_in_order(bench: Bench) -> None:
    machine = buffer(bench)
    script = ["0 write 4 0 5", "0 fetch_add 4 0 2", "0 barrier 1 0", "0 maintain 1 0 12", "0 read 4 0", "0 read 4 0x400"]
    [replies] = machine.play([script], 100, {"delay.latency": 3}, outstanding=8)
    assert [(a.data, a.error) for a in replies] == [(0, False), (5, False), (0, False), (0, False), (7, False), (0, True)]


ALL = "combine = store_combining.all; block = 16; hold = 10;"


def test_a_block_is_gathered_and_leaves_as_few_writes(bench: Bench) -> None:
    machine = buffer(bench, ALL)
    script = [f"{k} write 4 {0x20 + 4 * k} {k + 1}" for k in range(4)] + ["5 write 2 0x42 9", "6 write 1 0x48 8", "7 write 1 0x49 7", "40 read 4 0x48"]
    [replies] = machine.play([script], 60, outstanding=8)
    assert [a.cycle for a in replies[:4]] == [0, 1, 2, 3] and replies[-1].data == 0x708
    assert departures(machine) == [(4, 0x20, 8), (5, 0x28, 8), (17, 0x42, 2), (18, 0x48, 2)]
    assert [address for _, address in happened(machine.last, "combined")] == [0x24, 0x28, 0x2C, 0x48, 0x49]
    assert machine.last.counted("dut") == {"writes": 7, "joined": 5, "departures": 4}


@pytest.mark.parametrize(
    ("next_request", "cycle"),
    [("write 4 0x80 1", 5), ("read 4 0x200", 5), ("barrier 1 0", 5), ("", 10)],
)  # fmt: skip
def test_a_block_ends_when_something_else_comes(bench: Bench, next_request: str, cycle: int) -> None:
    machine = buffer(bench, ALL)
    script = ["0 write 4 0x20 1"] + ([f"5 {next_request}"] if next_request else [])
    machine.play([script], 40, outstanding=8)
    assert departures(machine)[0] == (cycle, 0x20, 4)


def test_what_has_begun_to_leave_is_not_joined(bench: Bench) -> None:
    """Two runs of bytes: the second write to the first of them is a write of its own."""
    machine = buffer(bench, ALL)
    script = ["0 write 1 0x20 1", "1 write 1 0x2f 2", "2 read 4 0x100", "3 write 1 0x2f 3", "30 read 1 0x2f"]
    [replies] = machine.play([script], 60, outstanding=8)
    assert replies[-1].data == 3 and len(departures(machine)) == 3


@seldom
@pytest.mark.parametrize("combine", sampled(["none", "marked", "all"], 3, 1))
def test_only_marked_requests_are_combined(bench: Bench, combine: str) -> None:
    """Of the generated writes every third is not marked."""
    generate = "return (typeof_port(memory_request)){.op = mem_op_write, .size = 4, .combine = index % 3 != 0, .address = (uint32_t)(index * 4), .data = (uint32_t)index};"
    machine = buffer(bench, f"combine = store_combining.{combine}; block = 64;")
    text = machine.text + f"requester[0].generate = <<< {generate} >>>;\n"
    ran = bench.run(bench.build(text), 100, {"requester[0].count": 12, "requester[0].outstanding": 4, "requester[0].interval": 1})
    sent = [(address, size) for _, address, size in happened(ran, "sent")]
    alone = [(4 * k, 4) for k in range(12)]
    paired = [one for k in range(0, 12, 3) for one in ([(4 * k, 4), (4 * k + 4, 4), (4 * k + 8, 4)] if (k + 1) % 2 else [(4 * k, 4), (4 * k + 4, 8)])]
    assert sent == {"none": alone, "marked": paired, "all": [(8 * k, 8) for k in range(6)]}[combine]


def test_an_error_of_a_write_ends_the_run(bench: Bench) -> None:
    """The second of three writes that are on their way together is named."""
    machine = buffer(bench)
    machine.play([["0 write 4 0x10 1", "0 write 4 0x404 1", "0 write 4 0x14 1"]], 60, {"delay.latency": 9}, outstanding=8, ok=False)
    assert "dut: a write failed: nothing responds at address 0x00000404" in machine.last.err


def test_an_error_of_a_write_is_counted(bench: Bench) -> None:
    machine = buffer(bench)
    script = ["0 write 4 0x404 1", "0 write 4 0x408 1", "0 write 4 0x14 7", "0 read 4 0x14"]
    [replies] = machine.play([script], 60, {"dut.on_memory_error": "drop"}, outstanding=8)
    assert [(a.data, a.error) for a in replies] == [(0, False)] * 3 + [(7, False)]
    assert machine.last.counted("dut")["memory_errors"] == 2
    warning = "warning: dut: a write failed: nothing responds at address 0x00000404; it is dropped"
    assert machine.last.err.count("it is dropped") == 1 and warning in machine.last.err, machine.last.err


def test_a_write_that_waits_gets_its_error(bench: Bench) -> None:
    machine = buffer(bench)
    script = ["0 write 4 0x404 1", "0 write 4 0x14 7", "0 read 4 0x14"]
    [replies] = machine.play([script], 60, {"dut.on_memory_error": "bus_error", "delay.latency": 3}, outstanding=8)
    assert [(a.cycle, a.data, a.error) for a in replies] == [(3, 0, True), (7, 0, False), (11, 7, False)]
    assert not machine.last.counted("dut").get("memory_errors")


def test_what_becomes_of_errors_is_one_of_three(bench: Bench) -> None:
    machine = buffer(bench)
    machine.play([[]], 4, {"dut.on_memory_error": "ignore"}, ok=False)
    assert "dut: on_memory_error is end, drop or bus_error, not 'ignore'" in machine.last.err


@seldom
def test_no_more_writes_leave_than_are_remembered(bench: Bench) -> None:
    machine = buffer(bench, depth=128)
    script = [f"0 write 4 {4 * k} {k}" for k in range(80)]
    machine.play([script], 90, {"delay.latency": 100}, outstanding=80)
    assert len(departures(machine)) == 64


def test_a_write_across_a_block_ends_the_run(bench: Bench) -> None:
    machine = buffer(bench, ALL)
    machine.play([["0 write 4 0x1e 1"]], 40, ok=False)
    assert "crosses a block of 16 bytes" in machine.last.err


@pytest.mark.parametrize(
    ("body", "text"),
    [("width = 64; out_width = 32;", "not less than width"), ("block = 24;", "a power of two"), ("block = 4;", "a block must hold at least one write of out_width")],
)  # fmt: skip
def test_impossible_buffers_are_refused(bench: Bench, body: str, text: str) -> None:
    netlist = f"instance dut : uncached_buffer {{ {body} }};\ninstance from : memory_source {{ width = 32; }};\ninstance to : memory_state;\nfrom.memory -> dut.in;\ndut.out -> to.port;"
    assert text in bench.refuse(netlist)


@pytest.mark.parametrize(("order", "combine", "out_width"), sampled(product(("little", "big"), ("none", "all"), (32, 128)), every=8, first=3))
def test_nothing_that_is_read_depends_on_the_buffer(bench: Bench, order: str, combine: str, out_width: int) -> None:
    """Random requests with refusals, jitter and cancelled ones, against plain bytes."""
    machine = buffer(bench, f"combine = store_combining.{combine}; entries = 3; hold = 5;", out_width, order)
    for seed in range(2):
        rng, model, script, expected = random.Random(seed), Bytes(256, order), [], []
        for k in range(400):
            size = rng.choice([1, 2, 4])
            address, value, kind = rng.randrange(0, 256 // size) * size, rng.getrandbits(8 * size), rng.random()
            if kind < 0.7:
                address = address % 64 if rng.random() < 0.7 else address
                model.write(address, size, value)
                script.append(f"{k} write {size} {address} {value:#x} {k}")
                expected.append((k, 0))
            elif kind < 0.75:
                script.append(f"{k} barrier 1 0 0 {k}")
                expected.append((k, 0))
            else:
                script.append(f"{k} read {size} {address} 0 {k}")
                expected.append((k, model.read(address, size)))
        settings = {"delay.jitter": 4, "delay.refuse": 0.3, "requester[0].offer": 0.9, "requester[0].cancel": 0.2}
        [replies] = machine.play([script], 20000, settings, outstanding=4, seed=seed)
        assert [(a.tag, a.data) for a in replies] == expected, f"seed {seed}"
