# A fresh machine to a built, verified, explained wheel; all tests; after an edit: what was edited, or the rooms that ROOMS
# names; the fuzzers for TIME seconds each; builds killed at KILLS random moments, with SOURCE (SageAttention)
# and STORE (that has its torch) one of sage2, too. All but `check` and `soak` install what
# they need.
.PHONY: demo test check fuzz soak real-clients real-containers dependencies packages real-packages real-windows
demo: dependencies
	@./scripts/demo
test: dependencies
	@./scripts/test
check:
	@./scripts/check $(ROOMS)
fuzz: dependencies
	@./scripts/fuzz $(or $(TIME),60)
soak:
	@SAGEKIT_SOAK_SOURCE=$(SOURCE) SAGEKIT_SOAK_STORE=$(STORE) SAGEKIT_SOAK=$(or $(KILLS),200) SAGEKIT_SEED=$(or $(SEED),$$$$) ctest --preset dev -R cli.store --timeout 14400 --output-on-failure
# Generated Dockerfiles with buildah and podman, as root; WHEEL: sagekit's own wheel.
real-containers:
	@./tests/real/generate_containers.sh build/dev $(WHEEL)
# gh, uv, twine, hf, the validators and Chromium themselves: none of their tests may be skipped.
real-clients:
	@./scripts/dependencies gh openssl chromium
	@./scripts/test-tools build/test-tools
	@SAGEKIT_TEST_TOOLS=$(CURDIR)/build/test-tools ctest --preset dev -R '^cli\.(index|install|publish|retag|variant|formats|release_page|generate_github)$$'
	@./scripts/skipped build/dev/Testing/Temporary/LastTest.log
# WHEEL, one for Windows, under wine beside the real torch_cpu.dll of several torches (docs/windows.md).
real-windows:
	@./scripts/dependencies wine64 gcc-mingw-w64-x86-64-posix
	@./tests/real/windows.py build/dev/bin/sagekit $(WHEEL)
# The wheel, the Debian package and the tarball of sagekit itself; they are tried in bare Debian trees by the second.
packages:
	@./scripts/dependencies dpkg-dev libssl-dev liblzma-dev libbz2-dev unicode-data
	@./scripts/packages $(OUT)
real-packages:
	@./tests/real/packages.sh $(or $(OUT),build/portable)/dist
	@./tests/real/sdist_frontends.sh $(or $(OUT),build/portable)/dist
	@./tests/real/workflows.sh $(or $(OUT),build/portable)/dist
dependencies:
	@./scripts/dependencies
