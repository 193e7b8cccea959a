"""core_execute in a precise core: nothing is begun for what is killed, and delay slots stay marked."""

from tests.modules.harness import Bench
from tests.modules.mips import BundleDevice, bypass, control, encode, executed, in_slot, issued, pack, struct

NEVER = struct(hi=0, lo=0, ready=True)


def test_execute_begins_nothing_for_what_is_killed(bench: Bench) -> None:
    ports = {
        "in": ("in", 1, "core_issued"), "out": ("out", 1, "core_executed"), "a": ("out", 1, "uint32"), "b": ("out", 1, "uint32"),
        "op": ("out", 1, "alu_op"), "result": ("in", 1, "uint32"), "flags": ("in", 1, "alu_flags"),
        "muldiv": ("out", 1, "muldiv_request"), "hilo": ("in", 1, "muldiv_state"), "memory": ("in", 1, "core_bypass"),
        "writeback": ("in", 1, "core_bypass"), "bypass": ("out", 1, "core_bypass"), "kill": ("in", 1, "bool"),
    }  # fmt: skip
    madd, add = encode("maddu", 1, 2), encode("add", 1, 2, 3)
    multiply = issued(0x40, madd, control("maddu", madd), 0, 10, 20)
    overflows = issued(0x44, add, in_slot(control("add", add)), 0, 10, 20)
    overflow = struct(zero=False, negative=False, carry=False, overflow=True)
    none = struct(zero=False, negative=False, carry=False, overflow=False)
    rest = f"{NEVER} | {bypass()} | {bypass()}"
    BundleDevice(bench, "core_execute", ports).check_table(
        f"""
        in          | in.ack | kill  | muldiv.enable | out                                                          | result | flags      | hilo | memory | writeback
        {multiply}  | 1      | true  | 0             | .                                                            | 30     | {none}     | {rest}
        {multiply}  | 1      | false | 1             | {executed(0x40, madd, control("maddu", madd), 30, 20)}       | 30     | {none}     | {rest}
        {overflows} | 1      | true  | -             | .                                                            | 30     | {overflow} | {rest}
        {overflows} | 1      | false | -             | {executed(0x44, add, in_slot(pack(trap="overflowed")), 30, 20)} | 30     | {overflow} | {rest}
        """
    )
