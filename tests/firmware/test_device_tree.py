"""The device tree of the host machine: its numbers are the machine's, which are the functional machine's, too."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def machine(build_dir: Path) -> dict:
    return json.loads((build_dir / "gen/firmware/linux/host.json").read_text())


def parameters(machine: dict, path: str) -> dict:
    [instance] = [one for one in machine["instances"] if one["path"] == path]
    return {one["name"]: one["value"] for one in instance["parameters"]}


def fill(root: Path, directory: Path, machine: dict | str, template: str, *words: str) -> subprocess.CompletedProcess:
    (directory / "machine.json").write_text(machine if isinstance(machine, str) else json.dumps(machine))
    (directory / "template").write_text(template)
    command = [sys.executable, root / "firmware/tools/device_tree.py", *words, "machine.json", "template", "filled"]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True)


def test_what_a_template_may_ask_for(root: Path, machine: dict, tmp_path: Path) -> None:
    """Interrupts are followed through crossings to the key of the lane at the core."""
    template = "serial@${uart.unit} <${uart.base} ${uart.size}> ${devices.uart.reg_shift} ${devices.uart.interrupt} ${devices.rtc.interrupt} ${slots.card[0].intx} ${slots.card[1].device} ${devices.virtio.interrupt} ${cpu_clk.frequency} ${devices.uart.input_frequency}"
    assert fill(root, tmp_path, machine, template).returncode == 0
    assert (tmp_path / "filled").read_text() == "serial@1f000900 <0x1f000900 0x40> 3 4 6 3 0x1000 2 200000000 3686400"


def test_parts_for_devices_that_there_are(root: Path, machine: dict, tmp_path: Path) -> None:
    """Parts of instances, one within another; names in what is left out need not be known."""
    template = "a${if slots.card[0]} b${if devices.virtio} ${devices.virtio.interrupt}${end}${if absent} ${absent.base}${if slots.card[0]} c${end}${end} d${end} e"
    assert fill(root, tmp_path, machine, template).returncode == 0
    assert (tmp_path / "filled").read_text() == "a b 2 d e"


@pytest.mark.skipif(not shutil.which("dtc"), reason="there is no dtc (package device-tree-compiler)")
def test_a_tree_for_a_machine_without_devices(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """It names the machine's own clock, and no device that is not there."""
    export = [build_dir / "bin/lss", "export", root / "examples/host/host.lss", "-D", "cpu_frequency=1350 MHz", "-D", "memory=32 MiB"]
    bare = subprocess.run(export, capture_output=True, text=True, check=True).stdout
    assert fill(root, tmp_path, bare, (root / "firmware/linux/host.dts").read_text()).returncode == 0
    compiled = subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dts", tmp_path / "filled"], capture_output=True, text=True, check=True).stdout
    assert "lpj=6750000 " in compiled, "the kernel's delays follow the clock"
    assert f"clock-frequency = <{1_350_000_000:#x}>;" in compiled and "reg = <0x00 0x2000000>;" in compiled
    assert "virtio" not in compiled and "interrupt-map" not in compiled and "pcie@1b000000" in compiled


def test_offsets_in_the_map(root: Path, machine: dict, tmp_path: Path) -> None:
    """For a slot of several; other numbers have none."""
    assert fill(root, tmp_path, machine, "virtio@${virtio.unit+0x200} <${virtio.base+0x200}>").returncode == 0
    assert (tmp_path / "filled").read_text() == "virtio@1f002200 <0x1f002200>"
    done = fill(root, tmp_path, machine, "${devices.uart.reg_shift+0x1}")
    assert (done.returncode, done.stderr) == (1, "linux: template: devices.uart.reg_shift has no offset: it is no number of the address map\n")


def test_quotients(root: Path, machine: dict, tmp_path: Path) -> None:
    """Rounded down; a name of a node has none."""
    assert fill(root, tmp_path, machine, "${cpu_clk.frequency/200} ${devices.uart.reg_shift/2} ${uart.size/16}").returncode == 0
    assert (tmp_path / "filled").read_text() == "1000000 1 4"
    done = fill(root, tmp_path, machine, "${uart.unit/2}")
    assert (done.returncode, done.stderr) == (1, "linux: template: uart.unit cannot be divided: it is part of a node's name\n")


@pytest.mark.skipif(not shutil.which("dtc"), reason="there is no dtc (package device-tree-compiler)")
def test_a_tree_with_a_disk_of_jobs(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Both slots share an interrupt, or the second one has it alone; the standard tree has the first slot only."""
    template = (root / "firmware/linux/host.dts").read_text()
    for disks, slots in (("[disk_image]", 2), ("[]", 1)):
        export = [build_dir / "bin/lss", "export", root / "examples/host/host.lss", "-D", "jobs=true", "-D", f"disks={disks}"]
        assert fill(root, tmp_path, subprocess.run(export, capture_output=True, text=True, check=True).stdout, template).returncode == 0
        compiled = subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dts", tmp_path / "filled"], capture_output=True, text=True, check=True).stdout
        assert compiled.count('compatible = "virtio,mmio";') == compiled.count("interrupts = <0x02>;") == slots and "virtio@1f002200 {" in compiled
    assert "virtio@1f002200" not in (build_dir / "gen/firmware/linux/host.dts").read_text()


WITHIN = """
import host;
wraps computer : host { disks = [disk_image]; cards = [scsi_card]; other_map = [{ name = "other", base = 0x1f003000, size = 8 }]; };
instance other : open_bus { width = 64; };
clock other_clk = 50 MHz;
instance accesses : memory_crossing on other_clk;
computer.others["other"] -> accesses.in;
accesses.out -> other.in;
"""


def test_a_machine_around_the_computer(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Names of the template are within the computer: the tree is that of the computer alone."""
    (tmp_path / "within.lss").write_text(WITHIN)
    (tmp_path / "nodes.lss").write_text("import host;\ninstance node[2] : host;\n")
    template, trees = (root / "firmware/linux/host.dts").read_text(), []
    for one in (["within.lss"], [root / "examples/host/host.lss", "-D", "disks=[disk_image]", "-D", "cards=[scsi_card]"]):
        exported = subprocess.run([build_dir / "bin/lss", "export", *one], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert fill(root, tmp_path, exported, template).returncode == 0
        trees.append((tmp_path / "filled").read_text())
    assert trees[0] == trees[1] and "virtio@1f002000" in trees[0]
    exported = subprocess.run([build_dir / "bin/lss", "export", "nodes.lss"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert fill(root, tmp_path, exported, template).stderr == "linux: template: the machine has several computers, and a tree is of one: node[0], node[1] (--computer, make COMPUTER=)\n"
    for words, error in (
        (["--computer", "node[1]"], ""),
        (["--computer", "node[2]"], "linux: template: the machine has no instance node[2]; did you mean node[1]?\n"),
        (["--computer", "node[1].devices"], "linux: template: node[1].devices is no computer: it has no RAM with an address map\n"),
    ):
        assert fill(root, tmp_path, exported, template, *words).stderr == error


def test_a_device_of_the_machine_around_the_computer(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Its place in `other_map`, its interrupt and its parameters; there is no node without the device."""
    template = "${if rule30}${rule30.base} ${rule30.size} ${rule30.unit} ${rule30.interrupt} ${rule30.irq_number}${end} ${cpu_clk.frequency}"
    machines = {
        "rule30/rule30_host.lss": ([], "0x1f003000 0x1000 1f003000 5 5 1350000000"),
        "rule30/rule30_host.lss bridge": (["-D", "device_on_bus=false", "-D", "cpu_frequency=200MHz"], "0x1f003000 0x1000 1f003000 5 5 200000000"),
        "host/host.lss": ([], " 200000000"),
    }
    for machine, (options, text) in machines.items():
        export = [build_dir / "bin/lss", "export", root / "examples" / machine.split()[0], *options]
        done = fill(root, tmp_path, subprocess.run(export, capture_output=True, text=True, check=True).stdout, template)
        assert (done.stderr, (tmp_path / "filled").read_text()) == ("", text)


WRONG = {
    "${disk.base}": "the machine has no number disk.base",
    "${uart.colour}": "the machine has no number uart.colour",
    "${devices.uart.script}": "the machine has no number devices.uart.script",
    "${devices.power.interrupt}": "the interrupt of devices.power leads to no lane with a number in its key",
    "${if slots} a": "${if slots} has no ${end}",
    "a ${end}": "${end} ends nothing: there is no ${if NAME} before it",
    "${if slots}${if absent}${colour.base}${end}${shade.base}${end}": "the machine has no number shade.base",
}


@pytest.mark.parametrize("template", WRONG)
def test_what_the_machine_does_not_have(template: str, root: Path, machine: dict, tmp_path: Path) -> None:
    done = fill(root, tmp_path, machine, template)
    assert (done.returncode, done.stderr) == (1, f"linux: template: {WRONG[template]}\n") and not (tmp_path / "filled").exists()


def test_what_is_no_machine(root: Path, tmp_path: Path) -> None:
    for text in ("{", "{}"):
        done = fill(root, tmp_path, text, "")
        assert done.returncode == 1 and done.stderr.startswith("linux: template: ") and done.stderr.count("\n") == 1
    assert subprocess.run([sys.executable, root / "firmware/tools/device_tree.py"], capture_output=True).returncode == 2


@pytest.mark.skipif(not shutil.which("dtc"), reason="there is no dtc (package device-tree-compiler)")
def test_the_tree_is_the_machine(build_dir: Path, machine: dict) -> None:
    """Every node with an address is in the map; the file system begins where the loader puts it."""
    compiled = subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dts", build_dir / "gen/firmware/linux/host.dts"], capture_output=True, text=True, check=True).stdout
    regions = {entry["base"]: entry["size"] for entry in parameters(machine, "")["memory_map"]}
    regions[0] = parameters(machine, "")["memory"]
    found = [tuple(int(word, 0) for word in match) for match in re.findall(r"@\w+ \{[^{}]*?\breg = <(\w+) (\w+)>", compiled)]
    assert len(found) == 6 and all(size <= regions[base] for base, size in found)
    start = parameters(machine, "system.loader")["initramfs_address"] | 0x80000000
    assert f"linux,initrd-start = <{start:#x}>;" in compiled


DEVICES = {"PCI_CONFIGURATION": "PCI_CONFIGURATION", "POWER": "POWER", "UART": "UART", "RTC": "CLOCK", "VIRTIO": "VIRTIO"}


def test_the_functional_machine_has_the_same_map(root: Path, build_dir: Path, machine: dict) -> None:
    source = (root / "emulib/tools/host_machine.c").read_text()
    names = {name: int(re.search(rf"\b{name} = (\w+)", source)[1], 0) for name in ("UART_LINE", "UART_STRIDE", "UART_CLOCK_HZ", "POWER_OFF")}
    assert names["UART_STRIDE"] == 1 << parameters(machine, "devices.uart")["reg_shift"]
    rows = re.findall(r"\{MAP_(\w+)_BASE, MAP_(\w+)_SIZE, (\w+)\}", source)  # of the machine's memory_map, by the build
    assert {base: device for base, size, device in rows if base == size} == DEVICES
    regions = {entry["name"]: entry for entry in parameters(machine, "")["memory_map"]}
    defined = dict(re.findall(r"#define +MAP_(\w+) +(\w+)", (build_dir / "gen/emulib/host/registers.h").read_text()))
    for name in (*DEVICES, "ROM"):
        assert [int(defined[f"{name}_{what}"].rstrip("u"), 0) for what in ("BASE", "SIZE")] == [regions[name.lower()][what] for what in ("base", "size")]
    assert f"HOST_CLOCK_HZ = {machine['clocks'][0]['hertz_numerator']}" in (root / "emulib/tools/host_machine.h").read_text()
    assert names["UART_CLOCK_HZ"] == parameters(machine, "devices.uart")["input_frequency"] and names["POWER_OFF"] == parameters(machine, "devices.power")["value"]
    assert names["UART_LINE"] == 4 and parameters(machine, "devices.rtc")["start"] == int(re.search(r"START = (\d+)", source)[1])
