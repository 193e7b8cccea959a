"""station's TCP against tables of segments: what a client sends when, and every segment that the station sends."""

import subprocess
import zlib
from pathlib import Path

import dpkt
import pytest

from tests.modules.assists import beats, noise
from tests.modules.harness import Bench, collect
from tests.modules.wire import stations
from tests.modules.wire.stations import NETLIST, STATES, Seen, end_of, first_beat, mss, stream, tcp, with_fcs
from tests.sample import sampled, seldom

WATCHED = NETLIST + collect("dut", "tcp_changed(connection, phase)", "tcp_ended(received, received_crc, sent, sent_crc)")
C, S = 5000, 1000  # initial sequence numbers
LETTERS = [(dpkt.tcp.TH_SYN, "S"), (dpkt.tcp.TH_FIN, "F"), (dpkt.tcp.TH_RST, "R"), (dpkt.tcp.TH_PUSH, "P"), (dpkt.tcp.TH_ACK, ".")]


def play(bench: Bench, table: list[tuple[int, bytes]], cycles: int = 4900, **settings: object) -> Seen:
    return stations.play(bench, WATCHED, table, cycles, **settings)


def shown(segments: list[dpkt.tcp.TCP]) -> list[str]:
    """As tcpdump does it: flags, sequence number and acknowledgment from the initial ones on, bytes of data."""
    return [
        f"{''.join(letter for bit, letter in LETTERS if t.flags & bit)} {(t.seq - S) & 0xFFFFFFFF} {(t.ack - C) & 0xFFFFFFFF if t.flags & dpkt.tcp.TH_ACK else '-'} {len(t.data)}"
        for t in segments
    ]


def talk(bench: Bench, table: list[tuple[int, bytes]], cycles: int = 4900, **settings: object) -> Seen:
    return play(bench, table, cycles, **({"tcp_initial_sequence": S} | settings))


def states(seen: Seen, connection: int = 0) -> list[str]:
    return [STATES[state] for _, i, state in seen.happened("tcp_changed") if i == connection]


def syn(cycle: int = 1, size: int = 1460, **fields: object) -> tuple[int, bytes]:
    return cycle, tcp(C, None, "S", options=mss(size), **fields)


def ack(cycle: int, received: int, sent: int = 0, data: bytes = b"", flags: str = "", **fields: object) -> tuple[int, bytes]:
    """A segment at byte `sent` of the client's stream that acknowledges `received` bytes of the station's."""
    return cycle, tcp(C + 1 + sent, S + 1 + received, flags, data, **fields)


OPEN = [syn(), ack(300, 0)]


def test_the_handshake(bench: Bench) -> None:
    seen = talk(bench, OPEN)
    [reply] = seen.frames
    t = reply.ip.data
    assert shown([t]) == ["S. 0 1 0"] and t.opts == mss(1460) and t.win == 65535 and (t.sport, t.dport) == (5001, 4000)
    assert reply.first == first_beat(end_of(syn()[1]))
    assert states(seen) == ["syn_received", "established"] and seen.ran.stat("dut", "tcp_opened") == 1
    assert seen.ran.stat("dut", "received[3]") == 2 and seen.ran.stat("dut", "sent[3]") == 1


def test_what_comes_is_acknowledged_and_its_crc_worked_out(bench: Bench) -> None:
    parts = [noise(size, size) for size in (1, 7, 1000, 8)]
    table, at = list(OPEN), 0
    for part in parts:
        table.append(ack(300, 0, at, part))
        at += len(part)
    seen = talk(bench, [*table, ack(300, 0, at, flags="F"), ack(2500, 1, at + 1)])
    assert shown(seen.segments) == ["S. 0 1 0", ". 1 2 0", ". 1 9 0", ". 1 1009 0", ". 1 1017 0", ". 1 1018 0", "F. 1 1018 0"]
    assert states(seen) == ["syn_received", "established", "close_wait", "last_ack", "closed"]
    crc = zlib.crc32(b"".join(parts))
    assert [event[1:] for event in seen.happened("tcp_ended")] == [(1016, crc, 0, 0)]
    counted = seen.ran.counted("dut")
    assert (counted["tcp_received"], counted["tcp_received_crc"], counted["tcp_ended"]) == (1016, crc, 1)


@pytest.mark.parametrize(("size", "lengths"), [(1000, [1000, 1000, 500]), (1460, [1460, 1040]), (None, [536] * 4 + [356])])
def test_a_stream_in_segments_of_the_clients_size(bench: Bench, size: int | None, lengths: list[int]) -> None:
    """Without the option of the SYN segments have 536 bytes; the last one pushes."""
    opening = (1, tcp(C, None, "S")) if size is None else syn(size=size)
    seen = talk(bench, [opening, ack(300, 0), ack(3800, 2144)], tcp_send=2500)
    assert [len(t.data) for t in seen.segments[1:]] == lengths
    assert b"".join(t.data for t in seen.segments) == stream(2500)
    assert [bool(t.flags & dpkt.tcp.TH_PUSH) for t in seen.segments[1:]] == [False] * (len(lengths) - 1) + [True]
    assert seen.frames[1].first == first_beat(end_of(ack(300, 0)[1], 300))


def test_streams_of_other_seeds(bench: Bench) -> None:
    seen = talk(bench, OPEN, tcp_send=1001, tcp_seed=77)
    assert seen.segments[1].data == stream(1001, 77)


def test_slow_start(bench: Bench) -> None:
    """Three segments (RFC 5681, 3.1), then one more with each acknowledgment."""
    seen = talk(bench, [*OPEN, ack(4000, 1460), ack(4000, 4380)], 12000, tcp_send=100000)
    assert [len(t.data) for t in seen.segments[1:]] == [1460] * (3 + 2 + 3)
    assert seen.frames[3].first < 4000 < seen.frames[4].first


def test_the_window_of_the_client(bench: Bench) -> None:
    """No more than it is ready to take, and no silly little segments while others are on their way."""
    seen = talk(bench, [syn(size=1000), ack(300, 0, window=2300), ack(2500, 1000, window=1300), ack(3000, 2000, window=5000)], tcp_send=100000)
    assert [(t.seq - S - 1, len(t.data)) for t in seen.segments[1:]] == [(0, 1000), (1000, 1000), (2000, 1000), (3000, 1000), (4000, 1000), (5000, 1000), (6000, 1000)][: len(seen.segments) - 1]
    assert [one.first < 3000 for one in seen.frames[1:]] == [True] * 2 + [False] * (len(seen.frames) - 3)
    assert max(t.seq - S - 1 + len(t.data) for t in seen.segments) <= 7000


def test_a_closed_window_is_probed(bench: Bench) -> None:
    """By the same byte, after the timer's time, which is doubled; the stream goes on where the client says."""
    table = [syn(), ack(300, 0, window=0), ack(1500, 0, window=0), ack(3700, 0, window=10), ack(4300, 10, window=0), ack(5000, 10, window=5000)]
    seen = talk(bench, table, 6000, tcp_send=600, tcp_retransmit="10us")
    assert shown(seen.segments) == ["S. 0 1 0", ". 1 1 1", ". 1 1 1", ". 1 1 10", "P. 11 1 590"]
    first, second = (one.first for one in seen.frames[1:3])
    assert 1300 < first < 1400 and 2000 <= second - first < 2100
    assert b"".join(t.data for t in seen.segments[3:]) == stream(600)


def test_what_is_not_acknowledged_is_sent_again(bench: Bench) -> None:
    """After 30 us, 60 us, …: from the oldest byte on, one segment; the others follow its acknowledgment."""
    seen = talk(bench, [syn(size=500), ack(300, 0), ack(14000, 500)], 16000, tcp_send=1500, tcp_retransmit="30us")
    sent = shown(seen.segments)
    assert sent == ["S. 0 1 0", ". 1 1 500", ". 501 1 500", "P. 1001 1 500", ". 1 1 500", ". 1 1 500", ". 501 1 500", "P. 1001 1 500"]
    starts = [one.first for one in seen.frames]
    assert [starts[4] - starts[1], starts[5] - starts[4]] == pytest.approx([3000, 6000], abs=20)
    assert starts[6] == first_beat(end_of(ack(1, 0)[1], 14000)) and seen.ran.stat("dut", "tcp_retransmitted") == 4
    assert b"".join(t.data for t in [seen.segments[5], *seen.segments[6:]]) == stream(1500)


def test_a_silent_client_is_given_up(bench: Bench) -> None:
    seen = talk(bench, OPEN, tcp_send=10, tcp_retransmit="5us", tcp_retries=2)
    assert shown(seen.segments) == ["S. 0 1 0"] + ["P. 1 1 10"] * 3
    assert states(seen)[-1] == "closed" and seen.ran.stat("dut", "tcp_aborted") == 1


def test_a_client_that_replies_is_not_given_up(bench: Bench) -> None:
    """However often its closed window is probed."""
    table = [syn(), *[ack(cycle, 0, window=0) for cycle in (300, 1000, 2000, 4000)]]
    seen = talk(bench, table, tcp_send=10, tcp_retransmit="5us", tcp_retries=2)
    assert shown(seen.segments) == ["S. 0 1 0"] + [". 1 1 1"] * 3 and states(seen)[-1] == "established"


def test_after_progress_the_timer_has_its_first_time_again(bench: Bench) -> None:
    seen = talk(bench, [syn(size=500), ack(300, 0, window=500), ack(2000, 500, window=500)], 4000, tcp_send=1000, tcp_retransmit="10us")
    assert shown(seen.segments)[1:] == [". 1 1 500"] * 2 + ["P. 501 1 500"] * 2
    starts = [one.first for one in seen.frames]
    assert [starts[2] - starts[1], starts[4] - starts[3]] == pytest.approx([1000, 1000], abs=20)


def test_the_window_of_an_older_segment_is_ignored(bench: Bench) -> None:
    """One that comes late says less than the one that overtook it."""
    ahead, late = ack(1700, 1000, 10, b"b" * 10, window=1500), ack(2000, 1000, 0, b"a" * 10, window=9000)
    seen = talk(bench, [syn(size=1000), ack(300, 0, window=1000), ahead, late], tcp_send=9000)
    assert [(t.seq - S - 1, len(t.data)) for t in seen.segments if t.data] == [(0, 1000), (1000, 1000)]


def test_a_lost_syn_of_the_station_is_sent_again(bench: Bench) -> None:
    seen = talk(bench, [syn(), syn(200), ack(2000, 0)], tcp_retransmit="10us")
    assert shown(seen.segments) == ["S. 0 1 0", ". 1 1 0", "S. 0 1 0"] and states(seen)[-1] == "established"


def test_the_third_duplicate_sends_the_oldest_segment_again(bench: Bench) -> None:
    seen = talk(bench, [syn(size=500), ack(300, 0), ack(2500, 500), *[ack(3200 + 100 * k, 500) for k in range(3)], ack(4200, 2000)], tcp_send=2500)
    assert shown(seen.segments)[1:] == [". 1 1 500", ". 501 1 500", ". 1001 1 500", ". 1501 1 500", "P. 2001 1 500", ". 501 1 500"]
    assert seen.frames[6].first == first_beat(end_of(ack(1, 0)[1], 3400)) and seen.ran.stat("dut", "tcp_retransmitted") == 1


def test_segments_out_of_order_are_dropped_and_acknowledged(bench: Bench) -> None:
    data = noise(300)
    table = [*OPEN, ack(500, 0, 100, data[100:200]), ack(500, 0, 200, data[200:]), ack(500, 0, 0, data[:100]), ack(500, 0, 100, data[100:200]), ack(500, 0, 200, data[200:])]
    seen = talk(bench, [*table, ack(2000, 0, 300, flags="F")])
    assert [t.ack - C - 1 for t in seen.segments[1:]] == [0, 0, 100, 200, 300, 301, 301]
    assert seen.ran.stat("dut", "tcp_out_of_order") == 2 and seen.ran.stat("dut", "tcp_received") == 300


def test_duplicates_and_overlaps(bench: Bench) -> None:
    """What was there already is acknowledged, and only what is new is taken; a FIN that lies ahead is not."""
    data = noise(300)
    parts = [(0, 100), (0, 100), (50, 150), (0, 200), (20, 60)]
    table = [*OPEN, *[ack(500, 0, a, data[a:b]) for a, b in parts], ack(500, 0, 250, flags="F"), ack(500, 0, 150, data[150:300], "F"), ack(500, 0, 250, data[250:300], "F")]
    seen = talk(bench, [*table, ack(3500, 1, 301)])
    assert [t.ack - C - 1 for t in seen.segments[1:]] == [100, 100, 150, 200, 200, 200, 301, 301, 301]
    assert [event[1:3] for event in seen.happened("tcp_ended")] == [(300, zlib.crc32(data))]


def test_no_more_than_the_window_is_taken(bench: Bench) -> None:
    data = noise(300)
    seen = talk(bench, [*OPEN, ack(500, 0, 0, data, "F"), ack(900, 0, 100, data[100:], "F"), ack(1500, 0, 300), ack(1500, 0, 500, b"far")], tcp_window=100)
    assert [(t.ack - C - 1, t.win) for t in seen.segments[1:]] == [(100, 100), (200, 100), (200, 100), (200, 100)]


RESETS = {
    "SYN to a closed port": (tcp(C, None, "S", to=80), ["R. 4294966296 1 0"]),
    "data to a closed port": (tcp(C, S + 5, data=b"abc", to=80), ["R 5 - 0"]),
    "an acknowledgment of nothing": (tcp(C, S + 5), ["R 5 - 0"]),
    "SYN and acknowledgment": (tcp(C, S + 5, "S"), ["R 5 - 0"]),
    "data without acknowledgment": (tcp(C, None, data=b"abcd", to=81), ["R. 4294966296 4 0"]),
    "a reset": (tcp(C, None, "R", to=80), []),
    "a reset of nothing": (tcp(C, S + 5, "R"), []),
}


@seldom
@pytest.mark.parametrize("name", RESETS)
def test_what_belongs_to_no_connection(bench: Bench, name: str) -> None:
    frame, expected = RESETS[name]
    seen = talk(bench, [(1, frame)])
    assert shown(seen.segments) == expected and seen.ran.counted("dut").get("tcp_resets", 0) == len(expected)
    assert seen.dropped == {} and states(seen) == []


MALFORMED = {
    "checksum": tcp(C, None, "S")[:51] + b"!" + tcp(C, None, "S")[52:],
    "header too short": tcp(C, None, "S", options=b"").replace(b"\x50\x02", b"\x40\x02"),
    "option without length": tcp(C, None, "S", options=b"\x01\x01\x01\x02"),
    "option of length 0": tcp(C, None, "S", options=b"\x03\x00\x01\x01"),
    "option beyond the header": tcp(C, None, "S", options=b"\x03\x09\x01\x01"),
    "MSS of 3 bytes": tcp(C, None, "S", options=b"\x02\x03\x01\x01"),
    "SYN and FIN": tcp(C, None, "SF"),
    "SYN and RST": tcp(C, None, "SR"),
    "neither SYN nor ACK": tcp(C, None, data=b"data"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_segments_are_dropped(bench: Bench, name: str) -> None:
    seen = talk(bench, [(1, MALFORMED[name])])
    assert seen.frames == [] and seen.dropped == {"tcp": 1}


def test_options_that_mean_nothing_here(bench: Bench) -> None:
    """Window scale, time stamps, selective acknowledgment: the option that counts is found among them."""
    options = b"\x04\x02\x08\x0a" + bytes(8) + b"\x01\x03\x03\x07" + mss(300)
    seen = talk(bench, [(1, tcp(C, None, "S", options=options)), ack(300, 0)], tcp_send=700)
    assert [len(t.data) for t in seen.segments] == [0, 300, 300, 100] and seen.segments[0].opts == mss(1460)


@pytest.mark.parametrize(("sent", "state", "replies"), [(0, "closed", 0), (5, "established", 1), (70000, "established", 0), (-1, "established", 0)])
def test_a_reset_of_the_client(bench: Bench, sent: int, state: str, replies: int) -> None:
    """At the expected place it ends the connection; elsewhere in the window it is challenged, outside it is nothing."""
    seen = talk(bench, [*OPEN, (500, tcp(C + 1 + sent, None, "R"))])
    assert states(seen)[-1] == state and shown(seen.segments)[1:] == [". 1 1 0"] * replies
    assert seen.ran.counted("dut").get("tcp_aborted", 0) == (state == "closed")


def test_a_syn_within_a_connection_is_challenged(bench: Bench) -> None:
    seen = talk(bench, [*OPEN, ack(500, 0, 10, flags="S"), ack(700, 0, 0, b"still there")])
    assert shown(seen.segments)[1:] == [". 1 1 0", ". 1 12 0"] and states(seen)[-1] == "established"


def test_wrong_acknowledgments(bench: Bench) -> None:
    """In the handshake they are reset; later one of what was never sent is answered, and its data are dropped."""
    seen = talk(bench, [syn(), ack(300, 5), ack(600, 0), ack(900, 7, 0, b"abc"), ack(1200, 0, 0, b"abc")])
    assert shown(seen.segments) == ["S. 0 1 0", "R 6 - 0", ". 1 1 0", ". 1 4 0"] and states(seen)[-1] == "established"


def test_a_reset_or_syn_in_the_handshake_returns_to_listen(bench: Bench) -> None:
    seen = talk(bench, [syn(), (300, tcp(C + 1, None, "R")), syn(600), (900, tcp(C + 1, None, "S")), syn(1200), ack(1500, 0)])
    assert states(seen) == ["syn_received", "closed"] * 2 + ["syn_received", "established"]
    assert shown(seen.segments) == ["S. 0 1 0"] * 3


def test_the_station_closes_first(bench: Bench) -> None:
    """FIN behind the last byte; a FIN that comes again in TIME_WAIT is acknowledged, and the time begins anew."""
    table = [*OPEN, ack(1000, 101), ack(1300, 101, 0, b"late"), ack(1500, 101, 4, flags="F"), ack(2000, 101, 4, flags="F")]
    seen = talk(bench, table, tcp_send=100, tcp_close=True, tcp_time_wait="10us")
    assert shown(seen.segments)[1:] == ["FP. 1 1 100", ". 102 5 0", ". 102 6 0", ". 102 6 0"]
    assert states(seen) == ["syn_received", "established", "fin_wait_1", "fin_wait_2", "time_wait", "closed"]
    [(end, *_)] = [event for event in seen.happened("tcp_changed") if STATES[event[2]] == "closed"]
    assert end == pytest.approx(2060 + 1000, abs=20)
    [ended] = seen.happened("tcp_ended")
    assert ended[1:] == (4, zlib.crc32(b"late"), 100, zlib.crc32(stream(100)))
    assert seen.ran.stat("dut", "tcp_sent_crc") == zlib.crc32(stream(100)) and seen.ran.stat("dut", "tcp_sent") == 100


def test_both_close_at_the_same_time(bench: Bench) -> None:
    seen = talk(bench, [*OPEN, ack(400, 0, 0, flags="F"), ack(1000, 1, 1)], tcp_close=True)
    assert shown(seen.segments)[1:] == ["F. 1 1 0", ". 2 2 0"]
    assert states(seen) == ["syn_received", "established", "fin_wait_1", "closing", "time_wait"]


def test_a_fin_is_sent_again(bench: Bench) -> None:
    seen = talk(bench, [*OPEN, ack(500, 0, 0, flags="F"), ack(3000, 1, 1)], tcp_retransmit="10us")
    assert shown(seen.segments)[1:] == [". 1 2 0", "F. 1 2 0", "F. 1 2 0"] and states(seen)[-1] == "closed"


def test_a_client_that_has_closed_still_gets_the_stream(bench: Bench) -> None:
    table = [syn(size=500), ack(300, 0, 0, b"get", "F"), ack(2200, 500, 4), ack(2700, 1000, 4), ack(3200, 1201, 4)]
    seen = talk(bench, table, tcp_send=1200, tcp_send_after_data=True)
    assert b"".join(t.data for t in seen.segments) == stream(1200) and shown(seen.segments)[-1] == "FP. 1001 5 200"
    assert states(seen)[-3:] == ["close_wait", "last_ack", "closed"]


def test_data_of_the_client_start_the_stream(bench: Bench) -> None:
    seen = talk(bench, [*OPEN, ack(1000, 0, 0, b"?"), ack(1500, 10, 1, b"?")], tcp_send=10, tcp_send_after_data=True)
    assert shown(seen.segments)[1:] == [". 1 2 0", "P. 1 2 10", ". 11 3 0"] and seen.frames[1].first > 1000


def test_several_connections_and_one_too_many(bench: Bench) -> None:
    ports = [4000, 4001, 4002, 4003, 4004]
    table = [(1, tcp(C, None, "S", port=port)) for port in ports] + [ack(800, 0, 0, bytes([port & 255]) * 10, port=port) for port in ports]
    seen = talk(bench, table)
    assert [(t.dport, flags.split()[0]) for t, flags in zip(seen.segments, shown(seen.segments), strict=True)] == [(p, "S.") for p in ports[:4]] + [(p, ".") for p in ports[:4]] + [(4004, "R")]
    assert seen.dropped == {"busy": 1} and seen.ran.stat("dut", "tcp_opened") == 4 and seen.ran.stat("dut", "tcp_received") == 40


def test_one_in_time_wait_makes_room(bench: Bench) -> None:
    table = [(1 + 700 * k, tcp(C, None, "S", port=4000 + k)) for k in range(6)]
    for k in range(6):
        table += [ack(300 + 700 * k, 0, port=4000 + k), ack(500 + 700 * k, 1, 0, flags="F", port=4000 + k)]
    seen = talk(bench, sorted(table, key=lambda row: row[0]), tcp_close=True)
    assert seen.ran.stat("dut", "tcp_opened") == seen.ran.stat("dut", "tcp_ended") == 6 and seen.dropped == {}
    assert [i for _, i, state in seen.happened("tcp_changed") if STATES[state] == "syn_received"] == [0, 1, 2, 3, 0, 1]


def test_initial_sequence_numbers_are_of_the_runs_seed(bench: Bench) -> None:
    def first(seed: int) -> list[int]:
        return [t.seq for t in play(bench, [(1, tcp(C, None, "S", port=4000 + k)) for k in range(3)], 1000, seed=seed).segments]

    assert first(1) == first(1) != first(2) and len(set(first(1))) == 3


def test_sequence_numbers_wrap(bench: Bench) -> None:
    data, high = noise(100), 2**32
    table = [(1, tcp(high - 51, None, "S")), (300, tcp(high - 50, high - 10, data=data)), (2500, tcp(high + 50, high + 526)), (3000, tcp(high + 50, high + 990, "F")), (3600, tcp(high + 51, high + 991))]
    seen = play(bench, table, tcp_initial_sequence=high - 11, tcp_send=1000)
    assert b"".join(t.data for t in seen.segments) == stream(1000)
    assert [event[1:] for event in seen.happened("tcp_ended")] == [(100, zlib.crc32(data), 1000, zlib.crc32(stream(1000)))]


@pytest.mark.parametrize("cycle", sampled([2, 200, 1111, 3003, 5200, 9000], 3, 1))
def test_a_checkpoint_in_the_midst(cycle: int, bench: Bench, tmp_path: Path) -> None:
    """What the station sends after a restore, its states and its checksums are those of the whole run."""
    data = noise(900)
    table = [syn(size=700), ack(300, 0), ack(300, 0, 0, data[:300]), ack(2500, 1400, 600, data[600:]), ack(2600, 1400, 300, data[300:600]), ack(2700, 1400, 600, data[600:]), ack(9500, 2800, 900, flags="F")]
    (tmp_path / "script").write_text("".join(line for at, one in [*table, ack(9900, 2801, 901)] for line in beats(with_fcs(one), at)))
    simulator = bench.build(NETLIST)
    values = {"device.script": "script", "dut.tcp_send": 2800, "dut.tcp_initial_sequence": S, "dut.tcp_retransmit": "60us", "dut.udp_to": "192.0.2.1", "dut.udp_rate": "20Mb/s"}
    settings = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]

    def run(name: str, *words: str) -> str:
        command = [simulator, "--quiet", "--set", f"out.record={name}.out", "--stats", f"{name}.json", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return (tmp_path / f"{name}.out").read_text()

    whole = run("whole", *settings, "--cycles", "12000")
    first = run("first", *settings, "--cycles", str(cycle), "--checkpoint", "point")
    rest = run("rest", "--restore", "point", "--cycles", "12000")
    assert whole == first + rest and len(whole.splitlines()) > 500
    ended = f'"value": {zlib.crc32(data)}'
    assert ended in (tmp_path / "whole.json").read_text() and ended in (tmp_path / "rest.json").read_text()
