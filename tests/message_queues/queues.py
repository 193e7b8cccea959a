"""A kernel module and a user's program, in Python, around the message queues of firmware/tigon2_messages on the functional model."""

import re
import struct
from dataclasses import dataclass, field
from pathlib import Path

from tests.firmware.board import Board

HEADER = Path(__file__).parents[2] / "firmware/lib/message_queues.h"
PEER, OWN = bytes.fromhex("020000000002"), bytes.fromhex("020000000001")
COMPLETIONS = 0x30000  # in host memory; the buffers' pages are from here on
PAGES = 0x31000
ETHERNET, MESSAGE = 14, 16


def constants() -> dict[str, int]:
    """The numbers of the header that host software includes."""
    text = re.sub(r"//.*", "", HEADER.read_text())
    found = {name: int(value, 0) for name, value in re.findall(r"\b(MESSAGE_\w+) = (0x\w+|\d+)", text)}
    drops = re.search(r"enum message_drop \{([^}]*)\}", text)
    return found | {name: n for n, name in enumerate(re.findall(r"MESSAGE_DROP_\w+", drops[1] if drops else ""))}


C = constants()
ENTRIES, PAGE, DATA, TYPE = C["MESSAGE_ENTRIES"], C["MESSAGE_PAGE"], C["MESSAGE_DATA"], C["MESSAGE_TYPE"]


def frames_of(message: bytes, number: int, to: bytes = PEER, source: bytes = OWN) -> list[bytes]:
    """The frames of a message on the wire, without padding."""
    made = []
    for offset in range(0, len(message), DATA):
        data = message[offset : offset + DATA]
        head = to + source + struct.pack(">HHIIIH", TYPE, 0, number, offset, len(message), len(data))
        made.append(head + data)
    return made


def header_of(frame: bytes) -> tuple[int, int, int, int]:
    """Number, offset, length of the message, length of the data."""
    return struct.unpack(">IIIH", frame[16:30])


@dataclass
class Queues:
    """The queues, opened by the kernel, and a program's memory of pages that do not follow each other."""

    board: Board
    pages: int = 48
    area: int = 0
    counts: dict[str, int] = field(default_factory=lambda: {"send": 0, "receive": 0})

    def __post_init__(self) -> None:
        self.area = self.nic(C["MESSAGE_POINTER"])
        self.control = self.area + 0x2000
        assert self.nic(self.control) == C["MESSAGE_MAGIC"] and self.area % PAGE == 0
        for n in range(self.pages):
            self.set_page(n, self.host_page(n) | self.pages - n)
        self.open()

    def open(self) -> None:
        self.counts = {"send": 0, "receive": 0}
        self.board.host[COMPLETIONS : COMPLETIONS + 0x410] = bytes(0x410)
        for n, value in enumerate([1, self.board.begin + COMPLETIONS, 0x0200, 0x00000002], 1):
            self.board.share(self.control + 4 * n, value)

    def close(self) -> None:
        self.board.share(self.control + 4, 0)
        self.board.mailbox(C["MESSAGE_SEND_MAILBOX"], 0)
        self.board.until(lambda: self.nic(self.control + 20) == 0, "the queues to be closed")

    def nic(self, address: int) -> int:
        return int.from_bytes(bytes(self.board.sram[address : address + 4]), "big")

    def set_page(self, number: int, value: int) -> None:
        self.board.share(self.area + 0x1000 + 4 * number, value)

    def place(self, page: int) -> int:
        """Where a page of the buffer is in host memory: neighbours are far apart."""
        return PAGES + (page * 29 % self.pages) * PAGE

    def host_page(self, page: int) -> int:
        return self.board.begin + self.place(page)

    def put(self, at: int, data: bytes) -> None:
        """Into the buffer that begins with page 0."""
        for n, byte in enumerate(data):
            self.board.host[self.place((at + n) // PAGE) + (at + n) % PAGE] = byte

    def get(self, at: int, count: int) -> bytes:
        return bytes(self.board.host[self.place(n // PAGE) + n % PAGE] for n in range(at, at + count))

    def post(self, queue: str, offset: int, length: int, buffer: int = 0, flags: int = 0) -> int:
        """Returns the entry's number; the doorbell is for the caller."""
        number = self.counts[queue]
        at = self.area + (0x400 if queue == "receive" else 0) + number % ENTRIES * 16
        for n, value in enumerate((buffer, offset, length, flags)):
            self.board.share(at + 4 * n, value & 0xFFFFFFFF)
        self.counts[queue] += 1
        return number

    def ring(self, queue: str, count: int | None = None) -> None:
        mailbox = C["MESSAGE_RECEIVE_MAILBOX" if queue == "receive" else "MESSAGE_SEND_MAILBOX"]
        self.board.mailbox(mailbox, self.counts[queue] if count is None else count)

    def ring_page(self, send: int | None = None, receive: int | None = None) -> None:
        """By the word at the end of the program's page."""
        both = [self.counts[queue] if count is None else count for queue, count in (("send", send), ("receive", receive))]
        self.board.share(self.area + PAGE - 4, (both[0] & 0xFFFF) << 16 | both[1] & 0xFFFF)
        self.board.mailbox(C["MESSAGE_PAGE_MAILBOX"], 0)

    def completion(self, queue: str, number: int) -> tuple[int, int] | None:
        """Status and length of an entry that is complete."""
        at = COMPLETIONS + (0x200 if queue == "receive" else 0) + number % ENTRIES * 8
        length, done = (self.board.word(at + 4 * n) for n in range(2))
        return (done & 0xFF, length) if done and done >> 8 == number & 0xFFFFFF else None

    def complete(self, queue: str, number: int) -> tuple[int, int]:
        self.board.until(lambda: self.completion(queue, number) is not None, f"completion of {queue} {number}", 2_000_000)
        return self.completion(queue, number) or (0, 0)

    def dropped(self) -> int:
        return self.board.word(COMPLETIONS + 0x400)

    def counted(self, reason: str) -> int:
        return self.nic(self.control + 28 + 4 * C[f"MESSAGE_DROP_{reason}"])

    def ignored(self) -> int:
        return self.nic(self.control + 24)

