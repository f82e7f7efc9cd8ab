#include "elf/import_library.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

using namespace sagekit;

namespace {

std::uint32_t big(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

}  // namespace

TEST_CASE("an import library has a member for each name, which its index leads to") {
  const auto library = import_library({"torch_cpu.dll", {"aoti_torch_check", "torch_call_dispatcher"}});
  REQUIRE(library.starts_with("!<arch>\n/               "));
  constexpr std::size_t k_index = 8 + 60;
  REQUIRE(big(library, k_index) == 4);
  const std::vector<std::string> names{"__imp_aoti_torch_check", "aoti_torch_check", "__imp_torch_call_dispatcher",
                                       "torch_call_dispatcher"};
  std::size_t text = k_index + 4 + 4 * names.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(std::string_view(library).substr(text, names[i].size() + 1) ==
          std::string_view(names[i].c_str(), names[i].size() + 1));
    text += names[i].size() + 1;
    const std::size_t member = big(library, k_index + 4 + 4 * i);
    REQUIRE(member % 2 == 0);
    const auto header = std::string_view(library).substr(member, 60);
    CHECK(header.ends_with("`\n"));
    const auto content = std::string_view(library).substr(member + 60, std::stoul(std::string(header.substr(48, 10))));
    CHECK(content.starts_with(std::string_view("\0\0\xff\xff\0\0\x64\x86", 8)));
    const auto wanted = names[i - i % 2 + 1] + std::string("\0torch_cpu.dll\0", 15);
    CHECK(content.substr(20) == wanted);
  }
  CHECK(library.size() % 2 == 0);
  CHECK(library == import_library({"torch_cpu.dll", {"aoti_torch_check", "torch_call_dispatcher"}}));
}
