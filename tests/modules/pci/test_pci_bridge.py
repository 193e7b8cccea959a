"""pci_bridge: processors' accesses in both byte orders, devices' transfers in memory, and the order between the two."""

import random

import pytest

from tests.modules.harness import Bench, Ran, read_items, read_replies
from tests.modules.mips import BundleDevice, reply, request, struct
from tests.sample import sampled, seldom

IMPORTS = "import pci_types;\nimport bus_types;\nimport memory_types;\n"
ONES = 2**64 - 1


def bridge(bench: Bench, body: str = "window_base = 0x1c000000;") -> BundleDevice:
    ports = {
        "configuration.request": ("in", 1, "mem_request(64)"), "configuration.reply": ("out", 1, "mem_reply(64)"),
        "window.request": ("in", 1, "mem_request(64)"), "window.reply": ("out", 1, "mem_reply(64)"),
        "initiator.request": ("out", 1, "pci_request"), "initiator.reply": ("in", 1, "pci_reply"),
        "bus.request": ("in", 1, "bus_request"), "bus.write_data": ("in", 1, "bus_beat"), "bus.read_data": ("out", 1, "bus_beat"),
        "memory.request": ("out", 1, "mem_request(64)"), "memory.reply": ("in", 1, "mem_reply(64)"),
    }  # fmt: skip
    return BundleDevice(bench, "pci_bridge", ports, body, before=IMPORTS)


QUIET = {f"{name}_source[0].count": 0 for name in ("configuration_request", "window_request", "initiator_reply", "bus_request", "bus_write_data", "memory_reply")}


def check(bench: Bench, table: str, body: str = "window_base = 0x1c000000;"):
    """A table; what it does not drive is quiet."""
    columns = {cell.strip() for cell in table.strip().splitlines()[0].split("|")}
    return bridge(bench, body).check_table(table, {name: value for name, value in QUIET.items() if name.split("_source")[0] not in columns})


def on_bus(configuration: bool, address: int, size: int = 4, value: int | None = None) -> str:
    return struct(configuration=configuration, write=value is not None, size=size, address=address, data=value or 0)


def answer(data: int = 0, claimed: bool = True, error: bool = False) -> str:
    return struct(claimed=claimed, error=error, data=data)


NOBODY = answer(ONES, claimed=False, error=True)


@seldom
def test_accesses_pass_one_at_a_time(bench: Bench) -> None:
    """The bus is asked in the next cycle, the processor has its reply one cycle after the bus's; configuration space goes first."""
    window, configuration = request("write", 0x44, 4, 7, tag=5), request("read", 0x08010, 2, tag=6)
    check(
        bench,
        f"""
        configuration_request | window_request | initiator_request | initiator_request.ack | initiator_reply | configuration_reply | window_reply | configuration_request.ack | window_request.ack
        {configuration} | {window} | . | 1 | . | . | . | 1 | 0
        . | {window} | {on_bus(True, 0x8010, 2)} | 0 | . | . | . | - | 0
        . | {window} | {on_bus(True, 0x8010, 2)} | 1 | . | . | . | - | 0
        . | {window} | . | 1 | {answer(0xABCD)} | . | . | - | 0
        . | {window} | . | 1 | . | {reply(0xABCD, 6)} | . | - | 0
        . | {window} | . | 1 | . | . | . | - | 1
        . | . | {on_bus(False, 0x1C000044, 4, 7)} | 1 | . | . | . | - | -
        . | . | . | 1 | {answer()} | . | . | - | -
        . | . | . | 1 | . | . | {reply(0, 5)} | - | -
        """,
    )


@seldom
@pytest.mark.parametrize("big_endian", sampled([False, True], 2))
def test_what_processors_get(bench: Bench, big_endian: bool) -> None:
    """Numbers of each size, signs, functions that are not there, what nobody claims, what is no access: request, what the bus carries, what comes back."""
    turn = (lambda value, size: int.from_bytes(value.to_bytes(size, "little"), "big")) if big_endian else (lambda value, size: value)
    steps = [
        ("window", request("read", 0x10, 1), on_bus(False, 0x10, 1), answer(0x91), reply(0x91)),
        ("window", request("read", 0x10, 1, sign=True), on_bus(False, 0x10, 1), answer(0x91), reply(ONES - 0x6E)),
        ("window", request("read", 0x12, 2), on_bus(False, 0x12, 2), answer(0x1234), reply(turn(0x1234, 2))),
        ("window", request("read", 0x14, 4), on_bus(False, 0x14, 4), answer(0x12345678), reply(turn(0x12345678, 4))),
        ("window", request("read", 0x18, 8), on_bus(False, 0x18, 8), answer(0x1122334455667788), reply(turn(0x1122334455667788, 8))),
        ("window", request("write", 0x14, 4, 0x12345678), on_bus(False, 0x14, 4, turn(0x12345678, 4)), answer(), reply()),
        ("window", request("read", 0x14, 4), on_bus(False, 0x14, 4), NOBODY, reply(0, error=True)),
        ("window", request("write", 0x14, 4, 1), on_bus(False, 0x14, 4, turn(1, 4)), NOBODY, reply(0, error=True)),
        ("window", request("read", 0x14, 4), on_bus(False, 0x14, 4), answer(5, error=True), reply(0, error=True)),
        ("window", request("swap", 0x14, 4), None, None, reply(0, error=True)),
        ("window", request("barrier", 0, 1), None, None, reply()),
        ("configuration", request("read", 0x10000, 4), on_bus(True, 0x10000, 4), NOBODY, reply(0xFFFFFFFF)),
        ("configuration", request("read", 0x10002, 1), on_bus(True, 0x10002, 1), NOBODY, reply(0xFF)),
        ("configuration", request("write", 0x10000, 2, 0x1234), on_bus(True, 0x10000, 2, turn(0x1234, 2)), NOBODY, reply()),
        ("configuration", request("read", 0x8000, 8), None, None, reply(0, error=True)),
        ("configuration", request("read", 0x8003, 2), None, None, reply(0, error=True)),
    ]  # fmt: skip
    rows = ["configuration_request | window_request | initiator_request | initiator_reply | configuration_reply | window_reply"]
    for port, asked, carried, told, got in steps:
        first = [asked if port == name else "." for name in ("configuration", "window")]
        last = [got if port == name else "." for name in ("configuration", "window")]
        if carried:
            rows += [f"{first[0]} | {first[1]} | . | . | . | .", f". | . | {carried} | . | . | .", f". | . | . | {told} | . | ."]
        else:
            rows += [f"{first[0]} | {first[1]} | . | . | . | ."]
        rows += [f". | . | . | . | {last[0]} | {last[1]}"]
    ran = check(bench, "\n".join(rows), f"big_endian = {str(big_endian).lower()};")
    assert ran.counted("dut") == {"configurations": 3, "absent": 3, "accesses": 9}


def beat(data: bytes, last: bool = False, error: bool = False) -> str:
    return struct(bytes=int.from_bytes(data, "little"), count=len(data), last=last, error=error)


def transfer(address: int, length: int, write: bool = False, master: int = 0) -> str:
    return struct(write=write, address=address, length=length, master=master)


def wrote(tag: int = 1) -> str:
    return struct(tag=tag, error=False, latency=0, data=0)


def test_lines_leave_whole(bench: Bench) -> None:
    """Twenty-two bytes from 0x101b on: the end of a line leaves when it is whole, the next one's when the transfer is over."""
    data = bytes(range(1, 23))
    beats = [beat(data[k : k + 8], k == 16) for k in range(0, 22, 8)]

    def write(address: int, part: bytes, number: int) -> str:
        return request("write", address, len(part), int.from_bytes(part, "little"), tag=1 + 4 * number)

    ran = check(
        bench,
        f"""
        bus_request | bus_write_data | memory_request | memory_reply | bus_write_data.ack
        {transfer(0x101B, 22, True)} | . | . | . | -
        . | {beats[0]} | . | . | 1
        . | . | {write(0x101B, data[:5], 0)} | . | -
        . | {beats[1]} | . | {wrote(1)} | 1
        . | . | . | . | -
        . | {beats[2]} | . | . | 1
        . | . | {write(0x1020, data[5:13], 1)} | . | -
        . | . | {write(0x1028, data[13:21], 2)} | {wrote(5)} | -
        . | . | {write(0x1030, data[21:], 3)} | {wrote(9)} | -
        . | . | . | {wrote(13)} | -
        """,
    )
    assert ran.counted("dut") == {"memory_writes": 4}


def came(data: int, tag: int) -> str:
    return struct(tag=tag, error=False, latency=0, data=data)


def test_a_read_requests_ahead(bench: Bench) -> None:
    """With lines of 16 bytes and one ahead: four words at once, the fifth when the first line has been given."""
    tags = [(0x1000 // 8 + k) % 5 for k in range(5)]

    def read(k: int) -> str:
        return request("read", 0x1000 + 8 * k, 8, tag=tags[k] << 2)

    ran = check(
        bench,
        f"""
        bus_request | memory_request | memory_reply | bus_read_data
        {transfer(0x1000, 40)} | . | . | .
        . | {read(0)} | . | .
        . | {read(1)} | . | .
        . | {read(2)} | . | .
        . | {read(3)} | {came(0x11, tags[0] << 2)} | .
        . | . | {came(0x22, tags[1] << 2)} | {beat(bytes([0x11]) + bytes(7))}
        . | . | . | {beat(bytes([0x22]) + bytes(7))}
        . | {read(4)} | {came(0x33, tags[2] << 2)} | .
        . | . | {came(0x44, tags[3] << 2)} | {beat(bytes([0x33]) + bytes(7))}
        . | . | {struct(tag=tags[4] << 2, error=True, latency=0, data=0)} | {beat(bytes([0x44]) + bytes(7))}
        . | . | . | {beat(bytes(8), True, True)}
        . | . | . | .
        """,
        "line = 16 B; read_ahead = 1;",
    )
    assert ran.counted("dut") == {"memory_reads": 5}


def test_a_reply_waits_for_writes_before_it_alone(bench: Bench) -> None:
    """A device writes, a processor's read of it comes back, the device writes again: the reply comes behind the first write only."""
    data = bytes(range(8))
    number = int.from_bytes(data, "little")
    ran = check(
        bench,
        f"""
        bus_request | bus_write_data | memory_request | memory_reply | window_request | initiator_reply | window_reply
        {transfer(0x1000, 8, True)} | . | . | . | {request("read", 0)} | . | .
        . | {beat(data, True)} | . | . | . | . | .
        {transfer(0x2000, 8, True)} | . | {request("write", 0x1000, 8, number, tag=1)} | . | . | {answer(9)} | .
        . | {beat(data, True)} | . | . | . | . | .
        . | . | {request("write", 0x2000, 8, number, tag=7)} | . | . | . | .
        . | . | . | . | . | . | .
        . | . | . | {wrote(1)} | . | . | .
        . | . | . | . | {request("write", 0, 4, 5)} | . | {reply(9)}
        . | . | . | . | {request("write", 0, 4, 5)} | . | .
        . | . | . | . | . | . | .
        . | . | . | . | . | {answer()} | .
        . | . | . | . | . | . | {reply()}
        . | . | . | {wrote(7)} | . | . | .
        """,
    )
    assert ran.counted("dut") == {"accesses": 2, "ordered": 1, "memory_writes": 2}


def refused(bench: Bench, values: dict[str, object], ok: bool = True, length: int = 16) -> Ran:
    """Master 2 writes two words from 0x1000 on, and memory has an error for the second."""
    replies = "".join(f"{9 + k} {struct(tag=1 + 4 * k, error=k == 1, latency=0, data=0)}\n" for k in range(2))
    files = {"a": f"0 {transfer(0x1000, length, True, 2)}\n", "b": f"0 {beat(bytes(8))}\n0 {beat(bytes(8), True)}\n", "c": replies}
    scripts = {"bus_request": "a", "bus_write_data": "b", "memory_reply": "c"}
    values = QUIET | {f"{port}_source[0].{what}": value for port, file in scripts.items() for what, value in (("count", -1), ("script", file))} | values
    return bench.run(bridge(bench, 'masters = ["read", "write", "scsi"];').simulator, 20, values, files=files, ok=ok)


@seldom
def test_errors_of_a_device_that_has_gone_on(bench: Bench) -> None:
    assert 'dut: a write of the bus\'s master "scsi" failed: nothing responds at address 0x00001008' in refused(bench, {}, ok=False).err
    for action in ("drop", "bus_error"):
        ran = refused(bench, {"dut.on_memory_error": action})
        assert ran.counted("dut") == {"memory_writes": 2, "memory_errors": 1} and "it is dropped" in ran.err
    assert "dut: on_memory_error is end, drop or bus_error, not 'stop'" in refused(bench, {"dut.on_memory_error": "stop"}, ok=False).err
    assert "a transfer of no bytes" in refused(bench, {}, ok=False, length=0).err


@pytest.mark.parametrize("address", [0xFFFFFFF3, 1 << 32, (1 << 64) - 5])
def test_transfers_beyond_memory(bench: Bench, address: int) -> None:
    """A read returns zeros and an error, a write is dropped; memory is not asked, and the next transfer is as ever."""
    values = QUIET | {f"bus_{name}_source[0].{what}": value for name, file in (("request", "a"), ("write_data", "b")) for what, value in (("count", -1), ("script", file))}
    values |= {"bus_read_data_sink[0].record": "read", "memory_request_sink[0].record": "asked"}
    asks = f"0 {transfer(address, 14)}\n0 {transfer(address, 14, True)}\n0 {transfer(0x1000, 8, True)}\n"
    gives = f"0 {beat(bytes(8), False)}\n0 {beat(bytes(6), True)}\n0 {beat(bytes(range(8)), True)}\n"
    ran = bench.run(bridge(bench).simulator, 60, values, files={"a": asks, "b": gives})
    got = [item for _, item in read_items(ran.directory / "read")]
    assert len(got) == 2 and all("bytes=0 " in one for one in got), got
    assert "count=8 last=false error=false" in got[0] and "count=6 last=true error=true" in got[1]
    asked = [item for _, item in read_items(ran.directory / "asked")]
    assert len(asked) == 1 and "op=write" in asked[0] and f"address={0x1000} " in asked[0], asked
    assert ran.counted("dut") == {"beyond_memory": 2, "memory_writes": 1}


SYSTEM = """
import bus_types;
import memory_types;
instance ask : source; instance give : source; instance got : sink;
instance dut : pci_bridge { BODY };
instance software : memory_source;
instance arbiter : memory_arbiter;
instance delay : memory_delay { depth = 8; };
instance memory : memory_state { size = 4 KiB; big_endian = ENDIAN; };
ask.out -> dut.bus.request : bus_request;
give.out -> dut.bus.write_data : bus_beat;
dut.bus.read_data -> got.in : bus_beat;
dut.memory -> delay.in;
delay.out -> arbiter.in["bridge"];
software.memory -> arbiter.in["software"];
arbiter.out -> memory.port;
"""
BODIES = ["", "line = 8 B; read_ahead = 0; write_lines = 1;", "line = 64 B; read_ahead = 1;"]


@pytest.mark.parametrize("big_endian", [False, True])
@pytest.mark.parametrize("body", sampled(BODIES, 3))
@pytest.mark.parametrize("seed", sampled(range(2), 2))
def test_random_transfers(bench: Bench, seed: int, body: str, big_endian: bool) -> None:
    """Against a memory of bytes, which is slow and refuses at random, by a bus that gives and takes as it likes."""
    rng, order = random.Random(seed), "big" if big_endian else "little"
    contents, asks, gives, wanted = bytearray(rng.randbytes(4096)), "", "", b""
    fill = "".join(f"0 write 8 {k} {int.from_bytes(contents[k : k + 8], order):#x}\n" for k in range(0, 4096, 8))
    for _ in range(60):
        length, write = rng.choice([1, 5, 8, 9, 24, 61, 128]), rng.random() < 0.5
        at = rng.randrange(4096 - length)
        asks += f"900 {transfer(at, length, write)}\n"
        if not write:
            wanted += bytes(contents[at : at + length])
            continue
        data = rng.randbytes(length)
        contents[at : at + length] = data
        for k in range(0, length, 8):
            gives += f"0 {beat(data[k : k + 8], k + 8 >= length)}\n"
    end = 19000
    reads = "".join(f"{end} read 8 {k}\n" for k in range(0, 4096, 8))
    values: dict[str, object] = {"ask.script": "ask", "give.script": "give", "got.record": "got", "software.script": "software", "software.record": "seen", "software.outstanding": 8}
    values |= {"ask.offer": 0.5, "ask.cancel": 0.3, "give.offer": 0.6, "give.cancel": 0.3, "got.ready": 0.5, "delay.latency": 5, "delay.jitter": 9, "delay.refuse": 0.3}
    text = SYSTEM.replace("BODY", f"big_endian = {str(big_endian).lower()}; {body}").replace("ENDIAN", str(big_endian).lower())
    ran = bench.run(bench.build(text), end + 800, values, seed=seed + 1, files={"ask": asks, "give": gives, "software": fill + reads})
    beats = [dict(word.split("=") for word in item.strip("{}").split()) for _, item in read_items(ran.directory / "got")]
    data = b"".join(int(one["bytes"], 0).to_bytes(8, "little")[: int(one["count"], 0)] for one in beats)
    assert data == wanted, f"seed {seed}"
    seen = read_replies(ran.directory / "seen")[512:]
    assert b"".join(one.data.to_bytes(8, order) for one in seen) == bytes(contents), f"seed {seed}"
    assert len(seen) == 512


REFUSED = [("line = 24 B;", "the size of a line must be a power of two")]


@pytest.mark.parametrize(("body", "told"), REFUSED)
def test_what_is_no_bridge_is_refused(bench: Bench, body: str, told: str) -> None:
    assert told in bench.refuse(f"instance b : pci_bridge {{ {body} }};")
