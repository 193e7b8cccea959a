"""SCSI at ports: lines, requests and beats as text, and an initiator that plays commands on a bus with disks."""

from dataclasses import dataclass, field

from tests.modules.harness import Bench, Ran, collect, read_items
from tests.modules.mips import struct

PHASES = {"data_out": 0, "data_in": 1, "command": 2, "status": 3, "message_out": 6, "message_in": 7}
INITIATOR = 7
SIMPLE, ORDERED = 0x20, 0x22


def lines(id: int, responds: bool = True, busy: bool = False, attention: bool = False, requests: bool = False, reset: bool = False, phase: str = "data_out", period: int = 0) -> str:
    return struct(id=id, responds=responds, busy=busy, attention=attention, requests=requests, reset=reset, phase=phase, period=period)


def request(destination: int, reselects: bool = False, attention: bool = False) -> str:
    return struct(destination=destination, reselects=reselects, attention=attention)


def beat(data: bytes, attention: bool = False) -> str:
    return struct(bytes=int.from_bytes(data, "little"), count=len(data), attention=attention)


NETLIST = (
    """
import disk_types; import scsi_types;
instance lines : source { generate = <<< typeof_port(out) item = {.id = 7, .responds = true}; (void)index; return item; >>>; };
instance wanting : source; instance sending : source; instance receiving : sink; instance seeing : sink;
instance bus : scsi_bus { BUS };
instance dut : scsi_disk { id = 3; DISK };
instance mechanics : disk_mechanics { cylinders = 40; heads = 2; sectors = 20; segment_sectors = 32; MECHANICS };
instance contents : disk_image { capacity = 800 KiB; };
lines.out -> bus.device[0].lines : scsi_lines;
wanting.out -> bus.device[0].request : scsi_request;
sending.out -> bus.device[0].sent : scsi_beat;
bus.device[0].received -> receiving.in : scsi_beat;
bus.device[0].bus -> seeing.in : scsi_state;
dut.bus -> bus.device[1];
dut.disk -> mechanics.in;
mechanics.out -> contents.in;
"""
    + collect("bus", "connection(initiator, target, reselects)", "phase(phase)", "release()")
)


@dataclass
class Script:
    """What an initiator wants and sends; bytes go as the target takes them."""

    wants: str = ""
    sends: str = ""
    commands: list[bytes] = field(default_factory=list)

    def select(self, cycle: int, target: int = 3, attention: bool = True) -> None:
        self.wants += f"{cycle} {request(target, attention=attention)}\n"

    def message(self, *data: int) -> None:
        for k, byte in enumerate(data):
            self.sends += f"0 {beat(bytes([byte]), k + 1 < len(data))}\n"

    def send(self, data: bytes, each: int = 1) -> None:
        for at in range(0, len(data), each):
            self.sends += f"0 {beat(data[at : at + each])}\n"

    def command(self, cycle: int, command: bytes, tag: int | None = None, kind: int = SIMPLE, disconnects: bool = True, data: bytes = b"", unit: int = 0, each: int = 8) -> None:
        """Selects, and has messages, command and data ready."""
        self.select(cycle)
        self.message(0x80 | 0x40 * disconnects | unit, *([] if tag is None else [kind, tag]))
        self.send(command)
        self.send(data, each)


@dataclass
class Seen:
    """What came in a connection: bytes of each phase, in order."""

    cycle: int
    reselects: bool
    phases: list[tuple[str, bytes]]
    end: int = 0

    @property
    def status(self) -> int:
        return next(data[0] for phase, data in self.phases if phase == "status")

    def data(self) -> bytes:
        return b"".join(data for phase, data in self.phases if phase == "data_in")

    def messages(self) -> list[bytes]:
        return [data for phase, data in self.phases if phase == "message_in"]


def play(
    bench: Bench, script: Script, cycles: int, image: bytes, *, bus: str = "", disk: str = "", mechanics: str = "", ready: float = 1.0, seed: int = 1, after: str = "", **settings: object
) -> tuple[Ran, list[Seen]]:
    """Runs a script; the connections, with what the initiator got in each."""
    text = NETLIST.replace("BUS", bus).replace("DISK", disk).replace("MECHANICS", mechanics) + after
    files: dict[str, str | bytes] = {"wants": script.wants, "sends": script.sends, "disk": image}
    values: dict[str, object] = {"wanting.script": "wants", "sending.script": "sends", "receiving.record": "received", "receiving.ready": ready, "contents.image": "disk", "contents.commit": "after"}
    ran = bench.run(bench.build(text), cycles, values | {name.replace("__", "."): value for name, value in settings.items()}, files=files, seed=seed)
    return ran, connections(ran)


def connections(ran: Ran) -> list[Seen]:
    names = {number: name for name, number in PHASES.items()}
    events: list[tuple[int, int, str, tuple[int, ...]]] = []
    for line in ran.out.splitlines():
        word, *numbers = line.split()
        if word in ("@connection", "@phase", "@release"):
            cycle, *rest = map(int, numbers)
            events.append((cycle, 0, word, tuple(rest)))
    for cycle, text in read_items(ran.directory / "received"):
        words = dict(one.split("=") for one in text.strip("{}").split())
        events.append((cycle, 1, "bytes", (int(words["bytes"], 0), int(words["count"]))))
    seen: list[Seen] = []
    phase = ""
    for cycle, _, word, rest in sorted(events, key=lambda one: one[:2]):
        if word == "@connection":
            seen.append(Seen(cycle, bool(rest[2]), []))
            phase = "message_in" if rest[2] else "message_out"
            seen[-1].phases.append((phase, b""))
        elif word == "@phase":
            phase = names[rest[0]]
            seen[-1].phases.append((phase, b""))
        elif word == "@release":
            seen[-1].end = cycle
        else:
            seen[-1].phases[-1] = (phase, seen[-1].phases[-1][1] + rest[0].to_bytes(8, "little")[: rest[1]])
    return seen
