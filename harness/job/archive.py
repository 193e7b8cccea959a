"""What the disk of jobs holds: a tar archive, which the program `job` of the guest reads and writes.

On the way in, the first file, SIZE, has the number of bytes of the archive, so that the guest does not read the disk to
its end; the folder's files follow below FOLDER.  On the way out, the files are below OUT, and the last one, STATUS, has
the exit status of `run`, and the reason if something else failed.
"""

import re

CAPACITY = 64 << 20  # bytes of the disk
SIZE, FOLDER, RUN = "job.size", "job", "run"
OUT, STATUS = "out", "status"
PART = "out.part"  # in the user's folder, while a job runs

# What the guest is typed at its prompt.  If the checkpoint is before the prompt, the first end of line waits for it.
SCRIPT = 'send "\\n"\nwait "/ # "\nsend "exec job\\n"\n'

BLOCK = 512  # bytes of a header; files fill whole blocks
UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class JobError(Exception):
    """A job that cannot run, or left nothing; the text is one line for the user."""


def shown(name: str) -> str:
    """A name for a message: bytes that are of no character, and characters that steer a terminal, are \\xff and the
    like."""

    def spelt(found: re.Match[str]) -> str:
        number = ord(found[0])
        byte = number - 0xDC00 if 0xDC80 <= number <= 0xDCFF else number
        return f"\\x{byte:02x}" if byte < 256 else f"\\u{byte:04x}"

    return UNSHOWN.sub(spelt, name)
