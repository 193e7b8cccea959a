"""pci_function: the header as Linux uses it, base addresses, the interrupt's level, the gate of a bus master."""

import random

import pytest

from tests.modules.harness import Bench, collect, happened, read_items, read_monitor
from tests.modules.mips import BundleDevice, request, struct

IDENTITY = "vendor = 0x12ae; device = 1; class_code = 0x020000; revision = 1; subsystem_vendor = 0x1234; subsystem = 0x5678;"
BODY = f"{IDENTITY} bars = [16 KiB, 256 B]; interrupt_bits = 1; masking_bits = 0x40;"
COMMAND, BAR, SECOND, LINE = 0x04, 0x10, 0x14, 0x3C
SUBSYSTEM = 0x56781234
NOBODY = struct(claimed=False, error=False, data=0)


def function(bench: Bench, body: str = BODY) -> BundleDevice:
    ports = {
        "target.request": ("in", 1, "pci_request"), "target.reply": ("out", 1, "pci_reply"),
        "window.request": ("out", 2, "mem_request(64)"), "window.reply": ("in", 2, "mem_reply(64)"),
        "bus.request": ("in", 1, "bus_request"), "bus.write_data": ("in", 1, "bus_beat"), "bus.read_data": ("out", 1, "bus_beat"),
        "master.request": ("out", 1, "bus_request"), "master.write_data": ("out", 1, "bus_beat"), "master.read_data": ("in", 1, "bus_beat"),
        "interrupt": ("in", 1, "uint32"), "intx": ("out", 1, "bool"),
    }  # fmt: skip
    imports = "import pci_types;\nimport bus_types;\nimport memory_types;\n"
    return BundleDevice(bench, "pci_function", ports, body, before=imports, after=collect("dut", "access(offset, value, write)", "device_access(bar, offset, size, value, write)"))


def config(at: int, value: int | None = None, size: int = 4) -> str:
    return struct(configuration=True, write=value is not None, size=size, address=at, data=value or 0)


def memory(at: int, value: int | None = None, size: int = 4) -> str:
    return struct(configuration=False, write=value is not None, size=size, address=at, data=value or 0)


def claimed(data: int = 0) -> str:
    return struct(claimed=True, error=False, data=data)


def play(bench: Bench, asked: list[tuple[int, str]], cycles: int, seed: int = 1, devices: tuple[str, str] = ("", ""), **settings: object) -> list[tuple[int, str]]:
    """The replies to transactions in given cycles, and in which cycles they came."""
    device = function(bench)
    files = {"asked": "".join(f"{cycle} {text}\n" for cycle, text in asked), "device0": devices[0], "device1": devices[1]}
    values: dict[str, object] = {"target_request_source[0].script": "asked", "target_reply_sink[0].record": "seen"}
    for name in "bus_request", "bus_write_data", "master_read_data", "interrupt":
        values[f"{name}_source[0].count"] = 0
    for k in range(2):
        values |= {f"window_reply_source[{k}].script": f"device{k}", f"window_request_sink[{k}].record": f"window{k}"}
    play.last = bench.run(device.simulator, cycles, values | settings, seed=seed, files=files)
    return read_items(play.last.directory / "seen")


def test_the_registers_that_linux_uses(bench: Bench) -> None:
    """Identity, sizing of every base address and of the ROM, the command in the order of a driver, what it tunes; in its sizes."""
    steps = [
        (config(0x00), 0x000112AE), (config(0x0E, size=1), 0), (config(0x08), 0x02000001), (config(0x06, size=2), 0x0280),
        (config(0x34, size=1), 0), (config(0x2C, size=2), 0x1234), (config(0x2E, size=2), 0x5678), (config(0x3D, size=1), 1),
        (config(COMMAND, 0x400, 2), 0), (config(COMMAND, size=2), 0x400), (config(COMMAND, 0, 2), 0), (config(COMMAND, size=2), 0),
        *[step for at, mask in [(0x10, 0xFFFFC000), (0x14, 0xFFFFFF00), (0x18, 0), (0x1C, 0), (0x20, 0), (0x24, 0), (0x30, 0)]
          for step in [(config(at, 0xFFFFFFFF), 0), (config(at), mask), (config(at, 0x1C000000), 0), (config(at), 0x1C000000 & mask)]],
        (config(LINE, 0x13, 1), 0), (config(LINE, size=2), 0x113), (config(COMMAND, 2, 2), 0), (config(COMMAND, 6, 2), 0), (config(COMMAND), 0x02800006),
        (config(0x0C, 0x20, 1), 0), (config(0x0D, 0x40, 1), 0), (config(0x0C), 0x4020), (config(0x00, 5), 0), (config(0x00), 0x000112AE),
        (config(0x08, 0), 0), (config(0x08), 0x02000001), (config(0x40), 0), (config(0xFC), 0), (config(0x100), 0), (config(0x104, 0), 0), (config(COMMAND), 0x02800006),
    ]  # fmt: skip
    replies = play(bench, [(3 * k, text) for k, (text, _) in enumerate(steps)], 3 * len(steps) + 10)
    assert replies == [(3 * k + 1, claimed(data)) for k, (_, data) in enumerate(steps)]
    assert play.last.counted("dut") == {"configurations": len(steps)}
    told = happened(play.last, "access")
    assert [one[1:] for one in told[:9]][-1] == (COMMAND, 0x400, 1) and len(told) == len(steps) - 2


def test_what_is_not_meant_for_it(bench: Bench) -> None:
    """Another function, memory before it is allowed, memory beside its base addresses or beyond their ends."""
    steps = [
        (config(0x1000), NOBODY), (config(0x7000, 5), NOBODY), (config(BAR, 0x10000), claimed()), (memory(0x10000), NOBODY),
        (config(COMMAND, 4, 2), claimed()), (memory(0x10000), NOBODY), (config(COMMAND, 2, 2), claimed()),
        (memory(0x0FFFC), NOBODY), (memory(0x14000), NOBODY), (memory(0x13FFC, size=8), NOBODY), (memory(0x0FFFC, size=8), NOBODY),
    ]  # fmt: skip
    replies = play(bench, [(2 * k, text) for k, (text, _) in enumerate(steps)], 40)
    assert replies == [(2 * k + 1, text) for k, (_, text) in enumerate(steps)]
    assert play.last.counted("dut") == {"configurations": 3}


def test_memory_of_base_addresses(bench: Bench) -> None:
    """The device is asked in the next cycle, at the offset, and its reply is the bus's one cycle later; a device's error as well."""
    setup = [(0, config(BAR, 0x1C000000)), (2, config(SECOND, 0x1C004000)), (4, config(COMMAND, 2))]
    asked = [*setup, (10, memory(0x1C000044, 7)), (20, memory(0x1C0040F8, size=8)), (30, memory(0x1C003FFF, size=1))]
    devices = (f"14 {struct(tag=0, error=False, latency=1, data=0)}\n31 {struct(tag=0, error=True, latency=1, data=0)}\n", f"25 {struct(tag=0, error=False, latency=1, data=0x1122334455667788)}\n")
    replies = play(bench, asked, 50, devices=devices)
    assert replies[3:] == [(15, claimed()), (26, claimed(0x1122334455667788)), (32, struct(claimed=True, error=True, data=0))]
    windows = [read_items(play.last.directory / f"window{k}") for k in range(2)]
    assert windows == [[(11, request("write", 0x44, 4, 7)), (31, request("read", 0x3FFF, 1))], [(21, request("read", 0xF8, 8))]]
    assert play.last.stat("dut", "accesses") == 3
    assert happened(play.last, "device_access") == [(14, 0, 0x44, 4, 7, 1), (25, 1, 0xF8, 8, 0x1122334455667788, 0), (31, 0, 0x3FFF, 1, 0, 0)]


@pytest.mark.parametrize("latency", [0, 5])
def test_the_interrupt_is_a_level(bench: Bench, latency: int) -> None:
    """It comes so many cycles after the one in which it is seen, goes in the next; masked by the device, or by the command register."""
    device, rows = function(bench), ["interrupt | target_request | intx | target_reply"]
    levels = {k: 1 for k in range(2, 30)} | {k: 0x41 for k in range(12, 14)}
    forbid, allow, status = 18, 22, 26
    active = [levels.get(k, 0) == 1 for k in range(40)]
    since = 0
    shown = [False]
    for cycle in range(40):
        since = since + 1 if active[cycle] else 0
        # What is written in a cycle holds from the next one on, as what is seen does.
        shown.append(since > latency and not forbid <= cycle < allow)
    for cycle in range(40):
        asked = {forbid: config(COMMAND, 0x400), allow: config(COMMAND, 0), status: config(6, size=2)}.get(cycle, ".")
        reply = {forbid + 1: claimed(), allow + 1: claimed(), status + 1: claimed(0x0288)}.get(cycle, ".")
        rows.append(f"{levels.get(cycle, 0)} | {asked} | {str(shown[cycle]).lower()} | {reply}")
    settings = {f"{name}_source[0].count": 0 for name in ("bus_request", "bus_write_data", "master_read_data")}
    settings |= {f"window_reply_source[{k}].count": 0 for k in range(2)}
    ran = device.check_table("\n".join(rows), {"dut.interrupt_latency": f"{latency} ns"} | settings)
    assert ran.stat("dut", "interrupts") == 2


def test_what_it_shows_of_the_header(bench: Bench) -> None:
    """From the cycle after a write or an interrupt on, a pending one that is forbidden as well."""
    text = f"""
    import pci_types;
    instance f : pci_function {{ {IDENTITY} bars = []; }};
    instance line : source; instance ask : source; instance told : sink; instance seen : monitor; instance end : sink;
    ask.out -> f.target.request : pci_request; f.target.reply -> told.in; line.out -> f.interrupt; f.value["command"] -> seen.in; seen.out -> end.in;
    """
    files = {"line": "".join(f"{k} 1\n" for k in range(30, 40)), "ask": f"5 {config(COMMAND, 0x402)}\n"}
    ran = bench.run(bench.build(text), 60, {"line.script": "line", "ask.script": "ask", "seen.record": "seen"}, files=files)
    values = [int(line.value or "0", 0) for line in read_monitor(ran.directory / "seen")]
    assert values == [0x02800000] * 6 + [0x02800402] * 25 + [0x02880402] * 10 + [0x02800402] * 19
    assert "register" in bench.refuse(text.replace('"command"', '"comand"'))


def bus_request(address: int) -> str:
    return struct(write=True, address=address, length=16, master=0)


@pytest.mark.parametrize("seed", range(3))
def test_a_master_waits_until_it_is_allowed(bench: Bench, seed: int) -> None:
    """Requests, data both ways, with partners that are ready and offers that are taken back at random; an error is in the status."""
    rng, device = random.Random(seed), function(bench)
    asks = "".join(f"0 {bus_request(16 * k)}\n" for k in range(10))
    beats = [struct(bytes=rng.getrandbits(60), count=8, last=bool(k % 2), error=False) for k in range(30)]
    reads = [struct(bytes=rng.getrandbits(60), count=8, last=True, error=k == 7) for k in range(10)]
    values: dict[str, object] = {"interrupt_source[0].count": 0, "target_request_source[0].script": "asked", "target_reply_sink[0].record": "told"}
    values |= {f"window_reply_source[{k}].count": 0 for k in range(2)}
    for port, lines in {"bus_request": "asks", "bus_write_data": "beats", "master_read_data": "reads"}.items():
        values |= {f"{port}_source[0].script": lines, f"{port}_source[0].offer": 0.6, f"{port}_source[0].cancel": 0.3}
    for port in "master_request", "master_write_data", "bus_read_data":
        values |= {f"{port}_sink[0].ready": 0.5, f"{port}_sink[0].record": port}
    files = {"asks": asks, "beats": "".join(f"0 {b}\n" for b in beats), "reads": "".join(f"0 {b}\n" for b in reads)}
    files["asked"] = f"20 {config(COMMAND, 4)}\n60 {config(COMMAND, 0)}\n200 {config(COMMAND, 4)}\n600 {config(6, size=2)}\n601 {config(6, 0x2000, 2)}\n602 {config(6, size=2)}\n"
    ran = bench.run(device.simulator, 620, values, seed=seed + 1, files=files)
    requests = read_items(ran.directory / "master_request")
    assert [text for _, text in requests] == [bus_request(16 * k) for k in range(10)], f"seed {seed}"
    assert all(21 <= cycle <= 60 or cycle > 200 for cycle, _ in requests)
    assert [text for _, text in read_items(ran.directory / "master_write_data")] == beats
    assert [text for _, text in read_items(ran.directory / "bus_read_data")] == reads
    assert [text for _, text in read_items(ran.directory / "told")][-3:] == [claimed(0x2280), claimed(), claimed(0x0280)]
    assert ran.stat("dut", "aborts") == 1


def test_within_a_cycle_when_allowed(bench: Bench) -> None:
    device = function(bench)
    rows = ["target_request | bus_request | master_request | master_request.ack | bus_request.ack", f"{config(COMMAND, 4)} | . | . | - | -"]
    rows += [f". | {bus_request(16)} | {bus_request(16)} | 1 | 1", ". | . | . | - | -"]
    device.check_table("\n".join(rows), {f"{name}_source[0].count": 0 for name in ("interrupt",)})


REFUSED = [
    ("bars = [24 B];", "a power of two"), ("bars = [8 B];", "at least 16 B"), ("bars = [16 B, 16 B, 16 B, 16 B, 16 B, 16 B, 16 B];", "at most 6 base addresses"),
    ("bars = [16 B];", "a window for each base address: 1, not 0"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "told"), REFUSED)
def test_what_is_no_function_is_refused(bench: Bench, body: str, told: str) -> None:
    text = f"instance f : pci_function {{ vendor = 1; device = 2; {body} }}; instance a : source; instance b : sink; a.out -> f.target.request; f.target.reply -> b.in;"
    assert told in bench.refuse(text)


def test_it_sleeps(bench: Bench) -> None:
    """A machine with a pending interrupt that is far away jumps over the time until then."""
    text = f"""
    instance f : pci_function {{ {IDENTITY} bars = []; }};
    instance line : source; instance seen : monitor; instance end : sink; instance ask : source {{ count = 0; }}; instance told : sink;
    ask.out -> f.target.request; f.target.reply -> told.in; line.out -> f.interrupt; f.intx -> seen.in; seen.out -> end.in;
    """
    ran = bench.run(bench.build(text), 3000, {"line.script": "line", "seen.record": "seen"}, files={"line": "".join(f"{k} 1\n" for k in range(3000))})
    levels = [line.value for line in read_monitor(ran.directory / "seen")]
    assert levels.index("true") == 1001 and set(levels[1001:]) == {"true"}
