"""Faults of all kinds at once: what is bad is counted for what it is, the firmware does again what failed, and nothing else is disturbed.

The machine's own checker compares every good frame byte for byte and in order, and ends the run with an error if one is damaged,
doubled or lost without being counted, or if a bad one comes through.
"""

import json
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.net import packets
from harness.study.uses.faults import table
from tests.modules.assists import pcap
from tests.tigon2.chip import RX_BASE, RX_RING, Chip
from tests.tigon2.conftest import AS_ELSEWHERE
from tests.tigon2.test_contract import noise

pytestmark = pytest.mark.optimised

WIRE = "fcs%3,short%2,fragment%2,long%2,jabber%2,error%2"
BUS = "read_abort%1,read_parity%1,write_abort%1,write_parity%1"
# Firmware, processors, whether the hardware walks the DMA rings.
WHO = {
    "one": ("tigon2", 1, True),
    "one, rings by software": ("tigon2", 1, False),
    "two, rings by the second": ("tigon2", 2, False),
    "parallel": ("tigon2_parallel", 2, True),
    "parallel, rings by software": ("tigon2_parallel", 2, False),
}

Run = Callable[..., dict[tuple[str, str], int]]


@pytest.fixture(scope="session")
def simulators(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder, built = tmp_path_factory.mktemp("faults"), {}
    for cpus in 1, 2:
        built[cpus] = folder / f"tigon2_{cpus}"
        command = [build_dir / "bin/lss", "build", root / "examples/tigon2/tigon2.lss", "-D", f"processors={cpus}", "-o", built[cpus], *AS_ELSEWHERE]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return built


@pytest.fixture
def run(simulators: dict[int, Path], build_dir: Path, tmp_path: Path) -> Run:
    """run(who, options…): the statistics of a run that ended in good order."""

    def play(who: str, *options: object) -> dict[tuple[str, str], int]:
        name, cpus, assist = WHO[who]
        firmware, stats = build_dir / f"firmware/{name}/{name}.elf", tmp_path / "stats.json"
        command = [simulators[cpus], "--quiet", "--watchdog", "20ms", "--stats", stats, "--firmware", firmware, "--assist", str(assist).lower()]
        command += ["--set", "driver.statistics_interval=100us", *options]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stderr[-3000:]}"
        return {(e["path"], e["name"]): e["value"] for e in json.loads(stats.read_text())["statistics"]}

    return play


def miscounted(row: dict) -> bool:
    """The run ends within the cycle in which the last frame is complete: a bus error of that very cycle may be counted at one side only."""
    return abs(row["counted"] - row["injected"]) > (1 if "bus" in row["fault"] else 0) or row["disturbed"] != 0


@pytest.mark.parametrize("payload", [18, 1472])
@pytest.mark.parametrize("who", WHO)
def test_everything_goes_wrong_and_nothing_is_disturbed(run: Run, who: str, payload: int) -> None:
    """Six kinds of bad frames and four kinds of failing transfers, at random: 400 frames each way."""
    got = run(who, "--payload", payload, "--count", 400, "--set", f"ethernet.faults={WIRE}", "--set", f"host.faults={BUS}")
    rows = table(got)
    assert all(row["injected"] > 0 for row in rows if row["fault"] != "overrun")
    assert [row for row in rows if miscounted(row)] == []
    bad = got["checker", "faulty"]
    assert got["checker", "sent"] == 400 and got["checker", "received"] == 400 - bad and got["checker", "counted_drops"] == bad
    # What the host is told is what happened; the last report may be a few failed transfers old.
    assert got["driver", "reported_bad_fcs"] == got["ethernet", "faulty_fcs"]
    assert got["driver", "reported_in_errors"] == got["checker", "faulty"]
    assert got["driver", "reported_too_long"] == got["ethernet", "faulty_long"] + got["ethernet", "faulty_jabber"]
    assert got["driver", "reported_line_errors"] == got["ethernet", "faulty_error"]
    failed = got["nic.dma_read", "errors"] + got["nic.dma_write", "errors"]
    assert 0.5 * failed <= got["driver", "reported_dma_errors"] <= failed
    if WHO[who][2]:
        assert 0.5 * failed <= got["driver", "reported_errors"] <= failed


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("payload", [18, 333, 700, 1472])
@pytest.mark.parametrize("who", WHO)
def test_many_faults(run: Run, who: str, payload: int, seed: int) -> None:
    """Twice the chance of a failing transfer, ten times the frames."""
    bus = BUS.replace("%1", "%2")
    got = run(who, "--payload", payload, "--count", 4000, "--seed", seed, "--set", f"ethernet.faults={WIRE}", "--set", f"host.faults={bus}")
    assert [row for row in table(got) if miscounted(row)] == [], f"seed {seed}"


@pytest.mark.parametrize("who", ["one", "parallel"])
def test_rings_overrun_among_faults(run: Run, who: str) -> None:
    """More frames than the host has buffers for, at line rate, with bad ones among them: each counts once, for what it is."""
    settings = ["--mode", "rate", "--set", "driver.receive_buffers=24", "--set", f"ethernet.faults={WIRE}", "--set", f"host.faults={BUS}"]
    got = run(who, "--payload", 18, "--count", 1500, "--ratio_send", 0, *settings)
    rows = {row["fault"]: row for row in table(got)}
    assert rows["overrun"]["injected"] > 50
    assert [row for row in rows.values() if miscounted(row)] == []
    assert got["checker", "missing"] == got["nic.mac_rx", "no_descriptor"] + got["nic.mac_rx", "no_room"]
    assert got["checker", "received"] + got["checker", "missing"] + got["checker", "faulty"] == 1500


def test_without_faults_nothing_is_counted(run: Run) -> None:
    got = run("one", "--payload", 200, "--count", 100)
    assert all(row["injected"] == row["counted"] == row["disturbed"] == 0 for row in table(got))


def test_a_bus_that_never_works_is_found(simulators: dict[int, Path], build_dir: Path) -> None:
    """No transfer succeeds: the firmware cannot even say that it is up, and the driver says so."""
    command = [simulators[1], "--quiet", "--firmware", build_dir / "firmware/tigon2/tigon2.elf", "--payload", 18, "--set", "host.faults=read_abort/1"]
    done = subprocess.run([str(word) for word in [*command, "--set", "driver.timeout=3ms"]], capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and "the firmware did not report that it is up" in done.stderr


def test_an_index_beyond_the_ring_is_an_error(simulators: dict[int, Path], root: Path, build_dir: Path, tmp_path: Path) -> None:
    """The driver does not wrap it: firmware that reports one on a real card would make the driver read elsewhere."""
    wild = tmp_path / "wild"
    shutil.copytree(root / "firmware/tigon2", wild)
    report = (wild / "report.c").read_text()
    assert report.count("index & state->sends_mask;") == 1
    (wild / "report.c").write_text(report.replace("index & state->sends_mask;", "(index & state->sends_mask) + 0x10000;"))
    build = [sys.executable, "-m", "harness", "firmware", wild, "--build", build_dir, "--out", tmp_path]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    command = [simulators[1], "--quiet", "--firmware", tmp_path / "wild.elf", "--payload", "100", "--count", "100"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and re.search(r"error: driver: the firmware reports send consumer 65\d+, and the ring has 512 entries", done.stderr), done.stderr


def test_a_start_up_longer_than_the_watchdog_is_none_of_its_business(run: Run) -> None:
    """Half a millisecond of copying and waiting; the link words are where the firmware looks for them, and it tells that the link is up."""
    got = run("one", "--payload", 1472, "--count", 20, "--watchdog", "200us", "--set", "driver.send_delay=20us", "--set", "driver.receive_delay=20us")
    assert got["driver", "started"] > 400_000 and got["checker", "sent"] == got["checker", "received"] == 20
    assert got["nic.mac_rx", "ignored"] == got["checker", "counted_ignored"] == got["nic.registers", "unlisted"] == 0


def test_the_link_is_requested_and_awaited(simulators: dict[int, Path], build_dir: Path) -> None:
    command = [simulators[1], "--quiet", "--firmware", build_dir / "firmware/tigon2/tigon2.elf", "--payload", 18, "--count", 5]
    for place in 0x248, 0x24C, 0x268:
        command += ["--print", f"nic.sram.bytes[{place:#x}]"]
    done = subprocess.run([str(word) for word in [*command, "--print", "driver.linked"]], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    values = [line.split("=")[-1].split()[-1] for line in done.stdout.splitlines() if "nic.sram" in line or "driver.linked" in line]
    assert [int(value, 0) for value in values[:3]] == [0x70] * 3 and values[3] in ("1", "true"), done.stdout


@pytest.mark.parametrize("promiscuous", [True, False])
def test_the_driver_chooses_whose_frames_it_gets(run: Run, tmp_path: Path, promiscuous: bool) -> None:
    """This station is 02:00:00:00:00:01; one frame each for it, for another, for everybody and for a group."""
    to = ["020000000001", "020000000002", "ffffffffffff", "01005e000001"]
    frames = [bytes.fromhex(address) + noise(100, i) for i, address in enumerate(to)]
    packets.write(tmp_path / "in.pcap", (packets.Packet(1000000 * i, one) for i, one in enumerate(frames)))
    arguments = ["--receive", tmp_path / "in.pcap", "--received", tmp_path / "out.pcap", "--mode", "timed", "--set", f"driver.promiscuous={str(promiscuous).lower()}"]
    got = run("one", *arguments)
    wanted = frames if promiscuous else [frames[0], frames[2]]
    assert [p.data for p in packets.read(tmp_path / "out.pcap")] == wanted
    assert got["nic.mac_rx", "filtered"] == 4 - len(wanted)


def test_groups_are_joined(run: Run, tmp_path: Path) -> None:
    """Frames of two groups come through, those of another are dropped."""
    to = ["01005e000001", "01005e000002", "333300000001", "ffffffffffff"]
    frames = [bytes.fromhex(address) + noise(100, i) for i, address in enumerate(to)]
    packets.write(tmp_path / "in.pcap", (packets.Packet(1000000 * i, one) for i, one in enumerate(frames)))
    arguments = ["--receive", tmp_path / "in.pcap", "--received", tmp_path / "out.pcap", "--mode", "timed", "--set", "driver.promiscuous=false"]
    got = run("one", *arguments, "--set", "driver.groups=33:33:00:00:00:01,01:00:5e:00:00:02")
    assert [p.data for p in packets.read(tmp_path / "out.pcap")] == frames[1:]
    assert got["nic.mac_rx", "filtered"] == 1


@pytest.mark.parametrize("end", ["--send", "--receive"])
@pytest.mark.parametrize("length,told", [(2049, "packet 2: it has 2049 bytes; at most 1518 fit"), (1515, "packet 2: it has 1515 bytes; at most 1514 fit without a VLAN tag"), (13, "frame 2 has 13 bytes, less than an Ethernet header")])
def test_frames_that_are_none_end_the_run_with_a_line(simulators, build_dir: Path, tmp_path: Path, length: int, told: str, end: str) -> None:
    """Frames of the host and of the wire."""
    packets.write(tmp_path / "out.pcap", [packets.Packet(0, bytes(60)), packets.Packet(1000, bytes(length))])
    command = [simulators[1], "--quiet", "--firmware", build_dir / "firmware/tigon2/tigon2.elf", end, tmp_path / "out.pcap"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and told in done.stderr and len(done.stderr.splitlines()) == 1


def capture(path: Path, frames: list[bytes], link: int = 1, limit: int = 262144) -> None:
    records = (struct.pack("<IIII", 1000 + i, 0, len(frame), len(frame)) + frame for i, frame in enumerate(frames))
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, limit, link) + b"".join(records))


def test_an_fcs_in_a_capture_is_taken_off(run: Run, build_dir: Path, tmp_path: Path) -> None:
    """By the simulator and by the harness, where the header of the file says that there is one."""
    frames = [bytes.fromhex("020000000001020000000002") + noise(48 + 9 * i, i) for i in range(4)]
    capture(tmp_path / "in.pcap", [frame + b"\1\2\3\4" for frame in frames], link=0x24000001)
    assert [p.data for p in packets.read(tmp_path / "in.pcap", build_dir)] == frames
    run("one", "--receive", tmp_path / "in.pcap", "--received", tmp_path / "out.pcap")
    assert [p.data for p in packets.read(tmp_path / "out.pcap")] == frames


@pytest.mark.parametrize(
    ("frame", "link", "limit", "told"),
    [
        (bytes(70), 1, 64, "packet 1: it has 70 bytes, but the file's header limits packets to 64 bytes"),
        (bytes(3), 0x24000001, 262144, "packet 1: it has 3 bytes, fewer than the FCS that the file's header declares (4)"),
    ],
)
def test_headers_of_captures_that_fit_no_frame(simulators, build_dir: Path, tmp_path: Path, frame: bytes, link: int, limit: int, told: str) -> None:
    capture(tmp_path / "in.pcap", [frame], link, limit)
    command = [simulators[1], "--quiet", "--firmware", build_dir / "firmware/tigon2/tigon2.elf", "--receive", tmp_path / "in.pcap"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and told in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("groups", ["01:00:5e", "00:00:5e:00:00:01", "01:00:5e:00:00:01,", "01:00:5e:00:00:100", "x"])
def test_a_wrong_list_of_groups_is_refused(simulators, build_dir: Path, groups: str) -> None:
    command = [simulators[1], "--quiet", "--firmware", build_dir / "firmware/tigon2/tigon2.elf", "--set", f"driver.groups={groups}"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and f"groups: '{groups}' is not a list of group addresses" in done.stderr


# ---- The words of the MAC statistics, seen by a scripted processor and by the host -----------------------------------------
WORDS = {"fcs": 0xC8, "short": 0xD4, "fragment": 0xD4, "long": 0xD8, "jabber": 0xD8, "error": 0xDC}


@pytest.mark.parametrize("kind", WORDS)
def test_the_mac_statistics_say_what_was_wrong(chip: Chip, kind: str) -> None:
    """Nine frames, every third bad; both the processor and the host's window see the count, and those of the other kinds are 0."""
    frames = [noise(100 + i, i) for i in range(9)]
    script = chip.script()
    script.write("mac_rx_reference", RX_RING + 0xFF8)
    script.write("mac_rx_state", 2)
    script.at(30000)
    places = {address: script.read(address) for address in sorted(set(WORDS.values()))}
    kept, producer = script.read(0xFC), script.read("mac_rx_producer")
    window = ["0 write 4 0x40 0x20", *(f"31000 read 4 {0x400 + address:#x}" for address in places)]
    settings = {"ethernet.input": "in.pcap", "ethernet.mode": "rate", "ethernet.faults": f"{kind}/3"}
    own, host, _ = chip.run(script, cycles=40000, settings=settings, files={"in.pcap": pcap(frames)}, window=window)
    expected = [3 * (address == WORDS[kind]) for address in places]
    assert [own[place].data for place in places.values()] == expected == [a.data for a in host[1:]]
    assert own[producer].data == RX_RING + 8 * 6
    groups = sum(one[0] & 1 for i, one in enumerate(frames) if i % 3 != 2)
    assert own[kept].data == 6 - groups


def test_a_full_ring_counts_no_space(chip: Chip) -> None:
    script = chip.script()
    script.write("mac_rx_reference", RX_RING + 8 * 4)
    script.write("rx_buffer_base", RX_BASE)
    script.write("mac_rx_state", 2)
    script.at(30000)
    space = script.read(0xEC)
    frames = [struct.pack(">Q", 2) + noise(100, i) for i in range(9)]
    settings = {"ethernet.input": "in.pcap", "ethernet.mode": "rate"}
    replies, *_ = chip.run(script, cycles=40000, settings=settings, files={"in.pcap": pcap(frames)})
    assert replies[space].data == 6 == chip.last.stat("nic.mac_rx", "no_descriptor")
