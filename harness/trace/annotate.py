"""Source lines with what they cost, and the instructions that they became."""

from collections import defaultdict
from pathlib import Path

from harness.trace.profile import Core, Cost, Place, Profile, ProfileError, shown

WIDTHS = (11, 11, 9)


def _source(file: str, roots: list[Path]) -> list[str]:
    """The lines of a source file; none where it is not found."""
    for root in [Path(), *roots]:
        if (root / file).is_file():
            return (root / file).read_text(errors="replace").splitlines()
    return []


def _most(cost: Cost, causes: list[str]) -> str:
    """What the cycles of a line are spent for, beside issuing it, if that is much."""
    waits = [(n, cause) for n, cause in zip(cost.cycles[1:], causes[1:], strict=True) if n]
    if not waits:
        return ""
    most, cause = max(waits)
    return f"{cause} {100 * most // max(cost.total, 1)}%"


def _line(cost: Cost | None, causes: list[str], text: str) -> str:
    numbers = [f"{cost.total:,}", f"{cost.instructions:,}", _most(cost, causes)] if cost else ["", "", ""]
    left = f"{numbers[0]:>{WIDTHS[0]}} {numbers[1]:>{WIDTHS[1]}} {numbers[2]:<22}"
    return f"{left} | {text}".rstrip()


Lines = dict[int, list[Place]]


def _parts(places: list[Place]) -> dict[tuple[str, str], Lines]:
    """Places by file, inlined function in it ("": none) and line."""
    found: dict[tuple[str, str], Lines] = defaultdict(lambda: defaultdict(list))
    for place in places:
        inlined = (place.innermost or "") if place.inlined else ""
        found[place.file or "", inlined][place.line].append(place)
    return found


def _file(name: str, inlined: str, lines: Lines, causes: list[str], roots: list[Path], code: bool) -> list[str]:
    text, out = _source(name, roots), [f"{name or '(no source line)'}{': ' if inlined else ''}{inlined}"]
    for number in range(min(lines), max(lines) + 1):
        places = lines.get(number, [])
        if not places and not text:
            continue
        cost = Cost()
        for place in places:
            cost.add(place)
        shown = text[number - 1] if 0 < number <= len(text) else ""
        out.append(_line(cost if places else None, causes, f"{number:5} {shown}"))
        for place in places if code or not text else []:
            one = Cost()
            one.add(place)
            out.append(_line(one, causes, f"        {place.pc:08x}  {place.text}"))
    return out


def function(profile: Profile, cores: list[Core], name: str, roots: list[Path], code: bool) -> str:
    """A function on each processor that executed it, inlined or not; then what is inlined in it."""
    out = []
    for core in cores:
        places = [one for one in core.places if name in (one.function, *(inner.function for inner in one.inlined))]
        if not places:
            continue
        out.append(f"{core.path}: {name}")
        out.append(f"{'cycles':>{WIDTHS[0]}} {'instructions':>{WIDTHS[1]}} {'most waited for':<22} |")
        own = shown(name)
        parts = sorted(_parts(places).items(), key=lambda part: (part[0][1] not in ("", own), part[0]))
        for (file, inlined), lines in parts:
            out += _file(file, inlined, lines, profile.causes, roots, code)
        out.append("")
    if not out:
        raise ProfileError(f'no processor executed a function "{name}"')
    return "\n".join(out)
