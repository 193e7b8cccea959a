"""Notebooks: the diagram, tables and plots are shown, and a sweep of 20 points is one block of output."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

CELLS = [
    "import spinach\nfrom spinach import Axis\nm = spinach.Machine('chain.lss')\nm",
    "m.run(cycles=100, **{'consumer.ready': 0.5}).stats",
    "f = spinach.sweep('chain.lss', {'ready': Axis('set.consumer.ready', [n / 20 for n in range(1, 21)])},\n"
    "                  {'rate': 'consumer.items / cycles(clk)'}, base={'option.cycles': 300})",
    "f.plot('ready', 'rate')",
]


def test_a_notebook(here: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{root}:{root}/harness/python:{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("IPYTHONDIR", str(here / "ipython"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(here)}}).execute()
    machine, stats, sweep, plot = ([one for one in cell.outputs] for cell in notebook.cells)
    assert "image/svg+xml" in machine[0].data
    assert "48" in stats[0].data["text/html"]
    assert len(sweep) == 1 and "20 of 20" in sweep[0].data["text/html"]
    assert "image/png" in plot[0].data
