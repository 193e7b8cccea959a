"""mips_system alone at its ports: instructions come through a latch, its TLB is real, and registers are read by mfc0.

A program is a list of items, as the execute stage sends them; the next one comes when the one before has left.  What goes on
behind it is scripted: when the stage behind accepts, what fails there, whether a request stands, the levels of lines."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.modules.harness import Bench, Ran, Seen, collect, happened, read_monitor
from tests.modules.mips import IMPORTS, BundleDevice, control, encode, executed, in_slot, struct

ROOT = Path(__file__).resolve().parents[4]
EVENTS = ("written(number, select, value)", "exception(code, pc, epc, badvaddr)", "interrupt(level, pc)", "passed(pc)", "mode(user)", "waited(cycles)")
LINES = ["ip2", "ip3", "ip4", "ip5", "ip6"]
FAULTS = ["bus", "address", "refill", "invalid", "modified"]
QUIET = struct(fails=False, fault="bus", address=0)
IE, EXL, ERL, UM, BEV, CU0 = 1, 2, 4, 16, 1 << 22, 1 << 28
IV, DC, TI, BD = 1 << 23, 1 << 27, 1 << 30, 1 << 31
RESET_STATUS = BEV | ERL


@dataclass(frozen=True)
class Register:
    """A line of the table of registers, with what its expressions are for these parameters."""

    name: str
    number: int
    select: int
    reset: int
    writable: int


def config1(entries: int, icache: tuple[int, int, int], dcache: tuple[int, int, int]) -> int:
    """Sets, ways, line."""
    sizes = [(sets // 64).bit_length() - 1 << 6 | line.bit_length() - 2 << 3 | ways - 1 for sets, ways, line in (icache, dcache)]
    return 1 << 31 | (entries - 1 & 63) << 25 | sizes[0] << 16 | sizes[1] << 7


@cache
def registers(
    entries: int = 16, big_endian: bool = False, user_local: bool = False, prid: int = 0x19000, caches: tuple = ((128, 4, 32), (128, 4, 32)), vpe: int | None = None
) -> dict[str, Register]:
    """emulib's table, with those that the MT ASE adds for a VPE."""
    text = (ROOT / "emulib" / "mips" / "cp0.def").read_text().split("#define MIPS_EACH_CP0_CONSTANT(X)")[0]
    if vpe is not None:
        text += (ROOT / "emulib" / "mips" / "mt.def").read_text().split("#define MIPS_EACH_VPE_REGISTER(X)")[1].replace("1u", "1").replace("3u", "3")
    known = {"TLB_TOP": entries - 1, "BIG_ENDIAN": int(big_endian), "USER_LOCAL": int(user_local), "MT": int(vpe is not None), "VPE": vpe, "PRID": prid, "CONFIG1": config1(entries, *caches)}
    found = re.findall(r'^  X\((\w+), (\d+), (\d+), (.*?), (.*?), "', text, re.MULTILINE)
    values = [(name, int(number), int(select), *(eval(e, {}, known) & 0xFFFFFFFF for e in (reset, writable))) for name, number, select, reset, writable in found]
    return {name: Register(name, *rest) for name, *rest in values}


def item(name: str, rs: int = 0, rt: int = 0, rd: int = 0, low: int = 0, *, pc: int = 0x80001000, result: int = 0, b: int = 0, slot: bool = False, word: int | None = None) -> str:
    """An instruction as the execute stage sends it."""
    word = encode(name, rs, rt, rd, low) if word is None else word
    controls = control(name, word)
    return executed(pc, word, in_slot(controls) if slot else controls, result, b)


def failed(trap: str, pc: int = 0x80001000, result: int = 0, slot: bool = False, word: int = 0) -> str:
    """An instruction that an earlier stage found to fail."""
    return executed(pc, word, f"{{trap={trap} {'slot=true ' if slot else ''}rs=33 rt=33 dest=32}}", result)


def mfc0(name: str, rt: int = 8) -> str:
    return item("mfc0", rt=rt, rd=registers()[name].number, low=registers()[name].select)


def mtc0(name: str, value: int) -> str:
    return item("mtc0", rt=8, rd=registers()[name].number, low=registers()[name].select, b=value & 0xFFFFFFFF)


def fails(fault: int | str, address: int) -> str:
    return struct(fails=True, fault=fault if isinstance(fault, str) else FAULTS[fault], address=address)


def restart(pc: int = 0, refetch: bool = False, hold: bool = False, in_flight: int = 0) -> str:
    return struct(refetch=refetch, pc=pc, hold=hold, in_flight=in_flight)


def result_of(line: Seen) -> int:
    assert line.value is not None
    found = re.search(r" result=(\d+)", line.value)
    assert found
    return int(found[1])


@dataclass
class Played:
    """What was seen at each port, lane 0: a line for each cycle."""

    ran: Ran
    seen: dict[str, list[Seen]] = field(default_factory=dict)

    def left(self) -> list[Seen]:
        """What went on to the memory stage."""
        return [line for line in self.seen["out"] if line.transferred]

    def results(self) -> list[int]:
        return [result_of(line) for line in self.left()]

    def restarts(self) -> list[tuple[int, str]]:
        return [(line.cycle, line.value) for line in self.seen["restart"] if line.transferred and line.value is not None]

    def kills(self) -> list[int]:
        return [line.cycle for line in self.seen["kill"] if line.value == "true"]

    def exception(self) -> list[tuple[int, ...]]:
        return happened(self.ran, "exception")

    def interrupt(self) -> list[tuple[int, ...]]:
        return happened(self.ran, "interrupt")

    def written(self) -> list[tuple[int, ...]]:
        return happened(self.ran, "written")

    def passed(self) -> list[tuple[int, ...]]:
        return happened(self.ran, "passed")

    def mode(self) -> list[tuple[int, ...]]:
        return happened(self.ran, "mode")

    def waited(self) -> list[tuple[int, ...]]:
        return happened(self.ran, "waited")

    def elements(self, statistic: str) -> dict[int, int]:
        """Those of an array that are not zero."""
        found = ((re.fullmatch(rf"{statistic}\[(\d+)\]", name), value) for name, value in self.ran.counted("dut").items())
        return {int(match[1]): value for match, value in found if match}

    def taken(self) -> list[int]:
        """Cycles in which instructions were done with."""
        return [line.cycle for line in self.seen["latched"] if line.transferred]


class SystemBench(BundleDevice):
    """A latch, mips_system, and a TLB unless the ports of its maintenance are driven by the table."""

    def __init__(self, bench: Bench, body: str = "", tlb: bool = True, lines: Iterable[str] = LINES, words: bool = False, wide: bool = False, mt: bool = False, after: str = ""):
        ports = {
            "in": ("in", 1, "core_executed"), "out": ("out", 1, "core_executed"), "fault": ("in", 1, "core_fault"), "standing": ("in", 1, "bool"),
            "kill": ("out", 1, "bool"), "restart": ("out", 1, "core_restart"), "unlink": ("out", 1, "bool"), "context": ("out", 1, "address_context"),
        }  # fmt: skip
        if not tlb:
            ports |= {"operate.request": ("out", 1, "tlb_request"), "operate.reply": ("in", 1, "tlb_reply")}
        if words:
            ports |= {"words.request": ("in", 1, "mem_request(32)"), "words.reply": ("out", 1, "mem_reply(32)")}
        if wide:  # what only a core wants that sends it some of its instructions
            ports |= {"interrupt": ("out", 1, "bool"), "completed": ("in", 1, "uint32")}
        if mt:
            ports |= {"threads.request": ("out", 1, "thread_request"), "threads.reply": ("in", 1, "thread_reply"), "remote.request": ("in", 1, "thread_request"),
                      "remote.reply": ("out", 1, "thread_reply"), "vpe": ("out", 1, "vpe_state")}  # fmt: skip
        entries = re.search(r"tlb_entries = (\d+)", body)
        joint = f"""instance joint : tlb {{ entries = {entries[1] if entries else 16}; }};
            instance lookups : source {{ count = 0; }};
            instance looked_up : sink;
            instance number : sink;
            dut.operate -> joint.operate;
            lookups.out -> joint.lookup.request : translation_request;
            joint.lookup.reply -> looked_up.in : translation_reply;
            joint.changed -> number.in;
        """
        levels = "".join(f'instance line_{n} : source;\nline_{n}.out -> dut.lines["{key}"] : bool;\n' for n, key in enumerate(lines))
        self.line_count = len(list(lines))
        super().__init__(bench, "mips_system", ports, body, latch=True, after=collect("dut", *EVENTS) + after + (joint if tlb else "") + levels,
                         before=IMPORTS + "import mmu_types;\nimport mips_system_types;\n")  # fmt: skip

    def levels(self, lines: dict[int, Callable[[int], bool]], cycles: int) -> tuple[dict[str, object], dict[str, str | bytes]]:
        """Settings and files for lines, by number, each a function from cycles to levels."""
        settings: dict[str, object] = {}
        files: dict[str, str | bytes] = {}
        for n in range(self.line_count):
            settings[f"line_{n}.script"] = f"line{n}"
            level = lines.get(n, lambda cycle: False)
            files[f"line{n}"] = "".join(f"{cycle} true once\n" for cycle in range(cycles) if level(cycle))
        return settings, files

    def play(
        self,
        items: list[str],
        cycles: int | None = None,
        *,
        faults: dict[int, str] | None = None,
        standing: Iterable[int] = (),
        refused: Iterable[int] = (),
        ready: float = 1.0,
        lines: dict[int, Callable[[int], bool]] | None = None,
        at: dict[int, int] | None = None,
        words: dict[int, str] | None = None,
        completed: dict[int, int] | None = None,
        replies: dict[int, int] | None = None,
        remote: dict[int, str] | None = None,
        seed: int = 1,
    ) -> Played:
        """Plays items one after the other; of those in `at` the number of the item gives the earliest cycle.  In the cycles of
        `refused` the stage behind accepts nothing, and with the probability `ready` in any."""
        cycles = cycles or len(items) + 4
        due, script = 0, ""
        for n, text in enumerate(items):
            due = max(due, (at or {}).get(n, 0))
            script += f"{due} {text}\n"
        settings, files = self.levels(lines or {}, cycles)
        no = set(refused)
        files |= {
            "in": script,
            "fault": "".join(f"{cycle} {(faults or {}).get(cycle, QUIET)} once\n" for cycle in range(cycles)),
            "standing": "".join(f"{cycle} true once\n" for cycle in sorted(standing)),
        }
        settings |= {f"{port}_source[0].script": port for port in ("in", "fault", "standing")}
        if words:  # requests of others, by cycle
            files["words"] = "".join(f"{cycle} {request} once\n" for cycle, request in sorted(words.items()))
            settings["words_request_source[0].script"] = "words"
        if completed:  # instructions that were elsewhere, by cycle
            files["completed"] = "".join(f"{cycle} {number} once\n" for cycle, number in sorted(completed.items()))
            settings["completed_source[0].script"] = "completed"
        for port, scripted in (("threads_reply", replies), ("remote_request", remote)):  # what others do with the VPEs, by cycle
            if port in self.ports:
                files[port] = "".join(f"{cycle} {value} once\n" for cycle, value in sorted((scripted or {}).items()))
                settings[f"{port}_source[0].script"] = port
        settings |= {"out_sink[0].pattern": "".join("0" if cycle in no else "1" for cycle in range(cycles))} if no else {"out_sink[0].ready": ready}
        for port, lane, _ in self.lanes():
            settings[f"{port}_monitor[{lane}].record"] = f"{port}.seen"
            settings[f"{port}_monitor[{lane}].idle"] = True
        settings |= {"latched.record": "latched.seen", "latched.idle": True}
        ran = self.bench.run(self.simulator, cycles, settings, files=files, seed=seed)
        return Played(ran, {port: read_monitor(ran.directory / f"{port}.seen") for port in ("latched", *(port for port, _, _ in self.lanes()))})

    def registers_after(self, items: list[str], names: Iterable[str], **kwargs: object) -> list[int]:
        """What registers hold after items."""
        asked = [mfc0(name) for name in names]
        played = self.play(items + asked, **kwargs)  # type: ignore[arg-type]
        return played.results()[-len(asked) :]

