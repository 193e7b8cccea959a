"""A disk as its closed forms have it: where sectors are, how long the arm takes, and a disk_mechanics with an image behind it to compare."""

import math
import random
from dataclasses import dataclass
from pathlib import Path

from tests.modules.harness import Bench, Ran, read_items
from tests.modules.mips import struct

LATENCY = 3  # cycles from a sector's having passed to its reply's being offered

NETLIST = """
import disk_types;
instance asking : source; instance giving : source; instance replies : sink; instance size : sink;
instance dut : disk_mechanics { BODY };
instance contents : disk_image { capacity = CAPACITY B; };
asking.out -> dut.in.request : disk_request;
giving.out -> dut.in.data : disk_sector;
dut.in.reply -> replies.in : disk_reply;
dut.in.sectors -> size.in : uint64;
dut.out -> contents.in;
"""


@dataclass
class Disk:
    """Parameters of a disk_mechanics, in cycles of its clock of 1 GHz."""

    cylinders: int = 30
    heads: int = 3
    zones: tuple[tuple[int, int], ...] = ((30, 10),)
    revolution: int = 10000
    single: int = 500
    average: int = 2000
    full: int = 4000
    switch: int = 300
    overhead: int = 100
    seek: str = "curve"
    skew: bool = False
    order: str = "arrival"
    more: str = ""

    @property
    def sectors(self) -> int:
        return self.heads * sum(cylinders * sectors for cylinders, sectors in self.zones)

    def body(self) -> str:
        zones = ", ".join(f"{{ cylinders = {cylinders}, sectors = {sectors} }}" for cylinders, sectors in self.zones)
        return (
            f"cylinders = {self.cylinders}; heads = {self.heads}; zones = [{zones}]; rpm = {60 * 10**9 // self.revolution}; single_seek = {self.single} ns; "
            f"average_seek = {self.average} ns; full_seek = {self.full} ns; head_switch = {self.switch} ns; overhead = {self.overhead} ns; "
            f"seek = disk_seek.{self.seek}; skew = {str(self.skew).lower()}; order = disk_order.{self.order}; {self.more}"
        )

    def seek_cycles(self, distance: int) -> int:
        """What the arm takes, by the published formulas."""
        d, n = distance, self.cylinders
        if d == 0 or self.seek == "none":
            return 0
        if self.seek == "constant":
            return self.average
        if self.seek == "lines":
            third = max(n / 3, 2)
            if d <= third:
                return math.ceil(self.single + (self.average - self.single) * (d - 1) / (third - 1))
            return math.ceil(self.average + (self.full - self.average) * (d - third) / (n - 1 - third))
        a = (-10 * self.single + 15 * self.average - 5 * self.full) / (3 * math.sqrt(n))
        b = (7 * self.single - 15 * self.average + 8 * self.full) / (3 * n)
        return math.ceil(round(a * math.sqrt(d - 1) + b * (d - 1) + self.single, 6))

    def place(self, sector: int) -> tuple[int, int, int, int]:
        """Cylinder, head, sector as the platters have it, sectors of the track."""
        first = 0
        for cylinders, per_track in self.zones:
            if sector < cylinders * self.heads * per_track:
                row, within = divmod(sector, self.heads * per_track)
                head, number = divmod(within, per_track)
                turned = 0
                if self.skew:
                    track = math.ceil(self.switch * per_track / self.revolution)
                    cylinder = math.ceil(max(self.switch, self.seek_cycles(1)) * per_track / self.revolution)
                    turned = row * (track * (self.heads - 1) + cylinder) + head * track
                return first + row, head, (number + turned) % per_track, per_track
            sector -= cylinders * self.heads * per_track
            first += cylinders
        raise AssertionError("beyond the disk")

    def angle(self, number: int, per_track: int) -> int:
        return number * self.revolution // per_track

    def passed(self, start: int, sector: int, at: tuple[int, int]) -> tuple[int, int, int]:
        """When a sector has passed, if the arm begins to move at `start` from this cylinder and head; how long it moves, and waits."""
        cylinder, head, number, per_track = self.place(sector)
        move = self.seek_cycles(abs(cylinder - at[0]))
        if head != at[1]:
            move = max(move, self.switch)
        begin, end = self.angle(number, per_track), self.angle(number + 1, per_track)
        wait = (begin - start - move) % self.revolution
        return start + move + wait + end - begin, move, wait


def request(op: str, sector: int, count: int, tag: int) -> str:
    return struct(op=op, tag=tag, sector=sector, count=count)


def asked(cycle: int, op: str, sector: int = 0, count: int = 1, tag: int = 0) -> str:
    return f"{cycle} {request(op, sector, count, tag)}\n"


def given(cycle: int, data: bytes, abandon: bool = False) -> str:
    return f"{cycle} {struct(abandon=abandon, bytes=hex(int.from_bytes(data, 'little')))}\n"


def contents(sectors: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(512 * sectors)


@dataclass
class Reply:
    cycle: int
    tag: int
    last: bool
    error: bool
    data: bytes


def netlist(disk: Disk, sectors: int = 0) -> str:
    return NETLIST.replace("BODY", disk.body()).replace("CAPACITY", str(512 * (sectors or disk.sectors)))


def play(
    bench: Bench, disk: Disk, script: str, cycles: int, data: str = "", image: bytes | None = None, seed: int = 1, ok: bool = True, after: str = "", **settings: object
) -> tuple[Ran, list[Reply]]:
    """Runs a script of requests; the replies in the cycles in which they were taken."""
    simulator = bench.planned(netlist(disk) + after)
    files: dict[str, str | bytes] = {"script": script, "data": data, "disk": contents(disk.sectors) if image is None else image}
    values: dict[str, object] = {"asking.script": "script", "giving.script": "data", "contents.image": "disk", "contents.commit": "after", "replies.record": "seen"}
    values |= {name.replace("__", "."): value for name, value in settings.items()}
    ran = bench.run(simulator, cycles, values, files=files, seed=seed, ok=ok)
    return ran, read_replies(ran.directory / "seen") if ok else []


def read_replies(path: Path) -> list[Reply]:
    seen = []
    for cycle, text in read_items(path):
        words = dict(word.split("=") for word in text.strip("{}").split())
        seen.append(Reply(cycle, int(words["tag"]), words["last"] == "true", words["error"] == "true", int(words["bytes"], 0).to_bytes(512, "little")))
    return seen
