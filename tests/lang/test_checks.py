"""The table of checks, the messages in the source, and the goldens agree: nothing is said that no test has seen."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.kits import Kit
from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
BAD = ROOT / "tests" / "lang" / "bad"
LITERAL = r'"((?:[^"\\]|\\.)*)"'


def table() -> list[str]:
    return re.findall(r'^CHECK\("([a-z-]+)"', (ROOT / "lss" / "elab" / "checks.def").read_text(), re.M)


def sources() -> list[Path]:
    return found(ROOT / "lss", "*.c", "*.y", "*.l")


def calls() -> list[tuple[str, str, str]]:
    """(file, check, message) of every report in the compiler; messages keep their conversions."""
    found = []
    for path in sources():
        text = path.read_text().replace('%" G_GINT64_FORMAT "', "%d").replace('%" G_GINT64_FORMAT', '%d"')
        for call in re.finditer(r"\b(?:problem|diag_error|diag_warning)\(", text):
            rest = text[call.end() : call.end() + 900]
            first = rf"([^;]*?{LITERAL}(?:\s*:\s*{LITERAL})?)"
            pieces = re.match(rf"(?:[^\"]*?),\s*{first},\s*((?:{LITERAL}\s*)+)", rest, re.S)
            if not pieces:
                continue
            message = "".join(re.findall(LITERAL, pieces[4]))
            for check in re.findall(LITERAL, pieces[1]):
                found.append((str(path.relative_to(ROOT / "lss")), check, message.replace('\\"', '"').replace("\\\\", "\\")))
    return found


def pattern(message: str) -> re.Pattern:
    parts = re.split(r"%%|%[-0-9.*]*(?:ll|l)?[a-zA-Z]", message)
    return re.compile(".*?".join(re.escape(part) for part in parts), re.S)


@cache
def evidence() -> str:
    goldens = [path.read_text(errors="replace") for path in found(BAD, "*.golden")]
    tests = [path.read_text() for path in found(ROOT / "tests", "test_*.py")]
    return "\n".join(goldens + tests)


def test_table_has_no_duplicates() -> None:
    assert len(set(table())) == len(table())


def test_every_report_names_a_check_of_the_table() -> None:
    unknown = {check for _, check, _ in calls()} - set(table())
    assert not unknown, f"not in lss/elab/checks.def: {sorted(unknown)}"


def test_every_check_is_reported() -> None:
    unused = set(table()) - {check for _, check, _ in calls()}
    text = "".join(path.read_text() for path in sources())
    assert not [check for check in unused if f'"{check}"' not in text]


@pytest.mark.parametrize("check", table())
def test_every_check_fails_somewhere(check: str) -> None:
    text = evidence()
    assert f"[{check}]" in text, f"no bad input fails {check}"


def test_every_message_is_seen() -> None:
    """Messages of the front end; those of the back end are shown by tests/engine."""
    seen = "\n".join(path.read_text(errors="replace") for path in found(BAD, "*.golden"))
    seen += "cannot read x.lss: there is no such file\nthis file is larger than 64 MiB\n"  # test_files.py
    seen += "nothing is instantiated here, so there is no machine; a module is checked where it is used\n"  # likewise
    seen += "a file of --collect holds collectors and imports only\n"  # tests/engine/test_collect.py
    seen += "cannot read a\\nb.lss: there is a line break in its path\n"  # tests/engine/test_cache.py
    seen += 'nothing that matches "u" has an event `takn`\n'  # tests/engine/test_events.py
    seen += "an event to watch is written PATH.EVENT, PATH.EVENT(ARGUMENT == N) or marker(N)\n"  # likewise
    seen += "no event `taken` there has an argument `n` that is a number\n"  # likewise
    seen += 'nothing that matches "**" has events of the kind `memory`\n'  # tests/trace/test_record.py
    seen += "what is recorded is written PATH.EVENT, or `instructions`, `memory`, `ports`, `frames` or `profile` with or without a pattern after it\n"
    seen += 'no port matches "p.im"\n'  # tests/wave/test_waves.py
    back = ("build/", "schedule/", "plan/", "emit/")
    unseen = sorted(
        {
            f"{file}: [{check}] {message}"
            for file, check, message in calls()
            if not file.startswith(back) and not pattern(message).search(seen)
        }
    )
    assert not unseen, "messages without a bad input:\n  " + "\n  ".join(unseen)


@pytest.mark.parametrize("check", table())
def test_explain(check: str, kit: Kit) -> None:
    done = subprocess.run([kit.lss, "explain", check], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stdout.startswith(check + "\n") and "wrong:" in done.stdout and "right:" in done.stdout
    lines = done.stdout.split("\n\n")[1].splitlines()  # as many words as fit into 100 columns
    assert max(map(len, lines)) <= 100
    assert all(len(line) + 1 + len(after.split()[0]) > 100 for line, after in zip(lines, lines[1:], strict=False))


def test_explain_unknown(kit: Kit) -> None:
    done = subprocess.run([kit.lss, "explain", "unti"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert 'did you mean "unit"' in done.stderr


@pytest.mark.parametrize(("asked", "said"), [
    ("clock", "near it: clock-crossing"), ("loop", "near it: combinational-loop"), ("missing-thing", "near it: import-missing, parameter-missing, key-missing, missing-enable"), ("zzz", "`lss explain` lists them"),
])  # fmt: skip
def test_explain_suggests_names_with_a_word_of_it(asked: str, said: str, kit: Kit) -> None:
    done = subprocess.run([kit.lss, "explain", asked], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and said.removeprefix("near it: ").split(", ")[-1] in done.stderr and len(done.stderr.splitlines()) == 1
