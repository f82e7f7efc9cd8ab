#include "build/symbols.hpp"

#include "build/cuda_stub.hpp"
#include "build/dry_run.hpp"
#include "build/step_context.hpp"
#include "build/step_environment.hpp"
#include "fake_build.hpp"

using namespace sagekit;
using namespace sagekit::test;

TEST_CASE("symbols are replaced alone and inside items; other braces stay, unknown symbols are a bug") {
  SymbolTable table;
  table.set("source", ".");
  table.set("torch-2.11.0-cu130-linux_x86_64", "/t", "identity");
  table.set_words("python-includes-3.12-linux_x86_64", {"-isystem", "/p", "-isystem", "/q"}, "python");
  const auto words = table.expand({"-I{source}/csrc", "-isystem", "{torch-2.11.0-cu130-linux_x86_64}/include",
                                   "{python-includes-3.12-linux_x86_64}", "-Dx={a,b}", "{work"});
  REQUIRE(words);
  CHECK(*words == std::vector<std::string>{"-I./csrc", "-isystem", "/t/include", "-isystem", "/p", "-isystem", "/q",
                                           "-Dx={a,b}", "{work"});
  CHECK(table.expand({"{shim-x}"}).error().code == "BLD002");
  CHECK(table.expand({"-I{python-includes-3.12-linux_x86_64}"}).error().code == "BLD002");
  const auto identities = table.identities({"{source}{torch-2.11.0-cu130-linux_x86_64}", "{source}", "{other}"});
  REQUIRE(identities.size() == 2);
  CHECK(identities[1].second == "identity");
}

TEST_CASE("a covered folder covers what is below it and nothing beside it; shared system folders are never covered") {
  SymbolTable table;
  table.cover("/opt/cuda");
  table.cover("/usr/include");
  CHECK(table.covers("/opt/cuda/include/a.h"));
  CHECK_FALSE(table.covers("/opt/cuda2/a.h"));
  CHECK_FALSE(table.covers("/usr/include/stdio.h"));
}

TEST_CASE("the driver stub names every function of cuda.h once, sorted") {
  const auto exports = driver_exports(
      "#define cuMemAlloc cuMemAlloc_v2\nCUresult CUDAAPI cuMemAlloc(CUdeviceptr *d);\nCUresult cuInit(int);\n"
      "typedef struct cudaArray cuda; int customer; // mycuInit",
      "linux_aarch64");
  REQUIRE(exports);
  CHECK(exports->soname == "libcuda.so.1");
  CHECK(exports->machine == 183);
  std::vector<std::string> names;
  for (const auto& symbol : exports->symbols) {
    names.push_back(symbol.name);
    CHECK(symbol.type == 2);
  }
  CHECK(names == std::vector<std::string>{"cuInit", "cuMemAlloc", "cuMemAlloc_v2"});
  CHECK(driver_exports("", "win_amd64").error().code == "BLD005");
}

TEST_CASE("stubs for another CPU are named by content and export what the tree's runtime exports") {
  const auto folder = test::temporary();
  const auto store = Store::open(folder.path() / "store");
  REQUIRE(store);
  Nvcc nvcc;
  nvcc.include_dir = folder.path() / "include";
  nvcc.library_dir = folder.path() / "lib";
  CHECK(make_driver_stub(nvcc, "linux_aarch64", *store).error().code == "BLD005");
  CHECK(make_runtime_stub(nvcc, "linux_aarch64", *store).error().code == "BLD005");

  test::write(nvcc.include_dir / "cuda.h", "CUresult cuInit(int);\n");
  const auto driver = make_driver_stub(nvcc, "linux_aarch64", *store);
  REQUIRE(driver);
  const auto exports = read_exports(test::text_of(*driver / "libcuda.so"));
  REQUIRE(exports);
  CHECK(exports->soname == "libcuda.so.1");
  CHECK(exports->machine == 183);
  CHECK(make_driver_stub(nvcc, "linux_aarch64", *store) == *driver);
  CHECK(make_driver_stub(nvcc, "linux_x86_64", *store) != *driver);

  ExportList runtime;
  runtime.soname = "libcudart.so.13";
  runtime.machine = 62;
  ExportedSymbol symbol;
  symbol.name = "cudaMalloc";
  symbol.version = "libcudart.so.13";
  symbol.type = 2;
  runtime.symbols = {symbol};
  test::write(nvcc.library_dir / "libcudart.so.13", link_stub(runtime));
  const auto made = make_runtime_stub(nvcc, "linux_aarch64", *store);
  REQUIRE(made);
  auto read = read_exports(test::text_of(*made / "libcudart.so"));
  REQUIRE(read);
  CHECK(read->machine == 183);
  read->machine = runtime.machine;
  CHECK(*read == runtime);
}

TEST_CASE("keys of device code say nothing of the host's CPU") {
  SymbolTable x86, arm;
  x86.set("cxx-linux_x86_64", "/usr/bin/g++", "one");
  x86.set_device("cxx-linux_x86_64", "gcc 12.2.0");
  arm.set("cxx-linux_aarch64", "/usr/bin/aarch64-linux-gnu-g++", "other");
  arm.set_device("cxx-linux_aarch64", "gcc 12.2.0");
  for (auto* table : {&x86, &arm}) table->set("nvcc-exe-13.0", "/cuda/bin/nvcc", "nvcc");
  const auto ours = x86.device_identities({"{nvcc-exe-13.0}", "{cxx-linux_x86_64}"}, "linux_x86_64");
  CHECK(ours == std::vector<std::pair<std::string, std::string>>{{"cxx", "gcc 12.2.0"}, {"nvcc-exe-13.0", "nvcc"}});
  CHECK(arm.device_identities({"{nvcc-exe-13.0}", "{cxx-linux_aarch64}"}, "linux_aarch64") == ours);
}

TEST_CASE("a revision's date becomes seconds since 1970, or is refused") {
  CHECK(*source_date_epoch("1970-01-01T00:00:00Z") == "0");
  CHECK(*source_date_epoch("2026-01-17T17:43:28Z") == "1768671808");
  for (const auto* bad : {"", "2026-01-17", "2026-13-17T17:43:28Z", "2026-01-17T17:43:28+", "2026-01-17 17:43:28Z"})
    CHECK(source_date_epoch(bad).error().code == "BLD007");
}

TEST_CASE("a glibc floor is a folder of sagekit's own headers, known by their content") {
  FakePackage package;
  package.spec.build.glibc_floor = "2.17";
  const auto store = Store::open(package.options.store);
  REQUIRE(store);
  package.equip();
  const auto symbols = resolve_symbols(package.spec, package.plan, {&package.plan.cells[0]},
                                       package.environment.platform, *store, package.folder.path() / "links");
  REQUIRE(symbols);
  const auto folder = symbols->expand_word("{shim-glibc-floor}");
  REQUIRE(folder);
  CHECK(text_of(fs::path(*folder) / "sys/single_threaded.h").find("__libc_single_threaded = 0") != std::string::npos);
  CHECK_FALSE(symbols->identities({"{shim-glibc-floor}"})[0].second.empty());
}

TEST_CASE("a cell is built with the tools that its plan chose, and with no others") {
  FakePackage package;
  package.equip();
  Toolchain chosen = *package.plan.cells[0].toolchain;
  chosen.host_compiler.executable = "/opt/chosen/g++";
  chosen.torch.interpreter = "/opt/python-with-torch";
  package.plan.cells[0].toolchain = std::make_shared<const Toolchain>(chosen);
  package.step("link-a").argv.emplace_back("{python-exe-3.12-linux_x86_64}");
  const auto store = Store::open(package.options.store);
  REQUIRE(store);
  const auto resolve = [&] {
    return resolve_symbols(package.spec, package.plan, {&package.plan.cells[0]}, package.environment.platform, *store,
                           package.folder.path() / "links");
  };
  const auto symbols = resolve();
  REQUIRE(symbols);
  CHECK(symbols->expand_word("{cxx-linux_x86_64}") == "/opt/chosen/g++");
  CHECK(symbols->expand_word("{python-exe-3.12-linux_x86_64}") == "/opt/python-with-torch");
  package.plan.cells[0].toolchain = nullptr;
  CHECK(resolve().error().code == "BLD002");
}

TEST_CASE("links to tools lie where their names are shorter than those below the store") {
  const auto scratch = TemporaryFolder::create("/tmp", "t");
  REQUIRE(scratch);
  BuildOptions options;
  options.child_environment["TMPDIR"] = scratch->path().string();
  options.store = "/a store";
  CHECK(links_folder(options)->path().string().starts_with("/tmp/sk@"));
  options.store = scratch->path() / "a store";
  CHECK(links_folder(options)->path().string().starts_with(scratch->path().string() + "/sk@"));
}

TEST_CASE("what failed names the places of tools, not links that are gone with the build") {
  const auto scratch = TemporaryFolder::create("/tmp", "t");
  REQUIRE(scratch);
  const auto links = scratch->path() / "links";
  REQUIRE(make_directories(links / "cudart-13.0"));
  fs::create_directory_symlink("/a store/cuda", links / "1f2e");
  fs::create_directory_symlink("/a store/torch", links / "1f2e77");
  StepFailure failure;
  failure.argv = {"nvcc", "-I" + links.string() + "/1f2e77/include", links.string() + "/1f2e/x.cu",
                  "-Xcompiler=-ffile-prefix-map=" + links.string() + "/1f2e=cuda"};
  failure.cause = links.string() + "/1f2e/x.cu(7): error: no";
  name_real_places(failure, links);
  CHECK(failure.argv == std::vector<std::string>{"nvcc", "-I/a store/torch/include", "/a store/cuda/x.cu",
                                                 "-Xcompiler=\"-ffile-prefix-map=/a store/cuda=cuda\""});
  CHECK(failure.cause == "/a store/cuda/x.cu(7): error: no");
}
