"""The host machine's Linux with its files on a SCSI disk: the kernel's own driver of the adapter, tags, disconnecting, and what is on the disk afterwards."""

import re
from pathlib import Path

import pytest

from tests.firmware.disks import LITTLE, boot_twice, checked, does_the_same, in_two_boots, tells_the_same
from tests.hosts import CHECKED, COHERENT, SCSI, fast, wide
from tests.kills import Work
from tests.linux_guest import Guest, build_host, on_host, pack

pytestmark = [pytest.mark.soak, pytest.mark.optimised]

CARD = "slots.card[0]"
# Readers of their own are at work at once, so that tags wait.
SCRIPT = in_two_boots(
    "dmesg | grep -E 'scsi|sd 0|esp'\ncat /sys/block/sda/device/queue_type /sys/block/sda/device/queue_depth",
    "for k in 1 5 9 13; do dd if=/dev/sda of=/dev/null bs=64k skip=$((k * 32)) count=8 2>/dev/null & done; wait",
    "dd if=/dev/sda of=/dev/null bs=64k count=64 2>&1 | grep records\ncat /proc/interrupts",
)


@pytest.fixture(scope="module")
def host(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_host(root, build_dir, tmp_path_factory.mktemp("host") / "host", "cards=[scsi_card(disks = 2)]")


@pytest.fixture
def on_disk(software: Guest, root: Path, build_dir: Path, tmp_path: Path):
    return lambda script, **how: pack(software, script, [], root, build_dir, tmp_path / f"guest{len(how)}", on_disk=True, drive="sda", **how)


def counted(stats: dict, instance: str) -> dict[str, int]:
    return {one["name"]: one["value"] for one in stats["statistics"] if one["path"] == instance}


def test_what_is_written_is_there_after_a_boot(on_disk, host: Path, tmp_path: Path) -> None:
    (console, stats), _ = boot_twice(on_disk(SCRIPT), host, tmp_path)
    assert "is a AM53C974, 40 MHz (ccf=0), SCSI ID 7" in console and "FAST-10 SCSI 10.0 MB/s ST (100 ns, offset 15)" in console
    assert "[sda] Attached SCSI disk" in console and "[sdb] Attached SCSI disk" in console
    assert re.search(r"^simple\n7$", console, re.MULTILINE) and re.search(r"^64\+0 records in$", console, re.MULTILINE)
    assert not re.search(r"DMA error|resetting|Unexpected|Spurious|I/O error|timeout|Aborting|nobody cared", console) and "ERR:          0" in console
    disk, adapter = counted(stats, f"{CARD}.disk[0]"), counted(stats, f"{CARD}.adapter")
    assert disk["tagged"] > 100 and disk["disconnects"] > 100 and adapter["reselections"] >= disk["disconnects"] and adapter["errors"] == 0
    assert adapter["timeouts"] == 5 and disk["full"] == disk["aborts"] == 0 and counted(stats, f"{CARD}.contents[0]")["sectors_changed"] > 32768


@pytest.mark.parametrize("options", [[SCSI, COHERENT], ["cards=[scsi_card,tigon2_slot]"], [SCSI, wide(mshrs=8), COHERENT, CHECKED]], ids=" ".join)
def test_other_machines_do_the_same(on_disk, host: Path, root: Path, build_dir: Path, options: list[str], tmp_path: Path) -> None:
    """With other caches, another card on the PCI bus, or out of order: console and files of the plain one."""
    does_the_same(on_disk(LITTLE), host, build_host(root, build_dir, tmp_path / "other", *options), tmp_path)


def test_kernels_need_not_know_that_caches_see_devices(on_disk, root: Path, build_dir: Path, tmp_path: Path) -> None:
    machine = build_host(root, build_dir, tmp_path / "host", SCSI, COHERENT)
    tells_the_same(on_disk(LITTLE), on_disk(LITTLE, dma_coherent=False), machine, tmp_path)


# Typed at a shell: files come and go, and each is on the disk before the next one is written.
HEAVY = "for k in 1 2 3; do head -c ${k}0000 /bin/busybox >/file$k; sync; done; rm /file1; echo written; exit 5"
PROMPT = "6 s"  # the shell waits
SWITCH = "6250 ms"  # it writes, and from now on on the detailed core
KILLS = 50


def test_killed_runs_go_on(on_disk, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Of runs that write checkpoints and are killed while Linux writes to its disk, each goes on from its latest one as if nothing had happened; so do files and the
    file system.  The way there, and the first half, are the fast core's, which leaves time for many kills."""
    machine = build_host(root, build_dir, tmp_path / "host", *fast([SCSI]))
    status, console, _ = on_host(on_disk("exec sh"), machine, tmp_path, "--switch_at", SWITCH, "--time", PROMPT, "--checkpoint", "prompt")
    assert status == 0 and "/ # " in console
    (tmp_path / "script").write_text(f'send "{HEAVY}\\n"\n')
    outputs = {"--console_output": "console", f"--set={CARD}.commit=": "after.ext4"}
    work = Work(machine, ["--restore", "prompt", "--console_script", "script"], outputs, tmp_path)
    straight = work.straight()
    assert straight.status == 5 and "\nwritten\n" in (tmp_path / "console").read_text()
    [switches] = [one["value"] for one in straight.statistics if (one["path"], one["name"]) == ("system.cpu.switch", "switches")]
    assert switches == 1
    checked(tmp_path / "after.ext4")
    assert work.survives(straight, KILLS, "20 ms") > KILLS / 2
