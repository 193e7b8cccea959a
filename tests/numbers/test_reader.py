"""The reader of numbers in C, the one in Python and the language agree: on every notation, unit and refusal."""

import json
import random
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from harness import quantity
from tests.isa.programs import tool

FINE = [
    ("integer", "010", 10), ("integer", "08", 8), ("integer", "-007", -7), ("integer", "0", 0), ("integer", "-0", 0), ("integer", " 12 ", 12),
    ("integer", "1_000", 1000), ("integer", "0x10", 16), ("integer", "-0X1f", -31), ("integer", "0b101", 5), ("integer", "0x0010", 16), ("integer", "0b0011", 3),
    ("integer", "1e3", 1000), ("integer", "2.5e3", 2500), ("integer", "100e-2", 1), ("integer", "1.0", 1), ("integer", "0x7fff_ffff_ffff_ffff", 2**63 - 1),
    ("integer", "0xffffffffffffffff", -1), ("integer", "9223372036854775807", 2**63 - 1), ("integer", "-9223372036854775808", -(2**63)), ("integer", "0x1e3", 0x1E3),
    ("count", "18446744073709551615", 2**64 - 1), ("count", "0xffffffffffffffff", 2**64 - 1), ("count", "1e19", 10**19), ("count", "00", 0), ("byte", "0255", 255), ("byte", "0xff", 255),
    ("real", "007.50", 7.5), ("real", "-1e-3", -0.001), ("real", "0.1", 0.1), ("real", "1e308", 1e308), ("real", "0x10", 16.0), ("real", "4.9e-324", 5e-324), ("real", "1_0.2_5", 10.25),
    ("time", "010 ns", 10**7), ("time", "1.5ns", 1500000), ("time", "1 fs", 1), ("time", "9223 s", 9223 * 10**15), ("time", "0x10 ps", 16000), ("time", "-1 us", -(10**9)), ("time", "1e3 s", 10**18),
    ("size", "16 KiB", 16384), ("size", "1.5 KiB", 1536), ("size", "0.5 kB", 500), ("size", " 2\tGiB ", 2**31), ("rate", "1.25 GB/s", 10**10), ("rate", "010 Mb/s", 10**7),
    ("frequency", "88 MHz", 88000000), ("frequency", "1333.333333 MHz", 1333333333), ("fraction", "12.5 percent", 0.125), ("fraction", "030%", 0.3), ("fraction", "1e-07 percent", 1e-9),
    ("fraction", "-5 percent", -0.05),
]  # fmt: skip
ONE_OF = {"time": "s, ms, us, ns, ps, fs", "size": "B, KiB, MiB, GiB, TiB, kB, MB, GB", "frequency": "Hz, kHz, MHz, GHz"}
WRONG = [
    *[("integer", text, "is not a whole number") for text in ("", " ", "-", "x", "1x", "0x", "0x_", "0b", "0b2", "0b12", "1.5", "1e-1", ".5", "5.", "+5", "1e", "_1", "1 2", "0o17", "08a", "--1", "- 1", "inf", "1e-400", "0.1e0", "1,000")],
    *[("integer", text, "does not fit in 64 bits") for text in ("9223372036854775808", "-9223372036854775809", "0x10000000000000000", "1e19", "1e400", "99999999999999999999", "-0xffffffffffffffff")],
    ("count", "-1", "is negative"), ("count", "18446744073709551616", "does not fit in 64 bits"), ("byte", "0", "is not in the range 1 to 255"), ("byte", "256", "is not in the range 1 to 255"),
    *[("real", text, "is not a number") for text in ("", ".5", "5.", "nan", "inf", "0x1p3", "1e", "1 percent")],
    ("real", "1e999", "is too large for a floating-point number"),
    *[(kind, "5", f"lacks its unit; a {kind} is a number and one of {ONE_OF[kind]}") for kind in ONE_OF],
    *[(kind, "5 parsec", f"has an unknown unit; a {kind} is a number and one of {ONE_OF[kind]}") for kind in ONE_OF],
    ("time", "5 mhz", f"has an unknown unit; a time is a number and one of {ONE_OF['time']}"), ("time", "5 B", f"is a size; a time is a number and one of {ONE_OF['time']}"),
    ("time", "ns", f"does not begin with a number; a time is a number and one of {ONE_OF['time']}"), ("time", "0.5 fs", f"is finer than the base unit; a time is a number and one of {ONE_OF['time']}"),
    ("time", "9224 s", f"is too large; a time is a number and one of {ONE_OF['time']}"), ("size", "1.5 B", f"is finer than the base unit; a size is a number and one of {ONE_OF['size']}"),
    ("fraction", "0.25", "lacks its unit; a fraction is a number and percent"),
]  # fmt: skip


@pytest.fixture(scope="module")
def reader(build_dir: Path, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("reader") / "read"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "glib-2.0"], check=True, capture_output=True, text=True).stdout.split()
    subprocess.run([tool("clang"), "-I", root, root / "tests/numbers/read.c", build_dir / "lib/libspinach.a", *flags, "-o", program], check=True)
    return program


@pytest.fixture(scope="module")
def read_c(reader: Path) -> Callable[[list[tuple[str, str]]], list[str]]:
    def read(cases: list[tuple[str, str]]) -> list[str]:
        text = "".join(f"{kind}\t{text}\n" for kind, text in cases)
        lines = subprocess.run([reader], input=text, check=True, capture_output=True, text=True).stdout.splitlines()
        assert len(lines) == len(cases)
        return lines

    return read


def read_python(kind: str, text: str) -> str:
    try:
        if kind in ("real", "fraction"):
            return (quantity.real(text) if kind == "real" else float(quantity.quantity(text, kind))).hex()
        if kind in quantity.DIMENSIONS:
            return str(quantity.base(text, kind))
        return str({"integer": quantity.integer, "count": quantity.count, "byte": lambda text: quantity.count(text, 1, 255)}[kind](text))
    except quantity.NumberError as error:
        return f"! {error}"


def same(c: str, python: str) -> bool:
    """Fractions are divided once more, so their last bit may differ."""
    return c == python or (c[0] != "!" and python[0] != "!" and "p" in c and float.fromhex(c) == pytest.approx(float.fromhex(python), rel=3e-16, abs=0))


def test_what_is_a_number(read_c: Callable) -> None:
    for (kind, text, value), found in zip(FINE, read_c([(kind, text) for kind, text, _ in FINE]), strict=True):
        assert found[0] != "!" and value == (float.fromhex(found) if "p" in found else int(found)), (kind, text, found)
        assert same(found, read_python(kind, text)), (kind, text, found)


def test_what_is_none(read_c: Callable) -> None:
    for (kind, text, why), found in zip(WRONG, read_c([(kind, text) for kind, text, _ in WRONG]), strict=True):
        assert found == f'! "{text}" {why}', kind
        assert read_python(kind, text) == found, kind


def test_one_table_of_units(reader: Path) -> None:
    lines = subprocess.run([reader, "--units"], check=True, capture_output=True, text=True).stdout.splitlines()
    table = {name: (dimension, Fraction(factor)) for name, dimension, factor in (line.split("\t") for line in lines)}
    assert table == {name: (unit.dimension, unit.factor) for name, unit in quantity.UNITS.items()} and len(table) == 28


def some_number(draw: random.Random) -> str:
    """Digits of every notation, of which some are too large or make no sense."""
    digits = "".join(draw.choice("0123456789_" if i else "0123456789") for i in range(draw.randint(1, draw.choice([3, 12, 20]))))
    match draw.randint(0, 5):
        case 0:
            return digits
        case 1:
            return f"{digits}.{draw.randint(0, 10 ** draw.randint(1, 6))}"
        case 2:
            return f"{digits}e{draw.randint(-9, 12)}"
        case 3:
            return f"{digits}.{draw.randint(0, 999)}E{draw.choice('+-')}{draw.randint(0, 12)}"
        case 4:
            return f"0x{draw.getrandbits(draw.choice([4, 32, 66])):0{draw.randint(1, 6)}x}"
    return draw.choice([f"0b{draw.getrandbits(10):b}", f"{digits}x", f".{digits}", digits[:2] + " " + digits[2:], ""])


def test_both_readers_agree_on_whatever_comes(read_c: Callable) -> None:
    draw = random.Random(20)
    units = ["", *quantity.UNITS, "kb", "sec"]
    cases = []
    for _ in range(4000):
        kind = draw.choice(["integer", "count", "byte", "real", *quantity.DIMENSIONS])
        own = [name for name, unit in quantity.UNITS.items() if unit.dimension == kind]
        unit = draw.choice(own if own and draw.random() < 0.8 else units) if kind in quantity.DIMENSIONS else ""
        cases.append((kind, draw.choice(["", "", "", "-", " "]) + some_number(draw) + draw.choice(["", " "]) * bool(unit) + unit))
    fine = 0
    for (kind, text), found in zip(cases, read_c(cases), strict=True):
        python = read_python(kind, text)
        precise = "is too large or too precise" in found and python[0] == "!"
        assert precise or same(found, python), (kind, text, found, python)
        fine += found[0] != "!"
    assert fine > 1000


def test_the_language_reads_the_same(build_dir: Path, tmp_path: Path) -> None:
    """What LSS does not have are the sign `%`, and whole numbers with a point or an exponent."""
    cases = [(k, t.strip(), v) for k, t, v in FINE if k != "byte" and "%" not in t and not (k == "count" and (v > 2**63 or not t.isdecimal()))]
    cases = [(k, t, v) for k, t, v in cases if not (k == "integer" and t[:2].lower() != "0x" and ("e" in t or "." in t)) and not (k == "real" and "x" in t)]
    cases = [(k, t, v) for k, t, v in cases if v != -(2**63)]  # 9223372036854775808 is no number, so neither is its negative
    types = {"integer": "int", "count": "int", "real": "float"}
    lines = [f"parameter p{n} = {text} : {types.get(kind, kind)};\n" for n, (kind, text, _) in enumerate(cases)]
    (tmp_path / "m.lss").write_text("".join(lines) + "instance a : source; instance b : sink; a.out -> b.in : uint32;\n")
    subprocess.run([build_dir / "bin/lss", "export", "m.lss", "-o", "m.json"], cwd=tmp_path, check=True)
    top = json.loads((tmp_path / "m.json").read_text())["instances"][0]["parameters"]
    assert len(top) == len(cases) > 40
    for (kind, text, value), parameter in zip(cases, top, strict=True):
        found = parameter["value"]
        if kind in quantity.DIMENSIONS and isinstance(found, str):
            found = quantity.base(found, kind)
        assert found == pytest.approx(value, rel=1e-15), (kind, text, found)


@pytest.mark.parametrize("text", ["0b12", "0x_", "0b2", "0xg", "0b1f"])
def test_what_looks_like_a_bit_pattern_and_is_none(text: str, build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "m.lss").write_text(f"parameter p = {text} : int; instance a : source; instance b : sink; a.out -> b.in : uint32;\n")
    done = subprocess.run([build_dir / "bin/lss", "check", "--netlist-only", "m.lss"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and f'"{text}" is not a number' in done.stderr.splitlines()[0]
