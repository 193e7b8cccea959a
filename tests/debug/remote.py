"""A client of the GDB remote protocol, and simulators that wait for one."""

import socket
import subprocess
import time
from pathlib import Path


def framed(payload: bytes) -> bytes:
    """A packet with its checksum."""
    return b"$" + payload + b"#%02x" % (sum(payload) & 255)


class Remote:
    """A connection to a simulator; ask() sends a packet and returns the reply."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.received = b""
        self.output = ""  # what the stub had gdb print

    def byte(self) -> bytes:
        if not self.received:
            self.received = self.socket.recv(65536)
            assert self.received, "the simulator closed the connection"
        first, self.received = self.received[:1], self.received[1:]
        return first

    def reply(self) -> str:
        """The next packet; what gdb would print is put aside."""
        while True:
            while self.byte() != b"$":
                pass
            payload = b""
            while (byte := self.byte()) != b"#":
                payload += byte
            assert int(self.byte() + self.byte(), 16) == sum(payload) & 255
            text = payload.decode("latin-1")
            if not text.startswith("O") or text == "OK":
                return text
            self.output += bytes.fromhex(text[1:]).decode()

    def ask(self, packet: str | bytes) -> str:
        self.socket.sendall(framed(packet.encode() if isinstance(packet, str) else packet))
        return self.reply()

    def monitor(self, command: str) -> str:
        reply = self.ask("qRcmd," + command.encode().hex())
        return "" if reply == "OK" else bytes.fromhex(reply).decode()

    def close(self) -> None:
        self.socket.close()


class Waiting:
    """A simulator that waits for gdb at a socket in `folder`."""

    def __init__(self, folder: Path, simulator: Path, *options, wait: bool = True) -> None:
        self.folder, self.path = folder, folder / "gdb.socket"
        self.command = [str(word) for word in (simulator, "--quiet", "--gdb", "gdb.socket", *options)]
        self.process = subprocess.Popen(
            self.command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        while wait and not self.path.exists() and self.process.poll() is None:
            time.sleep(0.01)

    def gdb(self, commands: str) -> str:
        """What the real gdb prints when it is connected by the simulator's own script and carries out the commands."""
        script = subprocess.run([*self.command, "--gdb-script"], cwd=self.folder, capture_output=True, text=True, check=True)
        (self.folder / "session.gdb").write_text(f"set pagination off\nset confirm off\n{script.stdout}{commands}\n")
        command = ["gdb-multiarch", "-nx", "-batch", "-x", "session.gdb"]
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def remote(self) -> Remote:
        return Remote(self.path)

    def end(self) -> tuple[int, str, str]:
        """Waits for the end of the run: status, standard output, standard error."""
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err
