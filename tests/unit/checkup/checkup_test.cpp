#include "fake_machine.hpp"

#include <functional>

using namespace sagekit;
namespace fs = std::filesystem;

TEST_CASE("a Python without torch is wrong, and says how to get one") {
  FakeMachine machine;
  const auto checkup = machine.look();
  const auto* torch = row_of(checkup, "torch", CheckupState::wrong);
  REQUIRE(torch);
  CHECK(torch->mend == "/v/bin/python -m pip install torch");
  CHECK(torch->code == "WHY432");
  const auto* packages = row_of(checkup, "package", CheckupState::note);
  REQUIRE(packages);
  CHECK(packages->found == "no plugin is loaded, so that none is known");
  CHECK(checkup.wrong());
  const auto* gpu = row_of(checkup, "gpu", CheckupState::good);
  REQUIRE(gpu);
  CHECK(gpu->found == "NVIDIA H200 (9.0)");
}

TEST_CASE("a Python of the system's packages is mended by an environment of one's own") {
  FakeMachine machine;
  const auto mend = [&] {
    const auto checkup = machine.look();
    const auto* torch = row_of(checkup, "torch", CheckupState::wrong);
    REQUIRE(torch);
    return torch->mend;
  };
  machine.options.interpreter = "/usr/bin/python3";
  machine.python.replace(1, 0, R"("managed":true,)");
  CHECK(mend() == "/usr/bin/python3 -m venv .venv && .venv/bin/python -m pip install torch");
  machine.torch("None");
  CHECK(mend() ==
        "/usr/bin/python3 -m venv --system-site-packages .venv && .venv/bin/python -m pip install --force-reinstall "
        "torch");
  machine.program("uv");
  CHECK(mend() ==
        "/usr/bin/python3 -m venv --system-site-packages .venv && uv pip install --python .venv/bin/python --reinstall "
        "--torch-backend=auto torch");
}

TEST_CASE("the mend of a failed import is for this system") {
  FakeMachine machine;
  machine.torch("'13.0'");
  machine.failure = "ModuleNotFoundError: No module named 'triton'\n";
  const auto checkup = machine.look();
  const auto* torch = row_of(checkup, "torch", CheckupState::wrong);
  REQUIRE(torch);
  CHECK(torch->code == "WHY416");
  CHECK(torch->mend == "/v/bin/python -m pip install triton");
}

TEST_CASE("the mend of a torch for CPUs is for the Python that was looked at, with what is there") {
  FakeMachine machine;
  machine.torch("None");
  machine.options.interpreter = "/the venv/bin/python";
  const auto mend = [&] {
    const auto checkup = machine.look();
    const auto* torch = row_of(checkup, "torch", CheckupState::wrong);
    REQUIRE(torch);
    CHECK(torch->code == "WHY426");
    return torch->mend;
  };
  CHECK(mend() == "'/the venv/bin/python' -m pip install --force-reinstall torch");
  machine.program("uv");
  CHECK(mend() == "uv pip install --python '/the venv/bin/python' --reinstall --torch-backend=auto torch");
}

TEST_CASE("a torch is advised that the driver can run") {
  const auto mend_with = [](const char* driver, bool uv, Capability gpu = {8, 0}) {
    FakeMachine machine;
    machine.options.gpus = std::vector<Gpu>{{"NVIDIA A100", gpu, driver}};
    if (uv) machine.program("uv");
    const auto checkup = machine.look();
    const auto* torch = row_of(checkup, "torch", CheckupState::wrong);
    const auto* triton = row_of(checkup, "triton", CheckupState::warning);
    REQUIRE((torch && triton));
    CHECK(triton->mend == torch->mend);  // which brings its own
    return torch->mend;
  };
  const std::string pip = "/v/bin/python -m pip install torch", uv = "uv pip install --python /v/bin/python ";
  CHECK(mend_with("", false) == pip);
  CHECK(mend_with("580", false) == pip);
  CHECK(mend_with("550", false) == pip + " --index-url https://download.pytorch.org/whl/cu126");
  // What this driver knows is newer than CUDA 12.6; what 13 dropped is older than the driver.
  CHECK(mend_with("570.86.10", false, {12, 0}) == pip + " --index-url https://download.pytorch.org/whl/cu128");
  CHECK(mend_with("580", false, {7, 0}) == pip + " --index-url https://download.pytorch.org/whl/cu126");
  CHECK(mend_with("520", false) == pip + " --index-url https://download.pytorch.org/whl/cu118");
  CHECK(mend_with("400", false) == pip);  // none is known that runs
  // uv asks this machine's driver, not the one that was asked about.
  CHECK(mend_with("550", true) == uv + "--torch-backend=cu126 torch");
  CHECK(mend_with("", true) == uv + "--torch-backend=auto torch");
}

TEST_CASE("a Python that does not start is an error, not a row") {
  FakeMachine machine;
  machine.python = "no json";
  const auto checkup = check_up(machine.options, machine);
  REQUIRE_FALSE(checkup);
  CHECK(checkup.error().code == "RES002");
}

TEST_CASE("CUDA_VISIBLE_DEVICES hides GPUs") {
  const auto state_with = [](const char* value) {
    FakeMachine machine;
    machine.smi = "NVIDIA H200, 9.0, 580.95.05\nNVIDIA H200, 9.0, 580.95.05\n";
    if (value != nullptr) machine.options.variables["CUDA_VISIBLE_DEVICES"] = value;
    const auto checkup = machine.look();
    const auto found = std::ranges::find(checkup.rows, "visible-devices", &CheckupRow::about);
    return found == checkup.rows.end() ? std::string("none") : std::string(to_string(found->state));
  };
  CHECK(state_with(nullptr) == "none");
  CHECK(state_with("") == "wrong");
  CHECK(state_with("-1") == "wrong");
  CHECK(state_with("2") == "wrong");
  CHECK(state_with("0,7") == "warning");
  CHECK(state_with("0,1") == "note");
  CHECK(state_with("GPU-8932f937") == "note");
  CHECK(state_with("99999999999999999999") == "wrong");
}

TEST_CASE("MIG without an instance hides the GPU") {
  FakeMachine machine;
  machine.mig = "Enabled\n";
  CHECK(row_of(machine.look(), "mig", CheckupState::wrong));
  machine.listed = "GPU 0: NVIDIA H200 (UUID: GPU-1)\n  MIG 1g.18gb Device 0: (UUID: MIG-2)\n";
  CHECK(row_of(machine.look(), "mig", CheckupState::note));
  machine.mig = "[N/A]\n";
  CHECK_FALSE(row_of(machine.look(), "mig", CheckupState::note));
}

TEST_CASE("a container without the driver is told from a machine without one") {
  FakeMachine machine;
  fs::remove(machine.folder.path() / "bin/nvidia-smi");
  auto checkup = machine.look();
  const auto* bare = row_of(checkup, "gpu", CheckupState::wrong);
  REQUIRE(bare);
  CHECK(bare->mend.find("ubuntu-drivers") != std::string::npos);
  machine.write("root/.dockerenv", "");
  checkup = machine.look();
  const auto* container = row_of(checkup, "gpu", CheckupState::wrong);
  REQUIRE(container);
  CHECK(container->mend.starts_with("docker run --gpus all"));
  machine.options.variables["NVIDIA_VISIBLE_DEVICES"] = "void";
  CHECK(row_of(machine.look(), "container", CheckupState::wrong));
}

TEST_CASE("a driver of two versions is wrong") {
  FakeMachine machine;
  machine.write("root/proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n");
  machine.write("root/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05", "");
  const auto link = machine.options.probe.root / "usr/lib/x86_64-linux-gnu/libcuda.so.1";
  fs::create_symlink("libcuda.so.580.95.05", link);
  CHECK(row_of(machine.look(), "driver", CheckupState::good));
  fs::remove(link);
  machine.write("root/usr/lib/x86_64-linux-gnu/libcuda.so.570.86.10", "");
  fs::create_symlink("libcuda.so.570.86.10", link);
  const auto checkup = machine.look();
  const auto* driver = row_of(checkup, "driver", CheckupState::wrong);
  REQUIRE(driver);
  CHECK(driver->found.find("570.86.10") != std::string::npos);
  CHECK(driver->mend == "sudo reboot");
}

TEST_CASE("nvidia-smi that fails says why") {
  FakeMachine machine;
  machine.smi_exit = 9;
  machine.smi = machine.listed =
      "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure ...\n";
  const auto checkup = machine.look();
  const auto* gpu = row_of(checkup, "gpu", CheckupState::wrong);
  REQUIRE(gpu);
  CHECK(gpu->mend == "sudo modprobe nvidia");
}

TEST_CASE("a Linux driver below Windows hides Windows' own") {
  FakeMachine machine;
  machine.write("root/proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n");
  machine.write("root/usr/lib/wsl/lib/libcuda.so.1", "");
  CHECK_FALSE(row_of(machine.look(), "system", CheckupState::wrong));
  machine.write("root/usr/lib/x86_64-linux-gnu/libcuda.so.1", "");
  CHECK(row_of(machine.look(), "system", CheckupState::wrong));
}

TEST_CASE("another GPU can be asked about, on a machine that has none") {
  FakeMachine machine;
  fs::remove(machine.folder.path() / "bin/nvidia-smi");
  machine.options.gpus = std::vector<Gpu>{{"RTX 5090", {12, 0}, "570"}};
  const auto checkup = machine.look();
  CHECK_FALSE(row_of(checkup, "gpu", CheckupState::wrong));
  CHECK(row_of(checkup, "gpu", CheckupState::note));
}

TEST_CASE("little room for a build is a warning") {
  FakeMachine machine;
  machine.options.work_folders = {machine.folder.path() / "not/there/yet"};
  machine.options.build_disk_bytes = 0;
  CHECK_FALSE(row_of(machine.look(), "disk", CheckupState::warning));
  machine.options.build_disk_bytes = ~std::uint64_t{0};
  CHECK(row_of(machine.look(), "disk", CheckupState::warning));
}

TEST_CASE("a stub of the driver's library in LD_LIBRARY_PATH is no driver") {
  FakeMachine machine;
  machine.write("cuda/lib64/stubs/libcuda.so.1", "");
  CHECK_FALSE(row_of(machine.look(), "libcuda", CheckupState::wrong));
  machine.options.variables["LD_LIBRARY_PATH"] = (machine.folder.path() / "cuda/lib64/stubs").string();
  const auto checkup = machine.look();
  const auto* stub = row_of(checkup, "libcuda", CheckupState::wrong);
  REQUIRE(stub);
  CHECK(stub->mend == "unset LD_LIBRARY_PATH");
  CHECK(stub->code == "WHY541");
}

TEST_CASE("a GPU without libcuda is wrong in a container, and not known elsewhere") {
  FakeMachine machine;
  CHECK(row_of(machine.look(), "libcuda", CheckupState::unknown));
  machine.write("root/.dockerenv", "");
  const auto checkup = machine.look();
  const auto* missing = row_of(checkup, "libcuda", CheckupState::wrong);
  REQUIRE(missing);
  CHECK(missing->mend.find("NVIDIA_DRIVER_CAPABILITIES") != std::string::npos);
}

TEST_CASE("a container that is given a part of the driver only") {
  FakeMachine machine;
  machine.write("root/.dockerenv", "");
  machine.options.variables["NVIDIA_DRIVER_CAPABILITIES"] = "utility";
  CHECK(row_of(machine.look(), "container", CheckupState::wrong));
  machine.options.variables["NVIDIA_DRIVER_CAPABILITIES"] = "compute,utility";
  CHECK_FALSE(row_of(machine.look(), "container", CheckupState::wrong));
}

TEST_CASE("what stands in Python's way: another torch's libraries, PYTHONHOME, an old build") {
  FakeMachine machine;
  CHECK_FALSE(row_of(machine.look(), "path", CheckupState::wrong));
  machine.write("old/lib/libc10.so", "");
  machine.options.variables["LD_LIBRARY_PATH"] = (machine.folder.path() / "old/lib").string();
  auto checkup = machine.look();
  const auto* library = row_of(checkup, "path", CheckupState::wrong);
  REQUIRE(library);
  CHECK(library->what == "LD_LIBRARY_PATH");
  machine.options.variables = {{"PYTHONHOME", "/opt/python"}};
  checkup = machine.look();
  const auto* home = row_of(checkup, "path", CheckupState::warning);
  REQUIRE(home);
  CHECK(home->mend == "unset PYTHONHOME");
  machine.options.variables = {};
  machine.write("work/build/temp.linux-x86_64-cpython-312/core.o", "");
  checkup = machine.look();
  const auto* build = row_of(checkup, "path", CheckupState::warning);
  REQUIRE(build);
  CHECK(build->mend == "rm -rf build *.egg-info");
}

TEST_CASE("a package in the user's own folder, and one that is there twice") {
  FakeMachine machine;
  machine.python =
      R"({"version":"3.12.4","minor":"3.12","implementation":"cpython","prefix":"/usr","base_prefix":"/usr","path":[],)"
      R"("user_site":"/u/.local/lib/python3.12/site-packages","user_site_used":true,"distributions":[)"
      R"({"name":"triton","version":"3.5.0","place":"/u/.local/lib/python3.12/site-packages","info":""}],)"
      R"("modules":[{"name":"triton","folder":"/u/.local/lib/python3.12/site-packages/triton","bare":false}]})";
  auto checkup = machine.look();
  const auto* user = row_of(checkup, "path", CheckupState::note);
  REQUIRE(user);
  CHECK(user->found.find(".local") != std::string::npos);
  machine.python.replace(machine.python.find("\"distributions\":["), 17,
                         R"("distributions":[{"name":"triton","version":"3.1.0","place":"/usr/lib/x","info":""},)");
  checkup = machine.look();
  const auto* twice = row_of(checkup, "shadow", CheckupState::warning);
  REQUIRE(twice);
  CHECK(twice->found.find("3.1.0") != std::string::npos);
  CHECK(twice->mend.find("pip uninstall") != std::string::npos);
}

TEST_CASE("what is private does not get into a report") {
  const auto clean = [](std::string_view text) {
    return without_private(text, "/srv/people/ann", {"ann", "root", "box7"});
  };
  CHECK(clean("/srv/people/ann/.venv/lib") == "~/.venv/lib");
  CHECK(clean("/home/bob/.venv and C:\\Users\\Bob\\x") == "~/.venv and ~\\x");
  CHECK(clean("/data/Ann/models on box7, annotated by root") == "/data/USER/models on USER, annotated by root");
  CHECK(clean("https://me:secret@example.org/simple") == "https://***@example.org/simple");
  CHECK(clean("token hf_abcdefghijklmnopqrstuvwx!") == "token ***!");
  CHECK(clean("ghp_0123456789abcdefghij") == "***");
  CHECK(clean("hf_short sk-ip") == "hf_short sk-ip");
  CHECK(clean("") == "");
}
