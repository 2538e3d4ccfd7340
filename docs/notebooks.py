"""Execute the notebooks in examples/ and store what their cells print: `python docs/notebooks.py`, or some by path.

The tests compare what is stored with what executing gives.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbclient
import nbformat

NOTEBOOKS = Path(__file__).parent.parent / "examples"


def executed(path: Path, folder: Path) -> nbformat.NotebookNode:
    """Return the notebook as executing it in `folder` leaves it, without what differs from one machine to the next."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    client = nbclient.NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        coalesce_streams=True,
        record_timing=False,
    )
    client.execute()
    notebook.metadata.pop("language_info", None)  # the version of Python
    for cell in notebook.cells:
        if cell.cell_type == "code":  # progress and notes on compiling go to stderr
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def main() -> None:
    """Execute and store."""
    for path in map(Path, sys.argv[1:] or sorted(NOTEBOOKS.glob("*.ipynb"))):
        with TemporaryDirectory() as folder:
            nbformat.write(executed(path, Path(folder)), path)


if __name__ == "__main__":
    main()
