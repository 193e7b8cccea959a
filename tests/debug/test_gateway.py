"""A machine with a gateway under gdb: when it goes back, what came is there again, and nothing is sent twice."""

import re
import subprocess
from pathlib import Path

from tests.modules.assists import beats, noise
from tests.modules.wire.stations import with_fcs
from tests.modules.wire.test_gateway import echoed, peer

MACHINE = """
import single_core;
import ethernet_types;
clock wire_clk = 100 MHz;
instance computer : single_core;
instance device : source on wire_clk;
instance dut : gateway on wire_clk { poll = 1 us; idle_poll = 2 us; };
instance out : sink on wire_clk;
device.out -> dut.from_device : wire_beat(64);
dut.to_device -> out.in;
"""
SENT = [noise(60, n) for n in range(4)]


def test_back_over_frames(build_dir: Path, root: Path, firmware, debugged, tmp_path: Path) -> None:
    (tmp_path / "machine.lss").write_text(MACHINE)
    (tmp_path / "script").write_text("".join(line for n, one in enumerate(SENT) for line in beats(with_fcs(one), 1 + 200 * n)))
    words = ["-I", root / "examples/single_core", "-O0", "-o", tmp_path / "sim"]
    subprocess.run([build_dir / "bin/lss", "build", tmp_path / "machine.lss", *words], check=True)
    options = ["--set", f"computer.program={firmware('hello')}", "--set", "device.script=script", "--set", "out.record=out", "--stats", "stats.json"]
    with peer(lambda number, data: [echoed(data)]) as (other, place):
        run = debugged(tmp_path / "sim", *options, "--gateway", f"dut={place}")
        text = run.gdb("break main\ncontinue\nstepi 1000\nmonitor statistics dut\nreverse-stepi 900\nmonitor statistics dut\nstepi 900\nmonitor statistics dut\ndelete\ncontinue")
        assert run.end()[0] == 0, text
    assert other.came == SENT
    counts = [[int(number) for number in re.findall(rf"^dut.{name} = (\d+) ", text, re.M)] for name in ("frames_received", "frames_sent")]
    for there, back, again in counts:
        assert back < there == again, text
    assert counts[1][0] > 0, text
