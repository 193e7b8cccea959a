"""The plug-in `bottleneck`: what limits a point of the study, and what waits for it; docs/bottleneck.md."""

from harness.bottleneck import NetlistError, measure, page
from harness.run.store import RunError
from harness.study import uses, windows
from harness.study.study_file import StudyError


class Plugin(uses.Use):
    """`examine = { with = "bottleneck" }`; what comes before `window.from`, a time, is left out."""

    def __post_init__(self) -> None:
        for key in self.keys:
            if key != "where":
                raise StudyError(f"{self.place}: unknown key {key!r}; known is where")

    def examine(self, looked: uses.Looked) -> uses.Examined:
        arguments = [*looked.job.arguments()]
        defines = [f"{name}={value}" for name, value in looked.machine.defines]
        begin = self.study.window.begin
        after = begin if windows.femtoseconds(begin) is not None else ""
        try:
            analysis = measure.examine(looked.machine.path, self.build, looked.folder, defines, arguments, after,
                                       looked.machine.include)  # fmt: skip
            body = page.fragment(analysis, looked.title, f"{looked.folder.name}-")
        except (measure.MeasureError, NetlistError, OSError) as error:
            raise RunError(str(error)) from error
        return uses.Examined(analysis.verdict, body)
