"""system_bus alone: agents are scripts, so that each answer comes when a test says; cycles of addresses, lines and responses."""

import re

import pytest

from tests.modules.harness import Bench, Ran, collect, happened, read_items
from tests.sample import sampled, seldom

LINE, WIDTH, SNOOP, TURN, LATENCY = 32, 64, 4, 1, 10
BEATS = 8 * LINE // WIDTH
OPS = ["read_shared", "read_exclusive", "upgrade", "write_back", "read_once", "write_line", "write_part"]
OLD = bytes(range(1, 65))  # what memory has
NEW = bytes(range(101, 133))  # what an owner has


def netlist(agents: int = 2, body: str = "") -> str:
    joined = "".join(
        f'command[{i}].out -> bus.agent["a{i}"].request; answer[{i}].out -> bus.agent["a{i}"].snoop_response;\n'
        f'bus.agent["a{i}"].snoop -> snoop[{i}].in; bus.agent["a{i}"].response -> response[{i}].in;\n'
        for i in range(agents)
    )
    return f"""
import memory_types; import coherence_types;
instance command[{agents}] : source; instance answer[{agents}] : source; instance snoop[{agents}] : sink; instance response[{agents}] : sink;
instance bus : system_bus {{ line = {LINE}; width = {WIDTH}; snoop_cycles = {SNOOP}; turnaround = {TURN}; {body} }};
instance delay : memory_delay {{ width = {8 * LINE}; depth = 8; latency = {LATENCY}; }};
instance memory : memory_state {{ width = {8 * LINE}; size = 64 B; }};
instance look : memory_source {{ width = {8 * LINE}; }};
{joined}bus.memory -> delay.in; delay.out -> memory.port; look.memory -> memory.port;
{collect("bus", "begun(lane, op, address)", "supplied(lane, op, address, from)", "finished(lane, op, address)")}
"""


def play(bench: Bench, commands: list[list[str]], answers: list[list[str]], cycles: int = 120, body: str = "", ok: bool = True, more: dict[str, object] | None = None) -> Ran:
    """Commands and answers of each agent as lines of a source's script: CYCLE VALUE, of an answer `once`; memory is read at the end."""
    agents = len(commands)
    simulator = bench.build(netlist(agents, body))
    files: dict[str, str | bytes] = {"image.bin": OLD, "look.txt": f"{cycles - 5} read 32 0\n{cycles - 4} read 32 32\n"}
    settings: dict[str, object] = {"memory.image": "image.bin", "look.script": "look.txt", "look.record": "look.out"}
    for i in range(agents):
        files |= {f"c{i}": "".join(f"{line}\n" for line in commands[i]), f"a{i}": "".join(f"{line} once\n" for line in answers[i])}
        settings |= {f"command[{i}].script": f"c{i}", f"answer[{i}].script": f"a{i}", f"snoop[{i}].record": f"s{i}", f"response[{i}].record": f"r{i}"}
    return bench.run(simulator, cycles, settings | (more or {}), files=files, ok=ok)


def command(op: str, address: int = 0, tag: int = 7, conditional: bool = False, seen: int = 0) -> str:
    return f"{{op={op} address={address} tag={tag} conditional={str(conditional).lower()} seen={seen}}}"


def number(line: bytes) -> str:
    return f"{int.from_bytes(line, 'little'):#x}"


def answer(result: str, line: bytes = b"", first: int = 0, count: int = 0, of: int = 0) -> str:
    """To the snoop of transaction `of`: the lowest number that no other has."""
    return f"{{result={result} number={of} first={first} count={count} bytes={number(line) if line else 0}}}"


def responses(ran: Ran, agent: int = 0) -> list[tuple[int, dict[str, int]]]:
    """Cycle and members of what an agent got."""
    return [(cycle, {k: int(v, 0) for k, v in re.findall(r"(\w+)=(\w+)", value.replace("true", "1").replace("false", "0"))}) for cycle, value in read_items(ran.directory / f"r{agent}")]


def memory(ran: Ran) -> bytes:
    lines = (ran.directory / "look.out").read_text().splitlines()
    return b"".join(int(line.split()[3], 0).to_bytes(LINE, "little") for line in lines)


ADDRESS = 10 + 1 + TURN  # of a command that is offered in cycle 10; the bus was memory's before
ANSWERS = ADDRESS + SNOOP


@seldom
def test_a_line_of_memory(bench: Bench) -> None:
    """Nobody has it: memory is asked in the cycle behind the answers, and drives the bus in the cycle behind its reply."""
    ran = play(bench, [[f"10 {command('read_shared')}"], []], [[f"{ADDRESS + 1} {answer('none')}"], [f"{ADDRESS + 1} {answer('none')}"]])
    [(cycle, response)] = responses(ran)
    assert cycle == ANSWERS + 1 + LATENCY + TURN + BEATS
    assert response == {"tag": 7, "shared": 0, "filled": 1, "lost": 0, "error": 0, "bytes": int.from_bytes(OLD[:32], "little")}
    assert responses(ran, 1) == []
    for agent in (0, 1):
        [(cycle, value)] = read_items(ran.directory / f"s{agent}")
        assert cycle == ADDRESS and "op=read_shared" in value and ("own=" in value) and ("tag=7" in value or "tag=0x7" in value) == (agent == 0)
    assert happened(ran, "begun") == [(ADDRESS, 0, 0, 0)]
    assert happened(ran, "supplied") == [(ANSWERS, 0, 0, 0, -1)]
    assert happened(ran, "finished") == [(ANSWERS + 1 + LATENCY + TURN + BEATS, 0, 0, 0)]
    assert ran.counted("bus") == {"transactions": 1, "memory_reads": 1, "address_cycles": 1, "data_cycles": BEATS}


@pytest.mark.parametrize("result", ["clean", "modified"])
@pytest.mark.parametrize("op", ["read_shared", "read_exclusive", "upgrade", "read_once"])
def test_a_line_of_its_owner(bench: Bench, op: str, result: str) -> None:
    """It comes from there; what memory does not have goes there when others keep copies."""
    ran = play(bench, [[f"10 {command(op)}"], []], [[f"{ADDRESS + 1} {answer('none')}"], [f"{ADDRESS + 1} {answer(result, NEW)}"]])
    [(cycle, response)] = responses(ran)
    assert cycle == ANSWERS + TURN + BEATS
    assert (response["shared"], response["filled"], response["bytes"]) == (1, 1, int.from_bytes(NEW, "little"))
    taken_over = op == "read_shared" and result == "modified"
    assert memory(ran) == (NEW if taken_over else OLD[:32]) + OLD[32:]
    assert happened(ran, "finished")[0][0] == cycle + (1 + LATENCY if taken_over else 0)
    assert (ran.stat("bus", "interventions"), ran.stat("bus", "memory_reads"), ran.stat("bus", "memory_writes")) == (1, 0, int(taken_over))


def test_an_upgrade_moves_nothing(bench: Bench) -> None:
    ran = play(bench, [[f"10 {command('upgrade')}"], []], [[f"{ADDRESS + 1} {answer('shared')}"], [f"{ADDRESS + 1} {answer('none')}"]])
    assert [(cycle, response["filled"]) for cycle, response in responses(ran)] == [(ANSWERS + 1, 0)]
    assert ran.counted("bus") == {"transactions": 1, "address_cycles": 1}


def test_the_last_reply_is_waited_for(bench: Bench) -> None:
    late = ADDRESS + SNOOP + 5
    ran = play(bench, [[f"10 {command('upgrade')}"], []], [[f"{late} {answer('shared')}"], [f"{ADDRESS + 1} {answer('none')}"]])
    assert [cycle for cycle, _ in responses(ran)] == [late + 1]


@pytest.mark.parametrize(("op", "responds"), [("write_back", False), ("write_line", True)])
def test_a_line_is_written(bench: Bench, op: str, responds: bool) -> None:
    """It moves to memory, whatever others had; the response comes when memory has it."""
    ran = play(bench, [[f"10 {command(op)}"], []], [[f"{ADDRESS + 1} {answer('modified', NEW)}"], [f"{ADDRESS + 1} {answer('none')}"]])
    done = ANSWERS + BEATS + 1 + LATENCY
    assert [(cycle, response["filled"]) for cycle, response in responses(ran)] == ([(done + 1, 0)] if responds else [])
    assert memory(ran) == NEW + OLD[32:]


@pytest.mark.parametrize("owned", [False, True])
def test_a_part_is_written(bench: Bench, owned: bool) -> None:
    """Alone, or into what the owner had: both move."""
    part = bytes(5) + bytes([250, 251, 252]) + bytes(24)
    other = answer("modified", NEW) if owned else answer("none")
    ran = play(bench, [[f"10 {command('write_part')}"], []], [[f"{ADDRESS + 1} {answer('modified', part, 5, 3)}"], [f"{ADDRESS + 1} {other}"]])
    base = NEW if owned else OLD[:32]
    assert memory(ran) == base[:5] + bytes([250, 251, 252]) + base[8:] + OLD[32:]
    assert [cycle for cycle, _ in responses(ran)] == [ANSWERS + 1 + (BEATS if owned else 0) + 1 + LATENCY + 1]


@pytest.mark.parametrize("owned", [False, True])
def test_what_is_withdrawn_has_no_response(bench: Bench, owned: bool) -> None:
    """But what an owner gave away for it is in memory."""
    other = answer("modified", NEW) if owned else answer("none")
    ran = play(bench, [[f"10 {command('upgrade')}", f"60 {command('read_once')}"], []], [[f"{ADDRESS + 1} {answer('withdrawn')}", f"70 {answer('none')}"], [f"{ADDRESS + 1} {other}", f"70 {answer('none')}"]])
    [(_, response)] = responses(ran)
    assert response["bytes"] == int.from_bytes(NEW if owned else OLD[:32], "little")
    assert ran.stat("bus", "withdrawals") == 1


def test_transactions_for_one_line_follow_each_other_others_overlap(bench: Bench) -> None:
    """The second for the same line begins when the first has ended; that for another line meanwhile."""
    read = command("read_shared")
    for address, gap in ((0, SNOOP + 1 + LATENCY + TURN + BEATS + 2 + TURN), (32, 1 + TURN)):
        simulator_answers = [f"{ADDRESS + 1} {answer('none')}", f"{ADDRESS + 1 + gap} {answer('none', of=int(address > 0))}"]
        ran = play(bench, [[f"10 {read}"], [f"10 {command('read_shared', address)}"]], [simulator_answers, simulator_answers])
        assert [cycle for cycle, *_ in happened(ran, "begun")] == [ADDRESS, ADDRESS + gap]
        assert ran.counted("bus")["waited[1]"] == gap  # of "waited", an agent each


def test_requests_take_turns_and_lines_go_first(bench: Bench) -> None:
    """Four agents with two upgrades each."""
    addresses = [[f"10 {command('upgrade', 64 * k)}", f"10 {command('upgrade', 64 * k + 32)}"] for k in range(4)]
    gap = 1 + TURN
    answers = [[f"{ADDRESS + 1 + gap * k} {answer('shared' if k % 4 == agent else 'none', of=k % 4)}" for k in range(8)] for agent in range(4)]
    ran = play(bench, addresses, answers)
    assert [(cycle, lane) for cycle, lane, *_ in happened(ran, "begun")] == [(ADDRESS + gap * k, k % 4) for k in range(8)]
    # While an owner's line waits for the bus, no address comes before it.
    read = [[f"10 {command('read_once')}"], [f"{ANSWERS + 1 + k} {command('upgrade', 64 * k)}" for k in range(1, 4)], []]
    none = [f"{ADDRESS + 1} {answer('none')}"]
    ran = play(bench, read, [[*none], none, [f"{ADDRESS + 1} {answer('modified', NEW)}"]], cycles=ANSWERS + TURN + BEATS + 1)
    assert [cycle for cycle, _ in responses(ran)] == [ANSWERS + TURN + BEATS] and len(happened(ran, "begun")) == 1


def test_outstanding_bounds_transactions(bench: Bench) -> None:
    script = [[f"10 {command('read_once', 32 * k)}"] for k in range(2)]
    first = [f"{ADDRESS + 1} {answer('none')}", f"{ADDRESS + 1 + SNOOP + 1 + LATENCY + TURN + BEATS + 2 + TURN} {answer('none')}"]
    ran = play(bench, script, [first, first], body="outstanding = 1;")
    assert happened(ran, "begun")[1][0] - ADDRESS == SNOOP + 1 + LATENCY + TURN + BEATS + 2 + TURN


def test_replies_come_in_any_order(bench: Bench) -> None:
    """Of two reads at once, that whose last answer is there first goes to memory first."""
    late, soon = ADDRESS + 20, ADDRESS + 9
    none = [f"{soon} {answer('none', of=1)}", f"{late} {answer('none')}"]
    ran = play(bench, [[f"10 {command('read_once')}"], [f"10 {command('read_once', 32)}"]], [none, none])
    assert [cycle for cycle, *_ in happened(ran, "supplied")] == [soon, late]
    assert [cycle for cycle, _ in responses(ran, 1)] == [soon + 1 + LATENCY + TURN + BEATS]


@pytest.mark.parametrize(("other", "response"), [("none", (0, ANSWERS + 1)), ("clean", (0, ANSWERS + 1)), ("modified", (1, ANSWERS + TURN + BEATS))])
@pytest.mark.parametrize("op", ["read_shared", "read_exclusive", "read_once"])
def test_an_agent_with_a_copy_needs_a_newer_one_only(bench: Bench, op: str, other: str, response: tuple[int, int]) -> None:
    """It then takes over what memory does not have."""
    ran = play(bench, [[f"10 {command(op)}"], []], [[f"{ADDRESS + 1} {answer('shared')}"], [f"{ADDRESS + 1} {answer(other, NEW)}"]])
    assert [(got["filled"], cycle) for cycle, got in responses(ran)] == [response]
    assert memory(ran) == OLD and ran.stat("bus", "memory_reads") == 0


def test_a_copy_that_is_void_is_read_anew(bench: Bench) -> None:
    ran = play(bench, [[f"10 {command('upgrade')}"], []], [[f"{ADDRESS + 1} {answer('shared')}"], [f"{ADDRESS + 1} {answer('lost')}"]])
    [(_, response)] = responses(ran)
    assert (response["filled"], response["lost"], response["bytes"]) == (1, 1, int.from_bytes(OLD[:32], "little"))


def test_a_store_conditional_whose_copy_is_void_gets_no_line(bench: Bench) -> None:
    """It fails, so its response comes behind the answers, and memory is not asked."""
    ran = play(bench, [[f"10 {command('upgrade', conditional=True)}"], []], [[f"{ADDRESS + 1} {answer('shared')}"], [f"{ADDRESS + 1} {answer('lost')}"]])
    [(cycle, response)] = responses(ran)
    assert (cycle, response["filled"], response["lost"]) == (ANSWERS + 1, 0, 1)
    assert ran.stat("bus", "memory_reads") == 0


@pytest.mark.parametrize(("other", "address", "seen", "fails"), [("upgrade", 0, 0, True), ("write_part", 0, 0, True), ("read_shared", 0, 0, False), ("upgrade", 32, 0, False), ("upgrade", 0, 1, False)])
def test_a_store_conditional_that_has_failed_gets_no_address(bench: Bench, other: str, address: int, seen: int, fails: bool) -> None:
    """Another agent wrote its line when the request was on its way already: the agent had not seen that.  Links of others do not end by it."""
    answers = [answer("none"), *([] if fails else [answer("none")])]
    ran = play(
        bench,
        [[f"60 {command('upgrade', conditional=True, seen=seen)}"], [f"10 {command(other, address)}"]],
        [[f"{ADDRESS + 1} {answers[0]}", *(f"70 {one}" for one in answers[1:])], [f"{ADDRESS + 1} {answer('modified', NEW, count=32) if other == 'write_part' else answer('none')}", *(f"70 {one}" for one in answers[1:])]],
    )
    [(cycle, response)] = responses(ran)
    assert (response["lost"], response["filled"]) == (int(fails), int(not fails))
    assert (cycle == 61) == fails
    assert [lane for _, lane, *_ in happened(ran, "begun")] == [1] + [0] * (not fails)
    assert ran.stat("bus", "failed_conditionals") == int(fails)


@seldom
@pytest.mark.parametrize("home", sampled([False, True], 2, 1))
def test_room_is_kept_for_a_home(bench: Bench, home: bool) -> None:
    """Of two transactions, one may be others', and the second is its own."""
    reads = [[f"10 {command('read_once', 32 * k)}"] for k in range(2)] + [[f"20 {command('read_once', 64)}"]]
    ran = play(bench, reads, [[], [], []], body='outstanding = 2; home = "a2";' if home else "outstanding = 2;", cycles=60)
    assert [lane for _, lane, *_ in happened(ran, "begun")] == ([0, 2] if home else [0, 1])


def test_owners_of_one_line_are_an_error(bench: Bench) -> None:
    for mine, others in (("none", ["modified", "shared"]), ("none", ["clean", "modified"]), ("shared", ["modified", "none"])):
        answers = [[f"{ADDRESS + 1} {answer(mine)}"], *([f"{ADDRESS + 1} {answer(other, NEW)}"] for other in others)]
        ran = play(bench, [[f"10 {command('upgrade')}"], [], []], answers, ok=False)
        assert re.search(r"the line at 0x0.* own|own.*line at 0x0", ran.err)
    ran = play(bench, [[], []], [[f"10 {answer('none')}"], []], ok=False)
    assert "'a0' answers no snoop" in ran.err


def test_an_error_of_memory_is_reported_to_whom_it_concerns(bench: Bench) -> None:
    none = [f"{ADDRESS + 1} {answer('none')}"]
    ran = play(bench, [[f"10 {command('read_once', 0x1000)}"], []], [none, none])
    assert [response["error"] for _, response in responses(ran)] == [1]
    back = [[f"10 {command('write_back', 0x1000)}", f"60 {command('read_once', 0)}"], []]
    answers = [[f"{ADDRESS + 1} {answer('modified', NEW)}", f"{ADDRESS + 51} {answer('none')}"], [*none, f"{ADDRESS + 51} {answer('none')}"]]
    assert "the write of a line failed: nothing responds at address 0x00001000" in play(bench, back, answers, ok=False).err
    ran = play(bench, back, answers, more={"bus.on_memory_error": "drop"})
    assert ran.stat("bus", "memory_errors") == 1 and [response["error"] for _, response in responses(ran)] == [0]


def test_what_a_bus_cannot_be(bench: Bench) -> None:
    assert "powers of two, not 24 and 64" in bench.refuse(netlist().replace("line = 32", "line = 24"))
    assert "none can be kept" in bench.refuse(netlist(body='home = "a0"; outstanding = 1;'))
    ran = bench.run(bench.build(netlist(body='home = "a9";')), 5, ok=False)
    assert "no agent has the key 'a9'" in ran.err
