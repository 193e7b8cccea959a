"""What builds keep: it is used again, never believed when it is damaged, bounded in size, and safe with several at once."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sample import sampled, seldom

# Every one can be a folder's name.  The last ones are those that #include or a message cannot name.
NAMES = [
    "a b",
    "a?b",
    "a$b",
    "a#b",
    "a%b",
    "a:b",
    "a'b",
    "a&b",
    "a=b",
    "a,b",
    "@b",
    "-b",
]
REFUSED = {'a"b': "quotation mark", "a\\b": "backslash", "a\\ #b": "backslash", "a\nb": ": there is a line break in its path"}


@pytest.fixture
def machine(tmp_path: Path) -> Callable[..., Path]:
    """Makes a folder with a machine of one module, whose C includes a header."""

    def make(name: str = "machine") -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "m.lss").write_text(
            'module m { stat uint64 n "cycles"; userpoint u() -> int32 = <<< return STEP; >>>; phase_end; }\n'
        )
        (folder / "m.c").write_text('#include "m.h"\nphase_end() { count(n, (uint64_t)call(u)); }\n')
        (folder / "m.h").write_text("#define STEP 1\n")
        (folder / "top.lss").write_text("instance a : m;\n")
        os.utime(folder / "m.h", (time.time() + 1e6,) * 2)  # a date in the future is nobody's fault
        time.sleep(0.02)  # what is written while clang reads it is not kept, by a clock that goes in ticks
        return folder

    return make


@pytest.fixture
def cached(lss, tmp_path: Path) -> Callable[..., list[str]]:
    """Runs lss with a cache of its own: what it printed, and the names in that cache."""

    def run(*arguments: str | Path, cwd: Path | None = None, ok: bool | None = True, cache: Path | None = None):
        return lss(*arguments, cwd=cwd, ok=ok, env={"LSS_CACHE": str(cache or tmp_path / "cache"), "LSS_TIMES": "1"})

    return run


def compiled(done) -> int:
    return done.err.count("compiling ")


@pytest.mark.parametrize("name", sampled(NAMES, 4))
def test_any_folder_builds_and_is_kept(name: str, machine, cached, tmp_path: Path) -> None:
    folder, cache = machine(name), tmp_path / f"cache {name}".replace("%", "")
    first = cached("run", folder / "top.lss", "-O0", "--", "--cycles", "3", "--print", "a.n", cache=cache)
    assert "a.n = 3\n" in first.out and compiled(first) == 1
    names = sorted(path.name for path in cache.iterdir())
    again = cached("run", folder / "top.lss", "-O0", "--", "--cycles", "3", "--print", "a.n", cache=cache)
    assert "a.n = 3\n" in again.out and compiled(again) == 0
    (folder / "m.h").write_text("#define STEP 2\n")
    time.sleep(0.02)
    changed = cached("run", folder / "top.lss", "-O0", "--", "--cycles", "3", "--print", "a.n", cache=cache)
    assert "a.n = 6\n" in changed.out and compiled(changed) == 1
    assert len([each for each in names if each.endswith(".o")]) == 1 and not (cache / "tmp").exists()


@pytest.mark.parametrize("name", REFUSED)
def test_folders_that_nothing_can_name_are_refused(name: str, machine, cached) -> None:
    done = cached("build", "top.lss", "-o", "sim", cwd=machine(name), ok=False)
    assert (done.status, done.err.count("\n")) == (1, 3 if "\n" not in name else 1), done.err
    assert "error[missing-c-file]" in done.err or "error[import-missing]" in done.err
    assert REFUSED[name] in done.err


def test_a_cache_that_clang_cannot_write_to_is_refused(machine, cached, tmp_path: Path) -> None:
    """clang and lld put random digits in the place of every % of an output's path."""
    done = cached("build", machine("a%b") / "top.lss", "-o", "sim", ok=False, cache=tmp_path / "a%b" / "cache")
    assert (done.status, done.err.count("\n")) == (3, 2) and "LSS_CACHE names another place" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a%b"]


@seldom
def test_a_header_that_changes_while_clang_reads_it_is_not_used(machine, cached, tmp_path: Path) -> None:
    """A compiler that touches the header plays the editor; the object is used, but under the name of its contents."""
    folder, tools = machine(), tmp_path / "tools"
    tools.mkdir()
    real = next(filter(None, map(shutil.which, ("clang-22", "clang-19", "clang"))))
    (tools / "clang-22").write_text(f'#!/bin/sh\n"{real}" "$@" || exit\ntouch "{folder}/m.h"\n')
    (tools / "clang-22").chmod(0o755)
    env = {"LSS_CACHE": str(tmp_path / "cache"), "PATH": f"{tools}:{os.environ['PATH']}"}
    for _ in range(3):
        subprocess.run(
            [Path("build").resolve() / "bin/lss", "build", "top.lss", "-o", "sim"],
            cwd=folder,
            env={**os.environ, **env},
            check=True,
        )
    assert len(list((tmp_path / "cache").glob("*.o"))) <= 1  # the tables include no header of the user


# How C comes to read s.h in one folder or another: flags or variables, and what the module's C says.
SEARCHES = {
    "flags": ({"LSS_CFLAGS": "-Ione -Itwo"}, "#include <s.h>"),
    "flags of the system": ({"LSS_CFLAGS": "-isystem one -isystem two"}, "#include <s.h>"),
    "CPATH": ({"CPATH": "one:two"}, "#include <s.h>"),
    "C_INCLUDE_PATH": ({"C_INCLUDE_PATH": "one:two"}, "#include <s.h>"),
    "quotes": ({"CPATH": "three:two"}, '#include "inner.h"'),
    "a macro": ({"CPATH": "three:two"}, '#include "computed.h"'),
    "a question": ({"CPATH": "one:three"}, '#include "asks.h"'),
    "force": ({"LSS_CFLAGS": "-include s.h -Itwo"}, ""),
}


@pytest.mark.parametrize("search", sampled(SEARCHES, 4))
def test_a_header_that_comes_to_shadow_another_counts(search: str, machine, lss, tmp_path: Path) -> None:
    """Until it goes again; nothing is compiled that did not change."""
    environment, include = SEARCHES[search]
    folder = machine()
    for name in ("one", "two", "three"):
        (folder / name).mkdir()
    (folder / "two/s.h").write_text("")
    (folder / "three/inner.h").write_text('#include "s.h"\n')
    (folder / "three/asks.h").write_text("#if __has_include(<s.h>)\n#include <s.h>\n#endif\n")
    (folder / "three/computed.h").write_text("#define S <s.h>\n#include S\n#undef S\n#define S \"s.h\"\n#include S\n")
    (folder / "m.c").write_text(include + "\nphase_end() { count(n, 1); }\n")

    def check() -> tuple[int, int, bool]:
        done = lss("check", "top.lss", cwd=folder, ok=None, env={"LSS_CACHE": str(tmp_path / "cache"), "LSS_TIMES": "1", **environment})
        return done.status, done.err.count(" checking "), "shadows" in done.err

    shadow = folder / {"force": ".", "quotes": "three", "a macro": "three"}.get(search, "one") / "s.h"
    time.sleep(0.02)
    assert check() == (0, 1, False)
    assert check() == (0, 0, False)
    shadow.write_text("#error shadows\n")
    assert check() == (1, 1, True)
    shadow.unlink()
    assert check()[0] == 0
    assert check() == (0, 0, False)
    if search not in ("a question", "force"):
        (folder / "two/s.h").write_text("#error shadows no more\n")
        assert check() == (1, 1, True)


def test_what_else_clang_reads_counts(machine, lss, tmp_path: Path) -> None:
    """Variables, and files that flags name."""
    folder = machine()
    (folder / "flags").write_text("-DTWICE=1")

    def check(**environment: str) -> int:
        environment = {"LSS_CACHE": str(tmp_path / "cache"), "LSS_TIMES": "1", **environment}
        return lss("check", "top.lss", cwd=folder, env=environment).err.count(" checking ")

    for environment in ({}, {"CCC_OVERRIDE_OPTIONS": "# +-DA"}, {"LSS_CFLAGS": "@flags"}):
        assert [check(**environment), check(**environment)] == [1, 0], environment
    (folder / "flags").write_text("-DTWICE=2")
    assert check(LSS_CFLAGS="@flags") == 1


def test_the_manifest_names_headers_and_variables(machine, cached, build_dir: Path, monkeypatch, tmp_path: Path) -> None:
    """Of headers those that are neither the runtime's nor the system's."""
    folder = machine()
    (folder / "inner").mkdir()
    (folder / "inner/s.h").write_text("")
    (folder / "m.c").write_text('#include "m.h"\n#include "s.h"\n#include <stdio.h>\nphase_end() { count(n, 1); }\n')
    time.sleep(0.02)
    monkeypatch.setenv("LSS_CFLAGS", f"-O0 -DNOTHING=1 -I{folder}/inner")
    monkeypatch.setenv("CPATH", "/nowhere")
    cached("run", folder / "top.lss", "--", "--cycles", "3", "--run-dir", tmp_path / "run")
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    assert manifest["environment"] == {"LSS_CFLAGS": f"-O0 -DNOTHING=1 -I{folder}/inner", "CPATH": "/nowhere"}
    assert [Path(one["file"]).name for one in manifest["sources"]] == ["top.lss", "m.lss", "m.c", "m.h", "s.h"]
    assert manifest["sources"][-1]["sha256"] == hashlib.sha256(b"").hexdigest()


@pytest.mark.parametrize("damage", [b"", b"no program", None])
def test_a_damaged_simulator_is_made_anew(damage: bytes | None, machine, cached, tmp_path: Path) -> None:
    folder = machine()
    cached("run", folder / "top.lss", "-O0", "--", "--cycles", "1")
    (simulator,) = (path for path in (tmp_path / "cache").glob("*/top"))
    simulator.write_bytes(simulator.read_bytes()[:-1000] if damage is None else damage)
    assert "a.n = 3\n" in cached("run", folder / "top.lss", "-O0", "--", "--cycles", "3", "--print", "a.n").out


def test_killed_builds_leave_nothing(build_dir: Path, machine, cached, tmp_path: Path) -> None:
    folder, cache = machine(), tmp_path / "cache"
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "clang-22").write_text(
        '#!/bin/sh\ncase "$*" in *-###*) exit 1;; esac\nfor last; do :; done\n: > "$(dirname "$last")/unit.o-12.o.tmp"\nexec sleep 60\n'
    )
    (tools / "clang-22").chmod(0o755)
    env = {**os.environ, "LSS_CACHE": str(cache), "PATH": f"{tools}:{os.environ['PATH']}"}
    build = subprocess.Popen(
        [build_dir / "bin" / "lss", "build", "top.lss", "-o", "sim"], cwd=folder, env=env, start_new_session=True
    )
    while not list(cache.glob("tmp/*/*/*.tmp")):
        assert build.poll() is None
        time.sleep(0.01)
    os.killpg(build.pid, signal.SIGKILL)
    build.wait()
    assert list(cache.glob("tmp/*"))
    cached("build", "top.lss", "-O0", "-o", "sim", cwd=folder)
    assert not list(cache.glob("tmp/*")) and not list(cache.rglob("*.tmp"))


def ages(cache: Path) -> dict[str, float]:
    """When each object and each simulator was used last."""
    used: dict[str, float] = {}
    for path in cache.rglob("*"):
        entry = path.relative_to(cache).parts[0].partition(".")[0]
        if path.is_file() and len(entry) == 40:
            used[entry] = max(used.get(entry, 0), path.stat().st_mtime)
    return used


def test_the_least_recently_used_goes_first(machine, cached, tmp_path: Path) -> None:
    """Each file has an age of its own, as what is equally old goes in no certain order."""
    cache = tmp_path / "cache"
    folders = [machine(name) for name in ("one", "two", "three")]
    for folder in folders[:2]:
        cached("run", folder / "top.lss", "-O0", "--", "--cycles", "1")
    for age, path in enumerate(sorted(cache.rglob("*"))):
        os.utime(path, (1e9 + age, 1e9 + age))
    cached("run", folders[0] / "top.lss", "-O0", "--", "--cycles", "1")  # used again
    size = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())
    cached("cache", "--limit", f"{size * 6 // 5}B")
    before = ages(cache)
    cached("run", folders[2] / "top.lss", "-O0", "--", "--cycles", "1")
    assert sum(path.stat().st_size for path in cache.rglob("*") if path.is_file()) <= size * 6 // 5
    after = ages(cache)
    assert max(before[entry] for entry in before.keys() - after.keys()) < min(after.values())
    assert "linking" not in cached("run", folders[0] / "top.lss", "-O0", "--", "--cycles", "1").err
    assert "linking" in cached("run", folders[1] / "top.lss", "-O0", "--", "--cycles", "1").err


def total(cache: Path) -> int:
    return sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())


@seldom
@pytest.mark.parametrize("damaged", sampled(["much\n", "", "-5\n", None], 4, 1))
def test_sizes_are_added_up_and_looked_at_anew_when_in_doubt(damaged: str | None, machine, cached, tmp_path: Path) -> None:
    """A build does not look at every entry, only at the numbers of those before it."""
    cache, sizes = tmp_path / "cache", tmp_path / "cache" / "sizes"
    run = ["-O0", "--", "--cycles", "1"]
    cached("run", machine("one") / "top.lss", *run)
    assert 0.8 * total(cache) < sum(map(int, sizes.read_text().split())) <= total(cache)
    limit = total(cache)
    (cache / "limit").write_text(str(limit))
    sizes.write_text("1\n")  # wrong: what was there is believed to be small
    cached("run", machine("two") / "top.lss", *run)
    assert total(cache) > limit * 3 // 2
    sizes.unlink()
    if damaged is not None:
        sizes.write_text(damaged)
    cached("run", machine("three") / "top.lss", *run)
    assert total(cache) < limit * 3 // 2 and int(sizes.read_text()) <= total(cache)


@seldom
def test_a_cache_may_be_as_large_as_its_limit(machine, cached, tmp_path: Path) -> None:
    """Not a byte larger: then what was used last stays, and something goes."""
    cache, folders = tmp_path / "cache", [machine("one"), machine("two")]
    left = []
    for less in (None, 0, 1):
        if less is not None:
            shutil.rmtree(cache)
            cached("cache", "--limit", f"{left[0] - less} B")
        for folder in folders:
            (cache / "sizes").unlink(missing_ok=True)  # so that each entry is looked at
            cached("run", folder / "top.lss", "-O0", "--", "--cycles", "1")
        left.append(int((cache / "sizes").read_text()))
    assert left[0] == left[1] > left[2]


@seldom
def test_a_build_outlives_any_limit(machine, cached) -> None:
    cached("cache", "--limit", "1 B")
    done = cached("run", machine() / "top.lss", "-O0", "--", "--cycles", "3", "--print", "a.n")
    assert "a.n = 3\n" in done.out


@seldom
def test_several_builds_share_a_small_cache(build_dir: Path, machine, cached, tmp_path: Path) -> None:
    cached("cache", "--limit", "300 KiB")
    folders = [machine(f"machine{n}") for n in range(4)]
    env = {**os.environ, "LSS_CACHE": str(tmp_path / "cache")}
    for _ in range(2):
        builds = [
            subprocess.Popen([build_dir / "bin/lss", "run", "-O0", folder / "top.lss", "--", "--cycles", "3"], env=env)
            for folder in folders
        ]
        assert [build.wait() for build in builds] == [0] * len(folders)
    assert not list((tmp_path / "cache").glob("tmp/*"))


def test_the_command(machine, cached, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert cached("cache").out == f"{cache}\n0.0 MiB in 0 objects and 0 simulators; at most 2 GiB\n"
    cached("run", machine() / "top.lss", "-O0", "--", "--cycles", "1")
    (cache / "mine.txt").write_text("not of this cache")
    prefix = re.search(r'"%s/(.+?)%', (Path(__file__).resolve().parents[2] / "lss/runtime/engine/variant.c").read_text())[1]
    (cache / f"{prefix}0123456789abcdef-1").write_text("a variant that was killed before it ran")
    assert "in 1 objects and 1 simulators; at most 2 GiB\n" in cached("cache", "show").out
    assert cached("cache", "clean", "--limit=3MiB").out == ""
    assert cached("cache").out == f"{cache}\n0.0 MiB in 0 objects and 0 simulators; at most 3 MiB\n"
    assert sorted(path.name for path in cache.iterdir()) == ["limit", "lock", "mine.txt", "sizes"]
    sizes = ("3", "much", "-1 B", "1.5 B", "3 ms", "9e30 GiB", "1..5 B", "B", "3 B B", "")
    for arguments in (["empty"], ["--limit"], ["show", "clean"], *(["--limit", size] for size in sizes)):
        done = cached("cache", *arguments, ok=False)
        assert (done.status, done.err.count("\n")) == (2, 1)
    assert "--limit SIZE" in cached("cache", "--help").out


@pytest.mark.parametrize(
    ("limit", "why"),
    [("-v 150000", "it ran out of memory"), ("-f 4", "File too large; LSS_CACHE names another place")],
)
def test_a_compiler_without_room_is_one_line(limit: str, why: str, build_dir: Path, machine, tmp_path: Path) -> None:
    env = {**os.environ, "LSS_CACHE": str(tmp_path / "cache")}
    command = ["sh", "-c", f'ulimit {limit}; exec "$0" build -O0 top.lss -o sim', build_dir / "bin" / "lss"]
    done = subprocess.run(command, cwd=machine(), env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
    assert done.stderr.startswith("lss: ") and done.stderr.endswith(f": {why}\n")


def test_a_linker_without_room_is_one_line(build_dir: Path, machine, cached, tmp_path: Path) -> None:
    folder = machine()
    cached("build", "-O0", "top.lss", "-o", "sim", cwd=folder)
    before = (folder / "sim").read_bytes()
    command = ["sh", "-c", 'ulimit -f 100; exec "$0" build -O0 top.lss -o sim', build_dir / "bin" / "lss"]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "LSS_CACHE": str(tmp_path / "cache")}, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
    assert done.stderr.startswith("lss: cannot link sim: ") and "`ulimit -f`" in done.stderr
    assert (folder / "sim").read_bytes() == before and not list(folder.glob("sim?*"))


def test_the_driver_is_queried_once_about_linking(machine, cached, tmp_path: Path) -> None:
    def build() -> tuple[int, bytes]:
        done = cached("build", "-O0", "top.lss", "-o", "sim", cwd=folder)
        return done.err.count("asking about linking"), (folder / "sim").read_bytes()

    folder = machine()
    asked, linked = build()
    assert asked == 1 and build() == (0, linked)
    (reply,) = (tmp_path / "cache").glob("*.link")
    words = reply.read_text()
    reply.write_text(words.replace("crtbeginS.o", "moved.o"))
    assert build() == (1, linked) and reply.read_text() == words  # what is damaged is asked again
    moved = words.replace("crtbeginS.o", "moved.o")
    reply.write_text(moved)
    reply.with_suffix(".link.seal").write_text(hashlib.sha256(moved.encode()).hexdigest() + "\n")
    assert build() == (0, linked)  # the driver still knows where the libraries are


def test_a_killed_compiler_is_one_line(build_dir: Path, machine, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "clang-22").write_text("#!/bin/sh\nkill -9 $$\n")
    (tools / "clang-22").chmod(0o755)
    env = {**os.environ, "LSS_CACHE": str(tmp_path / "cache"), "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(
        [build_dir / "bin" / "lss", "build", "top.lss", "-o", "sim"],
        cwd=machine(),
        env=env,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
    assert done.stderr.endswith("compiling root_0: it was killed, most likely because memory ran out\n")
