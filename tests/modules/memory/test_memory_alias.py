"""memory_alias: plain requests at alias addresses become atomic operations at the address that the window shows."""

from tests.modules.harness import Bench, Memory, collect, happened

# From 0x1000 on, loads and stores set bits; from 0x2000 on, loads take a run of ones.  Bits 11:8 of a load name the bit.
WINDOWS = """
instance windows : memory_alias {
  operation = <<< return address < 0x1000 ? op : address < 0x2000 ? mem_op_fetch_or : mem_op_take_run; >>>;
  map = <<< return address < 0x1000 ? address : address & 0xff; >>>;
  operand = <<< return op == mem_op_write || address < 0x1000 ? value : address < 0x2000 ? UINT64_C(1) << (address >> 8 & 15) : address >> 8 & 15; >>>;
};
instance memory : memory_state { size = 256 B; };
"""


def windows(bench: Bench, lanes: int) -> Memory:
    joins = "".join(f"requester[{i}].memory -> windows.in;\nwindows.out -> memory.port;\n" for i in range(lanes))
    return Memory(bench, WINDOWS + joins + collect("windows", "converted(lane, op, address)"), lanes)


def test_plain_requests_pass_in_the_same_cycle(bench: Bench) -> None:
    [replies] = windows(bench, 1).play([["3 write 4 0x10 7", "4 read 4 0x10", "5 fetch_add 4 0x10 1", "6 read 4 0x10"]], 10)
    assert [(a.cycle, a.data) for a in replies] == [(3, 0), (4, 7), (5, 7), (6, 8)]


def test_stores_and_loads_of_a_window_set_bits(bench: Bench) -> None:
    script = ["0 write 4 0x20 1", "1 write 4 0x1020 6", "2 read 4 0x20", "3 read 4 0x1520", "4 read 4 0x20"]
    machine = windows(bench, 1)
    [replies] = machine.play([script], 10)
    assert [a.data for a in replies][2:] == [7, 7, 0x27]
    fetch_or = 5  # of mem_op
    assert happened(machine.last, "converted") == [(1, 0, fetch_or, 0x20), (3, 0, fetch_or, 0x20)]


def test_a_load_takes_a_run_once(bench: Bench) -> None:
    """Two that ask in one cycle: one gets the run, the other nothing."""
    scripts = [["0 write 4 0x20 0x6e", "2 read 4 0x2120", "4 read 4 0x20"], ["2 read 4 0x2120"]]
    first, second = windows(bench, 2).play(scripts, 10)
    assert sorted([first[1].data, second[0].data]) == [0, 3]
    assert first[2].data == 0x60


def test_every_requester_needs_a_connection(bench: Bench) -> None:
    text = windows(bench, 2).text.replace("windows.out -> memory.port;\n", "", 1)
    assert "each of the 2 requesters needs a connection to the memory, not 1 in all" in bench.refuse(text)
