"""The compiler where there is no /proc: it finds its library all the same, or says that it does not."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

MACHINE = "instance s : source;  instance k : sink;  s.out -> k.in : uint32;\n"


def test_the_library_is_found_without_proc(build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "usr/bin").mkdir(parents=True)
    shutil.copy(build_dir / "bin/lss", tmp_path / "usr/bin/lss")
    for library in re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", build_dir / "bin/lss"], capture_output=True, text=True).stdout):
        (tmp_path / library[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, tmp_path / library[1:])
    shutil.copytree(Path(__file__).parents[2] / "modules", tmp_path / "usr/share/spinach/modules")
    (tmp_path / "m.lss").write_text(MACHINE)
    inside = ["unshare", "-r", "chroot", tmp_path, "/usr/bin/lss"]
    if not shutil.which("unshare") or subprocess.run([*inside, "--version"], capture_output=True).returncode:
        pytest.skip("no change of the root folder is allowed here")
    check = [*inside, "check", "--netlist-only", "m.lss"]
    done = subprocess.run(check, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "usr/share/spinach").rename(tmp_path / "elsewhere")
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 1
    assert "there is no module `source`; the library is not found at ../share/spinach or ../.. from /usr/bin, or at " in done.stderr


def test_a_wrong_home_is_named(lss, tmp_path: Path) -> None:
    (tmp_path / "m.lss").write_text(MACHINE)
    done = lss("check", "--netlist-only", "m.lss", cwd=tmp_path, ok=False, env={"SPINACH_HOME": "/nowhere"})
    assert "there is no module `source`; the library is not at SPINACH_HOME=/nowhere: it has no modules/\n" in done.err
