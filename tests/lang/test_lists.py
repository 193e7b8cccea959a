"""Lists are values: a variable that changes does not change another one, whoever holds the list; and that costs little."""

import re

import pytest

CHECK = "instance s : source;\ninstance k : sink;\ns.out -> k.in : uint32;\n"


@pytest.fixture
def values(lss, tmp_path):
    """values(statements, name, ...): the values of variables after statements."""

    def run(statements: str, *names: str, options: tuple[str, ...] = ()) -> list[str]:
        (tmp_path / "lists.lss").write_text(CHECK + statements + "".join(f'\nwarn("{name}: " + string({name}));' for name in names))
        done = lss("check", "--netlist-only", "lists.lss", *options)
        found = dict(re.findall(r"warning\[warn\]: (\w+): (.*)", done.err))
        return [found[name] for name in names]

    return run


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("var a = []; a = append(a, 1); var b = a; a = append(a, 2);", ["[1, 2]", "[1]"]),
        ("var a = [1]; a = append(a, 2); var b = a; b = append(b, 3); a[0] = 9;", ["[9, 2]", "[1, 2, 3]"]),
        ("var a = [1, 2]; a[0] = 5; var b = a; a[1] = 6; b = append(b, 7);", ["[5, 6]", "[5, 2, 7]"]),
        ("var a = []; a = append(a, 1); var b = [a, a]; a = append(a, 2);", ["[1, 2]", "[[1], [1]]"]),
        ("var b = [[], []]; b[0] = append(b[0], 1); var a = b[0]; a = append(a, 2);", ["[1, 2]", "[[1], []]"]),
        ("var a = [1]; a = append(a, a); var b = a[1];", ["[1, [1]]", "[1]"]),
        ("var a = [1]; a = append(a, 2); a = append(a, a[0] + a[1]); var b = length(a); a = append(a, b);", ["[1, 2, 3, 3]", "3"]),
        ("function f(x) { x = append(x, 1); x = append(x, 2); return x; }\nvar a = [0]; a = append(a, 0); var b = f(a);", ["[0, 0]", "[0, 0, 1, 2]"]),
        ("var a = []; a = append(a, 1); a = append(a, 2); var b = []; for (x in a) { a = append(a, x); b = append(b, x); }", ["[1, 2, 1, 2]", "[1, 2]"]),
        ("function g() { var own = []; own = append(own, 1); return own; }\nvar a = g(); var b = a; a = append(a, 2); b[0] = 3;", ["[1, 2]", "[3]"]),
        ("var a = [1]; a = append(a, 2); var b = true ? a : []; a[0] = 4;", ["[4, 2]", "[1, 2]"]),
        ("var a = [1]; a[0] = 2; var r = { x = a }; a[0] = 3; var b = r.x;", ["[3]", "[2]"]),
    ],
)
def test_other_holders_keep_what_they_have(values, statements: str, expected: list[str]) -> None:
    assert values(statements, "a", "b") == expected


def test_an_item_that_is_wrong(lss, tmp_path) -> None:
    (tmp_path / "lists.lss").write_text(CHECK + "var a = [1];\na = append(a, nothing);\n")
    done = lss("check", "--netlist-only", "lists.lss", ok=False)
    assert "there is no `nothing` here" in done.err and done.err.count("error[") == 1


def test_steps_grow_with_the_items(values) -> None:
    """A list that was copied for each item would take 32 million of them."""
    text = "var a = [];\nfor (i in range(8000)) { a = append(a, 0); }\nfor (i in range(8000)) { a[i] = a[i] + i; }\nvar b = a[7999];"
    assert values(text, "b", options=("--max-steps", "200000")) == ["7999"]
