"""Memory modules stack in any order: machines of random modules with random parameters between requesters and memory.

Each requester has a stretch of memory of its own, so what it reads is known: every reply must have its tag, come in order and
carry what a model of bytes says, through caches, crossings, routers, widths and controllers, whatever stands behind what.
"""

import random

import pytest

from tests.modules.harness import Bench, Bytes, read_replies
from tests.sample import sampled

SIZE, UNIT, COUNT = 2048, 8, 300  # bytes of memory; requests stay inside aligned blocks of UNIT bytes; requests of a requester
ORDINARY = ["crossing", "delay", "width", "router", "cache", "cache", "sram", "dram", "banks", "gate", "alias", "arbiter", "filter", "split", "pipes"]
SPLIT = {
    "banks": "memory_crossbar {{ width = {w}; interleave = {block}; outstanding = {few}; }}",
    "split": "memory_router {{ width = {w}; outstanding = {few}; route = <<< return address >> 6 & 1 ? lane(out, far) : lane(out, near); >>>; }}",
    "filter": "scratchpad_filter {{ width = {w}; map = <<< return address >> 7 & 1 ? filter_target_scratchpad : filter_target_main; >>>; }}",
}
PLAIN = {
    "delay": "memory_delay {{ width = {w}; depth = {few}; latency = {few}; jitter = {few}; refuse = 0.2; }}",
    "router": "memory_router {{ width = {w}; outstanding = {few}; route = <<< return lane(out, memory); >>>; }}",
    "sram": "sram_controller {{ width = {w}; first_access = {few}; next_access = {one}; burst = {few}; gap = {one}; queue = {few}; }}",
    "dram": "dram_controller {{ width = {w}; banks = 4; row = 64; burst = {few}; turnaround = {one}; close_page = {maybe}; refresh_interval = 60; refresh_time = 9; queue = {few}; }}",
    "gate": "memory_gate {{ width = {w}; }}",
    "alias": "memory_alias {{ width = {w}; operation = <<< return op; >>>; map = <<< return address; >>>; }}",
    "arbiter": "memory_arbiter {{ width = {w}; policy = <<< return keep_at_most(requests, last, served, 3); >>>; }}",
}


class Stack:
    """A random machine; `text` is its netlist."""

    def __init__(self, seed: int) -> None:
        self.random, self.names, self.narrowest = random.Random(seed), 0, 128
        self.big = str(self.random.random() < 0.5).lower()
        self.text = "import memory_types;\n" + "".join(f"clock clk{k} = {self.random.choice([66, 88, 100, 250])} MHz;\n" for k in range(3))
        self.widths = [self.random.choice([16, 32, 64, 128]) for _ in range(self.random.choice([1, 2, 3]))]
        ends = []
        for i, width in enumerate(self.widths):
            clock = self.clock()
            self.text += f"instance requester{i} : memory_source on {clock} {{ width = {width}; }};\n"
            ends.append(self.chain((f"requester{i}.memory", width, clock), self.random.randrange(4), True))
        port, width, clock = self.chain(self.join(ends), self.random.randrange(4), True)
        self.add(port, clock, f"memory_state {{ width = {width}; size = {SIZE} B; big_endian = {self.big}; }}", "port")

    def clock(self) -> str:
        return f"clk{self.random.randrange(3)}"

    def add(self, port: str, clock: str, module: str, to: str = "in") -> str:
        """An instance behind a port; its name."""
        self.names += 1
        name, kind = f"m{self.names}", module.split(" ", 1)
        self.text += f"instance {name} : {kind[0]}{f' on {clock}' if clock else ''} {kind[1]};\n{port} -> {name}.{to};\n"
        return name

    def chain(self, end: tuple[str, int, str], length: int, apart: bool) -> tuple[str, int, str]:
        """`length` modules behind an end (port, width, clock); `apart`: nobody else reaches the addresses that come here."""
        for _ in range(length):
            end = self.module(self.random.choice(ORDINARY), *end, apart)
        return end

    def module(self, kind: str, port: str, width: int, clock: str, apart: bool) -> tuple[str, int, str]:
        r = self.random
        self.narrowest = min(self.narrowest, width)
        words = {"w": width, "few": r.choice([1, 2, 5]), "one": r.choice([1, 2]), "block": r.choice([32, 64]), "maybe": r.choice(["true", "false"])}
        if kind == "crossing":
            name = self.add(port, "", f"memory_crossing {{ width = {width}; requests = {words['few']}; outstanding = {r.choice([1, 8])}; stages = {words['one']}; }}")
            return f"{name}.out", width, self.clock()
        if kind == "width":
            to = r.choice([16, 32, 64, 128])
            name = self.add(port, clock, f"memory_width {{ from = {width}; to = {to}; held = {words['few']}; big_endian = {self.big}; }}")
            return f"{name}.out", to, clock
        if kind == "cache":
            fill = min(width * r.choice([1, 2]), 128)
            line = max(fill // 8, UNIT, r.choice([8, 32] if not apart else [8, 32, 128]))
            options = f"width = {width}; fill_width = {fill}; line = {line}; sets = {r.choice([1, 2, 4])}; ways = {r.choice([1, 2, 3, 8])}; big_endian = {self.big}; write_buffer = {r.choice([0, 1, 4])};"
            for name in ("write_back", "write_allocate", "critical_first", "post_uncacheable", "separate"):
                options += f" {name} = {r.choice(['true', 'false'])};"
            options += f" replacement = cache_replacement.{r.choice(['lru', 'random'])}; cacheable = <<< return address >> {r.choice([7, 9])} & {words['one']}; >>>;"
            name = self.add(port, clock, f"cache {{ {options} }}")
            if r.random() < 0.3:
                self.names += 1
                self.text += f"instance m{self.names} : source on {clock} {{ generate = <<< return index & 1; >>>; interval = 23; }};\nm{self.names}.out -> {name}.invalidate_all;\n"
            return f"{name}.memory", fill, clock
        if kind == "pipes":  # time on the way there and back
            there = self.add(f"{port}.request", clock, "pipe { depth = 2; }")
            name = self.add(f"{there}.out", clock, f"memory_gate {{ width = {width}; }}", "in.request")
            back = self.add(f"{name}.in.reply", clock, "pipe { depth = 3; }")
            self.text += f"{back}.out -> {port}.reply;\n"
            return f"{name}.out", width, clock
        if kind in SPLIT:
            name = self.add(port, clock, SPLIT[kind].format(**words))
            ends_of = {"filter": ("scratchpad", "main"), "split": ('out["near"]', 'out["far"]'), "banks": ("out[0]", "out[1]")}
            ports = [f"{name}.{end}" for end in ends_of[kind]]
            ends = [(f"{self.add(p, clock, f'memory_gate {{ width = {width}; }}')}.out", width, clock) for p in ports]
            return self.join([self.chain(end, r.choice([0, 0, 1]) if apart else 0, False) for end in ends])
        if kind == "alias" and width > 64 or kind not in PLAIN:
            kind = "gate"
        end = {"sram": "memory", "dram": "memory", "router": 'out["memory"]'}.get(kind, "out")
        return f"{self.add(port, clock, PLAIN[kind].format(**words))}.{end}", width, clock

    def join(self, ends: list[tuple[str, int, str]]) -> tuple[str, int, str]:
        """One port for several, of one width and in one clock domain."""
        width, clock = max(end[1] for end in ends), self.clock()
        ports = []
        for port, own, domain in ends:
            if own != width:
                port = f"{self.add(port, domain, f'memory_width {{ from = {own}; to = {width}; big_endian = {self.big}; }}')}.out"
            ports.append(f"{self.add(port, '', f'memory_crossing {{ width = {width}; }}')}.out" if domain != clock else port)
        name = self.add(ports[0], clock, f"memory_arbiter {{ width = {width}; }}")
        self.text += "".join(f"{port} -> {name}.in;\n" for port in ports[1:])
        return f"{name}.out", width, clock

    def script(self, i: int) -> tuple[list[str], list[tuple[int, int | None]]]:
        """Requests of requester i, and the tag and the value of each reply (None: it has none)."""
        r, width, model = self.random, self.widths[i], Bytes(SIZE, "big" if self.big == "true" else "little")
        lines, right, cycle = [], [], 0
        for _ in range(COUNT):
            cycle += r.choice([0, 0, 1, 5]) if r.random() < 0.98 else 60
            op = r.choice(["read"] * 5 + ["write"] * 5 + ["swap", "fetch_add", "fetch_or"])
            size = r.randint(1, min(width // 8, UNIT)) if op in ("read", "write") else r.choice([s for s in (1, 2, 4) if 8 * s <= self.narrowest])
            offset = r.randrange(UNIT - size + 1) if op in ("read", "write") else r.randrange(UNIT // size) * size
            address = i * SIZE // 4 + r.choice([r.randrange(8), r.randrange(SIZE // 4 // UNIT)]) * UNIT + offset
            sign, value, tag = op == "read" and r.random() < 0.3, r.getrandbits(8 * size), r.getrandbits(12)
            lines.append(f"{cycle} {op} {'-' if sign else ''}{size} {address} {value} {tag}")
            old = model.read(address, size, sign, width)
            right.append((tag, None if op == "write" else old))
            new = {"read": None, "write": value, "swap": value, "fetch_add": old + value, "fetch_or": old | value}[op]
            if new is not None:
                model.write(address, size, new)
        return lines, right


@pytest.mark.parametrize("seed", sampled(range(8), every=8, first=2))
def test_stacks(bench: Bench, seed: int) -> None:
    machine = Stack(seed)
    files, settings, expected = {}, {}, []
    for i in range(len(machine.widths)):
        lines, right = machine.script(i)
        files[f"script{i}"] = "\n".join(lines) + "\n"
        expected.append(right)
        settings |= {f"requester{i}.script": f"script{i}", f"requester{i}.record": f"seen{i}", f"requester{i}.outstanding": machine.random.choice([1, 2, 16])}
        settings |= {f"requester{i}.offer": machine.random.choice([1.0, 0.5]), f"requester{i}.cancel": machine.random.choice([0.0, 0.3])}
    ran = bench.run(bench.build(machine.text, "--debug", "-O0"), 200000, settings, seed=seed, files=files)
    for i, right in enumerate(expected):
        replies = read_replies(ran.directory / f"seen{i}")
        assert [(a.tag, a.error) for a in replies] == [(tag, False) for tag, _ in right]
        wrong = [(a, value) for a, (_, value) in zip(replies, right) if value is not None and a.data != value]
        assert not wrong, f"{machine.text}\nrequester {i}: {wrong[0]}"
