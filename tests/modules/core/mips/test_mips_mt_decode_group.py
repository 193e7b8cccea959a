"""mips_mt_decode_group: what the MT ASE adds is executed alone, with its operands; all else as without."""

import pytest

from tests.modules.core.mips.test_mips_system_decode_group import SERIAL, decode_alone
from tests.modules.harness import Bench

# Fields rs, rt, rd of the word; why it cannot be committed like others, the registers read and written.
THREADS = {
    "mftr": ((0, 9, 10), "system", [0, 0, 0], 10),
    "mttr": ((0, 9, 10), "system", [0, 9, 0], 0),
    "dmt": ((0, 9, 0), "system", [0, 0, 0], 9),
    "emt": ((0, 9, 0), "system", [0, 0, 0], 9),
    "dvpe": ((0, 9, 0), "system", [0, 0, 0], 9),
    "evpe": ((0, 9, 0), "system", [0, 0, 0], 9),
    "yield": ((8, 0, 10), "system", [8, 0, 0], 10),
}


@pytest.mark.parametrize("name", [*THREADS, "mtc0", "sc", "syscall"])
def test_what_is_executed_alone(name: str, bench: Bench) -> None:
    decode_alone(bench, "mips_mt_decode_group", name, *(THREADS.get(name) or SERIAL[name]))
