"""The kit as users build it, which `make test` tries, and with the address and the undefined-behaviour sanitizer, which takes
minutes to build and several times as long to run: `make soak` tries that."""

import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.isa.programs import tool
from tests.tree import found

ROOT = Path(__file__).resolve().parent.parent
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
LIBRARIES = ("glib-2.0", "libdw", "libelf", "libzstd")


@dataclass(frozen=True)
class Kit:
    """One of the two; build is the folder of the plain one, and make(folder, file, "NAME=VALUE") the fixture `made`."""

    build: Path
    sanitized: bool
    make: Callable[..., Path]

    def made(self, name: str) -> Path:
        """A file below the build folder, brought up to date."""
        return self.make(self.build / "sanitize", name, "SANITIZE=1") if self.sanitized else self.make(self.build, name)

    @cached_property
    def lss(self) -> Path:
        return self.made("bin/lss") if self.sanitized else self.build / "bin/lss"

    @property
    def options(self) -> list[str]:
        """Of `lss build`: what its simulators need to have sanitizers too."""
        return ["--sanitize"] if self.sanitized else []

    def program(self, source: Path, parts: Iterable[str], output: Path, *flags: str) -> Path:
        """Compiles a C file with these parts of emulib (mips/system*.c)."""
        emulib = ROOT / "emulib"
        linked = [*SANITIZERS, *found(emulib, *parts)] if self.sanitized else [self.build / "lib/libemulib.a"]
        libraries = subprocess.run(["pkg-config", "--cflags", "--libs", *LIBRARIES], capture_output=True, text=True, check=True).stdout.split()
        command = [tool("clang"), "-std=gnu11", "-O0", "-gline-tables-only", "-Wall", "-Wextra", "-Werror", *flags, f"-I{emulib}", f"-I{self.build}/gen/emulib"]
        subprocess.run([*command, source, *linked, *libraries, "-o", output], check=True)
        return output
