"""load_store_queue: which loads may go, where their values come from for every overlap with a store, what is promised in vain, that
stores reach memory when they are committed, in order, and no reply reaches whom it is not for."""


import pytest

from tests.modules.harness import Bench, collect, happened
from tests.modules.wide import LOAD, STORE, Wide, completions, of_each, only, registers, renamed, renamed_group
from tests.sample import sampled, seldom

PORTS = {
    "alloc": ("in", 1, "renamed_group(4)"), "in": ("in", 1, "operands"), "memory.request": ("out", 1, "mem_request(64)"), "memory.reply": ("in", 1, "mem_reply(64)"),
    "store.request": ("out", 1, "mem_request(64)"), "store.reply": ("in", 1, "mem_reply(64)"), "room": ("out", 1, "uint32"), "store_room": ("out", 1, "uint32"),
    "results": ("out", 4, "result"), "done": ("out", 3, "completion"), "wakes": ("out", 1, "register_set"), "cancel": ("out", 1, "register_set"),
    "squash": ("in", 1, "squash_order"), "head": ("in", 1, "context_numbers"),
}  # fmt: skip


def alloc(*controls: dict, first: int = 0) -> dict:
    return renamed_group(*(renamed(first + i, control, dest=40 + first + i if control["kind"] == "load" else 0) for i, control in enumerate(controls)))


def moves(age: int, control: dict, address: int, value: int = 0) -> dict[str, object]:
    return {"age": age, "op": {"control": control, "immediate": 0}, "dest": 40 + age if control["kind"] == "load" else 0, "value": [address, value]}


def completed(seen: dict) -> dict[int, tuple[int, int, int]]:
    """Age: cycle, lane and value."""
    return {one["age"]: (cycle, lane, one["value"]) for lane in range(3) for cycle, one in enumerate(completions(seen[f"done[{lane}]"])) if one["valid"]}


def test_a_load_that_hits(bench: Bench) -> None:
    """Woken when its address comes, the value is shown two cycles later."""
    device = Wide(bench, "load_store_queue", PORTS)
    seen = device.play({"alloc": {0: alloc(LOAD)}, "in": {2: moves(0, LOAD, 64)}, "memory_reply": {3: {"tag": 0, "data": 99}}}, 6)
    request = seen["memory_request"][3]
    assert (request["op"], request["address"], request["size"], request["tag"]) == ("read", 64, 4, 0)
    assert completed(seen) == {0: (4, 0, 99)} and seen["results[0]"][4] == {"dest": 40, "value": 99}
    assert [cycle for cycle, one in enumerate(seen["wakes"]) if one == registers(40)] == [2, 3]
    assert all(one == registers() for one in seen["cancel"]) and seen["room"] == [16, 15, 15, 15, 15, 15]
    assert (device.stat("loads"), device.stat("cancelled")) == (1, 0)


@seldom
@pytest.mark.parametrize("speculate", sampled([True, False], 2))
def test_a_load_that_does_not_hit(speculate: bool, bench: Bench) -> None:
    device = Wide(bench, "load_store_queue", PORTS, f"speculate = {str(speculate).lower()};")
    seen = device.play({"alloc": {0: alloc(LOAD)}, "in": {2: moves(0, LOAD, 64)}, "memory_reply": {7: {"tag": 0, "data": 99}}}, 10)
    assert [cycle for cycle, one in enumerate(seen["wakes"]) if one == registers(40)] == ([2, 7] if speculate else [7])
    assert [cycle for cycle, one in enumerate(seen["cancel"]) if one == registers(40)] == ([4] if speculate else [])
    assert completed(seen) == {0: (8, 0, 99)} and device.stat("cancelled") == int(speculate)


def test_a_load_to_no_register_promises_nothing(bench: Bench) -> None:
    device = Wide(bench, "load_store_queue", PORTS)
    seen = device.play({"alloc": {0: alloc(LOAD)}, "in": {2: moves(0, LOAD, 64) | {"dest": 0}}}, 6)
    assert all(one == registers() for one in seen["cancel"])


def value_read(value: int, size: int, sign: bool) -> int:
    value &= (1 << 8 * size) - 1
    return value - (1 << 8 * size) & 0xFFFFFFFF if sign and value >> (8 * size - 1) else value


OVERLAPS = [(s, a, n, sign) for s in (1, 2, 4) for a in range(-3, 5) for n in (1, 2, 4) for sign in (False, True) if (64 + a) % n == 0]


@pytest.mark.parametrize("committed", sampled([False, True], 2, 1))
def test_every_overlap_of_a_load_with_an_older_store(committed: bool, bench: Bench) -> None:
    """Covered: the store's value; overlapped in part: it waits until the store is in memory; else memory at once."""
    device = Wide(bench, "load_store_queue", PORTS)
    for size, offset, n, sign in OVERLAPS:
        load = LOAD | {"size": n, "sign": int(sign)}
        heads = {cycle: 1 for cycle in range(4, 20)} if committed else {}
        seen = device.play({
            "alloc": {0: alloc(STORE | {"size": size}, load)}, "in": {2: moves(0, STORE | {"size": size}, 64, 0x8182C3F4), 6: moves(1, load, 64 + offset)},
            "head": of_each(heads), "memory_reply": {7: {"tag": 1, "data": 5}, 12: {"tag": 1, "data": 6}}, "store_reply": {11: {}} if committed else {},
        }, 15)  # fmt: skip
        case = f"store of {size}, load of {n} at {offset}"
        if offset >= 0 and offset + n <= size:
            assert completed(seen)[1] == (8, 2, value_read((0x8182C3F4 & (1 << 8 * size) - 1) >> 8 * offset, n, sign)), case
            assert seen["results[3]"][8]["value"] == completed(seen)[1][2] and device.stat("forwarded") == 1, case
        elif offset < size and offset + n > 0:
            assert completed(seen).get(1) == ((13, 0, 6) if committed else None), case
        else:
            assert completed(seen)[1] == (8, 0, 5), case
        assert completed(seen)[0][:2] == (3, 1)


@seldom
@pytest.mark.parametrize("base", [6, 2**32 - 1])
def test_the_youngest_older_store_counts(base: int, bench: Bench) -> None:
    """Also where places go round, and where ages do."""
    device = Wide(bench, "load_store_queue", PORTS, "list = 8;")
    ages = [base, *((base + i) % 2**32 for i in (1, 2, 3))]
    stores = {2 + i: moves(ages[i], STORE, 64, 100 + i) for i in (0, 1, 3)}
    controls = renamed_group(*(renamed(age, control, dest=40 * (control == LOAD)) for age, control in zip(ages, (STORE, STORE, LOAD, STORE), strict=True)))
    load = moves(ages[2], LOAD, 64) | {"dest": 40}
    seen = device.play({"head": of_each(dict.fromkeys(range(12), base)), "alloc": {1: controls}, "in": stores | {8: load}}, 12)
    assert completed(seen)[ages[2]] == (10, 2, 101)


def test_loads_wait_for_addresses_of_older_stores(bench: Bench) -> None:
    device = Wide(bench, "load_store_queue", PORTS)
    seen = device.play({
        "alloc": {0: alloc(LOAD, STORE, LOAD)}, "in": {2: moves(2, LOAD, 64), 3: moves(0, LOAD, 96), 6: moves(1, STORE, 128, 1)},
        "memory_reply": {4: {"tag": 0}, 7: {"tag": 2}},
    }, 10)  # fmt: skip
    assert [(cycle, one["address"]) for cycle, one in enumerate(seen["memory_request"]) if one] == [(4, 96), (7, 64)]


@seldom
def test_committed_stores(bench: Bench) -> None:
    """In order, one at a time, as soon as the head has passed them; the next when the reply is there."""
    device = Wide(bench, "load_store_queue", PORTS, "buffer = 2;")
    seen = device.play({
        "alloc": {0: alloc(STORE, STORE | {"size": 2})}, "in": {2: moves(1, STORE | {"size": 2}, 68, 0x12345678), 3: moves(0, STORE, 64, 11)},
        "head": of_each({cycle: 1 if cycle == 5 else 2 for cycle in range(5, 14)}), "store_reply": {8: {}, 10: {}},
    }, 14)  # fmt: skip
    requests = [(cycle, one["op"], one["address"], one["size"], one["data"]) for cycle, one in enumerate(seen["store_request"]) if one]
    assert requests == [(6, "write", 64, 4, 11), (9, "write", 68, 2, 0x5678)]
    assert seen["store_room"][5:12] == [2, 1, 0, 0, 1, 1, 2] and device.stat("stores") == 2
    fails = {"alloc": {0: alloc(STORE)}, "in": {2: moves(0, STORE, 64)}, "head": of_each(dict.fromkeys(range(4, 9), 1)), "store_reply": {6: {"error": 1}}}
    with pytest.raises(AssertionError, match="a store failed: nothing responds at address 0x00000040"):
        device.play(fails, 9)
    device.play(fails, 9, {"dut.on_memory_error": "drop"})
    assert device.stat("stores") == device.stat("memory_errors") == 1


def test_replies_to_what_was_dropped(bench: Bench) -> None:
    """The place is another load's when the reply comes; tags say whose it is."""
    device = Wide(bench, "load_store_queue", PORTS)
    seen = device.play({
        "alloc": {0: alloc(LOAD, LOAD), 6: alloc(LOAD, first=1)}, "in": {2: moves(1, LOAD, 64), 8: moves(1, LOAD, 96)},
        "squash": {4: {"valid": 1, "age": 0}}, "memory_reply": {10: {"tag": 1, "data": 5}, 12: {"tag": 1 | 1 << 6, "data": 6}},
    }, 15)  # fmt: skip
    assert seen["memory_request"][9]["tag"] == 1 | 1 << 6
    assert completed(seen) == {1: (13, 0, 6)} and seen["room"][5:8] == [15, 15, 14]


def test_what_comes_with_a_squash(bench: Bench) -> None:
    """The address of what is dropped is for nobody, that of what is older counts."""
    device = Wide(bench, "load_store_queue", PORTS)
    for age, wanted in ((0, {0: (5, 1, 7)}), (1, {})):
        seen = device.play({"alloc": {0: alloc(STORE, STORE)}, "in": {4: moves(age, STORE, 64, 7)}, "squash": {4: {"valid": 1, "age": 0}}}, 8)
        assert completed(seen) == wanted and seen["room"][5] == 15 and device.stat("squashed") == 1


def test_faults(bench: Bench) -> None:
    device = Wide(bench, "load_store_queue", PORTS)
    seen = device.play({
        "alloc": {0: alloc(LOAD, STORE, LOAD)}, "in": {2: moves(0, LOAD, 66), 3: moves(1, STORE, 65), 4: moves(2, LOAD, 1 << 20)}, "memory_reply": {5: {"tag": 2, "error": 1}},
    }, 8)  # fmt: skip
    faults = {one["age"]: (one["fault"], one["target"]) for lane in range(3) for one in completions(seen[f"done[{lane}]"]) if one["valid"]}
    assert faults == {0: ("unaligned", 66), 1: ("unaligned", 65), 2: ("access", 1 << 20)}


@seldom
def test_what_is_not_cacheable_waits_until_it_is_oldest(bench: Bench) -> None:
    """And until the stores before it are in memory; what is younger and cacheable goes first."""
    device = Wide(bench, "load_store_queue", PORTS, "cacheable = <<< return address < 0x1000; >>>;")
    seen = device.play({
        "alloc": {0: alloc(STORE, LOAD, LOAD)}, "in": {2: moves(0, STORE, 0x2000, 1), 3: moves(1, LOAD, 0x2004), 4: moves(2, LOAD, 64)},
        "head": of_each(dict.fromkeys(range(7, 15), 1)), "memory_reply": {5: {"tag": 2}, 12: {"tag": 1}}, "store_reply": {10: {}},
    }, 15)  # fmt: skip
    assert [(cycle, one["address"]) for cycle, one in enumerate(seen["memory_request"]) if one] == [(5, 64), (11, 0x2004)]


def part_of(part: str, big: bool, address: int) -> tuple[int, int]:
    """Where the bytes begin that a load or store of a part of a word moves, and how many they are."""
    offset = address & 3
    return (address, 4 - offset) if (part == "left") == big else (address - offset, offset + 1)


@seldom
@pytest.mark.parametrize("big", sampled([False, True], 2, 1), ids=["little", "big"])
def test_parts_of_words(big: bool, bench: Bench) -> None:
    """A load leaves the rest of its register; a store writes the left or the right bytes of its own."""
    device = Wide(bench, "load_store_queue", PORTS, f"word_parts = true; big_endian = {str(big).lower()};")
    for part in ("left", "right"):
        for offset in range(4):
            load, store = LOAD | {"part": part}, STORE | {"part": part}
            first, count = part_of(part, big, 64 + offset)
            number = int("81927364"[: 2 * count], 16)
            seen = device.play({
                "alloc": {0: alloc(load, store)}, "in": {2: moves(0, load, 64 + offset, 0xAABBCCDD), 3: moves(1, store, 128 + offset, 0x11223344)},
                "memory_reply": {3: {"tag": 0, "data": number}}, "head": of_each(dict.fromkeys(range(6, 12), 2)), "store_reply": {8: {}},
            }, 10)  # fmt: skip
            request, rest = seen["memory_request"][3], 8 * (4 - count)
            assert (request["address"], request["size"]) == (first, count)
            kept = 0xAABBCCDD & ((1 << rest) - 1 if part == "left" else ~((1 << 8 * count) - 1))
            assert completed(seen)[0][2] == (number << rest | kept if part == "left" else number | kept)
            write = next(one for one in seen["store_request"] if one)
            stored = 0x11223344 >> rest if part == "left" else 0x11223344 & (1 << 8 * count) - 1
            assert (write["address"], write["size"], write["data"]) == (first + 64, count, stored)
            assert completed(seen)[1][2] == stored


@seldom
def test_overlaps_in_the_other_byte_order(bench: Bench) -> None:
    device = Wide(bench, "load_store_queue", PORTS, "big_endian = true;")
    for size, offset, n, sign in OVERLAPS:
        if offset < 0 or offset + n > size:
            continue
        load = LOAD | {"size": n, "sign": int(sign)}
        seen = device.play({"alloc": {0: alloc(STORE | {"size": size}, load)}, "in": {2: moves(0, STORE | {"size": size}, 64, 0x8182C3F4), 6: moves(1, load, 64 + offset)}}, 10)
        stored = 0x8182C3F4 & (1 << 8 * size) - 1
        assert completed(seen)[1] == (8, 2, value_read(stored >> 8 * (size - n - offset), n, sign)), f"store of {size}, load of {n} at {offset}"


LINKED, CONDITIONAL, LINK_TAG = {"kind": "linked", "size": 4}, {"kind": "conditional", "size": 4}, 1 << 22


@seldom
def test_a_load_linked_and_a_store_conditional(bench: Bench) -> None:
    """Each goes when it is the oldest and no store is under way; loads behind the store wait until it was decided, and then find in memory
    what there is: nothing is forwarded."""
    after = collect("dut", "conditional(address, data, stored, context)")
    device = Wide(bench, "load_store_queue", PORTS, "links = true;", after=after)
    operations = alloc(STORE, LINKED, CONDITIONAL, LOAD)
    for number in (1, 2):
        operations["op"][number]["dest"] = 40 + number
    seen = device.play({
        "alloc": {0: operations},
        "in": {2: moves(0, STORE, 64, 5), 3: moves(1, LINKED, 64) | {"dest": 41}, 4: moves(2, CONDITIONAL, 64, 9) | {"dest": 42}, 5: moves(3, LOAD, 64)},
        "head": of_each(dict.fromkeys(range(7, 15), 1) | dict.fromkeys(range(15, 30), 2)), "store_reply": {10: {}},
        "memory_reply": {13: {"tag": LINK_TAG, "data": 5}, 20: {"tag": LINK_TAG, "data": 1}, 22: {"tag": 3, "data": 9}},
    }, 26)  # fmt: skip
    requests = [(cycle, one["op"], one["tag"], one["data"]) for cycle, one in enumerate(seen["memory_request"]) if one]
    assert requests == [(11, "load_linked", LINK_TAG, 0), (16, "store_conditional", LINK_TAG, 9), (21, "read", 3, 0)]
    assert completed(seen) == {0: (3, 1, 5), 1: (14, 0, 5), 2: (21, 0, 1), 3: (23, 0, 9)}
    assert [cycle for cycle, one in enumerate(seen["wakes"]) if one == registers(42)] == [20], "nothing is promised"
    assert happened(device.ran, "conditional") == [(20, 64, 9, 1, 0)]


@seldom
def test_a_store_conditional_of_no_register_is_decided_once(bench: Bench) -> None:
    """Memory replies in the cycle of the request, and what it refuses is offered on."""
    device = Wide(bench, "load_store_queue", PORTS, "links = true;")
    seen = device.play({"alloc": {0: alloc(CONDITIONAL)}, "in": {2: moves(0, CONDITIONAL, 64, 9)}, "memory_reply": {3: {"tag": LINK_TAG, "data": 0}}}, 8)
    assert [cycle for cycle, one in enumerate(seen["memory_request"]) if one] == [3] and completed(seen) == {0: (4, 0, 0)}


BARRIER, BARRIER_TAG = {"kind": "barrier", "size": 1}, 1 << 23


@seldom
def test_a_barrier(bench: Bench) -> None:
    """It goes when it is the oldest and no store is under way, and loads behind it when memory has replied."""
    device = Wide(bench, "load_store_queue", PORTS, "barriers = true;")
    seen = device.play({
        "alloc": {0: alloc(STORE, BARRIER, LOAD)}, "in": {2: moves(0, STORE, 64, 5), 3: moves(1, BARRIER, 0), 4: moves(2, LOAD, 96)},
        "head": of_each(dict.fromkeys(range(7, 30), 1)), "store_reply": {10: {}}, "memory_reply": {13: {"tag": BARRIER_TAG}, 16: {"tag": 2, "data": 9}},
    }, 20)  # fmt: skip
    requests = [(cycle, one["op"], one["tag"]) for cycle, one in enumerate(seen["memory_request"]) if one]
    assert requests == [(11, "barrier", BARRIER_TAG), (14, "read", 2)]
    assert completed(seen) == {0: (3, 1, 5), 1: (14, 0, 0), 2: (17, 0, 9)}
    assert (device.stat("barriers"), device.stat("loads"), device.stat("stores")) == (1, 1, 1)


def test_a_barrier_that_is_dropped_or_replied_to_at_once(bench: Bench) -> None:
    device = Wide(bench, "load_store_queue", PORTS, "barriers = true;")
    seen = device.play({"alloc": {0: alloc(LOAD, BARRIER)}, "in": {2: moves(1, BARRIER, 0)}, "squash": {5: {"valid": 1, "age": 0}}, "head": of_each(dict.fromkeys(range(7, 12), 1))}, 12)
    assert not any(seen["memory_request"]) and seen["room"][6] == 15
    seen = device.play({"alloc": {0: alloc(BARRIER)}, "in": {2: moves(0, BARRIER, 0)}, "memory_reply": {3: {"tag": BARRIER_TAG}}}, 8)
    assert [cycle for cycle, one in enumerate(seen["memory_request"]) if one] == [3] and completed(seen) == {0: (4, 0, 0)}
    seen = device.play({"alloc": {0: alloc(BARRIER)}, "in": {2: moves(0, BARRIER, 0)}, "memory_reply": {3: {"tag": BARRIER_TAG, "error": 1}}}, 8)
    assert [one["fault"] for one in completions(seen["done[0]"]) if one["valid"]] == ["access"]


@pytest.mark.parametrize(("body", "lanes", "message"), [
    ("list = 24;", 3, "an active list needs a power-of-two number of entries, not 24"), ("buffer = 3;", 3, "the buffer of committed stores needs a power-of-two number of entries, not 3"),
    ("", 2, "loads and stores complete on 3 lanes, not 2"),
])  # fmt: skip
def test_what_it_cannot_be(body: str, lanes: int, message: str, bench: Bench) -> None:
    text = f"import memory_types;\nimport wide_types;\ninstance dut : load_store_queue {{ {body} }};\n"
    ins = ("alloc", "in", "memory.reply", "store.reply", "squash", "head")
    outs = ("memory.request", "store.request", "room", "store_room", *["results"] * 4, *["done"] * lanes, "wakes", "cancel")
    text += "".join(f"instance s{i} : source; s{i}.out -> dut.{p};\n" for i, p in enumerate(ins))
    text += "".join(f"instance k{i} : sink; dut.{p} -> k{i}.in;\n" for i, p in enumerate(outs))
    assert message in bench.refuse(text)


VIRTUAL = PORTS | {"translation.query": ("out", 1, "address_query"), "translation.reply": ("in", 1, "address_reply"), "drained": ("out", 1, "bool")}
TWICE = {"plain": 1, "physical": 0x40}


@seldom
def test_addresses_that_are_translated(bench: Bench) -> None:
    """In the cycle in which they arrive: a load finds the store of another address that is the same memory, and memory sees physical ones."""
    device = Wide(bench, "load_store_queue", VIRTUAL)
    seen = device.play({
        "alloc": {0: alloc(STORE, LOAD, LOAD)}, "in": {2: moves(0, STORE, 0x2040, 77), 3: moves(1, LOAD, 0x7040), 4: moves(2, LOAD, 0x7080)},
        "translation_reply": {2: TWICE, 3: TWICE, 4: {"plain": 1, "physical": 0x80}}, "head": of_each(dict.fromkeys(range(8, 12), 1)), "store_reply": {10: {}},
    }, 12)  # fmt: skip
    assert [one and (one["address"], one["writes"]) for one in seen["translation_query"][2:6]] == [(0x2040, 1), (0x7040, 0), (0x7080, 0), None]
    assert completed(seen)[1] == (5, 2, 77) and [one["address"] for one in seen["memory_request"] if one][0] == 0x80
    stored = next(one for one in completions(seen["done[1]"]) if one["valid"])
    assert stored["target"] == 0x2040, "what is reported of it is what the program says"
    assert [(cycle, one["address"]) for cycle, one in enumerate(seen["store_request"]) if one] == [(9, 0x40)]
    assert seen["drained"] == [1] * 8 + [0, 0, 0, 1], "from the cycle in which the list shows that the store was committed, before it is in the buffer"


@seldom
@pytest.mark.parametrize("control", [LOAD, STORE])
def test_what_is_not_plain_is_left_to_others(control: dict, bench: Bench) -> None:
    """Nothing is done about it here, and it is no store that younger loads wait for; so with what `cacheable` does not allow."""
    for body, answer in (("", {"plain": 0, "physical": 0x40}), ("cacheable = <<< return address < 0x20; >>>;", TWICE)):
        device = Wide(bench, "load_store_queue", VIRTUAL, body)
        seen = device.play({
            "alloc": {0: alloc(control, LOAD)}, "in": {2: moves(0, control, 0x2040, 77), 3: moves(1, LOAD, 0x7010)},
            "translation_reply": {2: answer, 3: {"plain": 1, "physical": 0x10}}, "memory_reply": {4: {"tag": 1, "data": 5}}, "head": of_each(dict.fromkeys(range(6, 12), 2)),
        }, 12)  # fmt: skip
        assert [one["fault"] for one in completions(seen["done[1]"]) if one["valid"]] == ["serial"] and completed(seen)[1] == (5, 0, 5)
        assert [one["address"] for one in seen["memory_request"] if one] == [0x10] and not any(seen["store_request"])
        assert seen["room"][-1] == 16 and all(seen["drained"])


@seldom
def test_loads_that_others_overtake(bench: Bench) -> None:
    """Those that have read, or were sent to, bytes that somebody else writes, until they are committed; not those that wait, and not for one's own
    writes."""
    ports = VIRTUAL | {"written": ("in", 2, "mem_snoop"), "overtaken": ("out", 1, "context_places")}
    device = Wide(bench, "load_store_queue", ports, "is_own_write = <<< return tag == 7; >>>;")
    addresses = {2: (0, 64), 3: (1, 80), 4: (2, 96), 5: (3, 112)}
    written = {6: (66, 1, 1), 7: (80, 4, 7), 8: (76, 4, 1), 10: (84, 64, 1), 12: (96, 4, 1), 14: (112, 4, 1)}
    seen = device.play({
        "alloc": {0: alloc(LOAD, LOAD, LOAD, LOAD)}, "in": {cycle: moves(age, LOAD, address) for cycle, (age, address) in addresses.items()},
        "translation_reply": {cycle: {"plain": 1, "physical": address} for cycle, (_, address) in addresses.items()},
        "memory_reply": {3: {"tag": 0}, 4: {"tag": 1}}, "written[1]": {cycle: {"address": a, "size": n, "tag": tag} for cycle, (a, n, tag) in written.items()},
        "written[0]": {7: {"address": 96, "size": 4, "tag": 1}}, "head": of_each({cycle: 0 if cycle < 13 else 4 for cycle in range(16)}),
    }, 16)  # fmt: skip
    assert {cycle: places for cycle, places in enumerate(only(seen["overtaken"])) if places} == {7: 1, 8: 4, 11: 12, 13: 4}


SHARED = PORTS | {"head": ("in", 1, "context_numbers(2)")}


def two(*ops: tuple[int, dict]) -> dict:
    """(age, control) each; the lowest bit of an age is the context."""
    return renamed_group(*(renamed(age, control, dest=40 + age if control["kind"] == "load" else 0) for age, control in ops))


def heads(*changes: tuple[int, int, int], cycles: int = 40) -> dict[int, object]:
    """(cycle, age of the oldest of one context, of the other) each: from that cycle on."""
    found: dict[int, object] = {}
    for cycle, first, second in ((0, 0, 1), *changes):
        found |= {k: {"of": [first, second]} for k in range(cycle, cycles)}
    return found


@seldom
def test_a_store_is_no_other_context_s(bench: Bench) -> None:
    """Neither waited for, nor forwarded: what a load of another context reads is in memory."""
    device = Wide(bench, "load_store_queue", SHARED, "contexts = 2;")
    seen = device.play({
        "alloc": {0: two((0, STORE), (1, LOAD), (2, LOAD), (4, STORE))}, "in": {2: moves(1, LOAD, 64), 4: moves(0, STORE, 64, 7), 5: moves(2, LOAD, 64)}, "head": heads(),
        "memory_reply": {3: {"tag": 1 << 19, "data": 5}},
    }, 10)  # fmt: skip
    assert completed(seen) == {1: (4, 0, 5), 0: (5, 1, 7), 2: (7, 2, 7)}


@seldom
def test_committed_stores_of_both_contexts(bench: Bench) -> None:
    """Share the buffer, and each forwards from its own."""
    device = Wide(bench, "load_store_queue", SHARED, "contexts = 2; buffer = 4;")
    seen = device.play({
        "alloc": {0: two((0, STORE), (1, STORE)), 6: two((2, LOAD), (3, LOAD))}, "in": {2: moves(0, STORE, 64, 7), 3: moves(1, STORE, 64, 8), 8: moves(2, LOAD, 64), 9: moves(3, LOAD, 64)},
        "head": heads((5, 2, 3)),
    }, 14)  # fmt: skip
    assert seen["store_room"][7] == 2 and seen["store_request"][6]["tag"] == 0 and {age: value for age, (_, _, value) in completed(seen).items()} == {0: 7, 1: 8, 2: 7, 3: 8}


@seldom
def test_a_squash_of_loads_is_of_one_context(bench: Bench) -> None:
    """Replies to the other's are still wanted, and places of both are free again."""
    device = Wide(bench, "load_store_queue", SHARED, "contexts = 2; entries = 4;")
    seen = device.play({
        "alloc": {0: two((0, LOAD), (1, LOAD), (2, LOAD), (3, LOAD))}, "in": {2: moves(2, LOAD, 64), 3: moves(3, LOAD, 72)}, "head": heads(),
        "squash": {6: {"valid": 1, "age": 0}}, "memory_reply": {8: {"tag": 1, "data": 1}, 9: {"tag": 1 << 19 | 1, "data": 2}},
    }, 12)  # fmt: skip
    assert completed(seen) == {3: (10, 0, 2)} and seen["room"][6:8] == [0, 1]


@seldom
def test_contexts_take_turns(bench: Bench) -> None:
    """One load goes in a cycle, of that context which did not go last; and addresses may lie elsewhere for each."""
    device = Wide(bench, "load_store_queue", SHARED, "contexts = 2; speculate = false; locate = <<< return address + 4096 * context; >>>;")
    loads = {2 + k: moves(age, LOAD, 64 + 4 * k) for k, age in enumerate((0, 2, 1, 3))}
    waits = {"alloc": {0: two((0, LOAD), (2, LOAD), (1, LOAD), (3, LOAD))}, "in": loads, "head": heads()}
    seen = device.play(waits, 9)
    assert [(one["address"], one["tag"]) for one in seen["memory_request"] if one] == [(64, 0), (68, 1), (4096 + 72, 1 << 19), (4096 + 76, 1 << 19 | 1)]


@seldom
def test_no_load_goes_while_a_barrier_is_refused(bench: Bench) -> None:
    """Not even of another context, so that what it waits for comes to an end; and each context has one of its own."""
    device = Wide(bench, "load_store_queue", SHARED, "contexts = 2; barriers = true; speculate = false;")
    seen = device.play({
        "alloc": {0: two((0, LOAD), (1, BARRIER), (2, BARRIER))}, "in": {3: moves(1, BARRIER, 0), 4: moves(0, LOAD, 64), 5: moves(2, BARRIER, 0)}, "head": heads((16, 2, 1)),
        "memory_reply": {9: {"tag": 1 << 19 | BARRIER_TAG}, 13: {"tag": 0, "data": 3}, 21: {"tag": BARRIER_TAG}},
    }, 24, {"memory_request_sink[0].pattern": "0001"})  # fmt: skip
    offered = [(cycle, one["op"], one["tag"]) for cycle, one in enumerate(seen["memory_request"]) if one]
    assert offered == [(cycle, "barrier", 1 << 19 | BARRIER_TAG) for cycle in range(4, 8)] + [(cycle, "read", 0) for cycle in range(8, 12)] + [(cycle, "barrier", BARRIER_TAG) for cycle in range(17, 20)]
    assert completed(seen) == {1: (10, 0, 0), 0: (14, 0, 3), 2: (22, 0, 0)}


@seldom
@pytest.mark.parametrize("late", [False, True])
def test_links_are_of_a_context(late: bool, bench: Bench) -> None:
    """Each has a tag of its own, and waits for the stores of its own context only."""
    after = collect("dut", "conditional(address, data, stored, context)")
    device = Wide(bench, "load_store_queue", SHARED, "contexts = 2; links = true;", after=after)
    operations = two((0, STORE), (1, CONDITIONAL))
    operations["op"][1]["dest"] = 41
    seen = device.play({
        "alloc": {0: operations}, "in": {2: moves(0, STORE, 64, 5), 3: moves(1, CONDITIONAL, 96, 9) | {"dest": 41}},
        "head": heads((5, 2, 1)), "memory_reply": {(9 if late else 4): {"tag": LINK_TAG | 1 << 19, "data": 1}},
    }, 14)  # fmt: skip
    assert seen["memory_request"][4]["op"] == "store_conditional" and happened(device.ran, "conditional") == [(9 if late else 4, 96, 9, 1, 1)]


@seldom
def test_stores_of_other_contexts_overtake_loads(bench: Bench) -> None:
    """From the cycle in which memory takes a store to that of its reply: loads of others that have read there, or are sent there meanwhile; not its own.
    What others write to memory overtakes loads of all; but not what executes alone, such as the last one, which is not aligned."""
    ports = VIRTUAL | SHARED | {"written": ("in", 1, "mem_snoop"), "overtaken": ("out", 1, "context_places(2)"), "drained": ("out", 4, "bool")}
    device = Wide(bench, "load_store_queue", ports, "contexts = 2; is_own_write = <<< return true; >>>;", after=collect("dut", "stored(address, size, data, last, context)"))
    addresses = {2: (0, STORE, 64, 7), 3: (2, LOAD, 64, 0), 4: (1, LOAD, 64, 0), 5: (3, LOAD, 80, 0), 9: (5, LOAD, 64, 0), 10: (7, LOAD, 66, 0)}
    seen = device.play({
        "alloc": {0: two((0, STORE), (2, LOAD), (1, LOAD), (3, LOAD)), 1: two((5, LOAD), (7, LOAD))}, "in": {cycle: moves(age, control, at, value) for cycle, (age, control, at, value) in addresses.items()},
        "translation_reply": {cycle: {"plain": 1, "physical": at} for cycle, (_, _, at, _) in addresses.items()}, "memory_reply": {5: {"tag": 1 << 19}, 6: {"tag": 1 << 19 | 1}},
        "head": heads((7, 2, 1)), "store_reply": {12: {}}, "written": {15: {"address": 80, "size": 4, "tag": 0xFFFFFFFF}, 16: {"address": 80, "size": 4, "tag": 3}},
    }, 20)  # fmt: skip
    shown = {cycle: one["of"] for cycle, one in enumerate(seen["overtaken"]) if any(one["of"])}
    assert [bool(one) for one in seen["store_request"]].index(True) == 8 and shown[9] == [0, 1] and shown[13] == [0, 0b101] and shown[16] == [0, 0b10]
    assert set(shown) <= {*range(9, 14), 16}, "a write of many, whose tag is all ones, is nobody's own; one's own overtakes nothing"
    stored = happened(device.ran, "stored")
    assert (stored[0], stored[-1]) == ((8, 64, 4, 7, 0, 0), (12, 64, 4, 7, 1, 0)) and {one[-2] for one in stored[:-1]} == {0}
    for lane in range(4):
        assert [cycle for cycle, one in enumerate(seen[f"drained[{lane}]"]) if not one] == ([] if lane % 2 else list(range(7, 13)))
    assert [one["context"] for one in seen["translation_query"] if one] == [0, 0, 1, 1, 1, 1]
