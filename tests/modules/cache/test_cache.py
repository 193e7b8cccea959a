"""cache: what is refused at compile time; how it behaves is tested with its controller in test_cache_controller.py."""

import pytest

from tests.modules.harness import Bench


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("line = 20;", "a line must be 1 to 64 times the width of the memory (8 bytes), not 20 bytes"),
        ("line = 4;", "a line must be 1 to 64 times the width of the memory (8 bytes), not 4 bytes"),
        ("line = 1024;", "a line must be 1 to 64 times the width of the memory (8 bytes), not 1024 bytes"),
        ("sets = 0;", "`sets` is 0, outside its range, at least 1"),
        ("ways = 257;", "`ways` is 257, outside its range, 1 to 256"),
        ("width = 64; fill_width = 32;", "fill_width must be a multiple of 8 and not less than width"),
    ],
)
def test_impossible_caches_are_refused(bench: Bench, body: str, words: str) -> None:
    width = 64 if "width = 64" in body else 32
    text = (
        f"instance s : memory_source {{ width = {width}; }}; instance c : cache {{ {body} }};"
        "instance m : memory_state { size = 1 KiB; }; s.memory -> c.in; c.memory -> m.port;"
    )
    assert words in bench.refuse(text)


def test_a_write_back_cache_that_snoops_knows_its_own_writes(bench: Bench) -> None:
    text = (
        "instance s : memory_source { width = 32; }; instance c : cache { write_back = true; };"
        "instance m : memory_state { size = 1 KiB; }; s.memory -> c.in; c.memory -> m.port; m.snoop -> c.snoop;"
    )
    assert "must recognize its own writes: set its userpoint is_own_write" in bench.refuse(text)
