#include "selection.hpp"

#include <fmt/format.h>

namespace sagekit::host {

void declare_store(Flags& flags, std::string& store) {
  flags.value("--store", "DIR", store, "Folder of finished steps and fetched toolchains");
  flags.reads("SAGEKIT_STORE", "The store when --store is not given; else sagekit below XDG_CACHE_HOME or ~/.cache");
}

void declare_toolchains(Flags& flags, ToolchainArguments& tools) {
  flags
      .list("--toolchain", "SOURCE", tools.sources,
            "Where compilers and torch come from: auto (system, else wheels), system, wheels, redist, folder:DIR")
      .commas = true;
  flags.list("--python-headers", "DIR", tools.python_headers, "Headers of a Python that is not installed");
  declare_store(flags, tools.store);
  flags.reads("CUDA_HOME, CUDA_PATH", "Where an nvcc is looked for, after PATH and before /usr/local/cuda");
  flags.reads("PATH", "Where compilers and Pythons are looked for");
}

void declare_provisioning(Flags& flags, ToolchainArguments& tools) {
  declare_toolchains(flags, tools);
  flags.value("--lock", "FILE", tools.lock, "File that pins what is fetched");
  flags.on("--locked", tools.locked, "Use what the lock pins and nothing else");
  flags.on("--offline", tools.offline, "Fetch nothing");
  flags.on("--full", tools.full, "Download whole wheels and check their own sha256");
  flags.value("--index-url", "URL", tools.index_url, "Package index instead of the one pip uses");
  flags.list("--extra-index-url", "URL", tools.extra_index_urls, "Another index beside it");
  flags.value("--redist-url", "URL", tools.redist_url, "Folder of NVIDIA's archive manifests");
  flags.value("--cert", "FILE", tools.ca_bundle, "PEM file of certificates to trust");
  flags.reads("PIP_*, NETRC", "The package index as pip is configured for it");
  flags.reads("HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE", "The way to an index, as curl and pip read them");
}

void declare_cells(Flags& flags, SelectionArguments& selection) {
  const auto list = [&](const char* names, const char* type, std::vector<std::string>& values, const char* what) {
    flags.list(names, type, values, what).commas = true;
  };
  flags.value("--profile", "NAME", selection.profile, "Named selection of cells; without it: default");
  flags.list("--cells", "GLOB", selection.cells, "Glob over cell ids; !GLOB excludes");
  list("--python", "VERSION", selection.pythons, "Only these Pythons: 3.12 or cp312");
  list("--torch", "VERSION", selection.torches, "Only these torches: 2.11, 2.11.0 or torch2.11");
  list("--cuda", "VERSION", selection.cudas, "Only these CUDAs: 13.0, cu130 or 13");
  list("--platform", "PLATFORM", selection.platforms, "linux_x86_64, linux_aarch64, win_amd64");
  flags.value("--arch", "LIST", selection.arches,
              "Arch list, any usual spelling: \"8.0;9.0+PTX\", sm_90a, native; or GPUs: \"RTX 5090;A100\"");
  flags.value("--revision", "COMMIT", selection.revision, "Known source commit or name, instead of the default");
  flags.value("--naming", "SCHEME", selection.naming, "Naming scheme: default, local-version, build-tag, plain");
  flags.value("--backend", "NAME", selection.backend, "setup-py is upstream's own build").choices = {"direct",
                                                                                                     "setup-py"};
  flags.list("--allow-defect", "ID", selection.allowed_defects, "Build although the source has this known defect");
  flags.reads("TORCH_CUDA_ARCH_LIST", "The arch list when --arch is not given");
}

void declare_selection(Flags& flags, SelectionArguments& selection) {
  declare_cells(flags, selection);
  declare_provisioning(flags, selection.tools);
}

Result<std::vector<std::pair<std::string, std::string>>> vendored_trees(const std::vector<std::string>& given) {
  std::vector<std::pair<std::string, std::string>> trees;
  for (const auto& pair : given) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(ErrorKind::usage, "CLI006", fmt::format("--vendored {}: not NAME=DIR", pair),
                  "for example --vendored cutlass=../cutlass");
    trees.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return trees;
}

void declare_interpreters(Flags& flags, std::vector<std::string>& interpreters) {
  flags.list("--interpreter", "PATH", interpreters, "Import check with this Python");
}

}  // namespace sagekit::host
