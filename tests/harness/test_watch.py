"""`spinach watch`: the run is that of the simulator alone, only its user is let in, and no simulator outlives it."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.harness.watched import Watched, browser, check_memory, check_security, shown

CHAIN = "instance s : source { count = 0x7fffffffff; }; instance p : pipe { depth = 4; }; instance k : sink; s.out -> p.in : uint32; p.out -> k.in;\n"
CYCLES = 3_000_000


@pytest.fixture(scope="module")
def chain(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watch")
    (folder / "chain.lss").write_text(CHAIN)
    subprocess.run([build_dir / "bin" / "lss", "build", "-O0", "chain.lss", "-o", "chain"], cwd=folder, check=True)
    return folder / "chain"


@pytest.fixture(scope="module")
def counted(chain: Path, build_dir: Path) -> Path:
    """The machine with counts of its connections, and its netlist, next to the other."""
    lss = build_dir / "bin" / "lss"
    subprocess.run([lss, "build", "-O0", "--collect", "connections", "chain.lss", "-o", "counted"], cwd=chain.parent, check=True)
    subprocess.run([lss, "export", "chain.lss", "-o", "chain.json"], cwd=chain.parent, check=True)
    return chain.with_name("counted")


@pytest.fixture
def graph(root: Path, tmp_path: Path, counted: Path) -> Iterator[Callable[..., Watched]]:
    """graph(simulator, netlist, options): a run that is watched with its block diagram."""
    begun: list[Watched] = []

    def begin(simulator: str, netlist: Path, *options: str) -> Watched:
        words = [counted.with_name(simulator), "--netlist", netlist, "--", "--quiet", "--stats", "s.json", *options]
        begun.append(Watched(root, tmp_path, *words))
        return begun[-1]

    yield begin
    for one in begun:
        one.process.kill()
        one.process.wait()


@pytest.fixture
def watch(root: Path, tmp_path: Path, chain: Path) -> Iterator[Callable[..., Watched]]:
    """watch(options): a run that is watched, which ends with the test."""
    begun: list[Watched] = []

    def begin(*options: str) -> Watched:
        begun.append(Watched(root, tmp_path, chain, "--", "--quiet", "--stats", "s.json", *options))
        return begun[-1]

    yield begin
    for one in begun:
        one.process.kill()  # its simulator finds the end of its input
        one.process.wait()


@pytest.fixture
def watched(watch: Callable[..., Watched]) -> Watched:
    return watch()


def test_only_its_user_is_let_in(watched: Watched) -> None:
    check_security(watched)
    assert watched.status("/watch.js", Cookie=f"spinach={watched.token}") == 200


def test_statistics_are_those_of_a_plain_run(watch: Callable[..., Watched], tmp_path: Path, chain: Path) -> None:
    """With pauses, steps of its user, and a checkpoint from which another run begins."""
    run = watch("--cycles", str(CYCLES))

    async def use() -> dict:
        live = await run.connect()

        def wish(what: str, value: str = "") -> None:
            live.write_message(json.dumps({"do": what, "value": value}))

        wish("pause")
        paused = await shown(live, lambda m: not m["going"] and m.get("statistics"))
        begin = paused["cycles"]["clk"]
        wish("cycle", "7")
        stepped = await shown(live, lambda m: not m["going"] and m["cycles"]["clk"] != begin)
        assert stepped["cycles"]["clk"] == begin + 7 and stepped["paused"]
        for what, value, error in [
            ("cycle", "-1", 'cycle: "-1" is not a number of cycles'), ("checkpoint", "../x", 'checkpoint: "../x" is not a plain file name'),
            ("run", "", 'there is no command "run"'), ("until", "1\n2", "until: the text has more than one line"),
        ]:  # fmt: skip
            wish(what, value)
            assert (await shown(live, lambda m: "refused" in m))["refused"] == error
        live.write_message("{}")
        assert (await shown(live, lambda m: "refused" in m))["refused"] == "a message has `do` and `value`"
        wish("until", "nonsense")
        assert "this is no condition" in (await shown(live, lambda m: m.get("error")))["error"]
        wish("checkpoint", "live.checkpoint")
        await shown(live, lambda m: m.get("command") == "checkpoint live.checkpoint")
        live.close()
        again = await run.connect()  # a page that is opened again goes on
        again.write_message('{"do": "go"}')
        return await shown(again, lambda m: m.get("status") is not None)

    last = asyncio.run(use())
    assert run.process.wait(20) == 0 and last["status"] == 0 and last["ended"] == "all cycles were simulated" and last["share"] == 1
    subprocess.run([chain, "--quiet", "--cycles", str(CYCLES), "--stats", "plain.json"], cwd=tmp_path, check=True)
    assert (tmp_path / "s.json").read_bytes() == (tmp_path / "plain.json").read_bytes()
    subprocess.run([chain, "--quiet", "--restore", "live.checkpoint", "--cycles", str(CYCLES), "--stats", "restored.json"], cwd=tmp_path, check=True)
    assert json.loads((tmp_path / "restored.json").read_text())["statistics"] == json.loads((tmp_path / "plain.json").read_text())["statistics"]


def test_a_long_command_is_interrupted(watched: Watched) -> None:
    async def use() -> None:
        live = await watched.connect()
        live.write_message('{"do": "until", "value": "1000 s"}')
        await shown(live, lambda m: m.get("command") == "until 1000 s")
        live.write_message('{"do": "pause"}')
        await shown(live, lambda m: m.get("command") is None and m.get("cycles"))

    asyncio.run(use())


def test_a_signal_ends_the_simulator(watched: Watched, tmp_path: Path) -> None:
    async def use() -> None:
        await shown(await watched.connect(), lambda m: m.get("cycles"))

    asyncio.run(use())
    watched.process.send_signal(signal.SIGTERM)
    assert watched.process.wait(20) == 128 + signal.SIGTERM
    assert json.loads((tmp_path / "s.json").read_text())["run"]["ended"] == "interrupted"


def test_a_failing_simulator_shows_its_report(watch: Callable[..., Watched], tmp_path: Path) -> None:
    (tmp_path / "script").write_text("4000000 1\n3 2\n")
    run = watch("--set", "s.script=script")

    async def use() -> dict:
        return await shown(await run.connect(), lambda m: m.get("status") is not None)

    last = asyncio.run(use())
    assert run.process.wait(20) == last["status"] == 1
    report = "s: script:2: cycle 3 after cycle 4000000: a script is in rising order"
    assert last["error"] == report and any(report in line for line in last["console"]) and report in run.process.stderr.read()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["none"], "there is no simulator none (lss build makes one)"),
        (["chain", "--", "--gdb", "1"], "--gdb: spinach watch controls the run from its page (leave this option out)"),
        (["chain", "--netlist", "none.json"], "--netlist none.json: No such file or directory (lss export MACHINE -o FILE writes one)"),
        (["chain", "--netlist", "chain.lss"], "--netlist chain.lss: this is no netlist (lss export MACHINE -o FILE writes one)"),
        (["--study", "s.toml", "--netlist", "n.json"], "--netlist: it is for the page of a simulator (leave it out with --study)"),
        ([], "there is nothing to watch (name a simulator, or a study with --study FILE)"),
        (["chain", "--study", "none.toml"], "chain: watch either a simulator or a --study (leave one out)"),
        (["--study", "none.toml"], "there is no study none.toml (--study takes the TOML file of a study)"),
        (["chain", "--port", "PORT"], "--port PORT: Address already in use (choose another one, or leave it out for a free one)"),
        (["--study", "chain.lss", "--port", "PORT"], "--port PORT: Address already in use (choose another one, or leave it out for a free one)"),
    ],
)
def test_a_mistake_is_one_line(root: Path, chain: Path, words: list[str], text: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "harness", "watch", *(word.replace("PORT", port) for word in words)]
        done = subprocess.run(command, cwd=chain.parent, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"harness: {text.replace('PORT', port)}\n")


def test_the_diagram_shows_the_load_of_connections(graph: Callable[..., Watched], counted: Path, tmp_path: Path) -> None:
    """Since the last drawing, while the run goes on; the run is that without it."""
    run = graph("counted", counted.with_name("chain.json"), "--set", "k.ready=0.5", "--cycles", str(5 * CYCLES))

    async def use() -> str:
        live = await run.connect()
        await shown(live, lambda m: m["graph"] and m["graph"]["number"])  # a run that is paused at its begin has none
        live.write_message('{"do": "pause"}')
        first = (await shown(live, lambda m: not m["going"]))["graph"]
        live.write_message('{"do": "cycle", "value": "1000"}')
        message = await shown(live, lambda m: not m["going"] and m["graph"]["number"] > first["number"])
        assert message["graph"]["error"] is None
        assert run.status("/graph.svg") == 401
        request = urllib.request.Request(f"{run.url}/graph.svg", headers={"Cookie": f"spinach={run.token}"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.headers["Content-Type"] == "image/svg+xml; charset=utf-8"
            picture = answer.read().decode()
        live.write_message('{"do": "go"}')
        await shown(live, lambda m: m.get("status") is not None)
        return picture

    picture = asyncio.run(use())
    assert {f"<title>{name}</title>" for name in ("s", "p", "k")} <= set(re.findall(r"<title>\w</title>", picture))
    waits = re.findall(r"> waits (\d+) % <", picture)  # the full pipe makes the source wait as well
    assert len(waits) == 2 and all(40 <= int(share) <= 60 for share in waits)
    assert run.process.wait(20) == 0
    subprocess.run([counted, "--quiet", "--set", "k.ready=0.5", "--cycles", str(5 * CYCLES), "--stats", "plain.json"], cwd=tmp_path, check=True)
    assert (tmp_path / "s.json").read_bytes() == (tmp_path / "plain.json").read_bytes()


def test_a_diagram_that_cannot_be_drawn(graph: Callable[..., Watched], counted: Path, tmp_path: Path) -> None:
    netlist = json.loads(counted.with_name("chain.json").read_text())
    netlist["connections"][0]["from"] = "k.in"
    (tmp_path / "other.json").write_text(json.dumps(netlist))
    (tmp_path / "damaged.json").write_text(json.dumps({**netlist, "instances": []}))
    for simulator, file, text in [
        ("chain", counted.with_name("chain.json"), "connections are not counted (build the simulator with --collect connections)"),
        ("counted", tmp_path / "other.json", "the statistics lack k.in -> p.in: they are from another machine"),
        ("counted", tmp_path / "damaged.json", "the netlist is damaged: write it again with lss export MACHINE -o FILE"),
    ]:
        run = graph(simulator, file)

        async def use(run: Watched) -> dict:
            return (await shown(await run.connect(), lambda m: m["graph"] and m["graph"]["error"]))["graph"]

        assert asyncio.run(use(run)) == {"number": 0, "error": text}


@pytest.mark.soak
def test_the_page_with_a_diagram(graph: Callable[..., Watched], counted: Path) -> None:
    with browser(graph("counted", counted.with_name("chain.json"), "--set", "k.ready=0.5")) as (page, expect):
        expect(page.locator("#graph svg")).to_be_visible(timeout=20_000)
        expect(page.locator("#graph")).to_contain_text("waits")


@pytest.mark.soak
def test_memory_does_not_grow(watched: Watched) -> None:
    check_memory(watched)


@pytest.mark.soak
def test_the_page(watched: Watched) -> None:
    """In a browser: numbers move, a pause stops them, a statistic is plotted, and the token leaves the address."""
    with browser(watched) as (page, expect):
        page.get_by_role("button", name="Pause").click()
        expect(page.locator("#state")).to_have_text("Paused")
        page.wait_for_timeout(700)
        before = page.text_content("#far")
        page.wait_for_timeout(500)
        assert page.text_content("#far") == before
        page.get_by_label("plot k.items").check()
        page.get_by_role("button", name="Continue").click()
        expect(page.locator("polyline")).to_have_attribute("points", re.compile(r"\S \S"))
        expect(page.locator("#far")).not_to_have_text(before)
        page.get_by_label("Cycles").fill("none")
        page.get_by_role("button", name="Run cycles").click()
        expect(page.locator("#error")).to_have_text('cycle: "none" is not a number of cycles')
        page.reload()
        page.wait_for_selector("#table tr")
