#pragma once
// core/data/toolchains.toml as values: what a provisioned tree is made of.

#include <sagekit/diagnostic.hpp>
#include <sagekit/version_number.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A package or component and the files that are kept of it: globs over paths below the tree's root, `!` takes away.
struct RecipePart {
  std::string name;
  std::vector<std::string> files;
  std::optional<VersionNumber> since;  ///< of CUDA; empty = always
};

struct NvccWheels {
  std::string release;  ///< project whose Requires-Dist pins the others
  VersionNumber since;
  std::string folder;  ///< with {major}
  std::vector<RecipePart> packages;
};

struct TorchWheels {
  std::string project;
  std::vector<std::string> files, libraries;
};

/// What modules for Windows on torch's stable interface are compiled and linked with.
struct WindowsWheels {
  std::vector<std::string> files;      ///< of torch's wheel
  std::vector<std::string> libraries;  ///< in its torch/lib: "torch_cpu.dll"; the wheel need not have the second
  struct Runtime {
    int cuda_major = 0;
    std::string project, library;  ///< the package of CUDA's runtime, the library's path in it
  };
  std::vector<Runtime> runtimes;
};

struct Redist {
  std::string url;
  std::map<std::string, std::string> manifests;  ///< CUDA -> file name
  std::vector<RecipePart> components;
  std::map<std::string, std::string> platforms;  ///< wheel platform -> the manifests' word
};

struct Recipes {
  NvccWheels nvcc;
  TorchWheels torch;
  WindowsWheels windows;
  Redist redist;
  Diagnostics problems;  ///< of the embedded file: none, or a test fails
};

/// Thread-safe; read at the first call.
const Recipes& recipes();

/// Does the package index or NVIDIA's archive have the nvcc of this CUDA ("12.8")?
bool can_fetch_nvcc(const std::string& cuda);

/// What people can do who have no nvcc of this CUDA; `by_fetching` comes first, "" = it cannot be fetched.
std::string how_to_get_nvcc(const std::string& cuda, std::string_view by_fetching);

}  // namespace sagekit
