"""change_detector: the first item, then what differs from the one before; refused changes are tried again while they are shown."""

from tests.modules.harness import Bench, Device

PORTS = {"in": ("in", 1, "uint32"), "out": ("out", 1, "uint32")}


def test_only_changes_pass(bench: Bench) -> None:
    Device(bench, "change_detector", PORTS).check_table("""
        in | in.ack | out | out.ack
        7  | 1      | 7   | 1
        7  | 1      | .   | 1
        .  | 1      | .   | 1
        7  | 1      | .   | 1
        0  | 1      | 0   | 1
        9  | 1      | 9   | 1
    """)


def test_a_refused_change_is_tried_again(bench: Bench) -> None:
    Device(bench, "change_detector", PORTS).check_table("""
        in | in.ack | out | out.ack
        5  | 1      | 5   | 0
        5  | 1      | 5   | 0
        5  | 1      | 5   | 1
        6  | 1      | 6   | 0
        5  | 1      | .   | 1
        8! | 1      | 8!  | 1
        8  | 1      | 8   | 1
        8  | 1      | .   | 1
    """)


def test_what_counts_and_what_differs_may_be_said(bench: Bench) -> None:
    """Odd numbers do not count, and the lowest nibble makes no difference."""
    body = "counts = <<< return item % 2 == 0; >>>; differs = <<< return item >> 4 != before >> 4; >>>;"
    Device(bench, "change_detector", PORTS, body).check_table("""
        in   | out  | out.ack
        1    | .    | 1
        0x12 | 18   | 1
        0x1e | .    | 1
        0x31 | .    | 1
        0x20 | 32   | 1
    """)


def test_random_values_arrive_as_their_changes(bench: Bench) -> None:
    """A slow receiver sees a subsequence without repetitions that ends with what is shown in the end."""
    device = Device(bench, "change_detector", PORTS, before="", after="")
    for seed in range(3):
        seen = device.stream(400, seed, offer=0.7, cancel=0.2, ready=0.6)
        shown = [int(line.value, 0) for line in seen["in", 0] if line.transferred and line.value is not None]
        passed = [int(line.value, 0) for line in seen["out", 0] if line.transferred and line.value is not None]
        assert passed and all(a != b for a, b in zip(passed, passed[1:])), f"seed {seed}"
        rest = iter(shown)
        assert all(value in rest for value in passed), f"seed {seed}"
