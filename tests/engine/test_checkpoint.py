"""Checkpoints: what a restored run takes over, what may be changed with it, and what is refused in one line.

That it ends as the straight run is shown for every machine in tests/examples/test_builds_agree.py.
"""

import os
import random
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from tests.sample import sampled, seldom

MACHINE = """
parameter depth = 3 : int;                  /** of the pipe */
runtime parameter script = "" : string;     /** what is sent */
instance s : source { offer = 0.5; count = 1000; script = script; };
instance p : pipe { depth = depth; };
instance k : sink { ready = 0.5; };
instance t : timer;
s.out -> p.in : uint32;
p.out -> k.in;
"""
TIMER = "module timer { runtime init parameter start = 3 : int; state { int64 left; } init; phase_end; }\n"


@pytest.fixture(scope="module")
def simulators(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The machine, a build of it with other code, and two other machines."""
    folder = tmp_path_factory.mktemp("checkpoint")
    (folder / "m.lss").write_text(MACHINE)
    (folder / "n.lss").write_text(MACHINE.replace("uint32", "uint64"))
    (folder / "c.lss").write_text(MACHINE + "clock slow = 3 MHz;\ninstance l : sink on slow;\ninstance u : source on slow;\nu.out -> l.in : bool;\n")
    (folder / "f.lss").write_text("clock clk = 500 MHz;\n" + MACHINE)
    (folder / "timer.lss").write_text(TIMER)
    (folder / "timer.c").write_text("init() { self->left = param(start); }\nphase_end() { self->left--; }\n")
    (folder / "d.lss").write_text(MACHINE + 'stat refused = k.items / cycles "items";\n')
    builds = {"plain": ["m.lss"], "derived": ["d.lss"], "debug": ["m.lss", "--debug"], "deep": ["m.lss", "-D", "depth=4"], "wide": ["n.lss"], "clocks": ["c.lss"], "half": ["f.lss"]}
    for name, arguments in builds.items():
        subprocess.run([build_dir / "bin" / "lss", "build", "-O0", *arguments, "-o", name], cwd=folder, check=True)
    return {name: folder / name for name in builds}


@pytest.fixture
def point(simulators, run_sim, tmp_path: Path) -> Path:
    """A checkpoint after 400 of the cycles, with a record of what the sink took."""
    run_sim(simulators["plain"], "--cycles", 400, "--set", "k.record=record.txt", "--checkpoint", "point")
    return tmp_path / "point"


def items(done) -> int:
    """What the sink has taken."""
    return next(entry["value"] for entry in done.stats["statistics"] if (entry["path"], entry["name"]) == ("k", "items"))


def refused(run_sim, simulator: Path, *options) -> str:
    done = run_sim(simulator, *options, ok=False)
    assert done.status == 2 and done.err.count("\n") == 1 and done.err.startswith(f"{simulator.name}: "), done.err
    return done.err.removeprefix(f"{simulator.name}: ").removesuffix("\n")


def test_outputs_begin_anew_or_go_on(simulators, run_sim, point, tmp_path) -> None:
    straight = run_sim(simulators["plain"], "--cycles", 900, "--set", "k.record=straight.txt")
    whole, begun = (tmp_path / "straight.txt").read_text(), (tmp_path / "record.txt").read_text()
    done = run_sim(simulators["plain"], "--cycles", 900, "--restore", "point", "--outputs", "continue")
    assert (tmp_path / "record.txt").read_text() == whole and whole.startswith(begun) and begun != whole
    assert [done.stats[key] for key in ("run", "statistics")] == [straight.stats[key] for key in ("run", "statistics")]
    run_sim(simulators["plain"], "--cycles", 900, "--restore", "point", "--set", "k.record=tail.txt")
    assert begun + (tmp_path / "tail.txt").read_text() == whole
    # The file that is gone on with may have grown since, but not shrunk.
    (tmp_path / "record.txt").write_text(begun[:-1])
    assert refused(run_sim, simulators["plain"], "--cycles", 900, "--restore", "point", "--outputs", "continue") == (
        f'cannot restore "point": cannot go on with "record.txt": it has {len(begun) - 1} bytes, and had {len(begun)} at the checkpoint'
    )
    assert (tmp_path / "record.txt").read_text() == begun[:-1]


def test_parameters_are_those_of_the_run_and_may_be_changed(simulators, run_sim, tmp_path) -> None:
    plain = simulators["plain"]
    run_sim(plain, "--cycles", 400, "--set", "k.ready=0.9", "--seed", 7, "--checkpoint", "point")
    straight = run_sim(plain, "--cycles", 900, "--set", "k.ready=0.9", "--seed", 7)
    done = run_sim(plain, "--cycles", 900, "--restore", "point")
    assert done.stats["manifest"]["parameters"]["k.ready"] == "0.9" and done.stats["manifest"]["seed"] == 7
    assert done.stats["statistics"] == straight.stats["statistics"]
    # What acts in every cycle acts from now on: the sink takes what it was ready for and nothing more.
    taken = items(run_sim(plain, "--cycles", 400, "--restore", "point"))
    stopped = run_sim(plain, "--cycles", 900, "--restore", "point", "--set", "k.ready=0")
    assert stopped.stats["manifest"]["parameters"]["k.ready"] == "0" and 0 <= items(stopped) - taken <= 1
    # A seed makes another run of it, the same one each time.
    seeds = [run_sim(plain, "--cycles", 900, "--restore", "point", "--seed", n).stats["statistics"] for n in (8, 9, 8)]
    assert seeds[0] == seeds[2] and seeds[0] != seeds[1] and seeds[0] != straight.stats["statistics"]


def test_what_acts_at_the_start_only_cannot_be_changed(simulators, run_sim, point, tmp_path) -> None:
    assert refused(run_sim, simulators["plain"], "--restore", "point", "--set", "t.start=5", "--cycles", 900) == (
        'cannot restore "point": "t.start" cannot be set again: it acts only at the start of a run'
    )
    run_sim(simulators["plain"], "--restore", "point", "--set", "t.start=0x3", "--set", "s.count=900", "--cycles", 900)


def test_inputs_must_be_as_they_were(simulators, run_sim, tmp_path) -> None:
    script = "".join(f"{9 * k} {k}\n" for k in range(100))
    (tmp_path / "script.txt").write_text(script)
    run_sim(simulators["plain"], "--script", "script.txt", "--cycles", 400, "--checkpoint", "point")
    straight = run_sim(simulators["plain"], "--script", "script.txt", "--cycles", 900)
    done = run_sim(simulators["plain"], "--cycles", 900, "--restore", "point")
    assert done.stats["statistics"] == straight.stats["statistics"]
    (tmp_path / "script.txt").write_text(script + "# more\n")
    assert refused(run_sim, simulators["plain"], "--restore", "point", "--cycles", 900) == (
        'cannot restore "point": the run read "script.txt", which has changed since'
    )
    (tmp_path / "same.txt").write_text(script)
    run_sim(simulators["plain"], "--script", "same.txt", "--restore", "point", "--cycles", 900)


def test_another_build_is_accepted_and_another_machine_is_not(simulators, run_sim, point) -> None:
    straight = run_sim(simulators["plain"], "--cycles", 900)
    done = run_sim(simulators["debug"], "--cycles", 900, "--restore", "point")
    assert done.stats["statistics"] == straight.stats["statistics"]
    expected = {
        "deep": 'p has "slot[4] : uint32 @0" here, "slot[3] : uint32 @0" there',
        "wide": 's has "item : uint64 @32" here, "item : uint32 @28" there',
        "clocks": 'it has no clock "slow"',
        "half": 'the clock "clk" has another frequency',
    }
    for name, words in expected.items():
        error = refused(run_sim, simulators[name], "--cycles", 900, "--restore", "point")
        assert error.startswith('cannot restore "point": it is of another machine: ') and words in error, error


def test_another_frequency_is_refused_before_the_first_cycle_too(simulators, run_sim) -> None:
    run_sim(simulators["plain"], "--cycles", 0, "--checkpoint", "point")
    error = refused(run_sim, simulators["half"], "--cycles", 9, "--restore", "point")
    assert error == 'cannot restore "point": it is of another machine: the clock "clk" has another frequency'


def test_an_event_is_waited_for_from_a_checkpoint(simulators, run_sim, point) -> None:
    """The variant that counts events is another build; what it counts begins with it."""
    before = items(run_sim(simulators["plain"], "--cycles", 400, "--restore", "point"))
    done = run_sim(simulators["plain"], "--until", "event(k.in.transferred, 10)", "--restore", "point", "--checkpoint", "later")
    assert items(done) == before + 10
    straight = run_sim(simulators["plain"], "--cycles", 900)
    assert run_sim(simulators["plain"], "--cycles", 900, "--restore", "later").stats["statistics"] == straight.stats["statistics"]


def test_windows_and_samples_are_where_they_are_in_the_whole_run(simulators, run_sim, point) -> None:
    """Of a straight run and one from cycle 400 on (of 1 ns), what both write down is the same."""
    plain = simulators["plain"]
    for each in ("100 ns", "cycles(clk) >= 100", "k.items >= 50"):
        whole, rest = (run_sim(plain, "--cycles", 900, "--sample", each, *given).stats["samples"] for given in ([], ["--restore", "point"]))
        assert len(whole) > len(rest) > 3 and rest == whole[-len(rest) :], each
        assert all(sample["time_fs"] >= 400_000_000 for sample in rest)
    window = ["--measure-from", "500 ns", "--measure-to", "700 ns"]
    whole, rest = (run_sim(plain, "--cycles", 900, *window, *given).stats["measured"] for given in ([], ["--restore", "point"]))
    assert whole == rest
    started = run_sim(plain, "--cycles", 900, "--measure-to", "700 ns", "--restore", "point").stats["measured"]
    assert (started["from"]["time_fs"], started["to"]) == (400_000_000, whole["to"])
    for end in (["from", "300 ns"], ["to", "cycles(clk) >= 300"]):
        error = refused(run_sim, plain, "--restore", "point", f"--measure-{end[0]}", end[1])
        assert error == f"--measure-{end[0]} {end[1]}: the run goes on at 400 ns, which is later"


@seldom
def test_the_same_conditions_go_on_as_if_there_had_been_no_break(simulators, run_sim, tmp_path) -> None:
    """Window and samples of a run that is interrupted within them, again and again; the events too."""
    plain = simulators["plain"]
    given = ["--measure-from", "event(k.in.transferred, 40)", "--measure-to", "700 ns", "--sample", "event(k.taken, 30)"]
    straight = run_sim(plain, "--cycles", 900, *given)
    assert len(straight.stats["samples"]) > 6
    (tmp_path / "m.lss").write_text(MACHINE)
    restore = []
    for cycle in (20, 150, 600, 750, 900):
        done = run_sim(plain, "--cycles", cycle, *given, *restore, "--checkpoint", "point", ok=None)
        restore = ["--restore", "point"]
        assert done.status == 0 or cycle < 700, done.err
    assert [done.stats[key] for key in ("run", "statistics", "measured", "samples")] == [
        straight.stats[key] for key in ("run", "statistics", "measured", "samples")
    ]
    # Other words are another condition, and count from where they begin.
    assert run_sim(plain, "--cycles", 20, "--checkpoint", "early", "--sample", "event(k.taken, 1)").stats["samples"]
    for words in ("event(k.taken, 5)", "event(k.taken,  1)"):
        many = run_sim(plain, "--cycles", 60, "--restore", "early", "--sample", words).stats["samples"]
        assert many and min(sample["cycles"]["clk"] for sample in many) > 20


def test_series_of_a_build_with_other_statistics_do_not_go_on(simulators, run_sim, tmp_path) -> None:
    """A derived statistic is no state, so its build takes the checkpoint; but not what was written down before."""
    for option, words in (("--sample", "100 ns"), ("--measure-from", "100 ns")):
        run_sim(simulators["plain"], "--cycles", 400, option, words, "--checkpoint", "point", ok=None)
        error = refused(run_sim, simulators["derived"], "--restore", "point", "--cycles", 900, option, words)
        assert error == f"{option} {words}: the snapshots in the checkpoint have 0 operands of derived statistics, and this build has 2"
        run_sim(simulators["derived"], "--restore", "point", "--cycles", 900)
        assert run_sim(simulators["derived"], "--restore", "point", "--cycles", 900, "--sample", "200 ns").stats["samples"]


def test_damage_is_one_line(simulators, run_sim, point, tmp_path) -> None:
    whole, rng = point.read_bytes(), random.Random(4)
    texts = [whole[:n] for n in (0, 7, 8, 55, 56, len(whole) // 2, len(whole) - 1)] + [whole + b"\0"]
    for _ in range(60):
        at = rng.randrange(8 * len(whole))
        texts.append(whole[: at // 8] + bytes([whole[at // 8] ^ 1 << at % 8]) + whole[at // 8 + 1 :])
    for text in texts:
        (tmp_path / "bad").write_bytes(text)
        error = refused(run_sim, simulators["plain"], "--cycles", 900, "--restore", "bad")
        assert error.startswith('cannot restore "bad": it is ')


def test_wrong_use_is_one_line(simulators, run_sim, point, tmp_path) -> None:
    plain = simulators["plain"]
    assert refused(run_sim, plain, "--restore", "none") == 'cannot restore "none": No such file or directory'
    assert refused(run_sim, plain, "--outputs", "continue") == "--outputs continue is for runs with --restore"
    assert refused(run_sim, plain, "--outputs", "append") == '--outputs takes "begin" or "continue", not "append"'
    for wrong in ("-9", "9x", "often", "-1 ns"):
        assert refused(run_sim, plain, "--checkpoint", "new", "--checkpoint-every", wrong).startswith("--checkpoint-every: ")
    assert refused(run_sim, plain, "--checkpoint-every", "9") == "--checkpoint-every lacks the file: --checkpoint FILE"
    done = run_sim(plain, "--cycles", 9, "--checkpoint", "no/such/folder", ok=False)
    assert done.status == 1 and 'cannot write "no/such/folder"' in done.err
    done = run_sim(plain, "--cycles", 9, "--checkpoint", "/dev/full", ok=False)
    assert done.status == 1 and 'cannot write the checkpoint "/dev/full": No space left on device' in done.err


def test_two_checkpoints_are_compared(simulators, run_sim, point) -> None:
    run_sim(simulators["debug"], "--cycles", 401, "--checkpoint", "later")
    done = run_sim(simulators["plain"], "--restore", "point", "--compare", "later", ok=None)
    assert done.status == 1 and done.out.splitlines()[0] == "clk  cycle 400  cycle 401" and "t.left  -397  -398\n" in done.out
    done = run_sim(simulators["plain"], "--restore", "point", "--compare", "point")
    assert (done.status, done.out, done.err) == (0, "", "")
    assert refused(run_sim, simulators["plain"], "--compare", "point") == "--compare lacks the other checkpoint: --restore FILE"
    error = refused(run_sim, simulators["plain"], "--restore", "point", "--compare", "none")
    assert error == 'cannot restore "none": No such file or directory'


def test_hashes_of_the_state_are_those_of_any_build(simulators, run_sim, point, tmp_path) -> None:
    run_sim(simulators["plain"], "--cycles", 1000, "--set", "k.record=a", "--state-hashes", "plain.txt", "--state-hash-every", 300)
    run_sim(simulators["debug"], "--cycles", 1000, "--set", "k.record=b", "--state-hashes", "debug.txt", "--state-hash-every", 300)
    run_sim(simulators["plain"], "--cycles", 1000, "--restore", "point", "--state-hashes", "rest.txt", "--state-hash-every", 300)
    lines = (tmp_path / "plain.txt").read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["0", "300", "600", "900", "1000"] and len(set(lines)) == 5
    assert (tmp_path / "debug.txt").read_text().splitlines() == lines
    assert (tmp_path / "rest.txt").read_text().splitlines() == lines[2:]
    error = refused(run_sim, simulators["plain"], "--state-hash-every", "0")
    assert error == '--state-hash-every: "0" is less than 1'


HOLDS = "enum kind {{ {kind} }};\npacked word : uint8 {{ {word} }};\nstruct pair {{ {pair} }};\nmodule holds {{ state {{ pair it; }} phase_end; }}\n"
PARTS = {"kind": "one, two", "word": "kind what : 0; bits(2) level : 4;", "pair": "word first; uint8 second;"}


@pytest.mark.parametrize(
    ("changed", "words"),
    sampled([
        ({"kind": "two, one"}, 'a has "kind.two = 0" here, "kind.one = 0" there'),
        ({"word": "kind what : 0; bits(2) level : 5;"}, 'a has "word.level : bits(2), 2 bits from 5" here, "word.level : bits(2), 2 bits from 4" there'),
        ({"pair": "uint8 second; word first;"}, 'a has "pair.second : uint8 @0" here, "pair.first : word @0" there'),
        ({}, ""),
    ], 4, 1),
    ids=["enum", "packed", "struct", "none"],
)
def test_parts_of_a_state_that_mean_something_else_are_refused(changed, words, build_sim, run_sim, tmp_path) -> None:
    """Their sizes and places are the same."""
    (tmp_path / "holds.c").write_text("phase_end() {}\n")
    for parts in PARTS, PARTS | changed:
        (tmp_path / "holds.lss").write_text(HOLDS.format(**parts))
        simulator = build_sim("instance a : holds;", "-I", tmp_path)
        done = run_sim(simulator, "--cycles", 5, *(("--checkpoint", "point") if parts is PARTS else ("--restore", "point")), ok=None)
    assert (done.status == 0) == (not words) and words in done.err, done.err


@pytest.mark.parametrize("layout", ["uint8 small; uint32 large;", "uint32 large; uint8 small;"])
def test_what_is_between_members_is_no_state(build_sim, run_sim, tmp_path, layout: str) -> None:
    """What a module left in the padding of a struct is in no hash."""
    (tmp_path / "padded.lss").write_text(f"struct pair {{ {layout} }}\nmodule padded {{ state {{ pair it; }} init; phase_end; }}\n")
    hashes = []
    for fill in 0, 0x55:
        code = f"#include <string.h>\ninit() {{ memset(&self->it, {fill}, sizeof self->it); self->it.small = 1; self->it.large = 2; }}\n"
        (tmp_path / "padded.c").write_text(code + "phase_end() { self->it.large++; }\n")
        simulator = build_sim("instance p : padded;\n", "-O0")
        run_sim(simulator, "--cycles", 10, "--state-hashes", f"{fill}.txt")
        hashes.append((tmp_path / f"{fill}.txt").read_text())
    assert hashes[0] == hashes[1] and hashes[0]


def test_all_of_a_state_is_in_its_hash(build_sim, run_sim, tmp_path) -> None:
    """Each end of small and large fields, of memories, and of the stretches that they are hashed in; also that it is one field and not another."""
    state = "uint8 large[9000]; uint8 small[2]; uint16 pairs[3000]; memory uint8 table[9000];"
    (tmp_path / "holds.lss").write_text(f"module holds {{ runtime parameter where = -1 : int; state {{ {state} }} phase_end; }}\n")
    places = [f"self->large[{at}] = 1" for at in (0, 4095, 4096, 8999)] + ["self->small[0] = 1", "self->small[1] = 1", "self->pairs[0] = 1", "self->pairs[2999] = 256", "store(table, 0, 1)", "store(table, 8999, 1)"]
    cases = "".join(f"  if (param(where) == {k}) {place};\n" for k, place in enumerate(places))
    (tmp_path / "holds.c").write_text(f"phase_end() {{\n{cases}}}\n")
    simulator, hashes = build_sim("instance first : holds; instance second : holds;", "-I", tmp_path), set()
    for k in range(-1, len(places)):
        for instance in ("first", "second"):
            run_sim(simulator, "--cycles", 2, "--set", f"{instance}.where={k}", "--state-hashes", "hashes.txt")
            hashes.add((tmp_path / "hashes.txt").read_text().splitlines()[-1])
    assert len(hashes) == 2 * len(places) + 1


def test_a_failed_run_leaves_the_checkpoint_before(simulators, run_sim, point, tmp_path) -> None:
    before = point.read_bytes()
    (tmp_path / "script.txt").write_text("5 1\n4 2\n")
    done = run_sim(simulators["plain"], "--script", "script.txt", "--cycles", 900, "--checkpoint", "point", ok=False)
    assert "script.txt" in done.err and point.read_bytes() == before


def test_periodic_checkpoints_survive_a_kill(simulators, run_sim, tmp_path) -> None:
    """Each takes the place of the one before, whole; SIGTERM ends the run with one."""
    plain, every = simulators["plain"], ["--checkpoint", "point", "--checkpoint-every", "500"]
    straight = run_sim(plain, "--cycles", 100_000)
    for number in (signal.SIGKILL, signal.SIGTERM):
        (tmp_path / "point").unlink(missing_ok=True)
        process = subprocess.Popen([plain, "--cycles", "100000000000", "--quiet", *every], cwd=tmp_path)
        while not (tmp_path / "point").exists():
            time.sleep(0.002)
        process.send_signal(number)
        process.wait()
        done = run_sim(plain, "--until", "0 s", "--restore", "point")
        cycles = done.stats["run"]["cycles"]["clk"]
        assert cycles >= 500 and (number == signal.SIGTERM or cycles % 500 == 0)
        if cycles < 100_000:
            assert run_sim(plain, "--cycles", 100_000, "--restore", "point").stats["statistics"] == straight.stats["statistics"]
        leftover = [name for name in os.listdir(tmp_path) if name.startswith("point.")]
        assert len(leftover) <= (number == signal.SIGKILL)
        for name in leftover:
            (tmp_path / name).unlink()


@pytest.mark.soak
def test_kills_while_a_checkpoint_is_written_leave_the_one_before(simulators, run_sim, tmp_path) -> None:
    """Of two hundred runs that do little but write checkpoints, each is killed at a random time."""
    rng, cycles = random.Random(11), []
    for _ in range(200):
        process = subprocess.Popen([simulators["plain"], "--cycles", "100000000000", "--quiet", "--checkpoint", "point", "--checkpoint-every", "50"], cwd=tmp_path)
        while not (tmp_path / "point").exists():
            time.sleep(0.001)
        time.sleep(rng.random() * 0.02)
        process.kill()
        process.wait()
        done = run_sim(simulators["plain"], "--until", "0 s", "--restore", "point")
        cycles.append(done.stats["run"]["cycles"]["clk"])
        for name in os.listdir(tmp_path):
            if name.startswith("point"):
                (tmp_path / name).unlink()
    assert all(n and n % 50 == 0 for n in cycles) and len(set(cycles)) > 3


def test_a_distance_in_time_is_one_in_cycles(simulators, run_sim, tmp_path) -> None:
    """Of a clock of 1 GHz; what the run had written when it failed is left."""
    (tmp_path / "script.txt").write_text("5 1\n760 2\n750 3\n")
    for every in ("100", "100 ns", "0.1us"):
        run_sim(simulators["plain"], "--script", "script.txt", "--cycles", 900, "--checkpoint", "point", "--checkpoint-every", every, ok=False)
        assert run_sim(simulators["plain"], "--until", "0 s", "--restore", "point", "--script", "script.txt").stats["run"]["cycles"]["clk"] % 100 == 0
        (tmp_path / "point").unlink()


def test_packets_go_on_behind_those_that_were_read(build_sim, run_sim, tmp_path) -> None:
    """A file of packets is read from its beginning in the restored run, up to where the earlier one was."""
    (tmp_path / "reader.lss").write_text('module reader { runtime init parameter packets = "" : string; runtime parameter removes = false : bool; state { stream frames; uint64 seen; } init; phase_end; }\n')
    (tmp_path / "reader.c").write_text(
        "init() { packet_read_open(&self->frames, param(packets)); }\nphase_end() {\n  uint8_t frame[64]; uint32_t length; uint64_t stamp;\n"
        "  if (packet_next(&self->frames, frame, sizeof frame, &length, &stamp)) self->seen = 10 * self->seen + frame[0];\n"
        "  if (param(removes)) remove(param(packets));\n}\n"
    )
    header = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    frames = b"".join(struct.pack("<IIII", n, 0, 14, 14) + bytes([n]) * 14 for n in range(1, 6))
    (tmp_path / "in.pcap").write_bytes(header + frames)
    simulator = build_sim("instance r : reader;", "-I", tmp_path, "-O0")
    given = ("--set", f"r.packets={tmp_path / 'in.pcap'}")
    assert "r.seen = 12\n" in run_sim(simulator, "--cycles", 2, *given, "--print", "r.seen", "--checkpoint", "point").out
    for cycles, seen in ((3, 123), (5, 12345), (9, 12345)):
        assert f"r.seen = {seen}\n" in run_sim(simulator, "--cycles", cycles, "--restore", "point", "--print", "r.seen").out
    # It is opened once.
    assert "r.seen = 12345\n" in run_sim(simulator, "--cycles", 5, *given, "--set", "r.removes=true", "--print", "r.seen").out and not (tmp_path / "in.pcap").exists()


HOLD = {
    "hold.lss": "module hold { state { memory uint8 bytes[16 MiB]; uint64 n; } init; phase_end; }\n",
    "hold.c": "init() { uint64_t x = 1; for (uint32_t i = 0; i < 16u << 20; i++) { x = x * 6364136223846793005u + 1442695040888963407u; store(bytes, i, (uint8_t)(x >> 56)); } }\n"
    "phase_end() { self->n++; }\n",
}


def test_a_checkpoint_is_written_with_little_memory(build_sim, tmp_path) -> None:
    """Of 16 MiB that do not compress: as they are compressed, or an error line."""
    for name, text in HOLD.items():
        (tmp_path / name).write_text(text)
    simulator, written = build_sim("instance h : hold;"), []
    for megabytes in (24, 26, 28, 30, 36, 44, 60):
        command = ["prlimit", f"--as={megabytes << 20}", simulator, "--quiet", "--cycles", "5", "--checkpoint", "point"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        written.append(done.returncode == 0)
        assert done.returncode in (0, 1, 127) and done.stderr.count("\n") == (not written[-1]), (megabytes, done)
        assert "GLib" not in done.stderr, (megabytes, done.stderr)
        assert not list(tmp_path.glob("point.*"))
    assert written[3:] == [True] * 4 and written == sorted(written), written
