# Everything a developer or a newcomer runs. Needs make and Python 3.11 or newer; the rest is fetched
# into this folder: uv into .tools, the locked packages into .venv, Apache Kafka (tests) into .cache.

PYTHON ?= python3
BIN    := .venv/bin
READY  := .venv/.synced
# The interpreter is the one named here: uv is to download none.
UV     := UV_PYTHON_DOWNLOADS=never .tools/bin/uv

.DEFAULT_GOAL := help
.PHONY: help demo test lint types format bench clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

demo: $(READY)  ## watch chat become memories; CHAT=file.jsonl takes your own
	$(BIN)/memweir demo $(if $(CHAT),"$(CHAT)")

test: $(READY)  ## all tests, on the embedded broker and on Apache Kafka; ARGS='-k name' picks
	$(BIN)/pytest $(ARGS)

lint: $(READY)  ## ruff: rules and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)  ## mypy --strict
	$(BIN)/mypy

format: $(READY)  ## put the code into its format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)  ## how fast the stages are beside a bare consumer
	$(BIN)/pytest tests/bench -s --timeout=900 $(ARGS)

clean:  ## remove what these targets fetched and made
	rm -rf .venv .tools .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis memweir-data

# uv sync is what makes the environment; --locked refuses a lock file that no longer fits.
$(READY): pyproject.toml uv.lock | .tools/bin/uv
	@echo "Preparing .venv from the lock file (once; some 700 MB on disk) …"
	@$(UV) sync --locked --quiet --python $(PYTHON)
	@touch $@

.tools/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "memweir needs Python 3.11 or newer; say which: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -m venv .tools || { echo "Python's venv module is missing (Debian: apt install python3-venv)"; exit 1; }
	.tools/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9,<1'
