"""core_issue in a precise core: what is killed is not issued, delay slots are marked, nothing follows what serializes."""

from tests.modules.harness import Bench, collect, happened
from tests.modules.mips import BundleDevice, bypass, control, decoded, encode, in_slot, issued, pack, reply, struct

NEVER = struct(hi=0, lo=0, ready=True)


def issue(bench: Bench) -> BundleDevice:
    ports = {
        "in": ("in", 1, "core_decoded"), "out": ("out", 1, "core_issued"), "redirect": ("out", 1, "uint32"),
        "registers.request": ("out", 2, "mem_request(32)"), "registers.reply": ("in", 2, "mem_reply(32)"),
        "execute": ("in", 1, "core_bypass"), "memory": ("in", 1, "core_bypass"), "busy": ("in", 1, "bool"),
        "muldiv": ("in", 1, "muldiv_state"), "kill": ("in", 1, "bool"), "held": ("out", 1, "uint32"),
    }  # fmt: skip
    return BundleDevice(bench, "core_issue", ports, after=collect("dut", "issue(pc)"))


QUIET = f"{reply(10)} | {reply(10)} | {bypass()} | {bypass()} | false | {NEVER}"
QUIET_COLUMNS = "registers_reply[0] | registers_reply[1] | execute | memory | busy | muldiv"
ADDU, BEQ, BEQL = encode("addu", 1, 2, 3), encode("beq", 1, 2, low=0x10), encode("beql", 1, 9, low=0x10)


def test_what_is_killed_is_not_issued_and_takes_no_branch(bench: Bench) -> None:
    branch, add = decoded(0x40, "beq", BEQ, 0x40), decoded(0x44, "addu", ADDU)
    ran = issue(bench).check_table(
        f"""
        in       | in.ack | kill  | out                                                        | redirect | held | {QUIET_COLUMNS}
        {branch} | 1      | true  | .                                                          | .        | 64   | {QUIET}
        {add}    | 1      | false | {issued(0x44, ADDU, control("addu", ADDU), 0, 10, 10)}     | .        | 68   | {QUIET}
        .        | -      | false | .                                                          | .        | .    | {QUIET}
        """
    )
    assert happened(ran, "issue") == [(1, 0x44)]
    assert ran.stat("dut", "issued") == 1


def test_delay_slots_are_marked_unless_they_are_annulled_or_killed(bench: Bench) -> None:
    branch, add = decoded(0x40, "beq", BEQ, 0x40), decoded(0x44, "addu", ADDU)
    likely = decoded(0x40, "bnel", encode("bnel", 1, 2, low=0x10), 0x40)
    plain = control("addu", ADDU)
    annulled = pack(annulled=1)
    issue(bench).check_table(
        f"""
        in       | kill  | out                                                | {QUIET_COLUMNS}
        {branch} | false | -                                                  | {QUIET}
        {add}    | false | {issued(0x44, ADDU, in_slot(plain), 0, 10, 10)}       | {QUIET}
        {add}    | false | {issued(0x44, ADDU, plain, 0, 10, 10)}             | {QUIET}
        {likely} | false | -                                                  | {QUIET}
        {add}    | false | {issued(0x44, ADDU, in_slot(annulled), 0, 10, 10)}    | {QUIET}
        {add}    | false | {issued(0x44, ADDU, plain, 0, 10, 10)}             | {QUIET}
        {branch} | false | -                                                  | {QUIET}
        .        | true  | .                                                  | {QUIET}
        {add}    | false | {issued(0x44, ADDU, plain, 0, 10, 10)}             | {QUIET}
        """
    )


def test_behind_an_instruction_that_serializes_nothing_is_issued_before_a_kill(bench: Bench) -> None:
    plain = control("addu", ADDU)
    serial = struct(pc=0x40, word=ADDU, control=plain.replace(" rs=", " serializes=true rs="), immediate=0, fresh=False)
    add = decoded(0x44, "addu", ADDU)
    out = f"{issued(0x44, ADDU, plain, 0, 10, 10)}"
    ran = issue(bench).check_table(
        f"""
        in       | in.ack | kill  | out   | {QUIET_COLUMNS}
        {serial} | 1      | false | -     | {QUIET}
        {add}    | 0      | false | .     | {QUIET}
        {add}    | 0      | false | .     | {QUIET}
        {add}    | 1      | true  | .     | {QUIET}
        {add}    | 1      | false | {out} | {QUIET}
        """
    )
    counted = {name: ran.stat("dut", name) for name in ("issued", "stall_structural", "stall_fetch")}
    assert counted == {"issued": 2, "stall_structural": 2, "stall_fetch": 1}
