"""Command line of the harness: python -m harness COMMAND; each command says what it does with --help."""

import argparse
import json
import os
import shlex
import sys
import tempfile
import traceback
from pathlib import Path

from harness import bottleneck, firmware, quantity, study
from harness.quantity import option as number
from harness.run.used_files import FOLDER, READ, WRITTEN, ClashError, Folder, check_arguments, folder
from harness.version import version

PROGRAM = os.environ.get("SPINACH_PROGRAM", "python -m harness")  # harness/spinach sets it
KIT = Path(__file__).resolve().parents[1]  # the source tree, or PREFIX/share/spinach


def _without(package: str | None) -> str:
    """What to do about a package that this Python has not."""
    if (KIT / "Makefile").exists():
        return f"harness: this Python has no {package}: run `make deps`, then build/venv/bin/python -m harness"
    return f"spinach: this Python has no {package}: run `spinach packages`, which fetches what is missing"


try:
    from harness.net import capture, check, packets, theory, traffic
    from harness.run import process, standard
    from harness.run.progress import Progress
except ModuleNotFoundError as error:
    sys.exit(_without(error.name))

# What commands write in a folder that an argument names.
JOB = folder("out", "out/*", "out.part", "out.part/*")
PACKETS = folder("send.pcap", "receive.pcap")
TRAFFIC = folder("send.pcap", "receive.pcap", "descriptors.txt")
STUDY = folder(*study.WRITTEN)
STUDIES = folder(
    "studies/index.html", "studies/studies.json", "studies/provenance.json", "studies/*.svg", "studies/*.png",
    "studies/*/results.csv", "studies/*/results.json",
)  # fmt: skip
NETWORK = folder()
NETWORK_RUN = folder(
    "statistics.json", "hosts.json", "hosts/*.txt",
    "*/statistics.json", "*/manifest.json", "*/timing.json", "*/log.txt",
)  # fmt: skip
BOTTLENECK = folder(*bottleneck.WRITTEN)

ERRORS = (capture.CaptureError, packets.PacketFileError, traffic.TrafficError)


def _traffic(options: argparse.Namespace) -> int:
    files = traffic.generate(options.out, options.payload, options.frames, options.ratio, options.seed, options.vlan)
    for path in files.send, files.receive, files.descriptors:
        if path:
            print(path)
    return 0


def _conversations(options: argparse.Namespace) -> int:
    from harness.net import tcp

    for path in tcp.generate(
        options.out, options.count, options.exchanges, options.request, options.response, options.think, options.seed
    ):
        print(path)
    return 0


def _capture(options: argparse.Namespace) -> int:
    frames = capture.capture(options.out, "tcp" if options.tcp else "udp")
    print(f"{options.out}: {frames} frames")
    return 0


def _split(options: argparse.Namespace) -> int:
    for path in packets.split(options.capture, options.host, options.out, options.build):
        print(path)
    return 0


def _check(options: argparse.Namespace) -> int:
    verdict = check.check_files(options.expected, options.found, options.conversations, options.resent, options.build)
    for line in verdict.wrong:
        print(line)
    print(
        f"{verdict.frames_in} in, {verdict.frames_out} out; {verdict.missing} missing ({options.drops} allowed), "
        f"{verdict.duplicated} duplicated, {verdict.reordered} reordered, {verdict.damaged} damaged"
    )
    return 0 if verdict.ok(options.drops) else 1


def _theory(options: argparse.Namespace) -> int:
    print(f"{'payload, B':>10} {'frames/s':>12} {'Mb/s':>9}")
    for payload in options.payload:
        frames, rate = (f(payload, options.rate) for f in (theory.frames_per_second, theory.payload_rate))
        print(f"{payload:>10} {frames:>12,.0f} {rate / 1e6:>9,.1f}")
    return 0


def _study(options: argparse.Namespace) -> int:
    from harness.study import command

    return command.one(options)


def _studies(options: argparse.Namespace) -> int:
    from harness.study import command

    return command.several(options)


def _reference(options: argparse.Namespace) -> int:
    from harness.report import reference
    from harness.run import compiler

    try:
        print(reference.write(options.build, options.types))
    except compiler.CompilerError as error:
        print(f"harness: {error}", file=sys.stderr)
        return 1
    return 0


def _console(options: argparse.Namespace) -> int:
    from harness.run import console

    try:
        return console.run(options.where)
    except console.ConsoleError as error:
        print(f"harness: {error}", file=sys.stderr)
        return 1


def _job(options: argparse.Namespace) -> int:
    from harness.job import archive, command

    for word in options.simulator_arguments:
        options.used.reads(word.partition("=")[2] or word, "the simulator")
    try:
        return command.run(
            options.checkpoint, options.folder, options.simulator, options.manifest, options.simulator_arguments
        )
    except archive.JobError as error:
        print(f"harness: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        process.end_children()
        print(f"harness: interrupted; {archive.shown(str(options.folder))}/out is as it was", file=sys.stderr)
        return 130


def _network(options: argparse.Namespace) -> int:
    from harness.network import command, launch
    from harness.network.network_file import NetworkError

    request = command.Request(
        folder=options.network, out=options.run_dir, until=options.until, settings=options.set,
        values={name: getattr(options, name.replace("-", "_")) for name in command.PASSED},
        may_differ=options.may_differ, sample_window=options.sample_window, checkpoint=options.checkpoint,
        restore=options.restore, whole=options.whole is not None,
        simulator=Path(options.whole) if isinstance(options.whole, str) else None, cores=options.cores,
        picture=options.picture, options=options.simulator_arguments, part=options.part,
        record_links=options.record_links, replay_links=options.replay_links, gdb=options.gdb,
        gateways=options.gateway, open=options.open, timeline=options.timeline, record_events=options.record_events,
        hosts=options.hosts,
    )  # fmt: skip
    try:
        return command.run(request)
    except NetworkError as error:
        print(f"harness: {error}", file=sys.stderr)
        return 1
    except launch.Interrupted as error:
        print(f"harness: {error}", file=sys.stderr)
        return 128 + error.number
    except KeyboardInterrupt:
        process.end_children()
        print("harness: interrupted twice; the parts were ended", file=sys.stderr)
        return 130


def _watch(options: argparse.Namespace) -> int:
    from harness.watch import command, server

    try:
        if options.study and options.simulator:
            raise server.WatchError(f"{options.simulator}: watch either a simulator or a --study (leave one out)")
        if options.study and options.netlist:
            raise server.WatchError("--netlist: it is for the page of a simulator (leave it out with --study)")
        if options.study:
            return _watch_study(options)
        if not options.simulator:
            raise server.WatchError("there is nothing to watch (name a simulator, or a study with --study FILE)")
        given = options.simulator_arguments
        return command.run(options.simulator, given, options.port, options.open, options.netlist)
    except server.WatchError as error:
        print(f"harness: {error}", file=sys.stderr)
        return 1


def _watch_study(options: argparse.Namespace) -> int:
    """As `study` with the options after --, with a page."""
    from harness.study import command
    from harness.watch import study

    given = arguments().parse_args(["study", process.word(options.study), *options.simulator_arguments])
    given.used = check_arguments(given.actions, given)

    def work(progress: Progress) -> int:
        return command.one(given, progress)

    return study.run(given.study, given.build, work, options.port, options.open)


def _bottleneck(options: argparse.Namespace) -> int:
    from harness.bottleneck import measure, page, text

    for word in options.simulator_arguments:
        options.used.reads(word.partition("=")[2] or word, "the simulator")
    progress = Progress()
    try:
        with progress.step(f"examining {options.machine}"):
            analysis = measure.examine(
                options.machine, options.build, options.out, options.define, options.simulator_arguments, options.after,
                options.include,
            )  # fmt: skip
    except (measure.MeasureError, bottleneck.NetlistError) as error:
        print(f"harness: {error}", file=sys.stderr)
        return 1
    text.show(analysis, progress.console)
    written = page.write(analysis, options.out, f"Where the cycles of {options.machine.stem} go")
    progress.say(f"\nreport: {written}")
    return 0


def _cost(options: argparse.Namespace) -> int:
    from harness.run import compiler
    from harness.run.store import RunError
    from harness.study.uses import cost

    words = [word for define in options.define for word in ("-D", define)]
    words += [word for place in options.include for word in ("-I", place)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            simulator = Path(folder) / "simulator"
            compiler.lss(options.build, "build", options.machine, "-o", simulator, *words, "--record", "profile")
            costs = cost.per_frame(simulator, options.firmware, options.simulator_arguments)
    except (RunError, compiler.CompilerError) as error:
        print(f"harness: {error}", file=sys.stderr)
        return 1
    print(json.dumps(cost.as_records(costs), indent=1) if options.json else cost.as_text(costs))
    return 0


def _trace(options: argparse.Namespace) -> int:
    from harness.trace import command
    from harness.trace.events import EventsError
    from harness.trace.profile import ProfileError

    calls = {"profile": command.profile, "frames": command.show_frames, "timeline": command.make_timeline}
    try:
        return calls[options.command](options)
    except (ProfileError, EventsError) as error:
        print(f"harness: {error}", file=sys.stderr)
        return 1


def _words(command: str) -> list[str]:
    """A command line as a shell reads it."""
    from harness.run.divergence import DivergenceError

    try:
        if words := shlex.split(command):
            return words
        raise ValueError("it is empty; it names a simulator")
    except ValueError as error:
        raise DivergenceError(f'"{command}": {str(error).lower()}') from None


def _divergence(options: argparse.Namespace) -> int:
    from harness.run import divergence

    with tempfile.TemporaryDirectory() as folder:
        try:
            found = divergence.find([_words(text) for text in (options.first, options.second)], Path(folder))
        except divergence.DivergenceError as error:
            raise SystemExit(f"harness: {error}") from None
    if not found:
        print("both runs end in the same state")
        return 0
    known = "they differ from the beginning" if found.same is None else f"in cycle {found.same} they were the same"
    print(f"the runs differ from cycle {found.cycle} on; {known}")
    for line in found.differences:
        print(f"  {line}")
    return 1


def _rate(text: str) -> float:
    """A rate in bit/s."""
    try:
        value = quantity.quantity(text, "rate")
    except quantity.NumberError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if value <= 0:
        raise argparse.ArgumentTypeError(f'"{text}" is not more than 0')
    return float(value)


def _where_to_run(one: argparse.ArgumentParser, build: Folder = FOLDER) -> None:
    one.add_argument("--build", type=build, default=Path("build"))
    one.add_argument(
        "--jobs", type=number(1), help="simulations at a time on this host; one for each core, if left out"
    )
    one.add_argument("--workers", metavar="ADDRESS", help="run on the workers of this Dask scheduler: tcp://HOST:8786")
    one.add_argument("--slurm", type=READ, metavar="FILE", help="run on Slurm workers, as this file configures them")


def _add_traffic(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The commands that make and inspect packet files."""
    one = commands.add_parser("traffic", help="generate UDP traffic as packet files and a descriptor trace")
    one.add_argument("--payload", default="1472", help="bytes: a size, a range 18-1472, or a mix 18:7,576:4,1472:1")
    one.add_argument("--frames", type=number(1), default=500, help="frames of both directions together")
    one.add_argument("--ratio", default="1:1", help="sends:receives; 1:0 sends only, 0:1 receives only")
    one.add_argument("--seed", type=number(0), default=1)
    one.add_argument("--vlan", type=number(1), metavar="ID", default=0, help="tag all frames: a VLAN, 1 to 4094")
    one.add_argument("--out", type=TRAFFIC, required=True, help="folder for send.pcap, receive.pcap, descriptors.txt")
    one.set_defaults(call=_traffic)

    one = commands.add_parser("conversations", help="generate TCP conversations for correlated traffic")
    one.add_argument("--count", type=number(1), default=4, help="conversations")
    one.add_argument("--exchanges", type=number(1), default=10, help="requests of the host in each, with responses")
    one.add_argument("--request", type=number(0), default=100, help="bytes of a request")
    one.add_argument("--response", type=number(0), default=5000, help="bytes of a response")
    one.add_argument("--think", type=number(0), default=10000, help="think time of either end for each frame, ns")
    one.add_argument("--seed", type=number(0), default=1)
    one.add_argument("--out", type=PACKETS, required=True, help="folder for send.pcap and receive.pcap")
    one.set_defaults(call=_conversations)

    one = commands.add_parser("capture", help="capture real traffic on a veth pair (needs root)")
    one.add_argument("out", type=WRITTEN)
    one.add_argument("--tcp", action="store_true", help="TCP conversations instead of UDP traffic")
    one.set_defaults(call=_capture)

    one = commands.add_parser("split", help="cut a capture into what a host sent and what it received")
    one.add_argument("capture", type=READ)
    one.add_argument("--host", default="02:00:00:00:00:01", metavar="MAC", help="the host's address")
    one.add_argument("--out", type=PACKETS, required=True, help="folder for send.pcap and receive.pcap")
    one.add_argument("--build", type=FOLDER, default=Path("build"))
    one.set_defaults(call=_split)

    one = commands.add_parser("check", help="compare delivered frames with those sent")
    one.add_argument("expected", type=READ)
    one.add_argument("found", type=READ)
    one.add_argument("--drops", type=number(0), default=0, help="frames that hardware counted as dropped")
    one.add_argument("--conversations", action="store_true", help="compare the order within conversations only")
    one.add_argument("--resent", type=number(0), default=0, help="retransmitted frames, which may arrive out of order")
    one.add_argument("--build", type=FOLDER, default=Path("build"))
    one.set_defaults(call=_check)

    one = commands.add_parser("theory", help="theoretical maximum of a link")
    one.add_argument("payload", type=number(1, traffic.LARGEST), nargs="+", help="bytes of UDP payload")
    one.add_argument("--rate", type=_rate, default=theory.GIGABIT, help='of the link: "10 Gb/s"')
    one.set_defaults(call=_theory)


def _add_studies(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The commands that run simulators many times, or analyse a run."""
    one = commands.add_parser("study", help="make a study of any machine: tables, CSV, JSON and a page")
    one.add_argument("study", type=READ, help="TOML file; docs/studies.md explains it")
    one.add_argument("--out", type=STUDY, help="folder for index.html; build/studies/NAME, if left out")
    one.add_argument("--plain", action="store_true", help="leave out the second look at the best and the worst point")
    _where_to_run(one)
    one.set_defaults(call=_study)

    one = commands.add_parser("studies", help="make several studies, and the report of a text with directives")
    one.add_argument("study", nargs="*", type=READ, help="TOML files, all that the report may speak of")
    one.add_argument("--only", nargs="*", default=[], metavar="NAME", help="make these; show the others as they are")
    one.add_argument("--text", type=READ, required=True, help="text of the report, with {{directives}}")
    _where_to_run(one, STUDIES)
    one.set_defaults(call=_studies)

    one = commands.add_parser("bottleneck", help="find what limits a machine, and what waits for it")
    one.add_argument("machine", type=READ, help="the LSS file")
    one.add_argument("-I", dest="include", action="append", default=[], metavar="FOLDER", help="folder with modules")
    one.add_argument("-D", dest="define", action="append", default=[], metavar="NAME=VALUE", help="as for lss build")
    one.add_argument("--after", default="", metavar="CONDITION", help="leave out the run up to then: 0.5ms, marker(1)")
    one.add_argument("--out", type=BOTTLENECK, default=Path("build/bottleneck"), help="folder for index.html")
    one.add_argument("--build", type=FOLDER, default=Path("build"))
    one.epilog = "Options after -- are for the simulator."
    one.set_defaults(call=_bottleneck)

    one = commands.add_parser("divergence", help="find the first cycle in which two runs or builds differ, and in what")
    one.add_argument("first", metavar="COMMAND", help="a simulator and its options, in one word of the shell")
    one.add_argument("second", metavar="COMMAND", help="another build of the machine, or the same with other options")
    one.set_defaults(call=_divergence)

    one = commands.add_parser("cost", help="instructions and memory accesses per frame, by processor and function")
    one.add_argument("machine", type=READ, help="the LSS file")
    one.add_argument("firmware", type=READ, help="the ELF file")
    one.add_argument("-D", dest="define", action="append", default=[], metavar="NAME=VALUE", help="as for lss build")
    one.add_argument("-I", dest="include", action="append", default=[], metavar="FOLDER", help="as for lss build")
    one.add_argument("--json", action="store_true", help="print a list of objects instead of a table")
    one.add_argument("--build", type=FOLDER, default=Path("build"))
    one.epilog = "Options after -- are for the simulator."
    one.set_defaults(call=_cost)


def _add_traces(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The commands that show what a run recorded."""
    from harness.trace import options

    one = commands.add_parser("profile", help="show where the cycles of processors went")
    options.add_profile(one)
    one.set_defaults(call=_trace)

    one = commands.add_parser("frames", help="show what became of each frame in a network interface")
    options.add_frames(one)
    one.set_defaults(call=_trace)

    one = commands.add_parser("timeline", help="make a timeline of recorded events, for Perfetto")
    options.add_timeline(one)
    one.set_defaults(call=_trace)


def _packages(options: argparse.Namespace) -> int:
    """harness/spinach carries this out, for it needs no Python that has them."""
    sys.stderr.write(f"harness: {PROGRAM} has its packages; an installed kit fetches them by `spinach packages`\n")
    return 1


# Options of `network` that the simulators of all parts get as they are.
NETWORK_VALUES = (
    ("time", "TIME", "run until this simulated time"),
    ("cycles", "[CLOCK:]N", "run for N cycles of the fastest clock of all parts, or of CLOCK"),
    ("seed", "N", "seed of everything random (default 1)"),
    ("start-timeout", "SECONDS", "how long parts wait for others (default 60)"),
    ("checkpoint-every", "N|TIME", "and also after each N cycles, or each TIME of simulated time"),
    ("outputs", "begin|continue", "with --restore: whether files are new (the default) or go on where they were"),
    ("sample", "CONDITION", "write all statistics each time that this time or number of cycles has passed"),
    ("measure-from", "CONDITION", "show what was counted from this time or cycle on ..."),
    ("measure-to", "CONDITION", "... to this one"),
    ("watchdog", "TIME|off", "stop a run in which no part makes progress for this long"),
    ("idle-timeout", "TIME|off", "stop a run in which nothing new happens in any part for this long"),
)


def _add_network(commands: argparse._SubParsersAction) -> None:
    one = commands.add_parser("network", help="run a network whose parts are processes, and merge their statistics")
    one.add_argument("network", type=NETWORK, help="the folder that `lss build --parts` has written")
    one.add_argument("--run-dir", type=NETWORK_RUN, required=True, metavar="DIR", help="folder for all that is written")
    for name, metavar, text in NETWORK_VALUES:
        one.add_argument(f"--{name}", metavar=metavar, help=text)
    one.add_argument("--until", metavar="CONDITION", help="run until this holds, in the part that it names")
    one.add_argument("--sample-window", action="store_true", help="take samples only within the window")
    one.add_argument(
        "--set", action="append", default=[], metavar="PATH.NAME=VALUE", help="set a runtime parameter of a part"
    )
    one.add_argument("--checkpoint", type=FOLDER, metavar="DIR", help="write the state in which the run ends")
    one.add_argument("--restore", type=READ, metavar="DIR", help="continue from a checkpoint, of parts or of the whole")
    one.add_argument(
        "--may-differ", action="append", default=[], metavar="PATTERN", help="what may differ from the checkpoint's"
    )
    one.add_argument(
        "--whole", nargs="?", const=True, metavar="SIMULATOR",
        help="run the simulator of the whole network instead, with the same options (default: X next to X.net)",
    )  # fmt: skip
    one.add_argument("--cores", type=number(1), metavar="N", help="use only N cores of this computer")
    one.add_argument("--hosts", type=READ, metavar="FILE", help="run on the hosts of this file, by mpirun")
    one.add_argument(
        "--picture", type=WRITTEN, metavar="FILE.html",
        help="write a page that shows the load of the cables, while the run goes on if the parts take samples",
    )  # fmt: skip
    one.add_argument(
        "--gateway", action="append", default=[], metavar="PATH=PLACE", help="where a gateway leads; repeatable"
    )
    one.add_argument("--open", action="store_true", help="gateways may lead to other computers")
    one.add_argument(
        "--record-links", type=FOLDER, metavar="DIR", help="write the items that parts send to each other there ..."
    )
    one.add_argument("--replay-links", type=READ, metavar="DIR", help="... and run one part alone from that")
    one.add_argument("--part", metavar="PATH", help="with --replay-links: the part that runs")
    one.add_argument(
        "--timeline", type=WRITTEN, metavar="FILE",
        help="write a timeline of all parts for ui.perfetto.dev, with arrows for items of recorded links, ...",
    )  # fmt: skip
    one.add_argument(
        "--record-events", action="append", default=[], metavar="WHAT", help="... and these events; repeatable"
    )
    one.add_argument("--gdb", metavar="PATH=PORT", help="wait for gdb there, to debug the part PATH; also a socket")
    one.epilog = "Options after -- are for the simulators of all parts, or for the one of --part."
    one.set_defaults(call=_network)


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Traffic, captures, checks and reports.")
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {version()}")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_traffic(commands)
    _add_studies(commands)
    _add_traces(commands)
    commands.add_parser("firmware", help="build a folder's C program for a machine", add_help=False)
    commands.add_parser("packages", help="fetch the Python packages of an installed kit").set_defaults(call=_packages)

    one = commands.add_parser("console", help="type at the console of a running simulator")
    one.add_argument("where", metavar="WHERE", help="as the simulator's --console: unix:PATH, tcp:PORT, pty:LINK")
    one.set_defaults(call=_console)

    one = commands.add_parser("job", help="run the files of a folder in a guest, and fetch what they leave in out/")
    one.add_argument("checkpoint", type=READ, help="of the guest at its prompt: make linux-prompt makes one")
    one.add_argument("folder", type=JOB, help="a folder with the program `run`, and what that needs")
    one.add_argument("--simulator", type=READ, metavar="FILE", help="`host` next to the checkpoint, if left out")
    one.add_argument("--manifest", type=WRITTEN, metavar="FILE", help="write hashes of all files of the job, as JSON")
    one.epilog = "Options after -- are for the simulator.  The status is that of `run`."
    one.set_defaults(call=_job)

    _add_network(commands)

    one = commands.add_parser("watch", help="run a simulator or make a study, and show its progress on a page")
    one.add_argument("simulator", type=READ, nargs="?")
    one.add_argument("--study", type=READ, metavar="FILE", help="make this study; the page has a line for each point")
    one.add_argument("--netlist", type=READ, metavar="FILE", help="of lss export: show the load of its connections")
    one.add_argument("--port", type=number(0, 65535), default=0, help="port of the page on 127.0.0.1; 0: a free one")
    one.add_argument("--open", action="store_true", help="open the page in a browser")
    one.epilog = "Options after -- are for the simulator, or for `study`."
    one.set_defaults(call=_watch)

    one = commands.add_parser("reference", help="write the module reference")
    one.add_argument("types", nargs="*", help="files of types to document after the modules")
    one.add_argument("--build", type=FOLDER, default=Path("build"))
    one.set_defaults(call=_reference)
    for one in commands.choices.values():
        one.set_defaults(actions=one._actions)
    return parser


def main() -> int:
    if sys.argv[1:2] == ["firmware"]:  # reads its own command line: it needs no package of Python
        del sys.argv[1]
        return firmware.main()
    process.end_children_on_signals()
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    options = arguments().parse_args(given[:cut])
    options.simulator_arguments = given[cut + 1 :]
    try:
        options.used = check_arguments(options.actions, options)
        return options.call(options)
    except ClashError as error:
        print(f"harness: {error}", file=sys.stderr)
        return 2
    except ERRORS as error:
        print(f"harness: {error}", file=sys.stderr)
    except ModuleNotFoundError as error:
        print(_without(error.name), file=sys.stderr)
    except OSError as error:
        if standard.lost():
            return 1  # which is said at the end
        where = f"{error.filename}: " if error.filename else ""
        print(f"harness: {where}{error.strerror or error}", file=sys.stderr)
    except Exception as error:  # of input that no check foresaw: one line, with its place in the harness
        at = traceback.extract_tb(error.__traceback__)[-1]
        said = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"harness: internal error: {said} ({Path(at.filename).name}:{at.lineno})", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(standard.guard("harness", main))
