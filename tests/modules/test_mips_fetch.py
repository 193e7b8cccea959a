"""mips_fetch: one word ahead, redirection behind the delay slot, halting, stepping, and memories of any speed."""

from tests.modules.harness import Bench, Device, Ran

IMPORTS = "import mips_types;\nimport memory_types;\nimport core_types;"


def asks(address: int) -> str:
    return f"{{op=read size=4 sign=false tag=0 address={address} data=0}}"


def answer(data: int, error: bool = False) -> str:
    return f"{{tag=0 error={str(error).lower()} latency=0 data={data}}}"


def word(pc: int, data: int, fresh: bool = False, error: bool = False) -> str:
    return f"{{pc={pc} word={data} fresh={str(fresh).lower()} error={str(error).lower()}}}"


def status(pc: int, halted: bool) -> str:
    return f"{{halted={str(halted).lower()} fault=false pc={pc}}}"


def command(**parts: object) -> str:
    text = " ".join(f"{name}={str(value).lower()}" for name, value in parts.items())
    return f"{{{text}}}"


class Fetch:
    """The unit between scripted sources and sinks: memory.request and memory.reply are ports of their own here."""

    def __init__(self, bench: Bench, body: str = "", controlled: bool = False) -> None:
        ports = {
            "memory.request": ("out", 1, "mem_request(32)"), "memory.reply": ("in", 1, "mem_reply(32)"),
            "out": ("out", 1, "mips_fetched"), "redirect": ("in", 1, "uint32"),
        }  # fmt: skip
        if controlled:
            ports |= {"control": ("in", 1, "core_control"), "done": ("in", 1, "bool"), "status": ("out", 1, "core_status")}
        self.device = FlatDevice(bench, "mips_fetch", ports, body, IMPORTS)

    def check(self, table: str, **settings: object) -> Ran:
        return self.device.check_table(table, settings)


class FlatDevice(Device):
    """A Device whose ports may be members of bundles: `memory.request` becomes the instances memory_request_...."""

    def __init__(self, bench: Bench, module: str, ports: dict[str, tuple[str, int, str]], body: str, before: str) -> None:
        flat = {name.replace(".", "_"): value for name, value in ports.items()}
        names = {name.replace(".", "_"): name for name in ports}

        class Renamed:
            def build(self, text: str, *options: str):
                for plain, dotted in names.items():
                    text = text.replace(f"dut.{plain};", f"dut.{dotted};").replace(f"dut.{plain} ->", f"dut.{dotted} ->")
                return bench.build(text, *options)

            def __getattr__(self, name: str):
                return getattr(bench, name)

        super().__init__(Renamed(), module, flat, body, before)
