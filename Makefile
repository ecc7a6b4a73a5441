# make demo: set up .venv, index the sample library, search it.   make test: set up .venv and run the tests.
# make check: formatting, lint, types.   make gates: what evaluate must measure, offline and from recordings.
# make ci: all of it, and the floors of retrieval quality.

SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
TORCH := 2.13.0
CPU_INDEX := https://download.pytorch.org/whl/cpu
DEMO := build/demo.db
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

# Evaluation data and servers are looked for beside the checkout, unless the environment says where they are.
ifneq ($(wildcard ../shared/evals),)
export ARCHIVIST_EVALS ?= $(abspath ../shared/evals)
endif
ifneq ($(wildcard ../shared/servers),)
export ARCHIVIST_SERVERS ?= $(abspath ../shared/servers)
endif
unexport ARCHIVIST_LIBRARY ARCHIVIST_EMBEDDER ARCHIVIST_TODAY

.PHONY: demo test check ci gates floors clean

demo: .venv/installed
	@PATH="$(BIN):$$PATH" ARCHIVIST_LIBRARY=$(DEMO) ARCHIVIST_TODAY=2026-10-15 bash scripts/demo.sh

test: .venv/installed
	$(BIN)/python -m pytest $(PYTEST)

check: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

ci: check test gates floors

# Recordings are right in every way, so that whatever falls below 1 has broken; the rest is the least that holds on every machine,
# figures: docs/quality.md. What falls is named with its cases; build/gates holds the runs, for --compare, and the reports.
gates: .venv/installed
	rm -rf build/gates
	$(BIN)/archivist evaluate data/evals/replayed.jsonl -m replay:data/recordings $(call INTO,replayed) \
	  $(foreach measure,$(EVERY) recovered,--min $(measure)=1) --min valid_calls=.84 --min hybrid:ndcg@10=.95
	$(BIN)/archivist evaluate data/evals/assistant.jsonl -m offline -m replay:data/recordings/cases $(call INTO,assistant) \
	  --min hybrid:ndcg@10=.88 --min keyword:ndcg@10=.81 --min vector:ndcg@10=.775 \
	  --min offline:tool_choice=.70 --min offline:filters=.80 --min offline:dates=.90 --min offline:arguments=.41 \
	  --min offline:answer=.51 --min offline:citation_precision=.79 --min offline:citation_recall=.81 --min offline:abstention=.77 \
	  --min offline:quotes_verified=.99 --min offline:numbers_found=.99 --min offline:valid_calls=.99 \
	  $(foreach measure,$(EVERY) valid_calls,--min replay:data/recordings/cases:$(measure)=1)

INTO = -q --documents data/library --library build/gates/library.db --run build/gates/$(1) --report build/gates/$(1).html
EVERY := tool_choice tool_order arguments filters dates answer citation_precision citation_recall quotes_verified \
  numbers_found abstention

floors: .venv/installed
	$(BIN)/python scripts/floors.py

# A CUDA build of torch is gigabytes that nothing here uses: the CPU build goes in first, and anything else stops the set-up.
.venv/installed: pyproject.toml
	@echo "setting up .venv (once; some minutes)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@if [ "$$(uname -s)" = Linux ]; then \
	  $(PIP) "torch==$(TORCH)+cpu" 2>/dev/null || $(PIP) "torch==$(TORCH)+cpu" --extra-index-url $(CPU_INDEX); \
	else $(PIP) "torch==$(TORCH)"; fi
	@$(BIN)/python -W ignore -c 'import sys, torch; sys.exit(torch.version.cuda and f"torch {torch.__version__} is a CUDA build: remove .venv and install the CPU build first")'
	@$(PIP) --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
