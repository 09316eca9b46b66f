# `make run` and `make test` are enough to begin: each first sets up what is missing.

# ~/.local/bin: where uv puts Pythons (https://docs.astral.sh/uv/concepts/python-versions/); a new PATH may lack it.
PYTHON ?= $(shell PATH="$$PATH:$$HOME/.local/bin"; . .ci/pythons; fitting_python 'ensurepip, venv')
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := $(BIN)/python -m pip --disable-pip-version-check
PYTEST := QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest
PARALLEL := --numprocesses logical --maxprocesses 8 --dist
# The tests write thousands of small databases, and spend about a fifth of their time waiting for a disk.
TEMPORARY := $(shell df -k --output=avail /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 2000000 {print "/dev/shm"}')
FAST := not slow and not venue and not benchmark and not bundle
BUNDLE := dist/ghostcandle
DEB := $(lastword $(sort $(wildcard dist/ghostcandle_*.deb)))
MENU := $(or $(XDG_DATA_HOME),$(HOME)/.local/share)/applications

# If the shell sets it, each of hundreds of processes compiles the program and the tests again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run test check lint style types test-fast test-slow bench sabotage soak hooks stranger bundle bundle-test menu-entry deb deb-test platforms icons pictures docs docs-site golden-review golden-approve translation lock clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

setup: $(VENV)/.installed $(VENV)/.system ## Create .venv, install from the lock, check system libraries

$(VENV)/.installed: requirements.lock pyproject.toml
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || test -n "$(PYTHON)" || { .ci/no_python; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "Installing from requirements.lock (the first time this takes minutes)"
	@$(PIP) install --quiet -r requirements.lock
	@PYTHONWARNINGS=ignore $(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.system: .ci/system_libraries.py $(VENV)/.installed
	@$(BIN)/python .ci/system_libraries.py $@

run: setup ## Open the window (without a display: the same job in the terminal)
	@$(BIN)/ghostcandle run

check: setup ## Lint, types, and the tests near your change (about a minute)
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m tests.support.check

test: style ## Lint, types, import contracts, all fast tests
	@mkdir -p build && rm -f build/types.txt
	@$(MAKE) --no-print-directory --jobs=2 TYPES_OUTPUT='> build/types.txt' types test-fast; code=$$?; cat build/types.txt; exit $$code

lint: style types

style: setup
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --check .
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/pre-commit validate-config
	$(BIN)/lint-imports

types: setup
	$(BIN)/mypy $(TYPES_OUTPUT)

test-fast: setup
	$(if $(TEMPORARY),TMPDIR=$(TEMPORARY)) $(PYTEST) $(PARALLEL) worksteal -m "$(FAST)" $(ARGS)

test-slow: setup ## Tests marked slow or venue: real sockets, processes and seconds
	$(PYTEST) -p no:randomly $(PARALLEL) loadgroup -m "slow or venue" --timeout 900 $(ARGS)

bench: setup ## Speed, as ratios of times measured in one run; needs an idle machine
	$(PYTEST) -p no:randomly -m benchmark tests/benchmarks

soak: setup ## The long tests at full length
	GHOSTCANDLE_SOAK=1 $(PYTEST) -p no:randomly -m "slow or simulation or venue" --timeout 7200

sabotage: setup ## Apply one-line faults to a copy and report which ones the tests catch
	@$(BIN)/python -m tests.sabotage

hooks: setup ## Run ruff and mypy before each commit (pre-commit)
	$(BIN)/pre-commit install

stranger: setup ## A newcomer's tasks in the real window, by mouse and keyboard; under Xvfb if installed
	.ci/on_a_screen $(BIN)/python -m pytest -p no:randomly -m stranger --timeout 700 tests/stranger

bundle: setup ## Build the program as a folder: dist/ghostcandle
	$(BIN)/pyinstaller --noconfirm --log-level WARN build.spec

bundle-test: setup ## Test the bundle without the checkout's .venv
	GHOSTCANDLE_TEST_BUNDLE=1 $(PYTEST) -p no:randomly -m bundle --timeout 600

$(BUNDLE)/ghostcandle:
	@echo "$(BUNDLE) does not exist yet. Run: make bundle"; exit 1

menu-entry: $(BUNDLE)/ghostcandle ## Add the bundle to the desktop menu (Linux)
	@mkdir -p "$(MENU)"
	@sed -e 's|^Exec=.*|Exec="$(CURDIR)/$(BUNDLE)/ghostcandle"|' -e 's|^Icon=.*|Icon=$(CURDIR)/$(BUNDLE)/ghostcandle-256.png|' \
		$(BUNDLE)/ghostcandle.desktop > "$(MENU)/ghostcandle.desktop"
	@echo "Wrote $(MENU)/ghostcandle.desktop"

deb: $(BUNDLE)/ghostcandle ## Build a Debian package from the bundle: dist/ghostcandle_VERSION_ARCHITECTURE.deb
	@$(PYTHON) .ci/deb.py $(BUNDLE)

deb-test: ## Install, start and remove the Debian package in a bare Debian (root; minutes)
	@test -n "$(DEB)" || { echo "There is no package in dist yet. Run: make deb"; exit 1; }
	.ci/deb_test $(DEB) build/deb-window.png

platforms: ## Test each Python with the lock and the newest packages, in Debians made in folders (root; .ci/platforms)
	@FAST="$(FAST)" ARGS="$(ARGS)" ONLY="$(ONLY)" .ci/platforms

pictures: setup ## Make the pictures of README and docs from the real window
	$(BIN)/python -m tests.support.pictures docs/pictures

docs: setup ## Regenerate the tables in docs/ from the code
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m tests.support.docs

docs-site: setup ## Build the docs and the API reference as a website: build/docs-site
	@$(PIP) install --quiet --no-build-isolation -e ".[docs]"
	@$(BIN)/python .ci/docs_site.py
	@$(BIN)/mkdocs build --strict --quiet --config-file .ci/mkdocs.yml
	@echo "Wrote build/docs-site/index.html"

golden-review: setup ## Render the chart's golden images; build/golden/index.html shows differences
	@$(BIN)/python -m tests.golden.review

golden-approve: setup ## Accept the reviewed golden images
	@$(BIN)/python -m tests.golden.review --approve

translation: setup ## Update the texts of a language: make translation LANGUAGE=de (docs/translating.md)
	@test -n "$(LANGUAGE)" || { echo "Name the language: make translation LANGUAGE=de"; exit 1; }
	@mkdir -p resources/translations
	$(BIN)/python -m tests.support.table_texts build/table_texts.py
	$(BIN)/pyside6-lupdate -extensions py desktop build/table_texts.py -ts resources/translations/ghostcandle_$(LANGUAGE).ts
	$(BIN)/pyside6-lrelease resources/translations/ghostcandle_$(LANGUAGE).ts

icons: setup ## Render the icon's sizes and formats from resources/icon.svg
	$(BIN)/python .ci/icons.py

lock: ## Rebuild requirements.lock (needs uv); ARGS=--upgrade for the newest of everything
	.ci/lock $(ARGS)

clean: ## Remove everything that can be rebuilt
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
