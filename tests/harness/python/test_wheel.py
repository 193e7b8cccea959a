"""The wheel: it has the package and the harness with its data, is the same each time, and runs in a fresh environment.

Packages that it depends on are those of this Python, so that nothing is fetched.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = """
import harness, spinach
from spinach import Axis
made = spinach.sweep("chain.lss", {"ready": Axis("set.consumer.ready", [1])}, {"items": "consumer.items"},
                     base={"option.cycles": 100})
print(spinach.__file__, harness.__file__, made.frame["items"].tolist(), made.write("out").name)
from pygments.lexers import get_lexer_by_name
"""
FENCE = re.compile(r"^```(?:python|c|lss|text) file=(\S+)\n(.*?)^```$", re.M | re.S)
EXAMPLES = ["one.py", "two.py", "step.py", "test_sum.py"]  # of docs/python.md; a picture is looked at as well


def built(out: Path, root: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = out.iterdir()
    assert wheel.name == f"spinach_sim-{(root / 'lss/VERSION').read_text().strip()}-py3-none-any.whl"
    return wheel


def test_the_wheel_runs_without_the_source_tree(here: Path, root: Path, build_dir: Path) -> None:
    wheel = built(here / "dist", root)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(here / "site")
    assert {name.split("/")[0] for name in names} == {
        "spinach",
        "harness",
        f"{'-'.join(wheel.name.split('-')[:2])}.dist-info",
    }
    assert {"spinach/py.typed", "harness/lexer.py", "harness/units.def"} <= set(names)
    environment = {**os.environ, "PYTHONPATH": str(here / "site"), "PATH": f"{build_dir}/bin:/usr/bin:/bin"}
    environment.pop("SPINACH_LSS")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + "print(get_lexer_by_name('lss').name)"],
        cwd=here,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{here}/site/spinach/__init__.py {here}/site/harness/__init__.py [96] index.html\nLSS\n"


@pytest.fixture(scope="module")
def python(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with the wheel."""
    folder = tmp_path_factory.mktemp("fresh")
    wheels = [built(folder / name, root) for name in ("first", "second")]
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheels[0]], check=True)
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    checked = subprocess.run([python, "-m", "pip", "check"], capture_output=True, text=True)
    assert "spinach-sim" not in checked.stdout, checked.stdout
    return python


@pytest.fixture
def run(python: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """run(folder of lss, words): runs Python with only that, the system and the compilers on the PATH."""

    def execute(lss: Path | None, *words: str) -> subprocess.CompletedProcess:
        path = os.pathsep.join([*([str(lss)] if lss else []), "/usr/bin", "/bin"])
        environment = {name: text for name, text in os.environ.items() if name not in ("SPINACH_LSS", "PYTHONPATH")}
        return subprocess.run(
            [python, *words], cwd=tmp_path, env={**environment, "PATH": path}, capture_output=True, text=True
        )

    return execute


@pytest.mark.soak
def test_the_examples_run_in_a_fresh_environment(run: Callable, root: Path, build_dir: Path, tmp_path: Path) -> None:
    for name, text in FENCE.findall((root / "docs" / "python.md").read_text()):
        (tmp_path / name).write_text(text)
    shutil.copytree(root / "examples" / "host", tmp_path / "examples" / "host")
    flags = "--target=mipsel-linux-gnu -mips32r2 -mno-abicalls -fno-pic -ffreestanding -static -nostdlib -fuse-ld=lld -O2 -Wl,-Ttext=0x80100000"
    subprocess.run(["clang-22", *flags.split(), "hello.c", "-o", "hello.elf"], cwd=tmp_path, check=True)
    picture = run(build_dir / "bin", "-c", "import spinach; print(spinach.Machine('chain.lss')._repr_svg_())")
    assert "<svg" in picture.stdout, picture.stderr
    for name in EXAMPLES:
        done = run(build_dir / "bin", name)
        assert done.returncode == 0, f"{name}: {done.stderr}"
    assert "105" in done.stdout


@pytest.mark.soak
def test_another_compiler_or_none(run: Callable, tmp_path: Path) -> None:
    script = "import spinach\ntry: spinach.Machine('chain.lss')\nexcept spinach.SpinachError as error: print(type(error).__name__, error)"
    done = run(None, "-c", script)
    assert re.fullmatch(
        r"BuildError the compiler is missing: no lss on the PATH \(install Spinach \(make install\).*\)\n", done.stdout
    ), done.stderr
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "lss").write_text("#!/bin/sh\necho 'lss 0.1.7 (abc)'\n")
    (tmp_path / "bin" / "lss").chmod(0o755)
    done = run(tmp_path / "bin", "-c", script)
    assert re.fullmatch(r"VersionError .*/lss: version 0\.1, but this package needs \d+\.\d+ \(.*\)\n", done.stdout), (
        done.stderr
    )
