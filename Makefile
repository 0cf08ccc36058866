# `make help` lists the verbs.

MODEL_DIR ?= $(CURDIR)/target/models/all-MiniLM-L6-v2
DATA_DIR ?= $(CURDIR)/trove-data
LISTEN ?= 127.0.0.1:8080
# cargo-nextest runs tests in parallel and is used where it is installed.
NEXTEST := $(shell cargo nextest --version >/dev/null 2>&1 && echo yes)
TEST = $(if $(NEXTEST),cargo nextest run,cargo test)
# Everything is built together, so that no dependency is built twice with other features.
BUILD_TESTS = $(TEST) --workspace --no-run
DEBUG = $(or $(CARGO_TARGET_DIR),target)/debug
RELEASE = $(or $(CARGO_TARGET_DIR),target)/release

export TROVE_MODEL_DIR = $(MODEL_DIR)

.DEFAULT_GOAL := help
.PHONY: help run model test test-services check fix bench openapi

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build, index this project's documents, start the service
	cargo build --release --package trove
	-$(RELEASE)/trove model pull
	$(RELEASE)/trove index --data-dir $(DATA_DIR) README.md CONTRIBUTING.md CHANGELOG.md docs
	@printf '%s\n' '' 'When it is ready, search it from another terminal:' '' \
	  "  curl http://$(LISTEN)/api/search -H \"Authorization: Bearer \$$(cat $(DATA_DIR)/admin-key)\" -H 'Content-Type: application/json' -d '{\"query\": \"what happens when the process is killed?\"}'" ''
	exec $(RELEASE)/trove serve --data-dir $(DATA_DIR) --listen $(LISTEN) --print-admin-key

model: ## fetch the embedding model (once)
	$(BUILD_TESTS)
	$(DEBUG)/trove model pull

test: model ## run every test that needs no service
	$(TEST) --workspace
	cargo test --workspace --doc

test-services: model ## run the tests that need PostgreSQL (a throw-away cluster) or Qdrant (TROVE_TEST_QDRANT_URL)
	$(DEBUG)/with-postgres $(TEST) --workspace postgres
ifdef TROVE_TEST_QDRANT_URL
	$(DEBUG)/with-postgres env TROVE_TEST_REQUIRE=postgres,qdrant $(TEST) --package trove-qdrant
	$(DEBUG)/with-postgres env TROVE_TEST_REQUIRE=postgres,qdrant $(TEST) --package trove qdrant
else
	@echo 'TROVE_TEST_QDRANT_URL is not set: tests of the Qdrant index are left out'
endif

check: ## formatting and lints
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

fix: ## format, and apply what clippy can mend
	cargo clippy --workspace --all-targets --fix --allow-dirty --allow-staged
	cargo fmt --all

bench: ## measure speed and memory, against the limits in docs/performance.md
	cargo build --release --package trove
	$(RELEASE)/trove model pull
	cargo bench --package trove-local --package trove-embedded
	cargo run --release --package trove --example bench_service

openapi: ## regenerate docs/openapi.json
	cargo run --quiet --package trove -- openapi > docs/openapi.json
