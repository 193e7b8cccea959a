"""Machines that repeat themselves, and what must not depend on whether that is looked up."""

import filecmp
import json
from collections.abc import Callable
from pathlib import Path

import pytest

LOOPER = """module looper {
  parameter mask = 3 : int;
  runtime parameter period = 20 : int;
  outport out : uint32;
  inport in : uint32;
  optional inport command : uint32;
  state {
    uint32 step;  uint32 value;  uint32 taken;  bool waits;
    instant again;
    trace uint32 pc;  trace uint32 history[8];
    memory uint32 table[256];
  }
  state { counter uint64 waited[2]; }
  stat uint64 steps "cycles";  stat uint32 sent[2] "items";  stat uint64 waiting "cycles";
  phase_start -> out.data;
  handler take : -> in.ack;
  handler obey : -> command.ack;
  init;
  phase_end;
  next_event;
}
"""
LOOPER_C = """init() { for (uint32_t i = 0; i < 256; i++) store(table, i, i % 7); }
phase_start() { send_if(out, self->step % 5 == 0, self->value); }
handler(take) { accept(in, self->step % 3 != 0); }
handler(obey) { accept(command, self->step != 2); }
phase_end() {
  if (until(again) > 0) return;
  if (self->waits) count_cycles(waited[self->value & 1], false);
  self->waits = false;
  self->step = (self->step + 1) % (uint32_t)param(period);
  self->value = (self->value * 5 + 1 + load(table, self->step)) & (uint32_t)param(mask);
  if (transferred(in)) self->taken = data(in);
  count(steps);
  if (transferred(out)) count(sent[self->value & 1]);
  note(pc, self->step);
  if (self->step % 2) note(history, self->step << 8 | self->value);
  if (self->step != 7) return;
  self->waits = true;
  count_cycles(waited[self->value & 1], true);
  set_until(again, 5);
  if (transferred(command)) store(table, data(command) % 20, data(command));
}
next_event() { return after(until(again)); }
statistics() { counted(waiting) = counted(waited[0]) + counted(waited[1]) + (self->waits ? cycle() : 0); }
"""
# Groups of loopers are clusters, whose cycles have one segment, or two where a sink's refusal comes between.
LANE = """module lane {
  inport in : uint32;  outport out : uint32;  inport command : uint32;
  instance l[4] : looper;
  l[1].period = 8;  l[2].period = 6;  l[3].period = 4;     // 24, 12, 6 and 4 cycles
  in -> l[0].in;  l[0].out -> l[1].in;  l[1].out -> l[2].in;  l[2].out -> l[3].in;  l[3].out -> out;
  command -> l[0].command;
}
"""
LANES = (
    LANE
    + """
instance lane[3] : lane;  instance feeder[3] : looper;  instance none[3] : source { count = 0; };  instance k[3] : sink;
instance command[3] : source { interval = 997; };
feeder[1].period = 44;
for (i = 0; i < 3; i = i + 1) {
  none[i].out -> feeder[i].in : uint32;  feeder[i].out -> lane[i].in;  lane[i].out -> k[i].in;
  command[i].out -> lane[i].command : uint32;
}
"""
)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "looper.lss").write_text(LOOPER)
    (folder / "looper.c").write_text(LOOPER_C)
    return folder


@pytest.fixture
def lanes(build_sim, library) -> Path:
    return build_sim(LANES, "-I", library)


@pytest.fixture
def alike(run_sim, tmp_path: Path) -> Callable[..., None]:
    """Runs a simulator with and without replay: statistics, hashes of the state, a checkpoint, texts and other files are the same."""

    def compare(simulator: Path, *options, hash_every: int = 1000, files: tuple[str, ...] = ()) -> None:
        kept = []
        for name, more in (("replayed", []), ("stepped", ["--no-replay"])):
            made = {kind: tmp_path / f"{name}.{kind}" for kind in ("hashes", "checkpoint")}
            done = run_sim(
                simulator, *options, *more, "--state-hashes", made["hashes"], "--state-hash-every", hash_every,
                "--checkpoint", made["checkpoint"],
            )  # fmt: skip
            statistics = [json.dumps(entry) for entry in done.stats["statistics"]]
            for file in files:
                made[file] = (tmp_path / file).rename(tmp_path / f"{name}.{file}")
            kept.append((statistics, done.stats["run"]["skipped_cycles"], done.out, made))
        assert kept[0][:3] == kept[1][:3]
        for kind, path in kept[0][3].items():
            assert filecmp.cmp(path, kept[1][3][kind], shallow=False), kind

    return compare


@pytest.fixture
def tell(capsys, record_property) -> Callable[[str, int, int], None]:
    """tell(name, simulated, checked): says at once how far a soak went, whatever pytest shows."""

    def say(name: str, simulated: int, checked: int) -> None:
        record_property("simulated_cycles", simulated)
        record_property("checked_cycles", checked)
        with capsys.disabled():
            print(f"\n{name}: {simulated} cycles were simulated; of processors, {checked} were replayed and checked")

    return say
