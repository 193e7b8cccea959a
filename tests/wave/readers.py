"""Waves read back by readers that know nothing of Spinach: vcdvcd and pylibfst (GTKWave's own library)."""

import signal
from pathlib import Path

import pylibfst

BROKEN_PIPE = signal.getsignal(signal.SIGPIPE)
from vcdvcd import VCDVCD  # noqa: E402

signal.signal(signal.SIGPIPE, BROKEN_PIPE)  # which vcdvcd makes end the process: any test that writes to a closed pipe

# Per variable its changes, (time, bits), without zeros ahead; the names have no ranges.
Wave = dict[str, list[tuple[int, str]]]


def plain(bits: str) -> str:
    """Bits as one reader or the other gives them, in one form."""
    if set(bits) & set("xz"):
        return bits[0]
    return bits.lstrip("0") or "0"


def read_vcd(path: Path) -> Wave:
    signals = VCDVCD(str(path)).data.values()
    return {
        name.removesuffix(f"[{int(s.size) - 1}:0]"): [(time, plain(bits)) for time, bits in s.tv]
        for s in signals
        for name in s.references
    }


def read_fst(path: Path) -> Wave:
    lib = pylibfst.lib
    context = lib.fstReaderOpen(str(path).encode())
    assert context != pylibfst.ffi.NULL, f"{path} is no FST"
    _, signals = pylibfst.get_scopes_signals2(context)
    lib.fstReaderSetFacProcessMaskAll(context)
    changes: dict[int, list[tuple[int, str]]] = {}

    def change(_, time: int, handle: int, value) -> None:
        changes.setdefault(handle, []).append((time, plain(pylibfst.helpers.string(value))))

    pylibfst.fstReaderIterBlocks(context, change)
    waves = {name.split(" ")[0]: changes.get(s.handle, []) for name, s in signals.by_name.items()}
    lib.fstReaderClose(context)
    return waves


def at(wave: Wave, name: str, time: int) -> str:
    """The value that a variable has at a time."""
    return [bits for when, bits in wave[name] if when <= time][-1]


def number(wave: Wave, name: str, time: int) -> int:
    return int(at(wave, name, time), 2)
