"""The real gdb-multiarch on modelled processors: what it finds, that it finds its way back, and that the run does not notice."""

import json
import re
from pathlib import Path

import pytest

from harness.trace import frames
from harness.trace.events import Events
from tests.sample import seldom


def same_results(folder: Path, run_sim, simulator: Path, *options) -> None:
    """A run under gdb, with its statistics in debugged.json, ended as one without: to the byte."""
    run_sim(simulator, "--quiet", *options, "--stats", folder / "straight.json")
    assert (folder / "debugged.json").read_bytes() == (folder / "straight.json").read_bytes()


def values(text: str) -> list[str]:
    """What `print` printed."""
    return re.findall(r"^\$\d+ = (.*)$", text, re.M)


def test_both_cores_stop_step_and_go_back(machine, firmware, debugged, run_sim, tmp_path) -> None:
    run = debugged(machine("dual"), "--program", firmware("sum"), "--stats", "debugged.json")
    text = run.gdb(
        """break main
        continue
        print $_inferior
        print/x $pc
        continue
        print $_inferior
        info threads
        nexti
        nexti
        print/x $pc
        reverse-stepi
        print $_inferior
        reverse-continue
        print $_inferior
        print/x $pc
        reverse-continue
        print $_inferior
        print/x $pc
        reverse-continue
        continue
        print $_inferior"""
    )
    seen = values(text)
    start = seen[1]
    assert [seen[n] for n in (0, 2, 4, 5, 7, 9)] == ["1", "2", "2", "2", "1", "1"], text
    assert "core[0].pipeline" in text and "core[1].pipeline" in text
    assert seen[6] == seen[8] == start and int(seen[3], 16) > int(start, 16), text
    assert "No more reverse-execution history" in text
    assert run.end()[0] == 0
    same_results(tmp_path, run_sim, machine("dual"), "--program", firmware("sum"))


def test_to_the_end_and_back(machine, firmware, debugged, run_sim, tmp_path) -> None:
    """Lines over calls both ways, to the end of the run, back to its beginning and to the end again: printed once."""
    run = debugged(machine("single"), "--program", firmware("hello"), "--stats", "debugged.json")
    text = run.gdb("break main\ncontinue\nnext\nnext\nprint $pc\nreverse-next\nnext\nprint $pc\nstepi 300\nreverse-stepi 200\ndelete\ncontinue\nreverse-continue\nprint $pc\ncontinue\ncontinue")
    first, again, begin = values(text)
    assert first == again and "0x0" in begin, text
    assert "the run is over: console: the program exited; going on ends it" in text and "exited normally" in text
    status, out, _ = run.end()
    assert status == 0 and out == run_sim(machine("single"), "--quiet", "--program", firmware("hello")).out
    same_results(tmp_path, run_sim, machine("single"), "--program", firmware("hello"))


def test_every_instruction_in_its_order(machine, firmware, debugged) -> None:
    """Single steps through calls, branches and their delay slots: the way back passes the same addresses as the way there."""
    run = debugged(machine("single"), "--program", firmware("hello"))
    steps = 60
    forward = "".join("print/x $pc\nstepi\n" for _ in range(steps))
    back = "".join("reverse-stepi\nprint/x $pc\n" for _ in range(steps))
    seen = values(run.gdb(f"break main\ncontinue\n{forward}{back}"))
    assert len(seen) == 2 * steps and len(set(seen)) > 20
    assert seen[:steps] == seen[steps:][::-1]


def test_registers_memory_and_pc_are_changed(machine, firmware, debugged) -> None:
    """What is written acts on the next instruction, with younger ones in flight, and is kept."""
    run = debugged(machine("single"), "--program", firmware("hello"))
    text = run.gdb(
        """break main
        continue
        stepi 40
        set $t7 = 0x1234
        print/x $t7
        stepi
        print/x $t7
        print/x $pc
        set $pc = main
        print/x $pc
        stepi
        print/x $pc - (long)main
        set {int} 0x100000 = 77
        print {int} 0x100000
        delete
        continue"""
    )
    seen = values(text)
    assert seen[0] == seen[1] == "0x1234" and seen[3] in text and seen[4] == "0x4" and seen[5] == "77", text


def test_a_function_is_called_by_gdb(machine, firmware, debugged, run_sim) -> None:
    """The processor is sent to a function and comes back, and the program goes on as if nothing were."""
    options = ["--program", firmware("sha256"), "--cycles", "200000"]
    run = debugged(machine("riscv"), *options)
    text = run.gdb("break compress\ncontinue\nprint/x $sp\nprint/x $a0\nprint ((void *(*)(void *, int, unsigned)) memset)(0x400000, 7, 16)\nprint/x *(char (*)[18]) 0x400000\nprint/x $sp\nprint/x $a0\nprint/x $pc - (long)compress")
    seen = values(text)
    assert seen[2] == "(void *) 0x400000" and "0x7 <repeats 16 times>, 0x0, 0x0" in seen[3], text
    assert seen[:2] == seen[4:6], text
    assert run.end()[0] == 0


def test_watchpoints_of_a_variable_work_both_ways(machine, firmware, debugged) -> None:
    run = debugged(machine("dual"), "--program", firmware("sum"))
    text = run.gdb("break main\ncontinue\ndelete\nwatch next\ncontinue\nprint next\ncontinue\nprint next\nreverse-continue\nreverse-continue\nprint next")
    assert values(text) == ["50", "100", "0"], text


@pytest.mark.parametrize(("kind", "program"), [("dual", "sum"), ("riscv", "sha256")])
def test_a_backtrace_ends_at_the_entry(kind: str, program: str, machine, firmware, debugged) -> None:
    """No caller is looked for above it, where gdb would warn that it finds none."""
    run = debugged(machine(kind), "--program", firmware(program))
    text = run.gdb("set backtrace past-main on\nbacktrace\nbreak main\ncontinue\nbacktrace")
    assert re.search(r"^#0 .*_start \(\)", text, re.M) and re.search(r"^#0 .*main \(.*\n#1 .* _start \(\)", text, re.M), text
    assert "#2" not in text and not re.search("GDB (can't|is unable)|[Bb]acktrace stopped|warning", text), text


@seldom
def test_riscv(machine, firmware, debugged, run_sim, tmp_path) -> None:
    options = ["--program", firmware("sha256"), "--cycles", "200000"]
    run = debugged(machine("riscv"), *options, "--stats", "debugged.json")
    text = run.gdb("break main\ncontinue\nprint/x $pc\nstepi\nprint/x $pc\nreverse-stepi\nprint/x $pc\nprint/x $sp\nbacktrace")
    pc, after, back, _ = (int(value, 16) for value in values(text))
    assert after == pc + 4 and back == pc and "#0  main" in text, text
    assert run.end()[0] == 0
    same_results(tmp_path, run_sim, machine("riscv"), *options)


@seldom
def test_the_run_becomes_a_variant_that_sees_events(machine, firmware, debugged, run_sim, tmp_path) -> None:
    """An event that was not compiled in: the run goes on in the variant with its past, gdb's connection, breakpoints
    and what was written, and ends as it would have."""
    run = debugged(machine("dual"), "--program", firmware("sum"), "--stats", "debugged.json")
    text = run.gdb(
        """break main
        continue
        stepi 30
        print $_inferior
        print/x $pc
        monitor break event(core[1].**.access(address >= 0xffff0000))
        print $_inferior
        print/x $pc
        continue
        continue
        print $_inferior
        delete
        continue
        print $_inferior
        monitor where
        reverse-continue
        monitor where
        monitor break
        rwatch next
        reverse-continue
        print next
        reverse-continue
        print next
        delete"""
    )
    seen = values(text)
    assert seen[:2] == seen[2:4], text
    assert "event(core[1].**.access(address >= 0xffff0000)): core[1].pipeline.access access pc=" in text
    assert text.count("Hardware read watchpoint 2: next\n\nValue") == 2 and seen[-2:] == ["950", "850"], text
    status, out, err = run.end()
    assert status == 0 and err.count("building a variant that records") == 2, err
    assert out == run_sim(machine("dual"), "--quiet", "--program", firmware("sum")).out
    same_results(tmp_path, run_sim, machine("dual"), "--program", firmware("sum"))


@seldom
@pytest.mark.slow
def test_tigon2(machine, firmware, debugged, run_sim, tmp_path) -> None:
    """Two processors under traffic: breakpoints in code that was copied to their scratchpads, a watchpoint on a device
    register by its name, and the way back; frames and statistics end as without gdb."""
    options = ["--firmware", firmware("tigon2_parallel"), "--payload", "1472", "--time", "2 ms"]
    run = debugged(machine("tigon2"), *options, "--stats", "debugged.json", "--sent", "debugged.pcap")
    text = run.gdb(
        """break receive_frames
        break send_frames
        continue
        print $_inferior
        print/x $pc
        backtrace
        continue
        continue
        continue
        print $_inferior
        print/x $pc
        delete
        watch *$mac_tx_producer
        continue
        print *$mac_tx_producer
        continue
        print *$mac_tx_producer
        reverse-continue
        reverse-continue
        print *$mac_tx_producer
        monitor print /x nic.cpu[0].scratchpad.bytes[0..3]
        monitor where
        delete"""
    )
    seen = values(text)
    assert 0xC00000 <= int(seen[1], 16) < 0xC04000 and 0xC00000 <= int(seen[3], 16) < 0xC04000, text
    first, second, back = map(int, seen[4:7])
    assert first != second and back != second and "Hardware watchpoint" in text, text
    assert re.search(r"^#2 .* in dispatch \(\)", text, re.M) and "#3" not in text and "GDB is unable" not in text, text
    assert "nic.cpu[1].pipeline" in text and " of sram_clk" in text
    assert run.end()[0] == 0
    frames = tmp_path / "straight.pcap"
    run_sim(machine("tigon2"), "--quiet", *options, "--stats", tmp_path / "straight.json", "--sent", frames)
    assert frames.read_bytes() == (tmp_path / "debugged.pcap").read_bytes()
    ends = [json.loads((tmp_path / f"{name}.json").read_text()) for name in ("debugged", "straight")]
    assert [one["statistics"] for one in ends[:1]] == [one["statistics"] for one in ends[1:]] and ends[0]["run"] == ends[1]["run"]


@seldom
@pytest.mark.slow
def test_what_frames_are_doing(machine, firmware, debugged, run_sim, build_dir, tmp_path) -> None:
    """`monitor frames` knows the frames that `spinach frames` finds unfinished in a record of the same run, what handles
    them, and leaves the run where it is."""
    options = ["--firmware", firmware("tigon2_parallel"), "--payload", "1000", "--time", "1600 us"]
    run = debugged(machine("frames"), *options, "--stats", "debugged.json")
    text = run.gdb("monitor frames\ncontinue\nreverse-stepi\nmonitor where\nmonitor frames\nmonitor where\ncontinue\nmonitor frames")
    assert text.count("there is no frame") == 1, text
    before, after = re.findall(r"^\d+ ns, cycle.*\n.*\n.*$", text, re.M)
    assert re.sub("[0-9.]+ MB", "", before) == re.sub("[0-9.]+ MB", "", after), text
    run_sim(machine("frames"), "--quiet", *options, "--record", tmp_path / "run.trace", "--stats", tmp_path / "straight.json")
    lives = frames.lives(Events(tmp_path / "run.trace", build_dir))
    shown = re.findall(r"^ +(\d+|-) (receive|send) +(\d+) bytes  (.*)$", text[text.rindex("over: all time") :], re.M)
    stored = {(str(one.number), str(one.bytes), one.address) for one in lives if one.direction == "receive" and not one.finished}
    assert stored and stored == {(number, size, int(re.search("at 0x([0-9a-f]+)", what)[1], 16)) for number, way, size, what in shown if way == "receive" and number != "-"}
    on_wire = {str(one.number) for one in lives if one.direction == "send" and len([step for step in one.steps if step.what == "on the wire"]) == 0}
    assert on_wire == {number for number, way, _, what in shown if way == "send" and what.startswith("on the wire")}
    assert re.search(r"send +1042 bytes  being sent by nic\.mac_tx at 0x[0-9a-f]{8} for \d+ ns, handled by nic\.cpu\[1\]\.pipeline:send for \d+ ns, in \w+ \(inlined\)$", text, re.M)
    assert run.end()[0] == 0
    assert (tmp_path / "debugged.json").read_bytes() == (tmp_path / "straight.json").read_bytes()


@seldom
@pytest.mark.slow
def test_frames_that_have_arrived_are_gone(machine, firmware, debugged, run_sim, build_dir, tmp_path) -> None:
    """Also the last one: the wire reports its end in the instant in which the interface reports that it was sent."""
    options = ["--firmware", firmware("tigon2_parallel"), "--payload", "1000", "--frames", "6"]
    run = debugged(machine("frames"), *options)
    text = run.gdb("continue\nmonitor frames")
    assert "being sent" in text and not re.search("send +[0-9]+ bytes  on the wire", text), text
    assert run.end()[0] == 0
    run_sim(machine("frames"), "--quiet", *options, "--record", tmp_path / "run.trace")
    lives = [one for one in frames.lives(Events(tmp_path / "run.trace", build_dir)) if one.direction == "send"]
    assert lives and all(one.steps[-1].what == "on the wire" for one in lives)


def test_an_indexed_jump_is_stepped(machine, firmware, debugged) -> None:
    """JOFF, which gdb does not know, and its delay slot, both ways."""
    options = ["--firmware", firmware("tigon2_parallel"), "--payload", "1472", "--frames", "8"]
    text = debugged(machine("tigon2"), *options).gdb(
        """tbreak receive_frames
        continue
        break dispatch_loop
        continue
        delete
        print *(unsigned *) ($pc + 8) >> 26
        print *(unsigned *) ($pc + 8) & 0xffff
        stepi
        stepi
        print/x $pc
        print/x $k1 + 8 * $t0
        stepi
        print/x $pc
        reverse-stepi
        print/x $pc
        stepi
        print/x $pc"""
    )
    seen = values(text)
    assert seen[:2] == ["0", "10"], text
    joff, target, landed, back, again = seen[2:]
    assert landed == target == again != joff == back, text


def test_a_run_that_fails_stops_before_it_does(machine, firmware, debugged, run_sim) -> None:
    """gdb stops at the instant that fails, can go back from there, and the error ends the run as it would have."""
    options = ["--program", firmware("sum"), "--quiet"]  # its stack is where this machine has nothing
    straight = run_sim(machine("single"), *options, ok=False)
    assert re.search(r"at address 0x10000ffc, pc (0x[0-9a-f]{8}) .*\n  that pc is \1 <.*> sum\.c:\d+", straight.err), straight.err
    run = debugged(machine("single"), *options)
    text = run.gdb("continue\nprint/x $pc\nx/i $pc\nreverse-stepi\nprint/x $pc\nstepi\nprint/x $pc\ncontinue")
    failing, before, again = values(text)
    assert "the run fails here: core.access: a store failed: nothing responds at address 0x10000ffc" in text and "SIGABRT" in text
    assert failing == again == "0x38" and before == "0x34" and "exited with code 01" in text, text
    status, _, err = run.end()
    assert status == straight.status == 1 and err.endswith(straight.err)


def test_from_a_checkpoint(machine, firmware, debugged, run_sim, tmp_path) -> None:
    """A run goes on from a checkpoint under gdb, and back to it."""
    program = ["--program", firmware("hello")]
    run_sim(machine("single"), *program, "--quiet", "--cycles", 3000, "--checkpoint", tmp_path / "point")
    run_sim(machine("single"), "--quiet", "--restore", tmp_path / "point", "--stats", tmp_path / "straight.json")
    run = debugged(machine("single"), "--restore", "point", "--stats", "debugged.json")
    text = run.gdb("monitor where\nstepi 50\nreverse-continue\nmonitor where\nstepi 20")
    assert len(set(re.findall(r"cycle (\d+) of", text))) == 1 and "No more reverse-execution history" in text, text
    assert run.end()[0] == 0
    ends = [json.loads((tmp_path / f"{name}.json").read_text()) for name in ("debugged", "straight")]
    assert ends[0]["statistics"] == ends[1]["statistics"]
