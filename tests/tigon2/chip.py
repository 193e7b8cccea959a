"""A Tigon-2 without processors: a script plays a processor's requests, another the host's software, another its memory.

The simulator is built once for each set of options.  Register names come from the machine's own table.
"""

import re
import struct
from dataclasses import dataclass, field
from pathlib import Path

from tests.modules.harness import Bench, Ran, Reply, read_replies

REGISTERS = 0xC0000000
K1 = 0x17B000  # the fixed regions of the SRAM: rings, then buffers from K1 + 0x5000 to 0x200000
TX_BASE, RX_BASE, BUFFER_END = 0x180000, 0x1C0000, 0x200000
TX_RING, RX_RING, READ_RING, WRITE_RING = K1 + 0x2800, K1 + 0x3000, K1 + 0x4000, K1 + 0x4800


def register_table(root: Path) -> dict[str, int]:
    """Name to offset, from the machine's table."""
    text = (root / "examples/tigon2/tigon2_registers.lss").read_text()
    return {name: int(offset, 16) for name, offset in re.findall(r'name = "(\w+)", offset = (0x\w+)', text)}


@dataclass
class Script:
    """Requests in order; each waits for the reply of the one before."""

    table: dict[str, int]
    lines: list[str] = field(default_factory=list)
    after: int = 0

    def _add(self, text: str) -> int:
        self.lines.append(f"{self.after} {text}")
        return len(self.lines) - 1

    def place(self, where: str | int) -> int:
        return REGISTERS + self.table[where] if isinstance(where, str) else where

    def write(self, where: str | int, value: int, size: int = 4) -> int:
        return self._add(f"write {size} {self.place(where):#x} {value:#x}")

    def read(self, where: str | int, size: int = 4) -> int:
        """Returns the place of the reply."""
        return self._add(f"read {size} {self.place(where):#x}")

    def at(self, cycle: int) -> None:
        """What follows happens in this cycle at the earliest."""
        self.after = max(self.after, cycle)

    def store(self, address: int, data: bytes) -> None:
        """Bytes into SRAM; address a multiple of 8."""
        for i in range(0, len(data), 8):
            part = data[i : i + 8]
            self.write(address + i, int.from_bytes(part, "big"), len(part))

    def load(self, address: int, size: int) -> list[tuple[int, int]]:
        """Reads bytes; join() puts them together."""
        return [(self.read(address + i, min(8, size - i)), min(8, size - i)) for i in range(0, size, 8)]


def join(replies: list[Reply], parts: list[tuple[int, int]]) -> bytes:
    return b"".join(replies[place].data.to_bytes(size, "big") for place, size in parts)


def dma_descriptor(host: int, nic: int, length: int, control: int = 4, checksum: int = 0) -> bytes:
    return struct.pack(">QIHHIIII", host, nic, 0, length, control, checksum, 0, 0)


class Chip:
    """The machine, and runs of it."""

    def __init__(self, bench: Bench, root: Path, requesters: int = 1, options: str = "") -> None:
        self.bench, self.requesters, self.table = bench, requesters, register_table(root)
        joins = "".join(f"requester[{i}].memory -> nic.requester;\n" for i in range(requesters))
        self.text = f"""
import tigon2_nic;
clock sram_clk = 100 MHz;
instance requester[{requesters}] : memory_source;
instance nic : tigon2_nic {{ processors = 0; cpu_clock = sram_clk; {options} }};
instance host : host_bus {{ memory_size = 1 MiB; interrupt_bits = 1; masking_bits = 0x40; }};
instance software : memory_source {{ width = 512; }};
instance window : memory_source;
instance ethernet : ethernet;
instance alarm : monitor;
instance alarms : sink;
{joins}
nic.bus["dma_read"] -> host.bus["dma_read"];
nic.bus["dma_write"] -> host.bus["dma_write"];
host.device -> nic.window;
nic.interrupt -> host.interrupt;
nic.wire_out -> ethernet.from_device;
ethernet.to_device -> nic.wire_in;
nic.ready -> ethernet.ready;
software.memory -> host.memory;
window.memory -> host.window;
host.interrupting -> alarm.in;
alarm.out -> alarms.in;
"""
        self.simulator = bench.build(self.text, "-I", str(root / "examples/tigon2"))

    def script(self, setup: bool = True) -> Script:
        """A script that begins by setting up the fixed regions and enabling the assists and the MAC."""
        script = Script(self.table)
        if setup:
            script.write("stack_offset_a", 0xBFF000 - K1)
            for name in "tx_buffer_base", "tx_buffer_producer", "tx_buffer_consumer":
                script.write(name, TX_BASE)
            for name in "rx_buffer_base", "rx_buffer_producer", "rx_buffer_reference":
                script.write(name, RX_BASE)
            script.write("assist_state", 1)
            script.write("mac_tx_state", 2)
        return script

    def run(
        self,
        *scripts: Script,
        cycles: int = 3000,
        window: list[str] | None = None,
        memory: list[str] | None = None,
        settings: dict[str, object] | None = None,
        files: dict[str, str | bytes] | None = None,
        ok: bool = True,
        seed: int = 1,
    ) -> list[list[Reply]]:
        """Plays scripts for the requesters, the host's window and the host's memory; returns the requesters' replies, then these two's."""
        names = [f"requester[{i}]" for i in range(self.requesters)] + ["window", "software"]
        lines = [script.lines for script in scripts] + [[]] * (self.requesters - len(scripts)) + [window or [], memory or []]
        values: dict[str, object] = {}
        contents = dict(files or {})
        for name, text in zip(names, lines, strict=True):
            stem = re.sub(r"\W", "", name)
            contents[f"{stem}.txt"] = "".join(line + "\n" for line in text)
            values |= {f"{name}.script": f"{stem}.txt", f"{name}.record": f"{stem}.seen", f"{name}.outstanding": 1}
        self.last: Ran = self.bench.run(self.simulator, cycles, values | (settings or {}), files=contents, ok=ok, seed=seed)
        replies = [read_replies(self.last.directory / f"{re.sub(chr(92) + 'W', '', name)}.seen") for name in names] if ok else []
        if ok:
            for got, text in zip(replies, lines, strict=True):
                assert len(got) == len(text), f"{len(text) - len(got)} requests were not answered in {cycles} cycles"
        return replies


def host_bytes(address: int, data: bytes, cycle: int = 0) -> list[str]:
    """Lines that put bytes into host memory, 64 at a time."""
    lines = []
    for i in range(0, len(data), 64):
        part = data[i : i + 64]
        lines.append(f"{cycle} write {len(part)} {address + i:#x} {int.from_bytes(part, 'little'):#x}")
    return lines


def host_reads(address: int, size: int, cycle: int) -> list[str]:
    return [f"{cycle} read {min(64, size - i)} {address + i:#x}" for i in range(0, size, 64)]


def host_join(replies: list[Reply], size: int) -> bytes:
    """The bytes of the last replies, which host_reads asked for."""
    count = (size + 63) // 64
    parts = [reply.data.to_bytes(64, "little") for reply in replies[-count:]]
    return b"".join(part[: min(64, size - 64 * i)] for i, part in enumerate(parts))
