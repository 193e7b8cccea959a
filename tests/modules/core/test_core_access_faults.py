"""core_access in a precise core: what fails goes no further, and why is told; late errors of stores are none of those."""

import pytest

from tests.modules.harness import Bench
from tests.modules.mips import BundleDevice, control, encode, executed, finished, pack, reply, request, struct

FAULTS = ["bus", "address", "refill", "invalid", "modified"]
NONE = struct(fails=False, fault="bus", address=0)


def access(bench: Bench, latch: bool = False) -> BundleDevice:
    ports = {
        "in": ("in", 1, "core_executed"), "out": ("out", 1, "core_finished"), "memory.request": ("out", 1, "mem_request(32)"),
        "memory.reply": ("in", 1, "mem_reply(32)"), "busy": ("out", 1, "bool"), "bypass": ("out", 1, "core_bypass"),
        "fault": ("out", 1, "core_fault"), "standing": ("out", 1, "bool"),
    }  # fmt: skip
    return BundleDevice(bench, "core_access", ports, "big_endian = false;", latch)


def fails(fault: int, address: int) -> str:
    return struct(fails=True, fault=FAULTS[fault], address=address)


def item(name: str, address: int) -> tuple[str, str]:
    """An instruction that arrives, and as it leaves with 5 as its value."""
    word = encode(name, 1, 2)
    return executed(0x40, word, control(name, word), address, 7), finished(0x40, word, control(name, word), 5)


LOAD, LOADED = item("lw", 0x100)
STORE, _ = item("sw", 0x200)
STORED = finished(0x40, encode("sw", 1, 2), control("sw", encode("sw", 1, 2)), 0x200)


@pytest.mark.parametrize("fault", range(5))
def test_a_load_that_fails_says_why(bench: Bench, fault: int) -> None:
    access(bench, latch=True).check_table(
        f"""
        in     | memory_request                        | memory_reply                  | out      | fault                 | standing | busy
        {LOAD} | .                                     | .                             | .        | {NONE}                | false    | false
        .      | {request("read", 0x100, 4, 7, tag=1)} | .                             | .        | {NONE}                | false    | true
        .      | .                                     | .                             | .        | {NONE}                | true     | true
        {LOAD} | .                                     | {reply(fault, 1, error=True)} | .        | {fails(fault, 0x100)} | true     | false
        .      | {request("read", 0x100, 4, 7, tag=1)} | {reply(5, 1)}                 | {LOADED} | {NONE}                | false    | false
        .      | .                                     | .                             | .        | {NONE}                | false    | false
        """
    )


@pytest.mark.parametrize("fault", range(5))
def test_a_store_that_gets_an_error_at_once_fails(bench: Bench, fault: int) -> None:
    """The next one has another number, and is posted as ever."""
    access(bench).check_table(
        f"""
        in      | in.ack | memory_request                            | memory_reply                  | out      | fault
        {STORE} | 1      | {request("write", 0x200, 4, 7)}           | {reply(fault, 0, error=True)} | .        | {fails(fault, 0x200)}
        {STORE} | 1      | {request("write", 0x200, 4, 7, tag=2)}    | .                             | {STORED} | {NONE}
        .       | -      | .                                         | {reply(0, 2)}                 | .        | {NONE}
        {STORE} | 1      | {request("write", 0x200, 4, 7)}           | {reply(0, 0)}                 | {STORED} | {NONE}
        """
    )


def test_an_error_that_is_not_the_reply_to_this_store_ends_the_run(bench: Bench) -> None:
    table = f"""
        in      | memory_request                          | memory_reply             | fault
        {STORE} | {request("write", 0x200, 4, 7)}         | .                        | {NONE}
        {STORE} | {request("write", 0x200, 4, 7, tag=2)}  | {reply(0, 0, error=True)} | {NONE}
        .       | .                                       | .                        | {NONE}
        """
    device = access(bench)
    with pytest.raises(AssertionError, match="a store failed: nothing responds at address 0x00000200"):
        device.check_table(table)
    ran = device.check_table(table, {"dut.on_memory_error": "drop"})
    assert ran.counted("dut")["memory_errors"] == 1 and "pc 0x00000040; it is dropped" in ran.err


def test_a_store_that_waits_fails_itself(bench: Bench) -> None:
    """With on_memory_error = bus_error a store is to memory as a load is."""
    asks = request("write", 0x200, 4, 7, tag=1)
    device = access(bench, latch=True)
    device.check_table(
        f"""
        in      | memory_request | memory_reply              | out | fault             | busy
        {STORE} | .              | .                         | .   | {NONE}            | false
        .       | {asks}         | .                         | .   | {NONE}            | true
        .       | .              | .                         | .   | {NONE}            | true
        {LOAD}  | .              | {reply(0, 1, error=True)} | .   | {fails(0, 0x200)} | false
        .       | {request("read", 0x100, 4, 7, tag=1)} | {reply(5, 1)} | {LOADED} | {NONE} | false
        """,
        {"dut.on_memory_error": "bus_error"},
    )


@pytest.mark.parametrize("name", ["lw", "sw", "lh", "sh"])
def test_an_address_that_is_not_aligned_is_not_requested(bench: Bench, name: str) -> None:
    """The reply to a store that went before comes in that cycle."""
    unaligned, _ = item(name, 0x301)
    access(bench).check_table(
        f"""
        in          | in.ack | memory_request                  | memory_reply  | out      | fault
        {STORE}     | 1      | {request("write", 0x200, 4, 7)} | .             | {STORED} | {NONE}
        {unaligned} | 1      | .                               | {reply(0, 0)} | .        | {fails(1, 0x301)}
        {LOAD}      | 1      | {request("read", 0x100, 4, 7, tag=1)} | {reply(5, 1)} | {LOADED} | {NONE}
        """
    )


def test_the_request_of_an_annulled_instruction_ends_here(bench: Bench) -> None:
    """One that another one follows, as of an instruction that maintains two caches; an annulled slot without one goes on."""
    word = encode("cache", 1, 2)
    first, last = (executed(0x40, word, pack(mem="maintain", size=1, annulled=annulled), 0x100, 5) for annulled in (1, 0))
    slot = executed(0x44, 0, pack(annulled=1))
    access(bench, latch=True).check_table(
        f"""
        in      | memory_request                            | memory_reply  | out                                                    | fault  | busy
        {first} | .                                         | .             | .                                                      | {NONE} | false
        {last}  | {request("maintain", 0x100, 1, 5, tag=1)} | .             | .                                                      | {NONE} | true
        {last}  | .                                         | {reply(0, 1)} | .                                                      | {NONE} | false
        {slot}  | {request("maintain", 0x100, 1, 5, tag=1)} | {reply(0, 1)} | {finished(0x40, word, pack(mem="maintain", size=1))}   | {NONE} | false
        .       | .                                         | .             | {finished(0x44, 0, pack(annulled=1))}                  | {NONE} | false
        """
    )


def test_links_have_one_tag(bench: Bench) -> None:
    """By which a memory knows whose reservation it is; stores between them alternate."""
    linked, got = item("ll", 0x100)
    stores, done = item("sc", 0x100)
    access(bench).check_table(
        f"""
        in       | in.ack | memory_request                                        | memory_reply  | out
        {linked} | 1      | {request("load_linked", 0x100, 4, 7, tag=1)}       | {reply(5, 1)} | {got}
        {STORE}  | 1      | {request("write", 0x200, 4, 7)}                    | .             | {STORED}
        {STORE}  | 1      | {request("write", 0x200, 4, 7, tag=2)}             | {reply(0, 0)} | {STORED}
        {linked} | 1      | {request("load_linked", 0x100, 4, 7, tag=1)}       | {reply(5, 1)} | {got}
        {STORE}  | 1      | {request("write", 0x200, 4, 7)}                    | {reply(0, 2)} | {STORED}
        {stores} | 1      | {request("store_conditional", 0x100, 4, 7, tag=1)} | {reply(5, 1)} | {done}
        """
    )
