"""The host machine's software on QEMU, on the functional machine and on examples/host: it boots, does what it is told, ends the
machine, and says the same each time and everywhere."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from harness.firmware import tool
from tests.hosts import CHECKED, COHERENT, LARGE_WAYS, LEVEL_2, fast, wide
from tests.linux_guest import Guest, build_host, comparable, on_host, on_oracle, on_qemu

pytestmark = [pytest.mark.soak, pytest.mark.optimised]

HELLO = r"""  // says hello, and ends itself, or the machine if it is all there is
static void call(long number, long first, const void *second, long third)
{
  register long v0 __asm__("$2") = number, a0 __asm__("$4") = first, a2 __asm__("$6") = third;
  register const void *a1 __asm__("$5") = second;
  __asm__ volatile("syscall" : "+r"(v0) : "r"(a0), "r"(a1), "r"(a2) : "memory", "$7", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25");
}
void __start(void)
{
  call(4004, 1, "hello from C\n", 13);
#ifdef FIRST_PROCESS
  call(4088, 0xfee1dead, (const void *)672274793, 0x4321fedc);
#endif
  call(4001, 7, 0, 0);
}
"""
FLAGS = ["-mips32r2", "-mno-abicalls", "-fno-pic", "-static", "-nostdlib", "-fuse-ld=lld", "-O2"]


WORK = """
seq 300 | sort -r | md5sum
head -c 200000 /bin/busybox | gzip -c | gunzip | md5sum
mkdir /tmp/files && for i in 1 2 3; do echo "$i" >"/tmp/files/$i"; done
tar -cf - -C /tmp files | tar -tf -
httpd -p 80 -h / && wget -qO - http://127.0.0.1/etc/rc.local | md5sum
ping -c 3 -i 0.2 127.0.0.1 | grep transmitted
echo 'scale=12; 4*a(1)' | bc -l
date -u -d @86400 +%F
sh -c 'kill -SEGV $$'; echo "status $?"
exit 9
"""


def hello(folder: Path, *flags: str) -> Path:
    """A program without a library."""
    (folder / "hello.c").write_text(HELLO)
    subprocess.run([tool("clang"), *FLAGS, *flags, folder / "hello.c", "-o", folder / "hello"], check=True)
    return folder / "hello"


def test_boot_on_qemu(software: Guest, tmp_path: Path) -> None:
    """It prints, runs the script and switches off; the console is the same twice, times included."""
    status, console = on_qemu(software, tmp_path)
    assert status == 0
    lines = console.splitlines()
    assert "Linux version 6.1" in lines[0] and lines[-1].endswith("reboot: Power down")
    assert "init: /etc/rc.local ended with status 0" in lines and "system type\t\t: spinach-host" in lines
    assert not [line for line in lines if "not found" in line or "Kernel panic" in line]
    assert on_qemu(software, tmp_path) == (0, console)


def test_own_program_in_the_initramfs(packed, build_dir: Path, tmp_path: Path) -> None:
    made = packed("hello", hello(tmp_path, "--target=mipsel-linux-gnu"))
    boots = [on_qemu(made, tmp_path), on_oracle(made, build_dir)]
    assert all("\nhello from C\ninit: /etc/rc.local ended with status 7\n" in console for _, console in boots)
    assert [status for status, _ in boots] == [0, 7]  # QEMU's power takes none


def test_boot_on_the_functional_machine(software: Guest, build_dir: Path, tmp_path: Path) -> None:
    """Its console is QEMU's; the same twice, times included; and what is counted says that it all was little work."""
    status, console = on_oracle(software, build_dir)
    assert status == 0 and comparable(console) == comparable(on_qemu(software, tmp_path)[1])
    counted = on_oracle(software, build_dir, "--counts")[1]
    assert counted.startswith(console)
    counts = dict(line.rsplit(maxsplit=1) for line in counted.removeprefix(console).splitlines())
    assert int(counts["instructions"]) < 36e6 and int(counts["unimplemented"]) == 0


def test_a_guest_at_work_says_the_same_on_both(packed, build_dir: Path, tmp_path: Path) -> None:
    """Pipes, compression, a server and its client, time, arithmetic, a program that is killed: all as on QEMU."""
    made = packed(WORK)
    status, console = on_oracle(made, build_dir)
    assert status == 9 and "3 packets transmitted, 3 packets received" in console
    assert comparable(console) == comparable(on_qemu(made, tmp_path)[1])


OFFERED = """
[ -e /proc/locks ] && echo "file locks"
[ -c /dev/ptmx ] && [ -c /dev/pts/ptmx ] && echo "pseudo-terminals"
[ -e /proc/sys/fs/inotify/max_user_watches ] && echo "inotify"
[ -e /proc/sys/fs/mqueue/queues_max ] && echo "message queues"
[ -e /proc/modules ] && echo "modules"
[ -e /proc/net/vlan/config ] && echo "VLANs"
"""


def test_what_programs_expect_of_the_kernel(packed, build_dir: Path) -> None:
    """Databases lock files, ssh and script open terminals, editors and loggers watch files, drivers are modules."""
    status, console = on_oracle(packed(OFFERED), build_dir)
    assert status == 0
    offered = [line for line in console.splitlines() if not line.startswith(("[", "init:"))]
    assert offered == ["file locks", "pseudo-terminals", "inotify", "message queues", "modules", "VLANs"]


@pytest.fixture(scope="module")
def host(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_host(root, build_dir, tmp_path_factory.mktemp("host") / "host")


def test_boot_on_the_host_machine(software: Guest, host: Path, build_dir: Path, tmp_path: Path) -> None:
    """Cycle by cycle: its console is the functional machine's; twice the same; and so is what goes on from a checkpoint."""
    whole = on_host(software, host, tmp_path)
    assert whole[0] == 0 and comparable(whole[1]) == comparable(on_oracle(software, build_dir)[1])
    assert whole[2]["run"]["cycles"]["cpu_clk"] < 70_000_000
    begun = on_host(software, host, tmp_path, "--cycles", 20_000_000, "--checkpoint", "point")
    rest = on_host(software, host, tmp_path, "--restore", "point")
    assert begun[0] == rest[0] == 0 and begun[1] + rest[1] == whole[1] and len(begun[1]) > 1000
    assert rest[2]["statistics"] == whole[2]["statistics"]


def test_boot_with_the_times_of_characters(software: Guest, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Nothing is lost at the end; what the kernel does beside may be done earlier."""
    machine = build_host(root, build_dir, tmp_path / "timed", "instant_uart=false")
    status, console, _ = on_host(software, machine, tmp_path)
    assert status == 0 and sorted(comparable(console).splitlines()) == sorted(comparable(on_oracle(software, build_dir)[1]).splitlines())


def test_a_machine_with_another_clock_has_its_own_tree(software: Guest, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """`make linux MACHINE=…` makes it; the kernel's seconds are the machine's.  The tree of the standard machine is refused."""
    options = '-D cpu_frequency="1350 MHz" -D memory=48MiB'
    subprocess.run(["make", "linux", f"BUILD={build_dir}", f"MACHINE={options}", f"LINUX_OUT={tmp_path}/out"], cwd=root, check=True)
    own = Guest(software.vmlinux, tmp_path / "out/initramfs.cpio", tmp_path / "out/host.dtb")
    machine = build_host(root, build_dir, tmp_path / "fast", "cpu_frequency=1350 MHz", "memory=48MiB")
    status, console, stats = on_host(own, machine, tmp_path)
    assert status == 0
    [ended] = re.findall(r"\[ *([\d.]+)\] reboot: Power down", console)
    assert abs(float(ended) - stats["run"]["cycles"]["cpu_clk"] / 1.35e9) < 0.2 * float(ended)  # before its clock begins, and after the message
    refused = subprocess.run([machine, "--quiet", *map(str, software.options)], cwd=tmp_path, capture_output=True, text=True)
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1
    assert "made for processors at 200000000 Hz, these have 1350000000 Hz" in refused.stderr


# Data caches with one miss at a time and with several, above memory and above a level 2.
MISSES = [[wide(width, mshrs=mshrs), COHERENT, f"l2_size={l2}"] for width, mshrs, l2 in ((4, 8, "0 B"), (8, 1, "0 B"), (4, 2, "256 KiB"))]


@pytest.mark.parametrize("options", [[wide()], [wide(8)], [wide(8, contexts=2)], [wide(), COHERENT], *MISSES], ids=" ".join)
def test_boot_on_a_wide_core(software: Guest, root: Path, build_dir: Path, tmp_path: Path, options: list[str]) -> None:
    """Out of order, with the console of the functional machine; in lockstep, all that is committed is compared.  A second context stays halted."""
    machine = build_host(root, build_dir, tmp_path / "wide", CHECKED, *options)
    status, console, stats = on_host(software, machine, tmp_path)
    assert status == 0 and comparable(console) == comparable(on_oracle(software, build_dir)[1])
    values = {(one["path"], one["name"]): one["value"] for one in stats["statistics"]}
    assert values["system.cpu.core", "compared"] == values["system.cpu.core.core.core.list", "instructions"] > 20_000_000
    assert values["system.cpu.core", "compared_exceptions"] > 5_000 and values["system.cpu.core", "compared_interrupts"] > 50


@pytest.mark.parametrize(("l2", "block"), [("0 B", 32), ("256 KiB", 32), ("256 KiB", 128)])
def test_boot_with_coherent_caches(software: Guest, root: Path, build_dir: Path, tmp_path: Path, l2: str, block: int) -> None:
    """Data stay in the cache that wrote them, and instructions are what the kernel makes sure they are; in lockstep, so that each is right."""
    machine = build_host(root, build_dir, tmp_path / "coherent", COHERENT, f"l2_size={l2}", f"l2_line={block}", CHECKED)
    status, console, stats = on_host(software, machine, tmp_path)
    assert status == 0 and comparable(console) == comparable(on_oracle(software, build_dir)[1])
    [write_backs] = [one["value"] for one in stats["statistics"] if (one["path"], one["name"]) == ("system.cpu.dcache.controller", "write_backs")]
    assert write_backs > 100_000


IDENTITY = [r"CPU0 revision is: 00019300 \(MIPS 24Kc\)", "(Writing|Readback) ErrCtl register=00000000", r"cpu model\t\t: MIPS 24Kc V0\.0"]
FAST = fast([wide(), COHERENT], switch_at='"instructions(10000000)"')


@pytest.mark.parametrize("options", [[], [wide()], [wide(mshrs=8), COHERENT, LEVEL_2], [COHERENT], FAST], ids=lambda options: " ".join(options) or "plain")
def test_boot_with_ways_that_exceed_a_page(software: Guest, root: Path, build_dir: Path, tmp_path: Path, options: list[str]) -> None:
    """A 24K whose data cache has no aliases, with the console of the functional machine but for that; in lockstep."""
    machine = build_host(root, build_dir, tmp_path / "large", CHECKED, *LARGE_WAYS, *options)
    status, console, stats = on_host(software, machine, tmp_path)
    assert status == 0 and "Primary data cache 128kB, 2-way, PIPT, no aliases, linesize 32 bytes" in console
    expected = re.sub(r"^(CPU0 revision is: |cpu model).*\n", "", comparable(on_oracle(software, build_dir)[1]), flags=re.MULTILINE)
    own = re.compile("|".join(IDENTITY))
    lines = comparable(console).splitlines(keepends=True)
    assert "".join(line for line in lines if not own.match(line)) == expected
    assert all(any(re.match(one, line) for line in lines) for one in IDENTITY)
    assert [one["value"] for one in stats["statistics"] if one["name"] == "compared"][0] > 9_000_000


@pytest.mark.parametrize("options", [[], [COHERENT, LEVEL_2], [wide(8), COHERENT], FAST], ids=lambda options: " ".join(options) or "plain")
@pytest.mark.parametrize("line", [16, 64])
def test_boot_with_lines_of_instructions(software: Guest, root: Path, build_dir: Path, tmp_path: Path, line: int, options: list[str]) -> None:
    """Smaller or larger than those of data; in lockstep."""
    if line == 16 and wide(8) in options:
        pytest.skip("eight instructions are 32 bytes")
    machine = build_host(root, build_dir, tmp_path / "lines", CHECKED, f"icache_line={line}", *options)
    status, console, _ = on_host(software, machine, tmp_path)
    assert status == 0 and comparable(console) == comparable(on_oracle(software, build_dir)[1])
    assert f"Primary instruction cache 16kB, VIPT, 4-way, linesize {line} bytes" in console
    assert "Primary data cache 16kB, 4-way, VIPT, no aliases, linesize 32 bytes" in console


@pytest.mark.parametrize("options", [[], [wide()], FAST], ids=lambda options: " ".join(options) or "plain")
def test_boot_with_128_tlb_entries(software: Guest, root: Path, build_dir: Path, tmp_path: Path, options: list[str]) -> None:
    """Linux reads their number in Config4; in lockstep."""
    machine = build_host(root, build_dir, tmp_path / "entries", CHECKED, "tlb_entries=128", *options)
    status, console, _ = on_host(software, machine, tmp_path)
    expected = re.sub(r"(tlb_entries\t\t: )16$", r"\g<1>128", comparable(on_oracle(software, build_dir)[1]), flags=re.MULTILINE)
    assert status == 0 and comparable(console) == expected and "tlb_entries\t\t: 128\n" in expected


def test_a_shell_is_typed_to(packed, host: Path, build_dir: Path, tmp_path: Path) -> None:
    """By a script, on both machines; a checkpoint at the prompt serves another script."""
    made = packed("exec setsid cttyhack sh")
    script, other = tmp_path / "script", tmp_path / "other"
    script.write_text('wait "/ # "\nafter 10 ms\nsend "echo $((6*7))\\n"\nwait "42"\nwait "/ # "\nsend "devmem 0x1f000504 32 5; poweroff -f\\n"\n')
    other.write_text('send "devmem 0x1f000504 32 6; poweroff -f\\n"\n')
    status, console, _ = on_host(made, host, tmp_path, "--console_script", script)
    assert status == 5 and comparable(console) == comparable(on_oracle(made, build_dir, "--console-script", str(script))[1])
    on_host(made, host, tmp_path, "--time", "400 ms", "--checkpoint", "prompt")
    status, console, _ = on_host(made, host, tmp_path, "--restore", "prompt", "--console_script", other)
    assert status == 6 and console.startswith("devmem 0x1f000504") and console.endswith("reboot: Power down\n")


def test_two_hosts_in_one_netlist(packed, host: Path, build_dir: Path, tmp_path: Path) -> None:
    """Each boots to its prompt and does what is typed there: its console and all its statistics are those of a host alone."""
    made = packed("exec setsid cttyhack sh")
    (tmp_path / "two.lss").write_text("import host;\ninstance node[2] : host;\n")
    subprocess.run([build_dir / "bin/lss", "build", tmp_path / "two.lss", "-o", tmp_path / "two"], check=True)
    (tmp_path / "script").write_text('wait "/ # "\nsend "echo $((6*7))\\n"\nwait "42"\nwait "/ # "\n')
    alone = [*made.options, "--console_script", tmp_path / "script"]
    _, console, stats = on_host(None, host, tmp_path, *alone, "--time", "400 ms")
    assert console.endswith("\n42\n/ # \x1b[6n")
    given = [word for n in range(2) for name, value in zip(alone[::2], alone[1::2], strict=True) for word in ("--set", f"node[{n}].{name[2:]}={value}")]
    consoles = [word for n in range(2) for word in ("--set", f"node[{n}].console_output=console{n}")]
    command = [tmp_path / "two", "--quiet", *given, *consoles, "--time", "400 ms", "--stats", "two.json"]
    subprocess.run(list(map(str, command)), cwd=tmp_path, check=True)
    both = {(one["path"], one["name"]): one["value"] for one in json.loads((tmp_path / "two.json").read_text())["statistics"]}
    for n in range(2):
        assert (tmp_path / f"console{n}").read_text() == console
        found = {(one["path"], one["name"]): both[f"node[{n}].{one['path']}", one["name"]] for one in stats["statistics"]}
        assert found == {(one["path"], one["name"]): one["value"] for one in stats["statistics"]}


def big_endian_guest(root: Path, build_dir: Path, folder: Path) -> Guest:
    """The big-endian kernel with one process, which prints and switches off; without the kernel the test is skipped."""
    kernel = build_dir / "linux/out-big/vmlinux"
    if not kernel.exists():
        pytest.skip(f"there is no {kernel}; `make linux ENDIAN=big` makes it")
    made = Guest(kernel, folder / "initramfs.cpio", folder / "host.dtb", big_endian=True)
    hello(folder, "--target=mips-linux-gnu", "-DFIRST_PROCESS").rename(folder / "init")
    made.initramfs.write_bytes(subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], cwd=folder, input=b"init\n", check=True, capture_output=True).stdout)
    subprocess.run([root / "firmware/linux/tree", build_dir / "gen/firmware/linux/host.dts", made.initramfs, made.tree], check=True)
    return made


def test_a_big_endian_kernel_runs_a_program(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """On the functional machine only: on QEMU's its console takes minutes for a line."""
    made = big_endian_guest(root, build_dir, tmp_path)
    status, console = on_oracle(made, build_dir)
    assert status == 0 and "\nhello from C\n" in console and console.endswith("reboot: Power down\n")
