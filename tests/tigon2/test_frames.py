"""The whole machine with its firmware: frames go in at one end and come out at the other, byte for byte.

Each run is checked twice, by the machine's own checker (whose first error ends the run) and here, from the files.
"""

import json
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.net import check, packets, traffic, udp
from harness.study.uses import throughput
from tests.tigon2.conftest import AS_ELSEWHERE

pytestmark = pytest.mark.optimised

LENGTHS = [*range(60, 128), 512, 1514]


@dataclass
class Carried:
    """What came out of a run."""

    sent: list[packets.Packet]
    received: list[packets.Packet]
    stats: dict

    def total(self, name: str) -> int:
        return sum(e["value"] for e in self.stats["statistics"] if e["name"] == name)


Run = Callable[..., Carried]


@pytest.fixture(scope="session")
def machines(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Builds the machine with given options, once a session."""
    folder, built = tmp_path_factory.mktemp("machines"), {}

    def build(*options: str) -> Path:
        if options not in built:
            simulator = folder / f"sim{len(built)}"
            command = [
                build_dir / "bin" / "lss",
                "build",
                root / "examples/tigon2/tigon2.lss",
                "-o",
                simulator,
                *(options if "--sanitize" in options else (*options, *AS_ELSEWHERE)),
            ]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            built[options] = simulator
        return built[options]

    return build


@pytest.fixture
def firmware(build_dir: Path) -> Path:
    return build_dir / "firmware/tigon2/tigon2.elf"


@pytest.fixture
def carry(machines, run_sim, firmware, build_dir, tmp_path) -> Run:
    """carry(send, receive, *options, build=(...)): plays frames both ways and compares what came out."""

    def run(
        send: list[bytes] | Path | None, receive: list[bytes] | Path | None, *options, build=(), drops=0
    ) -> Carried:
        arguments, given = ["--firmware", firmware], []
        for name, out, frames in ("send", "sent", send), ("receive", "received", receive):
            if isinstance(frames, list):
                packets.write(tmp_path / f"{name}.pcap", (packets.Packet(0, data) for data in frames))
                frames = tmp_path / f"{name}.pcap"
            given.append(frames)
            if frames:
                arguments += [f"--{name}", frames, f"--{out}", tmp_path / f"{out}.pcap"]
        if not (send and receive) and "--mode" not in options:
            arguments += ["--ratio_send", int(bool(send)), "--ratio_receive", int(bool(receive))]
        done = run_sim(machines(*build), *arguments, *options)
        outs = [
            tmp_path / f"{out}.pcap" if frames else None
            for out, frames in zip(("sent", "received"), given, strict=True)
        ]
        missing = 0
        for came, went in zip(given, outs, strict=True):
            verdict = check.check_files(came, went, build=build_dir)
            assert not verdict.wrong, verdict.wrong
            missing += verdict.missing
        carried = Carried(*(list(packets.read(out)) if out else [] for out in outs), done.stats)
        assert missing == carried.total("counted_drops")
        assert drops is None or missing == drops
        return carried

    return run


def raw(length: int, stream: int, number: int) -> bytes:
    """A frame that is no IP: addresses, an experimental type, and bytes that differ from frame to frame."""
    source, target = (udp.HOST, udp.PEER) if stream == traffic.TO_WIRE else (udp.PEER, udp.HOST)
    random = traffic.SplitMix64(length * 2 + stream + 1000 * number)
    body = b"".join(random.next().to_bytes(8, "big") for _ in range((length + 7) // 8))
    return (target.mac + source.mac + b"\x88\xb5" + body)[:length]


def both(lengths: list[int]) -> tuple[list[bytes], list[bytes]]:
    return tuple([raw(length, stream, k) for k, length in enumerate(lengths)] for stream in (0, 1))


def generated(size: str, frames: int, ratio: str, folder: Path) -> tuple[Path | None, Path | None]:
    files = traffic.generate(folder, size, frames, ratio)
    return files.send, files.receive


MACHINES = [(), ("-D", "processors=2")]


@pytest.mark.parametrize("build", [MACHINES[0], pytest.param(MACHINES[1], marks=pytest.mark.soak)], ids=["one", "two"])
def test_every_length(carry: Run, build: tuple) -> None:
    carried = carry(*both(LENGTHS), build=build)
    assert len(carried.sent) == len(carried.received) == len(LENGTHS)


@pytest.mark.parametrize("build", MACHINES, ids=["one", "two"])
def test_every_length_with_the_firmware_moving_data(carry: Run, build: tuple) -> None:
    carry(*both(LENGTHS), "--assist", "false", build=build)


def test_frames_shorter_than_the_minimum_come_out_padded(carry: Run) -> None:
    carried = carry(*both([14, 15, 42, 59]))
    assert {len(packet.data) for packet in carried.sent} == {60}


@pytest.mark.parametrize("size", ["18", "19", "100", "600", "1472", "18-1472", "18:7,576:4,1472:1"])
def test_udp_both_ways(carry: Run, tmp_path: Path, size: str) -> None:
    carried = carry(*generated(size, 300, "1:1", tmp_path))
    assert all(not udp.checksum_errors(packet.data) for packet in carried.sent + carried.received)


@pytest.mark.parametrize("ratio", ["1:2", "2:1", "1:0", "0:1", "1:7"])
def test_ratios(carry: Run, tmp_path: Path, ratio: str) -> None:
    sends, receives = ratio.split(":")
    options = ["--ratio_send", sends, "--ratio_receive", receives] if "0" not in ratio else []
    carry(*generated("200", 300, ratio, tmp_path), *options)


@pytest.mark.parametrize("build", MACHINES, ids=["one", "two"])
def test_a_real_capture(carry: Run, root: Path, tmp_path: Path, build: tuple) -> None:
    files = packets.split(root / "examples/tigon2/traffic/udp.pcap", "02:00:00:00:00:01", tmp_path)
    carried = carry(*files, build=build)
    assert len(carried.sent) + len(carried.received) == 200


def test_pcapng_is_read(carry: Run, tmp_path: Path) -> None:
    dpkt = pytest.importorskip("dpkt")
    frames = both([60, 100, 1514])[1]
    with (tmp_path / "in.pcapng").open("wb") as file:
        writer = dpkt.pcapng.Writer(file, snaplen=65535)
        for k, data in enumerate(frames):
            writer.writepkt(data, ts=float(k))
    assert [packet.data for packet in carry(None, tmp_path / "in.pcapng").received] == frames


def test_timed_traffic_keeps_its_pace(carry: Run, tmp_path: Path) -> None:
    frames = both([200] * 20)[1]
    packets.write(tmp_path / "paced.pcap", (packets.Packet(k * 150_000, data) for k, data in enumerate(frames)))
    times = [packet.time for packet in carry(None, tmp_path / "paced.pcap", "--mode", "timed").received]
    # Each frame is reported alone, so what is left of its latency is less than a poll of the driver.
    assert all(abs((later - sooner) - 150_000) < 60_000 for sooner, later in zip(times, times[1:], strict=False))


def test_too_much_is_dropped_and_counted(carry: Run, tmp_path: Path) -> None:
    _, receive = generated("18", 3000, "0:1", tmp_path)
    carried = carry(None, receive, "--mode", "rate", "--rate", "1 Gb/s", drops=None)
    assert carried.total("counted_drops") > 100 and len(carried.received) > 1000


def test_a_descriptor_trace_is_followed(carry: Run, tmp_path: Path) -> None:
    files = traffic.generate(tmp_path, "18-1472", 200, "1:1")
    carry(files.send, files.receive, "--descriptors", files.descriptors)


def test_buffers_are_as_long_as_the_trace_says(carry: Run, machines, run_sim, firmware, tmp_path: Path) -> None:
    """A frame that just fits comes through, one that is longer by a byte is dropped by the firmware, as the checker tells."""
    trace = tmp_path / "trace.txt"
    trace.write_text("descriptors 1\npost 0 20 600\n")
    carry(None, both([600] * 4)[1], "--descriptors", trace)
    packets.write(tmp_path / "longer.pcap", (packets.Packet(0, data) for data in both([600, 601, 600])[1]))
    arguments = ["--firmware", firmware, "--receive", tmp_path / "longer.pcap", "--ratio_send", 0, "--descriptors", trace]
    done = run_sim(machines(), *arguments, ok=False)
    assert "1 frames from wire to host are missing and 0 were faulty" in done.err


def test_frames_of_many_descriptors(carry: Run, tmp_path: Path) -> None:
    frames = both([600] * 4)[0]
    lines = [
        "descriptors 1",
        "# cut at odd places",
        "send 0 600",
        "send 0 14 586",
        "send 0 1 2 3 4 5 6 7 572",
        "send 9 300 300",
    ]
    (tmp_path / "trace.txt").write_text("\n".join(lines) + "\n")
    carry(frames, None, "--descriptors", tmp_path / "trace.txt")


def rate(carry: Run, tmp_path: Path, size: str, *build: str) -> float:
    carried = carry(*generated(size, 1500, "1:1", tmp_path), build=build)
    return throughput.throughput(carried.sent, carried.received, 600).payload_rate


@pytest.mark.slow
def test_faster_memory_is_faster_throughout(carry: Run, tmp_path: Path) -> None:
    assert rate(carry, tmp_path, "18", "-D", "sram_frequency=250MHz") > 1.09 * rate(carry, tmp_path, "18")


@pytest.mark.soak  # in `make test` fewer builds are compared, of all machines (tests/examples/test_builds_agree.py)
def test_no_run_depends_on_how_it_was_built(machines, run_sim, firmware, tmp_path: Path) -> None:
    files = traffic.generate(tmp_path, "18-1472", 120, "1:1")
    outcomes = set()
    for build in [(), (), ("-O0",), ("-O3",), ("--debug",)]:
        done = run_sim(
            machines(*build), "--firmware", firmware, "--send", files.send, "--receive", files.receive,
            "--sent", tmp_path / "sent.pcap", "--received", tmp_path / "received.pcap", timeout=900,
        )  # fmt: skip
        texts = json.dumps(done.stats["statistics"]), json.dumps(done.stats["run"])
        outcomes.add((*texts, (tmp_path / "sent.pcap").read_bytes(), (tmp_path / "received.pcap").read_bytes()))
    assert len(outcomes) == 1


GOOD_PCAP = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
BAD_INPUTS = [
    ("--receive", None, "No such file"),
    ("--receive", b"GIF89a", "unknown file format"),
    ("--receive", GOOD_PCAP + struct.pack("<IIII", 0, 0, 60, 60) + b"x" * 9, "truncated"),
    ("--receive", GOOD_PCAP + struct.pack("<IIII", 0, 0, 2000, 2000) + b"x" * 2000, "2000"),
    ("--firmware", None, "No such file"),
    ("--firmware", b"\x7fELF rubbish", "bad"),
    ("--firmware", b"", "bad"),
    ("--descriptors", b"something else\n", "begins with the line"),
    ("--descriptors", b"descriptors 12\nsend 0 60\n", "begins with the line 'descriptors 1'"),
    ("--descriptors", b"descriptors 1\nsend 0\n", "bad:2"),
    ("--descriptors", b"descriptors 1\nsend 0 7 7\n", "bad:2"),
    ("--descriptors", b"descriptors 1\npost 0 5000 1536\n", "bad:2"),
    ("--descriptors", b"descriptors 1\npost 0 50 2049\n", "bad:2: this driver's receive buffers are all of one size, up to 2048 bytes"),
    ("--descriptors", b"descriptors 1\npost 0 50 600\npost 0 50 700\n", "bad:3: this driver's receive buffers are all of one size"),
]


@pytest.mark.parametrize("option, content, message", BAD_INPUTS)
def test_bad_inputs_are_one_clear_line(machines, run_sim, firmware, tmp_path, option, content, message) -> None:
    if content is not None:
        (tmp_path / "bad").write_bytes(content)
    good = traffic.generate(tmp_path / "good", "60", 4, "1:1")
    options = {
        "--firmware": firmware,
        "--send": good.send,
        "--receive": good.receive,
        "--received": tmp_path / "out.pcap",
    }
    options[option] = tmp_path / "bad"
    done = run_sim(machines(), *(word for pair in options.items() for word in pair), ok=False)
    error = [line for line in done.err.splitlines() if ": error: " in line]
    assert len(error) == 1 and message in error[0] and "bad" in error[0], done.err
    assert done.err.count("\n") == 1, done.err
    assert not (tmp_path / "out.pcap").exists() and done.stats is None


SANITIZED = ("--sanitize", "-O0", "-D", "processors=2")  # optimising sanitized code takes clang a minute


@pytest.mark.soak
def test_sanitizers_find_nothing(carry: Run, tmp_path: Path) -> None:
    carry(*generated("18-1472", 24, "1:1", tmp_path), build=SANITIZED)


@pytest.mark.soak
def test_mutated_descriptor_traces_are_played_or_refused(machines, run_sim, firmware, tmp_path: Path) -> None:
    files = traffic.generate(tmp_path, "18-1472", 12, "1:1")
    original, random = files.descriptors.read_bytes(), traffic.SplitMix64(2026)
    for _ in range(10):
        mutant = bytearray(original)
        for _ in range(1 + random.next() % 3):
            at = random.next() % len(mutant)
            mutant[at : at + random.next() % 3] = b"\n \0-9z1"[random.next() % 7 :][:1]
        (tmp_path / "mutant").write_bytes(mutant)
        options = ["--send", files.send, "--receive", files.receive, "--descriptors", tmp_path / "mutant"]
        # A trace may be legal and starve the receive ring: then time ends the run.
        done = run_sim(machines(*SANITIZED), "--firmware", firmware, *options, "--time", "300 us", "--quiet", ok=None)
        assert done.status in (0, 1) and "runtime error" not in done.err and "Sanitizer" not in done.err, done.err
        assert done.status == 0 or ": error: " in done.err
