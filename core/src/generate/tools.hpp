#pragma once
// core/data/generate/tools.toml as values: images, their packages, actions.

#include <sagekit/diagnostic.hpp>
#include <sagekit/error.hpp>
#include <sagekit/plan.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct BaseImage {
  std::string family, image;
  VersionRange cuda;   ///< of no terms: any
  std::string python;  ///< "" = any
  bool automatic = false;
};

/// A platform that is built for where another is at home.
struct CrossPlatform {
  std::string platform;
  std::vector<std::string> packages;  ///< its compiler
  bool static_runtime = false;        ///< the CUDA that is fetched has one for it
};

struct GenerateTools {
  std::vector<BaseImage> images;
  std::string header_image, header_folder;  ///< with {python}
  std::vector<std::string> build_packages;
  std::vector<CrossPlatform> cross;
  std::string linux_runner, windows_runner;
  std::vector<std::string> setup_py_requirements, toolkits;
  std::string setup_py_torch;                               ///< with {torch} and {cuda_digits}
  std::map<std::string, std::string, std::less<>> actions;  ///< "checkout" -> "actions/checkout@<commit> # v6.1.0"
  Diagnostics problems;                                     ///< of the data itself; a test holds it empty
};
const GenerateTools& generate_tools();
/// Null: it is the images' own, or none of theirs.
const CrossPlatform* cross_platform(std::string_view platform);

/// Images as the files name them: of a family or a given one, with the digests that were pinned.
class ImageChoice {
 public:
  /// GEN006 a pin that is none.
  static Result<ImageChoice> make(std::string_view base, const std::vector<std::string>& pins);
  /// GEN006: the family has none for this Python and CUDA; the hint names what it has.
  Result<std::string> for_cell(const Cell& cell) const;
  std::string headers(std::string_view python) const;
  /// With its digest where one was pinned; it then counts as used.
  std::string pinned(const std::string& image) const;
  /// GEN006: a pin that belongs to no image of the files.
  Status all_pins_used() const;

 private:
  std::string m_base;
  std::map<std::string, std::string, std::less<>> m_digests;
  mutable std::map<std::string, bool, std::less<>> m_used;
};

}  // namespace sagekit
