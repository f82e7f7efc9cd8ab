#include "support/fake_toolchain/fake_machine.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

namespace {
constexpr std::uint64_t k_mib = 1024 * 1024;
}

TEST_CASE("memory is the machine's or the cgroup's, whichever is less") {
  const FakeMachine machine;
  const auto root = machine.root();
  machine.write(root / "proc/meminfo", "MemFree: 1 kB\nMemTotal:        65536 kB\n");
  CHECK(machine.probe().memory_bytes == 64 * k_mib);
  machine.write(root / "proc/self/cgroup", "0::/user/job\n");
  machine.write(root / "sys/fs/cgroup/user/job/memory.max", "max\n");
  CHECK(machine.probe().memory_bytes == 64 * k_mib);
  machine.write(root / "sys/fs/cgroup/user/memory.max", "33554432\n");
  CHECK(machine.probe().memory_bytes == 32 * k_mib);
}

TEST_CASE("the old cgroup version has limits too, at its mount when the path is not visible") {
  const FakeMachine machine;
  const auto root = machine.root();
  machine.write(root / "proc/meminfo", "MemTotal:        65536 kB\n");
  machine.write(root / "proc/self/cgroup", "4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n");
  machine.write(root / "sys/fs/cgroup/memory/memory.limit_in_bytes", "16777216\n");
  CHECK(machine.probe().memory_bytes == 16 * k_mib);
  machine.write(root / "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "100000\n");
  machine.write(root / "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  CHECK(machine.probe().cpus == 1);
  machine.write(root / "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(machine.probe().memory_bytes == 64 * k_mib);
}

TEST_CASE("a CPU quota is rounded up, and none is no limit") {
  const FakeMachine machine;
  const int all = machine.probe().cpus;
  machine.write(machine.root() / "proc/self/cgroup", "0::/\n");
  machine.write(machine.root() / "sys/fs/cgroup/cpu.max", "50000 100000\n");
  CHECK(machine.probe().cpus == 1);
  machine.write(machine.root() / "sys/fs/cgroup/cpu.max", "150000 100000\n");
  CHECK(machine.probe().cpus == std::min(all, 2));
  for (const auto* none : {"max 100000\n", "-1 100000\n", "rubbish\n", "1000000 0\n"}) {
    machine.write(machine.root() / "sys/fs/cgroup/cpu.max", none);
    CHECK(machine.probe().cpus == all);
  }
}

TEST_CASE("GPUs are what nvidia-smi lists") {
  const FakeMachine machine;
  machine.write(
      machine.root() / "usr/bin/nvidia-smi",
      "#!/bin/sh\necho 'NVIDIA GB10, 12.1, 580.95.05'\necho 'Odd, Name, 9.0, 575.1'\necho '[N/A], [N/A], x'\n", true);
  const auto e = machine.probe();
  REQUIRE(e.gpus.size() == 2);
  CHECK(e.gpus[0].name == "NVIDIA GB10");
  CHECK(e.gpus[0].capability == Capability{12, 1});
  CHECK(e.gpus[0].driver == "580.95.05");
  CHECK(e.gpus[1].name == "Odd, Name");
  machine.write(machine.root() / "usr/bin/nvidia-smi", "#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n", true);
  CHECK(machine.probe().gpus.empty());
}
