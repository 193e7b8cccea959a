"""A file has one use in a run, unless it is only read: every pair of options and parameters that name files is tried with one
name for both.  Such a run ends before its first cycle, with one line that names both, and harms nothing.

The pairs come from `--help` and `--list=json`, so an option or a parameter that is new is among them."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.emulib.test_system import bare
from tests.isa.programs import assemble
from tests.sample import seldom

CHAIN = "instance producer : source; instance consumer : sink; producer.out -> consumer.in : uint32;\n"
ROOT = Path(__file__).resolve().parents[2]
ALWAYS = {"restore": "checkpoint", "checkpoint": "restore"}  # a run may go on in its checkpoint


@dataclass
class Named:
    """An option or a parameter that names a file, and a content that it takes."""

    option: str
    user: str  # what messages call it
    writes: bool
    content: bytes = b"as it was\n"
    parameter: bool = False
    unknown: bool = False  # no content was found that it takes
    needs: list[str] = field(default_factory=list)

    def words(self, path: str) -> list[str]:
        """With which it names this file."""
        if self.option == "run-dir":
            return ["--run-dir", str(Path(path).parent)]
        return [
            *self.needs,
            *(["--set", f"{self.option}={path}"] if "." in self.option else [f"--{self.option}", path]),
        ]


@dataclass
class Simulator:
    """One that is built, in a folder with what its options are tried with."""

    path: Path
    contents: list[bytes]
    needs: tuple[str, ...] = ()  # words without which it does not start

    def run(self, *words: str, **options) -> subprocess.CompletedProcess:
        command = [self.path, "--quiet", "--cycles", "3", *self.needs, *words]
        return subprocess.run(
            command,
            cwd=self.path.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            **options,
        )

    def named(self) -> list[Named]:
        """All that name files."""
        checkpoint = self.path.parent / "checkpoint"
        if not checkpoint.exists():
            assert self.run("--checkpoint", str(checkpoint)).returncode == 0
        found = []
        for name, _argument, text in re.findall(
            r"^  --(\S+) (FILE|DIR|PORT) +(.*)$",
            subprocess.run([self.path, "--help"], capture_output=True, text=True, check=True).stdout,
            re.MULTILINE,
        ):
            reads = name in ("restore", "compare", "symbols")
            assert reads or re.match(r"(and )?(write|wait)", text), f"--{name}: does it read or write?"
            one = Named(name, f"--{name}", not reads)
            if name in ("restore", "compare"):
                one.content = checkpoint.read_bytes()
            if name == "compare":
                one.needs = ["--restore", str(checkpoint)]
            if name == "symbols":
                one.content = self.contents[0]
            found.append(one)
        parameters = json.loads(
            subprocess.run([self.path, "--list=json"], capture_output=True, text=True, check=True).stdout
        )["parameters"]
        return found + [
            one
            for parameter in parameters
            if parameter["type"] == "string" and (one := self.parameter(parameter["name"]))
        ]

    def parameter(self, name: str) -> Named | None:
        """A parameter, if it names a file."""
        user = name if "." in name else f"--{name}"
        done = self.run("--set", f"{name}=none/x")
        if done.returncode == 0 or "none/x" not in done.stderr or "cannot" not in done.stderr:
            return None
        if "cannot write" in done.stderr:
            return Named(name, user, True, parameter=True)
        probe = self.path.parent / "probe"
        for content in self.contents:
            probe.write_bytes(content)
            if self.run("--set", f"{name}={probe}").returncode == 0:
                return Named(name, user, False, content, True)
        return Named(name, user, False, parameter=True, unknown=True)


def refused(done: subprocess.CompletedProcess) -> str:
    """The line of a run that never began."""
    assert done.returncode in (1, 2) and done.stdout == "", done
    lines = [line for line in done.stderr.splitlines() if "(name another file)" in line]
    assert len(lines) == 1 and done.stderr.count("\n") == 1, done.stderr
    return lines[0]


def below(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_pairs(simulator: Simulator) -> int:
    """Tries all; how many there were."""
    count, named, folder = 0, simulator.named(), simulator.path.parent / "pairs"
    for number, one in enumerate(named):
        for other in [*named[:number], *named[number + 1 :]]:
            if not one.writes and not other.writes:
                continue
            name = "pairs/timing.json" if "run-dir" in (one.option, other.option) else "pairs/file.vcd"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            (simulator.path.parent / name).write_bytes((one if other.writes else other).content)
            before = below(folder)
            done = simulator.run(*one.words(name), *other.words(f"./{name}"))
            count += 1
            if "compare" in (one.option, other.option) and (one.parameter or other.parameter):
                assert below(folder) == before, "two checkpoints are compared, no parameter is used"
                continue
            if any(
                words in done.stderr
                for words in ("goes backwards", "cannot build a variant", "declares a processor", "cannot listen")
            ):
                assert done.returncode in (1, 2) and below(folder) == before, "there is no such run"
                continue
            if ALWAYS.get(one.option) == other.option:
                assert done.returncode == 0, done.stderr
                continue
            if one.unknown or other.unknown:
                assert done.returncode in (1, 2) and below(folder) == before, "what it holds may be refused first"
                continue
            line = refused(done)
            assert all(re.search(rf"(^|[ (]){re.escape(user)}\b", line) for user in (one.user, other.user)), (
                f"{one.user}, {other.user}: {line}"
            )
            assert below(folder) == before, f"{one.user}, {other.user}: {line}"
    return count


def check_own(simulator: Simulator) -> None:
    """What a run always uses: the simulator, its source, and where its output goes."""
    source = next(simulator.path.parent.glob("*.lss"))
    before = [simulator.path.read_bytes(), source.read_bytes()]
    for one in simulator.named():
        if not one.writes or one.option == "run-dir":
            continue
        assert "this run executes it" in refused(simulator.run(*one.words(str(simulator.path))))
        assert "a build of this machine reads it" in refused(simulator.run(*one.words(source.name)))
        assert [simulator.path.read_bytes(), source.read_bytes()] == before
        command = [str(simulator.path), "--cycles", "3", *one.words("printed.vcd")]
        with open(simulator.path.parent / "printed.vcd", "w") as printed:
            done = subprocess.run(command, cwd=simulator.path.parent, stdout=printed, stderr=subprocess.PIPE, text=True)
        assert "standard output writes it too" in done.stderr and done.returncode


def build(folder: Path, build_dir: Path, machine: str | Path, *words: str) -> Simulator:
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(machine, str):
        (folder / "machine.lss").write_text(machine)
    else:
        for path in machine.parent.iterdir():
            if path.is_file():
                shutil.copy(path, folder)
    name = "machine.lss" if isinstance(machine, str) else machine.name
    subprocess.run([build_dir / "bin/lss", "build", name, "-o", "sim", *words], cwd=folder, check=True, timeout=900)
    elf = assemble("EXIT 0\n", folder / "program.elf", True).read_bytes()
    return Simulator(folder / "sim", [elf, b"0 1\n", b"read 0 1\n", bytes(4096), b""])


@pytest.fixture(scope="module", params=["chain", "disk"])  # the disk of the examples, with a few sectors
def simulator(request: pytest.FixtureRequest, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "chain":
        return build(folder, build_dir, CHAIN)
    small = [word for name, n in (("cylinders", 2), ("heads", 1), ("sectors", 4)) for word in ("-D", f"{name}={n}")]
    return build(folder, build_dir, ROOT / "examples/disk/disk.lss", *small)


@seldom
def test_pairs(simulator: Simulator) -> None:
    assert check_pairs(simulator) > 100


def test_the_run_itself(simulator: Simulator) -> None:
    check_own(simulator)


@pytest.mark.soak
@pytest.mark.parametrize("machine", ["tigon2", "host", "single_core"])
def test_pairs_of_large_machines(machine: str, root: Path, build_dir: Path, tmp_path: Path) -> None:
    words = ["-D", "disks=[disk_image]"] if machine == "host" else []
    one = build(tmp_path, build_dir, root / "examples" / machine / f"{machine}.lss", *words)
    program = {
        "tigon2": ("--firmware", build_dir / "firmware/tigon2/tigon2.elf"),
        "host": ("--kernel", bare("b .\nnop\n", tmp_path / "kernel.elf")),
        "single_core": ("--program", build_dir / "firmware/hello/hello.elf"),
    }[machine]
    one.needs = tuple(map(str, program))
    one.contents = [
        program[1].read_bytes(),
        (ROOT / "examples/tigon2/traffic/tcp.pcap").read_bytes(),
        b"descriptors 1\n",
        *one.contents,
    ]
    assert check_pairs(one) > 100


def test_two_names_of_one_file(build_dir: Path, tmp_path: Path) -> None:
    """Links of both kinds, another way there, links to what is not there yet, and folders that are not."""
    one = build(tmp_path, build_dir, CHAIN)
    (tmp_path / "in.txt").write_text("0 1\n")
    os.link(tmp_path / "in.txt", tmp_path / "hard.txt")
    for name, target in {"link.txt": "in.txt", "again.txt": "link.txt", "late.txt": "new.txt", "folder": "."}.items():
        (tmp_path / name).symlink_to(target)
    for name in "hard.txt", "link.txt", "again.txt", "./in.txt", "folder/in.txt", str(tmp_path / "in.txt"):
        assert "producer.script reads it too" in refused(one.run("--set", "producer.script=in.txt", "--stats", name))
    for first, second in (
        ("new.txt", "late.txt"),
        ("new.txt", f"folder/../{tmp_path.name}/new.txt"),
        ("late.txt", "./late.txt"),
    ):
        assert "--stats writes it too" in refused(one.run("--stats", first, "--set", f"consumer.record={second}"))
    assert "--run-dir writes" in refused(
        one.run("--run-dir", "not/there", "--checkpoint", "not/there/yet/../timing.json")
    )
    assert (tmp_path / "in.txt").read_text() == "0 1\n" and not (tmp_path / "new.txt").exists()
    assert one.run("--stats", "NEW.txt", "--checkpoint", "new.txt").returncode == 0, "this folder tells cases apart"


def test_a_command_spares_the_files_of_its_run(build_dir: Path, tmp_path: Path) -> None:
    """A checkpoint that is asked for on the way; the same one again is fine."""
    one = build(tmp_path, build_dir, CHAIN)
    (tmp_path / "in.txt").write_text("0 1\n")
    commands = "cycle 3\ncheckpoint in.txt\ncheckpoint items.txt\ncheckpoint c\ncycle 3\ncheckpoint c\n"
    words = ["--interactive", "--set", "producer.script=in.txt", "--set", "consumer.record=items.txt"]
    done = subprocess.run([one.path, *words], cwd=tmp_path, input=commands, capture_output=True, text=True, timeout=60)
    said = [line for line in done.stderr.splitlines() if "cannot write" in line]
    assert len(said) == 2 and "producer.script reads it too" in said[0] and "consumer.record writes it too" in said[1]
    assert (tmp_path / "in.txt").read_text() == "0 1\n" and one.run("--restore", "c").returncode in (0, 2)


def test_an_output_that_was_there(build_dir: Path, tmp_path: Path) -> None:
    """A symbolic link stays one, and what it leads to is new, with the mode that it had; what may not be written is not."""
    one = build(tmp_path / "run", build_dir, CHAIN)
    target, outputs = (
        tmp_path / "elsewhere",
        [name for name in one.named() if name.writes and name.option not in ("run-dir", "gdb", "record", "profile")],
    )
    target.mkdir()
    assert len(outputs) >= 5
    for output in outputs:
        file, link = target / "file.vcd", one.path.parent / "link.vcd"
        for path in file, link:
            path.unlink(missing_ok=True)
        link.symlink_to(file)
        assert (
            one.run(*output.words("link.vcd")).returncode == 0
            and link.is_symlink()
            and file.stat().st_mode & 0o777 == 0o666 & ~umask()
        )
        file.write_bytes(b"old")
        file.chmod(0o640)
        assert one.run(*output.words("link.vcd")).returncode == 0 and link.is_symlink()
        assert file.read_bytes() != b"old" and file.stat().st_mode & 0o777 == 0o640, output.user
        assert [path.name for path in target.iterdir()] == ["file.vcd"]


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
