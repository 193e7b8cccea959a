"""memory_controller: closed forms of SDRAM and RAMBUS latencies to the cycle, the order of commands, values as in any memory."""

import random
from itertools import pairwise

import pytest

from tests.modules.harness import Bench, Bytes, Memory, Requests, collect, happened
from tests.sample import seldom

RCD, RP, CAS, RAS, RC, RRD, WR, WTR, TURN, RFC = 3, 4, 2, 9, 14, 2, 3, 2, 1, 20
BEATS = 4  # of a line of 32 bytes, 8 in a cycle
TIMING = f"t_rcd = {RCD}; t_rp = {RP}; t_cas = {CAS}; t_ras = {RAS}; t_rc = {RC}; t_wr = {WR}; t_wtr = {WTR}; turnaround = {TURN}; t_rfc = {RFC};"
ROW, BANK = 0x400, 0x100  # the next row of a bank, the next bank
NONE, ACTIVATE, PRECHARGE, READ, WRITE = range(5)


def controller(bench: Bench, body: str = "", rrd: int = RRD) -> Memory:
    return Memory(
        bench,
        f"instance controller : memory_controller {{ row = {BANK}; banks = {ROW // BANK}; {TIMING} t_rrd = {rrd}; {body} }};\n"
        "instance memory : memory_state { width = 256; size = 8 KiB; };\nrequester[0].memory -> controller.in; controller.memory -> memory.port;"
        + collect("controller", "command(command, bank, row)", "access(address, cycles)"),
        width=256,
    )


def play(bench: Bench, script: list[str], body: str = "", cycles: int = 600, rrd: int = RRD) -> tuple[list[int], list[tuple[int, ...]]]:
    """Cycles of the replies by the number of the request, and the commands with the cycle in which each goes out."""
    machine = controller(bench, body, rrd)
    numbered = [f"{line} {'0' if len(line.split()) == 4 else ''} {k}" for k, line in enumerate(script)]
    [replies] = machine.play([numbered], cycles, outstanding=16)
    at = {a.tag: a.cycle for a in replies}
    return [at[k] for k in range(len(script))], [(cycle + 1, *rest) for cycle, *rest in happened(machine.last, "command")]


def test_closed_hit_conflict(bench: Bench) -> None:
    """A closed bank, an open row, another row of the bank; reads, then writes.  Nothing else is in the way."""
    script = [f"{50 * k} {op} 32 {address}" for k, (op, address) in enumerate((op, a) for op in ("read", "write") for a in (0, 64, ROW))]
    script[3:] = [f"{200 + 50 * k} write 32 {address} 1" for k, address in enumerate((BANK, BANK + 64, BANK + ROW))]
    replies, commands = play(bench, script)
    read, write = CAS + BEATS, BEATS
    assert [c % 50 for c in replies] == [RCD + read, read, RP + RCD + read, RCD + write, write, RP + RCD + write]
    assert [c for c in commands if c[0] < 200] == [
        (1, ACTIVATE, 0, 0), (1 + RCD, READ, 0, 0), (51, READ, 0, 0), (101, PRECHARGE, 0, 0), (101 + RP, ACTIVATE, 0, 1), (101 + RP + RCD, READ, 0, 1),
    ]  # fmt: skip


def test_statistics(bench: Bench) -> None:
    """Three requests to a row, one to another of its bank, each alone."""
    machine = controller(bench)
    machine.play([["0 read 32 0", "50 read 8 32", "100 write 32 64 1", f"150 swap 8 {ROW} 1"]], 250)
    assert machine.last.counted("controller") == {
        "requests": 4, "row_hits": 2, "row_misses": 2, "row_conflicts": 1, "activations": 2, "moved": BEATS + 1 + BEATS + 2,
        "waited": (busy := RCD + CAS + BEATS + CAS + 1 + BEATS + RP + RCD + CAS + 1), "busy": busy,
    }  # fmt: skip


@pytest.mark.parametrize("size", [1, 8, 9, 32])
def test_a_request_moves_its_beats(bench: Bench, size: int) -> None:
    replies, _ = play(bench, [f"0 read {size} 0", f"50 read {size} 0"])
    beats = -(-size // 8)
    assert replies == [RCD + CAS + beats, 50 + CAS + beats]


def test_the_data_bus_is_never_idle_in_an_open_row(bench: Bench) -> None:
    replies, _ = play(bench, [f"0 read 32 {32 * k}" for k in range(6)])
    assert replies == [RCD + CAS + BEATS * (k + 1) for k in range(6)]


def test_banks_open_while_others_move(bench: Bench) -> None:
    """Rows of four banks are opened t_rrd apart; only the first is waited for."""
    replies, commands = play(bench, [f"0 read 32 {BANK * k}" for k in range(4)])
    assert replies == [RCD + CAS + BEATS * (k + 1) for k in range(4)]
    activates = [cycle for cycle, command, *_ in commands if command == ACTIVATE]
    assert activates[:2] == [1, 1 + RRD] and all(b - a >= RRD for a, b in pairwise(activates))


@seldom
def test_activates_are_t_rrd_apart(bench: Bench) -> None:
    """With short bursts and a long t_rrd that is what limits: one row after the other."""
    replies, _ = play(bench, [f"0 read 8 {BANK * k}" for k in range(4)], rrd=6)
    assert replies == [RCD + CAS + 1 + 6 * k for k in range(4)]


def test_a_row_stays_open_for_t_ras_and_a_bank_takes_t_rc(bench: Bench) -> None:
    """Two rows of a bank at once: the precharge waits for t_ras, the second activate for it and t_rp, or for t_rc."""
    replies, commands = play(bench, ["0 read 8 0", f"0 read 8 {ROW}"])
    assert [c[:2] for c in commands] == [(1, ACTIVATE), (1 + RCD, READ), (1 + RAS, PRECHARGE), (1 + RC, ACTIVATE), (1 + RC + RCD, READ)]
    assert replies == [RCD + CAS + 1, RC + RCD + CAS + 1] and RC > RAS + RP


def test_write_recovery(bench: Bench) -> None:
    """A row that was written is closed t_wr after the last beat."""
    _, commands = play(bench, ["0 read 32 0", "50 write 32 0 1", f"50 read 32 {ROW}"])
    last = 50 + BEATS
    assert [c[:2] for c in commands[2:4]] == [(51, WRITE), (last + WR, PRECHARGE)]


def test_the_data_bus_turns_around(bench: Bench) -> None:
    """Read to write: the last beat, the turn, the first beat.  Write to read: t_wtr behind the last beat."""
    replies, _ = play(bench, ["0 read 32 0", "50 read 32 32", "50 write 32 64 1", "50 read 32 96"], "age_limit = 0;")
    first = 50 + CAS + BEATS
    assert replies[1:3] == [first, first + TURN + BEATS]
    replies, commands = play(bench, ["0 read 32 0", "50 write 32 32 1", "50 read 32 64"])
    assert replies[1:] == [50 + BEATS, 50 + BEATS + WTR + CAS + BEATS - 1]
    assert commands[-1][0] == 50 + BEATS + WTR


def test_first_ready_first_come(bench: Bench) -> None:
    """A request of the open row passes one that needs another row, until that has waited for age_limit cycles."""
    script = ["0 read 32 0", "50 read 32 32", f"50 read 32 {ROW}", "50 read 32 64", "50 read 32 96"]
    replies, _ = play(bench, script)
    assert replies[1:] == [50 + CAS + BEATS, max(replies), 50 + CAS + 2 * BEATS, 50 + CAS + 3 * BEATS]
    replies, _ = play(bench, script, "age_limit = 0;")
    assert replies == sorted(replies)


@seldom
def test_the_age_limit_ends_the_wait(bench: Bench) -> None:
    """A stream of hits does not starve the request of another row for longer than the limit and what is under way."""
    script = ["0 read 32 0"] + [f"{32 + 3 * k} read 32 {32 * (k % 8)}" for k in range(60)]
    script.insert(4, f"41 read 32 {ROW}")
    limit = 80
    replies, _ = play(bench, script, f"age_limit = {limit}; queue = 16;", 1000)
    assert 41 + limit < replies[4] <= 41 + limit + CAS + BEATS + RP + RCD + CAS + BEATS + 1


def test_requests_of_the_same_bytes_keep_their_order(bench: Bench) -> None:
    """Although the read could go while the write waits for the bus to turn."""
    machine = controller(bench)
    script = ["0 read 32 0", "50 read 32 32 0 1", "50 write 8 64 7 2", "50 read 32 64 0 3", "50 read 32 96 0 4"]
    [replies] = machine.play([script], 200, outstanding=8)
    assert [a.tag for a in replies if a.tag] == [1, 4, 2, 3]
    assert next(a.data for a in replies if a.tag == 3) == 7


def test_closed_pages(bench: Bench) -> None:
    """Every request that comes alone opens its row; those that wait together for one row share it."""
    replies, commands = play(bench, ["0 read 32 0", "50 read 32 64", f"100 read 32 {ROW}", "150 read 32 0", "150 read 32 32"], "close_page = true;")
    closed = RCD + CAS + BEATS
    assert [c % 50 for c in replies] == [closed] * 4 + [closed + BEATS]
    assert PRECHARGE not in [c[1] for c in commands]


def test_refresh(bench: Bench) -> None:
    """Due in cycle 100 with a row open: closed, refreshed, opened again.  Due in 200 while nothing is here: only what is left of it is felt."""
    body = "refresh_interval = 100;"
    replies, commands = play(bench, ["50 read 32 0", "99 read 32 0", "250 read 32 0", f"299 read 32 {BANK}"], body)
    assert replies[:2] == [50 + RCD + CAS + BEATS, 99 + RP + RFC + RCD + CAS + BEATS]
    assert [c[:2] for c in commands if 99 <= c[0] < 200] == [(100, PRECHARGE), (100 + RP + RFC, ACTIVATE), (100 + RP + RFC + RCD, READ)]
    # In 200 the row is closed and refreshed: it is open again when the third comes, but closed.
    assert replies[2] == 250 + RCD + CAS + BEATS
    assert replies[3] == 299 + RP + RFC + RCD + CAS + BEATS
    replies, _ = play(bench, ["50 read 32 0", "210 read 32 0"], body)
    assert replies[1] == 200 + RFC + RCD + CAS + BEATS - 1  # rows were closed by the refresh in 100
    replies, _ = play(bench, ["50 read 32 0", "110 read 32 0"], body)
    assert replies[1] == 100 + RP + RFC + RCD + CAS + BEATS - 1


def test_a_row_that_a_refresh_closes_unused_is_opened_twice_for_one_request(bench: Bench) -> None:
    machine = controller(bench, "refresh_interval = 100;")
    machine.play([["97 read 32 0", "200 barrier 1 0"]], 260)
    counted = machine.last.counted("controller")
    assert (counted["requests"], counted["row_misses"], counted["activations"], counted["barriers"]) == (2, 1, 2, 1)


def test_refreshes_of_idle_time_are_those_of_busy_time(bench: Bench) -> None:
    """A memory that sleeps for long has as many refreshes behind it, and the next one is due in the same cycle."""
    machine = controller(bench, "refresh_interval = 100;")
    machine.play([["5 read 32 0", "4950 read 32 0", "4999 read 32 0"]], 5100, outstanding=2)
    assert machine.last.stat("controller", "refreshes") == 50
    assert happened(machine.last, "access")[-1] == (4999 + RP + RFC + RCD + CAS + BEATS, 0, RP + RFC + RCD + CAS + BEATS)


@seldom
def test_refresh_of_groups(bench: Bench) -> None:
    """With two groups of banks, bank 1 goes on while bank 0 is refreshed."""
    script = ["50 read 32 0", f"70 read 32 {BANK}", "99 read 32 0", f"99 read 32 {BANK}"]
    replies, _ = play(bench, script, "refresh_interval = 100; refresh_groups = 2;")
    assert replies[2] == 99 + RP + RFC + RCD + CAS + BEATS
    assert replies[3] <= 101 + CAS + BEATS


@seldom
def test_rambus_has_two_command_buses_and_shares_amplifiers(bench: Bench) -> None:
    """A row command goes out with a column command; of two neighbouring banks one has a row open, bank 2 is no neighbour of 0."""
    body = "kind = dram_kind.rambus; beat = 16;"
    beats = 2
    replies, commands = play(bench, ["0 read 32 0", f"50 read 32 {2 * BANK}", f"100 read 32 {BANK}", "150 read 32 0"], body)
    assert [c % 50 for c in replies] == [RCD + CAS + beats] * 2 + [1 + RP + RCD + CAS + beats, RP + RCD + CAS + beats]
    assert [c[1:] for c in commands if 100 <= c[0] < 150] == [(PRECHARGE, 0, 0), (PRECHARGE, 2, 0), (ACTIVATE, 1, 0), (READ, 1, 0)]
    together = ["0 read 32 0"] + [f"50 read 32 {32 * k}" for k in range(4)] + [f"50 read 32 {2 * BANK}"]
    _, commands = play(bench, together, body)
    cycles = [c[0] for c in commands]
    assert len(set(cycles)) < len(cycles)
    _, commands = play(bench, together)
    cycles = [c[0] for c in commands]
    assert len(set(cycles)) == len(cycles)


@seldom
@pytest.mark.parametrize("body", ["", "close_page = true; refresh_interval = 90; refresh_groups = 2;", "kind = dram_kind.rambus; beat = 16; refresh_interval = 200;"])
def test_values(bench: Bench, body: str) -> None:
    """Random reads, writes, atomic operations and barriers: what each reads is what came before it, whatever passes what."""
    rng, model = random.Random(body), Bytes(4096)
    requests = Requests(rng)
    for _ in range(300):
        requests.add(model, rng.randrange(512) * 8)
        if rng.random() < 0.1:
            at, number = rng.randrange(512) * 8, len(requests.script)
            requests.replies.append((number, model.read(at, 8)))
            model.write(at, 8, model.read(at, 8) + 5)
            requests.script.append(f"{number} fetch_add 8 {at} 5 {number}")
        if rng.random() < 0.05:
            number = len(requests.script)
            requests.script.append(f"{number} barrier 1 0 0 {number}")
            requests.replies.append((number, 0))
    machine = controller(bench, body)
    [replies] = machine.play([requests.script], 12000, outstanding=8)
    assert sorted((a.tag, a.data) for a in replies) == requests.replies
    assert [a.tag for a in replies] != sorted(a.tag for a in replies), "nothing passed anything"
    seen = dict((a.tag, k) for k, a in enumerate(replies))
    for number, line in enumerate(requests.script):
        if "barrier" in line:
            assert all(seen[before] < seen[number] for before in range(number))


def test_it_is_a_memory_with_rows(bench: Bench) -> None:
    text = "import memory_types; instance requester : memory_source { width = 256; }; instance c : memory_controller { %s }; instance m : memory_state { width = 256; size = 4 KiB; }; requester.memory -> c.in; c.memory -> m.port;"
    assert "powers of two, not 3 and 2048" in bench.refuse(text % "banks = 3;")
    assert "refresh_interval must exceed" in bench.refuse(text % "refresh_interval = 10;")
    assert "more groups" in bench.refuse(text % "refresh_groups = 5;")
