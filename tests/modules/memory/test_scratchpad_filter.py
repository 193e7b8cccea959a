"""scratchpad_filter: the address map, one port for several channels, and the order of what leaves the core."""

import random

import pytest

from tests.modules.harness import Bench, Bytes, Memory, collect, happened
from tests.sample import seldom

MAP = "segments = [ { base = 0x8000, size = 0x400, target = filter_target.scratchpad }, { base = 0xc000, size = 0x100, target = filter_target.registers } ];"


def core(bench: Bench, main_lanes: int = 1, registers: bool = True, body: str = MAP, channels: int = 2) -> Memory:
    """Main memory and registers behind delays, the scratchpad at once."""
    text = f"""
instance filter : scratchpad_filter {{ width = 64; {body} }};
instance scratchpad : memory_state {{ size = 1 KiB; base = 0x8000; }};
instance delay[{main_lanes}] : memory_delay;
instance memory : memory_state {{ size = 32 KiB; }};
for (i = 0; i < {channels}; i = i + 1) requester[i].memory -> filter.in;
filter.scratchpad -> scratchpad.port;
for (i = 0; i < {main_lanes}; i = i + 1) {{ filter.main -> delay[i].in; delay[i].out -> memory.port; }}
"""
    if registers:
        text += """
instance register_delay : memory_delay;
instance registers : memory_state { size = 256 B; base = 0xc000; };
filter.registers -> register_delay.in; register_delay.out -> registers.port;
"""
    return Memory(bench, text + collect("filter", "steered(channel, target, address)", "blocked(channel)"), channels)


def test_each_request_goes_where_the_map_says(bench: Bench) -> None:
    script = [
        "0 write 4 0x8010 1",
        "1 read 4 0x8010",
        "2 write 4 0xc010 2",
        "9 read 4 0xc010",
        "20 write 4 0x10 3",
        "30 read 4 0x10",
        "40 read 4 0x8400",
        "50 read 4 0x83fc",
        "51 read 4 0xc0fc",
        "60 read 4 0x7ffc",
    ]
    machine = core(bench)
    _, replies = machine.play([[], script], 80)
    assert [(a.cycle, a.error, a.data) for a in replies] == [
        (0, False, 0),
        (1, False, 1),
        (3, False, 0),
        (10, False, 2),
        (21, False, 0),
        (31, False, 3),
        (41, True, 0),
        (50, False, 0),
        (52, False, 0),
        (61, False, 0),
    ]
    main, scratchpad, registers = range(3)
    goes = [scratchpad, scratchpad, registers, registers, main, main, main, scratchpad, registers, main]
    assert happened(machine.last, "steered") == [(int(line.split()[0]), 1, to, int(line.split()[3], 0)) for line, to in zip(script, goes, strict=True)]


def test_the_higher_channel_has_the_scratchpad_first(bench: Bench) -> None:
    fetch, data = core(bench).play(
        [["0 read 4 0x8000", "1 read 4 0x8004", "2 read 4 0x8008"], ["1 read 4 0x8000", "2 read 4 0x8000"]], 20
    )
    assert [a.cycle for a in data] == [1, 2]
    assert [a.cycle for a in fetch] == [0, 3, 4]


@pytest.mark.parametrize("main_lanes", [1, 2])
def test_what_leaves_the_core_leaves_in_order(bench: Bench, main_lanes: int) -> None:
    """In the cycle in which the higher channel asks for something outside, the lower one does not leave, even to another
    port; scratchpad requests go on."""
    machine = core(bench, main_lanes)
    fetch, data = machine.play([["0 read 4 0x100"], ["0 read 4 0xc000"]], 20)
    assert (data[0].cycle, fetch[0].cycle) == (1, 2)
    fetch, data = machine.play([["0 read 4 0x8000"], ["0 read 4 0x100"]], 20)
    assert (data[0].cycle, fetch[0].cycle) == (1, 0)
    fetch, data = machine.play([["0 read 4 0x100"], ["0 read 4 0x8000"]], 20)
    assert (data[0].cycle, fetch[0].cycle) == (0, 1)


@seldom
def test_three_channels_share_each_port(bench: Bench) -> None:
    """The oldest stage first, on the scratchpad's port as well as outside; who waits is told in each cycle, and each gets its own replies."""
    machine = core(bench, channels=3)
    for base in (0x8000, 0x100, 0xC000):
        script = [[f"0 write 4 {base + 4 * i} {i + 5} {i}", f"10 read 4 {base + 4 * i} 0 {i}"] for i in range(3)]
        replies = machine.play(script, 30)
        late = int(base != 0x8000)
        assert [[(a.cycle, a.tag, a.data) for a in lane] for lane in replies] == [[(2 - i + late, i, 0), (12 - i + late, i, i + 5)] for i in range(3)]
        assert happened(machine.last, "blocked") == [(cycle + k, i) for cycle in (0, 10) for k, i in ((0, 0), (0, 1), (1, 0))]
    # A channel waits for the reply to its own request, too.
    machine.play([[], [], ["0 read 4 0x100 0 1", "1 read 4 0x8000 0 2"]], 30, {"delay[0].latency": 5}, outstanding=4)
    assert happened(machine.last, "blocked") == [(cycle, 2) for cycle in range(1, 6)]


def test_a_refused_higher_channel_still_holds_the_lower(bench: Bench) -> None:
    machine = core(bench)
    settings = {"register_delay.refuse": 0.9}
    fetch, data = machine.play([["0 read 4 0x100"], ["0 read 4 0xc000"]], 200, settings)
    assert data[0].cycle > 1 and fetch[0].cycle == data[0].cycle + 1
    assert happened(machine.last, "blocked") == [(cycle, 0) for cycle in range(data[0].cycle)]
    # Who is refused by main memory is not blocked here.
    _, data = machine.play([[], ["0 read 4 0x100"]], 200, {"delay[0].refuse": 0.9})
    assert data[0].cycle > 1 and not happened(machine.last, "blocked")


def test_a_channel_waits_before_it_goes_elsewhere(bench: Bench) -> None:
    """The reply from main memory comes before that of a later scratchpad request."""
    _, data = core(bench).play(
        [[], ["0 read 4 0x100 0 1", "1 read 4 0x8000 0 2"]], 30, {"delay[0].latency": 5}, outstanding=4
    )
    assert [(a.tag, a.cycle) for a in data] == [(1, 5), (2, 6)]


@seldom
def test_registers_are_main_memory_where_there_are_none(bench: Bench) -> None:
    _, data = core(bench, registers=False).play([[], ["0 read 4 0xc000"]], 10)
    assert [(a.cycle, a.error) for a in data] == [(1, True)]


@seldom
def test_the_map_may_be_a_function(bench: Bench) -> None:
    body = (
        "map = <<< return address >= 0x8000 && address < 0x8400 ? filter_target_scratchpad : filter_target_main; >>>;"
    )
    _, data = core(bench, registers=False, body=body).play([[], ["0 write 4 0x8000 1", "1 read 4 0x8000"]], 10)
    assert [(a.cycle, a.data) for a in data] == [(0, 0), (1, 1)]


@pytest.mark.parametrize("main_lanes", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_random_requests_of_both_channels(bench: Bench, main_lanes: int, seed: int) -> None:
    rng, scripts, expected = random.Random(seed), [], []
    for channel in range(2):
        models = {base: Bytes(64, base=base + 64 * channel) for base in (0x8000, 0xC000, 0)}
        script, right = [], []
        for k in range(120):
            base = rng.choice(list(models))
            size = rng.choice([1, 2, 4, 8])
            address, value = base + 64 * channel + rng.randrange(0, 65 - size), rng.getrandbits(64)
            if rng.random() < 0.5:
                models[base].write(address, size, value)
                script.append(f"{k} write {size} {address} {value:#x} {k}")
                right.append((k, 0))
            else:
                script.append(f"{k} read {size} {address} 0 {k}")
                right.append((k, models[base].read(address, size)))
        scripts.append(script)
        expected.append(right)
    settings: dict[str, object] = {
        "delay[0].jitter": 3,
        "delay[0].refuse": 0.3,
        "register_delay.jitter": 2,
        "register_delay.refuse": 0.3,
    }
    settings |= {
        f"requester[{i}].{name}": 0.3 if name == "cancel" else 0.8 for i in range(2) for name in ("cancel", "offer")
    }
    replies = core(bench, main_lanes).play(scripts, 4000, settings, outstanding=3, seed=seed)
    assert [[(a.tag, a.data) for a in lane] for lane in replies] == expected
