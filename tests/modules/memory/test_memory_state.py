"""memory_state: bytes behind any number of ports, writes before reads, both byte orders, snooping, atomic operations."""

import random
import struct

import pytest

from tests.modules.harness import Bench, Bytes, Memory, Requests, collect, happened, read_items
from tests.sample import sampled, seldom


def memory(bench: Bench, lanes: int = 1, width: int = 64, body: str = "size = 256 B;", extra: str = "") -> Memory:
    joins = "".join(f"requester[{i}].memory -> memory.port;\n" for i in range(lanes))
    return Memory(bench, f"instance memory : memory_state {{ width = {width}; {body} }};\n{joins}{extra}", lanes, width)


def test_replies_come_in_the_cycle_of_the_request(bench: Bench) -> None:
    [replies] = memory(bench).play([["3 write 4 8 0x11223344 1", "4 read 4 8 0 2"]], 10)
    assert [(a.cycle, a.tag, a.error, a.data) for a in replies] == [(3, 1, False, 0), (4, 2, False, 0x11223344)]


@pytest.mark.parametrize("order", ["little", "big"])
def test_byte_order_size_alignment_and_sign(bench: Bench, order: str) -> None:
    script, model, expected = [], Bytes(64, order), []
    rng = random.Random(order)
    for k in range(64):
        value = rng.getrandbits(8)
        script.append(f"{k} write 1 {k} {value}")
        model.write(k, 1, value)
    cycle = 64
    for size in range(1, 9):
        for address in (0, 1, 7, 13):
            for sign in (False, True):
                script.append(f"{cycle} read {'-' if sign else ''}{size} {address}")
                expected.append(model.read(address, size, sign))
                cycle += 1
    for size in range(1, 9):
        value = rng.getrandbits(64)
        script += [f"{cycle} write {size} 17 {value:#x}", f"{cycle + 1} read 8 16"]
        model.write(17, size, value)
        expected += [0, model.read(16, 8)]
        cycle += 2
    [replies] = memory(bench, body=f"size = 64 B; big_endian = {str(order == 'big').lower()};").play(
        [script], cycle + 5
    )
    assert [a.data for a in replies[64:]] == expected


@pytest.mark.parametrize("order", ["little", "big"])
def test_writes_come_before_reads(bench: Bench, order: str) -> None:
    """Whatever the lane, a read sees the writes of its own cycle; a higher lane's write wins over a lower one's."""
    body = f"size = 256 B; big_endian = {str(order == 'big').lower()};"
    scripts = [
        ["0 read 4 0x10", "1 write 4 0x20 0x01020304", "2 read 8 0x20"],
        ["0 write 4 0x10 0xaabbccdd", "1 write 2 0x21 0xeeff", "2 write 1 0x23 0x99"],
        ["0 read 2 0x11", "1 read 4 0x20", "2 read 4 0x20"],
    ]
    model = Bytes(256, order)
    model.write(0x10, 4, 0xAABBCCDD)
    expected = [[model.read(0x10, 4)], [model.read(0x11, 2)]]
    model.write(0x20, 4, 0x01020304)
    model.write(0x21, 2, 0xEEFF)
    expected[1].append(model.read(0x20, 4))
    model.write(0x23, 1, 0x99)
    expected[0].append(model.read(0x20, 8))
    expected[1].append(model.read(0x20, 4))
    replies = memory(bench, 3, body=body).play(scripts, 5)
    assert [replies[0][0].data, replies[0][2].data] == expected[0]
    assert [a.data for a in replies[2]] == expected[1]


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("seed", range(3))
def test_random_requests_of_three_ports(bench: Bench, order: str, seed: int) -> None:
    rng, model = random.Random(seed), Bytes(32, order)
    scripts: list[list[str]] = [[], [], []]
    expected: list[list[int]] = [[], [], []]
    for cycle in range(300):
        kinds = [rng.choice(["read", "write", "none"]) for _ in range(3)]
        sizes = [rng.randint(1, 8) for _ in range(3)]
        places = [rng.randrange(0, 33 - size) for size in sizes]
        values = [rng.getrandbits(64) for _ in range(3)]
        signs = [rng.random() < 0.5 for _ in range(3)]
        for i in range(3):
            if kinds[i] == "write":
                model.write(places[i], sizes[i], values[i])
        for i in range(3):
            if kinds[i] == "none":
                continue
            sign = "-" if signs[i] and kinds[i] == "read" else ""
            scripts[i].append(f"{cycle} {kinds[i]} {sign}{sizes[i]} {places[i]} {values[i]:#x}")
            expected[i].append(model.read(places[i], sizes[i], signs[i]) if kinds[i] == "read" else 0)
    body = f"size = 32 B; big_endian = {str(order == 'big').lower()};"
    replies = memory(bench, 3, body=body).play(scripts, 305)
    assert [[a.data for a in lane] for lane in replies] == expected


@seldom
def test_narrow_and_wide_ports(bench: Bench) -> None:
    [replies] = memory(bench, width=32).play([["0 write 4 0 0x89abcdef", "1 read -2 2", "2 read 4 0"]], 6)
    assert [(a.error, a.data) for a in replies] == [(False, 0), (False, 0xFFFF89AB), (False, 0x89ABCDEF)]
    value = int.from_bytes(bytes(range(1, 17)), "little")
    wide = memory(bench, width=128, body="size = 64 B; big_endian = true;")
    [replies] = wide.play([[f"0 write 16 8 {value:#x}", "1 read 16 8", "2 read 8 8", "3 read -2 8"]], 6)
    assert [a.data for a in replies] == [0, value, value >> 64, 0x100F]


@seldom
def test_requesters_of_different_widths_share_the_cycle(bench: Bench) -> None:
    """Behind a memory_width each, on one memory of the widest port: no cycle is lost, and writes still come before reads."""
    netlist = """instance memory : memory_state { width = 128; size = 64 B; big_endian = true; };
                 instance widen[2] : memory_width { to = 128; big_endian = true; };
                 widen[0].from = 32;  widen[1].from = 64;
                 requester[0].memory -> memory.port;
                 for (i = 0; i < 2; i = i + 1) { requester[i + 1].memory -> widen[i].in; widen[i].out -> memory.port; }"""
    value = int.from_bytes(bytes(range(1, 17)), "big")
    scripts = [
        [f"0 write 16 8 {value:#x}", "1 read 16 8", "2 fetch_add 4 8 1"],
        ["0 read 4 12", "1 write 2 10 0xaabb", "2 read -4 8"],
        ["0 read 8 16", "1 read 8 8", "2 fetch_add 8 8 2"],
    ]
    wide, word, double = Memory(bench, netlist, 3, "[128, 32, 64][i]").play(scripts, 6)
    changed = value & ~(0xFFFF << 96) | 0xAABB << 96
    assert [a.data for a in wide] == [0, changed, 0x0102AABB]
    assert [a.data for a in word] == [0x05060708, 0, 0x0102AABC]
    assert [a.data for a in double] == [value & (2**64 - 1), changed >> 64, 0x0102AABC_05060708]
    assert [[a.cycle for a in lane] for lane in (wide, word, double)] == [[0, 1, 2]] * 3


@seldom
def test_what_does_not_fit_is_an_error(bench: Bench) -> None:
    body = "size = 64 B; base = 0x1000;"
    script = [
        "0 read 4 0xffc",
        "1 read 4 0x103c",
        "2 read 4 0x103d",
        "3 write 4 0x1040 1",
        "6 read 4 0xffffffff",
    ]
    [replies] = memory(bench, body=body).play([script], 10)
    assert [a.error for a in replies] == [True, False, True, True, True]

    sizes = "generate = <<< return (typeof_port(memory_request)){.size = 0, .address = 0x1000}; >>>;"
    source = f"instance r : memory_source {{ count = 4; {sizes} }};\n"
    simulator = bench.build(f"{source}instance memory : memory_state {{ {body} }};\nr.memory -> memory.port;\n")
    assert bench.run(simulator, 20).stat("r", "errors") == 4, "a size that no request has"


@seldom
def test_addresses_repeat_when_they_alias(bench: Bench) -> None:
    body = "size = 64 B; alias = true;"
    [replies] = memory(bench, body=body).play(
        [["0 write 4 0x44 0x1234", "1 read 4 4", "2 read 4 0x7ffc4", "3 read 4 0x3e"]], 10
    )
    assert [(a.error, a.data) for a in replies] == [(False, 0), (False, 0x1234), (False, 0x1234), (True, 0)]


def test_a_read_only_memory_refuses_to_be_written(bench: Bench) -> None:
    """What it does and what it refuses are two events; a barrier is neither."""
    extra = collect("memory", "access(lane, address, size)", "refused(lane, address, size)")
    device = memory(bench, 2, body="size = 64 B; writable = false;", extra=extra)
    [_, replies] = device.play([[], ["0 write 4 8 1", "1 read 4 8", "2 swap 4 8 1", "3 read 2 62", "4 read 2 63", "5 load_linked 4 4", "6 barrier 1 0"]], 10)
    assert [a.error for a in replies] == [True, False, True, False, True, False, False]
    assert happened(device.last, "access") == [(1, 1, 8, 4), (3, 1, 62, 2), (5, 1, 4, 4)]
    assert happened(device.last, "refused") == [(0, 1, 8, 4), (2, 1, 8, 4), (4, 1, 63, 2)]


def test_atomic_operations_return_the_old_value(bench: Bench) -> None:
    script = [
        "0 write 4 0 0xfffffff0",
        "1 swap 4 0 5",
        "2 fetch_add 4 0 7",
        "3 fetch_or 4 0 0x10",
        "4 fetch_and 4 0 0x18",
        "5 read 4 0",
        "6 fetch_add -1 0 0xff",
        "7 write 1 0 0x80",
        "8 fetch_add -1 0 1",
        "9 read 1 0",
    ]
    [replies] = memory(bench).play([script], 12)
    assert [a.data for a in replies] == [0, 0xFFFFFFF0, 5, 12, 0x1C, 0x18, 0x18, 0, 0xFFFFFFFFFFFFFF80, 0x81]


def test_atomic_operations_of_one_cycle_follow_each_other(bench: Bench) -> None:
    scripts = [["0 fetch_add 4 0 1", "1 read 4 0"], ["0 fetch_add 4 0 10"], ["0 write 4 0 100"], ["0 read 4 0"]]
    replies = memory(bench, 4).play(scripts, 4)
    assert [lane[0].data for lane in replies] == [100, 101, 0, 111]
    assert replies[0][1].data == 111


def test_a_run_of_ones_is_taken_at_once(bench: Bench) -> None:
    """From the bit that is named, to the first zero or the end of the word; the length comes back."""
    cases = [(0b0111, 0, 3, 0), (0b10111, 1, 2, 0b10001), (0b1000, 0, 0, 0b1000), (0xFFFFFFFF, 0, 32, 0), (0xF0000000, 30, 2, 0x30000000), (1, 32, 0, 1)]
    script = []
    for k, (word, first, _, _) in enumerate(cases):
        script += [f"{3 * k} write 4 0 {word:#x}", f"{3 * k + 1} take_run 4 0 {first}", f"{3 * k + 2} read 4 0"]
    [replies] = memory(bench).play([script], 3 * len(cases) + 2)
    assert [a.data for a in replies] == [n for _, _, length, rest in cases for n in (0, length, rest)]


def test_a_run_may_be_a_double_word(bench: Bench) -> None:
    script = ["0 write 8 0 0xffffffffffffffff", "1 take_run 8 0 1", "2 read 8 0", "3 write 8 0 0xffffffffffffffff", "4 take_run 8 0 0", "5 read 8 0", "6 take_run 8 0 0"]
    [replies] = memory(bench).play([script], 10)
    assert [a.data for a in replies] == [0, 63, 1, 0, 64, 0, 0]


def test_operations_beyond_the_end_change_nothing_and_barriers_have_no_address(bench: Bench) -> None:
    operations = ["fetch_add", "swap", "take_run", "store_conditional", "load_linked", "write", "read", "barrier"]
    script = [f"{k} {op} 4 0xfd 0xff" for k, op in enumerate(operations)]
    [replies] = memory(bench).play([[*script, "20 read 4 0xfc"]], 30)
    assert [a.error for a in replies] == [True] * 7 + [False, False] and replies[-1].data == 0


@seldom
def test_what_was_not_committed_did_not_happen(bench: Bench) -> None:
    """Each requester takes half of its requests back before they are served, and has bytes of its own."""
    rng, models = random.Random(5), [Bytes(256), Bytes(256)]
    requests = [Requests(rng), Requests(rng)]
    for _ in range(100):
        for i in range(2):
            requests[i].add(models[i], 128 * i + rng.randrange(0, 121))
    settings = {f"requester[{i}].cancel": 0.5 for i in range(2)}
    replies = memory(bench, 2).play([one.script for one in requests], 2000, settings)
    assert [[(a.tag, a.data) for a in lane] for lane in replies] == [one.replies for one in requests]


def test_two_take_a_run_in_one_cycle_and_one_gets_it(bench: Bench) -> None:
    replies = memory(bench, 2).play([["0 write 4 0 0x7c", "1 take_run 4 0 2", "2 read 4 0"], ["1 take_run 4 0 2"]], 4)
    assert [a.data for a in replies[0]] == [0, 5, 0]
    assert [a.data for a in replies[1]] == [0]


def test_reservations_fall_with_any_write_to_their_block(bench: Bench) -> None:
    scripts = [
        [
            "0 load_linked 4 0 0 7",
            "1 store_conditional 4 0 1 7",
            "2 store_conditional 4 0 2 7",
            "3 load_linked 4 0 0 7",
            "5 store_conditional 4 0 3 7",
            "6 load_linked 4 0 0 7",
            "8 store_conditional 4 0 4 7",
            "9 load_linked 4 0 0 7",
            "10 store_conditional 4 0 5 7",
            "11 read 4 0",
        ],
        ["4 write 1 7 9", "7 write 1 8 9", "10 write 1 3 0"],
        ["3 load_linked 4 0x20 0 9", "9 store_conditional 4 0x20 1 8", "10 store_conditional 4 0x20 1 9"],
    ]
    replies = memory(bench, 3).play(scripts, 15)
    assert [a.data for a in replies[0] if a.cycle in (1, 2, 5, 8, 10)] == [1, 0, 0, 1, 0]
    assert replies[0][-1].data == 4
    assert [a.data for a in replies[2]] == [0, 0, 1]


def test_a_requester_has_one_reservation_and_it_is_of_one_block(bench: Bench) -> None:
    script = ["0 load_linked 4 0 0 7", "1 store_conditional 4 0x20 1 7", "2 load_linked 4 0 0 7", "3 load_linked 4 0x20 0 7"]
    script += ["4 store_conditional 4 0 1 7", "5 load_linked 4 0x20 0 7", "6 store_conditional 4 0x20 1 7"]
    device = memory(bench)
    [replies] = device.play([script], 10)
    assert [a.data for a in replies] == [0, 0, 0, 0, 0, 0, 1] and device.last.stat("memory", "evictions") == 0


@pytest.mark.parametrize(("held", "evicted"), [(8, 0), (9, 1)])
def test_eight_processors_keep_their_reservations(bench: Bench, held: int, evicted: int) -> None:
    """A ninth evicts the oldest, which is counted."""
    script = [f"{k} load_linked 4 {8 * k:#x} 0 {k}" for k in range(held)]
    script += [f"{10 + k} store_conditional 4 {8 * k:#x} 1 {k}" for k in range(held)]
    device = memory(bench)
    [replies] = device.play([script], 40)
    assert [a.data for a in replies if a.cycle >= 10] == [0] * evicted + [1] * (held - evicted)
    assert device.last.stat("memory", "evictions") == evicted


def snooping(lanes: int, listeners: int) -> str:
    return f"instance heard[{listeners}] : sink;\n" + "".join(
        f"memory.snoop -> heard[{k}].in;\n" for k in range(listeners)
    )


def test_listeners_observe_the_writes_of_their_range(bench: Bench) -> None:
    body = "size = 256 B; base = 0x100; snoop_ranges = [{ base = 0x100, size = 0x10 }, { base = 0x110, size = 0xf0 }];"
    device = memory(bench, body=body, extra=snooping(1, 2))
    script = [
        "0 write 4 0x104 1 5",
        "1 read 4 0x104 0 6",
        "2 write 2 0x110 1 7",
        "3 write 4 0x10e 1 8",
        "4 swap 1 0x100 1 9",
        "5 store_conditional 4 0x100 1 9",
        "6 write 4 0x204 1 3",
    ]
    device.play([script], 10, {"heard[0].record": "a.txt", "heard[1].record": "b.txt"})
    first, second = (read_items(device.last.directory / name) for name in ("a.txt", "b.txt"))
    assert [cycle for cycle, _ in first] == [0, 3, 4]
    assert [cycle for cycle, _ in second] == [2, 3]
    assert "260" in first[0][1] and "5" in first[0][1]


@seldom
def test_a_range_may_end_with_the_address_space(bench: Bench) -> None:
    body = "size = 256 B; base = 0xffffff00; snoop_ranges = [{ base = 0xffffff80, size = 0x80 }];"
    device = memory(bench, 2, body=body, extra=snooping(2, 1))
    scripts = ["0 write 4 0xffffff90 1\n", "0 write 4 0xfffffffc 1\n2 write 1 0xffffff7f 1\n4 write 1 0xffffffff 1\n"]
    device.play(scripts, 10, {"heard[0].record": "a.txt"})
    first, second = read_items(device.last.directory / "a.txt")
    assert first[0] == 0 and f"address={0xFFFFFF90} size={0x70} " in first[1]
    assert second[0] == 4 and f"address={0xFFFFFFFF} size=1 " in second[1]


@seldom
def test_writes_of_one_cycle_are_observed_as_one_stretch(bench: Bench) -> None:
    device = memory(bench, 2, extra=snooping(2, 1))
    device.play([["0 write 4 0x10 1 5"], ["0 write 4 0x20 1 6"]], 4, {"heard[0].record": "a.txt"})
    [(cycle, text)] = read_items(device.last.directory / "a.txt")
    assert cycle == 0 and "16" in text and "20" in text and "4294967295" in text
    for one, other, address, size in ((0x20, 0x10, 0x10, 20), (0x10, 0x10, 0x10, 4), (0x12, 0x10, 0x10, 6), (0x10, 0x12, 0x10, 6)):
        device.play([[f"0 write 4 {one} 1"], [f"0 write 4 {other} 1"]], 4, {"heard[0].record": "a.txt"})
        [(cycle, text)] = read_items(device.last.directory / "a.txt")
        assert f"address={address} size={size} " in text
    device.play([["0 write 8 0x10 1"], ["0 write 2 0x12 1"]], 4, {"heard[0].record": "a.txt"})
    assert "address=16 size=8 " in read_items(device.last.directory / "a.txt")[0][1]


def test_initial_contents_from_bytes_and_hexadecimal_text(bench: Bench) -> None:
    device = memory(bench, body="size = 256 B; base = 0x40; big_endian = true;")
    script = [["0 read 4 0x40", "1 read 4 0x44", "2 read 4 0x50"]]
    [replies] = device.play(
        script, 5, {"memory.image": "a.bin", "memory.image_address": 0x44}, files={"a.bin": b"\1\2\3\4"}
    )
    assert [a.data for a in replies] == [0, 0x01020304, 0]
    text = "# two words\n0a0b0c0d 01 02 03 04\n@50 ff\n"
    [replies] = device.play(script, 5, {"memory.image": "a.hex"}, files={"a.hex": text})
    assert [a.data for a in replies] == [0x0A0B0C0D, 0x01020304, 0xFF000000]
    for text in "@40 0A0b # and no more", "0a0B @", "0a0b@50":
        [replies] = device.play(script, 5, {"memory.image": "a.hex"}, files={"a.hex": text.removesuffix(" @")})
        assert [a.data for a in replies] == [0x0A0B0000, 0, 0]


def elf(order: str, segments: list[tuple[int, bytes]]) -> bytes:
    """A minimal executable with these (address, bytes) segments."""
    mark = "<" if order == "little" else ">"
    head = 52 + 32 * len(segments)
    parts, table, offset = [], b"", head
    for address, content in segments:
        table += struct.pack(f"{mark}8I", 1, offset, address, address, len(content), len(content) + 4, 7, 4)
        parts.append(content)
        offset += len(content)
    ident = b"\x7fELF" + bytes([1, 1 if order == "little" else 2, 1]) + bytes(9)
    header = struct.pack(f"{mark}HHIIIIIHHHHHH", 2, 8, 1, segments[0][0], 52, 0, 0x1000, 52, 32, len(segments), 0, 0, 0)
    return ident + header + table + b"".join(parts)


@pytest.mark.parametrize("order", ["little", "big"])
def test_initial_contents_from_a_program(bench: Bench, order: str) -> None:
    body = f"size = 256 B; base = 0x1000; big_endian = {str(order == 'big').lower()};"
    image = elf(order, [(0x1000, b"\1\2\3\4"), (0x1040, b"\5\6\7\10")])
    device = memory(bench, body=body)
    [replies] = device.play(
        [["0 read 4 0x1000", "1 read 4 0x1040"]], 5, {"memory.image": "a.elf"}, files={"a.elf": image}
    )
    assert [a.data for a in replies] == [int.from_bytes(b"\1\2\3\4", order), int.from_bytes(b"\5\6\7\10", order)]


@seldom
def test_each_window_has_a_program(bench: Bench) -> None:
    """At the addresses of the first; the last program is also those of the windows behind it."""
    device = memory(bench, body="size = 256 B; windows = 4; base = 0x100; big_endian = true;")
    files = {"a.bin": b"\1\2\3\4", "b.hex": b"@108 05060708"}
    reads = [[f"{4 * k + i} read 4 {0x100 + 64 * k + 8 * i}" for k in range(4) for i in range(2)]]
    [replies] = device.play(reads, 20, {"memory.image": "a.bin,b.hex"}, files=files)
    assert [a.data for a in replies] == [0x01020304, 0, *[0, 0x05060708] * 3]
    device.play([["0 read 4 0x100"]], 5, {"memory.image": "a.bin,c.bin"}, files={"a.bin": b"1", "c.bin": bytes(65)}, ok=False)
    assert "c.bin: 65 bytes at 0x100 do not fit: the memory is 0x100 to 0x13f\n" in device.last.err
    assert "a memory of 100 bytes cannot be divided into 3 equal windows" in bench.refuse("instance dut : memory_state { size = 100 B; windows = 3; };")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.bin", bytes(300), "300 bytes at 0x0 do not fit: the memory is 0x0 to 0xff\n"),
        ("a.hex", b"@10000000000000000 00", "do not fit"),
        ("a.hex", b"@100000000 00", "do not fit"),
        ("a.hex", b"00 1x", "'1x' at byte 4 is not a pair of hexadecimal digits"),
        ("a.hex", b"00 x1", "'x1' at byte 4 is not a pair of hexadecimal digits"),
        ("a.hex", b"00 1", "'1' at byte 4 is not a pair of hexadecimal digits"),
        ("a.hex", b"00 @ 12", "no address after '@' at byte 4"),
        ("a.elf", b"\x7fELF and no more", "a.elf: truncated"),
        ("a.elf", elf("big", [(0, b"1234")]), "a big-endian program in a little-endian memory"),
        ("a.elf", elf("little", [(0x1000, b"1234")]), "4 bytes at 0x1000 do not fit"),
        ("a.elf", elf("little", [(0xFC, b"12345678")]), "8 bytes at 0xfc do not fit"),
        ("missing.bin", None, "missing.bin"),
    ],
)
def test_an_image_that_does_not_fit_is_one_clear_line(
    bench: Bench, name: str, content: bytes | None, words: str
) -> None:
    device = memory(bench)
    files = {name: content} if content is not None else {}
    device.play([["0 read 4 0"]], 5, {"memory.image": name}, files=files, ok=False)
    assert words in device.last.err


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("size = 100 B; alias = true;", "must be a power of two, not 100"),
        ("size = 64 B; width = 12;", "a multiple of 8, not 12"),
        ("size = 0 B;", "`size` is 0 B, outside its range, at least 1 B"),
        ("size = 64 B; snoop_ranges = [{ size = 1 }, { size = 2 }];", "2 snoop ranges for 0 snoop connections"),
    ],
)
def test_impossible_memories_are_refused(bench: Bench, body: str, words: str) -> None:
    width = 12 if "12" in body else 64
    text = f"instance s : memory_source {{ width = {width}; }}; instance m : memory_state {{ {body} }}; s.memory -> m.port;"
    assert words in bench.refuse(text)


BLOCKS = """
instance blocks : source {
  generate = <<<
    mem_block block = {.address = index == 2 ? 0x1f9 : 0x104 + 8 * (uint32_t)index, .size = 8};
    for (unsigned k = 0; k < 8; k++) block.bytes[k] = (uint8_t)(16 * (index + 1) + k);
    return block;
  >>>;
};
blocks.out -> memory.contents;
""" + collect("memory", "loaded(address, size)")


@seldom
@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("width", sampled([64, 256], 2))
def test_blocks_of_contents(big: bool, width: int, bench: Bench) -> None:
    """Bytes as they come, to read in the next cycle, also in a read-only memory."""
    body = f"size = 256 B; base = 0x100; big_endian = {str(big).lower()}; writable = false;"
    device = memory(bench, width=width, body=body, extra=BLOCKS)
    [replies] = device.play([["0 read 1 0x104", "1 read 1 0x104", "2 read 8 0x104", "3 read 8 0x10c"]], 12, {"blocks.count": 2})
    first, second = (int.from_bytes(bytes(16 * n + k for k in range(8)), "big" if big else "little") for n in (1, 2))
    assert [reply.data for reply in replies] == [0, 0x10, first, second]
    assert happened(device.last, "loaded") == [(0, 0x104, 8), (1, 0x10C, 8)]


@seldom
def test_a_block_comes_after_the_requests_of_its_cycle(bench: Bench) -> None:
    """It overwrites what they write, and ends the reservations of what it covers."""
    device = memory(bench, 3, body="size = 256 B; base = 0x100;", extra=BLOCKS)
    scripts = [
        ["0 write 4 0x104 5", "1 load_linked 4 0x10c 0 1", "3 store_conditional 4 0x10c 5 1", "4 read 4 0x104"],
        ["0 load_linked 4 0x140 0 2", "3 store_conditional 4 0x140 5 2"],
        ["0 fetch_add 4 0x108 1", "4 read 4 0x108"],
    ]
    [first, second, third] = device.play(scripts, 16, {"blocks.count": 2})
    assert [reply.data for reply in first] == [0, 0, 0, 0x13121110] and second[-1].data == 1
    assert [reply.data for reply in third] == [0, 0x17161514]


@seldom
def test_a_block_that_does_not_fit(bench: Bench) -> None:
    device = memory(bench, body="size = 256 B; base = 0x100;", extra=BLOCKS)
    device.play([[]], 12, {"blocks.count": 3}, ok=False)
    assert "memory: 8 bytes of contents at 0x1f9 do not fit: the memory is 0x100 to 0x1ff (make it larger)" in device.last.err


@seldom
def test_a_memory_has_one_loader(bench: Bench) -> None:
    text = memory(bench, extra=BLOCKS).text
    assert "a memory is loaded by one loader" in bench.refuse(text + "instance more : source;\nmore.out -> memory.contents;\n")
