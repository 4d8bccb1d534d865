# `make demo` and `make test` do all their own set-up: a virtual environment in .venv, the package and its tools in it.

VENV := .venv
BIN := $(VENV)/bin
# The first interpreter that really runs and is new enough.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	if $$p -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then echo $$p; break; fi; done)

.PHONY: demo test check docs docs-check fuzz bench bench-compare paper paper-quick clean help

help:
	@echo "make demo   fit a table that scikit-learn ships, and print the rules and a decision tree"
	@echo "make test   lint, types, tests, a worker for each core"
	@echo "make check  lint and types only"
	@echo "make docs   the documentation as HTML pages in docs/_build/html, two to five minutes; executes all code on them"
	@echo "make docs-check  opens the built pages in Chromium, wide and narrow, light and dark"
	@echo "make fuzz   100,000 hostile tables and as many damaged model files and rule texts, about half an hour; or with FUZZ='--seconds 60'"
	@echo "make bench  speed, scaling, memory, accuracy (tables: DRS_DATA, or downloaded)"
	@echo "make bench-compare REV=HEAD~1  times of small fits, predictions, exports beside those of another version"
	@echo "make paper  the paper's tables and figures next to the printed values, about ten minutes (tables: DRS_DATA, or downloaded)"
	@echo "make paper-quick  the same with two splits, about two minutes"
	@echo "make clean  remove the virtual environment and caches"

$(VENV)/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with venv is needed (Debian: apt install python3-venv)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@

demo: $(VENV)/.ready
	@$(BIN)/python examples/demo.py

check: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check
	$(BIN)/python -m pytest --numprocesses=auto --dist=worksteal

# The tools of the documentation, in the same virtual environment; only `make docs` needs them.
$(VENV)/.docs-ready: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	@touch $@

# Warnings are errors: a link to a page that does not exist is one, and so is an error of code on a page. Everything is
# built anew, because what the code prints depends on the whole package.
docs: $(VENV)/.docs-ready
	rm -rf docs/_build docs/gallery docs/generated
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html
	@echo "docs/_build/html/index.html"

docs-check: $(VENV)/.ready
	$(BIN)/python -m docs.check_pages docs/_build/html

# Options of tests/fuzz: --seed, --jobs, --seconds, --only; --case runs one case again.
FUZZ ?=

fuzz: $(VENV)/.ready
	$(BIN)/python -m tests.fuzz --tables 100000 --files 100000 --text 100000 --csv 5000 $(FUZZ)

# Options of benchmarks/frontier.py: --tables, --splits, --jobs, --budgets, --figure, --results, --resume.
FRONTIER ?=

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/scale.py --largest 1000000
	$(BIN)/python benchmarks/frontier.py $(FRONTIER)

# Another version to compare with, and options of benchmarks/compare.py: --rounds, --only.
REV ?= HEAD
COMPARE ?=

bench-compare: $(VENV)/.ready
	$(BIN)/python benchmarks/compare.py $(REV) $(COMPARE)

paper: $(VENV)/.ready
	$(BIN)/python -m experiments.paper

paper-quick: $(VENV)/.ready
	$(BIN)/python -m experiments.paper --quick

clean:
	rm -rf $(VENV) docs/_build docs/generated docs/gallery .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
