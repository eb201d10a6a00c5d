# Each command does its own set-up in .venv; nothing is installed outside this folder.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint clean

demo: $(VENV)/.ready
	$(BIN)/circlet run examples/stdlib_audit.yaml

test: $(VENV)/.ready
	$(BIN)/python -m pytest -q

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf build/lint && mkdir -p build/lint
	$(BIN)/python -m build --quiet --outdir build/lint .
	$(BIN)/python -m venv build/lint/venv
	build/lint/venv/bin/pip install --quiet --disable-pip-version-check \
		"$$(ls build/lint/*.whl)[openai]" mypy types-PyYAML
	cd build/lint && venv/bin/mypy --config-file ../../pyproject.toml --strict -p circlet

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
