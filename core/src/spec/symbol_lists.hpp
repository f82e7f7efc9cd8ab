#pragma once
// Lists of symbols that come with a release: core/data/*.txt, searched as they are embedded, without reading them in.

#include <sagekit/version_number.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// The Python that added a function or variable to the stable ABI: 3.10. Nothing: it is not in it.
std::optional<VersionNumber> stable_abi_since(std::string_view symbol);

/// The first torch that has a C function of its stable interface ("torch_call_dispatcher"). Nothing: it is none.
std::optional<VersionNumber> torch_shim_since(std::string_view symbol);

/// All of them that this torch exports, in byte order.
std::vector<std::string> torch_shims_until(const VersionNumber& torch);
/// The names of the stable ABI that this Python has, in byte order.
std::vector<std::string> stable_abi_until(const VersionNumber& python);

/// The torch releases whose exports are known, oldest first: 2.7, 2.8, ...
std::vector<VersionNumber> known_torch_exports();
/// Which of them export a C++ symbol, in the same order. Empty: all of them, none of them, or it is not known.
std::vector<bool> torch_releases_with(std::string_view symbol);

}  // namespace sagekit
