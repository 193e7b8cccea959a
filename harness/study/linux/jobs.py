"""The job of a point: the files of a folder, which a guest at its prompt runs; its results, beside those of the study.

The archive of a folder lies in the build directory under a name for its content, so a result of the store counts as
long as the folder's files are the same.
"""

import hashlib
import io
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.job import archive, pack, unpack
from harness.run import files, store
from harness.run.store import Result, RunError
from harness.study import machine
from harness.study.study_file import StudyError
from harness.study.uses import Files

if TYPE_CHECKING:
    from harness.study.machine import Machine
    from harness.study.model import Outcome, Study

SETTING = "job"
FOLDER = "jobs"  # of archives in the build directory, of results in that of the page
RESULT = "--job_result"
RESERVED = ("option.job", "option.job_result", "option.console_script", "option.console")


def check(study: "Study", settings: Mapping[str, Any], known: "Machine", where: str) -> None:
    """Refuses a job that cannot run."""
    folder = settings[SETTING]
    if not isinstance(folder, str):
        raise StudyError(f"{where}: job: a folder is expected, not {folder!r}")
    if SETTING not in known.top:
        raise StudyError(f'{where}: job: {known.path.name} has no disk of jobs (set "D.jobs" = true)')
    if study.file.start is None:
        raise StudyError(f"{where}: job: it needs a `start` at the prompt of a guest")
    if set_twice := [one for one in RESERVED if one in settings or one in study.file.text]:
        raise StudyError(f"{where}: job: it sets {set_twice[0]!r} itself (leave this setting out)")
    try:
        pack.check(machine.resolve(folder, study.path, study.build))
    except archive.JobError as error:
        raise StudyError(f"{where}: job: {error}") from error


def given(study: "Study", folder: str) -> tuple[Files, list[dict[str, str]]]:
    """The files of the run that carries out a folder's job, and those of the folder."""
    image = io.BytesIO()
    try:
        packed = pack.pack(machine.resolve(folder, study.path, study.build), image)
    except archive.JobError as error:
        raise StudyError(f"{study.path}: job: {error}") from error
    data = image.getvalue()
    place = study.build / FOLDER / f"{hashlib.sha256(data).hexdigest()[:24]}.tar"
    script = study.build / "texts" / store.content_name(archive.SCRIPT)
    for path, content in (place, data), (script, archive.SCRIPT.encode()):
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_bytes(path, content)
    ends = study.file.window.to in (None, "end")  # else the run ends with the window
    outputs = ((RESULT, "job.tar"),) if ends else ()
    return Files(inputs=(("--job", place), ("--console_script", script)), outputs=outputs), packed


def results(result: Result) -> dict[str, Any]:
    """What a run left: its files, and what was left out of them."""
    image = result.output(RESULT)
    if not image:
        return {}
    with tempfile.TemporaryDirectory() as place:
        found = _unpacked(image, Path(place) / archive.OUT)
    return {"out": found.files, "left_out": found.left_out}


def _unpacked(image: Path, place: Path) -> unpack.Results:
    try:
        found = unpack.unpack(image, place)
    except archive.JobError as error:
        raise RunError(str(error)) from error
    if found.failure or found.status:
        raise RunError(f"the job ended with status {found.status} {archive.shown(found.failure)}".rstrip())
    return found


def write(outcome: "Outcome", out: Path) -> None:
    """Writes the results of each point to a folder with its number; those that are there go."""
    images = {
        row.point.number: image
        for row in outcome.every
        if row.job and row.result and (image := row.result.output(RESULT))
    }
    for old in (out / FOLDER).glob("[0-9]*"):
        shutil.rmtree(old, ignore_errors=True)
    for number, image in images.items():
        (out / FOLDER).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out / FOLDER, prefix=".part") as part:
            _unpacked(image, Path(part) / archive.OUT)
            (Path(part) / archive.OUT).rename(out / FOLDER / str(number))
