"""lss build --parts: a simulator for each kind of part and network.json, from one elaboration."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.network.hosts import EXAMPLES, NIC

HERE = Path(__file__).resolve().parent
MODULES = HERE.parents[1] / "tests/engine/modules"
# A ring of nodes, each of which sends to the next one.
RING = """
import delivery;
part module node {
  parameter interval = 7 : int;
  runtime parameter ready = 1.0 : float;
  outport out : uint32;
  inport in : uint32;
  clock clk = 100 MHz;
  instance s : source on clk { interval; count = 100000; };
  instance k : sink on clk { ready; };
  s.out -> out;
  in -> k.in;
}
parameter n = 2 : int;
parameter delay = 1 us : time;
instance node[n] : node;
instance wire[n] : delivery { delay; slots = 64; };
for (i = 0; i < n; i = i + 1) {
  node[i].out -> wire[i].in;
  wire[i].out -> node[(i + 1) % n].in;
}
"""


@pytest.fixture
def build(lss, tmp_path: Path) -> Callable[..., Path]:
    """build(text, option, ...): the folder of a network."""

    def run(text: str, *options: str, ok: bool = True) -> Path:
        (tmp_path / "net.lss").write_text(text)
        done = lss("build", "--parts", "net.lss", "-I", MODULES, "-o", "net", *options, ok=ok)
        run.said = done.err
        return tmp_path / "net"

    return run


def network(folder: Path) -> dict:
    return json.loads((folder / "network.json").read_text())


def test_a_ring(build, golden) -> None:
    folder = build(RING, "-D", "n=3")
    golden(HERE / "ring.golden", (folder / "network.json").read_text())
    assert sorted(path.name for path in folder.iterdir()) == ["network.json", "node-0"]


STAR = RING.replace("instance node[n]", "part module hub { parameter n : int; keyed inport in : uint32; keyed outport out : uint32;\n  clock clk = 125 MHz;\n  instance q[n] : queue on clk { depth = 8; };\n  for (i = 0; i < n; i = i + 1) { in[\"p\" + string(i)] -> q[i].in; q[i].out -> out[\"p\" + string(i)]; }\n}\ninstance hub : hub { n; };\ninstance back[n] : delivery { delay; slots = 64; };\ninstance node[n]").replace(  # fmt: skip
    "  wire[i].out -> node[(i + 1) % n].in;\n",
    '  node[i].ready = 1.0 / float(i + 1);\n  wire[i].out -> hub.in["p" + string(i)];\n  hub.out["p" + string(i)] -> back[i].in;\n  back[i].out -> node[i].in;\n',
)


def test_a_star_with_settings(build, golden) -> None:
    """Run-time parameters that differ do not make another kind; a compile-time one does."""
    folder = build(STAR, "-D", "n=3")
    golden(HERE / "star.golden", (folder / "network.json").read_text())
    assert [part["settings"] for part in network(folder)["parts"]][-2:] == [[["node[1].ready", "0.5"]], [["node[2].ready", "0.33333333333333331"]]]
    more = network(build(STAR.replace("node[i].ready = 1.0 / float(i + 1);", "if (i == 1) { node[i].interval = 9; }"), "-D", "n=3"))
    assert [kind["representative"] for kind in more["kinds"]] == ["hub", "node[0]", "node[1]"]


def test_settings_in_the_values_of_modules(build) -> None:
    """What a module's value sets of a run-time parameter may differ, wherever in the part its instance is."""
    text = RING.replace("runtime parameter ready = 1.0 : float;", "parameter taker = sink : module;").replace("k : sink on clk { ready; }", "k : taker on clk")
    text = text.replace("instance node[n] : node;", "var kinds = [];\nfor (i = 0; i < n; i = i + 1) { kinds = append(kinds, node(taker = sink(ready = 1.0 / float(i + 1)))); }\ninstance node[n] : kinds;")
    found = network(build(text))
    assert len(found["kinds"]) == 1
    assert [part["settings"] for part in found["parts"]] == [[], [["node[1].k.ready", "0.5"]]]


def test_a_setting_that_does_not_fit_is_an_error(build) -> None:
    """As it is where every part is elaborated."""
    build(STAR.replace("1.0 / float(i + 1)", 'i == 1 ? "no" : 1.0'), "-D", "n=2", ok=False)
    assert "error[parameter-type]: `ready` must be a float, not a string" in build.said and "in instance node[1]" in build.said
    build(STAR.replace("ready = 1.0 : float;", "ready = 1.0 : float in 0.0..1.0;").replace("1.0 / float(i + 1)", "1.0 * float(i + 1)"), "-D", "n=2", ok=False)
    assert "error[parameter-range]: `ready` is 2.0, outside its range, 0.0 to 1.0" in build.said and "in instance node[1]" in build.said


def test_crossings_at_the_border_make_kinds(build) -> None:
    """Also where the parts themselves are alike, so that a further one has to be elaborated."""
    found = network(build(RING.replace("{ delay; slots = 64; };", "{ slots = 64; };\nfor (i = 0; i < n; i = i + 1) { wire[i].delay = i == 2 ? 2 us : 1 us; }"), "-D", "n=5"))
    assert [part["kind"] for part in found["parts"]] == [0, 0, 1, 2, 0]
    assert [kind["representative"] for kind in found["kinds"]] == ["node[0]", "node[2]", "node[3]"]
    assert {link["cut"] for link in found["links"]} == {100, 200} and found["distance"] == 4 * 200


def test_a_cut_of_nothing_joins_two_parts(build) -> None:
    text = RING.replace("{ delay; slots = 64; };", "{ slots = 64; };\nfor (i = 0; i < n; i = i + 1) { wire[i].delay = i == 0 ? 0 ns : 1 us; }")
    found = network(build(text, "-D", "n=3"))
    assert "warning[cut-zero]: `wire[0]` takes no time, so that `node[0]` and `node[1]` are one part of the network" in build.said
    assert [part["path"] for part in found["parts"]] == ["node[0]", "node[2]"]
    assert [(link["path"], link["from"], link["to"]) for link in found["links"]] == [("wire[1].way", 0, 1), ("wire[2].way", 1, 0)]
    assert found["order"] == ["node[0]", "node[1]", "node[2]", "wire[0]", "wire[1]", "wire[2]"]


@pytest.fixture
def run_parts(tmp_path: Path) -> Callable[..., tuple[set[str], dict]]:
    """run_parts(folder, option, ...): what all parts show of their state, and their statistics."""

    def run(folder: Path, *options: str) -> tuple[set[str], dict]:
        found, running = network(folder), []
        for number, part in enumerate(found["parts"]):
            simulator = folder / found["kinds"][part["kind"]]["simulator"]
            names = ["--part", part["path"], "--network", folder / "network.json", "--board", f"test-{os.getpid()}-{tmp_path.name}"]
            command = [simulator, *names, "--quiet", "--print", "**", "--stats", f"part{number}.json", *options]
            running.append(subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        shown: set[str] = set()
        counted: dict = {}
        for number, process in enumerate(running):
            out, err = process.communicate(timeout=120)
            assert process.returncode == 0, err
            shown |= {line for line in out.splitlines() if " = " in line}
            statistics = json.loads((tmp_path / f"part{number}.json").read_text())["statistics"]
            counted |= {(one["path"], one["name"]): one["value"] for one in statistics}
        return shown, counted

    return run


@pytest.mark.parametrize("options", [[], ["--debug"]])
@pytest.mark.parametrize(
    ("text", "n", "delay", "interval"), [(RING, 2, "1 us", 7), (RING, 3, "10 ns", 3), (RING, 2, "333 ns", 1000), (STAR, 3, "500 ns", 4)]
)
def test_halves_do_what_the_whole_does(lss, run_sim, run_parts, tmp_path, options, text, n, delay, interval) -> None:
    """All state and all statistics of parts that run as processes are those of the whole, those of the halves included."""
    (tmp_path / "net.lss").write_text(text.replace("interval = 7", f"interval = {interval}"))
    given = ["net.lss", "-I", MODULES, "-D", f"delay={delay}", "-D", f"n={n}", *options]
    lss("build", *given, "-o", "whole")
    lss("build", "--parts", *given, "-o", "net")
    whole = run_sim(tmp_path / "whole", "--time", "50 us", "--print", "**")
    shown, counted = run_parts(tmp_path / "net", "--time", "50 us")
    assert shown == {line for line in whole.out.splitlines() if " = " in line} and len(shown) > 20
    assert counted == {(one["path"], one["name"]): one["value"] for one in whole.stats["statistics"]}
    assert counted["wire[0]", "sent"] > 4 and counted["wire[0]", "delivered"] > 3


def test_each_setting_of_one_part_makes_a_kind(build) -> None:
    found = network(build(RING, "-D", "n=4", "-D", "node[2].interval=9"))
    assert [part["kind"] for part in found["parts"]].count(found["parts"][2]["kind"]) == 1


def test_collectors_are_where_their_events_are(lss, run_parts, tmp_path) -> None:
    for name in ("delivery.lss", "delivery.c"):
        text = (MODULES / name).read_text()
        (tmp_path / name).write_text(text.replace("  cut delay;", "  event came();\n  cut delay;").replace("  count(delivered);", "  count(delivered);\n  event(came);"))
    (tmp_path / "net.lss").write_text(RING + 'collector c on "wire[*]" event came { declare <<< uint64_t n; >>> record <<< self->n++; >>> report <<< report_value("came", self->n, "items"); >>> }\n')
    lss("build", "--parts", "net.lss", "-o", "net")
    _, counted = run_parts(tmp_path / "net", "--time", "50 us")
    came = {path: value for (path, name), value in counted.items() if name == "came"}
    assert came == {path: counted[path, "delivered"] for path in ("wire[0]", "wire[1]")}


def test_what_is_written(lss, tmp_path: Path, build) -> None:
    """The folder is whole, replaces an earlier one and nothing else, and is always the same."""
    folder = build(RING)
    first = (folder / "network.json").read_text()
    (folder / "left").write_text("")
    build(RING)
    assert (folder / "network.json").read_text() == first and not (folder / "left").exists()
    assert sorted(path.name for path in tmp_path.glob("net*")) == ["net", "net.lss"]
    build(RING.replace("s.out -> out;", "s.out -> oat;"), ok=False)
    assert (folder / "network.json").read_text() == first and sorted(path.name for path in tmp_path.glob("net*")) == ["net", "net.lss"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other/mine").write_text("")
    (tmp_path / "net.lss").write_text(RING)
    done = lss("build", "--parts", "net.lss", "-I", MODULES, "-o", "other", ok=False)
    assert done.status == 2 and done.err == 'lss build: "other" is no network that lss has built; -o names the folder to write\n'
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["mine"]
    done = lss("build", "--parts", "net.lss", "-I", MODULES, "-o", "none/net", ok=False)
    assert done.status == 3 and 'lss build: cannot write "none/net": No such file or directory' in done.err
    done = lss("run", "--parts", "net.lss", ok=False)
    assert done.status == 2 and "--parts" in done.err


def test_a_simulator_knows_its_network(build, lss, tmp_path: Path) -> None:
    folder = build(RING, "--keep", "kept")
    text = "".join(path.read_text() for path in (tmp_path / "kept/node-0").glob("*.c"))
    assert f'"node[0]", 2, spinach_table_links, "{network(folder)["hash"]}"' in text
    assert '{"wire[1].way", "uint32", false, 100u, 4, 64, ' in text and '{"wire[0].way", "uint32", true, 100u, 4, 64, ' in text


def test_a_thousand_nodes_cost_as_much_as_two(build) -> None:
    """More than 1.2 times and 2 seconds is too much; the first build fills the cache of objects."""
    build(RING)
    spent = []
    for n in (2, 64, 1000):
        begin = time.process_time() + sum(os.times()[2:4])
        found = network(build(RING, "-D", f"n={n}"))
        spent.append(time.process_time() + sum(os.times()[2:4]) - begin)
        assert len(found["kinds"]) == 1 and len(found["parts"]) == len(found["links"]) == n
        assert found["parts"][-1]["renamed"][0] == ["node[0]", f"node[{n - 1}]"]
    assert spent[1] <= 1.2 * spent[0] + 2 and spent[2] <= 1.2 * spent[0] + 2, spent


@pytest.mark.parametrize("machine", ["pair", "rack"])
def test_the_examples(lss, machine: str) -> None:
    lss("check", "--parts", "--netlist-only", EXAMPLES / f"{machine}.lss", *NIC)


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("machine", "simulators"), [("pair", ["host-0"]), ("rack", ["ethernet_switch-1", "host-0"])])
def test_the_examples_in_full(lss, tmp_path: Path, machine: str, simulators: list[str]) -> None:
    lss("build", "--parts", EXAMPLES / f"{machine}.lss", *NIC, "-o", "net", timeout=900)
    assert sorted(path.name for path in (tmp_path / "net").iterdir()) == sorted([*simulators, "network.json"])
    parts = network(tmp_path / "net")["parts"]
    addresses = [dict(part["settings"]) for part in parts if part["kind"] == 0]
    assert addresses[1] == {f"{parts[1]['path']}.slots.card[0].eeprom_contents": "0x8c=0000020000000002"}
