# A fresh machine to a built, verified, explained wheel; all tests; after an edit: what was edited, or the rooms that ROOMS
# names; the fuzzers for TIME seconds each. All but `check` install what they need.
.PHONY: demo test check fuzz dependencies
demo: dependencies
	@./scripts/demo
test: dependencies
	@./scripts/test
check:
	@./scripts/check $(ROOMS)
fuzz: dependencies
	@./scripts/fuzz $(or $(TIME),60)
dependencies:
	@./scripts/dependencies
