"""Where the cycles of a core go: each counts once, as an issue or for one reason of a stall, however the machine was built."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa import riscv, streams
from tests.isa.programs import assemble
from tests.sample import seldom

DELAY = "instance delay : memory_delay {{ width = 32; latency = 2; jitter = 3; refuse = 0.3; }};\n{0} -> delay.in;\ndelay.out -> {1};"
SLOW = ("filter.scratchpad -> scratchpad.port;", DELAY.format("filter.scratchpad", "scratchpad.port"))
MACHINES = {
    "single_core": ([], SLOW),
    "riscv_core": ([], SLOW),
    "quad_core": (["-D", "memory=8 MiB"], ("", "")),
    "vliw_core": ([], ("filter.scratchpad -> ram.port;", DELAY.format("filter.scratchpad", "ram.port"))),
}
REASONS = ("fetch", "memory", "load_use", "branch", "multiply_divide", "structural")
Counts = dict[str, dict[str, int]]


@pytest.fixture
def counts(build_sim, run_sim, root: Path, tmp_path: Path) -> Callable[..., tuple[Callable, Callable]]:
    """Builds one of the machines; what is returned runs a program and gives the statistics of each issue stage, the whole result too."""

    def build(name: str, *how: str) -> Callable[[Path], tuple[Counts, dict]]:
        options, (old, new) = MACHINES[name]
        text = (root / f"examples/{name}/{name}.lss").read_text()
        assert old in text
        machine = tmp_path / f"{name}.lss"
        machine.write_text(text.replace(old, new) if old else text)
        simulator = build_sim(machine, "-O0", "-I", root / "examples" / name, *options, *how)

        def run(program: Path) -> tuple[Counts, dict]:
            done = run_sim(simulator, "--quiet", "--program", program, "--cycles", "30000", ok=None)
            found: Counts = {}
            for entry in done.stats["statistics"]:
                path, _, stage = entry["path"].rpartition(".")
                if stage.startswith("issue"):
                    found.setdefault(entry["path"], {})[entry["name"]] = entry["value"]
                elif stage == "writeback" and f"{path}.issue" in found:
                    found[f"{path}.issue"]["retired"] = entry["value"]
            assert found
            return found, done.stats

        return run

    return build


def program(name: str, seed: int, tmp_path: Path) -> Path:
    if name == "riscv_core":
        return riscv.assemble(riscv.random_program(seed).text, tmp_path / f"{seed}.elf", "device")
    return assemble(streams.random_program(seed).text, tmp_path / f"{seed}.elf", True, "device")


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.soak if name != "single_core" else []) for name in MACHINES])
def test_every_cycle_counts_once(name: str, counts, tmp_path: Path) -> None:
    """What a debug build sees on the connections into and out of the stages tells issues and stalls a second time."""
    release, debug = counts(name), counts(name, "--debug", "--collect", "connections")
    for seed in (1, 2, 3):
        elf = program(name, seed, tmp_path)
        found, whole = release(elf)
        again, seen = debug(elf)
        assert found == again
        [cycles] = whole["run"]["cycles"].values()
        for path, count in found.items():
            stalls = count["halted"] + sum(count[f"stall_{reason}"] for reason in REASONS)
            assert count["issued"] + stalls == cycles > 1000, (path, count)
            assert count["issued"] > 0 and count["stall_fetch"] > 0
            if "retired" in count and name != "riscv_core":
                assert 0 <= count["issued"] - count["retired"] <= 4 + count["issued"] // 10, (path, count)  # the rest was annulled
            [into] = [c for c in seen["connections"] if c["to"] == f"{path}.in"]
            assert into["transferred"] == count["issued"]
            assert into["stalled"] + into["idle"] + into["cancelled"] == stalls
            assert into["idle"] >= count["stall_fetch"]
        assert name != "vliw_core" or any(count["stall_structural"] > 0 for count in found.values())
        assert name == "quad_core" or sum(count["stall_memory"] for count in found.values()) > 100


# What a core does ten times, and how long it waits for that, each time.
HAZARDS = {
    "load_use": ("lw $t2, 0($t0)\naddu $t3, $t2, $t2\n", "load_use", 1),
    "load and something else": ("lw $t2, 0($t0)\nnop\naddu $t3, $t2, $t2\n", "load_use", 0),
    "branch on a result": ("addiu $t2, $zero, 1\nbeq $t2, $zero, .+8\nnop\n", "branch", 1),
    "branch on a load": ("lw $t2, 0($t0)\nbeq $t2, $t2, .+8\nnop\n", "branch", 2),
    "product": ("mult $t0, $t0\nmflo $t2\n", "multiply_divide", 9),
    "product, and a load first": ("mult $t0, $t0\nlw $t2, 0($t0)\nnop\nmflo $t2\n", "multiply_divide", 7),
    "product of a load": ("lw $t2, 0($t0)\nmult $t2, $t2\n" + 12 * "nop\n", "load_use", 1),
    "quotient": ("div $zero, $t0, $t1\nmfhi $t2\n", "multiply_divide", 68),
}


def test_stalls_have_their_reasons(build_sim, run_sim, root: Path, tmp_path: Path) -> None:
    simulators = [build_sim(root / "examples/single_core/single_core.lss", *how) for how in (["-O0"], ["-O0", "--debug"])]
    for name, (code, reason, cycles) in HAZARDS.items():
        found = []
        for times in (0, 10):
            text = f"lui $t0, 0x10\naddiu $t1, $zero, 3\n{code * times}EXIT 0\n"
            elf = assemble(text, tmp_path / f"{times}.elf", True, "device")
            for simulator in simulators:
                done = run_sim(simulator, "--quiet", "--program", elf, "--cycles", "2000")
                found.append({e["name"]: e["value"] for e in done.stats["statistics"] if e["path"] == "core.issue"})
        assert found[0] == found[1] and found[2] == found[3], name
        more = {key: found[2][key] - found[0][key] for key in found[0] if found[2][key] != found[0][key]}
        more.pop("stall_fetch", 0)  # a load or store has the scratchpad's one port before fetch
        instructions = 10 * code.count("\n")
        expected = {"issued": instructions, f"stall_{reason}": 10 * cycles}
        assert more == {key: value for key, value in expected.items() if value}, (name, more)


@seldom
def test_halted_cycles_are_no_stalls(build_sim, run_sim, root: Path, tmp_path: Path) -> None:
    """Halted by a debugger in cycle 200 and let go in cycle 700: what was on its way is finished, then each cycle counts as halted; and so do those before the program is there."""
    text = (root / "examples/single_core/single_core.lss").read_text()
    halter = "instance halter : source { script = \"halts\"; };\ninstance both : mux;\nstart.control -> both.in;\nhalter.out -> both.in;\nboth.out -> core.control;"
    machine = tmp_path / "machine.lss"
    machine.write_text(text.replace("start.control -> core.control;", halter))
    (tmp_path / "halts").write_text("200 {set_halt=1 halt=1}\n700 {set_halt=1 halt=0}\n")
    elf = assemble("1: addiu $t0, $t0, 1\nb 1b\nnop\n", tmp_path / "loop.elf", True, "device")
    for how in ([], ["--debug"]):
        simulator = build_sim(machine, *how)
        done = run_sim(simulator, "--quiet", "--program", elf, "--cycles", "1000")
        found = {f"{e['path']}.{e['name']}": e["value"] for e in done.stats["statistics"]}
        assert 490 <= found["core.issue.halted"] <= 510 and found["core.issue.stall_fetch"] < 20
