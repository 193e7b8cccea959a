"""Conditions of windows and samples, checked before anything is built: their forms (docs/running.md), and the names in
them.  Simulators read them once more; errors are reported here once, and not by each point."""

import re
from collections.abc import Callable, Iterable

from harness import quantity
from harness.run import patterns
from harness.study.machine import CONNECTION_EVENTS, Machine, suggest
from harness.study.study_file import StudyError

NUMBER = quantity.NUMBER
CYCLES = re.compile(rf"cycles\s*\(\s*([^)]*?)\s*\)\s*>=\s*({NUMBER})")
ARGUMENT = rf"\(\s*(?P<argument>\w+)\s*(?P<relation>==|!=|<=|>=|<|>)\s*(?P<number>-?{NUMBER})\s*\)"
EVENT = re.compile(rf"\s*event\s*\(\s*([^,()]*?)\s*(?:{ARGUMENT}\s*)?(?:,\s*(?P<times>{NUMBER})\s*)?\)\s*")
MARKER = re.compile(rf"marker\s*\(\s*({NUMBER})\s*\)")
STATE = re.compile(rf"([^=!<>(]+?)\s*(?:==|!=|<=|>=|<|>)\s*(-?{NUMBER})")
LATER = re.compile(r"((?:event|marker)\s*\(.*\))\s*\+(.*)")
FORMS = ("a time with its unit, cycles(CLOCK) >= N, PATH.STATE >= N, event(PATH.EVENT, N), marker(N), marker(N) + TIME "
         "or end")  # fmt: skip
MOST_MARKER = 2**32 - 1


def event_of(text: str) -> str:
    """A condition without the time that may follow its event: the "marker(1)" of "marker(1) + 40 ms"."""
    found = LATER.fullmatch(text.strip())
    return found[1] if found else text


def counted_event(text: str) -> str | None:
    """What the compiler has to count for a condition on an event; None of others."""
    found = EVENT.fullmatch(event_of(text))
    if not found or not found["argument"]:
        return found and found[1]
    try:
        return f"{found[1]}({found['argument']} {found['relation']} {quantity.integer(found['number'])})"
    except quantity.NumberError:
        return None  # which check() refuses


def check(text: str, machine: Machine, where: str) -> None:
    """Refuses a text that is no condition, or that names what the machine does not have."""
    text, name = text.strip(), machine.path.name

    def refuse(why: str) -> StudyError:
        return StudyError(f"{where}: {text!r}: {why}")

    def known(what: str, one: str, among: Iterable[str]) -> None:
        among = list(among)
        if not any(patterns.compiled(one).fullmatch(other) for other in among):
            raise refuse(f"{name} has no {what} {one!r}; {suggest(one, among)}")

    def number(text: str, read: Callable[[str], int] = quantity.count) -> int:
        try:
            return read(text)
        except quantity.NumberError as error:
            raise refuse(str(error)) from None

    if text == "end":
        return
    if found := LATER.fullmatch(text):
        if number(found[2].strip(), lambda text: quantity.base(text, "time")) < 0:
            raise refuse("a time is not negative")
        return check(found[1], machine, where)
    if re.match(r"-?[0-9]", text):
        if number(text, lambda text: quantity.base(text, "time")) < 0:
            raise refuse("a time is not negative")
    elif found := CYCLES.fullmatch(text):
        known("clock", found[1], [*machine.clocks, "fastest"])
        number(found[2])
    elif found := EVENT.fullmatch(text):
        if found[1].rpartition(".")[2] not in CONNECTION_EVENTS:  # of those, the compiler knows the ports
            known("event", found[1], machine.events)
        if found["number"]:
            number(found["number"], quantity.integer)
        if found["times"] and not number(found["times"]):
            raise refuse("events are counted from 1")
    elif found := MARKER.fullmatch(text):
        if not 1 <= number(found[1]) <= MOST_MARKER:
            raise refuse(f"markers have numbers from 1 to {MOST_MARKER}")
        if not any(event.endswith(".marker") for event in machine.events):
            raise refuse(f"nothing in {name} emits markers")
    elif found := STATE.fullmatch(text):
        known("state", found[1], machine.states)
        number(found[2], quantity.integer)
    else:
        raise refuse(f"this is no condition; write {FORMS}")
