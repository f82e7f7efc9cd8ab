// Reads core/data/*.toml into values.
#include "spec/data.hpp"
#include "support/toml.hpp"

#include <sagekit/naming.hpp>

#include <functional>
#include <utility>

namespace sagekit {

// Written at build time by cmake/EmbedText.cmake.
extern const std::string_view k_torch_toml;
extern const std::string_view k_gpus_toml;
extern const std::string_view k_nvcc_toml;
extern const std::string_view k_naming_toml;
extern const std::string_view k_published_names_toml;
extern const std::string_view k_libc_toml;
extern const std::string_view k_drivers_toml;

namespace {

struct Loaded {
  CoreData data;
  std::vector<NamingScheme> schemes;
  LibcData libc;
  GpuData gpus;
  Diagnostics problems;
};

/// Takes the value of `result`, or reports its error at `key`.
template <class T>
T value_or_report(const TomlTable& row, std::string_view key, Result<T> result) {
  if (result) return std::move(*result);
  row.error(key, result.error().code, result.error().message, result.error().hint);
  return {};
}

VersionNumber version_at(TomlTable& row, std::string_view key) {
  return value_or_report(row, key, parse_version_number(row.required_string(key)));
}

std::optional<VersionNumber> optional_version(TomlTable& row, std::string_view key) {
  return row.has(key) ? std::optional(version_at(row, key)) : std::nullopt;
}

using ReadRow = std::function<void(TomlTable&)>;

/// Reads each `[[key]]` of one embedded file.
void read_rows(TomlTable& root, std::string_view key, const ReadRow& read_row) {
  for (TomlTable& row : root.tables(key)) {
    read_row(row);
    row.finish();
  }
}

TorchBuild torch_build(TomlTable& row) {
  TorchBuild build;
  build.cuda = row.required_string("cuda");
  build.platforms = row.required_strings("platform");
  build.on_package_index = row.boolean("package_index").value_or(false);
  return build;
}

void read_torches(TomlTable& root, Loaded& loaded) {
  CoreData& data = loaded.data;
  data.torch_index = root.required_string("index");
  read_rows(root, "torch", [&](TomlTable& row) {
    TorchRelease release;
    release.version = row.required_string("version");
    release.pythons = row.required_strings("python");
    read_rows(row, "build", [&](TomlTable& build) { release.builds.push_back(torch_build(build)); });
    release.source = row.required_string("source");
    data.torches.push_back(std::move(release));
  });
  read_rows(root, "strings", [&](TomlTable& row) {
    data.string_layouts.push_back({value_or_report(row, "torch", parse_version_range(row.required_string("torch"))),
                                   row.string("cuda").value_or(""), row.required_string("layout") == "new"});
    row.required_string("source");
  });
  read_rows(root, "triton", [&](TomlTable& row) {
    data.tritons.push_back({row.required_strings("torch"), row.required_string("requires")});
    row.required_string("source");
  });
}

void read_gpus(TomlTable& root, Loaded& loaded) {
  loaded.gpus.brands = root.required_strings("brands");
  loaded.gpus.forms = root.required_strings("forms");
  read_rows(root, "gpu", [&](TomlTable& row) {
    GpuModels models;
    models.capability = value_or_report(row, "capability", parse_capability(row.required_string("capability")));
    models.names = row.required_strings("names");
    models.aarch64 = row.strings("aarch64");
    models.legacy = row.boolean("legacy").value_or(false);
    models.shares_code_from = row.string("shares_code_from").value_or("");
    if (auto driver = row.table("driver")) {
      models.driver = {driver->required_string("branch"), driver->required_string("windows")};
      driver->finish();
    }
    models.source = row.required_string("source");
    loaded.gpus.models.push_back(std::move(models));
  });
}

void read_drivers(TomlTable& root, Loaded& loaded) {
  read_rows(root, "family", [&](TomlTable& row) {
    DriverNeed family{{}, row.required_string("windows")};
    read_rows(row, "driver", [&](TomlTable& driver) {
      const auto cuda = version_at(driver, "cuda");
      const DriverNeed own{driver.required_string("branch"), driver.required_string("windows")};
      if (family.linux_branch.empty()) family.linux_branch = own.linux_branch;
      loaded.gpus.drivers.push_back({cuda, own, family});
    });
    row.required_string("source");
  });
  if (auto zstd = root.table("zstd")) {
    loaded.gpus.zstd_driver.linux_branch = zstd->required_string("branch");
    loaded.gpus.zstd_driver.windows = zstd->required_string("windows");
    zstd->finish_sourced();
  }
}

void read_nvcc(TomlTable& root, Loaded& loaded) {
  CoreData& data = loaded.data;
  read_rows(root, "arches", [&](TomlTable& row) {
    const VersionNumber since = version_at(row, "since");
    const auto until = optional_version(row, "until");
    const std::string source = row.required_string("source");
    for (const std::string& name : row.required_strings("names"))
      data.nvcc_arches.push_back({value_or_report(row, "names", parse_arch(name)), since, until, source});
  });
  if (auto split = root.table("split_compile")) {
    data.split_compile = {split->required_strings("cuda"),
                          static_cast<double>(split->integer("cpu_seconds").value_or(0)),
                          static_cast<unsigned>(split->integer("threads").value_or(1))};
    split->finish_sourced();
  }
}

void read_schemes(TomlTable& root, Loaded& loaded) {
  read_rows(root, "scheme", [&](TomlTable& row) {
    loaded.schemes.push_back({row.required_string("name"), row.required_string("version"),
                              row.string("build").value_or(""), row.string("folder").value_or(""),
                              row.required_string("source")});
  });
}

void read_libc(TomlTable& root, Loaded& loaded) {
  read_rows(root, "manylinux", [&](TomlTable& row) {
    ManylinuxMachine machine;
    machine.machine = row.required_string("machine");
    read_rows(row, "level", [&](TomlTable& level) {
      machine.levels.push_back({version_at(level, "glibc"), version_at(level, "glibcxx"), version_at(level, "cxxabi"),
                                version_at(level, "gcc"), optional_version(level, "libatomic"),
                                optional_version(level, "zlib"), level.strings("names")});
    });
    machine.source = row.required_string("source");
    loaded.libc.manylinux.push_back(std::move(machine));
  });
  read_rows(root, "manylinux_library", [&](TomlTable& row) {
    const auto since = optional_version(row, "since");
    for (auto& name : row.required_strings("names")) loaded.libc.libraries.push_back({std::move(name), since});
    row.required_string("source");
  });
  read_rows(root, "manylinux_forbidden", [&](TomlTable& row) {
    loaded.libc.forbidden.push_back(
        {row.required_string("library"), row.required_strings("symbols"), optional_version(row, "until")});
    row.required_string("source");
  });
  read_rows(root, "floor_header", [&](TomlTable& row) {
    loaded.libc.floor_headers.push_back({row.required_string("file"), row.required_string("text"),
                                         version_at(row, "since"), row.required_string("source")});
  });
}

void read(Loaded& loaded, std::string_view text, std::string_view name, void (*reader)(TomlTable&, Loaded&)) {
  const TomlDocument document = TomlDocument::parse(text, name, "DAT");
  TomlTable root = document.root();
  reader(root, loaded);
  root.finish();
  for (Diagnostic& problem : document.diagnostics()) loaded.problems.push_back(std::move(problem));
}

const Loaded& facts() {
  static const Loaded k_loaded = [] {
    Loaded loaded;
    read(loaded, k_torch_toml, "core/data/torch.toml", read_torches);
    read(loaded, k_nvcc_toml, "core/data/nvcc.toml", read_nvcc);
    return loaded;
  }();
  return k_loaded;
}

// Apart: judging a wheel asks for GPUs and for nothing else.
const Loaded& gpus() {
  static const Loaded k_loaded = [] {
    Loaded loaded;
    read(loaded, k_gpus_toml, "core/data/gpus.toml", read_gpus);
    read(loaded, k_drivers_toml, "core/data/drivers.toml", read_drivers);
    return loaded;
  }();
  return k_loaded;
}

// Apart from the others: every spec that is loaded asks for these, and few commands ask for more.
const Loaded& naming() {
  static const Loaded k_loaded = [] {
    Loaded loaded;
    read(loaded, k_naming_toml, "core/data/naming.toml", read_schemes);
    return loaded;
  }();
  return k_loaded;
}

const Loaded& published_names() {
  static const Loaded k_loaded = [] {
    Loaded loaded;
    read(loaded, k_published_names_toml, "core/data/published_names.toml", read_schemes);
    return loaded;
  }();
  return k_loaded;
}

// Apart as well: planning and verifying ask for it, listing does not.
const Loaded& libc() {
  static const Loaded k_loaded = [] {
    Loaded loaded;
    read(loaded, k_libc_toml, "core/data/libc.toml", read_libc);
    return loaded;
  }();
  return k_loaded;
}

}  // namespace

const CoreData& core_data() { return facts().data; }

const std::vector<NamingScheme>& builtin_schemes() { return naming().schemes; }

const std::vector<NamingScheme>& published_schemes() { return published_names().schemes; }

const LibcData& libc_data() { return libc().libc; }

const GpuData& gpu_data() { return gpus().gpus; }

Diagnostics core_data_problems() {
  Diagnostics all = facts().problems;
  for (const Loaded* loaded : {&naming(), &published_names(), &libc(), &gpus()})
    all.insert(all.end(), loaded->problems.begin(), loaded->problems.end());
  return all;
}

}  // namespace sagekit
