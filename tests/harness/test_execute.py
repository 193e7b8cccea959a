"""Waiting for simulations: Ctrl-C ends it, also one that comes just before the wait begins."""

import subprocess
import sys

import pytest

# The signal is noted, and nothing wakes the thread that waits: as if it had come between the last instruction of Python
# and the wait.
PROGRAM = """
import _thread, signal, threading
from concurrent.futures import Future
from harness.run.execute import awaited, completed
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.3, _thread.interrupt_main).start()
try:
    {wait}
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("wait", ["awaited(Future())", "list(completed([Future(), Future()]))"])
def test_ctrl_c_just_before_a_wait_ends_it(root, wait: str) -> None:
    command = [sys.executable, "-c", PROGRAM.format(wait=wait)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_all_come_and_failures_are_theirs(root) -> None:
    program = """
from concurrent.futures import Future
from harness.run.execute import awaited, completed
one, other = Future(), Future()
one.set_result(5)
other.set_exception(ValueError("no"))
print(len(set(completed([one, other]))), awaited(one))
try:
    awaited(other)
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("2 5\nno\n", "")
