# Every target sets up what it needs; a second run does only what has changed.
#
#   make reproduce       build, run the Cisco reproduction at a fraction of its length, print the table (under a minute)
#   make reproduce-full  the same with the published transaction counts and all trials
#   make test            every check: formats, lints, types, architecture, Rust and Python tests
#   make lint            the checks that run nothing
#   make explore         the tests with random cases, with other cases (SEED=... repeats some)
#   make live-deps       install the programs of live runs from Debian's packages, as root
#                        (WITH="ovs ovs-dpdk": also those of fabrics for comparison)
#   make exact-deps      build the kernel of exact runs from Debian's source package, into the user's cache
#   make bench           the workloads of benches/README.md
#   make bench-guard     refuse more instructions or cache misses per packet-hop
#   make bench-peers     the same beside csg-htsim, by turns: PEER_HTSIM=path
#   make docs            the generated pages of docs/ and the table of README.md (RUN=runs/... takes a run's result)
#   make whatif          build the WebAssembly module of `tailrace whatif`, which is committed, after a change of the simulator
#   make gallery         write the what-if pages of docs/gallery
#   make wheel           a source distribution and a manylinux wheel, into dist/; the wheel is installed and used
#   make clean           remove everything that these targets made, runs/ apart

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
NATIVE := python/tailrace/_native.abi3.so
FABRIC := python/tailrace/bin/tailrace-fabric
TRAFFIC := python/tailrace/bin/tailrace-traffic
EXACT := python/tailrace/bin/tailrace-exact
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

# pyo3's build script looks for an interpreter: always the same one, or each change of PATH rebuilds.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
# No colour codes in logs.
export CARGO_TERM_COLOR ?= auto

.PHONY: help
help:
	@sed -n 's/^#   //p' Makefile

# --- set-up -------------------------------------------------------------------------------------------------------

.venv/locked: pyproject.toml uv.lock scripts/bootstrap.py scripts/uv-wheels.txt
	@echo "set-up: virtual environment from uv.lock"
	@$(PYTHON) scripts/bootstrap.py
	@touch $@

$(NATIVE): .venv/locked $(RUST_SOURCES)
	@echo "build: the simulator, optimised"
	@env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/.venv UV_OFFLINE=1 PATH="$(CURDIR)/.bootstrap/bin:$(CURDIR)/$(BIN):$$PATH" \
	  maturin develop --uv --release --locked --quiet >.bootstrap/build.log 2>&1 || { cat .bootstrap/build.log; exit 1; }
	@touch $@

$(FABRIC): $(RUST_SOURCES)
	@echo "build: the live fabric, optimised"
	@mkdir -p $(@D)
	@cargo build --release --locked --quiet -p tailrace-fabric
	@install -m 755 $${CARGO_TARGET_DIR:-target}/release/tailrace-fabric $@

$(EXACT): $(RUST_SOURCES)
	@echo "build: the exact engine, optimised"
	@mkdir -p $(@D)
	@cargo build --release --locked --quiet -p tailrace-exact
	@install -m 755 $${CARGO_TARGET_DIR:-target}/release/tailrace-exact $@

# The traffic program runs on systems that have nothing else: it needs no library. Options for a target are not those of procedural
# macros, so that the target is named.
$(TRAFFIC): $(RUST_SOURCES)
	@echo "build: the traffic program, optimised and static"
	@mkdir -p $(@D)
	@triple=$$(rustc -vV | sed -n 's/^host: //p'); \
	  RUSTFLAGS="-C target-feature=+crt-static" CARGO_PROFILE_RELEASE_STRIP=true \
	  cargo build --release --locked --quiet -p tailrace-traffic --target $$triple; \
	  install -m 755 $${CARGO_TARGET_DIR:-target}/$$triple/release/tailrace-traffic $@

.PHONY: setup build
setup: .venv/locked
build: $(NATIVE) $(FABRIC) $(TRAFFIC) $(EXACT)

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

bench: build
	@$(BIN)/python benches/run.py

# Instructions and cache misses per packet-hop, which must not grow: benches/guard.json.
.PHONY: bench-guard
bench-guard:
	@$(BIN)/python benches/guard.py

# A tree of csg-htsim whose libhtsim.a is built.
PEER_HTSIM ?=

.PHONY: bench-peers
bench-peers: build
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

# The module is in the repository, so that only those who change the simulator need the compiler's target.
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

.PHONY: test lint explore
test: build
	@$(BIN)/python scripts/checks.py all

lint: build
	@$(BIN)/python scripts/checks.py lint

explore: build
	@$(BIN)/python scripts/checks.py explore

# --- generated pages ----------------------------------------------------------------------------------------------

# RUN=runs/...: first take the result of this run into the summary behind the README's table and figure.
RUN ?=

.PHONY: docs readme-table
docs: build
	@$(BIN)/python scripts/generate_docs.py $(if $(RUN),--from $(RUN))

readme-table: build
	@$(BIN)/python scripts/generate_docs.py --only readme-table $(if $(RUN),--from $(RUN))

.PHONY: clean
clean:
	rm -rf target dist .venv .bootstrap .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis $(NATIVE) $(dir $(FABRIC))
	find python tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
