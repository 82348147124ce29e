# Every target installs the Debian packages that it misses, and says which.
.PHONY: help run check test test-all instructions readme-check lint format build release dist pictures test-asan test-tsan test-packages test-debian13 test-containers probe-stacks soak drill-restart fuzz drill-citus drill-failover bench clean

help: ## This list
	@sed -n 's/^\([a-z-]*\):.* ## \(.*\)/\1	\2/p' Makefile | expand -t 20

run: ## Build and start both servers on this machine; PORT= MOCK_PORT= ADMIN_PORT= choose others than 3000 to 3002
	@scripts/run

check: ## After an edit: lint, build, the quick Swift tests; ONLY=TaskTextTests builds and runs what matches, also of Tests/Acceptance
	@ONLY='$(ONLY)' scripts/test $(if $(ONLY),only,lint build parts)

test: ## Before a commit: lint, build, all Swift tests, every command of the pages for users, the page's main journey with axe in Chromium, the contract
	@scripts/test quick

test-all: ## Before a release, and what CI runs: also the whole page in two browsers, MSAL, adversity, generated clients, packages, Debian 13, instructions for a request, containers, the thread sanitizer
	@scripts/test

readme-check: ## Run every command of README and the pages for users, and compare the answers
	@scripts/readme-check

lint: ## Only the style
	@scripts/test lint

format: ## Bring the sources into the style
	@swift format --in-place --recursive --parallel Sources Tests Package.swift

build: ## Both programs, for debugging
	@scripts/build debug

release: ## Both programs, optimized, with the Swift runtime inside: .build/release
	@scripts/build release

dist: ## What a release consists of: packages for Debian, an archive, an image, a bill of materials, checksums, in dist/
	@scripts/dist

pictures: ## The pictures of README, which show the pages (needs a look)
	@scripts/install pictures && scripts/acceptance pictures

test-asan: ## Before a release, too: the tests with the address sanitizer
	@scripts/test address

test-tsan: ## Only the tests with the thread sanitizer
	@scripts/test thread

test-packages: ## The packages and the image of make dist, for real with Podman, and piuparts; TWICE=1 also builds a second time, and compares
	@scripts/test-packages $(if $(TWICE),twice)

test-debian13: ## The tests that were built on Debian 12, on Debian 13, with Podman (8 minutes)
	@scripts/test build debian13

test-containers: ## The image and docker-compose.yml, for real, with Podman (6 minutes)
	@scripts/test-containers

probe-stacks: ## Probe an API of each stack of Examples/stacks with mock-authority, and write the table of docs/stacks.md
	@scripts/build debug mock-authority && Examples/stacks/run

instructions: ## Count the instructions for a request, and compare them with the recorded ones; WRITE=1 renews the record
	@scripts/instructions $(if $(WRITE),--write)

soak: ## Load, kills, faults and full disks for half an hour; SOAK_MINUTES= chooses, SOAK_RECORD=1 keeps the result in Tests/Adversity
	@scripts/install build test adversity && scripts/build release && Tests/Adversity/soak.py

drill-restart: ## Restart a server ten times during a million requests (10 minutes); STORE=postgresql: two servers, behind HAProxy
	@scripts/install build test adversity && scripts/build release && Tests/Adversity/test_restart.py $(STORE)

fuzz: ## Every parser with libFuzzer, a minute each; FUZZ_SECONDS= and FUZZ_TARGET= choose
	@scripts/fuzz

drill-citus: ## Lose nodes of Citus, move shards, and compare its rates with one PostgreSQL (4 minutes; needs Citus)
	@scripts/install build bench && scripts/build release && Benchmarks/citus

drill-failover: ## Take the primary away from PostgreSQL under Patroni: killed, cut off, stopped, full; FAULTS='kill --times 1' chooses
	@scripts/install build bench && scripts/build release && scripts/test-containers Benchmarks/failover $(FAULTS)

bench: ## Measure a release build beside bare C, nginx, Go and FastAPI (15 minutes after the build); WRITE=1 keeps the results
	@Benchmarks/run $(if $(WRITE),--write)

clean: ## Remove what was built; the tasks in state/ stay
	@rm -rf .build dist
