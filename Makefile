# Two verbs: a fresh machine to a built, verified, explained wheel; and all tests. Both install what they need.
.PHONY: demo test dependencies
demo: dependencies
	@./scripts/demo
test: dependencies
	@./scripts/test
dependencies:
	@./scripts/dependencies
