#pragma once
// Copies of the packages that an install may change, on disk until the new one works: what a failure or a killed
// process leaves is put back from them.

#include "install/installed_packages.hpp"

#include <sagekit/install.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sagekit {

/// The folder of an environment's keepsake below the store.
std::filesystem::path keepsake_folder(const std::filesystem::path& store, const std::filesystem::path& prefix);

class Keepsake {
 public:
  /// Copies the files of `packages` that lie below the prefix; complete, or not there at all. `package`: the one that
  /// is about to come, `its_files` its members below site-packages. FIL002 when there is no room: nothing was changed
  /// then.
  static Result<Keepsake> make(const std::filesystem::path& folder, const InstallPlace& place,
                               const std::string& package, const std::vector<std::string>& its_files,
                               const std::vector<InstalledPackage>& packages);
  /// What an install left that did not come to its end; nothing when there is none.
  static Result<std::optional<Keepsake>> left_by_another(const std::filesystem::path& folder);

  /// Takes out what came and puts back what was there; of one left by another only the packages that it was about to
  /// change, for what else is different somebody may have wanted since. IST010 (failed) says what is still different
  /// and where the copy is; it stays then.
  Status put_back(const InstallPlace& place, const InstallOptions& options, CommandRunner& runner);
  /// The new one works.
  void forget();

 private:
  struct Kept {
    std::filesystem::path original, copy;
  };
  explicit Keepsake(std::filesystem::path folder) : m_folder(std::move(folder)) {}
  Status restore_files(const InstallPlace& place) const;

  std::filesystem::path m_folder;
  std::string m_package;
  std::set<std::string> m_changing;  ///< packages that were there and of which copies are
  bool m_stale = false;              ///< left by another
  std::vector<std::string> m_its_files;
  std::vector<std::string> m_its_folders;  ///< of those files; they were not there, the deepest first
  std::map<std::string, std::string> m_before;
  std::vector<Kept> m_kept;
};

/// `uv pip uninstall` or `pip uninstall -y`.
std::vector<std::string> uninstall_command(const InstallPlace& place, const std::vector<std::string>& names);

}  // namespace sagekit
