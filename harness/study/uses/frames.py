"""The plug-in `frames`: Ethernet frames through a NIC, every one compared with what went in, and throughput.

Its measures are `rate` (UDP payload in Mb/s, from the packet files that the run wrote), `theory` (what the link carries
at most), `percent` (one of the other), `frames` and `drops`.  What goes in is generated traffic of `frames` frames of
the axes `payload` and `ratio` (or keys of these names), a capture that is cut in two at the MAC address `host`, or,
with neither, what the machine makes and checks itself.  Ratios in which the link cannot carry as much as was measured
in another one are not run.
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness import quantity
from harness.net import check, packets, theory, traffic
from harness.report import plot
from harness.run.store import Result, RunError, content_name, digest
from harness.study import uses
from harness.study.machine import resolve
from harness.study.points import Point
from harness.study.study_file import Figure, Measure, StudyError
from harness.study.uses import Files, throughput

KEYS = {
    "frames": int, "warmup": int, "link_rate": float, "payload": int, "ratio": str, "capture": str, "host": str,
}  # fmt: skip
RESENT = "resent"  # the statistic of frames that were lost and sent again
DROPS = "counted_drops"  # the checker's statistic of frames that the modelled hardware counted as dropped
IGNORED = "counted_ignored"  # and of those that came while it did not receive
EVERY_FRAMES = "frames(100)"  # `sample.every` of a time series in frames


@lru_cache(maxsize=64)
def _throughput(*arguments: Any) -> throughput.Throughput:
    """What files of a result, which never change, contain: a point's measures and its errors use the same."""
    return throughput.throughput_of_files(*arguments)


class Plugin(uses.Use):
    """Traffic, checks and throughput of a NIC."""

    parts = throughput.PARTS

    def __post_init__(self) -> None:
        if isinstance(rate := self.keys.get("link_rate"), str):
            try:
                self.keys = {**self.keys, "link_rate": float(quantity.quantity(rate, "rate"))}
            except quantity.NumberError as error:
                raise StudyError(f"{self.place}: link_rate: {error}") from None
        for key, value in self.keys.items():
            if key not in KEYS:
                raise StudyError(f"{self.place}: unknown key {key!r}; known are {', '.join(KEYS)}")
            if not isinstance(value, KEYS[key] if KEYS[key] is not float else int | float):
                raise StudyError(f"{self.place}: {key!r} has the wrong type")
            if isinstance(value, int | float) and not 0 <= value < math.inf:
                raise StudyError(f"{self.place}: {key} {value}: expected 0 or more")
        self.link_rate = float(self.keys.get("link_rate", theory.GIGABIT))
        if self.link_rate == 0:
            raise StudyError(f"{self.place}: link_rate 0: expected a rate of more than 0, such as \"1 Gb/s\"")
        self.warmup, self.count = self.keys.get("warmup", 0), self.keys.get("frames", 0)
        self.capture, self.host = self.keys.get("capture"), self.keys.get("host", "02:00:00:00:00:01")
        try:
            packets.ethernet_address(self.host)
        except packets.PacketFileError as error:
            raise StudyError(f"{self.place}: {error}") from error
        self.frames_out: dict[Path, int] = {}  # of each result that was checked
        self.measured = {
            "rate": Measure("", "Mb/s", "UDP payload throughput", "more", limit="theory"),
            "theory": Measure("", "Mb/s", "link limit"),
            "percent": Measure("", "%", "share of the link's maximum", "more", limit=100.0),
            "frames": Measure("", "", "frames delivered"),
            "drops": Measure("", "", "frames dropped", "less"),
        }
        if self.capture:
            self.measured = {name: self.measured[name] for name in ("frames", "drops")}

    def axes(self) -> Sequence[str]:
        return () if self.capture else ("payload", "ratio")

    def _payload(self, point: Point) -> int:
        return point.coordinates.get("payload", self.keys.get("payload", 0))

    def _ratio(self, point: Point) -> str:
        return point.coordinates.get("ratio", self.keys.get("ratio", "1:1"))

    def _ways(self, point: Point) -> int:
        """How many directions of the link the theoretical maximum counts."""
        return 2 if all(traffic.parse_ratio(self._ratio(point))) else 1

    def check_points(self, points: Sequence[Point]) -> None:
        if self.capture:
            if not resolve(self.capture, self.path, self.build).is_file():
                raise StudyError(f"{self.place}: capture: there is no {self.capture}")
            return
        if self.count and self.count <= self.warmup:
            left = f"{self.count} frames leave nothing to measure after {self.warmup} of warm-up"
            raise StudyError(f"{self.place}: {left}")
        for point in points:
            payload = self._payload(point)
            if not isinstance(payload, int) or not traffic.SMALLEST <= payload <= traffic.LARGEST:
                sizes = f"sizes are {traffic.SMALLEST} to {traffic.LARGEST} bytes"
                raise StudyError(f"{self.place}: {point.name}: payload {payload}: {sizes}")
            try:
                traffic.parse_ratio(self._ratio(point))
            except (traffic.TrafficError, TypeError) as error:
                raise StudyError(f"{self.place}: {point.name}: {error}") from error

    def settings(self, point: Point) -> Mapping[str, Any]:
        if self.capture:
            return {}
        sends, receives = traffic.parse_ratio(self._ratio(point))
        own = {"option.ratio_send": sends, "option.ratio_receive": receives}
        return own if self.count else {"option.payload": self._payload(point), **own}

    def files(self, point: Point) -> Files:
        if self.capture:
            capture = resolve(self.capture, self.path, self.build)
            folder = self.build / "traffic" / content_name(digest(capture), self.host)
            send, receive = folder / "send.pcap", folder / "receive.pcap"
            if not (send.exists() and receive.exists()):
                try:
                    send, receive = packets.split(capture, self.host, folder, self.build)
                except packets.PacketFileError as error:
                    raise StudyError(f"{self.place}: {error}") from error
        elif self.count:
            payload, ratio = self._payload(point), self._ratio(point)
            folder = self.build / "traffic" / f"{payload}-{ratio.replace(':', 'to')}-{self.count}"
            made = traffic.written(folder) or traffic.generate(folder, str(payload), self.count, ratio)
            send, receive = made.send, made.receive
        else:
            return Files()
        both = [("--send", send, "--sent", "sent.pcap"), ("--receive", receive, "--received", "received.pcap")]
        return Files(
            tuple((option, file) for option, file, _, _ in both if file),
            tuple((option, name) for _, file, option, name in both if file),
        )

    def check(self, point: Point, result: Result) -> Sequence[str]:
        """Compares the frames that came out with those that went in; the machine's own checker did so already."""
        if not result.job.outputs:
            return ()
        drops, resent, ignored = (int(result.total(name)) for name in (DROPS, RESENT, IGNORED))
        given, correlated = dict(result.job.inputs), "correlated" in result.job.plain
        missing, came_out, wrong = 0, 0, []
        for came, went, side in ("--send", "--sent", "sent"), ("--receive", "--received", "received"):
            verdict = check.check_files(given.get(came), result.output(went), correlated, resent)
            missing, came_out = missing + verdict.missing, came_out + verdict.frames_out
            wrong += [f"{side} frames are wrong: {line}" for line in verdict.wrong]
        if missing + resent != drops + ignored and not wrong:
            again = f" and {resent} were sent again" if resent else ""
            counted = f"the hardware counted {drops} drops and ignored {ignored}"
            wrong.append(f"{missing} frames are missing{again}, {counted}")
        self.frames_out[result.directory] = came_out
        return wrong

    def _carried(self, point: Point, result: Result) -> throughput.Throughput:
        turn, files = traffic.parse_ratio(self._ratio(point)), (result.output("--sent"), result.output("--received"))
        try:
            return _throughput(*files, self.warmup, turn)
        except throughput.MeasureError as error:
            raise RunError(str(error)) from error

    def measures(self, point: Point, result: Result) -> Mapping[str, float]:
        drops = int(result.total(DROPS))
        if not result.job.outputs:  # the machine makes the frames and measures
            payload = sum(result.total(f"window_{way}_payload") for way in ("sent", "received"))
            rate = 8e9 * payload / max(result.total("window"), 1)
            frames = int(result.total("sent") + result.total("received"))
        else:
            frames = self.frames_out[result.directory]  # check() came before
            if self.capture:
                return {"frames": frames, "drops": drops}
            rate = self._carried(point, result).payload_rate
        most = self._ways(point) * theory.payload_rate(self._payload(point), self.link_rate)
        return {"rate": rate / 1e6, "theory": most / 1e6, "percent": 100 * rate / most, "frames": frames,
                "drops": drops}  # fmt: skip

    def errors(self, point: Point, result: Result) -> Mapping[str, float]:
        if not result.job.outputs or self.capture:
            return {}
        spread = self._carried(point, result).uncertainty
        most = self._ways(point) * theory.payload_rate(self._payload(point), self.link_rate)
        return {"rate": spread / 1e6, "percent": 100 * spread / most}

    def samples(self, every: str) -> bool:
        return every == EVERY_FRAMES

    def time_series(self, point: Point, result: Result) -> Mapping[str, list[tuple[float, float]]]:
        if not (self.study.sample and self.samples(self.study.sample.every)):
            return {}
        files = [result.output(option) for option in ("--sent", "--received")]
        convergence = throughput.convergence(*(list(packets.read(file)) if file else [] for file in files))
        return {"rate": [(frames, rate / 1e6) for frames, rate in convergence]}

    def _bound(self, point: Point) -> float:
        """What the link can carry in this ratio, UDP payload in Mb/s."""
        sends, receives = traffic.parse_ratio(self._ratio(point))
        one_way = theory.payload_rate(self._payload(point), self.link_rate) / 1e6
        return one_way * (sends + receives) / max(sends, receives)

    def _place(self, point: Point) -> tuple:
        return tuple((axis, value) for axis, value in point.coordinates.items() if axis != "ratio")

    def _of_the_best(self) -> bool:
        return any(axis.name == "ratio" and axis.best for axis in self.study.axis) and not self.capture

    def waves(self, points: Sequence[Point]) -> Sequence[Sequence[Point]]:
        """The ratios in which the link carries most come first."""
        if not self._of_the_best():
            return [points]
        most: dict[tuple, float] = {}
        for point in points:
            place = self._place(point)
            most[place] = max(most.get(place, 0.0), self._bound(point))
        first = [point for point in points if self._bound(point) == most[self._place(point)]]
        return [first, [point for point in points if point not in first]]

    def stop(self, point: Point, done: Mapping[Point, Mapping[str, float]]) -> bool:
        if not self._of_the_best():
            return False
        rates = [measures["rate"] for one, measures in done.items() if self._place(one) == self._place(point)
                 and "rate" in measures]  # fmt: skip
        return bool(rates) and self._bound(point) <= max(rates)

    def limits(self, figure: Figure, points: Sequence[Point]) -> Sequence[plot.Line]:
        """What the link carries, over the payload."""
        if figure.x != "payload" or figure.y != "rate" or figure.relative_to is not None or self.capture:
            return []
        sizes = list(range(traffic.SMALLEST, traffic.LARGEST + 1, 2))
        lines = []
        for ways in sorted({self._ways(point) for point in points}):
            ways_text = "one direction" if ways == 1 else "both directions"
            rates = [ways * theory.payload_rate(size, self.link_rate) / 1e6 for size in sizes]
            lines.append(plot.Line(f"link limit, {ways_text}", sizes, rates))
        return lines

    def mark(self, figure: Figure, entry: Mapping[str, Any], measures: Mapping[str, float]) -> float | None:
        """A percentage of the theoretical maximum as a rate."""
        known = figure.y == "rate" and "percent" in entry and "theory" in measures
        return entry["percent"] / 100 * measures["theory"] if known else None

    def shown_files(self, point: Point, result: Result) -> Mapping[str, Path]:
        if not self.capture:
            return {}
        files = {"sent": result.output("--sent"), "received": result.output("--received")}
        return {f"point-{point.number + 1}-{side}.pcap": file for side, file in files.items() if file}

    def record(self, point: Point, measures: Mapping[str, float], manifest: Mapping[str, Any]) -> Mapping[str, Any]:
        constants = manifest.get("constants", {})
        return {
            "processors": int(constants.get("processors", 0)),
            "sram_frequency": int(constants.get("sram_frequency", constants.get("cpu_frequency", 0))),
            "payload_bytes": self._payload(point), "direction": "duplex" if self._ways(point) == 2 else "receive",
            "mbps": round(measures["rate"], 2), "theory_mbps": round(measures["theory"], 2),
            "percent": round(measures["percent"], 2), "frames": measures["frames"], "drops": measures["drops"],
            "damaged": 0,  # a damaged frame ended the run, or check() refused its files
        }  # fmt: skip
