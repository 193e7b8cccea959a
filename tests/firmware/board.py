"""A host, in Python, around the functional model of the chip: its memory, its rings, its driver's side of the protocol."""

import ctypes
import struct
from pathlib import Path

NIC_SENDS = 0x2000  # in the NIC's memory
INFORMATION, EVENTS, STATUS, SENDS = 0x1000, 0x2000, 0x3000, 0x4000
STANDARD, JUMBO, MINI, RETURNS = 0x8000, 0x10000, 0x18000, 0x20000
SEND_BUFFERS, RECEIVE_BUFFERS = 0x100000, 0x200000
SEND_ENTRIES, RETURN_ENTRIES = 512, 2048
KINDS = {"standard": (STANDARD, 512, 3, 0), "jumbo": (JUMBO, 256, 4, 0x10), "mini": (MINI, 1024, 5, 0x1000)}
END, VLAN = 0x4, 0x200
TIMER, RX_PRODUCER, READ_PRODUCER, WRITE_PRODUCER = 0x54, 0xC4, 0x100, 0x120
PACKETS_END = 0x200000  # of the NIC's memory for frames


def turned(data: bytes) -> bytes:
    """The bytes of each 32-bit word in opposite order; what is no whole word stays."""
    whole = len(data) // 4 * 4
    return b"".join(data[i : i + 4][::-1] for i in range(0, whole, 4)) + data[whole:]


class Board:
    """The chip with the firmware up, rings laid out and the host declared up.

    A little-endian host lays out what both sides read as native words (mode without 0x02), as a big-endian one does that keeps
    the order of bytes (mode with 0x02).
    """

    def __init__(
        self, library: Path, elf: Path, assist: bool = True, lengths: dict | None = None, processors: int = 1,
        seed: int = 1, **settings,
    ) -> None:  # fmt: skip
        lib = self.lib = ctypes.CDLL(str(library))
        lib.model_new.restype = lib.model_host.restype = lib.model_sram.restype = ctypes.c_void_p
        lib.model_run.restype, lib.model_receive.restype = ctypes.c_char_p, ctypes.c_bool
        lib.model_executed.restype = ctypes.c_uint64
        self.chip = ctypes.c_void_p(lib.model_new(str(elf).encode(), processors, seed))
        assert self.chip.value, f"{elf} cannot be loaded"
        self.host = (ctypes.c_uint8 * (1 << 22)).from_address(lib.model_host(self.chip))
        self.sram = (ctypes.c_uint8 * (1 << 20)).from_address(lib.model_sram(self.chip))
        self.begin = settings.pop("begin", 0)  # the address of host memory
        lib.model_place(self.chip, ctypes.c_uint64(self.begin))
        self.lengths = {"standard": 1518, "jumbo": 0, "mini": 0} | (lengths or {})
        self.flags = {"standard": 0, "send": 0, "returns": 0} | settings.pop("flags", {})
        self.nic_ring = settings.pop("nic_ring", False)
        self.little = settings.pop("little", False)
        enabled = settings.pop("assist_enabled", int(assist))  # AssistState at the start
        timer = settings.pop("timer", 0)  # likewise
        self.offset = settings.pop("offset", 2)  # of a frame in its buffer
        self.posted = dict.fromkeys(KINDS, 0)
        self.sends = self.commands = self.returned = self.events_seen = 0
        self.shared = {"mode": settings.pop("mode", 0x4000021C if self.little else 0x12) | (0x40 if assist else 0), "most_sent": 1, "most_received": 1, "send_ticks": 100,
                       "receive_ticks": 100, "statistics_ticks": 0} | settings  # fmt: skip
        lib.model_write(self.chip, 0x11C, enabled)
        lib.model_write(self.chip, TIMER, timer)
        self._prepare()
        self.until(lambda: self.events(), "the event that the firmware is up", 2_000_000)
        self.command(1, 1)
        self.until(lambda: len(self.events()) >= 2, "the link event")

    def close(self) -> None:
        self.lib.model_free(self.chip)

    def word(self, address: int) -> int:
        return int.from_bytes(self.words(address, 4), "big")

    def words(self, address: int, size: int) -> bytes:
        """What both sides read, as the chip sees it."""
        data = bytes(self.host[address : address + size])
        return turned(data) if self.little else data

    def high_low(self, place: int) -> tuple[int, int]:
        """The address of a place in host memory."""
        return divmod(self.begin + place, 1 << 32)

    def put_words(self, address: int, data: bytes) -> None:
        self.put(address, turned(data) if self.little else data)

    def put(self, address: int, data: bytes) -> None:
        self.host[address : address + len(data)] = data

    def share(self, address: int, value: int) -> None:
        self.sram[address : address + 4] = value.to_bytes(4, "big")

    def _prepare(self) -> None:
        def control(place: int, length: int, flags: int = 0, on_host: bool = True) -> bytes:
            return struct.pack(">IIHHI", *(self.high_low(place) if on_host else (0, place)), length, flags if length else 0x200, 0)

        place, where = (NIC_SENDS, 0) if self.nic_ring else (SENDS, 0x40)
        rings = control(EVENTS, 256) + control(0, 64) + control(place, SEND_ENTRIES, where | self.flags["send"], not self.nic_ring)
        for kind, (address, _, _, _) in KINDS.items():
            rings += control(address, self.lengths[kind], self.flags["standard"])
        rings += control(RETURNS, RETURN_ENTRIES, self.flags["returns"])
        rings += b"".join(struct.pack(">II", *self.high_low(place)) for place in (STATUS, STATUS + 16, STATUS + 32, INFORMATION))
        self.put_words(INFORMATION + 0x400, rings)
        shared = self.shared
        for address, value in {
            0x200: 0x0200, 0x204: 0x00000001, 0x208: self.high_low(INFORMATION)[0], 0x20C: self.high_low(INFORMATION)[1], 0x218: shared["mode"], 0x21C: 0x80, 0x220: 0x80, 0x224: 21,
            0x230: shared["receive_ticks"], 0x234: shared["send_ticks"], 0x238: shared["statistics_ticks"],
            0x23C: shared["most_sent"], 0x240: shared["most_received"], 0x248: 0x1234,
        }.items():  # fmt: skip
            self.share(address, value)

    def run(self, instructions: int = 2000) -> None:
        stopped = self.lib.model_run(self.chip, ctypes.c_uint64(instructions))
        assert stopped is None, stopped.decode()

    def until(self, condition, what: str, limit: int = 400_000) -> None:
        for _ in range(limit // 500):
            if condition():
                return
            self.run(500)
        raise AssertionError(f"{what} did not come within {limit} instructions")

    def mailbox(self, number: int, value: int) -> None:
        self.lib.model_mailbox(self.chip, number, value)

    def command(self, code: int, sub: int = 0) -> None:
        self.share(0x300 + 4 * (self.commands % 64), code << 24 | sub << 12)
        self.commands += 1
        self.mailbox(1, self.commands % 64)

    def events(self) -> list[tuple[int, int]]:
        """All events so far, as (event, code)."""
        words = [self.word(EVENTS + 8 * k) for k in range(self.word(STATUS))]
        return [(word >> 24, word >> 12 & 0xFFF) for word in words]

    def post(self, kind: str, count: int) -> None:
        """Gives buffers; the opaque word names ring and number."""
        address, entries, mailbox, flags = KINDS[kind]
        for _ in range(count):
            index = self.posted[kind]
            size = 0x2800 if kind == "jumbo" else 0x800
            buffer = RECEIVE_BUFFERS + 0x80000 * list(KINDS).index(kind) + index % (0x80000 // size) * size
            entry = struct.pack(
                ">IIHHHHIIII", *self.high_low(buffer + self.offset), index, 0, 0, flags, 0xDEADBEEF, 0xDEADBEEF, 0, mailbox << 16 | index
            )
            self.put_words(address + 32 * index, entry)
            self.posted[kind] = (index + 1) % entries
        self.mailbox(mailbox, self.posted[kind])

    def receive(self, frame: bytes) -> bool:
        return self.lib.model_receive(self.chip, frame, len(frame))

    def returns(self) -> list[dict]:
        """What the firmware has returned since the last call."""
        found = []
        while self.returned != self.word(STATUS + 16):
            entry = self.words(RETURNS + 32 * self.returned, 32)
            high, low, index, length, _, flags, checksums, error, _, opaque = struct.unpack(">IIHHHHIIII", entry)
            place = (high << 32 | low) - self.begin
            data = bytes(self.host[place : place + length])
            found.append(
                {
                    "data": data,
                    "index": index,
                    "flags": flags,
                    "checksum": checksums & 0xFFFF,
                    "ip_sum": checksums >> 16,
                    "error": error,
                    "opaque": opaque,
                }
            )
            self.returned = (self.returned + 1) % RETURN_ENTRIES
        return found

    def send(self, pieces: list[bytes], vlan: int | None = None, flags: int = 0) -> None:
        """A frame in pieces; the mailbox is for the caller, so that several can be announced at once."""
        for k, piece in enumerate(pieces):
            buffer = SEND_BUFFERS + self.sends % SEND_ENTRIES * 0x800
            self.put(buffer, piece)
            bits = flags | (END if k + 1 == len(pieces) else 0) | (VLAN if vlan is not None else 0)
            entry = struct.pack(">IIHHHH", *self.high_low(buffer), len(piece), bits, 0, vlan or 0)
            at = 16 * (self.sends % SEND_ENTRIES)
            if self.nic_ring:
                self.sram[NIC_SENDS + at : NIC_SENDS + at + 16] = entry
            else:
                self.put_words(SENDS + at, entry)
            self.sends += 1

    def announce(self) -> None:
        self.mailbox(2, self.sends % SEND_ENTRIES)

    def sent(self) -> list[tuple[bytes, int]]:
        """Frames that left since the last call, with their VLAN tag or -1."""
        found, buffer, vlan = [], (ctypes.c_uint8 * 16384)(), ctypes.c_int32()
        while length := self.lib.model_sent(self.chip, buffer, ctypes.byref(vlan)):
            found.append((bytes(buffer[:length]), vlan.value))
        return found

    def sent_index(self) -> int:
        return self.word(STATUS + 32)
