"""host: memory, transfers of bus masters in exact time, window requests, interrupts."""

import re
from dataclasses import dataclass

import pytest

from tests.modules.harness import Bench, collect, happened, read_items, read_monitor, read_replies
from tests.sample import seldom

NETLIST = """
import bus_types;
import memory_types;
clock clk = 100 MHz;
instance dut : host_bus { memory_size = 64 KiB; interrupt_bits = 1; masking_bits = 0x40; };
instance software : memory_source { width = 512; };
instance window : memory_source;
instance device : memory_state { size = 4 KiB; };
instance ask[2] : source;
instance give[2] : source;
instance got[2] : sink;
instance line : source;
instance irq : monitor;
instance end : sink;
software.memory -> dut.memory;
window.memory -> dut.window;
dut.device -> device.port;
for (i = 0; i < 2; i = i + 1) {
  ask[i].out -> dut.bus[i].request : bus_request;
  give[i].out -> dut.bus[i].write_data : bus_beat;
  dut.bus[i].read_data -> got[i].in : bus_beat;
}
line.out -> dut.interrupt : uint32;
dut.interrupting -> irq.in;
irq.out -> end.in;
"""


@dataclass
class Run:
    got: list[list[tuple[int, str]]]
    software: list
    window: list
    irq: list


def run(bench: Bench, cycles: int = 400, software: str = "", window: str = "", ask: tuple = ("", ""), give: tuple = ("", ""), line: str = "", **settings: object) -> Run:
    simulator = bench.build(NETLIST)
    files = {"software": software, "window": window, "line": line}
    values: dict[str, object] = {"software.script": "software", "software.record": "s", "window.script": "window", "window.record": "w", "line.script": "line", "irq.record": "irq"}
    for i in range(2):
        files |= {f"ask{i}": ask[i], f"give{i}": give[i]}
        values |= {f"ask[{i}].script": f"ask{i}", f"give[{i}].script": f"give{i}", f"got[{i}].record": f"got{i}"}
    ran = bench.run(simulator, cycles, values | {f"dut.{k}": v for k, v in settings.items()}, files=files)
    there = ran.directory
    result = Run([read_items(there / f"got{i}") for i in range(2)], read_replies(there / "s"), read_replies(there / "w"), read_monitor(there / "irq"))
    result.stats = ran  # type: ignore[attr-defined]
    return result


def request(address: int, length: int, write: int = 0) -> str:
    return f"{{write={write} address={address} length={length}}}"


def test_software_reads_what_it_wrote(bench: Bench) -> None:
    lines = "0 write 64 0x103 0x" + "ab" * 64 + "\n2 read 3 0x102\n4 read 8 0xfffe\n"
    seen = run(bench, software=lines).software
    assert seen[1].data == 0xABAB00 and seen[2].error


def test_what_memory_cannot_do_for_software_is_an_error(bench: Bench) -> None:
    """Its last bytes are there, what goes beyond is not, nor is arithmetic; a barrier is nothing to be done."""
    lines = "0 write 4 0xfffc 7\n1 fetch_add 4 0xfffc 1\n2 read 4 0xfffd\n3 read 4 0x10000\n4 barrier 4 0x20000\n5 read 4 0xfffc\n"
    assert [(a.error, a.data) for a in run(bench, software=lines).software] == [(False, 0), (True, 0), (True, 0), (True, 0), (False, 0), (False, 7)]


def test_a_transfer_of_no_bytes_ends_the_run(bench: Bench) -> None:
    simulator, files = bench.build(NETLIST), {"asked": f"3 {request(0x1000, 0)}"}
    ran = bench.run(simulator, 20, {"ask[1].script": "asked", "ask[0].count": 0}, files=files, ok=False)
    assert "device 1 requests a bus transfer of no bytes" in ran.err


@seldom
def test_memory_ends_at_its_base_too(bench: Bench) -> None:
    """A request that begins below the memory and reaches into it."""
    simulator = bench.build("""
instance dut : host_bus { memory_size = 4 KiB; memory_base = 0x1000; };
instance software : memory_source { width = 512; };
software.memory -> dut.memory;
""")
    script = "0 write 4 0x1000 5\n2 read 4 0x1000\n4 read 4 0xffe\n6 write 4 0xffe 0\n8 read 4 0x1000\n10 read 4 0x1ffe\n"
    ran = bench.run(simulator, 20, {"software.script": "s", "software.record": "seen"}, files={"s": script})
    seen = [(a.error, a.data) for a in read_replies(ran.directory / "seen")]
    assert seen == [(False, 0), (False, 5), (True, 0), (True, 0), (False, 5), (True, 0)]


@pytest.mark.parametrize(("overhead", "cycles"), [(0.0, 1.0), (0.3, 1.3)])
def test_a_transfer_takes_its_words_and_the_overhead(bench: Bench, overhead: float, cycles: float) -> None:
    """64 words of 8 bytes at 66 MHz: 0.97 us and what the overhead adds; the module's clock is 100 MHz."""
    told = run(bench, ask=(f"0 {request(0x1000, 512)} once\n", ""), overhead=f"{100 * overhead} percent")
    beats = told.got[0]
    assert len(beats) == 64
    took = beats[-1][0] * 10
    expected = 64 / 0.066 * cycles
    assert expected - 10 <= took <= expected + 25
    assert told.stats.counted("dut") == {"reads": 1, "read_bytes": 512, "busy": int(expected)}


def test_an_unaligned_transfer_takes_one_word_more(bench: Bench) -> None:
    aligned = run(bench, ask=(f"0 {request(0x1000, 64)} once\n", "")).got[0][-1][0]
    shifted = run(bench, ask=(f"0 {request(0x1003, 64)} once\n", "")).got[0][-1][0]
    assert 1 <= shifted - aligned <= 3


def test_devices_share_the_bus_in_turns(bench: Bench) -> None:
    asks = tuple("".join(f"0 {request(0x1000 * (i + 1), 64)}\n" for _ in range(3)) for i in range(2))
    told = run(bench, ask=asks, cycles=600)
    ends = [[cycle for cycle, text in lane if "last=true" in text or "last=1" in text] for lane in told.got]
    assert len(ends[0]) == len(ends[1]) == 3
    assert sorted(ends[0] + ends[1]) == [end for pair in zip(ends[0], ends[1], strict=True) for end in pair]


def test_a_device_writes_and_software_finds_it(bench: Bench) -> None:
    beats = "0 {bytes=0x0807060504030201 count=8}\n0 {bytes=0x0b0a09 count=3 last=1}\n"
    told = run(bench, ask=(f"0 {request(0x1005, 11, 1)} once\n", ""), give=(beats, ""), software="200 read 11 0x1005\n")
    assert told.software[0].data.to_bytes(11, "little") == bytes(range(1, 12))
    assert told.stats.counted("dut") == {"writes": 1, "written_bytes": 11, "busy": 39}  # two words and 30 %


@pytest.mark.parametrize("sizes", [(3, 8, 5, 8, 8, 8), (8, 8, 8, 7, 8, 1), (1, 1, 6, 8, 8, 8, 8)])
def test_beats_of_a_write_may_be_of_any_size(sizes: tuple[int, ...], bench: Bench) -> None:
    """Not only the last; what is in a beat beyond its bytes is nothing."""
    beats, at = "", 1
    for k, size in enumerate(sizes):
        content = bytes(range(at, at + size)) + b"\xff" * (8 - size)
        beats += f"0 {{bytes={int.from_bytes(content, 'little'):#x} count={size} last={int(k + 1 == len(sizes))}}}\n"
        at += size
    told = run(bench, ask=(f"0 {request(0x1000, 40, 1)} once\n", ""), give=(beats, ""), software="".join(f"300 read 8 {0x1000 + 8 * k}\n" for k in range(6)))
    assert b"".join(one.data.to_bytes(8, "little") for one in told.software) == bytes(range(1, 41)) + bytes(8)


def test_memory_that_is_not_there_fails_the_transfer(bench: Bench) -> None:
    told = run(bench, ask=(f"0 {request(0x10000, 16)} once\n", f"0 {request(0x20000, 8, 1)} once\n"), give=("", "0 {bytes=1 count=8 last=1}\n"))
    assert "error=true" in told.got[0][-1][1] or "error=1" in told.got[0][-1][1]
    assert "error=true" in told.got[1][-1][1] or "error=1" in told.got[1][-1][1]


# A bus of 33 MHz and words of 4 bytes, memory from 0x10000 on, the highest lane first.
NARROW = NETLIST.replace("memory_size = 64 KiB;", "memory_size = 4 KiB; memory_base = 0x10000; bus_frequency = 33 MHz; bus_width = 4 B; policy = <<< return highest(requests); >>>;") + collect("dut", "transfer(lane, write, address, length)")


@seldom
def test_every_beat_moves_in_the_first_cycle_in_which_the_bus_has_carried_it(bench: Bench) -> None:
    """Two reads that the second device asks for while the first one's is on the bus, one behind the other at the end of memory; then a write."""
    asks = (f"0 {request(0x10003, 21)}\n0 {request(0x10FF1, 16)}\n", f"3 {request(0x10FF0, 16)}\n3 {request(0x10008, 8, 1)}\n")
    values = {"dut.overhead": "50 percent", "dut.read_latency": "200 ns", "window.count": 0, "line.count": 0, "software.script": "s", "software.record": "seen"}
    for i in range(2):
        values |= {f"ask[{i}].script": f"ask{i}", f"give[{i}].script": f"give{i}", f"got[{i}].record": f"got{i}"}
    files = {"ask0": asks[0], "ask1": asks[1], "give0": "", "give1": "0 {bytes=0x1122334455667788 count=8 last=1}\n"}
    files["s"] = f"0 write 32 0x10000 0x{bytes(range(1, 33))[::-1].hex()}\n1 write 16 0x10ff0 0x{bytes(range(33, 49))[::-1].hex()}\n400 read 8 0x10008\n"
    ran = bench.run(bench.build(NARROW), 500, values, files=files)
    word, latency = round(1e6 / 33 * 1.5), 200_000  # ps

    def carried(start: int, first: int, length: int) -> tuple[list[int], int]:
        """The cycles of a read's beats, and when the bus is free again."""
        ends = [start + latency + word * -(-(first % 4 + min(moved, length)) // 4) for moved in range(8, length + 8, 8)]
        return [-(-end // 10_000) for end in ends], ends[-1]

    first, free = carried(0, 3, 21)
    second, free = carried(free, 0, 16)
    free += 2 * word  # the write of the same device, whose data are there
    third, free = carried(free, 1, 16)
    beats = [[(cycle, dict(word.split("=") for word in text.strip("{}").split())) for cycle, text in read_items(ran.directory / f"got{i}")] for i in range(2)]
    assert [[cycle for cycle, _ in lane] for lane in beats] == [first + third, second]
    data = [b"".join(int(b["bytes"], 0).to_bytes(8, "little")[: int(b["count"], 0)] for _, b in lane) for lane in beats]
    assert data[0][:21] == bytes(range(4, 25)) and data[1] == bytes(range(33, 49))
    assert [b["error"] in ("1", "true") for b in (beats[0][2][1], beats[0][-1][1], beats[1][-1][1])] == [False, True, False]
    assert read_replies(ran.directory / "seen")[-1].data == 0x1122334455667788
    assert [told[1:] for told in happened(ran, "transfer")] == [(0, 0, 0x10003, 21), (1, 0, 0x10FF0, 16), (1, 1, 0x10008, 8), (0, 0, 0x10FF1, 16)]
    words = [6, 4, 2, 5]
    assert ran.counted("dut") == {"reads": 3, "writes": 1, "read_bytes": 53, "written_bytes": 8, "busy": sum(n * word // 1000 for n in words) + 600}


READ_KINDS = {"read_abort": 0, "read_parity": 0x1111111111111110}
WRITE_KINDS = {"write_abort": [1, 2], "write_parity": [1, 4]}


@pytest.mark.parametrize("kind", READ_KINDS)
def test_a_read_that_fails_says_so(bench: Bench, kind: str) -> None:
    """The second read of three: an abort brings no data, a parity error a wrong bit; both end with an error, the others do not."""
    asks = "".join(f"{40 * k} {request(0x100 * k, 16)}\n" for k in range(3))
    fill = "".join(f"0 write 16 {0x100 * k:#x} 0x{'11' * 16}\n" for k in range(3))
    seen = run(bench, software=fill, ask=("", asks), faults=f"write_abort/1,{kind}@2")
    beats = [dict(word.split("=") for word in text.strip("{}").split()) for _, text in seen.got[1]]
    assert [int(b["bytes"], 0) for b in beats[2:4]] == [READ_KINDS[kind], READ_KINDS[kind] and 0x1111111111111111]
    assert [b["error"] in ("1", "true") for b in beats] == [False, False, False, True, False, False]
    assert seen.stats.stat("dut", "read_aborts" if kind == "read_abort" else kind) == 1


@pytest.mark.parametrize("kind", WRITE_KINDS)
def test_a_write_that_fails_says_so(bench: Bench, kind: str) -> None:
    asks = "".join(f"{40 * k} {request(0x200, 16, 1)}\n" for k in range(2))
    gives = "".join(f"{40 * (k // 2)} {{bytes={k + 1} count=8 last={k % 2} error=0}}\n" for k in range(4))
    seen = run(bench, software="200 read 8 0x200\n201 read 8 0x208\n", ask=("", asks), give=("", gives), faults=f"read_parity/1,{kind}/2")
    assert [a.data for a in seen.software] == WRITE_KINDS[kind]
    assert [text for _, text in seen.got[1]] and len(seen.got[1]) == 1 and 40 < seen.got[1][0][0] < 60
    assert seen.stats.stat("dut", "write_aborts" if kind == "write_abort" else kind) == 1


def test_the_error_of_a_write_does_not_hide_what_is_read_next(bench: Bench) -> None:
    """The read is there in the cycle of the error: four bus words before it, and half a cycle more, and one word of its own."""
    gives = "".join(f"0 {{bytes={k + 1} count=8 last={k // 3}}}\n" for k in range(4))
    asks = f"0 {request(0x200, 32, 1)}\n0 {request(0x208, 8)}\n"
    seen = run(bench, ask=("", asks), give=("", gives), faults="write_parity@1", overhead="0 percent")
    beats = [(cycle, dict(word.split("=") for word in text.strip("{}").split())) for cycle, text in seen.got[1]]
    assert [(b["error"] in ("1", "true"), int(b["bytes"], 0)) for _, b in beats] == [(True, 0), (False, 2)]
    assert beats[1][0] == beats[0][0] + 1


def test_a_device_that_is_late_holds_the_bus(bench: Bench) -> None:
    """The second of three beats comes 100 cycles later: so does the transfer of another that waits, and all arrives."""
    asks, lanes = (f"0 {request(0x200, 24, 1)} once\n", f"5 {request(0x300, 8)} once\n"), []
    for late in (0, 100):
        gives = f"0 {{bytes=1 count=8}}\n{late} {{bytes=2 count=8}}\n{late} {{bytes=3 count=8 last=1}}\n"
        seen = run(bench, software="300 read 24 0x200\n", ask=asks, give=(gives, ""))
        assert seen.software[0].data == 1 | 2 << 64 | 3 << 128
        lanes.append(seen.got[1][0][0])
    assert 94 <= lanes[1] - lanes[0] <= 98


def test_rules_that_make_no_sense_are_refused(bench: Bench) -> None:
    ran = bench.run(bench.build(NETLIST), 10, {"dut.faults": "read_abort@1,abort@2"}, ok=False)
    assert "faults: 'abort@2' is not a rule; rules are KIND@N, KIND/N or KIND%P" in ran.err


def test_transfers_fail_by_chance(bench: Bench) -> None:
    asks = "".join(f"0 {request(8 * k, 8)}\n" for k in range(200))
    counts = [run(bench, 2000, ask=("", asks), faults="read_abort%20").stats.stat("dut", "read_aborts") for _ in range(2)]
    assert counts[0] == counts[1] and 20 <= counts[0] <= 60


def test_window_requests_cross_the_bus(bench: Bench) -> None:
    told = run(bench, window="0 write 4 0x10 0x1234\n0 read 4 0x10\n")
    assert told.window[1].data == 0x1234 and told.window[0].cycle >= 2
    assert told.stats.counted("dut") == {"window_requests": 2, "busy": 2 * 19}


def test_a_window_request_waits_for_the_bus(bench: Bench) -> None:
    """Behind a transfer of 512 bytes, and before the one that waits as well."""
    asks = f"0 {request(0x1000, 512)}\n0 {request(0x2000, 512)}\n"
    told = run(bench, ask=(asks, ""), window="10 read 4 0x10\n")
    ends = [cycle for cycle, text in told.got[0] if re.search("last=(1|true)", text)]
    assert ends[0] < told.window[0].cycle < ends[0] + 6 and 126 <= ends[1] - ends[0] - 2 <= 130


def test_a_window_request_waits_for_its_reply(bench: Bench) -> None:
    """A device that replies some cycles later: the reply is its, and software has it as much later."""
    seen = []
    simulator = bench.build("""
instance dut : host_bus { memory_size = 64 KiB; };
instance window : memory_source;
instance device : memory_state { size = 4 KiB; };
window.memory -> dut.window;
instance delay : memory_delay;
dut.device -> delay.in;
delay.out -> device.port;
""")
    script = "0 write 4 0x10 0x1234 1\n50 read 4 0x10 0 2\n100 write 4 0x10 5 3\n150 read 4 0x10 0 4\n"
    for latency in (1, 8):
        ran = bench.run(simulator, 300, {"delay.latency": latency, "window.script": "w", "window.record": "seen"}, files={"w": script})
        seen.append(read_replies(ran.directory / "seen"))
    assert [a.data for a in seen[0]][1::2] == [a.data for a in seen[1]][1::2] == [0x1234, 5]
    assert [a.cycle for a in seen[1]] == [a.cycle + 7 for a in seen[0]]


def test_interrupts_come_late_and_can_be_masked(bench: Bench) -> None:
    line = "".join(f"{cycle} {1 if 20 <= cycle < 200 else 0x41 if cycle >= 300 else 0} once\n" for cycle in range(500))
    told = run(bench, cycles=500, line=line, interrupt_latency="500 ns")
    edges = [b.cycle for a, b in zip(told.irq, told.irq[1:]) if a.value != b.value]
    assert len(edges) == 2 and 70 <= edges[0] <= 73 and 200 <= edges[1] <= 203
    assert told.stats.counted("dut") == {"interrupts": 1}


def test_a_port_of_no_whole_bytes_is_refused(bench: Bench) -> None:
    text = "instance s : memory_source { width = 12; }; instance h : host_bus { cpu_width = 12; }; s.memory -> h.memory;"
    assert "cpu_width must be a multiple of 8, not 12" in bench.refuse(text)
