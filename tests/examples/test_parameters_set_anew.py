"""Every run-time parameter of every machine acts in a restored run as in one that had it from the start, or is refused.

At a checkpoint before the first cycle nothing has happened yet, so both must end alike; what `init` derived from a
parameter follows it by `handler reset(x)`.  Of arrays of instances the first one is tried.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.examples.test_builds_agree import ROOT, WORK

# Another value than the default, by type; what a machine cannot take is refused in both runs.
OTHERS = {
    "bool": lambda text: [str(text != "true").lower()],
    "int": lambda text: [str(2 * int(text) + 3), "0"],
    "float": lambda text: ["0.3"],
    "fraction": lambda text: ["70 percent"],
    "time": lambda text: ["3 us"],
    "rate": lambda text: ["300 Mb/s"],
    "size": lambda text: ["3 KiB"],
    "frequency": lambda text: ["30 MHz"],
    "string": lambda text: [],  # files, patterns and modes have a test each
}
SHORT = {"--cycles": "3000", "--time": "15 us"}
AT_START = '"{}" cannot be set again: it acts only at the start of a run'


def parameters(simulator: Path) -> list[dict]:
    listed = json.loads(subprocess.run([simulator, "--list=json"], capture_output=True, text=True, check=True).stdout)["parameters"]
    return [one for one in listed if not re.search(r"\[[1-9]", one["name"])]


# Machines whose modules are, all but a few without parameters, in the others.
REST = ("tigon2/tigon2", "nic10g/nic10g", "dual_core/dual_core", "rfu_core/rfu_core", "vliw_core/vliw_core", "riscv_core/riscv_core",
        "multiprocessor/multiprocessor", "quad_core/quad_core", "tigon2/tigon2_hardware_limit")  # fmt: skip
REST += tuple(name for name in WORK if name.startswith(("host/", "network/")) and name != "host/host disk")


MANY = {"host/host disk": 2, "quad_core/quad_core": 2, "multiprocessor/multiprocessor level 2": 4}  # of whose parameters every n-th is enough, but for the soak


@pytest.mark.parametrize("name", [name for name in WORK if name not in REST])
def test_a_parameter_acts_as_if_it_had_been_so_from_the_start(name: str, build_sim, run_sim, build_dir: Path, tmp_path: Path) -> None:
    compare(name, MANY.get(name, 1), build_sim, run_sim, build_dir, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", sorted({*REST, *MANY}))
def test_every_parameter_does(name: str, build_sim, run_sim, build_dir: Path, tmp_path: Path) -> None:
    compare(name, 1, build_sim, run_sim, build_dir, tmp_path)


def compare(name: str, every: int, build_sim, run_sim, build_dir: Path, tmp_path: Path) -> None:
    options, work = WORK[name]
    given = work("short", build_dir, tmp_path)
    # Of settings only those of files: others are tried themselves.
    pairs = [pair for pair in zip(given[::2], given[1::2]) if pair[0] not in SHORT and (pair[0] != "--set" or Path(pair[1].partition("=")[2]).is_file())]
    limit = next([word, SHORT[word]] for word in SHORT if word in given)
    arguments = [*(word for pair in pairs for word in pair), *limit]
    simulator = build_sim(ROOT / f"examples/{name.split()[0]}.lss", *options)
    run_sim(simulator, "--quiet", *arguments, "--cycles", 0, "--checkpoint", "point")
    default, moved, refused = run_sim(simulator, "--quiet", *arguments), 0, 0
    tried = [one for one in parameters(simulator) if OTHERS[one["type"]](one["default"])]
    for parameter in tried[::every]:
        for value in OTHERS[parameter["type"]](parameter["default"]):
            setting = ["--set", f"{parameter['name']}={value}"] if "." in parameter["name"] else [f"--{parameter['name']}", value]
            straight = run_sim(simulator, "--quiet", *arguments, *setting, ok=None)
            restored = run_sim(simulator, "--quiet", *limit, "--restore", "point", *setting, ok=None)
            if AT_START.format(parameter["name"]) in restored.err:
                refused += 1
                assert parameter.get("init"), parameter
            elif straight.stats is None:
                assert (restored.status, restored.err) == (straight.status, straight.err), parameter
            else:
                assert restored.stats is not None, (parameter, value, restored.err)
                for key in ("run", "statistics"):
                    assert restored.stats[key] == straight.stats[key], (parameter, value)
                moved += straight.stats["statistics"] != default.stats["statistics"]
    assert moved or refused, "nothing was tried"
