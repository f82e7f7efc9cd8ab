#pragma once
// What the libraries of one torch export, read when first asked for: a real torch's or the link stubs made from one.

#include "elf/exports.hpp"

#include <sagekit/error.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sagekit {

class TorchLibraries {
 public:
  /// `folder`: torch's lib/.
  explicit TorchLibraries(std::filesystem::path folder) : m_folder(std::move(folder)) {}

  bool has(const std::string& library) const;

  /// Those of `symbols` that none of `libraries` exports, nor any library that these need in turn: where the loader
  /// looks. Libraries that are not in the folder count for nothing. A link stub names no libraries that it needs; it is
  /// taken to need all of torch's. Errors: of opening and reading (IDX030).
  Result<std::vector<std::string>> missing(std::vector<std::string> symbols, const std::vector<std::string>& libraries);

 private:
  Result<const ExportList*> exports(const std::string& library);
  Result<std::vector<std::string>> needed_by(const std::string& library) const;
  std::vector<std::string> all() const;

  std::filesystem::path m_folder;
  std::map<std::string, ExportList> m_exports;
};

}  // namespace sagekit
