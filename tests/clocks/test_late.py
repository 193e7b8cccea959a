"""Lines and buses after months: where time is kept in fractions of a tick, a machine that starts late has the same times as one that
starts at once."""

import subprocess
from pathlib import Path

import pytest

from harness.net import packets
from tests.modules.assists import noise, pcap
from tests.modules.harness import read_items

# The finest ticks that clocks can have: 250 GHz is 2^64 thousandths of a tick in 20 hours, and ends after 427 days.
FINEST = 250 * 10**9
HERTZ = 10**8
LAST = (2**63 - 1) // (FINEST // HERTZ)  # cycle
EARLY = 1000
STARTS = {"a day": 86_400 * HERTZ, "the 20th day": 20 * 86_400 * HERTZ, "a year": 365 * 86_400 * HERTZ, "the end": LAST - 30_000}

MACHINE = """
import bus_types;
import ethernet_types;
import memory_types;
clock fine = 250 GHz;
clock clk = 100 MHz;
instance awake : source on fine { count = 0; };
instance asleep : sink on fine;
awake.out -> asleep.in : uint32;

instance ready[3] : source on clk { count = 1; };
instance near[3] : ethernet on clk { rate = 999999937 b/s; wait_for_ready = false; };
instance far[3] : ethernet on clk { rate = 999999937 b/s; };
instance between[5] : queue on clk { depth = 512; };
for (i = 0; i < 3; i = i + 1) {
  ready[i].out -> near[i].ready : bool;
  near[i].to_device -> between[i].in;
  between[i].out -> far[i].from_device;
  far[i].to_device -> near[i].from_device;
}
near[0].payload = 18; near[0].count = 20;
near[1].payload = 77; near[1].count = 20; near[1].mode = "rate"; near[1].offered = 333333333 b/s;
near[2].mode = "timed";

instance station_ready : source on clk { count = 1; };
instance one : station on clk { mac = "02:00:00:00:00:01"; address = "192.0.2.1"; udp_to = "192.0.2.2"; udp_payload = 40; udp_rate = 333333333 b/s; udp_count = 20; udp_port = 7; };
instance other : station on clk { response = 333 ns; };
station_ready.out -> one.ready : bool;
one.to_device -> between[3].in;
between[3].out -> other.from_device;
other.to_device -> between[4].in;
between[4].out -> one.from_device;

instance host : host_bus on clk { memory_size = 64 KiB; bus_frequency = 66666667 Hz; read_latency = 123 ns; };
instance bus : pci_bus on clk { bus_frequency = 33333333 Hz; read_latency = 77 ns; };
instance ask[2] : source on clk { count = 0; };
instance give[2] : source on clk { count = 0; };
instance got[2] : sink on clk;
bus.memory -> host.bus;
for (i = 0; i < 2; i = i + 1) {
  ask[i].out -> bus.master[i].request : bus_request;
  give[i].out -> bus.master[i].write_data : bus_beat;
  bus.master[i].read_data -> got[i].in : bus_beat;
}
"""


@pytest.fixture(scope="module")
def machine(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("late")
    (folder / "m.lss").write_text(MACHINE)
    subprocess.run([build_dir / "bin" / "lss", "build", "-O0", "m.lss", "-o", "sim"], cwd=folder, check=True)
    return folder / "sim"


def happened(machine: Path, run_sim, folder: Path, start: int) -> dict:
    """All that the machine does within 25,000 cycles, by cycles or nanoseconds since its start."""
    transfers = [f"{{write={write} address={0x1000 + 8 * i} length={length}}}" for i, (write, length) in enumerate(((0, 100), (1, 64), (0, 1), (0, 333)))]
    (folder / "ready").write_text(f"{start} 1\n")
    (folder / "stamped").write_bytes(pcap([noise(60 + i, i) for i in range(20)], 3333))
    values = {"near[2].input": "stamped", "station_ready.script": "ready", "one.capture": "one", "other.capture": "other"}
    for i in range(3):
        values |= {f"ready[{i}].script": "ready", f"far[{i}].output": f"far{i}"}
    for i in range(2):
        (folder / f"ask{i}").write_text("".join(f"{start + i + 700 * k} {transfer}\n" for k, transfer in enumerate(transfers)))
        (folder / f"give{i}").write_text("".join(f"{start} {{bytes={k} count=8 last={int(k == 7)}}}\n" for k in range(8)))
        values |= {f"ask[{i}].script": f"ask{i}", f"give[{i}].script": f"give{i}", f"got[{i}].record": f"got{i}"}
    options = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
    done = run_sim(machine, "--quiet", "--cycles", f"clk:{start + 25_000}", *options, timeout=30)
    files = {name: [(one.time - start * 10**9 // HERTZ, one.data) for one in packets.read(folder / name)] for name in ("far0", "far1", "far2", "one", "other")}
    beats = {f"got{i}": [(cycle - start, item) for cycle, item in read_items(folder / f"got{i}")] for i in range(2)}
    counts = [one for one in done.stats["statistics"] if one["name"] != "last"]  # which is a cycle
    return files | beats | {"statistics": counts}


def test_a_machine_that_starts_late_has_the_same_times(machine, run_sim, tmp_path) -> None:
    early = happened(machine, run_sim, tmp_path, EARLY)
    assert [len(early[name]) for name in ("far0", "far1", "far2")] == [20, 20, 20]
    assert len(early["one"]) == len(early["other"]) == 2 + 20  # ARP and UDP
    assert min(len(early[f"got{i}"]) for i in range(2)) > 50
    for name, start in STARTS.items():
        late = happened(machine, run_sim, tmp_path, start)
        for what in early:
            assert late[what] == early[what], (name, what)


def test_stamps_months_apart(machine, run_sim, tmp_path) -> None:
    """A packet file is played at its times, however far apart they are; the run that would have to go past the last instant fails."""
    days = 86_400 * 10**9
    stamps = [0, 1, 19 * days, 100 * days + 7, 400 * days, 400 * days + 1]
    packets.write(tmp_path / "stamped", [packets.Packet(stamp, noise(100, i)) for i, stamp in enumerate(stamps)])
    (tmp_path / "ready").write_text("0 1\n")
    options = [word for one in ("near[2].input=stamped", "ready[2].script=ready", "far[2].output=far") for word in ("--set", one)]
    run_sim(machine, "--quiet", "--time", f"{401 * 86_400} s", *options, timeout=30)
    seen = [one.time for one in packets.read(tmp_path / "far")]
    assert seen[0] < 2000 and [time - seen[0] for time in (seen[2], seen[4])] == [stamps[2], stamps[4]]
    assert 0 <= seen[3] - seen[0] - stamps[3] < 10  # it is not at the beginning of a cycle
    assert seen[5] - seen[4] == seen[1] - seen[0] == pytest.approx(8 * (100 + 24), abs=8 * 8)

    packets.write(tmp_path / "stamped", [packets.Packet(0, noise(100)), packets.Packet(2**32 * 10**9 - 1, noise(100))])
    done = run_sim(machine, "--quiet", *options, ok=False, timeout=30)
    assert "error: simulated time ends at" in done.err and len(list(packets.read(tmp_path / "far"))) == 1
