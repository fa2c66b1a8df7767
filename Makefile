# make help lists all targets. They work in a fresh clone: the first target that needs .venv creates it.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo audit check fault accept test integration scenarios corpus healthy recordings kills soak differential says fuzz lint airflow docs site lock sbom bench kerberos clean install needs-python needs-java needs-namespaces

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
CLUSTERS ?= clusters.yaml
AIRFLOW ?= 3.1.8/3.11 3.2.2/3.11 3.3.2/3.11 3.3.2/3.12 3.3.2/3.13
UPGRADE ?= --upgrade
SBOM ?= build/kafka-audit.cdx.json
# Debian installs ip in /usr/sbin, which is not in every user's PATH.
export PATH := $(PATH):/usr/sbin:/sbin
# Audits, tests and tasks of Airflow are many short processes. Without compiled files each compiles Airflow and Spark's Python anew.
unexport PYTHONDONTWRITEBYTECODE

write-docs = $(BIN)/python -m testbed.relation_columns && $(BIN)/python -m kafka_audit.report.docs docs && PYTHONPATH=plugins:tests $(BIN)/python -m report.threads

help: ## list all targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: needs-namespaces needs-java $(INSTALLED) ## break a real Kafka cluster on this host, audit it, repair it, audit it again
	@$(BIN)/kafka-audit demo

audit: needs-java $(INSTALLED) ## audit a cluster: make audit CLUSTER=prod [CLUSTERS=clusters.yaml]
	@test -n "$(CLUSTER)" || { echo "make audit: CLUSTER is not set: make audit CLUSTER=prod [CLUSTERS=clusters.yaml]" >&2; exit 2; }
	@$(BIN)/kafka-audit run "$(CLUSTER)" --config "$(CLUSTERS)"

# One worker more than cores, because many tests wait for a deadline or a server, and at most eight, because each takes 0.5 GB, and
# each collects all tests. tests/scheduling.py groups and orders the tests, and says what becomes of one that hangs.
workers = -n $$(($$(nproc) > 7 ? 8 : $$(nproc) + 1)) --dist loadfile

test: needs-namespaces needs-java $(INSTALLED) ## run the tests that a commit needs (about 7 minutes on two cores)
	@$(BIN)/pytest $(workers) --durations=15 -m "not scenario and not integration"

integration: needs-namespaces needs-java $(INSTALLED) ## run all tests that start Kafka, Spark or Airflow, and the large runs of properties
	@$(BIN)/pytest $(workers) --durations=15 -m integration

scenarios: needs-namespaces needs-java $(INSTALLED) ## reproduce and repair every incident on real clusters
	@$(BIN)/pytest -n 1 --dist load -m scenario

corpus: needs-namespaces needs-java $(INSTALLED) ## run the faults and healthy clusters that testbed/records lacks, and write docs/corpus.md [FAULTS=] [ROUNDS=1] [MINUTES=]
	@$(BIN)/python -m testbed.corpus run $(FAULTS) $(if $(MINUTES),--minutes $(MINUTES))
	@$(BIN)/python -m testbed.corpus controls --rounds $(or $(ROUNDS),1) $(if $(MINUTES),--minutes $(MINUTES))
	@$(BIN)/python -m testbed.corpus docs

healthy: needs-namespaces needs-java $(INSTALLED) ## audit healthy clusters under load that testbed/records lacks, with all inputs and with fewer [NAMES=] [ROUNDS=1] [MINUTES=]
	@$(BIN)/python -m testbed.corpus healthy $(NAMES) --rounds $(or $(ROUNDS),1) $(if $(MINUTES),--minutes $(MINUTES))
	@$(BIN)/python -m testbed.corpus docs

recordings: needs-namespaces needs-java $(INSTALLED) ## record the clusters that tests/faults judges anew [NAMES=]
	@$(BIN)/python -m testbed.corpus.recorder $(NAMES)

kills: needs-java $(INSTALLED) ## kill audits at random points and check for leftovers [KILLS=50] [SEED=7]
	@$(BIN)/pytest tests/scenarios/test_kills.py -s --kills $(or $(KILLS),50) --kills-seed $(or $(SEED),7)

soak: needs-java $(INSTALLED) ## audit a changing cluster every minute, and measure memory, files and threads [MINUTES=120]
	@cd tests && ../$(BIN)/python -m soak --minutes $(or $(MINUTES),120)

differential: needs-java $(INSTALLED) ## compare lint with Kafka's KafkaConfig on 5,000 generated configurations for each release [SEED=7]
	@$(BIN)/python -m testbed.differential $(if $(SEED),--seed $(SEED))

says: $(INSTALLED) ## read what Kafka and ZooKeeper can log from the classes of their releases, and list what is new
	@$(BIN)/python -m testbed.says

fuzz: $(INSTALLED) ## fuzz every parser of external bytes, and try many examples of each property [COUNT=100000 SECONDS= SEED= READER=]
	@PYTHONPATH=plugins:tests $(BIN)/python -m fuzz.run $(if $(COUNT),--count $(COUNT)) $(if $(SECONDS),--seconds $(SECONDS)) \
	  $(if $(SEED),--seed $(SEED)) $(foreach name,$(READER),--reader $(name))
	@$(BIN)/pytest -q -p no:cacheprovider $(workers) -m "hypothesis and not scenario" --hypothesis-profile=fuzz $(if $(SEED),--hypothesis-seed=$(SEED))

lint: $(INSTALLED) ## run ruff, mypy and import-linter, and check that all requirements are pinned
	@$(BIN)/python .ci/pinned.py
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

check: $(INSTALLED) ## begin a check: its module, cases, fault of the corpus and line of the changelog FAMILY= NAME= [TITLE=]
	@$(BIN)/python -m testbed.new_check "$(FAMILY)" "$(NAME)" $(if $(TITLE),--title "$(TITLE)")

fault: $(INSTALLED) ## begin a fault of an edge: its module, data with cases, and line of the changelog FAMILY= NAME= [TITLE=]
	@$(BIN)/python -m testbed.new_fault "$(FAMILY)" "$(NAME)" $(if $(TITLE),--title "$(TITLE)")

# The pages are generated, so git shows what changes in them.
accept: $(INSTALLED) ## show what changed in expected results, and accept it: cases, texts, stories, needs, pages [ONLY=KA304] [SHOW=1]
	@PYTHONPATH=plugins:tests:. $(BIN)/python -m accept $(ONLY) $(if $(SHOW),--show)
	@$(if $(SHOW),true,$(write-docs) && $(BIN)/python -m testbed.corpus docs && git --no-pager diff --stat -- docs)

airflow: needs-namespaces needs-java $(INSTALLED) ## check the wheel with releases of Airflow and Python [AIRFLOW=3.3.2/3.12]
	@for target in $(AIRFLOW); do testbed/airflow.sh "$${target%/*}" "$${target#*/}" || exit 1; done

docs: $(INSTALLED) ## generate docs/checks, docs/symptoms, docs/tables.md, docs/logs.md, docs/findings.schema.json, and the embedded engine's SQL
	@$(write-docs)

# -W: a broken link and a page outside of the navigation are errors. -E: the navigation is not in the pages, so none is kept.
site: docs ## build the documentation site into build/site
	@$(BIN)/sphinx-build -W -E --keep-going --quiet -c docs/site -d build/doctrees . build/site
	@echo "build/site/index.html"

bench: needs-java $(INSTALLED) ## run the benchmarks and write docs/performance.md [NAMES=: only these]
	@$(BIN)/python benchmarks $(NAMES)

kerberos: $(INSTALLED) ## build the library that the scenario with a KDC requires (Debian: libkrb5-dev gcc)
	@$(BIN)/python -m pip install --quiet --require-hashes --no-build-isolation -r requirements/kerberos.txt

lock: $(INSTALLED) ## pin the newest versions of requirements/*.in with hashes [UPGRADE=: only missing ones]
	@for name in runtime dev image build kerberos; do lock=requirements/$$name.txt; [ $$name = runtime ] && lock=requirements.txt; \
	  $(BIN)/uv pip compile --quiet --no-header --universal --python-version 3.11 --generate-hashes $(UPGRADE) requirements/$$name.in -o $$lock; done

# The version is defined in the package, which the tool does not read.
sbom: $(INSTALLED) ## write the SBOM of the image as CycloneDX JSON, with hashes [SBOM=build/kafka-audit.cdx.json]
	@mkdir -p build "$(dir $(SBOM))"
	@version=$$($(BIN)/python -c 'import sys; sys.path[:0] = ["plugins"]; from kafka_audit import __version__; print(__version__)'); \
	sed "s/^dynamic = .*/version = \"$$version\"/" pyproject.toml > build/pyproject.toml
	@cat requirements.txt requirements/image.txt | $(BIN)/cyclonedx-py requirements --pyproject build/pyproject.toml \
	  --output-reproducible --output-format JSON --output-file "$(SBOM)" -

clean: ## remove files of tests, tools and the demo; keep .venv and the cache of Kafka's jars
	@rm -rf .work build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache spark-warehouse metastore_db derby.log
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

install: $(INSTALLED)

# uv needs a quarter of the time. It ignores pip's settings, so pip is the fallback if uv finds no registry. Source packages are built
# with the locked setuptools, because build isolation would download one without a hash. The SBOM tool brings a check of IRIs, for which
# jsonschema makes 38 parsers whenever Airflow starts: half of the CPU time of `import airflow`.
$(INSTALLED): requirements.txt requirements/dev.txt requirements/build.txt pyproject.toml setup.py | needs-python
	@test -x $(BIN)/python || { echo "creating $(VENV) with $(PYTHON)"; "$(PYTHON)" -m venv $(VENV); }
	@echo "installing the locked requirements"
	@$(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: -r requirements/build.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --no-build-isolation -r requirements.txt -r requirements/dev.txt \
	  || $(BIN)/python -m pip install --quiet --require-hashes --no-build-isolation -r requirements.txt -r requirements/dev.txt
	@$(BIN)/uv pip uninstall --quiet --python $(BIN)/python rfc3987-syntax
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@test -z "$(PYTHONDONTWRITEBYTECODE)" || $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib plugins || true # else nothing would
	@touch $@

needs-python:
	@test -n "$(PYTHON)" && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "kafka-audit requires Python 3.11 or newer, found $$({ "$(PYTHON)" --version 2>&1 || echo none; } | head -n 1): make PYTHON=/path/to/python3.11 …" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "$(PYTHON) cannot create a venv: install python3-venv (Debian)" >&2; exit 1; }

needs-java:
	@java="$${JAVA_HOME:+$$JAVA_HOME/bin/}java"; \
	major=$$({ "$$java" -version 2>&1 || true; } | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p'); \
	test "$${major:-0}" -ge 17 \
	  || { echo "kafka-audit requires Java 17 or newer, found $${major:-none}: install it (Debian: openjdk-17-jre-headless) or set JAVA_HOME" >&2; exit 1; }

needs-namespaces:
	@for tool in ip tc ss unshare nsenter; do command -v $$tool >/dev/null \
	  || { echo "the test bed requires $$tool (Linux; Debian: apt-get install iproute2 util-linux)" >&2; exit 1; }; done
