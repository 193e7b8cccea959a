"""A session with the real gdb-multiarch on every machine that has processors: all of them attached, stopped, stepped, watched and
taken back in a run that does not notice; then it is changed, and does."""

import re
from dataclasses import dataclass

import pytest

from tests.debug.test_gdb import same_results, values

NO_PROCESSORS = {"arbiter", "disk", "pipe_chain"}
LOOKED_AT = {"wide_core"}  # whose instructions have a memory of their own, in which nothing is written; test_wide_core.py
ELSEWHERE = {"single_core", "host", "messages", "network", "rule30"}  # docs/debugging.md and test_gdb.py; test_precise_core.py; the host again


@dataclass
class Session:
    """A machine with a program, a place that its processors pass, and what is written behind it, as C has it."""

    machine: str
    options: list[str]
    place: str
    watched: str
    processors: int = 1
    step: str = "step"
    add: int = 0x277A0001  # addiu $k0, $k1, 1: registers that compilers leave alone
    source: str = "$k1"
    result: str = "$k0"


SESSIONS = {
    "dual_core": Session("dual", ["--program", "sum"], "*main", "next", 2),
    "quad_core": Session("quad", ["--program", "matrix"], "matrix.c:23", "started", 4),
    "multiprocessor": Session("multiprocessor", ["--program", "bucket_sort", "--arguments", "count"], "bucket_sort.c:56", "places[63]", 2),
    "rfu_core": Session("rfu", ["--program", "checksum"], "main", "frame[7]"),
    "vliw_core": Session("vliw", ["--program", "fir"], "filter_narrow", "*(int *) &narrow", step="stepi"),  # bundles have no lines
    "riscv_core": Session("riscv", ["--program", "sha256"], "main", "*(unsigned *) ($sp - 4)", add=0x00118213, source="$gp", result="$tp"),
    "wide_core": Session("wide cached", ["--program", "sha256"], "main", "*(unsigned *) ($sp - 4)"),
    "tigon2": Session("tigon2", ["--firmware", "tigon2_parallel", "--payload", "1472", "--frames", "8"], "receive_frames", "*$mac_tx_producer", 2),
    "nic10g": Session("nic10g", ["--firmware", "nic10g", "--payload", "18", "--frames", "200"], "send_task", "*$mac_tx_producer", 8),
}


# The others of two cores or more, and of both instruction sets, are as these.
REST = ("nic10g", "quad_core", "dual_core", "wide_core", "rfu_core", "vliw_core")


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.soak if name in REST else []) for name in SESSIONS])
def session(request) -> Session:
    if request.param in LOOKED_AT and "written" in request.node.name:
        pytest.skip("no instruction is written there")
    return SESSIONS[request.param]


@pytest.fixture
def options(session, firmware, tmp_path) -> list:
    words = list(session.options)
    (tmp_path / "count").write_text("64")
    return [words[0], firmware(words[1]), *words[2:]]


def test_every_machine_is_here(root) -> None:
    assert {folder.name for folder in (root / "examples").iterdir()} == NO_PROCESSORS | ELSEWHERE | set(SESSIONS)


def test_the_run_is_not_affected(session, options, machine, debugged, run_sim, tmp_path) -> None:
    run = debugged(machine(session.machine), *options, "--stats", "debugged.json")
    text = run.gdb(
        f"""info inferiors
        break {session.place}
        continue
        delete
        print $pc
        stepi
        print $pc
        stepi
        reverse-stepi
        print $pc
        reverse-stepi
        print $pc
        {session.step}
        {session.step}
        print $pc
        set $watched = &{session.watched}
        watch -l *$watched
        continue
        print *$watched
        x/1dw $watched
        reverse-continue
        print *$watched
        delete"""
    )
    assert len(re.findall(r"^[* ] \d+ +process \d+", text, re.M)) == session.processors, text
    start, after, back, again, further, new, old = values(text)
    assert after != start and further not in (start, after) and (back, again) == (after, start), text
    assert new != old and f"Old value = {old}\nNew value = {new}" in text and f"Old value = {new}\nNew value = {old}" in text, text
    assert run.end()[0] == 0
    same_results(tmp_path, run_sim, machine(session.machine), *options)


def test_what_is_written_acts(session, options, machine, debugged, run_sim, tmp_path) -> None:
    """An instruction, of which caches have copies, registers and the pc are written; all is made good again, and the run ends well."""
    run = debugged(machine(session.machine), *options)
    text = run.gdb(
        f"""break {session.place}
        continue
        delete
        set $place = $pc
        set $old = *(unsigned *) $place
        set $saved = {session.source}
        set $replaced = {session.result}
        set var *(unsigned *) $place = {session.add}
        set var {session.source} = 0x12345678
        x/i $place
        stepi
        print/x {session.result}
        print $pc == $place + 4
        set var *(unsigned *) $place = $old
        set var {session.source} = $saved
        set var {session.result} = $replaced
        set var $pc = $place
        stepi
        print *(unsigned *) $place == $old"""
    )
    assert values(text) == ["0x12345679", "1", "1"], text
    assert run.end()[0] == 0
