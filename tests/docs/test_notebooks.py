"""The notebooks in examples/ run from the first cell to the last, in an empty folder, and print what they show."""

from __future__ import annotations

import base64
import copy
import importlib.util
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed (pip install nbclient ipykernel)")
pytest.importorskip("nbclient", reason="nbclient is not installed (pip install nbclient ipykernel)")
pytest.importorskip("ipykernel", reason="ipykernel is not installed (pip install nbclient ipykernel)")

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "docs" / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NUMBER = re.compile(r"\d+(?:\.\d+)?")


def assert_same_outputs(shown, printed):
    """Compare what two runs of a notebook show, cell by cell; another processor may round numbers and figures."""
    for number, (cell, again) in enumerate(zip(shown.cells, printed.cells, strict=True)):
        if cell.cell_type != "code":
            continue
        figures = [output.get("data", {}).pop("image/png", None) for output in cell.outputs]
        figures_again = [output.get("data", {}).pop("image/png", None) for output in again.outputs]
        message = f"cell {number} shows something else: python docs/notebooks.py"
        assert_same_text(*(json.dumps(each.outputs, indent=1, sort_keys=True) for each in (cell, again)), message)
        for one, other in zip(figures, figures_again, strict=True):
            assert (one is None) == (other is None), f"cell {number}: python docs/notebooks.py"
            if one is not None:
                assert_same_figure(pixels(one), pixels(other), f"cell {number}: python docs/notebooks.py")


def assert_same_text(one, other, message):
    assert NUMBER.sub("0", one) == NUMBER.sub("0", other), message
    for number, again in zip(NUMBER.findall(one), NUMBER.findall(other), strict=True):
        n_decimals = max(len(each.partition(".")[2]) for each in (number, again))
        most = 2.5 * 10**-n_decimals if n_decimals else 0.0  # two in the last digit
        assert abs(float(number) - float(again)) <= most, f"{message}: {number}, not {again}"


def pixels(png):
    image = pytest.importorskip("matplotlib.image", reason="matplotlib is not installed")
    return image.imread(io.BytesIO(base64.b64decode(png)), format="png")


def assert_same_figure(one, other, message):
    assert one.shape == other.shape, message
    assert np.abs(one - other).mean() < 0.002, message


@pytest.mark.filterwarnings("ignore")  # those of Jupyter's own packages
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(script, path, tmp_path):
    assert_same_outputs(nbformat.read(path, as_version=4), script.executed(path, tmp_path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_stored_with_a_notebook_has_no_error_and_no_path(path):
    notebook = nbformat.read(path, as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert outputs
    assert all(output.output_type != "error" for output in outputs)
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/(?:home|root|tmp)/", text)


def test_an_output_that_is_not_what_is_printed_is_seen():
    notebook = nbformat.read(NOTEBOOKS[-1], as_version=4)
    assert_same_outputs(copy.deepcopy(notebook), copy.deepcopy(notebook))
    stale = copy.deepcopy(notebook)
    printed = next(output for cell in stale.cells for output in cell.get("outputs", ()) if "text" in output)
    printed.text = printed.text.replace("3584", "3585")
    with pytest.raises(AssertionError, match=r"cell 1 shows something else: python docs/notebooks\.py"):
        assert_same_outputs(stale, copy.deepcopy(notebook))


@pytest.mark.parametrize(("shown", "printed"), [("0.786", "0.789"), ("25 mentions", "26 mentions"), ("4", "4.03")])
def test_a_number_that_is_not_what_is_printed_is_seen(shown, printed):
    assert_same_text("F1 0.786, width 4 of 25", "F1 0.784, width 3.99 of 25", "rounded")
    with pytest.raises(AssertionError, match="stale"):
        assert_same_text(shown, printed, "stale")


def test_a_figure_with_another_curve_is_seen():
    figure = np.ones((100, 100, 4))
    smoothed, curve = figure.copy(), figure.copy()
    smoothed[50, 50] = 0.9
    curve[50, :, :3] = 0.0
    assert_same_figure(figure, smoothed, "smoothed")
    with pytest.raises(AssertionError, match="curve"):
        assert_same_figure(figure, curve, "curve")
