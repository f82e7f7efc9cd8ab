# A fresh machine to a built, verified, explained wheel; all tests; the fuzzers for TIME seconds each. The first two install
# what they need.
.PHONY: demo test fuzz dependencies
demo: dependencies
	@./scripts/demo
test: dependencies
	@./scripts/test
fuzz: dependencies
	@./scripts/fuzz $(or $(TIME),60)
dependencies:
	@./scripts/dependencies
