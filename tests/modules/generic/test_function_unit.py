"""function_unit: the result of a userpoint in the same cycle; operands are taken together."""

import pytest

from tests.modules.harness import Bench, Device, moved

ADD = "apply = <<< return in.v[0] + in.v[1]; >>>;"


def test_operands_are_taken_together(bench: Bench) -> None:
    ports = {"in": ("in", 2, "uint32"), "out": ("out", 1, "uint32")}
    Device(bench, "function_unit", ports, ADD).check_table(
        """
        in[0] | in[1] | out | out.ack | in[0].ack | in[1].ack | out.enable
        1     | .     | .   | 1       | 0         | -         | -
        1     | 2     | 3   | 0       | 0         | 0         | 0
        1     | 2     | 3   | 1       | 1         | 1         | 1
        4!    | 5!    | 9   | 1       | 1         | 1         | 0
        """
    )


def test_a_control_of_another_type_and_missing_operands(bench: Bench) -> None:
    ports = {"in": ("in", 2, "uint32"), "control": ("in", 1, "bool"), "out": ("out", 1, "uint32")}
    body = "all = false; apply = <<< return control ? in.v[0] - in.v[1] : (uint32_t)present; >>>;"
    Device(bench, "function_unit", ports, body).check_table(
        """
        in[0] | in[1] | control | out | out.ack | out.enable
        9     | 2     | true    | 7   | 1       | 1
        9     | 2     | false   | 3   | 1       | 1
        .     | 2     | false   | 2   | 1       | 1
        9     | .     | true    | 9   | 1       | 1
        .     | .     | true    | 0   | 1       | 1
        9     | 2     | .       | 3   | 1       | 1
        .     | 2!    | .       | 2   | 1       | 0
        .     | .     | .       | .   | 1       | -
        """
    )


def controlled(bench: Bench) -> Device:
    ports = {"in": ("in", 2, "uint32"), "control": ("in", 1, "bool"), "out": ("out", 1, "uint32")}
    return Device(bench, "function_unit", ports, "apply = <<< return control ? in.v[0] - in.v[1] : in.v[0] + in.v[1]; >>>;")


def test_a_control_is_waited_for_and_committed_like_the_operands(bench: Bench) -> None:
    controlled(bench).check_table(
        """
        in[0] | in[1] | control | out | out.ack | in[0].ack | control.ack | out.enable
        9     | 2     | .       | .   | 1       | 0         | -           | -
        .     | 2     | true    | .   | 1       | -         | 0           | -
        9     | 2     | true    | 7   | 0       | 0         | 0           | 0
        9     | 2     | true    | 7   | 1       | 1         | 1           | 1
        9!    | 2!    | false!  | 11  | 1       | 1         | 1           | 0
        """
    )


@pytest.mark.parametrize("seed", range(3))
def test_results_follow_the_operands(bench: Bench, seed: int) -> None:
    ports = {"in": ("in", 2, "uint32"), "out": ("out", 1, "uint32")}
    seen = Device(bench, "function_unit", ports, ADD).stream(300, seed, offer=0.7, ready=0.7)
    out = [item for _, item in moved(seen["out", 0])]
    assert len(out) > 60 and out == [4 * k + 1 for k in range(len(out))]
    assert moved(seen["in", 0])[: len(out)] == [(cycle, 2 * k) for k, (cycle, _) in enumerate(moved(seen["out", 0]))]


def test_a_lost_operand_stops_the_run(bench: Bench) -> None:
    ports = {"in": ("in", 2, "uint32"), "out": ("out", 1, "uint32")}
    device = Device(bench, "function_unit", ports, ADD)
    files = {"a.txt": "0 1 cancel\n", "b.txt": "0 1\n"}
    ran = bench.run(
        device.simulator, 5, {"in_source[0].script": "a.txt", "in_source[1].script": "b.txt"}, files=files, ok=False
    )
    assert "one operand was cancelled while another was committed" in ran.err
    device = controlled(bench)
    settings = {"in_source[0].script": "a.txt", "in_source[1].script": "a.txt", "control_source[0].script": "b.txt"}
    ran = bench.run(device.simulator, 5, settings, files=files, ok=False)
    assert "one operand was cancelled while another was committed" in ran.err
