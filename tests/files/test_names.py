"""Names of files are bytes: any that the system takes is read, written, kept in checkpoints and in JSON, and read back exactly."""

import json
import os
import subprocess
from pathlib import Path

import pytest

CHAIN = "instance producer : source; instance consumer : sink; producer.out -> consumer.in : uint32;\n"
NAMES = {
    "space": b"with a space",
    "quotes": b'it\'s "quoted"',
    "UTF-8": "größe".encode(),
    "not UTF-8": b"old\xe9\xff",
    "cut UTF-8": b"\xe2\x82",
    "surrogate": b"\xed\xa0\x80",
    "dash": b"-n",
    "lines": b"two\nlines\t",
    "percent": b"%s%n",
    "longest name": b"x" * 255,
    "longest path": b"/".join([b"y" * 200] * 18) + b"/" + b"z" * 300,
}
NAMES["longest path"] = NAMES["longest path"][:-80]


@pytest.fixture(scope="module")
def simulator(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    (folder / "chain.lss").write_text(CHAIN)
    subprocess.run([build_dir / "bin/lss", "build", "chain.lss", "-o", "sim"], cwd=folder, check=True)
    return folder / "sim"


def run(words: list[bytes], folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("longest path")])
def test_outputs_and_inputs(name: str, simulator: Path, tmp_path: Path) -> None:
    """All in one run, each in a folder of its own; then the checkpoint is restored."""
    text, sim = NAMES[name], os.fsencode(simulator)
    for folder in "script", "record", "stats", "hashes", "checkpoint":
        (tmp_path / folder).mkdir()
    path = os.path.join(b"script", text)
    with open(os.path.join(os.fsencode(tmp_path), path), "wb") as script:
        script.write(b"0 1\n3 2\n")
    words = [
        sim,
        b"--quiet",
        b"--cycles",
        b"9",
        b"--set",
        b"producer.script=" + path,
        b"--set",
        b"consumer.record=record/" + text,
    ]
    words += [
        b"--stats",
        b"stats/" + text,
        b"--state-hashes",
        b"hashes/" + text,
        b"--checkpoint",
        b"checkpoint/" + text,
    ]
    done = run(words, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    for folder in "record", "stats", "hashes", "checkpoint":
        assert os.listdir(os.fsencode(tmp_path / folder)) == [text]
    manifest = json.loads((tmp_path / "stats" / os.fsdecode(text)).read_text())["manifest"]
    assert os.fsencode(manifest["parameters"]["producer.script"]) == path
    assert [os.fsencode(one["file"]) for one in manifest["inputs"]] == [path]
    again = run(
        [sim, b"--quiet", b"--cycles", b"12", b"--restore", b"checkpoint/" + text, b"--outputs", b"continue"], tmp_path
    )
    assert (again.returncode, again.stderr) == (0, b"")
    assert (tmp_path / "record" / os.fsdecode(text)).read_text().split()[1::2] == ["1", "2"]


def test_a_long_path(simulator: Path, tmp_path: Path) -> None:
    """Of nearly 4,000 bytes: the file still grows in its folder."""
    text = NAMES["longest path"]
    os.makedirs(os.path.join(os.fsencode(tmp_path), os.path.dirname(text)))
    done = run(
        [os.fsencode(simulator), b"--quiet", b"--cycles", b"9", b"--stats", text, b"--checkpoint", text + b"c"],
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), text))).read_text())["run"]["cycles"] == {
        "clk": 9
    }


@pytest.mark.parametrize("name", ["space", "quotes", "UTF-8", "not UTF-8", "dash"])
def test_a_machine_in_such_a_folder(name: str, build_dir: Path, tmp_path: Path) -> None:
    lss, text = os.fsencode(build_dir / "bin/lss"), b"./" + NAMES[name]
    folder = tmp_path / os.fsdecode(NAMES[name])
    folder.mkdir()
    (folder / "chain.lss").write_text(CHAIN)
    built = run([lss, b"build", text + b"/chain.lss", b"-o", text + b"/sim"], tmp_path)
    assert built.returncode == 0, built.stderr
    for words in [b"50", b"--checkpoint", b"c"], [b"90", b"--restore", b"c", b"--stats", b"s.json"]:
        done = run([text + b"/sim", b"--quiet", b"--cycles", *words], tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")
    assert os.fsencode(json.loads((tmp_path / "s.json").read_text())["manifest"]["machine"]) == text + b"/chain.lss"
    exported = run([lss, b"export", text + b"/chain.lss"], tmp_path)
    assert exported.returncode == 0 and exported.stderr == b""
    files = json.dumps(json.loads(exported.stdout), ensure_ascii=False)
    assert json.dumps(os.fsdecode(text + b"/chain.lss"), ensure_ascii=False)[1:-1] in files


def test_what_is_recorded_and_compared(build_dir: Path, tmp_path: Path) -> None:
    """A trace names its machine, a checkpoint its constants, whatever bytes these have."""
    lss, folder = os.fsencode(build_dir / "bin/lss"), NAMES["not UTF-8"]
    os.mkdir(os.path.join(os.fsencode(tmp_path), folder))
    (tmp_path / os.fsdecode(folder) / "chain.lss").write_text('parameter label = "" : string; instance t : thing { text = label; };\n' + CHAIN)
    (tmp_path / os.fsdecode(folder) / "thing.lss").write_text('module thing { parameter text = "" : string; state { uint64 n; } phase_end; }\n')
    (tmp_path / os.fsdecode(folder) / "thing.c").write_text("phase_end() { self->n++; }\n")
    for name in b"\xe9", b"\xff":
        words = [lss, b"build", b"-O0", folder + b"/chain.lss", b"-D", b"label=" + name, b"--record", b"ports", b"-o", name]
        built = run(words, tmp_path)
        assert (built.returncode, built.stderr) == (0, b"")
    recorded = run([b"./\xe9", b"--quiet", b"--cycles", b"5", b"--checkpoint", b"c", b"--record", b"t", b"--record-events", b"ports"], tmp_path)
    assert (recorded.returncode, recorded.stderr) == (0, b"")
    shown = run([lss, b"trace", b"t", b"--json"], tmp_path)
    assert os.fsencode(json.loads(shown.stdout.splitlines()[0])["machine"]) == folder + b"/chain.lss"
    other = run([b"./\xff", b"--quiet", b"--cycles", b"9", b"--restore", b"c"], tmp_path)
    assert other.returncode == 2 and b'it is of another machine: t.text is "\xff" here, "\xe9" there' in other.stderr
    allowed = run([b"./\xff", b"--quiet", b"--cycles", b"9", b"--restore", b"c", b"--may-differ", b"t.text", b"--stats", b"s"], tmp_path)
    assert (allowed.returncode, allowed.stderr) == (0, b"")
    [restored] = json.loads((tmp_path / "s").read_text())["manifest"]["restored"]
    assert [os.fsencode(restored["differences"][0][key]) for key in ("checkpoint", "here")] == [b"\xe9", b"\xff"]


def test_an_image_that_is_too_large_is_not_read(build_dir: Path, tmp_path: Path) -> None:
    machine = "import disk_types;\ninstance user : disk_source;\ninstance image : disk_image { capacity = 64 KiB; };\nuser.disk -> image.in;\n"
    (tmp_path / "m.lss").write_text(machine)
    built = run([os.fsencode(build_dir / "bin/lss"), b"build", b"m.lss", b"-o", b"sim"], tmp_path)
    assert built.returncode == 0, built.stderr
    with open(tmp_path / "big", "wb") as image:
        image.truncate(1 << 40)
    done = run([b"./sim", b"--quiet", b"--cycles", b"9", b"--set", b"image.image=big"], tmp_path)
    assert (
        done.returncode == 1
        and done.stderr == b"sim: error: image: big: 1099511627776 bytes do not fit: this disk was built for 65536\n"
    )


FILES = """
import disk_types;
import ethernet_types;
import memory_types;
instance producer : source;
instance between : monitor;
instance consumer : sink;
producer.out -> between.in : uint32;
between.out -> consumer.in;
instance requester : memory_source;
instance memory : memory_state { size = 4 KiB; };
requester.memory -> memory.port;
instance near : ethernet;
instance far : station;
near.to_device -> far.from_device;
far.to_device -> near.from_device;
instance disk : disk_source { count = 0; };
instance image : disk_image { capacity = 8 KiB; };
disk.disk -> image.in;
"""
READ = {
    "producer.script": b"0 1\n3 2\n",
    "requester.script": b"0 read 4 0x10\n",
    "memory.image": bytes(64),
    "near.input": bytes.fromhex("4d3cb2a1020004000000000000000000ffff000001000000"),
    "image.image": bytes(4096),
}
WRITTEN = ["between.record", "consumer.record", "requester.record", "near.output", "far.capture", "image.commit"]
MOST = 4095  # bytes that the system takes in a name of a file


@pytest.fixture(scope="module")
def many_files(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "files.lss").write_text(FILES)
    subprocess.run([build_dir / "bin/lss", "build", "-O0", "files.lss", "-o", "sim"], cwd=folder, check=True)
    return folder / "sim"


def path_of(name: str, folder: bytes, length: int = MOST) -> bytes:
    return folder + b"/" + name.encode().ljust(length - len(folder) - 1, b"_")


def test_the_longest_names_of_all_files(many_files: Path, tmp_path: Path) -> None:
    """As long as the system takes them, with bytes of any kind: read, written, restored, in the manifest and in messages."""
    sim = os.fsencode(many_files)
    part = b"".join(NAMES[name] for name in ("space", "quotes", "UTF-8", "not UTF-8", "surrogate", "percent")).ljust(240, b"=")
    folder = b"/".join([part] * 16)
    here = os.open(tmp_path, os.O_RDONLY)
    os.makedirs(os.path.join(os.fsencode(tmp_path), folder))
    for name, text in READ.items():
        with open(path_of(name, folder), "wb", opener=lambda path, flags: os.open(path, flags, dir_fd=here)) as file:
            file.write(text)
    words = [sim, b"--quiet", b"--cycles", b"50", b"--checkpoint", path_of("c", folder), b"--stats", path_of("s", folder)]
    for name in [*READ, *WRITTEN]:
        words += [b"--set", name.encode() + b"=" + path_of(name, folder)]
    done = run(words, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    with open(path_of("s", folder), opener=lambda path, flags: os.open(path, flags, dir_fd=here)) as file:
        manifest = json.load(file)["manifest"]
    assert all(os.fsencode(manifest["parameters"][name]) == path_of(name, folder) for name in [*READ, *WRITTEN])
    assert {os.fsencode(one["file"]) for one in manifest["inputs"]} == {path_of(name, folder) for name in READ}
    for name in WRITTEN:
        os.stat(path_of(name, folder), dir_fd=here)
    again = run([sim, b"--quiet", b"--cycles", b"90", b"--restore", path_of("c", folder), b"--outputs", b"continue"], tmp_path)
    assert (again.returncode, again.stderr) == (0, b"")

    for name in READ:
        os.unlink(path_of(name, folder), dir_fd=here)
        missing = run([sim, b"--cycles", b"9", b"--set", name.encode() + b"=" + path_of(name, folder)], tmp_path)
        assert missing.returncode == 1 and missing.stderr.count(b"\n") == 1 and name.encode() + b"___" in missing.stderr
        assert b"No such file" in missing.stderr
    for name in [*READ, *WRITTEN]:
        longer = run([sim, b"--cycles", b"9", b"--set", name.encode() + b"=" + path_of(name, folder, MOST + 1)], tmp_path)
        expected = f"sim: {name}: the text has {MOST + 1} bytes, at most {MOST} fit\n"
        assert (longer.returncode, longer.stderr) == (2, expected.encode())
    os.close(here)
