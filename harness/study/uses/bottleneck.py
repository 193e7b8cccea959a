"""The plug-in `bottleneck`: what limits a point of the study, and what waits for it; docs/bottleneck.md."""

from harness.bottleneck import NetlistError, measure, page
from harness.run.store import RunError, without
from harness.study import uses
from harness.study.study_file import StudyError

OF_WINDOW = ("--measure-from", "--measure-to", "--record-from", "--record-to", "--sample")


class Plugin(uses.Use):
    """`examine = { with = "bottleneck" }`; of a study with a window, in that window."""

    def __post_init__(self) -> None:
        for key in self.keys:
            if key != "where":
                raise StudyError(f"{self.place}: unknown key {key!r}; known is where")

    def examine(self, looked: uses.Looked) -> uses.Examined:
        # What a run writes of its window belongs to files that this one does not have.
        arguments = without(looked.job.arguments(), OF_WINDOW)
        defines = [f"{name}={value}" for name, value in looked.machine.defines]
        begin, to = self.study.window.begin or "", self.study.window.to or ""
        if begin and begin == to:
            raise RunError(f"the bottleneck between two events of one condition, {begin}, cannot be examined")
        title = looked.title
        if begin or to:
            title += f", from {begin or 'the beginning'} to {to if to not in ('', 'end') else 'the end'}"
        try:
            analysis = measure.examine(looked.machine.path, self.build, looked.folder, defines, arguments, begin,
                                       looked.machine.include)  # fmt: skip
            body = page.fragment(analysis, title, f"{looked.folder.name}-")
        except (measure.MeasureError, NetlistError, OSError) as error:
            raise RunError(str(error)) from error
        return uses.Examined(analysis.verdict, body)
