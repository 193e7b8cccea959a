"""The firmware on the functional model: what the machine's own driver does not ask for, and everything quickly."""

import random
import zlib
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from tests.firmware.board import (
    EVENTS,
    INFORMATION,
    READ_PRODUCER,
    RECEIVE_BUFFERS,
    RETURN_ENTRIES,
    RETURNS,
    SEND_BUFFERS,
    SEND_ENTRIES,
    SENDS,
    STANDARD,
    STATUS,
    TIMER,
    WRITE_PRODUCER,
    Board,
    turned,
)
from tests.isa.programs import symbols
from tests.sample import sampled

# Words of the statistics block, as drivers declare it; of 64-bit counts the low one.
IN_DISCARDS, OUT_DISCARDS, IN_OCTETS, IN_UNICAST, IN_MULTICAST, OUT_OCTETS, OUT_FRAMES = 19, 22, 37, 39, 41, 45, 47
UNKNOWN_COMMANDS, INTERRUPTS, EVENTS_LOST, NO_BUFFERS, DROPPED_FOR_SPACE = 72, 82, 95, 100, 119
MAC_TX_STATE, MAC_RX_STATE = 0x200, 0x220
EVENT_CONSUMER = 0x228  # in what the host and the firmware share

Make = Callable[..., Board]
both_modes = pytest.mark.parametrize("assist", [True, False], ids=["assist", "software"])


def content(length: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(length)


@both_modes
def test_start(board: Make, assist: bool) -> None:
    b = board(assist=assist)
    assert b.events() == [(1, 0), (6, 1)]
    assert int.from_bytes(bytes(b.sram[0x268:0x26C]), "big") == 0x1234  # the link is as the host asked


@pytest.mark.parametrize(
    ("mode", "enabled", "used"), [(0x12, 0, 0), (0x12, 1, 1), (0x52, 0, 1), (0x52, 1, 1), (0x4000021E, 1, 1)]
)
def test_the_hardware_walks_the_rings_on_request(board: Make, mode: int, enabled: int, used: int) -> None:
    """By the mode's bit 0x40, or by AssistState, which drivers set before they start the processor."""
    b = board(assist=False, mode=mode, assist_enabled=enabled)
    assert b.lib.model_register(b.chip, 0x11C) & 1 == used
    b.post("standard", 1)
    frame, found = content(100, 1), []
    assert b.receive(frame)
    b.until(lambda: found.extend(b.returns()) or found, "the frame")
    assert found[0]["data"] == frame


@both_modes
def test_descriptors_have_the_thresholds_that_the_host_set(board: Make, assist: bool) -> None:
    """And the bit that starts a transfer, which whoever carries out the ring writes into the state register with them."""
    b = board(assist=assist)
    b.send([content(60, 1)])
    b.announce()
    b.until(lambda: b.sent_index() == 1, "the report of the frame")
    for producer in READ_PRODUCER, WRITE_PRODUCER:
        end = b.lib.model_register(b.chip, producer) % len(b.sram)
        last = end & ~0x7FF | end - 32 & 0x7FF
        control = int.from_bytes(bytes(b.sram[last + 16 : last + 20]), "big")
        assert control & 0x1F4 == 0x84, f"{producer:#x}: {control:#x}"


@both_modes
def test_every_length_both_ways(board: Make, assist: bool) -> None:
    b = board(assist=assist)
    for given, length in enumerate([*range(60, 128), 512, 1513, 1514]):
        b.post("standard", 1)
        frame = content(length, length)
        assert b.receive(frame)
        b.send([frame[:42], frame[42:]])
        b.announce()
        found, left = [], []

        def done(found=found, left=left) -> bool:
            found += b.returns()
            left += b.sent()
            return bool(found and left and b.sent_index() == b.sends % SEND_ENTRIES)

        b.until(done, f"a frame of {length} B")
        assert [f["data"] for f in found] == [frame] and left == [(frame, -1)]
        assert (found[0]["index"], found[0]["error"]) == (given, 0)


@both_modes
@pytest.mark.parametrize("nic_ring", [False, True], ids=["host_ring", "nic_ring"])
@pytest.mark.parametrize("seed", sampled([3, 4, 5], every=3))
def test_bursts_over_many_turns_of_all_rings(board: Make, assist: bool, nic_ring: bool, seed: int) -> None:
    """Random lengths, pieces and pauses, and turns of two processors; buffers and rings wrap many times."""
    b = board(assist=assist, most_sent=60, most_received=25, seed=seed, nic_ring=nic_ring)
    r = random.Random(seed)
    b.post("standard", 500)
    into, out, came, left, turns, returned = [], [], [], [], 0, 0
    while len(came) < RETURN_ENTRIES + 300 or len(left) < 2000:
        turns += 1
        assert turns < 5000, f"{len(came)} frames came in and {len(left)} left"
        for _ in range(r.randrange(12)):
            frame = content(r.choice([60, 61, 64, 99, 700, 1514]), len(into))
            if b.receive(frame):
                into.append(frame)
        for _ in range(r.randrange(8)):
            if (b.sends - b.sent_index()) % SEND_ENTRIES > 400:
                break
            frame = content(r.choice([60, 63, 128, 900, 1514]), 100_000 + len(out))
            cuts = sorted(r.sample(range(1, len(frame)), r.randrange(3)))
            b.send([frame[i:j] for i, j in zip([0, *cuts], [*cuts, len(frame)], strict=True)])
            out.append(frame)
        b.announce()
        b.run(r.randrange(100, 6000))
        found = b.returns()
        came += [f["data"] for f in found]
        left += [data for data, _ in b.sent()]
        returned += len(found)
        if found:
            b.post("standard", len(found))
    b.run(200_000)
    came += [f["data"] for f in b.returns()]
    left += [data for data, _ in b.sent()]
    assert came == into and left == out
    assert b.sent_index() == b.sends % SEND_ENTRIES


def test_frames_go_to_the_ring_that_fits(board: Make) -> None:
    b = board(lengths={"mini": 128, "standard": 1518, "jumbo": 9000})
    for kind in ("mini", "standard", "jumbo"):
        b.post(kind, 20)
    frames = [content(n, n) for n in (60, 128, 129, 1518, 1519, 9000, 100, 3000)]
    found = []
    for frame in frames:
        assert b.receive(frame)
    b.until(lambda: found.extend(b.returns()) or len(found) == len(frames), "all frames")
    assert [f["data"] for f in found] == frames
    assert [f["opaque"] >> 16 for f in found] == [5, 5, 3, 3, 4, 4, 5, 4]
    assert [f["flags"] for f in found] == [0x1000, 0x1000, 0, 0, 0x10, 0x10, 0x1000, 0x10]


@pytest.mark.parametrize("sums", [0, 9, 3], ids=["plain", "sum", "sums"])
@pytest.mark.parametrize("lengths", [[4000, 200], [200, 4000], [4000] * 20 + [200], [200, 201, 4000, 202, 4000]], ids=str)
def test_a_frame_no_buffer_takes_is_dropped_and_counted(board: Make, lengths: list[int], sums: int) -> None:
    """Wherever it stands among those that the firmware takes from the MAC together, whatever is to be summed."""
    b = board(flags={"standard": sums})
    b.post("standard", 20)
    frames = [content(length, n) for n, length in enumerate(lengths)]
    for frame in frames:
        assert b.receive(frame)
    b.run(20_000)
    assert [f["data"] for f in b.returns()] == [frame for frame in frames if len(frame) < 4000]
    assert statistics(b)[IN_DISCARDS] == lengths.count(4000)


@both_modes
def test_the_host_takes_its_jumbo_buffers_back(board: Make, assist: bool) -> None:
    """Command 5, event 9: what needs such a buffer is dropped and counted until there are new ones, which begin at 0 again."""
    b = board(assist=assist, lengths={"standard": 1518, "jumbo": 9000}, most_received=1)
    b.post("standard", 40)
    b.post("jumbo", 60)
    large, small = [content(3000 + n, n) for n in range(8)], [content(200 + n, n) for n in range(8)]

    def arrive(frames: list[bytes], count: int) -> list[tuple[bytes, int]]:
        found: list[dict] = []
        for frame in frames:
            assert b.receive(frame)
        b.until(lambda: found.extend(b.returns()) or len(found) >= count, "the frames")
        b.run(5000)
        assert not b.returns()
        return [(one["data"], one["opaque"]) for one in found]

    def take_back() -> None:
        seen = len(b.events())
        b.command(5)
        b.until(lambda: len(b.events()) > seen, "the answer")
        assert b.events()[seen:] == [(9, 0)]
        b.posted["jumbo"] = 0
        b.mailbox(4, 0)

    assert arrive([large[0], small[0]], 2) == [(large[0], 4 << 16), (small[0], 3 << 16)]
    take_back()
    assert arrive([large[1], small[1]], 1) == [(small[1], 3 << 16 | 1)]
    assert statistics(b)[IN_DISCARDS] == 1
    b.post("jumbo", 1)
    b.run(5000)
    assert arrive([large[2], small[2]], 2) == [(large[2], 4 << 16), (small[2], 3 << 16 | 2)]
    assert arrive([large[3]], 0) == []  # it waits for a buffer
    take_back()
    assert arrive([small[3]], 1) == [(small[3], 3 << 16 | 3)]
    b.post("jumbo", 30)
    b.run(5000)
    assert arrive(large[4:], 4) == [(large[4 + n], 4 << 16 | n) for n in range(4)]
    assert statistics(b)[IN_DISCARDS] == 2


def internet_sum(data: bytes) -> int:
    data += b"\0" * (len(data) % 2)
    total = sum(int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@both_modes
def test_checksums_of_received_frames(board: Make, assist: bool) -> None:
    """The sum of everything behind the Ethernet header, valid where the flag says so."""
    b = board(assist=assist, flags={"standard": 9})
    b.post("standard", 400)
    frames, found = [], []
    for n in range(300):
        frames.append(content(60 + n * 7 % 1400, n))
        while not b.receive(frames[-1]):
            b.run(2000)
            found += b.returns()
    b.until(lambda: found.extend(b.returns()) or len(found) == 300, "all frames", 2_000_000)
    for frame, one in zip(frames, found, strict=True):
        assert one["data"] == frame
        assert one["flags"] & 3 == 1 and one["checksum"] == internet_sum(frame[14:])


# Within a ring between two of its entries, a buffer, the header of a frame in one, and behind all of it.
BOUNDARIES = {"sends": SENDS + 16 * 5, "buffers given": STANDARD + 32 * 4, "returns": RETURNS + 32 * 3, "events": EVENTS + 8, "indices": STATUS + 16,
              "header": RECEIVE_BUFFERS + 2 * 0x800 + 8, "frame": RECEIVE_BUFFERS + 3 * 0x800 + 40, "sent": SEND_BUFFERS + 0x800 + 32, "information": INFORMATION + 0x200, "nothing": 0}  # fmt: skip


@pytest.mark.parametrize(("place", "assist"), sampled(product(BOUNDARIES, (True, False)), every=3))
def test_host_memory_crosses_four_gigabytes(board: Make, assist: bool, place: str) -> None:
    b, frames, found, left = board(assist=assist, flags={"standard": 9}, begin=(1 << 32) - BOUNDARIES[place]), [content(60 + 97 * n, n) for n in range(12)], [], []
    for n, frame in enumerate(frames):
        b.post("standard", 1)
        assert b.receive(frame)
        b.send([frame[:42], frame[42:]])
        b.announce()
        b.until(lambda to=n + 1: found.extend(b.returns()) or left.extend(b.sent()) or (len(found), len(left)) == (to, to), f"frame {n}")
    assert [one["data"] for one in found] == frames and left == [(frame, -1) for frame in frames]
    assert [one["checksum"] for one in found] == [internet_sum(frame[14:]) for frame in frames]
    b.until(lambda: b.sent_index() == b.sends, "the index of what was sent")


@both_modes
def test_frames_of_a_host_that_wants_words(board: Make, assist: bool) -> None:
    """Without the mode's bit for data its words keep their value, so their bytes are turned; descriptors and rings are as ever."""
    b = board(assist=assist, mode=0x02, offset=0)
    b.post("standard", 1)
    given = content(128, 1)
    assert b.receive(given)
    b.send([given[:64], given[64:]])
    b.announce()
    found, left = [], []
    b.until(lambda: (found.extend(b.returns()), left.extend(b.sent())) and found and left, "both frames")
    assert found[0]["data"] == turned(given) and left == [(turned(given), -1)]


@both_modes
def test_a_little_endian_host(board: Make, assist: bool) -> None:
    """Mode as drivers set it there: descriptors, indices, events and statistics are native words, frames are bytes in order."""
    b = board(assist=assist, little=True)
    assert b.events() == [(1, 0), (6, 1)]
    b.post("standard", 60)
    frames, found, left = [content(60 + 23 * n, n) for n in range(60)], [], []
    for frame in frames:
        assert b.receive(frame)
        b.send([frame[:14], frame[14:]])
        b.announce()
        b.run(4000)
    b.until(lambda: (found.extend(b.returns()), left.extend(b.sent())) and len(found) == len(left) == 60, "all frames")
    assert [one["data"] for one in found] == frames and left == [(frame, -1) for frame in frames]
    assert [one["opaque"] for one in found] == [3 << 16 | n for n in range(60)]
    words = statistics(b)
    assert words[IN_OCTETS] == words[OUT_OCTETS] == sum(map(len, frames)) and words[OUT_FRAMES] == 60
    assert words[IN_UNICAST] + words[IN_MULTICAST] == 60


def test_vlan_tags_and_reports_at_once(board: Make) -> None:
    b = board(most_sent=1000, send_ticks=0)
    frame = content(300, 5)
    b.send([frame], vlan=0x123)
    b.announce()
    left = []
    b.until(lambda: left.extend(b.sent()) or left, "the frame")
    assert left == [(frame, 0x123)]
    b.run(20_000)
    assert b.sent_index() == 0  # neither count nor time has come
    b.send([frame], flags=0x800)
    b.announce()
    b.until(lambda: b.sent_index() == 2, "a report at once")


def test_indices_at_once_interrupts_later(board: Make) -> None:
    flags = {"send": 0x20, "returns": 0x20}
    b = board(most_sent=1000, most_received=1000, send_ticks=5000, receive_ticks=5000, flags=flags)
    b.post("standard", 8)
    before = b.lib.model_interrupts(b.chip)
    b.receive(content(100, 1))
    b.send([content(100, 2)])
    b.announce()
    b.until(lambda: b.sent_index() == 1 and b.returns(), "both indices")
    assert b.lib.model_interrupts(b.chip) == before
    b.until(lambda: b.lib.model_interrupts(b.chip) > before, "the interrupt", 600_000)


def test_macs_that_ask_for_attention_are_enabled_anew(board: Make) -> None:
    """The receiving one drops what is for others as before."""
    b = board()
    b.post("standard", 4)
    b.run(20_000)
    enabled, filters, attention = 2, 8, 0x100
    for filtering in (0, filters):
        b.lib.model_write(b.chip, MAC_TX_STATE, attention)
        b.lib.model_write(b.chip, MAC_RX_STATE, attention | filtering)
        b.until(lambda: b.lib.model_register(b.chip, MAC_RX_STATE) & enabled, "the receiving MAC")
        assert b.lib.model_register(b.chip, MAC_TX_STATE) == enabled
        assert b.lib.model_register(b.chip, MAC_RX_STATE) == enabled | filtering


@both_modes
def test_an_interrupt_comes_behind_its_index(board: Make, assist: bool) -> None:
    """When it comes, the host finds what it is for: at every place of the ring through which both travel."""
    b = board(assist=assist, most_received=1, receive_ticks=0)
    b.post("standard", 100)
    b.run(20_000)
    for n in range(100):
        before = b.lib.model_interrupts(b.chip)
        assert b.receive(content(100, n))
        for _ in range(500):
            b.run(10)
            if b.lib.model_interrupts(b.chip) > before:
                break
        assert [f["data"] for f in b.returns()] == [content(100, n)]
        assert b.lib.model_interrupts(b.chip) == before + 1


@both_modes
@pytest.mark.parametrize("nic_ring", [False, True], ids=["host_ring", "nic_ring"])
def test_a_frame_in_more_pieces_than_the_read_ring_has_entries(board: Make, assist: bool, nic_ring: bool) -> None:
    """Also when nothing else is under way there that would tell of room."""
    b = board(assist=assist, send_ticks=0, nic_ring=nic_ring)
    frame, left = content(1400, 1), []
    b.send([frame[i : i + 7] for i in range(0, 1400, 7)])
    b.announce()
    b.until(lambda: left.extend(b.sent()) or left, "the frame")
    assert left == [(frame, -1)] and b.sent_index() in (0, 200)
    b.until(lambda: b.sent_index() == 200, "the report of its end")


def test_events_that_find_the_ring_full_are_counted(board: Make) -> None:
    """Of 256 entries one stays free; with room again, the next event follows where the last one was."""
    b = board()
    for _ in range(16):
        for _ in range(16):
            b.command(5)
        b.run(10_000)
    assert b.events() == [(1, 0), (6, 1)] + [(9, 0)] * 253
    b.share(EVENT_CONSUMER, 10)
    b.command(5)
    b.until(lambda: b.word(0x3000) == 0, "the event in the last entry")
    assert b.word(0x2000 + 8 * 255) >> 24 == 9
    b.command(0x11)
    b.until(lambda: b.word(0x3000) == 1, "the statistics event")
    assert b.word(0x1000 + 4 * EVENTS_LOST) == 3


def test_an_interrupt_comes_behind_every_index(board: Make) -> None:
    """Also when others are under way: the host finds the last frame by the last interrupt."""
    b = board(most_received=1, receive_ticks=0)
    b.post("standard", 200)
    b.run(20_000)
    for n in range(100):
        frames, found = [content(100, 2 * n), content(100, 2 * n + 1)], []
        assert b.receive(frames[0])
        b.run(5 * n)
        assert b.receive(frames[1])
        before = b.lib.model_interrupts(b.chip)
        for _ in range(400):
            b.run(10)
            if b.lib.model_interrupts(b.chip) > before:
                before = b.lib.model_interrupts(b.chip)
                found += b.returns()
        assert [f["data"] for f in found] == frames, f"{5 * n} instructions apart"


def test_waiting_for_room_brings_no_interrupt(board: Make) -> None:
    """More comes at once than there is room for on the way to the host, which has asked for indices only."""
    b = board(assist=False, most_received=1000, receive_ticks=0, flags={"standard": 9, "returns": 0x20})
    b.post("standard", 120)
    b.run(20_000)
    before, frames = b.lib.model_interrupts(b.chip), [content(60 + n, n) for n in range(100)]
    for frame in frames:
        assert b.receive(frame)
    b.run(100_000)
    assert [f["data"] for f in b.returns()] == frames
    assert b.lib.model_interrupts(b.chip) == before


def test_masked_interrupts_come_when_they_are_let(board: Make) -> None:
    b = board()
    b.post("standard", 8)
    b.mailbox(0, 1)
    b.run(20_000)
    before = b.lib.model_interrupts(b.chip)
    b.receive(content(100, 1))
    b.until(lambda: b.returns(), "the frame")
    b.run(20_000)
    assert b.lib.model_interrupts(b.chip) == before
    b.mailbox(0, 0)
    b.until(lambda: b.lib.model_interrupts(b.chip) == before + 1, "the interrupt")


def statistics(b: Board) -> list[int]:
    """The block that a refresh brings."""
    seen = len(b.events())
    b.command(0x11)
    b.until(lambda: len(b.events()) > seen, "the statistics event")
    assert b.events()[seen] == (4, 0)
    return [b.word(0x1000 + 4 * k) for k in range(256)]


@both_modes
def test_statistics(board: Make, assist: bool) -> None:
    b = board(assist=assist)
    b.post("standard", 1)
    b.receive(content(100, 1))
    b.send([content(300, 2)])
    b.announce()
    b.run(40_000)
    assert b.lib.model_receive(b.chip, b"x" * 60, 60)
    b.run(40_000)
    words = statistics(b)
    counted = {IN_OCTETS: 100, OUT_OCTETS: 300, OUT_FRAMES: 1, IN_UNICAST: 1, IN_MULTICAST: 1, NO_BUFFERS: words[NO_BUFFERS]}
    assert words[NO_BUFFERS] >= 1  # the second frame waits for a buffer
    described = {14: 0, 15: 1_000_000_000, 16: 1, 17: 1, INTERRUPTS: words[INTERRUPTS]}
    assert {n: word for n, word in enumerate(words) if word} == {n: w for n, w in (counted | described).items() if w}
    b.command(0x0F)
    b.run(20_000)
    assert not any(statistics(b)[n] for n in counted)
    # What they stand beside is as it was.
    b.returns()
    b.sent()
    b.post("standard", 2)
    assert b.receive(content(100, 3))
    b.send([content(300, 4)])
    b.announce()
    b.run(40_000)
    assert [f["data"] for f in b.returns()] == [b"x" * 60, content(100, 3)] and b.sent() == [(content(300, 4), -1)]


def test_statistics_by_time(board: Make) -> None:
    b = board(statistics_ticks=200)
    b.post("standard", 1)
    b.receive(content(100, 1))
    b.until(lambda: b.word(0x1000 + 4 * IN_OCTETS) == 100, "the periodic statistics", 100_000)


def test_commands(board: Make) -> None:
    b = board()
    seen = len(b.events())
    b.share(0x204, 0x00000077)
    b.command(0x0C)
    b.command(0x0A, 1)
    b.command(0x0B)
    b.command(0x7F)
    b.command(0x01, 2)
    b.command(0x01, 9)
    b.until(lambda: len(b.events()) == seen + 4, "the answers")
    assert b.events()[seen:] == [(6, 1), (7, 2), (6, 2), (7, 1)]
    assert b.lib.model_register(b.chip, 0x210) == 0x77
    assert b.lib.model_register(b.chip, 0x228) & 0xFFFFFFFF == 0xFFFFFFFF
    assert b.lib.model_register(b.chip, 0x220) == 4
    assert not b.receive(content(60, 1))


def hash_bits(groups: list[str]) -> list[int]:
    """The hash registers for these groups: bit n for a CRC-32 that ends in n."""
    words = [0] * 4
    for group in groups:
        bit = zlib.crc32(bytes.fromhex(group)) % 128
        words[bit // 32] |= 1 << bit % 32
    return words


def test_groups_are_joined_and_left(board: Make) -> None:
    """Groups that share a bit, one joined twice, all of them, and more than there is room for."""
    b = board()

    def change(command: int, group: str) -> tuple[int, int]:
        seen = len(b.events())
        b.share(0x210, int(group[:4], 16))
        b.share(0x214, int(group[4:], 16))
        b.command(command)
        b.until(lambda: len(b.events()) > seen, "the answer")
        return b.events()[-1]

    def registers() -> list[int]:
        return [b.lib.model_register(b.chip, 0x228 + 4 * k) & 0xFFFFFFFF for k in range(4)]

    b.command(0x0A, 2)
    one = "01005e000001"
    twin = next(g for n in range(1000) if hash_bits([g := f"333300{n:06x}"]) == hash_bits([one]))
    for group in one, twin, one:
        assert change(8, group) == (8, 1)
    assert registers() == hash_bits([one]) and b.lib.model_register(b.chip, 0x220) & 8
    assert change(9, one) == (8, 2) and registers() == hash_bits([one])
    assert change(9, twin) == (8, 2) and registers() == [0] * 4
    assert change(9, twin) == (8, 2) and change(8, "000000000001") == (7, 1)
    groups = [f"01005e{n:06x}" for n in range(64)]
    assert [change(8, group) for group in groups] == [(8, 1)] * 64 and registers() == hash_bits(groups)
    assert change(8, twin) == (7, 1) and registers() == hash_bits(groups)
    b.command(0x0E, 1)
    b.run(40_000)
    assert registers() == [0xFFFFFFFF] * 4 and b.lib.model_register(b.chip, 0x220) & 8
    b.command(0x0E, 2)
    b.run(200_000)
    assert registers() == hash_bits(groups)
    b.command(0x0A, 1)
    b.run(200_000)
    assert not b.lib.model_register(b.chip, 0x220) & 8


@pytest.mark.parametrize("nic_ring", [False, True], ids=["host_ring", "nic_ring"])
def test_a_frame_longer_than_the_send_buffer_is_passed_over(board: Make, nic_ring: bool) -> None:
    b = board(nic_ring=nic_ring)
    for _ in range(180):
        b.send([content(1500, 1)] * 2)
    # Undo the END flags of all but the last: one frame of 540,000 bytes.
    memory, at = (b.sram, 0x2000) if nic_ring else (b.host, 0x4000)
    for index in range(359):
        memory[at + 16 * index + 11] &= ~4 & 0xFF
    good = content(200, 9)
    b.send([good])
    b.announce()
    left = []
    b.until(lambda: left.extend(b.sent()) or left, "the frame behind", 2_000_000)
    assert [data for data, _ in left] == [good]
    assert statistics(b)[OUT_DISCARDS] == 1


def test_two_processors_are_needed_by_the_parallel_firmware(build_dir: Path, chip_model: Path) -> None:
    """The other one is awaited for 3 ms, however long the timer has run, and found before that if there is one."""
    elf, board, began = build_dir / "firmware/tigon2_parallel/tigon2_parallel.elf", Board.__new__(Board), 0xFFFFFF00
    with pytest.raises(AssertionError, match="break"):
        board.__init__(chip_model, elf, timer=began)
    assert 3000 < board.lib.model_register(board.chip, TIMER) - began & 0xFFFFFFFF < 3300
    board.close()
    Board(chip_model, elf, processors=2, timer=0x40000000).close()


def test_the_second_processor_counts_milliseconds(build_dir: Path, chip_model: Path) -> None:
    """While the hardware walks the rings, it has nothing else to do."""
    elf = build_dir / "firmware/tigon2/tigon2.elf"
    b = Board(chip_model, elf, processors=2)
    counter = symbols(elf)["second"] + 16

    def now() -> tuple[int, int]:
        return b.lib.model_register(b.chip, 0x54), int.from_bytes(bytes(b.sram[counter : counter + 4]), "big")

    time, count = now()
    b.run(50 * 5000)
    later, end = now()
    b.close()
    assert later - time == 5000 and end - count == 5


def test_the_second_processor_carries_out_the_rings(build_dir: Path, chip_model: Path) -> None:
    """Unless the hardware does.  Its response is awaited for a while by the timer, which has run for 18 minutes."""
    elf = build_dir / "firmware/tigon2/tigon2.elf"
    b = Board(chip_model, elf, processors=2, assist=False, timer=0x40000000)
    asked = symbols(elf)["second"] + 4
    assert int.from_bytes(bytes(b.sram[asked : asked + 4]), "big") == 1
    b.close()
