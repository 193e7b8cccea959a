"""When, where and by what a page was written: provenance.json beside it.

Pages, tables and figures say nothing of this, so that the same study gives the same bytes wherever and whenever it ran.
"""

import json
import os
import platform
import shlex
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from harness.run import compiler, files

NAME = "provenance.json"


def write(out: Path, build: Path, **more: int) -> None:
    """Writes it; `more`: what else there is to say of this page, such as how many runs were made."""
    version = "unknown"
    with suppress(compiler.CompilerError):
        version = compiler.lss(build, "--version").strip()
    known = {
        "written": datetime.now(UTC).isoformat(timespec="seconds"), "host": platform.node(),
        "system": platform.platform(), "processors": os.cpu_count(), "python": platform.python_version(),
        "compiler": version, "command": shlex.join(sys.orig_argv), "folder": str(Path.cwd()), **more,
    }  # fmt: skip
    files.write(out / NAME, json.dumps(known, indent=1) + "\n")
