"""The page of a network while its parts run, and when they have ended."""

import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.network import page
from harness.network.network_file import Network, NetworkError
from harness.network.series import Samples, together
from harness.network.topology import Counts, of_parts

PERIOD = 2.0  # seconds from one page to the next, at least
REST = 20  # times as long as the last page took


class Live:
    """Writes the page from the samples of all parts, if they take any."""

    def __init__(self, network: Network, out: Path, file: Path) -> None:
        self._topology, self._title, self._file = of_parts(network), network.machine, file
        self._samples = [Samples(out / part.path) for part in network.parts]
        self._next, self._shown = time.monotonic() + PERIOD, 0
        if not file.absolute().parent.is_dir():
            raise NetworkError(f"--picture {file}: there is no folder {file.absolute().parent}")

    def _counts(self) -> list[Counts]:
        return [Counts(self._topology, rows, seconds) for seconds, rows in together(self._samples)]

    def look(self) -> None:
        """Writes the page anew, if all parts have taken another sample."""
        began = time.monotonic()
        if began < self._next:
            return
        for samples in self._samples:
            samples.follow()
        counts = self._counts()
        if len(counts) > self._shown:
            self._shown = len(counts)
            with contextlib.suppress(OSError):  # the last page, which is written at the end, reports it
                page.write(self._file, self._topology, self._title, counts, running=True)
        now = time.monotonic()
        self._next = now + max(PERIOD, REST * (now - began))

    def finish(self, documents: Sequence[Mapping[str, Any]], merged: Mapping[str, Any]) -> None:
        """Writes the page of the whole run."""
        for samples, document in zip(self._samples, documents, strict=True):
            samples.take(document)
        end = Counts(self._topology, merged["statistics"], merged["run"]["simulated_ns"] * 1e-9)
        counts = [one for one in self._counts() if one.seconds < end.seconds * (1 - 1e-12)]
        try:
            page.write(self._file, self._topology, self._title, [*counts, end])
        except OSError as error:
            raise NetworkError(f"--picture {self._file}: {error.strerror}") from None
