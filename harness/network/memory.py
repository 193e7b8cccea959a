"""Whether a network needs more memory than there is."""

from pathlib import Path

from harness.network.network_file import Network

OWN = 3 << 20  # bytes that a process needs apart from the state of its part
UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20))


def _text(size: int) -> str:
    unit, scale = next(((unit, scale) for unit, scale in UNITS if size >= scale), UNITS[-1])
    return f"{size / scale:.1f} {unit}" if size < 10 * scale else f"{size / scale:.0f} {unit}"


def available(file: Path = Path("/proc/meminfo")) -> int | None:
    """Bytes of memory that processes may still take; None: the system does not say."""
    try:
        lines = dict(line.split(":", 1) for line in file.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) << 10
    except (OSError, LookupError, ValueError):
        return None


def shortage(network: Network, free: int | None) -> str | None:
    """The warning, if there is one to give."""
    sizes = [part.memory + OWN for part in network.parts]
    if free is None or sum(sizes) <= free:
        return None
    size = _text(max(sizes)) if len(set(sizes)) == 1 else f"up to {_text(max(sizes))}"
    needed = f"{len(sizes)} parts of {size} may need {_text(sum(sizes))} of memory"
    return f"{needed}, and this computer has {_text(free)} free"
