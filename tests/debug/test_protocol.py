"""The remote protocol, packet by packet: framing, what is refused, who may connect, and that memory reads as what was stored."""

import json
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.debug.remote import framed
from tests.sample import seldom

MALFORMED = ["m", "m10", "m10,", "mzz,4", "m10,4x", "M10,4", "M10,4:00", "M10,2:0g00", "X10,3:ab", "P", "P4", "P4=", "P4=12", "P99=00000000", "pzz", "G00", "Hx1", "Hgp9.1", "Hg", "Z", "Z0", "Z0,", "Z0,zz,4", "z5,10,4", "Z3,10", "Z4,zz,1"]
MALFORMED += ["vCont;", "vCont;x", "vCont;c:p9.1", "vCont;C", "vAttach;9", "vAttach;", "D;9", "T", "Tp9.1", "c10", "C", "qXfer:features:read:target.xml:", "qXfer:features:read:target.xml:0", "qRcmd,1", "qRcmd,zz", "qThreadExtraInfo,p9.1"]
UNKNOWN = ["", "vMustReplyEmpty", "vRun;x", "qNothing", "Qnothing", "y", "bx", "R00"]


def test_what_is_wrong_is_refused_and_changes_nothing(machine, firmware, debugged, run_sim, tmp_path) -> None:
    run = debugged(machine("single"), "--program", firmware("hello"), "--stats", "debugged.json")
    gdb = run.remote()
    assert "multiprocess+" in gdb.ask("qSupported:multiprocess+")
    before = gdb.ask("g"), gdb.ask("m0,100"), gdb.monitor("where")
    for packet in MALFORMED:
        assert gdb.ask(packet).startswith("E"), packet
    for packet in UNKNOWN:
        assert gdb.ask(packet) == "", packet
    assert gdb.ask("m90000000,4").startswith("E") and gdb.ask("M90000000,1:00").startswith("E")
    assert (gdb.ask("g"), gdb.ask("m0,100"), gdb.monitor("where")) == before
    assert gdb.ask("D;1") == "OK"
    gdb.close()
    assert run.end()[0] == 0
    run_sim(machine("single"), "--quiet", "--program", firmware("hello"), "--stats", tmp_path / "straight.json")
    assert (tmp_path / "debugged.json").read_bytes() == (tmp_path / "straight.json").read_bytes()


def test_a_run_that_fails_without_gdb_removes_its_socket(machine, firmware, debugged) -> None:
    run = debugged(machine("single"), "--program", firmware("sum"))  # its stack is where this machine has nothing
    gdb = run.remote()
    assert run.path.is_socket() and gdb.ask("D;1") == "OK"
    gdb.close()
    assert run.end()[0] == 1 and not run.path.exists()


MIPS = {f"r{n}": n for n in range(32)} | {"status": 32, "lo": 33, "hi": 34, "badvaddr": 35, "cause": 36, "pc": 37} | {f"f{n}": 38 + n for n in range(32)} | {"fcsr": 70, "fir": 71}


@pytest.mark.parametrize(("name", "program", "count"), [("single", "hello", 72), ("riscv", "sha256", 33)])
def test_registers_have_the_numbers_that_gdb_knows(name: str, program: str, count: int, machine, firmware, debugged) -> None:
    gdb = debugged(machine(name), "--program", firmware(program)).remote()
    told = gdb.ask("qXfer:features:read:target.xml:0,10000")
    numbers = {name: int(number) for name, number in re.findall(r'<reg name="(\w+)"[^>]* regnum="(\d+)"', told)}
    assert len(numbers) == count and (numbers == MIPS or numbers["zero"] == 0 and numbers["t6"] == 31 and numbers["pc"] == 32)
    assert len(gdb.ask("g")) == 8 * count
    assert all(len(gdb.ask(f"p{number:x}")) == 8 for number in numbers.values()) and gdb.ask(f"p{count:x}").startswith("E")


def test_acknowledgments(machine, firmware, debugged) -> None:
    gdb = debugged(machine("single"), "--program", firmware("hello")).remote()
    gdb.socket.sendall(b"+$?#00")
    assert gdb.byte() == b"-"
    gdb.socket.sendall(framed(b"?"))
    assert gdb.byte() == b"+" and gdb.reply() == "T05thread:1;"
    gdb.socket.sendall(b"-")  # once more
    assert gdb.reply() == "T05thread:1;"
    assert gdb.ask("QStartNoAckMode") == "OK"
    gdb.socket.sendall(framed(b"?"))
    assert gdb.byte() == b"$"  # and no acknowledgment before it
    gdb.received = b"$" + gdb.received
    assert gdb.reply() == "T05thread:1;"
    # What begins and does not end is no packet.
    gdb.socket.sendall(b"$" + b"m" * 40000)
    with pytest.raises((AssertionError, ConnectionResetError)):
        gdb.byte()


def test_only_this_host_is_listened_to(machine, firmware, tmp_path) -> None:
    command = [machine("single"), "--program", firmware("hello"), "--quiet", "--gdb"]
    process = subprocess.Popen([*command, "0"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        port = int(re.fullmatch(r"single: target extended-remote 127\.0\.0\.1:(\d+)\n", line)[1])
        table = Path("/proc/net/tcp").read_text()
        assert re.search(rf"0100007F:{port:04X} 00000000:0000 0A", table) and not re.search(rf"00000000:{port:04X} 00000000:0000 0A", table)
        busy = subprocess.run([*command, str(port)], cwd=tmp_path, capture_output=True, text=True)
        assert busy.returncode == 1 and busy.stderr == f'single: --gdb: cannot listen on "{port}": Address already in use\n'
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(framed(b"k"))
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("host", ["*", "0.0.0.0"])
def test_other_hosts_are_listened_to_after_a_warning(host: str, machine, firmware, tmp_path) -> None:
    command = [machine("single"), "--program", firmware("hello"), "--quiet", "--gdb", f"{host}:0"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        shown = "" if host == "*" else "0\\.0\\.0\\.0"
        port = int(re.fullmatch(rf"single: target extended-remote {shown}:(\d+)\n", process.stderr.readline())[1])
        warning = f"single: warning: every computer that reaches {host} can change the machine (--gdb PORT is this computer alone)\n"
        assert process.stderr.readline() == warning
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(framed(b"k"))
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


def listening(process: subprocess.Popen, path: Path) -> None:
    """Until the simulator listens there, and has said so."""
    assert process.stderr.readline() == f"single: target extended-remote {path.name}\n"


def test_the_name_of_a_socket(machine, firmware, tmp_path: Path) -> None:
    """What a killed run left is replaced, what listens or is no socket is not; at the end the own one goes, and no other."""
    command = [machine("single"), "--program", firmware("hello"), "--quiet", "--gdb", "s"]
    path = tmp_path / "s"

    def start() -> subprocess.Popen:
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        listening(process, path)
        return process

    killed = start()
    busy = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (busy.returncode, busy.stderr) == (1, 'single: --gdb: cannot listen on "s": another process listens there (name another path)\n')
    killed.kill()
    killed.communicate()
    assert path.is_socket() and path.stat().st_mode & 0o077 == 0
    for other in False, True:
        process = start()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            if other:
                path.unlink()
                path.write_text("kept")
            client.sendall(framed(b"k"))
            process.communicate(timeout=60)
        assert path.exists() == other and [one.name for one in tmp_path.glob("s*")] == ["s"] * other
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == 'single: --gdb: cannot listen on "s": there is a file of this name (name another one, or remove it)\n'
    assert path.read_text() == "kept"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--gdb-script"], "--gdb-script lacks the port: --gdb PORT"),
        (["--gdb-run"], "--gdb-run lacks the port: --gdb PORT"),
        (["--gdb", ""], "--gdb takes a port, HOST:PORT or the path of a socket"),
        (["--gdb", "1", "--sample", "1 ms"], "--sample writes down what happens once; with --gdb a run goes backwards, too"),
        (["--gdb", "1", "--history", "much"], "--history: "),
        (["--gdb", "no/such/folder/socket"], '--gdb: cannot listen on "no/such/folder/socket": No such file or directory'),
        (["--gdb", 100 * "x"], f'--gdb: cannot listen on "{100 * "x"}": the path has 100 bytes; at most 99 are possible for a socket (name a shorter path)'),
        (["--gdb", "65536"], '--gdb: cannot listen on "65536": a port is a number from 0 to 65535; 0 takes one that is free'),
        (["--gdb", "localhost:gdb"], '--gdb: cannot listen on "localhost:gdb": a port is a number from 0 to 65535; 0 takes one that is free'),
        (["--gdb", "no.such.host.invalid:0"], '(name an address of this computer)'),
    ],
)
def test_mistakes_are_one_line(options, words: str, machine, run_sim) -> None:
    done = run_sim(machine("single"), *options, ok=False)
    assert done.err.count("\n") == 1 and words in done.err, done.err


def test_a_machine_without_processors(build_sim, run_sim) -> None:
    done = run_sim(build_sim("instance s : source;\ninstance k : sink;\ns.out -> k.in : bool;"), "--gdb", "0", ok=False)
    assert done.status == 1 and "--gdb: no module of this machine declares a processor" in done.err and done.err.count("\n") == 1


ENDLESS = """
clock clk = 100 MHz;
instance start : program_start { entry = 0; };
instance core : mips_pipeline { big_endian = false; start_halted = true; };
instance ram : memory_state { width = 32; size = 64 KiB; alias = true; };
start.control -> core.control;
core.fetch -> ram.port;
core.data -> ram.port;
debug memory { 0 .. 0xffffffff = ram.bytes; }
"""


@seldom
def test_a_break_on_what_idle_time_counts(build_sim, debugged) -> None:
    """A core that nothing lets go is idle for ever, and its cycles are looked at all the same; those of another value are skipped."""
    halted = ENDLESS.replace("program_start { entry = 0; }", "source { count = 0; }").replace("start.control", "start.out")
    gdb = debugged(build_sim(halted), "--cycles", 3_000_000_000).remote()
    for cycles in (1, 12_345, 12_346):
        assert gdb.monitor(f"break core.issue.halted >= {cycles}") == "" and gdb.ask("c").startswith("T05")
        assert f"core.issue.halted = {cycles} cycles" in gdb.monitor("statistics core.issue") and gdb.monitor("break") == ""
    assert gdb.monitor("break core.writeback.instructions >= 1") == "" and gdb.ask("c").startswith("T05")
    assert "core.issue.halted = 3000000000 cycles" in gdb.monitor("statistics core.issue")


def test_a_running_machine_is_interrupted(build_sim, debugged) -> None:
    run = debugged(build_sim(ENDLESS), "--gdb-run")
    gdb = run.remote()
    assert gdb.ask("?") == "T05thread:1;"
    first = gdb.monitor("where")
    gdb.socket.sendall(framed(b"c"))
    time.sleep(0.1)
    gdb.socket.sendall(b"\x03")
    assert gdb.reply() == "T02thread:1;"
    assert gdb.monitor("where") != first
    run.process.send_signal(signal.SIGTERM)
    assert run.end()[0] == 128 + signal.SIGTERM


def test_a_signal_cuts_no_reply(machine, firmware, tmp_path) -> None:
    """Nobody reads until replies fill the connection; then the simulator is stopped within one, which is whole all the same."""
    command = [machine("single"), "--program", firmware("hello"), "--quiet", "--gdb", "0"]
    process, asked, received = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True), 2000, b""
    try:
        port = int(process.stderr.readline().rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.sendall(framed(b"m0,1000") * asked + framed(b"D;1"))
            asleep = 0
            while asleep < 5:
                time.sleep(0.02)
                asleep = asleep + 1 if Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S" else 0
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.05)
            process.send_signal(signal.SIGCONT)
            while more := client.recv(65536):
                received += more
        nothing, *replies, detached = received.split(b"+$")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    assert not nothing and detached.startswith(b"OK#") and {len(reply) for reply in replies} == {2 * 0x1000 + len("#00")} and len(replies) == asked


@pytest.mark.soak  # tests/debug/test_interactive.py has such a run
def test_a_run_without_progress_stops(build_sim, debugged, run_sim, tmp_path) -> None:
    """Where the watchdog ends the straight run, and as that says; what is written counts as progress."""
    simulator, options = build_sim(ENDLESS), ["--watchdog", "1 ms"]
    straight = run_sim(simulator, "--quiet", *options, "--stats", "straight.json", ok=False)
    why = re.search(r"error: (no progress for 1 ms of simulated time, since 0 ms)\n", straight.err)[1]
    cycles = json.loads((tmp_path / "straight.json").read_text())["run"]["cycles"]["clk"]
    run = debugged(simulator, *options)
    gdb = run.remote()
    assert gdb.ask("c") == "T06thread:1;" and f"the run fails here: {why}; going on ends it" in gdb.output
    stuck = gdb.monitor("where").split(";")[0]
    assert f"cycle {cycles} of" in stuck
    assert gdb.ask("bs").startswith("T05") and not gdb.monitor("where").startswith(stuck)
    assert gdb.ask("c").startswith("T06") and gdb.monitor("where").startswith(stuck)
    assert gdb.ask("P2=00000001") == "OK" and gdb.ask("c").startswith("T06") and not gdb.monitor("where").startswith(stuck)
    assert gdb.ask("c") == "W01"
    gdb.close()
    status, _, err = run.end()
    assert status == straight.status == 1 and re.search(r"error: no progress for 1 ms of simulated time, since 1\.[0-9]* ms\n", err) and "registers" in err


@seldom
def test_the_other_byte_order_and_memory_that_repeats(build_sim, debugged) -> None:
    """A little-endian processor executes what was written for it at another address of the same memory."""
    gdb = debugged(build_sim(ENDLESS)).remote()
    assert gdb.ask("Z0,100,4") == "OK" and "swbreak" not in gdb.ask("c")
    assert gdb.ask("M7fff0104,8:34120224ffff0010") == "OK"  # addiu $v0, $zero, 0x1234; b to itself
    assert gdb.ask("m104,4") == "34120224" and gdb.ask("P3=78563412") == "OK" and gdb.ask("p3") == "78563412"
    assert gdb.ask("p25") == "00010000"
    for _ in range(4):
        gdb.ask("s")
    assert gdb.ask("p2") == "34120000" and gdb.ask("p25") == "08010000"


def test_what_was_written_stays(machine, firmware, debugged) -> None:
    """A look at what the other processor does next goes back to what was written, not to what was before."""
    gdb = debugged(machine("dual"), "--program", firmware("sum")).remote()
    gdb.ask("qSupported:multiprocess+")
    gdb.ask("vCont;s:p1.1;c")
    assert gdb.ask("M400000,4:01020304") == "OK" and gdb.ask("P4=12345678") == "OK"
    assert gdb.ask("Hgp2.1") == "OK" and len(gdb.ask("g")) > 100 and gdb.monitor("where")
    assert gdb.ask("m400000,4") == "01020304"
    assert gdb.ask("Hgp1.1") == "OK" and gdb.ask("p4") == "12345678"


def test_stops_of_others_while_one_is_stepped_are_reported_later(machine, firmware, debugged) -> None:
    """A thread that is named alone is not stopped by others; going on begins with their stops, to which the run goes back."""
    gdb = debugged(machine("dual"), "--program", firmware("sum")).remote()

    def cycle() -> int:
        return int(re.search(r"cycle (\d+) of", gdb.monitor("where"))[1])

    gdb.ask("qSupported:multiprocess+")
    for _ in range(6):
        gdb.ask("vCont;s:p1.1;c")
    assert gdb.ask("Hgp2.1") == "OK" and gdb.ask("p25") == "00000014" and gdb.ask("Z0,18,4") == "OK"
    stepped = [(gdb.ask("vCont;s:p1.1"), cycle())[1] for _ in range(5)]
    assert stepped == sorted(set(stepped))
    assert gdb.ask("vCont;c").startswith("T05") and cycle() <= stepped[0] and gdb.ask("Hgp2.1") == "OK" and gdb.ask("p25") == "00000018"


def test_monitor(machine, firmware, debugged, run_sim, tmp_path) -> None:
    gdb = debugged(machine("single"), "--program", firmware("hello")).remote()
    *commands, note = gdb.monitor("help").splitlines()
    for command in commands:
        assert command.split()[0] in ("print", "set", "statistics", "registers", "where", "break", "frames", "checkpoint", "help")
        assert command[35] == " " != command[36]
    assert note.startswith("The simulator's --list ")
    assert gdb.monitor("frames") == "nothing in this machine receives or sends frames\n"
    assert "did you mean" in gdb.monitor("print core.writeback.pcc")
    assert gdb.monitor("print /x core.fetcher.pc") == "0x00000000\n"
    assert gdb.monitor("print core.fetcher.phase") == "request\n"
    assert "the index must be less than 64" in gdb.monitor("print core.writeback.history[60..70]")
    assert gdb.monitor("break core.writeback.instructions >= 100") == ""
    gdb.ask("c")
    assert gdb.monitor("print core.writeback.instructions") == "100\n"
    assert "core.writeback.instructions = 100 instructions" in gdb.monitor("statistics core.writeback")
    assert gdb.monitor("statistics instructions") == "core.writeback.instructions = 100 instructions\n"
    assert gdb.monitor("statistics nothing") == 'no statistic matches "nothing"\n'
    assert gdb.monitor("registers x") == 'no register has a name that matches "x"\n'
    assert gdb.monitor("set core.writeback.history[0] = {behind=1 to=2}") == "" and gdb.monitor("print core.writeback.history[0]") == "{behind=1 to=2}\n"
    assert gdb.monitor("set core.fetcher.pc") == "set PATH.STATE = VALUE\n" and "name one of them" in gdb.monitor("set core.writeback.history = 1")
    assert gdb.monitor("set core.fetcher.phase = nowhere") != ""
    assert gdb.monitor("stats") == 'there is no command "stats"; there are print, set, statistics, registers, where, break, frames, checkpoint and help\n'
    assert gdb.monitor("checkpoint point") == ""
    assert "restored" not in run_sim(machine("single"), "--restore", "point", "--quiet").err


def test_reads_and_accesses_have_watchpoints(machine, firmware, debugged) -> None:
    """After the access, by the processor itself, both ways; each kind knows its own."""
    run = debugged(machine("recorded"), "--program", firmware("hello"))
    gdb = run.remote()
    digits = 0x7FFFE6  # is written, then read, by print_number()
    assert gdb.ask(f"Z3,{digits:x},1") == "OK"
    assert "rwatch:7fffe6;" in gdb.ask("c") and "core.access access pc=0x1a8 op=read address=0x7fffe6 size=1 data=0\n" in gdb.output
    first = gdb.monitor("where")
    assert "rwatch:7fffe6;" in gdb.ask("c") and gdb.monitor("where") != first
    assert "rwatch:7fffe6;" in gdb.ask("bc") and "rwatch:7fffe6;" in gdb.ask("bc")
    before = gdb.monitor("where")
    assert "rwatch:7fffe6;" in gdb.ask("c") and gdb.monitor("where") == first != before
    assert gdb.ask(f"z3,{digits:x},1") == gdb.ask("Z4,ffff0000,4") == "OK"  # a device, of which nothing can be read
    assert "awatch:ffff0000;" in gdb.ask("c") and "awatch:ffff0000;" in gdb.ask("bc")
    assert gdb.ask("z4,ffff0000,4") == gdb.ask("Z3,ffff0000,4") == "OK"
    assert "watch" not in gdb.ask("c")  # nobody reads that


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("break 3 parsec", 'break: "3 parsec" has an unknown unit; a time is a number and one of s, ms, us, ns, ps, fs'),
        ("break -3 ms", "a time is not negative"),
        ("break 1e12 s", "1e12 s: the simulated time of this machine ends before that"),
        ("break cycles(cpu_clock) >= 3", 'there is no clock "cpu_clock"; did you mean "cpu_clk"?'),
        ("break end", "gdb stops at the end of the run in any case; a break waits for a time, "),
        ("break event(core.access.access) + 3 ms", "gdb stops at events without + TIME: stop at the event, then break at a time"),
        ("break event(core.access.acces)", 'core.access has no event "acces"; did you mean "access"?'),
        ("break event(core.acces.access)", 'no instance with behaviour matches "core.acces"; did you mean "core.access"?'),
        ("break event(**.access(adress == 1))", 'the event "**.access" has no argument "adress"'),
        ("break event(**.access, 0)", "the events are counted from 1"),
        ("break core.access", "this is no condition"),
    ],
)
def test_a_wrong_break_is_one_line(command: str, words: str, machine, firmware, debugged) -> None:
    gdb = debugged(machine("recorded"), "--program", firmware("hello")).remote()
    said = gdb.monitor(command)
    assert words in said and said.count("\n") == 1, said
    assert gdb.ask("c") and "is over" in gdb.output


def test_a_break_on_a_time_works_both_ways(machine, firmware, debugged, run_sim, tmp_path) -> None:
    """Where --until would end the run, also between instructions; and what is over says how to go there."""
    options = ["--program", firmware("hello")]
    run = debugged(machine("single"), *options, "--stats", "debugged.json")
    gdb = run.remote()

    def stop(packet: str) -> tuple[int, str]:
        gdb.output = ""
        assert gdb.ask(packet) == "T05thread:1;"
        return int(re.search(r"cycle (\d+) of", gdb.monitor("where"))[1]), gdb.output

    for condition in ("3.201 us", "10 us", "cycles(cpu_clk) >= 1234"):
        assert gdb.monitor(f"break {condition}") == ""
    assert [stop("c") for _ in range(3)] == [(321, "3.201 us\n"), (1000, "10 us\n"), (1234, "cycles(cpu_clk) >= 1234\n")]
    assert gdb.monitor("break 10 us") == "10 us is in the past: the run is at 12340 ns, cycle 1234 of cpu_clk; reverse-continue goes back there\n"
    assert gdb.monitor("break cycles(cpu_clk) >= 1234") == "cycles(cpu_clk) >= 1234 is now: the run is at 12340 ns, cycle 1234 of cpu_clk\n"
    assert [stop("bc") for _ in range(2)] == [(1000, "10 us\n"), (321, "3.201 us\n")]
    assert gdb.ask("bc").endswith("replaylog:begin;") and stop("c") == (321, "3.201 us\n")
    # With a breakpoint and a state, each instant is looked at.
    assert gdb.monitor("break core.writeback.instructions >= 300") == "" and gdb.ask("Z0,14c,4") == "OK"
    there = [stop("c") for _ in range(12)]
    assert there == sorted(there) and {"10 us\n", "core.writeback.instructions >= 300\n", ""} <= {why for _, why in there}
    assert gdb.monitor("break") == "" and gdb.ask("z0,14c,4") == "OK" and gdb.ask("D;1") == "OK"
    gdb.close()
    assert run.end()[0] == 0
    run_sim(machine("single"), "--quiet", *options, "--stats", tmp_path / "straight.json")
    assert (tmp_path / "debugged.json").read_bytes() == (tmp_path / "straight.json").read_bytes()


def test_a_break_before_the_history_says_so(machine, firmware, debugged, run_sim, tmp_path) -> None:
    """After a change of the state, and in a run from a checkpoint; nothing is set then."""
    program = ["--program", firmware("hello")]
    run_sim(machine("single"), *program, "--quiet", "--cycles", 3000, "--checkpoint", tmp_path / "point")
    gdb = debugged(machine("single"), *program, "--restore", "point").remote()
    assert gdb.monitor("break 29 us") == "29 us is before the start of the history, at 30000 ns: start the run again to stop there (--history SIZE keeps more)\n"
    assert gdb.monitor("break 30 us") == "30 us is now: the run is at 30000 ns, cycle 3000 of cpu_clk\n" and gdb.monitor("break 31 us") == ""
    assert "thread" in gdb.ask("c") and gdb.output == "31 us\n" and gdb.ask("bc").endswith("replaylog:begin;")
    assert gdb.ask("c") and gdb.ask("P4=12345678") == "OK"
    assert "29 us is before the start of the history, at 30" in gdb.monitor("break 29 us")


def test_a_break_on_a_time_in_idle_time(build_sim, debugged) -> None:
    """Idle time is skipped up to it, not beyond it, and from both sides the run stops at the same instant."""
    halted = ENDLESS.replace("program_start { entry = 0; }", "source { count = 0; }").replace("start.control", "start.out")
    gdb = debugged(build_sim(halted), "--cycles", 3_000_000_000).remote()

    def cycle(packet: str) -> int:
        assert gdb.ask(packet) == "T05thread:1;"
        return int(re.search(r"cycle (\d+) of", gdb.monitor("where"))[1])

    for condition in ("1.005 s", "7 s", "20 s"):
        assert gdb.monitor(f"break {condition}") == ""
    assert [cycle("c") for _ in range(3)] == [100_500_000, 700_000_000, 2_000_000_000]
    assert [cycle("bc") for _ in range(2)] == [700_000_000, 100_500_000]


def test_statistics_of_a_window(machine, firmware, debugged, run_sim, tmp_path) -> None:
    """Between the mark and now, whichever comes first, as snapshots of the same run have it; the mark goes along into a variant."""
    options = ["--program", firmware("hello")]
    run = debugged(machine("single"), *options, "--stats", "debugged.json")
    gdb = run.remote()

    def since(pattern: str = "") -> tuple[str, dict[str, str]]:
        bounds, *lines = gdb.monitor(f"statistics since {pattern}").splitlines()
        return bounds, dict(re.match(r"(\S+) = (\S+)", line).groups() for line in lines if not line.startswith("("))

    assert gdb.monitor("statistics since") == "there is no mark: statistics mark sets one\n"
    assert gdb.monitor("statistics mark k") == "statistics mark takes nothing; statistics since [PATTERN] shows what was counted\n"
    for instant in ("3 us", "10 us"):
        assert gdb.monitor(f"break {instant}") == "" and "thread" in gdb.ask("c")
        if instant == "3 us":
            assert gdb.monitor("statistics mark") == "the mark is at 3000 ns\n"
    assert gdb.monitor("statistics since back") == 'no statistic matches "back"\n'  # a pattern means whole names, not core.writeback
    bounds, there = since()
    assert bounds == "from 3000 ns to 10000 ns: 7000 ns, 700 cycles of cpu_clk" and since("instructions")[1].keys() == {"core.writeback.instructions"}
    assert gdb.monitor("break event(core.access.access)") == "" and since() == (bounds, there)
    assert gdb.monitor("break") == "" and gdb.monitor("statistics mark") == "the mark is at 10000 ns\n"
    assert gdb.monitor("statistics since writeback").endswith(": 0 ns, 0 cycles of cpu_clk\n(1 statistic did not change)\n")
    assert gdb.monitor("break 3 us") and gdb.ask("bc") and since() == (bounds, there)
    assert gdb.ask("D;1") == "OK"
    gdb.close()
    assert run.end()[0] == 0
    window = run_sim(machine("single"), *options, "--measure-from", "3 us", "--measure-to", "10 us", "--stats", tmp_path / "straight.json")
    assert f"\nmeasured {bounds}\n" in window.out and all(f"\n{name} = {value} " in window.out for name, value in there.items())
    stopped, straight = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("debugged", "straight"))
    first, last = (straight["measured"][end] for end in ("from", "to"))
    names = [f"{one['path']}.{one['name']}" for one in straight["statistics"]]
    counted = {name: str(b - a) for name, a, b in zip(names, first["values"], last["values"]) if a != b}
    assert there == counted | {"core.ipc": there["core.ipc"]} and float(there["core.ipc"]) == last["derived"][0]
    assert stopped["statistics"] == straight["statistics"]


def test_events_are_counted_both_ways(machine, firmware, debugged) -> None:
    """event(…, N) stops at each N-th, counted from where one goes on; without a filter at each of them."""
    gdb = debugged(machine("recorded"), "--program", firmware("hello")).remote()

    def cycle() -> int:
        return int(re.search(r"cycle (\d+) of", gdb.monitor("where"))[1])

    def go(packet: str) -> int:
        gdb.ask(packet)
        return cycle()

    assert gdb.monitor("break event(**.access(address == 0xffff0000))") == ""
    passed = [go("c") for _ in range(6)]
    assert passed == sorted(set(passed)) and "access pc=" in gdb.output
    assert [go("bc") for _ in range(6)] == [cycle - 1 for cycle in reversed(passed)]
    assert gdb.monitor("break") == "" and gdb.monitor("break event(**.access(address == 0xffff0000), 3)") == ""
    assert [go("c") for _ in range(2)] == [passed[2], passed[5]]
    assert [go("bc") for _ in range(2)] == [passed[3] - 1, passed[0] - 1]
    # Together with a breakpoint and a state: whatever comes first.
    assert gdb.monitor("break core.writeback.instructions >= 12") == "" and gdb.ask("Z0,20,4") == "OK"
    stops = [gdb.ask("c") for _ in range(3)]
    assert stops[0] == stops[1] == "T05thread:1;", stops


@seldom
def test_outputs_and_changes_go_with_a_run_that_becomes_a_variant(build_sim, debugged, run_sim, tmp_path) -> None:
    """What was written, also beyond where the run went back to, is in the file once; what gdb changed stays changed; and
    a second variant has what the first one has."""
    simulator = build_sim(ENDLESS + "instance s : source;\ninstance k : sink;\ns.out -> k.in : uint32;")
    options = ["--cycles", 2000, "--set", "k.record=items.txt", "--seed", 7, "--set", "k.ready=0.7"]
    run = debugged(simulator, *options, "--until", "event(k.taken, 1200)")
    gdb = run.remote()
    assert gdb.monitor("break k.items >= 1000") == "" and gdb.ask("c") and gdb.monitor("break") == ""
    assert gdb.monitor("break k.items >= 200") == "" and gdb.ask("bc")
    where = gdb.monitor("where").split(";")[0]
    assert gdb.monitor("break") == gdb.monitor("break event(k.taken, 10)") == ""
    assert gdb.monitor("where").split(";")[0] == where and gdb.monitor("print k.items") == "199\n"
    assert gdb.ask("M108,4:01020304") == "OK"  # a store to the program, which is all zeros
    assert gdb.ask("c") and gdb.monitor("print k.items") == "209\n"
    assert gdb.monitor("break event(core.access.access)") == ""
    assert gdb.ask("m108,4") == "01020304" and gdb.monitor("print k.items") == "209\n"
    assert gdb.ask("bc") and gdb.monitor("print k.items") == "199\n"
    assert gdb.monitor("break") == "" and gdb.ask("D;1") == "OK"
    gdb.close()
    status, _, err = run.end()
    assert status == 0 and err.count("building a variant that records") == 2, err
    written = (tmp_path / "items.txt").read_text()
    run_sim(simulator, "--quiet", *options, "--until", "event(k.taken, 1200)")
    assert written == (tmp_path / "items.txt").read_text() and written.count("\n") == 1200
    assert sorted(path.name for path in tmp_path.iterdir() if "items" in path.name) == ["items.txt"]


@seldom
def test_a_run_that_cannot_become_a_variant_goes_on(machine, firmware, debugged, run_sim, tmp_path, monkeypatch) -> None:
    """A variant that cannot be built, or that would find another program than the run has: one line, and nothing else."""
    (tmp_path / "copy.elf").write_bytes(firmware("hello").read_bytes())
    run = debugged(machine("single"), "--program", "copy.elf", "--stats", "debugged.json")
    gdb = run.remote()
    gdb.ask("s")
    before = gdb.monitor("where")
    (tmp_path / "copy.elf").write_bytes(firmware("sum").read_bytes())
    said = gdb.monitor("break event(core.**.access)")
    assert said.startswith("the variant cannot go on from here: cannot restore ") and said.count("\n") == 1, said
    assert 'the run read "copy.elf", which has changed since' in said
    (tmp_path / "copy.elf").write_bytes(firmware("hello").read_bytes())
    assert gdb.monitor("where") == before and "rwatch" not in gdb.ask("s")
    gdb.close()
    assert run.end()[0] == 0
    run_sim(machine("single"), "--quiet", "--program", "copy.elf", "--stats", "straight.json")
    assert (tmp_path / "debugged.json").read_bytes() == (tmp_path / "straight.json").read_bytes()
    monkeypatch.setenv("LSS_CACHE", "/dev/null")
    gdb = debugged(machine("single"), "--program", "copy.elf").remote()
    assert gdb.monitor("break event(core.**.access)") == "cannot build a variant of this machine\n"
    assert gdb.ask("Z3,7fffe6,1") == "E.cannot build a variant of this machine"
    assert gdb.ask("s") == "T05thread:1;"


@seldom
def test_what_collectors_count_goes_with_the_run_or_it_stays(build_sim, debugged, run_sim, tmp_path) -> None:
    """An event of a module leaves the counts where they are; one of a connection would not, and is refused."""
    collector = 'collector n on "core.**" event retire { declare <<< uint64_t n; >>> record <<< self->n++; >>> report <<< report_value("all", self->n, "instructions", "retired"); >>> }'
    simulator = build_sim(ENDLESS + collector)
    run = debugged(simulator, "--cycles", 200, "--stats", "debugged.json")
    gdb = run.remote()
    for _ in range(10):
        gdb.ask("s")
    assert gdb.monitor("break event(ram.access)") == "" and "break" not in gdb.ask("c") and "ram access lane=" in gdb.output
    said = gdb.monitor("break event(ram.port.request.transferred)")
    assert said == "the variant cannot go on from here: the counts of this machine's collectors would begin again\n"
    assert gdb.monitor("break") == "" and gdb.ask("D;1") == "OK"
    gdb.close()
    assert run.end()[0] == 0
    run_sim(simulator, "--quiet", "--cycles", 200, "--stats", tmp_path / "straight.json")
    assert (tmp_path / "debugged.json").read_bytes() == (tmp_path / "straight.json").read_bytes()


# Counts addresses, and has registers nobody writes: all that a view must say of a processor.
UNHALTED = """
instance counter : source { count = 1000; };
instance registers : source { count = 1; };
instance ignored[2] : sink;
counter.out -> ignored[0].in : uint32;
registers.out -> ignored[1].in : uint32;
debug cpu { isa : "mips"; big_endian : true; pc = counter.index; retired = counter.index; registers = registers.index; }
debug memory { 0 .. 3 = counter.index; }
"""


def test_what_cannot_be_emptied_is_not_written(build_sim, debugged) -> None:
    gdb = debugged(build_sim(UNHALTED)).remote()
    gdb.ask("vCont;s:1")
    assert "how its pipeline is emptied" in gdb.ask("P0=00000001")
    assert "how its pipeline is emptied" in gdb.ask("M0,1:00")


def test_a_device_register_is_not_looked_ahead_for(build_sim, debugged) -> None:
    """Of a core whose stores are in memory a cycle after they retire: memory is shown with them, a register as it is stored."""
    late = UNHALTED.replace("big_endian : true;", "big_endian : true; memory_behind : 1;")
    named = late.replace("0 .. 3 = counter.index;", '0 .. 7 = counter.index; 8 .. 15 = counter.index : [{ name = "count", offset = 0 }];')
    gdb = debugged(build_sim(named)).remote()
    gdb.ask("vCont;s:1")
    stored = int(re.search("0x([0-9a-f]{8})", gdb.monitor("registers count"))[1], 16)
    assert (int(gdb.ask("m0,8"), 16), int(gdb.ask("m8,8"), 16)) == (stored + 1, stored)


class Cores:
    """Registers and memory through a connection."""

    def __init__(self, gdb) -> None:
        self.gdb = gdb

    def registers(self) -> list[int]:
        text = self.gdb.ask("g")
        return [int(text[8 * n : 8 * n + 8], 16) if "x" not in text[8 * n : 8 * n + 8] else 0 for n in range(len(text) // 8)]

    def word(self, address: int) -> int:
        return int(self.gdb.ask(f"m{address:x},4"), 16)


@pytest.mark.parametrize(("name", "program", "least"), [pytest.param("quad", "matrix", 20, marks=pytest.mark.soak), ("tigon2", "tigon2_parallel", 40)])
def test_what_was_stored_is_read(name: str, program: str, least: int, machine, firmware, debugged) -> None:
    """After each store, memory holds what was stored, though it is still in a write buffer, a cache or on its way."""
    option = "--firmware" if name == "tigon2" else "--program"
    gdb = debugged(machine(name), option, firmware(program)).remote()
    gdb.ask("qSupported:multiprocess+")
    core, stores = Cores(gdb), 0
    for _ in range(900):
        before = core.registers()
        word = core.word(before[37])
        gdb.ask("vCont;s:p1.1;c")
        if word >> 26 != 0x2B:  # sw
            continue
        address = before[word >> 21 & 31] + ((word & 0xFFFF ^ 0x8000) - 0x8000) & 0xFFFFFFFF
        if gdb.ask(f"m{address:x},4").startswith("E") or address >= 0xC0000000:
            continue
        stores += 1
        assert core.word(address) == before[word >> 16 & 31], f"at {address:#x}"
    assert stores >= least


def test_a_device_register_shows_what_it_holds(machine, firmware, debugged) -> None:
    """Of 12 bits, to which wider numbers are stored: at each stop of a watchpoint, both ways, not what is on its way from
    the processor; and a store changes it once."""
    gdb = debugged(machine("tigon2"), "--firmware", firmware("tigon2_parallel"), "--payload", "1472", "--frames", "80").remote()
    gdb.ask("qSupported:multiprocess+")
    producer = 0xC00000F0
    assert gdb.ask("Hgp2.1") == "OK" and gdb.ask(f"Z2,{producer:x},4") == "OK"

    def go(packet: str) -> int:
        assert f"watch:{producer:x};" in gdb.ask(packet)
        stored = int(re.search("0x([0-9a-f]{8})", gdb.monitor("registers mac_tx_producer"))[1], 16)
        assert int(gdb.ask(f"m{producer:x},4"), 16) == stored < 0x1000
        return stored

    assert re.fullmatch(r'no register has a name that matches "mac_tx"; "mac_tx\*" matches [3-9]\n', gdb.monitor("registers mac_tx"))
    assert gdb.monitor("registers registers") == gdb.monitor("registers")  # of the device, as for statistics
    there = [go("c") for _ in range(4)]
    assert len(set(there)) == 4
    assert [go("bc") for _ in range(4)] == [*reversed(there[:3]), 0]
