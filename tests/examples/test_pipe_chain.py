"""examples/pipe_chain: latency and throughput are what a pencil says."""

import pytest


def taken(path) -> list[tuple[int, int]]:
    return [tuple(map(int, line.split())) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("stages, depth", [(1, 1), (8, 1), (3, 4)])
def test_an_item_spends_depth_cycles_in_each_stage(root, build_sim, run_sim, tmp_path, stages: int, depth: int) -> None:
    simulator = build_sim(root / "examples/pipe_chain/pipe_chain.lss", "-D", f"stages={stages}", "-D", f"depth={depth}")
    run_sim(simulator, "--cycles", 60, "--set", "consumer.record=taken.txt")
    first = stages * depth
    assert taken(tmp_path / "taken.txt") == [(first + k, k) for k in range(60 - first)]


def test_a_sink_that_refuses_loses_nothing(root, build_sim, run_sim, tmp_path) -> None:
    simulator = build_sim(root / "examples/pipe_chain/pipe_chain.lss")
    done = run_sim(simulator, "--cycles", 400, "--set", "consumer.ready=0.3", "--set", "consumer.record=taken.txt")
    items = [value for _, value in taken(tmp_path / "taken.txt")]
    assert items == list(range(len(items))) and len(items) == done.value("consumer", "items")
    assert 60 < len(items) < 180


def test_no_stage_is_an_error(root, lss) -> None:
    done = lss("check", root / "examples/pipe_chain/pipe_chain.lss", "-D", "stages=0", ok=False)
    assert "a chain has at least one stage" in done.err
