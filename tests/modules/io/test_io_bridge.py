"""io_bridge: devices by an address map, in the clock of these."""

import random

import pytest

from tests.modules.harness import MOST_CHECKED, Bench, Memory
from tests.sample import sampled

HEAD = """
import register_types;
const MAP = [
  { name = "ram", base = 0, size = 0x10000 },
  { name = "low", base = 0x1f000500, size = 8 },
  { name = "high", base = 0x1f001000, size = 0x800 },
  { name = "last", base = 0xfffff000, size = 0x1000 }
];
clock cpu_clk = 200 MHz;
clock io_clk = 50 MHz;
"""


def bridge(bench: Bench, body: str = "") -> Memory:
    """With memories at three of four places; they reply in the devices' next cycle."""
    text = f"instance dut : io_bridge {{ width = 32; map = MAP; device_clock = io_clk; {body} }};\nrequester[0].memory -> dut.in;\n"
    for key, size in (("last", 0x1000), ("low", 8), ("high", 0x800)):
        text += f"""
            instance {key}_delay : memory_delay on io_clk {{ width = 32; }};
            instance {key} : memory_state on io_clk {{ width = 32; size = {size} B; }};
            dut.out["{key}"] -> {key}_delay.in;
            {key}_delay.out -> {key}.port;
            """
    return Memory(bench, text, width=32, before=HEAD, on="cpu_clk")


def test_each_device_sees_offsets(bench: Bench) -> None:
    """Of whatever order its lane is; what is beside is an error, as is an entry without a lane."""
    machine = bridge(bench)
    script = ["0 write 4 0x1f000504 5", "0 write 4 0x1f001004 6", "0 write 4 0xfffffffc 7", "0 read 4 0x1f000504", "0 read 4 0x1f001004", "0 read 2 0xfffffffe",
              "0 read 4 0xfffffffc", "0 read 4 0x1f000508", "0 read 4 0x1f0004fc", "0 read 4 0", "0 write 4 0x1f001800 1", "0 barrier 1 0"]  # fmt: skip
    [replies] = machine.play([script], 1000)
    assert [(a.data, a.error) for a in replies] == [(0, False)] * 3 + [(5, False), (6, False), (0, False), (7, False)] + [(0, True)] * 4 + [(0, False)]


@pytest.mark.parametrize(("latency", "stages", "cycle"), sampled([(1, 1, 13), (3, 1, 21), (1, 2, 18)], 3, 1))
def test_how_long_an_access_takes(latency: int, stages: int, cycle: int, bench: Bench) -> None:
    """To the next edge of the devices' clock, `latency` of its cycles, one in the device, and back."""
    machine = bridge(bench, f"stages = {stages};")
    [replies] = machine.play([["1 read 4 0x1f001000"]], 100, {"dut.latency": latency})
    assert [a.cycle for a in replies] == [cycle]


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_requests_is_kept(seed: int, bench: Bench) -> None:
    """Whoever refuses, cancels and is late: what is read is what was written before, and replies come in order."""
    rng = random.Random(seed)
    machine = bridge(bench)
    places = [0x1F000500, 0x1F000504, 0x1F001000, 0x1F001100, 0xFFFFF000]
    model, script, expected = dict.fromkeys(places, 0), [], []
    for k in range(300):
        address, value = rng.choice(places), rng.getrandbits(32)
        if rng.random() < 0.5:
            script.append(f"0 write 4 {address:#x} {value:#x} {k}")
            model[address] = value
            expected.append((k, 0))
        else:
            script.append(f"0 read 4 {address:#x} 0 {k}")
            expected.append((k, model[address]))
    settings = {"requester[0].offer": 0.7, "requester[0].cancel": 0.3, "low_delay.refuse": 0.5, "high_delay.latency": 5, "last_delay.jitter": 4}
    [replies] = machine.play([script], 40000, settings, outstanding=4, seed=seed)
    assert [(a.tag, a.data) for a in replies] == expected, f"seed {seed}"


def test_an_idle_bridge_sleeps(bench: Bench) -> None:
    machine = bridge(bench)
    machine.play([["5 read 4 0x1f001000"]], 100 * MOST_CHECKED)
    assert machine.last.stats["run"]["skipped_cycles"] > 99 * MOST_CHECKED


def test_impossible_bridges_are_refused(bench: Bench) -> None:
    text = HEAD + "instance r : memory_source on cpu_clk;\ninstance dut : io_bridge on cpu_clk { map = MAP; device_clock = io_clk; };\ninstance m : memory_state on io_clk { size = 1 KiB; };\nr.memory -> dut.in;\n"
    assert "another" in bench.refuse(text + 'dut.out["another"] -> m.port;\n')
    overlap = text.replace("size = 8 }", "size = 0x1000 }")
    assert "the address map: low and high overlap: an address belongs to one device" in bench.refuse(overlap + 'dut.out["low"] -> m.port;\n')
