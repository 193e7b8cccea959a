"""examples/arbiter: the user's policy decides who gets the resource."""

from collections import Counter


def winners(path, requesters: int) -> list[int]:
    return [int(line.split()[1]) % requesters for line in path.read_text().splitlines()]


def test_round_robin_takes_turns(root, build_sim, run_sim, tmp_path) -> None:
    simulator = build_sim(root / "examples/arbiter/arbiter.lss")
    run_sim(simulator, "--cycles", 101, "--set", "consumer.record=taken.txt")
    assert winners(tmp_path / "taken.txt", 4) == [k % 4 for k in range(100)]


def test_round_robin_skips_who_does_not_ask(root, build_sim, run_sim, tmp_path) -> None:
    simulator = build_sim(root / "examples/arbiter/arbiter.lss")
    run_sim(simulator, "--cycles", 301, "--set", "requester[2].count=0", "--set", "consumer.record=taken.txt")
    assert Counter(winners(tmp_path / "taken.txt", 4)) == {0: 100, 1: 100, 3: 100}


def test_fixed_priority_starves(root, build_sim, run_sim, tmp_path) -> None:
    simulator = build_sim(root / "examples/arbiter/arbiter.lss", "-D", "fair=false")
    run_sim(simulator, "--cycles", 101, "--set", "consumer.record=taken.txt")
    assert set(winners(tmp_path / "taken.txt", 4)) == {0}
