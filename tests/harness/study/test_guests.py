"""Studies with a guest: the files that each point boots, and a device tree for each machine.  The guest itself is made by a makefile of these
tests; docs/workload.md, which the soak executes, makes a real one."""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.run.progress import Progress
from harness.study import runner
from harness.study.linux import guests
from harness.study.study_file import StudyError

ROOT = Path(__file__).resolve().parents[3]
STUDY = """
title = "Two memories"
machine = "host.lss"
guest = "mine"
base = { "option.time" = "1 ms" }
axis = { name = "memory", setting = "D.memory", values = ["32 MiB", "64 MiB"] }
measure = { rate = "time" }
"""
MAKEFILE = """
$(LINUX_OUT)/vmlinux $(LINUX_OUT)/initramfs.cpio:
	@test ! -e $(GUEST)/bin/wrong.c || { echo "wrong.c:1: error" >&2; echo "linux: $(GUEST)/bin/wrong.c does not compile" >&2; false; }
	@mkdir -p $(LINUX_OUT)
	@echo $(GUEST), $(if $(VPES),VPEs $(VPES),no VPEs) >$@
"""

pytestmark = pytest.mark.skipif(not shutil.which("dtc"), reason="there is no dtc (package device-tree-compiler)")


@pytest.fixture
def place(tmp_path: Path, build_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study next to a host and a guest folder, and a kit whose makefile makes guests at once."""
    kit = tmp_path / "kit"
    kit.mkdir()
    (kit / "Makefile").write_text(MAKEFILE)
    (kit / "firmware").symlink_to(ROOT / "firmware")
    monkeypatch.setattr(guests, "KIT", kit)
    (tmp_path / "study.toml").write_text(STUDY.replace('machine = "host.lss"', f'machine = "{ROOT / "examples/host/host.lss"}"'))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/tree.dts").write_text('/ { chosen { note = "clock ${devices.rtc.interrupt}"; }; };\n')
    (tmp_path / "build").symlink_to(build_dir)
    return tmp_path


def made(place: Path, **replaced: str):
    text = (place / "study.toml").read_text()
    for old, new in replaced.items():
        text = text.replace(f'{old} = "mine"', new)
    (place / "study.toml").write_text(text)
    study = runner.prepare(place / "study.toml", place / "build", Progress())
    guests.make(study, Progress())
    return study


def test_a_guest_that_a_command_makes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be missing where the study only shows what it came to before."""
    file = place / "study.toml"
    text = file.read_text().replace('guest = "mine"', 'guest = "later"')
    file.write_text(text + 'needs = { "later/root/bin/program" = "make later" }\n')
    monkeypatch.setattr(runner, "_is_built", lambda study, point: True)
    with pytest.raises(StudyError, match="there is no .*later/root/bin/program: `make later` makes it"):
        runner.prepare(file, place / "build", Progress())
    assert len(runner.prepare(file, place / "build", Progress(), built_only=True).machines) == 2
    file.write_text(text)
    with pytest.raises(StudyError, match="guest: there is no folder 'later'"):
        runner.prepare(file, place / "build", Progress(), built_only=True)


def source(tree: str) -> str:
    return subprocess.run(["dtc", "-q", "-I", "dtb", "-O", "dts", tree], capture_output=True, text=True, check=True).stdout


def test_each_machine_has_its_tree(place: Path) -> None:
    study = made(place)
    small, large = (study.settings(point) for point in study.points)
    assert small["option.kernel"] == large["option.kernel"] and Path(small["option.kernel"]).read_text() == f"{place / 'mine'}, no VPEs\n"
    trees = [source(one["option.dtb"]) for one in (small, large)]
    assert ["reg = <0x00 0x2000000>" in one for one in trees] == [True, False] and ["reg = <0x00 0x4000000>" in one for one in trees] == [False, True]
    assert all('note = "clock 6"' in one for one in trees)
    again = made(place)
    assert [again.settings(point) for point in again.points] == [small, large], "the same trees have the same names"


def test_all_computers_of_a_network_have_the_guest(place: Path) -> None:
    """Each with a tree of its own, which has its numbers."""
    (place / "nodes.lss").write_text("import host;\nparameter memory = 32 MiB : size;\ninstance node[2] : host;\nnode[0].memory = memory;\nnode[1].memory = 2 * memory;\n")
    text = (place / "study.toml").read_text()
    (place / "study.toml").write_text(text.replace(str(ROOT / "examples/host/host.lss"), "nodes.lss"))
    study = made(place)
    settings = study.settings(study.points[0])
    assert settings["set.node[0].kernel"] == settings["set.node[1].kernel"] and "option.kernel" not in settings
    trees = [source(settings[f"set.node[{n}].dtb"]) for n in range(2)]
    assert "reg = <0x00 0x2000000>" in trees[0] and "reg = <0x00 0x4000000>" in trees[1]


def test_what_a_study_sets_itself_counts(place: Path) -> None:
    """And a point may have another guest, or none."""
    (place / "other/root").mkdir(parents=True)
    more = 'guest = "mine"\nvariant = [{ name = "a" }, { name = "b", guest = "other", settings = { "option.kernel" = "own" } }]'
    study = made(place, guest=more)
    first, _, third, _ = (study.settings(point) for point in study.points)
    assert third["option.kernel"] == "own" and third["option.initramfs"] != first["option.initramfs"]
    assert Path(third["option.initramfs"]).read_text() == f"{place / 'other'}, no VPEs\n"


def test_the_kernel_follows_the_processor(place: Path) -> None:
    """Processing elements need the kernel that uses them, and modules for that."""
    text = (place / "study.toml").read_text()
    smp = ROOT / "examples/host/smp.lss"
    (place / "study.toml").write_text(f'{text}variant = [{{ name = "one" }}, {{ name = "two", machine = "{smp}" }}]\n')
    study = made(place)
    one, two = ({point.machine.name: study.settings(point) for point in study.points}[name] for name in ("host.lss", "smp.lss"))
    assert Path(two["option.kernel"]).parent.name == Path(one["option.kernel"]).parent.name + "-vpes"
    assert Path(one["option.kernel"]).read_text() == f"{place}/mine, no VPEs\n" and Path(two["option.initramfs"]).read_text() == f"{place}/mine, VPEs true\n"


def test_modules_of_a_guest(place: Path) -> None:
    """They are those of the folder as it is now."""
    study = made(place)
    guest = guests.of("mine", study.machine(study.points[0]), study.path, study.build)
    (guest.place / "modules").mkdir()
    (guest.place / "modules/rule.ko").touch()
    assert guest.modules == []
    (place / "mine/modules").mkdir()
    assert guest.modules == [guest.place / "modules/rule.ko"]


def test_a_guest_of_the_registers_of_a_machine(place: Path) -> None:
    """Programs that include registers.h are compiled for the addresses of each machine; others only once."""
    (place / "mine/bin").mkdir()
    (place / "mine/bin/one.c").write_text('#include "marker.h"\n')
    text = (place / "study.toml").read_text()
    (place / "study.toml").write_text(text.replace('setting = "D.memory", values = ["32 MiB", "64 MiB"]', """setting = "D.other_map", values = [
      '[{ name = "mine", base = 0x1f003000, size = 4096, doc = "mine" }]', '[{ name = "mine", base = 0x1f004000, size = 4096, doc = "mine" }]']"""))
    study = made(place)
    assert len({study.settings(point)["option.initramfs"] for point in study.points}) == 1
    (place / "mine/bin/one.c").write_text('#include "registers.h"\n')
    study = made(place)
    assert len({study.settings(point)["option.initramfs"] for point in study.points}) == 2
    for point, base in zip(study.points, ("0x1f003000", "0x1f004000"), strict=True):
        guest = guests.of("mine", study.machine(point), study.path, study.build)
        assert guest.registers and f"#define MAP_MINE_BASE {base}u" in guest.registers.read_text()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('guest = "mine"', 'guest = "absent"', "there is no folder 'absent'"),
        ('guest = "mine"', "guest = 3", "expected a string"),
        ('guest = "mine"', f'guest = "mine"\nvariant = {{ name = "a", machine = "{ROOT}/examples/pipe_chain/pipe_chain.lss" }}', "pipe_chain.lss"),
        ("${devices.rtc.interrupt}", "${devices.rtx.interrupt}", "tree.dts: the machine has no instance devices.rtx; did you mean devices.rtc"),
        ("};\n", "\n", "does not become"),
        ("bin", "wrong.c", "wrong.c does not compile"),
    ],
)
def test_what_is_wrong(place: Path, old: str, new: str, why: str) -> None:
    for file in "study.toml", "mine/tree.dts":
        (place / file).write_text((place / file).read_text().replace(old, new))
    if old == "bin":
        (place / "mine/bin").mkdir()
        (place / "mine/bin" / new).write_text("")
    with pytest.raises(StudyError, match=why) as caught:
        made(place)
    assert "\n" not in str(caught.value) and str(caught.value).startswith(str(place / "study.toml"))


def test_a_folder_that_make_cannot_name(place: Path) -> None:
    (place / "my own").mkdir()
    with pytest.raises(StudyError, match=f"guest: make takes no folder with a space in its name: {place}/my own"):
        made(place, guest='guest = "my own"')


def test_a_kit_without_sources(place: Path) -> None:
    (place / "kit/Makefile").unlink()
    with pytest.raises(StudyError, match="guests are made in a source tree of Spinach"):
        made(place)
