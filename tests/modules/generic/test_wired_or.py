"""wired_or: the output is the level of all lines together, in the same cycle."""

from tests.modules.harness import Bench, Device


def wired_or(bench: Bench, lanes: int) -> Device:
    return Device(bench, "wired_or", {"in": ("in", lanes, "bool"), "out": ("out", 1, "bool")})


def test_any_line_raises_the_output(bench: Bench) -> None:
    """A line without a level is low; what is refused or cancelled is so for all lines."""
    wired_or(bench, 3).check_table(
        """
        in[0] | in[1] | in[2] | out   | out.ack | in[0].ack | in[1].ack | out.enable
        false | false | false | false | 1       | 1         | 1         | 1
        true  | false | false | true  | 1       | 1         | 1         | 1
        false | true  | true  | true  | 1       | 1         | 1         | 1
        .     | false | true  | true  | 0       | -         | 0         | 0
        .     | false | true  | true  | 1       | -         | 1         | 1
        .     | .     | .     | false | 1       | -         | -         | 1
        false | true! | false | true  | 1       | 1         | 1         | 0
        """
    )


def test_one_output(bench: Bench) -> None:
    text = "instance s : source { count = 0; }; instance o : wired_or; instance a : sink; instance b : sink; s.out -> o.in : bool; o.out -> a.in; o.out -> b.in;"
    assert "a wired or has one output: put a tee after it" in bench.refuse(text)
