"""The English that users read: docs/style.md, checked by harness/prose.py, with counts of alarms that only fall."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness import prose
from harness.prose_texts import units

ROOT = Path(__file__).resolve().parents[2]
PAGE = Path("docs/page.md")


def rules(text: str, file: Path = PAGE) -> list[tuple[int, str]]:
    """Line and rule of each alarm."""
    return [(alarm.line, alarm.rule) for alarm in prose.check(file, text)]


@pytest.fixture(scope="module")
def counts() -> dict[str, int]:
    """How many alarms each file has that has any."""
    found = {str(path): len(prose.check(path, (ROOT / path).read_text(encoding="utf-8-sig"))) for path in prose.files(ROOT)}
    assert len(found) > 800 and {Path(name).suffix for name in found} == {".md", ".c", ".h", ".l", ".y", ".lss", ".py"}
    return {name: count for name, count in found.items() if count}


def test_no_file_has_more_alarms_than_it_had(counts: dict[str, int]) -> None:
    allowed = prose.ceilings(ROOT)
    over = {name: f"{count} alarms, {allowed.get(name, 0)} allowed" for name, count in counts.items() if count > allowed.get(name, 0)}
    assert not over, "build/venv/bin/python harness/prose.py FILE lists them"
    left = {name: f"{counts.get(name, 0)} alarms, {most} allowed" for name, most in allowed.items() if counts.get(name, 0) < most}
    assert not left, "make prose lowers what is allowed"


def test_few_lines_silence_a_rule() -> None:
    found = [
        (str(path), line, rule)
        for path in prose.files(ROOT)
        if path.name not in ("style.md", "prose.py")  # which explain it
        for line, names in prose.silenced((ROOT / path).read_text(encoding="utf-8-sig")).items()
        for rule in names
    ]
    assert len(found) <= prose.MOST_SILENCED and {rule for *_, rule in found} <= prose.NAMES, found


ALARMS = [
    ("behind", "It issues behind the store.", "It issues after the store; hidden things stay behind, and requests wait behind it."),
    ("beside", "a file beside it", "a file next to it"),
    ("what", "What stops the run is an error.", "What stops the run? It stops, whatever happens. What if it does not?"),
    ("what-clause", "the flags of what comes in", "ask what comes in"),
    ("nobody", "Nobody reads it.", "No module reads it; it is nobody else's."),
    ("mind", "The core believes loads.", "The core accepts loads."),
    ("know", "It knows nothing of time.", "The harness is known to work."),
    ("told", "The driver is told.", "The driver is notified."),
    ("own", "It has a queue of its own.", "It has its own queue, and you have a policy of your own."),
    ("so-many", "after so many bytes", "not so much as that, and after that many bytes"),
    ("some-number", "some 40 instructions", "about 40 instructions, some of them long"),
    ("adverb", "It begins anew.", "It begins again."),
    ("say-so", "The core says so.", "The core reports it."),
    ("which", "It holds four, of which the first is idle.", "It holds four, of which the first is idle, and reads."),
    ("which", "It takes more cycles, which is 4 more.", "It takes more cycles, which is slow."),
    ("minus", "the model is at -10.7 %", "the model is at −10.7 %, of 3-4 % and a-1 %"),
    ("long", "word " * 41, "word " * 40 + "; " + "word " * 40),
]


@pytest.mark.parametrize(("rule", "bad", "good"), ALARMS, ids=[rule for rule, *_ in ALARMS])
def test_each_rule_finds_what_it_is_for_and_nothing_else(rule: str, bad: str, good: str) -> None:
    assert rules(f"Text.\n\n{bad}\n") == [(3, rule)] and not rules(good)


def test_every_rule_is_tried() -> None:
    assert {rule for rule, *_ in ALARMS} == prose.NAMES


def test_a_page_is_its_text_alone() -> None:
    text = """# A thing behind

```sh run
echo behind
```

A `name behind`, [a link](behind.md), "behind" and
the rest behind it <!-- prose: ok behind -->
- an item behind
  a line beside

| a | it is behind `a | b` |
|---|---|
| What a head | beside |
"""
    assert rules(text) == [(1, "behind"), (9, "behind"), (10, "beside"), (12, "behind"), (14, "what"), (14, "beside")]


def test_texts_of_sources_are_found() -> None:
    c = """// it is behind here
/* behind as well */
static const char *text = "one that is "
                          "behind %s, beside";  // behind
char c = '"';
const char *short_one = "behind";
"""
    assert rules(c, Path("lss/x.c")) == [(4, "behind"), (4, "beside")]
    lss = """module x {                 /** A thing behind another one. */
  parameter a = 1 : int;   /** as many as are
                               beside it */
  if (a > 1) punt("a stands \\"behind\\" what is beside the thing");
}
"""
    assert rules(lss, Path("modules/x.lss")) == [(1, "behind"), (3, "beside"), (4, "beside")]
    python = '''"""A file behind another one."""

def run(name):
    """Runs what is behind."""
    raise Error(f"{name} is behind {name:>{3}} "
                "and beside it") from None
PATTERN = r"one that is behind"
'''
    assert rules(python, Path("harness/x.py")) == [(5, "behind"), (6, "beside")]


def test_a_place_is_that_of_the_file() -> None:
    for path in (Path("lss/commands/command_check.c"), Path("docs/host.md"), Path("harness/study/runner.py")):
        text = (ROOT / path).read_text()
        found = list(units(path, text))
        assert found
        for at, unit in found:
            words = re.search(r"\b[A-Za-z]{4,}\b", unit)
            assert not words or text[at + words.start() : at + words.end()] == words[0]


def run(*options: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, ROOT / "harness/prose.py", *options], cwd=cwd, capture_output=True, text=True)


def test_an_alarm_names_place_rule_and_cure(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("One.\nThe word behind it is read.\n")
    done = run(str(page))
    assert done.stdout == f'{page}:2: behind: "One. The word behind it is read.": after, following, past, downstream of\n'
    assert done.returncode == 1 and done.stderr == "prose: 1 alarm: behind 1\n"
    assert run(str(page), "--rule", "beside").returncode == 0
    done = run(str(tmp_path / "none.md"))
    assert done.returncode == 2 and done.stderr == f"prose: {tmp_path}/none.md: No such file or directory (name a file to check)\n"


def test_facts_of_a_page_are_compared_with_a_commit(tmp_path: Path) -> None:
    page = tmp_path / "page.md"

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x", *words], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    page.write_text("One of 1,200 in 3.5 s, see [it](a.md#b) and `x4`.\n\n```sh run\nls\n```\n")
    git("add", ".")
    git("commit", "-m", "x")
    assert run("--facts", "page.md", cwd=tmp_path).stdout == "block ```sh run\nls\n```\nlink a.md#b\nnumber 1200\nnumber 3.5\n"
    page.write_text("See [it](a.md#b): `x4` takes 3.5 s of 1200.\n\n```sh run\nls\n```\n")
    assert run("--facts", "page.md", "--since", "HEAD", cwd=tmp_path).stdout == ""
    page.write_text("See [it](a.md#c): it takes 3.5 s of 1200, and 3.5.\n\n```sh run\nls\n```\n")
    done = run("--facts", "page.md", "--since", "HEAD", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == "- link a.md#b\n+ link a.md#c\n+ number 3.5\n"
    done = run("--facts", "page.md", "--since", "nowhere", cwd=tmp_path)
    assert done.returncode == 2 and "page.md at nowhere: " in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("subject", "faults"),
    [
        ("engine: Skip idle time", []),
        ("emulib/mips, modules: Bind memory references in one place", []),
        ("Skip idle time", ["it does not begin with `area: Verb object`"]),
        ("engine: skip idle time", ["it does not begin with `area: Verb object`"]),
        ("engine: Start anew", ['"anew" (write again, similarly, during)']),
        ("engine: Do " + "x" * 70, ["81 characters (at most 72)"]),
    ],
)
def test_subjects(subject: str, faults: list[str]) -> None:
    assert prose.subject_faults(subject) == faults


def test_subjects_since_the_first_release() -> None:
    listed = subprocess.run(["git", "log", "--no-merges", "--format=%s", "v0.1..HEAD"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("there is no tag v0.1 here")
    found = {subject: faults for subject in listed.stdout.splitlines() if (faults := prose.subject_faults(subject))}
    assert not found
