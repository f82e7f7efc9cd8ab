#include "elf/driver_stand_in.hpp"

#include "elf/exports.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

namespace sagekit {

namespace {

using namespace std::string_view_literals;

/// Libraries of the driver's package (NVIDIA driver README, "Installed Components"), and how their functions begin.
struct DriverLibrary {
  std::string_view name, prefix;
};
constexpr std::array<DriverLibrary, 4> k_libraries{{{"libcuda.so.1", "cu"},
                                                    {"libnvidia-ml.so.1", "nvml"},
                                                    {"libnvcuvid.so.1", "cuvid"},
                                                    {"libnvidia-encode.so.1", "NvEncodeAPI"}}};

/// `return 34`, CUDA_ERROR_STUB_LIBRARY of cuda.h: what the stub library of a CUDA toolkit says.
struct Answer {
  std::string_view machine;
  std::uint16_t elf_machine;
  std::string_view code;
};
constexpr std::array<Answer, 2> k_answers{
    {{"x86_64", 62, "\xb8\x22\x00\x00\x00\xc3"sv}, {"aarch64", 183, "\x40\x04\x80\x52\xc0\x03\x5f\xd6"sv}}};

const DriverLibrary* find_library(std::string_view name) {
  const auto found = std::ranges::find(k_libraries, name, &DriverLibrary::name);
  return found == k_libraries.end() ? nullptr : &*found;
}

/// cuInit, not cudaMalloc and not cublasCreate.
bool belongs(std::string_view symbol, std::string_view prefix) {
  if (!symbol.starts_with(prefix) || symbol.size() == prefix.size()) return false;
  const char next = symbol[prefix.size()];
  return prefix != "cu" || (next >= 'A' && next <= 'Z');
}

}  // namespace

bool is_driver_library(std::string_view library) { return find_library(library) != nullptr; }

std::vector<std::string> driver_libraries(const std::vector<MemberFacts>& members) {
  std::set<std::string> found;
  for (const auto& member : members)
    if (member.elf) std::ranges::copy_if(member.elf->needed, std::inserter(found, found.end()), is_driver_library);
  return {found.begin(), found.end()};
}

std::string driver_stand_in(const std::vector<MemberFacts>& members, std::string_view library) {
  const DriverLibrary* known = find_library(library);
  if (known == nullptr) return {};
  std::set<std::string> names;
  const Answer* answer = nullptr;
  for (const auto& member : members) {
    if (!member.elf) continue;
    const auto one = std::ranges::find(k_answers, member.elf->machine, &Answer::machine);
    if (one != k_answers.end()) answer = &*one;
    for (const auto& symbol : member.elf->undefined)
      if (belongs(symbol, known->prefix)) names.insert(symbol);
  }
  if (answer == nullptr) return {};
  ExportList exports;
  exports.soname = library;
  exports.machine = answer->elf_machine;
  for (const auto& name : names) {
    ExportedSymbol symbol;
    symbol.name = name;
    symbol.type = 2;  // STT_FUNC
    exports.symbols.push_back(std::move(symbol));
  }
  return link_stub(exports, answer->code);
}

}  // namespace sagekit
