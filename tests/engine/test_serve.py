"""Many runs from one checkpoint (--serve): each is the run that --restore alone gives, and one's failure is its own."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

MACHINE = """
instance s : source { offer = 0.5; count = 100000; };
instance k : sink { ready = 0.5; };
s.out -> k.in : uint32;
"""


@pytest.fixture(scope="module")
def simulator(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("serve")
    (folder / "m.lss").write_text(MACHINE)
    subprocess.run([build_dir / "bin" / "lss", "build", "-O0", "m.lss", "-o", "m"], cwd=folder, check=True)
    return folder / "m"


@pytest.fixture
def point(simulator: Path, run_sim, tmp_path: Path) -> Path:
    run_sim(simulator, "--cycles", 400, "--set", "k.record=record.txt", "--checkpoint", "point")
    return tmp_path / "point"


def serve(simulator: Path, text: str, *options: str, cwd: Path) -> tuple[int, list[str], str]:
    command = [simulator, "--quiet", "--restore", "point", *options]
    done = subprocess.run(command, input=text, cwd=cwd, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_each_line_is_a_run(simulator, run_sim, point, tmp_path) -> None:
    lines = [f"run{n} --seed {n} --cycles 900 --stats stats.json --set k.record=taken.txt\n" for n in range(1, 6)]
    status, said, err = serve(simulator, "".join(lines)[:-1], "--serve", "2", cwd=tmp_path)
    assert (status, err) == (0, "")
    assert sorted(line.split()[0] for line in said if "begins" in line) == ["1", "2", "3", "4", "5"]
    assert sorted(line for line in said if "ends" in line) == [f"{n} ends 0" for n in range(1, 6)]
    running = most = 0
    for line in said:
        running += 1 if "begins" in line else -1
        most = max(most, running)
    assert most == 2
    for n in (1, 4):
        alone = run_sim(simulator, "--quiet", "--restore", "point", "--seed", n, "--cycles", 900, "--set", "k.record=taken.txt")
        assert (tmp_path / "taken.txt").read_bytes() == (tmp_path / f"run{n}/taken.txt").read_bytes()
        assert json.loads((tmp_path / f"run{n}/stats.json").read_text()) == alone.stats
        assert (tmp_path / f"run{n}/log.txt").read_text() == ""


def test_what_the_server_was_given_holds_for_every_run(simulator, run_sim, point, tmp_path) -> None:
    status, said, _ = serve(simulator, "a --print k.items\n'b c' --print k.items --cycles 401\n", "--serve=1", "--cycles", "500", cwd=tmp_path)
    assert status == 0 and [line.split()[1] for line in said] == ["begins", "ends"] * 2
    straight = [run_sim(simulator, "--cycles", n, "--print", "k.items").out.splitlines()[0] for n in (500, 401)]
    assert (tmp_path / "a/log.txt").read_text().startswith(straight[0])
    assert (tmp_path / "b c/log.txt").read_text().startswith(straight[1])


def test_a_failure_is_that_of_its_run(simulator, point, tmp_path) -> None:
    text = "\n--cycles 9\nx 'y\nx --restore other\nx --serve 3\nbad --cycls 9\n/proc/none --cycles 9\nlate --cycles 900 --checkpoint /dev/full\ngood --cycles 900\n"
    status, said, err = serve(simulator, text, "--serve", "1", cwd=tmp_path)
    assert status == 1
    assert [line for line in said if "ends" in line] == [*(f"{n} ends 2" for n in range(1, 8)), "8 ends 1", "9 ends 0"]
    assert err.splitlines()[0] == f"{simulator.name}: line 1: it is empty; write a folder, then options"
    assert "line 2: it begins with an option; write a folder first" in err
    assert "line 3: Text ended before matching quote" in err
    assert err.count("what it begins with is the server's checkpoint") == 2
    assert "cannot work in the folder" in err
    assert "did you mean --cycles?" in (tmp_path / "bad/log.txt").read_text()
    assert "No space left on device" in (tmp_path / "late/log.txt").read_text()


def test_a_folder_is_of_one_run(simulator, point, tmp_path) -> None:
    """Under any of its names, while a run is there and after it; a folder that was moved away is free again."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to("a")
    lines = [f"{folder} --cycles {cycles} --stats s.json\n" for folder, cycles in (("a", 900), ("./a", 901), ("c", 902), ("b", 903), ("c/../a", 904))]
    for at_once in "1", "5":
        status, said, err = serve(simulator, "".join(lines), "--serve", at_once, cwd=tmp_path)
        assert status == 1 and sorted(line for line in said if "ends" in line) == ["1 ends 0", "2 ends 2", "3 ends 0", "4 ends 2", "5 ends 2"]
        assert err.splitlines() == [
            f'{simulator.name}: line {n}: the folder "{name}" is that of line 1; name another one for each run' for n, name in ((2, "./a"), (4, "b"), (5, "c/../a"))
        ]
        assert set(json.loads((tmp_path / "a/s.json").read_text())["run"]["cycles"].values()) == {900}
    command = [simulator, "--quiet", "--restore", "point", "--serve", "1"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin and server.stdout
        for number in range(1, 6):
            server.stdin.write(f"again --cycles {900 + number} --stats s.json\n")
            server.stdin.flush()
            assert [server.stdout.readline().split()[1:2], server.stdout.readline().split()[1:]] == [["begins"], ["ends", "0"]]
            (tmp_path / "again").rename(tmp_path / "moved") if number < 3 else shutil.rmtree(tmp_path / "again")
            shutil.rmtree(tmp_path / "moved", ignore_errors=True)
        server.stdin.close()
        assert server.wait() == 0


def test_a_run_may_wait_for_an_event(simulator, run_sim, point, tmp_path) -> None:
    """It becomes another build, in its folder, and begins at the same checkpoint."""
    status, _, err = serve(simulator, "event --until 'event(k.in.transferred, 10)' --print k.items\n", "--serve", "1", cwd=tmp_path)
    assert (status, err) == (0, "")
    alone = run_sim(simulator, "--restore", "point", "--until", "event(k.in.transferred, 10)", "--print", "k.items")
    assert alone.out.splitlines()[0] in (tmp_path / "event/log.txt").read_text()


def test_wrong_use_is_one_line(simulator, run_sim, point, tmp_path) -> None:
    for options, words in (
        (["--serve", "1"], "--serve lacks the checkpoint: --restore FILE"),
        (["--serve", "0", "--restore", "point"], '--serve: "0" is less than 1'),
        (["--serve", "1", "--restore", "none"], 'cannot restore "none": No such file or directory'),
    ):
        done = run_sim(simulator, *options, ok=False)
        assert done.status == 2 and done.err == f"{simulator.name}: {words}\n", done.err
    (tmp_path / "point").write_bytes(point.read_bytes()[:-1])
    status, said, err = serve(simulator, "a --cycles 9\n", "--serve", "1", cwd=tmp_path)
    assert (status, said, err) == (2, [], f'{simulator.name}: cannot restore "point": it is cut off\n')


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_runs_end_with_their_server(number: int, simulator, point, tmp_path) -> None:
    command = [simulator, "--quiet", "--restore", "point", "--serve", "2"]
    server = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdin and server.stdout
    server.stdin.write("".join(f"{folder} --cycles 100000000000 --stats stats.json\n" for folder in "abc"))
    server.stdin.flush()
    children = [int(server.stdout.readline().split()[2]) for _ in range(2)]
    until = time.monotonic() + 20
    while not (tmp_path / "b/log.txt").exists():
        assert time.monotonic() < until, "no run works in its folder"
        time.sleep(0.01)
    server.send_signal(number)
    assert server.wait() == (128 + number if number == signal.SIGTERM else -number)
    while any(Path(f"/proc/{child}/stat").exists() and " Z " not in Path(f"/proc/{child}/stat").read_text() for child in children):
        assert time.monotonic() < until, "a run outlives its server"
        time.sleep(0.01)
    said = server.stdout.read().splitlines()
    assert number == signal.SIGKILL or sorted(line.split()[2] for line in said) == [str(128 + signal.SIGTERM)] * 2
