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


def test_what_keeps_its_order() -> None:
    """Ports count only where a frame has them: in whole datagrams of UDP and TCP."""
    ipv4 = bytes(12) + b"\x08\0\x45" + bytes(8) + b"\x11" + bytes(2) + b"sourgoal" + b"port" + bytes(22)
    fragment, options = ipv4[:20] + b"\x20\0" + ipv4[22:], ipv4[:14] + b"\x46" + ipv4[15:34] + b"more" + ipv4[34:]
    assert conversation(ipv4) == conversation(options) == (17, b"sourgoal", b"port")
    assert conversation(fragment) == (17, b"sourgoal", b"")
    assert conversation(ipv4[:20] + b"\x40\0" + ipv4[22:]) == conversation(ipv4), "what must not be a fragment is none"
    assert conversation(ipv4[:23] + b"\1" + ipv4[24:]) == (1, b"sourgoal", b"")
    assert conversation(ipv4[:33]) == b"\x08\0" and conversation(ipv4[:34]) == (17, b"sourgoal", b"")
    ipv6 = bytes(12) + b"\x86\xdd" + bytes(6) + b"\x06" + bytes(1) + b"s" * 16 + b"g" * 16 + b"port" + bytes(20)
    assert conversation(ipv6) == (6, b"s" * 16 + b"g" * 16, b"port")
    assert conversation(ipv6[:20] + b"\x3a" + ipv6[21:]) == (0x3A, b"s" * 16 + b"g" * 16, b"")
    assert conversation(bytes(12) + b"\x08\x06" + bytes(40)) == b"\x08\x06"


def test_as_many_findings_as_were_requested() -> None:
    verdict = compare([], INPUT, findings=3)
    assert verdict.wrong == [f"frame {n} ({59 + n} bytes) was never sent so: there was no input" for n in (1, 2, 3)]
    assert (verdict.frames_in, verdict.frames_out, verdict.damaged) == (0, 10, 10)
    assert len(compare(INPUT, [b"other" * 20] * 12).wrong) == 10
