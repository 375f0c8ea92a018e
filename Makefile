# A fresh machine needs rustup, a C compiler, node with npm, and apt (as root or with sudo) if chromium or its fonts are not
# installed. Everything else is set up here, once.

.DEFAULT_GOAL := help
.NOTPARALLEL:
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

# trunk 0.22 needs a newer Rust than the one in rust-toolchain.toml.
TRUNK_VERSION := 0.21.14
# The generated JavaScript and the wasm must come from the same version: that of Cargo.lock.
BINDGEN_VERSION := $(shell sed -n '/^name = "wasm-bindgen"$$/{n;s/version = "\(.*\)"/\1/p;}' Cargo.lock)

# The project's own tools, for which PATH may lack the right version. They come first on PATH, so that trunk finds
# them as well. Then the program that lints while cargo compiles.
TOOLS := $(CURDIR)/target/tools
export PATH := $(TOOLS)/bin:$(CURDIR)/tests:$(PATH):$(HOME)/.cargo/bin

MDBOOK_VERSION := 0.5.4

# Cargo.lock is part of the source: a build never changes it.
CARGO_FLAGS ?= --locked
# Cases per property in `make soak`: it takes minutes, where `make test` takes seconds.
SOAK_CASES ?= 20000
# The same for tests in which every case is a whole run that is checked after each step.
SOAK_RUNS ?= 5000
WHOLE_RUNS := fold:: commands:: session::search::
# Seeded runs of the informer in `make soak`, in threads and under the virtual scheduler; `make test` does 100 and
# 1000.
SOAK_SEEDS ?= 10000
# Executions of each surface in `make fuzz`: some thousand a second. FUZZ= names of some surfaces leaves out the others.
FUZZ_RUNS ?= 10000000
# Rounds of the thread tests in `make soak-busy`, seeds per round, and loops that keep the machine busy.
BUSY_ROUNDS ?= 10
BUSY_SEEDS ?= 100
BUSY_LOOPS ?= 2

BROWSER := tests/browser
NODE_MODULES := $(BROWSER)/node_modules/.package-lock.json
# The packages for the tests of the element on other pages.
HOST_MODULES := $(BROWSER)/hosts/node_modules/.package-lock.json
WASM := wasm32-unknown-unknown
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
BENCHES := $(TARGET)/benches

.SECONDEXPANSION:

.PHONY: help
help:
	@echo 'make serve    builds the page, serves it on http://127.0.0.1:8080/ and rebuilds it on every change;'
	@echo '              PROXY=http://127.0.0.1:8001: with the cluster behind the kubectl proxy at this address'
	@echo 'make test     runs all checks: format, lints, native, wasm and browser tests'
	@echo 'make bench    runs the benchmarks, natively and in a browser, and compares them with client-go'\''s'
	@echo 'make dist     builds the static site, in dist/'
	@echo 'make site     builds page, element and both books into one static folder with a front page, target/site/'
	@echo 'make soak     runs the long tests: $(SOAK_CASES) cases per property, $(SOAK_SEEDS) seeds'
	@echo 'make fuzz     looks for inputs that break a reader: $(FUZZ_RUNS) executions each; FUZZ=link only this one'
	@echo 'make supply   checks licences, duplicates and sources of all dependencies, and lists them (SPDX)'
	@echo 'make soak-busy runs the thread tests $(BUSY_ROUNDS) times beside $(BUSY_LOOPS) busy loops'
	@echo 'make pictures takes the pictures of the page again with which make test compares it; PICTURES= some of them'
	@echo 'make starts   finds out which functions the first pictures, lessons and rooms need, when they have grown'
	@echo 'make house    prints which crate imports which, and the modules of each in layers'
	@echo 'parts:        setup books fmt clippy test-native examples lint-benches test-wasm test-browser size'

.PHONY: serve test bench dist site soak soak-busy fuzz supply
# PROXY's responses come under the path where the page looks for an API.
serve: setup
	trunk serve$(if $(PROXY), --proxy-backend='$(PROXY)' --proxy-rewrite=/k8s/ --proxy-no-system-proxy)

# Each crate is linted where it is compiled, the page's by whatever builds it; `make clippy` does nothing else. By its name
# alone, found in PATH: cargo hashes what stands here, and the page must not depend on the folder in which it is built.
test starts $(TARGET)/page.stamp: export RUSTC_WORKSPACE_WRAPPER := lint.sh
# Nor on the folder of the crates that it is made of.
starts $(TARGET)/page.stamp: export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS := \
  --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo
test: fmt locks test-beside-dist test-browser

# The end of the page's optimised build keeps one core busy; the tests have the other. What the browser needs is fetched meanwhile,
# and if that fails, `test-browser` says so. The page is packed for the command
# line only after them: they serve the packed one.
.PHONY: test-beside-dist
test-beside-dist: setup-dist
	@mkdir -p '$(TARGET)'; status=0; \
	$(MAKE) --no-print-directory setup-browser >/dev/null 2>&1 & browser=$$!; \
	($(MAKE) --no-print-directory $(PAGE) && $(MAKE) --no-print-directory --keep-going lint-benches test-wasm) \
	  >'$(TARGET)/dist.log' 2>&1 & dist=$$!; \
	$(MAKE) --no-print-directory test-native examples || status=1; \
	wait $$dist || status=1; cat '$(TARGET)/dist.log'; wait $$browser || :; exit $$status

# The sources of the page and the element; the rest of src is only compiled natively.
PAGE_SOURCES = $(shell find src style embed index.html Trunk.toml Cargo.toml Cargo.lock -not -path 'src/mdbook/*' -not -path 'src/cli/*' -not -path 'embed/page/*' -type f)

# Newer than the page, unless `trunk serve` has built another one in its place.
PAGE := $(TARGET)/page.stamp
$(PAGE): $$(PAGE_SOURCES) dist/index.html | setup-dist
	trunk build --release
	@touch '$@'

dist/index.html: ;

# The command line contains the page if it is compiled after this.
.PHONY: packed
packed: $(PAGE)
	cargo run $(CARGO_FLAGS) --quiet -p deltascope-pack -- dist embed/page/page.bin

# Finds out what first pictures, lessons and rooms need, for embed/pack/starts.txt: when the page has grown, or begins to wait for a file.
.PHONY: starts
starts: setup-dist setup-browser
	DELTASCOPE_COUNTS=1 trunk build --release --dist '$(TARGET)/counting'
	DIST='$(TARGET)/counting' node $(BROWSER)/starts.mjs

# What it weighs depends on the folder a little: only `make test` holds the books to it.
dist: packed
	@$(MAKE) --no-print-directory size || :

SITE := $(TARGET)/site
# Runs every block of the two books; a book with a failing block is not built.
BOOKS := $(TARGET)/books.stamp
BOOK_SOURCES = $(shell find docs/en docs/zh src Cargo.toml Cargo.lock -not -path 'docs/*/src/deltascope*' -not -path 'src/page/*' -not -path 'src/cli/*' -type f)
$(BOOKS): $$(BOOK_SOURCES) $(PAGE) $(SITE)/book/zh/index.html | setup-books
	cargo build $(CARGO_FLAGS) $(NATIVE) --bin mdbook-deltascope
	@for lang in en zh; do \
	  '$(TARGET)/debug/mdbook-deltascope' install --from dist docs/$$lang; \
	  PATH='$(TARGET)/debug':"$$PATH" mdbook build docs/$$lang -d '$(SITE)'/book/$$lang; done
	@touch '$@'

$(SITE)/book/zh/index.html: ;

.PHONY: books
books: $(BOOKS)

# The page learns from its own head that the books are beside it: elsewhere it has no links to them.
FRONT := docs/index.html style/tokens.css docs/screenshots/front-en.svg docs/screenshots/front-zh.svg
site: $(BOOKS)
	@rm -rf '$(SITE)/page' && mkdir -p '$(SITE)' && cp -R dist '$(SITE)/page' && cp $(FRONT) '$(SITE)'
	@sed 's|<title>|<meta name="deltascope-book" content="../book/"><title>|' dist/index.html >'$(SITE)/page/index.html'
	@echo 'open it: any static server on $(SITE), such as python3 -m http.server -d $(SITE)'

# The same workloads natively, in a browser as a user of the library compiles them, and there as the page is
# compiled, in one table. Then the costs of moving through a million facts on the page, and of ten thousand
# objects, of starting, of the frames while it plays, and of following a cluster. BENCH= part of a name leaves out all other rows of the native benchmarks.
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
	@node $(BROWSER)/bench-start.mjs '$(BENCHES)/dist'
	@node $(BROWSER)/bench-frames.mjs '$(BENCHES)/dist'
	@node $(BROWSER)/bench-live.mjs '$(BENCHES)/dist'
	@node $(BROWSER)/bench-live.mjs '$(BENCHES)/dist' --objects 100000

# An informer of kube-rs meets all faults behind the tap here: compiling it takes 80 s of a core, too long for `make test`.
KUBE_RS = $(TARGET)/kube-rs
soak: setup-rust setup-browser packed
	PROPTEST_CASES=$(SOAK_CASES) SOAK_SEEDS=$(SOAK_SEEDS) cargo test $(CARGO_FLAGS) --release --no-fail-fast \
	  --lib --test engine --test models --test runs --test wire --test house -- $(addprefix --skip ,$(WHOLE_RUNS))
	PROPTEST_CASES=$(SOAK_RUNS) cargo test $(CARGO_FLAGS) --release --test runs -- $(WHOLE_RUNS)
	cargo build $(CARGO_FLAGS) --manifest-path tests/kube-rs/Cargo.toml --target-dir '$(KUBE_RS)'
	KUBE_RS='$(KUBE_RS)/debug/kube-rs-informer' cargo test $(CARGO_FLAGS) $(NATIVE) --test programs kube_rs -- --ignored
	node --test --test-reporter=spec $(BROWSER)/visit.test.mjs $(BROWSER)/clicks.test.mjs

# libFuzzer, which sees what an input does and keeps those that do something new, in target/fuzz. It stops at an input that
# panics, overflows, takes a second or 512 MB, and names its file: mend the cause, and keep the input in
# tests/fuzz/corpus, which `make test` reads.
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
FUZZER = $(TARGET)/fuzz/$(HOST)/release/deltascope-fuzz
SEES := -Cpasses=sancov-module $(addprefix -Cllvm-args=-sanitizer-coverage-,level=3 inline-8bit-counters pc-table) --cfg fuzzing
fuzz: setup-rust
	RUSTFLAGS='$(SEES)' cargo build $(CARGO_FLAGS) --release --manifest-path tests/fuzz/Cargo.toml \
	  --target $(HOST) --target-dir '$(TARGET)/fuzz'
	@kept='$(TARGET)/fuzz/corpus'; KEPT="$$kept" '$(FUZZER)' | while read -r name longest folders; do \
	  [ -z '$(FUZZ)' ] || grep -qw "$$name" <<<'$(FUZZ)' || continue; \
	  echo "$$name"; \
	  SURFACE=$$name '$(FUZZER)' -runs=$(FUZZ_RUNS) -timeout=1 -rss_limit_mb=512 -max_len=$$longest -verbosity=0 -entropic=0 \
	    -dict="$$kept/$$name.words" -print_final_stats=1 -artifact_prefix="$$kept/$$name-" "$$kept/$$name" $$folders; done

# RustSec's advisories are a database in the network, so they are no part of it: `cargo deny check advisories`.
DENY_VERSION := 0.20.2
SBOM_VERSION := 0.10.0
supply: setup-rust
	@[ "$$(cargo-deny --version 2>/dev/null)" = 'cargo-deny $(DENY_VERSION)' ] || { \
	  echo 'Set-up: cargo-deny $(DENY_VERSION) checks the dependencies; compiling it takes some minutes, once.'; \
	  $(INSTALL) cargo-deny --locked --version $(DENY_VERSION); }
	@[ "$$(cargo-sbom --version 2>/dev/null)" = 'cargo-sbom $(SBOM_VERSION)' ] || $(INSTALL) cargo-sbom --locked --version $(SBOM_VERSION)
	cargo deny $(CARGO_FLAGS) check licenses bans sources
	cargo sbom >'$(TARGET)/deltascope.spdx.json'

.PHONY: pictures
pictures: setup-browser dist
	node $(BROWSER)/pictures.mjs $(PICTURES)

# Which crate imports which, and the modules of each in layers.
.PHONY: house
house: setup-rust
	@HOUSE='$(TARGET)/house.txt' cargo test $(CARGO_FLAGS) --quiet --test house the_house_can_be_drawn >/dev/null
	@cat '$(TARGET)/house.txt'

# Tests that depend on timing, or on an order that the threads need not keep, fail here.
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

# Most versions of rustup install the toolchain of rust-toolchain.toml at the first call; some have to be asked.
setup-rust:
	@cargo --version >/dev/null || rustup toolchain install
	@have=$$(rustup target list --installed) && grep -qx '$(WASM)' <<<"$$have" || rustup target add $(WASM)
	@have=$$(rustup component list --installed) && for c in clippy rustfmt; do \
	  grep -q "^$$c" <<<"$$have" || rustup component add $$c; done

# A tool runs for seconds, so compile it quickly rather than well. Tools with common dependencies share a build
# folder. Their lints are not ours.
INSTALL = RUSTC_WORKSPACE_WRAPPER= CARGO_TARGET_DIR='$(TOOLS)/build' CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_STRIP=symbols \
	cargo install --debug --root '$(TOOLS)' --force

setup-dist: setup-bindgen
	@[ "$$(trunk --version 2>/dev/null)" = 'trunk $(TRUNK_VERSION)' ] || { \
	  echo 'Set-up: trunk $(TRUNK_VERSION) builds and serves the page; compiling it takes some minutes, once.'; \
	  $(INSTALL) trunk --locked --version $(TRUNK_VERSION); }

.PHONY: setup-books
setup-books: setup-rust
	@[ "$$(mdbook --version 2>/dev/null)" = 'mdbook v$(MDBOOK_VERSION)' ] || { \
	  echo 'Set-up: mdbook $(MDBOOK_VERSION) builds the books; compiling it takes a minute, once.'; \
	  $(INSTALL) mdbook --locked --version $(MDBOOK_VERSION); }

# Not --locked: one crate in its lock file is no longer available. Slightly optimised, because every build of the
# page waits for it.
.PHONY: setup-bindgen
setup-bindgen: setup-rust
	@{ [ "$$(wasm-bindgen --version 2>/dev/null)" = 'wasm-bindgen $(BINDGEN_VERSION)' ] && \
	   [ "$$(wasm-bindgen-test-runner --version 2>/dev/null)" = 'wasm-bindgen-test-runner $(BINDGEN_VERSION)' ]; } || { \
	  echo 'Set-up: wasm-bindgen $(BINDGEN_VERSION) binds the page to JavaScript; compiling it takes some minutes, once.'; \
	  CARGO_PROFILE_DEV_OPT_LEVEL=1 $(INSTALL) wasm-bindgen-cli --version $(BINDGEN_VERSION); }

APT = if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
	$$sudo apt-get update && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends
# Without kubectl the tests behind a real proxy are skipped with a note, and without Hugo that of its shortcode.
# Firefox is large and not installed here; without it the test of the element in it is skipped. The fonts are those of
# tests/browser/fonts.conf.
FONTS := /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc
setup-browser: $(NODE_MODULES) $(HOST_MODULES)
	@command -v chromium-headless-shell >/dev/null || { $(APT) chromium-headless-shell; } || command -v chromium >/dev/null
	@ls $(FONTS) >/dev/null 2>&1 || { $(APT) fonts-dejavu-core fonts-noto-cjk; } || echo 'other fonts: the page will not be compared with its pictures'
	@command -v kubectl >/dev/null || { $(APT) kubernetes-client; } || echo 'no kubectl: tests behind kubectl proxy will be skipped'
	@command -v hugo >/dev/null || { $(APT) hugo; } || echo 'no hugo: its shortcode will not be tried'

%/node_modules/.package-lock.json: %/package.json %/package-lock.json
	cd '$*' && npm ci --no-audit --no-fund
	@touch $@

# --- the parts of `make test` -----------------------------------------------------------------

.PHONY: fmt clippy test-native examples lint-benches test-wasm test-browser size
fmt: setup-rust
	cargo fmt --all --check

# What is built natively. The benchmarks' packages have features of their own: built with them, all would be built once
# more. So they are only checked, but for `make bench`.
NATIVE := --workspace --exclude deltascope-page --exclude deltascope-bench --features cli,mdbook
LINT_BENCHES := cargo clippy $(CARGO_FLAGS) -p deltascope-bench --all-targets -- -D warnings
# In the page's profile, the macros that clippy needs are built once for it and for the page.
clippy: setup-rust
	cargo clippy $(CARGO_FLAGS) $(NATIVE) --all-targets -- -D warnings
	$(LINT_BENCHES)
	cargo clippy $(CARGO_FLAGS) --profile page --target $(WASM) -p deltascope -p deltascope-page --features ui --lib --bins -- -D warnings

# The packages outside the workspace name its crates' dependencies in locks of their own.
.PHONY: locks
locks: setup-rust
	for manifest in tests/fuzz/Cargo.toml tests/kube-rs/Cargo.toml; do \
	  cargo update --quiet --workspace --locked --manifest-path $$manifest || exit 1; done

# With fixed seeds, so that a commit always has the same result; a bare `cargo test` and `make soak` choose their
# own.
test-native: setup-rust
	PROPTEST_RNG_SEED=1 SHUTTLE_RANDOM_SEED=1 cargo test $(CARGO_FLAGS) $(NATIVE) --no-fail-fast

# Includes the runner of recorded scenarios.
examples: setup-rust
	cargo build $(CARGO_FLAGS) $(NATIVE) --examples

lint-benches: setup-rust
	$(LINT_BENCHES)

# Linted where it is compiled natively and for the page. Compiling takes far longer than these tests, so nothing is optimised for them.
AS_IT_IS = $(foreach crate,deltascope-cache deltascope-world deltascope-replay serde serde_core serde_json kube-core hashbrown indexmap \
  miniz_oxide memchr itoa foldhash,--config profile.dev.package.$(crate).opt-level=0)
test-wasm: setup-bindgen
	RUSTC_WORKSPACE_WRAPPER= CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER=wasm-bindgen-test-runner \
	  cargo $(AS_IT_IS) test $(CARGO_FLAGS) --target $(WASM) -p deltascope-replay --test wasm

test-browser: setup-browser site packed
	@status=0; $(MAKE) --no-print-directory size & size=$$!; \
	(set -x; cargo test $(CARGO_FLAGS) $(NATIVE) --test programs in_the_program) || status=1; \
	wait $$size || status=1; \
	(cd $(BROWSER) && set -x && node --test --test-reporter=spec --test-concurrency=3 tests/*.test.mjs) || status=1; exit $$status

size:
	@node $(BROWSER)/size.mjs dist
