"""A folder of a user: the chain of the README, and the compiler that was built."""

from pathlib import Path

import pytest

CHAIN = """\
instance producer : source { count = 1000; };
instance delay    : pipe   { depth = 4; };
instance consumer : sink;

producer.out -> delay.in : uint32;
delay.out -> consumer.in;
"""


@pytest.fixture
def here(tmp_path: Path, build_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with chain.lss."""
    (tmp_path / "chain.lss").write_text(CHAIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPINACH_LSS", str(build_dir / "bin" / "lss"))
    return tmp_path
