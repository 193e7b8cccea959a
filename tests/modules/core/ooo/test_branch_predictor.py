"""branch_predictor: its parts together learn loops, calls and returns; another module may predict directions."""

from pathlib import Path

from tests.modules.harness import Bench
from tests.modules.wide import Wide

PORTS = {"port.query": ("in", 1, "branch_query"), "port.fetched": ("in", 1, "bool"), "port.guess": ("out", 1, "branch_guess"), "train": ("in", 2, "branch_outcomes(4)"), "redirect": ("in", 1, "fetch_redirect")}


FETCHED = {"port_fetched": dict.fromkeys(range(20), 1)}


def asked(queries: dict[int, int]) -> dict[str, dict[int, object]]:
    """What is asked for in each cycle, and fetched."""
    return FETCHED | {"port_query": {cycle: {"pc": pc, "words": 4} for cycle, pc in queries.items()}}


def trained(*outcomes: dict[str, object]) -> dict[str, dict[int, object]]:
    """The same on both lanes, in cycles 0, 1, …"""
    return {f"train[{lane}]": dict(enumerate(outcomes)) for lane in range(2)}


def outcome(pc: int, target: int, kind: str, taken: bool = True) -> dict[str, object]:
    return {"count": 1, "pc": [pc], "target": [target], "kind": [kind], "taken": [taken]}


def test_a_loop_is_learned(bench: Bench) -> None:
    """Two times taken, and it is predicted so."""
    device = Wide(bench, "branch_predictor", PORTS)
    once = outcome(0x108, 0x100, "conditional")
    seen = device.play(trained(once, once) | asked(dict.fromkeys(range(4), 0x100)), 4)["port_guess"]
    assert [(one["count"], one["next"]) for one in seen] == [(4, 0x110), (4, 0x110), (3, 0x100), (3, 0x100)]


def test_returns_go_where_calls_came_from(bench: Bench) -> None:
    device = Wide(bench, "branch_predictor", PORTS)
    learned = trained(outcome(0x104, 0x400, "call"), outcome(0x204, 0x400, "call"), outcome(0x400, 0x108, "subroutine_return"))
    queries = {4: 0x100, 5: 0x400, 6: 0x200, 7: 0x400}
    seen = device.play(learned | asked(queries), 8)["port_guess"]
    assert [one["next"] for one in seen[4:]] == [0x400, 0x108, 0x400, 0x208]
    assert [one["top"] for one in seen[4:]] == [0, 1, 0, 1]


def test_directions_by_another_module(bench: Bench, tmp_path: Path) -> None:
    """Backward branches are taken, forward ones are not: a static predictor, as a user writes one."""
    (bench.directory / "forward_not_taken.lss").write_text(
        "import wide_types;\nmodule forward_not_taken {\n  parameter width = 4 : int;\n  inport port : direction;\n  inport train : branch_outcomes(width);\n"
        "  always port.query.ack, port.taken.enable, train.ack;\n  handler predict : port.query.data, port.query.enable -> port.taken.data;\n}\n"
    )
    (bench.directory / "forward_not_taken.c").write_text("handler(predict) {\n  send_if(port_taken, some(port_query), data(port_query).pc >= 0x1000 ? 0 : data(port_query).requested);\n}\n")
    device = Wide(bench, "branch_predictor", PORTS, "directions = forward_not_taken;")
    learned = trained(outcome(0x104, 0x400, "conditional"), outcome(0x1208, 0x400, "conditional"), outcome(0x1208, 0x400, "conditional"))
    seen = device.play(learned | asked({4: 0x100, 5: 0x1200}), 6)["port_guess"]
    assert [one["next"] for one in seen[4:]] == [0x400, 0x1210]
