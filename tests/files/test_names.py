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
