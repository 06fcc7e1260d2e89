# Two commands do everything on a machine that has Python 3.11 or later, pip and make:
#
#   make demo     set Callsheet up and run its demonstration
#   make test     set Callsheet up for development and run all tests
#
# Everything is installed into $(VENV) from locks/, by hash. A changed lock rebuilds $(VENV).

PYTHON ?= python3
VENV ?= .venv
DEMO ?= demo
#: Further options for pytest, such as PYTEST="-k wire -x".
PYTEST ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
CORE := $(VENV)/.core
FULL := $(VENV)/.full
SITE := $(VENV)/.docs
LOCKS := locks/core.txt locks/test.txt

.DEFAULT_GOAL := help
.PHONY: help demo test test-frameworks explore proofs lint types contract docs bench check format lock clean

help:  ## Show this list.
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(CORE)  ## Set up, record the support desk's day into ./demo and show what was measured.
	$(BIN)/callsheet demo --store $(DEMO)/agent.db

test: $(FULL)  ## Set up and run all tests.
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile $(PYTEST)

# Their environments are made from the package index, once; without one these tests skip. FRAMEWORKS=must: they fail.
FRAMEWORKS ?= try

test-frameworks: $(FULL)  ## Other people's agents, and a small real model, through the proxy.
	$(BIN)/python -m pytest tests/serve/frameworks --frameworks $(FRAMEWORKS) $(PYTEST)

explore: $(FULL)  ## The properties on examples that no run before had; what they find becomes a test.
	$(BIN)/python -m pytest --numprocesses auto --hypothesis-profile explore -m hypothesis $(PYTEST)

proofs: $(FULL)  ## Each property on 10,000 random graphs.
	CALLSHEET_PROOFS=10000 $(BIN)/python -m pytest --numprocesses auto tests/proofs $(PYTEST)

lint: $(FULL)  ## Style and format.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(FULL)  ## Strict types.
	$(BIN)/mypy

contract: $(FULL)  ## Who may import whom.
	$(BIN)/lint-imports

docs: $(SITE)  ## Build the documentation into ./site.
	$(BIN)/zensical build --clean --strict
	@rm -rf .cache

bench: $(FULL)  ## Run the benchmarks; see benchmarks/README.md.
	@for one in benchmarks/[a-z]*.py; do \
	  case $$one in */__init__.py) continue;; esac; \
	  echo "== $$one"; PYTHONPATH=. $(BIN)/python $$one || exit 1; echo; \
	done

check: test lint types contract docs  ## Everything that has to be green.

format: $(FULL)  ## Bring the code into its format.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock:  ## Resolve the locks anew (needs a package index).
	$(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install -qq uv
	$(VENV)/lock/bin/uv pip compile $(RESOLVE) --extra encryption --extra test --extra dev pyproject.toml -o locks/test.txt
	$(VENV)/lock/bin/uv pip compile $(RESOLVE) --constraint locks/test.txt pyproject.toml locks/build.in -o locks/core.txt
	$(VENV)/lock/bin/uv pip compile $(RESOLVE) --constraint locks/test.txt --extra docs pyproject.toml -o locks/docs.txt
	$(VENV)/lock/bin/uv pip compile $(RESOLVE) locks/frameworks.in -o locks/frameworks.txt
	$(VENV)/lock/bin/uv pip compile $(RESOLVE) --no-deps locks/local-model.in -o locks/local-model.txt

# Hashes without addresses, for every platform and every Python from 3.11 on.
RESOLVE := --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
  --upgrade --custom-compile-command "make lock"

clean:  ## Remove what was installed, built and demonstrated.
	rm -rf $(VENV) $(DEMO) site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# pip compiles what it installs, and not what it links to: where Python may write no bytecode (PYTHONDONTWRITEBYTECODE),
# each of the many processes that tests start would compile the package for itself, which takes it half a second.
$(CORE): $(LOCKS) pyproject.toml tools/build_ranks.py
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit( \
	  "Callsheet needs Python 3.11 or later and this is %s: try make PYTHON=python3.12" % sys.version.split()[0])'
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) install -qq --require-hashes -r locks/core.txt
	$(PIP) install -qq --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q -j 0 src
	@touch $@

$(FULL): $(CORE)
	$(PIP) install -qq --require-hashes -r locks/test.txt
	@touch $@

$(SITE): $(CORE) locks/docs.txt
	$(PIP) install -qq --require-hashes -r locks/docs.txt
	@touch $@
