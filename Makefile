# Each command does its own set-up in .venv; nothing is installed outside this folder.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
SIDE_BY_SIDE := --numprocesses auto --maxprocesses 8 --dist worksteal

.PHONY: demo test lint clean

demo: $(VENV)/.ready
	rm -rf runs/audit
	$(BIN)/circlet run examples/stdlib_audit.yaml --out runs/audit
	$(BIN)/circlet replay runs/audit --verify

test: $(VENV)/.ready
	$(BIN)/python -m pytest -q $(SIDE_BY_SIDE)

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf build/lint && mkdir -p build/lint
	$(BIN)/python -m build --quiet --outdir build/lint .
	$(BIN)/python -m venv build/lint/venv
	build/lint/venv/bin/pip install --quiet --disable-pip-version-check \
		"$$(ls build/lint/*.whl)[openai]" mypy types-PyYAML
	cd build/lint && venv/bin/mypy --config-file ../../pyproject.toml --strict -p circlet
	cd build/lint && venv/bin/mypy --config-file ../../pyproject.toml --strict ../../tests/typed/faces.py

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
