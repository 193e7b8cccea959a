"""A device of byte registers between a requester and a monitor on its interrupt, driven by lines of a script."""

from dataclasses import dataclass, field

from tests.modules.harness import Bench, Memory, happened, read_monitor


@dataclass
class Accesses:
    """What a requester does, one access after the other: each cycle that is named is that of the request."""

    stride: int = 1
    lines: list[str] = field(default_factory=list)

    def read(self, cycle: int, register: int, size: int = 1) -> "Accesses":
        self.lines.append(f"{cycle} read {size} {register * self.stride:#x}")
        return self

    def write(self, cycle: int, register: int, value: int, size: int = 1) -> "Accesses":
        self.lines.append(f"{cycle} write {size} {register * self.stride:#x} {value:#x}")
        return self


class Registers:
    """The device in a bench; a cycle takes 10 ns."""

    def __init__(self, bench: Bench, module: str, body: str = "", width: int = 32, after: str = "", interrupt: bool = True) -> None:
        lines = [
            f"instance dut : {module} on clk {{ width = {width}; {body} }};",
            "requester[0].memory -> dut.in;",
        ]
        if interrupt:
            lines += [
                "instance line : monitor on clk;",
                "instance end : sink on clk;",
                "dut.interrupt -> line.in;",
                "line.out -> end.in : bool;",
            ]
        self.interrupt = interrupt
        self.memory = Memory(
            bench, "\n".join(lines) + "\n" + after, width=width, before="clock clk = 100 MHz;\n", on="clk"
        )

    def play(self, accesses: Accesses, cycles: int, settings: dict[str, object] | None = None, ok: bool = True, **files: str) -> list[int]:
        """What the reads returned, and zeros for the writes."""
        watched = {"line.record": "line.txt"} if self.interrupt else {}
        [replies] = self.memory.play([accesses.lines], cycles, watched | (settings or {}), outstanding=4, files=files, ok=ok)
        assert not any(reply.error for reply in replies)
        assert not ok or len(replies) == len(accesses.lines), "requests were left"
        return [reply.data for reply in replies]

    @property
    def last(self):
        return self.memory.last

    def edges(self) -> list[tuple[int, bool]]:
        """The cycles in which the interrupt's level became another one."""
        seen = [(line.cycle, line.value not in (None, "0", "false")) for line in read_monitor(self.last.directory / "line.txt")]
        return [now for before, now in zip([(-1, False), *seen], seen, strict=False) if now[1] != before[1]]

    def happened(self, event: str) -> list[tuple[int, ...]]:
        return happened(self.last, event)
