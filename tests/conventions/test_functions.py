"""Functions stay short, in C and in Python: 80 lines are the limit, a screen is the aim."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.conventions.test_tree import ROOT, sources

LIMIT = 80
# The yardstick that simulators are measured against: written the other way, one function for a whole machine.
MONOLITH = Path("tests/bench/monolith")


def functions_of_c(text: str) -> Iterator[tuple[str, int]]:
    """Names and lengths of the functions: what stands in the first column, ends with `) {` and goes on to a `}` there.

    The head may take several lines and lies between a blank, a comment or the end of something else, and the brace.
    Tables, types and enumerations have no parenthesis before theirs.
    """
    head, first, begun = "", 0, False
    for number, line in enumerate(text.splitlines(), 1):
        if begun:
            if line.startswith("}"):
                yield re.sub(r"\(.*", "", re.sub(r"__attribute__\(\(.*?\)\)", "", head)).split()[-1].lstrip("*"), number - first + 1
                begun, head = False, ""
        elif not line.strip() or line.startswith(("//", "/*", " *", "#", "}", "\t")):
            head = ""
        elif head or not line.startswith(" "):
            first = first if head else number
            head += " " + line.strip()
            if head.endswith(("{", "}", ";")):
                begun = re.search(r"\)\s*\{$", head) is not None
                head = head if begun else ""


def functions_of_python(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1


def test_functions_stay_short() -> None:
    long, seen = [], {".c": 0, ".h": 0, ".py": 0}
    for path in sources(*seen):
        if MONOLITH in path.parents:
            continue
        count = functions_of_python if path.suffix == ".py" else functions_of_c
        for name, lines in count((ROOT / path).read_text()):
            seen[path.suffix] += 1
            if lines > LIMIT:
                long.append(f"{path}: {name} has {lines} lines")
    assert seen[".c"] > 2000 and seen[".h"] > 200 and seen[".py"] > 1000, seen
    assert not long, "functions of more than 80 lines:\n" + "\n".join(long)


def test_functions_are_counted() -> None:
    text = """// A function in a comment() {
static const int table[] = {
  1,
};
struct shape {
  int a;
};
typedef struct {
  int a;
} shape;
static __attribute__((noinline)) int *one(int a,
                                          int b) {
  if (a) {
    return 0;
  }
}

static int short_one(void) { return 1; }
handler(show, i) {
  send(show, i);
}
"""
    assert list(functions_of_c(text)) == [("one", 6), ("handler", 3)]
    assert list(functions_of_python("class A:\n    def f(self):\n        x = 1\n        return x\n")) == [("f", 3)]
