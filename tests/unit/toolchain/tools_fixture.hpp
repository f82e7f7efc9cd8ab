#pragma once
// A machine with several of each tool, for tests of which are chosen.

#include <sagekit/toolchain.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace sagekit::tools {

inline Nvcc nvcc(const std::string& version, std::vector<Arch> code = {{{8, 0}}, {{9, 0}}, {{12, 0}}, {{12, 1}}}) {
  Nvcc n;
  n.executable = "/cuda-" + version + "/bin/nvcc";
  n.version = version;
  n.cuda = version.substr(0, version.rfind('.'));
  n.code = std::move(code);
  n.max_gcc = "14";
  n.max_clang = "20";
  n.source = ToolSource::system;
  n.ready = true;
  return n;
}

inline HostCompiler compiler(CompilerKind kind, const std::string& version,
                             const std::string& target = "x86_64-linux-gnu") {
  HostCompiler c;
  c.executable = "/usr/bin/" + std::string(to_string(kind)) + "-" + version;
  c.kind = kind;
  c.version = version;
  c.target = target;
  c.source = ToolSource::system;
  c.ready = true;
  return c;
}

inline Python python(const std::string& version, const std::string& abi, const std::string& cpu = "x86_64") {
  Python p;
  p.executable = "/py/" + version + "/bin/python3";
  p.version = version;
  p.abi = abi;
  p.soabi = "cpython-" + abi.substr(2) + "-" + cpu + "-linux-gnu";
  p.include_dirs = {"/py/" + version + "/include"};
  p.source = ToolSource::system;
  p.ready = true;
  return p;
}

inline TorchSysroot torch(const std::string& version, const std::string& cuda,
                          const std::string& platform = "linux_x86_64") {
  TorchSysroot t;
  t.root = "/torch-" + version + "-" + cuda + "-" + platform;
  t.version = version;
  t.local = cuda.empty() ? "cpu" : "cu" + cuda.substr(0, 2) + cuda.substr(3);
  t.cuda = cuda;
  t.platform = platform;
  t.source = ToolSource::system;
  t.ready = true;
  return t;
}

inline Environment machine() {
  Environment e;
  e.os = "linux";
  e.machine = "x86_64";
  e.platform = "linux_x86_64";
  e.nvcc = {nvcc("13.0.88"), nvcc("12.8.93"), nvcc("12.8.61")};
  e.host_compilers = {compiler(CompilerKind::clang, "19.1.7", "x86_64-pc-linux-gnu"),
                      compiler(CompilerKind::gcc, "13.2.0"), compiler(CompilerKind::gcc, "12.2.0"),
                      compiler(CompilerKind::gcc, "15.1.0")};
  e.pythons = {python("3.13.0", "cp313"), python("3.13.1", "cp313t"), python("3.12.1", "cp312"),
               python("3.12.9", "cp312")};
  e.torches = {torch("2.11.0", "13.0"), torch("2.8.0", "12.8"), torch("2.8.0", "12.9"), torch("2.8.0", "")};
  return e;
}

inline ToolchainNeed need() {
  ToolchainNeed n;
  n.cuda = "12.8";
  n.torch = "2.8.0";
  n.python = "3.12";
  n.platform = "linux_x86_64";
  n.gencode = {{{{9, 0}, ArchSuffix::a}, {{9, 0}, ArchSuffix::a}}};
  return n;
}

inline Error refusal(const ToolchainNeed& n, const Environment& e) {
  const auto chosen = choose_toolchain(n, e);
  REQUIRE_FALSE(chosen);
  CHECK(chosen.error().kind == ErrorKind::machine);
  CHECK_FALSE(chosen.error().hint.empty());
  return chosen.error();
}

}  // namespace sagekit::tools
