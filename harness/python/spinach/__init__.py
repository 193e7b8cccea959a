"""Spinach from Python: build a machine, run it, read its statistics as tables, vary its settings.

The package is thin.  It calls the compiler `lss` and the simulators by their command lines, reads the JSON that they
write, and leaves sweeps to the study system of the harness.  docs/python.md explains it.

    errors      exceptions: what a tool said, and names that nothing has
    tools       the compiler: where it is, its version, one call
    machine     Machine: a netlist, built; its tables and its diagram
    run         Run: what one simulation came to
    session     Session: a run that goes on step by step
    drive       drive: one module between sources and sinks
    sweeps      sweep and study: many simulations, as one table
    figure      a sweep drawn, and shown by a notebook
    frames      tables of pandas, which is imported at first use
    progress    how far a sweep is: one block in a notebook, a bar on a terminal
"""

from spinach.drive import Driven, drive
from spinach.errors import BuildError, RunError, SpinachError, UnknownName, VersionError
from spinach.machine import Machine
from spinach.run import Run
from spinach.session import Session, State
from spinach.sweeps import Axis, Measure, Sweep, study, sweep

__all__ = [
    "Axis", "BuildError", "Driven", "Machine", "Measure", "Run", "RunError", "Session", "SpinachError", "State",
    "Sweep", "UnknownName", "VersionError", "drive", "study", "sweep",
]  # fmt: skip
