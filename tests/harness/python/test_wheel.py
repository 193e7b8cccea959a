"""The wheel: it has the package and the harness with its data, and runs in another folder with only `lss` on the PATH."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

SCRIPT = """
import harness, spinach
from spinach import Axis
made = spinach.sweep("chain.lss", {"ready": Axis("set.consumer.ready", [1])}, {"items": "consumer.items"},
                     base={"option.cycles": 100})
print(spinach.__file__, harness.__file__, made.frame["items"].tolist(), made.write("out").name)
"""


def test_the_wheel_runs_without_the_source_tree(here: Path, root: Path, build_dir: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", here / "dist"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (here / "dist").iterdir()
    assert wheel.name.startswith("spinach_sim-") and wheel.name.endswith("-py3-none-any.whl")
    zipfile.ZipFile(wheel).extractall(here / "site")
    environment = {**os.environ, "PYTHONPATH": str(here / "site"), "PATH": f"{build_dir}/bin:/usr/bin:/bin"}
    environment.pop("SPINACH_LSS")
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=here, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{here}/site/spinach/__init__.py {here}/site/harness/__init__.py [96] index.html\n"
