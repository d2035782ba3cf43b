# `make help` lists the targets. Tools are pinned and installed under .local/, nothing outside the checkout changes.
# Everything but `build-release` uses the dev profile, so that tests, demo and functions share one target directory.

.DEFAULT_GOAL := help
.PHONY: help build build-release demo demo-stop test lint fmt doc validate clean-local

FEATURES := --features fault-injection
VENV := python3 infra/local/bootstrap.py
NEXTEST_VERSION := 0.9.143
# A nextest that is installed already will do; else it is built into .local/bin once.
NEXTEST := $(shell command -v cargo-nextest || echo .local/bin/cargo-nextest)

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS='	' read -r name what; do printf '  %-14s %s\n' "$$name" "$$what"; done

demo: ## everything from nothing on this machine: ORDERS=200, KEEP=1, SABOTAGE=no-inbox|ack-first
	@python3 infra/local/demo.py

demo-stop: ## end what KEEP=1 has left running
	@python3 infra/local/demo.py --stop

build: ## the functions and all tests, with fault points
	cargo build --workspace --all-targets $(FEATURES)

build-release: ## bootstrap zips to deploy, for arm64 (ARCH=--x86-64 for the other), without fault points
	$(VENV) zig
	PATH="$(CURDIR)/.local/zig/bin:$$PATH" cargo lambda build --release --output-format zip $(or $(ARCH),--arm64)

test: .local/nextest build ## every test; ends with nextest's summary
	$(VENV) emu
	cargo test --workspace --doc $(FEATURES)
	cd infra/local && ../../.local/emu/bin/python -m unittest discover -s tests -t .
	cd infra/check && ../../.local/emu/bin/python -m unittest test_template
	cd tests/bench/run && ../../../.local/emu/bin/python -m unittest discover -s tests -t .
	cd infra/local && ../../.local/emu/bin/python -m tests.demo_test
	$(NEXTEST) nextest run --workspace --all-targets $(FEATURES)

lint: ## format and clippy, with warnings as errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets $(FEATURES),oncebox-bench/criterion -- -D warnings
	cargo clippy --workspace --bins -- -D warnings

fmt: ## format the Rust sources
	cargo fmt --all

doc: ## the API documentation, with warnings as errors
	RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps

validate: ## check infra/template.yaml with cfn-lint, sam validate and our own rules
	$(VENV) sam
	.local/sam/bin/python infra/check/template.py infra/template.yaml
	.local/sam/bin/cfn-lint infra/template.yaml
	AWS_DEFAULT_REGION=us-east-1 SAM_CLI_TELEMETRY=0 .local/sam/bin/sam validate --lint --template infra/template.yaml

clean-local: demo-stop ## remove what was installed and left under .local/
	rm -rf .local

.PHONY: .local/nextest
.local/nextest:
	@$(NEXTEST) --version >/dev/null 2>&1 || cargo install --locked cargo-nextest --version =$(NEXTEST_VERSION) --root .local

.PHONY: watch
watch: ## `cargo lambda watch`, with tables and topic on the emulator: PORT=9000
	@python3 infra/local/watch.py

.PHONY: check-release
check-release: ## what `make build-release` has built: complete, no fault points, a panic fails one record
	@python3 infra/local/release_check.py

.PHONY: bench
bench: ## every contestant side by side, half an hour: REPEAT=5, ONLY=CONTESTANT/WORK, QUICK=1
	@python3 tests/bench/run/bench.py

.PHONY: bench-docs
bench-docs: ## tables and plots of docs/ from what `make bench` has measured
	@python3 tests/bench/run/docs.py

.PHONY: counts
counts: ## instructions of single steps and of invocations, against the baseline; BLESS=1 makes a new one
	cd tests/bench/counts && python3 -m unittest --quiet
	cargo build --workspace $(FEATURES),oncebox-bench/micro --example counts
	python3 tests/bench/counts/check.py target/debug/examples/counts $(if $(BLESS),--bless)

.PHONY: bench-micro
bench-micro: ## the same in time on this machine, by criterion: NAME=parse for some of it
	cargo bench --package oncebox-bench --features criterion --bench micro -- $(NAME)
