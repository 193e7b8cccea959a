"""The firmware on the whole machine.  The checker in the machine compares every frame byte for byte and ends the run with
an error for anything damaged, doubled, out of order, or lost without being counted as a drop."""

from pathlib import Path

import pytest

from harness.net import tcp, udp
from harness.net.packets import Packet, read, write
from tests.firmware.frames import frames
from tests.sample import sampled, seldom

pytestmark = pytest.mark.optimised

# Processors, who carries out the DMA rings, firmware.
WHO = {
    "one-assist": (1, "true", "tigon2"),
    "one-software": (1, "false", "tigon2"),
    "two-assist": (2, "true", "tigon2"),
    "two-software": (2, "false", "tigon2"),
    "parallel-assist": (2, "true", "tigon2_parallel"),
    "parallel-software": (2, "false", "tigon2_parallel"),
}
# What the hardware and the driver may be other than usual, by the number of processors: few machines, for each takes long to build.
OTHER = {1: {"sram_size": "512KiB", "send_entries": 128}, 2: {"sram_size": "2MiB", "send_entries": 128}}
ALONE = {name: who for name, who in WHO.items() if not name.startswith("two")}


def given(who: dict):
    return pytest.mark.parametrize("cpus,assist,name", list(who.values()), ids=list(who))


every_driver_of_rings = given(WHO)
both_firmwares = pytest.mark.parametrize(
    "firmware_of", [{"processors": 1}, {"processors": 2, "name": "tigon2_parallel"}], ids=["one", "parallel"]
)


@every_driver_of_rings
@pytest.mark.parametrize("payload", sampled([18, 333, 1472], 3, 1))
def test_both_ways(machine, cpus: int, assist: str, name: str, payload: int) -> None:
    ran = machine(processors=cpus, name=name).run("--assist", assist, "--payload", payload, "--count", 600)
    assert (ran.sent, ran.received) == (600, 600)


@every_driver_of_rings
def test_every_length(machine, tmp_path: Path, cpus: int, assist: str, name: str) -> None:
    lengths = [*range(60, 128), 512, 1513, 1514, 1518] * 3
    out, into = tmp_path / "out.pcap", tmp_path / "in.pcap"
    write(out, frames(lengths, bytes.fromhex("020000000009")))
    write(into, frames(lengths, bytes.fromhex("020000000001")))
    ran = machine(processors=cpus, name=name).run("--assist", assist, "--send", out, "--receive", into)
    assert (ran.sent, ran.received) == (len(lengths), len(lengths))


@given(ALONE)
def test_one_way_only(machine, cpus: int, assist: str, name: str) -> None:
    ran = machine(processors=cpus, name=name).run("--assist", assist, "--payload", 200, "--count", 500, "--ratio_send", 0)
    assert (ran.sent, ran.received) == (0, 500)
    ran = machine(processors=cpus, name=name).run("--assist", assist, "--payload", 200, "--count", 500, "--ratio_receive", 0)
    assert (ran.sent, ran.received) == (500, 0)


@both_firmwares
@pytest.mark.parametrize("most,delay", [(1, 0), (1, 400), (25, 30), (25, 400), (5000, 30), (5000, 400)])
def test_coalescing_by_count_and_by_time(machine, firmware_of: dict, most: int, delay: int) -> None:
    """Whichever of the two comes first, the host gets to know of every frame."""
    settings = {"send_most": most, "receive_most": most, "send_delay": f"{delay} us", "receive_delay": f"{delay} us"}
    options = [word for name, value in settings.items() for word in ("--set", f"driver.{name}={value}")]
    ran = machine(**firmware_of).run("--payload", 128, "--count", 300, *options)
    assert (ran.sent, ran.received) == (300, 300)


def test_fewer_reports_mean_fewer_interrupts(machine) -> None:
    def interrupts(most: int) -> float:
        options = ["--set", f"driver.send_most={most}", "--set", f"driver.receive_most={most}"]
        return machine(processors=1).run("--payload", 800, "--count", 400, *options).value("driver", "interrupts_handled")

    assert interrupts(50) < interrupts(10) < interrupts(1)


@both_firmwares
@pytest.mark.parametrize("buffers", sampled([1, 2, 3, 16, 511], 3, 2))
def test_a_host_that_gives_few_buffers(machine, firmware_of: dict, buffers: int) -> None:
    """Frames wait in the packet memory; nothing is lost that the MAC did not count."""
    ran = machine(**firmware_of).run("--payload", 64, "--count", 300, "--set", f"driver.receive_buffers={buffers}")
    assert (ran.sent, ran.received) == (300, 300)


@both_firmwares
def test_overload_drops_and_counts(machine, firmware_of: dict) -> None:
    ran = machine(**firmware_of).run(
        "--assist", "false", "--mode", "rate", "--rate", "1Gb/s", "--payload", 18, "--count", 3000
    )
    assert ran.sent == 3000
    assert 0 < ran.received < 3000


@both_firmwares
@pytest.mark.parametrize("share", [1, 2, 32, 63])
def test_shares_of_the_packet_memory(machine, firmware_of: dict, share: int) -> None:
    ran = machine(**firmware_of).run("--payload", 1472, "--count", 200, "--set", f"driver.transmit_share={share}")
    assert (ran.sent, ran.received) == (200, 200)


@pytest.mark.soak
@pytest.mark.parametrize("cpus,name", [(1, "tigon2"), (2, "tigon2_parallel")], ids=["512KiB", "2MiB"])
def test_sizes_of_the_memory(machine, cpus: int, name: str) -> None:
    """The firmware finds out by itself how much SRAM there is."""
    ran = machine(processors=cpus, name=name, **OTHER[cpus]).run("--payload", 700, "--count", 800)
    assert (ran.sent, ran.received) == (800, 800)


@seldom
@pytest.mark.slow
@pytest.mark.parametrize("cpus,assist,name", sampled(WHO.values(), 6, 1))
@pytest.mark.parametrize("payload", [18, pytest.param(1472, marks=pytest.mark.soak)])
def test_ten_thousand_frames(machine, cpus: int, assist: str, name: str, payload: int) -> None:
    ran = machine(processors=cpus, name=name).run("--assist", assist, "--payload", payload, "--count", 10000)
    assert (ran.sent, ran.received) == (10000, 10000)


@both_firmwares
def test_a_run_repeats_exactly(machine, firmware_of: dict) -> None:
    first, second = (machine(**firmware_of).run("--payload", 250, "--count", 300).statistics for _ in range(2))
    assert first == second


@seldom
@given(ALONE)
def test_a_send_ring_in_the_memory_of_the_nic(machine, cpus: int, assist: str, name: str) -> None:
    send_ring_in_the_memory(machine, cpus, assist, name)


@pytest.mark.soak
@given(ALONE)
def test_a_shorter_send_ring_in_the_memory_of_the_nic(machine, cpus: int, assist: str, name: str) -> None:
    send_ring_in_the_memory(machine, cpus, assist, name, **OTHER[cpus])


def send_ring_in_the_memory(machine, cpus: int, assist: str, name: str, **other: object) -> None:
    """The host writes descriptors through the window, and the NIC fetches none."""
    words = ["--assist", assist, "--payload", 333, "--count", 600]
    made = machine(processors=cpus, name=name, **other)
    ran = made.run(*words, "--set", "driver.nic_send_ring=true")
    assert (ran.sent, ran.received) == (600, 600)
    transfers = [one.value("nic.dma_read", "transfers") for one in (made.run(*words), ran)]
    assert transfers[1] < transfers[0] - 2 * 600 / 32


@given(ALONE)
@pytest.mark.parametrize("nic_ring", ["false", "true"], ids=["host_ring", "nic_ring"])
def test_checksums_left_to_the_nic(machine, tmp_path: Path, cpus: int, assist: str, name: str, nic_ring: str) -> None:
    """The host hands over frames without checksums and asks for sums of what it receives: on the wire they are right, and so are the sums."""
    out, into, wire = tmp_path / "out.pcap", tmp_path / "in.pcap", tmp_path / "wire.pcap"
    payloads = [bytes((n * 7 + k * 13) & 0xFF for k in range(n * 37 % 1461)) for n in range(150)]
    for path, one, other in (out, udp.HOST, udp.PEER), (into, udp.PEER, udp.HOST):
        made = [tcp.frame(one, other, n, n, 16, p) if n % 3 else udp.frame(one, other, p, n) for n, p in enumerate(payloads)]
        write(path, [Packet(n * 1000, data) for n, data in enumerate(made)] + frames([60, 333], other.mac))
    options = ["--set", "driver.checksums=true", "--set", f"driver.nic_send_ring={nic_ring}"]
    ran = machine(processors=cpus, name=name).run("--assist", assist, "--send", out, "--receive", into, "--sent", wire, *options)
    assert (ran.sent, ran.received) == (152, 152)
    assert (ran.value("driver", "checksums_correct"), ran.value("driver", "checksums_wrong")) == (150, 0)
    for packet, payload in zip(read(wire), payloads):
        ip, segment = packet.data[14:34], packet.data[34 : 14 + int.from_bytes(packet.data[16:18], "big")]
        pseudo = ip[12:20] + bytes([0, ip[9]]) + len(segment).to_bytes(2, "big")
        assert segment.endswith(payload) and udp.checksum(ip) == 0 == udp.checksum(pseudo + segment)
