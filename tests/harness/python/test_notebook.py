"""docs/first_steps.ipynb: the diagram, tables and plots are shown, and a sweep of 20 points is one block of output."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient


def test_a_notebook(here: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{root}:{root}/harness/python:{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("IPYTHONDIR", str(here / "ipython"))
    notebook = nbformat.read(root / "docs" / "first_steps.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells), "it is stored without outputs"
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(here)}}).execute()
    machine, stats, sweep, plot = ([one for one in cell.outputs] for cell in cells)
    assert "image/svg+xml" in machine[0].data
    assert "48" in stats[0].data["text/html"]
    assert len(sweep) == 1 and "20 of 20" in sweep[0].data["text/html"]
    assert "image/png" in plot[0].data
