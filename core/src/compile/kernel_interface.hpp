#pragma once
// Where GPU code and host code meet: kernels with the sizes of what they take, and variables that the host registers.
// GPU code that was not made with the host code at hand is used only when both say the same (docs/engine.md).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct KernelEntry {
  std::string name;  ///< mangled
  std::vector<std::uint64_t> parameter_bytes;
  auto operator<=>(const KernelEntry&) const = default;
};

struct KernelInterface {
  std::vector<KernelEntry> entries;    ///< sorted by name
  std::vector<std::string> variables;  ///< of a module: .global, .const; sorted
  bool operator==(const KernelInterface&) const = default;
};

/// Of cicc's PTX. Nothing when an entry's parameters are not as cicc writes them.
std::optional<KernelInterface> read_interface(std::string_view ptx);

/// A text of lines, and back. Nothing for any other text.
std::string interface_text(const KernelInterface& interface);
std::optional<KernelInterface> parse_interface(std::string_view text);

/// What the stub (.cudafe1.stub.c) registers.
struct Registered {
  std::vector<std::string> entries, variables;  ///< sorted
  bool operator==(const Registered&) const = default;
};
std::optional<Registered> read_registered(std::string_view stub);

/// Why this stub cannot launch these kernels: an entry too many or too few, a variable that is not there. "" = it can.
std::string stub_differs(const Registered& stub, const KernelInterface& kernels);

/// The stub with an assertion at each launch: what the host passes is as large as what the kernel takes. Types are the
/// host compiler's, so GPU code whose headers had another layout does not compile into a module. Nothing when a launch
/// is not as cicc writes it.
std::optional<std::string> with_size_assertions(std::string_view stub, const KernelInterface& kernels);

}  // namespace sagekit
