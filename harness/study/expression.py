"""Expressions of a study: numbers with units, statistics by path, arithmetic, comparisons, a few functions.

A scanner turns what Python cannot parse (`20 ns`, `cpu[*].misses`, `**.instructions`) into calls of two functions;
Python's own parser does the rest, and only what is in the tables below is accepted.  Nothing is ever executed.
A path with `*` or `**` is a list, one value for each match of the stars; the value of a measure is a
number, so a list goes through `sum` or its like.  `a or b` is b where a has no value.
"""

import ast
import difflib
import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from statistics import median
from typing import Any, Protocol

from harness import quantity
from harness.run import patterns

PART = r"(?:\*\*|\*|[A-Za-z_]\w*)(?:\[(?:\*|\d+)\])*"
TOKENS = re.compile(
    rf"""(?P<number>(?P<digits>{quantity.NUMBER})(?:\s*(?P<unit>{quantity.UNIT})(?!\w))?)(?![\w.])
    |(?P<path>{PART}(?:\.{PART})+)|(?P<string>"[^"\n]*"|'[^'\n]*')|(?P<word>[A-Za-z_]\w*)|(?P<open>[-(])""",
    re.VERBOSE,
)
OPERATORS = re.compile(r"==|!=|<=|>=|[-+*/<>,)(]|\b(?:and|or)\b")
BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


class ExpressionError(Exception):
    """An expression that cannot be read or has no sense; the text is one line without its place."""


class NoValue(ExpressionError):
    """Something that this run does not have: `or` gives another value instead."""


@dataclass(frozen=True)
class Values:
    """A list: a value for each thing that the stars of a path match."""

    keys: tuple[str, ...]
    values: tuple[float, ...]


class Reading(Protocol):
    """What an expression can ask of a run."""

    def statistic(self, path: str) -> "float | Values": ...
    def events(self, path: str) -> float: ...
    def cycles(self, clock: str) -> float: ...
    def time(self) -> float: ...
    def parameter(self, path: str) -> Any: ...
    def name(self, name: str) -> Any: ...
    def published(self, measure: str) -> float: ...
    def settled(self, measure: str, within: float) -> float: ...
    def printed(self, pattern: str, console: str) -> "float | str": ...


def _percentile(values: list[float], percent: float) -> float:
    """The smallest value that so many percent of the list do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered) - 1, -(-len(ordered) * percent // 100) - 1 if percent else 0).__int__())]


def _only(values: list[float]) -> float:
    if len(values) != 1:
        raise ExpressionError(f"only() of {len(values)} values")
    return values[0]


LISTS: dict[str, Callable] = {
    "sum": sum, "min": min, "max": max, "mean": lambda values: sum(values) / len(values), "median": median,
    "count": len, "percentile": _percentile, "only": _only,
}  # fmt: skip
SEVERAL = {"min", "max"}  # of a list, or of two values or more
NUMBERS: dict[str, Callable] = {"sqrt": math.sqrt}
QUERIES = {"cycles": 1, "events": 1, "param": 1, "published": 1, "settled": 2}
PRINTED = "printed"  # (pattern), or (pattern, console)
CHOICE = "if", "then", "else"  # words of other languages
CONSTANTS = {"true": True, "false": False}


def _source(text: str) -> str:
    """The expression as Python's parser takes it."""
    parts, place, operand, deep = [], 0, True, 0
    while rest := text[place:].lstrip():
        place = len(text) - len(rest)
        if found := (TOKENS if operand else OPERATORS).match(rest):
            token = found[0]
            if not operand:
                operand = token != ")"
                parts.append(f" {token} ")
            elif found["number"]:
                parts.append(_number_source(found["digits"], found["unit"]))
                operand = False
            elif found["path"]:
                parts.append(f"_path({token!r})")
                operand = False
            elif found["open"]:
                parts.append(token)
            elif found["string"]:  # as it is, for regular expressions; a doubled backslash may have come from TOML
                parts.append(repr(token[1:-1].replace("\\\\", "\\")))
                operand = False
            else:
                parts.append("not " if token == "not" else token)
                operand = token == "not"
            deep += token.count("(") - token.count(")") if not found.groupdict().get("string") else 0
            if deep < 0:
                break
            place += found.end()
            continue
        raise ExpressionError(f"{text!r}: {_missing(operand, rest, text[:place])}")
    return "".join(parts)


def _number_source(digits: str, unit: str | None) -> str:
    """A number as Python has it, in base units: s, Hz, B, b/s, a fraction."""
    try:
        value = quantity.exact(digits) * (quantity.UNITS[unit].factor if unit else 1)
        whole = not unit and (digits.replace("_", "").isdecimal() or digits[1:2] in ("x", "X", "b", "B"))
        return repr(int(value) if whole else float(value))
    except (quantity.NumberError, OverflowError, ValueError):
        raise ExpressionError(f"the number {digits[:20]} is too large") from None


def _missing(operand: bool, rest: str, before: str) -> str:
    """What is wrong where nothing fits."""
    word = re.match(r"[A-Za-z_%][\w/]*", rest)
    if rest[0] == "?" or (word and word[0] in CHOICE) or re.search(rf"\b({'|'.join(CHOICE)})\s*$", before):
        return "an expression has no `if`: multiply each value by its condition, (a == 1) * X + (a != 1) * Y"
    if not operand and word and re.search(rf"(?:^|[^\w.])({quantity.NUMBER})\s*$", before):
        close = difflib.get_close_matches(word[0], quantity.UNITS, 1, 0.5)
        near = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(quantity.UNITS)}"
        return f"{word[0]!r} is no unit; {near}"
    if operand and (number := re.match(r"[\d.][\w.]*", rest)):
        return f"{number[0]!r} is not a number"
    return f"{'a value' if operand else 'an operator'} is missing before {rest[:20]!r}"


@lru_cache(maxsize=4096)
def parse(text: str) -> ast.expr:
    """The tree of an expression, of which every node is one that `evaluate` knows."""
    if len(text) > 100_000 or text.count("(") > 500:
        raise ExpressionError(f"{text[:20]!r}…: it is too long")
    try:
        tree = ast.parse(_source(text).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"{text!r} is no expression: {getattr(error, 'msg', error)}") from error
    try:
        _check(tree)
    except ExpressionError as error:
        raise ExpressionError(f"{text!r}: {error}") from error
    return tree


def _check(node: ast.expr) -> None:
    match node:
        case ast.Constant(value=bool() | int() | float() | str()) | ast.Name():
            return
        case ast.BinOp(op=op) if type(op) in BINARY:
            inner = [node.left, node.right]
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            inner = [node.operand]
        case ast.BoolOp():
            inner = node.values
        case ast.Compare() if all(type(op) in COMPARE for op in node.ops):
            inner = [node.left, *node.comparators]
        case ast.Call(func=ast.Name(id="_path")):
            return
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in {**LISTS, **NUMBERS, **QUERIES}:
            wanted = QUERIES.get(name, 2 if name == "percentile" else 1)
            if len(node.args) != wanted and not (name in SEVERAL and node.args):
                raise ExpressionError(f"{name}() takes {wanted} value{'s' if wanted > 1 else ''}")
            inner = node.args
        case ast.Call(func=ast.Name(id="printed"), args=args, keywords=[]):
            if len(args) not in (1, 2) or not (isinstance(args[0], ast.Constant) and isinstance(args[0].value, str)):
                raise ExpressionError("printed() takes a pattern in quotation marks, and the path of a console")
            text_of(args[-1])
            return
        case ast.Call(func=ast.Name(id=name)):
            known = ", ".join([*LISTS, *NUMBERS, *QUERIES, PRINTED])
            raise ExpressionError(f"there is no function {name}(); known are {known}")
        case _:
            raise ExpressionError("only + - * / ( ), comparisons, and, or, not, numbers, paths and functions are known")
    for one in inner:
        _check(one)


def text_of(node: ast.expr) -> str:
    """The name or path that an argument is."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Constant(value=str() as name) | ast.Call(func=ast.Name(id="_path"), args=[ast.Constant(value=name)]):
            return name
    raise ExpressionError("a name is expected as this argument")


def _printed(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and node.func.id == PRINTED


def _console(args: list[ast.expr]) -> tuple[str, str]:
    """The pattern and the console of a printed(); "": the only one."""
    return text_of(args[0]), text_of(args[1]) if len(args) > 1 else ""


def printed_calls(text: str) -> Iterator[tuple[str, str]]:
    """The patterns of an expression, each with its console."""
    return (_console(node.args) for node in ast.walk(parse(text)) if _printed(node))


def mentions(text: str) -> Iterator[tuple[str, str]]:
    """What an expression speaks of: ("statistic", path), ("events", path), ("cycles", clock), ("param", path),
    ("published", measure), ("settled", measure), ("printed", pattern), ("name", name)."""
    tree, inner = parse(text), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.func.id in QUERIES:
            yield node.func.id, text_of(node.args[0])
            inner |= {id(one) for one in ast.walk(node.args[0])}
        if _printed(node):
            yield PRINTED, text_of(node.args[0])
            inner |= {id(one) for argument in node.args for one in ast.walk(argument)}
        if isinstance(node, ast.Call):
            inner.add(id(node.func))
    for node in ast.walk(tree):
        if id(node) in inner:
            continue
        if isinstance(node, ast.Name) and node.id not in ("time", *CONSTANTS):
            yield "name", node.id
        elif isinstance(node, ast.Call) and node.func.id == "_path":
            yield "statistic", text_of(node)


def _each(function: Callable, left: Any, right: Any) -> Any:
    """An operation on two numbers, on each of a list, or on each pair of two lists about the same things."""
    if isinstance(left, Values) and isinstance(right, Values):
        if left.keys != right.keys:
            raise ExpressionError("two lists that are not about the same things: sum() or its like first")
        return Values(left.keys, tuple(map(function, left.values, right.values)))
    if isinstance(left, Values):
        return Values(left.keys, tuple(function(value, right) for value in left.values))
    if isinstance(right, Values):
        return Values(right.keys, tuple(function(left, value) for value in right.values))
    return function(left, right)


def _compare(op: ast.cmpop, left: Any, right: Any) -> bool:
    """A comparison; a quantity in quotation marks is a text, which no number is like."""
    for text, other in (left, right), (right, left):
        if isinstance(text, str) and not isinstance(other, str) and quantity.with_unit(text):
            raise ExpressionError(f"{text!r} is a text, and what it is compared with is a number: write {text}")
    return COMPARE[type(op)](left, right)


def _value(node: ast.expr, reading: Reading) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id="time"):
            return reading.time()
        case ast.Name(id=name):
            return CONSTANTS[name] if name in CONSTANTS else reading.name(name)
        case ast.Call(func=ast.Name(id="_path")):
            return reading.statistic(text_of(node))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _call(name, args, reading)
        case ast.UnaryOp(op=ast.Not(), operand=operand) if _printed(operand):
            return not _has_printed(operand, reading)
        case ast.UnaryOp(op=ast.Not()):
            return not _value(node.operand, reading)
        case ast.UnaryOp():
            return _each(lambda zero, value: zero - value, 0, _value(node.operand, reading))
        case ast.BinOp():
            return _each(BINARY[type(node.op)], _value(node.left, reading), _value(node.right, reading))
        case ast.Compare():
            values = [_value(one, reading) for one in [node.left, *node.comparators]]
            pairs = zip(node.ops, values, values[1:], strict=False)
            return all(_compare(op, left, right) for op, left, right in pairs)
        case ast.BoolOp(op=ast.And()):
            return all(_value(one, reading) for one in node.values)
    return _alternative(node.values, reading)


def _has_printed(node: ast.expr, reading: Reading) -> bool:
    """Whether there is a match at all."""
    try:
        _value(node, reading)
    except NoValue:
        return False
    return True


def _alternative(nodes: list[ast.expr], reading: Reading) -> Any:
    """The first that has a value; of truths, whether one of them is true."""
    for node in nodes[:-1]:
        try:
            value = _value(node, reading)
        except (NoValue, ZeroDivisionError):
            continue
        if value is not False:
            return value
    return _value(nodes[-1], reading)


def _number(name: str, value: Any) -> Any:
    """A function of a number, or of each of a list."""
    if isinstance(value, Values):
        return Values(value.keys, tuple(_number(name, one) for one in value.values))
    try:
        return NUMBERS[name](value)
    except ValueError:
        raise ExpressionError(f"{name}() of {value:g}") from None


def _call(name: str, args: list[ast.expr], reading: Reading) -> Any:
    if name in SEVERAL and len(args) > 1:
        return reduce(partial(_each, LISTS[name]), [_value(one, reading) for one in args])
    if name in LISTS:
        values, *more = [_value(one, reading) for one in args]
        values = list(values.values) if isinstance(values, Values) else [values]
        return LISTS[name](values, *more)
    if name in NUMBERS:
        return _number(name, _value(args[0], reading))
    if name == PRINTED:
        return reading.printed(*_console(args))
    name_of_measure = text_of(args[0])
    if name == "settled":
        return reading.settled(name_of_measure, _value(args[1], reading))
    queries = {"cycles": reading.cycles, "events": reading.events, "param": reading.parameter}
    return queries.get(name, reading.published)(name_of_measure)


def evaluate(text: str, reading: Reading) -> Any:
    """What an expression comes to; a list is an error."""
    tree = parse(text)
    try:
        value = _value(tree, reading)
    except ZeroDivisionError:
        raise NoValue(f"{text!r}: division by zero; `or` gives another value") from None
    except (TypeError, RecursionError, OverflowError, ValueError) as error:
        raise ExpressionError(f"{text[:200]!r}: {error}") from error
    except ExpressionError as error:
        raise type(error)(f"{text!r}: {error}") from error
    if isinstance(value, Values):
        raise ExpressionError(f"{text!r} is a list of {len(value.values)}: it goes through {', '.join(LISTS)}")
    return value


def select(path: str, values: dict[str, float]) -> "float | Values":
    """The value at a path, or the list of those that a path with stars matches, in the order of `values`."""
    if "*" not in path:
        if path not in values:
            raise NoValue(f"there is no {path}")
        return values[path]
    matching = patterns.compiled(path).fullmatch
    found = [(match.groups(), value) for name, value in values.items() if (match := matching(name))]
    if not found:
        raise NoValue(f"nothing matches {path}")
    return Values(tuple(".".join(keys) for keys, _ in found), tuple(value for _, value in found))
