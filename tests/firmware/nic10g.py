"""A host, in Python, around the functional model of the 10 Gb/s NIC: its memory, its rings, its driver's side."""

import ctypes
import struct
from pathlib import Path

SENDS, BUFFERS, RETURNS, STATUS = 0x1000, 0x4000, 0x8000, 0x200
SEND_DATA, RECEIVE_DATA = 0x10000, 0x200000
RING, RETURN_ENTRIES = 512, 1024
SEND_PRODUCER, RECEIVE_PRODUCER, FETCH_PRODUCER, EVENTS, INTERRUPT = 0x40, 0x44, 0xA0, 0x20, 0x30
END = 4
ORDERINGS = {"best": 0, "locked": 1, "linked": 2, "atomic": 3}


class Board:
    """The chip with the firmware up and rings laid out."""

    def __init__(
        self, library: Path, elf: Path, cores: int, ordering: str = "best", seed: int = 1, **setup: int
    ) -> None:
        lib = self.lib = ctypes.CDLL(str(library))
        lib.nic_new.restype = lib.nic_host.restype = ctypes.c_void_p
        lib.nic_run.restype, lib.nic_receive.restype = ctypes.c_char_p, ctypes.c_bool
        lib.nic_register.restype = ctypes.c_uint32
        features = 1 if ordering in ("best", "atomic") else 0
        self.chip = ctypes.c_void_p(lib.nic_new(str(elf).encode(), cores, features, ctypes.c_uint64(seed)))
        assert self.chip.value, f"{elf} cannot be loaded"
        self.host = (ctypes.c_uint8 * (1 << 22)).from_address(lib.nic_host(self.chip))
        words = {"send_ring": SENDS, "send_entries": RING, "receive_ring": BUFFERS, "receive_entries": RING,
                 "return_ring": RETURNS, "return_entries": RETURN_ENTRIES, "status_block": STATUS,
                 "receive_most": 8, "receive_ticks": 20, "send_most": 16, "send_ticks": 20, "buffer_bytes": 1536,
                 "ordering": ORDERINGS[ordering], "bundle": 0} | setup  # fmt: skip
        for place, value in enumerate(words.values()):
            lib.nic_setup(self.chip, 4 * place, value)
        self.posted = self.returned = self.sends = self.interrupts = 0
        lib.nic_start(self.chip)
        self.until(lambda: self.word(STATUS + 8) == 1, "the firmware up")

    def close(self) -> None:
        self.lib.nic_free(self.chip)
        self.chip = ctypes.c_void_p()

    def word(self, address: int) -> int:
        return int.from_bytes(bytes(self.host[address : address + 4]), "big")

    def put(self, address: int, data: bytes) -> None:
        self.host[address : address + len(data)] = data

    def run(self, instructions: int = 2000) -> None:
        stopped = self.lib.nic_run(self.chip, ctypes.c_uint64(instructions))
        assert stopped is None, stopped.decode()
        if self.lib.nic_register(self.chip, INTERRUPT) & 1:
            self.interrupts += 1
            self.lib.nic_write(self.chip, INTERRUPT, 0)

    def until(self, condition, what: str, limit: int = 2_000_000) -> None:
        for _ in range(limit // 500):
            if condition():
                return
            self.run(500)
        raise AssertionError(f"{what} did not come within {limit} instructions")

    # ---- Receive -------------------------------------------------------------------------------------------------
    def post(self, count: int) -> None:
        """Gives buffers, each with an opaque word of its own."""
        for _ in range(count):
            buffer = RECEIVE_DATA + self.posted % RING * 0x800 + 2
            entry = struct.pack(">IIHHI", 0, buffer, 1536, 0, 0xA0000000 + self.posted)
            self.put(BUFFERS + 16 * (self.posted % RING), entry)
            self.posted += 1
        self.lib.nic_write(self.chip, RECEIVE_PRODUCER, self.posted)

    def receive(self, frame: bytes) -> bool:
        return self.lib.nic_receive(self.chip, frame, len(frame))

    def received(self) -> list[bytes]:
        """Frames that the host was told of since the last call, in order; checks whose buffers they took."""
        found = []
        while self.returned != self.word(STATUS):
            at = RETURNS + 8 * (self.returned % RETURN_ENTRIES)
            opaque, status, length = struct.unpack(">IHH", bytes(self.host[at : at + 8]))
            assert (opaque, status) == (0xA0000000 + self.returned, 0)
            buffer = RECEIVE_DATA + self.returned % RING * 0x800 + 2
            found.append(bytes(self.host[buffer : buffer + length]))
            self.returned += 1
        return found

    # ---- Send ----------------------------------------------------------------------------------------------------
    def room(self) -> int:
        """Send descriptors that the host may write."""
        return RING - 1 - (self.sends - self.word(STATUS + 4))

    def send(self, *pieces: bytes) -> None:
        for number, piece in enumerate(pieces, 1):
            buffer = SEND_DATA + self.sends % RING * 0x600 + 6
            self.put(buffer, piece)
            flags = END if number == len(pieces) else 0
            self.put(SENDS + 16 * (self.sends % RING), struct.pack(">IIHHI", 0, buffer, len(piece), flags, 0))
            self.sends += 1
        self.lib.nic_write(self.chip, SEND_PRODUCER, self.sends)

    def sent(self) -> list[bytes]:
        """Frames that left since the last call."""
        found, buffer = [], (ctypes.c_uint8 * 2048)()
        while length := self.lib.nic_sent(self.chip, buffer):
            found.append(bytes(buffer[:length]))
        return found
