"""Words that docs/renamed.md lists as replaced do not come back: not as names in sources, nor in messages and pages."""

import re
from pathlib import Path

import pytest

from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
# Part of a name (between underscores, any case) -> what to say instead.
BANNED = {
    **dict.fromkeys(("answer", "answers", "answered"), "reply, replies, replied"),
    **dict.fromkeys(("asks", "asked", "asking"), "requests, requested, requesting"),
    **dict.fromkeys(("told", "untold", "tell", "tells", "telling"), "notify, notified, pending"),
    **dict.fromkeys(("news", "announce", "announced"), "write strobe, pending update"),
    **dict.fromkeys(("hear", "heard", "unheard", "notice", "noticed", "notices"), "observe, snooped, notification"),
    **dict.fromkeys(("touched", "watched", "watching"), "snoop hit, tracked, tracking"),
    **dict.fromkeys(("exchanged", "turned"), "byte-swapped, converted, pending work"),
    **dict.fromkeys(("patience", "patient"), "timeout, wait for"),
    **dict.fromkeys(("complaint", "complain"), "error"),
    **dict.fromkeys(("meet", "whereabouts", "stirs"), "lookup, find way, fill pending"),
    **dict.fromkeys(("settle", "settled"), "complete, completed, timeout"),
    **dict.fromkeys(("blame", "blamed"), "back-pressure trace"),
    **dict.fromkeys(("course", "courses"), "convergence, time series"),
    **dict.fromkeys(("door", "doors"), "shared port, waiters"),
    **dict.fromkeys(("exhibit", "exhibits"), "figures"),
    **dict.fromkeys(("feeder", "feeders"), "traffic generator"),
    **dict.fromkeys(("believed", "uncontrolled"), "unchecked, no_control"),
    **dict.fromkeys(("passenger", "stands"), "bypass request; valid, stopped, remains"),
    "headroom": "hardware limit",
    "hot": "state",
    "letters": "suffixes",
    "ours": "own",
    "owed": "in flight",
    "references": "requests",
    "spoilt": "faulty",
    "stubborn": "unresponsive",
    "sums": "checksums",
}
# Whole names.
BANNED_NAMES = {
    "at_once": "same_cycle_reply",
    "give_up": "evict",
    "goes_on": "is_passed_on",
    "hand_over": "submit",
    "sum_up": "update_derived",
    "taken_back": "cancelled",
    "to_clean": "pending_write_backs",
    "under_way": "outstanding",
}
# The same where other parts may say them: of a cache, of a core.
BANNED_IN = {
    "modules/cache": {
        **dict.fromkeys(("leave", "leaving"), "write buffer, buffer_write, free a victim"),
        "passing": "bypassing",
    },
    "modules/core": {"able": "ready_contexts", "foreign": "external"},
    **dict.fromkeys(("modules", "examples"), {"past": "uncached_bus, history"}),
    "emulib": {"foreign": "external"},
}
# In texts that users read: strings of sources, and pages.
PHRASES = {
    r"said here": "punt called here",
    r"hand(?:s|ed)? over|hand(?:s|ed)? on\b": "submit, pass on, forward",
    r"complain\w*": "error, report",
    r"patien(?:t|ce)\b": "timeout",
    r"stubborn": "unresponsive",
    r"feeders?\b|headroom": "traffic generator, hardware limit",
    r"under way\b": "outstanding, in progress",
    r"(?:is|are|was|were) told\b": "is reported, is notified",
    r"counts for nothing|leads? nowhere|takes its time": "has no effect, is not connected, replies slowly",
    r"gives? way\b|comes? through\b": "yield, is delivered",
}
PAGES = ("docs", "README.md", "examples", "harness", "lss")
# What a contract demands: the functions of studies, the options of `harness conversations`, the column of options.toml.
ALLOWED = {"harness": {"settled", "_settled", "answer", "answers", "ours"}}
SOURCES = {
    "lss": ("*.c", "*.h", "*.l", "*.y"),
    "harness": ("*.py",),
    "examples": ("*.c", "*.h", "*.lss"),
    "modules": ("*.c", "*.h", "*.lss"),
    "emulib": ("*.c", "*.h", "*.py"),
    "firmware": ("*.c", "*.h", "*.S", "*.ld", "*.py"),
}
# Comments and strings; in LSS, code between <<< and >>> stays.
PROSE = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/|//[^\n]*', re.DOTALL)
HASH_COMMENT = re.compile(r'""".*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*', re.DOTALL)


def banned(text: str, prose: re.Pattern[str] = PROSE, words: dict[str, str] = BANNED) -> list[str]:
    """Each name of a text that has a replaced word, with what to say instead."""
    wrong = []
    for name in sorted(set(re.findall(r"[A-Za-z_]\w*", prose.sub(" ", text)))):
        if name in BANNED_NAMES:
            wrong.append(f"{name}: say {BANNED_NAMES[name]}")
        wrong += [f"{name}: say {words[part]}" for part in name.lower().split("_") if part in words]
    return wrong


@pytest.mark.parametrize("folder", BANNED_IN)
def test_words_that_a_folder_has_replaced_do_not_come_back(folder: str) -> None:
    files = found(ROOT / folder, *SOURCES[folder.split("/")[0]])
    wrong = [f"{path.name}: {one}" for path in files for one in banned(path.read_text(), words=BANNED_IN[folder])]
    assert not wrong, "\n".join(wrong)


def test_names_of_tests_have_no_replaced_words() -> None:
    """What the language server calls references are references."""
    wrong, read = [], 0
    for path in found(ROOT / "tests", "test_*.py"):
        names = re.findall(r"^ *def (test_\w+)", path.read_text(), re.MULTILINE)
        read += len(names)
        wrong += [f"{path.name}: {one}" for one in banned(" ".join(names)) if not one.startswith("test_references")]
    assert read > 1000
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", SOURCES)
def test_replaced_words_do_not_come_back(folder: str) -> None:
    files = found(ROOT / folder, *SOURCES[folder])
    assert len(files) > 20
    wrong = []
    for path in files:
        prose = HASH_COMMENT if path.suffix in (".py", ".S") else PROSE
        names = banned(path.read_text(), prose)
        wrong += [f"{path.relative_to(ROOT)}: {one}" for one in names if one.split(":")[0] not in ALLOWED.get(folder, ())]
    assert not wrong, "\n".join(wrong)


def phrases(text: str) -> list[str]:
    """Each replaced phrase of a text, with what to say instead."""
    return [f"{m[0]!r}: say {new}" for old, new in PHRASES.items() for m in re.finditer(rf"\b(?:{old})", text, re.IGNORECASE)]


@pytest.mark.parametrize("folder", ["lss", "harness", "examples"])
def test_replaced_phrases_do_not_come_back_in_messages(folder: str) -> None:
    wrong, read = [], 0
    for path in found(ROOT / folder, *SOURCES[folder], *(("*.def",) if folder == "lss" else ())):
        code = re.sub(r"/\*(?!\*).*?\*/|(?<!:)//[^\n]*", " ", path.read_text(), flags=re.DOTALL)  # strings and /** texts */ stay
        texts = re.findall(r'"(?:[^"\\\n]|\\.)*"|/\*\*.*?\*/', code, re.DOTALL)
        read += len(texts)
        wrong += [f"{path.relative_to(ROOT)}: {one}" for one in phrases("\n".join(texts))]
    assert read > 50
    assert not wrong, "\n".join(wrong)


def test_replaced_phrases_do_not_come_back_in_pages() -> None:
    pages = [page for name in PAGES for page in (found(ROOT / name, "*.md") if (ROOT / name).is_dir() else [ROOT / name])]
    assert len(pages) > 30
    pages = [page for page in pages if page.name != "renamed.md"]
    wrong = [f"{page.relative_to(ROOT)}: {one}" for page in pages for one in phrases(page.read_text())]
    assert not wrong, "\n".join(wrong)


def test_a_replaced_word_is_found() -> None:
    assert banned("uint32 window_references; /** told */") == ["window_references: say requests"]
    assert banned("local bool at_once;") == ["at_once: say same_cycle_reply"]
    assert banned('request_told("hot")  // news') == ["request_told: say notify, notified, pending"]
    assert phrases("it is told so") == ["'is told': say is reported, is notified"]
