"""The register contract of the Tigon-2: DMA by rings and by the direct registers, seen by a scripted processor."""

import pytest

from tests.tigon2.chip import (
    BUFFER_END,
    READ_RING,
    RX_BASE,
    TX_BASE,
    WRITE_RING,
    Chip,
    dma_descriptor,
    host_bytes,
    host_join,
    host_reads,
    join,
)  # fmt: skip
from tests.tigon2.test_contract import noise


def test_direct_dma_both_ways(chip: Chip) -> None:
    data = noise(333)
    script = chip.script()
    script.write("dma_read_host_low", 0x1003)
    script.write("dma_read_length", len(data))
    script.write("dma_read_address", 0x2005)
    script.write("dma_read_state", 4)
    script.at(1000)
    done, address = script.read("dma_read_state"), script.read("dma_read_address")
    parts = script.load(0x2000, 344)
    script.write("dma_write_host_low", 0x3007)
    script.write("dma_write_length", len(data))
    script.write("dma_write_address", 0x2005)
    script.write("dma_write_state", 4)
    memory = host_bytes(0x1003, data) + host_reads(0x3007, len(data), 6000)
    replies, _, seen = chip.run(script, cycles=8000, memory=memory)
    assert replies[done].data == 0 and replies[address].data == 0x2005 + len(data)
    assert join(replies, parts)[5 : 5 + len(data)] == data
    assert host_join(seen, len(data)) == data


def test_ring_dma_carries_out_descriptors_in_order(chip: Chip) -> None:
    script = chip.script()
    data = noise(640)
    for i in range(10):
        script.store(READ_RING + 32 * i, dma_descriptor(0x1000 + 64 * i, 0x2000 + 64 * i, 64))
    script.write("dma_read_producer", 320)
    script.at(2500)
    parts, consumer, event = script.load(0x2000, 640), script.read("dma_read_consumer"), script.read("event_a")
    script.write("dma_read_reference", 320)
    after = script.read("event_a")
    replies, *_ = chip.run(script, cycles=6000, memory=host_bytes(0x1000, data))
    assert join(replies, parts) == data and replies[consumer].data == READ_RING + 320
    assert replies[event].data >> 15 & 1 == 1 and replies[after].data >> 15 & 1 == 0


def test_words_keep_their_value_with_the_bit_for_that(chip: Chip) -> None:
    """In rings both ways, and by the direct registers: their bytes are turned. The sum is that of the bytes as they lie in SRAM."""
    data = noise(64)
    turned = b"".join(data[i : i + 4][::-1] for i in range(0, 64, 4))
    script = chip.script()
    script.store(READ_RING, dma_descriptor(0x1000, 0x2004, 64, 0x806, 0x3000))
    script.write("dma_read_producer", 32)
    script.at(800)
    stored, parts = script.read(0x3000, 2), script.load(0x2004, 64)
    script.store(WRITE_RING, dma_descriptor(0x5000, 0x2004, 64, 6))
    script.write("dma_write_producer", 32)
    script.at(1500)
    script.write("dma_read_host_low", 0x1000)
    script.write("dma_read_length", len(data))
    script.write("dma_read_address", 0x4001)
    script.write("dma_read_state", 6)
    script.at(2000)
    direct = script.load(0x4001, 64)
    replies, _, seen = chip.run(script, cycles=4000, memory=host_bytes(0x1000, data) + host_reads(0x5000, 64, 3000))
    total = sum(int.from_bytes(turned[i : i + 2], "big") for i in range(0, 64, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    assert join(replies, parts) == turned == join(replies, direct)
    assert host_join(seen, 64) == data and replies[stored].data == total
    assert "words" not in chip.last.err


def test_rings_wrap(chip: Chip) -> None:
    script = chip.script()
    data = noise(640)
    for name in "producer", "consumer", "reference":
        script.write(f"dma_write_{name}", 0x7C0)
    script.store(0x2000, data)
    for i in range(10):
        script.store(WRITE_RING + (0x7C0 + 32 * i) % 0x800, dma_descriptor(0x5000 + 64 * i, 0x2000 + 64 * i, 64))
    script.write("dma_write_producer", 0x100)
    script.at(4000)
    consumer = script.read("dma_write_consumer")
    replies, _, seen = chip.run(script, cycles=6000, memory=host_reads(0x5000, 640, 5000))
    assert host_join(seen, 640) == data and replies[consumer].data == WRITE_RING + 0x100


def test_dma_moves_buffer_pointers_and_wraps_in_mid_frame(chip: Chip) -> None:
    data = noise(301)
    script = chip.script()
    script.store(READ_RING, dma_descriptor(0x1000, RX_BASE - 96, 301, 0x20004))
    script.write("dma_read_producer", 32)
    script.at(1000)
    pointer, head, rest = script.read("tx_buffer_producer"), script.load(RX_BASE - 96, 96), script.load(TX_BASE, 205)
    script.store(BUFFER_END - 64, data[:64])
    script.store(RX_BASE, data[64:])
    script.store(WRITE_RING, dma_descriptor(0x3000, BUFFER_END - 64, 301, 0x80004))
    script.write("dma_write_producer", 32)
    script.at(3000)
    freed = script.read("rx_buffer_reference")
    replies, _, seen = chip.run(script, cycles=5000, memory=host_bytes(0x1000, data) + host_reads(0x3000, 301, 4000))
    assert replies[pointer].data == TX_BASE + 205 and join(replies, head + rest) == data
    assert replies[freed].data == RX_BASE + (301 - 64 + 7) // 8 * 8 and host_join(seen, 301) == data


def test_checksums(chip: Chip) -> None:
    data = noise(77)
    script = chip.script()
    script.store(READ_RING, dma_descriptor(0x1000, 0x2000, 77, 0x804, 0x3002))
    script.write("dma_read_producer", 32)
    script.at(800)
    stored, register = script.read(0x3002, 2), script.read("dma_read_checksum")
    replies, *_ = chip.run(script, memory=host_bytes(0x1000, data))
    total = sum(int.from_bytes((data + b"\0")[i : i + 2], "big") for i in range(0, 78, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    assert replies[stored].data == total and replies[register].data == total


def fold(total: int) -> int:
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def test_a_checksum_goes_on_until_another_begins(chip: Chip) -> None:
    """Pieces of frames, as 0xe00 and 0xa00 say; a descriptor that is fetched between them does not disturb."""
    data, script = noise(100), chip.script()
    pieces = [(0, 33, 0xC04), (33, 20, 0x004), (33, 21, 0x804), (54, 46, 0x804), (10, 40, 0xC04)]
    for i, (at, length, control) in enumerate(pieces):
        script.store(READ_RING + 32 * i, dma_descriptor(0x1000 + at, 0x2000 + at, length, control, 0x3000 + 8 * i))
    script.write("dma_read_producer", 32 * len(pieces))
    script.at(1500)
    stored, register = [script.read(0x3000 + 8 * i, 2) for i in range(len(pieces))], script.read("dma_read_checksum")
    replies, *_ = chip.run(script, memory=host_bytes(0x1000, data))

    def total(begin: int, end: int) -> int:
        part = data[begin:end] + b"\0" * ((end - begin) % 2)
        return fold(sum(int.from_bytes(part[i : i + 2], "big") for i in range(0, len(part), 2)))

    expected = [total(0, 33), 0, total(0, 54), total(0, 100), total(10, 50)]
    assert [replies[place].data for place in stored] == expected and replies[register].data == expected[-1]


@pytest.mark.parametrize("way", ["read", "write"])
def test_the_assist_is_busy_only_with_a_transfer_under_way(chip: Chip, way: str) -> None:
    """Not with a descriptor that waits while it is off; paused, until the transfer that was begun has ended."""
    busy, waiting = (0x1000, 0x8000) if way == "read" else (0x100, 0x800)
    ring = READ_RING if way == "read" else WRITE_RING
    script = chip.script()
    script.write("assist_state", 0)
    for i in range(2):
        script.store(ring + 32 * i, dma_descriptor(0x8000, 0x70000, 600))
    script.write(f"dma_{way}_producer", 64)
    off = script.read("assist_state")
    script.write("assist_state", 1)
    script.write("assist_state", 3)
    paused = [(script.read("assist_state"), script.read(f"dma_{way}_consumer")) for _ in range(150)]
    script.write("assist_state", 1)
    script.at(3000)
    end = script.read("assist_state")
    replies, *_ = chip.run(script, cycles=4000)
    assert replies[off].data == waiting and replies[end].data == 1
    states = [(replies[state].data, replies[consumer].data - ring) for state, consumer in paused]
    assert states[0] == (3 | busy | waiting, 0)
    assert all(state & busy for state, done in states if done == 0)
    assert states[-1] == (3 | waiting, 32), "a transfer that waits is none under way"


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_failed_transfer_raises_attention(chip: Chip, goes_on: bool) -> None:
    """The consumer stays at the descriptor. With the error cleared it is tried again, unless software has moved the consumer on."""
    script = chip.script()
    script.store(READ_RING, dma_descriptor(0x7000000, 0x2000, 16))
    script.store(READ_RING + 32, dma_descriptor(0x1000, 0x2000, 16))
    script.write("dma_read_producer", 64)
    script.at(500)
    event, consumer = script.read("event_a"), script.read("dma_read_consumer")
    if goes_on:
        script.write("dma_read_consumer", 32)
    script.write("dma_read_state", 0)
    script.at(900)
    calm, end = script.read("event_a"), script.read("dma_read_consumer")
    replies, *_ = chip.run(script)
    assert replies[event].data >> 20 & 1 == 1 and replies[consumer].data == READ_RING
    assert replies[calm].data >> 20 & 1 == (not goes_on) and replies[end].data == READ_RING + 64 * goes_on
    assert chip.last.stat("nic.dma_read", "errors") == (1 if goes_on else 2)
