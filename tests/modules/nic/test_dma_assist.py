"""dma_assist: rings of descriptors, direct mode, both directions in one assist, any alignment, separate descriptor memory."""

import re
import struct
from itertools import product

import pytest

from tests.modules.assists import Rig, joined, load, noise, read, store, to_host, write
from tests.modules.harness import Bench, collect, happened, read_replies
from tests.sample import sampled, seldom

NETLIST = """
instance dut : dma_assist { %s
  consumer_offsets = [4, 12]; ring_size = 256 B; state_offset = 20; address_offset = 32; checksum_offset = 40;
  outward_bit = 0x100; advance_bit = 0x20000; advance_offset = 44; advance_round = 8; };
dut.memory -> arbiter.in;
dut.registers -> bank.in["assist"];
dut.bus -> host.bus;
bank.value["r0"] -> dut.producer["high"];
bank.value["r2"] -> dut.producer["low"];
bank.value["r1"] -> dut.consumer["high"];
bank.value["r3"] -> dut.consumer["low"];
bank.value["r4"] -> dut.assist_state;
bank.value["r5"] -> dut.direct_state;
bank.value["r6"] -> dut.direct_host_high;
bank.value["r7"] -> dut.direct_host_low;
bank.value["r8"] -> dut.direct_address;
bank.value["r9"] -> dut.direct_length;
"""


def rig(bench: Bench, body: str = "", extra: str = "") -> Rig:
    return Rig(bench, NETLIST % body + extra, host=True)


def descriptor(host: int, nic: int, length: int, control: int = 4) -> bytes:
    return struct.pack(">QIHHIIII", host, nic, 0, length, control, 0, 0, 0)


def start(ring: int = 0, base: int = 0x1000) -> list[str]:
    """The assist is stopped while a ring's pointers are set."""
    return [write(4, 0), write(2 * ring + 1, base), write(2 * ring, base)]


@pytest.mark.parametrize("burst", sampled([8, 32, 128], 3, 1))
def test_every_alignment_and_length(bench: Bench, burst: int) -> None:
    """Ten transfers in, between bytes that must stay as they are."""
    dut, data = rig(bench, f"burst = {burst};"), noise(4096)
    script = start()
    sizes = [1, 2, 7, 8, 9, 63, 64, 65, 200, 511]
    model = bytearray(b"\xee" * 4096)
    script += store(0x4000, bytes(model))
    at = 3
    for i, size in enumerate(sizes[:7]):
        script += store(0x1000 + 32 * i, descriptor(0x2000 + 5 * i, 0x4000 + at, size))
        model[at : at + size] = data[5 * i : 5 * i + size]
        at += size + i
    script += [write(4, 1), write(0, 0x1000 + 32 * 7)]
    script += load(0x4000, at + 8, 9000)
    replies = dut.run(script, 12000, software=to_host(0x2000, data))
    assert joined(replies, at + 8) == bytes(model[: at + 8])
    assert dut.last.counted("dut") == {"transfers": 7, "bytes": sum(sizes[:7]), "descriptor_reads": 7, "busy": {8: 92, 32: 100, 128: 108}[burst]}


def test_both_directions_and_both_rings(bench: Bench) -> None:
    dut, data = rig(bench), noise(700)
    script = start() + start(1, 0x1800)
    script += store(0x1000, descriptor(0x2001, 0x4000, 700))
    script += store(0x1800, descriptor(0x6003, 0x4000, 700, 0x104))
    script += [write(4, 1), write(0, 0x1020), write(2, 0x1820, 2000), read(1, 4000), read(3, 4000)]
    software = to_host(0x2001, data) + [f"4500 read {min(64, 700 - i)} {0x6003 + i:#x}" for i in range(0, 700, 64)]
    replies = dut.run(script, 6000, software=software)
    seen = read_replies(dut.last.directory / "software.seen")[-11:]
    got = b"".join(a.data.to_bytes(64, "little")[: min(64, 700 - 64 * i)] for i, a in enumerate(seen))
    assert got == data and replies[-2].data == 0x1020 and replies[-1].data == 0x1820


@seldom
def test_the_length_may_be_the_last_field(bench: Bench) -> None:
    body = "at_host_high = -1; at_host_low = 0; at_address = 4; at_control = 8; at_checksum = 12; at_length = 22;"
    dut, data = rig(bench, body), noise(100)
    script = start() + store(0x1000, struct.pack(">IIIIIHHQ", 0x2000, 0x4000, 4, 0, 0, 0, 100, 0))
    script += [write(4, 1), write(0, 0x1020), *load(0x4000, 100, 2000)]
    assert joined(dut.run(script, 3000, software=to_host(0x2000, data)), 100) == data


def test_the_pause_bit_and_the_run_bit(bench: Bench) -> None:
    dut = rig(bench)
    script = [write(1, 0x1000), write(0, 0x1000), *store(0x1000, descriptor(0x2000, 0x4000, 8)), write(0, 0x1020), read(1, 300), write(4, 3), read(1, 600), write(4, 1), read(1, 900)]
    replies = dut.run(script, 1500)
    assert [a.data for a in (replies[-5], replies[-3], replies[-1])] == [0x1000, 0x1000, 0x1020]


def test_direct_mode(bench: Bench) -> None:
    dut, data = rig(bench), noise(100)
    script = [write(7, 0x2000), write(8, 0x4005), write(9, 100), write(5, 0x804), read(5, 600), read(8), read(10), *load(0x4000, 105)]
    replies = dut.run(script, 1500, software=to_host(0x2000, data))
    state, address, checksum = (a.data for a in replies[4:7])
    total = sum(struct.unpack(">50H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    assert state == 0x800 and address == 0x4005 + 100 and checksum == total
    assert joined(replies, 105)[5:] == data


def test_a_direct_transfer_that_fails_says_so_and_rests_the_assist(bench: Bench) -> None:
    """Until software clears the error; the ring goes on then, and direct mode works again."""
    dut, data = rig(bench), noise(32)
    script = [*start(), *store(0x1000, descriptor(0x2000, 0x4000, 16)), write(7, 0x90000000), write(8, 0x4010), write(9, 16), write(5, 4), read(5, 600)]
    script += [write(4, 1), write(0, 0x1020), read(1, 900), write(5, 0), read(1, 1200), *load(0x4010, 16)]
    script += [write(7, 0x2010), write(8, 0x4010), write(5, 4), read(5, 1800), *load(0x4000, 32)]
    replies = dut.run(script, 2500, software=to_host(0x2000, data))
    looks = [a.data for line, a in zip(script, replies, strict=True) if " read 4 " in line]
    assert looks == [0x01000000, 0x1000, 0x1020, 0] and joined(replies[:-7], 16) == bytes(16)
    assert joined(replies, 32) == data
    assert [dut.last.stat("dut", name) for name in ("transfers", "errors", "bus_errors")] == [3, 1, 1]


AT_ZERO = re.sub(r"(state|address|checksum|advance)_offset = \d+", r"\1_offset = 0", NETLIST) % "" + collect("bank", "access(lane, offset, value)") + collect("dut", "done(outward, host, address, length, ring)")


@seldom
def test_a_register_may_be_the_first_of_its_bank(bench: Bench) -> None:
    """All that there is of state, address, checksum and pointer is written to offset 0, in order; then a failed transfer, and one of direct mode."""
    dut, data = Rig(bench, AT_ZERO, host=True), bytes([1, 2, 3, 4])
    script = [*start(1), *store(0x1000, descriptor(0x2000, 0x4000, 4, 0x20804) + descriptor(0x90000000, 0x4008, 4)), write(4, 1), write(2, 0x1040)]
    script += [write(4, 0, 1000), write(5, 0x01000000), write(7, 0x2000), write(8, 0x4010), write(9, 4), write(5, 0x804, 1200), write(5, 0, 2000)]
    dut.run(script, 3000, software=to_host(0x2000, data))
    written = [value for _, lane, offset, value in happened(dut.last, "access") if lane == 1 and offset == 0]
    assert written == [0x0406, 0x4008, 0x01000000, 0x0406, 0x4014, 0x800]
    assert [told[1:] for told in happened(dut.last, "done")] == [(0, 0x2000, 0x4000, 4, 1), (0, 0x90000000, 0x4008, 4, 1), (0, 0x2000, 0x4010, 4, -1)]


PLAIN = """
instance dut : dma_assist { consumer_offsets = [4]; ring_size = 256 B; burst = 64; bus_burst = 128; buffer = 128; };
dut.memory -> arbiter.in;
dut.registers -> bank.in["assist"];
dut.bus -> host.bus;
bank.value["r0"] -> dut.producer["high"];
bank.value["r1"] -> dut.consumer["high"];
bank.value["r5"] -> dut.direct_state;
"""


@seldom
def test_an_assist_with_nothing_but_a_ring(bench: Bench) -> None:
    """No register for state, checksum or a pointer: a failed transfer is repeated at once, checksums are stored in memory, and
    what asks for direct mode asks nobody. The buffer holds one piece of a transfer, so the bus waits for memory."""
    dut, data = Rig(bench, PLAIN, host=True), noise(300)
    script = [write(5, 4)]
    for i, length in enumerate((300, 40)):
        script += store(32 * i, struct.pack(">QIHHIIII", 0x2000, 0x4000 + 512 * i, 0, length, 0x20804, 0x5000 + 8 * i, 0, 0))
    script += [write(0, 0x40, 1000), read(1, 4000), read(5), *load(0x4000, 300), *load(0x4200, 40), *load(0x5000, 16)]
    replies = dut.run(script, 6000, {"host.faults": "read_abort@2"}, software=to_host(0x2000, data))
    assert joined(replies, 16)[:2] != bytes(2) != joined(replies, 16)[8:10]
    assert joined(replies[:-2], 40) == data[:40] and joined(replies[:-7], 300) == data
    assert [a.data for a in replies[-47:-45]] == [0x40, 4]
    assert [dut.last.stat("dut", name) for name in ("transfers", "errors")] == [3, 1]


def test_memory_that_is_not_there_stops_the_run_or_is_counted(bench: Bench) -> None:
    dut = rig(bench)
    script = [*start(base=0x20000), write(4, 1), write(0, 0x20020)]
    ran = bench.run(dut.simulator, 200, {"requester.script": "s"}, files={"s": "\n".join(script)}, ok=False)
    assert "a request to NIC memory failed: nothing responds near address 0x00020000" in ran.err
    ran = bench.run(dut.simulator, 1000, {"requester.script": "s", "dut.on_memory_error": "drop"}, files={"s": "\n".join(script)})
    assert ran.stat("dut", "memory_errors") > 0 and "it is dropped" in ran.err


def turned(data: bytes, host: int) -> bytes:
    """With the bytes of each word turned that lies whole in host memory from `host` on."""
    begin = -host % 4
    end = max(begin, len(data) - (host + len(data)) % 4)
    return data[:begin] + b"".join(data[i : i + 4][::-1] for i in range(begin, end, 4)) + data[end:]


@seldom
def test_words_keep_their_value(bench: Bench) -> None:
    """Of a host of the other byte order, with the bit for that: there and back; without it bytes keep their order."""
    dut, data = rig(bench, "word_value_bit = 2; bus_burst = 20;"), noise(128)
    script = start()
    script += store(0x1000, descriptor(0x2000, 0x4001, 128, 6) + descriptor(0x4000, 0x4001, 128, 0x106) + descriptor(0x4080, 0x4001, 128, 0x104))
    script += [write(4, 1), write(0, 0x1060), *load(0x4001, 128, 3000)]
    software = to_host(0x2000, data) + [f"4000 read 64 {0x4000 + i:#x}" for i in range(0, 256, 64)]
    replies = dut.run(script, 5000, software=software)
    seen = read_replies(dut.last.directory / "software.seen")[-4:]
    got = b"".join(a.data.to_bytes(64, "little") for a in seen)
    assert joined(replies, 128) == turned(data, 0) and got[:128] == data and got[128:] == turned(data, 0)
    assert "warning" not in dut.last.err


@pytest.mark.parametrize("host", [0x2001, 0x2002, 0x2003])
@pytest.mark.parametrize("length", [2, 5, 8, 127, 129])
def test_words_that_are_not_whole_keep_their_bytes_in_order(bench: Bench, host: int, length: int) -> None:
    """Words count from the host's addresses; whoever cuts one is told so, once."""
    dut, data = rig(bench, "word_value_bit = 2; bus_burst = 20;"), noise(256)
    script = start()
    script += store(0x1000, descriptor(host, 0x4001, length, 6) + descriptor(host + 0x2000, 0x4001, length, 0x106))
    script += [write(4, 1), write(0, 0x1040), *load(0x4001, length, 3000)]
    software = to_host(host, data[:length]) + [f"4000 read 64 {0x4000 + i:#x}" for i in range(0, 192, 64)]
    replies = dut.run(script, 5000, software=software)
    seen = read_replies(dut.last.directory / "software.seen")[-3:]
    got = b"".join(a.data.to_bytes(64, "little") for a in seen)
    assert joined(replies, length) == turned(data[:length], host)
    assert got[host % 64 : host % 64 + length] == data[:length]
    assert dut.last.err.count("not whole words") == 1


@seldom
@pytest.mark.parametrize("outstanding", sampled([1, 3], 2, 1))
@pytest.mark.parametrize("faults", ["", "read_abort@2", "read_abort@3", "read_abort@4"])
def test_a_checksum_goes_on_over_transfers(bench: Bench, outstanding: int, faults: str) -> None:
    """From one that begins it; the bytes of a transfer that failed count once, when it is repeated."""
    dut, data = rig(bench, f"checksum_begin_bit = 0x400; outstanding = {outstanding};"), noise(90)
    parts = [(0, 21, 0xC04), (21, 10, 0x4), (21, 30, 0x804), (51, 39, 0x804)]
    script = start()
    for i, (at, length, control) in enumerate(parts):
        script += store(0x1000 + 32 * i, struct.pack(">QIHHIIII", 0x2000 + at, 0x4000 + at, 0, length, control, 0x5000 + 8 * i, 0, 0))
    script += [write(4, 1), write(0, 0x1080), write(5, 0, 1500), *load(0x5000, 32, 3000)]
    replies = dut.run(script, 5000, {"host.faults": faults}, software=to_host(0x2000, data))

    def total(end: int) -> int:
        value = sum(struct.unpack(f">{(end + 1) // 2}H", data[:end] + bytes(end % 2)))
        while value >> 16:
            value = (value & 0xFFFF) + (value >> 16)
        return value

    stored = joined(replies, 32)
    assert [int.from_bytes(stored[8 * i : 8 * i + 2], "big") for i in range(4)] == [total(21), 0, total(51), total(90)]
    assert dut.last.stat("dut", "errors") == bool(faults)


@seldom
@pytest.mark.parametrize("outstanding", sampled([1, 3], 2, 1))
def test_a_failed_transfer_rests_the_assist(bench: Bench, outstanding: int) -> None:
    """Nothing of it, nor of what follows it, reaches a register; software moves the consumer past it, and clears the error."""
    seen = collect("dut", "begun(address)", "done(address)", "dropped(ring)")
    dut, data = rig(bench, f"outstanding = {outstanding};", seen), noise(24)
    script = start()
    for i, host in enumerate([0x2000, 0x90000000, 0x2008, 0x2010]):
        script += store(0x1000 + 32 * i, descriptor(host, 0x4000 + 8 * i, 8, 0x20004))
    script += [write(4, 1), write(0, 0x1080), read(5, 900), read(1), read(11), write(1, 0x1040), write(5, 0), read(1, 1800), *load(0x4000, 32)]
    replies = dut.run(script, 3000, software=to_host(0x2000, data))
    state, consumer, advanced, *_, after = (a.data for a in replies[-10:-4])
    assert state & 0x7F000000 and consumer == 0x1020 and advanced == 0x4008 and after == 0x1080
    assert joined(replies, 32) == data[:8] + bytes(8) + data[8:]
    assert dut.last.stat("dut", "errors") == 1 and dut.last.stat("dut", "transfers") == 4
    # What was begun behind it is dropped, and begins again.
    begun, done = ([address for _, address in happened(dut.last, name)] for name in ("begun", "done"))
    behind = [0x4010] if outstanding > 1 else []
    assert done == [0x4000, 0x4008, 0x4010, 0x4018] and begun == [0x4000, 0x4008, *behind, 0x4010, 0x4018]
    assert len(happened(dut.last, "dropped")) == len(behind)


@pytest.mark.parametrize(("direction", "outstanding"), sampled(product(("inward", "outward"), (1, 2, 4)), every=6, first=4))
def test_failed_transfers_are_repeated_and_nothing_overtakes_them(bench: Bench, direction: str, outstanding: int) -> None:
    """Every fourth bus transfer fails, by chance. Software clears the error at once, while what was taken behind the failed transfer is still on its way: every descriptor is
    carried out, each once, and what a later one brings is never there before what an earlier one brings."""
    inward = direction == "inward"
    dut = rig(bench, f"outstanding = {outstanding}; burst = 64; direction = assist_direction.{direction};")
    data, sizes = noise(7 * 200, outstanding), [200, 8, 150, 64, 33, 200, 9]
    script = start() + ([] if inward else store(0x4000, data))
    for i, size in enumerate(sizes):
        script += store(0x1000 + 32 * i, descriptor(0x2000 + 200 * i, 0x4000 + 200 * i, size, 0x20004))
    first = len(script) + 2
    script += [write(4, 1, 6000), write(0, 0x1000 + 32 * 7)] + [line for k in range(500) for line in (read(1, 6005 + 8 * k), write(5, 0))]
    kind = "read_parity" if inward else "write_abort"
    looks = [f"{6000 + 2 * k} read 8 {0x2000 + 200 * i:#x} 0 {i}" for k, i in enumerate([5, 4] * 900)] if not inward else []
    software = to_host(0x2000, data) if inward else looks
    script += load(0x4000, 1400, 11000) if inward else []
    ends = [f"12000 read 64 {0x2000 + k:#x} 0 99" for k in range(0, 1400, 64)]
    replies = dut.run(script, 14000, {"host.faults": f"{kind}%25"}, software=[*software, *([] if inward else ends)])
    consumers = [a.data for a in replies[first : first + 1000 : 2]]
    assert consumers[-1] == 0x1000 + 32 * 7 and sorted(consumers) == consumers
    got = joined(replies, 1400) if inward else b"".join(a.data.to_bytes(64, "little") for a in read_replies(dut.last.directory / "software.seen")[-22:])[:1400]
    assert [got[200 * i : 200 * i + size] for i, size in enumerate(sizes)] == [data[200 * i : 200 * i + size] for i, size in enumerate(sizes)]
    assert dut.last.stat("dut", "errors") > 1 and dut.last.stat("dut", "transfers") == 7 + dut.last.stat("dut", "errors")
    if not inward:
        # Transfer 5 is never seen in host memory before transfer 4 is.
        seen = [(a.tag, a.data) for a in read_replies(dut.last.directory / "software.seen")[: len(looks)]]
        both = list(zip(seen[::2], seen[1::2]))
        assert all(before for (_, after), (_, before) in both if after) and any(before and not after for (_, after), (_, before) in both)
    injected = dut.last.stat("host", "read_parity" if inward else "write_aborts")
    assert dut.last.stat("dut", "bus_errors") == injected


def test_a_failed_write_is_seen(bench: Bench) -> None:
    dut = rig(bench)
    script = start() + store(0x1000, descriptor(0x90000000, 0x4000, 8, 0x104)) + [write(4, 1), write(0, 0x1020), read(5, 600), read(1)]
    replies = dut.run(script, 1000)
    assert replies[-2].data & 0x7F000000 and replies[-1].data == 0x1000


@pytest.mark.parametrize("outstanding", sampled([1, 2], 2, 1))
def test_nothing_is_sent_behind_a_write_that_may_have_failed(bench: Bench, outstanding: int) -> None:
    """On a slow bus, of three transfers the first and then the second fails: two bus transfers more, and no data that go nowhere."""
    dut = rig(bench, f"outstanding = {outstanding}; burst = 64; direction = assist_direction.outward;")
    script = [*start(), *store(0x4000, noise(48))]
    for i in range(3):
        script += store(0x1000 + 32 * i, descriptor(0x2000 + 16 * i, 0x4000 + 16 * i, 16))
    script += [write(4, 1), write(0, 0x1060), write(5, 0, 1000), write(5, 0, 2000), read(1, 3000)]
    replies = dut.run(script, 4000, {"host.faults": "write_abort@1,write_abort@3", "host.overhead": "3000 percent"}, ["3500 read 48 0x2000"])
    assert replies[-1].data == 0x1060
    assert read_replies(dut.last.directory / "software.seen")[0].data.to_bytes(48, "little") == noise(48)
    assert [dut.last.stat("host", name) for name in ("writes", "write_aborts")] == [5, 2] and dut.last.stat("dut", "transfers") == 5


def wrapping(bench: Bench, width: int, body: str) -> Rig:
    """An assist with a circular buffer, whose port has the width; register 12 is the buffer's start."""
    netlist = NETLIST % f"width = {width}; {body}" + 'bank.value["r12"] -> dut.wrap_base["buffer"];\n'
    if width != 64:
        adapter = f"instance adapter : memory_width {{ from = {width}; to = 64; big_endian = true; held = 16; }};\nadapter.out -> arbiter.in;\n"
        netlist = adapter + netlist.replace("dut.memory -> arbiter.in;", "dut.memory -> adapter.in;")
    return Rig(bench, netlist, host=True)


BUFFERS = ['bank.value["r12"] -> dut.wrap_base["ring"];', 'bank.value["r13"] -> dut.wrap_base["pool"];', 'bank.value["r14"] -> dut.wrap_limit["pool"];']


@seldom
@pytest.mark.parametrize("order", [pytest.param((0, 1, 2), marks=pytest.mark.soak), (2, 1, 0)], ids=["forth", "back"])
def test_circular_buffers_are_known_by_name(bench: Bench, order: tuple[int, ...]) -> None:
    """One ends where a register says, the other at wrap_end, whichever is connected first."""
    dut, data = rig(bench, "wrap_end = 0x5400;", "\n".join(BUFFERS[i] for i in order)), noise(32)
    script = [write(12, 0x5000), write(13, 0x4000), write(14, 0x4400), *start()]
    script += store(0x1000, descriptor(0x2000, 0x43F8, 16)) + store(0x1020, descriptor(0x2010, 0x53F8, 16))
    script += [write(4, 1), write(0, 0x1040)]
    for at in (0x43F8, 0x4000, 0x53F8, 0x5000):
        script += load(at, 8, 2000)
    assert joined(dut.run(script, 3000, software=to_host(0x2000, data)), 32) == data


def test_an_end_belongs_to_a_circular_buffer(bench: Bench) -> None:
    limit = "import assist_types; instance dut : dma_assist { consumer_offsets = [0]; }; instance s : source;"
    assert "error[unknown-key]: `dut` has no circular buffer `pool`" in bench.refuse(f'{limit} s.out -> dut.wrap_limit["pool"] : uint32;')


@seldom
@pytest.mark.parametrize(("direction", "width", "outstanding"), sampled(((d, *s) for d, s in product(("inward", "outward"), ((64, 4), (128, 1), (128, 4)))), every=6, first=2))
def test_transfers_overlap_and_end_in_order(bench: Bench, width: int, outstanding: int, direction: str) -> None:
    """Every size and alignment, through a circular buffer, with and without checksum; the bytes between stay as they are."""
    body = f"outstanding = {outstanding}; burst = 64; direction = assist_direction.{direction}; wrap_end = 0x4400;"
    dut = wrapping(bench, width, body)
    sizes = [1, 7, 8, 9, 15, 16, 17, 42, 130, 3, 200]
    inward, data = direction == "inward", noise(2048, width + outstanding)
    script, at = [write(12, 0x4000), *start()], 0x4381
    there, host = bytearray(0x400), bytearray(0x400)
    software = to_host(0x2000, data[:1024]) if inward else []
    if not inward:
        script += store(0x4000, data[:1024])
    near = 0
    for i, size in enumerate(sizes[:7]):
        script += store(0x1000 + 32 * i, descriptor(0x2000 + near, at, size, 0x20804 if i % 3 == 2 else 0x20004)[:20] + struct.pack(">III", 0x6000 + 2 * i, 0, 0))
        for k in range(size):
            nic, out = (at - 0x4000 + k) % 0x400, near + k
            if inward:
                there[nic] = data[out]
            else:
                host[out] = data[nic]
        at = 0x4000 + (at - 0x4000 + size + 5) % 0x400
        near += size + 3
    script += [write(4, 1), write(0, 0x1000 + 32 * 7), read(1, 4000), read(11), *load(0x4000, 0x400)]
    software += [f"3500 read {64} {0x2000 + i:#x}" for i in range(0, 192, 64)]
    replies = dut.run(script, 12000, software=software)
    assert replies[-130].data == 0x1000 + 32 * 7
    if inward:
        assert joined(replies, 0x400) == bytes(there)
    else:
        seen = read_replies(dut.last.directory / "software.seen")[-3:]
        assert b"".join(a.data.to_bytes(64, "little") for a in seen) == bytes(host[:192])


@seldom
def test_the_bus_and_memory_work_on_different_transfers(bench: Bench) -> None:
    """With bursts of a whole frame, a transfer takes bus and memory one after the other; two at once take the longer of both."""
    ends = []
    for outstanding in (1, 2):
        dut = rig(bench, f"outstanding = {outstanding}; burst = 512; buffer = 2048;")
        script = start()
        for i in range(6):
            script += store(0x1000 + 32 * i, descriptor(0x2000, 0x4000 + 512 * i, 512))
        script += [write(4, 1, 2000), write(0, 0x10C0)]
        script += [read(1, 2000 + 20 * k) for k in range(1, 130)]
        replies = dut.run(script, 8000)
        ends.append(next(a.cycle for a in replies if a.cycle > 2010 and a.data == 0x10C0) - 2000)
    assert ends[1] < 0.8 * ends[0]


@seldom
def test_descriptors_in_a_memory_of_their_own(bench: Bench) -> None:
    extra = """
    instance apart : memory_state { size = 64 KiB; big_endian = true; };
    instance writer : memory_source;
    dut.descriptor_memory -> apart.port;
    writer.memory -> apart.port;
    """ + collect("apart", "access(lane, address)")
    dut, data = rig(bench, extra=extra), noise(64)
    lines = "".join(line + "\n" for line in store(0x1000, descriptor(0x2000, 0x4000, 64)))
    script = [*start(), write(4, 1), write(0, 0x1020, 200), *load(0x4000, 64, 800)]
    replies = dut.run(script, 2000, {"writer.script": "writer"}, to_host(0x2000, data), {"writer": lines})
    assert joined(replies, 64) == data
    assert [address for _, lane, address in happened(dut.last, "access") if lane == 0] == [0x1000, 0x1008, 0x1010]


LAYOUTS = [
    ("buffer = 100;", "buffer must be a power of two"),
    ("bus_burst = 0;", "bus_burst must be 8 to 4096, not 0"),
    ("advance_round = 3;", "advance_round must be a power of two"),
    ("descriptor_size = 24 B;", "descriptor_size must be 8, 16, 32 or 64 B, not 24 B"),
    ("ring_size = 100 B;", "ring_size must be a power of two that holds at least two descriptors, not 100 B"),
    ("ring_size = 32 B;", "ring_size must be a power of two that holds at least two descriptors, not 32 B"),
    ("at_control = 100;", "at_control = 100 is outside a descriptor of 32 B"),
    ("at_host_high = 30;", "at_host_high = 30 is outside a descriptor of 32 B"),
    ("at_length = -2;", "at_length = -2 is outside a descriptor of 32 B"),
]


@pytest.mark.parametrize(("body", "words"), LAYOUTS)
def test_parameters_that_cannot_work_are_refused(bench: Bench, body: str, words: str) -> None:
    ring = 'instance s[2] : source; s[0].out -> dut.producer["high"] : uint32; s[1].out -> dut.consumer["high"];'
    assert words in bench.refuse(f"import assist_types; instance dut : dma_assist {{ consumer_offsets = [0]; {body} }}; {ring}")
