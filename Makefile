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

# The least that holds on every machine; figures: docs/quality.md.
gates: .venv/installed
	rm -rf build/gates
	$(BIN)/archivist evaluate data/evals/assistant.jsonl -m offline -m replay:data/recordings/cases --run build/gates -q \
	  --report build/gates.html --min hybrid:ndcg@10=.84 --min offline:tool_choice=.70 --min offline:filters=.80 --min offline:dates=.90 \
	  --min offline:answer=.50 --min offline:citation_precision=.78 --min offline:citation_recall=.80 --min offline:abstention=.77 \
	  --min offline:quotes_verified=1 \
	  $(foreach measure,$(EVERY),--min replay:data/recordings/cases:$(measure)=1)

EVERY := tool_choice tool_order arguments filters dates valid_calls answer citation_precision citation_recall quotes_verified \
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
