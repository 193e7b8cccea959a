"""Kernel modules of a guest folder: how they are compiled, and what is said of wrong ones.  The kernel's make is a script here that makes of
each `obj-m` a file; the soak compiles real ones, and loads them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.linux_guest import build_host, guest

ROOT = Path(__file__).resolve().parents[2]
LINUX = ROOT / "firmware/linux"
MAKE = r"""#!/bin/sh
# Modules of NAME/Kbuild, with what they need in NAME/needs; an error for each file that has one in it.
for word; do case $word in M=*) m=${word#M=} ;; O=*) o=${word#O=} ;; esac; goal=$word; done
echo "$goal" >>made
case $goal in
allnoconfig) cp "$KCONFIG_ALLCONFIG" "$o/.config" ;;
modules)
  for name in $(sed -n 's|obj-m += \(.*\)/$|\1|p' "$m/Kbuild"); do
    echo "  CC [M]  $m/$name/$name.o"
    ! grep -n error "$m/$name/$name.c" || { echo "$m/$name/$name.c:1:1: error: wrong"; echo "make[2]: *** [$m] Error 2"; exit 2; }
    grep -q obj-m "$m/$name/Kbuild" || continue
    printf 'code\0depends=%s\0' "$(cat "$m/$name/needs" 2>/dev/null)" >"$m/$name/$name.ko"
  done ;;
esac
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with three modules, of which the first needs the last, a kernel's source and the kernel itself."""
    for file, text in {
        "mine/a-user/Kbuild": "obj-m := a-user.o\n", "mine/a-user/a-user.c": "", "mine/a-user/needs": "rule,more",
        "mine/more/Kbuild": "obj-m := more.o\n", "mine/more/more.c": "", "mine/rule/Kbuild": "obj-m := rule.o\n", "mine/rule/rule.c": "",
        "kernel/vmlinux.key": "key\n", "kernel/Module.symvers": "symbols\n", "bin/make": MAKE, "bin/clang-0": "#!/bin/sh\necho clang 0\n",
    }.items():  # fmt: skip
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    for name in "make", "clang-0":
        (tmp_path / "bin" / name).chmod(0o755)
    version = next(line.split()[1] for line in (LINUX / "versions").read_text().splitlines() if line.startswith("linux-source"))
    (tmp_path / f"build/linux/source-{version}").mkdir(parents=True)
    return tmp_path


def make(place: Path) -> subprocess.CompletedProcess[str]:
    command = [LINUX / "modules", "mine", "little", "-0", "build", "kernel", "out/modules"]
    given = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(command, cwd=place, env=given, capture_output=True, text=True)


def test_modules_are_compiled_when_something_has_changed(place: Path) -> None:
    (place / "out").mkdir()
    done = make(place)
    assert (done.returncode, done.stderr) == (0, "")
    out = place / "out/modules"
    assert sorted(one.name for one in out.iterdir()) == ["a_user.ko", "key", "more.ko", "order", "rule.ko"] and not list(place.glob("out/*.*"))
    order = (out / "order").read_text().split()
    assert sorted(order) == ["a_user", "more", "rule"] and order[-1] == "a_user", "each after those that it needs"
    assert next(place.glob("build/linux/kernel-*/Module.symvers")).read_text() == "symbols\n"
    goals = (place / "made").read_text().split()
    assert goals == ["allnoconfig", "modules_prepare", "modules"]
    assert make(place).returncode == 0 and (place / "made").read_text().split() == goals
    (place / "mine/rule/rule.h").touch()
    assert make(place).returncode == 0 and (place / "made").read_text().split() == [*goals, "modules"], "the kernel's tree is prepared once"
    (place / "kernel/vmlinux.key").write_text("another\n")
    assert make(place).returncode == 0 and (place / "made").read_text().split() == [*goals, "modules", "modules"]


WRONG = [
    ({"mine/rule.c": ""}, "mine/rule.c: modules has a folder for each module", ""),
    ({"mine/other/other.c": ""}, "mine/other has no Kbuild; a module of one C file needs the line: obj-m := other.o", ""),
    ({"mine/rule/Kbuild": "nothing\n"}, "mine/rule/Kbuild makes no module; it needs a line such as: obj-m := rule.o", ""),
    ({"mine/rule/rule.c": "an error"}, "mine/rule does not compile", "1:an error\nmine/rule/rule.c:1:1: error: wrong\n"),
    ({"mine/a_user/Kbuild": "obj-m := a_user.o\n", "mine/a_user/a_user.c": ""}, "mine has two modules with the name a_user", ""),
]


@pytest.mark.parametrize(("more", "why", "before"), WRONG, ids=[next(iter(more)) for more, *_ in WRONG])
def test_what_is_no_module(place: Path, more: dict[str, str], why: str, before: str) -> None:
    """One line, after what the compiler says of the user's own files; what was made before stays."""
    assert make(place).returncode == 0
    key = (place / "out/modules/key").read_text()
    for file, text in more.items():
        (place / file).parent.mkdir(exist_ok=True)
        (place / file).write_text(text)
    done = make(place)
    assert (done.returncode, done.stderr) == (1, f"{before}linux: {why}\n")
    assert (place / "out/modules/key").read_text() == key and [one.name for one in (place / "out").iterdir()] == ["modules"]


C = """#include <linux/module.h>
static int level = 1;
module_param(level, int, 0444);
%s
static int __init begin(void) {{ pr_info("{0}: level %%d\\n", level + {1}); return 0; }}
static void __exit end(void) {{}}
module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
"""


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.parametrize("vpes", [False, True])
def test_linux_loads_them(root: Path, build_dir: Path, tmp_path: Path, vpes: bool) -> None:
    """In their order, with parameters, and for this kernel only; the same bytes from another folder."""
    software = guest(build_dir, vpes)
    modules = tmp_path / "mine/modules"
    for name, code in {
        "first": C.replace("%s", "int first_level(void);\nint first_level(void) {{ return level; }}\nEXPORT_SYMBOL_GPL(first_level);").format("first", 0),
        "a-second": C.replace("%s", "int first_level(void);").format("second", "10 * first_level()"),
    }.items():  # fmt: skip
        (modules / name).mkdir(parents=True)
        (modules / name / "Kbuild").write_text(f"obj-m := {name}.o\n")
        (modules / name / f"{name}.c").write_text(code.replace("%%", "%"))
    shutil.copytree(tmp_path / "mine", tmp_path / "copy/mine")
    for folder in "mine", "copy/mine":
        words = ["make", "-s", "linux", f"GUEST={tmp_path / folder}", f"LINUX_OUT={tmp_path}/{folder}-out", *(["VPES=true"] * vpes)]
        subprocess.run(words, cwd=root, check=True, stdin=subprocess.DEVNULL)
    out = tmp_path / "mine-out"
    assert (out / "initramfs.cpio").read_bytes() == (tmp_path / "copy/mine-out/initramfs.cpio").read_bytes()
    build_host(root, build_dir, tmp_path / "host", "processor=fast_processor")
    (tmp_path / "script").write_text('wait "/ # "\nsend "rmmod a_second; load a_second level=4; poweroff -f\\n"\n')

    def boot(kernel: Path) -> str:
        given = ["--kernel", kernel, "--dtb", out / "host.dtb", "--initramfs", out / "initramfs.cpio", "--console_script", tmp_path / "script"]
        done = subprocess.run([tmp_path / "host", *given, "--switch_at", "end"], capture_output=True, text=True, timeout=300)
        return done.stdout.replace("\r", "")

    said = boot(software.vmlinux)
    lines = [line.partition("] ")[2] for line in said.splitlines() if ": level " in line]
    assert lines == ["first: level 1", "second: level 11", "second: level 14"] and "\nmodule first 0xc" in said
    said = boot(guest(build_dir, not vpes).vmlinux)
    assert "init: the module first cannot be loaded\n" in said and "insmod: can't insert '/lib/modules/first.ko': invalid module format" in said
