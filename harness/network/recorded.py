"""Events that the parts of a run record, and the timeline of all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.network import settings
from harness.network.network_file import Network, NetworkError, Part
from harness.run import files, patterns

NAME = "events.trace"  # in the folder of each part
# Events of the words for kinds of events (lss/attach/record.c); all others are patterns of paths.
FRAMES = "arrived played received sent drop done delivered released missed begun dropped playing arriving"
KINDS = {"instructions": {"retire"}, "memory": {"access"}, "frames": set(FRAMES.split())}
PORTS = "ports "  # and a pattern of them


@cache
def _events(simulator: Path) -> list[tuple[str, str]]:
    """The paths and names of the events of a kind, as in its representative."""
    return [(one["path"], one["name"]) for one in settings.listed(simulator)["events"]]


def _has(part: Part, what: str) -> bool:
    events = [(settings.renamed(path, part.renamed), name) for path, name in _events(part.simulator)]
    if what in KINDS:
        return any(name in KINDS[what] for _, name in events)
    matches = patterns.compiled(what).fullmatch
    return any(matches(f"{path}.{name}") for path, name in events)


@dataclass(frozen=True)
class Recording:
    """What parts record for a timeline."""

    file: Path  # that is written
    events: Sequence[str]
    links: Path | None  # folder with records of links

    def words(self, network: Network, out: Path) -> list[list[str]]:
        """The options of each part."""
        wanted: list[list[str]] = [[] for _ in network.parts]
        for what in self.events:
            if what.startswith(PORTS):
                found = settings.owners(network, what) or list(range(len(wanted)))
            else:
                found = [number for number, part in enumerate(network.parts) if _has(part, what)]
            if not found:
                raise NetworkError(f'--record-events: "{what}" matches no event of any part of {network.machine}')
            for number in found:
                wanted[number] += ["--record-events", what]
        traces = [str(out / part.path / NAME) for part in network.parts]
        return [["--record", trace, *words] if words else [] for trace, words in zip(traces, wanted, strict=True)]

    def write(self, network: Network, out: Path) -> None:
        """Merges what the parts have recorded."""
        from harness.trace import link_record, timeline  # their packages take a while
        from harness.trace.events import Events, EventsError

        traces = [(part.path, out / part.path / NAME) for part in network.parts]
        names = [self.links / f"{link.path}.link" for link in network.links] if self.links else []
        try:
            links = [link_record.read(name) for name in names]
            parts = [(path, Events(trace, Path("build"))) for path, trace in traces if trace.exists()]
            files.write_bytes(self.file, timeline.encode_parts(parts, links))
        except (OSError, EventsError) as error:
            raise NetworkError(f"--timeline {self.file}: {error}") from None


def forget(network: Network, out: Path) -> None:
    """Removes what an earlier run has recorded."""
    for part in network.parts:
        (out / part.path / NAME).unlink(missing_ok=True)
