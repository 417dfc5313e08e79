# Two commands do everything on a machine with Python 3.11, venv and make:
#   make demo   protects a bundled file and a bundled table and shows what the attacker found
#   make test   formatter, linter, type checker, import contract, all tests
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-quick test-spark deep bench docs check clean sbom wheelhouse

demo: $(VENV)/core.stamp
	@$(BIN)/reticent demo --output demo-output

test: $(VENV)/dev.stamp
	@scripts/check

test-quick: $(VENV)/dev.stamp
	@scripts/check tests/architecture/test_structure.py tests/architecture/test_walks.py tests/api tests/unit -m "not slow and not deep"

test-spark: $(VENV)/spark.stamp
	$(BIN)/python -W ignore -m pytest tests/spark -W ignore -q -rs

deep: $(VENV)/dev.stamp
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest -m "deep or not deep" -n 2

bench: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks

docs: $(VENV)/dev.stamp
	$(BIN)/python -m sphinx -q -W -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

sbom: $(VENV)/core.stamp
	@$(BIN)/python scripts/sbom.py

# Everything that an installation needs, pinned and with hashes, for a machine without network; EXTRAS=[excel,duckdb] adds extras.
wheelhouse: $(VENV)/core.stamp
	@$(BIN)/python scripts/wheelhouse.py wheelhouse '$(EXTRAS)'

clean:
	rm -rf $(VENV) demo-output wheelhouse docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/core.stamp: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing reticent (first time only) ..."
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/spark.stamp: $(VENV)/dev.stamp
	@command -v java >/dev/null || { apt-get update -qq && apt-get install -y -qq openjdk-17-jre-headless; }
	@echo "installing PySpark (first time only) ..."
	@$(INSTALL) --editable '.[dev,spark]'
	@touch $@

$(VENV)/dev.stamp: $(VENV)/core.stamp
	@echo "installing what the tests need (first time only) ..."
	@$(INSTALL) --editable '.[dev]'
	@touch $@
