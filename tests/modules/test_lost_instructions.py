"""Mutants of the parts of processors, buses, disks and network interfaces that lose or repeat one of what they pass on.

They are noticed by debug builds of machines of examples/, by what the modules say of their items and statistics: an
instruction that is lost stops a core, and says nothing about where; the account names the instance.  As in
test_lost_items.py a mutant is a copy of a module with one place of its C changed.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.tree import found

HIT = "(cycle() % 97 == 50)"


@dataclass(frozen=True)
class Machine:
    """A machine of examples/: options of its build, and what it does in a run."""

    path: str
    options: tuple[str, ...]
    run: tuple[str, ...]


WIDE = Machine("wide_core/wide_core", (), ("--program", "FIRMWARE/sha256/sha256.elf", "--cycles", "6000"))
SINGLE = Machine("single_core/single_core", (), ("--program", "FIRMWARE/hello/hello.elf", "--cycles", "2000"))
SEVERAL = Machine("multiprocessor/multiprocessor", ("-D", "processors=2"), ("--program", "FIRMWARE/bucket_sort/bucket_sort.elf", "--cycles", "20000"))
NIC = Machine("tigon2/tigon2_hardware_limit", (), ("--payload", "100", "--time", "80 us"))
DISK = Machine("disk/disk", ("-D", "cylinders=100"), ("--set", "requester.count=20"))


@dataclass(frozen=True)
class Mutant:
    """A module, the machine that uses it, how its C is changed, and what the message names."""

    module: str
    machine: Machine
    old: str
    new: str
    says: str
    quick: bool = False

    def __str__(self) -> str:
        return f"{self.module}-{re.sub(r'[^a-z]+', '_', self.new.lower())[:40]}"


MUTANTS = [
    Mutant("instruction_buffer", WIDE, "ring->count += came;", "ring->count += came - (came > 0 && HIT);", "buffered"),
    Mutant("instruction_buffer", WIDE, "self->ring[context].count -= n;", "self->ring[context].count -= n - (n > 0 && HIT);", "buffered"),
    Mutant("rename_map", WIDE, "if (!gone->old[i]) continue;", "if (!gone->old[i] || cycle() % 7 == 3) continue;", "list.freed.many == rename.returned"),
    Mutant("rename_map", WIDE, "(uint8_t)(self->latched.count + n);", "(uint8_t)(self->latched.count + n - (n > 0 && HIT));", "rename"),
    Mutant("active_list", WIDE, "self->tail[0] += came;", "self->tail[0] += came - (came > 0 && HIT);", "a physical register"),
    Mutant("active_list", WIDE, "count(instructions, i - unfinished);", "count(instructions, i - unfinished + (i > 0 && HIT));", "list"),
    Mutant("issue_queue", WIDE, "self->held[context] |= bit;", "self->held[context] |= HIT ? 0 : bit;", "integers"),
    Mutant("issue_queue", WIDE, "self->held[context] &= ~chosen;", "self->held[context] &= HIT ? ~UINT64_C(0) : ~chosen;", "integers"),
    Mutant("operand_read", WIDE, "came |= (uint32_t)some(in, i) << i;", "came |= (uint32_t)(some(in, i) && !HIT) << i;", "read"),
    Mutant("execute_unit", WIDE, "if (some(in) && !(data(squash).valid", "if (some(in) && !HIT && !(data(squash).valid", "unit"),
    Mutant("load_store_queue", WIDE, "self->store_places[context] |= BIT(slot);\n  self->occupied++;", "self->store_places[context] |= HIT ? 0 : BIT(slot);\n  self->occupied++;", "memory"),
    Mutant("load_store_queue", WIDE, "if (some(in) && kept[CONTEXT", "if (some(in) && !HIT && kept[CONTEXT", "memory"),
    Mutant("group_fetch", WIDE, "  send(out, i, group);\n}\n\nstatic", "  send_if(out, i, !HIT, group);\n}\n\nstatic", "fetch"),
    Mutant("core_fetch", SINGLE, "  } else if (arrives) {\n    self->phase = core_fetch_phase_waits;", "  } else if (arrives && !HIT) {\n    self->phase = core_fetch_phase_waits;", "fetch"),
    Mutant("core_issue", SINGLE, "accept(in, KILLED || (get(go) & acked(out)));", "accept(in, KILLED || (get(go) & acked(out)) || HIT);", "issue"),
    Mutant("core_access", SINGLE, "enable(fault, i, enabled(in));\n  enable(out, enabled(in));", "enable(fault, i, enabled(in));\n  enable(out, enabled(in) && !HIT);", "access"),
    Mutant("core_writeback", SINGLE, "  count(instructions);", "  if (!HIT) count(instructions);", "writeback"),
    Mutant("system_bus", SEVERAL, "if (transferred(memory_reply)) take_reply", "if (transferred(memory_reply) && cycle() % 11 != 3) take_reply", "bus"),
    Mutant("system_bus", SEVERAL, "  count(transactions);", "  if (cycle() % 5) count(transactions);", "transactions"),
    Mutant("ethernet", NIC, "  count(frames_in);", "  if (self->begun != 5) count(frames_in);", "ethernet"),
    Mutant("ethernet", NIC, "  self->begun++;", "  self->begun += self->begun == 5 ? 2 : 1;", "ethernet"),
    Mutant("mac_transmit", NIC, "  count(frames);", "  if (cycle() % 5) count(frames);", "frames == sent"),
    Mutant("mac_receive", NIC, "    count(frames);", "    if (cycle() % 5) count(frames);", "wire.start == "),
    Mutant("dma_assist", NIC, "    count(transfers);", "    if (cycle() % 5) count(transfers);", "dma"),
    Mutant("host_bus", NIC, "self->begun[request.write]++;", "self->begun[request.write] += 1 + (cycle() % 5 == 3);", "begun[*]"),
    Mutant("disk_image", DISK, "if (!reads || ++self->sector == self->end)", "if (cycle() % 5 && (!reads || ++self->sector == self->end))", "contents", quick=True),
    Mutant("disk_mechanics", DISK, "if (transferred(in_request)) take_request", "if (transferred(in_request) && cycle() % 3) take_request", "drive"),
]


def build(mutant: Mutant, root: Path, build_sim, *options) -> Path:
    return build_sim(root / "examples" / f"{mutant.machine.path}.lss", *mutant.machine.options, "--debug", "-O0", *options)


def check(mutant: Mutant, root: Path, build_dir: Path, tmp_path: Path, build_sim, run_sim) -> None:
    (source,) = found(root / "modules", f"{mutant.module}.c")
    folder = tmp_path / "modules"
    folder.mkdir()
    for path in source.parent.iterdir():  # who instantiates it looks in the same folder first
        if path.is_file():
            shutil.copy(path, folder)
    text = source.read_text()
    run = [word.replace("FIRMWARE", str(build_dir / "firmware")) for word in mutant.machine.run]
    assert "error" not in run_sim(build(mutant, root, build_sim), *run).err
    (folder / source.name).write_text(text.replace(mutant.old, mutant.new.replace("HIT", HIT)))
    done = run_sim(build(mutant, root, build_sim, "-I", folder), *run, ok=False)
    assert re.search(f"error: .*{re.escape(mutant.says)}", done.err), done.err


@pytest.mark.parametrize("mutant", [one for one in MUTANTS if one.quick], ids=str)
def test_a_lost_item_is_found(mutant: Mutant, root: Path, build_dir: Path, tmp_path: Path, build_sim, run_sim) -> None:
    check(mutant, root, build_dir, tmp_path, build_sim, run_sim)


@pytest.mark.soak
@pytest.mark.parametrize("mutant", [one for one in MUTANTS if not one.quick], ids=str)
def test_every_lost_item_is_found(mutant: Mutant, root: Path, build_dir: Path, tmp_path: Path, build_sim, run_sim) -> None:
    check(mutant, root, build_dir, tmp_path, build_sim, run_sim)


def test_the_mutants_are_many() -> None:
    assert len(set(MUTANTS)) >= 25 and len({one.module for one in MUTANTS}) > 15
