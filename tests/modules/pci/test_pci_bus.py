"""pci_bus: transfers in exact time, faults by plan, processors' transactions to targets, partners that are not always ready."""

import random

import pytest

from tests.modules.harness import Bench, collect, happened, read_items, read_replies
from tests.modules.mips import struct
from tests.sample import sampled, seldom

# Memory is a host whose own bus takes next to no time.
NETLIST = (
    """
import bus_types;
import pci_types;
import memory_types;
clock clk = 100 MHz;
instance dut : pci_bus { devices = [1, 7]; BODY };
instance host : host_bus { memory_size = 4 KiB; memory_base = 0x10000; bus_frequency = 2 GHz; };
instance software : memory_source { width = 512; };
software.memory -> host.memory;
instance request_gate : monitor; instance write_gate : monitor; instance read_gate : monitor;
dut.memory.request -> request_gate.in; request_gate.out -> host.bus.request;
dut.memory.write_data -> write_gate.in; write_gate.out -> host.bus.write_data;
host.bus.read_data -> read_gate.in; read_gate.out -> dut.memory.read_data;
instance ask[2] : source;
instance give[2] : source;
instance got_gate[2] : monitor; instance got[2] : sink;
instance card[2] : pci_function { vendor = 0x12ae; bars = [256 B]; interrupt_latency = 0 ns; };
card[0].device = 1;
card[1].device = 2;
instance space[2] : memory_state { size = 256 B; };
instance processor : source;
instance told : sink;
processor.out -> dut.initiator.request : pci_request;
dut.initiator.reply -> told.in;
for (i = 0; i < 2; i = i + 1) {
  ask[i].out -> dut.master[i].request : bus_request;
  give[i].out -> dut.master[i].write_data : bus_beat;
  dut.master[i].read_data -> got_gate[i].in; got_gate[i].out -> got[i].in : bus_beat;
  dut.target -> card[i].target;
  card[i].window -> space[i].port;
}
"""
    + collect("dut", "transfer(lane, write, address, length)")
)
NARROW = NETLIST.replace("BODY", "bus_frequency = 33 MHz; bus_width = 4 B; policy = <<< return highest(requests); >>>;")
SLOW = NETLIST.replace("BODY", "bus_frequency = 66 MHz; bus_width = 8 B;").replace("bus_frequency = 2 GHz", "bus_frequency = 30 MHz")
WIDE = NETLIST.replace("BODY", "bus_frequency = 66 MHz; bus_width = 8 B;")


def request(address: int, length: int, write: int = 0) -> str:
    return f"{{write={write} address={address} length={length}}}"


def fields(text: str) -> dict[str, str]:
    return dict(word.split("=") for word in text.strip("{}").split())


class Run:
    def __init__(self, bench: Bench, text: str, cycles: int, ask: tuple[str, str] = ("", ""), give: tuple[str, str] = ("", ""), software: str = "", processor: str = "", seed: int = 1, **settings: object) -> None:
        files = {"software": software, "processor": processor}
        values: dict[str, object] = {"software.script": "software", "software.record": "seen", "processor.script": "processor", "told.record": "told"}
        for i in range(2):
            files |= {f"ask{i}": ask[i], f"give{i}": give[i]}
            values |= {f"ask[{i}].script": f"ask{i}", f"give[{i}].script": f"give{i}", f"got[{i}].record": f"got{i}"}
        self.ran = bench.run(bench.build(text), cycles, values | settings, files=files, seed=seed)
        assert [self.ran.stat(f"got_gate[{i}]", "cancels") for i in range(2)] == [0, 0], "what reaches a master is committed"
        there = self.ran.directory
        self.got = [[(cycle, fields(item)) for cycle, item in read_items(there / f"got{i}")] for i in range(2)]
        assert all(int(beat["count"], 0) or beat["error"] == "true" for lane in self.got for _, beat in lane), "a beat without bytes tells of an error"
        self.software = read_replies(there / "seen")
        self.told = read_items(there / "told")

    def data(self, lane: int) -> bytes:
        return b"".join(int(beat["bytes"], 0).to_bytes(8, "little")[: int(beat["count"], 0)] for _, beat in self.got[lane])

    def errors(self, lane: int) -> list[bool]:
        return [beat["error"] in ("1", "true") for _, beat in self.got[lane]]


@seldom
def test_every_beat_moves_in_the_first_cycle_in_which_the_bus_has_carried_it(bench: Bench) -> None:
    """As on the bus of a host: reads of two masters, one asked for while another is on the bus, with a latency, then a write."""
    asks = (f"0 {request(0x10003, 21)}\n0 {request(0x10FE1, 16)}\n", f"3 {request(0x10FF0, 16)}\n3 {request(0x10008, 8, 1)}\n")
    fill = f"0 write 32 0x10000 0x{bytes(range(1, 33))[::-1].hex()}\n1 write 16 0x10ff0 0x{bytes(range(33, 49))[::-1].hex()}\n400 read 8 0x10008\n"
    run = Run(bench, NARROW, 500, asks, ("", "0 {bytes=0x1122334455667788 count=8 last=1}\n"), fill, **{"dut.overhead": "50 percent", "dut.read_latency": "200 ns"})
    word, latency = round(1e6 / 33 * 1.5), 200_000  # ps

    def carried(start: int, first: int, length: int) -> tuple[list[int], int]:
        """The cycles of a read's beats, and when the bus is free again."""
        ends = [start + latency + word * -(-(first % 4 + min(moved, length)) // 4) for moved in range(8, length + 8, 8)]
        return [-(-end // 10_000) for end in ends], ends[-1]

    first, free = carried(0, 3, 21)
    second, free = carried(free, 0, 16)
    free += 2 * word  # the write of the same master, whose data are there
    third, free = carried(free, 1, 16)
    assert [[cycle for cycle, _ in lane] for lane in run.got] == [first + third, second]
    assert run.data(0)[:21] == bytes(range(4, 25)) and run.data(1) == bytes(range(33, 49))
    assert run.software[-1].data == 0x1122334455667788 and not any(run.errors(0) + run.errors(1))
    assert [told[1:] for told in happened(run.ran, "transfer")] == [(0, 0, 0x10003, 21), (1, 0, 0x10FF0, 16), (1, 1, 0x10008, 8), (0, 0, 0x10FE1, 16)]
    busy = sum(n * word // 1000 for n in [6, 4, 2, 5]) + 600
    assert run.ran.counted("dut") == {"reads": 3, "writes": 1, "read_bytes": 53, "written_bytes": 8, "busy": busy}


@seldom
@pytest.mark.parametrize("rate", ["0 b/s", "30 MB/s", "400 MB/s", "10 GB/s"])
def test_bytes_of_masters_come_no_faster_than_the_rate(bench: Bench, rate: str) -> None:
    """A beat moves when the bus has carried its words and its bytes have come at the rate, whichever is later; a transfer begins where the one
    before ends. The bus is busy with the words alone."""
    asks = (f"0 {request(0x10003, 21)}\n0 {request(0x10100, 64)}\n", f"3 {request(0x10200, 40)}\n")
    run = Run(bench, WIDE, 1500, asks, **{"dut.pci_rate": rate, "dut.overhead": "0 percent", "dut.read_latency": "100 ns"})
    word, byte = round(1e6 / 66), {"0": 0, "30": 33_333, "400": 2500, "10": 100}[rate.split()[0]]  # ps
    assert byte != 2500 or 8 * byte > word, "a rate somewhat below that of the bus"

    def carried(start: int, first: int, length: int) -> tuple[list[int], int]:
        moved = [min(n, length) for n in range(8, length + 8, 8)]
        ends = [start + 100_000 + max(word * -(-(first % 8 + bytes_) // 8), byte * bytes_) for bytes_ in moved]
        return [-(-end // 10_000) for end in ends], ends[-1]

    first, free = carried(0, 3, 21)
    second, free = carried(free, 0, 40)
    third, free = carried(free, 0, 64)
    assert [[cycle for cycle, _ in lane] for lane in run.got] == [first + third, second]
    assert run.ran.stat("dut", "busy") == sum(n * word // 1000 for n in (3, 5, 8)) + 300


@pytest.mark.parametrize(("rate", "told"), [("-1 b/s", "-1 b/s is outside its range, at least 0 b/s"), ("30", "rate"), ("30 MHz", "rate")])
def test_a_rate_that_is_none_is_refused(bench: Bench, rate: str, told: str) -> None:
    ran = bench.run(bench.build(WIDE), 10, {"dut.pci_rate": rate}, ok=False)
    assert "pci_rate" in ran.err and told in ran.err and len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(("kind", "data"), [("read_abort", 0), ("read_parity", 0x1111111111111110)])
def test_a_read_that_fails_says_so(bench: Bench, kind: str, data: int) -> None:
    asks = "".join(f"{60 * k} {request(0x10000 + 0x100 * k, 16)}\n" for k in range(3))
    fill = "".join(f"0 write 16 {0x10000 + 0x100 * k:#x} 0x{'11' * 16}\n" for k in range(3))
    run = Run(bench, WIDE, 400, ("", asks), software=fill, **{"dut.faults": f"write_abort/1,{kind}@2"})
    assert [int(beat["bytes"], 0) for _, beat in run.got[1]][2:4] == [data, data and 0x1111111111111111]
    assert run.errors(1) == [False, False, False, True, False, False]
    assert run.ran.stat("dut", "read_aborts" if kind == "read_abort" else kind) == 1


@pytest.mark.parametrize(("kind", "left"), [("write_abort", [1, 2]), ("write_parity", [1, 4])])
def test_a_write_that_fails_says_so(bench: Bench, kind: str, left: list[int]) -> None:
    asks = "".join(f"{60 * k} {request(0x10200, 16, 1)}\n" for k in range(2))
    gives = "".join(f"{60 * (k // 2)} {{bytes={k + 1} count=8 last={k % 2} error=0}}\n" for k in range(4))
    run = Run(bench, WIDE, 400, ("", asks), ("", gives), "300 read 8 0x10200\n301 read 8 0x10208\n", **{"dut.faults": f"{kind}/2"})
    assert [a.data for a in run.software] == left and run.errors(1) == [True]
    assert run.ran.stat("dut", "write_aborts" if kind == "write_abort" else kind) == 1


def test_the_error_of_a_write_does_not_hide_what_is_read_next(bench: Bench) -> None:
    asks = f"0 {request(0x10200, 16, 1)}\n0 {request(0x10200, 24)}\n"
    gives = "".join(f"0 {{bytes={k + 1} count=8 last={k % 2}}}\n" for k in range(2))
    run = Run(bench, WIDE, 400, ("", asks), ("", gives), **{"dut.faults": "write_parity@1", "dut.overhead": "0 percent"})
    assert [int(beat["bytes"], 0) for _, beat in run.got[1]] == [0, 0, 2, 0] and run.errors(1) == [True, False, False, False]


def test_rules_that_make_no_sense_are_refused(bench: Bench) -> None:
    ran = bench.run(bench.build(WIDE), 10, {"dut.faults": "read_abort@1,abort@2"}, ok=False)
    assert "faults: 'abort@2' is not a rule; rules are KIND@N, KIND/N or KIND%P" in ran.err


def config(device: int, at: int, value: int | None = None, size: int = 4) -> str:
    return struct(configuration=True, write=value is not None, size=size, address=device << 15 | at, data=value or 0)


def memory(at: int, value: int | None = None, size: int = 4) -> str:
    return struct(configuration=False, write=value is not None, size=size, address=at, data=value or 0)


def reply(data: int = 0, claimed: bool = True) -> str:
    return struct(claimed=claimed, error=not claimed, data=data if claimed else 2**64 - 1)


def test_transactions_reach_their_targets(bench: Bench) -> None:
    """Each device by its number in configuration space, by its base address in memory space; nobody: an error and all ones."""
    steps = [
        (config(1, 0), reply(0x000112AE)), (config(7, 0), reply(0x000212AE)), (config(2, 0), reply(claimed=False)), (config(7, 0x1000), reply(claimed=False)),
        (config(1, 0x10, 0x1000), reply()), (config(7, 0x10, 0x2000), reply()), (memory(0x1004), reply(claimed=False)),
        (config(1, 4, 2), reply()), (config(7, 4, 2), reply()), (memory(0x1004, 0x11), reply()), (memory(0x2004, 0x22), reply()),
        (memory(0x1004), reply(0x11)), (memory(0x2004, size=8), reply(0x22)), (memory(0x3000), reply(claimed=False)),
    ]  # fmt: skip
    run = Run(bench, WIDE, 10 * len(steps) + 20, processor="".join(f"{10 * k} {text}\n" for k, (text, _) in enumerate(steps)))
    assert [text for _, text in run.told] == [text for _, text in steps]
    # A word of 19.7 ns from cycle 10k on is over in cycle 10k + 1; the targets are asked in the next one, a header replies in one more, the processor has it in another.
    assert [cycle for cycle, _ in run.told[:6]] == [10 * k + 4 for k in range(2)] + [23] + [10 * k + 4 for k in range(3, 6)]
    word = int(1e9 / 66e6 * 1.3)
    assert run.ran.counted("dut") == {"transactions": len(steps), "unclaimed": 4, "busy": len(steps) * word}


def test_a_run_may_end_in_every_cycle_of_a_transaction(bench: Bench) -> None:
    """What it is to have conserved holds while targets are still to be asked, too."""
    assert [len(Run(bench, WIDE, cycles, processor=f"0 {config(1, 0)}\n").told) for cycles in range(1, 7)] == [0, 0, 0, 0, 1, 1]


def test_a_transaction_waits_for_the_bus_and_goes_before_transfers(bench: Bench) -> None:
    asks = f"0 {request(0x10000, 512)}\n0 {request(0x10200, 512)}\n"
    run = Run(bench, WIDE, 400, (asks, ""), processor=f"10 {config(1, 0)}\n")
    ends = [cycle for cycle, beat in run.got[0] if beat["last"] in ("1", "true")]
    assert ends[0] < run.told[0][0] < ends[0] + 7 and 126 <= ends[1] - ends[0] - 2 <= 132


@pytest.mark.parametrize("rate", ["30 MB/s", "200 MB/s"])
def test_a_transaction_goes_between_the_beats_of_a_slow_transfer(bench: Bench, rate: str) -> None:
    """It does not wait for the transfer, which ends as late as without it, or later by no more than the transactions took."""
    settings: dict[str, object] = {"dut.pci_rate": rate, "dut.overhead": "0 percent"}
    asks = (f"0 {request(0x10000, 512)}\n", "")
    scripts = ["", *("".join(f"{every * k} {config(1, 0)}\n" for k in range(1, 9)) for every in (12, 15, 20))]
    alone, *among = (Run(bench, WIDE, 4000, asks, processor=script, **settings) for script in scripts)
    ends = alone.got[0][-1][0]
    for run in among:
        assert len(run.told) == 8 and run.data(0) == alone.data(0)
        assert ends <= run.got[0][-1][0] <= ends + 8 * 3 + 1
        assert max(cycle for cycle, _ in run.told) < ends


@pytest.mark.parametrize("seed", sampled(range(4), 4))
def test_random_transfers(bench: Bench, seed: int) -> None:
    """Two masters in halves of memory of their own, which give and take as they like, a memory that is slower than the bus, or not, and a
    processor: everything arrives."""
    rng = random.Random(seed)
    contents, asks, gives, wanted = bytearray(rng.randbytes(4096)), ["", ""], ["", ""], [b"", b""]
    start = bytes(contents)
    for lane in range(2):
        for _ in range(30):
            length, write = rng.choice([1, 7, 8, 16, 61, 128]), rng.random() < 0.5
            at = 2048 * lane + rng.randrange(2048 - length)
            asks[lane] += f"0 {request(0x10000 + at, length, int(write))}\n"
            if not write:
                wanted[lane] += bytes(contents[at : at + length])
                continue
            data = rng.randbytes(length)
            contents[at : at + length] = data
            for k in range(0, length, 8):
                part = data[k : k + 8]
                gives[lane] += f"0 {{bytes={int.from_bytes(part, 'little')} count={len(part)} last={int(k + 8 >= length)}}}\n"
    processor = "".join(f"{350 * k} {config(rng.choice([1, 7]), 0)}\n" for k in range(20))
    software = "".join(f"{k} write 64 {0x10000 + 64 * k} {int.from_bytes(start[64 * k : 64 * k + 64], 'little'):#x}\n" for k in range(64))
    software += "".join(f"7900 read 64 {0x10000 + 64 * k}\n" for k in range(64))
    asks = ["".join(line.replace("0 {", "100 {", 1) + "\n" for line in lane.splitlines()) for lane in asks]
    values: dict[str, object] = {"software.outstanding": 64}
    for i in range(2):
        values |= {"dut.pci_rate": ("0 b/s", "100 MB/s")[seed // 2], f"ask[{i}].offer": 0.2, f"ask[{i}].cancel": 0.3, f"give[{i}].offer": 0.4, f"give[{i}].cancel": 0.3, f"got[{i}].ready": 0.7}
    run = Run(bench, (WIDE, SLOW)[seed % 2], 8100, tuple(asks), tuple(gives), software, processor, seed + 1, **values)
    assert [run.data(lane) for lane in range(2)] == wanted, f"seed {seed}"
    assert b"".join(reply.data.to_bytes(64, "little") for reply in run.software[64:]) == bytes(contents), f"seed {seed}"
    assert len(run.told) == 20 and not any(run.errors(0) + run.errors(1))


REFUSED = [("bus_width = 2 B;", "4 or 8 B wide, not 2 B"), ("devices = [1];", "devices must have a number for each of the 0 targets, not 1")]


@pytest.mark.parametrize(("body", "told"), REFUSED)
def test_what_is_no_bus_is_refused(bench: Bench, body: str, told: str) -> None:
    assert told in bench.refuse(f"instance b : pci_bus {{ {body} }};")
