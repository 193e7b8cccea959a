"""Files into and out of a guest by the disk of jobs of examples/host, with a small program in place of Linux: from one checkpoint two jobs, and what is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.firmware import tool
from tests.host import sectors

ROOT = Path(__file__).resolve().parents[2]


def job(directory: Path, folder: str, *options: object, checkpoint: str = "prompt") -> subprocess.CompletedProcess[str]:
    """`spinach job` in a directory."""
    command = [sys.executable, "-m", "harness", "job", checkpoint, folder, "--", *map(str, options)]
    return subprocess.run(command, cwd=directory, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)


def write(run: Path, text: str) -> None:
    run.parent.mkdir(parents=True)
    run.write_text(text)
    run.chmod(0o755)


def guest(directory: Path) -> Path:
    elf = directory / "jobs.elf"
    subprocess.run([tool("clang"), *sectors.FLAGS, "-Wl,-Ttext=0x80100000", Path(__file__).with_name("jobs.c"), "-o", elf], check=True)
    return elf


def refused(simulator: Path, directory: Path, *options: object) -> str:
    """Why a run does not begin; one line."""
    done = subprocess.run([str(word) for word in (simulator, "--quiet", *options)], cwd=directory, capture_output=True, text=True)
    assert done.returncode in (1, 2) and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


OTHERS = [("disks=[]",), ("system_kind=coherent_system", "checked=true"), ("processor=wide_processor", "checked=true"), ("processor=fast_processor",)]


@pytest.mark.parametrize("given", [(), *(pytest.param(one, marks=pytest.mark.soak) for one in OTHERS)], ids=lambda one: " ".join(one) or "plain")
def test_two_jobs_from_one_checkpoint(root: Path, build_sim, given: tuple[str, ...], tmp_path: Path) -> None:
    """Right outputs, statistics and status, the same bytes when repeated; one that is too large, and a disk that was read, are refused."""
    simulator = build_sim(root / "examples/host/host.lss", "-D", "jobs=true", *(word for one in given for word in ("-D", one)))
    (tmp_path / "host").symlink_to(simulator)
    start = [simulator, "--quiet", "--kernel", guest(tmp_path), "--time", "1 ms", "--checkpoint"]
    subprocess.run([*start, "prompt"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    write(tmp_path / "one/run", "7 of one\n")
    write(tmp_path / "two/run", "0 of two\n")
    kept: dict[str, list] = {}
    for name, status in (("one", 7), ("two", 0), ("one", 7)):
        done = job(tmp_path, name, "--stats", "stats.json")
        text = f"{status} of {name}\n"
        assert done.returncode == status and done.stdout.endswith(f"/ # {text}") and done.stderr.count("\n") == (status > 0), done.stderr
        assert (tmp_path / name / "out/said").read_text() == text
        stats = json.loads((tmp_path / "stats.json").read_text())
        [image] = [one for one in stats["manifest"]["inputs"] if one["file"] == f"{name}/out.part/job.tar"]
        kept.setdefault(name, []).append((done.stdout, stats))
        assert len(image["blocks_sha256"]) == 64
    assert kept["one"][0] == kept["one"][1] and kept["one"][0] != kept["two"][0]

    (tmp_path / "large").write_bytes(b"x" * ((64 << 20) + 1))
    assert "large: 67108865 bytes do not fit: this disk was built for 67108864" in refused(simulator, tmp_path, "--restore", "prompt", "--job", "large")
    (tmp_path / "use").write_text('wait "/ # "\nsend "use\\n"\n')
    subprocess.run([*start[:-3], "--console_script", "use", "--time", "3 ms", "--checkpoint", "used"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    done = job(tmp_path, "one", checkpoint="used")
    why = 'devices.job_drive: "one/out.part/job.tar": the run has already read this disk, so it cannot have another image (restore a checkpoint from before that)'
    assert done.returncode in (1, 2) and why in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert (tmp_path / "one/out/said").read_text() == "7 of one\n"
    unended = job(tmp_path, "one", "--time", "1.001 ms")
    assert (unended.returncode, unended.stderr.splitlines()[-1]) == (1, "harness: the run has ended before the guest had packed its results (its console says what it did)")


STUDY = """
title = "Two jobs"
machine = "machine.lss"
base = { "D.jobs" = true, "option.kernel" = "jobs.elf" }
job = "one"
start = { make = { until = "1 ms" } }
axis = [{ name = "program", values = [{ label = "one", settings = {} }, { label = "two", settings = { job = "two" } }, { label = "three", settings = { job = "three" } }] }]
[measure]
sectors = { value = "devices.job_drive.sectors_written", label = "sectors" }
"""


def test_a_study_of_jobs(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """A point runs a folder; what it left is in the results, and a status that is not 0 fails the point."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build/bin").symlink_to(build_dir / "bin")
    (tmp_path / "study.toml").write_text(STUDY.replace('"machine.lss"', f'"{os.path.relpath(root / "examples/host/host.lss", tmp_path)}"'))
    guest(tmp_path)
    for name, status in ("one", 0), ("two", 0), ("three", 7):
        write(tmp_path / name / "run", f"{status} of {name}\n")
    command = [sys.executable, "-m", "harness", "study", tmp_path / "study.toml", "--build", tmp_path / "build", "--out", tmp_path / "page", "--plain"]
    kept = []
    for _ in range(2):
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
        assert done.returncode == 1 and "failed: program three: " in done.stdout + done.stderr and "ended with status 7" in done.stdout + done.stderr, done.stdout + done.stderr
        for number, name in enumerate(("one", "two")):
            assert (tmp_path / f"page/jobs/{number}/said").read_text() == f"0 of {name}\n"
        assert sorted(os.listdir(tmp_path / "page/jobs")) == ["0", "1"]
        kept.append((tmp_path / "page/results.json").read_bytes())
        (tmp_path / "page/jobs/2").mkdir()  # of a point that has failed since
    points = json.loads(kept[0])["points"]
    assert kept[0] == kept[1] and [one["measures"].get("sectors") for one in points] == [8, 8, None]
    assert [[file["file"] for file in one["job"].get("out", [])] for one in points] == [["said"], ["said"], []]
    assert [[file["file"] for file in one["job"]["files"]] for one in points] == [["run"]] * 3 and points[0]["job"]["files"] != points[1]["job"]["files"]


@pytest.mark.parametrize("given", ["disks=[]", "disks=[disk_image(capacity = 8 MiB)]", "system_kind=coherent_system", "processor=wide_processor", "big_endian=true"])
def test_machines_that_have_a_disk_of_jobs(root: Path, lss, given: str) -> None:
    lss("check", "--netlist-only", root / "examples/host/host.lss", "-D", "jobs=true", "-D", given)
