#pragma once
// The probes, one for each kind of tool. None fails: what does not work comes back with `ready = false` and `why_not`.

#include "environment/probe.hpp"

namespace sagekit {

/// One nvcc: asks the program, then looks at the tree that it belongs to. A wrapper script is followed to the real one.
Nvcc probe_nvcc(const Found& found, const ProbeContext& context);

/// One g++ or clang++, cross compilers too.
HostCompiler probe_host_compiler(const Found& found, const ProbeContext& context);

/// An interpreter, and what only the search for more needs to know of it.
struct ProbedPython {
  Python python;
  PythonPlace place;                                 ///< its prefix tells a venv from its base
  std::vector<std::filesystem::path> site_packages;  ///< empty when it does not start
};
ProbedPython probe_python(const Found& found, const ProbeContext& context);

/// Environment::python_command and packaged_pythons: what is on PATH and in the Pythons' folders; starts nothing.
void find_python_commands(const ProbeOptions& options, const std::vector<ProbedPython>& pythons,
                          Environment& environment);

/// Header folders without an interpreter: the place holds Python.h. One Python for each CPU that its pyconfig.h is for;
/// what is not understood is one that is not ready.
std::vector<Python> read_python_headers(const Found& found);

/// Version, SOABI and headers; `multiarch` is the folder beside them that Debian's pyconfig.h forwards to, or "".
std::string header_identity(const Python& python, const std::string& multiarch);

/// Reads the folder `torch` of an installation or an unpacked wheel; imports and runs nothing.
TorchSysroot read_torch(const Found& found);

/// nvidia-smi's list; empty without it.
std::vector<Gpu> probe_gpus(const ProbeContext& context);

/// os, machine, platform, glibc, cpus, memory: the part of Environment that no tool is asked for.
void read_machine(const ProbeOptions& options, Environment& environment);

}  // namespace sagekit
