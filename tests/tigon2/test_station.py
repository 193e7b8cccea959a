"""A station in place of `ethernet` at the wire of the whole NIC: what the host sends gets replies, which the host finds in its memory."""

import re
import subprocess
from pathlib import Path

import dpkt

from harness.net import packets
from tests.modules.assists import noise, pcap
from tests.modules.wire.stations import IP, MAC, PEER_MAC, arp, echo, mss, tcp, udp

STATION = """
instance station : station on sram_clk;
nic.wire_out -> station.from_device;
station.to_device -> nic.wire_in;
nic.ready -> station.ready;
"""


def machine(root: Path) -> str:
    """examples/tigon2 with a station in place of `ethernet`, and without what compares frames with traces."""
    text = (root / "examples/tigon2/tigon2.lss").read_text()
    text = re.sub(r"^instance (ethernet|checker|traffic_replay) [^;{]*(\{[^}]*\})?;\n", "", text, flags=re.M)
    kept = [line for line in text.splitlines() if not re.search(r"\b(ethernet|checker|traffic_replay)\b", line)]
    return "\n".join(kept) + STATION


def test_the_nic_talks_to_a_station(root: Path, build_dir: Path, tmp_path: Path) -> None:
    requests = [arp(), echo(noise(56)), udp(noise(1472), 7), udp(noise(18), 9), echo(noise(1472)), tcp(5000, None, "S", options=mss(1460)), tcp(5000, 7, to=80)]
    (tmp_path / "tigon2_station.lss").write_text(machine(root))
    (tmp_path / "send.pcap").write_bytes(pcap(requests))
    build = [build_dir / "bin/lss", "build", "tigon2_station.lss", "-o", "sim", "-I", root / "examples/tigon2"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    run = [tmp_path / "sim", "--quiet", "--firmware", build_dir / "firmware/tigon2/tigon2.elf", "--send", "send.pcap", "--received", "received.pcap"]
    settings = ["--time", "2 ms", "--set", "station.capture=wire.pcap", "--set", "station.udp_to=192.0.2.1", "--set", "station.udp_count=20"]
    done = subprocess.run([*run, *settings], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    received, wire = ([one.data for one in packets.read(tmp_path / name)] for name in ("received.pcap", "wire.pcap"))
    assert received == [one for one in wire if one[6:12] == MAC], "what left the station is what the host got"
    assert [one for one in wire if one[6:12] == PEER_MAC] == [one.ljust(60, b"\0") for one in requests]
    datagrams = [dpkt.ethernet.Ethernet(one).data for one in received]
    of_ip = [one for one in datagrams if isinstance(one, dpkt.ip.IP)]
    assert len(datagrams) - len(of_ip) == 2 and all(one.src == IP for one in of_ip)
    assert [bytes(one.data.data.data) for one in of_ip if one.p == 1] == [noise(56), noise(1472)]
    assert [bytes(one.data.data) for one in of_ip if one.p == 17 and one.data.sport == 7] == [noise(1472)]
    assert len([one for one in of_ip if one.p == 17 and one.data.sport == 5001]) == 20
    assert {one.data.flags for one in of_ip if one.p == 6} == {dpkt.tcp.TH_SYN | dpkt.tcp.TH_ACK, dpkt.tcp.TH_RST}
