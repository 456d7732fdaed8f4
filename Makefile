# make build        the program: .venv/bin/tailrace (the first answer of README's example)
# make quick        is my change right so far? what it can reach, in some 90 seconds
# make test         before a commit: everything, a quarter of an hour from a fresh clone
# make test-all     before a release: full counts, full scale, all live and exact runs
# make nightly      fuzzing, damages of runs, coverage of intervals, faults, verdicts of kernels: MINUTES=60, goes on where it stopped
# make mutants      mutations of the change: which does no test notice?
# make lint         formats, lints, types, layers
# make docs         the generated pages
# make bench        how fast the simulator is; bench-guard refuses more instructions
# make more         the other targets
#
#+ make reproduce       build, run the Cisco reproduction at a fraction of its length, print the table (under a minute)
#+ make reproduce-full  the same with the published transaction counts and all trials
#+ make check-commands  call --help of every command and group
#+ make live-deps       install the programs of live runs from Debian's packages, as root
#+                      (WITH="ovs ovs-dpdk": also those of fabrics for comparison)
#+ make exact-deps      build the kernel of exact runs from Debian's source package, into the user's cache
#+ make bench-guard     refuse more instructions or cache misses per packet-hop
#+ make bench-peers     the benches beside csg-htsim, by turns: PEER_HTSIM=path
#+ make whatif          build the WebAssembly module of `tailrace whatif`, when its test says that outcomes differ
#+ make man             write a manual page for each command into target/man
#+ make gallery         write the what-if pages of docs/gallery
#+ make wheel           a source distribution and a manylinux wheel, into dist/; the wheel is installed and used
#+ make clean           remove everything that these targets made, runs/ apart
#+ `make docs RUN=runs/...` takes a run's result. Every target sets up what it needs; a second run does only what has changed.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
BUILT := target/built
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

# pyo3's build script looks for an interpreter: always the same one, or each change of PATH rebuilds.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
# No colour codes in logs.
export CARGO_TERM_COLOR ?= auto

.PHONY: help more
help:
	@sed -n 's/^# make/make/p' Makefile
more:
	@sed -n 's/^#+ //p' Makefile

# --- set-up -------------------------------------------------------------------------------------------------------

.venv/locked: pyproject.toml uv.lock scripts/bootstrap.py scripts/uv-wheels.txt
	@echo "set-up: virtual environment from uv.lock"
	@$(PYTHON) scripts/bootstrap.py
	@touch $@

# One graph for the extension and the programs: the crates that they share are compiled once.
$(BUILT): .venv/locked $(RUST_SOURCES)
	@$(BIN)/python scripts/build.py
	@touch $@

.PHONY: setup build
setup: .venv/locked
build: $(BUILT)

# --- use ----------------------------------------------------------------------------------------------------------

# The part of the paper's transaction counts that `make reproduce` runs; the rates are the paper's.
REPRODUCE_SCALE ?= 0.4
CISCO := reproductions/cisco-dpp/scenario.yaml

.PHONY: reproduce reproduce-full bench
# Exit code 1 of the program says that a published figure was missed: the table shows which, and make goes on.
reproduce: build
	@$(BIN)/tailrace run $(CISCO) --scale $(REPRODUCE_SCALE) || test $$? -eq 1

reproduce-full: build
	@$(BIN)/tailrace run $(CISCO) || test $$? -eq 1

# With what wheels have; `make build` puts back what is quicker to build.
.PHONY: dist-build
dist-build: .venv/locked
	@rm -f $(BUILT)
	@$(BIN)/python scripts/build.py --profile dist

bench: dist-build
	@$(BIN)/python benches/run.py

# Instructions and cache misses per packet-hop, which must not grow: benches/guard.json.
.PHONY: bench-guard
bench-guard:
	@$(BIN)/python benches/guard.py

# A tree of csg-htsim whose libhtsim.a is built.
PEER_HTSIM ?=

.PHONY: bench-peers
bench-peers: dist-build
	@test -n "$(PEER_HTSIM)" || { echo "make bench-peers PEER_HTSIM=path: a tree of csg-htsim with libhtsim.a"; exit 2; }
	@$(BIN)/python benches/beside.py --htsim "$(PEER_HTSIM)"

# What only some live runs need: ovs, ovs-dpdk.
WITH ?=

.PHONY: live-deps
live-deps: build
	@$(BIN)/python scripts/live_deps.py $(WITH)

.PHONY: exact-deps
exact-deps: build
	@$(BIN)/python scripts/exact_deps.py

# The module is in the repository. Without the compiler's target, Debian's compiler is unpacked into the user's cache.
.PHONY: whatif
whatif: .venv/locked
	@$(BIN)/python scripts/build_whatif.py

.PHONY: gallery
gallery: build
	@$(BIN)/python scripts/gallery.py

# --- packages -----------------------------------------------------------------------------------------------------

.PHONY: wheel
wheel: .venv/locked
	@$(BIN)/python scripts/build_wheel.py
	@$(BIN)/python scripts/check_wheel.py

# --- checks -------------------------------------------------------------------------------------------------------

.PHONY: quick test test-all lint check-commands nightly mutants
quick: .venv/locked
	@$(BIN)/python scripts/quick.py

test: .venv/locked
	@$(BIN)/python scripts/checks.py test

test-all: .venv/locked
	@$(BIN)/python scripts/checks.py test-all

lint: .venv/locked
	@$(BIN)/python scripts/checks.py lint

check-commands: build
	@$(BIN)/python scripts/check_commands.py

MINUTES ?= 60
nightly: build
	@$(BIN)/python scripts/nightly.py --minutes $(MINUTES)

mutants: build
	@$(BIN)/python scripts/mutants.py

# --- generated pages ----------------------------------------------------------------------------------------------

# RUN=runs/...: first take the result of this run into the summary behind the README's table and figure.
RUN ?=

.PHONY: man
man: build
	@$(BIN)/python scripts/man_pages.py

.PHONY: docs readme-table
docs: build
	@$(BIN)/python scripts/generate_docs.py $(if $(RUN),--from $(RUN))

readme-table: build
	@$(BIN)/python scripts/generate_docs.py --only readme-table $(if $(RUN),--from $(RUN))

.PHONY: clean
clean:
	rm -rf target dist .venv .bootstrap .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis python/tailrace/_native.abi3.so python/tailrace/bin
	find python tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
