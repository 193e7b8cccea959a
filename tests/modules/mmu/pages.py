"""Pairs of pages as the architecture has them: what tests of TLBs write, and what must be found."""

from dataclasses import dataclass

from tests.modules.mips import struct

KIB = 1024
MISSING = struct(hit=False, valid=False, dirty=False, cacheability=0, mask=0, frame=0)


@dataclass(frozen=True)
class Pair:
    """An entry of a TLB."""

    page: int
    asid: int = 0
    size: int = 4 * KIB
    frames: tuple[int, int] = (0, 0)
    valid: tuple[bool, bool] = (True, True)
    dirty: tuple[bool, bool] = (True, True)
    cacheability: int = 3
    everywhere: bool = False

    def lo(self, odd: int) -> int:
        """EntryLo0 or EntryLo1."""
        flags = self.dirty[odd] << 2 | self.valid[odd] << 1 | self.everywhere
        return self.frames[odd] >> 12 << 6 | self.cacheability << 3 | flags

    def entry(self) -> str:
        return struct(mask=(2 * self.size - 1) & ~0x1FFF, hi=self.page | self.asid, lo0=self.lo(0), lo1=self.lo(1))

    def matches(self, address: int, asid: int) -> bool:
        return (address ^ self.page) & ~(2 * self.size - 1) & 0xFFFFFFFF == 0 and (self.everywhere or asid == self.asid)

    def physical(self, address: int) -> int:
        return self.frames[address & self.size != 0] & ~(self.size - 1) | address & (self.size - 1)

    def found(self, address: int) -> str:
        """What a TLB replies to a lookup of an address that matches."""
        odd = int(address & self.size != 0)
        return struct(
            hit=True, valid=self.valid[odd], dirty=self.dirty[odd], cacheability=self.cacheability, mask=self.size - 1,
            frame=self.physical(address) & ~(self.size - 1),
        )  # fmt: skip


def first_match(pairs: dict[int, Pair], address: int, asid: int) -> Pair | None:
    """Of those at several indices, the one with the lowest."""
    return next((pair for _, pair in sorted(pairs.items()) if pair.matches(address, asid)), None)


def operation(op: str, index: int = 0, entry: str = "{}") -> str:
    return struct(op=op, index=index, entry=entry)
