"""The register contract of the Tigon-2: memory map, registers, MAC, interrupts, seen by a scripted processor."""

import random
import struct
from pathlib import Path

from harness.net import packets
from tests.modules.harness import Bench, read_monitor
from tests.sample import seldom
from tests.tigon2.chip import (
    BUFFER_END,
    K1,
    READ_RING,
    RX_BASE,
    RX_RING,
    TX_BASE,
    TX_RING,
    WRITE_RING,
    Chip,
    join,
)  # fmt: skip

LANES = "0 write 4 0x40 0x20"  # the host's window on SRAM has words in their places


def noise(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def frame(size: int, seed: int = 1) -> bytes:
    return bytes.fromhex("020000000001020000000002") + noise(size - 12, seed)


def pcap(frames: list[bytes]) -> bytes:
    """A packet file with stamps a millisecond apart."""
    data = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    for i, one in enumerate(frames):
        data += struct.pack("<IIII", 0, i * 1000000, len(one), len(one)) + one
    return data


# ---- Memory ------------------------------------------------------------------------------------------------------
def test_memory_repeats_modulo_its_size(chip: Chip) -> None:
    script = chip.script(setup=False)
    script.write(0x40010, 0x12345678)
    near, far, other = script.read(0x140010), script.read(0x740010), script.read(0x740010 + 0x80000)
    [replies, *_] = chip.run(script)
    assert [replies[p].data for p in (near, far, other)] == [0x12345678, 0x12345678, 0]


def test_addresses_below_the_scratchpad_are_memory_less_an_offset(chip: Chip) -> None:
    script = chip.script(setup=False)
    script.write("stack_offset_a", 0xBFF000 - K1)
    script.write(0xBFF008, 0xCAFE)
    place = script.read(K1 + 8)
    [replies, *_] = chip.run(script)
    assert replies[place].data == 0xCAFE


def test_an_address_of_nothing_is_an_error(chip: Chip) -> None:
    script = chip.script(setup=False)
    for address in 0xC0000400, 0xD00000, 0x800000, 0xBEFFFC, 0xBF0000:
        script.read(address)
    [replies, *_] = chip.run(script)
    assert [reply.error for reply in replies] == [True, True, True, True, False]


def test_data_ports(chip: Chip) -> None:
    script = chip.script(setup=False)
    script.write("sram_address_a", 0x1234)
    script.write("sram_data_a", 0xABCD0123)
    script.write("window_base", 0x1234)
    places = [script.read(0x1234), script.read("sram_data_a"), script.read("window_data")]
    [replies, *_] = chip.run(script)
    assert [replies[p].data for p in places] == [0xABCD0123] * 3


# ---- Registers -----------------------------------------------------------------------------------------------------
@seldom
def test_semaphores_of_two_processors(bench: Bench, root: Path) -> None:
    """In the same cycle A wins; the holder's write releases, another's does nothing."""
    chip = Chip(bench, root, requesters=2)
    a, b = chip.script(setup=False), chip.script(setup=False)
    for script in a, b:
        script.at(10)
        script.write("semaphore_a", 1)
        script.at(20)
        script.read("semaphore_a")
    b.at(30)
    b.write("semaphore_a", 1)
    a.at(40)
    a.read("semaphore_a")
    a.write("semaphore_a", 1)
    b.at(60)
    b.write("semaphore_a", 1)
    b.read("semaphore_a")
    one, two, *_ = chip.run(a, b)
    assert [x.data for x in one if x.data] == [1, 1] and two[1].data == 0 and two[-1].data == 1


def test_ring_pointers_keep_low_bits_and_read_back_as_addresses(chip: Chip) -> None:
    script = chip.script()
    script.write("assist_state", 0)
    script.write("mac_tx_state", 0)
    wanted = {}
    for name, base, size, value in [
        ("dma_read_producer", READ_RING, 0x800, 0x40), ("dma_read_reference", READ_RING, 0x800, READ_RING + 0x7E0),
        ("dma_write_consumer", WRITE_RING, 0x800, 0x20), ("mac_rx_consumer", RX_RING, 0x1000, RX_RING + 0xFF8),
        ("mac_tx_producer", TX_RING, 0x800, TX_RING + 0x800),
    ]:  # fmt: skip
        script.write(name, value)
        wanted[script.read(name)] = base + (value & (size - 1))
    [replies, *_] = chip.run(script)
    assert {place: replies[place].data for place in wanted} == wanted


def test_next_free_or_zero(chip: Chip) -> None:
    script = chip.script()
    script.write("assist_state", 0)
    script.write("mac_tx_state", 0)
    got = []
    for producer, consumer, reference in [(0, 0, 0), (0x7E0, 0, 0), (0x20, 0x40, 0), (0x20, 0x60, 0x40), (0x20, 0x60, 0x60)]:
        for name, value in ("producer", producer), ("consumer", consumer), ("reference", reference):
            script.write(f"dma_read_{name}", value)
        got.append(script.read("dma_read_free"))
    script.write("mac_tx_producer", 0x7F8)
    full = script.read("mac_tx_free")
    script.write("mac_tx_consumer", 8)
    free = script.read("mac_tx_free")
    [replies, *_] = chip.run(script)
    assert [replies[p].data for p in got] == [READ_RING, 0, 0, 0, READ_RING + 0x20]
    assert replies[full].data == 0 and replies[free].data == TX_RING + 0x7F8


def test_the_completion_event_over_a_whole_ring(chip: Chip) -> None:
    """Event 15 while the consumer has passed the reference: (producer - consumer) < (producer - reference), modulo the ring."""
    script = chip.script()
    script.write("assist_state", 0)
    expected = {}
    rng = random.Random(7)
    for _ in range(150):
        producer, consumer, reference = (rng.randrange(64) * 32 for _ in range(3))
        for name, value in ("producer", producer), ("consumer", consumer), ("reference", reference):
            script.write(f"dma_read_{name}", value)
        passed = (producer - consumer) % 0x800 < (producer - reference) % 0x800
        expected[script.read("event_a")] = passed << 15
    [replies, *_] = chip.run(script, cycles=20000)
    assert {place: replies[place].data & 1 << 15 for place in expected} == expected


def test_event_bits_of_hardware_cannot_be_written(chip: Chip) -> None:
    script = chip.script()
    script.write("timer_compare_a", 1000)
    script.write("event_a", 0xFFFFFFFF)
    read = script.read("event_a")
    [replies, *_] = chip.run(script)
    assert replies[read].data == 0xFFFFFFFF & ~0x1658C040


def test_the_timer_event_is_a_level(chip: Chip) -> None:
    script = chip.script(setup=False)
    script.write("timer", 0xFFFFFFFE)
    script.write("timer_compare_a", 3)
    early = script.read("event_a")
    script.at(700)
    late = script.read("event_a")
    script.write("timer_compare_a", 1000)
    later = script.read("event_a")
    time = script.read("timer")
    [replies, *_] = chip.run(script)
    assert [replies[p].data >> 28 & 1 for p in (early, late, later)] == [0, 1, 0]
    assert replies[time].data == 4 + 1


def test_mailboxes_raise_events_and_are_in_memory(chip: Chip) -> None:
    script = chip.script(setup=False)
    script.at(500)
    event, mailbox, word = script.read("mailbox_event_a"), script.read("event_a"), script.read(0x114)
    script.write("mailbox_event_a", 4)
    cleared, quiet = script.read("mailbox_event_a"), script.read("event_a")
    [replies, *_] = chip.run(script, window=[LANES, "0 write 4 0x514 0x77", "0 write 4 0x510 0x78"])
    assert replies[event].data == 4 and replies[mailbox].data >> 22 & 1 == 1 and replies[word].data == 0x77
    assert replies[cleared].data == 0 and replies[quiet].data >> 22 & 1 == 0


def test_the_host_sees_registers_and_memory_through_its_window(chip: Chip) -> None:
    script = chip.script(setup=False)
    script.write(0x210, 0x11)
    script.write(0x45678, 0x22)
    window = [LANES, "200 read 4 0x610", "200 write 4 0x68 0x45000", "200 read 4 0xe78", "200 write 4 0xe7c 0x33", "200 read 4 0x40", "200 read 4 0x6c"]
    script.at(1500)
    there = script.read(0x4567C)
    replies, seen, _ = chip.run(script, window=window)
    assert [seen[i].data for i in (1, 3)] == [0x11, 0x22] and seen[5].data >> 28 == 6 and replies[there].data == 0x33


def test_the_hosts_window_in_other_byte_orders(chip: Chip) -> None:
    """Bytes of words exchanged, but not in the copy of PCI configuration; words of SRAM, mailboxes too, exchanged in pairs."""
    script = chip.script(setup=False)
    script.write(0x210, 0x01020304)
    script.write(0x214, 0x05060708)
    script.write("general_a3", 0x11223344)
    script.at(1000)
    places = [script.read(0x218), script.read(0x21C), script.read("general_a3"), script.read("misc_host_ctl")]
    script.at(1600)
    places += [script.read("mailbox_event_a"), script.read(0x10C), script.read(0x108)]
    both = "0 write 4 0x40 0x30000030"  # the same in either order
    reads = ["200 read 4 0x610", "200 read 4 0x614", "200 read 4 0x18c", "200 read 4 0x0"]
    swapped = [both, *reads, "300 write 4 0x618 0x0a0b0c0d", "300 write 4 0x18c 0x55667788", "300 read 4 0x40"]
    exchanged = ["1100 write 4 0x40 0", "1100 read 4 0x610", "1100 read 4 0x18c", "1100 write 4 0x508 0x99", "1100 write 4 0x514 0x77"]
    replies, seen, _ = chip.run(script, window=swapped + exchanged)
    assert [a.data for a in seen[1:5]] == [0x04030201, 0x08070605, 0x44332211, 0x000112AE] and seen[7].data == 0x30000060
    assert [a.data for a in seen[9:11]] == [0x05060708, 0x88776655]
    assert [replies[p].data for p in places] == [0x0D0C0B0A, 0, 0x88776655, 0x60000030, 1 << 1, 0x99, 0]


def test_interrupts(chip: Chip) -> None:
    """Firmware raises, the host's mailbox 0 or the clear bit takes back."""
    script = chip.script(setup=False)
    script.at(100)
    script.write("misc_local_ctl", 0x202)
    script.at(2000)
    script.write("misc_local_ctl", 0x202)
    window = [LANES, "1000 write 4 0x504 0", "3000 write 4 0x40 2"]
    chip.run(script, cycles=4000, window=window, settings={"alarm.record": "alarm"})
    line = read_monitor(chip.last.directory / "alarm")
    edges = [now.cycle for before, now in zip(line, line[1:]) if now.value != before.value]
    assert len(edges) == 4, edges
    assert 200 <= edges[0] <= 230 and 1000 < edges[1] < 1060 and 2100 <= edges[2] <= 2130 and 3000 < edges[3] < 3060


def test_the_link_is_looped_back(chip: Chip) -> None:
    """The word that is sent is the one that is received; the other cannot be written."""
    script = chip.script(setup=False)
    script.write("link_sent", 0x1234A1)
    script.write("link_received", 7)
    places = [script.read("link_sent"), script.read("link_received")]
    [replies, *_] = chip.run(script)
    assert [replies[p].data for p in places] == [0x1234A1] * 2


def test_the_chip_says_what_bus_it_is_on(chip: Chip, bench: Bench, root: Path) -> None:
    """66 MHz, 64 bits, whatever drivers write; a slow and narrow one likewise. The copy of PCI configuration says who it is."""
    slow = Chip(bench, root, options="bus_frequency = 33 MHz; bus_width = 4 B;")
    for one, bus in (chip, 0x80000), (slow, 0x100000):
        script = one.script(setup=False)
        places = [script.read("pci_state")]
        script.write("pci_state", 0x760A0000)
        places.append(script.read("pci_state"))
        replies, seen, _ = one.run(script, window=[LANES, *(f"0 read 4 {at:#x}" for at in (0x0, 0x4, 0x8, 0x3C))])
        assert [replies[p].data for p in places] == [bus, 0x76020000 | bus]
        assert [a.data for a in seen[1:]] == [0x112AE, 0x02800002, 0x02000001, 0x100]


def test_the_window_behind_the_memory_window_is_empty(chip: Chip) -> None:
    script = chip.script(setup=False)
    places = [(0x0FFC, False), (0x1000, False), (0x2340, False), (0x3FFC, False), (0x4000, True)]
    window = [LANES, *(f"0 write 4 {at:#x} 5" for at, _ in places), *(f"0 read 4 {at:#x}" for at, _ in places)]
    _, seen, _ = chip.run(script, window=window)
    assert [a.error for a in seen[1:]] == [error for _, error in places] * 2
    assert [a.data for a in seen[6:10]] == [5, 0, 0, 0]
    assert chip.last.stat("nic.window_router", "errors") == 2


def test_what_is_no_register_is_reported_once(chip: Chip) -> None:
    script = chip.script(setup=False)
    for _ in range(3):
        script.read(0xC00000EC)
    script.write(0xC00003F0, 1)
    script.read("timer")
    [replies, *_] = chip.run(script, window=["0 read 4 0x20"])
    assert not any(reply.error or reply.data for reply in replies[:4])
    told = [line for line in chip.last.err.splitlines() if "no register" in line]
    assert len(told) == 1 and "0x20 1 time, first by host; 0xec 3 times, first by processor_0; 0x3f0 1 time" in told[0]
    assert chip.last.stat("nic.registers", "unlisted") == 5


# ---- MAC -----------------------------------------------------------------------------------------------------------
def test_transmit_waits_for_data_pads_and_moves_pointers(chip: Chip) -> None:
    frames = [frame(61), frame(60, 2), frame(300, 3), frame(20, 4)]
    script = chip.script()
    at, places = TX_BASE, []
    for i, one in enumerate(frames):
        script.store(TX_RING + 8 * i, struct.pack(">II", at, len(one)))
        places.append(at)
        at += (len(one) + 7) // 8 * 8
    script.write("mac_tx_producer", 8 * len(frames))
    script.at(600)
    waiting = script.read("mac_tx_consumer")
    for place, one in zip(places, frames, strict=True):
        script.store(place, one)
        script.write("tx_buffer_producer", place + len(one))
    script.at(3500)
    consumer, buffers = script.read("mac_tx_consumer"), script.read("tx_buffer_consumer")
    replies, *_ = chip.run(script, cycles=5000, settings={"ethernet.output": "sent.pcap"})
    sent = list(packets.read(chip.last.directory / "sent.pcap"))
    assert replies[waiting].data == TX_RING and replies[consumer].data == TX_RING + 32 and replies[buffers].data == at
    assert [p.data for p in sent] == [one.ljust(60, b"\0") for one in frames]
    assert chip.last.stat("ethernet", "damaged_out") == 0


def test_transmitted_frames_follow_each_other_without_a_gap(chip: Chip) -> None:
    script = chip.script()
    one = frame(100)
    script.store(TX_BASE, one)
    for i in range(40):
        script.store(TX_RING + 8 * i, struct.pack(">II", TX_BASE, 100))
    script.write("tx_buffer_producer", TX_BASE + 4096)
    script.write("mac_tx_producer", 320)
    chip.run(script, cycles=8000, settings={"ethernet.output": "sent.pcap"})
    times = [p.time for p in packets.read(chip.last.directory / "sent.pcap")]
    assert len(times) == 40 and {b - a for a, b in zip(times, times[1:])} == {(100 + 24) * 8}


def test_received_frames_reach_memory_and_their_descriptors(chip: Chip) -> None:
    frames = [frame(size, size) for size in (60, 61, 67, 600, 1514)]
    script = chip.script()
    script.write("mac_rx_state", 2)
    script.at(4000)
    producer, buffers, event = script.read("mac_rx_producer"), script.read("rx_buffer_producer"), script.read("event_a")
    slots = [script.load(RX_RING + 8 * i, 8) for i in range(len(frames) + 1)]
    at, places = RX_BASE, []
    for one in frames:
        places.append((at, script.load(at, len(one))))
        at += (len(one) + 4 + 7) // 8 * 8
    script.write("mac_rx_reference", RX_RING)
    script.write("mac_rx_consumer", RX_RING + 8 * len(frames))
    quiet = script.read("event_a")
    replies, *_ = chip.run(script, cycles=20000, settings={"ethernet.input": "in.pcap"}, files={"in.pcap": pcap(frames)})
    assert replies[producer].data == RX_RING + 8 * len(frames) and replies[buffers].data == at
    assert replies[event].data >> 6 & 1 == 1 and replies[quiet].data >> 6 & 1 == 0
    for one, slot, (place, parts) in zip(frames, slots, places, strict=False):
        assert struct.unpack(">II", join(replies, slot)) == (place, len(one) + 4)
        assert join(replies, parts) == one
    assert struct.unpack(">II", join(replies, slots[-1]))[0] == at


def test_a_full_ring_drops_and_counts(chip: Chip) -> None:
    """Open loop into a ring with four free descriptors: the rest is dropped, counted, and nothing is overwritten."""
    frames = [frame(60 + i, i) for i in range(12)]
    script = chip.script()
    script.write("mac_rx_reference", RX_RING + 40)
    script.write("mac_rx_state", 2)
    script.at(2500)
    producer, counted = script.read("mac_rx_producer"), script.read(0xEC)
    at, places = RX_BASE, []
    for one in frames[:4]:
        places.append(script.load(at, len(one)))
        at += (len(one) + 4 + 7) // 8 * 8
    settings = {"ethernet.input": "in.pcap", "ethernet.mode": "rate"}
    replies, *_ = chip.run(script, cycles=6000, settings=settings, files={"in.pcap": pcap(frames)})
    assert replies[producer].data == RX_RING + 32 and replies[counted].data == 8
    assert [join(replies, p) for p in places] == frames[:4]
    assert chip.last.stat("nic.mac_rx", "frames_dropped") == 8 and chip.last.stat("nic.mac_rx", "no_descriptor") == 8


def test_a_wrong_fcs_is_dropped_and_counted(chip: Chip) -> None:
    frames = [frame(70 + i, i) for i in range(9)]
    script = chip.script()
    script.write("mac_rx_state", 2)
    script.at(3000)
    producer = script.read("mac_rx_producer")
    settings = {"ethernet.input": "in.pcap", "ethernet.faults": "fcs/3"}
    replies, *_ = chip.run(script, cycles=5000, settings=settings, files={"in.pcap": pcap(frames)})
    assert replies[producer].data == RX_RING + 48 and chip.last.stat("nic.mac_rx", "damaged") == 3


def test_a_full_buffer_drops_and_wraps(chip: Chip) -> None:
    """The buffer memory is smaller than what comes; freed memory is used again, across its end."""
    base = BUFFER_END - 8192
    frames = [frame(1000, i) for i in range(14)]
    script = chip.script()
    for name in "rx_buffer_base", "rx_buffer_producer", "rx_buffer_reference":
        script.write(name, base)
    script.write("mac_rx_reference", RX_RING + 0xFF8)
    script.write("mac_rx_state", 2)
    script.at(9000)
    first = script.read("mac_rx_producer")
    script.write("rx_buffer_reference", base + 4 * 1008)
    script.at(40000)
    second = script.read("mac_rx_producer")
    parts = script.load(base + 8 * 1008, 8192 - 8 * 1008) + script.load(base, 1000 - (8192 - 8 * 1008))
    settings = {"ethernet.input": "in.pcap", "ethernet.mode": "rate"}
    replies, *_ = chip.run(script, cycles=50000, settings=settings, files={"in.pcap": pcap(frames)})
    kept = (replies[first].data - RX_RING) // 8
    assert kept == 8 and chip.last.stat("nic.mac_rx", "no_room") >= 1
    assert (replies[second].data - RX_RING) // 8 > kept
    last = 8 + chip.last.stat("nic.mac_rx", "no_room")
    assert join(replies, parts) == frames[last][:1000]
