"""Networks on several hosts: what they count is what the whole counts, and however they end, that takes one line.

A host is a network namespace with its own /dev/shm (namespaces.py), which mpirun reaches over TCP; or, for what needs no
network, another name of this computer.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.network.hosts import NIC

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
MODULES = ROOT / "tests/engine/modules"
HARNESS = [sys.executable, "-m", "harness", "network"]
TIME = "400 us"
ON_WIRE = "unshare -rnm sh -c 'ip link add bridge type bridge && ip link add host0 type veth peer name eth0 && mount -t tmpfs tmpfs /dev/shm'"


def has_namespaces() -> bool:
    return subprocess.run(["sh", "-c", ON_WIRE], capture_output=True).returncode == 0


@pytest.fixture(scope="module", autouse=True)
def carrier(build_dir: Path) -> None:
    if not (build_dir / "lib/carrier").exists() or not shutil.which("mpirun"):
        pytest.skip("there is no MPI (apt-get install openmpi-bin libopenmpi-dev)")


wire = pytest.mark.skipif(not has_namespaces(), reason="no network namespaces are possible here: unshare -rnm, or ip, is missing")


@pytest.fixture(scope="module")
def ring(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ring of eight stations, in parts and whole, and what the whole counts."""
    place = tmp_path_factory.mktemp("ring")
    command = [build_dir / "bin/lss", "build", ROOT / "tests/link/token_ring.lss", "-I", MODULES, "-D", "nodes=7"]
    subprocess.run([*command, "--parts", "-o", place / "net"], check=True)
    subprocess.run([*command, "-o", place / "whole"], check=True)
    subprocess.run([place / "whole", "--quiet", "--time", TIME, "--stats", place / "whole.json"], check=True)
    return place


class Run:
    """A run on several hosts, each with a core; by their names they are namespaces."""

    def __init__(self, network: Path, place: Path, hosts: str, *words: object, cores: int = 1, **environment: str) -> None:
        self.out = place / "out"
        (place / "hosts.txt").write_text("".join(f"{name} {cores}\n" for name in hosts.split(",")))
        command = [*HARNESS, network, "--hosts", place / "hosts.txt", "--run-dir", self.out, *words]
        if not hosts.startswith("localhost"):
            (place / "reach").mkdir(exist_ok=True)
            command = ["unshare", "-rnm", sys.executable, HERE / "namespaces.py", place / "reach", hosts, *command]
        self.child = subprocess.Popen(list(map(str, command)), cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.hosts = hosts.split(",")

    def end(self) -> tuple[int, str, str]:
        said, errors = self.child.communicate(timeout=60)
        return self.child.returncode, said, errors

    def said(self, host: str) -> str:
        file = self.out / "hosts" / f"{host}.txt"
        return file.read_text() if file.exists() else ""

    def shared(self) -> list[Path]:
        """What is left in the shared memory of this computer."""
        board = json.loads((self.out / "hosts.json").read_text())["board"]
        return list(Path("/dev/shm").glob(f"spinach-{board}*"))

    def processes(self, count: int) -> dict[str, int]:
        """The processes of carriers, by the host, and of parts, by the number, when all have started."""
        for _ in range(400):
            found = {host: int(pid) for host in self.hosts for pid in re.findall(r"^carrier (\d+)$", self.said(host), re.MULTILINE)}
            found |= {number: int(pid) for host in self.hosts for number, pid in re.findall(r"^part (\d+) (\d+)$", self.said(host), re.MULTILINE)}
            if len(found) == count + len(self.hosts):
                return found
            time.sleep(0.05)
        raise AssertionError("the parts did not start")


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Run]:
    def run(network: Path, hosts: str, *words: object, **more: object) -> Run:
        return Run(network, tmp_path, hosts, *words, **more)

    return run


def counted(file: Path) -> str:
    text = file.read_text()
    return text[text.index('"statistics": [') :]


def assert_gone(processes: dict[str, int]) -> None:
    """They end within seconds, wherever they were."""
    for _ in range(100):
        left = [name for name, pid in processes.items() if Path(f"/proc/{pid}/status").exists() and "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()]
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError(f"still there: {left}")


@pytest.mark.parametrize("hosts", [pytest.param("alpha,beta", marks=wire), pytest.param("alpha,beta,gamma", marks=wire), "localhost,127.0.0.1", "localhost"])
def test_hosts_count_what_the_whole_counts(ring: Path, start, hosts: str) -> None:
    run = start(ring / "net", hosts, "--time", TIME)
    status, said, errors = run.end()
    assert status == 0 and errors == "all time was simulated after 0.4 ms of simulated time\n" and len(said.splitlines()) == 9
    assert counted(run.out / "statistics.json") == counted(ring / "whole.json")
    parts = json.loads((run.out / "hosts.json").read_text())["parts"]
    assert {part["host"] for part in parts} == set(range(len(run.hosts)))
    assert not run.shared()


@wire
def test_a_condition_on_a_part_ends_all_at_one_instant(ring: Path, tmp_path: Path, start) -> None:
    words = ["--until", "node[5].leaves.transfers >= 300"]
    subprocess.run([ring / "whole", "--quiet", *words, "--stats", tmp_path / "whole.json"], check=True)
    run = start(ring / "net", "alpha,beta,gamma", *words)
    status, _, errors = run.end()
    assert status == 0 and errors.startswith("the condition of --until holds after "), errors
    assert counted(run.out / "statistics.json") == counted(tmp_path / "whole.json")


def test_a_run_with_nothing_left_to_do(ring: Path, tmp_path: Path, start) -> None:
    """Hosts all of whose parts wait agree that nothing will happen."""
    words = [word for node in ("other", *(f"node[{number}]" for number in range(7))) for word in ("--set", f"{node}.source.count=0")]
    run = start(ring / "net", "localhost,127.0.0.1", *words)
    status, _, errors = run.end()
    assert status == 0 and errors.startswith("nothing left to do after "), errors


@pytest.fixture(scope="module")
def pair(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pair")
    command = [build_dir / "bin/lss", "build", ROOT / "tests/bench/tigon2_ring.lss", *NIC]
    subprocess.run([*command, "--parts", "-o", "net"], check=True, cwd=place)
    subprocess.run([*command, "-o", "whole"], check=True, cwd=place)
    return place


@wire
@pytest.mark.parametrize("traffic", [pytest.param(["payload=1472", "mode=fast"], marks=pytest.mark.soak), ["payload=1472", "mode=rate", "offered=15 Mb/s"]])
def test_a_pair_of_network_interfaces(pair: Path, build_dir: Path, tmp_path: Path, start, traffic: list[str]) -> None:
    """Busy all the time, and busy and idle in turns."""
    firmware = f"firmware={build_dir}/firmware/tigon2/tigon2.elf"
    words = ["--time", "3 ms", *(word for node in (0, 1) for one in (firmware, *traffic) for word in ("--set", f"node[{node}].driver.{one}"))]
    subprocess.run([pair / "whole", "--quiet", *words, "--stats", tmp_path / "whole.json"], check=True)
    run = start(pair / "net", "alpha,beta", *words)
    status, _, errors = run.end()
    assert status == 0, errors
    assert counted(run.out / "statistics.json") == counted(tmp_path / "whole.json")
    assert any(one["name"] == "frames" and one["value"] > 1 for one in json.loads((tmp_path / "whole.json").read_text())["statistics"])


@pytest.mark.soak
@wire
def test_an_idle_pair_leaves_out_whole_loops(pair: Path, build_dir: Path, tmp_path: Path, start) -> None:
    """Hosts agree on how far their parts may repeat loops, as parts of one host do."""
    words = ["--time", "10 ms", *(word for node in (0, 1) for word in ("--set", f"node[{node}].driver.firmware={build_dir}/firmware/tigon2/tigon2.elf"))]
    subprocess.run([*map(str, HARNESS), pair / "net", "--run-dir", tmp_path / "together", *words], cwd=ROOT, check=True, capture_output=True)
    run = start(pair / "net", "alpha,beta", *words)
    status, _, errors = run.end()
    assert status == 0, errors
    assert counted(run.out / "statistics.json") == counted(tmp_path / "together/statistics.json")
    for node in "node[0]", "node[1]":
        one, two = (json.loads((place / node / "timing.json").read_text())["cycles_in_loops"] for place in (tmp_path / "together", run.out))
        assert two > 0.9 * one > 0


# ---- How runs end


@wire
@pytest.mark.parametrize("host", ["alpha", "gamma"])
def test_a_carrier_that_is_killed_ends_all(ring: Path, start, host: str) -> None:
    run = start(ring / "net", "alpha,beta,gamma", "--time", "1000 s")
    processes = run.processes(8)
    time.sleep(0.3)
    os.kill(processes[host], signal.SIGKILL)
    status, _, errors = run.end()
    assert status == 1 and errors == f"harness: the carrier of the host {host} (process {processes[host]}) is gone\n"
    assert not (run.out / "statistics.json").exists()
    assert_gone(processes)


@wire
@pytest.mark.parametrize("number", [0, 5])
def test_a_part_that_is_killed_ends_all(ring: Path, start, number: int) -> None:
    run = start(ring / "net", "alpha,beta,gamma", "--time", "1000 s")
    processes = run.processes(8)
    time.sleep(0.3)
    os.kill(processes[str(number)], signal.SIGKILL)
    status, _, errors = run.end()
    assert status == 1 and errors == f"harness: node[{number}] (process {processes[str(number)]}) was killed by signal 9\n"
    assert_gone(processes)


def test_mpirun_that_is_killed_ends_all(ring: Path, start) -> None:
    run = start(ring / "net", "localhost,127.0.0.1", "--time", "1000 s")
    processes = run.processes(8)
    mpirun = int(subprocess.run(["pgrep", "-P", str(run.child.pid)], capture_output=True, text=True).stdout)
    os.kill(mpirun, signal.SIGKILL)
    status, _, errors = run.end()
    assert status == 1 and errors == f"harness: mpirun (process {mpirun}) was killed by signal 9\n"
    assert_gone(processes)
    assert not run.shared()


@wire
def test_control_c_ends_all_at_one_instant(ring: Path, start) -> None:
    run = start(ring / "net", "alpha,beta,gamma", "--time", "1000 s")
    processes = run.processes(8)
    time.sleep(0.3)
    run.child.send_signal(signal.SIGINT)
    status, _, errors = run.end()
    assert status == 130 and errors.startswith("interrupted after ") and errors.count("\n") == 1, errors
    documents = [json.loads(file.read_text()) for file in run.out.glob("node*/statistics.json")]
    assert len(documents) == 7 and len({one["run"]["simulated_ns"] for one in documents}) == 1
    assert_gone(processes)


def test_control_c_twice_ends_all_at_once(ring: Path, start) -> None:
    run = start(ring / "net", "localhost,127.0.0.1", "--time", "1000 s")
    processes = run.processes(8)
    for part in range(8):
        os.kill(processes[str(part)], signal.SIGSTOP)  # so that it cannot end in good order
    for _ in range(2):
        run.child.send_signal(signal.SIGINT)
        time.sleep(0.3)
    status, _, errors = run.end()
    assert status == 130 and errors == "harness: interrupted twice; the parts were ended\n"
    assert_gone(processes)
    assert not run.shared()


@pytest.mark.parametrize("hosts", ["localhost", "localhost,127.0.0.1"])
def test_an_error_in_a_part(ring: Path, start, hosts: str) -> None:
    run = start(ring / "net", hosts, "--time", TIME, "--set", "node[6].source.many=1")
    status, _, errors = run.end()
    assert status == 1 and errors == 'harness: node[6]: --set: there is no runtime parameter "node[6].source.many"; --help lists them\n'
    assert not run.shared()


# ---- Wrong input


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        ("", "--hosts: {}: it names no host (a line for each: name, number of cores)"),
        ("# nobody\n\n", "--hosts: {}: it names no host (a line for each: name, number of cores)"),
        ("localhost 1\n\nlocalhost 2\n", '--hosts: {}, line 3: the host "localhost" was there before'),
        ("localhost\n", '--hosts: {}, line 1: "localhost" is no name of a host with its number of cores'),
        ("localhost two\n", '--hosts: {}, line 1: "localhost two" is no name of a host with its number of cores'),
        ("localhost 0\n", "--hosts: {}, line 1: 0 cores (a host has 1 to 65536)"),
        ("-x 1\n", '--hosts: {}, line 1: "-x" is no name of a host'),
        ("localhost 1\n127.0.0.1 60000\n", None),
        ("localhost 1\nnobody.invalid 1\n", "mpirun could not start the carriers: ssh: Could not resolve hostname nobody.invalid: Name or service not known"),
        (None, "--hosts: {}: No such file or directory"),
    ],
)
def test_a_wrong_file_of_hosts(ring: Path, tmp_path: Path, hosts: str | None, expected: str | None) -> None:
    file = tmp_path / "hosts.txt"
    if hosts is not None:
        file.write_text(hosts)
    if expected and "ssh" in expected and not shutil.which("ssh"):
        pytest.skip("there is no ssh")
    done = subprocess.run([*HARNESS, ring / "net", "--hosts", file, "--run-dir", tmp_path / "out", "--time", TIME], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    if expected:
        assert done.stderr == f"harness: {expected.format(file)}\n"
    else:
        assert re.fullmatch(r"harness: 127.0.0.1: it has \d+ cores?, not 60000 as the file of hosts says\n", done.stderr)


def test_cores_are_those_of_the_file(ring: Path, tmp_path: Path, start) -> None:
    assert start(ring / "net", "localhost", "--cores", "1").end()[2] == "harness: --cores: the file of hosts has the number of cores of each host\n"


def test_without_mpirun(ring: Path, tmp_path: Path, start) -> None:
    run = start(ring / "net", "localhost", "--time", TIME, PATH="/nowhere")
    assert run.end()[2] == "harness: --hosts: there is no mpirun (Debian: openmpi-bin)\n"


def test_without_a_carrier(ring: Path, tmp_path: Path, start) -> None:
    run = start(ring / "net", "localhost", "--time", TIME, BUILD=str(tmp_path))
    assert run.end()[2] == "harness: --hosts: there is no carrier: the kit was built without mpicc (Debian: openmpi-bin libopenmpi-dev; build it again)\n"


@pytest.mark.soak
def test_hosts_with_other_files(ring: Path, tmp_path: Path, build_dir: Path) -> None:
    """A carrier that finds another network, or no plan."""
    carrier = build_dir / "lib/carrier"
    plan = {"network": str(ring / "net/network.json"), "hash": "0" * 64, "board": "x", "hosts": [{"name": "localhost", "cores": 1, "said": str(tmp_path / "said")}], "parts": [{"host": 0, "log": "log", "command": ["true"]}]}
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    (tmp_path / "plan").write_text(json.dumps(plan))
    subprocess.run(["mpirun", "-n", "1", carrier, tmp_path / "plan", "0"], capture_output=True, env=environment)
    assert "error its network.json is not the one with which the run was started (all hosts need the same files)" in (tmp_path / "said").read_text()
    for text in ("", "{}", '{"network": "x", "hash": "", "board": "", "hosts": []}'):
        (tmp_path / "plan").write_text(text)
        done = subprocess.run(["mpirun", "-n", "1", carrier, tmp_path / "plan", "0"], capture_output=True, text=True, env=environment)
        assert done.returncode and "error " in done.stderr
