"""core_fetch in a precise core: what is killed is not delivered, fetch continues where it is told, late words are dropped."""

import pytest

from tests.modules.harness import Bench, collect, happened
from tests.modules.mips import BundleDevice, fetched, reply, request, struct


def restart(pc: int = 0, refetch: bool = False, hold: bool = False, in_flight: int = 0) -> str:
    return struct(refetch=refetch, pc=pc, hold=hold, in_flight=in_flight)


def fetch(bench: Bench, controlled: bool = False) -> BundleDevice:
    ports = {
        "memory.request": ("out", 1, "mem_request(32)"), "memory.reply": ("in", 1, "mem_reply(32)"),
        "out": ("out", 1, "core_fetched"), "redirect": ("in", 1, "uint32"), "restart": ("in", 1, "core_restart"),
        "kill": ("in", 1, "bool"), "held": ("in", 1, "uint32"),
    }  # fmt: skip
    if controlled:
        ports |= {"control": ("in", 1, "core_control"), "status": ("out", 1, "core_status"), "done": ("in", 1, "bool")}
    return BundleDevice(bench, "core_fetch", ports, after=collect("dut", "dropped(number)"))


def asks(address: int, number: int = 0) -> str:
    return request("read", address, tag=number)


def test_a_word_that_arrives_as_it_is_killed_is_not_delivered(bench: Bench) -> None:
    fetch(bench).check_table(
        f"""
        memory_request | memory_reply | out                         | kill  | restart
        {asks(0)}      | {reply(10)}  | {fetched(0, 10, True)}      | false | .
        {asks(4)}      | {reply(11)}  | .                           | true  | {restart(0x180)}
        {asks(0x180)}  | {reply(12)}  | {fetched(0x180, 12, True)}  | false | .
        {asks(0x184)}  | {reply(13)}  | {fetched(0x184, 13)}        | false | .
        """
    )


def test_replies_to_requests_before_a_restart_are_dropped(bench: Bench) -> None:
    """The second restart comes while the request of the first one is outstanding, and in the cycle in which it is accepted."""
    ran = fetch(bench).check_table(
        f"""
        memory_request    | memory_reply       | out                           | kill  | restart
        {asks(0)}         | .                  | .                             | false | .
        .                 | .                  | .                             | true  | {restart(0x180)}
        {asks(0x180, 1)}  | .                  | .                             | true  | {restart(0x200)}
        {asks(0x200, 2)}  | {reply(10, 0)}     | .                             | false | .
        .                 | {reply(11, 1)}     | .                             | false | .
        .                 | {reply(12, 2)}     | {fetched(0x200, 12, True)}    | false | .
        {asks(0x204, 2)}  | {reply(13, 2)}     | {fetched(0x204, 13)}          | false | .
        """
    )
    assert happened(ran, "dropped") == [(3, 0), (4, 1)]


def test_with_three_replies_to_drop_fetch_waits(bench: Bench) -> None:
    rows = ["memory_request | memory_reply | out | kill | restart"]
    for number in range(3):
        rows += [f"{asks(0x100 * number, number)} | . | . | true | {restart(0x100 * number + 0x100)}"]
    rows += [". | . | . | false | .", f". | {reply(1, 0)} | . | false | .", f"{asks(0x300, 3)} | . | . | false | ."]
    rows += [f". | {reply(2, 1)} | . | false | .", f". | {reply(3, 2)} | . | false | ."]
    rows += [f". | {reply(9, 3)} | {fetched(0x300, 9, True)} | false | ."]
    fetch(bench).check_table("\n".join(rows))


# What is where behind the instruction that serialized, and the pc that is fetched anew.
OLDEST = {
    "in the issue stage": ("8", "1", reply(12), 8),
    "waiting in fetch": (".", "0", ".", 4),
    "arriving": (".", "1", reply(12), 8),
    "outstanding": (".", "1", ".", 8),
}


@pytest.mark.parametrize("place", OLDEST)
def test_what_follows_an_instruction_that_serializes_is_fetched_anew(bench: Bench, place: str) -> None:
    held, ack, arriving, pc = OLDEST[place]
    waits = ack == "0"
    late = place == "outstanding"
    asked = "." if waits else asks(8)
    fetch(bench).check_table(
        f"""
        memory_request                 | memory_reply | out                        | out.ack | kill  | restart               | held
        {asks(0)}                      | {reply(10)}  | {fetched(0, 10, True)}     | 1       | false | .                     | .
        {asks(4)}                      | {reply(11)}  | {fetched(4, 11)}           | {ack}   | false | .                     | .
        {asked}                        | {arriving}   | .                          | 1       | true  | {restart(refetch=True)} | {held}
        {asks(pc, int(late))}          | {reply(7, int(late))} | {fetched(pc, 7, True)} | 1   | false | .                     | .
        """
    )


def test_a_pending_branch_cannot_be_behind_an_instruction_that_serializes(bench: Bench) -> None:
    table = f"""
        memory_request | memory_reply | redirect | kill  | restart
        {asks(0)}      | {reply(10)}  | .        | false | .
        {asks(4)}      | .            | 0x40     | false | .
        .              | .            | .        | true  | {restart(refetch=True)}
        .              | .            | .        | false | .
        """
    with pytest.raises(AssertionError, match="a branch is pending: after 0x00000004"):
        fetch(bench).check_table(table)


@pytest.mark.parametrize(("next_restart", "pc"), [(restart(0x20), 0x20), (restart(refetch=True), 0x10)])
def test_a_restart_that_holds_fetches_nothing_before_the_next_one(bench: Bench, next_restart: str, pc: int) -> None:
    """Which goes elsewhere, or on from there."""
    fetch(bench).check_table(
        f"""
        memory_request | memory_reply | out                       | kill  | restart
        {asks(0)}      | .            | .                         | true  | {restart(0x10, hold=True)}
        .              | {reply(5)}   | .                         | false | .
        .              | .            | .                         | false | .
        .              | .            | .                         | false | {next_restart}
        {asks(pc, 1)}  | {reply(6, 1)} | {fetched(pc, 6, True)}   | false | .
        """
    )


def test_a_branch_to_nowhere_is_forgotten_by_a_restart(bench: Bench) -> None:
    fetch(bench).check_table(
        f"""
        memory_request | memory_reply | out                       | redirect | kill  | restart
        {asks(0)}      | {reply(10)}  | {fetched(0, 10, True)}    | .        | false | .
        {asks(4)}      | .            | .                         | 0x40     | false | .
        .              | .            | .                         | .        | true  | {restart(0x180)}
        {asks(0x180, 1)} | {reply(1, 1)} | {fetched(0x180, 1, True)} | .      | false | .
        {asks(0x184, 1)} | {reply(2, 1)} | {fetched(0x184, 2)}    | .        | false | .
        """
    )


def test_a_core_halts_though_instructions_were_killed(bench: Bench) -> None:
    """Two are in the pipeline; one is killed, one leaves."""
    halt = struct(set_halt=True, halt=True, set_pc=False, pc=0, step=False, flush=False)
    parts = "halted={} fault=false slot=false pc={}"
    fetch(bench, controlled=True).check_table(
        f"""
        memory_request | memory_reply | kill  | restart                  | control | done | status
        {asks(0)}      | {reply(10)}  | false | .                        | .       | .    | {{{parts.format("false", 0)}}}
        {asks(4)}      | {reply(11)}  | false | .                        | .       | .    | {{{parts.format("false", 4)}}}
        {asks(8)}      | {reply(12)}  | true  | {restart(0x80, in_flight=1)} | {halt} | .    | {{{parts.format("false", 8)}}}
        .              | .            | false | .                        | .       | .    | {{{parts.format("false", 128)}}}
        .              | .            | false | .                        | .       | true | {{{parts.format("false", 128)}}}
        .              | .            | false | .                        | .       | .    | {{{parts.format("true", 128)}}}
        """
    )
