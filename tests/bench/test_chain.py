"""All implementations of the handshake chain move the same items."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import chain_speed  # noqa: E402


@pytest.mark.parametrize("variant", chain_speed.VARIANTS)
def test_chain_agrees_with_scheduled_c(build_dir: Path, variant: str) -> None:
    simulator = chain_speed.build_lss(build_dir, variant)
    result = chain_speed.check_agreement(build_dir, variant, simulator)
    assert result["items"] > 10000
