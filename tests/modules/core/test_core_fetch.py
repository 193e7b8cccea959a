"""core_fetch: one word ahead, redirection behind the delay slot, halting, stepping, and memories of any speed."""

from tests.modules.harness import Bench, collect, happened
from tests.modules.mips import BundleDevice, fetched, reply, request, struct
from tests.sample import seldom


def fetch(bench: Bench, body: str = "", controlled: bool = False, done: bool = True) -> BundleDevice:
    ports = {
        "memory.request": ("out", 1, "mem_request(32)"), "memory.reply": ("in", 1, "mem_reply(32)"),
        "out": ("out", 1, "core_fetched"), "redirect": ("in", 1, "uint32"),
    }  # fmt: skip
    if controlled:
        ports |= {"control": ("in", 1, "core_control"), "status": ("out", 1, "core_status"), "stopped": ("out", 1, "bool")}
        ports |= {"done": ("in", 1, "bool")} if done else {}
    return BundleDevice(bench, "core_fetch", ports, body, after=collect("dut", "blocked(pc)", "requested(pc)", "fetched(pc, word)"))


def asks(address: int) -> str:
    return request("read", address)


def status(pc: int, halted: bool) -> str:
    return struct(halted=halted, fault=False, slot=False, pc=pc)


def command(**parts: object) -> str:
    return struct(**{"set_halt": False, "halt": False, "set_pc": False, "pc": 0, "step": False, "flush": False} | parts)


def test_a_word_in_every_cycle(bench: Bench) -> None:
    fetch(bench).check_table(
        f"""
        memory_request | memory_reply | out                        | redirect
        {asks(0x40)}   | {reply(10)}  | {fetched(0x40, 10, True)}  | .
        {asks(0x44)}   | {reply(11)}  | {fetched(0x44, 11)}        | .
        {asks(0x48)}   | {reply(12)}  | {fetched(0x48, 12)}        | .
        """,
        {"dut.reset_pc": 0x40},
    )


def test_one_word_ahead_of_a_blocked_decode(bench: Bench) -> None:
    """The word that cannot go on waits here, and no further one is asked for."""
    ran = fetch(bench).check_table(
        f"""
        memory_request | memory_reply | out                     | out.ack
        {asks(0)}      | {reply(10)}  | {fetched(0, 10, True)}  | 1
        {asks(4)}      | {reply(11)}  | {fetched(4, 11)}        | 0
        .              | .            | {fetched(4, 11)}        | 0
        .              | .            | {fetched(4, 11)}        | 1
        {asks(8)}      | {reply(12)}  | {fetched(8, 12)}        | 1
        """
    )
    assert happened(ran, "fetched") == [(0, 0, 10), (1, 4, 11), (4, 8, 12)]
    assert happened(ran, "requested") == [(0, 0), (1, 4), (4, 8)] and not happened(ran, "blocked")


def test_a_refused_or_slow_memory(bench: Bench) -> None:
    ran = fetch(bench).check_table(
        f"""
        memory_request | memory_request.ack | memory_reply | out
        {asks(0)}      | 0                  | .            | .
        {asks(0)}      | 1                  | .            | .
        .              | 1                  | .            | .
        .              | 1                  | {reply(10)}  | {fetched(0, 10, True)}
        {asks(4)}      | 1                  | .            | .
        .              | 1                  | {reply(11)}  | {fetched(4, 11)}
        """
    )
    assert (happened(ran, "blocked"), happened(ran, "requested")) == ([(0, 0)], [(1, 0), (4, 4)])


def test_redirection_when_the_delay_slot_arrives_in_the_same_cycle(bench: Bench) -> None:
    fetch(bench).check_table(
        f"""
        memory_request  | memory_reply | out                     | redirect
        {asks(0)}       | {reply(10)}  | {fetched(0, 10, True)}  | .
        {asks(4)}       | {reply(11)}  | {fetched(4, 11)}        | 0x100
        {asks(0x100)}   | {reply(12)}  | {fetched(0x100, 12)}    | .
        {asks(0x104)}   | {reply(13)}  | {fetched(0x104, 13)}    | .
        """
    )


def test_redirection_when_the_delay_slot_waits_here(bench: Bench) -> None:
    fetch(bench).check_table(
        f"""
        memory_request  | memory_reply | out                     | out.ack | redirect
        {asks(0)}       | {reply(10)}  | {fetched(0, 10, True)}  | 1       | .
        {asks(4)}       | {reply(11)}  | {fetched(4, 11)}        | 0       | .
        .               | .            | {fetched(4, 11)}        | 1       | 0x100
        {asks(0x100)}   | {reply(12)}  | {fetched(0x100, 12)}    | 1       | .
        """
    )


def test_redirection_before_the_delay_slot_is_here(bench: Bench) -> None:
    """Refused or under way: the delay slot comes first, nothing else is fetched in vain."""
    fetch(bench).check_table(
        f"""
        memory_request  | memory_request.ack | memory_reply | out                     | redirect
        {asks(0)}       | 1                  | {reply(10)}  | {fetched(0, 10, True)}  | .
        {asks(4)}       | 0                  | .            | .                       | 0x100
        {asks(4)}       | 1                  | {reply(11)}  | {fetched(4, 11)}        | .
        {asks(0x100)}   | 1                  | .            | .                       | .
        .               | 1                  | {reply(12)}  | {fetched(0x100, 12)}    | .
        {asks(0x104)}   | 1                  | .            | .                       | .
        .               | 1                  | .            | .                       | 0x200
        .               | 1                  | {reply(13)}  | {fetched(0x104, 13)}    | .
        {asks(0x200)}   | 1                  | {reply(14)}  | {fetched(0x200, 14)}    | .
        """
    )


def test_errors_travel_with_the_word(bench: Bench) -> None:
    fetch(bench).check_table(
        f"""
        memory_request | memory_reply              | out                                 | out.ack
        {asks(0)}      | {reply(10, error=True)}   | {fetched(0, 10, True, error=True)}  | 0
        .              | .                         | {fetched(0, 10, True, error=True)}  | 1
        {asks(4)}      | {reply(11)}               | {fetched(4, 11)}                    | 1
        """
    )


def test_halting_drains_and_going_on_continues(bench: Bench) -> None:
    """Halted is shown once the last instruction has left the pipeline; the pc is then the next one's."""
    fetch(bench, controlled=True).check_table(
        f"""
        memory_request | memory_reply | out                     | done | control                              | status             | stopped
        {asks(0)}      | {reply(10)}  | {fetched(0, 10, True)}  | .    | .                                    | {status(0, False)} | false
        {asks(4)}      | {reply(11)}  | {fetched(4, 11)}        | .    | {command(set_halt=True, halt=True)}  | {status(4, False)} | false
        .              | .            | .                       | true | .                                    | {status(8, False)} | false
        .              | .            | .                       | true | .                                    | {status(8, False)} | false
        .              | .            | .                       | .    | .                                    | {status(8, True)}  | true
        .              | .            | .                       | .    | {command(set_halt=True)}             | {status(8, True)}  | true
        {asks(8)}      | {reply(12)}  | {fetched(8, 12)}        | .    | .                                    | {status(8, False)} | false
        """
    )


def test_halted_before_a_delay_slot_resumes_with_it(bench: Bench) -> None:
    halt = command(set_halt=True, halt=True)
    fetch(bench, controlled=True).check_table(
        f"""
        memory_request | memory_reply | out                     | redirect | done | control                   | status
        {asks(0)}      | {reply(10)}  | {fetched(0, 10, True)}  | .        | .    | {halt}                    | -
        .              | .            | .                       | 0x100    | .    | .                         | -
        .              | .            | .                       | .        | true | .                         | -
        .              | .            | .                       | .        | .    | {command(set_halt=True)}  | {status(4, True)}
        {asks(4)}      | {reply(11)}  | {fetched(4, 11)}        | .        | .    | .                         | -
        {asks(0x100)}  | {reply(12)}  | {fetched(0x100, 12)}    | .        | .    | .                         | -
        """
    )


@seldom
def test_start_by_control_and_single_steps(bench: Bench) -> None:
    fetch(bench, "start_halted = true;", controlled=True).check_table(
        f"""
        memory_request | memory_reply | out                       | done | control                            | status
        .              | .            | .                         | .    | {command(set_pc=True, pc=0x80)}    | {status(0, True)}
        .              | .            | .                         | .    | {command(step=True)}               | {status(0x80, True)}
        {asks(0x80)}   | {reply(10)}  | {fetched(0x80, 10, True)} | .    | .                                  | {status(0x80, False)}
        .              | .            | .                         | true | .                                  | {status(0x84, False)}
        .              | .            | .                         | .    | {command(step=True)}               | {status(0x84, True)}
        {asks(0x84)}   | {reply(11)}  | {fetched(0x84, 11)}       | .    | .                                  | {status(0x84, False)}
        .              | .            | .                         | true | .                                  | {status(0x88, False)}
        .              | .            | .                         | .    | {command(set_pc=True, pc=0x40, set_halt=True)} | {status(0x88, True)}
        {asks(0x40)}   | {reply(12)}  | {fetched(0x40, 12, True)} | .    | .                                  | {status(0x40, False)}
        """
    )


def test_flush_fetches_the_waiting_word_again(bench: Bench) -> None:
    fetch(bench, controlled=True).check_table(
        f"""
        memory_request | memory_reply | out                     | out.ack | control
        {asks(0)}      | {reply(10)}  | {fetched(0, 10, True)}  | 1       | .
        {asks(4)}      | {reply(11)}  | {fetched(4, 11)}        | 0       | .
        .              | .            | {fetched(4, 11)}        | 0       | {command(flush=True)}
        {asks(4)}      | {reply(99)}  | {fetched(4, 99)}        | 1       | .
        """
    )


def test_a_flushed_delay_slot_is_still_followed_by_the_branch_s_target(bench: Bench) -> None:
    fetch(bench, controlled=True).check_table(
        f"""
        memory_request  | memory_reply | out                     | out.ack | redirect | control
        {asks(0)}       | {reply(10)}  | {fetched(0, 10, True)}  | 1       | .        | .
        {asks(4)}       | {reply(11)}  | {fetched(4, 11)}        | 0       | 0x100    | .
        .               | .            | {fetched(4, 11)}        | 0       | .        | {command(flush=True)}
        {asks(4)}       | {reply(99)}  | {fetched(4, 99)}        | 1       | .        | .
        {asks(0x100)}   | {reply(12)}  | {fetched(0x100, 12)}    | 1       | .        | .
        """
    )


def test_a_pc_set_in_a_running_core_drops_the_word_on_its_way(bench: Bench) -> None:
    """What is in the pipeline ends first, and a branch among it goes nowhere."""
    turn = command(set_pc=True, pc=0x80)
    fetch(bench, controlled=True).check_table(
        f"""
        memory_request | memory_reply | out                       | redirect | done | control | status
        {asks(0)}      | {reply(10)}  | {fetched(0, 10, True)}    | .        | .    | .       | {status(0, False)}
        {asks(4)}      | .            | .                         | .        | .    | .       | {status(4, False)}
        .              | .            | .                         | .        | .    | {turn}  | {status(4, False)}
        .              | .            | .                         | 0x200    | .    | .       | {status(0x80, False)}
        .              | {reply(11)}  | .                         | .        | .    | .       | {status(0x80, False)}
        .              | .            | .                         | 0x300    | true | .       | {status(0x80, False)}
        {asks(0x80)}   | {reply(12)}  | {fetched(0x80, 12, True)} | .        | .    | .       | {status(0x80, False)}
        {asks(0x84)}   | {reply(13)}  | {fetched(0x84, 13)}       | 0x300    | .    | .       | {status(0x84, False)}
        {asks(0x300)}  | {reply(14)}  | {fetched(0x300, 14)}      | .        | .    | .       | {status(0x300, False)}
        """
    )


def test_a_pc_set_as_its_last_word_is_requested_or_arrives(bench: Bench) -> None:
    turn, halt = command(set_pc=True, pc=0x80), command(set_pc=True, pc=0x40, set_halt=True, halt=True)
    fetch(bench, controlled=True).check_table(
        f"""
        memory_request | memory_reply | out                       | out.ack | done | control | status
        {asks(0)}      | .            | .                         | 1       | .    | {turn}  | {status(0, False)}
        .              | .            | .                         | 1       | .    | {turn}  | {status(0x80, False)}
        .              | {reply(10)}  | .                         | 1       | .    | .       | {status(0x80, False)}
        {asks(0x80)}   | {reply(11)}  | {fetched(0x80, 11, True)} | 1       | .    | .       | {status(0x80, False)}
        {asks(0x84)}   | {reply(12)}  | {fetched(0x84, 12)}       | 0       | .    | {turn}  | {status(0x84, False)}
        .              | .            | .                         | 1       | true | .       | {status(0x80, False)}
        {asks(0x80)}   | {reply(13)}  | {fetched(0x80, 13, True)} | 1       | .    | .       | {status(0x80, False)}
        {asks(0x84)}   | .            | .                         | 1       | .    | {halt}  | {status(0x84, False)}
        .              | .            | .                         | 1       | true | .       | {status(0x40, False)}
        .              | {reply(14)}  | .                         | 1       | .    | .       | {status(0x40, False)}
        .              | .            | .                         | 1       | .    | .       | {status(0x40, True)}
        """
    )


@seldom
def test_control_without_done_is_refused(bench: Bench) -> None:
    """How far the pipeline has drained could not be known."""
    error = bench.run(fetch(bench, controlled=True, done=False).simulator, 1, ok=False).err
    assert "`control` is connected and `done` is not: connect what leaves the pipeline to `done`" in error


def test_only_a_flush_drops_the_waiting_word_and_only_that_one(bench: Bench) -> None:
    fetch(bench, controlled=True).check_table(
        f"""
        memory_request | memory_reply | out                     | out.ack | control
        {asks(0)}      | {reply(10)}  | {fetched(0, 10, True)}  | 1       | .
        {asks(4)}      | {reply(11)}  | {fetched(4, 11)}        | 0       | .
        .              | .            | {fetched(4, 11)}        | 0       | {command(set_halt=True)}
        .              | .            | {fetched(4, 11)}        | 1       | .
        {asks(8)}      | {reply(12)}  | {fetched(8, 12)}        | 1       | {command(flush=True)}
        {asks(12)}     | {reply(13)}  | {fetched(12, 13)}       | 1       | .
        """
    )
