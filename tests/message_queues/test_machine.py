"""Message queues of a user's program on the whole machine, with a station that sends the frames back: data, mixture with the host's
rings, faults of the bus, and what latency and bandwidth are."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import dpkt
import pytest

from harness.net import packets
from tests.message_queues.program import PAGE, C, Done, Program, netlist
from tests.modules.assists import noise, pcap
from tests.modules.wire.stations import MAC, udp
from tests.tigon2.conftest import AS_ELSEWHERE

pytestmark = pytest.mark.optimised

ECHO = ("--set", f"station.echo_ethertype={C['MESSAGE_TYPE']}")
BACK = 32 * PAGE + 5  # where messages are received
DONE = C["MESSAGE_DONE"]
FRAME, ONE_FRAME = 24 + 14 + 16, 1484  # bytes on the line besides the data: preamble, gap, FCS, headers


@pytest.fixture(scope="session")
def built(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """built(options of lss build): the machine."""
    folder = tmp_path_factory.mktemp("messages")
    (folder / "messages.lss").write_text(netlist(root))

    def build(*options: str) -> Path:
        simulator = folder / f"sim{'_'.join(options).replace('/', '_')}"
        if not simulator.exists():
            command = [build_dir / "bin/lss", "build", "messages.lss", "-o", simulator, "-I", root / "examples/tigon2", *AS_ELSEWHERE, *options]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return simulator

    return build


@pytest.fixture
def program(build_dir: Path) -> Program:
    return Program(build_dir / "firmware/tigon2_messages/tigon2_messages.elf")


def to_and_fro(program: Program, lengths: list[int], pause: int = 100_000) -> dict[int, tuple[int, int, bytes]]:
    """A message at a time, there and back; returns by number: the cycle in which it is posted, its length and data."""
    posted = {}
    program.put(0, noise(65536, 5))
    for length in lengths:
        place = length % 7 + 4093
        program.cycle += pause
        program.post("receive", BACK, length)
        program.ring("receive")
        program.cycle += 10_000
        number = program.post("send", place, length)
        program.ring("send")
        posted[number] = (program.cycle, length, noise(65536, 5)[place : place + length])
    return posted


def come_back(done: Done, posted: dict[int, tuple[int, int, bytes]]) -> None:
    for number, (_, length, _) in posted.items():
        assert done.completion("send", number) == done.completion("receive", number) == (DONE, length), number
    _, length, data = posted[max(posted)]
    assert done.data(0, BACK + length)[BACK:] == data


@pytest.mark.parametrize("assist", ["true", "false"], ids=["assist", "software"])
@pytest.mark.parametrize("lengths", [[1, 2, 1483, 1484, 1485, 4096, 8000], [60_000, 5000, 1]], ids=["short", "long"])
def test_messages_come_back(built, program: Program, tmp_path: Path, assist: str, lengths: list[int]) -> None:
    posted = to_and_fro(program, lengths)
    come_back(program.run(built(), tmp_path, "--assist", assist, *ECHO, count=32 * PAGE + 65536), posted)


@pytest.mark.parametrize("faults", ["", "read_abort%2,read_parity%2,write_abort%2,write_parity%2"], ids=["clean", "faults"])
def test_messages_and_the_rings_of_the_host(built, program: Program, tmp_path: Path, faults: str) -> None:
    """Datagrams that the station sends back go both ways meanwhile; transfers that fail on the bus are repeated."""
    requests = [udp(noise(18 + 29 * n % 1400, n), 7) for n in range(200)]
    (tmp_path / "send.pcap").write_bytes(pcap(requests))
    posted = to_and_fro(program, [9000, 1, 20_000, 1484, 30_000, 60_000], 20_000)
    program.cycle += 300_000
    options = [*ECHO, "--send", "send.pcap", "--received", "received.pcap", "--set", f"host.faults={faults}", "--set", "driver.send_most=4"]
    options += ["--mode", "rate", "--rate", "250 Mb/s", "--set", "station.capture=wire.pcap"]
    done = program.run(built(), tmp_path, *options, count=32 * PAGE + 65536)
    come_back(done, posted)
    received = [one.data for one in packets.read(tmp_path / "received.pcap")]
    replies = [dpkt.ethernet.Ethernet(one).data.data.data for one in received]
    assert sorted(replies) == sorted(one[42:] for one in requests)
    wire = [one.data for one in packets.read(tmp_path / "wire.pcap") if one.data[12:14] == b"\x88\xb5"]
    assert [one[:12] for one in wire].count(MAC + wire[0][6:12]) == len(wire) // 2
    if not faults:
        kinds = [one.data[12:14] for one in packets.read(tmp_path / "wire.pcap")]
        changes = sum(a != b for a, b in zip(kinds, kinds[1:], strict=False))
        assert changes > 20, "frames of both alternate on the wire"


def test_a_program_that_reaches_its_page_only(built, build_dir: Path, tmp_path: Path) -> None:
    """Entries and doorbell by the page that a card with user pages shows it."""
    program = Program(build_dir / "firmware/tigon2_messages/tigon2_messages.elf", own_page=True)
    posted = to_and_fro(program, [1, 1484, 20_000])
    done = program.run(built("-D", "user_pages=true"), tmp_path, *ECHO, count=32 * PAGE + 65536)
    come_back(done, posted)


def test_builds_and_restored_runs_agree(built, program: Program, tmp_path: Path) -> None:
    """Release and debug builds, and runs that go on from a checkpoint in the middle of a message."""
    posted = to_and_fro(program, [1, 20_000, 1485])
    command = program.command(built(), tmp_path, *ECHO, count=32 * PAGE + 65536)
    middle = f"{posted[1][0] // 100 + 120} us"

    def hashes(name: str, *words: object, simulator: Path | None = None) -> list[str]:
        line = [str(simulator or built()), *command[1:], "--state-hashes", name, *map(str, words)]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        if simulator or name == "straight":
            come_back(program.ran(done, tmp_path), posted)
        return (tmp_path / name).read_text().splitlines()

    straight = hashes("straight")
    assert hashes("debug", simulator=built("--debug")) == straight
    first = [*command[:-1], middle, "--checkpoint", "middle"]
    assert subprocess.run(first, cwd=tmp_path, capture_output=True).returncode == 0
    restored = hashes("restored", "--restore", "middle", "--outputs", "continue")
    assert len(restored) > 2 and restored[-1] == straight[-1]


# ---- What it takes.  EMP, the published message layer on this chip: 23 us and 880 Mb/s.  docs/firmware.md has the figures.


def test_latency(built, program: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the first word of the entry until the completion of the message that came back: the way through the NIC once in each direction."""
    posted = to_and_fro(program, [1, 100, 1000, 1484, 4000, 8000, 60_000])
    done = program.run(built(), tmp_path, *ECHO)
    taken = {length: (done.completed_at("receive", number) - cycle) / 100 for number, (cycle, length, _) in posted.items()}
    with capsys.disabled():
        print("\n  there and back: " + ", ".join(f"{length} B {time:.1f} us" for length, time in taken.items()))
    assert list(taken.values()) == sorted(taken.values())
    assert 17 < taken[1] <= taken[100] < 23 and 110 < taken[8000] < 135


@pytest.mark.parametrize("both", [False, True], ids=["one way", "both ways"])
@pytest.mark.parametrize("length", [1000, 1484, 8000, 60_000])
def test_bandwidth(built, program: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str], both: bool, length: int) -> None:
    """Of messages that are posted together, each way: counted at the station, without the first third of the frames."""
    count = 60
    for queue in ["receive", "send"] if both else ["send"]:
        for _ in range(count):
            program.post(queue, BACK - 5 if queue == "receive" else 0, length)
        program.ring(queue)
        program.cycle += 100_000
    program.cycle += length * count * 2  # at 400 Mb/s
    done = program.run(built(), tmp_path, *(ECHO if both else ()))
    queue = "receive" if both else "send"
    assert all(done.completion(queue, n) == (DONE, length) for n in range(count))
    frames = done.arrivals[len(done.arrivals) // 3 :]
    rate = 8 * sum(size - 18 - 16 for _, size in frames[1:]) / ((frames[-1][0] - frames[0][0]) / 100)
    with capsys.disabled():
        print(f"\n  {length} B {'both ways' if both else 'one way'}: {rate:.0f} Mb/s of data")
    most = 1000 * ONE_FRAME / (ONE_FRAME + FRAME)
    assert rate < most + 0.5
    if length >= 1484:
        assert rate > (0.7 if both else 0.99) * most
