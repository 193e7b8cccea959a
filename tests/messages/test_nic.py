"""The mode via-nic of examples/messages: a program under Linux and the message queues of the network interface, without the kernel."""

import json
import shutil
import statistics
import subprocess
from pathlib import Path

import pytest

from tests.message_queues.queues import OWN, PEER, frames_of
from tests.messages.test_linux import EXAMPLE, SIZES, WARM, message, run, software

__all__ = ["software"]
pytestmark = [pytest.mark.soak, pytest.mark.optimised]
ECHO = ("--set", f"slots.card[0].station.echo_ethertype={0x88B5}")


@pytest.mark.parametrize(("pause", "switch"), [(0, "end"), (0, "marker(3)"), (20_000, "marker(3)")])
def test_every_byte_of_every_message_leaves(software: Path, tmp_path: Path, pause: int, switch: str) -> None:
    """A program after the other; the queues wrap in each."""
    printed, frames = run(software, tmp_path, "; ".join(f"vianet via-nic {size} 60 {pause}" for size in SIZES), "--switch_at", switch)
    assert printed == ["vianet: done"] * len(SIZES)
    expected = [frame for size in SIZES for n in range(WARM + 60) for frame in frames_of(message(n, size), n, PEER, OWN)]
    own = [one for one in frames if one[12:14] == b"\x88\xb5"]
    assert own == [frame.ljust(60, b"\0") for frame in expected]


@pytest.mark.parametrize("switch", ["end", "marker(3)"])
def test_messages_come_back(software: Path, tmp_path: Path, switch: str) -> None:
    """The program compares them; the last size has frames on 17 pages."""
    sizes = (1, 1485, 8000, 65000)
    printed, _ = run(software, tmp_path, "; ".join(f"vianet via-nic-echo {size} 20 0" for size in sizes), "--switch_at", switch, *ECHO)
    assert printed == ["vianet: done"] * len(sizes)


def test_other_paths_and_the_network_meanwhile(software: Path, tmp_path: Path) -> None:
    """One program has the queues, others send datagrams and frames by the driver, and a ping comes back."""
    commands = "vianet via-nic-rate 8000 1500 0 & ping -c 1 10.0.0.1 | grep -o '1 packets received'; vianet udp 4000 30 0; vianet via 4000 30 0; wait"
    printed, _ = run(software, tmp_path, commands, "--switch_at", "end", *ECHO)
    assert sorted(printed) == ["1 packets received", *["vianet: done"] * 3]


def test_one_program_at_a_time(software: Path, tmp_path: Path) -> None:
    """Another is refused; when the first has ended, also by a signal in the middle of messages, the next one has the queues."""
    commands = "vianet via-nic-rate 60000 1000000 0 & sleep 0.1; vianet via-nic 100 1; kill -9 $!; sleep 0.1; vianet via-nic 100 1; vianet via-nic-echo 8000 5"
    printed, _ = run(software, tmp_path, commands, "--switch_at", "end", *ECHO)
    assert [line for line in printed if line.startswith("vianet")] == ["vianet: the path: Device or resource busy", "vianet: done", "vianet: done"]


def test_the_ordinary_firmware_has_no_queues(root: Path, software: Path, tmp_path: Path) -> None:
    """The module says so; the paths through the driver are there."""
    mine, place = tmp_path / "mine", tmp_path / "place"
    shutil.copytree(EXAMPLE / "guest", mine)
    (mine / "nic_firmware").unlink()
    machine = f"MACHINE={EXAMPLE}/messages_host.lss -I {root}/examples/tigon2"
    subprocess.run(["make", "-s", "linux", f"GUEST={mine}", f"LINUX_OUT={place}", machine], cwd=root, check=True, stdin=subprocess.DEVNULL)
    (place / "machine").symlink_to(software / "machine")
    printed, _ = run(place, tmp_path / "run", "vianet via-nic 100 1; vianet via 100 1", "--switch_at", "end")
    assert printed == ["vianet: the path: No such device", "vianet: done"]


def cycles_of_calls(software: Path, folder: Path, size: int, count: int = 24) -> list[int]:
    """From marker 4 to marker 5, of each message."""
    folder.mkdir()
    options = ["--switch_at", "marker(3)", "--record", "record", "--record-events", "system.cpu.**.marker"]
    run(software, folder, f"vianet via-nic {size} {count}", *options)
    lines = subprocess.run([EXAMPLE.parents[1] / "build/bin/lss", "trace", "--json", folder / "record"], capture_output=True, text=True, check=True).stdout.splitlines()
    seen = [(one["cycle"], one["arguments"]["number"]) for one in map(json.loads, lines) if "cycle" in one]
    begins, ends = ([cycle for cycle, number in seen if number == which][-count:] for which in (4, 5))
    return [end - begin for begin, end in zip(begins, ends, strict=True)]


def test_a_message_costs_the_same_whatever_its_size(software: Path, tmp_path: Path) -> None:
    """Published systems of this kind post a descriptor; so does this, in at most 400 cycles."""
    means = {size: statistics.mean(cycles_of_calls(software, tmp_path / str(size), size)) for size in (100, 1472, 8000)}
    assert max(means.values()) <= 400 and max(means.values()) <= 1.1 * min(means.values()), means
