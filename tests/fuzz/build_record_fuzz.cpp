// Any bytes as the record of a build in the store: what it says is written and read again as itself, or it is STO004.
#include "build/build_record.hpp"
#include "fuzz_target.hpp"
#include "support/file.hpp"

#include <cstdint>
#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(build_record) {
  static const auto folder = TemporaryFolder::create("/tmp", "sagekit-fuzz").value();
  const auto read = [&](std::string_view text) {
    if (!write_file_atomic(folder.path() / "build.json", text)) std::abort();
    return read_build_record(folder.path());
  };
  const auto build = read({reinterpret_cast<const char*>(data), size});
  if (!build) {
    if (build.error().code != "STO004") std::abort();
    return 0;
  }
  const auto text = build_record_text(*build);
  const auto again = read(text);
  if (!again || build_record_text(*again) != text) std::abort();
  return 0;
}
