#pragma once
// The words of the matrix's axes that name an interface instead of one release: torch's stable C interface and Python's
// limited API keep their ABI, so that one wheel serves every later release.

#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

/// "2.11.0", or ">=2.9,stable": torch's stable interface as 2.9 has it.
struct TorchWord {
  std::string version;
  bool stable = false;
  bool operator==(const TorchWord&) const = default;
};
/// Nothing: it is neither.
std::optional<TorchWord> parse_torch_word(std::string_view text);

/// "3.12", or "abi3>=3.10": the limited API as 3.10 has it (PEP 384).
struct PythonWord {
  std::string version;
  bool limited = false;
  bool operator==(const PythonWord&) const = default;
};
std::optional<PythonWord> parse_python_word(std::string_view text);

/// "0x030A0000" for "3.10": what Py_LIMITED_API is defined as.
std::string limited_api_number(std::string_view python);
/// "0x0209000000000000" for "2.9": what TORCH_TARGET_VERSION is defined as (torch/headeronly/version.h, from 2.10 on).
std::string torch_target_number(std::string_view torch);

}  // namespace sagekit
