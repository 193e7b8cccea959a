"""The picture of a network: the topology of the machine, the loads of a run, the page and what it shows over time."""

import asyncio
import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from harness.network import network_file, page, picture, series, topology
from tests.harness.watched import Watched, opened, shown

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LINKS = "fat_tree(4)"


@pytest.fixture(scope="module")
def built(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a fat tree in parts, as a whole, and its netlist."""
    place = tmp_path_factory.mktemp("built")
    given = [HERE / "ends.lss", "-D", f"links={LINKS}", "-D", "frames=200"]
    lss = build_dir / "bin/lss"
    subprocess.run([lss, "build", "--parts", *given, "-o", place / "net"], check=True)
    subprocess.run([lss, "build", *given, "-o", place / "whole"], check=True)
    subprocess.run([lss, "export", *given, "-o", place / "netlist.json"], check=True)
    return place


@pytest.fixture(scope="module")
def ran(built: Path) -> Path:
    """The folder of a run with samples and a page."""
    command = [sys.executable, "-m", "harness", "network", built / "net", "--time", "750 us", "--run-dir", built / "out", "--picture", built / "page.html"]
    subprocess.run([*command, "--sample", "100 us"], check=True, cwd=ROOT)
    return built


def data_of(text: str) -> dict:
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)[1])


def test_both_forms_have_the_same_topology(built: Path) -> None:
    parts = topology.of_parts(network_file.read(built / "net"))
    whole = topology.of_netlist(json.loads((built / "netlist.json").read_text()))
    assert whole is not None and parts.nodes == whole.nodes and len(parts.nodes) == 36 and len(parts.switches) == 20
    assert {cable.path: set(cable.ways) for cable in parts.cables} == {cable.path: set(cable.ways) for cable in whole.cables}
    assert len(parts.cables) == 48 and all(len(cable.ways) == 2 and cable.ways[0].rate == 1e9 and cable.ways[0].overhead == 24 for cable in parts.cables)
    assert set(picture.tiers(parts).values()) == {0, 1, 2, 3}


def test_a_machine_without_parts_has_none(lss, tmp_path: Path) -> None:
    (tmp_path / "plain.lss").write_text("instance s : source;\ninstance k : sink;\ns.out -> k.in : uint32;\n")
    lss("export", "plain.lss", "-o", "plain.json")
    assert topology.of_netlist(json.loads((tmp_path / "plain.json").read_text())) is None


def test_loads_are_those_of_the_time_between() -> None:
    way = topology.Way("c.to_b", "a", "b", 1e9, 24)
    net = topology.Topology({"a": "m", "b": "m"}, [topology.Cable("c", (way,))])

    def counts(frames: int, size: int, dropped: int, seconds: float) -> topology.Counts:
        values = [("c.to_b", "frames", frames), ("c.to_b", "bytes", size), ("b.inner", "dropped[2]", dropped), ("b", "dropped[0]", 1), ("other", "dropped", 9)]
        return topology.Counts(net, [{"path": path, "name": name, "value": value} for path, name, value in values], seconds)

    before, now = counts(2, 200, 0, 1e-3), counts(7, 1200, 4, 2e-3)
    load = now.load(way, before)
    assert (load.frames, load.bytes, load.damaged) == (5, 1000, 0) and load.share == pytest.approx(8 * (1000 + 5 * 24) / 1e6)
    assert now.dropped == {"a": 0, "b": 5} and before.load(way).share == pytest.approx(8 * (200 + 2 * 24) / 1e6)
    assert now.load(topology.Way("c.to_b", "a", "b"), before).share is None


def test_the_page_has_the_statistics_of_the_run(ran: Path) -> None:
    """Intervals add up to the whole run, which is what the statistics say."""
    text = (ran / "page.html").read_text()
    data = data_of(text)
    assert "http-equiv" not in text and [one["to"] for one in data["intervals"]] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.75]
    values = {(one["path"], one["name"]): one["value"] for one in json.loads((ran / "out/statistics.json").read_text())["statistics"]}
    net = topology.of_parts(network_file.read(ran / "net"))
    whole = data["intervals"][-1]
    for cable, loads in zip(net.cables, whole["loads"], strict=True):
        assert [load[:2] for load in loads] == [[values[way.path, "frames"], values[way.path, "bytes"]] for way in cable.ways]
    for number, loads in enumerate(whole["loads"]):
        for way, load in enumerate(loads):
            assert [sum(one["loads"][number][way][k] for one in data["intervals"][:-1]) for k in range(3)] == load[:3]
    dropped = [sum(value for (path, name), value in values.items() if path == node and name.startswith("dropped")) for node in net.nodes]
    assert whole["dropped"] == dropped and sum(dropped) > 100
    assert max(load[3] for loads in data["intervals"][1]["loads"] for load in loads) > 0.5


def test_samples_are_read_while_the_run_goes_on(tmp_path: Path) -> None:
    """From the file next to the statistics; a line that is not complete is left for the next time."""
    parts = []
    for name in "ab":
        (tmp_path / name).mkdir()
        parts.append(series.Samples(tmp_path / name))
        parts[-1].follow()
    files = [tmp_path / name / "statistics.json.Ab1xYz" for name in "ab"]
    names = [{"path": "c", "name": "frames"}, {"path": "x", "name": "other"}, {"path": "c", "name": "dropped[1]"}]
    for file in files:
        file.write_text(json.dumps({"statistics": names, "derived": []}) + "\n" + json.dumps({"time_fs": 10**12, "values": [1, 2, 3]}) + "\n")
    with files[0].open("a") as file:
        file.write('{"time_fs": 2000000000000, "values": [4,')
    for part in parts:
        part.follow()
    [(seconds, rows)] = series.together(parts)
    assert seconds == 1e-3 and rows == 2 * [{"path": "c", "name": "frames", "value": 1}, {"path": "c", "name": "dropped[1]", "value": 3}]
    with files[0].open("a") as file:
        file.write(" 5, 6]}\n")
    parts[0].follow()
    assert len(series.together(parts)) == 1 and parts[0].by_time[2 * 10**12][0]["value"] == 4


def test_samples_of_an_earlier_run_are_not_read(tmp_path: Path) -> None:
    old = tmp_path / "statistics.json.Ab1xYz"
    old.write_text('{"statistics": [], "derived": []}\n{"time_fs": 1, "values": []}\n')
    os.utime(old, (1, 1))
    samples = series.Samples(tmp_path)
    samples.follow()
    assert not samples.by_time
    (tmp_path / "statistics.json.Cd2xYz").write_text('{"statistics": [], "derived": []}\n{"time_fs": 5, "values": []}\n')
    samples.follow()
    assert list(samples.by_time) == [5]


def test_a_page_that_cannot_be_written(built: Path, tmp_path: Path) -> None:
    """Before any part runs, or with all statistics there."""
    command = [sys.executable, "-m", "harness", "network", built / "net", "--time", "1 us", "--run-dir", tmp_path / "out", "--picture"]
    done = subprocess.run([*command, tmp_path / "none/page.html"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1 and done.stderr == f"harness: --picture {tmp_path}/none/page.html: there is no folder {tmp_path}/none\n"
    assert not list((tmp_path / "out").glob("node*"))
    done = subprocess.run([*command, "/dev/full"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1 and done.stderr.endswith("harness: --picture /dev/full: No space left on device\n")
    assert (tmp_path / "out/statistics.json").exists()


def test_a_page_of_a_run_that_goes_on(built: Path) -> None:
    net = topology.of_parts(network_file.read(built / "net"))
    text = page.text(net, "a <network>", [topology.Counts(net, [], 1e-3)], running=True)
    assert '<meta http-equiv="refresh"' in text and "a &lt;network&gt;" in text and "running, 1 ms" in text
    assert len(data_of(text)["intervals"]) == 1


def test_without_graphviz_the_tables_remain(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = topology.of_parts(network_file.read(built / "net"))
    monkeypatch.setenv("PATH", "/nowhere")
    assert "The picture could not be drawn" in page.text(net, "x", [topology.Counts(net, [], 1e-3)], running=False)


def test_the_page_in_a_browser(ran: Path) -> None:
    with opened((ran / "page.html").as_uri()) as (shown_page, expect):
        expect(shown_page.locator("#when")).to_have_text("the whole run, 0.75 ms")
        colour = shown_page.locator("#c36 path").first.get_attribute("stroke")
        assert shown_page.locator("#cables tr").count() == 24 and shown_page.locator("#drops tr").count() > 3
        shown_page.locator("#time").fill("1")
        expect(shown_page.locator("#when")).to_have_text("0.1 ms to 0.2 ms")
        assert shown_page.locator("#c36 path").first.get_attribute("stroke") != colour
        assert re.search(r"frames, .* of the line", shown_page.locator("#c36 title").text_content() or "")
        shown_page.locator("#time").fill("7")
        expect(shown_page.locator("#c36 text")).to_have_text("")


def test_the_page_of_a_run_in_one_process(root: Path, ran: Path, tmp_path: Path) -> None:
    """Without any collector; one station sends without end, so that the run is not over before it is looked at."""
    run = Watched(root, tmp_path, ran / "whole", "--netlist", ran / "netlist.json", "--", "--time", "10 s", "--set", "node[0].udp_count=0")

    async def look() -> None:
        live = await run.connect()
        message = await shown(live, lambda m: m["graph"] and (m["graph"]["number"] or m["graph"]["error"]))
        assert message["graph"]["error"] is None and message["graph"]["network"]

    try:
        asyncio.run(look())
        request = urllib.request.Request(f"{run.url}/graph.svg", headers={"Cookie": f"spinach={run.token}"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            text = answer.read().decode()
        assert "net.switch[16]" in text and "of the line" in text
    finally:
        run.process.terminate()
        run.process.communicate(timeout=60)
