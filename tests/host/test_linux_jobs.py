"""Linux with a disk of jobs: from one checkpoint at the prompt the jobs of several folders, as `spinach job` runs them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.linux_guest import build_host, guest

pytestmark = [pytest.mark.soak, pytest.mark.optimised]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def prompt(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a checkpoint and its simulator, as `make linux-prompt` leaves it."""
    software = guest(build_dir)
    place = tmp_path_factory.mktemp("prompt")
    files = build_dir.resolve() / "linux/shell/initramfs.cpio"
    build_host(root, build_dir, place / "host", "jobs=true", "processor=fast_processor")
    machine = [root / "examples/host/host.lss", "-D", "jobs=true", "-D", "processor=fast_processor"]
    subprocess.run([build_dir / "bin/lss", "export", *machine, "-o", place / "host.json"], check=True)
    subprocess.run([sys.executable, root / "firmware/tools/device_tree.py", place / "host.json", root / "firmware/linux/host.dts", place / "host.dts"], check=True)
    subprocess.run([root / "firmware/linux/tree", place / "host.dts", files, place / "host.dtb"], check=True)
    command = [root / "firmware/linux/prompt", place, software.vmlinux, place / "host.dtb", files, "--switch_at", "end"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    made = (place / "checkpoint").stat().st_mtime_ns
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    assert (place / "checkpoint").stat().st_mtime_ns == made, "it is made again only if something has changed"
    return place


def job(prompt: Path, folder: Path, script: str, *options: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    (folder / "run").write_text(script)
    (folder / "run").chmod(0o755)
    command = [sys.executable, "-m", "harness", "job", prompt / "checkpoint", folder, "--", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder.parent, env=environment, capture_output=True, text=True, errors="surrogateescape")


def held(folder: Path) -> dict[bytes, bytes]:
    names = [os.path.join(place, name) for place, _, files in os.walk(os.fsencode(folder)) for name in files]
    return {os.path.relpath(name, os.fsencode(folder)): Path(os.fsdecode(name)).read_bytes() for name in names}


def test_two_programs_from_one_checkpoint(prompt: Path, tmp_path: Path) -> None:
    """Right outputs, the status of each, the same bytes when repeated."""
    data = bytes(k * k & 255 for k in range(100_000))
    for name in ("sum", "count"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data").write_bytes(data)
    programs = {"sum": ("#!/bin/sh\nmkdir out\nmd5sum data >out/sum\necho summed\nexit 7\n", 7), "count": ("#!/bin/sh\nmkdir out\nwc -c <data >out/count\ncp -p run out\n", 0)}
    kept: dict[str, list] = {}
    for name in ("sum", "count", "sum", "count"):
        script, status = programs[name]
        done = job(prompt, tmp_path / name, script, "--stats", "stats.json")
        assert done.returncode == status, done.stdout + done.stderr
        stats = json.loads((tmp_path / "stats.json").read_text())
        kept.setdefault(name, []).append((done.stdout, held(tmp_path / name / "out"), stats))
    for first, second in kept.values():
        assert first == second
    assert "summed\n" in kept["sum"][0][0].replace("\r", "")
    assert kept["sum"][0][1] == {b"sum": subprocess.run(["md5sum", "data"], cwd=tmp_path / "sum", capture_output=True, check=True).stdout}
    assert kept["count"][0][1] == {b"count": b"100000\n", b"run": programs["count"][0].encode()}
    assert os.access(tmp_path / "count/out/run", os.X_OK)


def test_hostile_names_and_links(prompt: Path, tmp_path: Path) -> None:
    """The guest's tar takes what is packed here, and writes what is taken from it."""
    names = [b"a b", b"-rf", "größe".encode(), b"\xff\xfe", b"n" * 200, b"d " + b"x" * 150 + b"/-\xe9/" + b"y" * 120, b"*", b"'\""]
    for name in names:
        path = os.path.join(os.fsencode(tmp_path), b"names/data", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        Path(os.fsdecode(path)).write_bytes(name)
    done = job(prompt, tmp_path / "names", "#!/bin/sh\ncp -a data out\nln -s /etc/passwd out/outside\nln -s ../.. out/above\nln -s 'a b' out/inside\nmkfifo out/pipe\nln out/-rf out/hard\n")
    assert done.returncode == 0, done.stdout + done.stderr
    out = held(tmp_path / "names/out")
    assert out == {name: name for name in names} | {b"inside": b"a b", b"hard": b"-rf"}
    left = sorted(re.findall(r"left out .*/out/(\w+): ", done.stderr))
    assert left == ["above", "outside", "pipe"] and os.readlink(tmp_path / "names/out/inside") == "a b"


def test_a_socket(prompt: Path, tmp_path: Path) -> None:
    done = job(prompt, tmp_path / "socket", "#!/bin/sh\nmkdir out\nln -s /tmp/job/out/socket /dev/log\nsyslogd -O /tmp/log\nsleep 1\necho x >out/file\n")
    assert done.returncode == 0 and "job: left out a socket: /tmp/result/out/socket" in done.stdout, done.stdout + done.stderr
    assert held(tmp_path / "socket/out") == {b"file": b"x\n"}


WRONG = {
    "too much on the disk": ("mkdir out; for n in 1 2 3; do ln -s /bin out/$n; done; truncate -s 70000000 out/holes", "the guest could not finish the job: out/ cannot be packed onto the disk of 64 MiB: write error: No space left on device"),
    "out is a file": ("echo x >out", "run made out, which must be a folder"),
    "switched off": ("poweroff -f", "the run has ended before the guest had packed its results (its console says what it did)"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_goes_wrong_in_the_guest(name: str, prompt: Path, tmp_path: Path) -> None:
    script, why = WRONG[name]
    done = job(prompt, tmp_path / "wrong", f"#!/bin/sh\n{script}\n")
    assert done.returncode == 1 and why in done.stderr.splitlines()[-1], done.stdout + done.stderr
    assert sorted(os.listdir(tmp_path / "wrong")) == ["run"]


def test_files_that_do_not_fit_the_guest(prompt: Path, tmp_path: Path) -> None:
    (tmp_path / "large").mkdir()
    (tmp_path / "large/data").write_bytes(b"x" * (40 << 20))
    done = job(prompt, tmp_path / "large", "#!/bin/sh\n")
    assert done.returncode == 1 and "the guest could not finish the job: the files cannot be unpacked to /tmp: " in done.stderr, done.stdout + done.stderr


def test_a_job_after_a_job(prompt: Path, tmp_path: Path) -> None:
    """A checkpoint behind the first one's reads is refused."""
    (tmp_path / "script").write_text('wait "/ # "\nsend "head -c 9000 /dev/vdb | md5sum\\n"\nwait "  -"\n')
    (tmp_path / "host").symlink_to(prompt / "host")
    command = ["./host", "--quiet", "--restore", prompt / "checkpoint", "--console_script", "script", "--time", "2 s", "--checkpoint", "checkpoint"]
    subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    done = job(tmp_path, tmp_path / "late", "#!/bin/sh\n")
    assert done.returncode in (1, 2) and "the run has already read this disk, so it cannot have another image" in done.stderr, done.stderr
