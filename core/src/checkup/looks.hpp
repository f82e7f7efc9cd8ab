#pragma once
// The looks, one for each subject. Each adds its rows; what later ones need is kept in `Look`.

#include "checkup/ask_python.hpp"

#include <sagekit/causes.hpp>
#include <sagekit/checkup.hpp>
#include <sagekit/shell_word.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sagekit {

/// A package that a plugin knows, with all plugins that make it.
struct KnownPackage {
  std::string name;    ///< as upstream writes it
  std::string module;  ///< what `import` takes
  std::vector<const Spec*> specs;

  bool is_torch_free() const;
  /// Loaded by ctypes, not imported.
  bool is_plain(const std::string& extension) const;
};

struct Look {
  const CheckupOptions& options;
  CommandRunner& runner;
  std::stop_token stop;
  Checkup& checkup;

  std::vector<KnownPackage> known;
  Environment machine;    ///< what read_machine fills in
  std::vector<Gpu> gpus;  ///< of this machine, or those that were asked about
  bool wsl = false, container = false;
  std::string driver;  ///< "580.95.05"; "" = not known
  PythonView python;
  std::optional<TorchSysroot> torch;  ///< nothing: there is none
  bool torch_imports = false;

  /// What chooses the mend of something that failed here.
  LogFacts facts() const;
  std::string variable(const char* name) const;
  bool has_variable(const char* name) const { return options.variables.contains(name); }
  /// False where all that is installed and known is torch_free.
  bool wants_torch() const;
  /// The kinds of GPU, each once.
  std::vector<Gpu> kinds_of_gpu() const;
  CheckupRow& add(std::string about, std::string what, CheckupState state, std::string found, std::string why = {},
                  std::string mend = {}, std::string code = {});
  /// On PATH; empty = it is not there.
  std::filesystem::path program(std::string_view name) const;
  /// `python -m pip WORDS` of the environment, as one types it.
  std::string pip(std::string_view words) const;
};

/// "NVIDIA H200 (9.0)"
std::string gpu_text(const Gpu& gpu);
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);
/// Is driver "570.86.10" older than "580" or "528.33"? Not known: no.
bool is_older_driver(std::string_view have, std::string_view need);
/// The command that brings a torch whose CUDA the driver can run, where it is known; `again`: in place of the one
/// there.
std::string new_torch(const Look& look, bool again);

/// What pip is asked for: the triton that torch was made for; "triton" where torch pins none.
std::string right_triton(const Look& look);

void look_at_machine(Look& look);
Status look_at_torch(Look& look);
void look_at_triton(Look& look);
Status look_at_packages(Look& look);
void look_at_paths(Look& look);
void look_at_room(Look& look);

}  // namespace sagekit
