"""Several studies at once, for a report about all of them: those that were requested are made, the others are shown as
far as they were made before."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path

from harness.run.progress import Progress
from harness.study import look, model, runner
from harness.study.look import Look
from harness.study.model import Outcome
from harness.study.study_file import StudyError, read
from harness.study.uses import Examined


@dataclass
class Collection:
    """What all studies came to, by name, and what second looks at their points came to."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    examined: dict[str, list[tuple[Look, Examined]]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)


def chosen(paths: Sequence[Path], names: Sequence[str]) -> dict[str, tuple[Path, bool]]:
    """Every study by name, and whether it is made now: those named, else all that are not made by name only."""
    known: dict[str, Path] = {}
    for path in paths:
        for other in known.values():
            if path.stem == other.stem or model.name_of(path) == model.name_of(other):
                raise StudyError(f"{path}: {other} is a study of this name already")
        known[path.stem] = path
    for name in names:
        if name not in known:
            raise StudyError(f"there is no study {name!r}; known are {', '.join(known)}")
    return {
        name: (path, name in names if names else not read(path).run.named_only) for name, path in known.items()
    }  # fmt: skip


def run(paths: Sequence[Path], names: Sequence[str], build: Path, pool: Executor, progress: Progress) -> Collection:
    """Makes studies; what fails is listed, the rest continues."""
    collection = Collection()
    for name, (path, now) in chosen(paths, names).items():
        study = runner.prepare(path, build, progress, built_only=not now)
        if now:
            runner.build(study, progress)
        else:
            runner.find_built(study)
        outcome = collection.outcomes[name] = runner.run(study, pool, progress, before_only=not now)
        collection.failed += [f"{name}, {row.point.name}: {row.why}" for row in outcome.failed]
        looks = list(look.requested(outcome))
        if now:
            made = look.make_all(outcome, looks, progress)
            collection.failed += [f"{name}, {one.title}: {why}" for one, why in made if isinstance(why, str)]
        else:
            made = [(one, look.kept(outcome, one)) for one in looks]
        collection.examined[name] = [(one, found) for one, found in made if isinstance(found, Examined)]
    for outcome in collection.outcomes.values():
        for entry in outcome.study.file.published:
            for other in entry.get("explained", []):
                if other not in collection.outcomes:
                    raise StudyError(f"{outcome.study.path}: published: explained by {other!r}, which is no study")
    return collection
