"""examples/network/rack: hosts with Linux on the ports of a switch."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.network.hosts import EXAMPLES, NIC, run

HOSTS, MANY = 4, 16


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


def short_script(n: int) -> str:
    """The same for more hosts than fit into a line of the shell."""
    begin = f"cd /tmp; n={n}; dd if=/bin/busybox of=own bs=1000 skip={25 * n} count=20 2>/dev/null; md5sum own; o=$((n+1));"
    listen = f" while [ $o -lt {MANY} ]; do nc -l -p $((5000+o)) <own >from$o & o=$((o+1)); done; o=0;"
    connect = " while [ $o -lt $n ]; do until nc 10.0.0.$((o+2)) $((5000+n)) <own >from$o; do sleep 0.1; done; o=$((o+1)); done;"
    return f"{begin}{listen}{connect} wait; md5sum from*; grep eth0 /proc/net/dev"


def check(consoles: dict[str, str], hosts: int) -> None:
    """Each host has what each other one sent, and its card has counted no error."""
    shown = [consoles[f"node[{n}]"] for n in range(hosts)]
    sums = [dict((name, one) for one, name in re.findall(r"^([0-9a-f]{32})  (\w+)$", text, re.MULTILINE)) for text in shown]
    assert len({one["own"] for one in sums}) == hosts
    for n in range(hosts):
        assert sums[n] == {"own": sums[n]["own"]} | {f"from{other}": sums[other]["own"] for other in range(hosts) if other != n}
        [counters] = re.findall(r"^ *eth0: *([\d ]+)$", shown[n], re.MULTILINE)
        assert [int(number) for number in counters.split()][2:6] == [0] * 4, counters


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.timeout(3600)
def test_sixteen_hosts_in_parts(build_dir: Path, tmp_path: Path) -> None:
    """All pairs at once, and a process for each host: all is done 1.2 s after the start of the machines."""
    network = tmp_path / "rack.net"
    subprocess.run([build_dir / "bin/lss", "build", "--parts", EXAMPLES / "rack.lss", *NIC, "-D", f"hosts={MANY}", "-o", network], check=True)
    check(run(network, build_dir, tmp_path, {f"node[{n}]": short_script(n) for n in range(MANY)}, time="1500 ms"), MANY)


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.timeout(3600)
def test_each_host_exchanges_data_with_each_other(build_dir: Path, tmp_path: Path) -> None:
    simulator = tmp_path / "rack"
    subprocess.run([build_dir / "bin/lss", "build", EXAMPLES / "rack.lss", *NIC, "-D", f"hosts={HOSTS}", "-o", simulator], check=True)
    check(run(simulator, build_dir, tmp_path, {f"node[{n}]": script(n) for n in range(HOSTS)}), HOSTS)
