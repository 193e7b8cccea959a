"""Registers that stand for more than a stored value: where a processor stands, the chip's reset; and the low-priority DMA rings."""

import re
import struct
from pathlib import Path

import pytest

from tests.modules.assists import pcap
from tests.modules.harness import Bench
from tests.sample import seldom
from tests.tigon2.chip import (
    READ_RING,
    TX_BASE,
    TX_RING,
    WRITE_RING,
    Chip,
    dma_descriptor,
    host_bytes,
    host_join,
    host_reads,
    join,
)
from tests.tigon2.test_contract import LANES, noise

CODE = 0x4000
BRANCH_TO_ITSELF = bytes.fromhex("1000ffff00000000")
HALT = 0x10000


class Core(Chip):
    """The chip with a real processor A, and a scripted one beside it."""

    def __init__(self, bench: Bench, root: Path) -> None:
        class Patched:
            """A bench that builds the same netlist with one processor."""

            def build(self, text: str, *options: str) -> Path:
                return bench.build(text.replace("processors = 0", "processors = 1"), *options)

            def run(self, *arguments, **named):
                return bench.run(*arguments, **named)

        super().__init__(Patched(), root)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def core(bench: Bench, root: Path) -> Core:
    return Core(bench, root)


def test_a_halted_processor_shows_its_pc(core: Core) -> None:
    """Started at one place, it runs into a loop at another, is halted there, sent elsewhere, and halted there again."""
    script = core.script(setup=False)
    script.store(CODE, bytes(64) + BRANCH_TO_ITSELF)
    script.store(CODE + 0x100, BRANCH_TO_ITSELF)
    script.write("cpu_a_pc", CODE)
    script.at(100)
    set_to = script.read("cpu_a_pc")
    script.write("cpu_a_state", 0)
    script.at(600)
    script.write("cpu_a_state", HALT)
    script.at(700)
    first = script.read("cpu_a_pc")
    script.write("cpu_a_pc", CODE + 0x100)
    script.write("cpu_a_state", 0)
    script.at(1000)
    script.write("cpu_a_state", HALT)
    script.at(1100)
    second = script.read("cpu_a_pc")
    replies, *_ = core.run(script, window=["1200 read 4 0x144"])
    assert replies[set_to].data == CODE
    assert replies[first].data in (CODE + 64, CODE + 68) and replies[second].data in (CODE + 0x100, CODE + 0x104)
    assert core.last.stat("nic.cpu[0].pipeline.writeback", "instructions") > 50


def test_a_running_processor_shows_where_it_runs(core: Core) -> None:
    """It waits in one place, then in another, which the host sees as well as software; what it was set to shows until it runs."""
    script = core.script(setup=False)
    # lui, lw of general_a0 until it is not zero; then the second loop.
    wait = bytes.fromhex("3c08c000 8d090180 00000000 1120fffd 00000000")
    script.store(CODE, wait + b"\0" * 12 + bytes(0x60) + BRANCH_TO_ITSELF)
    script.write("cpu_a_pc", CODE)
    set_to = script.read("cpu_a_pc")
    script.write("cpu_a_state", 0)
    script.at(500)
    first = [script.read("cpu_a_pc") for _ in range(20)]
    script.write("general_a0", 1)
    script.at(1500)
    second = [script.read("cpu_a_pc") for _ in range(20)]
    replies, window, _ = core.run(script, window=["1600 read 4 0x144", "1600 read 4 0x148"])
    assert replies[set_to].data == CODE
    assert all(CODE + 4 <= replies[place].data <= CODE + 24 for place in first)
    assert len({replies[place].data for place in first}) > 1
    end = CODE + len(wait) + 12 + 0x60
    assert all(end <= pc <= end + 8 for pc in [*(replies[place].data for place in second), window[0].data])
    assert window[1].data == 0


def word(op: int, base: int, target: int, value: int) -> bytes:
    """An instruction with an immediate value."""
    return (op << 26 | base << 21 | target << 16 | value).to_bytes(4, "big")


def test_a_store_is_seen_at_every_address_of_its_cell(core: Core) -> None:
    """The processor loads a cell, stores to it by another address, and loads it again at once: by an alias of the memory, below the
    scratchpad, by both data ports; and the other way round."""
    load, store, add, high, low = 0x23, 0x2B, 0x09, 0x0F, 0x0D
    cell, alias, below, registers, value, seen = 8, 9, 10, 16, 11, 12
    code = b"".join([
        word(add, 0, cell, 0x2000), word(high, 0, alias, 0x10), word(low, alias, alias, 0x2000),
        word(high, 0, below, 0xBF), word(low, below, below, 0xF000), word(high, 0, registers, 0xC000),
    ])  # fmt: skip
    ways = [(alias, 0, cell), (below, 0, cell), (registers, 0x158, cell), (registers, 0x6C, cell), (cell, 0, alias), (cell, 0, below)]
    for n, (base, at, reader) in enumerate(ways):
        code += word(load, reader, seen, 0) + word(add, 0, value, 0x71 + n) + word(store, base, value, at)
        code += word(load, reader, seen, 0) + word(store, registers, seen, 0x180 + 4 * n)
    script = core.script(setup=False)
    script.store(CODE, code + b"\0" * (-len(code) % 8) + BRANCH_TO_ITSELF)
    script.write(0x2000, 0x11)
    script.write("stack_offset_a", 0xBFF000 - 0x2000)
    script.write("sram_address_a", 0x2000)
    script.write("window_base", 0x2000)
    script.write("cpu_a_pc", CODE)
    script.write("cpu_a_state", 0)
    script.at(2000)
    places = [script.read(f"general_a{n}") for n in range(len(ways))]
    replies, *_ = core.run(script)
    assert [replies[place].data for place in places] == [0x71 + n for n in range(len(ways))]


def test_what_is_no_register_is_reported_with_where_it_was_requested(core: Core) -> None:
    script = core.script(setup=False)
    script.store(CODE, word(0x0F, 0, 8, 0xC000) + word(0x23, 8, 9, 0xEC) + bytes(24) + BRANCH_TO_ITSELF)
    script.write("cpu_a_pc", CODE)
    script.write("cpu_a_state", 0)
    script.at(500)
    script.read("timer")
    core.run(script)
    [told] = [line for line in core.last.err.splitlines() if "no register" in line]
    found = re.search(r"0xec 1 time, first by processor_0 near pc 0x([0-9a-f]+)", told)
    assert found and CODE + 4 <= int(found[1], 16) <= CODE + 20, told


def test_the_host_resets_the_chip(core: Core) -> None:
    """Registers get their reset values and the processor stops; SRAM keeps what it holds."""
    script = core.script()
    script.store(CODE, BRANCH_TO_ITSELF)
    script.write("general_a3", 77)
    script.write("cpu_a_pc", CODE)
    script.write("cpu_a_state", 0)
    script.at(500)
    before = [script.read(name) for name in ("general_a3", "cpu_a_state", "assist_state", "mac_tx_state")]
    script.at(1500)
    after = [script.read(name) for name in ("general_a3", "cpu_a_state", "assist_state", "mac_tx_state")]
    kept = script.read(CODE)
    replies, window, _ = core.run(script, window=["800 write 4 0x40 0x8", "900 read 4 0x40"])
    assert [replies[place].data for place in before] == [77, 0, 1, 2]
    assert [replies[place].data for place in after] == [0, HALT, 0, 0]
    assert replies[kept].data == 0x1000FFFF and window[1].data == 0x60000000
    ran = core.last.stat("nic.cpu[0].pipeline.writeback", "instructions")
    core.run(script, cycles=2800, window=["800 write 4 0x40 0x8", "900 read 4 0x40"])
    assert core.last.stat("nic.cpu[0].pipeline.writeback", "instructions") == ran, "it has not halted"


def test_a_write_without_the_reset_bit_resets_nothing(chip: Chip) -> None:
    script = chip.script()
    script.write("general_a3", 77)
    script.at(600)
    value = script.read("general_a3")
    replies, *_ = chip.run(script, window=["300 write 4 0x40 0x70"])
    assert replies[value].data == 77


@seldom
def test_a_mac_that_memory_starves_requests_attention(bench: Bench, root: Path) -> None:
    """Line rate into an SRAM of 60 cycles an access: event 25 is up until the state register is written without the bit."""
    slow = Chip(bench, root, options="first_access = 60; next_access = 60; mac_buffer = 4096;")
    script = slow.script()
    script.write("mac_rx_reference", 0xFF8)
    script.write("mac_rx_state", 2)
    script.at(60000)
    event, state = script.read("event_a"), script.read("mac_rx_state")
    script.write("mac_rx_state", 4)
    script.at(70000)
    calm = script.read("event_a")
    settings = {"ethernet.input": "in.pcap", "ethernet.mode": "rate"}
    frames = pcap([noise(1000, i) for i in range(12)])
    replies, *_ = slow.run(script, cycles=80000, settings=settings, files={"in.pcap": frames})
    assert slow.last.stat("nic.mac_rx", "overruns") > 0
    assert replies[event].data >> 25 & 1 == 1 and replies[state].data == 0x102 and replies[calm].data >> 25 & 1 == 0


def test_an_underrun_is_reported_and_counted(bench: Bench, root: Path) -> None:
    """A frame longer than what is waited for, from an SRAM of 60 cycles an access: event 26, and word 19 of the statistics."""
    slow = Chip(bench, root, options="first_access = 60; next_access = 60; mac_buffer = 4096;")
    script = slow.script()
    script.store(TX_BASE, noise(3000))
    script.store(TX_RING, struct.pack(">II", TX_BASE, 3000))
    script.write("tx_buffer_producer", TX_BASE + 3000)
    script.write("mac_tx_producer", 8)
    script.at(100000)
    event, state, words = script.read("event_a"), script.read("mac_tx_state"), [script.read(0x80 + 4 * k) for k in range(32)]
    replies, *_ = slow.run(script, cycles=110000)
    assert replies[event].data >> 26 & 1 == 1 and replies[state].data == 0x102
    assert [replies[place].data for place in words] == [0] * 19 + [1] + [0] * 12
    assert slow.last.stat("nic.mac_tx", "underruns") == 1


# ---- The low-priority rings --------------------------------------------------------------------------------------------
LOW_READ, LOW_WRITE = 0x50000, 0x51000


def test_low_priority_rings_move_data_both_ways(chip: Chip) -> None:
    """Three transfers each way through rings that lie where the firmware put them, across the end of the ring."""
    inward, outward = noise(300, 1), noise(200, 2)
    script = chip.script()
    script.store(0x60000, outward)
    last = 0x7E0
    for k in range(3):
        at = (last + 32 * k) % 0x800
        script.store(LOW_READ + at, dma_descriptor(0x8000 + 100 * k, 0x70000 + 100 * k, 100))
        if k < 2:
            script.store(LOW_WRITE + at, dma_descriptor(0x9000 + 100 * k, 0x60000 + 100 * k, 100))
    for way, base, count in ("read", LOW_READ, 3), ("write", LOW_WRITE, 2):
        script.write(f"dma_{way}_low_consumer", base + last)
        script.write(f"dma_{way}_low_producer", base + (last + 32 * count) % 0x800)
    script.at(2000)
    read_end, write_end = script.read("dma_read_low_consumer"), script.read("dma_write_low_consumer")
    parts = script.load(0x70000, 300)
    replies, _, memory = chip.run(
        script, cycles=4000, memory=host_bytes(0x8000, inward) + host_reads(0x9000, 200, 3000)
    )
    assert (replies[read_end].data, replies[write_end].data) == (LOW_READ + 0x40, LOW_WRITE + 0x20)
    assert join(replies, parts) == inward and host_join(memory, 200) == outward


@pytest.mark.parametrize("way", ["read", "write"])
def test_high_priority_goes_first(chip: Chip, way: str) -> None:
    """Four transfers wait in each ring when the assist is enabled: all of the high ring are done before the second of the low one."""
    high, low = (READ_RING, LOW_READ) if way == "read" else (WRITE_RING, LOW_WRITE)
    script = chip.script()
    script.write("assist_state", 0)
    for k in range(4):
        script.store(high + 32 * k, dma_descriptor(0x8000 + 64 * k, 0x70000 + 64 * k, 64))
        script.store(low + 32 * k, dma_descriptor(0xA000 + 64 * k, 0x72000 + 64 * k, 64))
    script.write(f"dma_{way}_low_consumer", low)
    script.write(f"dma_{way}_low_producer", low + 128)
    script.write(f"dma_{way}_producer", 128)
    script.write("assist_state", 1)
    for _ in range(90):
        script.read(f"dma_{way}_consumer")
        script.read(f"dma_{way}_low_consumer")
    replies, *_ = chip.run(script, cycles=4000)
    pairs = [(replies[i].data - high, replies[i + 1].data - low) for i in range(len(replies) - 180, len(replies), 2)]
    assert pairs[-1] == (128, 128)
    assert all(behind <= 32 for done, behind in pairs if done < 128) and any(done < 128 for done, _ in pairs)


def test_a_failed_transfer_of_a_low_ring_is_tried_again(chip: Chip) -> None:
    script = chip.script()
    script.store(LOW_READ, dma_descriptor(0x8000, 0x70000, 100))
    script.write("dma_read_low_consumer", LOW_READ)
    script.write("dma_read_low_producer", LOW_READ + 32)
    script.at(1000)
    failed, there = script.read("dma_read_state"), script.read("dma_read_low_consumer")
    script.write("dma_read_state", 0)
    script.at(2000)
    end, parts = script.read("dma_read_low_consumer"), script.load(0x70000, 100)
    data = noise(100)
    replies, *_ = chip.run(
        script, cycles=3000, memory=host_bytes(0x8000, data), settings={"host.faults": "read_abort@1"}
    )
    assert replies[failed].data & 0x7F000000 and replies[there].data == LOW_READ
    assert replies[end].data == LOW_READ + 32 and join(replies, parts) == data


USER_BASE = [0, 0x264, 0x268, 0x26C]  # by the page


@pytest.fixture(scope="session")
def paged(bench: Bench, root: Path) -> Chip:
    return Chip(bench, root, options="user_pages = true;")


def test_user_pages_show_their_part_of_the_memory(paged: Chip) -> None:
    """Each its own 4 KiB, both ways; the first and the last word, and nothing beside them."""
    bases, script = [0, 0x45000, 0x3000, 0xFF000], paged.script(setup=False)
    for n in 1, 2, 3:
        script.write(bases[n], 0x11 * n)
        script.write(bases[n] + 0xFF8, 0x101 * n)
    window = [LANES, *(f"200 write 4 {USER_BASE[n]:#x} {bases[n] | 0xFFF:#x}" for n in (1, 2, 3))]
    window += [f"300 read 4 {USER_BASE[n]:#x}" for n in (1, 2, 3)]
    window += [f"300 read 4 {0x1000 * n + at:#x}" for n in (1, 2, 3) for at in (0, 0xFF8)]
    window += [f"400 write 4 {0x1000 * n + 0x7F0:#x} {0xA0 + n:#x}" for n in (1, 2, 3)]
    script.at(1500)
    written = [script.read(bases[n] + 0x7F0) for n in (1, 2, 3)]
    event = script.read("mailbox_event_a")
    replies, seen, _ = paged.run(script, window=window)
    assert [one.data for one in seen[4:7]] == bases[1:]
    assert [one.data for one in seen[7:13]] == [0x11, 0x101, 0x22, 0x202, 0x33, 0x303]
    assert [replies[place].data for place in written] == [0xA1, 0xA2, 0xA3] and replies[event].data == 0


def test_the_last_word_of_a_user_page_is_a_doorbell(paged: Chip) -> None:
    """It is stored, and sets bit 7 + n for both processors; other words, reads, and pages without a part of the memory do not."""
    for page in 1, 2, 3:
        script = paged.script(setup=False)
        script.at(1000)
        before = script.read("mailbox_event_a")
        script.at(2000)
        after = [script.read(where) for where in ("mailbox_event_a", "mailbox_event_b", 0x45FFC)]
        others = [f"200 write 4 {0x1000 * n + 0xFFC:#x} 7" for n in (1, 2, 3) if n != page]
        quiet = [*others, f"200 write 4 {0x1000 * page + 0xFF8:#x} 7", f"200 write 4 {0x1000 * page:#x} 7", f"200 read 4 {0x1000 * page + 0xFFC:#x}"]
        window = [LANES, f"100 write 4 {USER_BASE[page]:#x} 0x45000", *quiet, f"1200 write 4 {0x1000 * page + 0xFFC:#x} 0x55"]
        replies, seen, _ = paged.run(script, window=window)
        assert replies[before].data == 0 and [replies[one].data for one in after] == [0x80 << page, 0x80 << page, 0x55]
        assert not any(one.error for one in seen)


def test_user_pages_in_other_byte_orders(paged: Chip) -> None:
    """As the rest of the memory: bytes of words exchanged, or words in pairs; the last word is where software finds it."""
    script = paged.script(setup=False)
    script.write(0x45FF8, 0x01020304)
    script.write(0x45FFC, 0x05060708)
    script.at(1000)
    swapped = [script.read(0x45FFC), script.read("mailbox_event_a")]
    script.write("mailbox_event_a", 0xFFFFFFFF)
    script.at(2000)
    exchanged = [script.read(0x45FFC), script.read("mailbox_event_a")]
    window = ["0 write 4 0x40 0x30000030", "100 write 4 0x268 0x00500400", "200 read 4 0x2ff8", "300 write 4 0x2ffc 0x0a0b0c0d"]
    window += ["1100 write 4 0x40 0", "1100 read 4 0x2ffc", "1100 write 4 0x2ff8 0x77"]
    replies, seen, _ = paged.run(script, window=window)
    assert seen[2].data == 0x04030201 and seen[5].data == 0x01020304
    assert [replies[p].data for p in swapped] == [0x0D0C0B0A, 0x200] and [replies[p].data for p in exchanged] == [0x77, 0x200]


def test_user_pages_that_show_nothing(paged: Chip, chip: Chip) -> None:
    """As on a chip without them, which has no registers for them either; and a reset of the chip takes the parts of the memory away."""
    window = [LANES, "100 write 4 0x1ffc 5", "100 write 4 0x2000 5", "100 read 4 0x1ffc", "100 read 4 0x2000"]
    for one in paged, chip:
        script = one.script(setup=False)
        script.at(1000)
        event, first = script.read("mailbox_event_a"), script.read(0)
        replies, seen, _ = one.run(script, window=[*window, "200 write 4 0x268 0x45000", "200 read 4 0x268"])
        assert [a.data for a in seen[3:5]] == [0, 0] and not any(a.error for a in seen)
        assert (replies[event].data, replies[first].data) == (0, 0) and seen[6].data == (0x45000 if one is paged else 0)
    reset = [LANES, "100 write 4 0x264 0x45000", "100 write 4 0x1000 6", "100 read 4 0x1000", "200 write 4 0x40 0x08000008", "300 write 4 0x40 0x22000022"]
    _, seen, _ = paged.run(paged.script(setup=False), window=[*reset, "300 read 4 0x1000", "300 read 4 0x264"])
    assert (seen[3].data, seen[6].data, seen[7].data) == (6, 0, 0)


def test_what_is_off_takes_no_cycle(chip: Chip, paged: Chip) -> None:
    """Requests to the window take the same cycles on a chip with user pages, and one without."""
    window = [LANES, *(f"{100 + 20 * n} {op} 4 {at:#x}{' 3' if op == 'write' else ''}" for n, (op, at) in enumerate((op, at) for at in (0x68, 0x514, 0x800, 0x1000, 0x3FFC) for op in ("write", "read")))]
    cycles = []
    for one in chip, paged:
        _, seen, _ = one.run(one.script(setup=False), window=window)
        cycles.append([a.cycle for a in seen])
    assert cycles[0] == cycles[1]
