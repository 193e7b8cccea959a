"""lss build --pgo: clang optimises for what runs of an instrumented simulator did, and the results stay what they were."""

from pathlib import Path

import pytest

from tests.sample import sampled, seldom

pytestmark = pytest.mark.optimised

MACHINE = """
instance producer : source;
instance middle[4] : pipe;
instance consumer : sink { ready = 0.5; };
producer.out -> middle[0].in : uint32;
for (i = 1; i < 4; i = i + 1) middle[i - 1].out -> middle[i].in;
middle[3].out -> consumer.in;
"""
TRAINING = "--cycles 5000 --set producer.script=items"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.lss").write_text(MACHINE)
    (tmp_path / "items").write_text("1 1\n2 2\n")
    return tmp_path


@pytest.fixture
def build(lss, folder: Path):
    """Builds with profiles of these runs; what is returned is how it ended."""

    def build(*runs: str, to: str = "sim", options: tuple[str, ...] = (), ok: bool = True):
        words = [word for run in runs for word in ("--pgo", run)]
        return lss(
            "build",
            "m.lss",
            "-o",
            to,
            *options,
            *words,
            cwd=folder,
            ok=ok,
            env={"LSS_CACHE": str(folder / "cache"), "LSS_TIMES": "1"},
        )

    return build


def profiles(folder: Path) -> set[str]:
    return {path.name for path in (folder / "cache").glob("*.profile")}


def test_results_stay_and_the_profile_is_kept(build, folder: Path, run_sim) -> None:
    build(to="plain")
    assert "compiling root_0" in build(TRAINING, "--cycles 100", to="guided").err
    (first,) = profiles(folder)
    runs = [run_sim(folder / name, "--quiet", "--cycles", "30000") for name in ("plain", "guided")]
    assert runs[0].stats["statistics"] == runs[1].stats["statistics"]
    assert "compiling" not in build(TRAINING, "--cycles 100", to="again").err
    assert (folder / "again").read_bytes() == (folder / "guided").read_bytes() != (folder / "plain").read_bytes()
    assert profiles(folder) == {first}


@seldom
def test_it_is_made_anew_when_a_run_or_what_it_reads_changes(build, folder: Path) -> None:
    build(TRAINING)
    first = profiles(folder)
    (folder / "items").write_text("1 4\n9 5\n")
    build(TRAINING)
    second = profiles(folder)
    assert len(second) == 2 and first < second
    build(TRAINING + " --seed 2")
    assert len(profiles(folder)) == 3
    (damaged,) = first
    (folder / "cache" / damaged).write_bytes(b"")
    (folder / "items").write_text("1 1\n2 2\n")
    build(TRAINING)
    assert (folder / "cache" / damaged).read_bytes()


@pytest.mark.parametrize(
    ("run", "options", "status", "says"),
    sampled([
        (
            "--cycles 10 --set producer.script=nothing",
            (),
            1,
            "lss: the run of --pgo `--cycles 10 --set producer.script=nothing` failed: ",
        ),
        ("--cycles '10", (), 2, "lss: the run of --pgo `--cycles '10` cannot be read: "),
        ("--cycles 10", ("--debug",), 2, "lss build: --pgo optimises, so it does not go with --debug; "),
        ("--cycles 10", ("--sanitize",), 2, "lss build: --pgo optimises, so it does not go with --sanitize; "),
        ("--cycles 10", ("-O", "0"), 2, "lss build: --pgo optimises, so it does not go with -O 0; "),
        ("--list", (), 3, "lss: the run of --pgo `--list` left no profile"),
    ], 3),
)
def test_what_cannot_be_is_one_line(
    build, folder: Path, run: str, options: tuple[str, ...], status: int, says: str
) -> None:
    done = build(run, options=options, ok=False)
    lines = [
        line for line in done.err.splitlines() if not line.endswith(("  to C", "linking", "headers")) and "compiling" not in line
    ]
    assert done.status == status and len(lines) == 1 and lines[0].startswith(says), done.err
    assert not (folder / "sim").exists()
