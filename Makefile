# What a fresh machine needs: rustup, node with npm, and apt (as root or with sudo) where no
# chromium is installed. Everything else is set up here, once; the second time costs nothing.

.DEFAULT_GOAL := help
.NOTPARALLEL:
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

# trunk 0.22 asks for a newer Rust than rust-toolchain.toml names.
TRUNK_VERSION := 0.21.14
# The generated JavaScript and the wasm must come from one version: the lock's.
BINDGEN_VERSION := $(shell sed -n '/^name = "wasm-bindgen"$$/{n;s/version = "\(.*\)"/\1/p;}' Cargo.lock)

# Tools of the project's own, when PATH has not got the right version; first on PATH, so that trunk
# finds them as well.
TOOLS := $(CURDIR)/target/tools
export PATH := $(TOOLS)/bin:$(PATH):$(HOME)/.cargo/bin

MDBOOK_VERSION := 0.5.4

# The lock is part of the source: a build never changes it.
CARGO_FLAGS ?= --locked
# How many cases a property gets in `make soak`: some minutes, where `make test` takes seconds.
SOAK_CASES ?= 20000
# The same for the tests whose every case is a whole run, looked at after each step.
SOAK_RUNS ?= 5000
# How many seeded runs of the informer, in threads and under the virtual scheduler, in `make soak`; `make test` does 100 and 1000.
SOAK_SEEDS ?= 10000
# How often `make soak-busy` runs the tests of threads, with how many seeds, and beside how many loops that keep the
# machine busy.
BUSY_ROUNDS ?= 10
BUSY_SEEDS ?= 100
BUSY_LOOPS ?= 2

BROWSER := tests/browser
NODE_MODULES := $(BROWSER)/node_modules/.package-lock.json
# What other people's pages are made with, for the tests of the element in them.
HOST_MODULES := $(BROWSER)/hosts/node_modules/.package-lock.json
WASM := wasm32-unknown-unknown
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
BENCHES := $(TARGET)/benches

.PHONY: help
help:
	@echo 'make serve    build the page, serve it on http://127.0.0.1:8080/ and rebuild on every change;'
	@echo '              PROXY=http://127.0.0.1:8001: with the cluster that kubectl proxy answers for there'
	@echo 'make test     everything that must hold: format, lints, native, wasm and browser tests'
	@echo 'make bench    the benchmarks, natively and in a browser, beside client-go'\''s figures'
	@echo 'make dist     the static site, in dist/'
	@echo 'make docs     the documentation, in target/docs/'
	@echo 'make soak     the long tests: $(SOAK_CASES) cases a property, $(SOAK_SEEDS) seeds'
	@echo 'make soak-busy the tests of threads, $(BUSY_ROUNDS) times beside $(BUSY_LOOPS) busy loops'
	@echo 'make house    who imports whom: the crates, and the modules of each in layers'
	@echo 'parts of them: setup fmt clippy test-native examples test-wasm test-browser size'

.PHONY: serve test bench dist docs soak soak-busy
# PROXY's answers come under the path where the page looks for an API.
serve: setup
	trunk serve$(if $(PROXY), --proxy-backend='$(PROXY)' --proxy-rewrite=/k8s/ --proxy-no-system-proxy)

test: fmt clippy test-native examples test-wasm test-browser

# The command line that is compiled after it has the page in it.
dist: setup-dist
	trunk build --release
	cargo run $(CARGO_FLAGS) --quiet -p deltascope-pack -- dist embed/page/page.bin
	@$(MAKE) --no-print-directory size

DOCS := $(TARGET)/docs
# What the element is made of; the rest of src is only there natively.
ELEMENT := src style embed index.html Trunk.toml Cargo.toml Cargo.lock -not -path 'src/mdbook/*' -not -path 'src/cli/*' -not -path 'embed/page/*' -type f

# Every block of the two books runs, and none is built where one does not hold.
docs: setup-docs
	@[ -f dist/deltascope.js ] && [ -z "$$(find $(ELEMENT) -newer dist/deltascope.js -print -quit)" ] || \
	  { $(MAKE) --no-print-directory setup-dist && trunk build --release; }
	cargo build $(CARGO_FLAGS) $(NATIVE) --bin mdbook-deltascope
	@for lang in en zh; do \
	  '$(TARGET)/debug/mdbook-deltascope' install --from dist docs/$$lang; \
	  PATH='$(TARGET)/debug':"$$PATH" mdbook build docs/$$lang -d '$(DOCS)'/$$lang; done
	@cp docs/index.html '$(DOCS)/index.html'
	@echo 'read it: any static server on $(DOCS), such as python3 -m http.server -d $(DOCS)'

# The same workloads natively, in a browser as a user of the library compiles it, and there as the
# page is compiled; one table of all; then what going through a million facts costs on the page, and what ten thousand objects do. BENCH= a part of a name leaves out all other rows natively.
bench: setup-dist setup-browser
	@mkdir -p '$(BENCHES)'
	BENCH_OUT='$(BENCHES)/native.json' cargo bench $(CARGO_FLAGS) -p deltascope-bench -- $(BENCH)
	@for profile in release page; do \
	  (set -x; cargo build $(CARGO_FLAGS) -p deltascope-bench --lib --target $(WASM) --profile $$profile); \
	  wasm-bindgen --target web --no-typescript --out-dir "$(BENCHES)/$$profile" \
	    "$(TARGET)/$(WASM)/$$profile/deltascope_bench.wasm"; done
	@node $(BROWSER)/bench.mjs '$(BENCHES)/native.json' '$(BENCHES)/release' '$(BENCHES)/page'
	trunk build --release --dist '$(BENCHES)/dist'
	@DIST='$(BENCHES)/dist' node $(BROWSER)/bench-time.mjs
	@DIST='$(BENCHES)/dist' node $(BROWSER)/bench-many.mjs

soak:
	PROPTEST_CASES=$(SOAK_CASES) SOAK_SEEDS=$(SOAK_SEEDS) cargo test $(CARGO_FLAGS) --release --no-fail-fast \
	  --lib --test engine --test models --test runs --test wire --test house --test wasm -- --skip fold::
	PROPTEST_CASES=$(SOAK_RUNS) cargo test $(CARGO_FLAGS) --release --test runs fold::

# Who imports whom: the crates, and the modules of each in layers.
.PHONY: house
house: setup-rust
	@HOUSE='$(TARGET)/house.txt' cargo test $(CARGO_FLAGS) --quiet --test house the_house_can_be_drawn >/dev/null
	@cat '$(TARGET)/house.txt'

# What waits for a time, or for an order that the threads need not keep, fails here.
soak-busy: setup-rust
	cargo test $(CARGO_FLAGS) --no-run --test models --test engine --test runs
	@loops=(); trap 'kill "$${loops[@]}"' EXIT; \
	for ((loop = 0; loop < $(BUSY_LOOPS); loop++)); do while :; do :; done & loops+=($$!); done; \
	export SOAK_SEEDS=$(BUSY_SEEDS) SHUTTLE_RANDOM_SEED; \
	for ((SHUTTLE_RANDOM_SEED = 1; SHUTTLE_RANDOM_SEED <= $(BUSY_ROUNDS); SHUTTLE_RANDOM_SEED++)); do \
	  echo "round $$SHUTTLE_RANDOM_SEED of $(BUSY_ROUNDS)"; \
	  cargo test $(CARGO_FLAGS) --quiet --test models; \
	  cargo test $(CARGO_FLAGS) --quiet --test engine --test runs -- threads:: simulation::; done

# --- set-up -----------------------------------------------------------------------------------

.PHONY: setup setup-rust setup-dist setup-browser
setup: setup-dist

# rust-toolchain.toml says which; most rustups fetch it at the first call, some want to be asked.
setup-rust:
	@cargo --version >/dev/null || rustup toolchain install
	@have=$$(rustup target list --installed) && grep -qx '$(WASM)' <<<"$$have" || rustup target add $(WASM)
	@have=$$(rustup component list --installed) && for c in clippy rustfmt; do \
	  grep -q "^$$c" <<<"$$have" || rustup component add $$c; done

# A tool runs for seconds, so it is compiled fast rather than made fast; what several need is compiled once.
INSTALL = CARGO_TARGET_DIR='$(TOOLS)/build' CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_STRIP=symbols \
	cargo install --debug --root '$(TOOLS)' --force

setup-dist: setup-bindgen
	@[ "$$(trunk --version 2>/dev/null)" = 'trunk $(TRUNK_VERSION)' ] || { \
	  echo 'Set-up: trunk $(TRUNK_VERSION) builds and serves the page; compiling it takes some minutes, once.'; \
	  $(INSTALL) trunk --locked --version $(TRUNK_VERSION); }

.PHONY: setup-docs
setup-docs: setup-rust
	@[ "$$(mdbook --version 2>/dev/null)" = 'mdbook v$(MDBOOK_VERSION)' ] || { \
	  echo 'Set-up: mdbook $(MDBOOK_VERSION) builds the books; compiling it takes a minute, once.'; \
	  $(INSTALL) mdbook --locked --version $(MDBOOK_VERSION); }

# Not --locked: one crate that its lock names can no longer be had. A little optimised: every build of the page waits for
# it.
.PHONY: setup-bindgen
setup-bindgen: setup-rust
	@{ [ "$$(wasm-bindgen --version 2>/dev/null)" = 'wasm-bindgen $(BINDGEN_VERSION)' ] && \
	   [ "$$(wasm-bindgen-test-runner --version 2>/dev/null)" = 'wasm-bindgen-test-runner $(BINDGEN_VERSION)' ]; } || { \
	  echo 'Set-up: wasm-bindgen $(BINDGEN_VERSION) binds the page to JavaScript; compiling it takes some minutes, once.'; \
	  CARGO_PROFILE_DEV_OPT_LEVEL=1 $(INSTALL) wasm-bindgen-cli --version $(BINDGEN_VERSION); }

APT = if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
	$$sudo apt-get update && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends
# Without kubectl the tests behind a real proxy are skipped, and say so; without Hugo, that of its shortcode; without
# Firefox, that of the element in it: it is large, and not installed for this.
setup-browser: $(NODE_MODULES) $(HOST_MODULES)
	@command -v chromium >/dev/null || { $(APT) chromium; }
	@command -v kubectl >/dev/null || { $(APT) kubernetes-client; } || echo 'no kubectl: tests behind kubectl proxy will be skipped'
	@command -v hugo >/dev/null || { $(APT) hugo; } || echo 'no hugo: its shortcode will not be tried'

%/node_modules/.package-lock.json: %/package.json %/package-lock.json
	cd '$*' && npm ci --no-audit --no-fund
	@touch $@

# --- the parts of `make test` -----------------------------------------------------------------

.PHONY: fmt clippy test-native examples test-wasm test-browser size
fmt: setup-rust
	cargo fmt --all --check

# Natively all but the page.
NATIVE := --workspace --exclude deltascope-page --features cli,mdbook
clippy: setup-rust
	cargo clippy $(CARGO_FLAGS) $(NATIVE) --all-targets -- -D warnings
	cargo clippy $(CARGO_FLAGS) --target $(WASM) -p deltascope -p deltascope-page --features ui --lib --bins -- -D warnings

# From fixed seeds, so that one commit has one result; a bare `cargo test` and `make soak` roll their own.
test-native: setup-rust
	PROPTEST_RNG_SEED=1 SHUTTLE_RANDOM_SEED=1 cargo test $(CARGO_FLAGS) $(NATIVE) --no-fail-fast

# Among them the runner of recorded scenarios.
examples: setup-rust
	cargo build $(CARGO_FLAGS) $(NATIVE) --examples

test-wasm: setup-bindgen
	CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER=wasm-bindgen-test-runner \
	  cargo test $(CARGO_FLAGS) --target $(WASM) --test wasm

test-browser: setup-browser dist docs
	cargo test $(CARGO_FLAGS) $(NATIVE) --test programs in_the_program
	cd $(BROWSER) && node --test --test-reporter=spec --test-concurrency=2 tests/*.test.mjs

size:
	@node $(BROWSER)/size.mjs dist
