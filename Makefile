# Everything that is done with this repository, one word each. CI runs nothing
# that is not here (.ci/run).
#
# Needed: Go as go.mod names it, git, and a C compiler for SQLite and the race
# detector; for e2e also node, npm and Debian's python3-pytest (which e2e installs
# as root); for all of soak Debian's cargo as well, and what sandbox-runtime needs. GOFLAGS is passed through. Only
# Go modules are ever downloaded, and by e2e what internal/e2e/package-lock.json
# names, python3-pytest and git-lfs.

.DEFAULT_GOAL := help
E2EPARTS = e2e-gitea e2e-programs e2e-clone e2e-sim
.PHONY: help build dist image test e2e e2e-agents e2e-site $(E2EPARTS) soak bench sim lint fmt

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
FUZZTIME ?= 2m

# With Go's default for C, -O2 -g, SQLite alone takes a quarter as long to compile
# as all Go code here; with -O1 a third of that.
test e2e e2e-agents e2e-site $(E2EPARTS): export CGO_CFLAGS ?= -O1

# What is compiled once is then good for every part and every checkout: with
# -trimpath, which make build has, nothing depends on the folder.
test e2e e2e-agents e2e-site $(E2EPARTS): export GOFLAGS := $(shell go env GOFLAGS) -trimpath

# Heaps of tests are small: with Go's default of 100 a third of the time of make test
# goes into collecting a few megabytes again and again. The limit is for a test that
# keeps much.
test e2e e2e-agents e2e-site $(E2EPARTS): export GOGC ?= 400
test e2e e2e-agents e2e-site $(E2EPARTS): export GOMEMLIMIT ?= 2GiB

# Packages with property tests, which take how often from a flag.
RAPID = $(shell grep -rlE '^[[:space:]]*"pgregory.net/rapid"$$' --include='*_test.go' . | xargs -rn1 dirname | sort -u)

help: ## what can be made
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

build: ## bin/nightporter, bin/nightporter-shim and bin/hat, for this machine
	@command -v $(firstword $(shell go env CC)) >/dev/null || { echo "make build: there is no C compiler ($(shell go env CC)), and SQLite needs one: apt install gcc libc6-dev, or set CC" >&2; exit 1; }
	CGO_ENABLED=1 go build -trimpath -ldflags '-X main.Version=$(VERSION)' -o bin/nightporter ./cmd/nightporter
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/ ./cmd/hat ./cmd/nightporter-shim

dist: ## dist/: a static archive and a Debian package for this machine's architecture
	deploy/dist.sh $(VERSION)

# With buildah from Debian, also where there is no docker: BUILDAH_ISOLATION=chroot
# needs no namespaces. BASE names another base, such as one that lies on this machine.
BASE ?=
ARCHIVE = nightporter-$(VERSION)-linux-$(shell go env GOARCH)

image: dist ## a container image of what dist/ holds, nightporter:VERSION, with buildah
	@command -v buildah >/dev/null || { echo "make image: there is no buildah: apt install buildah" >&2; exit 1; }
	@set -e; context=$$(mktemp -d); trap 'rm -rf "$$context"' EXIT; \
	tar -C "$$context" --strip-components=2 -xzf dist/$(ARCHIVE).tar.gz $(ARCHIVE)/bin; \
	set -x; buildah build $(if $(BASE),--build-arg BASE=$(BASE)) -t nightporter:$(VERSION) -f deploy/Containerfile "$$context"

# PLAIN are packages without goroutines: the race detector has nothing to find in
# them and takes ten times as long (internal/importtest holds them to it). What
# starts goroutines around them is tested with it. SLOW begin first, so that
# nothing long is left for the end. Three packages at a time keep two cores busy,
# because many tests wait for processes. The race detector's wait at every exit
# is for reports of threads that still run; a test binary has none then. Without
# what only debuggers read, a test binary is linked in two thirds of the time.
#
# NORACE are packages whose goroutines others race: a night with every part of a
# chat takes eight times as long with the detector, and internal/daemon/chat,
# bot/delivery, bot/inbound and both platforms have it; a simulated night has one
# thread of control. Sessions are processes of loop/agent's test program, and one
# with the detector takes ten times as long to start; loop/workspace waits for git,
# nearly alone; internal/daemon has it, and runs sessions in workspaces. make soak
# has it for all.
#
# SERIAL are tests with one thread of control that play hundreds of inputs, or of broken
# disks, one after another: with the detector they take four to eight times as long, and
# the other tests of their packages, BOTH, play the same code with it.
PLAIN = ./internal/importtest ./loop ./guidance ./loop/ledger ./loop/payload ./loop/people ./loop/prompt ./loop/proof ./loop/cause ./loop/glob ./loop/history ./loop/outlook ./loop/stats ./loop/agent/adapter ./loop/testreport ./loop/triage ./loop/task/form ./loop/task/backlog ./loop/task/jsonform ./loop/task/markdown ./bot ./bot/notify ./bot/report ./bot/tui ./bot/page ./bot/patch ./bot/words ./bot/internal/messagelint ./internal/screenshot ./config ./config/propose
SLOW  = ./cmd/nightporter/scripts/night ./cmd/nightporter/scripts/... ./cmd/nightporter/crash ./cmd/nightporter
NORACE = ./loop/agent ./loop/workspace ./bot/internal/acceptance ./internal/sim
SERIAL = TestSentenceTable|TestInputsIgnoreSentences|TestCut|TestHostileInputs|TestDiskErrors|TestFlippedPage|TestFailedSyncs|TestLyingDisk|TestCorruptPage
BOTH = ./bot/inbound ./store

test: ## all tests, with the race detector where there is concurrency, in random order; some minutes
	@began=$$(date +%s); race=$$(go list ./... | grep -vxF "$$(go list $(PLAIN) $(NORACE))") || exit 1; \
	set -x; go vet ./... || exit 1; { set +x; } 2>/dev/null; export CGO_ENABLED=1 GORACE="atexit_sleep_ms=0 $$GORACE"; \
	go run ./internal/gotest -began $$began -p 3 -vet=off -ldflags=-s -shuffle=on -timeout 60m -- -race -skip '^($(SERIAL))$$' $(SLOW) $$race -- -run '^($(SERIAL))$$' $(BOTH) -- $(NORACE) $(PLAIN)

# Four things that make test does not have, two at a time: tests of real programs
# wait, and compilers and simulated nights compute. The two that take longest begin
# first. More at a time keeps two cores no busier, and each of them takes longer.
#
# e2e-clone is what a newcomer does, in a clone and a home of its own. Go modules,
# and what was compiled of the same sources, are taken from this user's caches.
#
# e2e-programs and e2e-gitea run real programs (internal/e2e) against servers of
# ours on loopback. They come from npm once, about 1.1 GB, and stay in .cache/e2e,
# with a Gitea that is built from Go modules once, which takes some minutes. As root
# e2e also boots Debian's systemd, where that is installed, on a machine of its own
# (internal/daemon/systemd).
# E2E=-v shows the nights as the person on the phone sees them.
e2e: ## a fresh clone of HEAD is built and its demo run; real programs, end to end; simulated nights; some minutes
	@$(MAKE) --no-print-directory -j2 $(E2EPARTS)

# E2ETEST runs the end-to-end tests in $$files with the programs in $$programs. Files
# whose tests need Gitea import internal/e2e/gitea, or belong to it.
E2EFILES   = $(shell grep -rlE '^//go:build e2e$$' --include='*_test.go' --exclude-dir='.?*' .)
GITEAFILES = $(shell grep -l 'e2e/gitea"\|^package gitea$$' $(E2EFILES))
E2ETEST    = tests=$$(grep -hoE '^func Test[A-Za-z0-9_]+' $$files | sed 's/^func //; /^TestMain$$/d' | paste -sd '|' -); set -x; \
	env -u MAKEFLAGS $$programs CGO_ENABLED=1 go test -tags e2e -count=1 -p 2 -ldflags=-s -timeout 45m $(E2E) -run "^($$tests)$$" $$(dirname $$files | sort -u)

e2e-gitea:
	@set -e; programs=$$(internal/e2e/gitea/build.sh .cache/e2e); files="$(GITEAFILES)"; $(E2ETEST)

e2e-programs:
	@set -e; programs=$$(internal/e2e/programs.sh .cache/e2e); files="$(filter-out $(GITEAFILES),$(E2EFILES))"; $(E2ETEST)

# e2e-agents has every agent that is known by name: a night of each with a plan of three
# tasks, and then every fault that each is known to report in its own way. Some retry for
# minutes, and 700 MB more come from npm.
e2e-agents: ## a night of each agent, also of those that e2e does not run, and all faults of a provider; an hour
	@set -e; programs="$$(internal/e2e/programs.sh .cache/e2e) $$(internal/e2e/agents.sh .cache/e2e-agents) NIGHTPORTER_E2E_AGENTS=all"; \
	set -x; env -u MAKEFLAGS $$programs CGO_ENABLED=1 go test -tags e2e -count=1 -p 1 -parallel 2 -ldflags=-s -timeout 90m $(E2E) -run '^Test(Agents|Codex|Takeover)' ./cmd/nightporter ./loop/agent

e2e-clone:
	@set -e; \
	if [ -n "$$(git status --porcelain)" ]; then echo 'e2e: note: what is not committed is not in the clone'; fi; \
	tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; chmod 755 "$$tmp"; \
	modules=$$(go env GOMODCACHE) cache=$$(go env GOCACHE); \
	git clone --quiet . "$$tmp/clone"; \
	mkdir "$$tmp/home"; cd "$$tmp/clone"; \
	export HOME="$$tmp/home" GOCACHE="$$cache" GOMODCACHE="$$modules" XDG_STATE_HOME= XDG_CONFIG_HOME=; \
	set -x; \
	go run ./cmd/nightporter demo --fast --state "$$tmp/demo" </dev/null; \
	$(MAKE) --no-print-directory build; \
	bin/nightporter demo --fast --state "$$tmp/demo" </dev/null; \
	bin/nightporter verify --state "$$tmp/demo/state"; \
	git -C "$$tmp/demo/tea-shop" log --oneline nightporter/tea-shop/r1; \
	$(MAKE) --no-print-directory dist; \
	tar -C "$$tmp" -xzf dist/nightporter-*.tar.gz; \
	if ldd "$$tmp"/nightporter-*/bin/nightporter >&2; then echo 'e2e: the archive is not static' >&2; exit 1; fi; \
	"$$tmp"/nightporter-*/bin/nightporter verify --state "$$tmp/demo/state"

e2e-sim:
	go run ./internal/sim -seed 150 -nights 120

# A Chromium takes pictures of a site with seeded bugs that a wave mends. It is no part
# of e2e, because Chromium is 400 MB; as root it is installed from Debian if need be.
# SITE_PICTURES=DIR keeps the pictures.
e2e-site: ## pictures by a real Chromium, of a site with bugs that a scripted agent mends; some minutes
	@for b in chromium chromium-browser google-chrome ''; do ! command -v "$$b" >/dev/null || break; done; \
	if [ -z "$$b" ]; then [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium || { echo 'make e2e-site: there is no Chromium: apt install chromium' >&2; exit 1; }; fi
	@command -v node >/dev/null || { echo 'make e2e-site: there is no node: apt install nodejs' >&2; exit 1; }
	CGO_ENABLED=1 go vet -tags e2e_site ./cmd/nightporter
	CGO_ENABLED=1 go test -tags e2e_site -count=1 -ldflags=-s -timeout 30m $(E2E) -run '^TestSite$$' ./cmd/nightporter

# e2e plays the same nights each time, so that it says the same of the same commit;
# sim and soak play new ones.
#
# A seed that breaks an invariant is printed with the command that replays its
# night: go run ./internal/sim -seed N. SEED is the first one; without it a run
# begins where the time of day says, so that no two play the same nights.
FOR  ?= 1m
SEED ?= $(shell date +%s)000

sim: ## nights in a simulated world, FOR=1m; what went wrong in them, and the seeds that broke
	go run ./internal/sim -for $(FOR) -seed $(SEED)

soak: ## the large numbers: crash rounds, property checks, fuzzing FUZZTIME=2m each; an hour or two
	compared=$$(internal/e2e/sandbox_runtime.sh .cache/e2e) && env $$compared NIGHTPORTER_SOAK=1 go test -count=1 -timeout 60m ./...
	CGO_ENABLED=1 go test -race -count=1 -timeout 60m $(PLAIN) $(NORACE) $(BOTH)
	go test -count=1 -timeout 60m ./store -args -crash.rounds=200
	go test -count=1 -timeout 60m ./cmd/nightporter/crash -args -crash.all -kill.count=200
	go test -count=1 -timeout 60m $(RAPID) -args -rapid.checks=2000
	go test -count=1 -timeout 60m ./internal/sim -run '^TestLines$$' -args -git.nights=200
	$(MAKE) --no-print-directory sim FOR=10m
	go run ./internal/sim -long -seed 3 -nights 4
	@grep -rnoE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . | sort | while IFS=: read -r file line func; do \
		set -x; \
		go test -run '^$$' -fuzz "^$${func#func }$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" || exit 1; \
	done

bench: ## the figures of docs/figures.md, as ratios of one run; a quarter of an hour
	go test -run '^$$' -bench . -benchtime 200x -timeout 30m ./internal/bench
	go test -run '^$$' -bench Commit -benchtime 500x ./store
	go test -run '^$$' -bench FetchAfterAYear -benchtime 50x ./loop/workspace
	go test -run '^$$' -bench LargeList -benchtime 3x ./loop/task

lint: ## gofmt, go vet, and golangci-lint where it is installed
	@bad=$$(gofmt -l $$(find . -name '*.go' -not -path '*/.*/*')); if [ -n "$$bad" ]; then echo "not formatted (make fmt):"; echo "$$bad"; exit 1; fi
	go vet ./...
	@if command -v golangci-lint >/dev/null; then set -x; golangci-lint run; \
	else echo 'golangci-lint is not installed, so .golangci.yml was not applied. To get it:'; \
	echo '  go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest'; fi

fmt: ## gofmt every file
	gofmt -w $$(find . -name '*.go' -not -path '*/.*/*')
