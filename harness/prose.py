"""Checks the English that users read, by those rules of docs/style.md that a program can check: `make prose`.

It covers Markdown pages, `lss doc`, option help and messages.  A rule is silenced for a line by `prose: ok RULE` in a
comment there.  The counts of alarms in tests/conventions/prose.txt may only fall.
"""

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # as a script

from harness.prose_texts import FENCE, units  # noqa: E402

CEILING = Path("tests/conventions/prose.txt")
LONGEST = 40  # words of a sentence
MOST_SILENCED = 40
SUBJECT = 72  # characters
KINDS = {
    "lss": ("c", "h", "l", "y"), "modules": ("lss", "c", "h"), "examples": ("lss", "c", "h"), "emulib": ("c", "h"),
    "harness": ("py",),
}  # fmt: skip
PAGES = (
    "README.md", "CHANGELOG.md", ".github/*.md", "docs/*.md",
    *(f"{folder}/**/README.md" for folder in (*KINDS, "firmware")),
)  # fmt: skip
SOURCES = tuple(f"{folder}/**/*.{kind}" for folder, kinds in KINDS.items() for kind in kinds)


# ---- Rules ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A phrase that is ruled out, and what to write instead.  What its group `fine` matches is allowed."""

    name: str
    pattern: re.Pattern[str]
    instead: str


def _rule(name: str, pattern: str, instead: str, flags: int = re.IGNORECASE) -> Rule:
    return Rule(name, re.compile(pattern.replace(" ", r"\s+"), flags), instead)


START = r"(?:\A|(?<=[.;:!?]\s))\s*"  # of a sentence, or of a part of one
STAYS_BEHIND = r"(?:stays?|lea(?:ve|ves|ving)|left|hid(?:e|es|den)|lags?|falls?|wait(?:s|ing)?|queued) behind\b"
NUMBER = r"(?:\d|one\b|two\b|three\b|four\b)"
PREPOSITION = r"(?:of|in|on|from|by|with|for|at|to|after|as|through|under|over)"
RULES = (
    _rule("behind", rf"(?P<fine>\b{STAYS_BEHIND})|\bbehind\b", "after, following, past, downstream of"),
    _rule("beside", r"\bbeside\b", "next to, as well as, in addition to, apart from"),
    _rule("what", START + r"What (?!if\b)[^?]*?(?=[.;:!]|\Z)", "a noun: the value that …, the run that …", 0),
    _rule(
        "what-clause",
        rf"\b{PREPOSITION} what (?:is|was|are|were|comes|came|goes|went|has|had|leaves|enters|moves|follows)\b",
        "a noun: the items that …, the input",
    ),
    _rule("nobody", r"\b(?:nobody|somebody|anybody|whoever)\b(?! else's)", "name the user, module or requester"),
    _rule("mind", r"\b(?:believes?|believed|minds|minded|wish(?:es)?|wished)\b", "assumes, accepts, requires"),
    _rule("know", r"\b(?:knows|knew) (?:nothing|no|of|about|neither)\b|\bknows what\b", "has, holds, supports"),
    _rule("told", r"\b(?:is|are|was|were|be|been|being|gets?|got) told\b", "receives, is notified, reports"),
    # "A policy of your own" is idiomatic; "a cache of its own" is "its own cache".
    _rule("own", r"\bof (?:one's|its|their|his|her) own\b", "its own X, a separate X"),
    _rule("so-many", r"\bso (?:many|much)\b(?! (?:as|that|more|less)\b)", "the number, N, or `that many`"),
    _rule("some-number", r"\bsome \d", "about N"),
    _rule("adverb", r"\b(?:anew|likewise)\b|\bin the midst\b|\bno matter of\b|\bbe it\b", "again, similarly, during"),
    _rule("say-so", r"\b(?:say|says|said|saying) so\b", "reports it"),
    # Only the clauses at the end that make the reader go back: most others with "which" read well.
    _rule(
        "which",
        rf", (?:{PREPOSITION} which\b|which (?:is|are) {NUMBER})[^,;:.!?()]*(?=[.!?;:]|\s*\Z)",
        "a second sentence",
    ),
    _rule("minus", r"(?<![\w.\-–])-\d+(?:\.\d+)? %", "a true minus: −10.7 %"),
)
NAMES = {rule.name for rule in RULES} | {"long"}


@dataclass(frozen=True)
class Alarm:
    """A place that breaks a rule."""

    line: int
    rule: str
    text: str
    instead: str

    def __str__(self) -> str:
        words = self.text if len(self.text) <= 90 else self.text[:89] + "…"
        return f'{self.line}: {self.rule}: "{words}": {self.instead}'


def sentences(unit: str) -> Iterator[tuple[int, str]]:
    """The sentences of a unit; a colon or a semicolon ends one too, since each part could stand alone."""
    for found in re.finditer(r"(?:[^.!?;:]|[.!?;:](?!\s|\Z))+", unit):
        lead = len(found[0]) - len(found[0].lstrip())
        yield found.start() + lead, found[0][lead:]


def _around(unit: str, found: re.Match[str]) -> str:
    """A phrase with a few words on both sides, which decide what to write instead."""
    before = re.search(r"(?:\S+\s+){0,3}\Z", unit[: found.start()])
    after = re.match(r"\S*(?:\s+\S+){0,4}", unit[found.end() :])
    return f"{before[0]}{found[0]}{after[0]}"


def silenced(text: str) -> dict[int, list[str]]:
    """The rules that lines silence, by line."""
    lines = enumerate(text.split("\n"), 1)
    return {number: rules for number, line in lines if (rules := re.findall(r"prose: ok ([\w-]+)", line))}


def check(path: Path, text: str) -> list[Alarm]:
    """The alarms of a file, from top to bottom."""
    alarms, quiet = [], silenced(text)

    def add(at: int, rule: str, words: str, instead: str) -> None:
        line = text.count("\n", 0, at) + 1
        if rule not in quiet.get(line, ()):
            alarms.append(Alarm(line, rule, " ".join(words.split()), instead))

    for begin, unit in units(path, text):
        for rule in RULES:
            for found in rule.pattern.finditer(unit):
                if not found.groupdict().get("fine"):
                    add(begin + found.start(), rule.name, _around(unit, found), rule.instead)
        for at, sentence in sentences(unit):
            if (count := len(re.findall(r"\S*\w\S*", sentence))) > LONGEST:
                add(begin + at, "long", sentence, f"{count} words: write two sentences, or a list")
    return sorted(alarms, key=lambda one: one.line)


def subject_faults(subject: str) -> list[str]:
    """What is wrong with the subject of a commit."""
    faults = [f"{len(subject)} characters (at most {SUBJECT})"] if len(subject) > SUBJECT else []
    if not re.match(r"[\w./, -]+: [A-Z]\w+ ", subject):
        faults.append("it does not begin with `area: Verb object`")
    adverb = next(rule for rule in RULES if rule.name == "adverb")
    return faults + [f'"{found[0]}" (write {adverb.instead})' for found in adverb.pattern.finditer(subject)]


# ---- The facts of a page --------------------------------------------------------------------------------------------

TARGET = re.compile(r"\]\(([^)\s]+)\)")
FIGURE = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)*(?!\w)")


def facts(text: str) -> Counter[str]:
    """What a page must keep when it is written again: blocks, numbers and link targets, with their counts."""
    found = Counter(f"block {one[0]}" for one in FENCE.finditer(text))
    text = FENCE.sub("", text)
    found.update(f"link {one[1]}" for one in TARGET.finditer(text))
    text = TARGET.sub("]", text)
    found.update(f"number {one[0].replace(',', '')}" for one in FIGURE.finditer(text))
    return found


def _fact_lines(found: Counter[str], sign: str = "") -> list[str]:
    return [f"{sign}{fact}" + (f"  × {count}" if count > 1 else "") for fact, count in sorted(found.items())]


def show_facts(page: Path, since: str | None) -> int:
    """Prints the facts of a page; with a commit, how they differ from the facts there, and status 1 if they do."""
    now = facts(page.read_text())
    if since is None:
        print("\n".join(_fact_lines(now)))
        return 0
    shown = subprocess.run(
        ["git", "show", f"{since}:./{page.name}"], cwd=page.resolve().parent, capture_output=True, text=True
    )
    if shown.returncode:
        print(f"prose: {page} at {since}: {shown.stderr.strip()} (name a commit that has the page)", file=sys.stderr)
        return 2
    before = facts(shown.stdout)
    for line in _fact_lines(before - now, "- ") + _fact_lines(now - before, "+ "):
        print(line)
    return int(before != now)


# ---- The whole tree -------------------------------------------------------------------------------------------------


def files(root: Path) -> list[Path]:
    """The files to check, relative to the root."""
    found = {path.relative_to(root) for pattern in (*PAGES, *SOURCES) for path in root.glob(pattern)}
    return sorted(path for path in found if not {"build", "node_modules"} & set(path.parts))


def ceilings(root: Path) -> dict[str, int]:
    """How many alarms a file may have: none, unless it is listed."""
    lines = (root / CEILING).read_text().splitlines()
    return {name: int(count) for count, name in (line.split(maxsplit=1) for line in lines)}


def write_ceilings(root: Path, counts: dict[str, int]) -> None:
    """Keeps the list in the order of its names."""
    text = "".join(f"{count:4} {name}\n" for name, count in sorted(counts.items()) if count)
    (root / CEILING).write_text(text)


def show_alarms(paths: list[Path], only: list[str] | None) -> Counter[str]:
    """Prints the alarms of files, and how many each rule has; returns how many each file has."""
    counts, rules = Counter(), Counter()
    for path in paths:
        for alarm in check(path, (ROOT / path).read_text(encoding="utf-8-sig")):
            if not only or alarm.rule in only:
                print(f"{path}:{alarm}")
                counts[str(path)] += 1
                rules[alarm.rule] += 1
    by_rule = ", ".join(f"{name} {count}" for name, count in rules.most_common())
    total = counts.total()
    print(f"prose: {total} alarm{'' if total == 1 else 's'}" + (f": {by_rule}" if by_rule else ""), file=sys.stderr)
    return counts


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="prose", description="check the English of pages, option help and messages")
    parser.add_argument("file", nargs="*", type=Path, help="check these files; without any, the tree and its ceilings")
    parser.add_argument("--rule", action="append", choices=sorted(NAMES), help="check this rule only")
    parser.add_argument("--facts", type=Path, metavar="PAGE", help="print a page's blocks, numbers and link targets")
    parser.add_argument("--since", metavar="COMMIT", help="with --facts: print how they differ from those at COMMIT")
    given = parser.parse_args()
    if given.facts:
        return show_facts(given.facts, given.since)
    if given.file or given.rule:
        chosen = [path.resolve().relative_to(ROOT) if path.resolve().is_relative_to(ROOT) else path.resolve()
                  for path in given.file] or files(ROOT)  # fmt: skip
        try:
            return int(bool(show_alarms(chosen, given.rule)))
        except OSError as error:
            print(f"prose: {error.filename}: {error.strerror} (name a file to check)", file=sys.stderr)
            return 2
    counts, allowed = show_alarms(files(ROOT), None), ceilings(ROOT)
    write_ceilings(ROOT, {name: min(counts[name], most) for name, most in allowed.items()})
    over = {name: count for name, count in counts.items() if count > allowed.get(name, 0)}
    for name, count in over.items():
        print(f"prose: {name}: {count} alarms, {allowed.get(name, 0)} allowed ({CEILING})", file=sys.stderr)
    return int(bool(over))


if __name__ == "__main__":
    sys.exit(main())
