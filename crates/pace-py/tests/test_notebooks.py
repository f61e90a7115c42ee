"""The notebooks run from the first cell to the last, and what GitHub shows has outputs."""

import json
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).parents[1] / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def test_there_are_notebooks_with_outputs():
    assert len(NAMES) >= 3
    for name in NAMES:
        cells = json.loads((FOLDER / f"{name}.ipynb").read_text())["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        assert outputs and not any(output["output_type"] == "error" for output in outputs), name


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs(name, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    for needed in ["ipykernel", "matplotlib", "sklearn", "networkx", "optuna"]:
        pytest.importorskip(needed)
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
