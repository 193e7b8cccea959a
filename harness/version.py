"""The version of the kit: the file lss/VERSION of the source tree, of which an installed copy has its own."""

from importlib import metadata
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "lss" / "VERSION"


def version() -> str:
    """That of a Python package, where the harness is installed as one."""
    return FILE.read_text().strip() if FILE.is_file() else metadata.version("spinach-sim")
