"""The end-to-end check finds each kind of damage, alone."""

import pytest

from harness.net.check import compare, conversation
from harness.net.udp import HOST, PEER, Endpoint, frame
from tests.modules.conversations import tcp

INPUT = [bytes([n]) * (60 + n) for n in range(10)]


def test_untouched() -> None:
    assert compare(INPUT, INPUT).ok()


def test_padding_is_not_damage() -> None:
    assert compare([b"\x01" * 20], [(b"\x01" * 20).ljust(60, b"\0")]).ok()


@pytest.mark.parametrize(
    "found, field",
    [
        (INPUT[:4] + INPUT[5:], "missing"),
        (INPUT[:4] + INPUT[3:], "duplicated"),
        ([INPUT[1], INPUT[0], *INPUT[2:]], "reordered"),
    ],
)
def test_one_fault(found: list[bytes], field: str) -> None:
    verdict = compare(INPUT, found)
    assert getattr(verdict, field) == 1 and not verdict.ok()
    others = {"missing", "duplicated", "reordered", "damaged"} - {field}
    assert all(getattr(verdict, other) == 0 for other in others)


def test_damage_names_the_byte() -> None:
    broken = INPUT[3][:17] + b"\xff" + INPUT[3][18:]
    verdict = compare(INPUT, [*INPUT[:3], broken, *INPUT[4:]])
    assert (verdict.damaged, verdict.missing) == (1, 1)
    assert "closest is input frame 4, differing from byte 17" in verdict.wrong[0]
    verdict = compare([INPUT[3], INPUT[3]], [broken, INPUT[3]])
    assert "closest is input frame 1, differing from byte 17" in verdict.wrong[0], "of several, the first"


def test_counted_drops_may_be_missing() -> None:
    verdict = compare(INPUT, INPUT[2:])
    assert verdict.ok(drops=2) and not verdict.ok(drops=1) and not verdict.ok(drops=3)


def test_identical_frames_are_counted() -> None:
    assert compare([b"a" * 60] * 3, [b"a" * 60] * 3).ok()
    assert compare([b"a" * 60] * 2, [b"a" * 60] * 3).duplicated == 1


def test_conversations_keep_their_own_order() -> None:
    """One may overtake another, but not itself."""
    other = Endpoint(HOST.mac, HOST.address, 7)
    one = [frame(HOST, PEER, bytes([n]) * 20) for n in range(3)]
    two = [frame(other, PEER, bytes([n]) * 20) for n in range(3)]
    mixed = [one[0], two[0], one[1], two[1], one[2], two[2]]
    assert len({conversation(data) for data in mixed}) == 2
    assert compare(mixed, [*two, *one], key=conversation).ok() and not compare(mixed, [*two, *one]).ok()
    verdict = compare(mixed, [two[1], two[0], two[2], *one], key=conversation)
    assert (verdict.reordered, verdict.missing, verdict.damaged) == (1, 0, 0)
    assert "frame 2 is frame 2 of the input, but frame 4 came out before" in verdict.wrong[0]


def test_what_was_sent_again_may_be_late() -> None:
    frames = [tcp(False, 10 * i, None, b"0123456789", port=i % 2) for i in range(6)]
    late = [frames[0], frames[1], *frames[3:], frames[2]]  # of its conversation, 4 came before
    assert not compare(frames, late, key=conversation).ok()
    verdict = compare(frames, late, key=conversation, resent=1)
    assert verdict.ok() and not verdict.wrong and verdict.reordered == 1
    worse = compare(frames, [*frames[2:], *frames[:2]], key=conversation, resent=1)
    assert not worse.ok() and len(worse.wrong) == 1
