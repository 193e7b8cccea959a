"""Words that docs/glossary.md has replaced do not come back as names in modules, emulib and firmware."""

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
    "hand_over": "submit",
    "to_clean": "pending_write_backs",
    "under_way": "outstanding",
}
SOURCES = {
    "modules": ("*.c", "*.h", "*.lss"),
    "emulib": ("*.c", "*.h", "*.py"),
    "firmware": ("*.c", "*.h", "*.S", "*.ld", "*.py"),
}
# Comments and strings; in LSS, code between <<< and >>> stays.
PROSE = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/|//[^\n]*', re.DOTALL)
HASH_COMMENT = re.compile(r'""".*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*', re.DOTALL)


def banned(text: str, prose: re.Pattern[str] = PROSE) -> list[str]:
    """Each name of a text that has a replaced word, with what to say instead."""
    wrong = []
    for name in sorted(set(re.findall(r"[A-Za-z_]\w*", prose.sub(" ", text)))):
        if name in BANNED_NAMES:
            wrong.append(f"{name}: say {BANNED_NAMES[name]}")
        wrong += [f"{name}: say {BANNED[part]}" for part in name.lower().split("_") if part in BANNED]
    return wrong


@pytest.mark.parametrize("folder", SOURCES)
def test_replaced_words_do_not_come_back(folder: str) -> None:
    files = found(ROOT / folder, *SOURCES[folder])
    assert len(files) > 20
    wrong = []
    for path in files:
        prose = HASH_COMMENT if path.suffix in (".py", ".S") else PROSE
        wrong += [f"{path.relative_to(ROOT)}: {one}" for one in banned(path.read_text(), prose)]
    assert not wrong, "\n".join(wrong)


def test_a_replaced_word_is_found() -> None:
    assert banned("uint32 window_references; /** told */") == ["window_references: say requests"]
    assert banned("local bool at_once;") == ["at_once: say same_cycle_reply"]
    assert banned('request_told("hot")  // news') == ["request_told: say notify, notified, pending"]
