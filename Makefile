# Works in a fresh clone with Python 3.11 or newer, git and make. Leaves nothing outside the checkout but what pip caches.

PYTHON ?= python3
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
CACHE := $(CURDIR)/.cache
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# All programs but pip run like this: the virtual environment's commands first, Node among them; everything that they
# keep for later goes to .cache; and no AWS account is used, even if there is one.
RUN := mkdir -p '$(CACHE)/home' '$(CACHE)/tmp' && env \
	-u AWS_PROFILE -u AWS_DEFAULT_PROFILE -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY -u AWS_SESSION_TOKEN \
	-u AWS_CONFIG_FILE -u AWS_SHARED_CREDENTIALS_FILE AWS_EC2_METADATA_DISABLED=true \
	PATH='$(CURDIR)/$(BIN)':"$$PATH" HOME='$(CACHE)/home' TMPDIR='$(CACHE)/tmp' XDG_CACHE_HOME='$(CACHE)' \
	CDK_HOME='$(CACHE)/cdk' CDK_DISABLE_CLI_TELEMETRY=true JSII_RUNTIME_PACKAGE_CACHE_ROOT='$(CACHE)/jsii' \
	BATCH_QUOTA_CACHE_DIR='$(CACHE)/batch-quota' HYPOTHESIS_STORAGE_DIRECTORY='$(CACHE)/hypothesis'

TOPOLOGY := examples/ml-training.yaml
TRACE := examples/traces/ml-training.csv
TEMPLATE := cdk.out/ml-training.template.json

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

.PHONY: help
help: ## List these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

# --- What a newcomer runs ---

INSTALLED := $(VENV)/.project
INSTALLED_DEV := $(VENV)/.requirements-dev
INSTALLED_DOCS := $(VENV)/.requirements-docs
POLICY_EVALUATOR := $(VENV)/.policy-evaluator
CLIENTS := .cache/clients/.requirements

# Shows a command and runs it; `step` says first what it is for.
run = echo '$$ $(1)' && $(RUN) $(1)
step = printf '\n%s\n' '$(1)' && $(call run,$(2))

.PHONY: demo
demo: $(INSTALLED) ## Validate, synthesize and replay the examples
	@$(call step,1/4 Validate the example topology: seven quota shares of three teams.,batch-quota validate $(TOPOLOGY))
	@$(call step,2/4 Synthesize its CloudFormation template with the CDK CLI. No AWS account is used.,cdk synth --quiet)
	@grep -o '"Type": "AWS::Batch::[A-Za-z]*"' $(TEMPLATE) | sort | uniq -c | sed 's/"Type": //; s/"//g'
	@printf '%s\n' 'The template is $(TEMPLATE).'
	@$(call step,3/4 Describe the example trace: made-up jobs of three days.,batch-quota trace describe $(TRACE))
	@$(call step,4/4 Replay the trace on the topology: who waits and who is preempted.,batch-quota replay $(TOPOLOGY) $(TRACE))
	@printf '\n%s\n' 'Next: `. $(VENV)/bin/activate`, then the same commands on your own topology and trace. See README.md.'

.PHONY: test
test: lint pytest ## Lint and test: everything but slow tests

.PHONY: test-all
test-all: lint pytest-all ## Lint and test: everything

.PHONY: lint
lint: style types layers ## Check style, types and imports

# --- What these are made of ---

.PHONY: style
style: $(INSTALLED_DEV) ## Check style with ruff
	@$(call run,ruff check .)
	@$(call run,ruff format --check .)

.PHONY: types
types: $(INSTALLED_DEV) ## Check types with mypy
	@$(call run,mypy --strict)
	@$(call run,mypy --strict examples/cdk examples/submit_jobs.py)

.PHONY: layers
layers: $(INSTALLED_DEV) ## Check the direction of imports with import-linter
	@$(call run,lint-imports --no-logo --cache-dir .cache/import-linter)

.PHONY: pytest
pytest: $(INSTALLED_DEV) $(POLICY_EVALUATOR) ## Run all tests that are not slow
	@$(call run,pytest -n $(WORKERS) -m "not slow")

.PHONY: pytest-all
pytest-all: $(INSTALLED_DEV) $(INSTALLED_DOCS) $(POLICY_EVALUATOR) $(CLIENTS) ## Run all tests
	@$(call run,pytest -n $(WORKERS))

.PHONY: clients
clients: $(CLIENTS) ## Install AWS's own clients, for tests of the emulator

.PHONY: e2e
e2e: $(INSTALLED_DEV) ## Deploy the app into the emulator, use it, change it and destroy it
	@$(call run,pytest -s tests/e2e)

# --- What a contributor runs ---

.PHONY: format
format: $(INSTALLED_DEV) ## Format the code and mend what ruff can mend
	@$(call run,ruff check --fix .)
	@$(call run,ruff format .)

.PHONY: docs
docs: $(INSTALLED_DOCS) ## Build the guide and the reference into .cache/site
	@$(call run,python -m website.assemble .cache/site-source)
	@$(call run,env NO_MKDOCS_2_WARNING=1 mkdocs build --strict --quiet)
	@echo 'The site is .cache/site/index.html.'

.PHONY: docs-rules
docs-rules: $(INSTALLED) ## Make docs/rules from the rules
	@$(call run,python -m policy_engine.rules.pages docs/rules)

.PHONY: docs-columns
docs-columns: $(INSTALLED) ## Make the tables in docs/library.md from the columns
	@$(call run,python -m policy_engine.library.page docs/library.md)

.PHONY: schemas
schemas: $(INSTALLED) ## Make schemas/topology.schema.json from the model
	@$(RUN) batch-quota schema > $(CACHE)/topology.schema.json
	mv $(CACHE)/topology.schema.json schemas/topology.schema.json

.PHONY: bench
bench: $(INSTALLED_DEV) ## Measure speed and memory, and write docs/performance.md
	@$(call run,pytest benchmarks --benchmark-json=.cache/benchmarks.json)
	@$(call run,python -m benchmarks.table .cache/benchmarks.json)

.PHONY: wheel
wheel: $(INSTALLED) ## Build the wheel into dist
	@$(call run,hatchling build -t wheel)

.PHONY: hooks
hooks: $(INSTALLED_DEV) ## Run the checks of .pre-commit-config.yaml before each commit
	$(BIN)/pre-commit install

.PHONY: constraints
constraints: ## Choose anew the versions in constraints.txt
	rm -rf .cache/constraints && mkdir -p .cache/constraints
	sed '/^[-#]/d' requirements-build.txt requirements.txt requirements-dev.txt requirements-docs.txt \
		> .cache/constraints/direct.txt
	$(PYTHON) -m venv .cache/constraints/venv
	.cache/constraints/venv/bin/python -m pip install --quiet -r .cache/constraints/direct.txt
	sed -n '/^#/p' constraints.txt > .cache/constraints/new.txt
	.cache/constraints/venv/bin/python -m pip freeze -r .cache/constraints/direct.txt > .cache/constraints/frozen.txt
	sed '1,/^## /d' .cache/constraints/frozen.txt >> .cache/constraints/new.txt
	mv .cache/constraints/new.txt constraints.txt

.PHONY: clean
clean: ## Remove everything that these targets made
	rm -rf $(VENV) .cache cdk.out dist

# --- The virtual environment ---

# A file in it for each thing installed, so that what has not changed is not installed again.

# Not empty if the virtual environment cannot work any more: its Python is gone, or the checkout was moved.
BROKEN := $(shell [ ! -e $(VENV) ] || { [ -x $(BIN)/python ] && { \
	! grep -q '^command = ' $(VENV)/pyvenv.cfg || grep -qF -- '-m venv $(CURDIR)/$(VENV)' $(VENV)/pyvenv.cfg; }; } \
	|| echo broken-venv)

.PHONY: broken-venv
broken-venv:
	@echo 'Removing $(VENV): its Python is gone, or the checkout was moved.' >&2
	rm -rf $(VENV)

$(VENV)/.requirements: requirements-build.txt requirements.txt constraints.txt $(BROKEN)
	@[ -x $(BIN)/python ] || { $(suitable_python) && $(PYTHON) -m venv $(VENV); } || { rm -rf $(VENV); exit 1; }
	@echo 'Installing what runs into $(VENV), by pip from requirements.txt (a minute or two; later only what changed)'
	@$(PIP) install --no-compile -r requirements-build.txt
	@$(PIP) install --no-compile --no-build-isolation -r requirements.txt
	@touch $@

$(VENV)/.project: pyproject.toml $(VENV)/.requirements
	@$(PIP) install --no-compile --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.requirements-dev: requirements-dev.txt $(VENV)/.project
	@echo 'Installing what checks into $(VENV), by pip from requirements-dev.txt'
	@$(PIP) install --no-compile -r requirements-dev.txt
	@touch $@

$(VENV)/.requirements-docs: requirements-docs.txt $(VENV)/.project
	@echo 'Installing what builds the site into $(VENV), by pip from requirements-docs.txt'
	@$(PIP) install --no-compile -r requirements-docs.txt
	@touch $@

# In a virtual environment of their own: they want other versions of what the project uses.
$(CLIENTS): tests/clients/requirements.txt $(VENV)/.requirements
	@echo 'Installing AWS CLI and SageMaker Python SDK into .cache/clients (some minutes)'
	@$(BIN)/python -m venv .cache/clients
	@.cache/clients/bin/python -m pip --disable-pip-version-check --quiet install --no-compile -r $<
	@touch $@

# The one thing that comes by npm, itself from PyPI: no package there evaluates IAM policies with all their conditions.
$(VENV)/.policy-evaluator: tests/policy_evaluator/package-lock.json $(VENV)/.requirements
	@echo 'Installing what evaluates IAM policies in tests into $(VENV), by npm'
	@mkdir -p $(VENV)/policy-evaluator
	@cp tests/policy_evaluator/package.json tests/policy_evaluator/package-lock.json $(VENV)/policy-evaluator
	@cd $(VENV)/policy-evaluator && PATH='$(CURDIR)/$(BIN)':"$$PATH" npm_config_cache='$(CACHE)/npm' \
		npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

define suitable_python
{ $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "$(PYTHON) is Python %d.%d" % sys.version_info[:2])' || \
  { echo 'Batch Quota needs Python 3.11 or newer. Name it: make $(MAKECMDGOALS) PYTHON=python3.12' >&2; false; }; } && \
{ $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
  { echo '$(PYTHON) cannot make virtual environments. Debian and Ubuntu have them in the package python3-venv.' >&2; \
    false; }; }
endef
