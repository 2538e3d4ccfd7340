# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint fix types bench docs clean

demo: $(READY)
	$(BIN)/hyperspan demo

# Compiled first; then the kernels' own tests once more with the compiler off, which also shows what the loops cover.
test: $(READY)
	$(BIN)/python -m pytest -n 2 -q src tests
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 -q -m kernel tests

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

fix: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m pip install -q -e ".[bench]"
	$(BIN)/python benchmarks/bench_sweeps.py --quick

docs: $(READY)
	$(BIN)/python -m pytest -q tests/docs

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e ".[dev]"
	touch $(READY)
