"""Message queues of a user's program (firmware/tigon2_messages) on the functional model: every frame and every byte of memory."""

import random
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.firmware.board import SEND_ENTRIES, Board
from tests.message_queues.queues import DATA, ENTRIES, OWN, PAGE, PEER, C, Queues, frames_of
from tests.sample import sampled

Make = Callable[..., Queues]
DONE = C["MESSAGE_DONE"]
# Who carries out the DMA rings, and whether the host asks for checksums, as drivers of operating systems do.
ASSIST, SOFTWARE, SECOND = {"assist": True}, {"assist": False}, {"assist": False, "processors": 2}
SUMS = {"flags": {"send": 9, "standard": 3}, "little": True}
every_driver = pytest.mark.parametrize("options", [ASSIST, SOFTWARE, SECOND, ASSIST | SUMS], ids=["assist", "software", "second", "sums"])


@pytest.fixture
def queues(build_dir: Path, chip_model: Path) -> Iterator[Make]:
    """queues(...): a chip that is up, with open queues."""
    made: list[Board] = []

    def make(pages: int = 48, **options: object) -> Queues:
        made.append(Board(chip_model, build_dir / "firmware/tigon2_messages/tigon2_messages.elf", **options))
        return Queues(made[-1], pages)

    yield make
    for one in made:
        one.close()


def content(length: int, seed: int = 0) -> bytes:
    return random.Random(seed * 100_003 + length).randbytes(length)


def padded(frame: bytes) -> bytes:
    return frame.ljust(60, b"\0")


def accept(b: Board, frame: bytes) -> None:
    """The MAC takes it, sooner or later."""
    b.until(lambda: b.receive(frame), "room for a frame")


# One byte, around a frame, around two, and around a page; up to 64 KiB.
LENGTHS = [1, 2, 29, 30, 31, 100, 1483, 1484, 1485, 2967, 2968, 2969, 4095, 4096, 4097, 8000, 65535, 65536]


@every_driver
@pytest.mark.parametrize("offset", [0, 1, 2614, 4095])
def test_messages_of_all_lengths_both_ways(queues: Make, options: dict, offset: int) -> None:
    """Across pages, from places that are not aligned; the frames are sent back by the other end, to another place."""
    q = queues(**options)
    b, back = q.board, 24 * PAGE + 3
    for number, length in enumerate(LENGTHS):
        message = content(length, offset)
        around = q.get(back - 3, 3), q.get(back + length, 5)
        q.put(offset, message)
        assert q.post("receive", back, length) == q.post("send", offset, length) == number
        q.ring("receive")
        q.ring("send")
        assert q.complete("send", number) == (DONE, length)
        frames = frames_of(message, number)
        left: list[bytes] = []
        b.until(lambda left=left, frames=frames: left.extend(f for f, _ in b.sent()) or len(left) == len(frames), f"the frames of {length} B")
        assert left == frames
        for frame in frames:
            accept(b, padded(OWN + PEER + frame[12:]))
        assert q.complete("receive", number) == (DONE, length)
        assert q.get(back, length) == message
        assert (q.get(back - 3, 3), q.get(back + length, 5)) == around
    assert q.dropped() == q.ignored() == 0


@every_driver
@pytest.mark.parametrize("seed", sampled([1, 2, 3], every=3))
def test_queues_and_rings_at_work_together(queues: Make, options: dict, seed: int) -> None:
    """Both queues wrap several times, the packet memory and all rings wrap, and the host's rings carry frames meanwhile."""
    q = queues(**options, most_sent=60, most_received=25, seed=seed)
    b, r = q.board, random.Random(seed)
    b.post("standard", 500)
    into, out, came, left, messages = [], [], [], [], []
    expected: dict[int, bytes] = {}  # of the messages to receive
    checked: set[int] = set()
    pending: list[bytes] = []
    posted = turns = 0
    while len(messages) < 200 or len(came) < 800 or len(left) < 1200:
        turns += 1
        assert turns < 6000, f"{len(messages)} messages, {len(came)} frames came, {len(left)} left"
        while posted < 8 or posted - 8 in checked:
            q.post("receive", 24 * PAGE + posted % 8 * 8192 + posted % 7, 8000)
            posted += 1
        q.ring("receive")
        n = len(messages)
        if n < posted and (n < 8 or q.completion("send", n - 8)) and r.random() < 0.5:
            message = content(r.choice([1, 90, 1484, 3000, 8000]), n)
            at = n % 8 * 8192 + n % 5
            q.put(at, message)
            q.post("send", at, len(message))
            q.ring("send")
            messages.append(message)
            expected[n] = message
            pending += [padded(OWN + PEER + f[12:]) for f in frames_of(message, n)]
        for _ in range(r.randrange(6)):
            message_frame = bool(pending) and r.random() < 0.6
            frame = pending[0] if message_frame else content(r.choice([60, 61, 700, 1514]), len(into) + 7)
            if not b.receive(frame):
                break
            if message_frame:
                pending.pop(0)
            else:
                into.append(frame)
        for _ in range(r.randrange(6)):
            if (b.sends - b.sent_index()) % SEND_ENTRIES > 400:
                break
            frame = content(r.choice([60, 128, 900, 1514]), 100_000 + len(out))
            b.send([frame[:42], frame[42:]])
            out.append(frame)
        b.announce()
        b.run(r.randrange(100, 4000))
        found = b.returns()
        came += [f["data"] for f in found]
        left += [data for data, _ in b.sent()]
        if found:
            b.post("standard", len(found))
        for n in [n for n in expected if q.completion("receive", n)]:
            assert q.completion("receive", n) == (DONE, len(expected[n]))
            assert q.get(24 * PAGE + n % 8 * 8192 + n % 7, len(expected[n])) == expected.pop(n), f"message {n}"
            checked.add(n)
    for frame in pending:
        accept(b, frame)
    b.run(300_000)
    came += [f["data"] for f in b.returns()]
    left += [data for data, _ in b.sent()]
    assert came == into
    wire = [frame for n, message in enumerate(messages) for frame in frames_of(message, n)]
    assert [f for f in left if f[12:14] == b"\x88\xb5"] == wire and [f for f in left if f[12:14] != b"\x88\xb5"] == out
    assert all(q.completion("receive", n) == (DONE, len(message)) for n, message in expected.items())
    assert b.sent_index() == b.sends % SEND_ENTRIES and q.dropped() == q.ignored() == 0


@every_driver
def test_the_host_sends_without_pause(queues: Make, options: dict) -> None:
    """Messages and the frames of its ring take turns: neither waits for the other to end."""
    q = queues(**options)
    b, left = q.board, []
    q.put(0, content(65536))
    for _ in range(200):
        b.send([content(700, 1), content(800, 2)])
    b.announce()
    for _ in range(4):
        q.post("send", 0, 65536)
    q.ring("send")
    b.until(lambda: left.extend(f[12:14] == b"\x88\xb5" for f, _ in b.sent()) or len(left) == 200 + 4 * 45, "all frames", 4_000_000)
    assert 40 < sum(left[:150]) < 110, "each has a good share of what leaves while both have something to send"


WRONG = {
    "flags": ({"flags": 1}, "FLAGS"),
    "handle": ({"buffer": 1024}, "BUFFER"),
    "huge handle": ({"buffer": 0xFFFFFFFF}, "BUFFER"),
    "no buffer": ({"buffer": 700}, "PAGE"),
    "page 0 in the middle": ({"buffer": 0, "offset": 5 * PAGE - 1, "length": 2}, "PAGE"),
    "empty": ({"length": 0}, "LENGTH"),
    "beyond the end": ({"offset": 48 * PAGE - 100, "length": 101}, "LENGTH"),
    "begins at the end": ({"offset": 48 * PAGE, "length": 1}, "LENGTH"),
    "begins beyond the end": ({"offset": 0xFFFFFFFF, "length": 2}, "LENGTH"),
    "as long as all memory": ({"offset": 8, "length": 0xFFFFFFF8}, "LENGTH"),
    "beyond the table": ({"buffer": 1023, "offset": 0, "length": 1}, "PAGE"),
}


@pytest.mark.parametrize("queue", ["send", "receive"])
def test_wrong_entries_are_refused(queues: Make, queue: str) -> None:
    """Each with its error, and nothing is transferred; right ones before, between and after them are carried out."""
    q = queues()
    b = q.board
    q.set_page(5, 0)
    q.set_page(1023, q.host_page(0) | 2)
    before = bytes(b.host[0x31000:0x80000])
    numbers, good = {}, []
    for name, (fields, _) in WRONG.items():
        numbers[name] = q.post(queue, **({"offset": 0, "length": 100, "buffer": 0} | fields))
        good.append(q.post(queue, PAGE - 50, 100))
    q.ring(queue)
    for name, (_, error) in WRONG.items():
        assert q.complete(queue, numbers[name]) == (C[f"MESSAGE_ERROR_{error}"], 0), name
    b.run(100_000)
    sent = [frame for frame, _ in b.sent()]
    if queue == "send":
        message = q.get(PAGE - 50, 100)
        assert sent == [frame for n in good for frame in frames_of(message, n)]
        assert all(q.completion("send", n) == (DONE, 100) for n in good)
    else:
        assert not sent and not any(q.completion("receive", n) for n in good)
        for n in numbers.values():
            assert b.receive(padded(frames_of(content(100), n, OWN, PEER)[0]))
        b.run(100_000)
        assert q.counted("NO_ENTRY") == q.dropped() == len(WRONG)
    assert bytes(b.host[0x31000:0x80000]) == before


def test_pages_that_are_taken_away_during_a_message(queues: Make) -> None:
    """The rest of it is not transferred, in either direction."""
    q = queues()
    b = q.board
    q.put(0, content(60_000))
    q.post("send", 0, 60_000)
    q.post("receive", 24 * PAGE, 60_000)
    q.ring("receive")
    q.ring("send")
    left: list[bytes] = []
    while len(left) < 5:
        b.run(100)
        left += [frame for frame, _ in b.sent()]
    for page in range(10, 40):
        q.set_page(page, 0)
    assert q.complete("send", 0) == (C["MESSAGE_ERROR_PAGE"], 0)
    b.run(100_000)
    left += [frame for frame, _ in b.sent()]
    assert left == frames_of(content(60_000), 0)[: len(left)] and len(left) <= 10 * PAGE // DATA + 1
    assert b.receive(frames_of(content(60_000), 0, OWN, PEER)[0])
    assert q.complete("receive", 0) == (C["MESSAGE_ERROR_PAGE"], 0) and q.counted("REFUSED") == 1


def test_frames_without_an_entry_are_dropped_and_counted(queues: Make) -> None:
    """However many come: their memory is free again, and the frames of the host's ring arrive."""
    q = queues()
    b = q.board
    b.post("standard", 100)
    q.post("receive", 0, 3000)
    q.ring("receive")
    b.run(2000)
    dropped = 0
    for n in range(1500):
        frame = frames_of(content(1484, n), n + 1, OWN, PEER)[0]
        accept(b, frame)
        dropped += 1
    b.until(lambda: q.dropped() == dropped, "the count", 2_000_000)
    assert q.counted("NO_ENTRY") == dropped
    found, frame = [], content(1000)
    assert b.receive(frame)
    b.until(lambda: found.extend(b.returns()) or found, "the frame for the host's ring")
    assert found[0]["data"] == frame
    message = content(3000)
    for one in frames_of(message, 0, OWN, PEER):
        assert b.receive(padded(one))
    assert q.complete("receive", 0) == (DONE, 3000) and q.get(0, 3000) == message


def test_frames_in_wrong_order_and_unknown_numbers(queues: Make) -> None:
    q = queues()
    b = q.board
    messages = [content(4000, n) for n in range(4)]
    frames = [[padded(f) for f in frames_of(m, n, OWN, PEER)] for n, m in enumerate(messages)]
    for n in range(4):
        q.post("receive", n * 8192, 4000)
    q.ring("receive")
    b.run(3000)

    def arrive(*some: bytes) -> None:
        for one in some:
            assert b.receive(one)
        b.run(20_000)

    arrive(frames[0][0], frames[0][2], frames[0][0], frames[0][1])  # one too early, one twice
    assert q.counted("ORDER") == 2 and q.completion("receive", 0) is None
    arrive(frames[0][2])
    assert q.completion("receive", 0) == (DONE, 4000) and q.get(0, 4000) == messages[0]
    arrive(frames[0][0], *frames[2])  # complete before; and messages need not come in order
    assert q.counted("NO_ENTRY") == 1 and q.completion("receive", 2) == (DONE, 4000) and q.completion("receive", 1) is None
    arrive(*(padded(frames_of(messages[3], n, OWN, PEER)[0]) for n in (4, 67, 0xFFFFFFFF, 0xFFFFFFC3)))
    assert q.counted("NO_ENTRY") == 5
    arrive(frames[1][0], *frames[3], frames[1][2], frames[1][1])
    assert q.counted("ORDER") == 3 and q.completion("receive", 3) == (DONE, 4000) and q.completion("receive", 1) is None
    arrive(frames[1][2])
    assert q.completion("receive", 1) == (DONE, 4000)
    for n in range(4):
        assert q.get(n * 8192, 4000) == messages[n]
    assert q.dropped() == 8


def test_a_message_longer_than_its_entry(queues: Make) -> None:
    q = queues()
    q.post("receive", 0, 2000)
    q.ring("receive")
    q.board.run(3000)
    before = q.get(0, 8192)
    for frame in frames_of(content(2001), 0, OWN, PEER):
        assert q.board.receive(padded(frame))
    assert q.complete("receive", 0) == (C["MESSAGE_ERROR_ROOM"], 0)
    q.board.run(50_000)
    assert q.get(0, 8192) == before and (q.counted("REFUSED"), q.counted("NO_ENTRY"), q.dropped()) == (1, 1, 2)


def test_headers_that_contradict_themselves(queues: Make) -> None:
    q = queues()
    q.post("receive", 0, 4000)
    q.ring("receive")
    q.board.run(3000)
    before = q.get(0, 8192)
    good = bytearray(frames_of(content(100), 0, OWN, PEER)[0])
    # Of the header: queue, offset, length, bytes of data.
    wrong = [(14, 2, 1), (20, 4, 1), (20, 4, 0xFFFFFFFF), (24, 4, 99), (24, 4, 0), (28, 2, 0), (28, 2, 101), (28, 2, 1485)]
    for at, size, value in wrong:
        frame = bytearray(good)
        frame[at : at + size] = value.to_bytes(size, "big")
        assert q.board.receive(padded(bytes(frame)))
    assert q.board.receive(padded(bytes(good[:24])))
    q.board.run(100_000)
    assert q.counted("HEADER") == q.dropped() == len(wrong) + 1 and q.get(0, 8192) == before
    assert q.board.receive(padded(bytes(good)))
    assert q.complete("receive", 0) == (DONE, 100)


def test_doorbells_that_cannot_be_are_ignored(queues: Make) -> None:
    q = queues()
    b = q.board
    q.put(0, content(64))
    q.post("send", 0, 64)
    q.post("receive", PAGE, 64)
    for queue, wrong in product(("send", "receive"), (65, 1000, 0xFFFFFFFF)):
        q.ring(queue, wrong)
        b.run(5000)
    assert q.ignored() == 6 and not b.sent()
    q.ring("receive")
    q.ring("send")
    assert q.complete("send", 0) == (DONE, 64)
    q.ring("send", 0)  # fewer than before
    for _ in range(ENTRIES):
        q.post("receive", PAGE, 64)
    q.ring("receive", ENTRIES)
    b.run(40_000)
    assert q.ignored() == 7
    q.ring("receive", ENTRIES + 1)  # entry 0 is not complete
    b.run(5000)
    assert q.ignored() == 8
    assert b.receive(padded(frames_of(content(64), ENTRIES, OWN, PEER)[0]))
    b.run(20_000)
    assert q.counted("NO_ENTRY") == 1
    assert b.receive(padded(frames_of(content(64), 0, OWN, PEER)[0]))
    assert q.complete("receive", 0) == (DONE, 64)
    q.ring("receive", ENTRIES + 1)
    b.run(5000)
    assert b.receive(padded(frames_of(content(64), ENTRIES, OWN, PEER)[0]))
    assert q.complete("receive", ENTRIES) == (DONE, 64) and q.ignored() == 8


def test_the_doorbell_of_the_page(queues: Make) -> None:
    """One word for both queues; it counts modulo 2^16, and what it says is checked as the mailboxes are."""
    q = queues()
    b, frame = q.board, padded(frames_of(content(64), 0, OWN, PEER)[0])
    q.put(0, content(64))
    for count in range(1, 4):
        q.post("send", 0, 64)
        q.post("receive", PAGE, 64)
        q.ring_page()
        assert q.complete("send", count - 1) == (DONE, 64)
        assert b.receive(frame[:16] + (count - 1).to_bytes(4, "big") + frame[20:])
        assert q.complete("receive", count - 1) == (DONE, 64) and q.get(PAGE, 64) == content(64)
    for send, receive in (3 + 65, 3), (2, 3), (3, 2), (3, 3 + 65):
        q.ring_page(send, receive)
        b.run(5000)
    assert q.ignored() == 4 and len(b.sent()) == 3
    # A count that passes 2^16 in the program's page.
    while q.counts["send"] < 65_600:
        for _ in range(ENTRIES):
            q.post("send", 0, 1 if q.counts["send"] % 1000 else 0)
        q.ring_page()
        q.complete("send", q.counts["send"] - 1)
        b.sent()
    assert q.ignored() == 4


@every_driver
def test_closed_queues_touch_no_memory(queues: Make, options: dict) -> None:
    """Before they are opened and after they are closed, such frames are for the host's ring; opened again, numbers begin at 0."""
    q = queues(**options)
    b = q.board
    b.post("standard", 20)
    frame, found = padded(frames_of(content(100), 0, OWN, PEER)[0]), []
    for turn in range(3):
        q.put(0, content(60_000, turn))
        q.post("receive", 24 * PAGE, 60_000)
        q.post("send", 0, 60_000)
        q.ring("receive")
        q.ring("send")
        b.run(6000 + 1111 * turn)
        q.close()
        b.run(2000)
        b.sent()
        before = bytes(b.host[0x30000:0x100000])
        for page in range(48):
            q.set_page(page, 0)
        q.ring("send", 1)
        assert b.receive(frame)
        b.run(100_000)
        found += b.returns()
        assert [one["data"] for one in found] == [frame] * (turn + 1) and not b.sent()
        assert bytes(b.host[0x30000:0x100000]) == before and q.ignored() == turn + 1
        q.open()
        for page in range(48):
            q.set_page(page, q.host_page(page) | 48 - page)
    q.post("send", 0, 100)
    q.ring("send")
    assert q.complete("send", 0) == (DONE, 100)
    b.until(lambda: b.sent() == [(frames_of(q.get(0, 100), 0)[0], -1)], "the frame")


def test_without_a_place_for_completions_nothing_is_open(queues: Make) -> None:
    q = queues()
    q.board.share(q.control + 8, 0)
    q.post("send", 0, 100)
    q.ring("send")
    q.board.run(20_000)
    assert q.ignored() == 1 and not q.board.sent() and q.nic(q.control + 20) == 0
