"""Sampling on the host: the mean of windows is unbiased and its 95 % interval holds the cycles per instruction of the
whole program in detail, wherever the seed places the windows."""

import random
import subprocess
from pathlib import Path

import pytest

from harness.firmware import tool
from tests.emulib.test_system import bare, end

# Phases of 12,000 to 60,000 instructions: additions, a cycle each, or divisions, of many.
PHASES = """
#define POWER(n) (*(volatile unsigned *) (0xbf000500 + (n)))
__asm__(".globl __start\\n__start: lui $sp, 0x8100\\nj main\\nnop\\n");
static unsigned s = SEED * 2654435761u + 12345;
static unsigned rnd(void) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
int main(void)
{
  unsigned a = 1, b = 3;
  __asm__ volatile("lui $0, 1");
  for (int p = 0; p < COUNT; p++) {
    unsigned n = 2000 + rnd() % 8000;
    if (rnd() & 1)
      for (unsigned i = 0; i < n; i++)
        __asm__ volatile("addu %0,%0,%1\\n\\txor %1,%1,%0\\n\\taddu %0,%0,%1\\n\\txor %1,%1,%0\\n\\taddu %0,%0,%1\\n\\txor %1,%1,%0" : "+r"(a), "+r"(b));
    else
      for (unsigned i = 0; i < n; i++)
        __asm__ volatile("divu $0,%0,%1\\n\\tmflo %0\\n\\taddu %0,%0,%1\\n\\tori %1,%1,1\\n\\taddu %0,%0,%1\\n\\txor %0,%0,%1" : "+r"(a), "+r"(b));
  }
  POWER(4) = 0; POWER(0) = 0x42;
  for (;;) {}
}
"""
SAMPLER = "system.cpu.sampler"


def phases(seed: int, directory: Path, count: int = 60) -> Path:
    (directory / "phases.c").write_text(PHASES)
    machine = ["--target=mipsel-linux-gnu", "-mips32r2", "-mno-abicalls", "-fno-pic", "-G0", "-ffreestanding"]
    linked = ["-static", "-nostdlib", "-fuse-ld=lld", "-Wl,-Ttext=0x80100000", "-o", directory / "phases.elf"]
    subprocess.run([tool("clang"), *machine, "-O2", f"-DSEED={seed}", f"-DCOUNT={count}", directory / "phases.c", *linked], check=True)
    return directory / "phases.elf"


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.parametrize(("seed", "options"), [(3, []), (4, ["-D", "detailed=wide_processor"])], ids=["in order", "wide"])
def test_intervals_hold_the_truth(root: Path, build_sim, run_sim, tmp_path: Path, seed: int, options: list[str]) -> None:
    """Of 24 placements at least 20 do, and the mean of all is within 3 %, for a warm-up up to the period, and in forked processes."""
    machine, elf = build_sim(root / "examples/host/sampled.lss", *options), phases(seed, tmp_path)
    executed = "system.cpu.processor.core." + ("core.core.list" if options else "pipeline.writeback")

    def run(placement: int, **settings: object):
        given = [word for name, value in settings.items() for word in ("--set", f"{SAMPLER}.{name}={value}")]
        return run_sim(machine, "--quiet", "--kernel", elf, "--switch_at", "marker(1)", "--seed", placement, *given)

    whole = run(1, shortest=10**9)
    truth = (whole.stats["run"]["cycles"]["cpu_clk"] - whole.value("system.cpu.switch", "fast_cycles")) / whole.value(executed, "instructions")
    for warm, measure, forked in ((200, 100, "false"), (2000, 1000, "false"), (2000, 1000, "true"), (20000, 1000, "false")):
        means, inside = [], 0
        for placement in range(1, 25):
            done = run(placement, period=30000, warm=warm, measure=measure, forked=forked)
            means.append(done.value(SAMPLER, "sampled_cycles") / done.value(SAMPLER, "sampled_instructions"))
            inside += done.value(SAMPLER, "low") <= truth <= done.value(SAMPLER, "high")
        bias = sum(means) / len(means) / truth - 1
        print(f"warm {warm} measure {measure} forked {forked}: {inside} of 24, bias {100 * bias:+.2f} %, truth {truth:.4f}")
        assert inside >= 20 and abs(bias) < 0.03, (warm, measure, forked, truth, means)


def others(done) -> list:
    """All statistics but those of the sampler."""
    return [entry for entry in done.stats["statistics"] if entry["path"] != SAMPLER]


def test_forked_windows(root: Path, build_sim, run_sim, tmp_path: Path) -> None:
    """Their figures do not depend on the number of processes, on a checkpoint on the way or on samples, and the program is that of a run without windows."""
    machine, elf = build_sim(root / "examples/host/sampled.lss"), phases(5, tmp_path, 12)
    begin = ["--quiet", "--kernel", elf, "--switch_at", "marker(1)", "--seed", 3]
    forked = [word for one in ("forked=true", "period=30000", "warm=1000", "measure=500") for word in ("--set", f"{SAMPLER}.{one}")]
    serial, *parallel = (run_sim(machine, *begin, *forked, "--forks", n) for n in (0, 1, 4))
    assert serial.value(SAMPLER, "sampled") > 10 and not serial.value(SAMPLER, "failed")
    for other in parallel:
        assert (other.out, other.err, other.stats["statistics"]) == (serial.out, serial.err, serial.stats["statistics"])
    without = run_sim(machine, *begin, *forked, "--set", f"{SAMPLER}.period={10**9}")
    assert not without.value(SAMPLER, "sampled") and others(without) == others(serial)
    at = serial.stats["run"]["cycles"]["cpu_clk"] // 2
    half = run_sim(machine, *begin, *forked, "--cycles", at, "--checkpoint", "half")
    sampled = run_sim(machine, *begin, *forked, "--measure-to", f"cycles(cpu_clk) >= {at}")
    names = [(one["path"], one["name"]) for one in sampled.stats["statistics"]]
    seen = sampled.stats["measured"]["to"]["values"][names.index((SAMPLER, "sampled_cycles"))]
    assert half.value(SAMPLER, "sampled_cycles") == seen and 0 < half.value(SAMPLER, "sampled") < serial.value(SAMPLER, "sampled")
    rest = run_sim(machine, "--quiet", "--restore", "half")
    assert rest.stats["statistics"] == sampled.stats["statistics"] == serial.stats["statistics"]
    refused = run_sim(machine, "--quiet", "--restore", "half", "--set", f"{SAMPLER}.forked=false", ok=False)
    assert "forked = false: the checkpoint has windows of the other kind already (restore one from before the first switch)" in refused.err


@pytest.mark.soak
def test_links_get_through(root: Path, build_sim, run_sim, tmp_path: Path) -> None:
    """A loop of LL and SC ends, however often its program changes the processor."""
    rng = random.Random(1)
    pad = "\n".join(["addiu $t3, $t3, 1"] * rng.randrange(5, 20))
    text = f"LI $s0, 0x80200000\nLI $s1, 3000\n1: ll $t1, 0($s0)\n{pad}\nsc $t1, 0($s0)\nbeqz $t1, 1b\nnop\naddiu $s1, $s1, -1\nbnez $s1, 1b\nnop\n{end(7)}"
    machine = build_sim(root / "examples/host/sampled.lss")
    for period in (2, 1200):
        settings = [word for one in (f"{SAMPLER}.period={period}", f"{SAMPLER}.warm=3", f"{SAMPLER}.measure=2", "system.cpu.fast.quantum=2") for word in ("--set", one)]
        done = run_sim(machine, "--quiet", "--kernel", bare(text, tmp_path / "x.elf"), "--switch_at", "instructions(20)", *settings, "--time", "100 ms", ok=None)
        assert done.status == 7 and (done.value("system.cpu.switch", "switches") > 20) == (period == 1200)
