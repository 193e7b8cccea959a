"""What the report of an error says a processor executed: loops in each other, expanded."""

import re


def told(report: str) -> list[int]:
    """The addresses of a report, loops in each other as often as it says."""
    loops: list[tuple[int, int, list[int]]] = [(0, 1, [])]  # indentation of the line that begins each, how often, what is in it

    def end(indent: int) -> None:
        while len(loops) > 1 and loops[-1][0] >= indent:
            _, times, body = loops.pop()
            loops[-1][2].extend(body * times)

    for line in report[report.index("how it came here") :].splitlines()[1:]:
        if begins := re.match(r"( +)(?:at least )?(\d+) times:$", line):
            end(len(begins[1]))
            loops.append((len(begins[1]), int(begins[2]), []))
        elif shown := re.match(r"( +)([0-9a-f]{8})(?: to ([0-9a-f]{8}), \d+ instruction|  )", line):
            end(len(shown[1]))
            loops[-1][2].extend(range(int(shown[2], 16), int(shown[3] or shown[2], 16) + 4, 4))
    end(0)
    return loops[0][2]
