"""gdb as editors drive it: by its machine interface, with the commands that Visual Studio Code's C/C++ extension sends."""

import re
import subprocess
from pathlib import Path


class Editor:
    """A gdb with the machine interface."""

    def __init__(self, folder: Path) -> None:
        command = ["gdb-multiarch", "--interpreter=mi", "-nx"]
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.number = 1000
        self.console = ""
        self.stops: list[str] = []  # that nobody waited for yet

    def _line(self) -> str:
        line = self.process.stdout.readline()
        assert line, f"gdb is gone\n{self.console}"
        if line.startswith("*stopped"):
            self.stops.append(line.strip())
        elif line[0] in "~@":
            self.console += line[2:].rstrip()[:-1].replace("\\n", "\n").replace('\\"', '"')
        return line.strip()

    def ask(self, command: str, expected: str = "done") -> str:
        """The result of a command of the interface, or of one of the console."""
        if not command.startswith("-"):
            command = '-interpreter-exec console "' + command.replace("\\", "\\\\").replace('"', '\\"') + '"'
        self.number += 1
        self.process.stdin.write(f"{self.number}{command}\n")
        self.process.stdin.flush()
        while not (line := self._line()).startswith(f"{self.number}^"):
            pass
        assert re.match(rf"{self.number}\^{expected}", line), f"{command}: {line}\n{self.console}"
        return line

    def stop(self) -> str:
        """The next stop."""
        while not self.stops:
            self._line()
        return self.stops.pop(0)

    def launch(self, options: dict) -> str:
        """What MIEngine does for a configuration of type cppdbg, request launch; returns the stop that the user sees first."""
        assert (options["type"], options["request"], options["MIMode"]) == ("cppdbg", "launch", "gdb") and options["stopAtConnect"]
        self.ask("-gdb-set mi-async on")
        for setup in options.get("setupCommands", []):
            self.ask(setup["text"])
        for command in ("set pagination off", "set debuginfod enabled off", "-gdb-set auto-solib-add on"):
            self.ask(command)
        if "customLaunchSetupCommands" in options:
            assert options["launchCompleteCommand"] == "None" and "miDebuggerServerAddress" not in options
            for setup in options["customLaunchSetupCommands"]:
                assert setup["text"].startswith("-")  # of a console command MIEngine takes nothing but "done" for an answer
                self.ask(setup["text"], "(done|running)")
            return self.shown()
        self.ask(f'-environment-cd "{options["cwd"]}"')
        self.ask(f'-file-exec-and-symbols "{options["program"]}"')
        self.ask("show architecture")
        entry = re.search(r'number="(\d+)"', self.ask("-break-insert -f main"))[1]
        self.ask(f"-target-select extended-remote {options['miDebuggerServerAddress']}", "connected")
        assert options["useExtendedRemote"]
        stop = self.shown()
        self.ask(f"-break-delete {entry}")
        return stop

    def shown(self) -> str:
        """Waits for a stop and asks for all that the windows of the editor show; of several stops the last one counts."""
        stop = self.stop()
        self.ask("-thread-info")
        while self.stops:
            stop = self.stop()
        thread = re.search(r'thread-id="(\d+)"', stop)[1]
        self.ask(f"-stack-info-depth --thread {thread} 1000")
        self.ask(f"-stack-list-frames --thread {thread} 0 1000")
        self.ask(f"-stack-list-arguments --thread {thread} 2 0 19")
        self.ask(f"-stack-list-variables --thread {thread} --frame 0 0")
        self.ask("-data-list-register-names")
        self.ask(f"-data-list-register-values --thread {thread} x")
        return stop

    def value(self, expression: str, thread: int = 1) -> str:
        """What a line of the watch window shows."""
        made = self.ask(f'-var-create --thread {thread} --frame 0  - * "{expression}"')
        name = re.search(r'name="(\w+)"', made)[1]
        self.ask(f"-var-delete {name}")
        return re.search(r'value="([^"]*)"', made)[1]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
