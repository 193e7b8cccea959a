"""examples/network/rack: hosts with Linux on the ports of a switch."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.network.hosts import EXAMPLES, NIC, run

HOSTS = 4


@pytest.mark.parametrize("options", [["hosts=2"], ["hosts=16"], ["hosts=9", "stations=8"], ["links=fat_tree(4)", "stations=14"]])
def test_the_machine_is_right(build_dir: Path, options: list[str]) -> None:
    defines = [word for one in options for word in ("-D", one)]
    subprocess.run([build_dir / "bin/lss", "check", "--netlist-only", EXAMPLES / "rack.lss", *NIC, *defines], check=True)


def test_one_host_is_a_computer(build_dir: Path) -> None:
    command = [build_dir / "bin/lss", "check", "--netlist-only", EXAMPLES / "rack.lss", *NIC, "-D", "stations=4"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "stations = 4 leaves no computer on this network" in done.stderr.splitlines()[0]


def script(n: int) -> str:
    """Host n listens at a port for each later host, and connects to each earlier one; both ends send their data."""
    begin = f"dd if=/bin/busybox of=/tmp/own bs=1000 skip={100 * n} count=60 2>/dev/null; cd /tmp; md5sum own"
    listen = "".join(f" nc -l -p {5000 + other} <own >from{other} &" for other in range(n + 1, HOSTS))
    connect = "".join(f" until nc 10.0.0.{other + 2} {5000 + n} <own >from{other}; do sleep 0.1; done;" for other in range(n))
    return f"{begin};{listen}{connect} wait; md5sum from*; grep eth0 /proc/net/dev; sleep 3; poweroff -f"


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.timeout(3600)
def test_each_host_exchanges_data_with_each_other(build_dir: Path, tmp_path: Path) -> None:
    simulator = tmp_path / "rack"
    subprocess.run([build_dir / "bin/lss", "build", EXAMPLES / "rack.lss", *NIC, "-D", f"hosts={HOSTS}", "-o", simulator], check=True)
    consoles = run(simulator, build_dir, tmp_path, {f"node[{n}]": script(n) for n in range(HOSTS)})
    sums = [dict((name, one) for one, name in re.findall(r"^([0-9a-f]{32})  (\w+)$", consoles[f"node[{n}]"], re.MULTILINE)) for n in range(HOSTS)]
    assert len({one["own"] for one in sums}) == HOSTS
    for n in range(HOSTS):
        assert sums[n] == {"own": sums[n]["own"]} | {f"from{other}": sums[other]["own"] for other in range(HOSTS) if other != n}
        [counters] = re.findall(r"^ *eth0: *([\d ]+)$", consoles[f"node[{n}]"], re.MULTILINE)
        assert [int(number) for number in counters.split()][2:6] == [0] * 4, counters
