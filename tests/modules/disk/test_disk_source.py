"""disk_source: requests as they are generated, how many at a time, how long they take, what is written; cycle by cycle at its port."""

import random

import pytest

from tests.modules.harness import Bench, collect, happened
from tests.modules.mips import BundleDevice, struct
from tests.sample import sampled

PORTS = {"disk.request": ("out", 1, "disk_request"), "disk.data": ("out", 1, "disk_sector"), "disk.reply": ("in", 1, "disk_reply"), "disk.sectors": ("in", 1, "uint64")}
IMPORTS = "import disk_types;\n"
EVENTS = collect("dut", "ended(op, sector, count, cycles)")


def request(op: str, sector: int, count: int, tag: int) -> str:
    return struct(op=op, tag=tag, sector=sector, count=count)


def reply(tag: int, last: bool = True, error: bool = False) -> str:
    return struct(tag=tag, last=last, error=error, bytes="0x0")


def test_requests_cycle_by_cycle(bench: Bench) -> None:
    """The next one is offered in the cycle behind a reply, or while there is room; a write's sectors come behind it."""
    body = "outstanding = 2; count = 4; step = 100; generate = <<< (void)random; return (disk_request){.op = index == 1 ? disk_op_write : disk_op_read, .sector = step * index % sectors, .count = index == 1 ? 2 : 1}; >>>;"
    device = BundleDevice(bench, "disk_source", PORTS, body, before=IMPORTS, after=EVENTS)
    sectors = [struct(abandon=False, bytes=hex(int.from_bytes(n.to_bytes(8, "little") * 64, "little"))) for n in (100, 101)]
    ran = device.check_table(
        f"""
        disk_request | disk_request.ack | disk_data | disk_data.ack | disk_reply | disk_sectors
        . | 0 | . | 0 | . | 150
        {request("read", 0, 1, 0)} | 0 | . | 0 | . | 150
        {request("read", 0, 1, 0)} | 1 | . | 0 | . | 150
        {request("write", 100, 2, 1)} | 1 | . | 0 | . | 150
        . | 1 | {sectors[0]} | 0 | {reply(0)} | 150
        . | 1 | {sectors[0]} | 1 | . | 150
        . | 1 | {sectors[1]} | 1 | . | 150
        {request("read", 50, 1, 2)} | 1 | . | 0 | . | 150
        . | 1 | . | 0 | {reply(1)} | 150
        {request("read", 0, 1, 3)} | 1 | . | 0 | {reply(2, error=True)} | 150
        . | 1 | . | 0 | {reply(3)} | 150
        """
    )
    assert [one[1:] for one in happened(ran, "ended")] == [(0, 0, 1, 3), (1, 100, 2, 5), (0, 50, 1, 2), (0, 0, 1, 1)]
    assert ran.counted("dut") == {"requests": 4, "replies": 4, "errors": 1, "sectors": 4, "response": 11}


@pytest.mark.parametrize("seed", sampled(range(2), 2))
def test_random_requests_of_a_disk(bench: Bench, seed: int) -> None:
    """Reads and writes with an interval between them and some at a time; the disk has the numbers that were written."""
    text = """
    import disk_types;
    instance dut : disk_source { generate = <<< (void)step; return (disk_request){.op = random & 1 ? disk_op_write : disk_op_read, .sector = (random >> 8) % (sectors - 3), .count = 1 + index % 3}; >>>; };
    instance drive : disk_mechanics { cylinders = 10; heads = 1; sectors = 10; rpm = 60000000; single_seek = 20 ns; average_seek = 40 ns; full_seek = 60 ns; head_switch = 5 ns; overhead = 5 ns; };
    instance contents : disk_image { capacity = 50 KiB; };
    dut.disk -> drive.in;
    drive.out -> contents.in;
    """
    rng = random.Random(seed)
    values = {"dut.count": 60, "dut.outstanding": rng.choice([1, 5]), "dut.interval": rng.choice([0, 700]), "contents.commit": "after"}
    ran = bench.run(bench.build(text + EVENTS), 200_000, values, seed=seed + 1)
    counted, done = ran.counted("dut"), happened(ran, "ended")
    assert counted["requests"] == counted["replies"] == len(done) == 60 and "errors" not in counted
    assert counted["sectors"] == sum(one[3] for one in done) and counted["response"] == sum(one[4] for one in done)
    after = (ran.directory / "after").read_bytes()
    written = {n for one in done if one[1] == 1 for n in range(one[2], one[2] + one[3])}
    assert written and all(after[512 * n : 512 * (n + 1)] == (n.to_bytes(8, "little") * 64 if n in written else bytes(512)) for n in range(100))
    assert "all requests are done" in ran.out + ran.err and done[-1][0] >= values["dut.interval"] * 59


def test_what_it_cannot_be(bench: Bench) -> None:
    text = "import disk_types; instance s : disk_source; instance a : disk_image; instance b : disk_image; s.disk -> a.in; s.disk -> b.in;"
    assert "one disk" in bench.refuse(text)
