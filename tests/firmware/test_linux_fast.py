"""Linux on the host machine that begins on the fast core: it boots as in detail, goes on in detail from anywhere, with every device, in either byte order."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from tests.firmware.test_linux_boot import big_endian_guest
from tests.firmware.test_linux_disk import LITTLE, checked, in_image
from tests.hosts import CHECKED, COHERENT, DISK, FAST_CPU, LEVEL_2, NIC, SCSI, commit, fast, wide
from tests.linux_guest import Guest, comparable, on_host, on_oracle, pack

pytestmark = [pytest.mark.soak, pytest.mark.optimised, pytest.mark.timeout(3600)]

CORE = "system.cpu.processor.core"
SWITCHES, BEHIND = 50, 100_000  # so many runs, and instructions of each that are compared


def build(root: Path, build_dir: Path, simulator: Path, *defines: str, **settings: object) -> Path:
    options = ["-I", root / "examples/tigon2", "-o", simulator, *[word for one in fast(list(defines), **settings) for word in ("-D", one)]]
    subprocess.run([build_dir / "bin/lss", "build", root / "examples/host/host.lss", *options], check=True)
    return simulator


@pytest.fixture(scope="module")
def host(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(root, build_dir, tmp_path_factory.mktemp("host") / "host")


@pytest.fixture(scope="module")
def shell(software: Guest, build_dir: Path) -> Guest:
    """The guest that sets marker 3 and ends at a shell."""
    return Guest(software.vmlinux, build_dir / "linux/shell/initramfs.cpio", build_dir / "linux/shell/host.dtb")


WIDE = [[wide()], [wide(8, mshrs=8), COHERENT]]
CORES = pytest.mark.parametrize("options", [[], *WIDE], ids=lambda options: " ".join(options) or "in order")


def executed(options: list[str]) -> str:
    """The module that counts the instructions of the detailed core."""
    return f"{CORE}.core.core.list" if "processor=wide_processor" in " ".join(options) else f"{CORE}.pipeline.writeback"


def value(stats: dict, path: str, name: str) -> float:
    [found] = [one["value"] for one in stats["statistics"] if (one["path"], one["name"]) == (path, name)]
    return found


def test_a_fast_boot_prints_what_a_detailed_one_does(software: Guest, host: Path, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """All of it on the fast core, and all of it in detail: consoles of the functional machine; `never` is the machine without a fast core, to the cycle."""
    wanted = comparable(on_oracle(software, build_dir)[1])
    status, console, stats = on_host(software, host, tmp_path, "--switch_at", "end")
    assert (status, comparable(console)) == (0, wanted) and value(stats, executed([]), "instructions") == 0
    assert 20e6 < value(stats, FAST_CPU, "instructions") < 40e6
    status, console, stats = on_host(software, host, tmp_path, "--switch_at", "start")
    assert (status, comparable(console)) == (0, wanted) and value(stats, FAST_CPU, "instructions") == 0
    never = on_host(software, host, tmp_path)
    plain = tmp_path / "plain"
    subprocess.run([build_dir / "bin/lss", "build", root / "examples/host/host.lss", "-o", plain], check=True)
    without = on_host(software, plain, tmp_path)
    assert never[:2] == without[:2] and never[2]["run"]["cycles"] == without[2]["run"]["cycles"]
    here = {(one["path"].replace("system.cpu.processor", "system.cpu"), one["name"]): one["value"] for one in never[2]["statistics"]}
    there = [one for one in without[2]["statistics"] if one["path"] != "system.ram"]
    assert len(there) > 80 and all(here[one["path"], one["name"]] == one["value"] for one in there)


@CORES
def test_switches_at_random_instants(options: list[str], software: Guest, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """What runs behind each is what the functional processor does, instruction by instruction. SEED in the environment repeats a run."""
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"SEED={seed}")
    machine = build(root, build_dir, tmp_path / "host", CHECKED, *options)
    whole = on_host(software, machine, tmp_path, "--switch_at", "end")[2]["run"]
    rng, end = random.Random(seed), whole["cycles"]["cpu_clk"] * 5 * 9 // 10  # ns
    for instant in sorted(rng.randrange(1_000_000, end) for _ in range(SWITCHES)):
        limits = ["--until", f"{executed(options)}.instructions >= {BEHIND}", "--time", f"{instant + 400_000_000} ns"]
        _, _, stats = on_host(software, machine, tmp_path, "--switch_at", f"{instant} ns", *limits)
        assert "error" not in stats["run"] and value(stats, "system.cpu.switch", "switches") == 1, (seed, instant)
        assert value(stats, CORE, "compared") >= BEHIND - 1, (seed, instant, stats["run"]["ended"])


@CORES
@pytest.mark.parametrize("instant", ["60 ms", "100 ms"])
def test_save_restore_and_switch_commute(software: Guest, host: Path, root: Path, build_dir: Path, tmp_path: Path, instant: str, options: list[str]) -> None:
    """A checkpoint before the switch, and one behind it, go on as the run without: console and state, byte for byte."""
    if options:
        host = build(root, build_dir, tmp_path / "wide", *options)
    at, end = ["--switch_at", instant], ["--time", "120 ms"]
    whole = on_host(software, host, tmp_path, *at, *end, "--checkpoint", "whole")
    for middle in ("50 ms", "110 ms"):
        begun = on_host(software, host, tmp_path, *at, "--time", middle, "--checkpoint", "begun")
        rest = on_host(software, host, tmp_path, "--restore", "begun", *end, "--checkpoint", "rest")
        assert begun[1] + rest[1] == whole[1] and rest[2]["statistics"] == whole[2]["statistics"]
        subprocess.run([host, "--quiet", "--restore", "whole", "--compare", "rest"], cwd=tmp_path, check=True)


@pytest.mark.parametrize("options", [[], [wide()], [wide(), COHERENT, LEVEL_2], [wide(mshrs=8), COHERENT]], ids=lambda options: " ".join(options) or "in order")
def test_a_boot_in_windows(options: list[str], software: Guest, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """To and fro some hundred times, in lockstep behind each; windows end wherever they do, in handlers and in delay slots as well."""
    machine = build(root, build_dir, tmp_path / "host", CHECKED, *options, sampling="true")
    settings = [word for one in ("period=11182", "warm=200", "measure=1009") for word in ("--set", f"system.cpu.sampler.{one}")]
    status, console, stats = on_host(software, machine, tmp_path, "--switch_at", "1 ms", *settings)
    assert (status, comparable(console)) == (0, comparable(on_oracle(software, build_dir)[1]))
    assert value(stats, "system.cpu.switch", "switches") > 1000 and value(stats, CORE, "compared") == value(stats, executed(options), "instructions") > 1e6


def test_a_ping_behind_a_fast_boot(shell: Guest, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """The driver starts the card on the fast core; the echoes are sent and received in detail."""
    machine = build(root, build_dir, tmp_path / "host", NIC)
    (tmp_path / "script").write_text('wait "/ # "\nsend "ping -A -c 10 10.0.0.1\\n"\nwait "/ # "\nsend "cat /proc/net/dev /proc/interrupts; devmem 0x1f000504 32 7; poweroff -f\\n"\n')
    status, console, stats = on_host(shell, machine, tmp_path, "--switch_at", "marker(3)", "--console_script", "script", "--time", "20 s")
    assert status == 7 and "eth0 02:00:00:00:00:01 is up" in console and "10 packets transmitted, 10 packets received, 0% packet loss" in console
    assert "ERR:          0" in console and value(stats, "system.cpu.switch", "switches") == 1
    assert value(stats, FAST_CPU, "instructions") > 20e6 and value(stats, executed([]), "instructions") > 100_000


@pytest.mark.parametrize(("defines", "drive"), [([DISK], "vda"), ([SCSI], "sda"), ([DISK, COHERENT], "vda"), ([wide(), DISK, COHERENT], "vda"), ([wide(), SCSI, CHECKED], "sda")], ids=str)
def test_a_root_on_a_disk_behind_a_fast_boot(software: Guest, root: Path, build_dir: Path, tmp_path: Path, defines: list[str], drive: str) -> None:
    """The kernel mounts it on the fast core; what the guest writes in detail is on the image, which is whole."""
    machine = build(root, build_dir, tmp_path / "host", *defines)
    marker = build_dir / "linux/shell/overlay/bin/marker"
    made = pack(software, f"marker 3\n{LITTLE}", [marker], root, build_dir, tmp_path, on_disk=True, drive=drive)
    status, console, stats = on_host(made, machine, tmp_path, "--switch_at", "marker(3)", *commit(drive, "after.ext4"))
    assert status == 4 and "/dev/root on / type ext4 (rw" in console and console.endswith("reboot: Power down\n"), console[-2000:]
    assert value(stats, "system.cpu.switch", "switches") == 1 and value(stats, executed(defines), "instructions") > 1e6
    checked(tmp_path / "after.ext4")
    largest = in_image(tmp_path / "after.ext4", "/file3")
    assert len(largest) == 300_000 and largest.startswith(in_image(tmp_path / "after.ext4", "/file1"))


def test_a_big_endian_kernel(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Its first process prints and switches off in detail."""
    made = big_endian_guest(root, build_dir, tmp_path)
    machine = build(root, build_dir, tmp_path / "host", "big_endian=true", CHECKED)
    status, console, stats = on_host(made, machine, tmp_path, "--switch_at", "symbol(run_init_process)", "--time", "3 s")
    assert status == 0 and "\nhello from C\n" in console and console.endswith("reboot: Power down\n")
    assert value(stats, FAST_CPU, "instructions") > 1e6 and value(stats, CORE, "compared") > 10_000
