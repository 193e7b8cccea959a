"""`spinach job`: a folder goes in and results come out, with a stand-in for the simulator; archives of hostile guests."""

import io
import json
import os
import signal
import stat
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from harness.job import archive, command
from harness.job.pack import pack
from harness.job.unpack import stays_inside, unpack

ROOT = Path(__file__).resolve().parents[2]

# What a simulator does with a guest at its prompt: executes the job's `run` in a folder of its own, packs, ends with its status.
SIMULATOR = f"""#!{sys.executable}
import os, subprocess, sys, tarfile, tempfile
from pathlib import Path
words = sys.argv[1:]
if words == ["--list=json"]:
    print('{{"parameters": [{{"name": "job"}}]}}')
    sys.exit()
given = dict(zip(words[::1], words[1::1]))
print("console:", Path(given["--console_script"]).read_text().count("job"), given["--console_output"])
if "--lose" in words:
    sys.exit(0 if not Path(given["--job_result"]).write_bytes(Path(given["--job"]).read_bytes()) else 0)
if "--break" in words:
    sys.exit("simulator: error: it cannot be restored")
if "--signal" in words:
    os.kill(os.getpid(), 9)
with tempfile.TemporaryDirectory() as place:
    with tarfile.open(given["--job"]) as tar:
        tar.extractall(place, filter="fully_trusted")
    size = int(Path(place, "job.size").read_text())
    assert size == os.stat(given["--job"]).st_size
    job = Path(place, "job")
    status = subprocess.run(["./run"], cwd=job, stdin=subprocess.DEVNULL).returncode
    (job / "out").mkdir(exist_ok=True)
    reason = (job / "reason").read_text() if (job / "reason").exists() else ""
    (job / "status").write_text(f"{{status}}{{reason}}\\n")
    names = ["status"] if reason else ["out", "status"]
    subprocess.run(["tar", "--format=gnu", "--sort=name", "-cf", given["--job_result"] + ".part", "-C", job, *names], check=True)
    with open(given["--job_result"] + ".part", "ab") as disk:
        disk.truncate(1 << 20)
    os.rename(given["--job_result"] + ".part", given["--job_result"])
sys.exit(status)
"""


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A checkpoint with its simulator, and a folder with a job."""
    executable(tmp_path / "host", SIMULATOR)
    (tmp_path / "prompt").write_text("a checkpoint")
    executable(tmp_path / "mine/run", "#!/bin/sh\nmkdir -p out\ncat words >out/words\necho done\nexit 7\n")
    (tmp_path / "mine/words").write_text("some words\n")
    return tmp_path


def job(place: Path, *words: object, folder: str = "mine", checkpoint: str = "prompt") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness", "job", checkpoint, folder, *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, errors="surrogateescape")


def held(folder: Path) -> dict[str, bytes | str]:
    """Files with their contents, links with their targets."""
    found: dict[str, bytes | str] = {}
    for one in sorted(folder.rglob("*")):
        name = str(one.relative_to(folder))
        if one.is_symlink():
            found[name] = os.readlink(one)
        elif one.is_file():
            found[name] = one.read_bytes()
    return found


# ---- The command


def test_a_job(place: Path) -> None:
    """The status of `run` comes back; its files are in out/, those of an earlier run are not, and nothing else is left."""
    (place / "mine/out").mkdir()
    (place / "mine/out/old").write_text("of an earlier run")
    for _ in range(2):
        done = job(place, "--manifest", "manifest.json")
        assert (done.returncode, done.stdout, done.stderr) == (7, "console: 1 -\ndone\n", "")
        assert held(place / "mine/out") == {"words": b"some words\n"}
        assert sorted(os.listdir(place / "mine")) == ["out", "run", "words"]
    manifest = json.loads((place / "manifest.json").read_text())
    assert [one["file"] for one in manifest["job"]] == ["run", "words"] and manifest["status"] == 7
    assert manifest["out"] == [{"file": "words", "sha256": manifest["job"][1]["sha256"]}]
    assert manifest["checkpoint"]["file"] == "prompt" and manifest["simulator"]["file"] == "host" and manifest["options"] == []


def test_options_and_another_simulator(place: Path) -> None:
    (place / "host").rename(place / "other")
    done = job(place, "--simulator", "other", "--", "--console_output", "console.txt", "--latency", 20)
    assert (done.returncode, done.stdout) == (7, "console: 1 console.txt\ndone\n"), done.stderr


def test_hostile_names(place: Path) -> None:
    """Spaces, dashes, characters, bytes that are of none, ends of lines and long names go in and come out as they are."""
    names = [b"a b", b"-rf", "größe".encode(), b"\xff\xfe", b"one\ntwo", b"n" * 200, b"d " + b"x" * 150 + b"/-\xe9/" + b"y" * 120, b"*", b"\\", b"'\""]
    for number, name in enumerate(names):
        path = os.path.join(os.fsencode(place / "mine/data"), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        Path(os.fsdecode(path)).write_text(str(number))
    os.symlink(b"\xff\xfe", os.fsencode(place / "mine/data") + b"/link")
    os.symlink("/etc/passwd", place / "mine/data/outside")  # goes in as it is
    executable(place / "mine/run", "#!/bin/sh\nmkdir out\nrm data/outside\ncp -a data/. out\n")
    (place / "-my folder\xff").mkdir()
    (place / "mine").rename(place / "-my folder\xff/mine")
    done = job(place, folder="./-my folder\xff/mine")
    assert (done.returncode, done.stderr) == (0, "")
    out = held(place / "-my folder\xff/mine/out")
    assert {os.fsencode(name): one for name, one in out.items()} == {name: str(k).encode() for k, name in enumerate(names)} | {b"link": "\udcff\udcfe"}


WRONG = {
    "no folder": ("rm -r mine", [], "there is no folder mine"),
    "a file": ("rm -r mine; touch mine", [], "there is no folder mine"),
    "no run": ("rm mine/run", [], "mine has no file run, which the guest executes (a program of the guest, or a script)"),
    "run is a folder": ("rm mine/run; mkdir mine/run", [], "mine has no file run, which the guest executes (a program of the guest, or a script)"),
    "not executable": ("chmod -x mine/run", [], "mine/run is not executable (chmod +x mine/run)"),
    "a pipe": ("mkfifo mine/pipe", [], "mine/pipe is neither a file, a folder nor a symbolic link (leave it out of the job)"),
    "too large": ("truncate -s 64M mine/data", [], "mine takes 67113984 bytes on the disk of jobs, which has 67108864"),
    "no checkpoint": ("rm prompt", [], "there is no checkpoint prompt (make linux-prompt makes one)"),
    "no simulator": ("rm host", [], "there is no simulator host (name that of the checkpoint: --simulator FILE)"),
    "another simulator": ("", ["--simulator", "absent"], "there is no simulator absent (name that of the checkpoint: --simulator FILE)"),
    "no disk of jobs": ("sed -i 's/\"name\": \"job\"/\"name\": \"x\"/' host", [], "the machine of host has no disk of jobs (build it with -D jobs=true)"),
    "no machine": ("printf '#!/bin/sh\\necho what >&2; exit 3' >host", [], "host is no simulator (status 3: what)"),
    "an option of ours": ("", ["--", "--job=x"], "--job=x: spinach job sets --job itself (leave this option out)"),
    "a setting of ours": ("", ["--", "--set", "console_script=x"], "console_script=x: spinach job sets --console_script itself (leave this option out)"),
    "a guest that ends": ("", ["--", "--lose"], "the run has ended before the guest had packed its results (its console says what it did)"),
    "a killed simulator": ("", ["--", "--signal"], "the simulator was ended by signal 9; mine/out is as it was"),
    "a full disk": ("printf ' out/ cannot be packed onto the disk of 64 MiB: No space left on device' >mine/reason", [], "the guest could not finish the job: out/ cannot be packed onto the disk of 64 MiB: No space left on device"),
    "a full memory": ("printf ' the files cannot be unpacked to /tmp: \\033[1m' >mine/reason", [], "the guest could not finish the job: the files cannot be unpacked to /tmp: \\x1b[1m"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_line(name: str, place: Path) -> None:
    """Nothing is written, and results of an earlier run stay."""
    before, words, why = WRONG[name]
    (place / "mine/out").mkdir()
    (place / "mine/out/old").write_text("of an earlier run")
    subprocess.run(["sh", "-ec", before], cwd=place, check=True)
    done = job(place, *words)
    assert (done.returncode, done.stderr) == (1, f"harness: {why}\n")
    if (place / "mine").is_dir():
        assert held(place / "mine/out") == {"old": b"of an earlier run"} and not (place / "mine/out.part").exists()


def test_what_the_simulator_says(place: Path) -> None:
    done = job(place, "--", "--break")
    assert (done.returncode, done.stderr) == (1, "simulator: error: it cannot be restored\n")
    assert sorted(os.listdir(place / "mine")) == ["run", "words"]


IN_USE = "harness: another command uses mine (wait for it, or copy the folder)\n"


def test_one_command_at_a_time(place: Path) -> None:
    """One that was killed leaves what the next one removes."""
    executable(place / "mine/run", f"#!/bin/sh\nmkdir out\nuntil [ -e '{place}/end' ]; do sleep 0.05; done\n")
    command = [sys.executable, "-m", "harness", "job", "prompt", "mine"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        while not (place / "mine/out.part/script").exists():
            time.sleep(0.02)
        assert job(place).stderr == IN_USE
        running.kill()
        running.wait()
        assert job(place).stderr == IN_USE  # the simulator has not ended
        (place / "end").touch()
    while job(place).stderr == IN_USE:
        time.sleep(0.05)
    (place / "mine/out").rename(place / "mine/out.part")
    assert (place / "mine/out.part").exists() and not (place / "mine/out").exists()
    executable(place / "mine/run", "#!/bin/sh\nls >names\nmkdir out\nmv names out\n")
    assert job(place).returncode == 0 and held(place / "mine/out") == {"names": b"names\nrun\nwords\n"}
    assert sorted(os.listdir(place / "mine")) == ["out", "run", "words"]


def test_an_interrupted_job(place: Path) -> None:
    """The simulator ends, and nothing is left of the run."""
    executable(place / "mine/run", f"#!/bin/sh\necho $$ >'{place}/pid.part'\nmv '{place}/pid.part' '{place}/pid'\nexec sleep 60\n")
    command = [sys.executable, "-m", "harness", "job", "prompt", "mine"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        while not (place / "pid").exists():
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert (running.returncode, said.splitlines()[-1]) == (130, "harness: interrupted; mine/out is as it was")
    assert sorted(os.listdir(place / "mine")) == ["run", "words"]
    ended = Path(f"/proc/{(place / 'pid').read_text().strip()}/cmdline")
    assert not ended.exists() or not ended.read_bytes()


def test_a_checkpoint_in_the_results(place: Path) -> None:
    """It would go with them."""
    (place / "mine/out").mkdir()
    (place / "prompt").rename(place / "mine/out/prompt")
    done = job(place, checkpoint="mine/out/prompt")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "CHECKPOINT reads it too" in done.stderr
    assert (place / "mine/out/prompt").exists()


# ---- The archive of a folder


def packed(folder: Path) -> bytes:
    image = io.BytesIO()
    pack(folder, image)
    return image.getvalue()


def test_the_same_bytes_for_the_same_files(place: Path) -> None:
    """Times, owners and permissions but that to execute make no difference; names are in the order of their bytes."""
    for name in ("b", "a.x", "a/y", "é"):
        (place / "mine" / name).parent.mkdir(exist_ok=True)
        (place / "mine" / name).write_text(name)
    before = packed(place / "mine")
    (place / "mine/b").chmod(0o600)
    os.utime(place / "mine/b", (1, 1))
    (place / "mine/out").mkdir()
    (place / "mine/out/x").write_text("left out")
    assert packed(place / "mine") == before and len(before) % 512 == 0
    with tarfile.open(fileobj=io.BytesIO(before)) as tar:
        members = tar.getmembers()
    assert [one.name for one in members] == ["job.size", *(f"job{n}" for n in ("", "/a", "/a/y", "/a.x", "/b", "/run", "/words", "/é"))]
    assert {(one.uid, one.gid, one.uname, one.gname, one.mtime) for one in members} == {(0, 0, "", "", 0)}
    (place / "mine/b").chmod(0o700)
    assert packed(place / "mine") != before


# ---- The results of a guest


def results(directory: Path, *members: tuple[str, bytes | str, dict], end: bytes = b"0\n") -> Path:
    """An archive as a guest leaves it."""
    image = directory / "image"
    with tarfile.open(image, "w", format=tarfile.GNU_FORMAT) as tar:
        for name, content, settings in [*members, ("status", end, {})]:
            info = tarfile.TarInfo(name)
            data = content if isinstance(content, bytes) else b""
            info.size = len(data)
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
            for key, value in settings.items():
                setattr(info, key, value)
            if end or name != "status":
                tar.addfile(info, io.BytesIO(data))
    return image


FOLDER = {"type": tarfile.DIRTYPE}
HARD = {"type": tarfile.LNKTYPE}
UNSOUND = {
    "above": ([("out/../../evil", b"x", {})], "it has a file out/../../evil"),
    "absolute": ([("/tmp/evil", b"x", {})], "it has a file /tmp/evil"),
    "beside": ([("evil", b"x", {})], "it has a file evil"),
    "twice": ([("out/a", b"x", {}), ("out/a", b"y", {})], "it has a twice"),
    "below a file": ([("out/a", b"x", {}), ("out/a/b", b"y", {})], "it has a twice"),
    "a folder that is a file": ([("out", b"x", {})], "out is no folder"),
    "a link to nothing": ([("out/a", b"", HARD | {"linkname": "out/b"})], "out/a is a link to no file before it"),
    "a link outside": ([("out/a", b"x", {}), ("out/b", b"", HARD | {"linkname": "/etc/passwd"})], "it has a file /etc/passwd"),
    "through a link": ([("out/a", "b", {}), ("out/a/evil", b"x", {})], "it has a twice"),
    "after its status": ([("out/a", b"x", {}), ("status", b"0\n", {}), ("out/b", b"x", {})], "something follows its status"),
    "a status that is none": ([("out/a", b"x", {}), ("status", b"0x1\n", {})], "its status is no number"),
    "an escape": ([("out/a", b"x", {}), ("\x1b[2J", b"x", {})], "it has a file \\x1b[2J"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSOUND)
def test_nothing_is_written_outside(name: str, tmp_path: Path) -> None:
    members, why = UNSOUND[name]
    (tmp_path / "below").mkdir()
    with pytest.raises(archive.JobError) as raised:
        unpack(results(tmp_path, *members), tmp_path / "below/out")
    said = str(raised.value)
    assert (said == f"the guest has left no sound archive on the disk of jobs: {why}" or said.startswith("the run has ended before")) and "\n" not in said
    assert sorted(os.listdir(tmp_path)) == ["below", "image"] and os.listdir(tmp_path / "below") == ["out"]
    assert not Path("/tmp/evil").exists()


def test_links_and_what_is_no_file(tmp_path: Path) -> None:
    """Links that lead out and devices are left out; a second name is the same file; set-user-ID bits are dropped."""
    members = [
        ("out/", b"", FOLDER), ("out/d/e", b"", FOLDER), ("out/d/e/f", b"content", {"mode": 0o4755}), ("out/g", b"", HARD | {"linkname": "out/d/e/f"}),
        ("out/good", "d/e/f", {}), ("out/d/e/up", "../../g", {}), ("out/passwd", "/etc/passwd", {}), ("out/above", "../x", {}), ("out/d/e/top", "../..", {}),
        ("out/round", "d/e/top/..", {}), ("out/device", b"", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3}), ("out/pipe", b"", {"type": tarfile.FIFOTYPE}),
    ]  # fmt: skip
    found = unpack(results(tmp_path, *members, end=b"3\n"), tmp_path / "out")
    assert held(tmp_path / "out") == {"d/e/f": b"content", "g": b"content", "good": "d/e/f", "d/e/up": "../../g", "d/e/top": "../.."}
    assert found.status == 3 and stat.S_IMODE((tmp_path / "out/g").stat().st_mode) & 0o7111 == 0o111
    assert sorted(found.left_out) == [
        "above: it is a link to ../x, outside out",
        "device: it is no file, folder or symbolic link",
        "passwd: it is a link to /etc/passwd, outside out",
        "pipe: it is no file, folder or symbolic link",
        "round: it is a link to d/e/top/.., outside out",
    ]


@pytest.mark.parametrize(
    ("name", "target", "inside"),
    [("a", "b", True), ("a", "..", False), ("d/a", "..", True), ("d/a", "../..", False), ("a", "/b", False), ("a", "b/../c", False), ("d/a", ".././b//c", True), ("a", ".", True)],
)
def test_where_links_lead(name: str, target: str, inside: bool) -> None:
    assert stays_inside(tuple(name.split("/")), target) == inside


@pytest.mark.parametrize("cut", range(0, 4096, 61))
def test_a_damaged_archive_is_one_line(cut: int, tmp_path: Path) -> None:
    """Cut or overwritten anywhere: an error of ours, or the results; never anything outside."""
    sound = results(tmp_path, ("out/a", b"x" * 700, {}), ("out/b", b"y", {}), end=b"5\n").read_bytes()
    for number, data in enumerate((sound[:cut], sound[:cut] + b"\xa5" * 64 + sound[cut + 64 :], sound[:cut] + bytes(1 << 16))):
        (tmp_path / "image").write_bytes(data)
        try:
            assert unpack(tmp_path / "image", tmp_path / f"out{number}").status == 5
        except archive.JobError as error:
            assert "\n" not in str(error)
    assert set(os.listdir(tmp_path)) <= {"image", "out0", "out1", "out2"}


SLOW = """#!/bin/sh
echo of the machine
sleep 0.4
echo '{"time_fs": 2500000000000, "cycles": {"clk": 1}, "per_second": 1.0, "share": null}' >&2
echo a warning >&2
sleep 0.4
exit 3
"""


def test_a_long_job_says_at_which_step_it_is(place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """On standard error, among what the simulator says there; how far it is does not show otherwise, unless the user wants it."""
    monkeypatch.setattr("harness.run.heartbeat.EVERY", 0.15)
    monkeypatch.delenv("LSS_PROGRESS", raising=False)
    executable(place / "slow", SLOW)
    monkeypatch.setattr(command, "_has_job_disk", lambda simulator: True)
    for options in ([], ["--progress"]):
        assert command.run(place / "prompt", place / "mine", place / "slow", None, options) == 3
        out, err = capfd.readouterr()
        assert out == "of the machine\n" and "a warning\n" in err
        restoring = f"harness: job: restoring {place / 'prompt'}, after 0 s\n"
        assert restoring in err and ("harness: job: running in the guest, 2.5 ms simulated, after" in err) == (not options), err
        assert ("time_fs" in err) == bool(options)
