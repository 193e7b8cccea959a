"""Right input: every file of good/ is understood as its .txt file says.

The text is a digest of the exported netlist: instances with their clocks, parameters, ports, state and functions, then
connections, collectors, derived statistics and debug views.  A line `// -D name=value` of an input gives options.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.kits import Kit
from tests.sample import sampled
from tests.tree import found

HERE = Path(__file__).resolve().parent
INPUTS = found(HERE / "good", "*.lss")


def typed(fields: list[dict]) -> str:
    return ", ".join(f"{field['type']} {field['name']}" for field in fields)


def within(bounds: dict) -> str:
    return f" in {bounds.get('least', '')}..{bounds.get('most', '')}" if "least" in bounds or "most" in bounds else ""


def member(m: dict) -> str:
    if "first" in m:
        return f"{m['type']} {m['name']} : {m['first']}..{m['first'] + m['bits'] - 1}" + within(m)
    return f"{m['type']} {m['name']}" + within(m) if "type" in m else f"{m['name']} = {m['value']}"


def type_lines(one: dict) -> list[str]:
    members = [member(m) for m in one.get("fields") or one.get("enumerators") or []]
    return [f"type {one['name']} : {one['kind']}" + (f" {{ {'; '.join(members)} }}" if members else "")]


def instance_lines(one: dict) -> list[str]:
    comment = f" /** {one['doc']} */" if one["doc"] else ""
    yield f"instance {one['path'] or '(top)'} : {one['module']} on {one['clock']}{comment}"
    for p in one["parameters"]:
        kind = f"runtime {'init ' if p.get('init') else ''}parameter" if p["runtime"] else "parameter"
        alias = f" (is {p['alias_of']})" if "alias_of" in p else ""
        yield f"  {kind} {p['name']} = {json.dumps(p['value'])} : {p['type']}{alias}"
    for u in one["userpoints"]:
        given = "replaced" if u["replaced"] else "default"
        yield f"  userpoint {u['name']}({typed(u['arguments'])}) -> {u['result']} = <<<{u['code']}>>> {given}"
    for p in one["ports"]:
        width = f" x{p['width']}" if "width" in p else ""
        yield f"  {p['direction']}port {p['name']} : {p['type']}{width}"
    for s in one["state"]:
        kind = {"behaviour": "state", "statistic": "stat"}.get(s["kind"], f"state {s['kind']}")
        plain = [r for r in s.get("ranges", []) if "member" not in r and "modulo" not in r]
        own = "".join(within(r) for r in plain)
        yield f"  {kind} {s['type']} {s['name']}" + "".join(f"[{n}]" for n in s["dimensions"]) + own
        for r in s.get("ranges", []):
            if r not in plain:
                name = f".{r['member']}" if "member" in r else s["name"]
                yield f"    {name}" + (f" % {r['modulo']}" if "modulo" in r else "") + within(r)
    for v in one["locals"]:
        yield f"  local {v['type']} {v['name']}" + (f"[{v['lanes']}]" if v["lanes"] else "")
    for e in one["events"]:
        yield f"  event {e['name']}({typed(e['arguments'])})"
    for f in one["functions"]:
        lane = f"[{f['lane']}]" if "lane" in f else ""
        clock = f" on {f['clock']}" if f["clock"] != one["clock"] else ""
        signals = f" : {', '.join(f['reads'])} -> {', '.join(f['writes'])}" if f["reads"] or f["writes"] else ""
        parameter = f" of {f['parameter']}" if "parameter" in f else ""
        yield f"  {f['name']}{lane}{parameter}{signals}{clock}"


def digest(netlist: dict) -> str:
    lines = [f"clock {c['name']} = {c['hertz_numerator']}/{c['hertz_denominator']} Hz" for c in netlist["clocks"]]
    for one in netlist["types"]:
        if one["kind"] in ("struct", "enum", "packed"):
            lines += type_lines(one)
    for one in netlist["instances"]:
        lines += instance_lines(one)
    for c in netlist["connections"]:
        lines.append(f"{c['from']}[{c['from_lane']}] -> {c['to']}[{c['to_lane']}] : {c['type']}")
    for c in netlist["collectors"]:
        lines.append(f"{'shared ' if c['shared'] else ''}collector {c['name']} of {c['event']} on {', '.join(c['on'])}")
    for d in netlist["derived"]:
        doc = f" /** {d['doc']} */" if d["doc"] else ""
        lines.append(f"stat {d['path']}.{d['name']} = {d['expression']} {json.dumps(d['unit'])}{doc}")
    for v in netlist["debug_views"]:
        lines.append(f"debug {v['name']} of {v['instance'] or '(top)'}: {v['roles']}")
        lines += [f"  {name} : {value}" for name, value in v.get("properties", {}).items()]
        lines += [
            f"  {r['first']:#x}..{r['last']:#x} = {r['state']} {r.get('names', {})}" for r in v.get("regions", [])
        ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("source", INPUTS, ids=lambda path: path.stem)
def test_good(source: Path, kit: Kit, golden, tmp_path: Path) -> None:
    options = [word for line in re.findall(r"^// (-\S.*)$", source.read_text(), re.M) for word in line.split()]
    out = tmp_path / "netlist.json"
    command = [kit.lss, "export", "-I", "../lib", source.name, *options, "-o", out]
    done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    text = digest(json.loads(out.read_text()))
    golden(source.with_suffix(".txt"), text + done.stderr)


@pytest.mark.parametrize("source", INPUTS, ids=lambda path: path.stem)
def test_good_checks(source: Path, kit: Kit) -> None:
    options = [word for line in re.findall(r"^// (-\S.*)$", source.read_text(), re.M) for word in line.split()]
    command = [kit.lss, "check", "--netlist-only", "-I", "../lib", source.name, *options]
    done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("machine", sampled(["arbiter", "rfu_core", "tigon2"], 3, 1))
def test_whole_machines_are_checked(machine: str, kit: Kit, root: Path) -> None:
    """The code of their modules too, which the stages behind the netlist read and make anew."""
    command = [kit.lss, "check", root / "examples" / machine / f"{machine}.lss"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr
