"""Builds the C program in a folder for a machine: flags, start-up, linker script and header come from the machine.

The folder holds .c and .S files and a file `machine` that names the netlist (and -D options), beside it or in the tree
of the kit.  A linker script (.ld) or start-up code (.S) of its own takes the place of the default.  A file `shares`
adds sources or the linker script of the kit's firmware and flags, as in firmware/build.mk.
"""

import argparse
import fcntl
import glob
import json
import os
import runpy
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.run import compiler, process, standard
from harness.run.used_files import FOLDER, ClashError, UsedFiles

TEMPLATE = "template"  # what a new firmware is copied from
HOME = Path(__file__).resolve().parents[1]  # the source tree, or PREFIX/share/spinach


class FirmwareError(Exception):
    """Something in the folder, the machine or the program that keeps it from being built."""


def tool(name: str) -> str:
    """An LLVM tool, by the names of its versions."""
    for suffix in "-22", "-19", "":
        if path := shutil.which(name + suffix):
            return path
    raise FirmwareError(f"there is no {name} on the PATH: install LLVM's")


def run(*command: str | Path) -> str:
    """Runs a tool; its messages are the error."""
    done = process.run(command)
    if done.status:
        raise FirmwareError((done.err or done.out).strip() or f"{command[0]}: status {done.status}")
    return done.err


def flags(name: str) -> list[str]:
    """The flags of a file in firmware/flags."""
    return shlex.split((HOME / "firmware" / "flags" / name).read_text())


def machine_arguments(folder: Path) -> list[str]:
    """The netlist and the options of the folder's file `machine`; the netlist is beside it or in the kit."""
    named = folder / "machine"
    if not named.is_file():
        raise FirmwareError(
            f"{named}: there is no such file; it names the machine: examples/single_core/single_core.lss"
        )
    try:
        arguments = shlex.split(named.read_text(errors="surrogateescape"), comments=True)
    except ValueError as error:
        raise FirmwareError(f"{named}: {str(error).lower()}") from None
    if not arguments:
        raise FirmwareError(f"{named}: it names no machine")
    for place in folder, HOME:
        if (place / arguments[0]).is_file():
            return [str((place / arguments[0]).resolve()), *arguments[1:]]
    raise FirmwareError(f"{named}: there is no {arguments[0]}, neither below {folder} nor below {HOME}")


def instruction_set(describe: Path, export: dict, machine: str) -> str:
    """That of the machine's cores, by the tool that describes machines."""
    found = runpy.run_path(str(describe))["instruction_sets"](export)
    if len(found) != 1:
        files = sorted((HOME / "firmware" / "start").glob("*.S"))
        known = " or ".join(f"{path.stem}_decode" for path in files)
        raise FirmwareError(
            f"{machine}: its cores are of {'no known' if not found else 'several'} instruction sets ({known})"
        )
    return found[0]


def shared(folder: Path) -> tuple[list[Path], list[str]]:
    """The files of the kit's firmware and the flags that the folder's file `shares` names; -I counts from the kit."""
    named = folder / "shares"
    if not named.is_file():
        return [], []
    files, options = [], []
    try:
        words = shlex.split(named.read_text(errors="surrogateescape"))
    except ValueError as error:
        raise FirmwareError(f"{named}: {str(error).lower()}") from None
    for word in words:
        if word.startswith("-"):
            options.append(f"-I{HOME / word[2:]}" if word.startswith("-I") else word)
            continue
        found = sorted(glob.glob(word, root_dir=HOME / "firmware"))
        if not found:
            raise FirmwareError(f"{named}: nothing below {HOME / 'firmware'} is called {word}")
        files += [HOME / "firmware" / name for name in found]
    return files, options


def begin(folder: Path) -> None:
    """Makes the folder: a firmware to begin with, which works."""
    if folder.exists():
        raise FirmwareError(f"{folder}: it exists already, and is left as it is")
    template = HOME / "firmware" / TEMPLATE
    part = folder.with_name(f"{folder.name}.part")
    shutil.copytree(template, part)
    (part / f"{TEMPLATE}.ld").rename(part / f"{folder.resolve().name}.ld")
    part.rename(folder)


def work_folder(folder: Path) -> str:
    """Below --out: of this program alone, so that programs of several machines may be built in one folder at a time."""
    return f"obj/{folder.resolve().name.replace('%', '_')}"  # clang writes nothing below a folder with a % in its name


@contextmanager
def only_build_in(work: Path) -> Iterator[None]:
    """Makes the folder, and keeps others from building there until the end."""
    work.mkdir(parents=True, exist_ok=True)
    opened = os.open(work, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def spare_sources(source: Path, out: Path) -> None:
    """What is built lies in no place that a file of the program has."""
    used = UsedFiles()
    name = source.resolve().name
    used.writes_in(out, [f"{name}.elf", f"{name}.map", f"{name}.sym", f"{work_folder(source)}/*"], "--out")
    for path in source.iterdir() if source.is_dir() else ():
        used.reads(path, "the program")


def build(folder: Path, out: Path, build_dir: Path, sanitize: bool = False) -> Path:
    """Builds the folder's program, with checks for undefined behaviour if asked to; returns the ELF file in `out`."""
    if "%" in str(out):
        raise FirmwareError(f"{out}: clang and ld.lld write nothing below a folder with a % in its name")
    if not folder.is_dir():
        raise FirmwareError(f"{folder}: there is no such folder")
    with only_build_in(out / work_folder(folder)):
        return build_alone(folder, out, build_dir, sanitize)


def build_alone(folder: Path, out: Path, build_dir: Path, sanitize: bool) -> Path:
    """The same, while no other build uses the work folder."""
    sources = sorted(path for path in folder.iterdir() if path.suffix in (".c", ".S"))
    if not any(path.suffix == ".c" for path in sources):
        raise FirmwareError(f"{folder}: there is no .c file")
    others, extra = shared(folder)
    sources += [path for path in others if path.suffix != ".ld"]
    arguments = machine_arguments(folder)
    work = out / work_folder(folder)
    try:
        compiler.lss(build_dir, "export", *arguments, "-o", work / "machine.json")
    except compiler.CompilerError as error:
        raise FirmwareError(str(error)) from None
    describe = HOME / "firmware" / "tools" / "describe.py"
    isa = instruction_set(describe, json.loads((work / "machine.json").read_text()), arguments[0])
    run(sys.executable, "-B", describe, work / "machine.json", work)
    if not any(path.suffix == ".S" for path in sources):
        sources.append(HOME / "firmware" / "start" / f"{isa}.S")
    checked = set(sources) if sanitize else set()
    sources += sorted((HOME / "firmware" / "lib").glob("*.c"))
    if sanitize:
        sources.append(HOME / "firmware" / "sanitize" / "handlers.c")
    scripts = sorted(folder.glob("*.ld")) or [path for path in others if path.suffix == ".ld"]
    scripts = scripts or [HOME / "firmware" / "start" / "program.ld"]
    if len(scripts) > 1:
        raise FirmwareError(f"{folder}: there are several linker scripts: {', '.join(path.name for path in scripts)}")
    objects = []
    for number, source in enumerate(sources):
        objects.append(work / str(number) / f"{source.name}.o")  # linker scripts name objects by their sources
        objects[-1].parent.mkdir(exist_ok=True)
        checks = flags("sanitize") if source in checked and source.suffix == ".c" else []
        include = [f"-I{work}", f"-I{folder}", f"-I{HOME / 'firmware' / 'lib'}", *extra]
        options = [*flags(isa), *flags("common"), *checks, *include]
        said = run(tool("clang"), *options, "-c", source, "-o", objects[-1])
        sys.stderr.write(said)
    elf = out / f"{folder.resolve().name}.elf"
    script = ["-T", scripts[0], "-L", work, "-Map", elf.with_suffix(".map")]
    run(tool("ld.lld"), *flags(f"link_{isa}"), *flags("link"), *script, *objects, "-o", elf)
    symbols = process.run([tool("llvm-nm"), "-n", "-S", elf])
    if symbols.status:
        raise FirmwareError(symbols.err.strip() or f"llvm-nm: status {symbols.status}")
    elf.with_suffix(".sym").write_text(symbols.out)
    return elf


def main() -> int:
    """The command: spinach firmware [--new] [--sanitize] FOLDER."""
    parser = argparse.ArgumentParser(prog="spinach firmware", description="Build a folder's C program for a machine.")
    parser.add_argument("folder", type=FOLDER, help="holds .c files and a file `machine` that names the netlist")
    parser.add_argument(
        "--new", action="store_true", help="make FOLDER first: a firmware of the 10 Gb/s NIC to begin with"
    )
    parser.add_argument(
        "--out", type=FOLDER, default=Path("."), help="where NAME.elf, .map and .sym go, with obj/NAME/ next to them"
    )
    parser.add_argument(
        "--sanitize", action="store_true", help="end the run at what C leaves undefined, as an index out of bounds"
    )
    parser.add_argument(
        "--build", type=FOLDER, default=Path("build"), help="build folder of a source tree, for its lss"
    )
    options = parser.parse_args()
    try:
        if options.new:
            begin(options.folder)
        spare_sources(options.folder, options.out)
        print(build(options.folder, options.out, options.build, options.sanitize))
    except ClashError as error:
        print(f"spinach firmware: {error}", file=sys.stderr)
        return 2
    except FirmwareError as error:
        print(f"spinach firmware: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if standard.lost():
            return 1  # which is said at the end
        print(f"spinach firmware: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(standard.guard("spinach firmware", main))
