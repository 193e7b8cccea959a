"""The serial EEPROM on bits 20 to 23 of misc_local_ctl, read by the host as Linux's acenic does it in read_eeprom_byte()."""

from pathlib import Path

import pytest

from tests.modules.harness import Bench
from tests.tigon2.chip import Chip

CLOCK, ENABLE, OUT, IN = 0x100000, 0x200000, 0x400000, 0x800000
LOCAL, BANK = 0x44, 0x200  # the register, and what the driver has set in it before
ADDRESS = bytes.fromhex("0000020000c0ffee")
SHORT, LONG = 200, 400  # cycles of the driver's delays, 2 and 4 us


class Driver:
    """What the driver does at the register; it writes what it has read, but for bits that it changes."""

    def __init__(self) -> None:
        self.cycle, self.local, self.lines = 0, BANK, [f"0 write 4 {LOCAL:#x} {BANK:#x}"]
        self.samples: list[int] = []

    def delay(self, cycles: int) -> None:
        self.cycle += cycles

    def read(self) -> int:
        """Returns the place of the reply."""
        self.lines.append(f"{self.cycle} read 4 {LOCAL:#x}")
        return len(self.lines) - 1

    def write(self, set_bits: int = 0, clear: int = 0) -> None:
        """Each write is followed by a read, which pushes it to the device; data in is not written back as it is read, which means nothing."""
        self.local = (self.local | set_bits) & ~clear
        self.lines.append(f"{self.cycle} write 4 {LOCAL:#x} {self.local:#x}")
        self.read()

    def start(self) -> None:
        self.read()
        self.delay(SHORT)
        for bits, clear in ((OUT | ENABLE, 0), (CLOCK, 0), (0, OUT), (0, CLOCK)):
            self.write(bits, clear)
            self.delay(SHORT)

    def prepare(self, value: int) -> None:
        self.delay(SHORT)
        self.write(ENABLE, OUT)
        for k in range(8):
            bit = value >> (7 - k) & 1
            self.delay(SHORT)
            self.write(OUT if bit else 0, 0 if bit else OUT)
            self.delay(SHORT)
            self.write(CLOCK)
            self.delay(SHORT)
            self.write(0, CLOCK | OUT)

    def sample(self) -> None:
        self.write(0, ENABLE)
        self.delay(LONG)
        self.write(CLOCK)
        self.delay(SHORT)
        self.samples.append(self.read())
        self.delay(SHORT)
        self.write(0, CLOCK)

    def stop(self) -> None:
        for bits, clear in ((ENABLE, 0), (0, OUT), (CLOCK, 0), (OUT, 0), (0, CLOCK)):
            self.delay(SHORT)
            self.write(bits, clear)

    def read_byte(self, offset: int) -> None:
        self.start()
        for value in (0xA0, offset >> 8, offset & 255):
            self.prepare(value)
            self.sample()
        self.start()
        self.prepare(0xA1)
        self.sample()
        for k in range(8):
            self.sample()
            if k == 7:
                self.write(ENABLE)
        self.write(OUT)
        self.delay(SHORT)
        self.write(CLOCK)
        self.delay(LONG)
        self.write(0, CLOCK)
        self.stop()


@pytest.fixture(scope="session")
def with_eeprom(bench: Bench, root: Path) -> Chip:
    return Chip(bench, root, options=f'eeproms = 1; eeprom_contents = "0x8c={ADDRESS.hex()}";')


def test_the_driver_reads_its_address(with_eeprom: Chip) -> None:
    """Each byte is acknowledged four times, data low, and the line shows what the chip drives while it drives it."""
    driver = Driver()
    for offset in range(8):
        driver.read_byte(0x8C + offset)
    _, window, _ = with_eeprom.run(window=driver.lines, cycles=driver.cycle + 20000)
    bits = [int(bool(window[place].data & IN)) for place in driver.samples]
    read = [bits[k : k + 12] for k in range(0, len(bits), 12)]
    assert [byte[:4] for byte in read] == [[0] * 4] * 8
    assert bytes(int("".join(map(str, byte[4:])), 2) for byte in read) == ADDRESS
    for place, line in enumerate(driver.lines[1:], 1):
        before = driver.lines[place - 1].split()
        driven = int(before[-1], 0)
        if "read" in line and before[1] == "write" and driven & ENABLE:
            assert window[place].data == driven & ~IN | (IN if driven & OUT else 0)
    assert with_eeprom.last.stat("nic.eeprom[0]", "read_bytes") == 8


def test_without_an_eeprom_the_register_keeps_what_is_written(chip: Chip) -> None:
    _, window, _ = chip.run(window=[f"0 write 4 {LOCAL:#x} 0xd00200", f"1 read 4 {LOCAL:#x}"])
    assert window[1].data == 0xD00200
    assert not [one for one in chip.last.stats["statistics"] if "eeprom" in one["path"]]
