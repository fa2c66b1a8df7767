# make help lists what there is. Everything works in a fresh clone: the first target that needs it makes .venv.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo audit test scenarios kills soak differential fuzz lint docs lock sbom bench clean install needs-python needs-java needs-namespaces

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
CLUSTERS ?= clusters.yaml
UPGRADE ?= --upgrade
SBOM ?= build/kafka-audit.cdx.json
# Debian keeps ip in /usr/sbin, which an ordinary user's PATH may lack.
export PATH := $(PATH):/usr/sbin:/sbin

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: needs-namespaces needs-java $(INSTALLED) ## break a real Kafka cluster on this machine, audit it, repair it, audit it again
	@$(BIN)/kafka-audit demo

audit: needs-java $(INSTALLED) ## audit one of your clusters: make audit CLUSTER=prod [CLUSTERS=clusters.yaml]
	@test -n "$(CLUSTER)" || { echo "make audit: which cluster? make audit CLUSTER=prod [CLUSTERS=clusters.yaml]" >&2; exit 2; }
	@$(BIN)/kafka-audit run "$(CLUSTER)" --config "$(CLUSTERS)"

test: needs-namespaces needs-java $(INSTALLED) ## all tests but the long scenarios (under 15 minutes on two cores)
	@$(BIN)/pytest -m "not scenario" --durations=15

scenarios: needs-namespaces needs-java $(INSTALLED) ## the incidents, each faulty and healed, with real clusters
	@$(BIN)/pytest -m scenario

kills: needs-java $(INSTALLED) ## kill audits at random points and look at what is left [KILLS=50] [SEED=7]
	@$(BIN)/pytest tests/scenarios/test_kills.py -s --kills $(or $(KILLS),50) --kills-seed $(or $(SEED),7)

soak: needs-java $(INSTALLED) ## an audit a minute over a cluster that changes: memory, files and threads over time [MINUTES=120]
	@cd tests && ../$(BIN)/python -m soak --minutes $(or $(MINUTES),120)

differential: needs-java $(INSTALLED) ## our reading of configurations against Kafka's own KafkaConfig, 30,000 generated ones [SEED=7]
	@$(BIN)/python -m kafka_audit.testbed.differential $(if $(SEED),--seed $(SEED))

fuzz: $(INSTALLED) ## invented bytes for every reader of foreign bytes [COUNT=100000 SECONDS= SEED= READER=]
	@PYTHONPATH=plugins:tests $(BIN)/python -m fuzz.run $(if $(COUNT),--count $(COUNT)) $(if $(SECONDS),--seconds $(SECONDS)) \
	  $(if $(SEED),--seed $(SEED)) $(foreach name,$(READER),--reader $(name))
	@$(BIN)/pytest -q -p no:cacheprovider tests/fuzz/test_properties.py --hypothesis-profile=fuzz $(if $(SEED),--hypothesis-seed=$(SEED))

lint: $(INSTALLED) ## ruff, formatting, types, the direction of imports, and that all that is installed is pinned
	@$(BIN)/python .ci/pinned.py
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

docs: $(INSTALLED) ## a page for each check, in docs/checks, and of the snapshot tables
	@$(BIN)/python -m kafka_audit.docs docs

bench: needs-java $(INSTALLED) ## measure the sizes that the design promises
	@for file in benchmarks/*.py; do test -e "$$file" || { echo "no benchmarks here"; exit 1; }; $(BIN)/python "$$file"; done

lock: $(INSTALLED) ## pin the newest versions that requirements*.in allow, with their hashes [UPGRADE=: only what is missing]
	@for file in requirements requirements-dev requirements-image requirements-build; do \
	  $(BIN)/uv pip compile --quiet --no-header --universal --python-version 3.11 --generate-hashes $(UPGRADE) $$file.in -o $$file.txt; done

# The version stands in the package, which the tool does not read.
sbom: $(INSTALLED) ## list what the image installs, with hashes, as CycloneDX JSON [SBOM=build/kafka-audit.cdx.json]
	@mkdir -p build "$(dir $(SBOM))"
	@version=$$($(BIN)/python -c 'import sys; sys.path[:0] = ["plugins"]; from kafka_audit import __version__; print(__version__)'); \
	sed "s/^dynamic = .*/version = \"$$version\"/" pyproject.toml > build/pyproject.toml
	@cat requirements.txt requirements-image.txt | $(BIN)/cyclonedx-py requirements --pyproject build/pyproject.toml \
	  --output-reproducible --output-format JSON --output-file "$(SBOM)" -

clean: ## what tests, tools and the demo left; the cache of Kafka's jars and .venv stay
	@rm -rf .work build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache spark-warehouse metastore_db derby.log
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

install: $(INSTALLED)

# uv installs in a quarter of the time. It knows nothing of pip's own settings, hence pip where uv finds no registry. A package that
# comes as source is built by the locked setuptools: build isolation would fetch one that no hash names.
$(INSTALLED): requirements.txt requirements-dev.txt requirements-build.txt pyproject.toml | needs-python
	@test -x $(BIN)/python || { echo "making $(VENV) with $(PYTHON)"; "$(PYTHON)" -m venv $(VENV); }
	@echo "installing the locked requirements"
	@$(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: -r requirements-build.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --no-build-isolation -r requirements.txt -r requirements-dev.txt \
	  || $(BIN)/python -m pip install --quiet --require-hashes --no-build-isolation -r requirements.txt -r requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

needs-python:
	@test -n "$(PYTHON)" && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "kafka-audit needs Python 3.11 or newer, found $$({ "$(PYTHON)" --version 2>&1 || echo none; } | head -n 1): make PYTHON=/path/to/python3.11 …" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "$(PYTHON) cannot make a venv: install it (Debian: python3-venv)" >&2; exit 1; }

needs-java:
	@java="$${JAVA_HOME:+$$JAVA_HOME/bin/}java"; \
	major=$$({ "$$java" -version 2>&1 || true; } | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p'); \
	test "$${major:-0}" -ge 17 \
	  || { echo "kafka-audit needs Java 17 or newer, found $${major:-none}: install it (Debian: openjdk-17-jre-headless) or set JAVA_HOME" >&2; exit 1; }

needs-namespaces:
	@for tool in ip tc ss unshare nsenter; do command -v $$tool >/dev/null \
	  || { echo "the test bed needs $$tool (Linux; Debian: apt-get install iproute2 util-linux)" >&2; exit 1; }; done
