"""return_stack: last in first out, overwritten where it is too small, set right by a redirect."""

from tests.modules.harness import Bench
from tests.modules.wide import Wide

PORTS = {"move": ("in", 1, "stack_move"), "redirect": ("in", 1, "fetch_redirect"), "top": ("out", 1, "stack_top")}


def push(link: int) -> dict[str, int]:
    return {"push": 1, "link": link}


def test_calls_and_returns(bench: Bench) -> None:
    device = Wide(bench, "return_stack", PORTS, "depth = 2;")
    seen = device.play({"move": {0: push(10), 1: push(20), 2: {"pop": 1}, 3: push(30), 4: push(40), 5: {"pop": 1}, 6: {"pop": 1}}}, 8)
    assert [one["address"] for one in seen["top"]] == [0, 10, 20, 10, 30, 40, 30, 40]  # 40 has the place of 10
    assert [one["top"] for one in seen["top"]] == [0, 1, 2, 1, 2, 3, 2, 1]
    assert device.stat("pushed") == 4


def test_a_redirect_restores_the_top(bench: Bench) -> None:
    """And goes before what fetch does in the same cycle; a redirect by a call pushes."""
    device = Wide(bench, "return_stack", PORTS, "depth = 4;")
    seen = device.play({
        "move": {0: push(10), 1: push(20), 2: push(30), 3: push(40)},
        "redirect": {3: {"valid": 1, "top": 1}, 4: {"valid": 1, "top": 1, "push": 1, "link": 50}, 5: {"valid": 0, "top": 3}},
    }, 7)  # fmt: skip
    assert [one["address"] for one in seen["top"]] == [0, 10, 20, 30, 10, 50, 50]


def test_depths_are_powers_of_two(bench: Bench) -> None:
    text = "import wide_types;\ninstance dut : return_stack { depth = 3; };\ninstance s : source; s.out -> dut.move;\n"
    text += "instance r : source; r.out -> dut.redirect; instance k : sink; dut.top -> k.in;"
    assert "a return stack needs a power-of-two number of entries, not 3" in bench.refuse(text)
    text = text.replace("depth = 3", "contexts = 2")
    assert "a return stack shows a top for each of 2 contexts, and is connected on 1 lanes" in bench.refuse(text)


def test_each_context_has_a_stack(bench: Bench) -> None:
    """Two are moved in a cycle; a redirect of one leaves the other as it is, and goes on with it."""
    device = Wide(bench, "return_stack", PORTS | {"move": ("in", 2, "stack_move"), "top": ("out", 2, "stack_top")}, "contexts = 2; depth = 4;")
    seen = device.play({
        "move[0]": {0: push(10), 1: push(11) | {"context": 1}, 3: push(30)}, "move[1]": {0: push(20) | {"context": 1}, 1: push(21), 2: {"pop": 1}, 3: push(40) | {"context": 1}},
        "redirect": {3: {"valid": 1, "context": 0, "top": 2, "push": 1, "link": 50}},
    }, 5)  # fmt: skip
    assert [one["address"] for one in seen["top[0]"]] == [0, 10, 21, 10, 50]
    assert [one["address"] for one in seen["top[1]"]] == [0, 20, 11, 11, 40]
    assert [one["top"] for one in seen["top[0]"]] == [0, 1, 2, 1, 3]
