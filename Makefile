# What people and CI do with this repository. `make help` lists it.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

# One set of flags for everything, the control plane's parts included: packages
# that several programs share are compiled once, and the result is reproducible.
# No debug tables: they double the time that linking a test takes.
export CGO_ENABLED := 0
export GOFLAGS     := $(GOFLAGS) -trimpath -buildvcs=false -ldflags=-w

# The version that bin/quorate reports: the same commit gives the same bytes.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
OLDEST  := 1.34
# How long each of the two fuzzing steps of `make test` lasts.
# A count: a time that runs out in the middle of an input fails a run by itself
# (golang/go#75804, mended in Go 1.27).
FUZZTIME ?= 12000x
# `make bench ONLY=regexp` runs a part.
ONLY ?=
# Where `make generate` writes; `make verify` generates elsewhere and compares.
OUT ?= .

TOOLS     := go -C test/tools/build run .
MODULES   := . test test/bench test/tools/build
ALL_GO    := git ls-files -co --exclude-standard '*.go'
GENERATED := api/v1alpha1/zz_generated.deepcopy.go manifests/crd manifests/policy

##@ To see it

.PHONY: demo
demo: control-plane ## A real control plane, the gate in front of it, kubectl refused; fails if a verdict differs
	cd test && go run ./cmd/demo

.PHONY: demo-talos
demo-talos: control-plane ## Talos machines with real etcds: one is deleted, leaves etcd and is replaced; fails if an answer differs
	cd test && go run ./cmd/demo-talos

.PHONY: demo-restore
demo-restore: tools ## A cluster restored by the controller in it: the API goes away and comes back; fails if an answer differs
	cd test && go run ./cmd/demo-restore

.PHONY: up
up: control-plane ## The same world, kept running, with things to try
	cd test && go run ./cmd/up

##@ To build it

.PHONY: build
build: ## bin/quorate, bin/quorate-guard and its reader, static and reproducible
	go build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/quorate ./cmd/quorate
	go build -ldflags '-s -w' -o bin/ ./cmd/quorate-guard ./cmd/quorate-guard-reader
	@ln -sf quorate bin/kubectl-quorate

.PHONY: tools
tools: control-plane ## What the tests run: a control plane, etcd 3.5 to 3.7 and an object store (what is there is reused)
	@$(TOOLS) --etcd all >/dev/null
	@$(TOOLS) --s3 >/dev/null

.PHONY: control-plane
control-plane:
	@$(TOOLS) >/dev/null

.PHONY: control-plane-oldest
control-plane-oldest:
	@$(TOOLS) --version $(OLDEST) >/dev/null

.PHONY: generate
generate: ## Deep copies, CRDs and ValidatingAdmissionPolicies, from the Go types and the rule files
	@mkdir -p $(OUT)/api/v1alpha1
	@rm -rf $(OUT)/bin/crd-base
	go tool controller-gen object paths=./api/v1alpha1 output:object:dir=$(OUT)/api/v1alpha1
	go tool controller-gen crd paths=./api/v1alpha1 output:crd:dir=$(OUT)/bin/crd-base
	go run ./cmd/quorate policy generate --crds $(OUT)/bin/crd-base --crd-out $(OUT)/manifests/crd --vap-out $(OUT)/manifests/policy ./cel/rules

##@ To test it

.PHONY: test
test: test-unit test-parity test-tools test-policy test-fuzz test-e2e ## Every test

.PHONY: test-unit
test-unit: ## The product's own module, without a cluster
	@echo '== unit: every package of the product'
	go test $$(go list ./... | grep -v /cel/parity)

.PHONY: test-parity
test-parity: ## 200,000 generated pairs of objects, judged alike by CRD rules, webhook and policies
	@echo '== parity: CRD rules, webhook and policies over 200,000 generated pairs'
	go test -v ./cel/parity

.PHONY: test-tools
test-tools: ## The builder of the control plane
	@echo '== tools: the builder of the control plane'
	cd test/tools/build && go test ./...

.PHONY: test-policy
test-policy: build ## The rules' own cases, with coverage and mutation
	@echo '== policy: cases, coverage and mutation of the rules'
	bin/quorate policy test --coverage --mutate ./cel/rules/...

# Go would spend most of its time on shortening inputs that are new, not wrong.
FUZZ := go test -run '^$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1x -fuzz

.PHONY: test-fuzz
test-fuzz: ## Hostile admission reviews, FUZZTIME (12000x) twice: the envelope, and the rules behind it
	@echo '== fuzz: hostile admission reviews, $(FUZZTIME) twice'
	$(FUZZ) '^FuzzHandler$$' ./webhooks
	$(FUZZ) '^FuzzProduct$$' ./webhooks

# Two packages at a time: each runs a control plane of its own, on addresses that it
# claims, and waits more than it works.
E2E := go test -count=1 -p 2 -parallel 4 -timeout 30m

.PHONY: test-e2e
test-e2e: tools ## The test module: real control planes
	@echo '== e2e: against a real control plane'
	@# The long ones first; etcds, machines and guarded, which work most, follow each other.
	cd test && $(E2E) ./etcds ./restored ./machines ./recovered ./guarded ./talos ./...

# `make soak SOAK_FOR=10m QUORATE_CHAOS_SEED=1` repeats a run, and for how long.
SOAK_FOR ?= 1h

.PHONY: soak
soak: tools ## An Etcd walked at random for SOAK_FOR (1h) while members, manager and API server are killed
	@echo '== soak: chaos for $(SOAK_FOR)'
	cd test && QUORATE_CHAOS_FOR=$(SOAK_FOR) go test -count=1 -v -timeout 0 -run '^TestChaos$$' ./chaos

.PHONY: test-oldest
test-oldest: control-plane-oldest ## The gate's end-to-end tests on the oldest supported Kubernetes (1.34)
	@echo '== oldest: the gate against Kubernetes $(OLDEST)'
	cd test && QUORATE_TEST_KUBERNETES=$(OLDEST) $(E2E) ./cluster ./e2e/... ./parity

.PHONY: test-crash
test-crash: tools ## The crash matrix: controllers die before and after each of their calls, as an Etcd shrinks, a Talos machine leaves and a cluster is restored
	@echo '== crash: the controllers die at each of their calls'
	cd test && go test -count=1 -v -tags crash -p 1 -parallel 4 -timeout 60m -run CrashMatrix ./etcds ./machines
	@echo '== crash: managers, pods, nodes and the store, in the middle of live restores'
	cd test && go test -count=1 -v -tags crash -timeout 120m -run CrashMatrix ./restored

.PHONY: test-race
test-race: ## The product's own module under the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race ./...

.PHONY: bench
bench: ## Measure against what others offer; writes bin/bench.json (ONLY=regexp runs a part)
	cd test/bench && ONLY='$(ONLY)' go run .

##@ To hold it to its word

.PHONY: checklist
checklist: ## Each behaviour of docs/behaviours.md with its tests
	go run ./internal/checklist/cmd

.PHONY: verify
verify: verify-generated verify-format verify-modules verify-paths verify-vet ## Generated files, format, modules, vet

.PHONY: verify-generated
verify-generated:
	@rm -rf bin/verify
	@$(MAKE) generate OUT=bin/verify
	@for path in $(GENERATED); do diff -ru "$$path" "bin/verify/$$path" || { \
		echo "verify: $$path is not what the types and rules generate: run make generate" >&2; exit 1; }; done
	@rm -rf bin/verify

.PHONY: verify-format
verify-format:
	@unformatted=$$($(ALL_GO) | xargs gofmt -l) && test -z "$$unformatted" || { \
		echo "verify: not formatted by gofmt: $$unformatted" >&2; exit 1; }

.PHONY: verify-modules
verify-modules:
	@for module in $(MODULES) $(wildcard test/tools/*-*/) test/tools/etcd test/tools/versitygw; do (cd $$module && go mod tidy -diff) || { \
		echo "verify: go.mod or go.sum of $$module is not tidy" >&2; exit 1; }; done

# A path of one person's machine means nothing on another.
.PHONY: verify-paths
verify-paths:
	@! git grep -nIE '(^|[^[:alnum:]_.-])/(home|root|Users)/[[:alnum:]]' -- . ':!*go.sum' >&2 || { \
		echo 'verify: paths of one machine' >&2; exit 1; }

.PHONY: verify-vet
verify-vet:
	@for module in $(MODULES); do (cd $$module && go vet ./...) || exit 1; done

##@ Otherwise

.PHONY: clean
clean: ## Remove what was built, but for the control plane
	rm -rf bin/quorate bin/quorate-guard bin/quorate-guard-reader bin/kubectl-quorate bin/crd-base bin/verify bin/ci bin/bench.json

.PHONY: help
help: ## This list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
