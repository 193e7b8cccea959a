"""Lanes with keys: found by name inside modules and in C, told by name everywhere, and independent of their order."""

import json

PARTS = """
struct word { uint32 data; };
bundle link { forward request : word; backward reply : word; };

/** A bank. */
module bank {
  parameter names = ["one", "two", "three"] : string[];
  optional keyed repeated outport value : uint32; /** what registers hold */
  check_keys(value, names, "register");
  const order = value.keys;
  const wide = value.width;
  const steps = [3, 5];
  state { uint32 n; }
  always value.enable;
  handler show[i] : -> value[i].data;
  phase_end;
}
module eat {
  parameter repeated = 1 : int;
  keyed inport in : uint32;
  local bool keyed;
  stat uint64 total "units";
  stat uint64 high "units";
  stat uint64 odd "cycles";
  always in.ack;
  handler look : in["low"].data -> keyed;
  const low = lane_of(in.keys, "low");
  phase_end;
}
module box {
  keyed inport in : uint32;
  instance e : eat;
  in[*] -> e.in;
}
module turned {
  keyed inport in : uint32;
  instance e : eat;
  in["high"] -> e.in["low"];
  in[lane_of(in.keys, "low")] -> e.in["high"];
}
module asks { keyed outport port : link; always port.request.enable, port.reply.ack; phase_start -> port.request.data; phase_end; state { uint32 got[port.width]; } }
module answers { keyed inport port : link; always port.reply.enable, port.request.ack; phase_start -> port.reply.data; phase_end; state { uint32 seen[port.width]; } }
"""
CODE = {
    "bank": "handler(show, i) { send(value, i, self->n + (uint32_t)param(steps)[key(value, i)[0] == 'o']); }\n"
    'phase_end() { self->n++; if (param_length(order) != param(wide) || strcmp(param(order)[0], key(value, 0))) sim_error("order"); }\n',
    "eat": "handler(look) { set(keyed, data(in, lane(in, low)) & 1); }\n"
    "phase_end() { count(total, data(in, lane(in, low)) * 2 + data(in, lane(in, high))); count(high, data(in, lane(in, high)));\n"
    '  count(odd, get(keyed)); if (lane(in, low) != param(low)) sim_error("low"); }\n',
    "asks": "phase_start() { for (int i = 0; i < width(port); i++) send(port_request, i, ((word){.data = (uint32_t)key(port, i)[0]})); }\n"
    "phase_end() { for (int i = 0; i < width(port); i++) self->got[i] = data(port_reply, i).data; }\n",
    "answers": "phase_start() { for (int i = 0; i < width(port); i++) send(port_reply, i, ((word){.data = self->seen[i] * 1000 + (uint32_t)key(port, i)[0]})); }\n"
    "phase_end() { for (int i = 0; i < width(port); i++) self->seen[i] = data(port_request, i).data; }\n",
}
MACHINE = """
import parts;
clock c = 1 MHz;
instance b : bank;
instance e[2] : eat;
instance x : box;
instance t : turned;
instance p : asks;
instance q : answers;
"""
CONNECTIONS = [
    'b.value["one"] -> e[0].in["high"];',
    'for (i = 0; i < 2; i = i + 1) { b.value["two"] -> e[i].in["low"]; }',
    'b.value["three"] -> e[1].in["high"];',
    'b.value["one"] -> x.in["high"];',
    'b.value["three"] -> x.in["low"];',
    'b.value["one"] -> t.in["high"];',
    'b.value["three"] -> t.in["low"];',
    # The members of one lane may be connected apart, when the whole port is.
    'p.port.request["a"] -> q.port["c"].request;',
    'q.port.reply["c"] -> p.port["a"].reply;',
    'p.port["b"].request -> q.port.request["d"];',
    'q.port["d"].reply -> p.port["b"].reply;',
]
NAMES = {
    "b.value[one.0]", "b.value[one.1]", "b.value[one.2]", "b.value[two.0]", "b.value[two.1]",
    "b.value[three.0]", "b.value[three.1]", "b.value[three.2]", "p.port.request[a]", "p.port.request[b]", "q.port.reply[c]", "q.port.reply[d]",
}  # fmt: skip


def write(folder, connections: list[str]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "parts.lss").write_text(PARTS)
    for name, code in CODE.items():
        (folder / f"{name}.c").write_text(code)
    (folder / "top.lss").write_text(MACHINE + "\n".join(connections) + "\n")


def without_lanes(netlist: dict) -> list:
    """The connections by instances, ports and keys alone."""
    return sorted((c["from"], c["from_key"], c["to"], c["to_key"], c["type"]) for c in netlist["connections"])


def test_order_means_nothing(lss, build_sim, run_sim, tmp_path):
    forth, back = tmp_path / "forth", tmp_path / "back"
    write(forth, CONNECTIONS)
    write(back, CONNECTIONS[::-1])
    runs, netlists = [], []
    for folder in (forth, back):
        simulator = build_sim(folder / "top.lss", "--collect", "connections")
        runs.append(run_sim(simulator, "--cycles", 50, "--quiet", "--print", "p.got"))
        netlists.append(json.loads(lss("export", folder / "top.lss").out))
    assert runs[0].stats["statistics"] == runs[1].stats["statistics"]
    assert {e["path"]: e["value"] for e in runs[0].stats["statistics"] if e["name"] == "total"} == {
        "e[0]": 4225, "e[1]": 4125, "x.e": 4225, "t.e": 4325,
    }  # fmt: skip
    assert without_lanes(netlists[0]) == without_lanes(netlists[1])
    assert netlists[0]["connections"] != netlists[1]["connections"], "the lanes are others"
    assert {c["from"] for c in runs[0].stats["connections"]} == NAMES
    got = [sorted(run.out.split()) for run in runs]
    assert got[0] == got[1] and {f"{97099:#x}", f"{98100:#x}"} <= set(got[0])


def test_names(lss, build_sim, run_sim, tmp_path):
    write(tmp_path, CONNECTIONS)
    graph = tmp_path / "g.json"
    lss("graph", "top.lss", "-o", graph)
    edges = {(e["from"], e["to"]): e for e in json.loads(graph.read_text())[0]["edges"]}
    assert edges["b", "t"]["from_keys"] == ["one", "three"] and edges["b", "t"]["to_keys"] == ["high", "low"]
    lss("graph", "top.lss", "-o", tmp_path / "g.dot")
    assert "b.value[one, three] to t.in[high, low]" in (tmp_path / "g.dot").read_text()
    simulator = build_sim(tmp_path / "top.lss")
    trace = run_sim(simulator, "--cycles", 2, "--quiet", "--trace", "e[0]")
    assert "in[high]<" in trace.err and "in[low]<" in trace.err


def test_patterns(build_sim, run_sim, tmp_path):
    """Collectors find lanes by key, by key and number, by number of the lane, and by pattern."""
    patterns = {"b.value[t*]": 5, "b.value[one]": 3, "b.value[one.1]": 1, "b.value[0]": 1, "b.value": 8, "**.in[low]": 5}  # t.in[low] too, which ends elsewhere
    collectors = "".join(
        f'collector c{i} on "{pattern}" event transferred {{ declare <<< uint64_t n; >>> record <<< self->n++; >>> report <<< report_value("c{i}", self->n, "items", ""); >>> }}\n'
        for i, pattern in enumerate(patterns)
    )
    write(tmp_path, [*CONNECTIONS, collectors])
    done = run_sim(build_sim(tmp_path / "top.lss"), "--cycles", 10, "--quiet")
    found = [sum(e["name"] == f"c{i}" for e in done.stats["statistics"]) for i in range(len(patterns))]
    assert found == list(patterns.values())


def test_conditions(build_sim, run_sim, tmp_path):
    write(tmp_path, CONNECTIONS)
    for pattern, cycles in {"b.value[two]": 4, "b.value[two.0]": 7, "b.value[1]": 7, "e[0].in[low]": 7}.items():
        event = f"{pattern}.transferred"
        done = run_sim(build_sim(tmp_path / "top.lss", "--watch", event), "--until", f"event({event}, 7)", "--quiet")
        assert done.stats["run"]["cycles"]["c"] == cycles, pattern
