"""The task-queue firmware on a functional model of the 10 Gb/s NIC: any number of cores, stepped in an order drawn from
a seed.  Frames must come through byte for byte and in order, whichever core took them and however flags are set."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.firmware.nic10g import EVENTS, FETCH_PRODUCER, Board

COUNTS = pytest.mark.parametrize("cores", [1, 2, 3, 8, 16])
TAKEN_AT_ONCE = 0xA5  # of the events: frames to send, descriptors that were fetched, received frames, reports
ORDERINGS = pytest.mark.parametrize("ordering", ["atomic", "linked", "locked"])


@pytest.fixture(scope="session")
def nic_model(build_dir: Path, made: Callable[..., Path]) -> Path:
    """The functional model of the NIC, as a library."""
    return made(build_dir, "lib/tests/libnic10gmodel.so")


@pytest.fixture
def board(build_dir: Path, nic_model: Path):
    made: list[Board] = []

    def make(cores: int, ordering: str = "best", **options) -> Board:
        made.append(Board(nic_model, build_dir / "firmware/nic10g/nic10g.elf", cores, ordering, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def frames(count: int, seed: int) -> list[bytes]:
    draw = random.Random(seed)
    return [number.to_bytes(4, "big") + draw.randbytes(draw.choice([56, 60, 333, 1510])) for number in range(count)]


def exchange(
    nic: Board, out: list[bytes], into: list[bytes], seed: int, cut=lambda frame: (frame[:42], frame[42:])
) -> None:
    """Sends and receives all of them as fast as the rings take them, in bursts, and compares."""
    draw = random.Random(seed)
    left, came, offered, handed = [], [], 0, 0
    nic.post(511)
    for _ in range(20000):
        burst = draw.choice([1, 3, 16, 40])
        while burst and handed < len(out) and len(pieces := cut(out[handed])) <= nic.room():
            nic.send(*pieces)
            handed, burst = handed + 1, burst - 1
        burst = draw.choice([1, 3, 16, 40])
        while burst and offered < len(into) and nic.receive(into[offered]):
            offered, burst = offered + 1, burst - 1
        nic.run(draw.choice([100, 1000, 6000]))
        left += nic.sent()
        fresh = nic.received()
        came += fresh
        nic.post(len(fresh))
        if len(left) == len(out) and len(came) == len(into) and nic.room() == 511:
            break
    assert left == out
    assert came == into
    assert nic.room() == 511
    nic.until(lambda: not nic.lib.nic_register(nic.chip, EVENTS) & TAKEN_AT_ONCE, "the end of its events")


@COUNTS
@ORDERINGS
def test_both_ways(board, cores: int, ordering: str) -> None:
    seed = cores
    exchange(board(cores, ordering, seed=seed), frames(1200, 1), frames(1200, 2), seed)


@pytest.mark.parametrize("bundle", [1, 4])
@ORDERINGS
def test_small_bundles(board, bundle: int, ordering: str) -> None:
    exchange(board(4, ordering, bundle=bundle), frames(700, 3), frames(700, 4), bundle)


@pytest.mark.parametrize("cores", [1, 6])
def test_one_way_only(board, cores: int) -> None:
    exchange(board(cores), frames(1500, 5), [], 5)
    exchange(board(cores), [], frames(1500, 6), 6)


def test_frames_in_any_number_of_pieces(board) -> None:
    draw = random.Random(7)

    def cut(frame: bytes) -> list[bytes]:
        places = sorted(draw.sample(range(1, len(frame)), draw.choice([0, 1, 2, 5, 31, 59, len(frame) // 4])))
        return [frame[a:b] for a, b in zip([0, *places], [*places, len(frame)], strict=True)]

    exchange(board(5), frames(400, 7), [], 7, cut)


def test_every_length(board) -> None:
    every = [bytes((length + k) & 0xFF for k in range(length)) for length in [*range(43, 130), 1513, 1514] * 2]
    exchange(board(3), every, every, 8)


def test_a_frame_is_reported_without_others(board) -> None:
    """One frame each way, far fewer than the counts after which the host is told."""
    nic = board(2)
    nic.post(4)
    nic.run(20_000)
    before = nic.interrupts
    nic.send(b"x" * 42, b"y" * 100)
    assert nic.receive(b"z" * 60)
    nic.until(lambda: nic.word(0x200) == 1, "the received frame")
    nic.until(lambda: nic.word(0x204) == 2, "the report of the sent frame")
    nic.until(lambda: nic.interrupts > before, "an interrupt")
    assert nic.received() == [b"z" * 60]
    assert nic.sent() == [b"x" * 42 + b"y" * 100]


def test_as_many_sent_frames_are_reported_together_as_the_host_requests(board) -> None:
    """Not one fewer, and not one more, where it may take as long as it likes."""
    nic = board(2, send_ticks=1 << 30)
    for _ in range(15):
        nic.send(b"x" * 60)
    nic.run(100_000)
    assert nic.word(0x204) == 0 and len(nic.sent()) == 15
    nic.send(b"x" * 60)
    nic.until(lambda: nic.word(0x204) == 16, "the report")


def test_a_wire_that_takes_nothing(board) -> None:
    """The rings fill, nothing is overwritten, and all goes on when the wire does."""
    nic, out = board(4), frames(900, 9)
    nic.lib.nic_hold(nic.chip, True)
    handed = 0
    for _ in range(60):
        while handed < len(out) and nic.room() >= 2:
            nic.send(out[handed][:42], out[handed][42:])
            handed += 1
        nic.run(4000)
    assert not nic.sent()
    nic.lib.nic_hold(nic.chip, False)
    left: list[bytes] = []
    for _ in range(2000):
        while handed < len(out) and nic.room() >= 2:
            nic.send(out[handed][:42], out[handed][42:])
            handed += 1
        nic.run(2000)
        left += nic.sent()
        if len(left) == len(out):
            break
    assert left == out


def test_a_host_without_buffers(board) -> None:
    """Frames wait in the NIC for buffers; what the MAC cannot keep it drops, and the rest comes in order."""
    nic, into = board(4), frames(700, 10)
    kept = [frame for frame in into if nic.receive(frame)]
    nic.run(50_000)
    assert not nic.received()
    assert 100 < len(kept) < len(into)
    came: list[bytes] = []
    for _ in range(3000):
        nic.post(min(7, 511 - (nic.posted - nic.returned)))
        nic.run(2000)
        came += nic.received()
        if len(came) == len(kept):
            break
    assert came == kept


def test_few_descriptors_are_fetched_when_hardly_any_are_ready(board) -> None:
    """Each transfer on the host's bus has its price: while others are ready, the NIC waits for more to fetch."""
    nic = board(1)
    fetches = []
    for count in [3, 29, 15, 5, 11, 1]:  # none is ready; many; too few; no longer too few; too few; up to a boundary
        nic.post(count)
        nic.run(20_000)
        fetches.append(nic.lib.nic_register(nic.chip, FETCH_PRODUCER))
    assert fetches == [1, 2, 2, 3, 3, 4]


def test_interleavings(board) -> None:
    for seed in range(20, 28):
        exchange(
            board(8, "linked" if seed & 1 else "atomic", seed=seed, bundle=2),
            frames(150, seed),
            frames(150, -seed),
            seed,
        )


@pytest.mark.parametrize(
    "wrong", [{"send_entries": 1024}, {"receive_entries": 96}, {"return_entries": 256}, {"buffer_bytes": 1500}]
)
def test_a_host_that_requests_what_cannot_be(board, wrong: dict[str, int]) -> None:
    """The firmware does not come up, which is what a driver waits for."""
    with pytest.raises(AssertionError, match="the firmware up did not come"):
        board(2, **wrong)


def test_a_transfer_that_fails(board) -> None:
    """The assist goes on, and the host learns how many failed."""
    nic = board(3)
    nic.lib.nic_write(nic.chip, 0x110, 1 << 24)
    nic.until(lambda: not nic.lib.nic_register(nic.chip, 0x110), "the error cleared")
    exchange(nic, frames(20, 11), frames(20, 12), 11)
    assert nic.word(0x20C) == 1


@pytest.mark.soak
def test_many_interleavings(board) -> None:
    for seed in range(2000, 3000):
        draw = random.Random(seed)
        cores, ordering = draw.choice([1, 2, 3, 5, 8, 16]), draw.choice(["atomic", "linked", "locked"])
        settings = {"send_most": draw.choice([1, 16, 400]), "receive_most": draw.choice([1, 8, 100])}
        nic = board(cores, ordering, seed=seed, bundle=draw.choice([0, 1, 2, 3, 4, 8]), **settings)
        exchange(nic, frames(draw.choice([0, 300, 700]), seed), frames(draw.choice([0, 300, 700]), -seed), seed)
        nic.close()
