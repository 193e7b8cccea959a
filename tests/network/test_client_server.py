"""The programs serve and request of examples/network/guest: a server under load from two hosts, and what they refuse."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.linux_guest import guest
from tests.network.hosts import EXAMPLES, NIC

pytestmark = [pytest.mark.soak, pytest.mark.optimised, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def software(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kernel, initramfs, device tree, and the machine."""
    guest(build_dir)
    place = tmp_path_factory.mktemp("client_server")
    machine = [EXAMPLES / "rack.lss", *NIC, "-D", "hosts=3"]
    words = [f"GUEST={EXAMPLES}/guest", f"LINUX_OUT={place}", f"MACHINE={' '.join(map(str, machine))}", "COMPUTER=node[0]"]
    subprocess.run(["make", "-s", "linux", *words], cwd=root, check=True, stdin=subprocess.DEVNULL)
    subprocess.run([build_dir / "bin/lss", "build", *machine, "-o", place / "machine"], check=True)
    return place


def run(software: Path, directory: Path, *commands: str) -> list[str]:
    """What the consoles of the three hosts show."""
    words: list[object] = [software / "machine", "--quiet", "--time", "10 s", "--set", "node[*].switch_at=end"]
    for key, file in {"kernel": "vmlinux", "dtb": "host.dtb", "initramfs": "initramfs.cpio"}.items():
        words += ["--set", f"node[*].{key}={software / file}"]
    for n, command in enumerate(commands):
        (directory / f"{n}.script").write_text(f'wait "/ # "\nsend "{command}\\n"\n')
        words += ["--set", f"node[{n}].console_script={n}.script", "--set", f"node[{n}].console_output={n}.txt"]
    done = subprocess.run([str(word) for word in words], cwd=directory, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    return [(directory / f"{n}.txt").read_text().replace("\r", "") for n in range(len(commands))]


def test_every_byte_of_every_reply_is_right(software: Path, tmp_path: Path) -> None:
    client = "sleep 0.1; request 10.0.0.2 80 {} 0.1 {}; sleep 0.2; poweroff -f"
    server, *clients = run(software, tmp_path, "serve 80 8", client.format(4, 1), client.format(8, 2))
    assert "serve: ready" in server
    for text in clients:
        [(replies, size, damaged, refused)] = re.findall(r"^request: (\d+) replies, (\d+) bytes, (\d+) damaged, (\d+) refused$", text, re.MULTILINE)
        assert int(replies) > 20 and int(size) > 100 * int(replies) and (damaged, refused) == ("0", "0")


def test_what_is_wrong(software: Path, tmp_path: Path) -> None:
    """Without a server, requests are refused; an unknown path gets an reply without contents."""
    server = "serve 80 2 & serve 80 0; serve 0 1; sleep 0.05; serve 80 1; sleep 3"
    first = "request 10.0.0.4 80 1 0.02 1; request 10.0.0.4 80 0 1 1; request here 80 1 1 1; request 10.0.0.4 80 1 0 1; request; sleep 3"
    second = "sleep 0.1; echo GET /x | nc 10.0.0.2 80 | head -n 1; wget -q -O - http://10.0.0.2/5 | wc -c; wget http://10.0.0.2/x 2>&1 | grep -o 404; poweroff -f"
    texts = run(software, tmp_path, server, first, second)
    assert texts[0].count("usage: serve PORT PROCESSES (1 to 64)") == 2 and "serve: the port is in use" in texts[0]
    lines = texts[1].splitlines()
    assert re.search(r"^request: 0 replies, 0 bytes, 0 damaged, [1-9]\d* refused$", texts[1], re.MULTILINE)
    for told in (
        "request: CONNECTIONS is 1 to 64, not '0'",
        "request: HOST is an address, not 'here'",
        "request: SECONDS is more than 0, not '0'",
        "usage: request HOST PORT CONNECTIONS SECONDS SEED",
    ):
        assert told in lines
    assert re.search(r"^5$", texts[2], re.MULTILINE) and re.search(r"^404$", texts[2], re.MULTILINE)
