#!/usr/bin/env python3
"""Stands in for the compiler in tests of the harness: `build` writes a simulator that copies frames through, `export`
a netlist of what it names, `graph` a small picture.  -D fault=... builds a simulator that does one thing wrong.  It exists in tests only."""

import json
import stat
import sys
from pathlib import Path

SIMULATOR = """#!{python}
import json, sys
sys.path.insert(0, {root!r})
from harness.net import packets
arguments = [word for word in sys.argv[1:] if word != "--quiet"]
options = dict(zip(arguments[::2], arguments[1::2]))
fault, dropped = {fault!r}, 0
if fault == "crash":
    sys.exit("sim: error: nic.cpu: unmapped address 0xdeadbeef")
for came, went in ("--send", "--sent"), ("--receive", "--received"):
    if came in options:
        given = [p.data.ljust(60, b"\\0") for p in packets.read(options[came])]
        frames = [packets.Packet(10000 * (k + 1), data) for k, data in enumerate(given)]
        if fault in ("lose", "drop"):
            del frames[5]
            dropped += fault == "drop"
        if fault == "damage":
            frames[3] = packets.Packet(frames[3].time, frames[3].data[:50] + b"!" + frames[3].data[51:])
        packets.write(options[went], frames)
statistics = [dict(path="nic.cpu", name="steps", value=300, unit="steps", description=""),
    dict(path="nic.mac", name="counted_drops", value=dropped, unit="frames", description=""),
    dict(path="checker", name="latency_received_median", value=12345, unit="ns", description="")]
if options.get("--mode") == "correlated":
    trips = dict(round_trips_host=4, round_trips_wire=3, round_trip_host_median=25500)
    statistics += [dict(path="traffic_replay", name=k, value=v, unit="", description="") for k, v in trips.items()]
if "--cycles" in options:  # frames of its own: 25 of them each way, in as many cycles of 10 ns as asked for
    window, payload = 10 * int(options["--cycles"]), 25 * int(options["--payload"])
    counts = dict(window=window, window_sent_payload=payload, window_received_payload=payload, sent=25, received=25)
    statistics += [dict(path="checker", name=k, value=v, unit="", description="") for k, v in counts.items()]
with open(options["--stats"], "w") as file:
    json.dump(dict(manifest=dict(machine="/x/machine.lss", seed=1, parameters=dict(overhead="30 percent")), run=dict(cycles=dict(a=9, b=1000000)), statistics=statistics), file)
"""


STRINGS, NUMBERS = ["send", "receive", "sent", "received", "firmware", "mode", "rate"], [
    "ratio_send", "ratio_receive", "payload", "count", "think", "x"]  # fmt: skip
STATISTICS = {
    "nic.cpu": ["steps"], "nic.mac": ["counted_drops"],
    "checker": ["latency_received_median", "window", "window_sent_payload", "window_received_payload", "sent", "received"],
    "traffic_replay": ["round_trips_host", "round_trips_wire", "round_trip_host_median"],
}  # fmt: skip


def netlist() -> dict:
    parameters = [dict(name=name, type="string", runtime=True, value="") for name in STRINGS]
    parameters += [dict(name=name, type="int", runtime=True, value=0) for name in NUMBERS]
    parameters += [dict(name=name, type="int", runtime=False, value=1) for name in ("processors", "speed", "fault")]
    instances = [dict(path="", module="fake", parameters=parameters, state=[], events=[])]
    for path, names in STATISTICS.items():
        state = [dict(name=name, kind="statistic", dimensions=[]) for name in names]
        instances.append(dict(path=path, module="fake", parameters=[], state=state, events=[]))
    return dict(instances=instances, connections=[], clocks=[dict(name="a", hertz_numerator=88_000_000, hertz_denominator=1)])


def main() -> None:
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "packets":  # all captures here are of the one kind that it would write
        sys.stdout.buffer.write(Path(arguments[0]).read_bytes())
        return
    out = Path(arguments[arguments.index("-o") + 1])
    if command == "build":
        fault = next((word[6:] for word in arguments if word.startswith("fault=")), "")
        root = str(Path(__file__).resolve().parents[2])
        out.write_text(SIMULATOR.format(python=sys.executable, root=root, fault=fault))
        out.chmod(out.stat().st_mode | stat.S_IXUSR)
    elif command == "export":
        out.write_text(json.dumps(netlist()))
    elif command == "graph":
        box = '<rect id="a" width="90" height="40" fill="#eee"/><use href="#a"/>'
        link = f'<a href="{out.stem}.cpu.svg"><text x="9" y="25">cpu</text></a>'
        picture = (
            f'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 40">{box}{link}</svg>'
        )
        out.write_text(picture)
        out.with_name(f"{out.stem}.cpu.svg").write_text(picture)


main()
