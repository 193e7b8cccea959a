"""What the assists, the SRAM and the bus can carry without a processor: full duplex at line rate, large and small frames.

In the first test a script fills the rings once; after that hardware alone moves frames from host memory to the wire and from
the wire through the SRAM to host memory. The others run the machine tigon2_hardware_limit, whose traffic generator runs without end.
"""

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.net import check, packets, theory, traffic
from harness.study.uses import throughput
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

pytestmark = pytest.mark.optimised


@pytest.mark.parametrize(("size", "count", "idle"), [(1514, 20, 0.01), (300, 40, 0.01), (60, 40, 0.2)])
def test_full_duplex_at_line_rate(chip: Chip, size: int, count: int, idle: float) -> None:
    """Minimum frames may leave the wire idle for a fifth of the time: that is six times what a processor can send."""
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
    replies, *_ = chip.run(
        script, cycles=6000 + int(line) + 1500, memory=memory, settings=settings, files={"in.pcap": pcap(back)}
    )
    sent = list(packets.read(chip.last.directory / "sent.pcap"))
    assert [p.data for p in sent] == out
    assert replies[got].data == RX_RING + 8 * count and replies[drops].data == 0
    assert replies[written].data == WRITE_RING + 32 * count
    took, ideal = sent[-1].time - sent[0].time, 8 * (size + 24) * (count - 1)
    assert took <= ideal * (1 + idle), f"the wire was idle {100 * (took / ideal - 1):.1f} % of the time"


@pytest.fixture(scope="session")
def hardware_limit(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """The machine at a clock of its SRAM in MHz, built once a session."""
    folder = tmp_path_factory.mktemp("hardware_limit")

    def build(mhz: int) -> Path:
        simulator = folder / f"at{mhz}"
        if not simulator.exists():
            machine = root / "examples/tigon2/tigon2_hardware_limit.lss"
            command = [build_dir / "bin/lss", "build", machine, "-o", simulator, "-D", f"sram_frequency={mhz}MHz"]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return simulator

    return build


@pytest.mark.parametrize(
    ("mhz", "payload", "receive_only", "least"),
    [(100, 1472, False, 0.999), (100, 200, False, 0.999), (100, 100, False, 0.9), (100, 18, False, 0.7),
     (250, 1472, False, 0.999), (250, 18, False, 0.999), (100, 18, True, 0.999), (250, 18, True, 0.999)],
)  # fmt: skip
def test_share_of_the_link(
    hardware_limit, run_sim, tmp_path: Path, mhz: int, payload: int, receive_only: bool, least: float
) -> None:
    sent, received = tmp_path / "sent.pcap", tmp_path / "received.pcap"
    arguments = ["--payload", payload, "--frames", 1200, "--sent", sent, "--received", received]
    done = run_sim(hardware_limit(mhz), *arguments, *(["--ratio_send", 0] if receive_only else []))
    flow = throughput.throughput_of_files(None if receive_only else sent, received, 400)
    rate = flow.payload_rate / theory.payload_rate(payload) / (1 if receive_only else 2)
    print(f"{mhz} MHz, {payload} B, {'receive only' if receive_only else 'duplex'}: {100 * rate:.1f} % of the link")
    assert least <= rate < 1.005
    assert sum(e["value"] for e in done.stats["statistics"] if e["name"] == "counted_drops") == 0


def test_files_of_all_lengths_come_through_unharmed(hardware_limit, run_sim, tmp_path: Path) -> None:
    files = traffic.generate(tmp_path, "18-1472", 300, "1:2")
    outs = {"--sent": tmp_path / "sent.pcap", "--received": tmp_path / "received.pcap"}
    arguments = ["--send", files.send, "--receive", files.receive, "--ratio_send", 1, "--ratio_receive", 2]
    run_sim(hardware_limit(100), *arguments, *(word for pair in outs.items() for word in pair))
    for came, went in (files.send, outs["--sent"]), (files.receive, outs["--received"]):
        verdict = check.check_files(came, went)
        assert not verdict.wrong and not verdict.missing, verdict
