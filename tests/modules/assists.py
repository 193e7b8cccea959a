"""A bench for the assists: NIC memory, plain registers and a script that sets both, with a host and a wire outside."""

import random
import struct

from tests.modules.harness import Bench, Ran, Reply, read_replies

REGISTERS = 0x10000
MEMORY_BYTES = 0x10000


def names(count: int = 16) -> str:
    rows = ", ".join(f'{{ name = "r{i}", offset = {4 * i}, access = register_access.rw, doc = "" }}' for i in range(count))
    return f"[{rows}]"


class Rig:
    """`netlist` connects `dut` to bank.value (registers r0, r1, …), arbiter.in, bank.in, host.bus and ethernet;
    memory replies in the cycle of a request (`same_cycle`), or some cycles later."""

    def __init__(self, bench: Bench, netlist: str, host: bool = False, wire: bool = False, same_cycle: bool = False) -> None:
        self.bench = bench
        self.text = f"""
import register_types;
import assist_types;
clock clk = 100 MHz;
instance requester : memory_source;
instance split : memory_router {{ route = <<< return address < {REGISTERS} ? lane(out, memory) : lane(out, registers); >>>; map = <<< return address & 0xffff; >>>; }};
instance bank : register_bank {{ registers = {names()}; }};
instance memory : memory_state {{ size = {MEMORY_BYTES} B; big_endian = true; }};
{"" if same_cycle else "instance slow : sram_controller;"}
instance arbiter : memory_arbiter;
requester.memory -> split.in;
split.out["memory"] -> arbiter.in;
split.out["registers"] -> bank.in["software"];
arbiter.out -> {"memory.port" if same_cycle else "slow.in"};
{"" if same_cycle else "slow.memory -> memory.port;"}
{"instance host : host_bus { memory_size = 64 KiB; };" if host else ""}
{"instance software : memory_source { width = 512; };" if host else ""}
{"software.memory -> host.memory;" if host else ""}
{"instance ethernet : ethernet;" if wire else ""}
{netlist}
"""
        self.host = host
        self.simulator = bench.build(self.text)

    def run(self, script: list[str], cycles: int, settings: dict | None = None, software: list[str] | None = None, files: dict | None = None) -> list[Reply]:
        cycle, lines = 0, []
        for line in script:  # a line without a cycle of its own follows the one before
            when, rest = line.split(" ", 1)
            cycle = max(cycle, int(when))
            lines.append(f"{cycle} {rest}\n")
        contents = {"script": "".join(lines)} | (files or {})
        values = {"requester.script": "script", "requester.record": "seen", "requester.outstanding": 1}
        if self.host:
            contents["software"] = "".join(line + "\n" for line in software or [])
            values |= {"software.script": "software", "software.record": "software.seen", "software.outstanding": 1}
        self.last: Ran = self.bench.run(self.simulator, cycles, values | (settings or {}), files=contents)
        replies = read_replies(self.last.directory / "seen")
        assert len(replies) == len(script), f"{len(script) - len(replies)} requests were not answered"
        return replies


def register(number: int) -> int:
    return REGISTERS + 4 * number


def write(number: int, value: int, cycle: int = 0) -> str:
    return f"{cycle} write 4 {register(number):#x} {value:#x}"


def read(number: int, cycle: int = 0) -> str:
    return f"{cycle} read 4 {register(number):#x}"


def store(address: int, data: bytes, cycle: int = 0) -> list[str]:
    return [f"{cycle} write {len(data[i : i + 8])} {address + i:#x} {int.from_bytes(data[i : i + 8], 'big'):#x}" for i in range(0, len(data), 8)]


def load(address: int, size: int, cycle: int = 0) -> list[str]:
    return [f"{cycle} read {min(8, size - i)} {address + i:#x}" for i in range(0, size, 8)]


def joined(replies: list[Reply], size: int) -> bytes:
    """The bytes that the last replies, to load(), hold."""
    count = (size + 7) // 8
    return b"".join(a.data.to_bytes(min(8, size - 8 * i), "big") for i, a in enumerate(replies[len(replies) - count :]))


def to_host(address: int, data: bytes, cycle: int = 0) -> list[str]:
    return [f"{cycle} write {len(data[i : i + 64])} {address + i:#x} {int.from_bytes(data[i : i + 64], 'little'):#x}" for i in range(0, len(data), 64)]


def noise(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def tagged(size: int, seed: int = 1, kind: int = 0x8100) -> bytes:
    """As noise(), with a VLAN tag."""
    return noise(size, seed)[:12] + kind.to_bytes(2, "big") + noise(size, seed)[14:]


# Frames without FCS that a MAC takes, and ones that are a byte too long for it: 1,518 bytes with FCS, 1,522 with a VLAN tag.
LONGEST = [noise(1514, 1), tagged(1518, 2), tagged(1518, 3, 0x88A8)]
TOO_LONG = [noise(1515, 4), noise(1518, 5), tagged(1519, 6), noise(1519, 7)]


def pcap(frames: list[bytes], step: int = 1000000, times: list[int] | None = None) -> bytes:
    """A packet file; times are in nanoseconds, below a second."""
    data = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    for i, one in enumerate(frames):
        data += struct.pack("<IIII", 0, times[i] if times else i * step, len(one), len(one)) + one
    return data


def beats(frame: bytes, cycle: int, *, late: int = 0, start: tuple[int, ...] = (0,)) -> list[str]:
    """A frame as a script; the third beat comes `late` cycles after the one before."""
    lines = []
    for k in range(0, len(frame), 8):
        part = frame[k : k + 8]
        fields = f"bytes={int.from_bytes(part, 'little'):#x} count={len(part)} start={int(k // 8 in start)} end={int(k + 8 >= len(frame))} error=0"
        lines.append(f"{cycle + (late if k >= 16 else 0)} {{{fields}}}\n")
    return lines
