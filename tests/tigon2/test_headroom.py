"""What the assists, the SRAM and the bus can carry without a processor: full duplex at line rate, large and small frames.

A script fills the rings once; after that hardware alone moves frames from host memory to the wire and from the wire through
the SRAM to host memory.
"""

import struct

import pytest

from harness import packets
from tests.tigon2.chip import (
    READ_RING,
    RX_BASE,
    RX_RING,
    TX_BASE,
    TX_RING,
    WRITE_RING,
    Chip,
    dma_descriptor,
    host_bytes,
)
from tests.tigon2.test_contract import frame, pcap


@pytest.mark.parametrize(("size", "count", "idle"), [(1514, 20, 0.01), (300, 40, 0.01), (60, 40, 0.2)])
def test_full_duplex_at_line_rate(chip: Chip, size: int, count: int, idle: float) -> None:
    """Minimum frames may leave the wire idle for a fifth of the time: that is six times what a processor can feed."""
    out, back = [frame(size, i) for i in range(count)], [frame(size, 500 + i) for i in range(count)]
    step, stored = (size + 7) // 8 * 8, (size + 4 + 7) // 8 * 8
    script = chip.script()
    script.write("mac_rx_reference", RX_RING + 0xFF8)
    for i in range(count):
        script.store(TX_RING + 8 * i, struct.pack(">II", TX_BASE + step * i, size))
        script.store(READ_RING + 32 * i, dma_descriptor(0x1000 + 2048 * i, TX_BASE + step * i, size, 0x20004))
        script.store(WRITE_RING + 32 * i, dma_descriptor(0x40000 + 2048 * i, RX_BASE + stored * i, size))
    script.at(6000)
    script.write("mac_rx_state", 2)
    script.write("mac_tx_producer", 8 * count)
    script.write("dma_read_producer", 32 * count)
    script.write("dma_write_producer", 32 * count)
    line = 8 * (size + 24) * count / 10  # cycles of 10 ns
    script.at(6000 + int(line) + 800)
    got, drops, written = script.read("mac_rx_producer"), script.read(0xEC), script.read("dma_write_consumer")
    memory = [text for i, one in enumerate(out) for text in host_bytes(0x1000 + 2048 * i, one)]
    settings = {"ethernet.output": "sent.pcap", "ethernet.input": "in.pcap", "ethernet.mode": "rate"}
    answers, *_ = chip.run(script, cycles=6000 + int(line) + 1500, memory=memory, settings=settings, files={"in.pcap": pcap(back)})
    sent = list(packets.read(chip.last.directory / "sent.pcap"))
    assert [p.data for p in sent] == out
    assert answers[got].data == RX_RING + 8 * count and answers[drops].data == 0
    assert answers[written].data == WRITE_RING + 32 * count
    took, ideal = sent[-1].time - sent[0].time, 8 * (size + 24) * (count - 1)
    assert took <= ideal * (1 + idle), f"the wire was idle {100 * (took / ideal - 1):.1f} % of the time"
