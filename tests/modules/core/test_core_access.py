"""core_access: sizes, signs and unaligned halves of both byte orders; waiting for loads; posted stores; failures."""

import pytest

from tests.modules.harness import Bench, collect, happened
from tests.modules.mips import BundleDevice, bypass, control, encode, executed, failed, finished, reply, request, shown
from tests.sample import seldom

WORD = 0x80017FFE
OLD = 0xAABBCCDD


def access(bench: Bench, big: bool = True, latch: bool = False, body: str = "") -> BundleDevice:
    ports = {
        "in": ("in", 1, "core_executed"), "out": ("out", 1, "core_finished"), "memory.request": ("out", 1, "mem_request(32)"),
        "memory.reply": ("in", 1, "mem_reply(32)"), "busy": ("out", 1, "bool"), "bypass": ("out", 1, "core_bypass"),
    }  # fmt: skip
    return BundleDevice(bench, "core_access", ports, f"big_endian = {str(big).lower()}; {body}", latch, collect("dut", "access(pc, op, address, size)", "wait(pc)"))


def item(name: str, address: int, b: int = 0) -> tuple[int, int, str]:
    word = encode(name, 1, 2)
    return word, control(name, word), executed(0x40, word, control(name, word), address, b)


LOADS = {"lb": ("read", 1, True), "lbu": ("read", 1, False), "lh": ("read", 2, True), "lhu": ("read", 2, False),
         "lw": ("read", 4, False), "ll": ("load_linked", 4, False)}  # fmt: skip


@pytest.mark.parametrize("name", LOADS)
def test_loads_request_and_write_the_reply(name: str, bench: Bench) -> None:
    op, size, sign = LOADS[name]
    word, c, item_in = item(name, 0x100, OLD)
    access(bench).check_table(
        f"""
        in        | in.ack | memory_request                                          | memory_reply        | out                        | busy
        {item_in} | 1      | {request(op, 0x100, size, OLD, sign, tag=1)} | {reply(WORD, 1)}    | {finished(0x40, word, c, WORD)} | false
        """
    )


@pytest.mark.parametrize(("name", "op", "tag"), [("lw", "read", 5 << 19 | 1), ("sw", "write", 5 << 19), ("sc", "store_conditional", 5 << 19 | 1)])
def test_tags_hold_the_context(name: str, op: str, tag: int, bench: Bench) -> None:
    """And replies with it are waited for."""
    word, c, item_in = item(name, 0x100, OLD)
    reply_of = reply(1, tag) if op != "write" else "."
    value = {"lw": 1, "sc": 1, "sw": 0x100}[name]
    access(bench, body="context = 5;").check_table(
        f"""
        in        | in.ack | memory_request                              | memory_reply | out
        {item_in} | 1      | {request(op, 0x100, 4, OLD, False, tag=tag)} | {reply_of}   | {finished(0x40, word, c, value)}
        """
    )


# (name, offset in the word): big-endian (first byte, bytes, result), little-endian likewise; the reply is 0x11, 0x1122, ...
UNALIGNED = {
    ("lwl", 0): ((0, 4, 0x11223344), (0, 1, 0x11BBCCDD)), ("lwl", 1): ((1, 3, 0x112233DD), (0, 2, 0x1122CCDD)),
    ("lwl", 2): ((2, 2, 0x1122CCDD), (0, 3, 0x112233DD)), ("lwl", 3): ((3, 1, 0x11BBCCDD), (0, 4, 0x11223344)),
    ("lwr", 0): ((0, 1, 0xAABBCC11), (0, 4, 0x11223344)), ("lwr", 1): ((0, 2, 0xAABB1122), (1, 3, 0xAA112233)),
    ("lwr", 2): ((0, 3, 0xAA112233), (2, 2, 0xAABB1122)), ("lwr", 3): ((0, 4, 0x11223344), (3, 1, 0xAABBCC11)),
}  # fmt: skip


@pytest.mark.parametrize("big", [True, False], ids=["big", "little"])
@pytest.mark.parametrize(("name", "offset"), UNALIGNED)
def test_unaligned_loads_merge(name: str, offset: int, big: bool, bench: Bench) -> None:
    first, size, result = UNALIGNED[name, offset][0 if big else 1]
    word, c, item_in = item(name, 0x100 + offset, OLD)
    answer = 0x11223344 >> 8 * (4 - size)
    ran = access(bench, big).check_table(
        f"in | memory_request | memory_reply | out\n{item_in} | - | {reply(answer, 1)} | {finished(0x40, word, c, result)}")
    asked = (ran.directory / "memory_request0.seen").read_text()
    assert f"op=read size={size} " in asked and f" address={0x100 + first} " in asked, asked


# (name, offset): big-endian (first byte, bytes, data), little-endian likewise, of 0x12345678
STORES = {
    ("sb", 3): ((3, 1, 0x78), (3, 1, 0x78)), ("sh", 2): ((2, 2, 0x5678), (2, 2, 0x5678)), ("sw", 0): ((0, 4, 0x12345678),) * 2,
    ("swl", 0): ((0, 4, 0x12345678), (0, 1, 0x12)), ("swl", 1): ((1, 3, 0x123456), (0, 2, 0x1234)),
    ("swl", 2): ((2, 2, 0x1234), (0, 3, 0x123456)), ("swl", 3): ((3, 1, 0x12), (0, 4, 0x12345678)),
    ("swr", 0): ((0, 1, 0x78), (0, 4, 0x12345678)), ("swr", 1): ((0, 2, 0x5678), (1, 3, 0x345678)),
    ("swr", 2): ((0, 3, 0x345678), (2, 2, 0x5678)), ("swr", 3): ((0, 4, 0x12345678), (3, 1, 0x78)),
}  # fmt: skip


@pytest.mark.parametrize("big", [True, False], ids=["big", "little"])
@pytest.mark.parametrize(("name", "offset"), STORES)
def test_stores(name: str, offset: int, big: bool, bench: Bench) -> None:
    """The memory takes the low bytes of the data, right-justified."""
    first, size, data = STORES[name, offset][0 if big else 1]
    word, c, item_in = item(name, 0x100 + offset, 0x12345678)
    ran = access(bench, big).check_table(f"in | memory_request\n{item_in} | -")
    asked = (ran.directory / "memory_request0.seen").read_text()
    assert f"op=write size={size} " in asked and f" address={0x100 + first} " in asked, asked
    number = int(asked.split("data=")[1].split("}")[0], 0)
    assert number & (1 << 8 * size) - 1 == data, f"{number:#x}"


@seldom
def test_a_load_waits_for_its_reply_and_requests_once(bench: Bench) -> None:
    word, c, load = item("lw", 0x100)
    ask = request("read", 0x100, tag=1)
    show = shown(c, 0x100)
    ran = access(bench, latch=True).check_table(
        f"""
        in     | memory_request | memory_request.ack | memory_reply     | out                             | busy  | bypass
        {load} | .              | 0                  | .                | .                               | false | -
        .      | {ask}          | 0                  | .                | .                               | true  | {show}
        .      | {ask}          | 1                  | .                | .                               | true  | {show}
        .      | .              | 1                  | .                | .                               | true  | {show}
        .      | .              | 1                  | {reply(WORD, 1)} | {finished(0x40, word, c, WORD)} | false | {show}
        .      | .              | 1                  | .                | .                               | false | -
        """
    )
    assert happened(ran, "wait") == [(1, 0x40), (2, 0x40), (3, 0x40)] and happened(ran, "access") == [(2, 0x40, 0, 0x100, 4)]


def test_a_store_goes_on_when_it_is_accepted(bench: Bench) -> None:
    """Its reply may come while the next load waits for its own."""
    word, c, store = item("sw", 0x100, 7)
    ask = request("write", 0x100, data=7)
    load_word, load_c, load = item("lw", 0x104)
    ran = access(bench, latch=True).check_table(
        f"""
        in      | memory_request                  | memory_request.ack | memory_reply     | out                                       | busy
        {store} | .                               | 0                  | .                | .                                         | false
        .       | {ask}                           | 0                  | .                | .                                         | true
        {load}  | {ask}                           | 1                  | .                | {finished(0x40, word, c, 0x100)}          | false
        .       | {request("read", 0x104, tag=1)} | 1                  | {reply(0, 0)}    | .                                         | true
        .       | .                               | 1                  | {reply(WORD, 1)} | {finished(0x40, load_word, load_c, WORD)} | false
        """
    )
    assert happened(ran, "wait") == [(1, 0x40), (3, 0x40)]
    assert happened(ran, "access") == [(2, 0x40, 1, 0x100, 4), (3, 0x40, 0, 0x104, 4)]


def test_results_pass(bench: Bench) -> None:
    word = encode("addu", 1, 2, 3)
    c = control("addu", word)
    access(bench).check_table(
        f"in | in.ack | memory_request | out | bypass\n"
        f"{executed(0x40, word, c, 42)} | 1 | . | {finished(0x40, word, c, 42)} | {shown(c, 42)}\n. | 1 | . | . | {bypass()}")


@pytest.mark.parametrize(("name", "address"), [("lw", 0x102), ("lh", 0x101), ("sw", 0x101), ("sh", 0x103), ("ll", 0x102), ("sc", 0x101)])
def test_misaligned_requests_are_not_made(name: str, address: int, bench: Bench) -> None:
    word, _, item_in = item(name, address)
    out = finished(0x40, word, failed("unaligned"), address)
    access(bench).check_table(f"in | in.ack | memory_request | out\n{item_in} | 1 | . | {out}")


def test_a_failed_load_says_so(bench: Bench) -> None:
    word, _, load = item("lw", 0x100)
    out = finished(0x40, word, failed("access"), 0x100)
    access(bench).check_table(f"in | in.ack | memory_reply | out\n{load} | 1 | {reply(0, 1, error=True)} | {out}")


def test_a_failed_store_stops_the_run(bench: Bench) -> None:
    device = access(bench)
    _, _, store = item("sw", 0x100, 7)
    ran = bench.run(device.simulator, 5, {"in_source[0].script": "in.txt", "memory_reply_source[0].script": "reply.txt"}, ok=False,
                    files={"in.txt": f"0 {store} once\n", "reply.txt": f"2 {reply(0, 0, error=True)} once\n"})
    assert "a store failed" in ran.err and "0x00000100" in ran.err and "pc 0x00000040" in ran.err, ran.err


def test_a_failed_store_is_reported_though_others_came_behind_it(bench: Bench) -> None:
    device = access(bench)
    script = "".join(f"{k} {executed(0x40 + 4 * k, encode('sw', 1, 2), control('sw', encode('sw', 1, 2)), 0x100 + 4 * k, 7)} once\n" for k in range(3))
    replies = f"4 {reply(0, 0)} once\n5 {reply(0, 0, error=True)} once\n"
    ran = bench.run(device.simulator, 8, {"in_source[0].script": "in.txt", "memory_reply_source[0].script": "reply.txt"}, ok=False,
                    files={"in.txt": script, "reply.txt": replies})
    assert "nothing responds at address 0x00000104, pc 0x00000044" in ran.err, ran.err


def test_a_barrier_waits_for_all_stores_and_then_for_its_reply(bench: Bench) -> None:
    word, c, store = item("sw", 0x100, 7)
    sync = encode("sync")
    barrier = executed(0x44, sync, control("sync", sync), 0, 0)
    ask = request("barrier", 0, size=1, tag=1)
    access(bench, latch=True).check_table(
        f"""
        in        | memory_request                  | memory_request.ack | memory_reply  | busy
        {store}   | .                               | 1                  | .             | false
        {barrier} | {request("write", 0x100, data=7)} | 1                | .             | false
        .         | .                               | 1                  | .             | true
        .         | .                               | 1                  | {reply(0, 0)} | true
        .         | {ask}                           | 0                  | .             | true
        .         | {ask}                           | 1                  | .             | true
        .         | .                               | 1                  | .             | true
        .         | .                               | 1                  | {reply(0, 1)} | false
        """
    )


@seldom
def test_no_more_stores_go_than_can_be_distinguished(bench: Bench) -> None:
    """The seventeenth waits for a reply to the first."""
    word, _, store = item("sw", 0x100, 7)
    rows = "".join(f"{store} | - | {'.' if k == 0 else '-'} | .\n" for k in range(17))
    access(bench, latch=True).check_table(
        f"in | memory_request | busy | memory_reply\n{rows}. | . | true | .\n. | . | true | {reply(0, 0)}\n. | {request('write', 0x100, data=7)} | false | .\n"
        .replace("- | . | .", "- | - | .")
    )


@pytest.mark.parametrize("trap", ["syscall", "break"])
def test_nothing_reaches_memory_behind_what_ends_the_run(trap: str, bench: Bench) -> None:
    word = encode(trap)
    ends = executed(0x40, word, control(trap, word), 0, 0)
    _, _, store = item("sb", 0x100, 7)
    access(bench, latch=True).check_table(f"in | memory_request\n{ends} | .\n{store} | .\n. | .\n. | .\n")
