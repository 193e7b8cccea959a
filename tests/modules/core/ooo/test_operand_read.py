"""operand_read: values a cycle after the grant, from results before the register file; what was promised in vain is dropped."""

from tests.modules.harness import Bench
from tests.modules.wide import Wide, registers

PORTS = {
    "in": ("in", 2, "issued"), "registers.numbers": ("out", 2, "register_numbers"), "registers.values": ("in", 2, "register_values"),
    "list.age": ("out", 2, "uint32"), "list.value": ("in", 2, "execution"), "out": ("out", 2, "operands"), "results": ("in", 3, "result"),
    "squash": ("in", 1, "squash_order"), "cancel": ("in", 1, "register_set"), "cancelled": ("out", 2, "register_set"),
}  # fmt: skip


def grant(age: int, source: tuple[int, int], dest: int) -> dict[str, object]:
    return {"age": age, "source": list(source), "dest": dest}


def test_values(bench: Bench) -> None:
    device = Wide(bench, "operand_read", PORTS)
    seen = device.play({
        "in[0]": {0: grant(5, (7, 0), 40), 1: grant(6, (8, 9), 41)}, "in[1]": {1: grant(7, (0, 50), 0)},
        "registers_values[0]": {1: {"of": [77, 3]}, 2: {"of": [88, 99]}}, "registers_values[1]": {2: {"of": [4, 700]}},
        "list_value[0]": {1: {"pc": 100, "immediate": 1}, 2: {"pc": 104}}, "list_value[1]": {2: {"pc": 108}},
        "results[0]": {1: {"dest": 7, "value": 1000}}, "results[1]": {2: {"dest": 9, "value": 2000}}, "results[2]": {2: {"dest": 50, "value": 3000}},
    }, 4)  # fmt: skip
    assert seen["registers_numbers[0]"] == [None, {"of": [7, 0]}, {"of": [8, 9]}, None]
    assert seen["list_age[0]"] == [None, 5, 6, None] and seen["list_age[1]"] == [None, None, 7, None]
    first, second = seen["out[0]"], seen["out[1]"]
    assert [one and (one["op"]["pc"], one["age"], one["dest"], one["value"]) for one in first] == [
        None, (100, 5, 40, [1000, 0]), (104, 6, 41, [88, 2000]), None,
    ]  # fmt: skip
    assert first[1]["op"]["immediate"] == 1 and second[2]["value"] == [0, 3000] and second[1] is None


def test_squash_of_what_was_just_granted(bench: Bench) -> None:
    device = Wide(bench, "operand_read", PORTS)
    seen = device.play({"in[0]": {0: grant(5, (1, 2), 40)}, "in[1]": {0: grant(6, (1, 2), 41)}, "squash": {0: {"valid": 1, "age": 5}}}, 2)
    assert seen["out[0]"][1] is not None and seen["out[1]"][1] is None


def test_promises_in_vain(bench: Bench) -> None:
    """What reads a cancelled register is dropped, and its own register is cancelled with it; register 0 never is."""
    device = Wide(bench, "operand_read", PORTS)
    seen = device.play({
        "in[0]": {0: grant(5, (50, 2), 41), 1: grant(6, (50, 0), 0), 2: grant(7, (3, 4), 44)}, "in[1]": {0: grant(6, (2, 3), 42)},
        "cancel": {1: registers(50), 2: registers(50), 3: registers(60)},
    }, 4)  # fmt: skip
    assert seen["out[0]"][1] is None and seen["out[1]"][1]["age"] == 6 and seen["out[0]"][2] is None and seen["out[0]"][3]["age"] == 7
    for lane in range(2):
        assert seen[f"cancelled[{lane}]"] == [registers(), registers(50, 41), registers(50), registers(60)]


def test_a_squash_is_of_one_context(bench: Bench) -> None:
    """And registers may have numbers beyond those of one word."""
    ports = PORTS | {name: (PORTS[name][0], PORTS[name][1], "register_set(8)") for name in ("cancel", "cancelled")}
    device = Wide(bench, "operand_read", ports, "contexts = 8; physical = 512;")
    grants = {"in[0]": {0: grant(8 * 5 + 3, (1, 2), 400), 1: grant(8 * 9 + 2, (500, 3), 300)}, "in[1]": {0: grant(8 * 7 + 4, (1, 2), 401)}}
    seen = device.play(grants | {"squash": {0: {"valid": 1, "age": 8 * 4 + 3}}, "cancel": {2: registers(500, words=8)}}, 3)
    assert seen["out[0]"][1] is None and seen["out[1]"][1]["age"] == 8 * 7 + 4 and seen["out[0]"][2] is None
    assert seen["cancelled[0]"][2] == registers(300, 500, words=8)
