"""disk_mechanics: closed forms of seeks, rotation, zones and transfers to the cycle, the buffer, queues in each order, random requests against their contents."""

import random
import subprocess
from itertools import product
from pathlib import Path

import pytest

from tests.modules.disk.mechanics import LATENCY, Disk, Reply, asked, contents, given, netlist
from tests.modules.disk.mechanics import play as run_script
from tests.modules.harness import MOST_CHECKED, Bench, Ran, collect, happened
from tests.sample import sampled, seldom

NO_AHEAD = {"dut__read_ahead": False}
EVENTS = collect("dut", "approach(write, sector, seek, rotation, transfer)", "done(op, sector, count, cycles)")


def play(bench: Bench, disk: Disk, script: str, cycles: int, data: str = "", **settings: object) -> tuple[Ran, list[Reply]]:
    return run_script(bench, disk, script, cycles, data, after=EVENTS, **settings)  # type: ignore[arg-type]


def approaches(ran: Ran) -> list[tuple[int, ...]]:
    """What the arm went for: cycle, whether to write, sector, cycles of moving, waiting, passing."""
    return happened(ran, "approach")


def part(data: bytes, sector: int) -> bytes:
    return data[512 * sector : 512 * (sector + 1)]


@seldom
def test_all_in_so_few_cycles_that_each_is_checked(bench: Bench) -> None:
    """Reads, writes, a flush, and reading ahead; what the module says of its next event is compared with what it does."""
    disk = Disk(revolution=500, single=20, average=60, full=100, switch=20, overhead=10, skew=True, more="segment_sectors = 4; write_buffer = true;")
    new = random.Random(4).randbytes(2 * 512)
    script = asked(0, "read", 7, 2, 1) + asked(900, "write", 20, 2, 2) + asked(950, "flush", tag=3) + asked(1000, "read", 600, 1, 4) + asked(2500, "read", 21, 1, 5)
    ran, replies = play(bench, disk, script, MOST_CHECKED, "".join(given(0, part(new, k)) for k in range(2)))
    held = contents(disk.sectors)
    assert sorted((one.tag, one.data) for one in replies if one.tag not in (2, 3)) == [(1, part(held, 7)), (1, part(held, 8)), (4, part(held, 600)), (5, part(new, 1))]
    assert {name: ran.stat("dut", name) for name in ("reads", "writes", "flushes", "errors")} == {"reads": 3, "writes": 1, "flushes": 1, "errors": 0}


@pytest.mark.parametrize("seek", sampled(["curve", "lines", "constant", "none"], 4, 1))
def test_a_sector_takes_overhead_seek_rotation_and_transfer(bench: Bench, seek: str) -> None:
    """Over every third distance inwards and back: overhead + seek + rotation to it + revolution / S, and the cycles of the buffer."""
    disk = Disk(seek=seek)
    targets = [sector for d in range(0, 30, 3) for sector in (30 * d + 7 * d % 30, 0)]
    script = "".join(asked(20_137 * k, "read", sector, tag=k) for k, sector in enumerate(targets))
    ran, replies = play(bench, disk, script, 20_137 * len(targets), **NO_AHEAD, dut__ready_sectors=1)
    at, wanted, moves, waits, hits = (0, 0), [], 0, 0, 0
    held = contents(disk.sectors)
    kept: list[int] = []  # what the segments have, the latest last
    for k, sector in enumerate(targets):
        begin = 20_137 * k + disk.overhead
        if sector in kept:
            kept.remove(sector)
            wanted.append(Reply(begin + LATENCY, k, True, False, part(held, sector)))
            hits += 1
        else:
            cycle, move, wait = disk.passed(begin, sector, at)
            at = disk.place(sector)[:2]
            wanted.append(Reply(cycle + LATENCY, k, True, False, part(held, sector)))
            moves, waits = moves + move, waits + wait
        kept = [*kept, sector][-16:]
    assert replies == wanted
    counted = ran.counted("dut")
    passed = len(targets) - hits
    done = {"reads": len(targets), "hits": hits, "sectors_passed": passed, "seek_time": moves, "rotation_time": waits, "transfer_time": 1000 * passed}
    assert {name: counted.get(name, 0) for name in done} == done and hits > 0.4 * len(targets)
    assert counted["response"] == sum(reply.cycle - 20_137 * k for k, reply in enumerate(replies))
    assert counted["seeks"] == len([one for one in approaches(ran) if targets and one[2] // 30 != 0])
    assert [one[1:4] for one in happened(ran, "done")] == [(0, sector, 1) for sector in targets]


def test_published_times_are_those_of_the_curve() -> None:
    """Lee's and Katz's curve has the single-track time at 1, the full one at n, and over random distances the average one."""
    disk = Disk(cylinders=3000, single=700_000, average=7_500_000, full=14_000_000)
    n = disk.cylinders
    mean = sum(2 * (n - d) * disk.seek_cycles(d) for d in range(1, n)) / (n * n)
    assert disk.seek_cycles(1) == 700_000 and abs(disk.seek_cycles(n + 1) - 14_000_000) < 2 and abs(mean / 7_500_000 - 1) < 0.001


@seldom
def test_the_platters_turn_with_time(bench: Bench) -> None:
    """A sector read at instants of several revolutions waits until it comes, wherever it is then."""
    disk = Disk(seek="none", overhead=0)
    starts = [11_311 * k + 97 * k * k for k in range(25)]
    script = "".join(asked(cycle, "read", 3 if k % 2 else 33, tag=k) for k, cycle in enumerate(starts))
    _, replies = play(bench, disk, script, starts[-1] + 20_000, **NO_AHEAD, dut__ready_sectors=1)
    # Both are in the buffer from the second time on: only the first two depend on the platters.
    assert [one.cycle for one in replies] == [disk.passed(0, 33, (0, 0))[0] + LATENCY, disk.passed(starts[1], 3, (1, 0))[0] + LATENCY, *(cycle + LATENCY for cycle in starts[2:])]
    other = [asked(cycle, "read", 30 * k + 3, tag=k) for k, cycle in enumerate(starts)]
    ran, replies = play(bench, disk, "".join(other), starts[-1] + 20_000, **NO_AHEAD)
    assert [one.cycle for one in replies] == [cycle + (3000 - cycle) % 10_000 + 1000 + LATENCY for cycle in starts]
    assert [one[4] for one in approaches(ran)] == [(3000 - cycle) % 10_000 for cycle in starts]


@seldom
@pytest.mark.parametrize("skew", sampled([False, True], 2, 1))
def test_a_track_and_the_next(bench: Bench, skew: bool) -> None:
    """Sectors of a track follow each other; the next track costs a revolution, or, where tracks are skewed, only the switch and the seek."""
    disk = Disk(skew=skew, more="segment_sectors = 64;")
    ran, replies = play(bench, disk, asked(0, "read", 4, 40), 100_000, **NO_AHEAD)
    at, now, wanted = (0, 0), disk.overhead, []
    for sector in range(4, 44):
        now, _, _ = disk.passed(now, sector, at)
        at = disk.place(sector)[:2]
        wanted.append(now + LATENCY)
    assert [one.cycle for one in replies] == wanted
    assert [one.data for one in replies] == [part(contents(disk.sectors), sector) for sector in range(4, 44)]
    lost = sum(one[4] for one in approaches(ran)[1:])
    assert lost < 4 * 1000 if skew else lost > 3 * 8000


@seldom
@pytest.mark.parametrize("sectors", sampled([10, 7, 211], 3, 1))
def test_rotation_is_exact_where_sectors_are_no_whole_cycles(bench: Bench, sectors: int) -> None:
    disk = Disk(cylinders=4, heads=1, zones=((4, sectors),), revolution=9999, overhead=1, more="segment_sectors = 256;")
    disk.revolution = -(-60 * 10**9 // (60 * 10**9 // 9999))
    _, replies = play(bench, disk, asked(0, "read", 0, sectors), 30_000, **NO_AHEAD)
    first = disk.revolution - 0
    assert [one.cycle for one in replies] == [first + disk.angle(k + 1, sectors) + LATENCY for k in range(sectors)]


@seldom
def test_zones(bench: Bench) -> None:
    """Outer tracks have more sectors, so that more of them pass in a revolution; the border is where the numbers say."""
    disk = Disk(cylinders=6, heads=2, zones=((2, 20), (3, 10), (1, 5)), overhead=0)
    assert disk.sectors == 150
    targets = [0, 79, 80, 139, 140, 149]
    script = "".join(asked(40_000 * k, "read", sector, tag=k) for k, sector in enumerate(targets))
    _, replies = play(bench, disk, script, 240_000, **NO_AHEAD)
    at, wanted = (0, 0), []
    for k, sector in enumerate(targets):
        wanted.append(disk.passed(40_000 * k, sector, at)[0] + LATENCY)
        at = disk.place(sector)[:2]
    assert [one.cycle for one in replies] == wanted
    ran, replies = play(bench, disk, asked(0, "read", 20, 20) + asked(40_000, "read", 90, 10), 80_000, **NO_AHEAD)
    rates = [replies[19].cycle - replies[0].cycle, replies[29].cycle - replies[20].cycle]
    assert rates == [19 * 500, 9 * 1000]
    assert ran.stat("dut", "sectors_passed") == 30


def test_a_track_read_twice_comes_from_the_buffer(bench: Bench) -> None:
    """The second time, at the rate of the buffer: a sector every three cycles, with no rotation."""
    disk = Disk()
    ran, replies = play(bench, disk, asked(0, "read", 0, 10, 1) + asked(30_000, "read", 0, 10, 2), 40_000, **NO_AHEAD)
    assert [one.cycle for one in replies[10:]] == [30_000 + disk.overhead + LATENCY + 3 * k for k in range(10)]
    assert [one.data for one in replies[10:]] == [one.data for one in replies[:10]]
    assert ran.counted("dut")["hits"] == 1 and ran.counted("dut")["sectors_passed"] == 10


@seldom
def test_reading_goes_on_behind_a_read(bench: Bench) -> None:
    """Up to the segment's end; what was read so is there at once, what is just being read when it has passed, and beyond that the platters are waited for."""
    disk = Disk(more="segment_sectors = 8;", overhead=10)
    asks = [asked(0, "read", 0, 2, 1), asked(13_500, "read", 2, 1, 2), asked(13_600, "read", 3, 2, 3), asked(40_000, "read", 5, 2, 4)]
    ran, replies = play(bench, disk, "".join(asks), 60_000)
    # Sector k of track 0 has passed k + 1 thousand cycles behind a multiple of ten thousand; the first comes in the second revolution.
    assert [(one.tag, one.cycle - LATENCY) for one in replies] == [
        (1, 11_000), (1, 12_000), (2, 13_510), (3, 14_000), (3, 15_000), (4, 40_010), (4, 40_013)
    ]  # fmt: skip
    ahead = [one[2] for one in approaches(ran)]
    assert ahead[:11] == list(range(11)), "the segment of the third read ends behind sector 10"
    assert ran.counted("dut")["hits"] == 2 and ran.counted("dut")["sectors_ahead"] == ran.counted("dut")["sectors_passed"] - 4


@seldom
def test_reading_ahead_ends_for_others(bench: Bench) -> None:
    """At once if the arm stands, else when it has settled."""
    disk = Disk(heads=1, overhead=0, more="segment_sectors = 20;")
    far = 200
    _, replies = play(bench, disk, asked(0, "read", 0, 1, 1) + asked(13_500, "read", far, 1, 2), 60_000)
    assert replies[1].cycle == disk.passed(13_500, far, (0, 0))[0] + LATENCY
    begins = disk.passed(0, 9, (0, 0))[0]  # then the arm moves to the next cylinder, still reading ahead
    _, replies = play(bench, disk, asked(0, "read", 8, 2, 1) + asked(begins + 100, "read", far, 1, 2), 60_000)
    assert replies[2].cycle == disk.passed(begins + disk.seek_cycles(1), far, (1, 0))[0] + LATENCY


@seldom
def test_a_full_segment_makes_the_platters_wait(bench: Bench) -> None:
    """Who takes replies too slowly loses a revolution, no sector."""
    disk = Disk(more="segment_sectors = 4;")
    ran, replies = play(bench, disk, asked(0, "read", 0, 10), 120_000, replies__ready=0.0001, **NO_AHEAD)
    assert [one.data for one in replies] == [part(contents(disk.sectors), k) for k in range(10)]
    assert max(one[4] for one in approaches(ran)) > 5000


def test_writes(bench: Bench) -> None:
    """A write's sectors are taken, then they pass; its reply comes when the last has; the image behind has them."""
    disk = Disk(overhead=100, more="segment_sectors = 8;")
    new = random.Random(3).randbytes(3 * 512)
    data = "".join(given(0, part(new, k)) for k in range(3))
    ran, replies = play(bench, disk, asked(50, "write", 5, 3, 9) + asked(30_000, "flush", tag=3) + asked(40_000, "read", 5, 3, 4), 80_000, data)
    at, now = (0, 0), 50 + disk.overhead
    for sector in range(5, 8):
        now, _, _ = disk.passed(now, sector, at)
    assert (replies[0].cycle, replies[0].tag, replies[0].last, replies[0].error) == (now + 1, 9, True, False)
    assert (replies[1].tag, replies[1].cycle) == (3, 30_000 + disk.overhead + LATENCY)
    assert [one.data for one in replies[2:]] == [part(new, k) for k in range(3)]
    held = bytearray(contents(disk.sectors))
    held[5 * 512 : 8 * 512] = new
    assert (ran.directory / "after").read_bytes() == held
    counted = ran.counted("dut")
    assert (counted["writes"], counted["flushes"], counted["reads"]) == (1, 1, 1)


@seldom
def test_buffered_writes(bench: Bench) -> None:
    """Replied to when they are taken; a flush waits until they are on the disk, and so does a read of the same sectors."""
    disk = Disk(overhead=0, more="segment_sectors = 8; write_buffer = true;")
    new = random.Random(3).randbytes(2 * 512)
    data = "".join(given(0, part(new, k)) for k in range(2))
    script = asked(10, "write", 605, 2, 1) + asked(200, "flush", tag=2) + asked(200, "read", 605, 1, 3)
    _, replies = play(bench, disk, script, 80_000, data, **NO_AHEAD)
    now, _, _ = disk.passed(19, 605, (0, 0))
    on_disk = disk.passed(now, 606, disk.place(605)[:2])[0]
    assert [one.tag for one in replies] == [1, 2, 3] and replies[0].cycle < 30
    assert replies[1].cycle == on_disk + LATENCY
    assert replies[2].data == part(new, 0) and replies[2].cycle == disk.passed(on_disk, 605, disk.place(606)[:2])[0] + LATENCY


@seldom
def test_a_write_larger_than_a_segment(bench: Bench) -> None:
    """Its sectors are taken as those before are on the disk."""
    disk = Disk(overhead=0, more="segment_sectors = 4;")
    new = random.Random(4).randbytes(25 * 512)
    data = "".join(given(0, part(new, k)) for k in range(25))
    ran, replies = play(bench, disk, asked(0, "write", 0, 25, 1), 90_000, data)
    now, at = 0, (0, 0)
    for sector in range(25):
        now, _, _ = disk.passed(max(now, 15), sector, at)
        at = disk.place(sector)[:2]
    assert [(one.tag, one.cycle) for one in replies] == [(1, now + 1)]
    assert (ran.directory / "after").read_bytes()[: 25 * 512] == new


def test_a_write_waits_for_its_sectors(bench: Bench) -> None:
    """Those that a segment does not hold come late: each passes in the first revolution behind its coming, no sooner."""
    disk = Disk(overhead=0, more="segment_sectors = 4;")
    new = random.Random(4).randbytes(7 * 512)
    comes = [0, 0, 0, 0, 50_000, 90_500, 91_200]
    ran, replies = play(bench, disk, asked(0, "write", 0, 7, 1), 120_000, "".join(given(comes[k], part(new, k)) for k in range(7)))
    passes = [(one[0], *one[2:]) for one in approaches(ran)]
    assert [sector for _, sector, *_ in passes] == list(range(7))
    for k, (cycle, _, move, wait, length) in enumerate(passes):
        assert cycle >= comes[k] and cycle + move + wait + length == disk.passed(cycle, k, (0, 0))[0]
    assert [(one.tag, one.error) for one in replies] == [(1, False)] and replies[0].cycle > 91_200
    assert (ran.directory / "after").read_bytes()[: 7 * 512] == new


def test_what_is_beyond_the_end(bench: Bench) -> None:
    disk = Disk()
    script = asked(0, "read", 900, 1, 1) + asked(1000, "read", 899, 2, 2) + asked(2000, "write", 899, 2, 3) + asked(3000, "write", 0, 3, 4) + asked(60_000, "read", 899, 1, 5)
    data = given(0, b"x" * 512) * 3 + given(0, b"y" * 512, abandon=True)
    ran, replies = play(bench, disk, script, 90_000, data)
    assert [(one.tag, one.error, one.last) for one in replies] == [(1, True, True), (2, True, True), (3, True, True), (4, True, True), (5, False, True)]
    after = (ran.directory / "after").read_bytes()
    assert after[:512] == b"x" * 512 and after[512:] == contents(900)[512:], "of an abandoned write, what was given is written"
    assert ran.counted("dut")["errors"] == 4
    assert "901 sectors do not fit on a disk of 900" in told_of_901(bench, disk)
    assert "ready_sectors must be at most the 128 sectors of a segment, not 129" in play(bench, disk, "", 10, ok=False, dut__ready_sectors=129)[0].err
    assert "a sector passes in less than a cycle" in play(bench, disk, "", 10, ok=False, dut__rpm=60 * 10**9)[0].err
    assert "rpm = 1: a revolution takes more than 1073741823 cycles" in play(bench, disk, "", 10, ok=False, dut__rpm=1)[0].err
    assert "the cylinders of all zones must add up to those of the disk: 3 and 4" in bench.refuse("import disk_types; instance d : disk_mechanics { cylinders = 4; zones = [{ cylinders = 3, sectors = 5 }]; };")
    assert "a zone needs at least one cylinder" in bench.refuse("import disk_types; instance d : disk_mechanics { cylinders = 4; zones = [{ cylinders = 4, sectors = 0 }]; };")


def told_of_901(bench: Bench, disk: Disk) -> str:
    larger = Disk(cylinders=31, zones=((31, 10),))
    simulator = bench.build(netlist(disk, larger.sectors))
    files: dict[str, str | bytes] = {"disk": contents(901)}
    return bench.run(simulator, 10, {"contents.image": "disk", "asking.count": 0, "giving.count": 0}, files=files, ok=False).err


@pytest.mark.parametrize("order", sampled(["arrival", "nearest", "elevator", "shortest"], 2, 1))
def test_queued_reads(bench: Bench, order: str) -> None:
    """All wait at once, and are done in the order that the policy says, each in its closed form; tags say which is which."""
    disk = Disk(order=order, overhead=1000)
    targets = random.Random(5).sample(range(0, 900, 7), 12)
    script = "".join(asked(0, "read", sector, tag=k) for k, sector in enumerate(targets))
    _, replies = play(bench, disk, script, 120_000, **NO_AHEAD)
    # The first can be looked at first, when the arm is free; the others are there when it has been served.
    first = disk.passed(disk.overhead, targets[0], (0, 0))[0]
    rest = served(disk, targets[1:], disk.place(targets[0])[:2], first)
    assert [(one.tag, one.cycle) for one in replies] == [(0, first + LATENCY), *((k + 1, cycle) for k, cycle in rest)]


def served(disk: Disk, targets: list[int], at: tuple[int, int], now: int) -> list[tuple[int, int]]:
    """The order in which reads of single sectors are done that all wait when the arm is here, and when their replies come."""
    waiting, up, done = set(range(len(targets))), at[0] > 0, []
    while waiting:
        best = None
        for k in sorted(waiting):
            cylinder = disk.place(targets[k])[0]
            away = abs(cylinder - at[0])
            _, move, wait = disk.passed(now, targets[k], at)
            against = disk.cylinders if away and (cylinder > at[0]) != up else 0
            its = {"arrival": 0, "nearest": away, "elevator": away + against, "shortest": move + wait}[disk.order]
            if best is None or its < best[0]:
                best = (its, k)
        assert best
        k = best[1]
        now, _, _ = disk.passed(now, targets[k], at)
        place = disk.place(targets[k])[:2]
        up = place[0] > at[0] if place[0] != at[0] else up
        at = place
        done.append((k, now + LATENCY))
        waiting.remove(k)
    return done


@seldom
def test_nobody_waits_for_ever(bench: Bench) -> None:
    """A far request among many near ones is done when it is older than the limit."""
    disk = Disk(order="nearest", overhead=0)
    script = asked(0, "read", 5, tag=99) + asked(0, "read", 899, tag=1) + "".join(asked(0, "read", 7 * k % 300, tag=2) for k in range(1, 40))
    for limit, last in (("1 s", True), ("60 us", False)):
        _, replies = play(bench, disk, script, 300_000, **NO_AHEAD, dut__age_limit=limit)
        place = [one.tag for one in replies].index(1)
        assert len(replies) == 41 and (place == 40) == last and place > 3


@pytest.mark.parametrize(("seed", "buffered"), sampled(product(range(4), (False, True)), every=8, first=3))
def test_random_requests(bench: Bench, buffered: bool, seed: int) -> None:
    """Reads see the writes before them, replies of each request are whole and in order, whatever waits; the disk holds what was written."""
    rng = random.Random(100 * seed + buffered)
    disk = Disk(cylinders=10, zones=((6, 12), (4, 9)), revolution=3000, single=50, average=200, full=500, switch=30, overhead=20, skew=True, order=rng.choice(["shortest", "elevator", "nearest"]),
                more=f"queue = 5; segments = {rng.choice([1, 3])}; segment_sectors = 6; write_buffer = {str(buffered).lower()}; ready_sectors = {rng.choice([1, 4])};")  # fmt: skip
    held = bytearray(contents(disk.sectors))
    script, data, wanted = "", "", {}
    for tag in range(60):
        count = rng.choice([1, 1, 2, 5, 9])
        at = rng.choice([rng.randrange(disk.sectors - count + 1), rng.randrange(20)])
        op = rng.choice(["read", "read", "write", "flush"])
        script += asked(0, op, at, count, tag)
        wanted[tag] = [part(bytes(held), at + k) for k in range(count)] if op == "read" else [None]
        if op == "write":
            new = rng.randbytes(512 * count)
            held[512 * at : 512 * (at + count)] = new
            data += "".join(given(0, part(new, k)) for k in range(count))
    ran, replies = play(bench, disk, script, 200_000, data, seed=seed + 1, replies__ready=0.2, giving__offer=0.3, giving__cancel=0.2, asking__cancel=0.3)
    seen: dict[int, list[Reply]] = {}
    for one in replies:
        assert not one.error and not (seen.get(one.tag) or [one])[-1].last or one.tag not in seen, f"seed {seed}"
        seen.setdefault(one.tag, []).append(one)
    assert {tag: len(its) for tag, its in seen.items()} == {tag: len(its) for tag, its in wanted.items()}, f"seed {seed}"
    for tag, its in wanted.items():
        assert [one.last for one in seen[tag]] == [False] * (len(its) - 1) + [True]
        assert its == [None] or [one.data for one in seen[tag]] == its, f"seed {seed}: request {tag}"
    assert (ran.directory / "after").read_bytes() == held, f"seed {seed}"
    counted = ran.counted("dut")
    assert counted["reads"] + counted["writes"] + counted["flushes"] == 60


@seldom
@pytest.mark.parametrize("cycle", sampled([500, 20_000], 2))
def test_a_checkpoint_in_the_midst(bench: Bench, cycle: int, tmp_path: Path) -> None:
    """What goes on from it is the straight run."""
    disk = Disk(order="shortest")
    simulator = bench.build(netlist(disk))
    (tmp_path / "disk").write_bytes(contents(900))
    (tmp_path / "script").write_text("".join(asked(100 * k, "read", 37 * k % 900, 1 + k % 3, k) for k in range(20)))

    def run(name: str, *words: str) -> list[str]:
        command = [simulator, "--quiet", "--set", f"replies.record={name}", *words]
        done = subprocess.run(list(map(str, command)), cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return (tmp_path / name).read_text().splitlines()

    start = ["--set", "contents.image=disk", "--set", "asking.script=script", "--set", "giving.count=0"]
    whole = run("whole", *start, "--cycles", "300000")
    first = run("first", *start, "--cycles", str(cycle), "--checkpoint", "point")
    assert first + run("rest", "--restore", "point", "--cycles", "300000") == whole and len(whole) == 39
